"""The rivals: mean of medians, block-averaged MoMA and Thompson sampling.

Against literal programs and in the limits where the answer is known.
"""

import copy
from functools import partial

import numpy as np
import oracle as o
import pytest
from helpers import draw_root, matern, se
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark

import ldpbo_core as core
from ldpbo import posterior

pytestmark = mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 21) / 20
KERNEL = {"se": se(X, 0.2), "matern": matern(X, 0.2)}
F = np.sin(6 * X) - 0.5 * np.cos(11 * X)
MOMENTS = dict(B=1.5, R=1.0, v=5.0, c=3.0)


def pair(name, kernel, T, oracle=None, alpha=1.0, eps=None, **settings):
    """The core's learner, the oracle's, and the noise of the reports they are both told."""
    problem = core.Problem(K=KERNEL[kernel], f=F, alpha=alpha, **MOMENTS)
    learner = core.make(name, problem, T, eps=eps, rng=default_rng(3), **settings)
    told = dict(alpha=alpha, eps=eps, **MOMENTS, **settings)
    slow = o.oracle(oracle or name, KERNEL[kernel], T, rng=default_rng(3), **told)
    rng = default_rng(9)
    if eps is None:
        return learner, slow, rng.standard_t(3, T)
    return learner, slow, rng.uniform(-1, 1, T) + rng.laplace(scale=5 / eps, size=T)


SUMMARIES = [
    {},
    dict(eps=1.0),
    dict(alpha=0.5, lam=0.3),
    dict(q=0.5, eps=2.0, beta_scale=0.2),
    dict(k=1),
    dict(k=8),
]


@mark.parametrize("settings", SUMMARIES, ids=str)
@mark.parametrize("kernel", KERNEL)
@mark.parametrize("name", ["MoM", "MoMA-avg"])
def test_one_summary_an_epoch_agrees_with_the_oracle_action_by_action(name, kernel, settings):
    T, clear = 115, 0
    learner, slow, noise = pair(name, kernel, T, **{"k": 7} | settings)
    for t in range(T):
        if t % learner.k == 0 or t >= learner.N * learner.k:  # inside an epoch the arm stays
            expected = slow.ask()
            decided = slow.margin["score"] > 5e-10
            clear += decided
        assert learner.ask() == expected or not decided, t
        arm = learner.ask()
        learner.tell(F[arm] + noise[t])
        slow.feed(arm, F[arm] + noise[t])
        assert slow.margin["sketch"] > 1e-7
        assert tuple(learner.dictionary) == slow.dictionary
        assert_allclose(learner.mu, slow.mu, atol=1e-8)
        assert_allclose(learner.sigma**2, slow.sigma**2, atol=1e-9)
        assert learner.beta == approx(slow.beta, rel=1e-9)
    assert clear >= 0.9 * learner.N
    assert len(set(slow.plays)) > 3
    assert learner.N == T // learner.k


def test_with_one_play_an_epoch_moma_and_both_summaries_are_the_same_learner():
    problem = core.synthetic_problem("matern", "t3", 1, n=20)
    names = ["MoMA", "MoM", "MoMA-avg"]
    runs = core.simulate(problem, names, 80, trials=2, seed=4, k=1, trace=True)
    moma, *others = runs.records["arms"]
    for arms in others:
        assert_array_equal(arms, moma)


def test_the_median_ignores_outliers_that_the_average_follows():
    """Two of seven rewards of each epoch are 1e6: the median stays at 1, exactly.

    The average goes to (5 + 2e6)/7.
    """
    problem = core.Problem(K=np.eye(1), f=[1.0], **MOMENTS)
    level = {}
    for name in ("MoM", "MoMA-avg"):
        learner = core.make(name, problem, 70, k=7, lam=1e-9)
        for t in range(70):
            learner.ask()
            learner.tell(1e6 if t % 7 in (2, 5) else 1.0)
        level[name] = learner.mu[0]
    assert level["MoM"] == approx(1.0, rel=1e-8)
    assert level["MoMA-avg"] == approx((5 + 2e6) / 7, rel=1e-8)


@mark.parametrize("constants", ["printed", "proved"])
@mark.parametrize("name", ["MoM", "MoMA-avg", "TS"])
def test_constants_that_nobody_proved_are_refused(name, constants):
    with pytest.raises(ValueError, match=f"constants = '{constants}'.*'order' for {name}"):
        core.make(name, core.synthetic_problem(seed=0), 1000, constants=constants)


# ---- Thompson sampling --------------------------------------------------------------------------
THOMPSON = [
    {},
    dict(eps=1.0),
    dict(eps=0.5, delta=0.02),
    dict(lam=0.1, beta_scale=0.3),
]


@mark.parametrize("settings", THOMPSON, ids=str)
@mark.parametrize("kernel", KERNEL)
def test_thompson_sampling_plays_the_best_arm_of_a_draw_from_the_exact_posterior(
    kernel, settings, monkeypatch
):
    """The root of the core is one of the oracle's covariance, each round.

    With it the oracle's mu and beta give the core's arm. REFRESH is crossed.
    """
    monkeypatch.setattr(posterior, "REFRESH", 40)
    learner, slow, noise = pair("TS", kernel, 90, "GP-UCB", **settings)
    mirror = default_rng(3)
    clear = 0
    for t in range(90):
        F_t = draw_root(learner)
        assert_allclose(F_t.T @ F_t, slow.covariance(), atol=1e-9)
        scores = slow.mu + slow.beta * (mirror.standard_normal(len(F_t)) @ F_t)
        decided = o.pick_margin(list(scores)) > 5e-10
        arm = learner.ask()
        assert arm == o.pick(list(scores)) or not decided, t
        assert learner.ask() == arm  # asking again draws nothing
        clear += decided
        learner.tell(F[arm] + noise[t])
        slow.feed(arm, F[arm] + noise[t])
        assert_allclose(learner.mu, slow.mu, atol=1e-8)
        assert learner.beta == approx(slow.beta, rel=1e-9)
    assert clear >= 0.95 * 90
    assert len(set(slow.plays)) > 3


def test_thompson_sampling_is_seeded_and_its_draws_have_the_width_beta():
    """At the start the draw is B N(0, K): the first arm of two independent ones is a fair coin.

    Over 4,000 seeds; false alarm 1e-9: 6.1 standard deviations.
    """
    problem = core.Problem(K=np.eye(2), f=[0.0, 0.0], **MOMENTS)
    first = [core.make("TS", problem, 10, rng=seed).ask() for seed in range(4000)]
    assert first == [core.make("TS", problem, 10, rng=seed).ask() for seed in range(4000)]
    assert abs(sum(first) - 2000) < 6.1 * np.sqrt(1000)


@mark.parametrize("name", ["TS", "MoM", "MoMA-avg"])
def test_they_learn_an_easy_problem(name):
    problem = core.Problem(K=np.eye(3), f=[-1.0, 0.0, 1.0], B=1.0, R=0.1, v=1.1, c=0.1)
    out = core.simulate(problem, name, 3000, trials=2, seed=0, beta_scale=0.3)
    assert np.all(out.regret[:, :, -1] < 0.5 * 3000 * out.records["uniform"])


def test_on_a_large_domain_the_draws_have_the_posteriors_width_too(monkeypatch):
    """Rank 3 of 40 points: the variance of 20,000 draws at an arm is beta^2 sigma^2.

    False alarm 1e-9: 6.1 standard deviations of a sample variance.
    """
    kernel = partial(core.se_kernel, lengthscale=0.1)
    cloud = dict(points=np.linspace(0, 1, 40)[:, None], kernel=kernel, rank=3)
    problem = core.Problem(f=np.zeros(40), **cloud, **MOMENTS)
    learner = core.make("TS", problem, 10, rng=0)
    learner.tell(1.0, arm=learner.ask())
    draws = []
    monkeypatch.setattr(core, "first_max", lambda scores: draws.append(scores) or 0)
    for _ in range(20000):
        copy.copy(learner).ask()  # a copy draws from the same generator
    assert len(draws) == 20000
    assert problem.residual > 0.1
    ratio = np.var(draws, axis=0) / (learner.beta * learner.sigma) ** 2
    assert_allclose(ratio, 1, atol=6.1 * np.sqrt(2 / 20000))


def test_thompson_sampling_does_not_depend_on_the_signs_of_eigenvectors(monkeypatch):
    """LAPACK may return q or -q for any of them, and differs so between processors."""
    eigh = np.linalg.eigh
    signs = default_rng(0).choice([-1.0, 1.0], 100)

    def flipped(K):
        w, Q = eigh(K)
        return w, Q * signs[: len(w)]

    def regret():
        problem = core.synthetic_problem("se", "uniform", 1)
        settings = dict(trials=1, seed=2, eps=1.0, beta_scale=0.1, workers=1)
        return core.simulate(problem, "TS", 300, **settings).regret

    expected = regret()
    monkeypatch.setattr(np.linalg, "eigh", flipped)
    assert_array_equal(regret(), expected)
