"""A lower bound hides the optimum in the bump computed here (pages lb_map to lb_better).

Every hard function is g(x - centre), g(x) = 2 Delta/h(0) * h(2 zeta x/w): a peak of height 2 Delta
in a cell of width w, with h the Fourier transform of H(u) = exp(-1/(1-|u|^2)).

>>> round(width("matern", 1e-3, 1, lengthscale=0.2, nu=2.5), 5)  # |g|_H = B at Delta/B = 1/1000
0.01606
>>> [round(float(x), 3) for x in profile([0, 0.5, 1.0], 1)]      # peak, edge, next centre
[2.0, 1.0, -0.132]

`bounds.lower_bound` computes the same norms by a program of its own; the pages compare the two.
"""

import functools
import math
from typing import Any

import numpy as np

from ldpbo import bounds


@functools.cache
def nodes(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return radii u in (0, 1) and weights that integrate radial functions over the ball of R^d."""
    u, weight = np.polynomial.legendre.leggauss(400)
    u = (u + 1) / 2
    sphere = 2.0 if d == 1 else 2 * math.pi * u
    return u, weight / 2 * sphere


def H(u: np.ndarray) -> np.ndarray:
    """Evaluate the bump at the radius u < 1; it vanishes at the rim with all its derivatives."""
    return np.exp(-1 / (1 - u**2))


def transform(r: Any, d: int) -> np.ndarray:
    """Evaluate h at distance r from 0, by a cosine integral (d = 1) or Hankel transform (d = 2)."""
    from scipy import special

    u, weight = nodes(d)
    wave = np.cos if d == 1 else special.j0
    angle = 2 * math.pi * np.multiply.outer(r, u)
    return wave(angle) @ (weight * H(u))


def profile(cells: Any, d: int) -> np.ndarray:
    """Evaluate g/Delta at a distance from its peak, which is given in cells."""
    peak, zeta, *_ = bounds.bump(d)
    return 2 / peak * transform(2 * zeta * np.abs(cells), d)


def log_inverse_density(
    xi: np.ndarray, kernel: str, d: int, lengthscale: float, nu: float
) -> np.ndarray:
    """Return ln(1/k^) at the frequency xi, where k^ is the kernel's Fourier transform."""
    if kernel == "se":
        spread = 2 * (math.pi * lengthscale * xi) ** 2
        log_peak = d / 2 * math.log(2 * math.pi * lengthscale**2)  # ln k^(0)
        return spread - log_peak
    base = 2 * nu / lengthscale**2
    power = nu + d / 2
    log_c1 = d / 2 * math.log(4 * math.pi) + nu * math.log(base)
    log_c1 += math.lgamma(power) - math.lgamma(nu)
    angular = 2 * math.pi * xi
    return power * np.log(base + angular**2) - log_c1


def log_norm(w: float, kernel: str, d: int, *, lengthscale: float, nu: float) -> float:
    """Compute ln(|g|_H/Delta) at width w: one integral over the unit ball, in logarithms."""
    from scipy.special import logsumexp

    peak, zeta, *_ = bounds.bump(d)
    u, weight = nodes(d)
    stretch = 2 * zeta / w
    inverse = log_inverse_density(stretch * u, kernel, d, lengthscale, nu)
    log_H2 = -2 / (1 - u**2)
    log_integral = logsumexp(inverse + log_H2, b=weight)
    log_square = log_integral - d * math.log(stretch)
    return float(math.log(2 / peak) + log_square / 2)


def width(kernel: str, gap: float, d: int, *, lengthscale: float, nu: float) -> float:
    """Find the smallest w <= 1 with |g|_H <= B, where gap is Delta/B."""
    from scipy import optimize

    def excess(log_w):
        w = math.exp(log_w)
        log_size = log_norm(w, kernel, d, lengthscale=lengthscale, nu=nu)
        return log_size + math.log(gap)

    return math.exp(optimize.brentq(excess, math.log(1e-7), 0.0, xtol=1e-14))
