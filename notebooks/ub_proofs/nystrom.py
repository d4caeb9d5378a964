"""A random dictionary, and how far Lemma 9 and the order used in Step 5 hold for it."""

import math

import numpy as np

import ldpbo_core as core

RANK = 40  # features of the arms; the rest is rounding
PLAYS = 60


def features(K):
    """Return features Z (RANK, n) of the arms with K = Z'Z up to rounding."""
    values, vectors = (x[..., -RANK:] for x in np.linalg.eigh(K))
    return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T


def draw(K, Z, rng):
    """Draw plays, a ridge and a dictionary, and measure what the lemmas speak of.

    -> {"error": accuracy of the dictionary, "loewner": largest eigenvalue of the difference of the
    two shrinkage operators, "bias" and "ratio": over what Lemma 9 allows}; the last two only for
    accuracies between 0.01 and 1.
    """
    ridge = 10.0 ** rng.uniform(-2, 0.5)
    plays = rng.integers(0, len(K), PLAYS)
    sigma2 = core.posterior(K, plays, np.zeros(PLAYS), ridge)[1] ** 2
    oversampling = 10.0 ** rng.uniform(-0.5, 1.5)
    chance = np.minimum(oversampling * sigma2[plays] / ridge, 1.0)
    keep = rng.random(PLAYS) < chance
    X = core.nystrom_features(K, np.unique(plays[keep]))
    error = _accuracy(Z[:, plays], keep / chance, ridge)
    found = {"error": error, "loewner": _shrinkage_gap(K, X, plays, ridge)}
    if not 0.01 < error < 1:
        return found
    a = rng.normal(size=RANK)  # f = Z'a has norm |a|
    mu, width = _ridge(K, X, plays, Z.T @ a, ridge)
    bias = (np.abs(Z.T @ a - mu) / width).max()
    stretch = (width / np.sqrt(sigma2)).max()
    found["bias"] = bias / (np.linalg.norm(a) * (1 + math.sqrt(error / (1 - error))))
    found["ratio"] = stretch / math.sqrt((1 + error) / (1 - error))
    return found


def _ridge(K, X, plays, f, ridge):
    """Regress f at the plays on the features X -> mean and width at all arms."""
    played = X[:, plays]
    V = played @ played.T + ridge * np.eye(len(X))
    mu = X.T @ np.linalg.solve(V, played @ f[plays])
    lost = K.diagonal() - (X**2).sum(0)
    variance = lost + ridge * (X * np.linalg.solve(V, X)).sum(0)
    return mu, np.sqrt(np.maximum(variance, 1e-300))


def _accuracy(F, weights, ridge):
    """Compute the largest |eigenvalue - 1| of V^{-1/2} V_D V^{-1/2}."""
    V = F @ F.T + ridge * np.eye(len(F))
    V_D = (F * weights) @ F.T + ridge * np.eye(len(F))
    C = np.linalg.inv(np.linalg.cholesky(V))
    return np.abs(np.linalg.eigvalsh(C @ V_D @ C.T) - 1).max()


def _shrinkage_gap(K, X, plays, ridge):
    """Compute the largest eigenvalue of S~ - S, where S = (K + ridge)^{-1} K on the plays."""
    exact, sketched = K[np.ix_(plays, plays)], X[:, plays].T @ X[:, plays]
    shrink = [np.linalg.solve(G + ridge * np.eye(PLAYS), G) for G in (sketched, exact)]
    return np.linalg.eigvalsh(shrink[0] - shrink[1])[-1]
