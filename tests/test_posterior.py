"""Eqs. (mu) and (sigma), and the greedy information gain."""

import itertools
import math
from math import log1p, sqrt

import numpy as np
import oracle as o
from helpers import kernels
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 21) / 20
K = kernels(X, default_rng(5).standard_t(3, (40, 20)))
K |= {"linear": np.outer(X, X), "identity": np.eye(20)}
all_kernels = mark.parametrize("kernel", K)


def plays(t, seed=0):
    rng = default_rng(seed)
    return rng.integers(20, size=t), rng.standard_t(3, t)


@mark.parametrize("lam", [1.0, 0.05, 30.0])
@all_kernels
@mark.parametrize("t", [1, 7, 90])
def test_posterior_equals_the_t_by_t_formula(kernel, lam, t):
    arms, y = plays(t)
    mu, sigma = core.posterior(K[kernel], arms, y, lam)
    expected_mu, expected_sigma = o.exact_posterior(K[kernel], arms, y, lam)
    assert_allclose(mu, expected_mu, atol=1e-10)
    assert_allclose(sigma**2, expected_sigma**2, atol=1e-11)


def test_posterior_equals_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern

    arms, y = plays(60)
    mu, sigma = core.posterior(K["matern"], arms, y, 0.3)
    kernel = Matern(length_scale=0.2, nu=2.5)
    model = GaussianProcessRegressor(kernel, alpha=0.3, optimizer=None)
    model.fit(X[arms, None], y)
    expected_mu, expected_sigma = model.predict(X[:, None], return_std=True)
    assert_allclose(mu, expected_mu, atol=1e-10)
    assert_allclose(sigma, expected_sigma, atol=1e-10)


@all_kernels
def test_posterior_without_data_is_the_prior(kernel):
    mu, sigma = core.posterior(K[kernel], [], [], 1.0)
    assert_array_equal(mu, np.zeros(20))
    assert_allclose(sigma, np.sqrt(np.diag(K[kernel])), rtol=1e-12)


def test_posterior_does_not_depend_on_the_order_of_the_data():
    arms, y = plays(50)
    shuffled = default_rng(1).permutation(50)
    mu, sigma = core.posterior(K["se"], arms, y, 0.1)
    other_mu, other_sigma = core.posterior(K["se"], arms[shuffled], y[shuffled], 0.1)
    assert_allclose(mu, other_mu, atol=1e-11)
    assert_allclose(sigma, other_sigma, atol=1e-11)


def test_posterior_mean_is_linear_in_the_rewards_and_its_width_ignores_them():
    arms, y = plays(50)
    z = plays(50, seed=9)[1]
    mu_y, sigma_y = core.posterior(K["matern"], arms, y, 1.0)
    mu_z, sigma_z = core.posterior(K["matern"], arms, z, 1.0)
    mu, sigma = core.posterior(K["matern"], arms, 2 * y - 3 * z, 1.0)
    assert_allclose(mu, 2 * mu_y - 3 * mu_z, atol=1e-11)
    assert_array_equal(sigma, sigma_y)
    assert_array_equal(sigma, sigma_z)


def test_width_never_grows_with_data():
    arms, y = plays(60)
    widths = np.array([core.posterior(K["se"], arms[:t], y[:t], 0.5)[1] for t in range(61)])
    assert np.all(widths[1:] <= widths[:-1] + 1e-9)


@mark.parametrize("t", [1, 10, 10**6])
def test_one_arm_has_the_closed_form_of_ridge_regression(t):
    mu, sigma = core.posterior(np.eye(1), [0] * t, [2.0] * t, 0.5)
    assert mu[0] == approx(2 * t / (t + 0.5), rel=1e-12)
    assert sigma[0] == approx(sqrt(0.5 / (t + 0.5)), rel=1e-9)


# ---- information gain ---------------------------------------------------------------------------
@mark.parametrize("lam", [1.0, 0.05])
@all_kernels
def test_information_gain_equals_the_greedy_multiset_by_definition(kernel, lam):
    gains = core.information_gain(K[kernel], 60, lam)
    assert gains.shape == (61,)
    assert gains[0] == 0
    assert_allclose(gains, o.greedy_gains(K[kernel], 60, lam), rtol=1e-9)


@mark.parametrize("lam", [1.0, 0.2])
def test_information_gain_of_independent_arms_has_a_closed_form(lam):
    """K = I: t plays are spread evenly, t = 20 a + r."""
    gains = core.information_gain(np.eye(20), 70, lam)
    for t in range(71):
        a, r = divmod(t, 20)
        least, most = log1p(a / lam), log1p((a + 1) / lam)
        assert gains[t] == approx(0.5 * ((20 - r) * least + r * most), rel=1e-12)


@all_kernels
def test_information_gain_grows_with_shrinking_steps(kernel):
    steps = np.diff(core.information_gain(K[kernel], 100, 1.0))
    assert np.all(steps > 0)
    assert np.all(np.diff(steps) <= 1e-9)


@mark.parametrize("kernel", ["se", "matern", "empirical"])
def test_information_gain_is_within_1_minus_1_over_e_of_the_best_multiset(kernel):
    """C: greedy <= gamma_t <= greedy / (1 - 1/e), the maximum over every multiset of 6 arms."""
    small = K[kernel][:6, :6]
    gains = core.information_gain(small, 5, 1.0)
    for t in range(1, 6):
        multisets = itertools.combinations_with_replacement(range(6), t)
        best = max(o.gain(small, list(arms), 1.0) for arms in multisets)
        assert gains[t] <= best * (1 + 1e-12)
        assert best <= gains[t] / (1 - 1 / math.e) * (1 + 1e-12)


def test_information_gain_bounds_the_gain_of_any_plays():
    gains = core.information_gain(K["matern"], 40, 1.0)
    for seed in range(20):
        assert o.gain(K["matern"], plays(40, seed)[0], 1.0) <= gains[40] / (1 - 1 / math.e)
