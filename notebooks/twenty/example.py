"""The running example: ten versions of a page, and visitors who score the one they see."""

import functools

import numpy as np

import ldpbo_core as core

ARMS = np.arange(1, 11) / 10
KERNEL = functools.partial(core.se_kernel, lengthscale=0.2)


def bump(centre):
    return np.exp(-((ARMS - centre) ** 2) / (2 * 0.2**2))


MEANS = 0.8 * bump(0.7) - 0.4 * bump(0.2)  # what visitors like on average; its norm is 0.88
PROBLEM = core.Problem(points=ARMS[:, None], kernel=KERNEL, f=MEANS, B=1.0, F=1.0, R=0.5)


def play(curator, times, seed, told=None):
    """Let visitors come one after the other -> {number of visitors: what the learner believes}.

    curator: makes the reports; told: the curator that the learner believes in, if it is another.
    """
    known = curator if told is None else told
    options = {"constants": "proved", "lam": None, "rng": 0}
    if known.eps is not None:
        options |= {"eps": known.eps, "curator": type(known)}
    learner = core.make("GP-UCB", PROBLEM, max(times) + 1, **options)
    visitors, noise = (np.random.default_rng([seed, i]) for i in (1, 2))
    counts = np.zeros(PROBLEM.n, dtype=int)
    found = {}
    for t in range(max(times) + 1):
        if t in times:
            found[t] = belief(learner, counts)
        if t < max(times):
            arm = learner.ask()
            counts[arm] += 1
            learner.tell(curator.privatise(PROBLEM.sample(arm, visitors), noise))
    return found


def belief(learner, counts):
    """What the learner believes now: estimate, half-width, next arm, visitors of each arm."""
    half = learner.beta * learner.sigma
    misses = int((np.abs(learner.mu - MEANS) > half).sum())
    state = {"mean": learner.mu.copy(), "half": half, "next": learner.ask()}
    return state | {"counts": counts.copy(), "misses": misses}
