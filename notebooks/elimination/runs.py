"""What the page *Elimination* runs and computes: campaigns, bounds, and the effect of rounding."""

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
    return lambda seed: experiments.told_norm(core.synthetic_problem(kernel, noise, seed))


def problems(kernel, seed, trials):
    """Return the problems of the trials, as `simulate_batches` draws them."""
    draw = source(kernel)
    return [draw(core.streams(seed, i)[0]) for i in range(trials)]


def log_factor(problem, T, delta):
    """Return l of the last batch of a campaign of T users."""
    doublings = math.log2(T / FIRST + 1)
    batches = max(1, math.ceil(doublings))
    return math.log(4 * problem.n * batches * (batches + 1) / delta)


def upper_bound(problem, T, eps, delta):
    """Return the smaller one of the Corollary and Theorem G.

    The gain is that of T plays of every arm.
    """
    coth = 1 / math.tanh(eps / 2)
    F = problem.F
    R = problem.R
    ridge = (R * coth / problem.B) ** 2
    gain = bounds.gain_ceiling(problem.K, T, ridge)
    kappa = 2.02 * gain * (1 + 2 * log_factor(problem, T, delta))
    start = max(FIRST, math.ceil(4 * kappa * coth**2))
    corollary = 28 * F * start + 55 * R * coth * math.sqrt(kappa * T)
    square = ((F + R) * coth) ** 2 * kappa
    by_gap = 4 * F * FIRST + 142 * square / smallest_gap(problem)
    return min(corollary, by_gap)


def switching_bound(problem, T, eps, delta, switch):
    """Return the bound of GP-UCB that seldom switches, at the matched ridge (s/B)^2.

    The gain is that of T plays of every arm.
    """
    size = (problem.F + problem.R) / math.tanh(eps / 2)
    ridge = (size / problem.B) ** 2
    gain = bounds.gain_ceiling(problem.K, T, ridge)
    beta = problem.B * (1 + math.sqrt(2 * (gain + math.log(1 / delta))))
    sum_of_sigmas = math.sqrt(2 * T * gain / math.log1p(1 / ridge))
    return 2 * math.sqrt(1 + switch) * beta * sum_of_sigmas


def smallest_gap(problem):
    """Return what the best of the other arms loses."""
    gaps = problem.f.max() - problem.f
    return gaps[gaps > 0].min()


def lower_bound(problem, T, eps):
    """Return a bound that every learner's regret reaches on the worst function of this norm.

    Rewards are ±R/2.
    """
    given = {"B": problem.B, "b": problem.R / 2, "variant": "explicit"}
    return float(lower_bound_design(problem, T, eps, **given))


def rounding(problem, T, seed, trial, **options):
    """Yield (users so far, max sigma^2 N/s^2 over 2.02 g) after each batch of a campaign, g the
    batch's own gain.

    With real-valued plays no batch exceeds 1; whole plays may.
    """
    _, env, privacy, _ = core.streams(seed, trial)
    learner = core.make("PE", problem, T, rng=0, schedule="double", **options)
    users = 0
    size, active = coming(learner)
    for counts in core.play_batches(learner, env, privacy):
        batch = counts.sum()
        users += int(batch)
        spread = (learner.sigma / size)[active]
        most = spread.max() ** 2 * batch
        gain = own_gain(problem.Z, counts[:, 0] / size**2)
        yield users, most / (2.02 * gain)
        size, active = coming(learner)


def coming(learner):
    """Return the sizes of the reports of the coming batch, and the arms that are active in it."""
    return learner.noise_sizes(learner.plan()), learner.active


def own_gain(Z, plays):
    """Return the information gain of so many plays of each arm, whose coordinates are Z."""
    inner = np.eye(len(Z)) + (Z * plays) @ Z.T
    _, log_det = np.linalg.slogdet(inner)
    return log_det / 2
