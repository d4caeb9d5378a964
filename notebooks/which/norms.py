"""How many users the two proved learners need that are told a norm which is too large."""

import dataclasses

import numpy as np

import ldpbo_core as core
from ldpbo import experiments, show

LEARNERS = {"G": {"name": "GP-UCB", "switch": 0.1, "lam": None}, "E": {"schedule": "double"}}
SHARES = {"half": 0.5, "tenth": 0.1}
LONG = SHARES | {"hundredth": 0.01}


def told(kernel, factor):
    """A function from a seed to a problem whose B is the norm times a factor; F = max|f|."""
    problem = experiments.problem_with_norm(kernel)
    return lambda s: dataclasses.replace(p := problem(s), B=factor * p.B)


def ratings(told, kernel="se"):
    """A function from a seed to means of size 1 with noise 1, and the bounds of `told`."""
    bounds = dict(B=told.B, F=told.F, R=told.R, Y=told.Y)

    def problem(seed):
        drawn = core.synthetic_problem(kernel, seed=seed)
        f = drawn.f / np.abs(drawn.f).max()
        rewards = dict(noise="table", samples=np.array([f - 1, f + 1]))
        return dataclasses.replace(drawn, f=f, **rewards, **bounds)

    return problem


def needed(source, users, shares=SHARES, **given):
    """Play both learners with so many users -> {(share, "G" or "E"): users until it is reached."""
    found = {}
    for learner, options in LEARNERS.items():
        run = core.simulate_batches(source, users, constants="proved", **options, **given)
        marks = np.geomspace(run.t[0], run.t[-1], 1001)
        relative = experiments.shares(run, marks).mean(axis=0)
        for name, share in shares.items():
            until = experiments.users_until(marks, relative, share)
            found[name, learner] = min(until, marks[-1])
    return found


def pair(G, E):
    """Write the users that GP-UCB and elimination need; no line ends inside a number."""
    return " · ".join(show.count(users).replace(" ", "\u00a0") for users in (G, E))


def ahead(needs, share):
    """Return the largest factor up to which GP-UCB needs fewer users than elimination, as far as a
    few functions tell the two apart; needs: {factor: numbers of `needed`}."""
    reached = 0
    for factor, found in needs.items():
        if show.rounded(found[share, "G"]) >= show.rounded(found[share, "E"]):
            break
        reached = factor
    return reached


def growth(needs, share, learner, factor):
    """Return how many times the users grow from the true norm to `factor` times it, rounded."""
    first = min(needs)
    return show.rounded(needs[factor][share, learner] / needs[first][share, learner])
