"""One-bit GP-UCB on boxes with many users, and the final regret of the paper's learners."""

import numpy as np
import pandas as pd

import ldpbo_core as core
from ldpbo import experiments, results

MARKS = 61  # numbers of users at which a run is drawn


SELDOM = dict(name="GP-UCB", curator=core.OneBit, switch=0.1, lam=None)  # chooses seldom


def shares(problem, users, *, trials, seed, **options):
    """Play GP-UCB on one-bit reports, switching seldom -> (users so far, regret over that of
    uniform play (trials, users so far))."""
    given = SELDOM | options
    run = core.simulate_batches(problem, users, trials=trials, seed=seed, **given)
    so_far = np.geomspace(100, users, MARKS)
    found = run.regret / (run.t * run.uniform[:, None])
    return so_far, np.array([np.interp(so_far, run.t, one) for one in found])


def until(so_far, runs, share):
    """Say after how many users the mean run stays below `share`."""
    first = experiments.users_until(so_far, runs.mean(axis=0), share)
    if first == np.inf:
        return f"more than {so_far[-1]:,.0f} users"
    return f"about {float(f'{first:.1g}'):,.0f} users"


def choices(problem, users, seed, eps):
    """Count how often the same learner chooses a candidate in one run."""
    learner = core.make(problem=problem, T=users, eps=eps, rng=seed, **SELDOM)
    draws = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    return sum(1 for _ in core.play_batches(learner, *draws))


def together(laplace, bits):
    """Join the curves of runs with Laplace and with one-bit reports in one table."""
    ours = results.curves({"": bits})
    return pd.concat([results.curves({"": laplace}), ours[ours.algorithm != "uniform"]])
