"""Run a grid of simulations on Dask and keep it as one tidy table.

    python tools/sweep.py [NAME ...] [--scheduler tcp://host:port] [--workers N] [--out FILE] [--status]

The grid is notebooks/params/sweeps/NAME.yml (or the file NAME), the table data/sweeps/NAME.csv; without NAME every grid
is run. A cell is one problem and one seed with all its `plays` (algorithm and settings), which so meet the same users
and the same noise. Lists outside `plays` span the cells, lists inside it the plays of a cell. Each finished cell is
kept at once, by an atomic rename, in _build/sweeps/NAME under the hash of its parameters, its data and the core: a
run may be killed at any moment and started again, and the table, in the order of the grid, does not depend on how,
where or how often the cells were computed.
Workers of an existing cluster need this checkout on their path, and LDPBO_DATA if the grid uses the original data.
"""

import argparse
import csv
import fcntl
import functools
import hashlib
import io
import itertools
import json
import os
import signal
import statistics
import sys
import time
import traceback
from pathlib import Path

for var in ("OMP", "OPENBLAS", "MKL"):  # one BLAS thread: a worker is one process on one core
    os.environ[f"{var}_NUM_THREADS"] = "1"

import numpy as np
import yaml

import ldpbo_core as core
from ldpbo import provenance

ROOT = Path(__file__).resolve().parent.parent
GRIDS = ROOT / "notebooks/params/sweeps"
CODE = provenance.code_hash()
FIRST = [
    "panel",
    "problem",
    "kernel",
    "noise",
    "eps",
    "T",
    "phase",
    "seed",
    "name",
    "curator",
    "setting",
    "constants",
    "beta_scale",
    "k",
    "lam",
]
NOT_OPTIONS = [
    "panel",
    "problem",
    "kernel",
    "noise",
    "phase",
    "setting",
    "T",
    "seed",
    "name",
]  # of `make`
RESULTS = ["data", "regret", "half", "uniform", "clipped", "code"]
CURATORS = {"laplace": core.CTL, "one bit": core.OneBit}


class Stop(Exception):
    """A message for the person at the terminal."""


# ---- The grid ------------------------------------------------------------------------------------------------


def product(settings):
    """{key: value or list} -> one dictionary for each combination, in the order of the file."""
    lists = [v if isinstance(v, list) else [v] for v in settings.values()]
    return [dict(zip(settings, values)) for values in itertools.product(*lists)]


def expand(grid, tables=ROOT / "data/sweeps"):
    """The cells of a grid, in order. `panel` stands for problem, kernel and eps of that panel of the book."""
    cells, seen = [], set()
    for block in grid["blocks"]:
        plays = [play for declared in block["plays"] for play in product(declared)]
        for cell in product(
            grid.get("base", {}) | {k: v for k, v in block.items() if k != "plays"}
        ):
            if "panel" in cell:
                panel = yaml.safe_load(
                    (ROOT / f"notebooks/params/panel_{cell['panel']}.yml").read_text("utf-8")
                )
                cell = {"panel": cell.pop("panel")} | panel | cell
            cell["plays"] = [
                play | {"beta_scale": tuned(grid["tuned"], cell, play, tables)}
                if play.get("beta_scale") == "tuned"
                else play
                for play in plays
            ]
            cell["data"] = source(cell["problem"])
            if key(cell) in seen:
                raise Stop(f"The grid names this cell twice: {describe(cell)}")
            cells.append(cell)
            seen.add(key(cell))
    return cells


def tuned(sweep, cell, play, tables):
    """The beta_scale with the smallest mean regret of this play in the table of `sweep`: same problem and horizon."""
    path, regret = tables / f"{sweep}.csv", {}
    free = ("seed", "phase", "setting", "beta_scale", "plays")
    same = {k: text(v) for k, v in (cell | play).items() if k not in free}
    for row in read(path):
        if all(row.get(k, "") == v for k, v in same.items()):
            if row["code"] != CODE:
                raise Stop(
                    f"{path.name} was made by core {row['code']}, this is {CODE}: "
                    f"run `python tools/sweep.py {sweep}` first"
                )
            regret.setdefault(float(row["beta_scale"]), []).append(
                float(row["regret"]) / float(row["uniform"])
            )
    if not regret:
        raise Stop(
            f"{path.name} has no rows to tune {same} on: run `python tools/sweep.py {sweep}` first"
        )
    return min(regret, key=lambda b: (statistics.mean(regret[b]), b))


@functools.cache
def read(path):
    if not path.exists():
        raise Stop(f"{path.name} does not exist: run `python tools/sweep.py {path.stem}` first")
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def describe(cell):
    return ", ".join(f"{k} = {v}" for k, v in cell.items() if k not in ("plays", "data"))


def key(cell):
    return hashlib.sha256(json.dumps([cell, CODE], sort_keys=True).encode()).hexdigest()[:24]


# ---- One cell, on a worker -----------------------------------------------------------------------------------


@functools.cache
def table_of(name):
    return getattr(core, f"{name}_problem")()


def source(name):
    """Where a problem's data come from: the table says it in each row."""
    return name if name == "synthetic" else table_of(name).provenance.split(";")[0]


def contaminated(kernel, seed, rows=2000, share=0.05, size=10.0):
    """A synthetic f whose noise is N(0, 1), and `size` times that in a `share` of the rows of a table."""
    plain, rng = core.synthetic_problem(kernel, "uniform", seed), np.random.default_rng([seed, 1])
    noise = rng.standard_normal((rows, plain.n)) * np.where(
        rng.random((rows, 1)) < share, size, 1.0
    )
    samples = plain.f + noise - noise.mean(axis=0)
    return core.Problem(
        K=plain.K,
        f=plain.f,
        B=plain.B,
        R=np.abs(samples - plain.f).max(),
        v=(samples**2).mean(),
        c=(noise**2).mean(),
        noise="table",
        samples=samples,
    )


def problem(cell):
    """seed -> Problem, as on the panels' pages."""
    noise = cell.get("noise") or ("t3" if cell["eps"] is None else "uniform")
    if cell["problem"] != "synthetic":
        return lambda seed: table_of(cell["problem"])
    if noise == "contaminated":
        return lambda seed: contaminated(cell["kernel"], seed)
    return lambda seed: core.synthetic_problem(cell["kernel"], noise, seed)


def text(value):
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def run(cell):
    """-> {"rows": [...], "code": ..., "seconds": ...} or {"error": ...}; never an exception."""
    try:
        start, rows = time.perf_counter(), []
        if source(cell["problem"]) != cell["data"]:
            raise ValueError(
                f"this worker has {source(cell['problem'])}, the grid {cell['data']}: "
                "give both the same LDPBO_DATA"
            )
        fixed = {k: v for k, v in cell.items() if k not in ("plays", "data")}
        for play in cell["plays"]:
            options = {k: v for k, v in (fixed | play).items() if k not in NOT_OPTIONS}
            if cell["eps"] is not None:
                options["curator"] = CURATORS[options["curator"]]
            seeded = dict(trials=1, seed=cell["seed"], **options)
            if play["name"] == "PE":  # in its exact law: the cost does not grow with T
                out = core.simulate_batches(problem(cell), cell["T"], **seeded)
                half, regret = np.interp(
                    [cell["T"] // 2, cell["T"]], [0, *out.t], [0, *out.regret[0]]
                )
                uniform, clipped = out.uniform[0], None
            else:
                out = core.simulate(problem(cell), play["name"], cell["T"], **seeded)
                half, regret = out.regret[0, 0, [(cell["T"] - 1) // 2, -1]]
                uniform, clipped = out.records["uniform"][0], int(out.records["clipped"][0, 0])
            result = dict(
                data=cell["data"],
                regret=float(regret),
                half=float(half),
                uniform=float(uniform * cell["T"]),
                clipped=clipped,
                code=CODE,
            )
            rows.append({k: text(v) for k, v in (fixed | play | result).items()})
        return {"rows": rows, "code": CODE, "seconds": time.perf_counter() - start}
    except Exception:
        return {"error": traceback.format_exc(limit=-2)}


# ---- A campaign's users, on a worker -------------------------------------------------------------------------


def users(problem, curator, counts, seed):
    """Sums of the reports of counts[arm] users of each arm, (n,): all that leaves them. Each chunk has its seed."""
    rng, sums = np.random.default_rng(seed), np.zeros(len(counts))
    for arm in np.flatnonzero(counts):
        sums[arm] = curator.privatise(problem.sample(int(arm), rng, int(counts[arm])), rng).sum()
    return sums


def chunks(problem, plan, size, curators, seed):
    """A batch in random order, in chunks of `size` users that take turns at the curators: what `users` takes."""
    arms = np.random.default_rng(seed).permutation(np.repeat(np.arange(problem.n), plan))
    for i, start in enumerate(range(0, len(arms), size)):
        plays = np.bincount(arms[start : start + size], minlength=problem.n)
        yield problem, curators[i % len(curators)], plays, [*seed, i]


# ---- Cells on disk -------------------------------------------------------------------------------------------


def put(path, data):
    """Bytes in place, whole or not at all, also through a crash of the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Stop(
            f"{path.name} could not be kept: {error.strerror}. "
            "What was kept stays; the next run goes on from there"
        ) from error


def keep(folder, cell, rows):
    body = {"cell": cell, "code": CODE, "rows": rows}
    put(folder / f"{key(cell)}.json", json.dumps(body | {"sha": sha(body)}).encode())


def sha(body):
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def kept(folder):
    """-> ({key: rows} of this core, {cell as text: code} of other cores). A damaged file counts as no file."""
    now, other = {}, {}
    for path in sorted(folder.glob("*.json")):
        try:
            body = json.loads(path.read_bytes())
            whole = body.pop("sha") == sha(body)
        except (ValueError, KeyError, TypeError, AttributeError):
            whole = False
        if not whole:
            print(f"{path.name} is damaged; its cell is computed again", flush=True)
        elif body["code"] == CODE and path.stem == key(body["cell"]):
            now[path.stem] = body["rows"]
        else:
            other[json.dumps(body["cell"], sort_keys=True)] = body["code"]
    return now, other


def table(cells, done):
    rows = [row for cell in cells for row in done[key(cell)]]
    known = dict.fromkeys(k for row in rows for k in row)
    columns = (
        [c for c in FIRST if c in known] + [c for c in known if c not in FIRST + RESULTS] + RESULTS
    )
    out = csv.DictWriter(stream := io.StringIO(), columns, restval="", lineterminator="\n")
    out.writeheader()
    out.writerows(rows)
    return stream.getvalue().encode()


# ---- The driver ----------------------------------------------------------------------------------------------


class Progress:
    """Cells done and left, rate and time left: one line that renews itself on a terminal, plain lines elsewhere."""

    def __init__(self, cells, total):
        self.weight = lambda cell: cell["T"] * len(cell["plays"])
        self.left, self.total, self.count = sum(map(self.weight, cells)), total, len(cells)
        self.start, self.work, self.done, self.printed, self.tty = (
            time.time(),
            0,
            0,
            0.0,
            sys.stdout.isatty(),
        )

    def step(self, cell, note):
        self.done, self.work, self.left = (
            self.done + 1,
            self.work + self.weight(cell),
            self.left - self.weight(cell),
        )
        spent = max(time.time() - self.start, 1e-9)
        if self.tty or self.left == 0 or time.time() - self.printed > 1:
            minutes, seconds = divmod(round(spent * self.left / self.work), 60)
            line = (
                f"[{self.total - self.count + self.done}/{self.total}] {self.count - self.done} left, "
                f"{self.done / spent:.2f} cells/s, {minutes}:{seconds:02d} to go   {describe(cell)}   {note}"
            )
            if self.tty:
                print(f"\r\033[K{line[: os.get_terminal_size().columns - 1]}", end="", flush=True)
            else:
                print(line, flush=True)
            self.printed = time.time()


def cluster(scheduler, workers):
    """A Dask client: of the cluster at `scheduler`, or of one single-threaded worker process per core here."""
    import logging

    import dask
    from dask.distributed import Client, LocalCluster

    dask.config.set(
        {"distributed.deploy.lost-worker-timeout": "1 day"}
    )  # else a slow restart is given up after 15 s
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    if scheduler:
        try:
            return Client(scheduler, timeout="10s")
        except (OSError, ValueError) as error:
            raise Stop(f"No Dask scheduler answers at {scheduler}: {error}") from error
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Client(
        LocalCluster(
            n_workers=workers or cores,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    )


def compute(todo, folder, total, client):
    """Run the cells, keep each as it comes -> number that failed. Dask runs a cell again whose worker has died."""
    from dask.distributed import as_completed

    import sweep  # by name: workers import it, nothing of this process is pickled

    count = len(client.scheduler_info(n_workers=-1)["workers"])
    print(f"Workers: {count}; dashboard {client.dashboard_link}", flush=True)
    heavy = sorted(todo, key=lambda cell: -cell["T"] * len(cell["plays"]))
    futures = {
        client.submit(sweep.run, cell, key=f"{folder.name}-{key(cell)}", pure=False): cell
        for cell in heavy
    }
    progress, failed = Progress(todo, total), 0
    for future in as_completed(futures):
        if future.cancelled():
            raise Stop(
                "The cluster is gone. The finished cells are kept; the next run goes on from there"
            )
        cell, error = futures[future], future.exception()
        result = {"error": f"{type(error).__name__}: {error}"} if error else future.result()
        if "error" not in result and result["code"] != CODE:
            result = {"error": f"the worker has core {result['code']}, this is {CODE}"}
        if "error" in result:
            failed += 1
            why = result["error"].strip().replace("\n", "\n  ")
            print(f"\nFailed: {describe(cell)}\n  plays: {cell['plays']}\n  {why}", flush=True)
        else:
            keep(folder, cell, result["rows"])
        progress.step(cell, "failed" if "error" in result else f"{result['seconds']:.1f} s")
        future.release()
    print("\n" * progress.tty, end="")
    return failed


def stored(target, cells):
    """What to know of the table that is there: its core, and data that this run would replace by others."""
    rows = read(target)
    codes = {row["code"] for row in rows} - {CODE}
    yield f"{target.name} is a table of " + (
        f"core {', '.join(sorted(codes))}" if codes else "this core"
    )
    listed = lambda names: ", ".join(sorted(names))
    here = {cell["data"] for cell in cells}
    if other := {row["data"] for row in rows} - here:
        yield (
            f"{target.name} has results on {listed(other)}; here is {listed(here)}, and a run would replace them. "
            "For the same data: make data, or LDPBO_DATA; to keep the table: --out"
        )


def sweep_one(name, args, client):
    """Bring one sweep's table up to date -> number of cells that failed."""
    path = Path(name) if name.endswith(".yml") else GRIDS / f"{name}.yml"
    name, folder = path.stem, ROOT / f"_build/sweeps/{path.stem}"
    if not path.exists():
        raise Stop(
            f"No grid {name}; there are: {', '.join(p.stem for p in sorted(GRIDS.glob('*.yml')))}"
        )
    target = args.out or ROOT / f"data/sweeps/{name}.csv"
    cells = expand(yaml.safe_load(path.read_text("utf-8")), target.parent)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:  # released by the system however this ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Stop(f"Another run of {name} is under way in {folder}") from None
        for part in folder.glob(".*.json.*"):  # of a run that was killed while it wrote
            part.unlink()
        done, other = kept(folder)
        todo = [cell for cell in cells if key(cell) not in done]
        stale = {
            describe(c): other[t] for c in todo if (t := json.dumps(c, sort_keys=True)) in other
        }
        print(
            f"{name}: {len(cells)} cells, {len(cells) - len(todo)} kept, {len(todo)} to compute, "
            f"{len(stale)} of them stale (core {CODE})",
            flush=True,
        )
        for which, code in list(stale.items())[: None if args.status else 5]:
            print(f"  stale: {which} (core {code})")
        if len(stale) > 5 and not args.status:
            print(f"  and {len(stale) - 5} more; --status lists them")
        for note in stored(target, cells) if todo and target.exists() else ():
            print(f"  {note}", flush=True)
        if args.status:
            return 0
        if todo and (failed := compute(todo, folder, len(cells), client())):
            print(
                f"{failed} of {len(cells)} cells failed; the others are kept. "
                f"{target.name} is written when none does",
                flush=True,
            )
            return failed
        put(target, table(cells, kept(folder)[0]))
        read.cache_clear()
        print(f"{target} written: {len(cells)} cells, {target.stat().st_size:,} bytes", flush=True)
        return 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "names", nargs="*", metavar="NAME", help="grids of notebooks/params/sweeps (default: all)"
    )
    options.add_argument(
        "--scheduler", help="address of a running Dask scheduler (default: a local cluster)"
    )
    options.add_argument(
        "--workers", type=int, help="worker processes of the local cluster (default: one per core)"
    )
    options.add_argument("--out", type=Path, help="where the table goes (one NAME only)")
    options.add_argument(
        "--status", action="store_true", help="say what is kept, missing and stale; compute nothing"
    )
    args = options.parse_args()
    if args.out and len(args.names) != 1:
        options.error("--out goes with exactly one NAME")
    for number in (
        signal.SIGTERM,
        signal.SIGINT,
    ):  # SIGINT is ignored where a script started this in the background
        signal.signal(number, signal.default_int_handler)
    client = functools.cache(lambda: cluster(args.scheduler, args.workers))
    after = lambda path: (
        "tuned" in yaml.safe_load(path.read_text("utf-8"))
    )  # reads another's table: comes last
    names = args.names or [p.stem for p in sorted(GRIDS.glob("*.yml"), key=lambda p: (after(p), p))]
    return sum(sweep_one(name, args, client) for name in names)


def leave(status):
    """End now, with all local workers: nothing that matters is unwritten."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        child.kill()
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    try:
        leave(1 if main() else 0)
    except Stop as stop:
        print(f"\nStopped. {stop}", file=sys.stderr, flush=True)
        leave(1)
    except KeyboardInterrupt:
        print("\nInterrupted; the next run goes on from here.", file=sys.stderr, flush=True)
        leave(130)
