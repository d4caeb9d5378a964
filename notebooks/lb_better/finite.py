"""Regret nobody can avoid, by six arguments that differ in one step (first table of the page)."""

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


def best(caps, T, S, top, span=c):
    """Return the largest T Delta (2 - c/M - span sqrt(T S/(2M))).

    Delta <= min(cap, top); S(Delta) bounds the sum of the divergences; span is c by the paper's
    averaging and 2 by the averaging lemma.
    """
    Delta = np.minimum(caps, top) * SHARES[:, None]
    root = span * np.sqrt(T * S(Delta) / (2 * CELLS))
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
        "A1, averaged": best(caps, T, lambda D: z2 * c2 * p(D) ** 2, top, span=2),
    }
    for name in ("bounded", "explicit"):
        given = {"v": v, "alpha": alpha, "d": 1, "variant": name}
        found[name] = float(bounds.lower_bound(kernel, T, eps, **given, **options))
    return found


def theorem(caps, T, eps, b=1.0):
    """Return M, Delta and regret of the theorem for rewards +b and -b, at the largest M that fits.

    caps: the largest Delta for each number of cells.
    """
    kappa = 4 * math.log(4 / 3)
    tau = math.tanh(eps / 2)
    Delta = b / (2 * tau) * np.sqrt(CELLS / (kappa * c2 * T))
    few = kappa / 4 * min(1, 4 * tau**2) * c2 * T
    allowed = (CELLS >= 2 * c) & (CELLS <= few) & (Delta <= caps)
    i = np.flatnonzero(allowed)[-1]
    return {"M": int(CELLS[i]), "Delta": float(Delta[i]), "regret": float(T * Delta[i])}
