"""Count the users a private learner needs: the table data/users.csv.

    .venv/bin/python data/users.py [FILE]          # about two minutes on one core

Writes data/users.csv, or FILE, for the pages "How many users do I need?" and "Which one should
I use?". One run a function plays to 10^12 users; both learners are anytime, so the regret along
that one run is the regret at every smaller number of users. A row holds the number of users after
which the mean over the functions of (regret / regret of uniform play) stays below a share, and its
95 % bootstrap interval over the functions. On a table the function is fixed and the runs differ in
their noise alone. B is the RKHS norm of f and F = B: every width is proved.

The rows marked "original" need the paper's two tables (`make data`, or LDPBO_DATA) and are left out
where these are missing; the results are stored, the data is not.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import tables, write
from ldpbo import experiments

SEED = 4242
T = 10**12
LEVELS = (0.1, 0.3, 1.0, 3.0)
SHARES = (0.5, 0.1, 0.01)
RUNS = {"se": 12, "matern": 12, "light": 8, "stocks": 8}
RESAMPLES = 1000
GRID = np.geomspace(100, T, 1001)
LEARNERS = {
    "PE": dict(name="PE", schedule="double"),
    "GP-UCB": dict(name="GP-UCB", switch=0.1, lam=None),
}
TRUST = {
    "local": dict(curator=core.OneBit),
    "aggregator": dict(curator=core.Sums),
    "none": dict(),
}
KINDS = [  # learner, trust, level; None: not private
    *(("PE", "local", eps) for eps in LEVELS),
    *(("GP-UCB", "local", eps) for eps in LEVELS),
    *(("PE", "aggregator", eps) for eps in LEVELS),
    ("PE", "none", None),
]


def synthetic(kernel):
    """Return a function from a seed to a synthetic problem told its norm."""
    return lambda seed: experiments.told_norm(core.synthetic_problem(kernel, "uniform", seed))


def problems():
    """Return {(problem, data): a problem, or a function from a seed to one}."""
    found = {(kernel, "synthetic"): synthetic(kernel) for kernel in ("se", "matern")}
    return found | {key: experiments.told_norm(p) for key, p in tables.tables_here().items()}


def trajectories(problem, runs, learner, trust, eps):
    """Run a learner to T users -> its share of uniform play's regret on GRID, (runs, len(GRID))."""
    options = LEARNERS[learner] | TRUST[trust]
    chosen = dict(trials=runs, seed=SEED, constants="proved", delta=0.1)
    run = core.simulate_batches(problem, T, eps=eps, **chosen, **options)
    return experiments.shares(run, GRID)


def users_needed(share, target):
    """Find after how many users a mean share (len(GRID),) stays below `target`; inf: not by T."""
    above = np.flatnonzero(share >= target)
    if not len(above):
        return GRID[0]
    last = above[-1]
    if last == len(GRID) - 1:
        return np.inf
    ends = slice(last, last + 2)
    return np.exp(np.interp(-np.log(target), -np.log(share[ends]), np.log(GRID[ends])))


def rows(key, problem, learner, trust, eps):
    """Compute the rows of one problem, learner and kind of trust, one for each share."""
    name, data = key
    shares = trajectories(problem, RUNS[name], learner, trust, eps)
    rng = np.random.default_rng(SEED)
    picks = rng.integers(len(shares), size=(RESAMPLES, len(shares)))
    means = shares[picks].mean(axis=1)
    level = "" if eps is None else f"{eps:g}"
    found = []
    for target in SHARES:
        again = [users_needed(mean, target) for mean in means]
        low, high = np.quantile(again, [0.025, 0.975], method="nearest")
        users = users_needed(shares.mean(axis=0), target)
        row = dict(problem=name, data=data, learner=learner, trust=trust, eps=level)
        size = {"users": users, "low": low, "high": high}
        found.append(row | dict(share=target, runs=len(shares)) | size)
    return pd.DataFrame(found)


def parts():
    """Yield the rows of each problem and learner."""
    for key, problem in problems().items():
        for kind in KINDS:
            yield rows(key, problem, *kind)


if __name__ == "__main__":
    write.main(__file__, parts(), float_format="%.3g")
