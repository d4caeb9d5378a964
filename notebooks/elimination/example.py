"""Three arms and two batches of elimination, small enough to be followed by hand."""

import math

import numpy as np

import ldpbo_core as core

ARMS = "ABC"
UPS = ((250, 225, 160), (618, 606, 0))  # bits that say up: a row a batch, a column an arm
ODDS = 3  # e^eps
DELTA = 0.1
FIRST = 1200  # users of the first batch
TOLD = {"B": 1.0, "F": 0.9, "R": 0.1}


def play():
    """Feed the bits of UPS to the learner of the core -> a dict for each batch."""
    learner = begin()
    return [batch(learner, np.array(ups)) for ups in UPS]


def begin():
    """Make the learner of the example: arms that have nothing to do with each other."""
    problem = core.Problem(K=np.eye(len(ARMS)), **TOLD)
    options = {"curator": core.OneBit, "constants": "proved", "schedule": "double"}
    told = {"eps": math.log(ODDS), "delta": DELTA, "first": FIRST, "rng": 0}
    return core.make("PE", problem, None, **options, **told)


def batch(learner, ups):
    """Tell a learner so many bits up of each arm -> what was known before, and what comes of it."""
    plays = learner.plan()
    size = learner.reach / learner.tanh
    sums = plays * learner.centre + (2 * ups - plays) * size
    before = {"l": learner.lower.copy(), "u": learner.upper.copy(), "before": learner.active}
    window = {"centre": learner.centre.copy(), "reach": learner.reach.copy(), "size": size}
    state = before | window | {"plays": plays, "ups": ups, "log": learner.log}
    learner.tell_sums(plays, sums)
    state |= {"mean": sums / np.maximum(plays, 1), "mu": learner.mu, "active": learner.active}
    return state | {"W": width(size[0], plays[0], state["log"])}


def width(size, plays, log):
    """Return W = a + sqrt(2 l) b of an arm that has nothing to do with the others."""
    q = size**2 / (plays * TOLD["B"] ** 2)
    a = TOLD["B"] * q / (1 + q)
    b = size / math.sqrt(plays) / (1 + q)
    return a + math.sqrt(2 * log) * b


def bits_to_stay(state, arm):
    """Return how many bits up keep an arm in play, the leader's being what they are."""
    plays = state["plays"][arm]
    size = state["size"][arm]
    q = size**2 / (plays * TOLD["B"] ** 2)
    needed = (state["mu"].max() - math.sqrt(2) * state["W"]) * (1 + q) - state["centre"][arm]
    return math.ceil(plays * (1 + needed / size) / 2)
