"""Private channels: random ones against the lemmas, and a search for the best one."""

import itertools

import numpy as np
from scipy import optimize


def random_channels(count, seed=0):
    """Try the channel lemma on random channels, each at its own eps.

    Returns five rows: the left side over the right side of (i), (ii), D <= chi^2 and
    D <= z^2 TV^2, and eps.
    """
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        Q, P = _draw(rng)
        m0, m1 = P @ Q
        low = Q.min(axis=0)
        eps = np.log(Q.max(axis=0) / low).max()
        tv = np.abs(P[0] - P[1]).sum() / 2
        if min(eps, tv) > 1e-6:
            z = np.expm1(eps)
            apart = m0 - m1
            chi2 = (apart**2 / m1).sum()
            D = (m0 * np.log(m0 / m1)).sum()
            first = (np.abs(apart) / (z * low * tv)).max()
            second = chi2 / (z**2 * tv**2 * low.sum())
            found.append((first, second, D / chi2, D / (z * tv) ** 2, eps))
    return np.array(found).T


def _draw(rng):
    """A channel (rows: inputs; columns: reports) and two laws of its inputs."""
    shape = rng.integers(2, (5, 8))
    spread = rng.choice([0.1, 0.5, 1.0, 3.0])
    draw = rng.random(shape) if rng.random() < 0.5 else rng.integers(0, 2, shape)
    Q = np.exp(spread * draw)
    P = rng.dirichlet(np.full(shape[0], rng.choice([0.2, 1.0])), 2) + 1e-12
    return Q / Q.sum(axis=1, keepdims=True), P / P.sum(axis=1, keepdims=True)


def star(p, eps):
    """Return D*(p, eps), the most that a report reveals of a reward.

    The reward is non-zero with chance p.
    """
    e = np.exp(eps)
    more = np.log1p(p * (e - 1))
    less = np.log1p(-p * (1 - 1 / e))
    return -(more + e * less) / (e + 1)


def share(free, p):
    """Return D/D* of the channel whose two rows have these logits, at its own eps."""
    logits = free.reshape(2, -1)
    rows = np.exp(logits - logits.max(axis=1, keepdims=True))
    q0, q1 = rows / rows.sum(axis=1, keepdims=True)
    ratio = q1 / q0
    eps = np.abs(np.log(ratio)).max()
    D = -q0 @ np.log1p(p * (ratio - 1))
    return D / star(p, eps)


def searches(starts, seed=1):
    """Return where Nelder-Mead searches for the largest D/D* end, over two-input channels."""
    rng = np.random.default_rng(seed)
    budget = {"maxiter": 1500, "xatol": 1e-7, "fatol": 1e-10}
    how = {"method": "Nelder-Mead", "options": budget}
    ends = []
    for p, k, _ in itertools.product((0.02, 0.1, 0.5), (2, 3, 4), range(starts)):
        start = rng.normal(size=2 * k)
        best = optimize.minimize(lambda x, p=p: -share(x, p), start, **how)
        ends.append(-best.fun)
    return ends
