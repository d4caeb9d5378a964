"""Count the users a private learner needs with fewer or more arms: the table data/arms.csv.

    .venv/bin/python data/arms.py [FILE]          # about five minutes on one core

Writes data/arms.csv, or FILE, for the calculator of the page "Which one should I use?". It is the
table of data/users.py for synthetic functions with other numbers of arms, on as many functions.
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import users, write
from ldpbo import experiments

ARMS = (10, 30, 300)  # data/users.csv has 100
FUNCTIONS = 12  # as data/users.csv
SHARES = (0.5, 0.1)


def synthetic(kernel, arms):
    """Return a function from a seed to a problem with so many arms, told its norm."""
    return lambda seed: experiments.told_norm(core.synthetic_problem(kernel, seed=seed, n=arms))


def rows(kernel, arms, learner, trust, eps):
    """Compute the rows of one kernel, number of arms, learner and kind of trust."""
    problem = synthetic(kernel, arms)
    mean = users.trajectories(problem, FUNCTIONS, learner, trust, eps).mean(axis=0)
    row = dict(problem=kernel, arms=arms, learner=learner, trust=trust, eps=eps, runs=FUNCTIONS)
    needed = {share: users.users_needed(mean, share) for share in SHARES}
    found = [row | dict(share=share, users=f"{n:.3g}") for share, n in needed.items()]
    return pd.DataFrame(found)


def parts():
    """Yield the rows of each number of arms, kernel and learner."""
    kinds = [kind for kind in users.KINDS if kind[2] is not None]
    for arms in ARMS:
        for kernel in ("se", "matern"):
            for kind in kinds:
                yield rows(kernel, arms, *kind)


if __name__ == "__main__":
    write.main(__file__, parts())
