"""Campaigns of up to 10^15 users: elimination on sums of reports, at a cost that does not grow with
T.

>>> import ldpbo_core as core
>>> problem = core.synthetic_problem(seed=7)
>>> billion = core.simulate_batches(problem, 10**9, trials=1, seed=0, eps=1.0, curator=core.OneBit)
>>> int(billion.t[-1]), bool(billion.regret[0, -1] < 0.1 * billion.t[-1] * billion.uniform[0])
(1000000000, True)
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import ldpbo_core as core
from ldpbo import checks as check

SINGLES = 10**7  # single draws are added up to this horizon where sums have no law of their own


def simulate_batches(
    problem: core.Problem | Callable[[int], core.Problem],
    T: int,
    *,
    trials: int,
    seed: int,
    eps: float | None = None,
    **options: Any,
) -> core.Campaign:
    """PE on sums of reports drawn in their exact law -> Campaign: any T up to 1e15 at the same
    cost.

    problem: a Problem, or a callable seed -> Problem, as in `simulate`. options: those of `make`.
    Where sums have no known law (Student noise but for OneBit; rewards that CTL clips; SecureCTL)
    single draws are added, T <= SINGLES.
    """
    T = check.integer("T", T)
    trials = check.integer("trials", trials)
    seed = check.integer("seed", seed, low=0)
    if "rng" in options:
        raise ValueError("rng: must be left out; every generator is derived from seed")
    problems = core.trial_problems(problem, trials, seed)
    gaps = np.stack([p.f.max() - p.f for p in problems])  # (trials, n)
    regret, active = [], []
    for i, gap in enumerate(gaps):
        _, env, privacy, sketch = core.streams(seed, i)
        rng = np.random.default_rng(sketch)
        with core.one_thread():
            learner: Any = core.make("PE", problems[i], T, eps=eps, rng=rng, **options)
            batches = [
                (counts.sum(axis=1) @ gap, learner.active.sum())
                for counts in play_batches(learner, env, privacy)
            ]
        regret.append([lost for lost, _ in batches])
        active.append([left for _, left in batches])
    return core.Campaign(
        np.cumsum(learner.sizes),
        np.cumsum(np.array(regret, dtype=float), axis=1),
        np.array(active, dtype=int),
        gaps.mean(axis=1),
    )


def play_batches(
    learner: core.PE, env: np.random.Generator, privacy: np.random.Generator
) -> Iterator[np.ndarray]:
    """Drive a PE learner to its horizon on sums of reports; yields after each batch its counts (n,
    k)."""
    curator = copy.copy(learner.settings.curator)
    while learner.left.any():
        counts = learner.left.copy()
        sums = report_sums(learner.problem, curator, counts, env, privacy, learner.settings.T)
        if learner.k > 1:
            learner.tell_sums(counts, sums)
        else:
            learner.tell_sums(counts[:, 0], sums[:, 0])
        yield counts


def report_sums(
    problem: core.Problem,
    curator: core.CTL | None,
    counts: np.ndarray,
    env: np.random.Generator,
    privacy: np.random.Generator,
    T: int,
) -> np.ndarray:
    """Sums of counts[arm, j] reports, (n, k), in their exact law.

    One bit: the +bits are binomial with the mean of the clipped reward, whatever the noise. N
    Laplace draws add up to the difference of two Gamma(N) draws. Where no law is known single draws
    are added, as long as T is at most SINGLES.
    """
    bound = math.inf if curator is None else curator.bound
    if type(curator) is core.OneBit:
        chance = np.clip((1 + clipped_mean(problem, bound) / curator.scale) / 2, 0.0, 1.0)
        return curator.scale * (2.0 * privacy.binomial(counts, chance[:, None]) - counts)
    whole = problem.noise == "uniform" and np.abs(problem.f).max() + problem.R <= bound
    if not (whole or problem.noise == "table") or type(curator) not in (core.CTL, type(None)):
        if T > SINGLES:
            raise ValueError(
                f"T = {T}: must be at most {SINGLES}; sums of these reports have no known law, "
                "single draws are added; with curator=OneBit every noise has one"
            )
        return _added_singly(problem, curator, counts, env, privacy)
    rewards = _uniform_sums if whole else _table_sums
    sums = rewards(problem, counts, env, bound)
    if curator is not None:
        noise = privacy.standard_gamma(counts) - privacy.standard_gamma(counts)
        sums += curator.scale * noise
    return sums


def clipped_mean(problem: core.Problem, bound: float) -> np.ndarray:
    """E clip(reward, -bound, bound) of each arm, (n,): bound - int_{-bound}^{bound} P(reward <= y)
    dy."""
    if problem.noise == "table":
        return np.clip(problem.samples, -bound, bound).mean(axis=0)
    below = _student_integral if problem.noise == "t3" else _uniform_integral
    high = below(bound - problem.f, problem.R)
    low = below(-bound - problem.f, problem.R)
    return bound - high + low


def _student_integral(x, _):
    """int^x P(noise <= y) dy for Student noise with 3 degrees of freedom."""
    return x / 2 + x * np.arctan(x / math.sqrt(3)) / math.pi


def _uniform_integral(x, R):
    """int^x P(noise <= y) dy for noise uniform on [-R, R]."""
    return np.clip(x + R, 0.0, 2 * R) ** 2 / max(4 * R, 1e-300) + np.maximum(x - R, 0.0)


def _added_singly(problem, curator, counts, env, privacy):
    sums = np.zeros(counts.shape)
    for arm, j in np.argwhere(counts):
        y = problem.sample(arm, env, counts[arm, j])
        if curator is not None:
            y = curator.report(y, curator.draw(privacy, len(y)))
        sums[arm, j] = y.sum()
    return sums


def _uniform_sums(problem, counts, env, _):
    """Each binary digit of N uniforms adds up to a binomial; 53 digits, as NumPy draws them."""
    digits = env.binomial(counts[..., None], 0.5, (*counts.shape, 53))
    uniforms = digits @ 0.5 ** np.arange(1, 54)
    return problem.f[:, None] * counts + problem.R * (2 * uniforms - counts)


def _table_sums(problem, counts, env, bound):
    """The counts of a table's rows are multinomial."""
    rows = len(problem.samples)
    even = np.full(rows, 1 / rows)
    sums = np.zeros(counts.shape)
    for arm, j in np.argwhere(counts):
        drawn = env.multinomial(counts[arm, j], even)
        sums[arm, j] = drawn @ np.clip(problem.samples[:, arm], -bound, bound)
    return sums
