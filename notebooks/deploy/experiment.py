"""Server and users agree on this beforehand: arms, kernel, bounds, privacy.

No f: nobody knows it.
"""

import functools

import numpy as np

import ldpbo_core as core

SIDE = np.arange(1, 9) / 8
POINTS = np.array([(x, y) for x in SIDE for y in SIDE])  # two dials, (n, d)
KERNEL = functools.partial(core.se_kernel, lengthscale=0.4)
# B bounds the norm of f, F its range, R the noise. Here they are known, since the users
# are simulated; for yours see the recipe on the page "Which one should I use?"
PROBLEM = core.Problem(points=POINTS, kernel=KERNEL, B=1.0, F=1.0, R=0.5)
EPS = 2.0  # for one report of one user
LEARNERS = {
    "PE": {"schedule": "double"},  # a thousand users out at once, then more
    "GP-UCB": {"switch": 1.0, "lam": None},  # four out at once at first; for few users
}


def learner(T=None, name="PE"):
    """Make a learner for T users; with None it goes on until somebody stops it."""
    options = LEARNERS[name] | {"curator": core.OneBit, "constants": "proved"}
    return core.make(name, PROBLEM, T, eps=EPS, rng=0, **options)
