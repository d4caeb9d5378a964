"""A grid of simulations is declared in notebooks/params/sweeps/NAME.yml; here it becomes cells.

A cell is one problem and one seed with all its `plays` (algorithm and settings), which so meet the
same users and the same noise. Lists outside `plays` span the cells, lists inside it the plays of a
cell. `panel` stands for problem, kernel and eps of that panel of the book. `beta_scale: tuned` is
the best one in the table of the sweep that the grid names as `tuned`.
"""

import csv
import functools
import hashlib
import itertools
import json
import statistics

import yaml

from ldpbo.cluster import CODE, source, text
from store import ROOT
from terminal import Stop

GRIDS = ROOT / "notebooks/params/sweeps"
TABLES = ROOT / "data/sweeps"


def load(path):
    """Read the declaration of a grid."""
    if not path.exists():
        there = ", ".join(p.stem for p in sorted(GRIDS.glob("*.yml")))
        raise Stop(f"No grid {path.stem}; there are: {there}")
    return yaml.safe_load(path.read_text("utf-8"))


def names():
    """Name all grids; one that is tuned on another's table comes after it."""
    paths = sorted(GRIDS.glob("*.yml"), key=lambda path: ("tuned" in load(path), path))
    return [path.stem for path in paths]


def product(settings):
    """Make one dictionary for each combination of values of {key: value or list}, in order."""
    lists = [v if isinstance(v, list) else [v] for v in settings.values()]
    return [dict(zip(settings, values)) for values in itertools.product(*lists)]


def with_panel(cell):
    """Replace the name of a panel by the name and its settings."""
    if "panel" not in cell:
        return cell
    path = ROOT / f"notebooks/params/panel_{cell['panel']}.yml"
    panel = yaml.safe_load(path.read_text("utf-8"))
    return {"panel": cell["panel"]} | panel | cell


def expand(grid, tables=TABLES, any_code=False):
    """Make the cells of a grid, in order; `any_code` tunes also on a table of another code."""
    cells = {}
    for block in grid["blocks"]:
        fixed = {k: v for k, v in block.items() if k != "plays"}
        plays = [play for declared in block["plays"] for play in product(declared)]
        for combination in product(grid.get("base", {}) | fixed):
            cell = with_panel(combination)
            cell["plays"] = plays
            if "tuned" in grid:
                path = tables / f"{grid['tuned']}.csv"
                cell["plays"] = [with_scale(play, cell, path, any_code) for play in plays]
            cell["data"] = source(cell["problem"])
            if key(cell) in cells:
                raise Stop(f"The grid names this cell twice: {describe(cell)}")
            cells[key(cell)] = cell
    return list(cells.values())


def with_scale(play, cell, path, any_code):
    """Replace the word `tuned` in a play by the best beta_scale in a table."""
    if play.get("beta_scale") != "tuned":
        return play
    return play | {"beta_scale": tuned(path, cell, play, any_code)}


def tuned(path, cell, play, any_code):
    """Find the beta_scale of smallest mean regret in a table: same play, problem and horizon."""
    first = f"run `python tools/sweep.py {path.stem}` first"
    free = ("seed", "phase", "setting", "beta_scale", "plays")
    same = {k: text(v) for k, v in (cell | play).items() if k not in free}
    rows = [row for row in read(path) if all(row.get(k, "") == v for k, v in same.items())]
    if not rows:
        raise Stop(f"{path.name} has no rows to tune {same} on: {first}")
    others = {row["code"] for row in rows} - {CODE}
    if others and not any_code:
        raise Stop(f"{path.name} was made by core {', '.join(others)}, this is {CODE}: {first}")
    regret = {}
    for row in rows:
        share = float(row["regret"]) / float(row["uniform"])
        regret.setdefault(float(row["beta_scale"]), []).append(share)
    return min(regret, key=lambda scale: (statistics.mean(regret[scale]), scale))


@functools.cache
def read(path):
    """Read a table -> its rows as dictionaries of texts."""
    if not path.exists():
        raise Stop(f"{path.name} does not exist: run `python tools/sweep.py {path.stem}` first")
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def describe(cell):
    """Write the parameters of a cell for the person at the terminal."""
    return ", ".join(f"{k} = {v}" for k, v in cell.items() if k not in ("plays", "data"))


def key(cell):
    """Name a cell by the hash of its parameters, its data and the code."""
    return hashlib.sha256(json.dumps([cell, CODE], sort_keys=True).encode()).hexdigest()[:24]
