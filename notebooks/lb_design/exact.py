"""The best learner of all, by dynamic programming, on domains so small that it can be computed."""

import functools
import math

import numpy as np

from ldpbo import lower


def least_regret(functions, weights, T, tau, b):
    """Average regret of the learner that is best for this family, over T users; exact.

    functions (m, n), weights (m,). A user of arm x sends the bit 1 with probability
    (1 + tau f(x)/b)/2; every report under local privacy can be made from this bit.
    """
    gaps = functions.max(axis=1, keepdims=True) - functions
    plus = (1 + tau * functions / b) / 2
    n = functions.shape[1]

    @functools.cache
    def rest(ups, downs):
        """Regret still to come, times the probability of these bits, summed over the family."""
        if sum(ups) + sum(downs) == T:
            return 0.0
        bits = np.prod(plus**ups * (1 - plus) ** downs, axis=1)
        now = (weights * bits) @ gaps
        return min(now[x] + rest(_add(ups, x), downs) + rest(ups, _add(downs, x)) for x in range(n))

    return rest((0,) * n, (0,) * n)


def _add(counts, x):
    return (*counts[:x], counts[x] + 1, *counts[x + 1 :])


def without_positive_part(T, height=0.05):
    """The bound that the lemma would give without [.]_+, over the regret of the best learner.

    Two opposite functions on two arms, of size height/sqrt(T); rewards +1 and -1, not private.
    """
    c = height / math.sqrt(T)
    functions = c * np.array([[1.0, -1.0], [-1.0, 1.0]])
    told = -0.5 * math.log1p(-(c**2))
    bound = T * c * (1 - math.sqrt(T / 2 * told))
    return bound / least_regret(functions, np.array([0.5, 0.5]), T, 1.0, 1.0)


def largest_bound(n, T, eps, b):
    """n unrelated arms, one of which is good: the bound at the best height, and that family."""
    weights = np.full(n, 1 / n)
    heights = np.geomspace(0.01, 0.99, 200) * b
    found = [
        (lower.average_bound(c * np.eye(n), weights, T, eps, b=b), c * np.eye(n)) for c in heights
    ]
    bound, functions = max(found, key=lambda pair: pair[0])
    return bound, functions, weights
