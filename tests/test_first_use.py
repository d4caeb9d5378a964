"""First use: one's own algorithm, curator and rewards; one recipe for B, F and R; tables as they
come; what is said to whom."""

import dataclasses
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import tomllib
import warnings
from concurrent import futures
from functools import partial
from math import exp, inf, nan, sqrt
from pathlib import Path

import numpy as np
import own_classes as own
import pytest
from numpy.linalg import solve
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises, warns
from scipy.stats import binom

import ldpbo
import ldpbo_bounds as bounds
import ldpbo_core as core
from ldpbo import campaigns, formats, provenance, saving

ROOT = Path(core.__file__).resolve().parent
PROBLEM = core.synthetic_problem("se", seed=1, n=12)
f = 0.8 * PROBLEM.f / np.abs(PROBLEM.f).max()
CLICKS = own.Clicks(K=PROBLEM.K, f=f, B=4.0, R=2.0, Y=1.0)
RECENTRED = dict(curator=core.OneBit, constants="proved", schedule="double")


def run_python(*words, **options):
    """A Python process with these words -> what it wrote."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, **options)


# ---- Your own algorithm --------------------------------------------------------------------------


def test_a_class_of_ones_own_goes_where_a_name_goes():
    learner = core.make(own.Greedy, PROBLEM, 50, eps=1.0, curator=core.OneBit, rng=0)
    assert type(learner) is own.Greedy
    assert repr(learner).startswith("Greedy(12 arms")
    told = dict(trials=2, seed=0, eps=1.0)
    result = core.simulate(PROBLEM, ["TGP", own.Greedy], 60, **told)
    assert result.records["names"] == ["TGP", "Greedy"]
    alone = core.simulate(PROBLEM, own.Greedy, 60, **told)
    assert_array_equal(alone.regret[0], result.regret[1])
    assert set(result.frame().algorithm) == {"TGP", "Greedy"}
    assert "Greedy" in repr(result)


def test_the_classes_of_the_core_play_as_their_names_do():
    told = dict(trials=2, seed=3, eps=1.0)
    by_name = core.simulate(PROBLEM, ["TGP", "MoMA"], 40, **told)
    by_class = core.simulate(PROBLEM, [core.TGP, core.MoMA], 40, **told)
    assert_array_equal(by_name.regret, by_class.regret)


def test_simulate_plays_an_own_algorithm_as_driving_it_by_hand_does():
    T, seed = 40, 5
    result = core.simulate(PROBLEM, own.Greedy, T, trials=1, seed=seed, eps=1.0, trace=True)
    _, env, privacy, sketch = core.streams(seed, 0)
    learner = core.make(own.Greedy, PROBLEM, T, eps=1.0, rng=default_rng(sketch))
    curator = core.CTL(1.0, PROBLEM.F, PROBLEM.R)
    users = PROBLEM.draw(env, T)
    noise = curator.draw(privacy, T)
    for t in range(T):
        arm = learner.ask()
        report = curator.report(PROBLEM.reward(arm, users[t]), noise[t])
        assert arm == result.records["arms"][0, 0, t]
        assert report == result.records["reports"][0, 0, t]
        learner.tell(report)


def processes(method):
    return futures.ProcessPoolExecutor(2, multiprocessing.get_context(method))


POOLS = {
    "a number": lambda: 2,
    "fork": lambda: processes("fork"),
    "spawn": lambda: processes("spawn"),
    "threads": lambda: futures.ThreadPoolExecutor(2),
}


@mark.parametrize("kind", POOLS)
def test_everything_of_ones_own_gives_the_same_numbers_on_every_executor(kind):
    told = dict(trials=2, seed=1, eps=1.0, curator=own.Triangular)
    play = partial(core.simulate, CLICKS, [own.Greedy, "TGP"], 30, **told)
    workers = POOLS[kind]()
    shared = play(workers=workers)
    assert_array_equal(play().regret, shared.regret)
    if isinstance(workers, futures.Executor):
        workers.shutdown()


@pytest.mark.build
@mark.xdist_group("dask")
def test_a_dask_client_is_taken_as_it_is_and_its_workers_find_the_classes():
    distributed = pytest.importorskip("distributed")
    told = dict(trials=2, seed=1, eps=1.0, curator=own.Triangular)
    play = partial(core.simulate, CLICKS, [own.Greedy], 30, **told)
    quiet = dict(n_workers=1, threads_per_worker=1, dashboard_address=None)
    with distributed.Client(processes=True, **quiet) as client:
        by_client = play(workers=client)
        by_executor = play(workers=client.get_executor())
        assert client.submit(int, "7").result() == 7  # stays its owner's
    assert_array_equal(by_client.regret, play().regret)
    assert_array_equal(by_executor.regret, play().regret)


def test_what_is_no_learner_is_refused_with_what_to_write():
    for wrong in (dict, "Greedy", core.CTL, own.Greedy(PROBLEM, *made_of(own.Greedy))):
        with raises(ValueError, match="name = .*TGP.*or a subclass of Learner"):
            core.make(wrong, PROBLEM, 10)
    with raises(ValueError, match="constants = 'proved': must be 'order' for Greedy"):
        core.make(own.Greedy, PROBLEM, 10, constants="proved")
    for option in (dict(switch=0.1), dict(schedule="double"), dict(weibull=(1.0, 1.0, 1.0))):
        with raises(ValueError, match=f"{next(iter(option))} = "):
            core.make(own.Greedy, PROBLEM, 10, **option)
    with raises(ValueError, match="T = None"):
        core.make(own.Greedy, PROBLEM, None)
    assert core.make(own.Endless, PROBLEM, None).settings.T is None
    with raises(ValueError, match="arm = 12: must be an integer from 0 to 11"):
        core.make(own.Broken, PROBLEM, 10).ask()
    with raises(ValueError, match="name = 'Greedy': must be 'PE'"):
        core.simulate_batches(PROBLEM, 100, trials=1, seed=0, name=own.Greedy)


def made_of(kind):
    learner = core.make(kind, PROBLEM, 10, rng=0)
    return learner.settings, learner.rng


def test_the_base_class_says_what_to_write():
    text = core.Learner.__doc__
    assert all(word in text for word in ("start()", "update(arm, y)", "choose", "presets"))
    assert len(text.splitlines()) < 20


# ---- Your own curator ----------------------------------------------------------------------------


def test_a_curator_of_ones_own_is_played_and_nothing_is_proved_of_it():
    play = partial(core.simulate, PROBLEM, "GP-UCB", 50, trials=1, seed=0, eps=1.0, trace=True)
    reports = play(curator=own.Triangular).records["reports"]
    assert (reports != play().records["reports"]).any()
    proved = partial(core.make, "GP-UCB", PROBLEM, 50, eps=1.0, constants="proved")
    with raises(ValueError, match="constants = 'proved'.*Triangular"):
        proved(curator=own.Triangular)
    proved(curator=type("Plain", (core.CTL,), {}))  # reports as CTL does
    with raises(ValueError, match="or a subclass of core.CTL"):
        core.make("TGP", PROBLEM, 50, eps=1.0, curator=dict)


def test_in_batches_a_curator_of_ones_own_reports_singly():
    """Here in the law of OneBit: binomial tails of 1e-9 in all are false alarms."""
    learner = core.make("PE", PROBLEM, 10**5, eps=2.0, curator=own.LoudBit, rng=0)
    rng = default_rng(2)
    sums = campaigns.report_sums(learner, learner.left, rng, rng)
    assert learner.left.any()
    for arm in np.flatnonzero(learner.left[:, 0]):
        count = int(learner.left[arm, 0])
        curator = learner.curator(arm)
        law = binom(count, (1 + PROBLEM.f[arm] / curator.scale) / 2)
        low, high = law.ppf([1e-11, 1 - 1e-11])
        assert low <= curator.pluses(count, sums[arm, 0]) <= high


def test_in_batches_what_is_not_known_of_a_curator_is_refused():
    play = partial(core.simulate_batches, PROBLEM, trials=1, seed=0, eps=2.0)
    with raises(ValueError, match="T = 100000000: must be at most 10000000"):
        play(10**8, curator=own.LoudBit)
    with raises(ValueError, match="constants = 'proved'.*LoudBit"):
        play(20_000, **RECENTRED | dict(curator=own.LoudBit))
    with raises(ValueError, match="curator = LoudSums: must be Sums itself"):
        play(20_000, **RECENTRED | dict(curator=own.LoudSums))


def test_single_reports_of_a_recentred_batch_are_those_of_its_windows():
    """A class that only has another name: every report is one that the curator of its arm makes."""
    renamed = RECENTRED | dict(curator=type("Renamed", (core.OneBit,), {}))
    learner = core.make("PE", PROBLEM, 10_000, eps=3.0, rng=0, first=200, **renamed)
    rng = default_rng(0)
    batches = len(list(core.play_batches(learner, rng, rng)))
    assert batches > 3
    assert learner.t == 10_000
    assert np.ptp(learner.reach) > 0  # windows did shrink


# ---- Your own rewards ----------------------------------------------------------------------------


def test_rewards_of_ones_own_are_played_by_simulate():
    """Clicks are +-1 alone; an arm's mean click is f. False alarm: 1e-9 by binomial tails."""
    told = dict(trials=1, seed=0, curator=core.Identity, trace=True)
    records = core.simulate(CLICKS, "uniform", 4000, **told).records
    rewards = records["reports"][0, 0]
    arms = records["arms"][0, 0]
    assert set(rewards) == {-1.0, 1.0}
    for arm in range(CLICKS.n):
        clicks = rewards[arms == arm] > 0
        law = binom(len(clicks), (1 + CLICKS.f[arm]) / 2)
        low, high = law.ppf([1e-10, 1 - 1e-10])
        assert low <= clicks.sum() <= high


def test_rewards_of_ones_own_are_refused_where_their_law_is_not_known():
    told = dict(K=PROBLEM.K, f=f, B=1.0, R=1.0)
    for problem, method in ((CLICKS, "reward"), (own.Drawn(**told), "draw")):
        name = type(problem).__name__
        with raises(ValueError, match=f"problem = {name}: must not override {method}"):
            core.simulate_batches(problem, 100, trials=1, seed=0, eps=1.0, curator=core.OneBit)


def test_a_draw_that_gives_too_few_is_named():
    single = own.Single(K=PROBLEM.K, f=f, B=1.0, R=1.0)
    with raises(ValueError, match="Single.draw: must give as many draws as `size` says, 20"):
        core.simulate(single, "TGP", 20, trials=1, seed=0, eps=1.0)


# ---- Saved and loaded ----------------------------------------------------------------------------


def drive(learner, rounds, seed=0):
    rng = default_rng(seed)
    for _ in range(rounds):
        arm = learner.ask()
        reward = CLICKS.sample(arm, rng)
        learner.tell(learner.curator(arm).privatise(reward, rng))
    return learner


@mark.parametrize("kind", [own.Greedy, own.Careful])
@mark.parametrize("curator", [core.OneBit, own.Triangular])
def test_an_own_learner_with_an_own_curator_is_saved_and_goes_on_bit_for_bit(
    kind, curator, tmp_path
):
    learner = drive(core.make(kind, CLICKS, 90, eps=1.0, curator=curator, rng=3), 40)
    learner.save(tmp_path / "learner.npz")
    twin = core.load(tmp_path / "learner.npz", CLICKS)
    assert type(twin) is kind
    assert type(twin.settings.curator) is curator
    for name in ("by_arm", "last", "seen"):
        assert getattr(twin, name) == getattr(learner, name)
    assert twin.array == [1, "two", None]
    drive(learner, 50, seed=1)
    drive(twin, 50, seed=1)
    assert_array_equal(learner.mu, twin.mu)
    assert learner.by_arm == twin.by_arm


def test_what_a_file_cannot_hold_is_named_with_what_to_do(tmp_path):
    learner = core.make(own.Forgetful, CLICKS, 90, eps=1.0)
    with raises(ValueError, match="Forgetful.window is a deque.*__getstate__"):
        learner.save(tmp_path / "learner.npz")

    class Local(own.Greedy):
        pass

    with raises(ValueError, match="Local cannot be saved.*top of a module"):
        core.make(Local, CLICKS, 90, eps=1.0).save(tmp_path / "learner.npz")
    assert not os.listdir(tmp_path)


WRITER = """
import sys
sys.path[:0] = [{root!r}]
import ldpbo_core as core

class Mine(core.Learner):
    def start(self):
        self.kept = (1, 2)

class Hidden(core.CTL):
    pass

problem = core.synthetic_problem(seed=0, n=5)
learner = core.make(Mine, problem, 10, eps=1.0, curator=Hidden)
learner.tell(0.5, learner.ask())
learner.save({path!r})
"""


def test_a_class_from_elsewhere_is_asked_for_and_nothing_is_imported_for_a_file(tmp_path):
    path = tmp_path / "learner.npz"
    script = WRITER.format(root=str(ROOT), path=str(path))
    subprocess.run([sys.executable, "-c", script], check=True)
    problem = core.synthetic_problem(seed=0, n=5)
    with raises(ValueError, match=r"class \w+ of the module __main__: .*algorithm=\w+"):
        core.load(path, problem)

    class Mine(core.Learner):
        pass

    class Hidden(core.CTL):
        pass

    Mine.__qualname__, Hidden.__qualname__ = "Mine", "Hidden"
    learner = core.load(path, problem, algorithm=Mine, curator=Hidden)
    assert (type(learner), type(learner.settings.curator)) == (Mine, Hidden)
    assert (learner.kept, learner.t) == ((1, 2), 1)
    for wrong in (dict(algorithm=core.CTL), dict(curator=Mine), dict(algorithm="Mine")):
        with raises(ValueError, match=f"{next(iter(wrong))} = .*must be a subclass of"):
            core.load(path, problem, **wrong)
    core.make("TGP", problem, 10, eps=1.0).save(path)
    with raises(ValueError, match="algorithm = Mine: must be left out.*has a TGP"):
        core.load(path, problem, algorithm=Mine)


@mark.parametrize(
    "named", ["antigravity:Learner", "os:system", "builtins:dict", "own_classes:Clicks"]
)
def test_a_file_cannot_name_code_that_is_then_run(named, tmp_path):
    path = tmp_path / "learner.npz"
    core.make("TGP", CLICKS, 10, eps=1.0).save(path)
    with np.load(path) as file:
        members = dict(file)
    text = bytes(members["header"]).replace(b'"class": "TGP"', f'"class": "{named}"'.encode())
    np.savez(path, **members | {"header": np.frombuffer(text, np.uint8)})
    with raises(ValueError, match="learner.npz: needs the class"):
        core.load(path, CLICKS)
    assert "antigravity" not in sys.modules


def test_a_file_for_another_range_is_refused(tmp_path):
    path = tmp_path / "learner.npz"
    core.make("TGP", CLICKS, 10, eps=1.0).save(path)
    for change in (dict(F=0.9), dict(Y=1.5)):
        with raises(ValueError, match="its (F|bound) differs"):
            core.load(path, dataclasses.replace(CLICKS, **change))
    assert saving.FORMAT == 6


# ---- Range, noise, norm --------------------------------------------------------------------------


def stars(rows=400, n=6, seed=0):
    """Ratings of 1 to 5 stars."""
    rng = default_rng(seed)
    taste = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, n))
    liking = np.linspace(2.3, 3.9, n) + taste + rng.normal(size=(rows, n))
    return np.clip(np.rint(liking), 1, 5)


def test_the_range_of_the_rewards_makes_the_curator_and_their_norm_the_learner():
    problem = core.table_problem(stars(), low=1, high=5)
    assert (problem.F, problem.Y, problem.R, problem.bound, problem.spread) == (2, 2, 4, 2, 2)
    assert_array_equal(problem.samples, stars() - 3)
    square = problem.f @ solve(problem.K, problem.f)
    assert problem.B == approx(sqrt(square))
    assert problem.B == core.rkhs_norm(problem)
    for kind in (core.CTL, core.OneBit, own.Triangular):
        curator = core.make("TGP", problem, 10, eps=1.0, curator=kind).settings.curator
        assert curator.bound == 2
    assert "centred at 3" in problem.provenance
    told = core.table_problem(stars(), low=1, high=5, B=7.0, R=3.5)
    assert (told.B, told.R, told.F, told.Y) == (7.0, 3.5, 2, 2)


def test_without_a_range_a_table_has_the_bounds_of_the_paper():
    problem = core.table_problem(stars())
    mean = stars().mean(axis=0)
    assert problem.B == problem.F == np.abs(mean).max()
    assert problem.R == np.abs(stars() - mean).max()
    assert problem.Y is None and problem.bound == problem.B + problem.R
    assert_array_equal(problem.samples, stars())


@mark.parametrize("R", [None, 3.9])
@mark.parametrize("low, high", [(1, 5), (0.1, 5.3), (1 / 3, 5.7)])
def test_with_a_range_no_reward_is_ever_clipped(low, high, R):
    """Neither by a fixed curator nor in batches; rewards lie on the ends of the range."""
    table = low + (stars() - 1) * (high - low) / 4
    problem = core.table_problem(np.clip(table, low, high), low=low, high=high, R=R)
    play = partial(core.simulate, problem, trials=2, seed=0, eps=3.0)
    fixed = play(["TGP", "GP-UCB"], 300, curator=core.OneBit)
    assert not fixed.records["clipped"].any()
    in_batches = play("PE", 6000, first=256, **RECENTRED)
    assert not in_batches.records["clipped"].any()


def test_windows_that_shrink_within_the_range_clip_nothing_and_bands_hold():
    """Arms near both ends of [-2, 2], whose rewards are within R of their means. At delta = 0.1 at
    most 12 of 40 runs fail, but for a chance of 1e-3."""
    rng = default_rng(0)
    means = np.linspace(-1.9, 1.9, 8)
    table = np.clip(means + rng.uniform(-0.3, 0.3, (500, 8)), -2, 2)
    R = float(np.abs(table - table.mean(axis=0)).max())
    problem = core.table_problem(table, low=-2, high=2, R=R)
    told = dict(eps=3.0, first=256, **RECENTRED)
    result = core.simulate(problem, "PE", 20_000, trials=2, seed=0, **told)
    assert not result.records["clipped"].any()
    best = int(problem.f.argmax())
    failures = 0
    for seed in range(40):
        learner = core.make("PE", problem, 10**6, **told, rng=seed)
        failures += bands_fail(learner, default_rng(seed))
        assert learner.centre[best] + learner.reach[best] <= 2 + 1e-12  # cut at the end
        assert learner.reach[best] < R + 0.1
    assert failures <= 12


def bands_fail(learner, rng):
    """Play the campaign out: was f outside the bands after some batch?"""
    f = learner.problem.f
    held = True
    for _ in core.play_batches(learner, rng, rng):
        held &= bool((learner.lower <= f).all() and (f <= learner.upper).all())
    return not held


def test_a_window_is_what_band_noise_and_range_leave_of_the_line():
    """Bands [-1.5, -0.5], [-0.2, 0.2] and [1.9, 2], R = 0.7, Y = 2: windows worked out by hand."""
    by_hand = [
        (2.0, [-0.9, 0.0, 1.6], [1.1, 0.9, 0.4]),
        (None, [-1.0, 0.0, 1.95], [1.2, 0.9, 0.75]),
    ]
    for Y, centres, reaches in by_hand:
        problem = core.Problem(K=np.eye(3), B=2.0, F=2.0, R=0.7, Y=Y)
        learner = core.make("PE", problem, None, eps=1.0, rng=0, **RECENTRED)
        learner.lower = np.array([-1.5, -0.2, 1.9])
        learner.upper = np.array([-0.5, 0.2, 2.0])
        learner.recentre()
        assert_allclose(learner.centre, centres, atol=1e-15)
        assert_allclose(learner.reach, reaches, atol=1e-15)
        assert learner.curator(2).centre == learner.centre[2]
        assert learner.curator(2).bound == learner.reach[2]


def test_the_ends_of_a_window_are_not_clipped_by_rounding():
    rng = default_rng(0)
    for Y in rng.uniform(0.1, 10, 50).tolist():
        problem = core.Problem(K=np.eye(20), B=Y, F=Y, R=0.4 * Y, Y=Y)
        learner = core.make("PE", problem, None, eps=1.0, rng=0, **RECENTRED)
        learner.lower = rng.uniform(-Y, 0.5 * Y, 20)
        learner.upper = np.minimum(learner.lower + rng.uniform(0, Y, 20), Y)
        learner.recentre()
        for arm in range(20):
            curator = learner.curator(arm)
            if learner.lower[arm] - problem.R <= -Y:
                curator.report(-Y, 0.5)
            if learner.upper[arm] + problem.R >= Y:
                curator.report(Y, 0.5)
            assert curator.clipped == 0


def test_a_range_is_a_bound_on_the_noise_as_well():
    wide = core.Problem(K=np.eye(3), B=5.0, R=4.0, Y=2.0)
    assert (wide.F, wide.bound, wide.spread, wide.c, wide.v) == (2.0, 2.0, 2.0, 4.0, 4.0)
    usual = core.Problem(K=np.eye(3), B=5.0, R=4.0)
    assert (usual.F, usual.bound, usual.spread, usual.c, usual.v) == (5.0, 9.0, 4.0, 16.0, 41.0)
    loose = core.Problem(K=np.eye(3), B=5.0, R=4.0, Y=100.0)
    assert (loose.F, loose.bound, loose.spread) == (5.0, 9.0, 4.0)


@mark.parametrize("name", ["PE", "GP-UCB"])
def test_proved_bands_hold_on_a_table_with_a_range(name):
    """At delta = 0.1 at most 12 of 40 runs fail, but for a chance of 1e-3."""
    how = {"PE": dict(schedule="double", first=256), "GP-UCB": dict(switch=0.1, lam=None)}
    told = dict(eps=2.0, curator=core.OneBit, constants="proved") | how[name]
    problem = core.table_problem(stars(), low=1, high=5)
    failures = 0
    for seed in range(40):
        learner = core.make(name, problem, 50_000, rng=seed, **told)
        failures += bands_fail(learner, default_rng(seed))
    assert failures <= 12


def test_the_recipe_learns_where_the_papers_bounds_do_not():
    """The first snippet of a practitioner, on ratings."""

    def regret(problem, **curator):
        run = core.simulate(problem, "TGP", 3000, trials=3, seed=0, eps=1.0, **curator)
        return run.regret[0, :, -1].mean()

    table = stars(2000, 12)
    paper = regret(core.table_problem(table))
    assert regret(core.table_problem(table, low=1, high=5), curator=core.OneBit) < 0.7 * paper


def test_one_recipe_for_range_noise_and_norm_and_every_page_of_use_leads_to_it():
    read = lambda name: (ROOT / name).read_text("utf-8")
    assert read("notebooks/which.ipynb").count("(sec-recipe)=") == 1
    for name in ("notebooks/own.ipynb", "notebooks/deploy.ipynb", "book/reproduce.md"):
        assert "{ref}`the recipe <sec-recipe>`" in read(name), name
    assert "the recipe" in read("README.md")


@mark.parametrize(
    "range_, words",
    [
        (dict(low=5, high=1), "low = 5, high = 1: must be low < high"),
        (dict(low=1), "low = 1, high = None: must be given together"),
        (dict(low=1, high=nan), "high = nan: must be a number"),
        (dict(low=2, high=5), r"samples\[\d+, \d+\] = 1: must be from low = 2 to high = 5"),
        (dict(low="1", high=5), "low = '1'"),
    ],
)
def test_a_range_that_cannot_be_is_refused(range_, words):
    with raises(ValueError, match=words):
        core.table_problem(stars(), **range_)


def test_a_table_with_fewer_rows_than_arms_has_no_norm_and_wants_B():
    few = stars(5, 9, seed=3) + 0.01 * np.arange(5)[:, None]
    assert core.rkhs_norm(core.table_problem(few)) == inf
    with raises(ValueError, match=r"B: must be given.*\(9 arms, 5 rows\)"):
        core.table_problem(few, low=0, high=6)
    assert core.table_problem(few, low=0, high=6, B=60.0).B == 60.0


def test_the_norm_of_a_known_function():
    x = np.linspace(0, 1, 30)
    a = default_rng(0).uniform(-1, 1, 30)
    smooth = partial(core.se_kernel, lengthscale=0.2)
    rougher = partial(core.matern_kernel, lengthscale=0.3, nu=1.5)
    for kernel in (smooth, rougher):
        K = kernel(x, x)
        norm = sqrt(a @ K @ a)
        told = dict(f=K @ a, B=norm, R=1.0)
        assert core.rkhs_norm(core.Problem(K=K, **told)) == approx(norm)
        by_points = core.Problem(points=x, kernel=kernel, **told)
        assert core.rkhs_norm(by_points) == approx(norm, rel=1e-5)
    with raises(ValueError, match="f = None: must be known to have a norm"):
        core.rkhs_norm(core.Problem(K=K, B=1.0, R=1.0))


def test_an_f_beyond_its_bounds_is_warned_of_and_one_within_is_not():
    K = np.eye(2)
    with warns(UserWarning, match=r"max \|f\| = 3 is beyond F = 2: rewards may be clipped"):
        core.Problem(K=K, f=[0.0, 3.0], B=2.0, R=1.0)
    with warns(UserWarning, match=r"max \|f\| = 3 is beyond B = 2: .*nothing is proved"):
        core.Problem(K=K, f=[0.0, 3.0], B=2.0, F=4.0, R=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        core.Problem(K=K, f=[0.0, -2.0], B=2.0, R=1.0)
        core.synthetic_problem(seed=0)
        core.stock_problem()
        core.light_problem()
        core.table_problem(stars(), low=1, high=5)


# ---- Tables as they come -------------------------------------------------------------------------


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        (tmp_path / "größe.csv").write_text(text, encoding="utf-8")
        return core.read_table(tmp_path / "größe.csv", **options)

    return read


GAPS = "user,a,b\nx,1,2\ny,,4\nz,3,NA\nw,5,6\nv,nan,null\n"


def test_missing_values_are_refused_dropped_or_filled_with_the_mean(read):
    with raises(ValueError) as error:
        read(GAPS)
    for word in ("line 3, column 2 (a) is ''", "missing='drop'", "3 of 5 rows", "missing='mean'"):
        assert word in str(error.value)
    dropped = read(GAPS, missing="drop")
    assert dropped.values.tolist() == [[1, 2], [5, 6]]
    assert dropped.left_out == {"user": ["x", "w"]}
    filled = read(GAPS, missing="mean")
    assert filled.values.tolist() == [[1, 2], [3, 4], [3, 4], [5, 6], [3, 4]]
    with raises(ValueError, match="leaves no row.*'mean'"):
        read("a,b\n1,\n,2\n", missing="drop")
    with raises(ValueError, match="missing = 'skip': must be 'error', 'drop' or 'mean'"):
        read(GAPS, missing="skip")


@mark.parametrize("missing", ["drop", "mean"])
def test_infinities_and_words_are_no_missing_values(read, missing):
    with raises(ValueError, match="line 3, column 1 .a. is 'inf'"):
        read("a,b\n1,2\ninf,3\n", missing=missing)
    with raises(ValueError, match="line 3, column 2 .b. is 'four'"):
        read("a,b\n1,2\n3,four\n", missing=missing)


@mark.parametrize(
    "text",
    [
        "a,b,date\n1,1e6,2020-01-01\n-3.5,2E-1,2020-01-02\n",
        "a,date,b\n1,2020-01-01,1e6\n-3.5,2020-01-02,2E-1\n",
        "a;day;b\n1;31.12.2020;1e6\n-3,5;1.1.2021;2E-1\n",
        "a,b,who,\n1,1e6,me,\n-3.5,.2,you,\n",
    ],
)
def test_a_column_of_dates_or_labels_is_left_out_wherever_it_stands(read, text):
    table = read(text)
    assert table.values.tolist() == [[1, 1e6], [-3.5, 0.2]]
    assert table.names == ["a", "b"]
    assert next(iter(table.left_out)) in ("date", "day", "who")


COLUMNS = ("user", "film", "stars")
LONG = """user,when,film,stars
u0,2020-01-01,Film A,1
u0,2020-01-02,Film B,2
u0,2020-01-03,Film C,3
u1,2020-01-02,Film A,2
u1,2020-01-03,Film B,3
u1,2020-01-04,Film C,4
u2,2020-01-03,Film A,3
u2,2020-01-05,Film C,5
u3,2020-01-04,Film A,4
u3,2020-01-05,Film B,5
u3,2020-01-06,Film C,1
"""


def test_one_value_a_row_is_read_as_users_by_items(read):
    text = LONG + "u2,2020-02-01,Film B,4\n"
    table = read(text, long=COLUMNS)
    assert table.names == ["Film A", "Film B", "Film C"]
    assert table.left_out == {"user": ["u0", "u1", "u2", "u3"]}
    assert table.values.tolist() == [[1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 1]]


def test_one_value_a_row_with_gaps_wants_to_be_told(read):
    with raises(ValueError) as error:
        read(LONG, long=COLUMNS)
    for word in ("no value of 'Film B' for 'u2'", "missing='drop'", "1 of 4 rows"):
        assert word in str(error.value)
    assert len(read(LONG, long=COLUMNS, missing="drop").values) == 3
    filled = read(LONG, long=["user", "film", "stars"], missing="mean")
    assert filled.values[2, 1] == (2 + 3 + 5) / 3
    with raises(ValueError, match="no column 'movie'; the columns are user, when, film"):
        read(LONG, long=("user", "movie", "stars"))
    with raises(ValueError, match="second value of 'Film A' for 'u0'"):
        read(LONG + "u0,2020-03-01,Film A,4\n", long=COLUMNS)
    with raises(ValueError, match="line 13, column 4 .stars. is 'good'"):
        read(LONG + "u9,2020-03-01,Film A,good\n", long=COLUMNS)
    for wrong in (True, "user", ("user", "film")):
        with raises(ValueError, match="long = .*three columns"):
            read(LONG, long=wrong)


def test_a_file_that_looks_long_is_refused_with_what_to_write(read):
    with raises(ValueError, match=r"long=\('user', 'film', 'stars'\).*long=False"):
        read(LONG)
    with raises(ValueError, match=r"long=\('user', 'film', 'stars'\)"):
        read("user,film,stars\n1,A,4\n1,B,5\n2,A,3\n2,B,2\n")
    ids = "".join(f"{u},{i},{(u * i) % 5}\n" for u in range(10, 50, 4) for i in range(7))
    with raises(ValueError, match=r"long=\('user', 'item', 'rating'\)"):
        read("user,item,rating\n" + ids)
    assert read("user,item,rating\n" + ids, long=False).values.shape == (70, 3)


def test_tables_of_three_arms_are_not_taken_for_long_ones(read):
    for seed in range(20):
        rows = default_rng(seed).integers(1, 6, (40, 3))
        body = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
        assert read("a,b,c\n" + body).values.shape == (40, 3)


def test_a_table_and_what_it_leaves_out_print_short():
    table = core.read_table(ROOT / "data/stocks.csv")
    assert len(repr(table)) < 100 and len(repr(table.left_out)) < 100
    assert "823" in repr(table.left_out) and "date" in str(table.left_out)
    assert len(table.left_out["date"]) == 823


# ---- What is said to whom ------------------------------------------------------------------------


def test_the_version_is_that_of_the_project():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert ldpbo.__version__ == core.__version__ == version


def test_the_modules_alone_import_without_a_project_file(tmp_path):
    """As in the browser: no metadata, no pyproject.toml."""
    (tmp_path / "ldpbo").mkdir()
    for source in (ROOT / "ldpbo_core.py", *(ROOT / "ldpbo").glob("*.py")):
        (tmp_path / source.relative_to(ROOT)).write_bytes(source.read_bytes())
    program = "import ldpbo_core; print(ldpbo_core.__version__)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = run_python("-c", program, cwd=tmp_path, env=environment, check=True)
    assert re.fullmatch(r"unknown|\d+\.\d+.*", done.stdout.strip())


def test_results_print_short_and_say_how_much_was_learned():
    run = core.simulate(PROBLEM, ["TGP", "uniform"], 200, trials=2, seed=0, eps=1.0)
    shares = (run.regret[:, :, -1] / (200 * run.records["uniform"])).mean(axis=1)
    said = f"TGP {shares[0]:.3g}, uniform {shares[1]:.3g}"
    assert repr(run) == f"Simulation(T=200, trials=2; regret/uniform: {said})"
    many = core.simulate_batches(PROBLEM, 10**5, trials=2, seed=0, eps=1.0, curator=core.OneBit)
    share = (many.regret[:, -1] / (10**5 * many.uniform)).mean()
    assert repr(many) == f"Campaign(T=100000, trials=2; regret/uniform: {share:.3g})"
    same = core.Problem(K=np.eye(3), f=np.zeros(3), B=1.0, R=1.0)
    flat = core.simulate(same, "TGP", 5, trials=1, seed=0)
    assert "TGP 0" in repr(flat)
    assert repr(CLICKS) == "Clicks('unnamed', 12 arms, B=4, F=1, R=2, Y=1, uniform noise)"
    B = f"{PROBLEM.B:.6g}"
    assert repr(PROBLEM) == f"Problem('synthetic-se', 12 arms, B={B}, R=1, uniform noise)"


def valley(x):
    return -abs(x[0] - 0.3)


def rough(X, Y):
    return core.matern_kernel(X, Y, lengthscale=0.3, nu=0.5)


def test_a_function_problem_takes_a_kernel_of_ones_own():
    mine = core.function_problem(valley, [(0, 1)], 32, kernel=rough, seed=0)
    told = dict(kernel="matern", lengthscale=0.3, nu=0.5)
    named = core.function_problem(valley, [(0, 1)], 32, seed=0, **told)
    assert_array_equal(mine.K, named.K)
    assert "rough kernel" in mine.provenance
    by_features = core.function_problem(valley, [(0, 1)], 8, kernel=core.linear_kernel, seed=0)
    assert by_features.Z.shape[0] == 1
    with raises(ValueError, match="kernel = 'cubic': must be 'se', 'matern' or 'a function"):
        core.function_problem(valley, [(0, 1)], 8, kernel="cubic")


def test_what_no_process_can_be_sent_is_named_with_the_remedy():
    x = np.linspace(0, 1, 5)
    kernel = lambda X, Y: core.se_kernel(X, Y, lengthscale=0.3)
    problem = core.Problem(points=x, kernel=kernel, f=x, B=2.0, R=1.0)
    play = partial(core.simulate, problem, "TGP", 10, trials=2, seed=0)
    with raises(ValueError, match="workers = 2: problem cannot be sent.*workers=1"):
        play(workers=2)
    assert play(workers=1).regret.shape == play(workers=futures.ThreadPoolExecutor(2)).regret.shape

    class Local(own.Greedy):
        pass

    with raises(ValueError, match="workers = 2: name cannot be sent.*top of a module"):
        core.simulate(PROBLEM, Local, 10, trials=2, seed=0, workers=2)
    with raises(ValueError, match="workers = 'many': .*Executor or a Dask client"):
        core.simulate(PROBLEM, "TGP", 10, trials=2, seed=0, workers="many")


UNFINDABLE = """
import multiprocessing, sys
sys.path[:0] = [{root!r}]
import ldpbo_core as core
multiprocessing.set_start_method("spawn")
class Mine(core.Learner): pass
core.simulate(core.synthetic_problem(seed=0, n=5), Mine, 10, trials=2, seed=0, workers=2)
"""


def test_a_class_that_a_spawned_process_does_not_find_is_explained():
    """Started by -c, a program has no file that the new process could read the class from."""
    done = run_python("-c", UNFINDABLE.format(root=str(ROOT)))
    assert done.returncode
    assert "workers = 2: a process ended" in done.stderr
    assert "put these into a module" in done.stderr


def test_numbers_of_numpy_are_named_as_numbers():
    for value, said in ((np.int64(0), "0"), (np.float32(-1.5), "-1.5"), (np.bool_(False), "False")):
        with raises(ValueError, match=f"lengthscale = {said}: must be"):
            core.se_kernel([0.0], [1.0], lengthscale=value)
    with raises(ValueError, match="T = -3: must be an integer"):
        core.make("TGP", PROBLEM, np.int64(-3))


def test_a_whole_number_with_a_point_is_refused_with_what_to_write():
    with raises(ValueError, match=r"T = 1000000.0: must be an integer .*; write 1000000$"):
        core.make("TGP", PROBLEM, 1e6)
    with raises(ValueError, match=r"at most 10\*\*15$"):
        core.make("TGP", PROBLEM, 10.5)


@mark.parametrize("name", ["TGP", "MoMA", "PE"])
def test_a_learner_past_its_horizon_says_so_once_and_goes_on(name):
    learner = core.make(name, PROBLEM, 40, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drive(learner, 40)
    with warns(UserWarning, match="T = 40 rounds have been told") as said:
        drive(learner, 30)
    assert len(said) == 1
    assert learner.t == 70


# ---- Papermill's parameters ----------------------------------------------------------------------

CELLS = ["", "eps = 1.0  # privacy\nusers = 20000\ncsv = ''"]


def test_a_parameter_that_the_notebook_does_not_have_is_refused_in_words():
    with raises(ValueError) as error:
        provenance.check_parameters([*CELLS, "# Parameters\nepsilon = 2\n", "import numpy"])
    assert str(error.value) == (
        "unknown parameter epsilon: this notebook has eps, users, csv; do you mean eps?"
    )
    provenance.check_parameters([*CELLS, "# Parameters\neps = 2\nusers = 5\n", "import numpy"])
    assert provenance.check_parameters(CELLS) == {}
    assert provenance.check_parameters() == {}  # outside a notebook


@mark.parametrize(
    "value, default, becomes",
    [
        (1e6, 20000, 1_000_000),
        ("1e3", 20000, 1000),
        ("100_000", 20000, 100_000),
        (2, 1.0, 2),
        (1, [1.0, 0.1], [1]),
        ("1, 0.5,0.1", [1.0, 0.1], [1, 0.5, 0.1]),
        ("TGP,PE", ["TGP"], ["TGP", "PE"]),
        ('["TGP", "PE"]', ["TGP"], ["TGP", "PE"]),
        ("['TGP']", ["TGP"], ["TGP"]),
        (["TGP"], ["ATA"], ["TGP"]),
        ("user,film,stars", [], ["user", "film", "stars"]),
        (1e3, [500, 501], [1000]),
        (False, [], False),
        (None, 3, None),
        ("a,b.csv", "", "a,b.csv"),
    ],
)
def test_a_parameter_of_the_command_line_takes_the_form_of_the_notebooks_own(
    value, default, becomes
):
    given = [f"x = {default!r}", f"# Parameters\nx = {value!r}\n"]
    (settled,) = provenance.check_parameters(given).values()
    assert settled == becomes
    assert type(settled) is type(becomes)


@mark.parametrize("value", [2.5, "many", "1e3.5", inf])
def test_a_number_of_users_that_is_none_is_refused(value):
    with raises(ValueError, match="users = .*: must be a whole number, such as 1000"):
        provenance.settled("users", value, 20000)


@pytest.mark.build
@mark.parametrize("given, went_on", [("epsilon", False), ("users", True)])
def test_papermill_itself_is_stopped_and_whole_numbers_stay_whole(given, went_on, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("papermill")
    new = nbformat.v4
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    code = "from ldpbo import show\nassert type(users) is int, users"
    parameters = new.new_code_cell(CELLS[1], metadata={"tags": ["parameters"]})
    cells = [new.new_markdown_cell("# Page"), parameters, new.new_code_cell(code)]
    nbformat.write(new.new_notebook(cells=cells, metadata=kernel), tmp_path / "page.ipynb")
    words = ["-m", "papermill", "page.ipynb", "out.ipynb", "-p", given, "2e3"]
    done = run_python(*words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.returncode == 0) is went_on
    assert ("unknown parameter epsilon" in done.stderr) is not went_on


def test_a_page_that_needs_another_takes_it_from_either_build_or_says_how_to_run_it(
    tmp_path, monkeypatch
):
    from ldpbo import results

    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.delenv("LDPBO_PAGES", raising=False)
    with raises(FileNotFoundError, match="tools/build.py panel_2a`, with --quick"):
        results.load("panel_2a", "fig-x")
    table = {"name": "fig-x", "columns": {"t": [1.0]}}
    notebook = {"cells": [{"outputs": [{"data": {formats.TABLE: table}}]}]}
    for part in ("quick/", ""):
        path = tmp_path / f"_build/{part}src/book/pages/panel_2a.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert results.load("panel_2a", "fig-x")["t"].tolist() == [1.0]
        assert len(said) == (part == "quick/")
    monkeypatch.setenv("LDPBO_PAGES", str(tmp_path / "_build/quick/src/book/pages"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results.load("panel_2a", "fig-x")  # a quick build that runs now
    monkeypatch.setenv("LDPBO_PAGES", str(tmp_path / "elsewhere"))
    with raises(FileNotFoundError):
        results.load("panel_2a", "fig-x")


def test_the_sliders_say_in_a_line_what_is_refused(monkeypatch, capsys):
    from types import SimpleNamespace

    from notebooks.panel import controls

    parent = {"metadata": {"cellId": "x"}}
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: parent))
    monkeypatch.setattr(controls, "get_ipython", lambda: shell)
    given = dict(problem="synthetic", kernel="se", lengthscale=0.2, eps=1.0, T=40, trials=2, seed=0)
    more = dict(lam=1.0, constants="proved", beta_scale=1.0, k=None, delta=0.1, acc=0.1)
    box = controls.make(names=["ATA"], **given, **more)
    box.children[1].click()
    said = capsys.readouterr().out
    assert "constants = 'proved'" in said and "Traceback" not in said


# ---- The page "Add your own" ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def page():
    """The code of the page, run at a small size -> its names."""
    import matplotlib

    matplotlib.use("Agg")
    notebook = json.loads((ROOT / "notebooks/add_your_own.ipynb").read_text("utf-8"))
    cells = {cell["id"]: cell["source"] for cell in notebook["cells"]}
    names = {"__name__": "add_your_own"}
    for name in ("parameters", "imports", "run", "fig", "clicks"):
        source = "".join(cells[name])
        exec(source.replace("T = 3000", "T = 300"), names)
    return names


def test_the_page_compares_a_readers_algorithm_and_curator_with_the_papers(page):
    assert list(page["runs"]) == ["OneBit", "Piecewise"]
    for run in page["runs"].values():
        assert run.records["names"] == ["TGP", "GP-UCB", "UCB1"]
    for ax in page["figure"].axes:
        labels = [line.get_label() for line in ax.get_lines()]
        assert len(labels) == 4
        assert labels[0] == "uniform play" and labels[3] == "UCB1 (your own)"


def test_the_pages_classes_are_short():
    """Thirty lines for an algorithm and its comparison; a curator takes more formulas."""
    folder = ROOT / "notebooks/add_your_own"
    for name, most in {"algorithm": 25, "curator": 40, "rewards": 20}.items():
        assert len((folder / f"{name}.py").read_text("utf-8").splitlines()) <= most


def test_the_pages_curator_is_private_unbiased_and_of_the_variance_it_says(page):
    """Exactly, on a grid of draws: the report rises with the draw, and its slope is 1/density."""
    u = (np.arange(200_000) + 0.5) / 200_000
    for eps in (0.5, 1.0, 2.0, 5.0):
        curator = page["curator"].Piecewise(eps, 1.0, 0.5)
        for y in (-1.5, -0.4, 0.0, 1.5):
            reports = curator.report(y, u)
            density = np.diff(u) / np.diff(reports)
            assert np.abs(reports).max() <= curator.scale
            assert reports.mean() == approx(y, abs=1e-3)
            assert reports.var() <= curator.variance * (1 + 1e-3)
            low = curator.low / curator.bound
            assert density.min() == approx(low, rel=1e-5)
            assert density.max() == approx(low * exp(eps), rel=1e-5)
        with raises(ValueError, match="y = nan"):
            curator.report(nan, 0.5)


def test_the_audit_says_of_the_pages_curator_what_the_page_says(page):
    """Seeded; without the low bits a private curator is flagged once in a hundred seeds."""

    def flagged(curator, **options):
        return bounds.audit(curator, 1.0, -1.0, 100_000, rng=0, **options).flagged

    curator = page["curator"].Piecewise(1.0, 0.5, 0.5)
    assert flagged(curator)
    assert flagged(core.CTL(1.0, 0.5, 0.5))
    assert not flagged(curator, bits=False)


def test_the_pages_rewards_are_its_own(page):
    clicks = page["clicks"]
    assert {clicks.sample(0, default_rng(i)) for i in range(20)} == {-1.0, 1.0}


def test_own_classes_travel_by_reference_alone():
    assert len(pickle.dumps(own.Greedy)) < 60


# ---- The page "Your own data" --------------------------------------------------------------------


def star_ratings():
    """1 to 5 stars of 6 films; the first column is the worst, the fourth the best."""
    rng = default_rng(3)
    means = np.array([2.3, 2.9, 3.3, 4.1, 3.0, 2.6])
    return np.clip(np.round(rng.normal(means, 0.8, (400, 6))), 1, 5)


def test_the_forecast_has_no_cliff_at_any_number_of_users():
    from notebooks.own import forecast

    problem, has_norm = forecast.read_problem(star_ratings(), 1.0, 5.0)
    assert has_norm
    for label in forecast.CANDIDATES:
        ends = []
        for users in (100_000, 100_001):
            _, relative = forecast.run(problem, label, users, trials=2, seed=1, eps=1.0)
            ends.append(relative[:, -1].mean())
        assert ends[0] == approx(ends[1], rel=0.02), label


def test_nothing_is_recommended_whose_interval_reaches_uniform_play():
    from notebooks.own import forecast

    unsure = {"a": np.array([0.2, 1.2]), "b": np.array([0.99, 1.01])}
    assert forecast.choose(unsure) is None
    sure = unsure | {"c": np.array([0.5, 0.52, 0.51]), "d": np.array([0.6, 0.62, 0.61])}
    assert forecast.choose(sure) == "c"


def test_the_advice_says_what_the_trials_show_and_no_more():
    from notebooks.own import forecast

    def advise(**means):
        spread = np.array([-0.01, 0.0, 0.01])
        finals = dict.fromkeys(forecast.CANDIDATES, 1.0 + spread)
        finals |= {label.replace("_", ", "): mean + spread for label, mean in means.items()}
        return forecast.advise(finals)

    choice, text = advise()
    assert "**no recommendation**: none of the four is shown to beat uniform play" in text
    assert all(forecast.said(label) in text for label in forecast.CANDIDATES)  # all were tried
    choice, text = advise(elimination_order=0.5)
    assert choice == "elimination, order" and "**use elimination at order constants" in text
    assert "Neither proved learner is shown" in text
    choice, text = advise(**{"GP-UCB_order": 0.5, "GP-UCB_proved": 0.7})
    assert choice == "GP-UCB, proved" and "**use GP-UCB at proved constants" in text
    assert "Without a proof, GP-UCB at order constants loses less: 0.50" in text
    single = {label: np.array([0.3]) for label in forecast.CANDIDATES}
    assert "one trial gives no interval" in forecast.advise(single)[1]


def test_a_candidate_that_has_not_used_a_report_is_not_recommended():
    """Elimination's first batch is the same in every trial, and may lie below uniform play."""
    from notebooks.own import forecast

    first_batch = {"elimination, proved": np.array([0.9, 0.9, 0.9])}
    assert forecast.choose(first_batch) is None


def test_a_share_has_two_digits():
    from notebooks.own import forecast

    assert forecast.share(0.004, 0.003, 0.006) == "less than 0.01"
    assert forecast.share(0.58, 0.55, 0.6) == "0.58 [0.55, 0.60]"


@mark.parametrize(
    "lower, upper, said",
    [
        (134.9, 228.2, "134 and 229"),
        (3.6297, 3.7201, "3.629 and 3.721"),
        (-0.2, 1.04, "-0.2 and 1.1"),
    ],
)
def test_the_ends_of_a_band_are_rounded_away_from_each_other(lower, upper, said):
    from notebooks.own import forecast

    assert forecast.between(lower, upper) == said
    assert forecast.at_most(upper - lower) in ("94", "0.091", "1.3")


def test_the_page_says_how_often_the_right_arm_was_named():
    from notebooks.own import forecast

    f = np.array([0.5, 2.0, 1.0, 0.0])
    named = lambda *arms: [(arm, 0.0, 1.0, 0.3) for arm in arms]
    assert forecast.say_right(named(1, 1, 1), f) == "All 3 trials name it."
    said = forecast.say_right(named(1, 2), f)
    assert said.startswith("1 of 2 trials name it (by chance: one in 4)")
    assert said.endswith("the arms they name lie 0.5 below it on average.")


@mark.parametrize(
    "long, columns",
    [
        ("user,item,value", ("user", "item", "value")),
        (" user, item , value", ("user", "item", "value")),
        (["user", "item", "value"], ("user", "item", "value")),
        ([], None),
        ("", None),
        (False, False),
    ],
)
def test_the_columns_of_a_long_file_may_be_a_text(long, columns):
    from notebooks.own import forecast

    assert forecast.read_columns(long) == columns


@mark.parametrize("users, says", [(20, "no arm can be named yet"), (60_000, "Film D")])
def test_the_printed_program_names_the_right_arm_or_none(tmp_path, users, says):
    from notebooks.own import forecast, program

    path = tmp_path / "films.csv"
    names = ",".join(f"Film {letter}" for letter in "ABCDEF")
    np.savetxt(path, star_ratings(), delimiter=",", header=names, comments="", fmt="%d")
    problem, _ = forecast.read_problem(star_ratings(), 1.0, 5.0)
    for label in forecast.CANDIDATES if users > 1000 else forecast.PROVED:
        name, options = forecast.learner_options(label)
        options.pop("curator")
        told = dict(table=str(path), missing="", low=1.0, high=5.0, eps=2.0)
        text = program.write(problem, options, learner=name, users=users, **told)
        assert says in program.run(text), label


# ---- The page "How many users do I need?" --------------------------------------------------------


@mark.parametrize(
    "users, low, high, said",
    [
        (2.71e8, 2.6e8, 2.8e8, "270 million ± 5 %"),
        (9.5e6, 5.3e6, 2.04e7, "5 to 20 million"),
        (1.2e6, 5.8e5, 2.2e6, "600,000 to 2 million"),
        (1200, 426, 2770, "400 to 3,000"),
    ],
)
def test_an_interval_is_never_written_from_a_number_to_itself(users, low, high, said):
    from notebooks.users import picture

    assert picture.spread(dict(users=users, low=low, high=high)) == said


def test_the_price_of_privacy_is_that_of_the_better_learner_on_either_side():
    """Without privacy GP-UCB needs far fewer users than elimination, so it has to be counted."""
    from ldpbo import results
    from notebooks.users import picture

    table = results.stored("users")
    plain = picture.least_without_privacy(table, 0.1, "se")
    stored = table[(table.trust == "none") & (table.share == 0.1) & (table.problem == "se")]
    assert 100 < plain < stored.users.min() / 5
