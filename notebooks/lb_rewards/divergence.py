"""What one private report reveals of a reward that is a with probability p and 0 otherwise."""

import itertools

import mpmath
import numpy as np
from scipy import integrate

SERIES = [1 / 6, -1 / 5, 1 / 4, -1 / 3, 1 / 2]  # of (x - ln(1 + x))/x^2, highest power first


def gap(x):
    """Return x - ln(1 + x), also for tiny x."""
    series = x**2 * np.polyval(SERIES, x)
    tiny = np.abs(x) < 1e-3
    return np.where(tiny, series, x - np.log1p(x))


def laplace(p, eps):
    """Return D(P_0 || P_m) of a Laplace report, by quadrature in y/L; r is constant outside [0, a].

    D is the mean of the gap at p(r - 1), r the ratio of the two densities of a report.
    """
    a = eps / 2

    def density(y):
        return np.exp(-y) / 2 * gap(p * np.expm1(2 * y - a))

    middle, _ = integrate.quad(density, 0, a, epsabs=0, epsrel=1e-12)
    below = gap(p * np.expm1(-a)) / 2
    above = np.exp(-a) / 2 * gap(p * np.expm1(a))
    return float(below + middle + above)


def closed(p, eps):
    """Return the same in closed form, with 60 digits."""
    log = mpmath.log
    with mpmath.workdps(60):
        p = mpmath.mpf(p)
        beta = mpmath.exp(-mpmath.mpf(eps) / 2)
        root = mpmath.sqrt(p * beta / (1 - p))

        def G(u):
            angle = mpmath.atan(u / root)
            return u * log(1 - p + p * beta / u**2) + 2 * root * angle

        below = log(1 - p + p * beta) / 2
        above = beta / 2 * log(1 - p + p / beta)
        middle = (G(mpmath.mpf(1)) - G(beta)) / 2
        return float(-(below + above) - middle)


def best(p, eps):
    """Return D*, the most that any eps-LDP report can reveal; the gaps are its logarithms."""
    e = np.exp(eps)
    more = gap(p * (e - 1))
    less = gap(-p * (1 - 1 / e))
    return float((more + e * less) / (e + 1))


def worst_difference():
    """Return the largest relative difference between quadrature and closed form."""
    chances = 10.0 ** -np.arange(1, 15)
    budgets = (0.1, 0.5, 1.0, 3.0)
    ratios = [laplace(p, e) / closed(p, e) for p, e in itertools.product(chances, budgets)]
    return max(abs(ratio - 1) for ratio in ratios)
