"""Workers of a Dask cluster run this: cells of a sweep, and the users of a campaign.

>>> from ldpbo import cluster
>>> cluster.run_cell({"problem": "synthetic", "kernel": "se", "eps": None, "T": 9, "seed": 1,
...                   "data": "synthetic", "plays": [{"name": "TGP"}]})["rows"][0]["name"]
'TGP'

`client` starts workers here or finds those of a running scheduler. They import this module by name,
so they need this checkout on their path, and LDPBO_DATA where the original data is used.
"""

import functools
import logging
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import ldpbo_core as core
from ldpbo import provenance

CODE = provenance.code_hash()
CURATORS = {"laplace": core.CTL, "one bit": core.OneBit}
NO_OPTIONS = {  # what a cell has that `make` does not take
    *("panel", "problem", "kernel", "noise", "phase", "setting"),
    *("T", "seed", "name", "plays", "data"),
}


def client(scheduler: str | None = None, workers: int | None = None) -> Any:
    """Connect to the scheduler at an address, or start worker processes of one thread each here."""
    import dask
    from dask.distributed import Client, LocalCluster

    root = str(Path(core.__file__).resolve().parent)
    paths = [root, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if scheduler:
        return Client(scheduler, timeout="10s")
    # Else a slow restart of a worker is given up after 15 s.
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 day"})
    local = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    return Client(local)


# ---- A cell of a sweep ---------------------------------------------------------------------------


@functools.cache
def data_problem(name: str) -> core.Problem:
    """Make the problem of a data set once."""
    return getattr(core, f"{name}_problem")()


def source(name: str) -> str:
    """Say where a problem's data come from, as each row of a table does."""
    return name if name == "synthetic" else data_problem(name).provenance.split(";")[0]


def contaminated_problem(
    kernel: str, seed: int, rows: int = 2000, share: float = 0.05, size: float = 10.0
) -> core.Problem:
    """Make a synthetic f whose noise is N(0, 1), and `size` times that in a `share` of the rows."""
    plain = core.synthetic_problem(kernel, "uniform", seed)
    rng = np.random.default_rng([seed, 1])
    noise = rng.standard_normal((rows, plain.n))
    noise *= np.where(rng.random((rows, 1)) < share, size, 1.0)
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


def problem_of(cell: dict[str, Any]) -> Callable[[int], core.Problem]:
    """Return the function from a seed to the problem of a cell, as on the panels' pages."""
    noise = cell.get("noise") or ("t3" if cell["eps"] is None else "uniform")
    if cell["problem"] != "synthetic":
        return lambda seed: data_problem(cell["problem"])
    if noise == "contaminated":
        return lambda seed: contaminated_problem(cell["kernel"], seed)
    return lambda seed: core.synthetic_problem(cell["kernel"], noise, seed)


def run_play(cell: dict[str, Any], play: dict[str, Any]) -> dict[str, Any]:
    """Simulate one play of a cell -> its regret, that of the first half, and what goes with it."""
    options = {k: v for k, v in (cell | play).items() if k not in NO_OPTIONS}
    if cell["eps"] is not None:
        options["curator"] = CURATORS[options["curator"]]
    T = cell["T"]
    options |= {"trials": 1, "seed": cell["seed"]}
    clipped = None
    if play["name"] == "PE":  # in its exact law: the cost does not grow with T
        campaign = core.simulate_batches(problem_of(cell), T, **options)
        rounds = [0, *campaign.t]
        half, regret = np.interp([T // 2, T], rounds, [0, *campaign.regret[0]])
        uniform = campaign.uniform[0]
    else:
        result = core.simulate(problem_of(cell), play["name"], T, **options)
        half, regret = result.regret[0, 0, [(T - 1) // 2, -1]]
        uniform = result.records["uniform"][0]
        clipped = int(result.records["clipped"][0, 0])
    return {
        "data": cell["data"],
        "regret": float(regret),
        "half": float(half),
        "uniform": float(uniform * T),
        "clipped": clipped,
        "code": CODE,
    }


def text(value: Any) -> str:
    """Write a value as the tables do."""
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def run_cell(cell: dict[str, Any]) -> dict[str, Any]:
    """Run a cell -> {"rows", "code", "seconds"}, or {"error": text}; never an exception."""
    start = time.perf_counter()
    rows = []
    try:
        here = source(cell["problem"])
        if here != cell["data"]:
            raise ValueError(
                f"this worker has {here}, the grid {cell['data']}: give both the same LDPBO_DATA"
            )
        fixed = {k: v for k, v in cell.items() if k not in ("plays", "data")}
        for play in cell["plays"]:
            row = fixed | play | run_play(cell, play)
            rows.append({k: text(v) for k, v in row.items()})
    except Exception:
        return {"error": traceback.format_exc(limit=-2)}
    return {"rows": rows, "code": CODE, "seconds": time.perf_counter() - start}


# ---- The users of a campaign ---------------------------------------------------------------------


def users(
    problem: core.Problem, curators: Mapping[int, core.CTL], counts: np.ndarray, seed: Sequence[int]
) -> np.ndarray:
    """Sum the reports of counts[arm] users of each arm, (n,): all that leaves them."""
    rng = np.random.default_rng(seed)
    sums = np.zeros(len(counts))
    for arm in np.flatnonzero(counts).tolist():
        rewards = problem.sample(arm, rng, int(counts[arm]))
        sums[arm] = curators[arm].privatise(rewards, rng).sum()
    return sums


def chunks(
    learner: core.PlannedLearner, size: int, seed: Sequence[int]
) -> Iterator[tuple[core.Problem, dict[int, core.CTL], np.ndarray, list[int]]]:
    """Cut a learner's plan, in random order, into chunks of `size` users.

    Yields the arguments of `users`. Each chunk has a seed of its own, and each arm the curator of
    this plan.
    """
    plan = learner.plan()
    arms = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(plan)), plan))
    curators = {arm: learner.curator(arm) for arm in np.flatnonzero(plan).tolist()}
    for i, start in enumerate(range(0, len(arms), size)):
        counts = np.bincount(arms[start : start + size], minlength=len(plan))
        yield learner.problem, curators, counts, [*seed, i]
