"""The paper's argument in numbers: regime and bounds at a finite horizon, on the line."""

import math

import numpy as np

from ldpbo import bounds, bumps

CELLS = np.arange(2, 400)
SHARES = np.geomspace(1e-3, 1, 300)  # of the largest Delta, where the best one is sought
BUMP = bounds.bump(1)
c = float(BUMP.table @ BUMP.repeats)
PRINTED = c * math.sqrt(8 * c)  # C as printed, without Pinsker's 1/2
SHARP = 2 * c * math.sqrt(c)  # and with it


def log_cap(kernel, n, *, B, **shape):
    """Return ln of the largest Delta whose bump of norm B fits into a cell of width 1/n.

    shape: lengthscale and nu of the kernel.
    """
    return math.log(B) - bumps.log_norm(1 / n, kernel, 1, **shape)


def caps(kernel, **size):
    """Return the largest Delta for each number of cells."""
    logs = [log_cap(kernel, n, **size) for n in CELLS]
    return np.exp(logs)


def start(kernel, M, *, v, alpha, **size):
    """Return ln of the T z^2 from which the proof's Delta, with C as printed, fits into M cells.

    That Delta is v^{1/(1+alpha)}/2 (M/(4 C^2 z^2 T))^omega, omega = alpha/(1+alpha).
    """
    front = math.log(v) / (1 + alpha) - math.log(2)
    excess = front - log_cap(kernel, M, **size)
    return math.log(M / (4 * PRINTED**2)) + (1 + alpha) / alpha * excess


def best(caps, T, factor, *, v, alpha):
    """Return the bracket at its best Delta and number of cells.

    factor: z^2, or 1/8 without privacy.
    """
    omega = alpha / (1 + alpha)
    top = 0.5 * 0.5**omega * v ** (1 / (1 + alpha))  # p <= 1/2
    Delta = np.minimum(caps, top) * SHARES[:, None]
    p = (2 * Delta) ** (1 + 1 / alpha) * v ** (-1 / alpha)
    revealed = factor * p * T / CELLS
    bracket = 2 - c / CELLS - SHARP * np.sqrt(revealed)
    regret = T * Delta * bracket
    return float(regret.max())


def share_of_limit(log_x, d, omega=0.5):
    """Return ln(B/Delta) of SE over its limit omega ln X, from the equation that defines it."""
    limit = omega * log_x
    gap = limit
    for _ in range(200):
        gap = limit - omega * d / 2 * math.log(gap)
    return gap / limit
