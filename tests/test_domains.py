"""Problems given by points and a kernel, by a function on a box, or by a wide table (SPEC 9)."""

import functools
import pickle
from dataclasses import replace
from math import cos, inf, nan, pi, sin, sqrt

import numpy as np
import oracle as o
import pytest
from helpers import draw_root, epochs
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises

import ldpbo_core as core
from ldpbo import experiments
from ldpbo.posterior import Posterior, Span

pytestmark = mark.filterwarnings("error::RuntimeWarning")
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
    k = KERNEL[kernel]
    by_matrix = core.Problem(K=k(X, X), f=f, **BOUNDS)
    return by_matrix, core.Problem(points=X, kernel=k, f=f, **BOUNDS, **change)


def test_a_problem_by_points_is_told_its_norm_as_one_by_its_matrix_is():
    by_matrix, by_points = (experiments.told_norm(p, F=p.F) for p in pair("se"))
    assert by_points.points is not None
    assert by_points.B == approx(core.rkhs_norm(by_points), rel=1e-12)
    assert by_points.B == approx(by_matrix.B, rel=1e-3)
    assert by_points.F == by_matrix.F == 1.0


# ---- features -----------------------------------------------------------------------------------
@mark.parametrize("kernel", KERNEL)
def test_features_reproduce_the_kernel_up_to_the_residual(kernel):
    dense, sparse = pair(kernel)
    missing = dense.K - sparse.Z.T @ sparse.Z
    assert sparse.residual < 1e-8 and dense.residual == 0
    # a positive semi-definite matrix is largest on its diagonal
    assert np.max(np.abs(missing)) <= sparse.residual + 1e-14
    assert np.min(np.linalg.eigvalsh(missing)) > -1e-13
    assert_allclose(sparse.diagonal, dense.K.diagonal(), rtol=1e-14)
    assert_allclose(sparse.lost, np.maximum(missing.diagonal(), 0), atol=1e-15)
    assert_array_equal(sparse.K, dense.K)


def test_rank_is_close_to_that_of_one_pivot_at_a_time():
    """Blocks choose their pivots with a little less knowledge; they must not need many more."""
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
    blocks = core.Problem(points=X, kernel=kernel, f=np.zeros(900), **BOUNDS).Z
    assert len(blocks) <= 1.05 * len(Z)


def test_a_cap_on_the_rank_is_respected_said_and_paid_for_at_proved_constants():
    """Proved widths grow by B sqrt(t residual/lam); printed and order ones are what they are."""
    capped = pair("matern", rank=12)[1]
    assert len(capped.Z) == 12 and capped.residual > 1e-3
    kept = core.Problem(K=capped.Z.T @ capped.Z, f=np.zeros(60), **BOUNDS)  # nothing is left out
    for constants in ("order", "printed", "proved"):
        settings = dict(eps=1.0, lam=0.5, constants=constants)
        learner = core.make("TGP", capped, 100, **settings)
        twin = core.make("TGP", kept, 100, **settings)
        for t in range(1, 8):
            learner.tell(0.3, arm=5 * t)
            twin.tell(0.3, arm=5 * t)
            paid = capped.B * sqrt(t * capped.residual / 0.5) if constants == "proved" else 0.0
            assert learner.beta == approx(twin.beta + paid, rel=1e-6)


def test_what_the_features_miss_is_part_of_the_width():
    """sigma^2 = k - |z|^2 + lam z'V^{-1}z with the 12 features kept."""
    dense = pair("matern")[0]
    capped = pair("matern", rank=12)[1]
    arms = RNG.integers(60, size=40)
    y = RNG.normal(size=40)
    mu, sigma = core.posterior(capped, arms, y, 0.7)
    expected, seen = o.exact_posterior(capped.Z.T @ capped.Z, arms, y, 0.7)
    missed = dense.K.diagonal() - (capped.Z**2).sum(axis=0)
    assert_allclose(mu, expected, atol=1e-10)
    assert_allclose(sigma**2, seen**2 + missed, atol=1e-10)


def test_features_from_equal_points_are_equal():
    X = np.repeat(CLOUD[:20], 3, axis=0)
    Z = core.Problem(points=X, kernel=KERNEL["se"], f=np.zeros(60), **BOUNDS).Z
    assert_allclose(Z[:, ::3], Z[:, 1::3], atol=1e-9)
    assert len(Z) <= 20


# ---- both forms agree ---------------------------------------------------------------------------
@mark.parametrize("kernel", KERNEL)
def test_posterior_gain_and_embedding_agree_with_the_matrix_form(kernel):
    dense, sparse = pair(kernel)
    arms = RNG.integers(60, size=50)
    y = RNG.normal(size=50)
    one = core.posterior(dense, arms, y, 0.5)
    assert_allclose(core.posterior(sparse, arms, y, 0.5), one, atol=1e-6)
    assert_array_equal(core.posterior(dense.K, arms, y, 0.5), one)
    gain = core.information_gain(dense.K, 80, 0.5)
    assert_allclose(core.information_gain(sparse, 80, 0.5), gain, rtol=1e-6)
    D = [3, 17, 40, 59] if kernel != "linear" else [3, 17]
    phi = core.nystrom_features(dense.K, D)
    assert_allclose(core.nystrom_features(sparse, D), phi, atol=1e-5)


@mark.parametrize("eps", [None, 1.0])
@mark.parametrize("kernel", KERNEL)
@mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB", "PE", "MoM", "MoMA-avg"])
def test_learners_take_the_same_actions_on_both_forms(name, kernel, eps):
    """mu within 1e-6 of the largest reward and sigma^2 within 1e-7.
    Hundred times what tol = 1e-8 moves them."""
    settings = dict(eps=eps, rng=7, **epochs(name, 5 if name == "MoMA" else 2))
    one, other = (core.make(name, problem, 150, **settings) for problem in pair(kernel))
    noise = default_rng(3).standard_t(3, 150) * (1 if eps is None else 4)
    size, arms = 1.0, set()
    for t in range(150):
        arm = one.ask()
        y = F[arm] + noise[t]
        assert other.ask() == arm, t
        one.tell(y)
        other.tell(y)
        size = max(size, abs(y))
        arms.add(arm)
        assert_allclose(other.mu, one.mu, atol=1e-6 * size)
        assert_allclose(other.sigma**2, one.sigma**2, atol=1e-7)
    assert len(arms) > 3 - 2 * (kernel == "linear")


@mark.parametrize("kernel", KERNEL)
def test_thompson_sampling_draws_from_the_same_law_on_both_forms(kernel):
    """The draws are N(mu, beta^2 lam F'F) with another root F on each form, so actions differ.
    Mean, width and covariance do not."""
    one, other = (core.make("TS", problem, 100, eps=1.0, rng=7) for problem in pair(kernel))
    for arm, y in zip(RNG.integers(60, size=60), RNG.normal(size=60)):
        one.tell(y, arm=arm)
        other.tell(y, arm=arm)
    assert_allclose(other.mu, one.mu, atol=1e-6)
    F_one, F_other = draw_root(one), draw_root(other)
    assert_allclose(F_other.T @ F_other, F_one.T @ F_one, atol=1e-6)
    assert other.beta == approx(one.beta, rel=1e-12)


def test_simulate_gives_the_same_regret_on_any_number_of_workers():
    problem = pair("se")[1]
    settings = dict(trials=2, seed=1, eps=1.0)
    one = core.simulate(problem, ["TGP", "ATA", "MoMA"], 60, workers=1, **settings)
    two = core.simulate(problem, ["TGP", "ATA", "MoMA"], 60, workers=2, **settings)
    assert_array_equal(one.regret, two.regret)


def test_exact_refits_of_scikit_learn_take_the_actions_that_make_bench_compares():
    pytest.importorskip("sklearn")
    from bench_domains import cloud
    from bench_rivals import by_refits, refit_scikit_learn
    from bench_runs import drive

    problem = cloud(400, 2, "SE")
    ours = drive("TGP", problem, 40)[1]
    assert len(set(ours)) > 10
    refit = refit_scikit_learn(problem.points)
    assert_array_equal(by_refits(problem, 40, refit), ours)


def test_the_bare_update_of_make_bench_is_the_posterior():
    """What TGP's time is compared with computes mean and width of all arms.
    Its arms and rewards of 1 give core.posterior's."""
    from bench_runs import bare

    problem = pair("se")[1]
    arms = default_rng(0).integers(60, size=10**6)[:25]
    play = bare(problem)
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
    with raises(ValueError, match="K.*100000.*20000"):
        problem.K
    for name in ("TGP", "ATA", "MoMA"):
        learner = core.make(name, problem, 30, **epochs(name, 3))
        for t in range(30):
            learner.ask()
            learner.tell(sin(t))
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
    fields = ("K", "f", "B", "R", "v", "c", "noise", "samples")
    same = core.Problem(**{field: getattr(problem, field) for field in fields})
    names, settings = ["TGP", "ATA", "MoMA"], dict(trials=1, seed=2, eps=2.0, trace=True)
    one = core.simulate(problem, names, 100, **settings)
    other = core.simulate(same, names, 100, **settings)
    assert_array_equal(one.records["arms"], other.records["arms"])


# ---- function_problem ---------------------------------------------------------------------------
def branin(point):
    x, y = point
    valley = y - 5.1 / (4 * pi**2) * x**2 + 5 / pi * x - 6
    return valley**2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10


def test_function_problem_evaluates_the_function_at_its_points():
    box = [(-5, 10), (0, 15)]
    problem = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=1, R=2.0)
    assert problem.points.shape == (300, 2)
    assert problem.name == "branin"
    assert np.all((problem.points >= [-5, 0]) & (problem.points <= [10, 15]))
    assert_allclose(problem.f, [branin(x) for x in problem.points], rtol=1e-14)
    assert problem.B == np.max(np.abs(problem.f))
    assert problem.R == 2
    assert problem.c == approx(4 / 3)
    assert problem.v == approx(problem.B**2 + 4 / 3)
    X = problem.points / [4.0, 3.0]
    expected = core.se_kernel(X, X, lengthscale=1.0)
    assert_allclose(problem.K, expected, rtol=1e-12, atol=1e-14)
    again = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=1)
    other = core.function_problem(branin, box, 300, lengthscale=[4.0, 3.0], seed=2)
    assert_array_equal(again.points, problem.points)
    assert not np.array_equal(other.points, problem.points)


def test_function_problem_takes_the_points_given_and_a_matern_kernel():
    kernel = dict(kernel="matern", nu=1.5, lengthscale=0.4, rank=30)
    unit = [(0, 1), (0, 1)]
    problem = core.function_problem(np.linalg.norm, unit, points=CLOUD, noise="t3", **kernel)
    assert_array_equal(problem.points, CLOUD)
    expected = core.matern_kernel(CLOUD, CLOUD, lengthscale=0.4, nu=1.5)
    assert_allclose(problem.K, expected, atol=1e-15)
    assert problem.c == 3
    assert problem.R == 1
    assert problem.noise == "t3"
    assert len(problem.Z) == 30
    assert len(pickle.loads(pickle.dumps(problem)).Z) == 30


def test_sobol_points_fill_the_box_evenly():
    """2^10 scrambled points have exactly 2^10 / 2^8 in each of 16 x 16 cells of equal size."""
    points = core.function_problem(lambda x: 1.0, [(0, 2), (-1, 1)], 1024, seed=5).points
    cells = np.floor((points - [0, -1]) / 2 * 16).astype(int)
    assert_array_equal(np.bincount(cells[:, 0] * 16 + cells[:, 1], minlength=256), 4)


def test_replace_keeps_the_points():
    problem = replace(pair("se")[1], K=None, B=3.0)
    assert problem.B == 3 and problem.points is not None


# ---- errors -------------------------------------------------------------------------------------
def saddle(X, Y):
    """No kernel: it has a negative eigenvalue."""
    return X @ np.diag([1, -1]) @ Y.T + 0.9


def on_points(points=CLOUD, kernel=KERNEL["se"], f=F):
    return core.Problem(points=points, kernel=kernel, f=f, **BOUNDS)


UNIT = (0, 1)
ERRORS = [
    (lambda: core.Problem(f=[0.0], **BOUNDS), ["K", "points", "kernel"]),
    (lambda: replace(on_points([[0.0]], f=[0.0]), K=np.eye(1)), ["K alone"]),
    (lambda: core.Problem(points=[[0.0]], f=[0.0], **BOUNDS), ["points and kernel"]),
    (lambda: on_points(f=[0.0]), ["f", "1", "60"]),
    (lambda: pair("se", rank=0), ["rank = 0"]),
    (lambda: pair("se", tol=0.0), ["tol = 0"]),
    (
        lambda: on_points(3 * CLOUD, core.linear_kernel).diagonal,
        ["kernel", "must be from 0 to 1"],
    ),
    (lambda: on_points(kernel=saddle).Z, ["kernel"]),
    (lambda: core.function_problem(branin, [UNIT, (1, 1)], 8), ["bounds", "low < high"]),
    (lambda: core.function_problem(branin, [UNIT, UNIT]), ["n = None"]),
    (
        lambda: core.function_problem(branin, [UNIT, (0, 0.5)], points=CLOUD),
        ["points", "bounds"],
    ),
    (lambda: core.function_problem(branin, [UNIT], 8, kernel="rbf"), ["kernel = 'rbf'"]),
    (lambda: core.function_problem(lambda x: nan, [UNIT], 8), ["function", "finite"]),
    (
        lambda: core.se_kernel(CLOUD, CLOUD, lengthscale=[1.0, 2.0, 3.0]),
        ["lengthscale has 3 entries", "2"],
    ),
]


@mark.parametrize("call, words", ERRORS)
def test_errors_name_the_argument(call, words):
    with raises(ValueError) as error:
        call()
    assert all(word in str(error.value) for word in words), error.value


def truncated_mean(problem, dictionary, arms, y, b):
    """ATA's mu, l. 8 to 12 of Alg. 1 with lam = 1, from the public embedding."""
    phi = core.nystrom_features(problem, dictionary)
    played = phi[:, arms]
    root = o.symmetric_power(played @ played.T + np.eye(len(phi)), -0.5)
    products = root @ played * y
    assert np.min(np.abs(np.abs(products) - b)) > 1e-9 * b, "too close to call"
    r = np.where(np.abs(products) <= b, products, 0.0).sum(axis=1)
    assert np.any(np.abs(products) > b), "nothing is truncated: the test shows nothing"
    return phi.T @ (root @ r)


@mark.parametrize("rounds", [80, 350])
@mark.parametrize("settings", [dict(eps=1.0), dict(beta_scale=0.1)], ids=str)
def test_ata_on_many_arms_updates_its_leverages_as_it_would_compute_them(settings, rounds):
    """Where a dictionary changes, leverages change by few directions.

    In the longer runs there are more arms in the dictionary than features, and its span hardly
    changes any more: what is left out at each of many changes must not add up.
    """
    X = default_rng(0).random((4000, 2))
    kernel = functools.partial(core.se_kernel, lengthscale=0.2)
    problem = core.Problem(points=X, kernel=kernel, f=np.sin(5 * X[:, 0]), **BOUNDS)
    learner = core.make("ATA", problem, 400, rng=1, q=inf, **settings)
    rng = default_rng(2)
    arms, y = [], []
    for _ in range(rounds):
        arms.append(learner.ask())
        y.append(problem.sample(arms[-1], rng) + rng.laplace(scale=4.0))
        learner.tell(y[-1])
    assert (learner.m > len(problem.Z)) == (rounds > 300)
    afresh = Posterior(problem.domain, 1.0)
    afresh.counts[:] = np.bincount(arms, minlength=4000)
    afresh.solve(Span.of_dictionary(problem.domain, learner.dictionary))
    assert_allclose(learner.sigma, afresh.sigma, atol=1e-11)
    expected = truncated_mean(problem, learner.dictionary, arms, y, learner.b)
    assert_allclose(learner.mu, expected, atol=1e-9)
