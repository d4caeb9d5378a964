"""The small pictures in the pages show these users: the core draws them when the book is built."""

import numpy as np

import ldpbo_core as core
from ldpbo import experiments

ARMS = 40
USERS = 4000  # of the picture of bits
REPORTS = 300  # of the picture of the threshold
SEED = 9


def samples():
    """What the pictures of the curator, of TGP and of one bit begin with."""
    return {"curator": curator_setting(), "tgp": threshold_sample(), "onebit": bits_sample()}


def curator_setting():
    """The window of the rewards: B = R = 1."""
    return {"bound": 2.0, "note": "Laplace curator, B = R = 1."}


def threshold_sample():
    """Laplace reports of one arm: B = R = 1, eps = 1, mean reward 1."""
    rng = np.random.default_rng(SEED)
    curator = core.CTL(1.0, 1.0, 1.0)
    rewards = 1.0 + rng.uniform(-1, 1, REPORTS)
    reports = curator.report(rewards, curator.draw(rng, REPORTS))
    return {
        "eps": curator.eps,
        "bound": curator.bound,
        "mean": 1.0,
        "reports": _rounded(reports, 3),
        "note": f"{REPORTS} Laplace reports of one arm, ε = 1, B = R = 1, seed {SEED}.",
    }


def bits_sample():
    """Users with their arms, rewards and uniform draws, which any eps turns into bits."""
    problem = bits_problem()
    rng = np.random.default_rng(SEED)
    arms = rng.integers(problem.n, size=USERS)
    rewards = problem.reward(arms, problem.draw(rng, USERS))
    told = f"B = RKHS norm = {problem.B:.3g}, F = max |f|, R = {problem.R:g}"
    return {
        "K": [_rounded(row, 9) for row in problem.K],
        "f": _rounded(problem.f, 6),
        "B": problem.B,
        "F": problem.F,
        "R": problem.R,
        "delta": 0.1,
        "arms": arms.tolist(),
        "rewards": _rounded(rewards, 2),
        "draws": _rounded(rng.random(USERS), 4),
        "note": f"SE kernel, {ARMS} arms asked at random, {told}, λ = (s/B)², δ = 0.1, "
        f"seed {SEED}; the first 400 bits are drawn.",
    }


def bits_problem():
    """A synthetic function on a few arms, told its norm as B and its range as F."""
    found = core.synthetic_problem("se", "uniform", SEED, n=ARMS)
    return experiments.told_norm(found, F=float(np.abs(found.f).max()))


def _rounded(values, digits):
    return np.round(values, digits).tolist()
