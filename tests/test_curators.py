"""Curators (Sec. 4.1, Lemma 1): the promise is an exact identity, and no raw reward is kept.

Moments in closed form; the grid of the safe curator.
"""

import copy
import io
import logging
import pickle
import re
import subprocess
import sys
from importlib.util import find_spec
from math import exp, floor, frexp, inf, isfinite, nan
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from pytest import approx, mark, param, raises

import ldpbo_core as core
from ldpbo.audit import total_epsilon

EPS = [0.01, 0.5, 1.0, 2.0, 10.0]
RANGES = [(1.0, 1.0), (945.5, 337.2), (1e-3, 0.0)]
REWARDS = np.array([-1.0, -0.999, -0.3, 0.0, 1e-9, 0.4, 1.0])  # in units of B + R
secure = mark.skipif(find_spec("opendp") is None, reason="needs the extra `secure`")
LAPLACE_AND_BIT = [core.CTL, core.OneBit]
PRIVATE = LAPLACE_AND_BIT + [param(core.SecureCTL, marks=secure)]


def reports_of(curator):
    """Reports at which a density is worth checking.

    Both sides of and inside the range, on the grid or the two values.
    """
    if isinstance(curator, core.OneBit):
        return curator.scale * np.array([-1.0, 1.0])
    tails = [-40 * curator.scale, 40 * curator.scale]
    x = np.append(np.linspace(-3, 3, 61) * curator.bound, tails)
    return np.rint(x / curator.grid) * curator.grid if hasattr(curator, "grid") else x


def twins(curator):
    """All kinds of copies."""
    return copy.copy(curator), copy.deepcopy(curator), pickle.loads(pickle.dumps(curator))


# ---- Lemma 1 ------------------------------------------------------------------------------------


@mark.parametrize("B, R", RANGES)
@mark.parametrize("eps", EPS)
@mark.parametrize("kind", PRIVATE)
def test_lemma1_log_density_ratio_never_exceeds_eps_and_attains_it(kind, eps, B, R):
    curator = kind(eps, B, R)
    outliers = [-50.0, 1e6]  # clipped, so the bound holds for them too
    y = np.append(REWARDS, outliers) * (B + R)
    log = np.stack([curator.log_density(reports_of(curator), x) for x in y])
    loss = np.abs(log[:, None] - log[None]).max()
    assert loss <= eps * (1 + 1e-9) + 1e-12
    assert loss == approx(eps, rel=1e-5 if hasattr(curator, "grid") else 1e-9)


def test_without_clipping_an_outlier_breaks_the_bound():
    curator = core.CTL(1.0, 1.0, 1.0)
    curator.bound = inf  # the paper's curator, outside its assumption
    loss = curator.log_density(30.0, 30.0) - curator.log_density(30.0, -2.0)
    assert abs(loss) == approx(8.0)


@mark.parametrize("eps", EPS)
def test_laplace_density_integrates_to_one_and_has_the_stated_variance(eps):
    from scipy.integrate import quad

    curator = core.CTL(eps, 1.5, 0.5)
    reach = 60 * curator.scale

    def moment(p):
        weighted = lambda r: (r - 1.2) ** p * np.exp(curator.log_density(r, 1.2))
        below, _ = quad(weighted, 1.2 - reach, 1.2, limit=200)
        above, _ = quad(weighted, 1.2, 1.2 + reach, limit=200)
        return below + above

    assert moment(0) == approx(1, rel=1e-9)
    assert moment(2) == approx(curator.variance, rel=1e-9)
    assert curator.scale == approx(2 * 2.0 / eps)
    assert curator.variance == approx(8 * 4.0 / eps**2)


# ---- one bit ------------------------------------------------------------------------------------


@mark.parametrize("eps", EPS)
def test_one_bit_is_exactly_unbiased_with_variance_scale_squared_minus_y_squared(eps):
    curator = core.OneBit(eps, 1.5, 0.5)
    reports = reports_of(curator)
    for y in REWARDS * curator.bound:
        p = np.exp(curator.log_density(reports, y))
        assert p.sum() == approx(1, abs=1e-14)
        assert (p * reports).sum() == approx(y, abs=1e-13 * curator.scale)
        variance = (p * reports**2).sum() - y**2
        assert variance == approx(curator.scale**2 - y**2)
        assert variance <= curator.variance * (1 + 1e-12)


def test_one_bit_threshold_is_the_stated_probability():
    """The draw decides: each uniform below (1 + y/scale)/2 gives +scale, each other one -scale."""
    curator = core.OneBit(1.0, 1.0, 1.0)
    for y in REWARDS * 2:
        p = (1 + y / curator.scale) / 2
        draws = np.array([0.0, np.nextafter(p, 0), p, np.nextafter(1, 0)])
        expected = curator.scale * np.array([1, 1, -1, -1])
        assert_array_equal(curator.report(np.full(4, y), draws), expected)
        assert_array_equal([curator.report(y, draw) for draw in draws], expected)


def test_worst_case_variances_are_those_of_the_book():
    """Erratum H: at eps = 0.5 / 1 / 2, one bit 16.7 / 4.68 / 1.72 and Laplace 32 / 8 / 2.

    In units of (B+R)^2.
    """
    for eps, bit, laplace in ((0.5, 16.7, 32), (1, 4.68, 8), (2, 1.72, 2)):
        assert core.OneBit(eps, 3.0, 1.0).variance / 16 == approx(bit, rel=3e-3)
        assert core.CTL(eps, 3.0, 1.0).variance / 16 == approx(laplace)


# ---- noise that is safe in floating point -------------------------------------------------------


@secure
@mark.parametrize("eps", [0.01, 0.3, 0.5, 1.0, 2.0, 7.7])
@mark.parametrize("B, R", RANGES)
def test_secure_eps_is_certified_by_opendp_for_the_rounded_range(eps, B, R):
    curator = core.SecureCTL(eps, B, R)
    loss = curator.loss(2 * round(curator.bound / curator.grid))
    assert eps * (1 - 1e-14) <= loss <= eps == curator.eps
    assert repr(loss) in curator.promise
    assert curator.scale == approx(2 * (B + R) / eps, rel=1e-6)


@secure
@mark.parametrize("grid", [None, 0.25, 2.0])
def test_secure_reports_are_multiples_of_a_power_of_two(grid):
    curator = core.SecureCTL(1.0, 1.7, 0.4, grid)
    reports = curator.privatise(np.linspace(-5, 5, 1000))
    assert frexp(curator.grid)[0] == 0.5
    assert_array_equal(reports / curator.grid, np.rint(reports / curator.grid))
    assert isinstance(float(curator.privatise(0.3)), float)
    assert curator.privatise(np.zeros((3, 2))).shape == (3, 2)
    assert curator.log_density(curator.grid / 3, 0.0) == -inf


@secure
@mark.parametrize("grid", [2.0**-6, 0.5, 2.0])
def test_secure_pmf_sums_to_one_and_has_the_stated_variance(grid):
    curator = core.SecureCTL(0.7, 1.5, 0.5, grid)
    y = 1.3
    centre = np.rint(y / grid) * grid
    steps = int(60 * curator.scale / grid)
    reports = centre + np.arange(-steps, steps + 1) * grid
    p = np.exp(curator.log_density(reports, y))
    assert p.sum() == approx(1, rel=1e-12)
    assert ((reports - centre) ** 2 * p).sum() == approx(curator.variance, rel=1e-9)
    assert abs((p * reports).sum() - y) <= grid / 2


@secure
def test_secure_noise_has_the_pmf_it_states():
    """Chi-squared over 21 cells at n = 20,000: false alarm 1e-6."""
    from scipy.stats import chi2

    n = 20_000
    curator = core.SecureCTL(1.0, 1.0, 1.0, 1.0)
    counts = np.bincount(np.clip(curator.draw(size=n), -10, 10) + 10, minlength=21)
    p = np.exp(curator.log_density(np.arange(-10, 11.0), 0.0))
    p[[0, -1]] += (1 - p.sum()) / 2
    assert ((counts - n * p) ** 2 / (n * p)).sum() < chi2.ppf(1 - 1e-6, 20)


@secure
def test_secure_cannot_be_seeded_and_survives_copy_and_pickle():
    curator = core.SecureCTL(1.0, 1.0, 1.0)
    a, b = (curator.privatise(np.zeros(20), default_rng(0)) for _ in range(2))
    assert (a != b).any()
    assert (curator.eps, curator.bound) == (1.0, 2.0)
    for twin in twins(curator):
        for field in ("eps", "grid", "scale", "bound", "promise"):
            assert getattr(twin, field) == getattr(curator, field)


class LabelledSecure(core.SecureCTL):
    def __init__(self, eps, B, R, label):
        super().__init__(eps, B, R)
        self.label = label


class LabelledBit(core.OneBit):
    label = "a subclass"


LABELLED = [
    param(LabelledBit, (1.0, 1.0, 1.0), id="OneBit"),
    param(LabelledSecure, (1.0, 1.0, 1.0, "x"), id="SecureCTL", marks=secure),
]


@mark.parametrize("kind, given", LABELLED)
def test_a_subclass_stays_itself_in_copies_and_pickles(kind, given):
    curator = kind(*given)
    for twin in twins(curator):
        assert type(twin) is type(curator)
        assert vars(twin) == vars(curator)
        assert twin.label == curator.label
        assert isfinite(twin.privatise(0.5))


@secure
@mark.parametrize("eps", [1e16, 1e300, 1e-9, 3e-14])
def test_secure_serves_every_eps_with_a_grid_that_suits_it(eps):
    curator = core.SecureCTL(eps, 1.0, 1.0)
    assert eps * (1 - 1e-14) <= curator.loss(int(4 / curator.grid)) <= eps
    assert curator.grid <= 2**-20 * max(2, 2 * curator.scale / 2**27)
    assert isfinite(curator.privatise(0.5))
    assert curator.log_density(0.0, 0.0) <= 0
    assert curator.variance == (approx(2 * curator.scale**2, rel=1e-9) if eps < 1 else 0)


OUT_OF_RANGE = [
    (dict(eps=1e-16), "eps = 1e-16"),
    (dict(B=5e-324, R=0), "B = 5e-324"),
    (dict(B=1e200), "B = 1e.200"),
]


@secure
@mark.parametrize("given, named", OUT_OF_RANGE)
def test_secure_names_what_was_given_and_no_grid_that_was_not(given, named):
    with raises(ValueError, match=f"{named}.*must be") as caught:
        core.SecureCTL(**dict(eps=1.0, B=1.0, R=1.0) | given)
    assert "grid = " not in str(caught.value)


@secure
def test_a_subclass_of_secure_stays_what_it_is_in_copies():
    class Counted(core.SecureCTL):
        calls = 0

        def __init__(self, note, *bounds):
            super().__init__(*bounds)
            self.note = note

        def report(self, y, draw):
            type(self).calls += 1
            return super().report(y, draw)

    curator = Counted("mine", 1.0, 1.0, 1.0)
    for twin in (copy.copy(curator), copy.deepcopy(curator)):
        twin.privatise(0.5)
        assert type(twin) is Counted
        assert twin.note == "mine"
        assert twin.promise == curator.promise
    problem = core.Problem(K=np.eye(2), f=[0.0, 1.0], B=1.0, R=1.0)
    core.simulate(problem, "uniform", 5, trials=1, seed=0, curator=curator)
    assert Counted.calls == 7


@secure
@mark.parametrize("grid", [0.3, 1e-30, 64.0, -1.0, nan])
def test_secure_rejects_a_grid_it_cannot_keep(grid):
    with raises(ValueError, match="grid"):
        core.SecureCTL(1.0, 1.0, 1.0, grid)


def test_core_imports_and_runs_without_opendp_and_says_what_to_install():
    program = (
        "import sys; sys.modules['opendp'] = sys.modules['opendp.prelude'] = None\n"
        "import ldpbo_core as c\nc.CTL(1, 1, 1); c.OneBit(1, 1, 1); c.Identity()\n"
        "try: c.SecureCTL(1, 1, 1)\nexcept ImportError as e: print(e)"
    )
    here = Path(core.__file__).parent
    run = dict(capture_output=True, text=True, check=True, cwd=here)
    out = subprocess.run([sys.executable, "-c", program], **run)
    command = re.search("pip install '.*?'", out.stdout)[0]
    for name in ("README.md", "notebooks/deploy.ipynb"):  # the same words everywhere
        assert command in (here / name).read_text("utf-8"), name


# ---- the interface that all share ---------------------------------------------------------------


@mark.parametrize("kind", PRIVATE + [lambda *_: core.Identity()])
@mark.parametrize("bad", [nan, inf, -inf, [0.0, nan], "high"])
def test_non_finite_input_is_an_error_and_is_not_counted(kind, bad):
    curator = kind(1.0, 1.0, 1.0)
    with raises(ValueError, match="y"):
        curator.privatise(bad, default_rng(0))
    assert curator.seen == curator.clipped == 0


@mark.parametrize("kind", PRIVATE)
def test_out_of_range_input_is_clipped_and_counted(kind):
    curator = kind(1.0, 1.0, 1.0)
    curator.privatise(np.array([-3.0, -2.0, 0.0, 2.0, 2.0000001]), default_rng(0))
    curator.privatise(1e300, default_rng(0))
    assert (curator.seen, curator.clipped) == (6, 3)
    reports = reports_of(curator)
    assert_array_equal(curator.log_density(reports, 9.0), curator.log_density(reports, 2.0))


@mark.parametrize("kind", PRIVATE)
def test_copies_and_pickles_do_not_say_whose_reward_was_out_of_range(kind):
    curator = kind(1.0, 1.0, 1.0)
    curator.privatise(9.0)
    for twin in twins(curator):
        assert (twin.seen, twin.clipped) == (0, 0)
    assert (curator.seen, curator.clipped) == (1, 1)


SEEDS = [
    0,
    7,
    np.int64(3),
    [1, 2],
    np.random.SeedSequence(0),
    np.random.RandomState(0),
]


@mark.parametrize("seed", SEEDS)
@mark.parametrize("kind", PRIVATE + [lambda *_: core.Identity()])
def test_a_seed_instead_of_a_generator_is_refused_as_it_would_repeat_the_noise(kind, seed):
    curator = kind(1.0, 1.0, 1.0)
    words = "must be a numpy Generator or None; a seed would .* same noise"
    with raises(ValueError, match=f"^rng = (.|\\n)*{words}"):
        curator.privatise(0.5, seed)
    assert curator.seen == 0


@mark.parametrize("kind", LAPLACE_AND_BIT)
def test_reports_are_a_function_of_reward_and_draw(kind):
    curator = kind(0.7, 1.0, 0.5)
    y = np.linspace(-2, 2, 50)
    rng = default_rng(3)
    draw = curator.draw(default_rng(3), 50)
    whole = curator.privatise(y, rng)
    assert_array_equal(whole, curator.report(y, draw))
    assert_array_equal(whole, [curator.report(float(a), d) for a, d in zip(y, draw)])


@mark.parametrize("t", [1, 2, 10, 1000])
@mark.parametrize("kind", PRIVATE)
def test_reach_is_exceeded_with_probability_at_most_one_in_t(kind, t):
    curator = kind(1.0, 1.0, 1.0)
    reach = curator.reach(t)
    if isinstance(curator, core.OneBit):
        assert reach == curator.scale
    elif isinstance(curator, core.SecureCTL):  # P(|noise| > j steps) = 2 a^(j+1) / (1 + a)
        a = exp(-curator.grid / curator.scale)
        j = floor((reach - curator.bound) / curator.grid)
        assert 2 * a ** (j + 1) / (1 + a) <= 1 / t
    else:
        assert exp(-(reach - curator.bound) / curator.scale) <= (1 + 1e-12) / t


def test_identity_reports_the_reward_and_promises_nothing():
    curator = core.Identity()
    y = np.array([1e9, -0.1, 0.0])
    assert_array_equal(curator.privatise(y, default_rng(0)), y)
    assert curator.eps is None
    assert curator.variance == 0
    assert curator.clipped == 0
    assert curator.seen == 3
    assert_array_equal(curator.log_density(y, y[0]), [0, -inf, -inf])


NONSENSE = [
    dict(eps=0),
    dict(eps=-1),
    dict(eps=inf),
    dict(eps=nan),
    dict(eps=None),
    dict(B=0),
    dict(R=-1),
]


@mark.parametrize("bad", NONSENSE, ids=str)
@mark.parametrize("kind", PRIVATE)
def test_nonsense_settings_are_named(kind, bad):
    eps, B, R = (dict(eps=1.0, B=1.0, R=1.0) | bad).values()
    named = next(iter(bad))
    if kind is core.OneBit and named == "B":  # it takes F and R, and only both may not be 0
        named, R = "F", 0.0
    with raises(ValueError, match=named):
        kind(eps, B, R)


def test_total_epsilon_counts_reports_per_user():
    assert total_epsilon(0.5, 14) == 7.0
    assert total_epsilon(None, 1) == inf
    assert_array_equal(total_epsilon(0.5, [0, 1, 3]), [0, 0.5, 1.5])
    for bad in (-1, 1.5, [1, nan]):
        with raises(ValueError, match="reports"):
            total_epsilon(1.0, bad)


# ---- curators inside a run ----------------------------------------------------------------------


def test_eps_and_the_curator_it_stands_for_give_the_same_run():
    problem = core.synthetic_problem(seed=1)
    told = dict(trials=2, seed=4, k=3, trace=True)
    curator = core.CTL(1.0, problem.B, problem.R)
    a = core.simulate(problem, ["TGP", "MoMA"], 60, eps=1.0, **told)
    b = core.simulate(problem, ["TGP", "MoMA"], 60, curator=curator, **told)
    assert_array_equal(a.regret, b.regret)
    assert_array_equal(a.records["reports"], b.records["reports"])


def test_identity_is_the_non_private_run():
    problem = core.synthetic_problem(noise="t3", seed=1)
    plain = core.simulate(problem, ["TGP", "ATA"], 60, trials=2, seed=4)
    identity = core.simulate(problem, ["TGP", "ATA"], 60, trials=2, seed=4, curator=core.Identity())
    assert_array_equal(plain.regret, identity.regret)


def test_a_curator_class_is_built_for_each_problem_and_counters_start_at_zero():
    source = lambda s: core.synthetic_problem(seed=s)
    one_bit = dict(eps=1.0, curator=core.OneBit, trace=True)
    result = core.simulate(source, "TGP", 20, trials=3, seed=4, **one_bit)
    sizes = [set(np.abs(reports)) for reports in result.records["reports"][0]]
    assert [len(s) for s in sizes] == [1, 1, 1]
    assert len(set.union(*sizes)) == 3  # each trial has its own B, so its own scale
    used = core.CTL(1.0, 1e-3, 1.0)
    used.privatise(np.full(7, 9.0), default_rng(0))
    problem = core.synthetic_problem(seed=1)
    result = core.simulate(problem, "uniform", 30, trials=1, seed=0, curator=used)
    assert 0 < result.records["clipped"][0, 0] <= 30
    assert used.clipped == 7


@mark.parametrize("kind", PRIVATE)
def test_every_curator_serves_every_algorithm(kind):
    problem = core.synthetic_problem(seed=1)
    curator = kind(1.0, problem.B, problem.R)
    names = ["TGP", "ATA", "MoMA", "GP-UCB"]
    told = dict(k=4, curator=curator, trace=True, workers=2)
    result = core.simulate(problem, names, 40, trials=2, seed=4, **told)
    assert np.isfinite(result.regret).all()
    assert (result.records["clipped"] == 0).all()
    if kind is core.OneBit:
        assert set(np.abs(result.records["reports"]).ravel()) == {curator.scale}


# ---- nothing leaks by accident ------------------------------------------------------------------


def raw_rewards(problem, result, seed):
    """The users' true rewards of a recorded run, rebuilt from the seeds.

    They must not be found in its output.
    """
    rewards = []
    for trials in result.records["arms"]:
        for i, arms in enumerate(trials):
            users = core.streams(seed, i)[1]
            rewards.append(problem.reward(arms, problem.draw(users, len(arms))))
    return np.concatenate(rewards)


def is_in(reward, blob, text):
    """As 8 bytes at any offset of `blob`, or in `text` with at least 9 significant digits."""
    if np.float64(reward).tobytes() in blob:
        return True
    return f"{reward:.9g}" in text or repr(float(reward)) in text


def found_in(rewards, blob, text):
    """How many rewards are there."""
    return sum(is_in(reward, blob, text) for reward in rewards)


@mark.parametrize("kind", PRIVATE)
def test_saved_results_figures_and_logs_of_a_private_run_hold_no_raw_reward(kind, capfd, caplog):
    problem = core.synthetic_problem(seed=3)
    curator = kind(1.0, problem.B, problem.R)
    progress = lambda done, total: print(done, total, curator.promise)
    told = dict(k=5, curator=curator, trace=True, progress=progress)
    with caplog.at_level(logging.DEBUG):
        result = core.simulate(problem, ["TGP", "ATA", "MoMA"], 50, trials=2, seed=11, **told)
    rewards = raw_rewards(problem, result, 11)
    assert len(np.unique(rewards)) > 50 / 2
    saved = io.BytesIO()
    np.savez(saved, regret=result.regret, **result.records)
    results = pytest.importorskip("ldpbo.results")
    data = results.csv(results.curves({"": result}))
    data += results.csv({"reports": result.records["reports"].ravel()})
    out, err = capfd.readouterr()
    text = out + err + caplog.text + data + repr(result) + repr(vars(curator))
    blob = saved.getvalue() + pickle.dumps(result) + pickle.dumps(curator)
    assert found_in(rewards, blob, text) == 0
    reports = result.records["reports"].ravel()
    assert found_in(reports, blob, text) > 0  # the search itself finds what is there


def test_the_search_for_raw_rewards_finds_them_in_a_run_without_privacy():
    problem = core.synthetic_problem(seed=3)
    result = core.simulate(problem, ["TGP"], 50, trials=1, seed=11, trace=True)
    assert found_in(raw_rewards(problem, result, 11), pickle.dumps(result), "") == 50


def held(thing, seen=None):
    """Bytes of every number that an object holds, however deep."""
    seen = set() if seen is None else seen
    if isinstance(thing, np.ndarray):
        return thing.tobytes()
    if isinstance(thing, (float, np.floating)):
        return np.float64(thing).tobytes()
    if id(thing) in seen:
        return b""
    seen.add(id(thing))
    if hasattr(thing, "__dict__"):
        thing = vars(thing)
    if isinstance(thing, dict):
        thing = list(thing.values())
    parts = thing if isinstance(thing, (list, tuple)) else ()
    return b"".join(held(part, seen) for part in parts)


def test_a_learner_holds_reports_never_rewards():
    """ask/tell by hand: every number in the learner and in the curator after a private run."""
    problem = core.synthetic_problem(seed=3)
    rng = default_rng(0)
    curator = core.CTL(1.0, problem.B, problem.R)
    for name in ("TGP", "ATA", "MoMA"):
        learner = core.make(name, problem, 40, eps=1.0, k=4, rng=0)
        rewards = []
        for _ in range(40):
            rewards.append(problem.sample(learner.ask(), rng))
            learner.tell(curator.privatise(rewards[-1], rng))
        assert found_in(rewards, held(learner) + held(curator), "") == 0
        learner.leak = {"log": [np.array(rewards)]}
        assert found_in(rewards, held(learner), "") == 40  # the search finds what is there


def test_bounds_taken_from_the_private_data_are_marked_in_the_provenance():
    table = default_rng(0).normal(size=(30, 4))
    own = [core.table_problem(table), core.table_problem(table, table)]
    for problem in [core.light_problem(), core.stock_problem(), *own]:
        assert "taken from the private rewards" in problem.provenance
        assert "B, R" in problem.provenance
    assert "private" not in core.synthetic_problem(seed=1).provenance
