"""How far a bump reaches into other cells: the table V_k, and the class itself."""

import math

import numpy as np

from ldpbo import bounds, bumps


def table(d, reach, fine):
    """V_k for the offsets k in {0..reach}^d, and how often each occurs with its signs.

    fine: points on a stretch of length zeta, at which |h| is looked at.
    """
    zeta = bounds.bump(d).zeta
    k = np.stack(np.meshgrid(*[np.arange(reach + 1)] * d), -1).reshape(-1, d)
    near = np.linalg.norm(np.maximum(2 * k - 1, 0), axis=1)  # in units of zeta
    far = np.linalg.norm(2 * k + 1, axis=1)
    steps = np.arange(math.ceil(fine * far.max()) + 1)
    parts = np.array_split(zeta / fine * steps, len(steps) // 4000 + 1)
    size = np.concatenate([np.abs(bumps.transform(part, d)) for part in parts])
    inside = [size[math.ceil(fine * a) : math.floor(fine * b) + 1].max() for a, b in zip(near, far)]
    edge = np.abs(bumps.transform(zeta * near, d))
    values = 2 / bounds.bump(d).peak * np.maximum(inside, edge)
    return values, 2.0 ** (k > 0).sum(axis=1)


def matrix(n):
    """v_m^j/Delta of n functions on the line: the largest |f_m| in each of n cells."""
    inside = np.linspace(-0.5, 0.5, 401)  # a cell with its ends
    by_offset = [np.abs(bumps.profile(k + inside, 1)).max() for k in range(n)]
    j = np.arange(n)
    return np.array(by_offset)[np.abs(j[:, None] - j)]


def served_in_the_plane(n, points):
    """For how many of n x n functions each point of a grid on the square is Delta-optimal."""
    axis = (np.arange(points) + 0.5) / points
    away = np.abs(axis[:, None] * n - (np.arange(n) + 0.5))  # in cells
    r = np.linspace(0, 3, 3001)
    height = bumps.profile((1 + 1e-9) * r, 2)
    count = np.zeros((points, points), dtype=int)
    for a, b in np.ndindex(n, n):
        distance = np.hypot(away[:, None, a], away[None, :, b])
        count += np.interp(distance, r, height, right=0) >= 1
    return count
