"""This module bounds the regret of every learner from below, and the information gain from above.

>>> from ldpbo import bounds
>>> rate = bounds.lower_bound("matern", 1e4, 1.0, B=1.0, v=1.0, alpha=1.0, d=1, nu=2.5)
>>> round(rate)                                                      # Theorem 1
137

Notation, checks and error messages are those of `ldpbo_core`. SciPy is imported where it is needed.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ldpbo import checks as check

# ---- Information gain: a ceiling -----------------------------------------------------------------


def gain_ceiling(K: np.ndarray, T: float, lam: float, steps: int = 80) -> float:
    """Return a number that gamma_T, the largest information gain of T plays, cannot exceed.

    Real-valued plays w with sum T make the gain g(w) concave with slope `sigma_w^2/(2 lam)`, so for
    any w gamma_T <= g(w) + `(T max sigma_w^2 - sum w sigma_w^2)/(2 lam)`; multiplicative steps
    improve w. Eigenvalues too small to keep add at most T/(2 lam) times the most that they give to
    any k(x,x) (Erratum B14). The cost is O(n^3), whatever T is.
    """
    T = check.positive("T", T)
    lam = check.positive("lam", lam)
    K = check.kernel_matrix(K)
    return _gain_ceiling(K.tobytes(), T, lam, steps)


@functools.lru_cache
def _gain_ceiling(buffer, T, lam, steps):
    """Compute `gain_ceiling` from the bytes of K, once for all trials with a new f on its arms."""
    entries = np.frombuffer(buffer)
    K = entries.reshape(math.isqrt(entries.size), -1)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-14 * values[-1]
    Z = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    w = np.full(len(K), T / len(K))
    best = math.inf
    for _ in range(steps):
        V = (Z * w) @ Z.T / lam + np.eye(len(Z))
        variance = (Z * np.linalg.solve(V, Z)).sum(axis=0)  # sigma_w^2, Lemma 5
        gain = np.linalg.slogdet(V)[1] / 2
        best = min(best, gain + (T * variance.max() - w @ variance) / (2 * lam))
        w *= T * variance / (w @ variance)
    lost = vectors[:, ~kept] ** 2 @ np.maximum(values[~kept], 0.0)
    return float(best + T * lost.max() / (2 * lam))


# ---- Lower bounds: Theorem 1, its regime and its sharpening (proofs: pages lb_bump to lb_better) -


class Bound(float):
    """A lower bound is a float; `reason` says why it is NaN, `Delta` and `M` say what it rests on.

    Delta is the gap, and M the number of functions, of the family that the learner cannot tell
    apart.
    """

    reason: str
    Delta: float
    M: float

    def __new__(cls, value, reason="", Delta=math.nan, M=math.nan):
        self = super().__new__(cls, value)
        self.reason = reason
        self.Delta = float(Delta)
        self.M = float(M)
        return self


class Setting(NamedTuple):
    """A lower bound holds for these rounds, rewards and functions."""

    T: float
    B: float
    v: float
    alpha: float
    d: int
    nu: float  # math.inf: the SE kernel


def lower_bound(
    kernel: str,
    T: float,
    eps: float | None,
    *,
    B: float,
    v: float,
    alpha: float,
    d: int,
    nu: float | None = None,
    variant: str = "printed",
    lengthscale: float = 0.2,
) -> Bound:
    """Return a regret that every eps-LDP learner suffers on some f on `[0,1]^d`, |f|_H <= B (C-lb).

    Rewards have E|y|^{1+alpha} <= v; eps=None: not private. The variants:

        "printed"    the rate of Theorem 1, constant 1
        "corrected"  the rate of Improvement A1, constant 1, never below the non-private one (A3)
                     nor below that of a larger eps, whose mechanisms include those of eps
        "explicit"   no rate but a number (to five digits) with every constant of the proof,
                     maximised over Delta and M (d = 1 or 2)
        "bounded"    the same for rewards +b and -b, b = sqrt(v), whatever alpha is

    Returns a `Bound`, NaN with a reason outside the regime that the theorem leaves unstated (A14),
    taken with its unnamed constants equal to 1. The lengthscale matters to "explicit" and "bounded"
    only.
    """
    check.choice("kernel", kernel, "se", "matern")
    check.choice("variant", variant, "printed", "corrected", "explicit", "bounded")
    T = check.number("T", T, "a number of rounds >= 1", low=math.nextafter(1.0, 0.0))
    if eps is None:
        eps = math.inf
    else:
        eps = check.number("eps", eps, "a finite number > 0, or None: not private", low=0.0)
    B = check.positive("B", B)
    v = check.positive("v", v)
    d = check.integer("d", d)
    alpha = check.order("alpha", alpha)
    lengthscale = check.positive("lengthscale", lengthscale)
    nu = check.positive("nu", nu) if kernel == "matern" else math.inf
    setting = Setting(T, B, v, alpha, d, nu)
    if variant in ("printed", "corrected"):
        return _best_rate(setting, eps, variant)
    if d > 2:
        raise ValueError(f"d = {d}: must be 1 or 2 with variant={variant!r}")
    rewards = _rare_rewards(eps, v, alpha) if variant == "explicit" else _sign_rewards(eps, v)
    return _best_bump(setting, lengthscale, rewards)


# ---- Rates, constant 1 ---------------------------------------------------------------------------


def _best_rate(setting, eps, variant):
    """Return the rate of Theorem 1, or of Improvement A1; the non-private one if eps = inf."""
    log_z = eps + math.log(-math.expm1(-eps))  # z = e^eps - 1
    log_n = math.log(setting.T) + 2 * log_z
    s = setting.alpha / (1 + setting.alpha)
    plain = rate(setting, math.log(setting.T), s)  # z = 1
    if eps == math.inf:
        return plain
    if variant == "printed":
        return rate(setting, log_n, s)
    return _largest_rate(setting, log_n, s / 2, plain)


def rate(setting: Setting, log_n: float, s: float) -> Bound:
    """Return the rate T Delta, Delta = v^{1/(1+a)} (M/n)^s with n = T z^2 and constant 1.

    It is solved with M = ln(..)^{d/2} (SE: nu = inf) or M = (B/Delta)^{d/nu}. s = a/(1+a) is
    Theorem 1, and with z = 1 the non-private rate; s = a/(2(1+a)) is Improvement A1.
    """
    T, B, v, alpha, d, nu = setting
    log_top = math.log(v) / (1 + alpha)
    log_x = (math.log(B) - log_top) / s + log_n  # what Theorem 1 takes the logarithm of
    if log_x <= 0:
        return Bound(
            math.nan,
            f"needs v^(1/(1+alpha)) < B (T z^2)^{s:.3g}: "
            f"the logarithm is that of {_exp_text(log_x)}",
        )
    if nu == math.inf:
        log_m = d / 2 * math.log(log_x)
    else:
        log_m = log_x * s * d / (nu + s * d)
    if log_m > min(log_n, log_x) + 1e-9:  # Delta <= v^{1/(1+a)} and Delta <= B
        share = s * (log_m - log_x)
        return Bound(
            math.nan,
            f"needs M <= T z^2 and Delta <= B: M = {_exp_text(log_m)}, "
            f"T z^2 = {_exp_text(log_n)}, Delta/B = {_exp_text(share)}",
        )
    Delta = math.exp(log_top + s * (log_m - log_n))
    return Bound(T * Delta, "", Delta, math.exp(log_m))


def _exp_text(log):
    """Write e^log with three digits; what is too large for a float is cut."""
    return f"{math.exp(min(log, 700.0)):.3g}"


def _largest_rate(setting, log_n, s, plain):
    """Return the largest of the non-private rate and those of A1 at n = T z^2 and above; all hold.

    With L = ln n + g the logarithm of Theorem 1, the rate has one peak on each stretch of n in the
    regime: the largest is at n, at the peak (SE: L = d/2) or at an end of a stretch, where M = n or
    Delta = B.
    """
    g = (math.log(setting.B) - math.log(setting.v) / (1 + setting.alpha)) / s
    if setting.nu == math.inf:
        peaks = [setting.d / 2, *_stretch_ends(g, setting.d)]
    else:
        peaks = [max(g * (1 + s * setting.d / setting.nu), 1e-9 * (1 + abs(g)))]  # falls with L > 0
    here = rate(setting, log_n, s)
    larger = [rate(setting, L - g, s) for L in peaks if L - g > log_n]
    best = max((found for found in (plain, here, *larger) if found > 0), default=here)
    if best is here or best is plain:
        return best
    reason = f"rate of a larger eps, as the private one {here.reason or 'is smaller'}"
    return Bound(best, reason, best.Delta, best.M)


def _stretch_ends(g: float, d: int) -> Iterator[float]:
    """Yield each L at which a stretch may end (SE): d/2 ln L is L - g (M = n) or L (Delta = B)."""
    from scipy.special import lambertw

    for x in (g, 0.0):
        argument = -2 / d * math.exp(min(-2 * x / d, 700.0))
        for branch in (0, -1):
            end = -d / 2 * lambertw(argument, branch)
            if end.imag == 0:
                yield end.real


# ---- Numbers, with every constant of the proof ---------------------------------------------------


class Bump(NamedTuple):
    """The bump H(u) = exp(-1/(1-|u|^2)) enters by its Fourier transform h (page lb_bump)."""

    peak: float  # h(0)
    zeta: float  # h(zeta) = h(0)/2
    table: np.ndarray  # v_m^j/Delta by offset j - m, whose coordinates are 0..25
    repeats: np.ndarray  # how often an offset occurs, signs included
    nodes: np.ndarray  # radii u in (0, 1), ...
    weights: np.ndarray  # ... and weights for integrals of H^2 over the unit ball


@functools.lru_cache
def bump(d: int) -> Bump:
    """Compute the proof's constants of the bump on R^d, d = 1 or 2, by Gauss's quadrature."""
    check.integer("d", d, 1, 2, "1 or 2")
    from scipy import optimize, special

    u, weight = np.polynomial.legendre.leggauss(400)
    u = (u + 1) / 2
    weight = weight / 2 * (2 if d == 1 else 2 * math.pi * u)  # spheres of radius u
    wave = np.cos if d == 1 else special.j0

    def transform(r):
        return wave(2 * math.pi * np.multiply.outer(r, u)) @ (weight * np.exp(-1 / (1 - u * u)))

    peak = float(transform(0.0))
    zeta = optimize.brentq(lambda r: transform(r) - peak / 2, 0.1, 1.0, xtol=1e-15)
    offset = np.stack(np.meshgrid(*[np.arange(26)] * d), -1).reshape(-1, d)
    # A cell is 2 zeta wide in the variable of h; here zeta is the unit.
    near = np.linalg.norm(np.maximum(2 * offset - 1, 0), axis=1)
    far = np.linalg.norm(2 * offset + 1, axis=1)
    fine = np.abs(transform(zeta / 200 * np.arange(200 * 51 * d)))
    inside = [fine[math.ceil(200 * a) : math.floor(200 * b) + 1].max() for a, b in zip(near, far)]
    table = 2 / peak * np.maximum(inside, np.abs(transform(zeta * near)))
    repeats = 2.0 ** (offset > 0).sum(axis=1)
    return Bump(peak, zeta, table, repeats, u, weight * np.exp(-2 / (1 - u * u)))


class Rewards(NamedTuple):
    """A family of reward laws has a largest gap `top`; an eps-LDP report tells at most `leak`."""

    top: float
    leak: Callable[[Any, np.ndarray], np.ndarray]  # of Delta and the table of Bump


def _rare_rewards(eps, v, alpha):
    """Make the family of rewards that are non-zero with probability p <= 1 (page lb_rewards).

    A report tells D*(p) at most, which is derived on page lb_better.
    """
    e = math.exp(min(eps, 700.0))  # at 700 the report is the reward itself

    def leak(Delta, table):
        p = np.multiply.outer((2 * Delta / v) ** (1 / alpha) * Delta, table)
        return -(np.log1p(p * (e - 1)) + e * np.log1p(-p * (1 - 1 / e))) / (e + 1)

    return Rewards((0.5 - 1e-9) * v ** (1 / (1 + alpha)), leak)


def _sign_rewards(eps, v):
    """Make the family of rewards +b and -b, b = sqrt(v), with mean f.

    A report tells -ln(1 - (f tanh(eps/2)/b)^2)/2 at most.
    """
    b = math.sqrt(v)
    tau = math.tanh(eps / 2)

    def leak(Delta, table):
        return -0.5 * np.log1p(-((np.multiply.outer(Delta, table) * tau / b) ** 2))

    return Rewards((0.5 - 1e-9) * b, leak)


def _log_inverse_density(xi2, d, nu, lengthscale):
    """Return ln(1/k^(xi)) at squared frequencies xi2; k^ is the kernel's Fourier transform."""
    if nu == math.inf:
        spread = 2 * (math.pi * lengthscale) ** 2 * xi2
        return spread - d / 2 * math.log(2 * math.pi * lengthscale**2)
    return (
        (nu + d / 2) * np.log1p((math.pi * lengthscale) ** 2 * 2 / nu * xi2)
        - math.lgamma(nu + d / 2)
        + math.lgamma(nu)
        - d / 2 * math.log(2 * math.pi * lengthscale**2 / nu)
    )


def bump_norms(n: np.ndarray, setting: Setting, lengthscale: float) -> np.ndarray:
    """Return |g|_H/Delta of the function g of a cell, where each dimension has n cells."""
    d = setting.d
    shape = bump(d)
    stretch = 2 * shape.zeta * n
    xi2 = (2 * shape.zeta * np.multiply.outer(n, shape.nodes)) ** 2  # squared frequencies of g
    log_inverse = _log_inverse_density(xi2, d, setting.nu, lengthscale)
    integral = np.exp(np.minimum(log_inverse, 700)) @ shape.weights
    return 2 / shape.peak * np.sqrt(stretch**-d * integral)


def _best_bump(setting, lengthscale, rewards):
    """Maximise T Delta (2 - c/M - sqrt(2 T S/M)) over M = n^d and Delta.

    Delta <= rewards.top, and |g|_H <= B. c sums v_m^j/Delta over the cells, S the most that an
    eps-LDP report can tell of a reward there (page lb_better).
    """
    T = setting.T
    d = setting.d
    table = bump(d).table
    repeats = bump(d).repeats
    n = np.unique(np.geomspace(2, 1e5, 400).astype(int)).astype(float)
    cap = np.minimum(setting.B / bump_norms(n, setting, lengthscale), rewards.top)

    def value(Delta, M):
        S = np.maximum(rewards.leak(Delta, table) @ repeats, 0)
        return T * Delta * (2 - table @ repeats / M - np.sqrt(2 * T / M * S))

    share = np.geomspace(1e-6, 1, 121)
    coarse = np.stack([value(part * cap, n**d) for part in share])
    i, j = divmod(int(coarse.argmax()), len(n))
    around = np.geomspace(share[max(i - 1, 0)], share[min(i + 1, 120)], 201)
    Delta = cap[j] * around
    fine = value(Delta, n[j] ** d)
    return Bound(fine.max(), "", Delta[fine.argmax()], n[j] ** d)
