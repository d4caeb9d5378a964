"""Run grids of simulations on Dask and write each as one tidy table.

    python tools/sweep.py [NAME ...] [--scheduler tcp://host:port] [--workers N] [--out FILE]
    python tools/sweep.py --status [NAME ...]

The grid is notebooks/params/sweeps/NAME.yml (or the file NAME; see grids.py), the table is
data/sweeps/NAME.csv; without NAME every grid is run. Each finished cell is sealed at once in
_build/sweeps/NAME, under the hash of its parameters, its data and the code: a run may be killed at
any moment and started again, and the table, in the order of the grid, does not depend on how, where
or how often the cells were computed.
"""

import argparse
import fcntl
import functools
import json
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # a worker is one process on one core

import grids
import store
import terminal
from grids import describe, key
from ldpbo import cluster
from ldpbo.cluster import CODE
from terminal import Stop, say

FIRST = "panel problem kernel noise eps T phase seed name curator setting constants".split()
FIRST += ["beta_scale", "k", "lam"]
RESULTS = ["data", "regret", "half", "uniform", "clipped", "code"]
ENDING = ".cell"


# ---- Cells on disk -------------------------------------------------------------------------------


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


# ---- The driver ----------------------------------------------------------------------------------


def connect(scheduler, workers):
    """Make the Dask client; a scheduler that does not answer is a message."""
    try:
        client = cluster.client(scheduler, workers)
    except (OSError, ValueError) as error:
        raise Stop(f"No Dask scheduler answers at {scheduler}: {error}") from error
    count = len(client.scheduler_info(n_workers=-1)["workers"])
    say(f"Workers: {count}; dashboard {client.dashboard_link}")
    return client


def weight(cell):
    """Guess the cost of a cell, in rounds."""
    return cell["T"] * len(cell["plays"])


def outcome(future):
    """Return what a worker has found, or an error; Dask runs a cell again whose worker has died."""
    if future.cancelled():
        raise Stop("The cluster is gone. The finished cells are kept; the next run goes on")
    error = future.exception()
    if error:
        return {"error": f"{type(error).__name__}: {error}"}
    result = future.result()
    if "error" not in result and result["code"] != CODE:
        return {"error": f"the worker has core {result['code']}, this is {CODE}"}
    return result


def compute(cells, folder, total, client):
    """Run these cells of `total`, seal each as it comes -> the number that failed."""
    from dask.distributed import as_completed

    futures = {}
    for cell in sorted(cells, key=weight, reverse=True):
        name = f"{folder.name}-{key(cell)}"
        futures[client.submit(cluster.run_cell, cell, key=name, pure=False)] = cell
    failed = 0
    done = total - len(cells)
    form = "{percentage:3.0f}% |{bar:12}| {elapsed}, {remaining} to go  {desc}"
    with terminal.progress(sum(map(weight, cells)), form) as bar:
        for future in as_completed(futures):
            cell = futures[future]
            result = outcome(future)
            done += 1
            if "error" in result:
                failed += 1
                note = "failed"
                why = result["error"].strip().replace("\n", "\n  ")
                say(f"\nFailed: {describe(cell)}\n  plays: {cell['plays']}\n  {why}")
            else:
                note = f"{result['seconds']:.1f} s"
                save(folder, cell, result["rows"])
            line = f"[{done}/{total}] {describe(cell)}   {note}"
            if bar.disable:  # no terminal
                say(line)
            bar.set_description_str(line, refresh=False)
            bar.update(weight(cell))
            future.release()
    return failed


def describe_table(target):
    """Say how large the stored table is, by which code it was made, and on which data."""
    if not target.exists():
        return f"{target.name} is not there yet"
    rows = grids.read(target)
    codes = {row["code"] for row in rows}
    made = "this code" if codes == {CODE} else f"code {', '.join(sorted(codes))} (this is {CODE})"
    data = ", ".join(sorted({row["data"] for row in rows}))
    return (
        f"{target.name} holds {len(rows)} rows by {made}, on {data};"
        " it holds for this code while tests/test_sweeps.py, which computes rows again, passes"
    )


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


def sweep(name, args, client):
    """Bring one table up to date, or only say how it stands -> the number of cells that failed."""
    path = Path(name) if name.endswith(".yml") else grids.GRIDS / f"{name}.yml"
    folder = ROOT / f"_build/sweeps/{path.stem}"
    target = args.out or grids.TABLES / f"{path.stem}.csv"
    cells = grids.expand(grids.load(path), target.parent, any_code=args.status)
    if args.status:
        take_stock(path.stem, target, cells, folder, everything=True)
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:  # released by the system however this ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Stop(f"Another run of {path.stem} is under way in {folder}") from None
        for part in folder.glob(f".*{ENDING}.*"):  # of a run that was killed while it wrote
            part.unlink()
        todo = take_stock(path.stem, target, cells, folder)
        if not args.stand_ins:
            check_data(target, cells)
        failed = compute(todo, folder, len(cells), client()) if todo else 0
        if failed:
            say(
                f"{failed} of {len(cells)} cells failed; the others are kept. "
                f"{target.name} is written when none does"
            )
            return failed
        store.write(target, table(cells, load(folder)[0]))
        grids.read.cache_clear()
        say(f"{target} written: {len(cells)} cells, {target.stat().st_size:,} bytes")
        return 0


def arguments():
    """Parse the command line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = options.add_argument
    add("names", nargs="*", metavar="NAME", help="grids of notebooks/params/sweeps (default: all)")
    add("--scheduler", help="address of a running Dask scheduler (default: a local cluster)")
    add("--workers", type=int, help="worker processes of the local cluster (default: one per core)")
    add("--out", type=Path, help="where the table goes (one NAME only)")
    add("--status", action="store_true", help="say what is stored and kept; compute nothing")
    add("--stand-ins", action="store_true", help="replace results on original data by stand-ins")
    args = options.parse_args()
    if args.out and len(args.names) != 1:
        options.error("--out goes with exactly one NAME")
    return args


def main():
    args = arguments()
    for number in (signal.SIGTERM, signal.SIGINT):  # SIGINT is ignored where a script says "&"
        signal.signal(number, signal.default_int_handler)
    client = functools.cache(lambda: connect(args.scheduler, args.workers))
    failed = sum(sweep(name, args, client) for name in args.names or grids.names())
    return 1 if failed else 0


if __name__ == "__main__":
    terminal.leave(main)
