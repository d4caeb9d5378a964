"""A reader's own algorithm, curator and rewards: played, saved, and on the page "Add your own"."""

import dataclasses
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent import futures
from functools import partial
from math import exp, nan
from pathlib import Path

import numpy as np
import own_classes as own
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from pytest import approx, mark, raises
from scipy.stats import binom

import ldpbo_bounds as bounds
import ldpbo_core as core
from ldpbo import campaigns, saving

ROOT = Path(core.__file__).resolve().parent
PROBLEM = core.synthetic_problem("se", seed=1, n=12)
f = 0.8 * PROBLEM.f / np.abs(PROBLEM.f).max()
CLICKS = own.Clicks(K=PROBLEM.K, f=f, B=4.0, R=2.0, Y=1.0)
RECENTRED = dict(curator=core.OneBit, constants="proved", schedule="double")


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
    for curator in (own.Triangular, own.Unclipped):
        with raises(ValueError, match=f"constants = 'proved'.*{curator.__name__}"):
            proved(curator=curator)
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
    assert saving.FORMAT == 7


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
