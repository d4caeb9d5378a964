"""Longer checks of the errata: tails of the data, ties of medians, and formulas of the proofs."""

import math

import numpy as np
from scipy import integrate, stats

import ldpbo_core as core


def tails(problem):
    """Test the arms of a data set for normality and heavy tails.

    -> (arms where Kolmogorov and Smirnov's test rejects at 5 %, arms, median excess kurtosis, arms
    with positive excess kurtosis, largest |y - f| in standard deviations)
    """
    samples = problem.samples
    x = (samples - samples.mean(axis=0)) / samples.std(axis=0, ddof=1)
    rejected = sum(stats.kstest(column, "norm").pvalue < 0.05 for column in x.T)
    kurtosis = stats.kurtosis(x, axis=0)
    positive = int((kurtosis > 0).sum())
    return rejected, problem.n, float(np.median(kurtosis)), positive, float(np.abs(x).max())


def share_of_ties(k, epochs, rng):
    """Draw first epochs of k rewards, and return how often two medians of distances are least."""
    ties = 0
    for _ in range(epochs):
        y = rng.standard_t(3, k)
        spread = sorted(np.median(np.abs(np.delete(y, j) - y[j])) for j in range(k))
        ties += spread[1] - spread[0] <= 1e-12
    return ties / epochs


def projection_difference(rng):
    """Compare the projections on a dictionary with and without weights (B11)."""
    x = np.arange(1, 31) / 30
    K = core.se_kernel(x, x, lengthscale=0.05)
    D, weights = np.array([1, 7, 12, 20, 27]), rng.uniform(0.1, 1, 5)
    plain = core.nystrom_features(K, D)
    w, Q = np.linalg.eigh(K[np.ix_(D, D)] / np.sqrt(np.outer(weights, weights)))
    scaled = (Q / np.sqrt(w)) @ Q.T @ (K[D] / np.sqrt(weights)[:, None])
    return np.abs(plain.T @ plain - scaled.T @ scaled).max()


def bias_bounds(eps, t):
    """Return the exact and the printed bound on T_2 at B = R = 1 (C5)."""
    L, tau = 4 / eps, np.arange(1, t + 1)
    terms = (2 + L * np.log(tau) + L) * (1 - math.exp(-eps)) / (2 * tau)
    return math.sqrt((terms**2).sum()), math.sqrt((2 + 2 * L**2) * (math.log(t) + 1))


def bias_error(cases, L):
    """Compare the formula of truncation's bias with quadrature at each (y, b)."""

    def side(sign, y, b):
        density = lambda x: sign * x * math.exp(-abs(sign * x - y) / L) / (2 * L)
        return integrate.quad(density, b, b + 60 * L, epsabs=0, epsrel=1e-12)[0]

    def formula(y, b):
        return (b + L) * math.exp(-b / L) * math.sinh(y / L)

    return max(abs((side(1, y, b) + side(-1, y, b)) / formula(y, b) - 1) for y, b in cases)


def operator_errors(rng):
    """Check the identity of Lemma 6 on a random matrix -> (error as printed, error as meant)."""
    A = rng.normal(size=(6, 9))
    right = 0.7 * np.linalg.inv(A.T @ A + 0.7 * np.eye(9))
    gram = A @ A.T + 0.7 * np.eye(6)
    inner = gram, np.linalg.inv(gram)
    return tuple(np.abs(np.eye(9) - A.T @ G @ A - right).max() for G in inner)
