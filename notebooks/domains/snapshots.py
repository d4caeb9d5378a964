"""What a learner believes after some rounds of a trial."""

from threadpoolctl import threadpool_limits

from ldpbo import experiments


def take(problem, name, T, marks, view, *, seed, **options):
    """Play T rounds as trial 0 of `simulate` does; after each of the rounds in `marks` call
    `view(learner, arms so far)` -> list of what it returned."""
    arms, seen = [], []
    with threadpool_limits(1):
        trial = experiments.rounds(problem, name, T, seed=seed, **options)
        for t, (learner, arm, _) in enumerate(trial, 1):
            arms.append(arm)
            if t in marks:
                seen.append(view(learner, list(arms)))
    return seen
