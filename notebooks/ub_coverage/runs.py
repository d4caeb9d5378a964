"""The runs behind "Do the bands cover?": which settings, on which functions, and their use."""

import numpy as np

import ldpbo_core as core
from ldpbo import experiments

SEED = 2022  # of functions, noise and dictionaries
T = 1000
DELTA = 0.1
EPS = 1.0
GIVEN = dict(T=T, lam=1.0, delta=DELTA, acc=0.1)
SETTINGS = [  # learner, constants, factor on beta, reports
    ("TGP", "printed", 1.0, "Laplace"),
    ("TGP", "proved", 1.0, "Laplace"),
    ("TGP", "order", 1.0, "Laplace"),
    ("TGP", "order", 0.1, "Laplace"),
    ("ATA", "printed", 1.0, "Laplace"),
    ("ATA", "order", 0.1, "Laplace"),
    ("MoMA", "printed", 1.0, "Laplace"),
    ("MoMA", "proved", 1.0, "Laplace"),
    ("MoMA", "order", 1.0, "Laplace"),
    ("MoMA", "order", 0.1, "Laplace"),
    ("GP-UCB", "proved", 1.0, "Laplace"),
    ("GP-UCB", "order", 1.0, "Laplace"),
    ("MoMA", "printed", 1.0, "Student"),
    ("MoMA", "proved", 1.0, "Student"),
    ("MoMA", "order", 0.1, "Student"),
    ("GP-UCB", "proved", 1.0, "one bit"),
]
PRIVACY = {
    "Laplace": dict(eps=EPS),
    "one bit": dict(eps=EPS, curator=core.OneBit),
    "Student": {},
}


def problem(reports):
    """Return a function from a seed to a problem with B the RKHS norm of f, as the theorems ask."""
    kernel, noise = ("se", "t3") if reports == "Student" else ("matern", "uniform")
    return experiments.problem_with_norm(kernel, noise)


def use(setting, trials):
    """Play one setting on new functions -> the largest share of the width needed, (trials,).

    The width is the part of beta after its first term; above 1 the band has failed somewhere.
    """
    name, constants, scale, reports = setting
    options = GIVEN | PRIVACY[reports] | dict(constants=constants, beta_scale=scale)
    source = problem(reports)
    tasks = [source(core.streams(SEED, i)[0]) for i in range(trials)]
    first = [[core.make(name, task, **options).beta] for task in tasks]
    played = dict(trials=trials, seed=SEED, bands=True)
    records = core.simulate(source, name, **options, **played).records
    beta, needed = (records[key][0] - first for key in ("beta", "needed"))
    share = np.divide(needed, beta, out=0 * beta, where=beta > 0)
    return share.max(axis=1, initial=0)
