"""Learners are simulated here on sums of reports, with up to 10^15 users at the same cost.

>>> import ldpbo_core as core
>>> problem = core.synthetic_problem(seed=7)
>>> billion = core.simulate_batches(problem, 10**9, trials=1, seed=0, eps=1.0, curator=core.OneBit)
>>> int(billion.t[-1]), bool(billion.regret[0, -1] < 0.1 * billion.t[-1] * billion.uniform[0])
(1000000000, True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ldpbo_core as core
from ldpbo import checks as check

SINGLES = 10**7  # single draws are added up to this horizon where sums have no law of their own
MARKS = 200  # numbers of users at which GP-UCB's regret is recorded


def simulate_batches(
    problem: core.Problem | Callable[[int], core.Problem],
    T: int,
    *,
    trials: int,
    seed: int,
    name: str | type[core.Learner] = "PE",
    eps: float | None = None,
    **options: Any,
) -> core.Campaign:
    """Run a learner on sums of reports, drawn in their exact law -> Campaign.

    problem: a Problem, or a callable seed -> Problem, as in `simulate`. name: "PE", or "GP-UCB"
    with a `switch`, or a class of your own that plans. options: those of `make`. The cost does not
    grow with T. Where sums have no known law (Student noise but for OneBit; SecureCTL; a curator of
    your own) single draws are added, T <= SINGLES. Rewards of your own, a subclass of Problem, are
    refused.
    """
    T = check.integer("T", T)
    trials = check.integer("trials", trials)
    seed = check.integer("seed", seed, 0, math.inf, ">= 0")
    if "rng" in options:
        raise ValueError("rng: must be left out; every generator is derived from seed")
    problems = core.trial_problems(problem, trials, seed)
    campaigns = [_campaign(problems[i], T, seed, i, name, eps, options) for i in range(trials)]
    marks = _marks(campaigns, T)
    uniform = np.array([(p.f.max() - p.f).mean() for p in problems])
    regret = np.array([np.interp(marks, t, lost) for t, lost, _ in campaigns])
    active = np.array([left[np.searchsorted(t, marks) - 1] for t, _, left in campaigns])
    return core.Campaign(marks, regret, active, uniform)


def _campaign(problem, T, seed, trial, name, eps, options):
    """Run a trial -> users, cumulative regret and active arms after each plan, beginning with 0."""
    _, env, privacy, sketch = core.streams(seed, trial)
    rng = np.random.default_rng(sketch)
    gap = problem.f.max() - problem.f
    t = [0]
    regret = [0.0]
    active = []
    with core.one_thread():
        learner: Any = core.make(name, problem, T, eps=eps, rng=rng, **options)
        if not isinstance(learner, core.PlannedLearner):
            raise ValueError(
                f"name = {core.algorithm_name(name)!r}: must be 'PE', or 'GP-UCB' or 'TGP' with a "
                "switch > 0; the others want every report by itself"
            )
        for counts in play_batches(learner, env, privacy):
            t.append(learner.t)
            regret.append(regret[-1] + float(counts.sum(axis=1) @ gap))
            left = learner.active.sum() if hasattr(learner, "active") else problem.n
            active.append(int(left))
    return np.array(t), np.array(regret), np.array(active)


def _marks(campaigns, T):
    """Choose the numbers of users at which to record: after each batch, if all trials agree.

    Inside a run of one arm regret grows evenly, so it is known at any number of users.
    """
    first = campaigns[0][0]
    if all(np.array_equal(t, first) for t, _, _ in campaigns):
        if len(first) <= MARKS:
            return first[1:]
    return np.unique(np.geomspace(1, T, MARKS).round().astype(np.int64))


def play_batches(
    learner: core.PlannedLearner, env: np.random.Generator, privacy: np.random.Generator
) -> Iterator[np.ndarray]:
    """Drive a learner to its horizon on sums of reports; yields each plan's counts (n, k)."""
    while learner.left.any():
        counts = learner.left.copy()
        sums = report_sums(learner, counts, env, privacy)
        if counts.shape[1] > 1:
            learner.tell_sums(counts, sums)
        else:
            learner.tell_sums(counts[:, 0], sums[:, 0])
        yield counts


def report_sums(
    learner: core.PlannedLearner,
    counts: np.ndarray,
    env: np.random.Generator,
    privacy: np.random.Generator,
) -> np.ndarray:
    """Draw sums of counts[arm, j] reports, (n, k), in their exact law, from each arm's own curator.

    The number of high one-bit reports is binomial, with the mean of the clipped reward, whatever
    the noise. N Laplace draws add up to the difference of two Gamma(N) draws; `Sums` adds one draw.
    Where no law is known single draws are added, as long as T is at most SINGLES.
    """
    problem = learner.problem
    for method in ("reward", "draw", "sample"):
        if getattr(type(problem), method) is not getattr(core.Problem, method):
            raise ValueError(
                f"problem = {type(problem).__name__}: must not override {method}, as the law of "
                "sums follows from Problem's own; drive the learner by ask and tell, or by simulate"
            )
    kind = learner.settings.kind
    curator = learner.settings.curator
    if kind == "one bit" and type(curator) is core.OneBit:
        return _bit_sums(learner, counts, privacy)
    if isinstance(curator, core.Sums) and type(curator) is not core.Sums:
        raise ValueError(
            f"curator = {type(curator).__name__}: must be Sums itself, whose law is drawn here; "
            "drive the learner by plan and tell_sums"
        )
    if kind == "sums":
        return _noisy_sums(learner, counts, env, privacy)
    if problem.noise == "t3" or type(curator) not in (core.CTL, type(None)):
        if learner.settings.T is None or learner.settings.T > SINGLES:
            raise ValueError(
                f"T = {learner.settings.T}: must be at most {SINGLES}; sums of these reports have "
                "no known law, single draws are added; with curator=OneBit every noise has one"
            )
        return _added_singly(learner, counts, env, privacy)
    sums = _reward_sums(learner, counts, env)
    if curator is not None:
        noise = privacy.standard_gamma(counts) - privacy.standard_gamma(counts)
        sums += curator.scale * noise
    return sums


def _bit_sums(learner, counts, privacy):
    """Draw sums of one-bit reports.

    The law of a report is linear in the reward, so the high ones are binomial, whatever the noise.
    """
    arms = np.flatnonzero(counts.any(axis=1))
    curators = [learner.curator(arm) for arm in arms]
    centre, bound, scale = _windows(curators)
    mean = clipped_mean(learner.problem, arms, centre, bound)
    chance = np.zeros(len(counts))
    chance[arms] = np.clip((1 + mean / scale) / 2, 0.0, 1.0)
    pluses = privacy.binomial(counts, chance[:, None])
    sums = np.zeros(counts.shape)
    for curator, arm in zip(curators, arms):
        for j in range(counts.shape[1]):
            sums[arm, j] = curator.total(int(counts[arm, j]), int(pluses[arm, j]))
    return sums


def _noisy_sums(learner, counts, env, privacy):
    """Draw exact sums of clipped rewards, and add one draw of noise to each."""
    problem = learner.problem
    if problem.noise not in ("table", "uniform"):
        raise ValueError(
            f"noise = {problem.noise!r}: must be 'uniform' or 'table' with Sums; "
            "the sum of clipped Student noise has no known law"
        )
    sums = _reward_sums(learner, counts, env)
    _, _, scale = _windows([learner.curator(arm) for arm in range(problem.n)])
    draws = scale[:, None] * privacy.laplace(size=counts.shape)
    return sums + np.where(counts > 0, draws, 0.0)


def clipped_mean(
    problem: core.Problem, arms: np.ndarray, centre: np.ndarray, bound: np.ndarray
) -> np.ndarray:
    """Compute E clip(reward - centre, -bound, bound), by integrals of P(reward <= y)."""
    if problem.noise == "table":
        return np.clip(problem.samples[:, arms] - centre, -bound, bound).mean(axis=0)
    below = _student_integral if problem.noise == "t3" else _uniform_integral
    shift = problem.f[arms] - centre
    high = below(bound - shift, problem.R)
    low = below(-bound - shift, problem.R)
    return bound - high + low


def _student_integral(x, _):
    """Integrate P(noise <= y) over y <= x, for Student noise with 3 degrees of freedom."""
    return x / 2 + x * np.arctan(x / math.sqrt(3)) / math.pi


def _uniform_integral(x, R):
    """Integrate P(noise <= y) over y <= x, for noise uniform on [-R, R]."""
    return np.clip(x + R, 0.0, 2 * R) ** 2 / max(4 * R, 1e-300) + np.maximum(x - R, 0.0)


def _added_singly(learner, counts, env, privacy):
    """Add up single reports, each by the curator of its arm."""
    sums = np.zeros(counts.shape)
    for arm, j in np.argwhere(counts):
        y = learner.problem.sample(arm, env, counts[arm, j])
        curator = learner.curator(arm)
        sums[arm, j] = curator.report(y, curator.draw(privacy, len(y))).sum()
    return sums


def _reward_sums(learner, counts, env):
    """Draw exact sums of rewards, each clipped to the window of its arm's curator."""
    centre, bound, _ = _windows([learner.curator(arm) for arm in range(learner.problem.n)])
    rewards = _table_sums if learner.problem.noise == "table" else _uniform_sums
    return rewards(learner.problem, counts, env, centre, bound)


def _windows(curators):
    """Return the centre, half-width and scale of each curator, three arrays."""
    return np.array([(getattr(c, "centre", 0.0), c.bound, c.scale) for c in curators]).T


def _clipped(y, centre, bound):
    """Clip y to centre +- bound; what is beyond by rounding alone stays as it is."""
    inside = np.clip(y, centre - bound, centre + bound)
    return np.where(np.abs(y - inside) <= 1e-9 * bound, y, inside)


def _uniform_sums(problem, counts, env, centre, bound):
    """Draw sums of clipped rewards with uniform noise.

    A clipped reward is at either end of its window with a known chance, and uniform in between.
    Each binary digit of N uniforms adds up to a binomial; they have 53, as NumPy draws them.
    """
    f = problem.f
    R = problem.R
    low = _clipped(f - R, centre, bound)
    high = _clipped(f + R, centre, bound)
    cut = (low != f - R) | (high != f + R)
    below = np.clip((low - (f - R)) / max(2 * R, 1e-300), 0.0, 1.0)
    above = np.clip((f + R - high) / max(2 * R, 1e-300), 0.0, 1.0)
    middle = np.where(cut, (low + high) / 2, f)
    reach = np.where(cut, (high - low) / 2, R)
    between = counts.copy()
    ends = np.zeros(counts.shape)
    chances = np.array([below, np.maximum(1 - below - above, 0.0), above])
    for arm, j in np.argwhere(counts * cut[:, None]):
        at_low, between[arm, j], at_high = env.multinomial(counts[arm, j], chances[:, arm])
        ends[arm, j] = at_low * low[arm] + at_high * high[arm]
    digits = env.binomial(between[..., None], 0.5, (*counts.shape, 53))
    uniforms = digits @ 0.5 ** np.arange(1, 54)
    return ends + middle[:, None] * between + reach[:, None] * (2 * uniforms - between)


def _table_sums(problem, counts, env, centre, bound):
    """Draw sums of clipped rewards from a table, the counts of whose rows are multinomial."""
    rows = len(problem.samples)
    even = np.full(rows, 1 / rows)
    clipped = _clipped(problem.samples, centre, bound)
    sums = np.zeros(counts.shape)
    for arm, j in np.argwhere(counts):
        drawn = env.multinomial(counts[arm, j], even)
        sums[arm, j] = drawn @ clipped[:, arm]
    return sums
