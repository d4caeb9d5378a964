"""This module does kernel ridge regression on n arms; it knows nothing of bandits or privacy.

>>> import numpy as np
>>> domain = Domain.of_matrix(np.array([[1.0, 0.5], [0.5, 1.0]]))
>>> posterior = Posterior(domain, lam=1.0)              # Eqs. (mu) and (sigma)
>>> posterior.add(0, 2.0)                               # arm 0 was played and gave 2
>>> posterior.mean, posterior.sigma**2
(array([1. , 0.5]), array([0.5  , 0.875]))

Four nouns carry the algorithms. A `Domain` holds the arms as features. A `Span` gives the arms
coordinates: their features themselves, or those on the span of a dictionary of arms (Alg. 4). A
`Posterior` turns counts and sums of rewards into mean and variance, at one product over the
features a play. A `Sketch` is a Posterior on the span of a dictionary. `RootPosterior` takes plays
of one arm in runs of any length; `InverseRoot` and `pivoted_cholesky` are the linear algebra below.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpbo import checks as check

EIGEN_CUT = 1e-12  # eigenvalues of K_D below this fraction of the largest count as zero
REFRESH = 500  # rank-one updates between two fresh solves
SMALL = 10**5  # numbers in a feature matrix of which coordinates are kept
BLOCK = 10**7  # numbers that a pass over a large domain holds at a time
REMEMBERED = 4 * 10**6  # numbers in the coordinates of recent dictionaries: about 32 MB
GROWTH = 1e3  # by which det V may grow before V^{-1/2} is computed afresh: rounding grows with it
ROWS = 32  # rows of plays that V^{-1/2} takes in before it is computed afresh
BEHIND = 12  # plays by which V^{-1/2} may be behind before it is computed afresh


# ---- Domain: the arms as features ----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Domain:
    """A domain holds n arms as features Z (r, n): k(x, x') is z_x'z_x', up to what they leave out.

    `diagonal` (n,) is k(x, x). K (n, n) is kept where it was given.
    """

    Z: np.ndarray
    diagonal: np.ndarray
    K: np.ndarray | None = None

    @classmethod
    def of_matrix(cls, K: Any) -> Domain:
        """Make the domain of a kernel matrix; its features are scaled eigenvectors."""
        K = check.kernel_matrix(K)
        w, Q = np.linalg.eigh(K)
        check.semidefinite(w)
        Q = np.where((1 / np.arange(1, len(Q) + 1)) @ Q < 0, -Q, Q)  # LAPACK's signs differ
        Q, root = _large(w, Q, 1e-16)  # the rest is rounding
        return cls(_frozen(Q.T * root[:, None]), K.diagonal(), _frozen(K))

    @classmethod
    def of_points(
        cls,
        points: np.ndarray,
        kernel: Callable,
        rank: int,
        tol: float,
        features: np.ndarray | None = None,
    ) -> Domain:
        """Make the domain of points (n, d) and a kernel function; nothing (n, n) is built.

        Features that are not given come from pivoted Cholesky.
        """
        diagonal = _diagonal(points, kernel)
        if features is None:
            features = pivoted_cholesky(kernel, points, diagonal, rank, tol)
        return cls(_frozen(np.ascontiguousarray(features)), _frozen(diagonal))

    @property
    def n(self) -> int:
        return self.Z.shape[1]

    @functools.cached_property
    def lost(self) -> np.ndarray:
        """Return what features leave out of k(x, x), (n,), a part of sigma^2; 0 if K was given."""
        if self.K is not None:
            return np.zeros(self.n)
        return np.maximum(self.diagonal - np.einsum("rn,rn->n", self.Z, self.Z), 0.0)

    def kernel(self, arms: np.ndarray) -> np.ndarray:
        """Return K between these arms, (arms, arms)."""
        if self.K is not None:
            return self.K[np.ix_(arms, arms)]
        return self.Z[:, arms].T @ self.Z[:, arms]


def _frozen(array):
    array.setflags(write=False)
    return array


def _diagonal(points, kernel):
    """Compute k(x, x) of all points, (n,), by small blocks of the kernel."""
    parts = np.array_split(points, math.ceil(len(points) / 64))
    blocks = [check.array("kernel(X, X)", kernel(X, X), 2) for X in parts]
    diagonal = np.concatenate([np.diagonal(block) for block in blocks])
    if len(diagonal) != len(points) or diagonal.max() > 1 + 1e-9 or diagonal.min() < 0:
        raise ValueError(
            f"kernel: k(x, x) {diagonal.min():.6g} to {diagonal.max():.6g}, {len(diagonal)} values"
            f": must be from 0 to 1 at {len(points)}; scale the points or the kernel"
        )
    return diagonal


def _large(w, Q, cut):
    """Select eigenvectors (n, r) with eigenvalues above `cut` times the largest, and roots (r,)."""
    large = w > cut * max(w.max(initial=0.0), 0.0)
    return Q[:, large], np.sqrt(w[large])


def pivoted_cholesky(
    kernel: Callable, X: np.ndarray, diagonal: np.ndarray, rank: int, tol: float
) -> np.ndarray:
    """Compute features Z (r, n) of a kernel on points X (n, d) until they miss less than `tol`.

    There are at most `rank` of them. Pivots come in blocks, so that a block costs one product over
    Z and nothing (n, n) is built.
    """
    Z = np.empty((min(rank, len(X)), len(X)))
    left = diagonal.copy()  # k(x, x) - |z_x|^2
    r = 0
    while r < len(Z) and left.max() >= tol:
        few = np.argsort(-left, kind="stable")[:256]
        residual = kernel(X[few], X[few]) - Z[:r, few].T @ Z[:r, few]
        picked, triangle = _pivots(residual, min(32, len(Z) - r), tol)
        if not picked or left.min() < -1e-6:
            raise ValueError(
                f"kernel leaves a residual {left.min():.3g}: must be positive semi-definite"
            )
        pivots = few[picked]
        rows = kernel(X[pivots], X) - Z[:r, pivots].T @ Z[:r]
        new = slice(r, r + len(picked))
        Z[new] = np.linalg.inv(triangle) @ rows
        left -= (Z[new] ** 2).sum(axis=0)
        left[pivots] = 0.0
        r += len(picked)
    return Z[:r]


def _pivots(residual, most, tol):
    """Choose pivots as long as one has half the first residual -> they, and a Cholesky factor."""
    floor = max(residual.diagonal().max() / 2, tol)
    picked: list[int] = []
    rows: list[np.ndarray] = []
    while len(picked) < most and residual.diagonal().max() >= floor:
        pivot = int(residual.diagonal().argmax())
        row = residual[pivot] / math.sqrt(residual[pivot, pivot])
        residual = residual - np.outer(row, row)
        picked.append(pivot)
        rows.append(row)
    return picked, np.array(rows)[:, picked].T if picked else None


# ---- Span: coordinates of the arms ---------------------------------------------------------------


class Span:
    """A span gives every arm coordinates x (m',): features z, or U'z with U (r, m') orthonormal.

    On the span of a dictionary of m arms the paper's embedding phi is Qx, with Q (m, m'). On a
    large domain x is never kept for all arms; `at` and `over` then go through Z.
    """

    def __init__(self, domain: Domain, U: np.ndarray | None = None, Q: np.ndarray | None = None):
        self.domain = domain
        self.U: Any = U
        self.Q: Any = Q
        self.X = domain.Z if U is None else None
        if U is not None and domain.Z.size <= SMALL:
            self.X = U.T @ domain.Z

    @classmethod
    def of_dictionary(cls, domain: Domain, dictionary: np.ndarray) -> Span:
        """Make the span of some arms; phi is (K_D^{1/2})^+ k_D with the symmetric root.

        Q holds the eigenvectors of K_D above the cut, U = Z_D Q / root of the eigenvalues. Where D
        spans all features Z_D Z_D' is smaller than K_D and gives the same; elsewhere that would
        magnify rounding.
        """
        Z_D = domain.Z[:, dictionary]
        if len(Z_D) < len(dictionary):
            w, E = np.linalg.eigh(Z_D @ Z_D.T)
            U, root = _large(w, E, EIGEN_CUT)
            outside = E[:, : len(w) - len(root)].T @ domain.Z
            if (outside**2).sum(axis=0).max() < 1e-8:
                return cls(domain, U, (Z_D.T @ U) / root)
        Q, root = _large(*np.linalg.eigh(domain.kernel(dictionary)), EIGEN_CUT)
        return cls(domain, Z_D @ (Q / root), Q)  # Alg. 4, l. 7

    @property
    def dimension(self) -> int:
        """Return m', how many coordinates an arm has; V is (m', m')."""
        return len(self.domain.Z) if self.U is None else self.U.shape[1]

    @property
    def size(self) -> int:
        """Return how many numbers the coordinates hold in memory."""
        return sum(np.size(part) for part in (self.U, self.Q, self.X) if part is not None)

    def at(self, arms: Any) -> np.ndarray:
        """Return the coordinates x of these arms, (m', arms)."""
        if self.X is not None:
            return self.X[:, arms]
        return self.U.T @ self.domain.Z[:, arms]

    def over(self, v: np.ndarray) -> np.ndarray:
        """Compute x'v of all arms, (n,), or (n, q) for q columns v, by one product over Z."""
        if self.X is not None:
            return self.X.T.dot(v)
        return self.domain.Z.T @ (self.U @ v)

    def missed(self, arms: Any, x: np.ndarray) -> np.ndarray:
        """Return k(x, x) - |x|^2 of these arms: variance that no play on this span reduces."""
        if self.U is None:
            return self.domain.lost[arms]
        return self.domain.diagonal[arms] - np.einsum("rn,rn->n", x, x)

    def blocks(self) -> Iterator[slice]:
        """Yield the arms in pieces whose coordinates fit into memory: one on a small domain."""
        if self.domain.Z.size <= SMALL:
            yield slice(None)
            return
        step = 1 + BLOCK // max(len(self.domain.Z), 1)
        for start in range(0, self.domain.n, step):
            yield slice(start, start + step)


# ---- Posterior -----------------------------------------------------------------------------------


class Posterior:
    """A posterior turns counts (n,) and sums of rewards, (n,) or (n, q), into mean and leverage.

    The leverage is sigma^2/lam = missed/lam + x'Px with P = V^{-1}, where V is lam I plus the sum
    of `count_a x_a x_a'` over the arms (Lemma 5). A play adds xx' to V and changes all of them by
    rank one; a fresh solve every REFRESH plays keeps rounding small.
    """

    def __init__(self, domain: Domain, lam: float, *columns: int):
        self.domain = domain
        self.lam = lam
        self.counts = np.zeros(domain.n)
        self.sums = np.zeros((domain.n, *columns))
        self.begin()

    def begin(self) -> None:
        """Solve for no play at all."""
        self.solve(Span(self.domain))

    def solve(self, span: Span) -> None:
        """Compute everything afresh in the coordinates of `span`."""
        before = self._reduction() if self.counts.any() else None
        self.span = span
        self.age = 0
        self.root: InverseRoot | None = None
        self.recent: list[int] = []  # arms played since V^{-1/2} was last brought up to date
        played = np.flatnonzero(self.counts)
        x = span.at(played)
        # Alg. 1, l. 8; Alg. 3, l. 9
        V = (x * self.counts[played]).dot(x.T) + self.lam * np.eye(len(x))
        half = np.linalg.inv(np.linalg.cholesky(V))  # half'half has twice the digits of inv(V)
        self.P = half.T.dot(half)
        # Alg. 2, l. 9; Alg. 3, l. 10
        self.mean = span.over(self.P.dot(x.dot(self.sums[played])))
        if not self._shift_leverage(before):
            self._compute_leverage(half)

    def _compute_leverage(self, half):
        self.leverage = np.empty(self.domain.n)
        for arms in self.span.blocks():
            x = self.span.at(arms)
            seen = (half.dot(x) ** 2).sum(axis=0)
            # Alg. 1, l. 13; Alg. 2, l. 10; Alg. 3, l. 14
            self.leverage[arms] = np.maximum(seen + self.span.missed(arms, x) / self.lam, 0.0)

    def _reduction(self):
        """Return how plays changed leverages, as a quadratic form (r, r) in Z; None for small n."""
        if self.span.U is None or self.domain.n < 20 * len(self.domain.Z):
            return None
        U = self.span.U
        return U @ (self.P - np.eye(len(self.P)) / self.lam) @ U.T

    def _shift_leverage(self, before):
        """Update a large domain's leverages along the directions that changed -> whether it did."""
        if before is None or self.span.U is None:
            return False
        w, E = np.linalg.eigh(self._reduction() - before)
        changed = np.abs(w) > 1e-9 * np.abs(w).max(initial=0.0)  # the rest: rounding of U
        if 2 * np.count_nonzero(changed) >= len(w):
            return False
        self.leverage += w[changed] @ (E[:, changed].T @ self.domain.Z) ** 2
        np.maximum(self.leverage, 0.0, out=self.leverage)
        return True

    def add(self, arm: int, y: Any) -> None:
        """Take in one more play of `arm` with reward(s) y: V becomes V + xx'."""
        self.counts[arm] += 1
        self.sums[arm] += y
        self.age += 1
        if self.age >= REFRESH:
            self.solve(self.span)
            return
        v = self.P.dot(self.span.at(arm))  # V^{-1} x
        c = self.span.over(v)  # x_a' V^{-1} x of all arms a
        grown = 1 + float(c[arm])  # det V grows by this factor
        g = c / grown
        self.mean += np.multiply.outer(g, y - self.mean[arm])  # Alg. 2, l. 9; Alg. 3, l. 10
        self.leverage -= g * c  # Alg. 1, l. 13; Alg. 2, l. 10; Alg. 3, l. 14
        np.maximum(self.leverage, 0.0, out=self.leverage)
        self.P -= v[:, None].dot((v / grown)[None])  # Alg. 1, l. 8; Alg. 3, l. 9
        self.recent.append(arm)

    def give(self, arms: np.ndarray, y: np.ndarray) -> None:
        """Add rewards y to plays that were taken in without them; negative y takes rewards back."""
        np.add.at(self.sums, arms, y)
        self.mean += self.span.over(self.P @ (self.span.at(arms) @ y))

    @property
    def sigma(self) -> np.ndarray:
        """Return the posterior standard deviation of each arm, (n,)."""
        return np.sqrt(self.lam * self.leverage)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw from N(0, posterior covariance), (n,); what features leave out, arm by arm."""
        v = np.linalg.cholesky(self.P) @ rng.standard_normal(len(self.P))
        deviation = math.sqrt(self.lam) * self.span.over(v)
        if self.domain.lost.any():
            deviation += np.sqrt(self.domain.lost) * rng.standard_normal(self.domain.n)
        return deviation

    def inverse_root(self) -> np.ndarray:
        """Return V^{-1/2} after all plays, (m', m'), updated play by play, or afresh after many."""
        behind = self.recent
        self.recent = []
        if self.root is None or len(behind) > BEHIND:
            self.root = InverseRoot(self.P, REFRESH)  # a play adds at most k(x, x) <= 1 to V
            return self.root.S
        for arm in behind:
            if not self.root.add(self.span.at(arm)):
                self.root = InverseRoot(self.P, REFRESH)
                break
        return self.root.S


class Sketch(Posterior):
    """A sketch is the posterior on the span of a dictionary; it remembers recent spans."""

    def begin(self) -> None:
        """Solve for no play, on the empty dictionary."""
        self.spans: dict[bytes, Span] = {}
        self.project(np.zeros(0, dtype=int))

    def __getstate__(self):
        return {**self.__dict__, "spans": {}}  # a cache

    def add_on(self, dictionary: np.ndarray, arm: int, y: Any) -> None:
        """Take in one more play of `arm` with reward(s) y, on the span of this dictionary."""
        if dictionary.tobytes() == self.dictionary.tobytes():
            self.add(arm, y)
            return
        self.counts[arm] += 1
        self.sums[arm] += y
        self.project(dictionary)

    def project(self, dictionary: np.ndarray) -> None:
        """Solve for the same plays and rewards on the span of another dictionary."""
        self.dictionary = dictionary
        key = dictionary.tobytes()
        if key not in self.spans:
            span = Span.of_dictionary(self.domain, dictionary)
            if span.size * len(self.spans) > REMEMBERED:
                self.spans.clear()
            self.spans[key] = span
        self.solve(self.spans[key])


class RootPosterior:
    """A root posterior takes in plays of an arm in runs, at the same cost for any number of plays.

    It keeps root (r, n) with root'root = Z'V^{-1}Z and V = lam I + sum of zz' over the plays. A
    root has twice the digits of V^{-1}, and updates of it lose none in 1e15 plays.
    """

    def __init__(self, domain: Domain, lam: float):
        self.domain = domain
        self.lam = lam
        self.counts = np.zeros(domain.n, dtype=np.int64)
        self.sums = np.zeros(domain.n)
        self.root = domain.Z / math.sqrt(lam)
        self.gain = 0.0  # 1/2 ln det(V/lam)

    def leverage(self, arm: int) -> float:
        """Return z'V^{-1}z of an arm: sigma^2/lam without what features leave out."""
        v = self.root[:, arm]
        return float(v @ v)

    def add(self, arm: int, count: int, total: float) -> None:
        """Take in `count` plays of `arm` whose rewards add up to `total`: V becomes V + count zz'.

        The root becomes (I - kappa vv') root, v the arm's own column.
        """
        self.counts[arm] += count
        self.sums[arm] += total
        v = self.root[:, arm].copy()
        grown = 1 + count * float(v @ v)  # det V grows by this factor
        kappa = count / (grown + math.sqrt(grown))
        self.root -= np.outer(kappa * v, v @ self.root)
        self.gain += 0.5 * math.log(grown)

    @property
    def mean(self) -> np.ndarray:
        """Return the posterior mean of each arm, (n,)."""
        return self.root.T @ (self.root @ self.sums)

    @property
    def sigma(self) -> np.ndarray:
        """Return the posterior standard deviation of each arm, (n,)."""
        return np.sqrt(self.domain.lost + self.lam * (self.root * self.root).sum(axis=0))


# ---- V^{-1/2} while plays are added to V ---------------------------------------------------------


class InverseRoot:
    """An inverse root S is `V^{-1/2} = sum_k w_k (V + s_k)^{-1}` to 1e-11 (Hale et al. 2008).

    V = `E diag(d) E'` + the plays since. In the basis E the k-th term is diag(1/(d + s_k)) minus a
    rank one for each row of plays: j plays of one x in a row take hh'/(1/j + x'h) from it, where h
    = (V + s_k)^{-1} x before them. `room` is how much the plays to come may add to the largest
    eigenvalue of V.
    """

    def __init__(self, P: np.ndarray, room: float):
        p, self.E = np.linalg.eigh(P)  # V = E diag(1/p) E'
        d = 1 / np.maximum(p, 1e-300)
        low = float(d.min())
        high = float(d.max()) + room
        s, self.w = nodes(low, high)  # (N,), (N,)
        self.D = 1 / (d + s[:, None])  # (N, m')
        self.H = np.zeros((len(s), ROWS, len(p)))  # h/sqrt(1/j + x'h) of the rows so far
        self.rows = 0
        self.S = (self.E * np.sqrt(p)) @ self.E.T
        self.growth = 1.0 if high <= 1e12 * low else math.inf  # beyond, the nodes are not precise
        self.x = np.zeros(0)  # of the last plays, `plays` of them in a row
        self.plays = 0
        self.before = self.S  # S before these plays
        self.rotated = self.H[:, 0]  # h of x in the basis E, (N, m')
        self.h = self.rotated  # h of x, (N, m')
        self.c = np.zeros(len(s))  # x'h, (N,)

    def add(self, x: np.ndarray) -> bool:
        """Add xx' to V -> whether there was room for it and S is still precise."""
        if x.tobytes() != self.x.tobytes():
            self._end_row()
            if self.rows == ROWS:
                return False
            self._begin_row(x)
        self.plays += 1
        if self.growth * (1 + self.plays * float(self.c[0])) > GROWTH:  # s_0 is next to 0
            return False
        taken = self.w / (1 / self.plays + self.c)
        self.S = self.before - (self.h.T * taken).dot(self.h)
        return True

    def _begin_row(self, x):
        """Compute h for another x."""
        self.x = x
        self.before = self.S
        x = x.dot(self.E)
        H = self.H[:, : self.rows]
        self.rotated = self.D * x - np.matmul(np.matmul(H, x)[:, None], H)[:, 0]
        self.h = self.rotated.dot(self.E.T)
        self.c = self.rotated.dot(x)

    def _end_row(self):
        """Keep what the row of plays takes from the terms."""
        if not self.plays:
            return
        self.growth *= 1 + self.plays * float(self.c[0])
        self.H[:, self.rows] = self.rotated / np.sqrt(1 / self.plays + self.c)[:, None]
        self.rows += 1
        self.plays = 0


def nodes(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return s and w, both (N,), with `z^{-1/2} = sum_k w_k/(z + s_k)` for low <= z <= high.

    This is the rule of Hale, Higham & Trefethen 2008 (Section 4): s_k = low tan(angle_k)^2, where
    the angles are Jacobi's amplitudes at even steps, here by the arithmetic-geometric mean. The
    error is about 4 exp(-2 pi^2 N/ln(16 high/low)), below 1e-11 for high <= 1e12 low.
    """
    ratios, mean = _agm(1.0, math.sqrt(low / high))
    N = math.ceil(1.4 * math.log(16 * high / low))
    angle = 2 ** len(ratios) * (np.arange((N + 1) // 2) + 0.5) * math.pi / (2 * N)
    for ratio in reversed(ratios):
        angle = (angle + np.arcsin(ratio * np.sin(angle))) / 2
    cos2 = np.cos(angle) ** 2
    s = low * np.tan(angle) ** 2
    w = math.sqrt(low) / (mean * N) * np.sqrt(cos2 + low / high * (1 - cos2)) / cos2
    mirrored = np.arange(N // 2)[::-1]  # the other half follows by symmetry, s -> low high/s
    swap = math.sqrt(low * high) / s[mirrored]
    return np.append(s, math.sqrt(low * high) * swap), np.append(w, w[mirrored] * swap)


def _agm(a, b):
    """Return the ratios c/a in the steps of the arithmetic-geometric mean, and the mean."""
    ratios = []
    while a - b > 1e-15:
        c = (a - b) / 2
        a, b = (a + b) / 2, math.sqrt(a * b)
        ratios.append(c / a)
    return ratios, a
