"""Problems given by points and a kernel, by a function on a box, or by a table with more columns
than rows: SPEC section 9.
"""

import functools
import math
import pickle
from dataclasses import replace
from math import inf, nan, pi, sqrt

import numpy as np
import oracle as o
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import ldpbo_core as core

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
RNG = default_rng(4)
CLOUD = RNG.random((60, 2))
F = np.sin(5 * CLOUD[:, 0]) * np.cos(4 * CLOUD[:, 1])
BOUNDS = dict(B=1.0, R=1.0, v=2.0, c=1.0)
KERNEL = {
    "se": functools.partial(core.se_kernel, lengthscale=0.3),
    "matern": functools.partial(core.matern_kernel, lengthscale=0.4, nu=2.5),
    "linear": core.linear_kernel,
}


def pair(kernel, X=CLOUD, f=F, **change):
    """The same problem by its matrix and by its points."""
    X = X - 0.5 if kernel == "linear" else X
    return (
        core.Problem(K=KERNEL[kernel](X, X), f=f, **BOUNDS),
        core.Problem(points=X, kernel=KERNEL[kernel], f=f, **BOUNDS, **change),
    )


# ---- features -----------------------------------------------------------------------------------
@pytest.mark.parametrize("kernel", KERNEL)
def test_features_reproduce_the_kernel_up_to_the_residual(kernel):
    dense, sparse = pair(kernel)
    missing = dense.K - sparse.Z.T @ sparse.Z
    assert sparse.residual < 1e-8 and dense.residual == 0
    assert (
        np.max(np.abs(missing)) <= sparse.residual + 1e-14
    )  # a positive semi-definite matrix is largest on its diagonal
    assert np.min(np.linalg.eigvalsh(missing)) > -1e-13
    assert_allclose(sparse.diagonal, dense.K.diagonal(), rtol=1e-14)
    assert_allclose(sparse.lost, np.maximum(missing.diagonal(), 0), atol=1e-15)
    assert_array_equal(sparse.K, dense.K)


def test_rank_is_close_to_that_of_one_pivot_at_a_time():
    """Blocks choose their pivots with a little less knowledge.

    They must not need many more of them.
    """
    X = default_rng(0).random((900, 2))
    kernel = KERNEL["se"]
    left = np.ones(900)
    Z = np.zeros((0, 900))
    while left.max() >= 1e-8:
        a = int(left.argmax())
        row = (kernel(X[a : a + 1], X)[0] - Z[:, a] @ Z) / sqrt(left[a])
        Z = np.vstack([Z, row])
        left = left - row**2
        left[a] = 0
    assert len(core.Problem(points=X, kernel=kernel, f=np.zeros(900), **BOUNDS).Z) <= 1.05 * len(Z)


def test_a_cap_on_the_rank_is_respected_said_and_refused_at_proved_constants():
    capped = pair("matern", rank=12)[1]
    assert len(capped.Z) == 12 and capped.residual > 1e-3
    for name, constants in (
        ("TGP", "theorem"),
        ("ATA", "theorem"),
        ("MoMA", "theorem"),
        ("TGP", "repaired"),
    ):
        with pytest.raises(
            ValueError, match=f"constants = '{constants}'.*{capped.residual:.3g}.*rank"
        ):
            core.make(name, capped, 1000, constants=constants)
    assert core.make("TGP", capped, 100).ask() == 0
    assert core.make("TGP", pair("matern", rank=60)[1], 100, constants="theorem").ask() == 0


def test_what_the_features_miss_is_part_of_the_width():
    """sigma^2 = k - |z|^2 + lam z'V^{-1}z with the 12 features kept."""
    dense = pair("matern")[0]
    capped = pair("matern", rank=12)[1]
    arms = RNG.integers(60, size=40)
    y = RNG.normal(size=40)
    mu, sigma = core.posterior(capped, arms, y, 0.7)
    G, s = o.exact_posterior(capped.Z.T @ capped.Z, arms, y, 0.7)
    assert_allclose(mu, G, atol=1e-10)
    assert_allclose(sigma**2, s**2 + dense.K.diagonal() - (capped.Z**2).sum(0), atol=1e-10)


def test_features_from_equal_points_are_equal():
    X = np.repeat(CLOUD[:20], 3, axis=0)
    Z = core.Problem(points=X, kernel=KERNEL["se"], f=np.zeros(60), **BOUNDS).Z
    assert_allclose(Z[:, ::3], Z[:, 1::3], atol=1e-9)
    assert len(Z) <= 20


# ---- both forms agree ---------------------------------------------------------------------------
@pytest.mark.parametrize("kernel", KERNEL)
def test_posterior_gain_and_embedding_agree_with_the_matrix_form(kernel):
    dense, sparse = pair(kernel)
    arms = RNG.integers(60, size=50)
    y = RNG.normal(size=50)
    for one, other in zip(
        core.posterior(dense, arms, y, 0.5), core.posterior(sparse, arms, y, 0.5)
    ):
        assert_allclose(other, one, atol=1e-6)
    assert_array_equal(core.posterior(dense.K, arms, y, 0.5), core.posterior(dense, arms, y, 0.5))
    assert_allclose(
        core.information_gain(sparse, 80, 0.5), core.information_gain(dense.K, 80, 0.5), rtol=1e-6
    )
    D = [3, 17, 40, 59] if kernel != "linear" else [3, 17]
    assert_allclose(core.nystrom_features(sparse, D), core.nystrom_features(dense.K, D), atol=1e-5)


@pytest.mark.parametrize("eps", [None, 1.0])
@pytest.mark.parametrize("kernel", KERNEL)
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB", "PE", "MoM", "MoMA-avg"])
def test_learners_take_the_same_actions_on_both_forms(name, kernel, eps):
    """mu within 1e-6 of the largest reward and sigma^2 within 1e-7.

    Hundred times what tol = 1e-8 moves them.
    """
    T = 150
    settings = {"MoMA": dict(k=5), "MoM": dict(k=2), "MoMA-avg": dict(k=2)}.get(name, {})
    one, other = (
        core.make(name, problem, T, eps=eps, rng=7, **settings) for problem in pair(kernel)
    )
    noise = default_rng(3).standard_t(3, T) * (1 if eps is None else 4)
    size, arms = 1.0, set()
    for t in range(T):
        arm = one.ask()
        y = F[one.ask()] + noise[t]
        assert other.ask() == arm, t
        one.tell(y)
        other.tell(y)
        size = max(size, abs(y))
        arms.add(arm)
        assert_allclose(other.mu, one.mu, atol=1e-6 * size)
        assert_allclose(other.sigma**2, one.sigma**2, atol=1e-7)
    assert len(arms) > 3 - 2 * (kernel == "linear")


@pytest.mark.parametrize("kernel", KERNEL)
def test_thompson_sampling_draws_from_the_same_law_on_both_forms(kernel):
    """The draws are N(mu, beta^2 lam F'F) with another root F on each form, so actions differ.

    Mean, width and covariance do not.
    """
    one, other = (core.make("TS", problem, 100, eps=1.0, rng=7) for problem in pair(kernel))
    for arm, y in zip(RNG.integers(60, size=60), RNG.normal(size=60)):
        one.tell(y, arm=arm)
        other.tell(y, arm=arm)
    assert_allclose(other.mu, one.mu, atol=1e-6)
    assert_allclose(other.ridge.F.T @ other.ridge.F, one.ridge.F.T @ one.ridge.F, atol=1e-6)
    assert other.beta == pytest.approx(one.beta, rel=1e-12)


def test_simulate_gives_the_same_regret_on_any_number_of_workers():
    problem = pair("se")[1]
    one, two = (
        core.simulate(problem, ["TGP", "ATA", "MoMA"], 60, trials=2, seed=1, eps=1.0, workers=w)
        for w in (1, 2)
    )
    assert_array_equal(one.regret, two.regret)


def test_exact_refits_of_scikit_learn_take_the_actions_that_make_bench_compares():
    pytest.importorskip("sklearn")
    import bench

    problem = bench.cloud(400, 2, "SE")
    ours = bench.drive("TGP", problem, 40)[1]
    assert len(set(ours)) > 10
    assert_array_equal(bench.by_refits(problem, 40, bench.refit_scikit_learn(problem.points)), ours)


def test_the_bare_update_of_make_bench_is_the_posterior():
    """What TGP's time is compared with computes mean and width of all arms.

    Its arms and rewards of 1 give core.posterior's.
    """
    import bench

    problem = pair("se")[1]
    arms = default_rng(0).integers(60, size=10**6)[:25]
    play = bench.bare(problem)
    play(25)
    mu, sigma = core.posterior(problem, arms, np.ones(25), 1.0)
    assert_allclose(play.M, mu, atol=1e-10)
    assert_allclose(np.sqrt(play.leverage), sigma, atol=1e-10)


# ---- nothing n x n ------------------------------------------------------------------------------
def test_a_hundred_thousand_points_build_nothing_n_by_n():
    calls = []

    def kernel(X, Y):
        calls.append(len(X) * len(Y))
        return core.se_kernel(X, Y, lengthscale=0.5)

    n = 100_000
    problem = core.Problem(points=np.linspace(0, 1, n), kernel=kernel, f=np.zeros(n), **BOUNDS)
    with pytest.raises(ValueError, match="K.*100000.*20000"):
        problem.K
    for name in ("TGP", "ATA", "MoMA"):
        learner = core.make(name, problem, 30, k=3 if name == "MoMA" else None)
        for t in range(30):
            learner.ask()
            learner.tell(math.sin(t))
        assert np.all(np.isfinite(learner.mu))
        assert np.all(learner.sigma <= 1 + 1e-9)
    core.posterior(problem, [5, 99_999], [1.0, 2.0], 1.0)
    assert max(calls) <= 32 * n
    assert len(problem.Z) < 20


# ---- wide tables --------------------------------------------------------------------------------
def test_a_wide_table_has_its_own_rows_as_features():
    table = RNG.normal(size=(9, 40)) * 3 + 1
    problem = core.table_problem(table)
    assert problem.points is not None
    assert problem.Z.shape == (9, 40)
    assert problem.residual < 1e-14
    assert_allclose(problem.K, o.correlation(table.tolist()), atol=1e-12)
    assert_allclose(problem.Z.T @ problem.Z, o.correlation(table.tolist()), atol=1e-12)
    train = RNG.normal(size=(12, 40))
    assert_allclose(core.table_problem(table, train).K, o.correlation(train.tolist()), atol=1e-12)
    assert core.table_problem(table, RNG.normal(size=(40, 40))).points is None
    same = core.Problem(
        K=problem.K,
        f=problem.f,
        B=problem.B,
        R=problem.R,
        v=problem.v,
        c=problem.c,
        noise="table",
        samples=table,
    )
    for name in ("TGP", "ATA", "MoMA"):
        one, other = (
            core.simulate(p, [name], 100, trials=1, seed=2, eps=2.0, trace=True).records["arms"]
            for p in (problem, same)
        )
        assert_array_equal(one, other)


# ---- function_problem ---------------------------------------------------------------------------
def branin(x):
    return (
        (x[1] - 5.1 / (4 * pi**2) * x[0] ** 2 + 5 / pi * x[0] - 6) ** 2
        + 10 * (1 - 1 / (8 * pi)) * math.cos(x[0])
        + 10
    )


def test_function_problem_evaluates_the_function_at_its_points():
    box = [(-5, 10), (0, 15)]
    problem = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=1, R=2.0)
    assert problem.points.shape == (300, 2)
    assert problem.name == "branin"
    assert np.all((problem.points >= [-5, 0]) & (problem.points <= [10, 15]))
    assert_allclose(problem.f, [branin(x) for x in problem.points], rtol=1e-14)
    assert problem.B == np.max(np.abs(problem.f))
    assert problem.R == 2
    assert problem.c == pytest.approx(4 / 3)
    assert problem.v == pytest.approx(problem.B**2 + 4 / 3)
    X = problem.points / [4.0, 3.0]
    assert_allclose(problem.K, core.se_kernel(X, X, lengthscale=1.0), rtol=1e-12, atol=1e-14)
    again = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=1)
    other = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=2)
    assert_array_equal(again.points, problem.points)
    assert not np.array_equal(other.points, problem.points)


def test_function_problem_takes_the_points_given_and_a_matern_kernel():
    problem = core.function_problem(
        lambda x: float(x @ x),
        [(0, 1), (0, 1)],
        points=CLOUD,
        kernel="matern",
        nu=1.5,
        lengthscale=0.4,
        noise="t3",
        rank=30,
    )
    assert_array_equal(problem.points, CLOUD)
    assert_allclose(
        problem.K, core.matern_kernel(CLOUD, CLOUD, lengthscale=0.4, nu=1.5), atol=1e-15
    )
    assert problem.c == 3
    assert problem.R == 1
    assert problem.noise == "t3"
    assert len(problem.Z) == 30
    assert len(pickle.loads(pickle.dumps(problem)).Z) == 30


def test_sobol_points_fill_the_box_evenly():
    """A scrambled Sobol set of 2^10 points has exactly 2^10 / 2^8 points in each of the 16 x 16
    cells of equal size.
    """
    points = core.function_problem(lambda x: 1.0, [(0, 2), (-1, 1)], 1024, seed=5).points
    cells = np.floor((points - [0, -1]) / 2 * 16).astype(int)
    assert_array_equal(np.bincount(cells[:, 0] * 16 + cells[:, 1], minlength=256), 4)


def test_replace_keeps_the_points():
    problem = replace(pair("se")[1], K=None, B=3.0)
    assert problem.B == 3 and problem.points is not None


# ---- errors -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: core.Problem(f=[0.0], **BOUNDS), ["K", "points", "kernel"]),
        (
            lambda: core.Problem(
                K=np.eye(1), points=[[0.0]], kernel=core.linear_kernel, f=[0.0], **BOUNDS
            ),
            ["K alone"],
        ),
        (lambda: core.Problem(points=[[0.0]], f=[0.0], **BOUNDS), ["points and kernel"]),
        (
            lambda: core.Problem(points=CLOUD, kernel=KERNEL["se"], f=[0.0], **BOUNDS),
            ["f", "1", "60"],
        ),
        (lambda: pair("se", rank=0), ["rank = 0"]),
        (lambda: pair("se", tol=0.0), ["tol = 0"]),
        (
            lambda: (
                core.Problem(points=3 * CLOUD, kernel=core.linear_kernel, f=F, **BOUNDS).diagonal
            ),
            ["kernel", "must be from 0 to 1"],
        ),
        (
            lambda: (
                core.Problem(
                    points=CLOUD,
                    kernel=lambda X, Y: X @ np.diag([1, -1]) @ Y.T + 0.9,
                    f=F,
                    **BOUNDS,
                ).Z
            ),
            ["kernel"],
        ),
        (lambda: core.function_problem(branin, [(0, 1), (1, 1)], 8), ["bounds", "low < high"]),
        (lambda: core.function_problem(branin, [(0, 1), (0, 1)]), ["n = None"]),
        (
            lambda: core.function_problem(branin, [(0, 1), (0, 0.5)], points=CLOUD),
            ["points", "bounds"],
        ),
        (lambda: core.function_problem(branin, [(0, 1)], 8, kernel="rbf"), ["kernel = 'rbf'"]),
        (lambda: core.function_problem(lambda x: nan, [(0, 1)], 8), ["function", "finite"]),
        (
            lambda: core.se_kernel(CLOUD, CLOUD, lengthscale=[1.0, 2.0, 3.0]),
            ["lengthscale has 3 entries", "2"],
        ),
    ],
)
def test_errors_name_the_argument(call, words):
    with pytest.raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value


@pytest.mark.parametrize("rounds", [80, 350])
@pytest.mark.parametrize("settings", [dict(eps=1.0), dict(beta_scale=0.1)], ids=str)
def test_ata_on_many_arms_updates_its_leverages_as_it_would_compute_them(
    settings, rounds, monkeypatch
):
    """Where a dictionary changes, leverages change by few directions.

    Turning the coordinates does not change them. In the longer runs there are more arms in the
    dictionary than features, and its span hardly changes any more: what is left out at each of
    many changes must not add up.
    """
    X = default_rng(0).random((4000, 2))
    runs = []
    for shortcut in (True, False):
        problem = core.Problem(
            points=X,
            kernel=lambda x, y: core.se_kernel(x, y, lengthscale=0.2),
            f=np.sin(5 * X[:, 0]),
            B=1.0,
            R=1.0,
            v=2.0,
            c=1.0,
        )
        if not shortcut:
            monkeypatch.setattr(core._Ridge, "_change", lambda ridge: None)
        learner = core.make("ATA", problem, 400, rng=1, q=inf, **settings)
        rng = default_rng(2)
        arms = []
        for _ in range(rounds):
            arms.append(learner.ask())
            learner.tell(problem.sample(arms[-1], rng) + rng.laplace(scale=4.0))
        runs.append((arms, learner.mu, learner.sigma))
        assert (learner.ridge._change() is not None) == shortcut
        assert (learner.m > len(problem.Z)) == (rounds > 300)
    assert runs[0][0] == runs[1][0]
    assert_allclose(runs[0][1], runs[1][1], atol=1e-9)
    assert_allclose(runs[0][2], runs[1][2], atol=1e-11)
