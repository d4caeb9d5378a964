"""The paper's argument in numbers: regime and bounds at a finite horizon, on the line."""

import math

import numpy as np

from ldpbo import bounds, bumps

CELLS = np.arange(2, 400)
c = float(bounds.bump(1).table @ bounds.bump(1).repeats)
PRINTED = c * math.sqrt(8 * c)  # C as printed, without Pinsker's 1/2
SHARP = 2 * c * math.sqrt(c)  # and with it


def log_cap(kernel, n, *, B, lengthscale, nu):
    """ln of the largest Delta whose bump of norm B fits into a cell of width 1/n."""
    return math.log(B) - bumps.log_norm(1 / n, kernel, 1, lengthscale=lengthscale, nu=nu)


def caps(kernel, **size):
    """The largest Delta for each number of cells."""
    return np.exp([log_cap(kernel, n, **size) for n in CELLS])


def start(kernel, M, *, v, alpha, **size):
    """ln of the T z^2 from which the proof's Delta, with C as printed, fits into M cells.

    That Delta is v^{1/(1+alpha)}/2 (M/(4 C^2 z^2 T))^omega, omega = alpha/(1+alpha).
    """
    room = math.log(v) / (1 + alpha) - math.log(2) - log_cap(kernel, M, **size)
    return math.log(M / (4 * PRINTED**2)) + (1 + alpha) / alpha * room


def best(caps, T, factor, *, v, alpha):
    """The bracket at its best Delta and number of cells; factor: z^2, or 1/8 without privacy."""
    top = 0.5 * 0.5 ** (alpha / (1 + alpha)) * v ** (1 / (1 + alpha))  # p <= 1/2
    Delta = np.minimum(caps, top) * np.geomspace(1e-3, 1, 300)[:, None]
    p = (2 * Delta) ** (1 + 1 / alpha) * v ** (-1 / alpha)
    bracket = 2 - c / CELLS - SHARP * np.sqrt(factor * p * T / CELLS)
    return float((T * Delta * bracket).max())


def share_of_limit(log_x, d, omega=0.5):
    """ln(B/Delta) of SE over its limit omega ln X, from the equation that defines it."""
    gap = omega * log_x
    for _ in range(200):
        gap = omega * log_x - omega * d / 2 * math.log(gap)
    return gap / (omega * log_x)
