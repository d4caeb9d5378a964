"""How far a bump reaches into other cells: the table V_k, and the class itself."""

import math

import numpy as np

from ldpbo import bounds, bumps


def table(d, reach, fine):
    """V_k for the offsets k in {0..reach}^d, and how often each occurs with its signs.

    fine: points on a stretch of length zeta, at which |h| is looked at.
    """
    peak, zeta, *_ = bounds.bump(d)
    axes = [np.arange(reach + 1)] * d
    k = np.stack(np.meshgrid(*axes), -1).reshape(-1, d)
    near = np.linalg.norm(np.maximum(2 * k - 1, 0), axis=1)  # in units of zeta
    far = np.linalg.norm(2 * k + 1, axis=1)
    size = _sizes(d, zeta / fine, math.ceil(fine * far.max()))
    first = np.ceil(fine * near).astype(int)
    last = np.floor(fine * far).astype(int)
    inside = [size[i : j + 1].max() for i, j in zip(first, last)]
    edge = np.abs(bumps.transform(zeta * near, d))
    repeats = 2.0 ** (k > 0).sum(axis=1)
    return 2 / peak * np.maximum(inside, edge), repeats


def _sizes(d, step, count):
    """|h| at 0, step, ..., count * step, in parts that fit into memory."""
    r = step * np.arange(count + 1)
    parts = np.array_split(r, count // 4000 + 1)
    return np.concatenate([np.abs(bumps.transform(part, d)) for part in parts])


def matrix(n):
    """v_m^j/Delta of n functions on the line: the largest |f_m| in each of n cells."""
    inside = np.linspace(-0.5, 0.5, 401)  # a cell with its ends
    by_offset = [np.abs(bumps.profile(k + inside, 1)).max() for k in range(n)]
    cell = np.arange(n)
    offset = np.abs(cell[:, None] - cell)
    return np.array(by_offset)[offset]


def served_in_the_plane(n, points):
    """For how many of n x n functions each point of a grid on the square is Delta-optimal."""
    axis = (np.arange(points) + 0.5) / points
    centres = np.arange(n) + 0.5  # in cells
    away = np.abs(n * axis[:, None] - centres)
    r = np.linspace(0, 3, 3001)
    height = bumps.profile((1 + 1e-9) * r, 2)
    count = np.zeros((points, points), dtype=int)
    for a, b in np.ndindex(n, n):
        distance = np.hypot(away[:, None, a], away[None, :, b])
        count += np.interp(distance, r, height, right=0) >= 1
    return count
