"""Keep the results of the six real-data panels on the paper's own data, which cannot be shipped: writes originals.csv.

    make data && make book && .venv/bin/python data/originals.py

Reads the executed panels of the last full build (or of the folder in LDPBO_PAGES) and refuses pages that used a stand-in.
"""
import csv
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_figures as fig

PANELS = ["2b", "2c", "2e", "2f", "3b", "3c"]


def main(pages, target):
    rows = []
    for panel in PANELS:
        if "data: original " not in (pages / f"panel_{panel}.ipynb").read_text("utf-8"):
            sys.exit(f"panel_{panel} was not run on the original data: `make data`, then `make book`")
        final = fig.load(f"panel_{panel}", f"fig-panel-{panel}-final")
        for scale in ("1", "0.1"):
            for i, row in enumerate(final["row"]):
                rows.append([panel, scale, row, *(f"{final[f'{part} (beta x {scale})'][i]:.4f}" for part in ("mean", "low", "high")), fig.CODE])
    with open(target, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([["panel", "scale", "row", "mean", "low", "high", "code"], *rows])


if __name__ == "__main__":
    root = Path(__file__).resolve().parent
    main(Path(os.environ.get("LDPBO_PAGES", root.parent / "_build/src/book/pages")), root / "originals.csv")
