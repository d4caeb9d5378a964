"""Play runs that are too long for a page, with the RKHS norm as B: the table data/campaigns.csv.

    .venv/bin/python data/campaigns.py [FILE]         # about an hour on one core

Writes data/campaigns.csv, or FILE, for the page "One bit is enough": relative regret by round.
Curators are told the norm as the range, too: F = B.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import write
from ldpbo import experiments

SEED = 2021
NOT_TUNED = [
    ("TGP", "printed", "CTL"),
    ("ATA", "printed", "CTL"),
    ("MoMA", "printed", "CTL"),
    ("MoMA", "proved", "CTL"),
    ("GP-UCB", "proved", "OneBit"),
]
ORDER = [
    ("GP-UCB", "proved", "OneBit"),
    ("TGP", "order", "CTL"),
    ("MoMA", "order", "CTL"),
    ("ATA", "order", "CTL"),
]
JOBS = [  # kernel, eps, T, trials, learners
    ("se", 1.0, 20_000, 3, NOT_TUNED),
    ("matern", 1.0, 20_000, 3, NOT_TUNED),
    ("se", 1.0, 200_000, 2, NOT_TUNED),
    ("matern", 1.0, 200_000, 2, NOT_TUNED),
    *(("se", eps, 50_000, 2, ORDER) for eps in (10.0, 3.0, 1.0, 0.3, 0.1)),
]


def run(kernel, eps, T, trials, name, constants, curator):
    """Run one learner -> its relative regret, mean and range over trials, eight times a decade."""
    problem = lambda seed: experiments.told_norm(core.synthetic_problem(kernel, seed=seed))
    privacy = dict(eps=eps, curator=getattr(core, curator))
    options = dict(trials=trials, seed=SEED, constants=constants)
    result = core.simulate(problem, [name], T, **privacy, **options)
    t = np.unique(np.geomspace(100, T, 8 * round(np.log10(T / 100)) + 1).astype(int))
    share = result.regret[0][:, t - 1] / (t * result.records["uniform"][:, None])
    job = dict(kernel=kernel, eps=f"{eps:g}", T=T, trials=trials)
    learner = dict(name=name, constants=constants, curator=curator)
    found = dict(t=t, mean=share.mean(axis=0), low=share.min(axis=0), high=share.max(axis=0))
    return pd.DataFrame(job | learner | found)


def parts():
    """Yield the rows of each job and learner."""
    for *job, learners in JOBS:
        for learner in learners:
            yield run(*job, *learner)


if __name__ == "__main__":
    write.main(__file__, parts(), float_format="%.4f")
