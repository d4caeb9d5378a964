"""Run the six real-data panels on the paper's own data, which cannot be shipped, and keep the results: writes originals.json.

    make originals          # needs `make data`, or LDPBO_DATA; a few minutes on two cores

The panels are the book's own pages (notebooks/panel.ipynb through build.py, in _build/originals); a panel that used a
stand-in is refused. Stored: the parameters, and the tables of the page's three figures (curves as mean and band).
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from ldpbo import figures as fig

ROOT = Path(core.__file__).resolve().parent
PANELS = ["2b", "2c", "2e", "2f", "3b", "3c"]


def collect(pages):
    """{"code": hash, "panels": {panel: parameters and tables}} of the executed pages in the folder `pages`."""
    os.environ["LDPBO_PAGES"] = str(pages)
    found = {}
    for panel in PANELS:
        cells = json.loads((pages / f"panel_{panel}.ipynb").read_text("utf-8"))["cells"]
        used = next(
            "".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())
        )
        found[panel] = {
            "parameters": {s.targets[0].id: ast.literal_eval(s.value) for s in ast.parse(used).body}
        }
        for part in ("regret", "final", "plays"):
            table = fig.load(f"panel_{panel}", f"fig-panel-{panel}-{part}")
            found[panel]["data"], *more = {str(data) for data in table.pop("data")}
            if more or not found[panel]["data"].startswith("original "):
                sys.exit(
                    f"panel_{panel} was not run on the original data: `make data`, or set LDPBO_DATA"
                )
            found[panel][part] = {name: column.tolist() for name, column in table.items()}
    return {"code": fig.CODE, "panels": found}


def write(results, target):
    """A line per column, so that a new run differs in readable places."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    target.write_text(
        re.sub(r"\[[^\[\]]*\]", lambda column: re.sub(r"\s+", " ", column[0]), text) + "\n", "utf-8"
    )


if __name__ == "__main__":
    for problem in (core.light_problem(), core.stock_problem()):
        if not problem.provenance.startswith("original "):
            sys.exit(
                f"The {problem.name} data is a stand-in: run `make data`, or name the folder of the originals in LDPBO_DATA"
            )
    out = ROOT / "_build/originals"
    done = subprocess.run(
        [sys.executable, "tools/build.py", "--out", str(out), *(f"panel_{p}" for p in PANELS)],
        cwd=ROOT,
    )
    if done.returncode:
        sys.exit(done.returncode)
    write(collect(out / "src/book/pages"), ROOT / "data/originals.json")
    print(
        "Written: data/originals.json; `make book` shows it, `make picture` redraws the README's picture"
    )
