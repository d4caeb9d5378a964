"""Runs that are too long for a page are made here, with the true RKHS norm as B: campaigns.csv.

    .venv/bin/python data/campaigns.py          # about an hour on one core

The columns mean, low and high are relative regret over the trials, round by round. Read by the
pages "One bit is enough" (proved widths) and "How many users do I need?" (order constants, and
one-bit GP-UCB).
"""

import csv
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from ldpbo import figures as fig
from ldpbo import provenance

COLUMNS = "kernel eps T trials name constants curator t mean low high code".split()
PROVED = [
    ("TGP", "theorem", "CTL"),
    ("ATA", "theorem", "CTL"),
    ("MoMA", "theorem", "CTL"),
    ("MoMA", "repaired", "CTL"),
    ("GP-UCB", "theorem", "OneBit"),
]
ORDER = [
    ("GP-UCB", "theorem", "OneBit"),
    ("TGP", "order", "CTL"),
    ("MoMA", "order", "CTL"),
    ("ATA", "order", "CTL"),
]
JOBS = [  # kernel, eps, T, trials, learners
    ("se", 1.0, 20_000, 3, PROVED),
    ("matern", 1.0, 20_000, 3, PROVED),
    ("se", 1.0, 200_000, 2, PROVED),
    ("matern", 1.0, 200_000, 2, PROVED),
    *(("se", eps, 50_000, 2, ORDER) for eps in (10.0, 3.0, 1.0, 0.3, 0.1)),
]


def run(kernel, eps, T, trials, name, constants, curator, seed=2021):
    """One learner's rows: mean and range of its relative regret, at eight rounds a decade."""
    result = core.simulate(
        fig.normed(kernel),
        [name],
        T,
        trials=trials,
        seed=seed,
        eps=eps,
        constants=constants,
        curator=getattr(core, curator),
    )
    t = np.unique(np.geomspace(100, T, 8 * round(np.log10(T / 100)) + 1).astype(int))
    share = result.regret[0][:, t - 1] / (t * result.records["uniform"][:, None])
    job = [kernel, f"{eps:g}", str(T), str(trials), name, constants, curator]
    numbers = np.stack([share.mean(axis=0), share.min(axis=0), share.max(axis=0)], axis=1)
    return [[*job, str(i), *(f"{x:.4f}" for x in row)] for i, row in zip(t, numbers)]


def main(target):
    """All jobs are run; a learner's rows are in the file as soon as it has ended."""
    code = provenance.code_hash()
    with open(target, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for *job, learners in JOBS:
            for learner in learners:
                out.writerows([*row, code] for row in run(*job, *learner))
                file.flush()


if __name__ == "__main__":
    main(Path(__file__).resolve().parent / "campaigns.csv" if len(sys.argv) < 2 else sys.argv[1])
