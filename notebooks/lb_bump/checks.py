"""The bump computed a second time, by other means than ldpbo.bumps, and the paper's width."""

import math

import mpmath
import numpy as np
from scipy import integrate, optimize, special

from ldpbo import bounds, bumps


def power_integral(t, d):
    """Return the integral of H^t over the unit ball, in closed form."""
    if d == 1:
        bessel = special.kv(1, t / 2) - special.kv(0, t / 2)
        return t * np.exp(-t / 2) * bessel
    return np.pi * special.expn(2, t)


def closed_form_error():
    """Return the largest difference between closed forms and quadrature, of h(0) and |H|^2."""
    errors = []
    for d in (1, 2):
        u, weight = bumps.nodes(d)
        for t in (1, 2):
            quadrature = weight @ bumps.H(u) ** t
            errors.append(abs(quadrature - power_integral(t, d)))
    return max(errors)


# ---- The plane, by the midpoint rule -------------------------------------------------------------

AXIS = (np.arange(2000) + 0.5) / 1000 - 1  # of a square of 2000 x 2000 points
CELL = 1e-6


def square_error():
    """Return the largest difference between the Hankel transform and the midpoint rule.

    They are compared for |x| <= 5.
    """
    X, Y = np.meshgrid(AXIS, AXIS)
    rest = np.maximum(1 - X**2 - Y**2, 1e-4)
    line = np.exp(-1 / rest).sum(axis=0) * CELL
    radii = np.linspace(0, 5, 26)
    found = [np.cos(2 * np.pi * r * AXIS) @ line for r in radii]
    errors = np.abs(found - bumps.transform(radii, 2))
    return errors.max()


# ---- How far h must be searched ------------------------------------------------------------------


def curvature(x, y=0.0):
    """Return the second derivative of H along x."""
    square = np.minimum(x**2 + y**2, 0.999)
    q = 1 - square
    slope = 4 * x**2 * (2 * square - 1) / q**4
    return (slope - 2 / q**2) * np.exp(-1 / q)


def last_radius(d):
    """Return a radius from which on h < h(0)/2, because |h(r)| <= |H''|_1/(2 pi r)^2."""
    if d == 1:
        half, _ = integrate.quad(lambda x: abs(curvature(x)), 0, 0.9995, limit=200)
        whole = 2 * half
    else:
        X, Y = np.meshgrid(AXIS, AXIS)
        inside = X**2 + Y**2 < 0.999
        whole = np.abs(curvature(X, Y) * inside).sum() * CELL
    return math.sqrt(2 * whole / bounds.bump(d).peak) / (2 * math.pi)


def half_radius(d):
    """Compute zeta once more, from the transform of ldpbo.bumps."""
    peak = bumps.transform(0.0, d)
    above_half = lambda r: bumps.transform(r, d) - peak / 2
    return optimize.brentq(above_half, 0.1, 1.0, xtol=1e-15)


# ---- The paper's width ---------------------------------------------------------------------------


def printed_width(kernel, gap, d, *, lengthscale, nu, energy=None):
    """Return the paper's w at gap = Delta/B.

    energy: |H|^2 in the constant c_H = |H|^2/c_1 of the Matérn kernel, if it is to be another.
    """
    bump = bounds.bump(d)
    if kernel == "se":
        volume = (2 * math.pi * lengthscale**2) ** (d / 4)
        log = math.log(volume * bump.peak / (2 * gap))
        return 2 * bump.zeta * math.pi * lengthscale / math.sqrt(log)
    if energy is None:
        energy = bump.weights.sum()
    ratio = special.gamma(nu + d / 2) / special.gamma(nu)
    c1 = (4 * math.pi) ** (d / 2) * ratio * (2 * nu / lengthscale**2) ** nu
    rim = (8 * math.pi**2) ** ((nu + d / 2) / 2)
    inner = 2 * gap * rim * math.sqrt(energy / c1) / bump.peak
    return 2 * bump.zeta * inner ** (1 / nu)


# ---- The bound, by the book's own program --------------------------------------------------------


def lower_bound(kernel, *, T, eps, B, b, lengthscale, nu):
    """Return the bound for rewards +b and -b of `bounds.lower_bound`, whose norms and whose search
    are its own."""
    private = None if eps == math.inf else eps
    shape = dict(B=B, v=b**2, alpha=1.0, d=1, nu=nu, lengthscale=lengthscale)
    return float(bounds.lower_bound(kernel, T, private, variant="bounded", **shape))


# ---- The norm without Fourier --------------------------------------------------------------------


def se_norm(x, g, lengthscale):
    """Return the norm of the smoothest function through g at x, SE kernel, with 60 digits."""
    n = len(x)
    with mpmath.workdps(60):
        scale = mpmath.mpf(lengthscale)
        points = [mpmath.mpf(t) / scale for t in x]
        K = mpmath.matrix(n)
        for i, j in np.ndindex(n, n):
            away = points[i] - points[j]
            K[i, j] = mpmath.exp(-(away**2) / 2)
        values = mpmath.matrix(g.tolist())
        square = values.T * mpmath.lu_solve(K, values)
        return float(mpmath.sqrt(square[0]))
