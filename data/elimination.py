"""Compute the regret of the two proved learners up to 10^15 users: data/elimination.csv.

    .venv/bin/python data/elimination.py [FILE]       # about half a minute on one core

Writes data/elimination.csv, or FILE, for the page "Elimination". Neither learner is told how long
it will play, so one campaign on a function gives the regret after every number of users. A row
holds means over the functions after so many users: the regret of uniform play and of the learners,
their regret over that of uniform play, the proved bounds of both (`upper`: elimination) and the
lower bound. `batches` are those that elimination has begun, and `rounding` is the largest value so
far of what its proof needs to be at most 1.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import write
from ldpbo import experiments
from notebooks.elimination import runs

SEED = 4242  # nothing was chosen on these functions
TRIALS = 12
EPS = 1.0
DELTA = 0.1
USERS = np.geomspace(1e3, 1e15, 37)
T = 10**15
GIVEN = dict(eps=EPS, curator=core.OneBit, constants="proved", delta=DELTA)
LEARNERS = {"PE": dict(schedule="double"), "GP-UCB": dict(lam=None, switch=0.1)}


def campaigns(kernel):
    """Play both learners to T users -> the columns that tell of regret."""
    found = {"kernel": kernel, "users": USERS}
    for name, how in LEARNERS.items():
        options = dict(name=name, trials=TRIALS, seed=SEED) | GIVEN | how
        run = core.simulate_batches(runs.source(kernel), T, **options)
        share = experiments.shares(run, USERS)
        uniform = run.uniform[:, None] * USERS
        found["uniform"] = uniform.mean(axis=0)
        found[name] = (share * uniform).mean(axis=0)
        found[f"share {name}"] = share.mean(axis=0)
        if name == "PE":
            found["batches"] = 1 + np.searchsorted(run.t, USERS)
    return pd.DataFrame(found)


def proved(kernel, users):
    """Compute the proved bounds of both learners and the lower bound after so many users."""
    switch = LEARNERS["GP-UCB"]["switch"]
    found = {
        "upper": lambda p, t: runs.upper_bound(p, t, EPS, DELTA),
        "upper GP-UCB": lambda p, t: runs.switching_bound(p, t, EPS, DELTA, switch),
        "lower": lambda p, t: runs.lower_bound(p, t, EPS),
    }
    tasks = runs.problems(kernel, SEED, TRIALS)
    means = {}
    for name, bound in found.items():
        means[name] = np.mean([[bound(p, t) for t in users] for p in tasks], axis=0)
    return means


def rounding(kernel):
    """Return the largest ratio of the batches that have ended after each number of users."""
    largest = np.zeros(len(USERS))
    for trial, task in enumerate(runs.problems(kernel, SEED, TRIALS)):
        for end, ratio in runs.rounding(task, T, SEED, trial, **GIVEN):
            reached = USERS >= end
            largest[reached] = np.maximum(largest[reached], ratio)
    return largest


def rows(kernel):
    """Compute the rows of one kernel."""
    found = campaigns(kernel).assign(**proved(kernel, USERS), rounding=rounding(kernel))
    return found.assign(trials=TRIALS)


if __name__ == "__main__":
    write.main(__file__, map(rows, ("se", "matern")), float_format="%.5g")
