"""Count the users a private learner needs with fewer or more arms: the table data/arms.csv.

    .venv/bin/python data/arms.py [FILE]          # about a quarter of an hour on one core

Writes data/arms.csv, or FILE, for the calculator of the page "Which one should I use?". It is the
table of data/users.py for synthetic functions with other numbers of arms, on as many functions;
and for arms in no order (K = I), whose means are drawn one by one, uniformly from [-1, 1].
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import users, write
from ldpbo import experiments

CASES = [(kernel, arms) for arms in (10, 30, 300) for kernel in ("se", "matern")]
CASES += [("identity", arms) for arms in (10, 30, 100, 300)]  # data/users.csv has the other 100
FUNCTIONS = 12  # as data/users.csv
SHARES = (0.5, 0.1)


def synthetic(kernel, arms):
    """Return a function from a seed to a problem with so many arms, told its norm."""
    if kernel == "identity":
        return lambda seed: experiments.told_norm(unrelated(arms, seed))
    return lambda seed: experiments.told_norm(core.synthetic_problem(kernel, seed=seed, n=arms))


def unrelated(arms, seed):
    """Draw a problem in which no arm tells anything about another."""
    f = np.random.default_rng(seed).uniform(-1, 1, arms)
    return core.Problem(K=np.eye(arms), f=f, B=1.0, R=1.0)


def rows(kernel, arms, learner, trust, eps):
    """Compute the rows of one kernel, number of arms, learner and kind of trust."""
    problem = synthetic(kernel, arms)
    mean = users.trajectories(problem, FUNCTIONS, learner, trust, eps).mean(axis=0)
    row = dict(problem=kernel, arms=arms, learner=learner, trust=trust, eps=eps, runs=FUNCTIONS)
    needed = {share: users.users_needed(mean, share) for share in SHARES}
    found = [row | dict(share=share, users=f"{n:.3g}") for share, n in needed.items()]
    return pd.DataFrame(found)


def parts():
    """Yield the rows of each kernel, number of arms and learner."""
    kinds = [kind for kind in users.KINDS if kind[2] is not None]
    for case in CASES:
        for kind in kinds:
            yield rows(*case, *kind)


if __name__ == "__main__":
    write.main(__file__, parts())
