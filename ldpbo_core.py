"""Local differential privacy for Bayesian optimisation: the algorithms of Zhou & Tan, on a finite domain.

A learner looks for the best of n arms. Each round it plays an arm, a new user draws a reward, and the user's
curator hides that reward behind noise before the learner sees it. Ten lines from nothing to a private run:

>>> import numpy as np
>>> import ldpbo_core as core
>>> problem = core.synthetic_problem(kernel="matern", noise="uniform", seed=7)     # 100 arms, a random f
>>> T, rng = 300, np.random.default_rng(0)
>>> curator = core.CTL(eps=1.0, B=problem.B, R=problem.R)                          # Curator 1 of the paper
>>> learner = core.make("TGP", problem, T, eps=1.0)                                # Algorithm 2
>>> for t in range(T):
...     arm = learner.ask()
...     learner.tell(curator.privatise(problem.sample(arm, rng), rng))
>>> learner.t, learner.mu.shape, bool(learner.beta > problem.B)
(300, (100,), True)

Notation (paper -> here). The paper uses one epsilon for privacy and another for the Nyström accuracy.

    epsilon     eps    privacy; None: non-private       alpha   alpha  order of the moments, minus 1
    varepsilon  acc    Nyström accuracy                 B, R    B, R   bounds of |f| and |noise|
    delta       delta  confidence                       v, c    v, c   bounds of E|y|^{1+alpha}, E|noise|^{1+alpha}
    L           scale  Laplace scale 2(B+R)/eps         K, f    K, f   kernel matrix, mean reward of each arm
    lambda      lam    ridge                            T, k    T, k   horizon, MoMA's plays per epoch

"Alg. 2, l. 5" is line 5 of the paper's Algorithm 2; "Deviation:" marks what we do differently and why; "Erratum A9"
refers to the book's errata page. Only numpy is needed to import; SciPy serves general-nu Matérn and .mat files.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import importlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldpbo import checks as check
from ldpbo.posterior import MOST, SMALL, InverseRoot, pivoted_cholesky

TIE = 1e-9  # scores closer than this (relative above 1) are a tie; the lowest index wins
EIGEN_CUT = 1e-12  # eigenvalues of K_D below this fraction of the largest count as zero
REFRESH = 500  # rank-one updates between two fresh solves
GAINS: dict = {}  # information gains already computed in this process
UNIT = (
    2**1074
)  # every float is a whole multiple of 1/UNIT, so sums of floats kept in that unit are exact
LEFT_OUT: Any = None
ArrayLike = Any  # in signatures: whatever NumPy makes an array of; checked at run time

ELSEWHERE = {"SecureCTL": "secure", "read_table": "datasets", "load": "saving"}
ELSEWHERE |= {
    f"{kind}_problem": "datasets" for kind in ("synthetic", "function", "table", "light", "stock")
}
ELSEWHERE |= dict.fromkeys(
    "simulate Simulation streams simulate_batches play_batches Campaign".split(), "simulation"
)


def __getattr__(name):
    """Names of this module that are written in another one, which is loaded when they are asked for."""
    if name in ELSEWHERE:
        return getattr(importlib.import_module(f"ldpbo.{ELSEWHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*globals(), *ELSEWHERE]


# ---- Kernels (Section 2) -------------------------------------------------------------------------------------


def _distances(X, Y, lengthscale):
    """Euclidean distances s/l, (n, n'), cut off at 1e100; lengthscale: a number, or one for each dimension."""
    X, Y = check.points(X, Y)
    scales = [check.positive("lengthscale", scale) for scale in np.ravel(lengthscale)]
    if len(scales) not in (1, X.shape[1]):
        raise ValueError(
            f"lengthscale has {len(scales)} entries: must be one number or {X.shape[1]}, one a dimension"
        )
    s = np.zeros((len(X), len(Y)))
    with np.errstate(over="ignore"):
        for x, y, scale in zip(
            X.T, Y.T, np.broadcast_to(scales, X.shape[1])
        ):  # no (n, n', d) array
            s += (np.subtract.outer(x, y) / scale) ** 2
    return np.minimum(np.sqrt(s, out=s), 1e100)


def se_kernel(X: ArrayLike, Y: ArrayLike, *, lengthscale: ArrayLike) -> np.ndarray:
    """Squared exponential k(x, x') = exp(-s^2 / (2 l^2)), shape (n, n')."""
    return np.exp(-0.5 * _distances(X, Y, lengthscale) ** 2)


def matern_kernel(X: ArrayLike, Y: ArrayLike, *, lengthscale: ArrayLike, nu: float) -> np.ndarray:
    """Matérn k = 2^{1-nu}/Gamma(nu) z^nu K_nu(z), z = s sqrt(2 nu)/l, shape (n, n'); 1 at s = 0.

    The paper's B_nu is K_nu, the modified Bessel function of the second kind (Erratum B15). nu = 1/2, 3/2 and 5/2
    have closed forms; any other nu < 10 takes SciPy's Bessel function, in logarithms so that no factor overflows alone;
    from 10 on a sum that is right to 1e-14.
    """
    nu = check.positive("nu", nu)
    s = _distances(X, Y, lengthscale)
    if (
        nu >= 10
    ):  # a mixture of SE kernels, E exp(-s^2/(2u)) with u ~ Gamma(nu, 1/nu): trapezoidal rule in x = ln u
        x = np.arange(-32, 33) * (0.45 / math.sqrt(nu))
        weight = np.exp(nu * (x - np.expm1(x)))
        return sum(w * np.exp(-0.5 * s * s / u) for w, u in zip(weight / weight.sum(), np.exp(x)))
    z = s * math.sqrt(2 * nu)
    closed = {0.5: lambda z: 1.0, 1.5: lambda z: 1 + z, 2.5: lambda z: 1 + z + z * z / 3}
    if nu in closed:
        return closed[nu](z) * np.exp(-z)
    from scipy.special import gammaln, kve

    z = np.clip(z, 1e-300, 1e5)  # beyond, k is 0 to the last bit
    bessel = kve(nu, z)  # overflows only where k = 1
    with np.errstate(over="ignore", divide="ignore"):
        k = np.exp((1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(z) + np.log(bessel) - z)
    return np.where((s == 0) | np.isinf(bessel), 1.0, np.minimum(k, 1.0))


def linear_kernel(X: ArrayLike, Y: ArrayLike) -> np.ndarray:
    """k(x, x') = x.x'. Scale the points to |x| <= 1 so that k(x, x) <= 1."""
    X, Y = check.points(X, Y)
    return X @ Y.T


def empirical_kernel(samples: ArrayLike) -> np.ndarray:
    """Correlation matrix of the columns of `samples` (observations, arms): the paper's kernel of normalised data."""
    Z = standardised(check.table("samples", samples))
    K = Z.T @ Z
    np.fill_diagonal(K, 1.0)
    return (K + K.T) / 2


def standardised(samples: np.ndarray) -> np.ndarray:
    """Columns centred and scaled to length 1: their products are correlations."""
    Z = (samples - samples.mean(axis=0)) / samples.std(axis=0, ddof=1)
    return Z / math.sqrt(len(samples) - 1)


# ---- Problems (Section 5): arms, kernel, mean reward, noise --------------------------------------------------


def _root(w, Q, cut):
    """Eigenvectors Q (n, r) of K whose eigenvalues w are above `cut` times the largest, and the roots of these (r,)."""
    kept = w > cut * max(w[-1], 0.0) if len(w) else np.zeros(0, bool)
    return Q[:, kept], np.sqrt(w[kept])


@dataclass(frozen=True, eq=False)
class Problem:
    """n arms with kernel matrix K (n, n), mean rewards f (n,) and the bounds the algorithms are told.

    B >= |f|, R >= |noise|, v >= E|y|^{1+alpha}, c >= E|noise|^{1+alpha}; v and c follow from B and R where left out.
    A real experiment leaves out f: no learner uses it, only regret and simulated rewards do. A round's randomness is
    drawn before the arm is known (`draw`), then made the arm's reward (`reward`): all algorithms meet the same users.
    noise: "uniform" on [-R, R], "t3" (Student, 3 degrees of freedom), or "table": a uniformly drawn row of `samples`.
    points (n, d) and kernel, a function of two sets of points, instead of K: nothing (n, n) is built. The features stop
    at `rank`, or when they miss less than `tol` of each k(x, x). dataclasses.replace then wants K=None.
    """

    K: np.ndarray = field(default_factory=lambda: LEFT_OUT)
    f: np.ndarray = LEFT_OUT
    B: float = LEFT_OUT
    R: float = LEFT_OUT
    v: float = LEFT_OUT
    c: float = LEFT_OUT
    alpha: float = 1.0
    name: str = ""
    noise: str = "uniform"
    samples: np.ndarray = field(default=LEFT_OUT, repr=False)
    provenance: str = ""
    points: np.ndarray = field(default=LEFT_OUT, repr=False)
    kernel: Callable = LEFT_OUT
    rank: int = 500
    tol: float = 1e-8

    def __post_init__(self):
        put = functools.partial(object.__setattr__, self)
        if (self.points is None) != (self.kernel is None) or (self.points is None) == (
            self.K is None
        ):
            raise ValueError("K, points, kernel: must be given as K alone, or as points and kernel")
        if self.points is None:
            put("K", check.kernel_matrix(self.K))
            w, Q = np.linalg.eigh(self.K)  # once for the check and for all learners
            Q = np.where(
                (1 / np.arange(1, len(Q) + 1)) @ Q < 0, -Q, Q
            )  # LAPACK's signs differ between processors
            check.semidefinite(w)
            Q, root = _root(w, Q, 1e-16)  # the rest is rounding
            put("Z", Q.T * root[:, None])
        else:
            object.__delattr__(self, "K")
            check.function("kernel", self.kernel, "two sets of points")
            put("points", check.points(self.points, self.points)[0].copy())
            put("rank", check.integer("rank", self.rank))
            put("tol", check.positive("tol", self.tol))
        put("B", check.positive("B", self.B))
        put("R", check.nonnegative("R", self.R))
        put("alpha", check.order("alpha", self.alpha))
        for name, square in (
            ("v", self.B**2 + self.R**2),
            ("c", self.R**2),
        ):  # E|y|^{1+alpha}, by Jensen
            given = getattr(self, name)
            put(
                name,
                square ** ((1 + self.alpha) / 2)
                if given is None
                else check.nonnegative(name, given),
            )
        check.choice("noise", self.noise, "uniform", "t3", "table")
        if (self.noise == "table") != (self.samples is not None):
            raise ValueError("samples: must be given with noise='table', and only then")
        for name, ndim in (("f", 1), ("samples", 2)):
            if getattr(self, name) is not None:
                put(name, check.array(name, getattr(self, name), ndim, limit=1e100).copy())
                shape = getattr(self, name).shape
                if shape[-1] != self.n or not shape[0]:
                    raise ValueError(
                        f"{name} has shape {shape}: must have {self.n} columns, one per arm, and a row"
                    )
        for array in (vars(self).get("K"), vars(self).get("Z"), self.f, self.samples, self.points):
            if array is not None:
                array.setflags(write=False)

    @property
    def n(self) -> int:
        return len(self.K if self.points is None else self.points)

    def __getattr__(self, name):
        """K of a problem given by points: computed on request, kept nowhere."""
        if name != "K" or self.points is None:
            raise AttributeError(name)
        if self.n > 20_000:
            raise ValueError(
                f"K: {self.n} arms: must be at most 20000 for the matrix; use Z, diagonal and residual"
            )
        return _domain(self.kernel(self.points, self.points)).K

    @functools.cached_property
    def diagonal(self):
        """k(x, x), (n,)."""
        if self.points is None:
            return self.K.diagonal()
        parts = np.array_split(self.points, math.ceil(self.n / 64))
        diagonal = np.concatenate(
            [np.diagonal(check.array("kernel(X, X)", self.kernel(X, X), 2)) for X in parts]
        )
        if len(diagonal) != self.n or diagonal.max() > 1 + 1e-9 or diagonal.min() < 0:
            raise ValueError(
                f"kernel: k(x, x) {diagonal.min():.6g} to {diagonal.max():.6g}, {len(diagonal)} values"
                f": must be from 0 to 1 at {self.n}; scale the points or the kernel"
            )
        return diagonal

    @functools.cached_property
    def Z(self) -> np.ndarray:
        """Features of all arms, (r, n), with K = Z'Z up to `lost`: computed once for all learners."""
        if self.kernel is linear_kernel and self.points.shape[1] <= self.n:
            return np.ascontiguousarray(self.points.T)
        return pivoted_cholesky(self.kernel, self.points, self.diagonal, self.rank, self.tol)

    @functools.cached_property
    def lost(self):
        """k(x, x) - |z_x|^2, what the features miss, (n,): belongs to sigma^2. 0 where K is given."""
        if self.points is None:
            return np.zeros(self.n)
        return np.maximum(self.diagonal - np.einsum("rn,rn->n", self.Z, self.Z), 0.0)

    @property
    def residual(self):
        """The most that the features miss of any k(x, x): above `tol` if they stopped at `rank`."""
        return float(self.lost.max())

    def known_f(self, purpose: str) -> np.ndarray:
        """f, or an error that says what needs it."""
        if self.f is None:
            raise ValueError(
                f"f = None: must be known to {purpose}; without f drive a learner by ask and tell"
            )
        return self.f

    def draw(self, rng: np.random.Generator | None, size: int | None = None) -> Any:
        """What nature draws before the arm is known: noise in units of R, Student noise, or a row number."""
        rng = check.generator(rng)
        if self.noise == "table":
            return rng.integers(len(self.samples), size=size)
        return rng.uniform(-1.0, 1.0, size) if self.noise == "uniform" else rng.standard_t(3, size)

    def reward(self, arm: int, draw: Any) -> Any:
        """The reward of `arm` for a user with that draw."""
        if self.noise == "table":
            return self.samples[draw, arm]
        return self.known_f("simulate rewards")[arm] + (
            self.R * draw if self.noise == "uniform" else draw
        )

    def sample(self, arm: int, rng: np.random.Generator | None, size: int | None = None) -> Any:
        """One reward of `arm`, or an array of `size` independent ones."""
        return self.reward(check.arm(arm, self.n), self.draw(rng, size))


def _domain(K):
    """A Problem, or one made of a kernel matrix."""
    return K if isinstance(K, Problem) else Problem(K=K, B=1.0, R=0.0)


# ---- Curators (Section 4.1) ----------------------------------------------------------------------------------


class CTL:
    """Curator 1, Convert-to-Laplace: report y + Laplace(2(B+R)/eps). Lemma 1: eps-LDP.

    Deviation: y is clipped to [-(B+R), B+R] first, a no-op under the paper's assumption; it makes the guarantee hold
    for every input (Erratum A6). `seen` and `clipped` count inputs of this object; copies and pickles start at 0.
    Seedable and fast, for study: double-precision Laplace noise leaks in its low bits (Erratum B20), so a deployed
    system wants `SecureCTL`.
    """

    def __init__(self, eps: float | None, B: float, R: float):
        self.eps = check.number(
            "eps", eps, "a finite number > 0 (eps=None in make and simulate: not private)", low=0.0
        )
        self.bound = check.positive("B", B) + check.nonnegative("R", R)
        self.scale = 2 * self.bound / self.eps
        self.variance = (
            2 * self.scale * self.scale
        )  # what the curator adds to the variance of a report
        if not 0 < self.scale < 1e100:
            raise ValueError(
                f"eps = {eps!r}, B = {B!r}, R = {R!r}: the noise scale 2(B+R)/eps = {self.scale:.3g} "
                "must be > 0 and below 1e100; rescale the rewards or change eps"
            )
        self.promise = f"{self.eps:g}-LDP for one report, in exact arithmetic"
        self.seen = self.clipped = 0

    def __getstate__(self):
        return vars(self) | {
            "seen": 0,
            "clipped": 0,
        }  # whether a user's reward was out of range is nobody's business

    def _clip(self, y):
        """y clipped to [-(B+R), B+R], counted; a float for a scalar."""
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
        """Unit Laplace draws, which `report` scales."""
        return rng.laplace(size=size)

    def report(self, y: Any, draw: Any) -> Any:
        return self._clip(y) + self.scale * draw

    def privatise(self, y: Any, rng: np.random.Generator | None = None) -> Any:
        """The private report of a reward, or of an array of rewards of different users. rng: None takes fresh noise."""
        y = y if isinstance(y, (int, float)) else check.array("y", y, None)
        return self.report(y, self.draw(check.generator(rng), np.shape(y) or None))

    def _given(self, report, y):
        """Finite report(s) and the clipped reward(s), for log_density."""
        return check.array("report", report, None), np.clip(
            check.array("y", y, None), -self.bound, self.bound
        )

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Log-density of a report given the reward y."""
        report, y = self._given(report, y)
        return -np.abs(report - y) / self.scale - math.log(2 * self.scale)

    def reach(self, t: int) -> float:
        """Size that a report exceeds with probability at most 1/t: B + R + L ln t (Alg. 2, l. 4)."""
        return self.bound + self.scale * math.log(t)


class OneBit(CTL):
    """One bit a report: +scale with probability (1 + y/scale)/2, else -scale, where scale = (B+R) coth(eps/2).

    Unbiased and bounded; at y = +-(B+R) the odds of the two bits are e^{+-eps}. Draws are uniforms; log_density is a
    log-probability. Seedable, for study: a 53-bit uniform decides, which moves either probability by 2^-53 at most.
    """

    def __init__(self, eps: float | None, B: float, R: float):
        super().__init__(eps, B, R)
        self.scale = self.bound / math.tanh(self.eps / 2)
        self.variance = self.scale**2  # at y = 0, the worst case: scale^2 - y^2

    def draw(self, rng: Any, size: int | tuple | None = None) -> Any:
        return rng.random(size)

    def report(self, y: Any, draw: Any) -> Any:
        return self.scale * (2.0 * (draw < (1 + self._clip(y) / self.scale) / 2) - 1)

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        report, y = self._given(report, y)
        tilt = np.sign(report) * y / self.scale
        return np.where(np.abs(report) == self.scale, np.log1p(tilt) - math.log(2), -math.inf)

    def reach(self, t: int) -> float:
        return self.scale


class Identity(CTL):
    """No privacy: the report is the reward, whatever its size. For non-private runs behind the same interface."""

    def __init__(self):
        self.eps, self.bound, self.scale, self.variance = None, math.inf, 0.0, 0.0
        self.promise, self.seen, self.clipped = "nothing: the report is the reward", 0, 0

    def draw(self, rng: Any, size: int | tuple | None = None) -> Any:
        return 0.0 if size is None else np.zeros(size)

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        return np.where(np.equal(*self._given(report, y)), 0.0, -math.inf)


# ---- Posterior (Eqs. mu and sigma) and information gain ------------------------------------------------------


def first_max(score: np.ndarray) -> int:
    """Lowest index whose score is within TIE of the maximum. Deviation: the paper leaves ties open (Erratum B19)."""
    top = float(score[score.argmax()])
    return int((score >= top - TIE * max(1.0, abs(top))).argmax())


class _Ridge:
    """Kernel ridge regression on n arms with features Z (r, n): one product over Z a play.

    State: counts (n,), sums and means M, (n,) or (n, q) for q reward columns, leverage (n,) = posterior variance / lam,
    and P = V^{-1}, where V = sum_a count_a x_a x_a' + lam I (Lemma 5). x = z, or x = U'z, the coordinates of z on the
    span of a dictionary (U (r, m') orthonormal), and Q (m, m') with the embedding Qx; then leverage counts what
    is orthogonal to the span in full: (k(x, x) - |x|^2)/lam + x'Px.
    V + xx' changes P by rank one; a fresh solve every REFRESH plays keeps rounding from building up.
    """

    def __init__(self, problem, lam, *columns):
        self.Z, self.lost, self.diagonal = problem.Z, problem.lost, problem.diagonal
        self.lam, self.U, self.Q, self.P = lam, None, None, None
        self.small = self.Z.size <= SMALL  # then x of all arms is kept
        self.counts, self.sums, self.plays = np.zeros(problem.n), np.zeros((problem.n, *columns)), 0
        self.solve()

    def at(self, arms):
        """x of these arms, (m', arms)."""
        return self.U.T @ self.Z[:, arms] if self.X is None else self.X[:, arms]

    def over(self, v):
        """x'v of all arms, (n,), or (n, q) for q columns v: reads Z once."""
        return self.Z.T @ (self.U @ v) if self.X is None else self.X.T.dot(v)

    @property
    def F(self):
        """A root (m', n) of the posterior covariance / lam on the span: F'F = X'PX."""
        return np.linalg.cholesky(self.P).T @ self.at(slice(None))

    def view(self, U, arms=slice(None)):
        """x and (k(x, x) - |x|^2)/lam of these arms, (m', arms) and (arms,)."""
        X = self.Z[:, arms] if U is None else U.T @ self.Z[:, arms]
        rest = self.lost[arms] if U is None else self.diagonal[arms] - np.einsum("rn,rn->n", X, X)
        return X, rest / self.lam

    def solve(self, U=None, Q=None, view=None, turn=False):
        """The posterior afresh from counts and sums, in coordinates U. turn: of U and Q, so that P is diagonal."""
        before, same, self.age, self.turned = self._change(), U is self.U, 0, turn
        self.U, self.Q = U, Q
        self.X, self.rest = view or (self.view(U) if U is None or self.small else (None, None))
        played = slice(None) if self.small else np.flatnonzero(self.counts)
        X = self.at(played)
        V = (X * self.counts[played]).dot(X.T)
        if turn:
            d, E = np.linalg.eigh(V)
            self.U, self.Q, X, root = (
                U @ E,
                Q @ E,
                E.T @ X,
                1 / np.sqrt(np.maximum(d, 0.0) + self.lam),
            )
            self.X, self.P = X if self.X is not None else None, np.diag(root * root)
        else:
            V.reshape(-1)[:: len(V) + 1] += self.lam
            root = (
                None if self.plays < 1e5 * self.lam else np.linalg.inv(np.linalg.cholesky(V))
            )  # trace V <= plays
            self.P = (
                np.linalg.inv(V) if root is None else root.T @ root
            )  # a root keeps twice the digits, and costs
        self.M = self.over(self.P.dot(X.dot(self.sums[played])))
        if before is not None and turn and same:
            return  # same span, same leverages
        if before is not None and U is not None:
            w, E = np.linalg.eigh(self._change() - before)
            some = np.abs(w) > 1e-9 * np.abs(w).max(initial=0.0)  # the rest: rounding of U
            if np.count_nonzero(some) < len(w) / 2:  # the leverages change by few directions
                self.leverage += w[some] @ (E[:, some].T @ self.Z) ** 2
                return
        block = 1 + 10**7 // max(len(self.Z), 1)
        self.leverage = (
            self._leverages(root)
            if self.small
            else np.concatenate(
                [
                    self._leverages(root, slice(start, start + block))
                    for start in range(0, len(self.counts), block)
                ]
            )
        )

    def _leverages(self, root, arms=slice(None)):
        """Of these arms, from a root of P, the diagonal of one, or None."""
        X, rest = self.view(self.U, arms) if self.X is None else (self.X[:, arms], self.rest[arms])
        seen = (
            self.P.dot(X) if root is None else root.dot(X) if root.ndim > 1 else root[:, None] * X
        )
        return np.maximum(np.einsum("rn,rn->n", X if root is None else seen, seen) + rest, 0.0)

    def _change(self):
        """What plays take from the leverages, a form (r, r) in z; None on small domains, where nobody needs it."""
        if self.U is None or len(self.counts) < 20 * len(self.Z):
            return None
        return self.U @ (self.P - np.eye(len(self.P)) / self.lam) @ self.U.T

    def add(self, arm, y):
        """Record reward(s) y of `arm`."""
        self.record(arm, y)
        self.update(arm, y)

    def record(self, arm, y):
        self.counts[arm] += 1
        self.sums[arm] += y
        self.age += 1
        self.plays += 1

    def update(self, arm, y):
        """The posterior after `record`, in the same coordinates."""
        if self.age >= REFRESH:
            return self.solve(self.U, self.Q, (self.X, self.rest))
        v = self.P.dot(self.at(arm))
        c = self.over(v)  # x'V^{-1}x_arm
        grown = 1 + float(c[arm])
        g = c / grown
        self.M += np.multiply.outer(g, y - self.M[arm])
        self.leverage -= g * c
        np.maximum(self.leverage, 0.0, out=self.leverage)
        self.P -= v[:, None].dot((v / grown)[None])


def posterior(
    K: Problem | ArrayLike, arms: ArrayLike, y: ArrayLike, lam: float
) -> tuple[np.ndarray, np.ndarray]:
    """mu (n,) and sigma (n,) after rewards y of the played `arms`, both of length t. K: the matrix, or a Problem."""
    problem, lam, y = _domain(K), check.ridge(lam), check.array("y", y, 1, limit=1e100)
    arms, n = check.arms("arms", arms, problem.n), problem.n
    if len(arms) != len(y):
        raise ValueError(
            f"y has {len(y)} entries and arms has {len(arms)}: must have the same length"
        )
    ridge = _Ridge(problem, lam)
    ridge.counts, ridge.sums, ridge.plays = (
        np.bincount(arms, minlength=n),
        np.bincount(arms, y, n),
        len(arms),
    )
    ridge.solve()
    return ridge.M, np.sqrt(lam * ridge.leverage)


def information_gain(K: Problem | ArrayLike, T: int, lam: float) -> np.ndarray:
    """Greedy gamma_0..gamma_T, (T+1,): greedy <= gamma_t <= greedy/(1 - 1/e). K: the matrix, or a Problem (of its Z).

    Deviation: multisets instead of the paper's subsets, which a finite domain lacks for t > n (Erratum B14).
    """
    return _gain(_domain(K), check.integer("T", T, low=0), check.ridge(lam)).copy()


def _gain(problem, T, lam):
    """information_gain, remembered for the last eight kernels, ridges and horizons."""
    key = hashlib.blake2b(problem.Z).digest(), T, lam
    if key not in GAINS:
        ridge, gain = _Ridge(problem, lam), np.zeros(T + 1)
        for t in range(T):
            arm = first_max(lam * ridge.leverage)
            gain[t + 1] = gain[t] + 0.5 * math.log1p(ridge.leverage[arm])
            ridge.add(arm, 0.0)
        while len(GAINS) >= 8:
            GAINS.pop(next(iter(GAINS)))
        GAINS[key] = gain
    return GAINS[key]


# ---- Nyström embedding (Alg. 4) ------------------------------------------------------------------------------


def _nystrom(problem, dictionary):
    """Q (m, m') and U (r, m') with embedding Q @ U'Z: Q holds the kept eigenvectors of K_D, U spans the dictionary.

    K_D gives Q, and U = Z_D Q / root of the eigenvalues. Where D spans all features, Z_D Z_D' gives the same;
    elsewhere that would magnify rounding.
    """
    part = problem.Z[:, dictionary]  # Z_D (r, m)
    if len(part) < len(dictionary):
        w, E = np.linalg.eigh(part @ part.T)
        U, root = _root(w, E, EIGEN_CUT)
        missed = ((E[:, : len(w) - len(root)].T @ problem.Z) ** 2).sum(
            axis=0
        )  # of |z|^2, outside the span
        if missed.max() < 1e-8:
            return (part.T @ U) / root, U
    K = problem.K[np.ix_(dictionary, dictionary)] if problem.points is None else part.T @ part
    Q, root = _root(*np.linalg.eigh(K), EIGEN_CUT)
    return Q, part @ (Q / root)


def nystrom_features(K: Problem | ArrayLike, dictionary: ArrayLike) -> np.ndarray:
    """Embedding phi(x) = (K_D^{1/2})^+ k_D(x) of all n arms, (m, n), with the symmetric root (Alg. 4, l. 7)."""
    problem = _domain(K)
    dictionary = check.arms("dictionary", dictionary, problem.n)
    if len(np.unique(dictionary)) != len(dictionary):
        raise ValueError(f"dictionary = {dictionary.tolist()}: must name each arm once")
    Q, U = _nystrom(problem, dictionary)
    return Q @ (U.T @ problem.Z)


# ---- Algorithms: ask() for an arm, tell() its reward as the learner sees it ----------------------------------


@dataclass(frozen=True)
class Settings:
    """What a learner was told, checked by `make`. alpha, v and c are those of the reports it sees, not of rewards."""

    T: int
    lam: float
    delta: float
    acc: float
    constants: str
    beta_scale: float
    q: float | None
    k: int | None
    weibull: tuple | None
    curator: CTL | None  # None: not private
    alpha: float
    v: float
    c: float


class _Bandit:
    """The UCB loop that all algorithms share: play argmax mu + beta sigma, then update."""

    presets: tuple[str, ...] = ("order", "theorem", "repaired")
    _start = _update = lambda self, *told: None  # nothing to learn, unless a class says so

    def __init__(self, problem, settings, rng):
        self.problem, self.s, self.rng = (
            problem,
            settings,
            rng,
        )  # settings: those of `make`, checked
        self.B, self.t = problem.B, 0
        self.mu = np.zeros(problem.n)
        # Deviation: sigma_0 = sqrt(k(x, x)); the paper prints k(x, x) (Erratum B4).
        self.sigma = np.sqrt(np.maximum(problem.diagonal, 0.0))
        self.beta, self._asked = self.B, None
        self._start()

    def __getstate__(self):
        """What copies and files carry: neither a cache nor the f and the users' rewards that a problem may hold."""
        problem = copy.copy(self.problem)
        problem.__dict__.update(f=None, samples=None, noise="uniform")
        return {**self.__dict__, "problem": problem, "_known": {}}

    def _choose(self):
        return first_max(self.mu + self.beta * self.sigma)

    def ask(self) -> int:
        """The arm to play next; the same arm until its reward is told."""
        self._asked = self._choose() if self._asked is None else self._asked
        return self._asked

    def tell(self, reward: float, arm: int | None = None) -> None:
        """The reward as the learner sees it, of the arm asked for (or of `arm`, to replay a recorded run)."""
        if arm is None and self._asked is None:
            raise ValueError("tell: no arm was asked for; call ask() first")
        y = check.number("reward", reward, "a finite number below 1e100 in size", -1e100, 1e100)
        arm = self._asked if arm is None else check.arm(arm, self.problem.n)
        self._update(arm, y)
        self.t, self._asked = self.t + 1, None

    def save(self, path: str | os.PathLike) -> None:
        """Write the learner to a file for `load`, whole or not at all; no raw reward is in it (format: ldpbo.saving)."""
        from ldpbo import saving

        saving.save(self, path)


class Uniform(_Bandit):
    """Plays an arm at random: the regret that learning has to beat."""

    def _choose(self):
        return int(self.rng.integers(self.problem.n))


class TGP(_Bandit):
    """(LDP-)TGP-UCB, Alg. 2: a reward above b_t in size counts as 0. Theorem 3; non-private, Theorem 1 of C&G 2019."""

    def _start(self):
        self.ridge, self.gain = _Ridge(self.problem, self.s.lam), 0.0
        self.b, last = self._b(1), self._b(self.s.T)
        self.levels = (
            math.ceil(math.log2(max(last / self.b, 1.0))) + 1 if 0 < self.b < math.inf else 1
        )

    @functools.cached_property
    def _gamma(self):
        return _gain(self.problem, self.s.T, self.s.lam)

    def _b(self, t):
        """Truncation point b_t (Alg. 2, l. 4; sub-Weibull: Section 4.3)."""
        if self.s.weibull:
            theta, _, b = self.s.weibull
            return self.B + (math.log(t) / b) ** theta
        if self.s.curator:
            return self.s.curator.reach(t)
        return self.s.v ** (1 / (1 + self.s.alpha)) * t ** (1 / (2 * (1 + self.s.alpha)))

    def _width(self, t):
        """beta_{t+1} - B without 1/sqrt(lam) (Alg. 2, l. 5)."""
        if self.s.constants == "order":
            return self.b * math.sqrt(math.log(t + 1))
        repaired = self.s.constants == "repaired"
        log_delta = math.log(
            (self.levels if repaired or self.s.weibull else 1) / self.s.delta
        )  # Erratum A7
        if not (self.s.curator or self.s.weibull):
            return 3 * self.b * math.sqrt(2 * self.gain + 2 * log_delta)
        gamma = self._gamma[min(t, self.s.T)] / ((1 - 1 / math.e) if repaired else 1)
        moment = self.s.v
        if self.s.weibull:
            theta, a, b = self.s.weibull
            moment = max(a, 1) * (self.B**2 + a * math.gamma(2 * theta + 1) * b ** (-2 * theta))
        return 2 * math.sqrt(2) * self.b * math.sqrt(gamma + log_delta) + math.sqrt(
            moment * (math.log(t) + 1)
        )

    def _hear(self, y, sigma):
        """Take in reward y of an arm with this sigma: b_t, the next beta -> what y counts as (l. 8)."""
        self.b = self._b(t := self.t + 1)
        self.gain += 0.5 * math.log1p(sigma**2 / self.s.lam)
        self.beta = self.B + self.s.beta_scale * self._width(t) / math.sqrt(self.s.lam)
        return y if abs(y) <= self.b else 0.0

    def _update(self, arm, y):
        self.ridge.add(arm, self._hear(y, float(self.sigma[arm])))
        self.mu = self.ridge.M.copy()
        self.sigma = np.sqrt(self.s.lam * self.ridge.leverage)


class GPUCB(TGP):
    """Plain GP-UCB, no truncation: right for sub-Gaussian reports, a baseline for the others.

    One-bit reports lie in [-s, s], so they are s-sub-Gaussian and "theorem" is the proved width for them.
    """

    def _b(self, t):
        return math.inf

    def _width(self, t):
        size = self.s.c ** (1 / (1 + self.s.alpha))
        if self.s.constants == "order":
            return size * math.sqrt(math.log(t + 1))
        if isinstance(self.s.curator, OneBit):
            size = self.s.curator.scale
        return size * math.sqrt(2 * (self.gain + math.log(1 / self.s.delta)))


class _Nystroem(_Bandit):
    """What ATA and MoMA share: the random dictionary and the ridge posterior on its embedding."""

    def _start(self, *columns):
        s = self.s
        self.B0 = self.B * (1 + 1 / math.sqrt(1 - s.acc)) if s.constants != "order" else self.B
        self.beta, self.m, self.dictionary = self.B0, 0, np.zeros(0, dtype=int)
        self._key, self._known, self._held = b"", {}, 0  # features of the last dictionaries
        self._played, self._safe, self._fall = self.dictionary, None, math.inf
        rho = (1 + s.acc) / (1 - s.acc)
        self.q = (
            s.q
            if s.q is not None
            else (
                math.log(s.T) if s.constants == "order" else 6 * rho * math.log(4 * s.T / s.delta)
            )
            / s.acc**2
        )
        self.ridge = _Ridge(self.problem, s.lam, *columns)
        self._adopt(self.dictionary)

    def _embed(self, arm, y):
        """Alg. 1, l. 6-8 and 13: draw the dictionary with sigma of the last round, then record y."""
        ridge, leverage, u = (
            self.ridge,
            float(self.ridge.leverage[arm]),
            self.rng.random(self.problem.n),
        )
        if not ridge.counts[arm]:
            self._played, self._fall = np.sort(np.append(self._played, arm)), math.inf
        ridge.record(arm, y)
        sure = self._fall < 1.1 and not np.count_nonzero(u > self._safe)  # nothing can be dropped
        if sure or (kept := self._draw(u)).tobytes() == self._key:
            ridge.update(arm, y)
            self._fall *= 1 + leverage  # no leverage falls by a larger factor
        else:
            self._adopt(kept)
        self.sigma = np.sqrt(self.s.lam * ridge.leverage)

    def _draw(self, u):
        """The played arms that are kept, for uniforms u (n,).

        Deviations: p = q sigma^2/lam, the ridge leverage score (Erratum A9); the dictionary is a set of arms, so one
        draw with probability 1 - (1-p)^count stands for the draws of all plays of an arm (Erratum B11).
        Where all are kept, `_safe` are uniforms that would keep them too if every p fell by 1.1 (1e-13: rounding).
        """
        if self.q == math.inf:
            return self._played
        some = slice(None) if len(u) <= 1000 else self._played
        p, counts = (
            min(self.q, 1e280) * self.ridge.leverage[some],
            self.ridge.counts[some],
        )  # p >= 1: kept
        keep = u[some] < 1.0 - (1.0 - np.minimum(p, 1.0)) ** counts  # False where count = 0
        kept = self._played[keep] if len(u) > 1000 else keep.nonzero()[0]
        if self.ridge.age > 2 and self._fall > 1.1 and len(kept) == self.m == len(self._played):
            self._fall, self._safe = 1.0, np.ones(len(u))
            self._safe[some] = np.where(
                (p < 1.1) & (counts > 0), 1 - 1.01 * np.exp(-p * counts / 1.1) - 1e-13, 1.0
            )
        return kept

    def _adopt(self, dictionary, turn=False):
        """Coordinates of another dictionary. turn: such that V is diagonal."""
        self._key, self.dictionary, self.m, self._fall = (
            dictionary.tobytes(),
            dictionary,
            len(dictionary),
            math.inf,
        )
        if self._key not in self._known:
            if self._held > 4e6:  # numbers in `_known`: about 32 MB
                self._known, self._held = {}, 0
            Q, U = _nystrom(self.problem, dictionary)
            view = self.ridge.view(U) if self.ridge.small else (None, None)
            self._known[self._key], self._held = (
                (U, Q, view),
                self._held + sum(map(np.size, (U, Q, view[0]))),
            )
        self.ridge.solve(*self._known[self._key], turn=turn)


class ATA(_Nystroem):
    """(LDP-)ATA-GP-UCB, Alg. 1: truncation in the feature space. Theorem 2; non-private, Theorem 4 of C&G 2019.

    mu is linear in the rewards that truncation leaves whole, so the ridge takes those; only rewards at risk need
    V^{-1/2}. Exact shortcuts, steps of their own, keep a round cheap: `_whole_for_ever`, `_sort`, `InverseRoot`.
    """

    presets = "order", "theorem"

    def _start(self):
        self._arms, self._large = np.zeros(0, dtype=int), np.zeros(0)  # rewards still in question,
        self._out = np.zeros(0, dtype=bool)  # and which of them the ridge leaves out
        self._root, self._plays = None, None  # V^{-1/2}, and plays it has not heard of
        self._risk = None  # x_tau y_tau of the rewards left out
        super()._start()
        self.b, self._least = math.inf, self._schedule(self.problem.n)[0]  # b_t is least at m = n
        self._exponent = (1 - self.s.alpha) / (2 + 2 * self.s.alpha)

    def _adopt(self, dictionary):
        super()._adopt(dictionary, turn=self._plays is not None)  # V^{-1/2} will be wanted again
        self._past, self._drift, self._limit, self._first = (
            None,
            0.0,
            -1.0,
            self._schedule(max(self.m, 1)),
        )

    def _schedule(self, m):
        """b_t and beta_{t+1} - B0 at t = 1, for dictionary size m >= 1."""
        s, p = self.s, 1 + self.s.alpha
        log = math.log((m + 1) * s.T) if s.constants == "order" else math.log(4 * m * s.T / s.delta)
        width = (
            s.beta_scale
            * (1 if s.constants == "order" else 4)
            * math.sqrt(m / s.lam)
            * s.v ** (1 / p)
        )
        return (s.v / log) ** (1 / p), width * log ** (s.alpha / p)

    def _update(self, arm, y):
        power = (self.t + 1) ** self._exponent
        if self._whole_for_ever(arm, y, power, 1):
            self._embed(arm, y)
        else:
            self._embed(arm, 0.0)
            some = self._out | ~self._whole_for_ever(self._arms, self._large, power)
            self._arms, self._large = (
                np.append(self._arms[some], arm),
                np.append(self._large[some], y),
            )
            self._out, self._risk, self._limit = np.append(self._out[some], True), None, -1.0
        if not self.ridge.age:
            self._plays = self._risk = None  # other coordinates
        elif self._plays is not None:
            self._plays.append(arm)
        self.beta = self.B0
        if self.m:
            self.b, self.beta = self._first[0] * power, self.B0 + self._first[1] * power
            self._drift += self._past[0][arm] if self._past else 0.0
            if len(self._large) and (self._drift > self._limit or self.ridge.age % 8 == 0):
                self._sort()
        at_risk = self._risk is not None or (self.ridge.Q.size and np.count_nonzero(self._out))
        self.mu = (
            self.ridge.M + self.ridge.over(self._truncated()) if at_risk else self.ridge.M.copy()
        )

    def _whole_for_ever(self, arm, y, power, more=0):
        """Is |u_i y| <= b_t now and later? |u|^2 <= 1/(lam + count), which falls."""
        return (
            abs(y)
            <= self._least * power * (1 - TIE) * (self.s.lam + self.ridge.counts[arm] + more) ** 0.5
        )

    def _sort(self):
        """Leave out of the ridge what may be truncated now, |y| max_i |u_i| > b_t; give it the others.

        Two bounds of max_i |u_i|: the root of the leverage, which falls while the dictionary stays, and the peak when
        it was last computed plus its drift, which rises. So what the ridge has been given stays whole until the drift
        is at `_limit`: not every round need sort. V -> V + zz' moves V^{-1/2} phi by at most
        (2/pi) int |(V+s^2)^{-1} z| |z'(V+s^2)^{-1} phi| ds, which the leverages a of z and c of phi bound by a sqrt(c)
        times a logarithm: `_past` has that without sqrt(c), by arms z, then sqrt(c) and the peaks.
        """
        arms, top, self._limit = self._arms, self.b * (1 - TIE) / np.abs(self._large), math.inf
        out = np.sqrt(self.ridge.leverage[arms]) > top
        if self._past:
            root, room = self._past[1][arms], top - self._past[2][arms]
            whole = out & (room >= root * self._drift)
            self._limit = float((room[whole] / root[whole]).min(initial=math.inf))
            out &= ~whole
        moved = out != self._out
        if np.count_nonzero(moved):
            arms, y = self._arms[moved], np.where(out, -self._large, self._large)[moved]
            np.add.at(self.ridge.sums, arms, y)
            self.ridge.M += self.ridge.over(self.ridge.P @ (self.ridge.at(arms) @ y))
            self._out, self._risk = out, None

    def _truncated(self):
        """What the rewards at risk give to theta (Alg. 1, l. 9-12), in the ridge's coordinates.

        Deviation: every product is compared with the current b_t, as in C&G 2019; the paper prints b_tau (Erratum B1).
        """
        S, Q = self._inverse_root(), self.ridge.Q
        if self._risk is None:
            y = self._large[self._out]
            self._risk = self.ridge.at(self._arms[self._out]) * y, np.ones(len(y))  # x_tau y_tau
        R, ones = self._risk
        products = S.between(Q, R)  # u_{i,tau} y_tau
        keep = np.abs(products) <= self.b
        if np.count_nonzero(keep) == keep.size:  # peaks may spare the next rounds this
            leverage, peak = self.ridge.leverage, np.full(self.problem.n, math.inf)
            peak[self._played] = np.abs(Q @ S.dot(self.ridge.at(self._played))).max(axis=0)
            x = min(max(self.s.lam * float(leverage.min()), 1e-300), 1.0)
            h = math.sqrt(1 - x)
            rate = (2 / math.pi) * (math.log1p(h) - 0.5 * math.log(x) + 1 / (1 + h))
            self._past, self._drift, self._limit = (
                (rate * leverage, np.sqrt(leverage), peak),
                0.0,
                -1.0,
            )
        return S.dot((products * keep).dot(ones).dot(Q))

    def _inverse_root(self):
        """V^{-1/2} after the plays since it was last asked for; in new coordinates where these are other or many."""
        ridge, old, plays = self.ridge, self._root, self._plays
        new = (
            plays is None or len(plays) > 12 or ridge.age > 0.9 * REFRESH
        )  # before the ridge is solved without it
        for arm in () if new else plays:
            new = new or not old.play(arm, ridge.at(arm))
        if new:
            if ridge.age or not ridge.turned:
                ridge.solve(ridge.U, ridge.Q, (ridge.X, ridge.rest), turn=True)
            usual = (
                []
                if old is None
                else [arm for arm, count in zip(old.arms, old.counts) if count][: MOST - 8]
            )
            self._root, self._risk = (
                InverseRoot(1 / ridge.P.diagonal(), REFRESH, usual, ridge.at(usual).T),
                None,
            )
        self._plays = []
        return self._root


class MoMA(_Nystroem):
    """(LDP-)MoMA-GP-UCB, Alg. 3: N epochs of k plays of one arm, k ridge estimates, the most central one is used.

    Deviation: the T - Nk rounds left over play the next arm without an update (Erratum B7).
    """

    def _start(self):
        s = self.s
        if s.k is not None:
            self.k = s.k
        elif s.constants == "repaired":
            self.k = next(k for k in range(2, 10**6) if self._ville(k) <= s.delta / 2)
        else:
            self.k = math.ceil(
                (24 if s.constants == "theorem" else 1) * math.log(4 * math.e * s.T / s.delta)
            )
        if self.k > s.T:
            raise ValueError(
                f"k = {self.k}: must be at most T = {s.T}; raise T, lower k, or take constants='order'"
            )
        self.N, self.columns = s.T // self.k, np.size(self._summary(np.zeros(self.k)))
        super()._start(self.columns)
        self.kstar, self.epoch, self._rewards, self._epoch_arm = 0, 0, [], None
        if s.constants == "repaired":
            self._gamma = _gain(self.problem, self.N, s.lam)[-1] / (1 - 1 / math.e)

    @staticmethod
    def _ville(k, s=8.0):
        """Bound on P(too many of k estimates are ever bad) in the repaired analysis: C(k, a) s^{-a} (Erratum A5)."""
        a = math.ceil((k - 1) / 2)
        return math.exp(
            math.lgamma(k + 1) - math.lgamma(a + 1) - math.lgamma(k - a + 1) - a * math.log(s)
        )

    def _summary(self, rewards):
        """What an epoch's rewards enter as: each in a ridge estimate of its own."""
        return rewards

    def _choose(self):
        return super()._choose() if self._epoch_arm is None else self._epoch_arm

    def _update(self, arm, y):
        if self._epoch_arm not in (None, arm):
            raise ValueError(
                f"arm = {arm}: must be {self._epoch_arm}, the arm of the current epoch of {self.k} plays"
            )
        self._epoch_arm = arm
        if self.epoch == self.N:
            return
        self._rewards.append(y)
        if len(self._rewards) < self.k:
            return
        self._embed(arm, self._summary(np.array(self._rewards)))  # l. 7-10
        self.epoch, self._rewards, self._epoch_arm = self.epoch + 1, [], None
        self.kstar = first_max(-self.spread())  # l. 12
        self.mu = self.ridge.M[:, self.kstar].copy()
        self.beta = self.B0 + self.s.beta_scale * self._width(self.epoch) / math.sqrt(self.s.lam)

    def spread(self) -> np.ndarray:
        """r_j = median over s != j of |theta_j - theta_s|_V (l. 11), (k,): the squared norm is dS' dM by columns."""
        k, played = self.columns, self._played
        if k == 1:
            return np.zeros(1)
        S, M = (np.ascontiguousarray(x[played].T) for x in (self.ridge.sums, self.ridge.M))
        unit = np.abs(S).max(initial=1e-300)  # so that no product overflows
        S, M, d, step = S / unit, M / unit, np.empty((k, k)), 1 + 10**5 // (k * max(len(played), 1))
        for j in (slice(start, start + step) for start in range(0, k, step)):
            d[j] = np.einsum("jsn,jsn->js", S[j, None] - S, M[j, None] - M)
        d.flat[:: k + 1] = math.inf  # s != j
        r = unit * np.sort(np.sqrt(np.maximum(d, 0.0)), axis=1)
        return (r[:, (k - 2) // 2] + r[:, (k - 1) // 2]) / 2

    def _width(self, n):
        """beta_{n+1} - B0 without 1/sqrt(lam), which Theorem 4 drops although its proof has it (Erratum A8)."""
        s = self.s
        if s.constants == "repaired":  # Erratum A5, for every alpha
            power = self.N ** ((1 - s.alpha) / (2 * (1 + s.alpha)))
            return (
                3
                * (8.0 * 2 ** (1 - s.alpha) * s.c) ** (1 / (1 + s.alpha))
                * power
                * math.sqrt(2 * self._gamma)
            )
        outer, inner = (3, 9) if s.constants == "theorem" else (1, 1)
        c = s.c * (self.columns / self.k) ** s.alpha  # a summary of k rewards varies less
        return (
            outer
            * (inner * self.m * c) ** (1 / (1 + s.alpha))
            * n ** ((1 - s.alpha) / (2 * (1 + s.alpha)))
        )


# ---- Baselines: nothing is proved of the first two here, so they have *order* constants only -----------------


class MoM(MoMA):
    """Mean of medians, after Zhong et al. 2021: their estimator filters the rewards of any bandit algorithm.

    Here: MoMA's epochs, k and dictionary; the median of an epoch's k rewards is the reward of its one ridge estimate.
    For noise symmetric about f; elsewhere (and on one-bit reports) the median has a bias that no k removes. Only the
    abstract of Zhong et al. was at hand: k and the width, MoMA's with c/k^alpha for c, are ours.
    """

    presets, _summary = ("order",), staticmethod(np.median)


class MoMAAverage(MoMA):
    """MoMA without its median: same epochs, k and dictionary, an epoch's k rewards averaged; width with c/k^alpha."""

    presets, _summary = ("order",), staticmethod(np.mean)


class TS(GPUCB):
    """Thompson sampling, GP-TS of C&G 2017: play the best arm of a draw from N(mu, beta^2 posterior covariance).

    Posterior and beta are GP-UCB's; the covariance is lam F'F, so that F'z with z ~ N(0, I) is a draw. What the
    features of a large domain miss is drawn arm by arm.
    """

    def _choose(self):
        v = np.linalg.cholesky(self.ridge.P) @ self.rng.standard_normal(len(self.ridge.P))
        draw = math.sqrt(self.s.lam) * self.ridge.over(v)
        if self.problem.lost.any():
            draw += np.sqrt(self.problem.lost) * self.rng.standard_normal(self.problem.n)
        return first_max(self.mu + self.beta * draw)


# ---- Elimination (ours; statements and proofs on the book's page "Elimination") ------------------------------


def batch_sizes(T: int) -> list[int]:
    """N_1 = ceil(sqrt(T)), N_{i+1} = ceil(sqrt(T N_i)), the last cut so that they sum to T: a list of integers."""
    N, sizes = 1, list[int]()
    while sum(sizes) < T:
        N = math.isqrt(T * N - 1) + 1
        sizes.append(min(N, T - sum(sizes)))
    return sizes


def _factor(Z, weight, ridge):
    """F (r, n) with F'F = Z'(Z diag(weight) Z' + ridge I)^{-1} Z; by QR, so that weight/ridge may reach 1e15."""
    rows = np.vstack(
        [(Z[:, on := weight > 0] * np.sqrt(weight[on])).T, math.sqrt(ridge) * np.eye(len(Z))]
    )
    return np.linalg.solve(np.linalg.qr(rows, mode="r").T, Z)


def optimal_design(Z: np.ndarray, N: int, lam: float) -> np.ndarray:
    """Counts (n,) that sum to N, from the D-optimal weights w of the arms with features Z, by largest remainder.

    w maximises ln det(I + (N/lam) sum_x w_x z_x z_x'). Steps w_x <- w_x d_x / sum w d, d the gradient in w, end at the
    certificate max d <= 1.01 sum w d. Features that move no d by 1e-9 are left out. Ties go to the lowest index.
    """
    Z = Z[np.argsort(-(Z * Z).sum(axis=1), kind="stable")]
    tail = np.cumsum((Z * Z)[::-1], axis=0)[::-1].max(axis=1) * N / lam
    Z, w = Z[tail > 1e-9 * np.minimum(tail[:1], 1.0)], np.full(Z.shape[1], 1 / Z.shape[1])
    for _ in range(10**4):  # in practice fewer than 100
        d = (_factor(Z, w, lam / N) ** 2).sum(axis=0)
        if d.max() <= 1.01 * (w @ d):
            break
        w = w * d / (w @ d)
    counts, rest = np.floor(N * w).astype(np.int64), N * w % 1
    rest -= np.sort(rest)[
        -(more := max(N - counts.sum(), 0))
    ]  # compared with the last that is served;
    rest[np.abs(rest) <= 1e-9 + 1e-15 * N * N / lam] = 0.0  # what differs by rounding is a tie
    counts[np.argsort(-rest, kind="stable")[:more]] += 1
    counts[w.argmax()] += N - counts.sum()  # N w itself is rounded above 1e13 plays
    return counts


class PE(_Bandit):
    """Batched elimination: a batch plays a D-optimal design on the active arms, estimates f from its own reports alone,
    and keeps the arms with mu + beta sigma >= max over the active of mu - beta sigma.

    A design is fixed once the earlier batches are, so beta needs no uniformity over time. Heavy tails: it is played in
    k copies (k = 1 elsewhere) and mu is the pointwise median of their estimates. `left` (n, k): plays to come. Sums
    are kept exactly and rounded at the end of a batch to what floats can promise, so that single reports and any split
    of their sums give the same state.
    """

    presets = "order", "theorem"

    @staticmethod
    def reports(problem, curator):
        """Kind of the reports, and the size s of their noise."""
        if curator is not None:
            return "one bit" if isinstance(curator, OneBit) else "Laplace", curator.scale
        heavy = problem.noise == "t3" or problem.alpha < 1
        return (
            ("heavy", problem.c ** (1 / (1 + problem.alpha))) if heavy else ("bounded", problem.R)
        )

    def _start(self):
        s, n, Z = self.s, self.problem.n, self.problem.Z
        self.sizes, self.batch, self.active = batch_sizes(s.T), -1, np.ones(n, dtype=bool)
        self.kind, self.scale = self.reports(self.problem, s.curator)
        size = (Z * Z).sum(axis=1)
        kept = size > EIGEN_CUT * size.max(initial=0.0)  # the rest is near rounding: part of sigma
        self.Z, self.lost = Z[kept], self.problem.lost + (Z[~kept] ** 2).sum(axis=0)
        self.k, self._log = 1, math.log(2 * n * len(self.sizes) / s.delta)
        if self.kind == "heavy":
            self.k = s.k or math.ceil(
                (1 if s.constants == "order" else 8) * (self._log - math.log(2))
            )
        self._next()

    def _next(self):
        """The next batch: a design of N // k plays in each copy; the plays left over go to its arm of largest count."""
        self.batch, shape = self.batch + 1, (self.problem.n, self.k)
        self._design, self.left = (
            np.zeros(shape[0], dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
        )
        self._sums = np.zeros(shape, dtype=object)  # whole multiples of 1/UNIT
        if self.batch < len(self.sizes):
            each, rest = divmod(self.sizes[self.batch], self.k)
            if each:
                self._design[self.active] = optimal_design(self.Z[:, self.active], each, self.s.lam)
            self.left += self._design[:, None]
            self.left[np.where(self.active, self._design, -1).argmax(), :rest] += 1
        self._plan = self.left.copy()

    def plan(self) -> np.ndarray:
        """Plays of each arm still to come in this batch, (n,) integers; zeros when the horizon is reached."""
        return self.left.sum(axis=1)

    def _choose(self):
        ahead = self.plan().cumsum()
        if not ahead[-1]:  # after the horizon: the best arm
            return first_max(np.where(self.active, self.mu, -math.inf))
        return int(np.searchsorted(ahead, self.rng.integers(ahead[-1]), side="right"))

    def _update(self, arm, y):
        j = self.left[arm].argmax()  # the copies take turns
        if self.left[arm, j]:
            self._add([(arm, j)], [1], [y])
        elif self.batch < len(self.sizes):
            raise ValueError(
                f"arm = {arm}: must be one of those that plan() has left in this batch"
            )

    def tell_sums(self, counts: ArrayLike, sums: ArrayLike) -> None:
        """counts[x] reports of arm x that add up to sums[x]: any part of the plan. (n, k) arrays if k > 1."""
        shape, left = self.left.shape[: 1 + (self.k > 1)], self.left
        counts, sums = np.asarray(counts), check.array("sums", sums, None)
        if counts.dtype.kind not in "iu" or counts.shape != shape or sums.shape != shape:
            raise ValueError(
                f"counts is {counts.dtype} of shape {counts.shape}, sums has shape {sums.shape}: must be "
                f"integers and numbers of shape {shape}"
            )
        counts, sums = counts.reshape(left.shape), sums.reshape(left.shape)
        for x, j in np.argwhere((counts < 0) | (counts > left)):
            raise ValueError(
                f"counts of arm {x} = {counts[x, j]}: must be from 0 to {left[x, j]}, as plan() has it"
            )
        for x, j in np.argwhere(np.abs(sums) > 1e100 * counts):
            raise ValueError(
                f"sums of arm {x} = {sums[x, j]}: must be at most 1e100 a report, 0 for none"
            )
        where = np.argwhere(counts)
        self._add(where, counts[*where.T].tolist(), sums[*where.T].tolist())
        self.t += int(counts.sum())
        if self._asked is not None and not self.left[self._asked].any():
            self._asked = None

    def _add(self, places, counts, sums):
        """Reports of (arm, copy) in exact arithmetic; the last of a batch ends it."""
        for (arm, j), count, total in zip(places, counts, sums):
            top, bottom = total.as_integer_ratio()
            self._sums[arm, j] += top * (UNIT // bottom)
            self.left[arm, j] -= count
        if len(places) and not self.left.any():
            self._estimate()
            self._next()

    def _estimate(self):
        """mu, sigma and beta from this batch alone, then the elimination."""
        lam, plan, total = self.s.lam, np.maximum(self._plan, 1), (self._sums / UNIT).astype(float)
        step = np.exp2(
            np.frexp((self.B + self.scale) * plan)[1] - 36.0
        )  # far below the noise, far above rounding
        if (
            self.kind == "one bit"
            and np.abs(total / self.scale - np.rint(total / self.scale)).max() < 1e-6
        ):
            step = self.scale
        F = _factor(self.Z, self._design, lam)
        self.mu = np.median(
            F.T @ (F @ (step * np.rint(total / step) * (self._design[:, None] / plan))), axis=1
        )
        self.sigma = np.sqrt(self.lost + lam * (F * F).sum(axis=0))
        self.beta = self._width(self.sigma[self.active].max())
        width = self.beta * self.sigma
        self.active = self.active & (self.mu + width >= (self.mu - width)[self.active].max())

    def _width(self, widest):
        """beta, where `widest` is the largest sigma of an active arm."""
        s, order, p, root = (
            self.s,
            self.s.constants == "order",
            1 + self.s.alpha,
            math.sqrt(self.s.lam),
        )
        if self.kind == "Laplace":
            L, R = self.scale, self.problem.R
            noise = max(
                math.sqrt(2 * (R * R + 4 * L * L) * self._log),
                math.sqrt(8) * L * self._log * widest / root,
            )
            if order:
                noise = math.sqrt((R * R + 2 * L * L) * math.log(s.T))
            return self.B + s.beta_scale * noise / root
        noise = self.scale * math.sqrt(math.log(s.T) if order else 2 * self._log)
        if self.kind == "heavy":  # Chebyshev; alpha < 1: von Bahr and Esseen
            noise = self.scale * (1 if order else 4 if p == 2 else 8) ** (1 / p)
            noise *= max(self._design.sum(), 1) ** (1 / p - 0.5)
        return math.hypot(self.B, s.beta_scale * noise / root)


ALGORITHMS = {
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


class _Default(float):
    """A default that a learner may replace by its own."""


def _curator(curator, eps, problem):
    """The curator that these arguments of `make` name; None where nothing is private."""
    if isinstance(curator, type) and issubclass(curator, CTL):
        curator = Identity() if curator is Identity else curator(eps, problem.B, problem.R)
    if not (curator is None or isinstance(curator, CTL)):
        raise ValueError(
            f"curator = {curator!r:.80}: must be a curator or a class of them, such as core.OneBit"
        )
    if curator is None:
        return None if eps is None else CTL(eps, problem.B, problem.R)
    if eps is not None and curator.eps != eps:
        raise ValueError(f"eps = {eps!r}: must be the curator's eps, {curator.eps!r}, or left out")
    return None if curator.eps is None else curator


def make(
    name: str,
    problem: Problem,
    T: int,
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
    rng: Any = None,
) -> _Bandit:
    """An algorithm by name: "TGP", "ATA", "MoMA"; ours "PE"; baselines "GP-UCB", "TS", "MoM", "MoMA-avg", "uniform".

    eps: None for the non-private twin. With eps (or a `curator`) alpha = 1, and v and c follow from B, R and the noise.
    constants: "theorem" as proved, "order" the same orders with constant 1, "repaired" the errata's (TGP, MoMA).
    lam: ridge; PE's default (also lam=None) is (s/B)^2, s the size of the reports' noise.
    beta_scale: multiplies the part of beta after B.   q: Nyström oversampling; inf keeps every played arm.
    k: MoMA's plays per epoch; PE's copies under heavy tails.
    weibull: (theta, a, b) of P(|noise| >= x) <= a exp(-b x^{1/theta}) (TGP, non-private).
    curator: a curator, or a class such as OneBit that is then given eps, B and R; None is CTL where there is an eps.
    rng: generator or seed of the dictionary draws (of uniform play; of the order inside PE's batches).
    """
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise ValueError(f"name = {name!r:.80}: must be one of {', '.join(ALGORITHMS)}")
    if not isinstance(problem, Problem):
        raise ValueError(f"problem = {type(problem).__name__}: must be a Problem")
    check.choice("constants", constants, "order", "theorem", "repaired")
    if constants not in ALGORITHMS[name].presets:
        raise ValueError(
            f"constants = {constants!r}: must be {' or '.join(map(repr, ALGORITHMS[name].presets))} for "
            f"{name}; nothing else is known of its width"
        )
    hidden, alpha, v, c = _curator(curator, eps, problem), problem.alpha, problem.v, problem.c
    if hidden is not None:
        alpha, v, c = (
            1.0,
            problem.B**2 + problem.R**2 + hidden.variance,
            problem.R**2 + hidden.variance,
        )
    if weibull is not None:
        if (
            name != "TGP"
            or hidden is not None
            or not isinstance(weibull, (tuple, list))
            or len(weibull) != 3
        ):
            raise ValueError(
                f"weibull = {weibull!r}: must be a tuple (theta, a, b), for the non-private TGP only"
            )
        theta, a, b = map(check.positive, ("weibull theta", "weibull a", "weibull b"), weibull)
        weibull = theta, a, b
    if constants != "order" and problem.residual > problem.tol:
        raise ValueError(
            f"constants = {constants!r}: must be 'order'; the {len(problem.Z)} features of this problem "
            f"miss {problem.residual:.3g} of k(x, x), so that no band is proved; raise its rank"
        )
    if name == "PE" and (lam is None or isinstance(lam, _Default)):
        ratio = PE.reports(problem, hidden)[1] / problem.B
        lam = max(ratio * ratio, 1e-8)
    settings = Settings(
        T=check.integer("T", T),
        lam=check.ridge(lam),
        delta=check.fraction("delta", delta),
        acc=check.fraction("acc", acc),
        constants=constants,
        beta_scale=check.nonnegative("beta_scale", beta_scale),
        q=q
        if q is None or q == math.inf
        else check.number("q", q, "a number > 0, or inf", low=0.0),
        k=None if k is None else check.integer("k", k),
        weibull=weibull,
        curator=hidden,
        alpha=alpha,
        v=v,
        c=c,
    )
    try:
        return ALGORITHMS[name](problem, settings, check.seeded(rng))
    except OverflowError:
        raise ValueError(
            f"weibull = {weibull!r}, T = {T!r}: the schedule is out of floating-point range"
        ) from None
