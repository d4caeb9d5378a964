"""From the number of places where an optimum can hide to a lower bound, on the line [0, 1].

    T, eps, b = 10_000, 1.0, 1.0                           # users, privacy, rewards +b and -b
    Delta = highest("matern", 16, B=1.0, lengthscale=0.2, nu=2.5)
    bound(16, Delta, T=T, eps=eps, b=b)                    # no learner's regret is below it

`bounds.lower_bound` with variant="bounded" is the same bound with norms and a search of its own;
the page and a test compare the two.
"""

import math

import numpy as np

from ldpbo import bounds, bumps

SHAPE = bounds.bump(1)
V = SHAPE.table  # the most that a bump pays, in units of Delta, by cells from its peak
TIMES = SHAPE.repeats  # 1 for its own cell, 2 for cells on both sides
c = V @ TIMES


def highest(kernel, M, *, B, lengthscale, nu):
    """Return Delta, half the peak of a bump that has the norm B in a cell of width 1/M."""
    return B * math.exp(-bumps.log_norm(1 / M, kernel, 1, lengthscale=lengthscale, nu=nu))


def lower_from(kernel, *, most=64, **shape):
    """Return from how many places on each further one, up to `most`, makes the bumps lower."""
    heights = [highest(kernel, M, **shape) for M in range(1, most + 1)]
    rises = np.flatnonzero(np.diff(heights) > 0)
    return int(rises[-1]) + 2 if rises.size else 1


def parts(M, Delta, *, T, eps, b):
    """Return what a learner earns of the peak, in units of Delta: without reports, and by them."""
    told = np.multiply.outer(Delta, V) * math.tanh(eps / 2) / b
    S = -0.5 * np.log1p(-(told**2)) @ TIMES  # what one report reveals at most, over all functions
    return c / M, np.sqrt(2 * T * S / M)


def bound(M, Delta, *, T, eps, b):
    """Return T Delta (2 - c/M - sqrt(2 T S/M)): on one of the M functions a learner loses that."""
    blind, told = parts(M, Delta, T=T, eps=eps, b=b)
    return T * Delta * (2 - blind - told)


def at_least(kernel, M, *, T, eps, B, b, lengthscale, nu):
    """Find the best bound with M places -> (regret, Delta); a bump may be lower than the highest.

    kernel: "matern", "se", or None if no norm limits the bumps.
    """
    top = b / 2 * (1 - 1e-9)  # rewards +b and -b have a mean up to b
    if kernel:
        top = min(top, highest(kernel, M, B=B, lengthscale=lengthscale, nu=nu))
    Delta = top * np.geomspace(1e-3, 1, 2001)
    regret = bound(M, Delta, T=T, eps=eps, b=b)
    i = regret.argmax()
    return float(regret[i]), float(Delta[i])


def best(kernel, **setting):
    """Find the best number of places -> (regret, Delta, M)."""
    found = {M: at_least(kernel, M, **setting) for M in range(3, 101)}
    M = max(found, key=found.get)
    return *found[M], M


def uniform(M, Delta, T):
    """Return the regret of uniform play on each of the M functions.

    A cell has 200 points. What a bump pays is summed once, from M cells left of its peak to M cells
    right of it; [0, M] is a part of that.
    """
    points = 200
    away = (np.arange(-points * M, points * M) + 0.5) / points  # from the peak, in cells
    paid = np.append(0.0, bumps.profile(away, 1).cumsum())
    left = points * M - points * np.arange(M) - points // 2  # where [0, M] begins for each peak
    mean = (paid[left + points * M] - paid[left]) / (points * M)
    return T * Delta * (2 - mean)
