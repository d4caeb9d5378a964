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
    deviation = samples.std(axis=0, ddof=1)
    x = (samples - samples.mean(axis=0)) / deviation
    tests = [stats.kstest(column, "norm") for column in x.T]
    rejected = sum(test.pvalue < 0.05 for test in tests)
    kurtosis = stats.kurtosis(x, axis=0)
    median = float(np.median(kurtosis))
    positive = int((kurtosis > 0).sum())
    largest = float(np.abs(x).max())
    return rejected, problem.n, median, positive, largest


def share_of_ties(k, epochs, rng):
    """Draw first epochs of k rewards, and return how often two medians of distances are least."""
    ties = 0
    for _ in range(epochs):
        rewards = rng.standard_t(3, k)
        least, second, *_ = sorted(_median_distances(rewards))
        ties += second - least <= 1e-12
    return ties / epochs


def _median_distances(y):
    """Compute the median distance of each reward to the others."""
    medians = []
    for j, reward in enumerate(y):
        others = np.delete(y, j)
        medians.append(np.median(np.abs(others - reward)))
    return medians


def projection_difference(rng):
    """Compare the projections on a dictionary with and without weights (B11)."""
    x = np.arange(1, 31) / 30
    K = core.se_kernel(x, x, lengthscale=0.05)
    D = np.array([1, 7, 12, 20, 27])
    weights = rng.uniform(0.1, 1, 5)
    inner = K[np.ix_(D, D)] / np.sqrt(np.outer(weights, weights))
    outer = K[D] / np.sqrt(weights)[:, None]
    values, Q = np.linalg.eigh(inner)
    plain = core.nystrom_features(K, D)
    weighted = (Q / np.sqrt(values)) @ Q.T @ outer
    difference = plain.T @ plain - weighted.T @ weighted
    return np.abs(difference).max()


def bias_bounds(eps, t):
    """Return the exact and the printed bound on T_2 at B = R = 1 (C5)."""
    L = 4 / eps
    tau = np.arange(1, t + 1)
    reach = 2 + L * np.log(tau) + L
    terms = reach * (1 - math.exp(-eps)) / (2 * tau)
    exact = math.sqrt((terms**2).sum())
    printed = math.sqrt((2 + 2 * L**2) * (math.log(t) + 1))
    return exact, printed


def bias_error(cases, L):
    """Compare the formula of truncation's bias with quadrature at each (y, b)."""
    errors = []
    for y, b in cases:
        formula = (b + L) * math.exp(-b / L) * math.sinh(y / L)
        lost = _cut_above(y, b, L) - _cut_above(-y, b, L)
        errors.append(abs(lost / formula - 1))
    return max(errors)


def _cut_above(y, b, L):
    """Integrate x times the density of a report of y, over what truncation at b cuts above."""
    integrand = lambda x: x * math.exp(-abs(x - y) / L) / (2 * L)
    integral, _ = integrate.quad(integrand, b, b + 60 * L, epsabs=0, epsrel=1e-12)
    return integral


def operator_errors(rng):
    """Check the identity of Lemma 6 on a random matrix -> (error as printed, error as meant)."""
    A = rng.normal(size=(6, 9))
    right = 0.7 * np.linalg.inv(A.T @ A + 0.7 * np.eye(9))
    gram = A @ A.T + 0.7 * np.eye(6)
    errors = []
    for middle in (gram, np.linalg.inv(gram)):
        left = np.eye(9) - A.T @ middle @ A
        errors.append(np.abs(left - right).max())
    return errors
