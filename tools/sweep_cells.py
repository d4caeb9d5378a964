"""The cells of a sweep are kept on disk and become its table; this says how both stand."""

import json

import grids
import store
from grids import describe, key
from ldpbo.cluster import CODE
from terminal import Stop, say

FIRST = "panel problem kernel noise eps T phase seed name curator setting constants".split()
FIRST += ["beta_scale", "k", "lam"]
RESULTS = ["data", "regret", "half", "uniform", "clipped", "code"]
ENDING = ".cell"


def save(folder, cell, rows):
    """Seal the rows of a finished cell."""
    body = {"cell": cell, "code": CODE, "rows": rows}
    store.seal(folder / f"{key(cell)}{ENDING}", json.dumps(body).encode())


def load(folder):
    """Read the sealed cells -> {key: rows} of this code, {cell as text: code} of other codes."""
    finished, stale = {}, {}
    for path in sorted(folder.glob(f"*{ENDING}")):
        data = store.unseal(path)
        if data is None:
            continue
        body = json.loads(data)
        if body["code"] == CODE and path.stem == key(body["cell"]):
            finished[path.stem] = body["rows"]
        else:
            stale[json.dumps(body["cell"], sort_keys=True)] = body["code"]
    return finished, stale


def table(cells, finished):
    """Write the rows of all cells as one CSV file, parameters first and results last."""
    import pandas as pd

    rows = [row for cell in cells for row in finished[key(cell)]]
    known = dict.fromkeys(k for row in rows for k in row)
    columns = [c for c in FIRST if c in known]
    columns += [c for c in known if c not in FIRST + RESULTS]
    frame = pd.DataFrame(rows, columns=columns + RESULTS)
    return frame.to_csv(index=False, lineterminator="\n").encode()


# ---- How they stand ------------------------------------------------------------------------------


def describe_table(target):
    """Say how large the stored table is, by which code it was made, and on which data."""
    if not target.exists():
        return f"{target.name} is not there yet"
    rows = grids.read(target)
    codes = {row["code"] for row in rows}
    made = "this code" if codes == {CODE} else f"code {', '.join(sorted(codes))} (this is {CODE})"
    data = ", ".join(sorted({row["data"] for row in rows}))
    held = f"{target.name} holds {len(rows)} rows by {made}, on {data}"
    if target.resolve().parent != grids.TABLES:  # a reader's own
        return held
    test = "tests/test_sweeps.py, which computes rows again, passes"
    return f"{held}; it holds for this code while {test}"


def check_data(target, cells):
    """Refuse to replace results on original data by results on stand-ins."""
    here = {cell["data"] for cell in cells}
    stored = {row["data"] for row in grids.read(target)} if target.exists() else set()
    lost = sorted(data for data in stored - here if data.startswith("original "))
    if lost:
        raise Stop(
            f"{target.name} has results on {', '.join(lost)}; here is {', '.join(sorted(here))},"
            " which would replace them.\nFor the same data: make data, or LDPBO_DATA; to leave the"
            " table as it is: --out FILE; to replace it: --stand-ins"
        )


def describe_cells(cells, todo, stale, everything):
    """Say how many cells are kept, and which of those to compute were kept by another code."""
    old = {describe(cell): stale.get(json.dumps(cell, sort_keys=True)) for cell in todo}
    old = {which: code for which, code in old.items() if code}
    kept = len(cells) - len(todo)
    say(
        f"  to make it again, {len(cells)} cells: {kept} kept in _build, {len(todo)} to compute,"
        f" {len(old)} of them stale (core {CODE})"
    )
    shown = list(old.items()) if everything else list(old.items())[:5]
    for which, code in shown:
        say(f"  stale: {which} (core {code})")
    if len(shown) < len(old):
        say(f"  and {len(old) - len(shown)} more; --status lists them")


def take_stock(name, target, cells, folder, everything=False):
    """Say how a table and its cells stand -> the cells to compute."""
    finished, stale = load(folder)
    todo = [cell for cell in cells if key(cell) not in finished]
    say(f"{name}: {describe_table(target)}")
    describe_cells(cells, todo, stale, everything)
    return todo
