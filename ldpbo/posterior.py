"""Linear algebra beyond NumPy's: features of a kernel by pivoted Cholesky, and V^{-1/2} while plays are added to V.

>>> import numpy as np
>>> d, x = np.array([1.0, 4.0, 9.0]), np.array([0.6, 0.0, 0.8])
>>> root = InverseRoot(d, room=10.0, arms=[0], X=x[None])
>>> root.play(0, x)
True
>>> bool(np.allclose(root.dot(root.dot(np.diag(d) + np.outer(x, x))), np.eye(3), atol=1e-10))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

SMALL = 10**5  # numbers in a feature matrix of which a second copy may be kept
MOST = 40  # different arms that an InverseRoot takes
LATE = 16  # plays whose changes it keeps apart
GROWTH = 1e3  # by which det V may grow: rounding grows with it, from 1e5 on beyond 1e-11


def pivoted_cholesky(
    kernel: Callable, X: np.ndarray, diagonal: np.ndarray, rank: int, tol: float
) -> np.ndarray:
    """Z (r, n) with k(x, x') ~ z_x'z_x' on the points X (n, d): r = rank, or less once k(x, x) - |z_x|^2 < tol.

    Pivots come in blocks of up to 32, chosen one by one among the points with the largest residuals while each is at
    least half the largest of all, so that a block costs one product over Z and nothing (n, n) is built.
    """
    Z, r, left = np.empty((min(rank, len(X)), len(X))), 0, diagonal.copy()
    while r < len(Z) and left.max() >= tol:
        few = np.argsort(-left, kind="stable")[:256]
        S = (
            kernel(X[few], X[few]) - Z[:r, few].T @ Z[:r, few]
        )  # residual covariance of the candidates
        floor, picked, L = max(S.diagonal().max() / 2, tol), list[int](), list[np.ndarray]()
        while len(picked) < min(32, len(Z) - r) and S.diagonal().max() >= floor:
            picked.append(int(S.diagonal().argmax()))
            L.append(S[picked[-1]] / math.sqrt(S[picked[-1], picked[-1]]))
            S = S - np.outer(L[-1], L[-1])
        if not picked or left.min() < -1e-6:
            raise ValueError(
                f"kernel leaves a residual {left.min():.3g}: must be positive semi-definite"
            )
        pivots, block = few[picked], np.array(L)[:, picked]  # block' lower triangular
        rows = kernel(X[pivots], X) - Z[:r, pivots].T @ Z[:r]
        Z[r : r + len(picked)] = np.linalg.inv(block.T) @ rows
        left -= (Z[r : r + len(picked)] ** 2).sum(axis=0)
        left[pivots] = 0.0
        r += len(picked)
    return Z[:r]


def nodes(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """s and w, both (N,), with z^{-1/2} = sum_k w_k/(z + s_k), right to 1e-11 for low <= z <= high <= 1e12 low.

    The rule of Hale, Higham & Trefethen 2008 (Section 4): s_k = low tan(angle_k)^2, where the angles are Jacobi's
    amplitudes at even steps, here by the arithmetic-geometric mean. Error: about 4 exp(-2 pi^2 N/ln(16 high/low)).
    """
    a, b, ratios = 1.0, math.sqrt(low / high), []
    while a - b > 1e-15:
        a, b, c = (a + b) / 2, math.sqrt(a * b), (a - b) / 2
        ratios.append(c / a)
    N = math.ceil(1.4 * math.log(16 * high / low))
    angle = 2 ** len(ratios) * (np.arange((N + 1) // 2) + 0.5) * math.pi / (2 * N)
    for ratio in reversed(ratios):
        angle = (angle + np.arcsin(ratio * np.sin(angle))) / 2
    cos2, mean = np.cos(angle) ** 2, math.sqrt(low * high)
    s, w = (
        low * np.tan(angle) ** 2,
        math.sqrt(low) / (a * N) * np.sqrt(cos2 + low / high * (1 - cos2)) / cos2,
    )
    rest = slice(N // 2 - 1, None, -1) if N > 1 else slice(0)  # by symmetry: s -> low high/s
    return np.append(s, mean * (mean / s[rest])), np.append(w, w[rest] * (mean / s[rest]))


class InverseRoot:
    """V^{-1/2}, (m, m), from V = diag(d) on: a play costs O(N (m^2 + p^2)), p the number of arms known.

    V^{-1/2} = sum_k w_k (V + s_k)^{-1}, and a play x changes each term by rank one. Of arms with coordinates X (p, m),
    C (N, p, p) keeps (V + s_k)^{-1} X' = G_k X' C_k', where G_k = (diag(d) + s_k)^{-1}; the row of a new arm follows
    from V = diag(d) + sum_a count_a x_a x_a'. What the last arms take from C, B' A, is kept apart: at most LATE.
    Plays of one arm in a row are of rank one together: j of them take hh'/(x'h + 1/j) from a term, where
    h = (V + s_k)^{-1} x. S is V^{-1/2} after the first of them, `again` counts the others.
    room: how much the plays may add to the largest eigenvalue of V. arms, X: those that are likely to be played.
    """

    def __init__(self, d: np.ndarray, room: float, arms: list[int], X: np.ndarray):
        low, high, p = float(d.min()), float(d.max()) + room, len(arms)
        s, self.w = nodes(low, high)  # (N,)
        self.S, self.G = np.diag(d**-0.5), 1 / (d + s[:, None])  # (m, m), (N, m)
        self.X, self.C = (
            np.zeros((MOST, len(d))),
            np.zeros((len(s), MOST, MOST)),
        )  # rows up to p are in use
        self.A, self.B, self.late = (
            np.zeros((len(s), LATE, MOST)),
            np.zeros((len(s), LATE, MOST)),
            0,
        )
        self.X[:p], self.C[:, :p, :p] = X, np.eye(p)
        self.arms, self.counts = list(arms), np.zeros(MOST)
        self.arm, self.again, self.h, self.taken = (
            -1,
            0,
            self.G,
            self.w,
        )  # -1: no arm was played since C was written
        self.last: np.ndarray | None = None
        self.growth = (
            1.0 if high <= 1e12 * low else math.inf
        )  # beyond, the nodes are not precise enough

    def dot(self, v: np.ndarray) -> np.ndarray:
        """V^{-1/2} v, for v (m,) or (m, q)."""
        return (
            self.S.dot(v) - self.h.T.dot((self.taken * self.h.dot(v).T).T)
            if self.again
            else self.S.dot(v)
        )

    def between(self, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Q V^{-1/2} R, with one Q for all calls. In a row of plays only what they change, while R is the same."""
        if not self.again:
            return Q.dot(self.S.dot(R))
        if self.last is not R:
            self.last, self.ends = R, (Q.dot(self.S.dot(R)), Q.dot(self.h.T), self.h.dot(R))
        whole, left, right = self.ends
        return whole - left.dot((self.taken * right.T).T)

    def play(self, arm: int, x: np.ndarray) -> bool:
        """Add a play of `arm` with coordinates x (m,) -> was that possible? If not, it is time for a new root."""
        if self.growth > GROWTH or (
            arm != self.arm and len(self.arms) == MOST and arm not in self.arms
        ):
            return False
        if arm != self.arm:
            self._settle(arm not in self.arms)
            if arm not in self.arms:
                self._add(arm, x)
            p, self.arm, self.last, self.j = len(self.arms), arm, None, self.arms.index(arm)
            row = (
                self.C[:, self.j, :p]
                - (self.B[:, None, : self.late, self.j] @ self.A[:, : self.late, :p])[:, 0]
            )
            self.h = self.G * row.dot(self.X[:p])  # (V + s_k)^{-1} x, (N, m)
            self.c, self.A[:, self.late, :p] = self.h.dot(self.X[:p].T), row
            self.grown = 1 + self.c[:, self.j]
            self.S -= (self.h.T * (self.w / self.grown)).dot(self.h)
            self.first = float(self.c[0, self.j])  # s_0 is next to 0
            self.growth *= 1 + self.first
        else:
            if not self.again:
                self.h, self.own = (
                    (self.h.T / self.grown).T,
                    self.c[:, self.j] / self.grown,
                )  # after the first play
            self.again += 1
            self.taken = self.w / (self.own + 1 / self.again)
            self.growth *= 1 + self.first / (1 + self.again * self.first)
        self.counts[self.j] += 1
        return True

    def _settle(self, whole):
        """End a row of plays. whole: C shall have all of them."""
        p = len(self.arms)
        if self.arm >= 0:
            if self.again:
                self.S -= (self.h.T * self.taken).dot(self.h)
            np.divide(
                self.c,
                (self.grown - self.again / (1 + self.again))[:, None],
                out=self.B[:, self.late, :p],
            )
            self.arm, self.late, self.again = -1, self.late + 1, 0
        if self.late == LATE or (whole and self.late):
            self.C[:, :p, :p] -= (
                self.B[:, : self.late, :p].transpose(0, 2, 1) @ self.A[:, : self.late, :p]
            )
            self.late = 0

    def _add(self, arm, x):
        """Another arm, which C meets after all plays."""
        p = len(self.arms)
        met = (self.X[:p] * x).dot(self.G.T).T * self.counts[:p]  # count_a x_a' G_k x, (N, p)
        self.C[:, p, :p], self.C[:, :p, p], self.C[:, p, p] = (
            -(met[:, None] @ self.C[:, :p, :p])[:, 0],
            0.0,
            1.0,
        )
        self.X[p] = x
        self.arms.append(arm)
