"""See whether the bands hold: the table data/coverage.csv.

    .venv/bin/python data/coverage.py [FILE]          # about four minutes on one core

Writes data/coverage.csv, or FILE, for the pages "Elimination" and "Upper bounds: coverage and
dictionaries". A row is a setting, with new functions in every run and B the RKHS norm of f. Its
`use` lists, run by run, the largest share of a band that was needed at any arm and time; above 1
the band has failed.
"""

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ldpbo_core as core
from data import write
from notebooks.elimination import runs
from notebooks.elimination.coverage import largest_use
from notebooks.ub_coverage import runs as rounds

RUNS = 100  # of each setting
LONG_RUNS = 400  # of each setting with a million users
SEED = 2022
KINDS = {
    "one bit": dict(curator=core.OneBit),
    "Laplace": dict(),
    "sums": dict(curator=core.Sums),
    "not private": dict(),
    "Student": dict(),
}
PRIVATE = ("one bit", "Laplace", "sums")
SHORT = [  # kernel, reports, eps, T, runs of elimination
    (kernel, kind, 1.0 if kind in PRIVATE else None, 5000, RUNS)
    for kernel in ("se", "matern")
    for kind in KINDS
]
LONG = [
    (kernel, "one bit", eps, 1_000_000, LONG_RUNS)
    for kernel, eps in (("se", 1.0), ("se", 0.1), ("matern", 1.0))
]
COLUMNS = ["learner", "constants", "scale", "reports", "kernel", "eps", "T", "runs", "use"]


def of_batches(kernel, kind, eps, T, trials):
    """Return the use of elimination's bands in these trials."""
    task = runs.source(kernel, "t3" if kind == "Student" else "uniform")
    options = KINDS[kind] | dict(constants="proved", delta=0.1, schedule="double")
    if eps:
        options["eps"] = eps
    return [largest_use(task, T, SEED, trial, **options) for trial in trials]


def row(key, uses):
    """Name a setting and list its uses."""
    text = " ".join(f"{x:.3g}" for x in uses)
    return pd.DataFrame([[*key, len(uses), text]], columns=COLUMNS)


def parts():
    """Yield the rows of the learners that play round by round, then those of elimination."""
    for setting in rounds.SETTINGS:
        name, constants, scale, reports = setting
        private = reports != "Student"
        where = ("matern", rounds.EPS, rounds.T) if private else ("se", None, rounds.T)
        yield row((name, constants, scale, reports, *where), rounds.use(setting, RUNS))
    for kernel, kind, eps, T, trials in SHORT + LONG:
        uses = of_batches(kernel, kind, eps, T, range(trials))
        yield row(("PE", "proved", 1.0, kind, kernel, eps, T), uses)


if __name__ == "__main__":
    write.main(__file__, parts())
