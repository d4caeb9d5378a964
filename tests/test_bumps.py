"""The bump of the lower bounds, as the pages compute it, against the program of `lower_bound`."""

import doctest
from math import exp, inf

import numpy as np
from pytest import approx, mark

from ldpbo import bounds, bumps


def norm(width, kernel, d, **size):
    """The norm of a bump of this width."""
    return exp(bumps.log_norm(width, kernel, d, **size))


def test_the_example_of_the_module_runs():
    outcome = doctest.testmod(bumps, verbose=False)
    assert outcome.attempted == 2
    assert outcome.failed == 0


@mark.parametrize("kernel, nu", [("se", inf), ("matern", 1.5), ("matern", 2.5)])
@mark.parametrize("d", [1, 2])
@mark.parametrize("lengthscale", [0.1, 0.37])
def test_norms_equal_those_of_lower_bound(kernel, nu, d, lengthscale):
    setting = bounds.Setting(T=100, B=1.0, v=1.0, alpha=1.0, d=d, nu=nu)
    n = np.array([2.0, 5.0, 11.0])
    expected = bounds.bump_norms(n, setting, lengthscale)
    size = dict(lengthscale=lengthscale, nu=2.5 if kernel == "se" else nu)
    found = [norm(1 / x, kernel, d, **size) for x in n]
    assert found == approx(expected, rel=1e-9)


@mark.parametrize("kernel", ["se", "matern"])
@mark.parametrize("d", [1, 2])
def test_at_the_exact_width_the_norm_is_used_up(kernel, d):
    size = dict(lengthscale=0.2, nu=2.5)
    w = bumps.width(kernel, 1e-3, d, **size)
    assert 1e-3 * norm(w, kernel, d, **size) == approx(1, rel=1e-10)


@mark.parametrize("d", [1, 2])
def test_a_bump_has_height_two_and_falls_to_one_at_the_edge_of_its_cell(d):
    assert bumps.profile([0.0, 0.5, -0.5], d) == approx([2, 1, 1], abs=1e-12)
    away = bumps.profile(np.linspace(0.501, 20, 5000), d)
    assert np.abs(away).max() < 1
