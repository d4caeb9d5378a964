"""How much of their bands the batches of elimination use."""

import numpy as np
from threadpoolctl import threadpool_limits

import ldpbo_core as core


@threadpool_limits.wrap(limits=1)
def batch_coverage(problem, T, *, trials, seed, **options):
    """Play elimination on sums of reports, on new functions in every trial.

    problem: function from a seed to a Problem. -> the largest |f - mu|/(beta sigma) over the arms
    and batches of each trial, (trials,)
    """
    use = np.empty(trials)
    for trial in range(trials):
        new, users, privacy, _ = core.streams(seed, trial)
        task = problem(new)
        learner = core.make("PE", task, T, rng=trial, **options)
        batches = core.play_batches(learner, users, privacy)
        use[trial] = max(_largest_use(learner, task.f) for _ in batches)
    return use


def _largest_use(learner, f):
    """Compute the share of its band that a learner needs at the arm that needs most."""
    return (np.abs(f - learner.mu) / (learner.beta * learner.sigma)).max()
