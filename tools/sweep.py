"""Run grids of simulations on Dask and write each as one tidy table.

    python tools/sweep.py [NAME ...] [--scheduler tcp://host:port] [--workers N] [--out FILE]
    python tools/sweep.py --status [NAME ...]

The grid is notebooks/params/sweeps/NAME.yml (or the file NAME; see grids.py), the table is
data/sweeps/NAME.csv; without NAME every grid is run. Each finished cell is sealed at once in
_build/sweeps/NAME (see sweep_cells.py), under the hash of its parameters, its data and the code: a
run may be killed at any moment and started again, and the table, in the order of the grid, does not
depend on how, where or how often the cells were computed.
"""

import argparse
import fcntl
import functools
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
from sweep_cells import ENDING, check_data, load, save, table, take_stock
from terminal import Stop, say


def connect(scheduler, workers):
    """Make the Dask client; say so if a scheduler does not answer."""
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
