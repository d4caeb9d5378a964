"""What the page *Elimination* runs and computes: campaigns, bounds, and the effect of rounding."""

import dataclasses
import math

import numpy as np

import ldpbo_core as core
from ldpbo import bounds, experiments
from ldpbo.lower import lower_bound_design

FIRST = 1024  # plays of the first batch, the core's default


def source(kernel, noise="uniform"):
    """Return a function from a seed to a problem with B the norm of f, and no smaller range told.

    F = B: the one-bit window of the first batch is as wide as the norm.
    """
    make = experiments.problem_with_norm(kernel, noise)
    return lambda seed: dataclasses.replace(make(seed), F=None)


def problems(kernel, seed, trials):
    """Return the problems of the trials, as `simulate_batches` draws them."""
    draw = source(kernel)
    return [draw(core.streams(seed, i)[0]) for i in range(trials)]


def shares(run, users):
    """Regret over that of uniform play after each number of users, (trials, users).

    Between two marks of a campaign regret grows evenly.
    """
    t = np.concatenate([[0.0], run.t])
    regret = np.concatenate([np.zeros((len(run.regret), 1)), run.regret], axis=1)
    at = np.array([np.interp(users, t, row) for row in regret])
    return at / (run.uniform[:, None] * users)


def log_factor(problem, T, delta):
    """l of the last batch of a campaign of T users."""
    batches = max(1, math.ceil(math.log2(T / FIRST + 1)))
    return math.log(4 * problem.n * batches * (batches + 1) / delta)


def upper_bound(problem, T, eps, delta):
    """The smaller one of the Corollary and Theorem G, with T plays of every arm in the gain."""
    coth = 1 / math.tanh(eps / 2)
    F, R = problem.F, problem.R
    gain = bounds.gain_ceiling(problem.K, T, (R * coth / problem.B) ** 2)
    kappa = 2.02 * gain * (1 + 2 * log_factor(problem, T, delta))
    start = max(FIRST, math.ceil(4 * kappa * coth**2))
    corollary = 28 * F * start + 55 * R * coth * math.sqrt(kappa * T)
    gaps = problem.f.max() - problem.f
    square = ((F + R) * coth) ** 2 * kappa
    by_gap = 4 * F * FIRST + 142 * square / gaps[gaps > 0].min()
    return min(corollary, by_gap)


def lower_bound(problem, T, eps):
    """No learner has less regret than this on the worst function of this norm; rewards ±R/2."""
    given = dict(B=problem.B, b=problem.R / 2, variant="explicit")
    return float(lower_bound_design(problem, T, eps, **given))


def rounding(problem, T, seed, trial, **options):
    """Yield (users so far, max sigma^2 N/s^2 over 2.02 g) after each batch of a campaign, g the
    batch's own gain.

    With real-valued plays no batch exceeds 1; whole plays may.
    """
    _, env, privacy, _ = core.streams(seed, trial)
    learner = core.make("PE", problem, T, rng=0, schedule="double", **options)
    identity = np.eye(len(problem.Z))
    users = 0
    size, active = learner.sizes(learner.plan()), learner.active
    for counts in core.play_batches(learner, env, privacy):
        plays = counts[:, 0] / size**2
        gain = np.linalg.slogdet(identity + (problem.Z * plays) @ problem.Z.T)[1] / 2
        most = (learner.sigma / size)[active].max() ** 2 * counts.sum()
        users += int(counts.sum())
        yield users, most / (2.02 * gain)
        size, active = learner.sizes(learner.plan()), learner.active
