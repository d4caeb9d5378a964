"""Run the six real-data panels on the paper's own data, which cannot be shipped; keep the results.

    make originals          # needs `make data`, or LDPBO_DATA; a few minutes on two cores

The panels are the book's own pages (notebooks/panel.ipynb through tools/build.py, in
_build/originals); a panel that used a stand-in is refused. Stored in data/originals.json: the
parameters, and the tables of the page's three figures (curves as mean and band).
"""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
import ldpbo_core as core
import store
from ldpbo import results

PANELS = ["2b", "2c", "2e", "2f", "3b", "3c"]


def collect(pages):
    """Collect {"code": hash, "panels": {panel: parameters and tables}} from executed pages."""
    os.environ["LDPBO_PAGES"] = str(pages)
    return {
        "code": results.CODE,
        "panels": {panel: collect_panel(panel, pages) for panel in PANELS},
    }


def collect_panel(panel, pages):
    """Collect the parameters and the three tables of a panel's page; exit if it used a stand-in."""
    found = {"parameters": read_parameters(pages / f"panel_{panel}.ipynb")}
    for part in ("regret", "final", "plays"):
        table = results.load(f"panel_{panel}", f"fig-panel-{panel}-{part}")
        found["data"], *more = {str(data) for data in table.pop("data")}
        if more or not found["data"].startswith("original "):
            sys.exit(
                f"panel_{panel} was not run on the original data: `make data`, or set LDPBO_DATA"
            )
        found[part] = {name: column.tolist() for name, column in table.items()}
    return found


def read_parameters(page):
    """Read the parameters that an executed page was given."""
    cells = json.loads(page.read_text("utf-8"))["cells"]
    tagged = [c for c in cells if "parameters" in c["metadata"].get("tags", ())]
    statements = ast.parse("".join(tagged[0]["source"])).body
    return {s.targets[0].id: ast.literal_eval(s.value) for s in statements}


def write(found, target):
    """Write a line per column, so that a new run differs in readable places."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]]*\]", lambda column: re.sub(r"\s+", " ", column[0]), text)
    store.write(target, f"{text}\n".encode())


def main():
    """Run the panels, collect what they found, and write it."""
    for problem in (core.light_problem(), core.stock_problem()):
        if not problem.provenance.startswith("original "):
            sys.exit(
                f"The {problem.name} data is a stand-in: run `make data`, or name the folder of "
                "the originals in LDPBO_DATA"
            )
    out = ROOT / "_build/originals"
    pages = [f"panel_{panel}" for panel in PANELS]
    build = [sys.executable, "tools/build.py", "--out", str(out), *pages]
    done = subprocess.run(build, cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)
    write(collect(out / "src/book/pages"), ROOT / "data/originals.json")
    print(
        "Written: data/originals.json; `make book` shows it, `make picture` redraws the README's "
        "picture"
    )


if __name__ == "__main__":
    main()
