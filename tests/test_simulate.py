"""simulate(...): the same numbers as driving ask/tell by hand, whatever the number of processes.

Common random numbers; records.
"""

import concurrent.futures as futures
import functools
from typing import NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
NAMES = ["TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"]
small = functools.partial(core.synthetic_problem, "matern", n=20)


def uniform_noise(seed):
    return small("uniform", seed)


def t3_noise(seed):
    return small("t3", seed)


def other_kernel(seed):
    """Points of one, two or three coordinates: kernels of other ranks."""
    rng = default_rng(seed)
    X = rng.normal(size=(15, rng.integers(1, 4))) / 9
    return core.Problem(points=X, kernel=core.linear_kernel, f=X[:, 0], B=1.0, R=0.1)


TABLE = core.table_problem(default_rng(0).gamma(2.0, 30.0, (80, 9)))
CASES = {
    "one problem, private": (small("uniform", 1), dict(eps=1.0)),
    "one problem, non-private": (small("t3", 1), dict()),
    "new f per trial, private": (uniform_noise, dict(eps=0.5, constants="printed", k=6)),
    "new f per trial, proved": (uniform_noise, dict(eps=0.5, constants="proved")),
    "new f per trial, non-private": (t3_noise, dict(q=0.5, lam=0.3, beta_scale=0.2)),
    "new kernel per trial, private": (other_kernel, dict(eps=1.0)),
    "table, private": (TABLE, dict(eps=2.0)),
    "table, non-private": (TABLE, dict(delta=0.01, acc=0.4)),
}


class Run(NamedTuple):
    """One algorithm in one trial, round by round; bands: (beta, needed)."""

    problem: core.Problem
    arms: list
    reports: list
    regret: list
    bands: list


def by_hand(problem, name, T, seed, trial, eps=None, **settings):
    """The documented recipe: draw users and noise from streams(seed, trial), then ask and tell."""
    problem_seed, env, privacy, sketch = core.streams(seed, trial)
    problem = problem if isinstance(problem, core.Problem) else problem(problem_seed)
    learner = core.make(name, problem, T, eps=eps, rng=default_rng(sketch), **settings)
    users = problem.draw(env, T)
    curator = core.Identity() if eps is None else core.CTL(eps, problem.B, problem.R)
    noise = curator.draw(privacy, T)
    run = Run(problem, [], [], [], [])
    total = 0.0
    for t in range(T):
        arm = learner.ask()
        y = curator.report(problem.reward(arm, users[t]), noise[t])
        learner.tell(y)
        total += np.max(problem.f) - problem.f[arm]
        run.arms.append(arm)
        run.reports.append(y)
        run.regret.append(total)
        needed = max(np.abs(problem.f - learner.mu) / learner.sigma)
        run.bands.append((learner.beta, needed))
    return run


def compare(out, i, trial, run):
    """What simulate recorded of algorithm i in this trial is the run, bit for bit."""
    records = out.records
    assert_array_equal(records["arms"][i, trial], run.arms)
    assert_array_equal(records["reports"][i, trial], run.reports)
    beta, needed = np.transpose(run.bands)
    assert_array_equal(records["beta"][i, trial], beta)
    assert_array_equal(records["needed"][i, trial], needed)
    assert_allclose(out.regret[i, trial], run.regret, rtol=1e-12)
    pulls = np.bincount(run.arms, minlength=run.problem.n)
    assert_array_equal(records["pulls"][i, trial], pulls)


@mark.parametrize("case", CASES)
def test_simulate_equals_hand_driven_ask_and_tell_draw_by_draw(case):
    problem, settings = CASES[case]
    constants = settings.get("constants", "order")
    names = [name for name in NAMES if constants in core.ALGORITHMS[name].presets]
    out = core.simulate(problem, names, 70, trials=2, seed=11, trace=True, bands=True, **settings)
    assert out.regret.shape == (len(names), 2, 70)
    assert len(names) == {"order": 6, "printed": 4, "proved": 5}[constants]
    assert list(out.records["names"]) == names
    for i, name in enumerate(names):
        for trial in range(2):
            run = by_hand(problem, name, 70, 11, trial, **settings)
            compare(out, i, trial, run)
            gaps = np.max(run.problem.f) - run.problem.f
            assert out.records["uniform"][trial] == approx(np.mean(gaps), rel=1e-12)


def test_a_report_beyond_what_a_learner_takes_is_refused():
    huge = core.Problem(K=np.eye(3), f=np.full(3, 9e99), B=9e99, R=1.0)
    with raises(ValueError, match="reward = .* must be a finite number below 1e100"):
        core.simulate(huge, "GP-UCB", 200, trials=1, seed=0, eps=1.9)


@mark.parametrize("case", ["new f per trial, private", "table, non-private"])
def test_two_processes_give_the_numbers_of_one(case):
    problem, settings = CASES[case]
    settings = dict(trials=3, seed=2, trace=True, **settings)
    one = core.simulate(problem, ["TGP", "ATA", "MoMA"], 90, workers=1, **settings)
    two = core.simulate(problem, ["TGP", "ATA", "MoMA"], 90, workers=2, **settings)
    assert_array_equal(one.regret, two.regret)
    for key in ("arms", "reports", "pulls", "clipped", "uniform"):
        assert_array_equal(one.records[key], two.records[key])


def test_same_seed_same_numbers_and_another_seed_others():
    def reports(seed):
        out = core.simulate(uniform_noise, "ATA", 50, trials=2, seed=seed, trace=True, eps=1.0)
        return out.records["reports"]

    assert_array_equal(reports(0), reports(0))
    assert not np.any(reports(0) == reports(1))


def test_adding_an_algorithm_or_a_trial_shifts_nothing():
    many = core.simulate(uniform_noise, NAMES, 60, trials=3, seed=5, eps=1.0, trace=True)
    for i, name in enumerate(NAMES):
        alone = core.simulate(uniform_noise, name, 60, trials=2, seed=5, eps=1.0, trace=True)
        assert_array_equal(alone.regret[0], many.regret[i, :2])
        assert_array_equal(alone.records["reports"][0], many.records["reports"][i, :2])


def test_trials_differ():
    out = core.simulate(uniform_noise, ["TGP"], 40, trials=3, seed=5, trace=True)
    assert len({tuple(row) for row in out.records["reports"][0]}) == 3
    assert len(set(out.records["uniform"])) == 3


@mark.parametrize("eps", [None, 1.0])
def test_algorithms_that_play_the_same_arm_in_a_round_meet_the_same_report(eps):
    """Common random numbers: one user and one Laplace draw per round, whoever asks."""
    out = core.simulate(TABLE, NAMES, 120, trials=1, seed=3, trace=True, eps=eps)
    arms = out.records["arms"][:, 0]
    reports = out.records["reports"][:, 0]
    met = 0
    for i in range(5):
        for j in range(i):
            same = arms[i] == arms[j]
            assert_array_equal(reports[i][same], reports[j][same])
            met += same.sum()
    assert met > 50


def test_the_privacy_noise_is_one_unit_draw_scaled_by_the_curator():
    """Playing the same arms at two levels of eps: (report - reward) eps is the same number."""
    problem = core.Problem(K=np.eye(1), f=[0.3], B=1.0, R=1.0, v=2.0, c=1.0)

    def reports(eps):
        out = core.simulate(problem, "TGP", 50, trials=1, seed=3, trace=True, eps=eps)
        return out.records["reports"]

    much = reports(0.5) - reports(None)
    little = reports(4.0) - reports(None)
    assert_allclose(much * 0.5, little * 4.0, rtol=1e-9, atol=1e-10)
    assert np.std(much) > 1


def test_regret_is_the_running_sum_of_gaps():
    out = core.simulate(t3_noise, NAMES, 80, trials=2, seed=9, trace=True)
    for trial in range(2):
        f = t3_noise(core.streams(9, trial)[0]).f
        for i in range(5):
            gaps = f.max() - f[out.records["arms"][i, trial]]
            assert_allclose(out.regret[i, trial], np.cumsum(gaps), rtol=1e-12)
    assert np.all(np.diff(out.regret, axis=2) >= 0)
    assert np.all(out.regret[:, :, 0] >= 0)
    assert np.all(out.records["pulls"].sum(axis=2) == 80)


def test_clipped_counts_the_rewards_outside_the_curators_range():
    """R is too small on purpose: every |reward| above B + R is clipped and counted.
    Without a curator nothing is."""
    problem = core.Problem(K=np.eye(1), f=[0.9], B=1.0, R=0.1, v=2.0, c=1.0, noise="t3")
    out = core.simulate(problem, ["TGP"], 300, trials=1, seed=0, trace=True)
    outside = int(np.sum(np.abs(out.records["reports"]) > 1.1))
    assert outside > 20
    assert out.records["clipped"][0, 0] == 0
    private = core.simulate(problem, ["TGP"], 300, trials=1, seed=0, eps=1.0)
    assert private.records["clipped"][0, 0] == outside


def test_a_curator_that_was_used_before_starts_counting_at_zero():
    problem = core.Problem(K=np.eye(1), f=[0.0], B=1.0, R=1.0, v=2.0, c=1.0)
    curator = core.CTL(1.0, 1.0, 1.0)
    curator.privatise(50.0, default_rng(0))
    out = core.simulate(problem, ["TGP"], 10, trials=1, seed=0, curator=curator)
    assert out.records["clipped"][0, 0] == 0


def test_records_hold_no_report_unless_a_trace_is_asked_for():
    records = core.simulate(TABLE, ["TGP"], 20, trials=1, seed=0, eps=1.0).records
    assert set(records) == {"names", "uniform", "pulls", "clipped"}


def test_an_arm_without_variance_needs_no_band_unless_its_mean_is_wrong():
    """k(x, x) = 0 on the last arm, so that mu = sigma = 0 there."""
    for f, want in (0.0, True), (0.5, False):
        problem = core.Problem(K=np.diag([1.0, 1.0, 0.0]), f=[0.2, -0.1, f], B=1.0, R=0.1)
        for trials in (1, 2):
            out = core.simulate(problem, "TGP", 30, trials=trials, seed=0, bands=True)
            needed = out.records["needed"]
            assert needed.shape == (1, trials, 30)
            assert np.isfinite(needed).all() == want == np.isfinite(needed).any()


def test_streams_are_independent_children_of_one_seed():
    """No two streams of any trial start alike; none depends on how much another was used."""
    first = []
    for trial in range(4):
        problem_seed, env, privacy, sketch = core.streams(7, trial)
        again = core.streams(7, trial)
        env.random(1000)
        assert again[0] == problem_seed
        assert again[2].random() == privacy.random()
        _, env, privacy, _ = core.streams(7, trial)
        seeded = [default_rng(problem_seed), default_rng(sketch)]
        first += [rng.random() for rng in (env, privacy, *seeded)]
    assert len(set(first)) == 16


def test_a_single_name_may_be_given_as_a_string():
    word = core.simulate(TABLE, "TGP", 20, trials=1, seed=0)
    words = core.simulate(TABLE, ["TGP"], 20, trials=1, seed=0)
    assert_array_equal(word.regret, words.regret)


def test_progress_is_reported_run_by_run():
    seen = []
    progress = lambda done, total: seen.append((done, total))
    core.simulate(TABLE, ["TGP", "uniform"], 10, trials=2, seed=0, progress=progress)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_learning_beats_uniform_play_on_an_easy_problem():
    """Three far-apart arms, gap 1, light noise.
    Each algorithm has less than half of uniform play's regret. Fixed seeds; no chance involved."""
    problem = core.Problem(K=np.eye(3), f=[-1.0, 0.0, 1.0], B=1.0, R=0.1, v=1.1, c=0.1)
    names = ["TGP", "ATA", "MoMA", "GP-UCB"]
    out = core.simulate(problem, names, 3000, trials=2, seed=0, beta_scale=0.3)
    assert np.all(out.regret[:, :, -1] < 0.5 * 3000 * out.records["uniform"])


# ---- any executor -------------------------------------------------------------------------------
class Counting(futures.Executor):
    """An executor of somebody else's: it counts, and it must not be shut down."""

    jobs = 0

    def submit(self, function, *args):
        self.jobs += 1
        future = futures.Future()
        future.set_result(function(*args))
        return future

    def shutdown(self, *args, **options):
        raise AssertionError("the executor belongs to the caller")


EXECUTORS = {
    "own": Counting,
    "threads": lambda: futures.ThreadPoolExecutor(3),
    "processes": lambda: futures.ProcessPoolExecutor(2),
}


@mark.parametrize("executor", EXECUTORS)
def test_any_executor_gives_the_numbers_of_one_process(executor):
    names = ["TGP", "MoMA", "TS", "uniform"]
    settings = dict(trials=3, seed=2, eps=1.0)
    alone = core.simulate(uniform_noise, names, 50, **settings)
    pool = EXECUTORS[executor]()
    seen = []
    progress = lambda *done: seen.append(done)
    shared = core.simulate(uniform_noise, names, 50, workers=pool, progress=progress, **settings)
    assert_array_equal(alone.regret, shared.regret)
    assert_array_equal(alone.records["pulls"], shared.records["pulls"])
    assert seen == [(i, 12) for i in range(1, 13)]
    if isinstance(pool, Counting):
        assert pool.jobs == 12
    else:
        assert pool.submit(int, "7").result() == 7  # still open
        pool.shutdown()


def test_no_more_processes_are_started_than_there_are_runs(monkeypatch):
    asked = []

    class Pool(futures.ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(1)

    monkeypatch.setattr(futures, "ProcessPoolExecutor", Pool)
    core.simulate(TABLE, ["TGP", "uniform"], 10, trials=2, seed=0, workers=10**5)
    core.simulate(TABLE, "TGP", 10, trials=1, seed=0, workers=200)
    assert asked == [4]


@mark.parametrize("workers", [0, -1, 1.5, "2", None, True, futures.ThreadPoolExecutor])
def test_workers_that_are_neither_a_number_nor_an_executor_are_refused(workers):
    with raises(ValueError, match="workers = "):
        core.simulate(TABLE, "TGP", 10, trials=1, seed=0, workers=workers)


def test_problems_of_different_sizes_are_refused_before_any_run():
    seeds = []

    def factory(seed):
        seeds.append(seed)
        return core.synthetic_problem("matern", "uniform", seed, n=20 + (len(seeds) > 2))

    with raises(ValueError, match=r"problem: has \[20, 20, 21\] arms"):
        core.simulate(factory, "TGP", 10**8, trials=3, seed=0)
    with raises(ValueError, match=r"problem: has \[None\] arms.* must return a Problem"):
        core.simulate(lambda seed: "f", "TGP", 10**8, trials=1, seed=0)


def test_frame_is_the_tidy_table_of_the_regret():
    out = core.simulate(uniform_noise, ["TGP", "uniform"], 50, trials=3, seed=2, eps=1.0)
    frame = out.frame(points=7)
    assert list(frame.columns) == ["algorithm", "trial", "t", "regret", "relative"]
    assert len(frame) == 2 * 3 * 7
    assert frame.t.max() == 50
    for row in frame.itertuples():
        i = ["TGP", "uniform"].index(row.algorithm)
        assert row.regret == out.regret[i, row.trial, row.t - 1]
        uniform = row.t * out.records["uniform"][row.trial]
        assert row.relative == approx(row.regret / uniform, rel=1e-12)
    assert len(out.frame(1000)) == 2 * 3 * 50
    assert out.frame(points=1).t.unique().tolist() == [50]
    with raises(ValueError, match="points = 0"):
        out.frame(0)
