"""This module designs batches and evaluates them; it knows nothing of bandits or privacy.

>>> import numpy as np
>>> Z = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])  # features of three arms
>>> optimal_design(Z, 100, lam=1.0)  # plays that make the largest variance small
array([44,  9, 47])

A D-optimal design is found by multiplicative steps that end at a certificate. A `Fit` estimates f
from the mean reports of such a batch, with the sizes of bias and noise of every estimate and of
every difference of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 10**4  # of a design, at most; about ln(n)/ln(1.01) suffice
CERTIFICATE = 1.01  # of a design: max_x d_x <= CERTIFICATE * sum_x w_x d_x
PAIRS = 10**6  # comparisons of two arms in a batch, at most


def factor(Z: np.ndarray, weight: np.ndarray, ridge: float) -> np.ndarray:
    """Return F (r, n) with `F'F = Z'(Z diag(weight) Z' + ridge I)^{-1} Z`.

    It is computed by QR, so that weight/ridge may reach 1e15.
    """
    on = weight > 0
    played = (Z[:, on] * np.sqrt(weight[on])).T
    rows = np.vstack([played, math.sqrt(ridge) * np.eye(len(Z))])
    R: Any = np.linalg.qr(rows, mode="r")
    return np.linalg.solve(R.T, Z)


def design_weights(Z: np.ndarray, ratio: float) -> np.ndarray:
    """Find weights w (n,) that maximise `ln det(I + ratio sum_x w_x z_x z_x')`, with a certificate.

    Steps w_x <- w_x d_x / sum w d, with d the gradient, end at max d <= 1.01 sum w d: then
    max_x d_x <= 1.01 d_eff, which Lemma B needs. Features that move no d by 1e-9 are left out.
    """
    largest_first = np.argsort(-(Z * Z).sum(axis=1), kind="stable")
    Z = Z[largest_first]
    rest = np.cumsum((Z * Z)[::-1], axis=0)[::-1]  # of |z_x|^2, from each feature on
    tail = ratio * rest.max(axis=1)
    Z = Z[tail > 1e-9 * np.minimum(tail[:1], 1.0)]
    w = np.full(Z.shape[1], 1 / Z.shape[1])
    for _ in range(STEPS):
        d = (factor(Z, w, 1 / ratio) ** 2).sum(axis=0)
        mean = w @ d
        if d.max() <= CERTIFICATE * mean:
            return w
        w = w * d / mean
    raise ArithmeticError(
        f"the design of {len(w)} arms has max d = {d.max() / mean:.4g} of its mean after {STEPS} "
        f"steps: must be at most {CERTIFICATE}, or no bound of this batch's variance is proved"
    )


def optimal_design(Z: np.ndarray, N: int, lam: float) -> np.ndarray:
    """Round D-optimal weights of the features Z (r, n) to counts (n,) that sum to N.

    Remainders that differ by rounding are a tie; ties go to the lowest index.
    """
    w = design_weights(Z, N / lam)
    counts = np.floor(N * w).astype(np.int64)
    more = int(max(N - counts.sum(), 0))
    remainder = N * w % 1
    remainder -= np.sort(remainder)[-more]  # compared with the last that is served
    rounding = 1e-9 + 1e-15 * N * N / lam
    remainder[np.abs(remainder) <= rounding] = 0.0
    counts[np.argsort(-remainder, kind="stable")[:more]] += 1
    counts[w.argmax()] += N - counts.sum()  # N w itself is rounded above 1e13 plays
    return counts


def spanning_arms(Z: np.ndarray, enough: Callable[[int], float]) -> np.ndarray:
    """Find p arms that span every z_x up to |rest|^2 <= enough(p), by pivoted Cholesky."""
    rest = Z.copy()
    chosen: list[int] = []
    for p in range(1, min(Z.shape) + 1):
        missed = (rest * rest).sum(axis=0)
        arm = int((missed >= missed.max() - 1e-9).argmax())  # the lowest index of a tie
        if chosen and missed[arm] <= enough(p):
            break
        chosen.append(arm)
        unit = rest[:, arm] / max(math.sqrt(missed[arm]), 1e-300)
        rest -= np.outer(unit, unit @ rest)
    return np.unique(chosen)


class Fit:
    """A fit is a weighted ridge regression on one batch, by singular values, in units of B.

    With `S = sum_x n_x (B/s)^2 zz'` and V = rho I + S, column x of
        bias (r, n)       rho V^{-1} z_x          B |bias_x| bounds the bias of the estimate of f(x)
        noise (r, n)      S^{1/2} V^{-1} z_x      B |noise_x| is the sub-Gaussian size of its noise
        tail (plays, n)   L_y w_y(x)              w_y: weight of a Laplace draw of scale L_y
    An estimate is linear in phi_x, so differences of columns say the same of f(x) - f(x'):
    Lemma A'. Where `tail` would be huge, one number that bounds it takes its place.
    """

    def __init__(
        self,
        Z: np.ndarray,
        lost: np.ndarray,
        design: np.ndarray,
        size: np.ndarray,
        ridge: float,
        laplace: np.ndarray,
        means: np.ndarray,
    ):
        played = np.flatnonzero(design)
        weight = np.sqrt(design[played]) / size[played]  # of a mean report; size is s/B
        rows = np.zeros((max(len(played), len(Z)), len(Z)))  # without a play all of z is bias
        rows[: len(played)] = weight[:, None] * Z[:, played].T
        U, sv, Q = np.linalg.svd(rows, full_matrices=False)
        U = U[: len(played)]
        shrunk = (Q @ Z) / (ridge + sv * sv)[:, None]  # V^{-1} z in the basis Q
        self.bias = ridge * shrunk
        self.noise = sv[:, None] * shrunk
        self.values = U.T @ (weight[:, None] * means[played])  # estimates are noise'values
        self.lost = np.sqrt(lost)
        self.missed = math.sqrt(lost.max() * float(weight @ weight))
        self.ridge = ridge
        draws = laplace[played] * weight / design[played]
        self.most = draws.max(initial=0.0)
        self.tail = None
        if self.most > 0 and len(played) * Z.shape[1] <= PAIRS:
            self.tail = draws[:, None] * (U @ self.noise)

    def arms(self) -> tuple[np.ndarray, ...]:
        """Return estimates of f (n, k), then the sizes of bias, noise and tail, each (n,)."""
        return self._measure(lambda part: part, self.lost)

    def differences(self, arms: np.ndarray, rival: int) -> tuple[np.ndarray, ...]:
        """Estimate f(rival) - f(x), x in `arms`, likewise; no digit is lost in the difference."""
        lost = self.lost[arms] + self.lost[rival]
        return self._measure(lambda part: part[:, [rival]] - part[:, arms], lost)

    def _measure(self, columns, lost):
        """Estimate, and measure bias, noise and tail, in columns of the fit.

        Features left out add `lost` to the bias and, by the plays, a multiple of b.
        """
        bias = columns(self.bias)
        noise = columns(self.noise)
        seen = np.sqrt((bias**2).sum(axis=0))  # the bias that features show
        b = np.sqrt((noise * noise).sum(axis=0))
        a = np.hypot(seen, lost) + self.missed * b
        if self.tail is None:
            tail = self.most * b  # rows of U have length 1 at most
        else:
            tail = np.abs(columns(self.tail)).max(axis=0)
        return noise.T @ self.values, a, b, tail

    def sigma(self) -> np.ndarray:
        """Compute the posterior deviation of every arm, (n,)."""
        explained = (self.bias**2).sum(axis=0) + self.ridge * (self.noise**2).sum(axis=0)
        return np.sqrt(self.lost**2 + explained)
