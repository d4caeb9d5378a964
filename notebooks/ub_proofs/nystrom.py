"""A random dictionary, and how far Lemma 9 and the order used in Step 5 hold for it."""

import math

import numpy as np

import ldpbo_core as core

RANK = 40  # features of the arms; the rest is rounding
PLAYS = 60


def features(K):
    """Return features Z (RANK, n) of the arms with K = Z'Z up to rounding."""
    values, vectors = np.linalg.eigh(K)
    largest = np.maximum(values[-RANK:], 0)
    directions = vectors[:, -RANK:].T
    return np.sqrt(largest)[:, None] * directions


def draw(K, Z, rng):
    """Draw plays, a ridge and a dictionary, and measure what the lemmas speak of.

    -> {"error": accuracy of the dictionary, "loewner": largest eigenvalue of the difference of the
    two shrinkage operators, "bias" and "ratio": over what Lemma 9 allows}; the last two only for
    accuracies between 0.01 and 1.
    """
    ridge = 10.0 ** rng.uniform(-2, 0.5)
    plays = rng.integers(0, len(K), PLAYS)
    _, sigma = core.posterior(K, plays, np.zeros(PLAYS), ridge)
    oversampling = 10.0 ** rng.uniform(-0.5, 1.5)
    chance = np.minimum(oversampling * sigma[plays] ** 2 / ridge, 1.0)
    keep = rng.random(PLAYS) < chance
    X = core.nystrom_features(K, np.unique(plays[keep]))
    error = _accuracy(Z[:, plays], keep / chance, ridge)
    gap = _shrinkage_gap(K, X, plays, ridge)
    found = {"error": error, "loewner": gap}
    if 0.01 < error < 1:
        a = rng.normal(size=RANK)
        f = Z.T @ a  # its norm is |a|
        mu, width = _ridge(K, X, plays, f, ridge)
        bias = (np.abs(f - mu) / width).max()
        stretch = (width / sigma).max()
        most_bias, most_stretch = _allowed(error)
        found["bias"] = bias / (np.linalg.norm(a) * most_bias)
        found["ratio"] = stretch / most_stretch
    return found


def _allowed(error):
    """Say what Lemma 9 allows a dictionary of this accuracy -> (bias of a function of norm 1 over
    the width, width over the exact one)."""
    bias = 1 + math.sqrt(error / (1 - error))
    stretch = math.sqrt((1 + error) / (1 - error))
    return bias, stretch


def _ridge(K, X, plays, f, ridge):
    """Regress f at the plays on the features X -> mean and width at all arms."""
    played = X[:, plays]
    V = played @ played.T + ridge * np.eye(len(X))
    weights = np.linalg.solve(V, played @ f[plays])
    lost = K.diagonal() - (X**2).sum(0)
    explained = (X * np.linalg.solve(V, X)).sum(0)
    variance = lost + ridge * explained
    width = np.sqrt(np.maximum(variance, 1e-300))
    return X.T @ weights, width


def _accuracy(F, weights, ridge):
    """Compute the largest |eigenvalue - 1| of V^{-1/2} V_D V^{-1/2}."""
    identity = np.eye(len(F))
    V = F @ F.T + ridge * identity
    V_D = (F * weights) @ F.T + ridge * identity
    C = np.linalg.inv(np.linalg.cholesky(V))
    values = np.linalg.eigvalsh(C @ V_D @ C.T)
    return np.abs(values - 1).max()


def _shrinkage_gap(K, X, plays, ridge):
    """Compute the largest eigenvalue of S~ - S, where S = (K + ridge)^{-1} K on the plays."""
    exact = K[np.ix_(plays, plays)]
    sketched = X[:, plays].T @ X[:, plays]
    gap = _shrinkage(sketched, ridge) - _shrinkage(exact, ridge)
    return np.linalg.eigvalsh(gap)[-1]


def _shrinkage(G, ridge):
    """Compute (G + ridge)^{-1} G of a Gram matrix."""
    identity = np.eye(len(G))
    return np.linalg.solve(G + ridge * identity, G)
