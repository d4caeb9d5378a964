"""The six real-data panels are run on the paper's own data, and kept in originals.json.

    make originals          # needs `make data`, or LDPBO_DATA; a few minutes on two cores

The data cannot be shipped, so the results are. The panels are the book's own pages
(notebooks/panel.ipynb through tools/build.py, in _build/originals); a panel that used a stand-in is
refused. Stored: the parameters, and the tables of the page's three figures (curves as mean and
band).
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
from ldpbo import provenance

ROOT = Path(core.__file__).resolve().parent
PANELS = ["2b", "2c", "2e", "2f", "3b", "3c"]


def collect(pages):
    """The executed pages in the folder `pages` hold the results: {"code": hash, "panels": ...}."""
    os.environ["LDPBO_PAGES"] = str(pages)
    panels = {panel: collect_panel(pages, panel) for panel in PANELS}
    return {"code": provenance.code_hash(), "panels": panels}


def collect_panel(pages, panel):
    """A panel's parameters, its data set, and the tables of its three figures."""
    found = {"parameters": parameters(pages / f"panel_{panel}.ipynb")}
    for part in ("regret", "final", "plays"):
        table = fig.load(f"panel_{panel}", f"fig-panel-{panel}-{part}")
        found["data"], *more = {str(data) for data in table.pop("data")}
        if more or not found["data"].startswith("original "):
            sys.exit(
                f"panel_{panel} was not run on the original data: `make data`, or set LDPBO_DATA"
            )
        found[part] = {name: column.tolist() for name, column in table.items()}
    return found


def parameters(path):
    """The parameters that an executed page was run with."""
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            lines = ast.parse("".join(cell["source"])).body
            return {line.targets[0].id: ast.literal_eval(line.value) for line in lines}
    raise ValueError(f"{path}: must have a cell with the tag parameters")


def write(results, target):
    """The results are written one column a line, so that a new run differs in readable places."""
    text = json.dumps(results, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]]*\]", lambda column: re.sub(r"\s+", " ", column[0]), text)
    target.write_text(text + "\n", "utf-8")


def main():
    for problem in (core.light_problem(), core.stock_problem()):
        if not problem.provenance.startswith("original "):
            sys.exit(
                f"The {problem.name} data is a stand-in: "
                "run `make data`, or name the folder of the originals in LDPBO_DATA"
            )
    out = ROOT / "_build/originals"
    pages = [f"panel_{panel}" for panel in PANELS]
    command = [sys.executable, "tools/build.py", "--out", str(out), *pages]
    done = subprocess.run(command, cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)
    write(collect(out / "src/book/pages"), ROOT / "data/originals.json")
    print(
        "Written: data/originals.json; `make book` shows it, "
        "`make picture` redraws the README's picture"
    )


if __name__ == "__main__":
    main()
