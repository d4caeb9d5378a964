"""Simulation: many trials with common random numbers, and campaigns of up to 10^15 users on sums of reports.

>>> import ldpbo_core as core
>>> problem = core.synthetic_problem(seed=7)
>>> core.simulate(problem, ["TGP", "uniform"], 100, trials=2, seed=0, eps=1.0).regret.shape
(2, 2, 100)
>>> billion = core.simulate_batches(problem, 10**9, trials=1, seed=0, eps=1.0, curator=core.OneBit)
>>> int(billion.t[-1]), bool(billion.regret[0, -1] < 0.1 * billion.t[-1] * billion.uniform[0])
(1000000000, True)
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ldpbo import checks as check
from ldpbo.posterior import SMALL
from ldpbo_core import (
    ALGORITHMS,
    CTL,
    GPUCB,
    PE,
    REFRESH,
    TGP,
    TIE,
    Identity,
    OneBit,
    Problem,
    make,
)

if TYPE_CHECKING:
    import pandas

TOGETHER = 16  # trials that play a round at a time
SINGLES = (
    10**7
)  # `simulate_batches` adds single draws up to this horizon where sums have no law of their own


# ---- Simulation: many trials, common random numbers ----------------------------------------------------------


class Simulation(NamedTuple):
    """Cumulative regret (algorithm, trial, T), and records: never a raw reward.

    records: names, uniform (trials,) = expected regret per round of uniform play, pulls (algorithm, trial, n),
    clipped (algorithm, trial); with trace=True also arms and reports, both (algorithm, trial, T); with bands=True also
    beta and needed, both (algorithm, trial, T): the least w with |f - mu| <= w sigma on all arms after that round, so
    that the band mu +- beta sigma holds f wherever needed <= beta.
    """

    regret: np.ndarray
    records: dict

    def frame(self, points: int = 200) -> pandas.DataFrame:
        """A tidy table: algorithm, trial, t (at most `points` values), regret, and that relative to uniform play's."""
        import pandas

        trials, T = self.regret.shape[1:]
        t = np.unique(
            np.linspace(T, 1, check.integer("points", points)).astype(int)
        )  # the last is T
        axes = pandas.MultiIndex.from_product([self.records["names"], range(trials), t])
        axes.names = ["algorithm", "trial", "t"]
        regret, lost = (
            self.regret[:, :, t - 1],
            np.maximum(self.records["uniform"], 1e-300)[:, None] * t,
        )
        return pandas.DataFrame(
            {"regret": regret.ravel(), "relative": (regret / lost).ravel()}, axes
        ).reset_index()


def streams(
    seed: int, trial: int
) -> tuple[int, np.random.Generator, np.random.Generator, np.random.SeedSequence]:
    """A trial's sources of randomness: problem seed, users' draws, privacy draws, and the seed of the sketch.

    Separate children of one SeedSequence: all algorithms of a trial meet the same users and the same noise, and adding
    an algorithm shifts nothing.
    """
    problem, env, privacy, sketch = np.random.SeedSequence(seed, spawn_key=(trial,)).spawn(4)
    return (
        int(problem.generate_state(1)[0]),
        np.random.default_rng(env),
        np.random.default_rng(privacy),
        sketch,
    )


@functools.cache
def _libraries():
    """NumPy's BLAS and the like, found once; None where nobody can."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()


def _one_thread():
    """One BLAS thread, so that sums come out the same on every machine."""
    return _libraries().limit(limits=1) if _libraries() else contextlib.nullcontext()


def _problems(problem, trials, seed, options):
    """The Problem of each trial; all of one size."""
    if "rng" in options:
        raise ValueError("rng: must be left out; every generator is derived from seed")
    if not (isinstance(problem, Problem) or callable(problem)):
        raise ValueError(
            f"problem = {problem!r}: must be a Problem, or a function of a seed that returns one"
        )
    problems = [
        problem if isinstance(problem, Problem) else problem(streams(seed, i)[0])
        for i in range(trials)
    ]
    sizes = [p.n if isinstance(p, Problem) else None for p in problems]
    if None in sizes or len(set(sizes)) > 1:
        raise ValueError(
            f"problem: has {sizes} arms in the trials: must return a Problem of one size for all seeds"
        )
    return problems, np.stack(
        [p.known_f("compute regret").max() - p.f for p in problems]
    )  # gaps (trials, n)


def _start(job):
    """Learner, curator, users' draws and privacy draws of one algorithm in one trial."""
    problem, name, T, seed, trial, _, _, options = job
    _, env, privacy, sketch = streams(seed, trial)
    learner = make(name, problem, T, rng=np.random.default_rng(sketch), **options)
    curator = Identity() if learner.s.curator is None else copy.copy(learner.s.curator)
    return learner, curator, problem.draw(env, T).tolist(), curator.draw(privacy, T).tolist()


def _records(job, *trials):
    """Room for arms (T, *trials), and, where they are asked for, reports (T, *trials) and bands (2, T, *trials)."""
    problem, _, T, _, _, trace, bands, _ = job
    arms = np.empty((T, *trials), dtype=np.int16 if problem.n < 2**15 else np.int32)
    return (
        arms,
        np.empty((T, *trials)) if trace else None,
        np.empty((2, T, *trials)) if bands else None,
    )


def _needed(f, mu, sigma):
    """The least w with |f - mu| <= w sigma on all arms (last axis)."""
    with np.errstate(divide="ignore", invalid="ignore"):  # any w will do where all is 0
        return np.fmax.reduce(np.abs(f - mu) / sigma, axis=-1, initial=0.0)


def _run(job):
    """One algorithm in one trial -> clipped count, arms (T,), reports (T,) and bands (2, T), the last two or None."""
    problem, _, T, *_ = job
    (learner, curator, users, noise), (arms, reports, bands), mu = _start(job), _records(job), None
    with _one_thread():
        for t in range(T):
            arms[t] = arm = learner.ask()
            y = curator.report(problem.reward(arm, users[t]), noise[t])
            if reports is not None:
                reports[t] = y
            learner.tell(y)
            if bands is not None:
                if learner.mu is not mu:  # else inside an epoch of MoMA
                    mu, band = (
                        learner.mu,
                        (learner.beta, _needed(problem.f, learner.mu, learner.sigma)),
                    )
                bands[:, t] = band
    return curator.clipped, arms, reports, bands


def _run_all(jobs):
    """`_run` of several trials of one algorithm -> an iterable of what it returns.

    TGP and GP-UCB on small domains play a round of all trials at a time: what `first_max` and the ridge do is done to
    arrays with an axis of trials, number by number the same, and NumPy is called once for them all.
    """
    problem, name, T, *_ = jobs[0]
    alike = len({job[0].Z.shape for job in jobs}) == 1 and problem.Z.size <= SMALL
    if ALGORITHMS[name] not in (TGP, GPUCB) or len(jobs) == 1 or not alike:
        return map(_run, jobs)
    if len(jobs) > TOGETHER:
        return itertools.chain(_run_all(jobs[:TOGETHER]), _run_all(jobs[TOGETHER:]))
    runs = [_start(job) for job in jobs]
    learners: list[Any] = [run[0] for run in runs]
    ridges, each = [learner.ridge for learner in learners], np.arange(len(jobs))
    sigma, beta = (
        np.stack([learner.sigma for learner in learners]),
        np.array([learner.beta for learner in learners]),
    )
    X, P, M, leverage = (
        np.stack([getattr(r, part) for r in ridges]) for part in ("X", "P", "M", "leverage")
    )
    (arms, reports, bands), said, heard = (
        _records(jobs[0], len(jobs)),
        np.empty(len(jobs)),
        np.empty(len(jobs)),
    )
    counts, sums, f = np.zeros(M.shape), np.zeros(M.shape), np.stack([job[0].f for job in jobs])
    with _one_thread():
        for t in range(T):
            score = M + beta[:, None] * sigma
            top = score[each, score.argmax(axis=1)]
            arms[t] = played = (
                score >= (top - TIE * np.maximum(1.0, np.abs(top)))[:, None]
            ).argmax(axis=1)
            before = sigma[each, played].tolist()
            for i, (arm, (learner, curator, users, noise)) in enumerate(zip(played.tolist(), runs)):
                y = curator.report(learner.problem.reward(arm, users[t]), noise[t])
                if not abs(y) < 1e100:
                    learner.tell(y, arm)  # which says what is wrong
                said[i], heard[i] = y, learner._hear(y, before[i])
                learner.t, beta[i] = t + 1, learner.beta
            counts[each, played] += 1
            sums[each, played] += heard
            if (t + 1) % REFRESH:
                v = P @ X[each, :, played][:, :, None]
                c = (X.transpose(0, 2, 1) @ v)[:, :, 0]
                grown = 1 + c[each, played]
                g, w = c / grown[:, None], v.transpose(0, 2, 1) / grown[:, None, None]
                M += g * (heard - M[each, played])[:, None]
                leverage -= g * c
                np.maximum(leverage, 0.0, out=leverage)
                if P[0].size < 2500:
                    P -= v * w
                else:  # BLAS is faster
                    for i in each:
                        P[i] -= v[i].dot(w[i])
            else:
                for i, ridge in enumerate(ridges):
                    ridge.counts, ridge.sums, ridge.plays = counts[i], sums[i], t + 1
                    ridge.solve()
                    P[i], M[i], leverage[i] = ridge.P, ridge.M, ridge.leverage
            sigma = np.sqrt(ridges[0].lam * leverage)
            if reports is not None:
                reports[t] = said
            if bands is not None:
                bands[:, t] = beta, _needed(f, M, sigma)
    part = lambda record, i: None if record is None else record[..., i]
    return [
        (run[1].clipped, arms[:, i], part(reports, i), part(bands, i)) for i, run in enumerate(runs)
    ]


def simulate(
    problem: Problem | Callable[[int], Problem],
    names: str | Iterable[str],
    T: int,
    *,
    trials: int,
    seed: int,
    workers: int | Executor = 1,
    trace: bool = False,
    bands: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    **options: Any,
) -> Simulation:
    """Play every algorithm of `names` in every trial -> Simulation (regret, records).

    problem: a Problem, or a callable seed -> Problem for a new f in each trial. workers: a number of processes, or any
    concurrent.futures.Executor, such as a Dask client's get_executor(); the numbers do not depend on it.
    trace, bands: more records, see `Simulation`. progress(done, total) is called after each run. options: as in `make`.
    """
    names = [names] if isinstance(names, str) else list(names) if np.iterable(names) else []
    if not names:
        raise ValueError(f"names: must name at least one of {', '.join(ALGORITHMS)}")
    if not (progress is None or callable(progress)):
        raise ValueError(
            f"progress = {progress!r:.80}: must be a function of (done, total), or None"
        )
    T, trials = check.integer("T", T), check.integer("trials", trials)
    seed = check.integer("seed", seed, 0, math.inf, ">= 0")
    problems, gaps = _problems(problem, trials, seed, options)
    for name in names:
        make(name, problems[0], T, rng=0, **options)  # bad settings fail before any work
    results: list[tuple] = []
    jobs = [
        (problems[i], name, T, seed, i, trace, bands, options)
        for name in names
        for i in range(trials)
    ]
    pool: Any = contextlib.nullcontext(workers)  # an Executor stays its owner's
    if not isinstance(workers, Executor) and min(check.integer("workers", workers), len(jobs)) > 1:
        from concurrent.futures import ProcessPoolExecutor

        pool = ProcessPoolExecutor(min(workers, len(jobs)))
    with pool as executor:
        done = (
            executor.map(_run, jobs)
            if isinstance(executor, Executor)
            else itertools.chain.from_iterable(
                _run_all(jobs[start : start + trials]) for start in range(0, len(jobs), trials)
            )
        )
        for result in done:
            results.append(result)
            if progress:
                progress(len(results), len(jobs))
    shape = len(names), trials
    clipped, arms, reports, band = (
        np.array(column).reshape(*shape, *np.shape(column[0])) for column in zip(*results)
    )
    regret = np.stack(
        [np.cumsum(gap[a], axis=-1) for gap, a in zip(gaps, np.moveaxis(arms, 1, 0))], axis=1
    )
    pulls = np.apply_along_axis(np.bincount, 2, arms, minlength=problems[0].n)
    records = dict(names=names, uniform=gaps.mean(axis=1), pulls=pulls, clipped=clipped)
    records |= dict(arms=arms, reports=reports) if trace else {}
    return Simulation(
        regret, records | (dict(beta=band[:, :, 0], needed=band[:, :, 1]) if bands else {})
    )


# ---- Campaigns: elimination on sums of reports, at a cost that does not grow with T --------------------------


class Campaign(NamedTuple):
    """PE after each batch: users so far t (batches,), cumulative regret and number of active arms (trials, batches);
    uniform (trials,) is the expected regret per round of uniform play."""

    t: np.ndarray
    regret: np.ndarray
    active: np.ndarray
    uniform: np.ndarray


def _clipped_mean(problem, bound):
    """E clip(reward, -bound, bound) of each arm, (n,): bound - int_{-bound}^{bound} P(reward <= y) dy."""
    if problem.noise == "table":
        return np.clip(problem.samples, -bound, bound).mean(axis=0)

    def below(x, R=problem.R):  # int^x P(noise <= y) dy
        if problem.noise == "t3":
            return x / 2 + x * np.arctan(x / math.sqrt(3)) / math.pi
        return np.clip(x + R, 0.0, 2 * R) ** 2 / max(4 * R, 1e-300) + np.maximum(x - R, 0.0)

    return bound - below(bound - problem.f) + below(-bound - problem.f)


def _report_sums(learner, curator, counts, env, privacy):
    """Sums of counts[arm, j] reports, (n, k), in their exact law.

    One bit: the +bits are binomial with the mean of the clipped reward, whatever the noise. Table: row counts are
    multinomial. Uniform noise: each binary digit of N uniforms adds up to a binomial; 53 digits, as numpy draws them.
    N Laplace draws add up to the difference of two Gamma(N) draws. Elsewhere single draws are added.
    """
    problem, sums, bound = (
        learner.problem,
        np.zeros(counts.shape),
        math.inf if curator is None else curator.bound,
    )
    if type(curator) is OneBit:
        chance = np.clip((1 + _clipped_mean(problem, bound) / curator.scale) / 2, 0.0, 1.0)
        return curator.scale * (2.0 * privacy.binomial(counts, chance[:, None]) - counts)
    whole = (
        problem.noise == "uniform" and np.abs(problem.f).max() + problem.R <= bound
    )  # nothing is clipped
    if not (whole or problem.noise == "table") or type(curator) not in (CTL, type(None)):
        if learner.s.T > SINGLES:
            raise ValueError(
                f"T = {learner.s.T}: must be at most {SINGLES}; sums of these reports have no known law, "
                "single draws are added; with curator=OneBit every noise has one"
            )
        for arm, j in np.argwhere(counts):
            y = problem.sample(arm, env, counts[arm, j])
            sums[arm, j] = (
                y if curator is None else curator.report(y, curator.draw(privacy, len(y)))
            ).sum()
        return sums
    if whole:
        uniforms = env.binomial(counts[..., None], 0.5, (*counts.shape, 53)) @ 0.5 ** np.arange(
            1, 54
        )
        sums = problem.f[:, None] * counts + problem.R * (2 * uniforms - counts)
    else:
        even = np.full(len(problem.samples), 1 / len(problem.samples))
        for arm, j in np.argwhere(counts):
            sums[arm, j] = env.multinomial(counts[arm, j], even) @ np.clip(
                problem.samples[:, arm], -bound, bound
            )
    if curator is not None:
        sums += curator.scale * (privacy.standard_gamma(counts) - privacy.standard_gamma(counts))
    return sums


def play_batches(
    learner: PE, env: np.random.Generator, privacy: np.random.Generator
) -> Iterator[np.ndarray]:
    """Drive a PE learner to its horizon on sums of reports; yields after each batch its counts (n, k)."""
    curator = copy.copy(learner.s.curator)
    while learner.left.any():
        counts = learner.left.copy()
        sums = _report_sums(learner, curator, counts, env, privacy)
        learner.tell_sums(*(counts, sums) if learner.k > 1 else (counts[:, 0], sums[:, 0]))
        yield counts


def simulate_batches(
    problem: Problem | Callable[[int], Problem],
    T: int,
    *,
    trials: int,
    seed: int,
    eps: float | None = None,
    **options: Any,
) -> Campaign:
    """PE on sums of reports drawn in their exact law -> Campaign: any T up to 1e15 at the same cost.

    problem: a Problem, or a callable seed -> Problem, as in `simulate`. options: those of `make`. Where sums have no
    known law (Student noise but for OneBit; rewards that CTL clips; SecureCTL) single draws are added, T <= SINGLES.
    """
    T, trials, seed = (
        check.integer("T", T),
        check.integer("trials", trials),
        check.integer("seed", seed, low=0),
    )
    problems, gaps = _problems(problem, trials, seed, options)
    rows = []
    for i, (this, gap) in enumerate(zip(problems, gaps)):
        _, env, privacy, sketch = streams(seed, i)
        with _one_thread():
            learner: Any = make(
                "PE", this, T, eps=eps, rng=np.random.default_rng(sketch), **options
            )
            rows.append(
                [
                    (c.sum(axis=1) @ gap, learner.active.sum())
                    for c in play_batches(learner, env, privacy)
                ]
            )
    regret, active = np.moveaxis(np.array(rows), 2, 0)
    return Campaign(
        np.cumsum(learner.sizes), np.cumsum(regret, axis=1), active.astype(int), gaps.mean(axis=1)
    )
