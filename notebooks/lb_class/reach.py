"""How far a bump reaches into other cells: the table V_k, and the class itself."""

import itertools
import math

import numpy as np
from scipy import linalg

from ldpbo import bounds, bumps


def table(d, reach, fine):
    """Return V_k for the offsets k in {0..reach}^d, and how often each occurs with its signs.

    fine: points on a stretch of length zeta, at which |h| is looked at.
    """
    bump = bounds.bump(d)
    k = _offsets(d, reach)
    near = np.linalg.norm(np.maximum(2 * k - 1, 0), axis=1)  # in units of zeta
    far = np.linalg.norm(2 * k + 1, axis=1)
    edge = np.abs(bumps.transform(bump.zeta * near, d))
    inside = _largest(d, bump.zeta / fine, fine * near, fine * far)
    repeats = 2.0 ** (k > 0).sum(axis=1)
    return 2 / bump.peak * np.maximum(inside, edge), repeats


def _offsets(d, reach):
    """Return all of {0..reach}^d, one a row."""
    axes = [np.arange(reach + 1)] * d
    grid = np.stack(np.meshgrid(*axes), -1)
    return grid.reshape(-1, d)


def _largest(d, step, near, far):
    """Return the largest |h| between each radius of `near` and that of `far`, both in steps."""
    size = _sizes(d, step, math.ceil(far.max()))
    first = np.ceil(near).astype(int)
    last = np.floor(far).astype(int)
    return [size[i : j + 1].max() for i, j in zip(first, last)]


def _sizes(d, step, count):
    """Return |h| at 0, step, ..., count * step, computed in parts that fit into memory."""
    r = step * np.arange(count + 1)
    parts = np.array_split(r, count // 4000 + 1)
    h = [bumps.transform(part, d) for part in parts]
    return np.abs(np.concatenate(h))


def matrix(n):
    """Return v_m^j/Delta of n functions on the line: the largest |f_m| in each of n cells."""
    inside = np.linspace(-0.5, 0.5, 401)  # a cell with its ends
    by_offset = [np.abs(bumps.profile(k + inside, 1)).max() for k in range(n)]
    return linalg.toeplitz(by_offset)


def served_in_the_plane(n, points):
    """Count for how many of n x n functions each point of a grid on the square is Delta-optimal."""
    axis = (np.arange(points) + 0.5) / points
    centres = np.arange(n) + 0.5  # in cells
    away = np.abs(n * axis - centres[:, None])
    r = np.linspace(0, 3, 3001)
    height = bumps.profile((1 + 1e-9) * r, 2)
    count = np.zeros((points, points), dtype=int)
    for across, along in itertools.product(away, away):
        distance = np.hypot(across[:, None], along)
        count += np.interp(distance, r, height, right=0) >= 1
    return count
