"""What one private report reveals of a reward that is a with probability p and 0 otherwise."""

import mpmath
import numpy as np
from scipy import integrate


def gap(x):
    """x - ln(1 + x), also for tiny x."""
    series = x**2 * np.polyval([1 / 6, -1 / 5, 1 / 4, -1 / 3, 1 / 2], x)
    return np.where(np.abs(x) < 1e-3, series, x - np.log1p(x))


def laplace(p, eps):
    """D(P_0 || P_m) of a Laplace report, by quadrature in y/L; r is constant outside [0, a]."""
    a = eps / 2

    def density(y):
        return np.exp(-y) / 2 * gap(p * np.expm1(2 * y - a))

    middle = integrate.quad(density, 0, a, epsabs=0, epsrel=1e-12)[0]
    below = gap(p * np.expm1(-a)) / 2
    above = np.exp(-a) / 2 * gap(p * np.expm1(a))
    return float(below + middle + above)


def closed(p, eps):
    """The same in closed form, with 60 digits."""
    log = mpmath.log
    with mpmath.workdps(60):
        p = mpmath.mpf(p)
        beta = mpmath.exp(-mpmath.mpf(eps) / 2)
        root = mpmath.sqrt(p * beta / (1 - p))

        def G(u):
            return u * log(1 - p + p * beta / u**2) + 2 * root * mpmath.atan(u / root)

        ends = log(1 - p + p * beta) / 2 + beta / 2 * log(1 - p + p / beta)
        return float(-ends - (G(mpmath.mpf(1)) - G(beta)) / 2)


def best(p, eps):
    """D*, the most that any eps-LDP report can reveal; the gaps are its logarithms."""
    e = np.exp(eps)
    more = gap(p * (e - 1))
    less = gap(-p * (1 - 1 / e))
    return float((more + e * less) / (e + 1))


def worst_difference():
    """The largest relative difference between quadrature and closed form."""
    pairs = [(p, e) for p in 10.0 ** -np.arange(1, 15) for e in (0.1, 0.5, 1.0, 3.0)]
    return max(abs(laplace(p, e) / closed(p, e) - 1) for p, e in pairs)
