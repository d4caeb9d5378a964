"""Problems of SPEC 5: synthetic, the two data sets (originals and stand-ins), a user's table."""

import hashlib
import importlib
import json
import os
import shutil
import sys
import warnings
from math import sqrt
from pathlib import Path

import numpy as np
import oracle as o
import pytest
from helpers import matern, se
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
ROOT = Path(core.__file__).resolve().parent
SHA = {
    "iw_data_all.mat": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    "fin.csv": "e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
}


# ---- synthetic ----------------------------------------------------------------------------------
@mark.parametrize("kernel", ["se", "matern"])
@mark.parametrize("noise", ["uniform", "t3"])
def test_synthetic_problem_is_the_papers(kernel, noise):
    problem = core.synthetic_problem(kernel=kernel, noise=noise, seed=4)
    matrix = dict(se=se, matern=matern)[kernel]
    assert_allclose(problem.K, matrix(np.arange(1, 101) / 100, 0.2), atol=1e-12)
    assert problem.n == 100
    assert problem.alpha == 1
    assert problem.R == 1
    assert problem.B == approx(np.max(np.abs(problem.f)), rel=1e-15)
    if noise == "t3":
        assert problem.v == approx(problem.B**2 + 3, rel=1e-15)
        assert problem.c == 3
    else:  # E eta^2 of U[-1, 1] is 1/3
        assert problem.v == approx(problem.B**2 + 1 / 3)
        assert problem.c == approx(1 / 3)


def test_synthetic_f_is_a_combination_of_kernel_columns_with_bounded_weights():
    """f = K w with w_i a sum of U[-1,1] weights, so that sum |w| <= 100.

    Matern's K is well enough conditioned to recover w. 37 % of the arms are hit by none of 100
    draws in expectation, with a standard deviation of 3 %.
    """
    problem = core.synthetic_problem(kernel="matern", noise="uniform", seed=4)
    w = np.linalg.solve(problem.K, problem.f)
    assert_allclose(problem.K @ w, problem.f, atol=1e-9)
    assert 10 < np.sum(np.abs(w)) <= 100
    assert np.max(np.abs(w)) < 8
    assert 0.2 < np.mean(np.abs(w) < 1e-6) < 0.5


def test_synthetic_seed_decides_f():
    make = lambda seed: core.synthetic_problem(kernel="se", noise="uniform", seed=seed).f
    assert_array_equal(make(1), make(1))
    assert np.max(np.abs(make(1) - make(2))) > 0.1


def test_noise_of_f_does_not_change_with_the_noise_law():
    uniform = core.synthetic_problem(kernel="se", noise="uniform", seed=3)
    student = core.synthetic_problem(kernel="se", noise="t3", seed=3)
    assert_array_equal(uniform.f, student.f)


# ---- rewards ------------------------------------------------------------------------------------
def compare_with_uniform(u):
    """Kolmogorov's test of 20,000 numbers in [0, 1].

    P(sup |F_n - F| > 2.1 / sqrt(n)) < 3e-4 for a fresh seed; the seeds here are fixed.
    """
    expected = np.arange(1, 20_001) / 20_000
    assert np.max(np.abs(np.sort(u) - expected)) < 2.1 / sqrt(20_000)


def test_uniform_noise_stays_within_R_and_fills_it():
    problem = core.Problem(K=np.eye(2), f=[0.5, -0.5], B=1.0, R=3.0, v=10.0, c=3.0)
    y = problem.sample(1, default_rng(0), size=20_000)
    assert y.shape == (20_000,)
    assert np.max(np.abs(y + 0.5)) <= 3
    compare_with_uniform((y + 3.5) / 6)


def test_t3_noise_is_students():
    from scipy.stats import t as student

    problem = core.Problem(K=np.eye(1), f=[0.5], B=1.0, R=1.0, v=4.0, c=3.0, noise="t3")
    y = problem.sample(0, default_rng(0), size=20_000)
    compare_with_uniform(student.cdf(y - 0.5, 3))


def test_table_rewards_are_the_arms_entry_in_a_drawn_row():
    table = np.arange(12.0).reshape(4, 3) ** 1.5 % 5
    problem = core.table_problem(table)
    draws = problem.draw(default_rng(0), 1000)
    for arm in range(3):
        assert_array_equal(problem.reward(arm, draws), table[draws, arm])
        assert_array_equal(problem.sample(arm, default_rng(0), 1000), table[draws, arm])
    assert set(draws) == {0, 1, 2, 3}


@mark.parametrize("noise", ["uniform", "t3"])
def test_sample_is_reward_of_draw(noise):
    problem = core.synthetic_problem("se", noise, 1, n=10)
    one = problem.sample(3, default_rng(5), size=7)
    assert_array_equal(one, problem.reward(3, problem.draw(default_rng(5), 7)))
    assert np.ndim(problem.sample(3, default_rng(5))) == 0


# ---- table --------------------------------------------------------------------------------------
def test_table_problem_follows_the_definitions():
    rng = default_rng(1)
    samples = rng.gamma(2.0, 3.0, (30, 5))
    train = rng.gamma(2.0, 3.0, (20, 5))
    problem = core.table_problem(samples, train)
    f = samples.mean(axis=0)
    assert_allclose(problem.K, o.correlation(train.tolist()), atol=1e-12)
    assert_allclose(problem.f, f, rtol=1e-14)
    assert problem.B == approx(max(f))
    assert problem.R == approx(np.max(np.abs(samples - f)))
    assert problem.v == approx(np.mean(samples**2))
    assert problem.c == approx(np.mean((samples - f) ** 2))
    assert_allclose(core.table_problem(samples).K, o.correlation(samples.tolist()), atol=1e-12)


def test_a_table_below_zero_still_bounds_f():
    problem = core.table_problem(-default_rng(1).gamma(2.0, 3.0, (30, 5)))
    assert problem.B >= np.max(np.abs(problem.f))


@mark.parametrize("size", [1.0, 1e6, 1e-6])
def test_a_column_that_varies_by_rounding_alone_counts_as_constant(size):
    """The limit is 1e-14 of the column's own size: its unit and the other columns do not matter."""
    table = default_rng(1).random((10, 3))
    for spread, kept in ((5e-15, False), (5e-14, True)):
        table[:, 1] = size * (1 + spread * (np.arange(10) == 4))
        if kept:
            assert core.empirical_kernel(table)[1, 1] == 1
        else:
            with raises(ValueError, match="samples column 1 is constant"):
                core.empirical_kernel(table)


@mark.parametrize("alpha", [0.4, 1.0])
def test_moments_that_are_left_out_follow_from_the_bounds(alpha):
    """E|y|^{1+alpha} <= (E y^2)^{(1+alpha)/2}, E y^2 <= F^2 + R^2; and Y bounds y where it is."""
    p = (1 + alpha) / 2
    told = dict(K=np.eye(2), B=3.0, F=1.5, R=0.7, alpha=alpha)
    problem = core.Problem(**told)
    assert problem.c == approx(0.49**p)
    assert problem.v == approx((2.25 + 0.49) ** p)
    assert core.Problem(**told, Y=1.6).v == approx(2.56**p)


def test_problem_is_frozen_and_copies_its_arrays():
    K = np.eye(2)
    f = np.array([0.0, 1.0])
    problem = core.Problem(K=K, f=f, B=1.0, R=1.0, v=1.0, c=1.0)
    K[0, 0] = 0.5
    f[0] = 9.0
    assert problem.K[0, 0] == 1
    assert problem.f[0] == 0
    with raises(Exception, match="cannot assign|frozen"):
        problem.B = 2.0
    with raises(ValueError, match="read-only"):
        problem.K[0, 0] = 0.5
    table = default_rng(0).random((5, 2))
    problem = core.table_problem(table)
    before = problem.reward(0, 0)
    table[:] = 7.0
    assert problem.reward(0, 0) == before


# ---- the two real data sets ---------------------------------------------------------------------
def originals():
    """The folder with the original files, or None, said loudly."""
    named = os.environ.get("LDPBO_DATA")
    folders = [Path(named)] if named else []
    folders += [ROOT.parent / "shared/data", ROOT / "data/original"]
    for folder in folders:
        if all((folder / name).exists() for name in SHA):
            return folder
    warnings.warn(
        "The original data sets are not here (LDPBO_DATA, ../shared/data, data/original): their "
        "reference values were NOT checked. `make data` downloads them."
    )
    return None


ORIGINALS = originals()
needs_originals = mark.skipif(
    ORIGINALS is None, reason="ORIGINAL DATA NOT FOUND: set LDPBO_DATA or run `make data`"
)


def reference(which):
    path = ORIGINALS / "reference_stats.json"
    if not path.exists():
        pytest.skip("REFERENCE VALUES NOT FOUND beside the original data")
    return json.loads(path.read_text())[which]


@needs_originals
@mark.parametrize("which, load", [("light", core.light_problem), ("stock", core.stock_problem)])
def test_original_data_give_the_reference_values(which, load, monkeypatch):
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    expected = reference(which)
    problem = load()
    assert "original" in problem.provenance
    assert problem.name == which
    assert problem.n == expected["arms"]
    assert len(problem.samples) == expected["n_test"]
    assert problem.alpha == 1
    for key in ("B", "R", "v", "c"):
        assert getattr(problem, key) == approx(expected[key], rel=1e-8), key
    order = np.argsort(-problem.f)
    assert problem.f[order[1]] == approx(expected["f_second"], rel=1e-8)
    assert np.min(problem.f) == approx(expected["f_min"], rel=1e-8)
    gap = np.mean(1 - problem.f / np.max(problem.f))
    assert gap == approx(expected["mean_gap_normalised"], abs=1e-6)
    w = np.linalg.eigvalsh(problem.K)
    assert w[0] == approx(expected["K_eig_min"], rel=0.01)
    assert w[-1] == approx(expected["K_eig_max"], rel=1e-7)
    norm = sqrt(problem.f @ np.linalg.solve(problem.K, problem.f))
    assert norm == approx(expected["rkhs_norm_f"], rel=1e-6)
    names = [str(arm) for arm in range(problem.n)]
    if which == "stock":
        header = (ORIGINALS / "fin.csv").read_text().split("\n", 1)[0]
        names = [ticker.strip('"') for ticker in header.strip().split(",")[1:]]
    assert names[order[0]] == expected["best"]
    assert names[order[1]] == expected["second"]


@needs_originals
def test_light_readings_are_floats_whose_squares_do_not_overflow(monkeypatch):
    """SciPy's default reads uint16; v would be 32,516 instead of 377,421."""
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    problem = core.light_problem()
    assert problem.samples.dtype == float and problem.v > 300_000


@needs_originals
def test_panels_of_the_paper_run_on_the_original_data(monkeypatch):
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    for problem in (core.light_problem(), core.stock_problem()):
        for eps in (None, 0.5):
            out = core.simulate(problem, ["TGP", "ATA", "MoMA"], 200, trials=1, seed=0, eps=eps)
            assert np.all(np.isfinite(out.regret))
            assert np.all(out.records["clipped"] == 0)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The core and its stand-in data in an empty folder: no originals anywhere near."""
    (tmp_path / "data").mkdir()
    shutil.copy(ROOT / "ldpbo_core.py", tmp_path)
    shutil.copytree(ROOT / "ldpbo", tmp_path / "ldpbo")
    for file in (ROOT / "data").glob("*.csv"):
        shutil.copy(file, tmp_path / "data")
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    for name in [name for name in sys.modules if name.startswith("ldpbo")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("ldpbo_core"), tmp_path
    for name in [name for name in sys.modules if name.startswith("ldpbo")]:
        del sys.modules[name]


@mark.parametrize("which, arms, rows", [("light", 41, 192), ("stock", 20, 823)])
def test_stand_ins_serve_where_the_originals_are_missing(checkout, which, arms, rows):
    module, _ = checkout
    problem = getattr(module, f"{which}_problem")()
    assert "stand-in" in problem.provenance
    assert problem.name == which
    assert problem.n == arms
    assert problem.samples.shape == (rows, arms)
    assert np.min(np.linalg.eigvalsh(problem.K)) > -1e-10
    assert problem.B == approx(np.max(np.abs(problem.f)))
    out = module.simulate(problem, ["TGP", "ATA", "MoMA"], 60, trials=1, seed=0, eps=1.0)
    assert np.all(np.isfinite(out.regret))


def test_stand_in_light_kernel_comes_from_601_other_rows(checkout):
    module, folder = checkout
    lines = (folder / "data/light.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    train = [[float(x) for x in row[1:]] for row in rows if row[0] == "train"]
    assert len(train) == 601
    assert sum(row[0] == "test" for row in rows) == 192
    assert_allclose(module.light_problem().K, o.correlation(train), atol=1e-10)


LOADED_BY = {"iw_data_all.mat": "light_problem", "fin.csv": "stock_problem"}


@mark.parametrize("name", LOADED_BY)
def test_a_file_with_the_wrong_checksum_is_refused_with_both_hashes(checkout, monkeypatch, name):
    module, folder = checkout
    for place in ("elsewhere", "data/original"):
        (folder / place).mkdir()
        (folder / place / name).write_bytes(b"not the data")
        if place == "elsewhere":
            monkeypatch.setenv("LDPBO_DATA", str(folder / place))
        else:
            monkeypatch.delenv("LDPBO_DATA")
        with raises(ValueError) as error:
            getattr(module, LOADED_BY[name])()
        assert SHA[name] in str(error.value)
        assert hashlib.sha256(b"not the data").hexdigest() in str(error.value)
        assert name in str(error.value)


@needs_originals
def test_lookup_order_is_the_named_folder_then_data_original_then_the_stand_ins(
    checkout, monkeypatch
):
    module, folder = checkout
    assert "stand-in" in module.stock_problem().provenance
    (folder / "data" / "original").mkdir()
    shutil.copy(ORIGINALS / "fin.csv", folder / "data" / "original")
    assert "original" in module.stock_problem().provenance
    assert "stand-in" in module.light_problem().provenance
    (folder / "named").mkdir()
    monkeypatch.setenv("LDPBO_DATA", str(folder / "named"))  # an empty folder hides nothing
    assert "original" in module.stock_problem().provenance
    (folder / "named" / "fin.csv").write_text("broken")  # but its files come first
    with raises(ValueError, match="sha256"):
        module.stock_problem()


def test_a_data_folder_that_does_not_exist_is_an_error(checkout, monkeypatch):
    module, folder = checkout
    monkeypatch.setenv("LDPBO_DATA", str(folder / "nowhere"))
    with raises(ValueError, match="LDPBO_DATA.*nowhere"):
        module.light_problem()
