"""Linear algebra beyond NumPy's: features of a kernel by pivoted Cholesky, and V^{-1/2} while plays are added to V.

>>> import numpy as np
>>> d, x = np.array([1.0, 4.0, 9.0]), np.array([0.6, 0.0, 0.8])
>>> root = InverseRoot(d, room=10.0, arms=[0], X=x[None])
>>> root.play(0, x)
True
>>> bool(np.allclose(root.S @ (np.diag(d) + np.outer(x, x)) @ root.S, np.eye(3), atol=1e-10))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

MOST = 40       # different arms that an InverseRoot takes
LATE = 8        # plays whose changes it keeps apart
GROWTH = 1e3    # by which det V may grow: rounding grows with it, from 1e5 on beyond 1e-11


def pivoted_cholesky(kernel: Callable, X: np.ndarray, diagonal: np.ndarray, rank: int, tol: float) -> np.ndarray:
    """Z (r, n) with k(x, x') ~ z_x'z_x' on the points X (n, d): r = rank, or less once k(x, x) - |z_x|^2 < tol.

    Pivots come in blocks of up to 32, chosen one by one among the points with the largest residuals while each is at
    least half the largest of all, so that a block costs one product over Z and nothing (n, n) is built.
    """
    Z, r, left = np.empty((min(rank, len(X)), len(X))), 0, diagonal.copy()
    while r < len(Z) and left.max() >= tol:
        few = np.argsort(-left, kind="stable")[:256]
        S = kernel(X[few], X[few]) - Z[:r, few].T @ Z[:r, few]               # residual covariance of the candidates
        floor, picked, L = max(S.diagonal().max() / 2, tol), list[int](), list[np.ndarray]()
        while len(picked) < min(32, len(Z) - r) and S.diagonal().max() >= floor:
            picked.append(int(S.diagonal().argmax()))
            L.append(S[picked[-1]] / math.sqrt(S[picked[-1], picked[-1]]))
            S = S - np.outer(L[-1], L[-1])
        if not picked or left.min() < -1e-6:
            raise ValueError(f"kernel leaves a residual {left.min():.3g}: must be positive semi-definite")
        pivots, block = few[picked], np.array(L)[:, picked]                  # block' lower triangular
        rows = kernel(X[pivots], X) - Z[:r, pivots].T @ Z[:r]
        Z[r:r + len(picked)] = np.linalg.inv(block.T) @ rows
        left -= (Z[r:r + len(picked)] ** 2).sum(axis=0)
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
    s, w = low * np.tan(angle) ** 2, math.sqrt(low) / (a * N) * np.sqrt(cos2 + low / high * (1 - cos2)) / cos2
    rest = slice(N // 2 - 1, None, -1) if N > 1 else slice(0)                # by symmetry: s -> low high/s
    return np.append(s, mean * (mean / s[rest])), np.append(w, w[rest] * (mean / s[rest]))


class InverseRoot:
    """S = V^{-1/2}, (m, m), from V = diag(d) on: a play costs O(N (m^2 + p^2)), p the number of arms known.

    V^{-1/2} = sum_k w_k (V + s_k)^{-1}, and a play x changes each term by rank one. Of arms with coordinates X (p, m),
    C (N, p, p) keeps (V + s_k)^{-1} X' = G_k X' C_k', where G_k = (diag(d) + s_k)^{-1}; the row of a new arm follows
    from V = diag(d) + sum_a count_a x_a x_a'. What the last plays take from C, B' A, is kept apart: at most LATE.
    room: how much the plays may add to the largest eigenvalue of V. arms, X: those that are likely to be played.
    """

    def __init__(self, d: np.ndarray, room: float, arms: list[int], X: np.ndarray):
        low, high = float(d.min()), float(d.max()) + room
        s, w = nodes(low, high)
        self.w, self.G = w[:, None], 1 / (d + s[:, None])                    # (N, 1), (N, m)
        self.S, self.X, self.C = np.diag(d**-0.5), X, np.tile(np.eye(len(arms)), (len(s), 1, 1))
        self.arms, self.counts = list(arms), np.zeros(len(arms))
        self.growth = 1.0 if high <= 1e12 * low else math.inf                # beyond, the nodes are not precise enough
        self._clear()

    def play(self, arm: int, x: np.ndarray) -> bool:
        """Add a play of `arm` with coordinates x (m,) -> was that possible? If not, it is time for a new root."""
        new = arm not in self.arms
        if self.growth > GROWTH or (new and len(self.arms) == MOST):
            return False
        if new:
            self._add(arm, x)
        j = self.arms.index(arm)
        row = self.C[:, j] - (self.B[:, None, :, j] @ self.A)[:, 0]
        h = self.G * (row @ self.X)                                          # (V + s_k)^{-1} x, (N, m)
        c = h @ self.X.T
        grown = 1 + c[:, j, None]
        self.S -= h.T @ (h * (self.w / grown))
        self.A[:, self.late], self.B[:, self.late] = row, c / grown
        self.counts[j] += 1
        self.growth *= float(grown[0, 0])                                    # s_0 is next to 0
        self.late += 1
        if self.late == LATE:
            self.C -= self.B.transpose(0, 2, 1) @ self.A
            self._clear()
        return True

    def _add(self, arm, x):
        """Room for another arm."""
        C, p = self.C - self.B.transpose(0, 2, 1) @ self.A, len(self.arms)
        met = self.G @ (self.X * x).T * self.counts                          # count_a x_a' G_k x, (N, p)
        self.C = np.zeros((len(C), p + 1, p + 1))
        self.C[:, :p, :p], self.C[:, p, :p], self.C[:, p, p] = C, -np.einsum("Na,Nab->Nb", met, C), 1.0
        self.X, self.arms, self.counts = np.vstack([self.X, x]), [*self.arms, arm], np.append(self.counts, 0.0)
        self._clear()

    def _clear(self):
        N, p = self.C.shape[:2]
        self.A, self.B, self.late = np.zeros((N, LATE, p)), np.zeros((N, LATE, p)), 0
