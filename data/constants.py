"""Compute regret bounds on the real tables, and regret at their constants: data/constants.csv.

    .venv/bin/python data/constants.py [FILE]         # about a minute on one core

Writes data/constants.csv, or FILE, for the page "Upper bounds: the constants". Rows "bound" are
the bounds at the parameters of the real-data panels, T = 20,000, over the regret of uniform play;
those marked "original" need the paper's two tables (`make data`, or LDPBO_DATA) and are left out
where these are missing: the results are stored, the data is not. Rows "regret" are means over the
functions of panel 2a of regret over that of uniform play, by round.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import tables, write
from notebooks.ub_constants import widths

T = 20_000
SEED = 2021
FUNCTIONS = 10
PANELS = {  # table and privacy level of the real-data panels
    "2b": ("light", 0.5),
    "2c": ("stocks", 1.0),
    "2e": ("light", None),
    "2f": ("stocks", None),
    "3b": ("light", 1.0),
    "3c": ("stocks", 0.5),
}
RUNS = [
    ("TGP", "printed"),
    ("TGP", "order"),
    ("MoMA", "printed"),
    ("MoMA", "proved"),
    ("MoMA", "order"),
]
COLUMNS = ["what", "panel", "data", "name", "constants", "t", "value"]
ROUNDS = np.unique(np.geomspace(10, T, 40).astype(int))


def bounds_of(panel, p):
    """Compute the bounds of a panel on one of its tables, over the regret of uniform play."""
    eps = PANELS[panel][1]
    uniform = T * (p.f.max() - p.f.mean())
    found = widths.all_bounds(p.K, T, p.B, p.R, eps, p.c)
    row = dict(what="bound", panel=panel, data=p.provenance.split()[0], t=T)
    return [row | dict(name=name, value=x / uniform) for name, x in found.items()]


def problems():
    """Return {(data, panel): problem} of the panels whose table is here."""
    here = tables.tables_here()
    found = {}
    for data in ("stand-in", "original"):
        for panel, (table, _) in PANELS.items():
            if (table, data) in here:
                found[data, panel] = here[table, data]
    return found


def regret(name, constants, functions=FUNCTIONS):
    """Run a learner on the functions of panel 2a -> its rows."""
    problem = lambda seed: core.synthetic_problem("matern", "uniform", seed)
    options = dict(trials=functions, seed=SEED, eps=1.0, lam=1.0, delta=0.1, acc=0.1)
    run = core.simulate(problem, [name], T, constants=constants, **options)
    uniform = run.records["uniform"][:, None] * ROUNDS
    share = (run.regret[0][:, ROUNDS - 1] / uniform).mean(axis=0)
    row = dict(what="regret", panel="2a", data="synthetic", name=name, constants=constants)
    return [row | dict(t=int(t), value=x) for t, x in zip(ROUNDS, share)]


def parts():
    """Yield the rows of the bounds, then those of each run."""
    found = [row for (_, panel), p in problems().items() for row in bounds_of(panel, p)]
    yield pd.DataFrame(found, columns=COLUMNS)
    for run in RUNS:
        yield pd.DataFrame(regret(*run), columns=COLUMNS)


if __name__ == "__main__":
    write.main(__file__, parts(), float_format="%.5g")
