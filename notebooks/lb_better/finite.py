"""Regret nobody can avoid, by five arguments that differ in one step (table on page lb_map)."""

import math

import numpy as np

from ldpbo import bounds, bumps

CELLS = np.arange(2, 400)
SHARES = np.geomspace(1e-3, 1, 300)  # of the largest Delta, where the best one is sought
table = bounds.bump(1).table
repeats = bounds.bump(1).repeats
c = float(table @ repeats)
c2 = float(table**2 @ repeats)
GAIN = c / math.sqrt(2)  # what averaging over Phi_m saves in front of the root


def caps(kernel, *, B, **shape):
    """Return the largest Delta of a bump of norm B, for each number of cells.

    shape: lengthscale and nu of the kernel.
    """
    logs = [bumps.log_norm(1 / n, kernel, 1, **shape) for n in CELLS]
    return B * np.exp(-np.array(logs))


def best(caps, T, S, top):
    """Return the largest T Delta (2 - c/M - c sqrt(T S/(2M))), by the paper's averaging.

    Delta <= min(cap, top); S(Delta) bounds the sum of the divergences.
    """
    Delta = np.minimum(caps, top) * SHARES[:, None]
    root = c * np.sqrt(T * S(Delta) / (2 * CELLS))
    bracket = 2 - c / CELLS - root
    regret = T * Delta * bracket
    return float(regret.max())


def compare(kernel, caps, T, eps, *, v, alpha, **options):
    """Return {name of the bound: value}."""
    z2 = np.expm1(eps) ** 2
    top = v ** (1 / (1 + alpha)) / 2  # p <= 1
    half = top * 0.5 ** (alpha / (1 + alpha))  # p <= 1/2, as Lemma 4 asks

    def p(Delta):
        """p = p(Delta) V_k is the chance of a non-zero reward at offset k."""
        return (2 * Delta / v) ** (1 / alpha) * Delta

    found = {
        "the paper's proof": best(caps, T, lambda D: 16 * z2 * c * p(D), half),
        "without privacy": best(caps, T, lambda D: 2 * c * p(D), half),
        "A1": best(caps, T, lambda D: z2 * c2 * p(D) ** 2, top),
    }
    for name in ("bounded", "explicit"):
        given = {"v": v, "alpha": alpha, "d": 1, "variant": name}
        found[name] = float(bounds.lower_bound(kernel, T, eps, **given, **options))
    return found
