"""This module implements Zhou & Tan, "Local Differential Privacy for Bayesian Optimization".

A learner looks for the best of n arms. Each round it plays an arm, a new user draws a reward, and
the user's curator hides that reward behind noise before the learner sees it. Ten lines run the
paper's Algorithm 2 (to deploy, see the book's page "Which one should I use?"):

>>> import numpy as np
>>> import ldpbo_core as core
>>> problem = core.synthetic_problem(kernel="matern", noise="uniform", seed=7)  # 100 arms
>>> T, rng = 300, np.random.default_rng(0)
>>> curator = core.CTL(eps=1.0, B=problem.B, R=problem.R)  # Curator 1 of the paper
>>> learner = core.make("TGP", problem, T, eps=1.0)  # Algorithm 2
>>> for t in range(T):
...     arm = learner.ask()
...     learner.tell(curator.privatise(problem.sample(arm, rng), rng))
>>> learner.t, learner.mu.shape, bool(learner.beta > problem.B)
(300, (100,), True)

Notation (paper -> here). The paper uses one epsilon for privacy and another for the Nyström
accuracy.

    epsilon     eps    privacy; None: non-private     alpha   alpha  order of the moments, minus 1
    varepsilon  acc    Nyström accuracy               B, R    B, R   bounds of |f|_H and |noise|
    delta       delta  confidence                     v, c    v, c   bounds of E|y|^{1+alpha} and
    L           scale  Laplace scale 2(B+R)/eps                      E|noise|^{1+alpha}
    lambda      lam    ridge                          K, f    K, f   kernel matrix, mean rewards
    T, k        T, k   horizon, MoMA's plays per epoch

"Alg. 2, l. 5" is line 5 of the paper's Algorithm 2; "Deviation:" marks what we do differently and
why; "Erratum A9" refers to the book's errata page. This file says what is computed,
`ldpbo.posterior` how it stays cheap. Importing needs NumPy alone; Matérn kernels of general nu need
SciPy as well.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import hashlib
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ldpbo import __version__ as __version__
from ldpbo import checks as check
from ldpbo.design import PAIRS, Fit, factor, optimal_design, spanning_arms
from ldpbo.posterior import EIGEN_CUT, Domain, Posterior, RootPosterior, Sketch, Span

if TYPE_CHECKING:
    import pandas

    from ldpbo.tables import Table

TIE = 1e-9  # scores closer than this (relative above 1) are a tie; the lowest index wins
GAINS: dict = {}  # information gains already computed in this process
LONGEST_RUN = 10**8  # rounds that are played, or have their gain computed, one by one
GREEDY = 1 - 1 / math.e  # greedy choices reach at least this share of the largest gain
LEFT_OUT: Any = None  # a value that was not given
ArrayLike = Any  # in signatures: whatever NumPy makes an array of; checked at run time


# ---- Kernels (Section 2) -------------------------------------------------------------------------


def _distances(X, Y, lengthscale):
    """Compute the distances |x - x'|/l of all pairs of points, (n, n'), cut off at 1e100.

    l is one lengthscale, or one for each dimension.
    """
    X, Y = check.points(X, Y)
    scales = [check.positive("lengthscale", scale) for scale in np.ravel(lengthscale)]
    if len(scales) not in (1, X.shape[1]):
        raise ValueError(
            f"lengthscale has {len(scales)} entries: must be one number or {X.shape[1]}, "
            "one a dimension"
        )
    s = np.zeros((len(X), len(Y)))
    with np.errstate(over="ignore"):
        by_dimension = np.broadcast_to(scales, X.shape[1])
        for x, y, scale in zip(X.T, Y.T, by_dimension):  # no (n, n', d) array
            s += (np.subtract.outer(x, y) / scale) ** 2
    return np.minimum(np.sqrt(s, out=s), 1e100)


def se_kernel(X: ArrayLike, Y: ArrayLike, *, lengthscale: ArrayLike) -> np.ndarray:
    """Return the squared exponential kernel exp(-s^2/(2 l^2)), s = |x - x'|, (n, n')."""
    return np.exp(-0.5 * _distances(X, Y, lengthscale) ** 2)


def matern_kernel(X: ArrayLike, Y: ArrayLike, *, lengthscale: ArrayLike, nu: float) -> np.ndarray:
    """Return the Matérn kernel `2^{1-nu}/Gamma(nu) z^nu K_nu(z)`, (n, n').

    Here `z = sqrt(2 nu) |x - x'|/l`, and K_nu is the modified Bessel function of the second kind,
    the paper's B_nu (Erratum B15). For nu = 1/2, 3/2 and 5/2 there are closed forms. k(x, x) = 1.
    """
    nu = check.positive("nu", nu)
    s = _distances(X, Y, lengthscale)
    z = s * math.sqrt(2 * nu)
    if nu == 0.5:
        return np.exp(-z)
    if nu == 1.5:
        return (1 + z) * np.exp(-z)
    if nu == 2.5:
        return (1 + z + z * z / 3) * np.exp(-z)
    return _matern_bessel(z, nu) if nu < 10 else _matern_mixture(s, nu)


def _matern_bessel(z, nu):
    """Compute the Matérn kernel of any order by SciPy's Bessel function.

    Factors are multiplied in logarithms, so that none overflows alone.
    """
    from scipy.special import gammaln, kve

    bessel = kve(nu, np.clip(z, 1e-300, 1e5))  # overflows only where k = 1
    with np.errstate(over="ignore", divide="ignore"):
        clipped = np.clip(z, 1e-300, 1e5)  # beyond, k is 0 to the last bit
        log_k = (1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(clipped) + np.log(bessel)
        k = np.exp(log_k - clipped)
    return np.where((z == 0) | np.isinf(bessel), 1.0, np.minimum(k, 1.0))


def _matern_mixture(s, nu):
    """Compute the Matérn kernel of a large order as a mixture of SE kernels.

    It is E exp(-s^2/(2u)) with u ~ Gamma(nu, 1/nu). The trapezoidal rule in x = ln u is right to
    1e-14 from nu = 10 on.
    """
    x = np.arange(-32, 33) * (0.45 / math.sqrt(nu))
    weight = np.exp(nu * (x - np.expm1(x)))
    terms = zip(weight / weight.sum(), np.exp(x))
    return sum(w * np.exp(-0.5 * s * s / u) for w, u in terms)


def linear_kernel(X: ArrayLike, Y: ArrayLike) -> np.ndarray:
    """Return k(x, x') = x.x'. Scale the points to |x| <= 1 so that k(x, x) <= 1."""
    X, Y = check.points(X, Y)
    return X @ Y.T


def empirical_kernel(samples: ArrayLike) -> np.ndarray:
    """Compute the paper's data kernel, the correlations between the columns of a table.

    samples: (observations, arms).
    """
    Z = standardised(check.table("samples", samples))
    K = Z.T @ Z
    np.fill_diagonal(K, 1.0)
    return (K + K.T) / 2


def standardised(samples: np.ndarray) -> np.ndarray:
    """Centre the columns of a table and give them length 1, so that products are correlations."""
    Z = (samples - samples.mean(axis=0)) / samples.std(axis=0, ddof=1)
    return Z / math.sqrt(len(samples) - 1)


# ---- Problems (Section 5): arms, kernel, mean reward, noise --------------------------------------


class _KernelMatrix:
    """The field `K` of a Problem is the matrix that was given, or is computed on request."""

    def __get__(self, problem, owner=None):
        if problem is None:
            return None  # the default of the field
        K = vars(problem)["K"]
        return problem.computed_kernel() if K is None and problem.points is not None else K

    def __set__(self, problem, K):
        vars(problem)["K"] = K


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A problem has n arms with kernel matrix K (n, n), mean rewards f (n,), and known bounds.

    Learners are told the bounds. B >= |f|_H, the RKHS norm (`rkhs_norm`), sets the widths.
    F >= |f| (default B), R >= |noise| and Y >= |y|, the rewards themselves (default F + R), set the
    range of the curators. v >= E|y|^{1+alpha} and c >= E|noise|^{1+alpha} follow from these where
    left out.

    A real experiment leaves out f: no learner uses it, only regret and simulated rewards do. A
    round's randomness is drawn before the arm is known (`draw`) and then turned into the arm's
    reward (`reward`), so that all algorithms meet the same users.

    noise: "uniform" on [-R, R], "t3" (Student, 3 degrees of freedom), or "table": a uniformly drawn
    row of `samples`. For rewards of your own override `reward`, and `draw` if that is not enough;
    f must be their mean.

    On large domains points (n, d) and kernel, a function of two sets of points, stand for K, and
    nothing (n, n) is built. The features stop at `rank`, or when they miss less than `tol` of each
    k(x, x).
    """

    K: ArrayLike = _KernelMatrix()
    f: ArrayLike = None
    B: float = LEFT_OUT
    R: float = LEFT_OUT
    v: float = LEFT_OUT
    c: float = LEFT_OUT
    alpha: float = 1.0
    name: str = ""
    noise: str = "uniform"
    samples: ArrayLike = None
    provenance: str = ""
    points: ArrayLike = None
    kernel: Callable = LEFT_OUT
    rank: int = 500
    tol: float = 1e-8
    F: float = LEFT_OUT
    Y: float = LEFT_OUT

    def __post_init__(self):
        self._check_arms()
        self._check_bounds()
        check.choice("noise", self.noise, "uniform", "t3", "table")
        if (self.noise == "table") != (self.samples is not None):
            raise ValueError("samples: must be given with noise='table', and only then")
        self._check_array("f", 1)
        self._check_array("samples", 2)
        self._compare_f()

    def _set(self, name, value):
        """Set a field of the frozen dataclass; arrays become read-only."""
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(self, name, value)

    def _check_arms(self):
        by_matrix = vars(self)["K"] is not None
        by_points = self.points is not None
        if by_points != (self.kernel is not None) or by_points == by_matrix:
            raise ValueError("K, points, kernel: must be given as K alone, or as points and kernel")
        if by_points:
            check.function("kernel", self.kernel, "two sets of points")
            self._set("points", check.points(self.points, self.points)[0].copy())
            self._set("rank", check.integer("rank", self.rank))
            self._set("tol", check.positive("tol", self.tol))
        else:
            self._set("K", self.domain.K)  # checked, symmetric

    def _check_bounds(self):
        self._set("B", check.positive("B", self.B))
        self._set("F", self.B if self.F is None else check.positive("F", self.F))
        self._set("R", check.nonnegative("R", self.R))
        if self.Y is not None:
            self._set("Y", check.positive("Y", self.Y))
            self._set("F", min(self.F, self.Y))
        self._set("alpha", check.order("alpha", self.alpha))
        c = self.spread**2
        squares = {"v": min(self.F**2 + c, self.bound**2), "c": c}  # E|.|^{1+alpha} by Jensen
        for name, square in squares.items():
            given = getattr(self, name)
            if given is None:
                self._set(name, square ** ((1 + self.alpha) / 2))
            else:
                self._set(name, check.nonnegative(name, given))

    def _check_array(self, name, ndim):
        given = getattr(self, name)
        if given is None:
            return
        array = check.array(name, given, ndim, limit=1e100).copy()
        if array.shape[-1] != self.n or not array.shape[0]:
            parts = "entries, one per arm" if ndim == 1 else "columns, one per arm, and a row"
            raise ValueError(f"{name} has shape {array.shape}: must have {self.n} {parts}")
        self._set(name, array)

    def _compare_f(self):
        """Warn of an f that the bounds exclude; its norm is at least max |f|."""
        if self.f is None:
            return
        largest = float(np.abs(self.f).max())
        for name, bound, lost in (
            ("F", self.F, "rewards may be clipped, and no learner looks there"),
            ("B", self.B, "B is below the norm of f, and nothing is proved"),
        ):
            if largest > bound * (1 + 1e-9):
                warnings.warn(
                    f"max |f| = {largest:.6g} is beyond {name} = {bound:.6g}: {lost}; raise {name}",
                    stacklevel=4,
                )
                return

    def replace(self, **changes: Any) -> Problem:
        """Return a copy with other fields; F, v and c stay unless None lets them follow anew."""
        return dataclasses.replace(self, **{"K": vars(self)["K"], **changes})

    @property
    def bound(self) -> float:
        """Return the largest size of a reward, the smaller of Y and F + R; curators clip to it."""
        return self.F + self.R if self.Y is None else min(self.F + self.R, self.Y)

    @property
    def spread(self) -> float:
        """Return the sub-Gaussian size of a reward's noise, half the length of its interval."""
        return min(self.R, self.bound)

    def __repr__(self):
        told = {"B": self.B, "F": self.F, "R": self.R, "Y": self.Y}
        if self.F == self.B:
            del told["F"]
        bounds = [f"{name}={value:.6g}" for name, value in told.items() if value is not None]
        arms = "1 arm" if self.n == 1 else f"{self.n} arms"
        parts = [repr(self.name or "unnamed"), arms, *bounds, f"{self.noise} noise"]
        return f"{type(self).__name__}({', '.join(parts)})"

    @functools.cached_property
    def n(self) -> int:
        """Return the number of arms."""
        return len(vars(self)["K"] if self.points is None else self.points)

    @functools.cached_property
    def domain(self) -> Domain:
        """Return the arms as features, computed once for all learners."""
        if self.points is None:
            return Domain.of_matrix(vars(self)["K"])
        linear = self.kernel is linear_kernel and self.points.shape[1] <= self.n
        features = self.points.T if linear else None
        return Domain.of_points(self.points, self.kernel, self.rank, self.tol, features)

    def computed_kernel(self) -> np.ndarray:
        """Compute K (n, n) of a problem given by points; it is not kept."""
        if self.n > 20_000:
            raise ValueError(
                f"K: {self.n} arms: must be at most 20000 for the matrix; "
                "use Z, diagonal and residual"
            )
        return check.kernel_matrix(self.kernel(self.points, self.points))

    @property
    def Z(self) -> np.ndarray:
        """Return the features of all arms, (r, n), with K = Z'Z up to `lost`."""
        return self.domain.Z

    @property
    def diagonal(self) -> np.ndarray:
        """Return k(x, x) of every arm, (n,)."""
        return self.domain.diagonal

    @property
    def lost(self) -> np.ndarray:
        """Return k(x, x) - |z_x|^2, (n,), which features miss of sigma^2; 0 where K is given."""
        return self.domain.lost

    @property
    def residual(self) -> float:
        """Return the largest of `lost`, which is above `tol` if the features stopped at `rank`."""
        return float(self.lost.max())

    def known_f(self, purpose: str) -> np.ndarray:
        """Return f, or raise an error that says what needs it."""
        if self.f is None:
            raise ValueError(
                f"f = None: must be known to {purpose}; without f drive a learner by ask and tell"
            )
        return self.f

    def draw(self, rng: np.random.Generator | None, size: int | None = None) -> Any:
        """Draw a user before the arm is known: noise (uniform: in units of R), or a table's row."""
        rng = check.generator(rng)
        if self.noise == "table":
            return rng.integers(len(self.samples), size=size)
        if self.noise == "t3":
            return rng.standard_t(3, size)
        return rng.uniform(-1.0, 1.0, size)

    def reward(self, arm: int, draw: Any) -> Any:
        """Return the reward of `arm` for a user with that draw."""
        if self.noise == "table":
            return self.samples[draw, arm]
        noise = self.R * draw if self.noise == "uniform" else draw
        return self.known_f("simulate rewards")[arm] + noise

    def sample(self, arm: int, rng: np.random.Generator | None, size: int | None = None) -> Any:
        """Draw one reward of `arm`, or an array of `size` independent ones."""
        for length in np.ravel(0 if size is None else size).tolist():
            check.integer("size", length, low=0)
        return self.reward(check.arm(arm, self.n), self.draw(rng, size))


def _domain(K):
    """Return the domain of a Problem, or of a kernel matrix."""
    return K.domain if isinstance(K, Problem) else Domain.of_matrix(K)


def rkhs_norm(problem: Problem) -> float:
    """Compute the RKHS norm of f, the least B for which widths are proved; inf if f has none.

    It is that of the smoothest function that agrees with f on the arms, up to a millionth of f (a
    thousandth on more than 2000 points, where the features take the place of K). Compute it from
    what is public, such as last year's table or a simulator. On a table with fewer rows than arms
    it is inf.
    """
    check.instance("problem", problem, Problem)
    f = problem.known_f("have a norm")
    few = problem.n <= 2000
    Z = Domain.of_matrix(problem.K).Z if few else problem.Z
    a = np.linalg.lstsq(Z.T, f, rcond=math.sqrt(EIGEN_CUT))[0]  # the rest is near rounding
    missed = np.abs(f - a @ Z).max()
    allowed = (1e-6 if few else 1e-3) * np.abs(f).max()
    return float(np.linalg.norm(a)) if missed <= allowed else math.inf


# ---- Curators (Section 4.1) ----------------------------------------------------------------------


class CTL:
    """Curator 1, Convert-to-Laplace, reports y + Laplace(2(B+R)/eps), which is eps-LDP (Lemma 1).

    Deviation: y is clipped to [-(B+R), B+R] first, a no-op under the paper's assumption; it makes
    the guarantee hold for every input (Erratum A6). `seen` and `clipped` count the inputs of this
    object; copies and pickles start at 0. It is seedable and fast, for study: double-precision
    Laplace noise leaks in its low bits (Erratum B20), so a deployed system needs `SecureCTL`.
    """

    def __init__(self, eps: float | None, B: float, R: float):
        allowed = "a finite number > 0 (eps=None in make and simulate: not private)"
        self.eps = check.number("eps", eps, allowed, low=0.0)
        self.bound = check.positive("B", B) + check.nonnegative("R", R)
        self.scale = 2 * self.bound / self.eps
        self.variance = 2 * self.scale * self.scale  # what noise adds to the variance of a report
        if not 0 < self.scale < 1e100:
            raise ValueError(
                f"eps = {eps!r} and rewards up to {self.bound!r}: the noise scale "
                f"{self.scale:.3g} must be > 0 and below 1e100; rescale the rewards or change eps"
            )
        self.promise = f"{self.eps:g}-LDP for one report, in exact arithmetic"
        self.seen = 0
        self.clipped = 0

    def __getstate__(self):
        # whether a user's reward was out of range is nobody's business
        return vars(self) | {"seen": 0, "clipped": 0}

    def __repr__(self):
        name = type(self).__name__
        return f"{name}(eps={self.eps:g}, |y| <= {self.bound:.6g}, scale={self.scale:.6g})"

    def clip(self, y: Any) -> Any:
        """Clip y to [-(B+R), B+R], and count it; a scalar becomes a float."""
        if isinstance(y, float) and -self.bound < y < self.bound:  # the usual case, and fast
            self.seen += 1
            return float(y)
        if isinstance(y, (int, float)):
            y = check.number("y", y)
            self.seen += 1
            self.clipped += abs(y) > self.bound
            return min(max(y, -self.bound), self.bound)
        y = check.array("y", y, None)
        self.seen += y.size
        self.clipped += int((np.abs(y) > self.bound).sum())
        return np.clip(y, -self.bound, self.bound)

    def draw(self, rng: Any, size: int | tuple | None = None) -> Any:
        """Draw unit Laplace noise, which `report` scales."""
        return rng.laplace(size=size)

    def report(self, y: Any, draw: Any) -> Any:
        """Return the private report of a reward for a given draw."""
        return self.clip(y) + self.scale * draw  # Curator 1, l. 1

    def privatise(self, y: Any, rng: np.random.Generator | None = None) -> Any:
        """Return the private report of a reward, or of an array of rewards of different users.

        rng: None draws fresh noise.
        """
        y = y if isinstance(y, (int, float)) else check.array("y", y, None)
        return self.report(y, self.draw(check.generator(rng), np.shape(y) or None))

    def _given(self, report, y):
        """Check reports and rewards for log_density, and clip the rewards."""
        report, y = check.together("report", report, "y", y)
        return report, np.clip(y, -self.bound, self.bound)

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Compute the log-density of a report given the reward y."""
        report, y = self._given(report, y)
        return -np.abs(report - y) / self.scale - math.log(2 * self.scale)

    def reach(self, t: int) -> float:
        """Return B + R + L ln t, which a report exceeds with chance 1/t at most (Alg. 2, l. 4)."""
        return self.bound + self.scale * math.log(t)  # Alg. 2, l. 4


class CentredCTL(CTL):
    """This base class of curators with a public window clips y - centre to [-(F+R), F+R]."""

    def __init__(self, eps: float | None, F: float, R: float, centre: float = 0.0):
        bound = check.nonnegative("F", F) + check.nonnegative("R", R)
        if not bound >= 1e-100:
            raise ValueError(f"F = {F!r}, R = {R!r}: must be > 0 together, and above 1e-100")
        super().__init__(eps, bound, 0.0)
        self.centre = check.number("centre", centre, "a number below 1e100 in size", -1e100, 1e100)

    def _check_centre(self):
        if self.scale < 1e-9 * abs(self.centre):
            raise ValueError(
                f"centre = {self.centre!r}: must be at most 1e9 times the scale {self.scale:.3g}; "
                "rounding would hide the report"
            )

    def _away(self, y):
        """Return y - centre, clipped and counted."""
        if not isinstance(y, (int, float)):
            y = check.array("y", y, None)
        return self.clip(y - self.centre)


class OneBit(CentredCTL):
    """This curator reports one bit, centre + scale or centre - scale, and is eps-LDP.

    The higher comes with chance (1 + (y - centre)/scale)/2, where scale = (F+R) coth(eps/2). A
    report is unbiased if the mean lies within F of the centre and the noise within R. The odds of
    the two bits are at most e^eps, for every y and every public centre. Draws are uniform numbers;
    log_density is a log-probability. It is seedable, for study: a 53-bit number decides, which
    moves either probability by 2^-53 at most.
    """

    def __init__(self, eps: float | None, F: float, R: float, centre: float = 0.0):
        super().__init__(eps, F, R, centre)
        self.scale = self.bound / math.tanh(self.eps / 2)
        self.variance = self.scale**2  # at y = centre, the worst case
        self._check_centre()

    @property
    def low(self) -> float:
        """Return the lower of the two reports, centre - scale."""
        return self.centre - self.scale

    @property
    def high(self) -> float:
        """Return the higher of the two reports, centre + scale."""
        return self.centre + self.scale

    def draw(self, rng: Any, size: int | tuple | None = None) -> Any:
        """Draw uniform numbers on [0, 1)."""
        return rng.random(size)

    def report(self, y: Any, draw: Any) -> Any:
        """Return the higher report where draw < (1 + (y - centre)/scale)/2, else the lower."""
        chance = (1 + self._away(y) / self.scale) / 2
        return self.centre + self.scale * (2.0 * (draw < chance) - 1)

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Compute the log-probability of a report given the reward y; -inf if it is neither bit."""
        report, y = check.together("report", report, "y", y)
        tilt = copy.copy(self)._away(y) / self.scale
        with np.errstate(divide="ignore"):  # a bit that is impossible at a large eps
            high = np.log1p(tilt) - math.log(2)
            low = np.log1p(-tilt) - math.log(2)
        return np.select([report == self.high, report == self.low], [high, low], -math.inf)

    def reach(self, t: int) -> float:
        """Return |centre| + scale, which no report exceeds in size, whatever t."""
        return abs(self.centre) + self.scale

    def possible(self, report: float) -> bool:
        """Tell whether this curator can have made the report.

        Clients may round it by 1e-9 of its size.
        """
        slack = 1e-9 * (self.scale + abs(self.centre))
        return abs(abs(report - self.centre) - self.scale) <= slack

    def pluses(self, count: int, total: float) -> int:
        """Find how many of `count` reports with this total are high; refuse an impossible total."""
        low = Fraction(self.low)
        exact = (Fraction(total) - count * low) / (Fraction(self.high) - low)
        pluses = min(max(round(exact), 0), count)
        slack = 1e-9 * count * (1 + abs(self.centre) / self.scale)
        if abs(exact - pluses) > slack:
            raise ValueError(
                f"{total!r} for {count} reports: must be a sum of {self.low!r} and {self.high!r}, "
                "all that this curator reports"
            )
        return pluses

    def total(self, count: int, pluses: int) -> float:
        """Return the sum of `count` reports of which `pluses` are high."""
        return count * self.centre + self.scale * (2 * pluses - count)


class Sums(CentredCTL):
    """This aggregator shows the sum of an arm's clipped rewards in a batch, with one Laplace draw.

    The noise has scale 2(F+R)/eps. This is not local privacy: users hand their rewards to the
    aggregator. Each user is in one sum; its arm, and how many users are in it, is public.
    """

    def __init__(self, eps: float | None, F: float, R: float, centre: float = 0.0):
        super().__init__(eps, F, R, centre)
        self._check_centre()
        self.promise = (
            f"{self.eps:g}-DP of each user's reward towards those who see the sums, in exact "
            "arithmetic; the aggregator sees the rewards themselves and is trusted"
        )

    def report(self, y: Any, draw: Any) -> float:
        """Return the noisy sum of all rewards y of an arm in a batch; one draw for all of them."""
        away = self._away(y)
        return np.size(away) * self.centre + float(np.sum(away)) + self.scale * float(draw)

    def privatise(self, y: Any, rng: np.random.Generator | None = None) -> float:
        """Draw the noise, once, and return the noisy sum of all rewards y of an arm in a batch."""
        return self.report(y, self.draw(check.generator(rng)))

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Compute the log-density of a noisy sum given all its rewards y."""
        noise = check.array("report", report, None) - copy.copy(self).report(y, 0.0)
        return -np.abs(noise) / self.scale - math.log(2 * self.scale)


def report_kind(problem: Problem, curator: CTL | None) -> tuple[str, float]:
    """Return the kind of reports, and the size s of their noise in the matched ridge (s/B)^2."""
    if isinstance(curator, OneBit):
        return "one bit", curator.scale
    if isinstance(curator, Sums):
        return "sums", problem.spread
    if curator is not None:
        return "Laplace", curator.scale
    if problem.noise == "t3" or problem.alpha < 1:
        return "heavy", problem.c ** (1 / (1 + problem.alpha))
    return "bounded", problem.spread


@functools.lru_cache
def _discrete_laplace(units):
    """Make OpenDP's discrete Laplace mechanism of this scale on integers; it cannot be pickled."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ImportError(
            "SecureCTL needs OpenDP: pip install '.[secure]' in the folder of ldpbo"
        ) from None
    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    return dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale=units)


class SecureCTL(CTL):
    """This CTL adds discrete Laplace noise of OpenDP's on a grid, so that no low bit leaks.

    The clipped reward is rounded to a multiple of `grid`, a power of two (default about
    `(B+R)/2^20`, coarser for small eps), and exact discrete Laplace noise is added to that integer:
    nothing is rounded later, so no bit of a report says more than eps, which OpenDP's own map
    certifies for the rounded range. Draws are grid steps from the operating system's randomness:
    they cannot be seeded and `rng` is ignored. In arrays a report takes about 10 us. It needs the
    extra `secure`.
    """

    def __init__(self, eps: float | None, B: float, R: float, grid: float | None = None):
        super().__init__(eps, B, R)
        self.grid = self._default_grid(B, R) if grid is None else check.positive("grid", grid)
        steps = 2 * round(self.bound / self.grid)  # between the two most different rewards
        units = steps / self.eps
        if math.frexp(self.grid)[0] != 0.5 or not 0 < units < 2**50:
            raise ValueError(
                f"grid = {grid!r}: must be a power of two, above 2^-50 scale = "
                f"{self.scale / 2**50:.3g} and at most B+R = {self.bound:.3g}"
            )
        while _discrete_laplace(units).map(steps) > self.eps:  # OpenDP rounds the loss upwards
            units = math.nextafter(units, math.inf)
        self.scale = units * self.grid
        self.variance = self.grid**2 * 2 * math.exp(-1 / units) / math.expm1(-1 / units) ** 2
        self.promise = (
            f"{self.eps:g}-LDP for one report, as computed (OpenDP's map gives "
            f"{self.loss(steps)!r} for {steps} steps of the grid {self.grid:g}); rounding moves "
            "the mean by at most half a step"
        )

    def _default_grid(self, B, R):
        """Choose a power of two that resolves rewards and noise."""
        fine = max(math.frexp(self.bound)[1] - 21, math.frexp(self.scale)[1] - 49, -1022)
        grid = math.ldexp(1.0, fine)
        if grid > self.bound:
            raise ValueError(
                f"eps = {self.eps!r}, B = {B!r}, R = {R!r}: eps must be above 2^-47 and B+R above "
                "2^-1022, so that a grid of floating-point numbers resolves rewards and noise"
            )
        return grid

    def loss(self, steps: int) -> float:
        """Return the privacy loss OpenDP certifies for two rewards that many grid steps apart."""
        return _discrete_laplace(self.scale / self.grid).map(steps)

    def draw(self, rng: Any = None, size: int | tuple | None = None) -> Any:
        """Draw noise in steps of the grid, from the operating system's randomness."""
        zeros = [0] * int(np.prod(1 if size is None else size))
        noise = np.array(_discrete_laplace(self.scale / self.grid)(zeros), dtype=np.int64)
        return noise[0] if size is None else noise.reshape(size)

    def report(self, y: Any, draw: Any) -> Any:
        """Round the clipped reward to the grid and add `draw` steps of it."""
        return (np.int64(np.rint(self.clip(y) / self.grid)) + draw) * self.grid

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Compute the log of a report's probability `tanh(h/2) e^{-h steps}`, h = grid/scale."""
        report, y = self._given(report, y)
        h = self.grid / self.scale
        x = report / self.grid
        away = np.abs(x - np.rint(y / self.grid))
        return np.where(x == np.rint(x), math.log(math.tanh(h / 2)) - h * away, -math.inf)

    def reach(self, t: int) -> float:
        """Return the reach of CTL plus one step of the grid, since rewards are rounded."""
        return super().reach(t) + self.grid


class Identity(CTL):
    """This curator reports the reward itself, whatever its size: non-private learners use it."""

    def __init__(self):
        self.eps: Any = None
        self.bound = math.inf
        self.scale = 0.0
        self.variance = 0.0
        self.promise = "nothing: the report is the reward"
        self.seen = 0
        self.clipped = 0

    def __repr__(self):
        return "Identity()"

    def draw(self, rng: Any, size: int | tuple | None = None) -> Any:
        """Return 0, or zeros of that size: there is no noise."""
        return 0.0 if size is None else np.zeros(size)

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Return 0 where the report is the reward y, -inf elsewhere."""
        return np.where(np.equal(*self._given(report, y)), 0.0, -math.inf)


# ---- Posterior (Eqs. mu and sigma), information gain, Nyström embedding --------------------------


def first_max(score: np.ndarray) -> int:
    """Return the lowest index whose score is within TIE of the maximum.

    Deviation: the paper leaves ties open (Erratum B19).
    """
    top = float(score[score.argmax()])
    return int((score >= top - TIE * max(1.0, abs(top))).argmax())


def posterior(
    K: Problem | ArrayLike, arms: ArrayLike, y: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior mean (n,) and standard deviation (n,) after t plays, Eqs. (mu), (sigma).

    K: the matrix, or a Problem. arms, y: what was played, and the rewards, both (t,).
    """
    domain = _domain(K)
    lam = check.ridge(lam)
    y = check.array("y", y, 1, limit=1e100)
    arms = check.arms("arms", arms, domain.n)
    if len(arms) != len(y):
        raise ValueError(
            f"y has {len(y)} entries and arms has {len(arms)}: must have the same length"
        )
    result = Posterior(domain, lam)
    result.counts += np.bincount(arms, minlength=domain.n)
    result.sums += np.bincount(arms, y, domain.n)
    result.solve(result.span)
    return result.mean, result.sigma


def information_gain(K: Problem | ArrayLike, T: int, lam: float) -> np.ndarray:
    """Compute the information gains gamma_0, ..., gamma_T by greedy choices, (T+1,).

    A greedy value g bounds the largest gain: g <= gamma_t <= g/(1 - 1/e).
    K: the matrix, or a Problem (then the gain is that of its features).
    Deviation: multisets instead of the paper's subsets, which a finite domain lacks for t > n
    (Erratum B14).
    """
    T = check.integer("T", T, low=0)
    return _gain(_domain(K), T, check.ridge(lam)).copy()


def _gain(domain, T, lam):
    """Return information_gain, remembered for the last eight kernels, ridges and horizons."""
    if T > LONGEST_RUN:
        raise ValueError(
            f"T = {T}: must be at most {LONGEST_RUN} where the information gain of every round is "
            "computed; GP-UCB and PE go further, by simulate_batches"
        )
    key = hashlib.blake2b(domain.Z).digest(), T, lam
    if key not in GAINS:
        while len(GAINS) >= 8:
            GAINS.pop(next(iter(GAINS)))
        GAINS[key] = _greedy_gain(domain, T, lam)
    return GAINS[key]


def _greedy_gain(domain, T, lam):
    plays = Posterior(domain, lam)
    gain = np.zeros(T + 1)
    for t in range(T):
        arm = first_max(lam * plays.leverage)
        gain[t + 1] = gain[t] + 0.5 * math.log1p(plays.leverage[arm])
        plays.add(arm, 0.0)
    return gain


def nystrom_features(K: Problem | ArrayLike, dictionary: ArrayLike) -> np.ndarray:
    """Embed the n arms on a dictionary of m, by `phi(x) = (K_D^{1/2})^+ k_D(x)` (m, n) (Alg. 4)."""
    domain = _domain(K)
    dictionary = check.arms("dictionary", dictionary, domain.n)
    if len(np.unique(dictionary)) != len(dictionary):
        raise ValueError(f"dictionary = {dictionary.tolist()}: must name each arm once")
    span = Span.of_dictionary(domain, dictionary)
    return span.Q @ span.at(slice(None))


# ---- Algorithms: ask() for an arm, tell() its reward as the learner sees it ----------------------


@dataclass(frozen=True)
class Settings:
    """Settings hold what a learner was told, checked by `make`.

    alpha, v and c are those of the reports that the learner sees, not of the rewards.
    """

    T: Any  # an integer, or None: for ever
    lam: float
    delta: float
    acc: float
    constants: str
    beta_scale: float
    q: float | None
    k: int | None
    weibull: Any  # (theta, a, b), or None
    curator: CTL | None  # None: not private
    kind: str  # of reports: "one bit", "Laplace", "sums", "bounded" or "heavy"
    size: float  # s, the size of the reports' noise
    alpha: float
    v: float
    c: float
    switch: float
    first: int

    @property
    def p(self) -> float:
        """Return 1 + alpha, the order of the moments that are bounded."""
        return 1 + self.alpha

    def growth(self, t: float) -> float:
        """Return t^{(1-alpha)/(2(1+alpha))}, which is 1 if variances are finite."""
        return t ** ((1 - self.alpha) / (2 * self.p))


class Learner:
    """Base class of all algorithms, including your own, that plays argmax mu + beta sigma.

    Write
        start()                 what is kept between rounds; self.mu (n,) = 0, self.sigma (n,) and
                                self.beta = B are there
        update(arm, y)          what report y of `arm` changes: new self.mu, self.sigma, self.beta
        choose()                if the arm to play is not argmax mu + beta sigma; an index
        presets, anytime        the `constants` it has a width for; True if T may be None
    Read self.problem (n, K, B; f is for regret alone), self.settings (T, lam, delta, curator, ...),
    self.t (reports told so far), and draw from self.rng. The class itself goes where names go:
    make(Mine, ...), simulate(problem, ["TGP", Mine], ...). Define it at the top of a module, so
    that other processes and `load` find it; what it keeps should be numbers, arrays and the like.
    """

    presets: tuple[str, ...] = ("order",)
    anytime = False

    def __init__(self, problem: Problem, settings: Settings, rng: np.random.Generator):
        self.problem = problem
        self.settings = settings
        self.rng = rng
        self.B = problem.B
        self.t = 0
        self.mu = np.zeros(problem.n)  # Alg. 1, l. 2; Alg. 3, l. 2
        # Deviation: sigma_0 = sqrt(k(x, x)); the paper prints k(x, x) (Erratum B4).
        self.sigma = np.sqrt(np.maximum(problem.diagonal, 0.0))  # Alg. 1, l. 2; Alg. 3, l. 2
        self.beta = self.B
        self.asked: int | None = None
        self.own_curator = copy.copy(settings.curator) or Identity()
        self.start()

    def start(self) -> None:
        """Set up what the algorithm keeps between rounds."""

    def update(self, arm: int, y: float) -> None:
        """Take in the report y of `arm`, and renew mu, sigma and beta."""

    def choose(self) -> int:
        """Choose the arm to play now."""
        upper = self.mu + self.beta * self.sigma  # Alg. 1, l. 4; Alg. 2, l. 6; Alg. 3, l. 5
        return first_max(upper)  # Alg. 1, l. 4; Alg. 2, l. 6; Alg. 3, l. 5

    def __getstate__(self):
        """Leave out of copies and files the f and the users' rewards that a problem may hold."""
        problem = copy.copy(self.problem)
        problem.__dict__.update(f=None, samples=None, noise="uniform")
        return {**self.__dict__, "problem": problem}

    def __repr__(self):
        rounds = f"t={self.t}" if self.settings.T is None else f"t={self.t} of T={self.settings.T}"
        return f"{type(self).__name__}({self.problem.n} arms, {rounds}, beta={self.beta:.4g})"

    def ask(self) -> int:
        """Return the arm to play next, the same one until its reward is told."""
        if self.asked is None:
            self.asked = check.arm(self.choose(), self.problem.n)
        return self.asked

    def tell(self, reward: float, arm: int | None = None) -> None:
        """Take in the reward, as the learner sees it, of the arm that was asked for.

        arm: another one, to replay a recorded run.
        """
        played = self.asked if arm is None else check.arm(arm, self.problem.n)
        if played is None:
            raise ValueError("tell: no arm was asked for; call ask() first")
        allowed = "a finite number below 1e100 in size"
        y = check.number("reward", reward, allowed, -1e100, 1e100)
        if self.settings.kind == "one bit":
            self.check_bit(played, y)
        if self.t == self.settings.T:
            warnings.warn(
                f"T = {self.t} rounds have been told: the learner goes on, but nothing is said of "
                "it; make it with a larger T, or with T=None where that is allowed",
                stacklevel=2,
            )
        self.update(played, y)
        self.t += 1
        self.asked = None

    def check_bit(self, arm: int, report: float) -> None:
        """Refuse a report that the one-bit curator of this arm cannot have made."""
        curator: Any = self.curator(arm)
        if not curator.possible(report):
            raise ValueError(
                f"report = {report!r} of arm {arm}: must be {curator.low!r} or {curator.high!r}, "
                "all that this curator reports"
            )

    def plan(self) -> np.ndarray:
        """Return how many reports of each arm come next, (n,): one, of the arm asked for."""
        plan = np.zeros(self.problem.n, dtype=np.int64)
        if self.settings.T is None or self.t < self.settings.T:
            plan[self.ask()] = 1
        return plan

    def tell_sums(self, counts: ArrayLike, sums: ArrayLike) -> None:
        """Take in counts[x] reports of arm x that add up to sums[x]: any part of the plan."""
        counts, sums = _checked_sums(counts, sums, self.plan()[:, None])
        for arm, j in np.argwhere(counts).tolist():
            self.tell(float(sums[arm, j]), arm)

    def curator(self, arm: int) -> CTL:
        """Return the curator that a user of this arm applies now."""
        check.arm(arm, self.problem.n)
        return self.own_curator

    def best(self) -> tuple[int, float, float]:
        """Return the arm with the largest lower bound, and the two bounds of its mean."""
        width = self.beta * self.sigma
        arm = first_max(self.mu - width)
        return arm, float(self.mu[arm] - width[arm]), float(self.mu[arm] + width[arm])

    def missed(self, plays: float, lost: float | None = None) -> float:
        """Return what features that were left out add to a proved width: B sqrt(plays lost/lam).

        The estimate is built from the features alone, so the rest of f at all plays moves it too.
        """
        if self.settings.constants != "proved":
            return 0.0
        lost = self.problem.residual if lost is None else lost
        return self.B * math.sqrt(plays * lost / self.settings.lam)

    def save(self, path: str | os.PathLike) -> None:
        """Write the learner to a file for `load`, whole or not at all.

        Of rewards it holds sums, and single ones, as the learner saw them.
        """
        from ldpbo import saving

        saving.save(self, path)


class Uniform(Learner):
    """Uniform plays arms at random; its regret is what learning has to beat."""

    presets: tuple[str, ...] = ("order", "printed", "proved")

    def choose(self) -> int:
        return int(self.rng.integers(self.problem.n))


class TGP(Learner):
    """(LDP-)TGP-UCB (Alg. 2) replaces a report larger than b_t in size by 0.

    Theorem 3; non-private, Theorem 1 of C&G 2019.
    """

    presets: tuple[str, ...] = ("order", "printed", "proved")

    def start(self) -> None:
        self.posterior = Posterior(self.problem.domain, self.settings.lam)
        self.gain = 0.0  # 1/2 ln det(I + K_t/lam) of the arms played
        self.b = self.threshold(1)

    def update(self, arm: int, y: float) -> None:
        t = self.t + 1
        self.b = self.threshold(t)  # Alg. 2, l. 4 of the next round
        self.gain += 0.5 * math.log1p(float(self.posterior.leverage[arm]))
        self.posterior.add(arm, y if abs(y) <= self.b else 0.0)  # Alg. 2, l. 8
        self.mu = self.posterior.mean.copy()  # Alg. 2, l. 9
        self.sigma = self.posterior.sigma  # Alg. 2, l. 10
        width = self.settings.beta_scale * self.width(t)
        self.beta = self.B + width + self.missed(t)  # Alg. 2, l. 5 of the next round

    def threshold(self, t: int) -> float:
        """Return b_t, which a report exceeds with chance 1/t at most (Alg. 2, l. 4), or C&G's."""
        if self.settings.curator:
            return self.settings.curator.reach(t)
        p = self.settings.p
        return self.settings.v ** (1 / p) * t ** (1 / (2 * p))

    @property
    def light_tailed(self) -> bool:
        """Tell whether b_t grows like ln t; where only moments are known it grows like t^{1/2p}."""
        return self.settings.curator is not None

    def width(self, t: int) -> float:
        """Compute the width beta_{t+1} - B after t rounds (Alg. 2, l. 5)."""
        root = math.sqrt(self.settings.lam)
        if self.settings.constants == "order":
            return self.b * math.sqrt(math.log(t + 1)) / root
        log_delta = math.log(self.levels / self.settings.delta)
        if not self.light_tailed:
            return 3 * self.b * math.sqrt(2 * self.gain + 2 * log_delta) / root
        noise = 2 * math.sqrt(2) * self.b * math.sqrt(self.max_gain(t) + log_delta)  # Alg. 2, l. 5
        bias = math.sqrt(self.second_moment * (math.log(t) + 1))  # Alg. 2, l. 5
        return (noise + bias) / root  # Alg. 2, l. 5

    @property
    def second_moment(self) -> float:
        """Return a bound on E y^2: K = B^2 + R^2 + 2L^2 of Alg. 2, l. 2."""
        return self.settings.v

    @functools.cached_property
    def levels(self) -> int:
        """Return how many dyadic levels b_t passes through up to T (Erratum A7); as printed, 1."""
        return self.dyadic_levels() if self.settings.constants == "proved" else 1

    def dyadic_levels(self) -> int:
        """Count the dyadic levels from b_1 to b_T; there is one if b_1 = 0."""
        first = self.threshold(1)
        last = self.threshold(self.settings.T)
        return math.ceil(math.log2(max(last / first, 1.0))) + 1 if first > 0 else 1

    @functools.cached_property
    def greedy_gain(self) -> np.ndarray:
        """Return the greedy gamma_0, ..., gamma_T of `information_gain`, (T+1,)."""
        return _gain(self.problem.domain, self.settings.T, self.settings.lam)

    def max_gain(self, t: int) -> float:
        """Return the greedy gamma_t, divided by 1 - 1/e where a proof needs an upper bound."""
        gamma = float(self.greedy_gain[min(t, self.settings.T)])
        return gamma / GREEDY if self.settings.constants == "proved" else gamma


class WeibullTGP(TGP):
    """TGP for sub-Weibull noise, `P(|noise| >= x) <= a exp(-b x^{1/theta})` (Section 4.3)."""

    light_tailed = True

    def threshold(self, t: int) -> float:
        """Return b_t = B + (ln(t)/b)^theta, which a reward exceeds with probability a/t at most."""
        theta, _, b = self.settings.weibull
        return self.B + (math.log(t) / b) ** theta

    @property
    def second_moment(self) -> float:
        """Return a bound on `E y^2`: `max(a, 1) (B^2 + a Gamma(2 theta + 1) b^{-2 theta})`."""
        theta, a, b = self.settings.weibull
        moment = a * math.gamma(2 * theta + 1) * b ** (-2 * theta)
        return max(a, 1) * (self.B**2 + moment)

    @functools.cached_property
    def levels(self) -> int:
        """Return how many dyadic levels b_t passes through up to T, also with printed constants."""
        return self.dyadic_levels()


class GPUCB(TGP):
    """Plain GP-UCB truncates nothing: right for sub-Gaussian reports, a baseline for the others.

    Its width is proved for one-bit reports, which lie in [-s, s], for bounded noise, and for
    Laplace reports, whose noise is cut in the proof.
    """

    presets: tuple[str, ...] = ("order", "proved")
    anytime = True

    def threshold(self, t: int) -> float:
        """Return inf: no reward is truncated."""
        return math.inf

    def width(self, t: int) -> float:
        """Compute the width beta_{t+1} - B: s sqrt(2 (gain + ln(1/delta))/lam), or its order."""
        settings = self.settings
        root = math.sqrt(settings.lam)
        if settings.constants == "order":
            s = settings.c ** (1 / (1 + settings.alpha))
            return s * math.sqrt(math.log(t + 1)) / root
        s = settings.size
        delta = settings.delta
        if settings.kind == "Laplace":
            delta /= 2  # the other half is for the event that a draw is cut
            cut = settings.size * math.log(settings.T / delta)
            s = math.hypot(self.problem.spread, math.sqrt(settings.size * cut / 2))
        return s * math.sqrt(2 * (self.gain + math.log(1 / delta))) / root


class SketchedLearner(Learner):
    """This base class of ATA and MoMA keeps a posterior on a random dictionary (Alg. 4)."""

    def start_sketch(self, *columns: int) -> None:
        """Begin with an empty dictionary; `columns` is the number of reward columns, if any."""
        settings = self.settings
        printed = settings.constants != "order"
        self.B0 = self.B * (1 + 1 / math.sqrt(1 - settings.acc)) if printed else self.B
        self.beta = self.B0
        q = self.oversampling() if settings.q is None else settings.q
        self.q = q if q == math.inf else min(q, 1e280)  # so that q sigma^2/lam is a number
        self.posterior = Sketch(self.problem.domain, settings.lam, *columns)
        self.dictionary = self.posterior.dictionary
        self.m = 0

    def oversampling(self) -> float:
        """Return q of Theorem 2, or its order."""
        settings = self.settings
        if settings.constants == "order":
            return math.log(settings.T) / settings.acc**2
        rho = (1 + settings.acc) / (1 - settings.acc)
        return 6 * rho * math.log(4 * settings.T / settings.delta) / settings.acc**2

    def embed(self, arm: int, y: Any) -> None:
        """Draw a dictionary by the last round's variances, then take in the play on its span."""
        self.dictionary = self.nystrom_dictionary(arm)  # Alg. 1, l. 6; Alg. 3, l. 7
        self.m = len(self.dictionary)  # Alg. 1, l. 7; Alg. 3, l. 8
        self.posterior.add_on(self.dictionary, arm, y)  # Alg. 1, l. 8; Alg. 3, l. 9-10

    def nystrom_dictionary(self, arm: int) -> np.ndarray:
        """Draw the dictionary (Alg. 4), arms of which a play is kept, after one more play of `arm`.

        Deviations: p = q sigma^2/lam, the ridge leverage score (Erratum A9); the dictionary is a
        set of arms, so one draw with probability 1 - (1-p)^count stands for the draws of all plays
        of an arm (Erratum B11).
        """
        u = self.rng.random(self.problem.n)
        counts = self.posterior.counts.copy()
        counts[arm] += 1  # Alg. 4, l. 1: of x_1, ..., x_t
        if self.q == math.inf:
            return counts.nonzero()[0]
        p = np.minimum(self.q * self.posterior.leverage, 1.0)  # Alg. 4, l. 4
        kept = u < 1.0 - (1.0 - p) ** counts  # Alg. 4, l. 3; Alg. 4, l. 4
        return kept.nonzero()[0]  # Alg. 4, l. 2; Alg. 4, l. 5


class ATA(SketchedLearner):
    """(LDP-)ATA-GP-UCB (Alg. 1) drops products u_i y above b_t in size.

    Theorem 2; non-private, Theorem 4 of C&G 2019. mu is linear in the rewards that lose no product:
    the posterior sums those. `open` are the rewards that may lose a product, now or later; those
    of them that may lose one now are `exposed`, and treated product by product. Deviation: all
    products are compared with the current b_t, as in C&G 2019; the paper prints b_tau (Erratum B1).
    """

    presets: tuple[str, ...] = ("order", "printed")

    def start(self) -> None:
        self.start_sketch()
        self.b = math.inf
        self.least = self.schedule(1, self.problem.n)[0]  # b_t is least where m = n
        self.open_arms = np.zeros(0, dtype=int)
        self.open_y = np.zeros(0)
        self.exposed = np.zeros(0, dtype=bool)  # of the open rewards

    def update(self, arm: int, y: float) -> None:
        t = self.t + 1
        whole = self.never_cut(t, self.posterior.counts[arm] + 1, y)
        self.embed(arm, y if whole else 0.0)  # Alg. 1, l. 6-8
        self.b, self.beta = self.schedule(t, self.m)
        if not whole:
            self.open_reward(t, arm, y)
        self.sort_open_rewards()
        theta = self.theta_of_exposed()  # Alg. 1, l. 9-11; the posterior has the other rewards
        self.mu = self.posterior.mean + self.posterior.span.over(theta)  # Alg. 1, l. 12
        self.sigma = self.posterior.sigma  # Alg. 1, l. 13

    def schedule(self, t: int, m: int) -> tuple[float, float]:
        """Compute b_t and beta_{t+1} for a dictionary of m arms (Theorem 2)."""
        if m == 0:
            return math.inf, self.B0
        settings = self.settings
        p = settings.p
        if settings.constants == "order":
            factor, log = 1, math.log((m + 1) * settings.T)
        else:
            factor, log = 4, math.log(4 * m * settings.T / settings.delta)
        growth = settings.growth(t)
        b = (settings.v / log) ** (1 / p) * growth
        width = factor * math.sqrt(m / settings.lam) * settings.v ** (1 / p)
        width *= log ** (settings.alpha / p) * growth
        return b, self.B0 + settings.beta_scale * width

    def theta_of_exposed(self) -> np.ndarray:
        """Compute the part of theta that comes from exposed rewards, in coordinates of the span.

        On the span phi is Qx, so that `V^{-1/2} phi y = Q root x y` with the root of the small V.
        """
        span = self.posterior.span
        if not (np.count_nonzero(self.exposed) and span.Q.size):
            return np.zeros(span.dimension)
        y = self.open_y[self.exposed]
        x = span.at(self.open_arms[self.exposed])
        root = self.posterior.inverse_root()  # V^{-1/2}
        products = span.Q.dot(root.dot(x * y))  # Alg. 1, l. 9: u_{i,tau} y_tau
        products[np.abs(products) > self.b] = 0.0  # Alg. 1, l. 10
        r = products.sum(axis=1)  # Alg. 1, l. 10
        return root.dot(r.dot(span.Q))  # Alg. 1, l. 11

    def never_cut(self, t: int, counts: Any, y: Any) -> Any:
        """Tell whether |u_i y| <= b_t in this round and all later ones.

        The bound 1/(lam + count) of u_i^2 only falls, and the least b_t never does.
        """
        least = self.least * self.settings.growth(t) * (1 - TIE)
        return abs(y) <= least * (self.settings.lam + counts) ** 0.5

    def open_reward(self, t: int, arm: int, y: float) -> None:
        """Add a reward to the open ones; those that can no longer be cut stay in the posterior."""
        counts = self.posterior.counts[self.open_arms]
        stay = self.exposed | ~self.never_cut(t, counts, self.open_y)
        self.open_arms = np.append(self.open_arms[stay], arm)
        self.open_y = np.append(self.open_y[stay], y)
        self.exposed = np.append(self.exposed[stay], True)

    def sort_open_rewards(self) -> None:
        """Find the exposed rewards (u_i^2 <= leverage); the posterior has the other open ones."""
        largest = np.abs(self.open_y) * np.sqrt(self.posterior.leverage[self.open_arms])
        exposed = largest > self.b * (1 - TIE)
        moved = exposed != self.exposed
        if np.count_nonzero(moved):
            given = np.where(exposed, -self.open_y, self.open_y)
            self.posterior.give(self.open_arms[moved], given[moved])
        self.exposed = exposed


class MoMA(SketchedLearner):
    """(LDP-)MoMA-GP-UCB (Alg. 3) plays an arm k times an epoch; the middle of k estimates counts.

    Deviation: the T - Nk rounds left over play the next arm without an update (Erratum B7).
    """

    presets: tuple[str, ...] = ("order", "printed", "proved")
    OMEGA = 8.0  # level of Ville's inequality in the proof of Erratum A5

    def start(self) -> None:
        T = self.settings.T
        self.k = self.copies()  # Alg. 3, l. 3
        if self.k > T:
            raise ValueError(
                f"k = {self.k}: must be at most T = {T}; "
                "raise T, lower k, or take constants='order'"
            )
        self.N = T // self.k  # Alg. 3, l. 3
        self.columns = np.size(self.summary(np.zeros(self.k)))
        self.start_sketch(self.columns)
        self.epoch = 0
        self.epoch_arm: int | None = None
        self.rewards: list[float] = []
        self.kstar = 0

    def copies(self) -> int:
        """Return k as told, as printed, of its order, or the least for which the proof holds."""
        settings = self.settings
        if settings.constants == "proved":
            return self.proved_copies()
        if settings.k is not None:
            return settings.k
        factor = 24 if settings.constants == "printed" else 1
        # Alg. 3, l. 3
        return math.ceil(factor * math.log(4 * math.e * settings.T / settings.delta))

    def proved_copies(self) -> int:
        """Return the k that was told if the proof holds for it; if none was, the least such k."""
        allowed = self.settings.delta / 2
        told = self.settings.k
        if told is None:
            return next(k for k in range(2, 10**6) if self.failure(k) <= allowed)
        if self.failure(told) > allowed:
            raise ValueError(
                f"k = {told}: must be larger for constants='proved', as the proof fails with "
                f"chance {min(self.failure(told), 1):.3g} > delta/2 = {allowed:.3g}; leave k out, "
                "raise it, or take constants='order'"
            )
        return told

    def failure(self, k: int) -> float:
        """Bound P(too many of k estimates are ever bad) by C(k, a) omega^{-a} (Erratum A5)."""
        a = math.ceil((k - 1) / 2)
        log_binomial = math.lgamma(k + 1) - math.lgamma(a + 1) - math.lgamma(k - a + 1)
        return math.exp(log_binomial - a * math.log(self.OMEGA))

    def summary(self, rewards: np.ndarray) -> Any:
        """Turn an epoch's k rewards into columns, one for each ridge estimate."""
        return rewards

    def choose(self) -> int:
        return super().choose() if self.epoch_arm is None else self.epoch_arm

    def update(self, arm: int, y: float) -> None:
        if self.epoch_arm not in (None, arm):
            raise ValueError(
                f"arm = {arm}: must be {self.epoch_arm}, the arm of the current epoch of "
                f"{self.k} plays"
            )
        self.epoch_arm = arm
        if self.epoch == self.N:
            return
        self.rewards.append(y)  # Alg. 3, l. 6
        if len(self.rewards) == self.k:
            self.end_epoch(arm, self.summary(np.array(self.rewards)))

    def end_epoch(self, arm: int, y: Any) -> None:
        """Turn the rewards y (k,) of an epoch into new estimates, one for each column."""
        self.epoch += 1  # Alg. 3, l. 4
        self.epoch_arm = None
        self.rewards = []
        self.embed(arm, y)  # Alg. 3, l. 7-10
        self.kstar = first_max(-self.median_distances())  # Alg. 3, l. 12
        self.mu = self.posterior.mean[:, self.kstar].copy()  # Alg. 3, l. 13
        self.sigma = self.posterior.sigma  # Alg. 3, l. 14
        width = self.settings.beta_scale * self.width(self.epoch)
        self.beta = self.B0 + width + self.missed(self.epoch)

    def median_distances(self) -> np.ndarray:
        """Compute r_j = median over s != j of |theta_j - theta_s|_V (Alg. 3, l. 11), (k,).

        The squared norm is (S_j - S_s)'(M_j - M_s) with S the reward sums and M the means of the
        played arms. Differences come first, so that one absurd column costs the others no digit.
        """
        k = self.columns
        if k == 1:
            return np.zeros(1)
        played = np.flatnonzero(self.posterior.counts)
        S = np.ascontiguousarray(self.posterior.sums[played].T)
        M = np.ascontiguousarray(self.posterior.mean[played].T)
        unit = np.abs(S).max(initial=1e-300)  # so that no product overflows
        squares = _difference_products(S / unit, M / unit)  # Alg. 3, l. 11
        squares.flat[:: k + 1] = math.inf  # s != j: sorted last
        r = unit * np.sort(np.sqrt(np.maximum(squares, 0.0)), axis=1)
        return (r[:, (k - 2) // 2] + r[:, (k - 1) // 2]) / 2  # Alg. 3, l. 11

    def width(self, n: int) -> float:
        """Compute the width beta_{n+1} - B0 after n epochs.

        It has the 1/sqrt(lam) of the proof, which Theorem 4 drops (Erratum A8).
        """
        settings = self.settings
        p = settings.p
        root = math.sqrt(settings.lam)
        if settings.constants == "proved":  # Erratum A5, for every alpha
            moment = self.OMEGA * 2 ** (1 - settings.alpha) * settings.c
            radius = moment ** (1 / p) * settings.growth(self.N)
            return 3 * radius * math.sqrt(2 * self.last_gain) / root
        outer, inner = (3, 9) if settings.constants == "printed" else (1, 1)
        c = settings.c * (self.columns / self.k) ** settings.alpha  # a summary varies less
        return outer * (inner * self.m * c) ** (1 / p) * settings.growth(n) / root

    @functools.cached_property
    def last_gain(self) -> float:
        """Return an upper bound on gamma_N."""
        greedy = _gain(self.problem.domain, self.N, self.settings.lam)
        return float(greedy[-1]) / GREEDY


def _difference_products(S, M):
    """Compute (S_j - S_s)'(M_j - M_s) for all rows j and s of S and M (k, n), (k, k).

    Blocks of rows keep memory small.
    """
    k, n = S.shape
    products = np.empty((k, k))
    step = 1 + 10**5 // max(k * n, 1)
    for start in range(0, k, step):
        j = slice(start, start + step)
        products[j] = np.einsum("jsn,jsn->js", S[j, None] - S, M[j, None] - M)
    return products


# ---- Baselines: nothing is proved of them here, so they have *order* constants only --------------


class MoM(MoMA):
    """Mean of medians follows Zhong et al. 2021, whose estimator filters any bandit's rewards.

    Epochs, k and dictionary are MoMA's; the median of an epoch's k rewards enters one ridge
    estimate. It suits noise symmetric about f; elsewhere (and on one-bit reports) the median has a
    bias that no k removes. Only the abstract of Zhong et al. was at hand: k and the width, MoMA's
    with c/k^alpha for c, are ours.
    """

    presets: tuple[str, ...] = ("order",)

    def summary(self, rewards: np.ndarray) -> Any:
        return np.median(rewards)


class MoMAAverage(MoMA):
    """MoMAAverage is MoMA without its median: an epoch's k rewards are averaged.

    Its width has c/k^alpha for c.
    """

    presets: tuple[str, ...] = ("order",)

    def summary(self, rewards: np.ndarray) -> Any:
        return np.mean(rewards)


class TS(GPUCB):
    """Thompson sampling, GP-TS of C&G 2017, plays the best arm of a draw from the posterior.

    The draw is from N(mu, beta^2 posterior covariance), with GP-UCB's posterior and beta.
    """

    presets: tuple[str, ...] = ("order",)

    def choose(self) -> int:
        return first_max(self.mu + self.beta * self.posterior.draw(self.rng))


# ---- Learners that plan: many plays before they learn --------------------------------------------

LONGEST = 2**50  # plays of one plan, at most: about 1e15


class PlannedLearner(Learner):
    """A planned learner plans plays, is told their reports one by one or in sums, then learns.

    A subclass says what it plans in `next_plan`, (n, k) integers for k copies, and what it learns
    in `learn`. `left` (n, k) are the plays still to come. Sums are kept exactly (of one-bit
    reports the number of high ones), so that single reports and any split of their sums give the
    same state. `lower` and `upper` (n,) enclose f at all times at once, with probability 1 - delta
    at proved constants.
    """

    def __init__(self, problem: Problem, settings: Settings, rng: np.random.Generator):
        self.lower = np.full(problem.n, -problem.F)
        self.upper = np.full(problem.n, problem.F)
        super().__init__(problem, settings, rng)
        self.begin()

    def next_plan(self) -> np.ndarray:
        """Plan the plays of each arm in each copy, (n, k) integers; zeros at the horizon."""
        raise NotImplementedError

    def learn(self) -> None:
        """Compute new mu, sigma and beta, once all plays of a plan are in."""
        raise NotImplementedError

    def begin(self) -> None:
        """Make the next plan."""
        self.planned = self.next_plan()
        self.left = self.planned.copy()
        self.sums = np.full(self.planned.shape, Fraction(0))
        self.asked = None

    def rounds_left(self) -> int:
        """Return the rounds up to the horizon, or LONGEST without one: no plan has more plays."""
        return LONGEST if self.settings.T is None else max(self.settings.T - self.t, 0)

    def plan(self) -> np.ndarray:
        """Return how often each arm is yet to be played before the learner learns, (n,)."""
        return self.left.sum(axis=1)

    def best(self) -> tuple[int, float, float]:
        """Return the arm with the largest lower bound, and the bounds of its mean, at any time."""
        arm = first_max(self.lower)
        return arm, float(self.lower[arm]), float(self.upper[arm])

    def choose(self) -> int:
        """Draw an arm from the plan; at the horizon return the best."""
        ahead = self.plan().cumsum()
        if not ahead[-1]:
            return self.best()[0]
        return int(np.searchsorted(ahead, self.rng.integers(ahead[-1]), side="right"))

    def update(self, arm: int, y: float) -> None:
        j = int(self.left[arm].argmax())  # the copies take turns
        if self.left[arm, j]:
            self.record([self.checked_part(arm, j, 1, y)])
        elif self.left.any():
            raise ValueError(f"arm = {arm}: must be one of those that plan() has left")

    def tell(self, reward: float, arm: int | None = None) -> None:
        super().tell(reward, arm)
        if not self.left.any() and self.planned.any():
            self.end_plan()

    def tell_sums(self, counts: ArrayLike, sums: ArrayLike) -> None:
        """Take in counts[x] reports of arm x that add up to sums[x]: any part of the plan.

        The arrays are (n, k) if the plan has k > 1 copies.
        """
        counts, sums = _checked_sums(counts, sums, self.left)
        parts = [
            self.checked_part(arm, j, int(counts[arm, j]), float(sums[arm, j]))
            for arm, j in np.argwhere(counts).tolist()
        ]
        self.record(parts)
        self.t += int(counts.sum())
        if self.asked is not None and not self.left[self.asked].any():
            self.asked = None
        if parts and not self.left.any():
            self.end_plan()

    def checked_part(self, arm: int, j: int, count: int, total: float) -> tuple:
        """Return (arm, copy, count, exact sum), or refuse what the curator cannot have reported."""
        curator = self.curator(arm)
        if isinstance(curator, Sums) and count != self.planned[arm, j]:
            raise ValueError(
                f"{count} reports of arm {arm}: must be all {self.planned[arm, j]} of the plan in "
                "one sum, since Sums adds its noise once"
            )
        if not isinstance(curator, OneBit):
            return arm, j, count, Fraction(total)
        try:
            return arm, j, count, curator.pluses(count, total)
        except ValueError as error:
            raise ValueError(f"arm {arm}: {error}") from None

    def record(self, parts: list) -> None:
        """Add checked parts of the plan to the sums, and take them off the plays left."""
        for arm, j, count, exact in parts:
            self.left[arm, j] -= count
            self.sums[arm, j] += exact

    def end_plan(self) -> None:
        """Learn from the reports of the plan, then make the next plan."""
        self.learn()
        self.begin()

    def reported_sums(self) -> np.ndarray:
        """Return the sums of this plan's reports, (n, k), rounded so that all get the same."""
        total = np.zeros(self.planned.shape)
        for arm, j in np.argwhere(self.planned).tolist():
            count = int(self.planned[arm, j])
            curator = self.curator(arm)
            exact = self.sums[arm, j]
            if isinstance(curator, OneBit):
                total[arm, j] = curator.total(count, int(exact))
            else:
                step = self.rounding_step(count)
                total[arm, j] = step * round(float(exact) / step)
        return total

    def rounding_step(self, count: int) -> float:
        """Return a step of 1e-9 of a sum's noise: far above the rounding of clients' own sums."""
        size = max(self.settings.size, 1e-4 * self.B) * math.sqrt(count)
        return math.ldexp(1.0, math.frexp(size)[1] - 30)

    def narrow(self, width: np.ndarray) -> None:
        """Intersect [lower, upper] with mu +- width (n,); unproved bands replace the last one."""
        if self.settings.constants == "order":
            self.lower = np.full(self.problem.n, -self.problem.F)
            self.upper = np.full(self.problem.n, self.problem.F)
        self.lower = np.maximum(self.lower, self.mu - width)
        self.upper = np.minimum(self.upper, self.mu + width)


def _counts(counts):
    """Return counts as an array; a ragged list is refused."""
    try:
        return np.asarray(counts)
    except ValueError:
        raise ValueError("counts: must be a list of integers, one for each arm") from None


def _checked_sums(counts, sums, left):
    """Return counts and sums as arrays of the shape of `left` (n, k), of which they are a part."""
    n, k = left.shape
    shape = (n, k) if k > 1 else (n,)
    counts = _counts(counts)
    sums = check.array("sums", sums, None)
    if counts.dtype.kind not in "iu" or counts.shape != shape or sums.shape != shape:
        raise ValueError(
            f"counts is {counts.dtype} of shape {counts.shape}, sums has shape {sums.shape}: "
            f"must be integers and numbers of shape {shape}"
        )
    counts = counts.reshape(n, k)
    sums = sums.reshape(n, k)
    for x, j in np.argwhere((counts < 0) | (counts > left)):
        raise ValueError(
            f"counts of arm {x} = {counts[x, j]}: must be from 0 to {left[x, j]}, as plan() has it"
        )
    rounding = 1e-9 * np.abs(sums).max(initial=0.0)  # a client that subtracts sums may leave that
    for x, j in np.argwhere(np.abs(sums) > np.where(counts > 0, 1e100 * counts, rounding)):
        raise ValueError(
            f"sums of arm {x} = {sums[x, j]}: must be at most 1e100 a report, 0 for none"
        )
    return counts, sums


class SeldomTGP(PlannedLearner, TGP):
    """Seldom-switching TGP plays an arm it chose max(1, ceil(C/leverage)) times; C is `switch`.

    Inside a run sigma falls by sqrt(1+C) at most, so that R_T <= 2 beta_T sqrt(1+C) sum sigma.
    """

    def start(self) -> None:
        self.plays = RootPosterior(self.problem.domain, self.settings.lam)
        self.b = self.threshold(1)

    def next_plan(self) -> np.ndarray:
        plan = np.zeros((self.problem.n, 1), dtype=np.int64)
        if self.rounds_left():
            arm = first_max(self.mu + self.beta * self.sigma)
            plan[arm] = self.run_length(arm)
        return plan

    def run_length(self, arm: int) -> int:
        """Return max(1, ceil(C/leverage)), cut to the horizon.

        The leverage is that of the features; what they miss does not count.
        """
        C = self.settings.switch
        leverage = self.plays.leverage(arm)
        if leverage * self.rounds_left() <= C:
            return self.rounds_left()
        length = C / leverage
        return max(1, math.ceil(length - TIE * max(1.0, length)))  # 3.0000000001 is 3

    @property
    def whole(self) -> bool:
        """Tell whether no report can be truncated."""
        return self.settings.kind == "one bit" or self.b == math.inf

    def record(self, parts: list) -> None:
        if not self.whole:  # then a part is one report
            self.b = self.threshold(self.t + 1)
            cut = [Fraction(0) if abs(y) > self.b else y for *_, y in parts]
            parts = [(arm, j, count, y) for (arm, j, count, _), y in zip(parts, cut)]
        super().record(parts)

    def checked_part(self, arm: int, j: int, count: int, total: float) -> tuple:
        if count > 1 and not self.whole:
            raise ValueError(
                "sums: must be those of one-bit reports; TGP truncates single reports, "
                "so tell them one by one"
            )
        return super().checked_part(arm, j, count, total)

    def learn(self) -> None:
        arm = int(self.planned.argmax())
        self.plays.add(arm, int(self.planned[arm, 0]), self.reported_sums()[arm, 0])
        self.gain = self.plays.gain
        self.b = self.threshold(self.t)
        self.mu = self.plays.mean
        self.sigma = self.plays.sigma
        width = self.settings.beta_scale * self.width(self.t)
        self.beta = self.B + width + self.missed(self.t)
        self.narrow(self.beta * self.sigma)


class SeldomGPUCB(SeldomTGP, GPUCB):
    """Seldom-switching GP-UCB plays an arm until det V has grown (1 + C)-fold; C is `switch`.

    On one-bit reports and bounded noise its width holds for every fixed lam, at all rounds at once,
    with and without a horizon.
    """

    presets: tuple[str, ...] = ("order", "proved")


# ---- Elimination (ours; statements and proofs on the book's page "Elimination") ------------------


def batch_sizes(T: int) -> list[int]:
    """Return the sizes of batches, N_1 = ceil(sqrt(T)), N_{i+1} = ceil(sqrt(T N_i)), ...

    The last is cut so that they sum to T.
    """
    N = 1
    sizes: list[int] = []
    while sum(sizes) < T:
        N = math.isqrt(T * N - 1) + 1
        sizes.append(min(N, T - sum(sizes)))
    return sizes


class Elimination(PlannedLearner):
    """This base class of both eliminations plays a D-optimal design of the active arms in a batch.

    A design is fixed once the earlier batches are, so widths need no uniformity over time. Heavy
    tails: the design is played in k copies (k = 1 elsewhere), and medians over copies are used.
    """

    presets: tuple[str, ...] = ("order", "proved")

    def __init__(self, problem: Problem, settings: Settings, rng: np.random.Generator):
        self.active = np.ones(problem.n, dtype=bool)
        super().__init__(problem, settings, rng)

    def batch_plan(self, N: int, k: int) -> np.ndarray:
        """Plan N // k plays in each copy; the rest goes to the arm with most of them."""
        each, rest = divmod(N, k)
        self.design = np.zeros(self.problem.n, dtype=np.int64)
        if each:
            arms = self.candidates()
            self.design[arms] = self.design_of(arms, each)
        planned = np.repeat(self.design[:, None], k, axis=1)
        planned[np.where(self.active, self.design, -1).argmax(), :rest] += 1
        return planned

    def candidates(self) -> np.ndarray:
        """Return the arms that the design may play."""
        return np.flatnonzero(self.active)

    def design_of(self, arms: np.ndarray, N: int) -> np.ndarray:
        """Return counts of these arms that sum to N."""
        raise NotImplementedError

    def best(self) -> tuple[int, float, float]:
        """Return the active arm with the largest lower bound, and the bounds of its mean."""
        arm = first_max(np.where(self.active, self.lower, -math.inf))
        return arm, float(self.lower[arm]), float(self.upper[arm])

    def proved_copies(self, log: float) -> int:
        """Return k = ceil(8 log) of theorem (iii), or the k that was told, if not too small."""
        least = math.ceil(8 * log)
        told = self.settings.k
        if told is not None and told < least:
            raise ValueError(
                f"k = {told}: must be at least {least} for constants='proved'; leave it out, or "
                "take constants='order'"
            )
        return told or least


class PE(Elimination):
    """PE eliminates in few batches, by steps 1 to 3 of the book's page "Elimination".

    A batch estimates f from its own reports alone, and keeps the arms with
    mu + beta sigma >= max over the active of mu - beta sigma.
    """

    def start(self) -> None:
        self.batches = batch_sizes(self.settings.T)
        self.batch = -1
        statements = 2 * self.problem.n * len(self.batches)
        self.log = math.log(statements / self.settings.delta)  # l of the theorems
        self.k = self.copies() if self.settings.kind == "heavy" else 1
        Z = self.problem.Z
        size = (Z * Z).sum(axis=1)
        kept = size > EIGEN_CUT * size.max(initial=0.0)  # the rest is near rounding
        self.Z = Z[kept]
        self.lost = self.problem.lost + (Z[~kept] ** 2).sum(axis=0)

    def copies(self) -> int:
        """Return k of theorem (iii), or its order."""
        log = self.log - math.log(2)
        if self.settings.constants == "proved":
            return self.proved_copies(log)
        return self.settings.k or math.ceil(log)

    def next_plan(self) -> np.ndarray:
        self.batch += 1
        N = self.batches[self.batch] if self.batch < len(self.batches) else 0
        return self.batch_plan(N, self.k)

    def design_of(self, arms: np.ndarray, N: int) -> np.ndarray:
        return optimal_design(self.Z[:, arms], N, self.settings.lam)  # PE, step 1

    def rounding_step(self, count: int) -> float:
        """Return a step far below the noise, as long as that is not far below B."""
        return math.ldexp(1.0, math.frexp((self.B + self.settings.size) * count)[1] - 36)

    def learn(self) -> None:
        F = factor(self.Z, self.design, self.settings.lam)  # F'F = Z'V^{-1}Z
        share = self.design[:, None] / np.maximum(self.planned, 1)  # without the plays left over
        sums = self.reported_sums() * share  # PE, step 2
        self.mu = np.median(F.T @ (F @ sums), axis=1)  # PE, step 3
        self.sigma = np.sqrt(self.lost + self.settings.lam * (F * F).sum(axis=0))  # PE, step 3
        self.beta = self.width(self.sigma[self.active].max())
        width = self.beta * self.sigma
        self.narrow(width)
        highest = (self.mu - width)[self.active].max()
        self.active = self.active & (self.mu + width >= highest)  # PE, step 3

    def width(self, widest: float) -> float:
        """Compute beta of theorems (i) to (iii), or of their orders.

        `widest` is the largest sigma of an active arm.
        """
        scale = self.settings.beta_scale / math.sqrt(self.settings.lam)
        missed = self.missed(self.design.sum(), self.lost.max())
        if self.settings.kind == "Laplace":
            return self.B + scale * self.laplace_noise(widest) + missed
        if self.settings.kind == "heavy":
            return math.hypot(self.B, scale * self.heavy_noise()) + missed
        log = 2 * self.log if self.settings.constants == "proved" else math.log(self.settings.T)
        return math.hypot(self.B, scale * self.settings.size * math.sqrt(log)) + missed

    def laplace_noise(self, widest: float) -> float:
        """Return the noise term of theorem (ii): sub-Gaussian up to a point, exponential beyond."""
        L = self.settings.size
        R = self.problem.spread
        if self.settings.constants == "order":
            return math.sqrt((R * R + 2 * L * L) * math.log(self.settings.T))
        middle = math.sqrt(2 * (R * R + 4 * L * L) * self.log)
        tail = math.sqrt(8) * L * self.log * widest / math.sqrt(self.settings.lam)
        return max(middle, tail)

    def heavy_noise(self) -> float:
        """Return the noise of theorem (iii), by Chebyshev; if alpha < 1, by von Bahr and Esseen."""
        p = self.settings.p
        factor = 1
        if self.settings.constants == "proved":
            factor = 4 if p == 2 else 8
        growth = self.settings.growth(max(int(self.design.sum()), 1))
        return self.settings.size * factor ** (1 / p) * growth


class DoublingPE(Elimination):
    """DoublingPE eliminates by differences, with a recentred window, in doubling batches.

    It keeps x if mu(x') - mu(x) <= W(x, x') for all active x' (Theorem P). One-bit reports and Sums
    are recentred (Theorem R): [lower, upper] of an arm is the intersection of [-F, F] with its
    bands so far, and its rewards lie within R of that and within Y of 0. No width depends on T.
    The corollary of Theorem R and Theorem G bound the regret. Under heavy tails medians over copies
    of estimates and of their differences take the place of mu(x) and mu(x') - mu(x). Sizes are in
    units of B; those below FINEST count as that: there rounding limits a band, not noise.
    """

    presets: tuple[str, ...] = ("proved",)
    anytime = True
    FINEST = 1e-4
    ROUNDING = 1e-12  # differences of means below ROUNDING * B are rounding

    def start(self) -> None:
        self.batch = 0  # i of the theorems, from 1
        self.N = 0  # plays of this batch

    def curator(self, arm: int) -> CTL:
        """Return the curator that a user of this arm applies in this batch.

        Its range is the arm's window.
        """
        arm = check.arm(arm, self.problem.n)
        given = self.settings.curator
        if not isinstance(given, (OneBit, Sums)):
            return self.own_curator
        return type(given)(given.eps, float(self.reach[arm]), 0.0, float(self.centre[arm]))

    def next_plan(self) -> np.ndarray:
        self.N = self.next_size()  # DoublingPE, step 1
        self.batch += self.N > 0
        self.recentre()  # DoublingPE, step 2
        k = self.proved_copies(self.log - math.log(2)) if self.settings.kind == "heavy" else 1
        return self.batch_plan(self.N, k)

    def next_size(self) -> int:
        """Return the size of the next batch: N_1 = first, then twice the last size.

        A batch that would leave fewer rounds than its own takes the rest.
        """
        N = min(2 * self.N, LONGEST) if self.batch else self.settings.first
        if self.settings.T is not None and self.rounds_left() < 2 * N:
            return self.rounds_left()
        return N

    @property
    def tanh(self) -> float:
        """Return tanh(eps/2), or 1 without privacy."""
        given = self.settings.curator
        return 1.0 if given is None else math.tanh(given.eps / 2)

    def recentre(self) -> None:
        """Set the window of each arm, centre +- reach, inside which its rewards are known to be.

        The window is [lower - R, upper + R], cut to [-Y, Y]. As no reward lies outside, curators
        clip nothing, and reports have the mean f.
        """
        R = self.problem.R
        Y = self.problem.bound
        least = self.FINEST * self.B * self.tanh
        half = np.maximum((self.upper - self.lower) / 2, 0.0)
        self.centre = (self.lower + self.upper) / 2
        self.reach = np.maximum(R + half, least)
        low = np.maximum(self.lower - R, -Y)
        high = np.minimum(self.upper + R, Y)
        cut = ((low > self.lower - R) | (high < self.upper + R)) & (low < high)
        self.centre[cut] = ((low + high) / 2)[cut]
        ends = np.maximum(high - self.centre, self.centre - low)  # no end is clipped by rounding
        self.reach[cut] = np.maximum(ends, least)[cut]

    @property
    def log(self) -> float:
        """Return l_i, for |D| bands and |D| - 1 differences in batch i, with two sides each.

        The batches together fail with chance delta at most, since 1/(i(i+1)) sums to 1.
        """
        pairs = self.batch * (self.batch + 1)
        return math.log(4 * self.problem.n * pairs / self.settings.delta)

    def candidates(self) -> np.ndarray:
        """Return the arms that the design may play: the active ones.

        For Sums it is a few of them, since each costs a draw.
        """
        arms = np.flatnonzero(self.active)
        if self.settings.kind != "sums":
            return arms

        def enough(p):
            return self.noise_sizes(np.full(self.problem.n, self.N / p))[arms].max() ** 2 / self.N

        return arms[spanning_arms(self.problem.Z[:, arms], enough)]

    def design_of(self, arms: np.ndarray, N: int) -> np.ndarray:
        """Return counts of these arms that sum to N, D-optimal for V of Theorem R."""
        size = self.noise_sizes(np.full(self.problem.n, N / len(arms)))[arms]
        widest = size.max()
        Z = self.problem.Z[:, arms] * (widest / size)
        return optimal_design(Z, N, self.ridge * widest**2)  # DoublingPE, step 3

    @property
    def laplace(self) -> np.ndarray:
        """Return L_x, (n,), the scale of Laplace noise in an arm's reports or sum; 0 for none."""
        given = self.settings.curator
        if isinstance(given, Sums):
            return 2 * self.reach / given.eps
        scale = self.settings.size if self.settings.kind == "Laplace" else 0.0
        return np.full(self.problem.n, scale)

    def noise_sizes(self, design: np.ndarray) -> np.ndarray:
        """Compute the noise s(x)/B of each arm's reports, (n,), if it is played design[x] times.

        Laplace: `ln E exp(u noise) <= (u^2/2)(R^2 + 4 L^2)` for |u| <= 1/(sqrt 2 L). Sums: n_x
        reports share one draw of noise.
        """
        kind = self.settings.kind
        if kind == "one bit":
            size = self.reach / self.tanh
        elif kind == "Laplace":
            size = np.hypot(self.problem.spread, 2 * self.laplace)
        elif kind == "sums":
            noise = 2 * self.laplace / np.sqrt(np.maximum(design, 1))
            size = np.hypot(self.problem.spread, noise)
        else:
            size = np.full(self.problem.n, self.settings.size)
        return np.maximum(size / self.B, self.FINEST)

    @property
    def ridge(self) -> float:
        """Return rho, which is lam in units of (s/B)^2 with the s of the first batch."""
        size = self.settings.size
        if self.settings.kind == "Laplace":
            size = math.hypot(self.problem.spread, 2 * size)
        return self.settings.lam * (self.B / max(size, self.FINEST * self.B)) ** 2

    def widths(self, a: np.ndarray, b: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Compute the width W of an arm or a difference, Theorems P and R.

        W = B a + max(factor B b, 2 sqrt 2 l tail).
        factor: sqrt(2 l). Heavy tails: 2 (Chebyshev); alpha < 1: 8^{1/p} N^{1/p-1/2}, p = 1 + alpha
        (von Bahr and Esseen).
        """
        factor = math.sqrt(2 * self.log)
        if self.settings.kind == "heavy":
            p = self.settings.p
            growth = self.settings.growth(max(int(self.design.sum()), 1))
            factor = 2.0 if p == 2 else 8 ** (1 / p) * growth
        noise = np.maximum(factor * self.B * b, math.sqrt(8) * self.log * tail)
        return self.B * a + self.settings.beta_scale * noise

    def learn(self) -> None:
        means = self.reported_sums() / np.maximum(self.planned, 1)
        domain = self.problem.domain
        sizes = self.noise_sizes(self.design)
        fit = Fit(domain.Z, domain.lost, self.design, sizes, self.ridge, self.laplace, means)
        estimates, *parts = fit.arms()
        width = self.widths(*parts)  # DoublingPE, step 4
        self.mu = np.median(estimates, axis=1)  # DoublingPE, step 4
        self.sigma = fit.sigma()
        self.beta = float((width / np.maximum(self.sigma, 1e-300)).max())  # width <= beta sigma
        self.narrow(width)  # DoublingPE, step 5
        self.eliminate(fit, self.mu - width)

    def eliminate(self, fit: Fit, lower: np.ndarray) -> None:
        """Keep x unless a rival is ahead by more than W(x, rival); what rounding decides is kept.

        Rivals are all active arms, or the first by lower bound where pairs would be too many: any
        test may be left out, and the first rival alone does what single bands would do.
        """
        arms = np.flatnonzero(self.active)
        order = np.argsort(-lower[arms], kind="stable")
        keep = np.ones(len(arms), dtype=bool)
        for rival in arms[order[: max(PAIRS // len(arms), 1)]].tolist():
            ahead, *parts = fit.differences(arms, rival)
            # DoublingPE, step 6
            keep &= np.median(ahead, axis=1) <= self.widths(*parts) + self.ROUNDING * self.B
        if not keep.any():  # medians may go round in circles
            keep[first_max(self.mu[arms])] = True
        self.active = np.zeros_like(self.active)
        self.active[arms[keep]] = True


# ---- make: an algorithm by name ------------------------------------------------------------------

ALGORITHMS: dict[str, type[Learner]] = {
    "TGP": TGP,
    "ATA": ATA,
    "MoMA": MoMA,
    "PE": PE,
    "GP-UCB": GPUCB,
    "TS": TS,
    "MoM": MoM,
    "MoMA-avg": MoMAAverage,
    "uniform": Uniform,
}
SELDOM: dict[type[Learner], type[Learner]] = {TGP: SeldomTGP, GPUCB: SeldomGPUCB}


class _Default(float):
    """A learner may replace this default by its own."""


def make(
    name: str | type[Learner],
    problem: Problem,
    T: int | None,
    *,
    eps: float | None = None,
    lam: float | None = _Default(1.0),
    delta: float = 0.1,
    acc: float = 0.1,
    constants: str = "order",
    beta_scale: float = 1.0,
    q: float | None = None,
    k: int | None = None,
    weibull: tuple[float, float, float] | None = None,
    curator: CTL | type[CTL] | None = None,
    switch: float = 0.0,
    schedule: str = "sqrt",
    first: int = 1024,
    rng: Any = None,
) -> Learner:
    """Make a learner by name: one of the paper's three, ours, a baseline, or a class of your own.

    name: "TGP", "ATA" or "MoMA"; ours is "PE"; baselines are "GP-UCB", "TS", "MoM", "MoMA-avg" and
        "uniform". For a class of your own see `Learner`.
    T: horizon; None plays for ever (GP-UCB, TS, and PE with schedule="double").
    eps: None for a non-private learner. With eps (or a `curator`) alpha = 1, and v and c follow
        from F, R and the noise.
    constants: "order" has the theorems' orders with constant 1, and nothing is proved of it.
        Deviation: it is the default, as the experiments are "order-wise similar" (Erratum C14).
        "printed" has the constants that the paper prints (TGP, ATA, MoMA); "proved" has a width
        with a proof in the book, for B >= the RKHS norm of f (TGP, MoMA, GP-UCB, PE).
    lam: ridge; None, PE's default, is the matched one, (s/B)^2 with s the size of the reports'
        noise.
    beta_scale: multiplies the part of beta after B.
    q: Nyström oversampling; inf keeps every played arm.
    k: MoMA's plays per epoch; PE's copies under heavy tails.
    weibull: (theta, a, b) of `P(|noise| >= x) <= a exp(-b x^{1/theta})` (TGP, non-private).
    curator: a curator, or a class such as OneBit that is then given eps, F and R (Y and 0 where the
        problem has a Y); None is CTL where there is an eps. Of a subclass of CTL that reports in
        its own way nothing is proved.
    switch: C; an arm, once chosen, is played max(1, ceil(C lam/sigma^2)) times (GP-UCB, TGP).
    schedule: of PE, "sqrt" (few batches) or "double" (differences, recentred windows; N_1 = first).
    rng: generator or seed, for dictionaries, uniform play and the order inside a plan.
    """
    named_class = _algorithm(name)
    name = algorithm_name(name)
    check.instance("problem", problem, Problem)
    users_curator = _curator(curator, eps, problem)  # None: not private
    if weibull is not None:
        weibull = _weibull(weibull, named_class, users_curator)
    switch = math.inf if switch == math.inf else check.nonnegative("switch", switch)
    algorithm = _variant(name, named_class, weibull, switch, schedule)
    kind, size = report_kind(problem, users_curator)
    _check_constants(name, algorithm, constants)
    _check_reports(name, algorithm, constants, kind, users_curator, problem)
    settings = Settings(
        T=_horizon(T, name, algorithm, constants, kind),
        lam=_ridge(lam, algorithm, problem, size),
        delta=check.fraction("delta", delta),
        acc=check.fraction("acc", acc),
        constants=constants,
        beta_scale=check.nonnegative("beta_scale", beta_scale),
        q=None if q is None else _oversampling(q),
        k=None if k is None else check.integer("k", k),
        weibull=weibull,
        curator=users_curator,
        kind=kind,
        size=size,
        switch=switch,
        first=check.integer("first", first),
        **_moments(problem, users_curator),
    )
    try:
        return algorithm(problem, settings, check.seeded(rng))
    except OverflowError:
        if weibull is None:
            raise
        raise ValueError(
            f"weibull = {weibull!r}, T = {T!r}: the schedule is out of floating-point range"
        ) from None


def _algorithm(name):
    """Return the class of that name, or the class given."""
    if isinstance(name, type) and issubclass(name, Learner):
        return name
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise ValueError(
            f"name = {name!r:.80}: must be one of {', '.join(ALGORITHMS)}, or a subclass of Learner"
        )
    return ALGORITHMS[name]


def algorithm_name(name: str | type[Learner]) -> str:
    """Return an algorithm's name in tables and figures."""
    return name.__name__ if isinstance(name, type) else name


def _variant(name, algorithm, weibull, switch, schedule):
    """Return the class that plays this algorithm with these options."""
    check.choice("schedule", schedule, "sqrt", "double")
    if schedule == "double" and algorithm is not PE:
        raise ValueError(f"schedule = 'double': must be left out for {name}; it is PE's")
    if switch and algorithm not in SELDOM:
        raise ValueError(f"switch = {switch!r}: must be 0 for {name}; it is GP-UCB's and TGP's")
    if weibull is not None:
        if switch:
            raise ValueError(f"switch = {switch!r}: must be 0 with weibull")
        return WeibullTGP
    if schedule == "double":
        return DoublingPE
    return SELDOM[algorithm] if switch else algorithm


def _check_constants(name, algorithm, constants):
    """Refuse constants that the algorithm does not have."""
    renamed = {"theorem": "printed' or 'proved", "repaired": "proved"}
    if isinstance(constants, str) and constants in renamed:
        raise ValueError(
            f"constants = {constants!r}: is now called '{renamed[constants]}'; 'printed' are the "
            "paper's constants, 'proved' those with a proof"
        )
    check.choice("constants", constants, "order", "printed", "proved")
    if constants not in algorithm.presets:
        raise ValueError(
            f"constants = {constants!r}: must be {' or '.join(map(repr, algorithm.presets))} for "
            f"{name}{' by differences' if algorithm is DoublingPE else ''}; "
            "nothing else is known of its width"
        )


def _check_reports(name, algorithm, constants, kind, curator, problem):
    """Refuse constants that say nothing of these reports, and a curator of another problem."""
    if kind == "sums" and not issubclass(algorithm, DoublingPE):
        raise ValueError(
            f"curator = Sums: must be another one for {name}; "
            "sums are for PE with schedule='double'"
        )
    if constants == "proved" and kind == "heavy" and issubclass(algorithm, GPUCB):
        raise ValueError(
            f"constants = 'proved': must be 'order' for {name} on heavy-tailed rewards; "
            "PE and MoMA have proofs for them"
        )
    if constants != "order" and _reports_differently(curator):
        raise ValueError(
            f"constants = {constants!r}: must be 'order' with {type(curator).__name__}, a curator "
            "of your own; nothing is proved of its reports"
        )
    if constants == "proved" and isinstance(curator, SecureCTL):
        raise ValueError(
            "constants = 'proved': must be 'order' with SecureCTL, which rounds rewards to a grid; "
            "OneBit has proofs, and no low bits that could leak"
        )
    _check_range(constants, curator, problem)


def _check_range(constants, curator, problem):
    """Refuse a curator that clips to another range than the problem's; warn if no range holds."""
    if curator is None:
        return
    away = curator.bound / problem.bound - 1
    centred = isinstance(curator, CentredCTL)
    proved = constants == "proved" and problem.f is not None
    if (centred and (curator.centre or abs(away) > 1e-9)) or (
        constants == "proved" and away < -1e-9
    ):
        centre = f" around {curator.centre:.6g}" if centred else ""
        raise ValueError(
            f"curator: clips to {curator.bound:.6g}{centre}: must be made with "
            f"F + R = {problem.bound:.6g} of the problem, around 0; give the class alone"
        )
    if proved and problem.noise == "t3":
        warnings.warn(
            "noise = 't3' has no bound R: curators clip it, reports are biased, and nothing is "
            "proved of them",
            stacklevel=4,
        )


def _reports_differently(curator):
    """Tell whether a curator from outside has other reports than the class it stands on."""
    names = ("clip", "draw", "report", "privatise")
    methods = [getattr(type(curator), name, None) for name in names]
    return any(method and method.__module__ != __name__ for method in methods)


def _horizon(T, name, algorithm, constants, kind):
    """Return T, or None where the algorithm needs none."""
    laplace = constants == "proved" and kind == "Laplace" and not issubclass(algorithm, DoublingPE)
    if T is None and (not algorithm.anytime or laplace):
        raise ValueError(
            f"T = None: must be an integer for {name} here; GP-UCB on one-bit reports and PE with "
            "schedule='double' need no horizon"
        )
    return None if T is None else check.integer("T", T)


def _curator(curator, eps, problem):
    """Return the curator that these arguments of `make` name; None where nothing is private."""
    window = (problem.F, problem.R) if problem.Y is None else (problem.bound, 0.0)
    if isinstance(curator, type) and issubclass(curator, CTL):
        curator = Identity() if curator is Identity else curator(eps, *window)
    if not (curator is None or isinstance(curator, CTL)):
        raise ValueError(
            f"curator = {curator!r:.80}: must be a curator or a class of them, such as core.OneBit "
            "or a subclass of core.CTL"
        )
    if curator is None:
        return None if eps is None else CTL(eps, *window)
    if eps is not None and curator.eps != eps:
        raise ValueError(f"eps = {eps!r}: must be the curator's eps, {curator.eps!r}, or left out")
    return None if curator.eps is None else curator


def _weibull(weibull, algorithm, curator):
    """Return (theta, a, b) of sub-Weibull noise, checked."""
    triple = isinstance(weibull, (tuple, list)) and len(weibull) == 3
    if algorithm is not TGP or curator is not None or not triple:
        raise ValueError(
            f"weibull = {weibull!r}: must be a tuple (theta, a, b), for the non-private TGP only"
        )
    parts = zip(("weibull theta", "weibull a", "weibull b"), weibull)
    return tuple(check.positive(name, value) for name, value in parts)


def _oversampling(q):
    """Return q as a positive float, or inf."""
    if isinstance(q, float) and q == math.inf:
        return math.inf
    return check.number("q", q, "a number > 0, or inf", low=0.0)


def _ridge(lam, algorithm, problem, size):
    """Return the ridge as given; None, and elimination's own, is the matched one."""
    own = isinstance(lam, _Default) and issubclass(algorithm, Elimination)
    if lam is None or own:
        ratio = size / problem.B
        lam = max(ratio * ratio, 1e-8)
    return check.ridge(lam)


def _moments(problem, curator):
    """Return alpha, v and c of what the learner sees."""
    if curator is None:
        return dict(alpha=problem.alpha, v=problem.v, c=problem.c)
    c = problem.spread**2 + curator.variance  # Alg. 2, l. 2: R^2 + 2L^2
    return dict(alpha=1.0, v=problem.F**2 + c, c=c)  # Alg. 2, l. 2: K


# ---- Simulation: many trials, common random numbers ----------------------------------------------


class Simulation(NamedTuple):
    """A simulation has the cumulative regret (algorithm, trial, T) and records of each run.

    records: names, uniform (trials,) = expected regret per round of uniform play, pulls (algorithm,
    trial, n), clipped (algorithm, trial); with trace=True also arms and reports, both (algorithm,
    trial, T); with bands=True also beta and needed, both (algorithm, trial, T): the least w with
    |f - mu| <= w sigma on all arms after that round, so that the band mu +- beta sigma holds f
    wherever needed <= beta.
    """

    regret: np.ndarray
    records: dict

    def __repr__(self):
        trials, T = self.regret.shape[1:]
        uniform = np.maximum(self.records["uniform"] * T, 1e-300)
        shares = (self.regret[:, :, -1] / uniform).mean(axis=1)
        told = [f"{name} {x:.3g}" for name, x in zip(self.records["names"], shares)]
        return f"Simulation(T={T}, trials={trials}; regret/uniform: {', '.join(told)})"

    def frame(self, points: int = 200) -> pandas.DataFrame:
        """Make a tidy table with a row for each algorithm, trial and t (at most `points` values).

        Its columns are algorithm, trial, t, regret, and relative: regret over that of uniform play.
        """
        import pandas

        trials, T = self.regret.shape[1:]
        points = check.integer("points", points)
        t = np.unique(np.linspace(T, 1, points).astype(int))  # the last is T
        names = ["algorithm", "trial", "t"]
        levels = [self.records["names"], range(trials), t]
        axes = pandas.MultiIndex.from_product(levels, names=names)
        regret = self.regret[:, :, t - 1]
        uniform = np.maximum(self.records["uniform"], 1e-300)[:, None] * t
        columns = {"regret": regret.ravel(), "relative": (regret / uniform).ravel()}
        return pandas.DataFrame(columns, axes).reset_index()


class Streams(NamedTuple):
    """A trial has four sources of chance: problem seed, users, privacy noise, sketch seed."""

    problem: int
    env: np.random.Generator
    privacy: np.random.Generator
    sketch: np.random.SeedSequence


def streams(seed: int, trial: int) -> Streams:
    """Derive a trial's sources of chance, separate children of one SeedSequence.

    All algorithms of a trial meet the same users and the same noise, and adding an algorithm shifts
    nothing.
    """
    root = np.random.SeedSequence(seed, spawn_key=(trial,))
    problem, env, privacy, sketch = root.spawn(4)
    seed = int(problem.generate_state(1)[0])
    return Streams(seed, np.random.default_rng(env), np.random.default_rng(privacy), sketch)


@functools.cache
def _blas_threads():
    """Make a controller of the threads of NumPy's BLAS, once; None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def one_thread() -> contextlib.AbstractContextManager:
    """Return a context with one BLAS thread, so that sums come out the same on every machine."""
    return _blas_threads().limit(limits=1) if _blas_threads() else contextlib.nullcontext()


def trial_problems(
    problem: Problem | Callable[[int], Problem], trials: int, seed: int
) -> list[Problem]:
    """Return the Problem of each trial; all of one size, with f known."""
    if isinstance(problem, Problem):
        problems = [problem] * trials
    elif callable(problem):
        problems = [problem(streams(seed, i).problem) for i in range(trials)]
    else:
        raise ValueError(
            f"problem = {problem!r}: must be a Problem, or a function of a seed that returns one"
        )
    sizes = [p.n if isinstance(p, Problem) else None for p in problems]
    if None in sizes or len(set(sizes)) > 1:
        raise ValueError(
            f"problem: has {sizes} arms in the trials: "
            "must return a Problem of one size for all seeds"
        )
    for p in problems:
        p.known_f("compute regret")
    return problems


class _Job(NamedTuple):
    """A job is one algorithm in one trial."""

    problem: Problem
    name: str | type[Learner]
    T: int
    seed: int
    trial: int
    trace: bool
    bands: bool
    options: dict


class _Run(NamedTuple):
    """A run has its arms (T,), and reports, beta and needed, each (T,), where asked for."""

    clipped: int
    arms: np.ndarray
    reports: np.ndarray | None
    beta: np.ndarray | None
    needed: np.ndarray | None


def _run(job):
    """Play one algorithm in one trial."""
    problem, T = job.problem, job.T
    _, env, privacy, sketch = streams(job.seed, job.trial)
    rng = np.random.default_rng(sketch)
    learner = make(job.name, problem, T, rng=rng, **job.options)  # Alg. 1-3, l. 1
    if isinstance(learner.settings.curator, Sums):
        raise ValueError(
            "curator = Sums: must be played by simulate_batches; it reports sums alone"
        )
    clipped = 0
    arms = np.empty(T, dtype=np.int16 if problem.n < 2**15 else np.int32)
    reports = np.empty(T) if job.trace else None
    bands = _Bands(problem, T) if job.bands else None
    with one_thread():
        for t, (arm, y, lost) in enumerate(play_rounds(learner, problem, T, env, privacy)):
            arms[t] = arm
            clipped += lost
            if reports is not None:
                reports[t] = y
            if bands is not None:
                bands.record(t, learner)
    beta = bands.beta if bands else None
    needed = bands.needed if bands else None
    return _Run(clipped, arms, reports, beta, needed)


def play_rounds(
    learner: Learner,
    problem: Problem,
    T: int,
    env: np.random.Generator,
    privacy: np.random.Generator,
) -> Iterator[tuple[int, float, int]]:
    """Play T rounds; yield arm, report, and how many rewards were clipped (0 or 1) after each.

    Users and noise are drawn before the first round, so that all learners of a trial meet the same.
    """
    users = _draws(problem, env, T)
    noise = learner.curator(0).draw(privacy, T).tolist()
    for t in range(T):  # Alg. 1, l. 3; Alg. 2, l. 3
        arm = learner.ask()
        curator = learner.curator(arm)
        clipped_before = curator.clipped
        # Alg. 1, l. 5; Alg. 2, l. 7
        y = curator.report(problem.reward(arm, users[t]), noise[t])
        learner.tell(y)
        yield arm, y, curator.clipped - clipped_before


def _draws(problem, env, T):
    """List what nature draws for T users, one entry each."""
    draws = problem.draw(env, T)
    if np.shape(draws)[:1] != (T,):
        raise ValueError(
            f"{type(problem).__name__}.draw: must give as many draws as `size` says, {T}; "
            f"its answer has shape {np.shape(draws)}"
        )
    return draws.tolist() if isinstance(draws, np.ndarray) else list(draws)


class _Bands:
    """A recorder notes how wide a learner's band is after each round, and how wide it had to be."""

    def __init__(self, problem, T):
        self.f = problem.f
        self.mu = None
        self.beta = np.empty(T)
        self.needed = np.empty(T)

    def record(self, t, learner):
        self.beta[t] = learner.beta
        if learner.mu is self.mu:  # inside an epoch of MoMA
            self.needed[t] = self.needed[t - 1]
            return
        self.mu = learner.mu
        with np.errstate(divide="ignore", invalid="ignore"):  # any width will do where all is 0
            ratio = np.abs(self.f - learner.mu) / learner.sigma
        self.needed[t] = np.fmax.reduce(ratio, initial=0.0)


def simulate(
    problem: Problem | Callable[[int], Problem],
    names: str | type[Learner] | Iterable[str | type[Learner]],
    T: int,
    *,
    trials: int,
    seed: int,
    workers: int | Executor | Any = 1,
    trace: bool = False,
    bands: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    **options: Any,
) -> Simulation:
    """Play every algorithm of `names` in every trial -> Simulation (regret, records).

    problem: a Problem, or a callable seed -> Problem for a new f in each trial; rewards by a
        subclass of Problem are its own.
    names: as in `make`, and classes of your own.
    workers: a number of processes, any concurrent.futures.Executor, or a Dask client; the numbers
        do not depend on it.
    trace, bands: more records, see `Simulation`.
    progress(done, total) is called after each run.
    options: as in `make`.
    """
    listed = _names(names)
    if not (progress is None or callable(progress)):
        raise ValueError(
            f"progress = {progress!r:.80}: must be a function of (done, total), or None"
        )
    allowed = f">= 1 and at most {LONGEST_RUN}; simulate_batches goes to 10**15"
    T = check.integer("T", T, 1, LONGEST_RUN, allowed)
    trials = check.integer("trials", trials)
    seed = check.integer("seed", seed, 0, math.inf, ">= 0")
    if "rng" in options:
        raise ValueError("rng: must be left out; every generator is derived from seed")
    problems = trial_problems(problem, trials, seed)
    for name in listed:
        make(name, problems[0], T, rng=0, **options)  # bad settings fail before any work
    jobs = [
        _Job(problems[i], name, T, seed, i, trace, bands, options)
        for name in listed
        for i in range(trials)
    ]
    runs = []
    for run in _finished(jobs, workers):
        runs.append(run)
        if progress:
            progress(len(runs), len(jobs))
    return _collect(problems, listed, runs)


def _names(names):
    """Return a list of at least one name or class."""
    if isinstance(names, (str, type)):
        return [names]
    names = list(names) if np.iterable(names) else []
    if not names:
        raise ValueError(f"names: must name at least one of {', '.join(ALGORITHMS)}")
    return names


def _finished(jobs, workers) -> Iterator[_Run]:
    """Yield the runs of all jobs in their order, as they are done."""
    if hasattr(workers, "get_executor") and not isinstance(workers, type):  # a Dask client
        workers = workers.get_executor()
    if isinstance(workers, Executor):  # stays its owner's
        yield from workers.map(_run, jobs)
        return
    allowed = ">= 1, an Executor or a Dask client"
    processes = min(check.integer("workers", workers, allowed=allowed), len(jobs))
    if processes == 1:
        yield from map(_run, jobs)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    _check_portable(jobs[0], workers)
    try:
        with ProcessPoolExecutor(processes) as pool:
            yield from pool.map(_run, jobs)
    except BrokenProcessPool:
        raise BrokenProcessPool(
            f"workers = {workers}: a process ended before its work was done: it was killed "
            "(memory?), or it does not find a class or function of yours; put these into a module "
            "that is imported, start a script's work under `if __name__ == '__main__'`, or take "
            "workers=1"
        ) from None


def _check_portable(job, workers):
    """Refuse a job that cannot be sent to another process."""
    import pickle

    parts = {"problem": job.problem, "name": job.name, **job.options}
    for name, part in parts.items():
        try:
            pickle.dumps(part)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ValueError(
                f"workers = {workers}: {name} cannot be sent to another process ({error}); define "
                "its functions and classes at the top of a module (no lambda), or take workers=1"
            ) from None


def _collect(problems, names, runs):
    """Join the runs, ordered by algorithm and then by trial, as one Simulation."""
    shape = len(names), len(problems)

    def stacked(part):
        column = [getattr(run, part) for run in runs]
        return np.array(column).reshape(*shape, *np.shape(column[0]))

    gaps = np.stack([p.f.max() - p.f for p in problems])  # (trials, n)
    arms = stacked("arms")
    by_trial = zip(gaps, np.moveaxis(arms, 1, 0))
    regret = np.stack([np.cumsum(gap[a], axis=-1) for gap, a in by_trial], axis=1)
    records = {
        "names": [algorithm_name(name) for name in names],
        "uniform": gaps.mean(axis=1),
        "pulls": np.apply_along_axis(np.bincount, 2, arms, minlength=problems[0].n),
        "clipped": stacked("clipped"),
    }
    if runs[0].reports is not None:
        records |= {"arms": arms, "reports": stacked("reports")}
    if runs[0].beta is not None:
        records |= {"beta": stacked("beta"), "needed": stacked("needed")}
    return Simulation(regret, records)


class Campaign(NamedTuple):
    """A campaign records a learner's runs on sums of reports.

    PE is recorded after each batch, GP-UCB at about 200 numbers of users on a log scale.
    t (batches,) is the number of users so far, regret (trials, batches) is cumulative, active
    (trials, batches) counts the active arms (all of them for GP-UCB), uniform (trials,) is the
    expected regret per round of uniform play.
    """

    t: np.ndarray
    regret: np.ndarray
    active: np.ndarray
    uniform: np.ndarray

    def __repr__(self):
        T = int(self.t[-1])
        share = (self.regret[:, -1] / np.maximum(self.uniform * T, 1e-300)).mean()
        return f"Campaign(T={T}, trials={len(self.regret)}; regret/uniform: {share:.3g})"


# ---- Doors: what stands on the core, under the core's name ---------------------------------------


def simulate_batches(
    problem: Problem | Callable[[int], Problem],
    T: int,
    *,
    trials: int,
    seed: int,
    name: str | type[Learner] = "PE",
    eps: float | None = None,
    **options: Any,
) -> Campaign:
    """Play a learner on sums of reports drawn in their exact law -> Campaign.

    The cost does not grow with T.
    name: "PE", or "GP-UCB" with a `switch`. T: up to 1e15. problem and options: as in `simulate`.
    """
    from ldpbo import campaigns

    return campaigns.simulate_batches(
        problem, T, trials=trials, seed=seed, name=name, eps=eps, **options
    )


def play_batches(
    learner: PlannedLearner, env: np.random.Generator, privacy: np.random.Generator
) -> Iterator[np.ndarray]:
    """Drive a learner to its horizon on sums of reports; yield each batch's counts (n, k)."""
    from ldpbo import campaigns

    return campaigns.play_batches(learner, env, privacy)


def synthetic_problem(
    kernel: str = "matern",
    noise: str = "uniform",
    seed: int | None = None,
    *,
    lengthscale: float = 0.2,
    nu: float = 2.5,
    n: int = 100,
    p: int = 100,
) -> Problem:
    """Draw the paper's synthetic data: f = sum_i a_i k(., x_i), a_i ~ U[-1, 1], on the arms i/n."""
    from ldpbo import datasets

    return datasets.synthetic_problem(kernel, noise, seed, lengthscale=lengthscale, nu=nu, n=n, p=p)


def function_problem(
    function: Callable[[np.ndarray], float],
    bounds: ArrayLike,
    n: int | None = None,
    *,
    kernel: str | Callable = "se",
    lengthscale: ArrayLike = 0.2,
    nu: float = 2.5,
    noise: str = "uniform",
    R: float = 1.0,
    seed: int | None = None,
    points: ArrayLike | None = None,
    **options: Any,
) -> Problem:
    """Make a problem from a function of a point (d,) of the box `bounds`.

    The arms are n scrambled Sobol points or those given.
    kernel: "se", "matern", or a function of two sets of points (n, d) and (n', d).
    """
    from ldpbo import datasets

    told = dict(kernel=kernel, lengthscale=lengthscale, nu=nu, noise=noise, R=R, seed=seed)
    return datasets.function_problem(function, bounds, n, points=points, **told, **options)


def table_problem(
    samples: ArrayLike,
    train: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    *,
    B: float | None = None,
    R: float | None = None,
    name: str = "table",
    source: str = "user's table",
) -> Problem:
    """Make a problem from a table: rows = observations, columns = arms; a user is a random row.

    low, high: the range of the rewards, known beforehand, to which curators clip; see
    `ldpbo.datasets.table_problem`. Without them the bounds are the paper's, from the table itself.
    """
    from ldpbo import datasets

    told: dict[str, Any] = dict(B=B, R=R, name=name, source=source)
    return datasets.table_problem(samples, train, low, high, **told)


def light_problem() -> Problem:
    """Return the paper's 41 light sensors, or a stand-in of that shape; `provenance` says which."""
    from ldpbo import datasets

    return datasets.light_problem()


def stock_problem() -> Problem:
    """Return the paper's 29 stocks, or the stand-in's 20; `provenance` says which."""
    from ldpbo import datasets

    return datasets.stock_problem()


def read_table(
    path: str | os.PathLike,
    *,
    delimiter: str = "",
    decimal: str = "",
    header: bool | None = None,
    missing: str = "error",
    long: tuple[str, str, str] | bool | None = None,
) -> Table:
    """Read a CSV file, a row for each observation, as a Table (values, names, left_out).

    missing: what is done about empty cells, NA and nan: "error", "drop" (their rows) or "mean" (of
    the column). long: the columns (user, item, value) of a file with one value a row.
    """
    from ldpbo import tables

    told: dict[str, Any] = dict(delimiter=delimiter, decimal=decimal, header=header)
    return tables.read_table(path, missing=missing, long=long, **told)


def load(
    path: str | os.PathLike,
    problem: Problem,
    *,
    algorithm: type[Learner] | None = None,
    curator: type[CTL] | None = None,
) -> Learner:
    """Load the learner that `learner.save` wrote, on the same problem: it asks for the same arms.

    algorithm, curator: classes of your own that it was made with, unless their module is imported.
    """
    from ldpbo import saving

    return saving.load(path, problem, algorithm=algorithm, curator=curator)
