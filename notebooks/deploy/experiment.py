"""Server and clients agree on this before the first user comes.

Arms, kernel, bounds and privacy; no f: nobody knows it.
"""

import functools

import numpy as np

import ldpbo_core as core

SIDE = np.arange(1, 9) / 8
POINTS = np.array([(x, y) for x in SIDE for y in SIDE])  # 64 settings of two dials
KERNEL = functools.partial(core.se_kernel, lengthscale=0.4)
PROBLEM = core.Problem(points=POINTS, kernel=KERNEL, B=1.0, R=1.0)
EPS = 2.0  # for one report of one user


def learner(T):
    """The learner of T users starts from nothing."""
    return core.make("GP-UCB", PROBLEM, T, eps=EPS, curator=core.OneBit, rng=0)
