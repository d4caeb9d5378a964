"""Play GP-UCB on one-bit reports: the table data/onebit.csv.

    .venv/bin/python data/onebit.py [FILE]            # about two minutes on one core

Writes data/onebit.csv, or FILE, for the page "One bit is enough". A row is one campaign on one
function, with proved widths and B = F the RKHS norm of f: its regret over that of uniform play, how
often an arm was chosen, and the bound of the theorem on seldom switching with the campaign's own
gain. Three experiments: "switch" over C, "ridge" over multiples of the matched ridge, and "beside",
GP-UCB and elimination at the horizons of data/campaigns.csv.
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import write
from notebooks.onebit import bits

SEED = 2021
FUNCTIONS = 12
EPS = 1.0
SWITCHES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FACTORS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
LEARNERS = {
    "GP-UCB": dict(name="GP-UCB", switch=0.1, lam=None),
    "PE": dict(name="PE", schedule="double"),
}
CELLS = [  # experiment, kernel, users, learner, C or the factor on the ridge
    (experiment, kernel, users, "GP-UCB", value)
    for experiment, horizons, values in (
        ("switch", [1_000_000], SWITCHES),
        ("ridge", [10_000, 1_000_000], FACTORS),
    )
    for kernel in bits.KERNELS
    for users in horizons
    for value in values
] + [
    ("beside", kernel, users, learner, None)
    for kernel in bits.KERNELS
    for users in (20_000, 200_000)
    for learner in LEARNERS
]

COLUMNS = ["experiment", "kernel", "users", "learner", "value", "function"]
COLUMNS += ["share", "choices", "at most"]


def play(cell, j):
    """Run one cell on function j -> (regret over uniform play's, choices, their bound)."""
    experiment, kernel, users, learner, value = cell
    task = bits.problem(kernel, SEED, j)
    if experiment == "beside":
        options = dict(trials=1, seed=SEED + j, eps=EPS, curator=core.OneBit, constants="proved")
        run = core.simulate_batches(task, users, delta=0.1, **options, **LEARNERS[learner])
        return float(run.regret[0, -1] / (users * run.uniform[0])), len(run.t), None
    chosen = dict(switch=value, lam=None)
    if experiment == "ridge":
        chosen = dict(switch=0.1, lam=value * bits.matched_ridge(task, EPS))
    return bits.campaign(task, users, SEED, j, EPS, **chosen)


def rows(cell):
    """Compute the rows of one cell, one for each function."""
    found = [(*cell, j, *play(cell, j)) for j in range(FUNCTIONS)]
    return pd.DataFrame(found, columns=COLUMNS)


if __name__ == "__main__":
    write.main(__file__, map(rows, CELLS), float_format="%.4g")
