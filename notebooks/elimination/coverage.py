"""How much of their bands the batches of elimination use."""

import numpy as np
from scipy import stats

import ldpbo_core as core


def largest_use(problem, T, seed, trial, **options):
    """Play one trial -> the largest distance of f from the middle of what is known of an arm, over
    half its width, among all arms and batches.

    problem: function from a seed to a Problem. What is known is the intersection of all bands so
    far: above 1 a band has failed.
    """
    new, users, privacy, _ = core.streams(seed, trial)
    task = problem(new)
    learner = core.make("PE", task, T, rng=trial, **options)
    batches = core.play_batches(learner, users, privacy)
    return max(_use(learner, task.f) for _ in batches)


def _use(learner, f):
    """Compute the share of its interval that a learner needs at the arm that needs most."""
    middle = (learner.upper + learner.lower) / 2
    half = (learner.upper - learner.lower) / 2
    return (np.abs(f - middle) / half).max()


def most_failures(trials, delta, alarm):
    """Failures that are no cause for alarm: more occur with probability at most `alarm`, if a run
    fails with probability delta."""
    return int(stats.binom.isf(alarm, trials, delta))
