"""The bump of the lower bounds, as the pages compute it, against the program of `lower_bound`."""

import doctest
from math import exp, inf

import numpy as np
from pytest import approx, mark

from ldpbo import bounds, bumps
from notebooks.lb_bump import checks, places


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


# ---- From places to a bound (page lb_bump) -------------------------------------------------------

SETTING = dict(T=10_000, eps=1.0, B=1.0, b=1.0, lengthscale=0.2, nu=2.5)
CHANGES = [{}, {"eps": 0.1}, {"eps": inf}, {"T": 1e6}, {"nu": 1.5}, {"b": 3.0}, {"B": 0.3}]


@mark.parametrize("change", CHANGES, ids=str)
@mark.parametrize("kernel", ["matern", "se"])
def test_the_best_number_of_places_gives_the_bound_of_lower_bound(kernel, change):
    setting = SETTING | change
    regret, Delta, M = places.best(kernel, **setting)
    assert regret == approx(checks.lower_bound(kernel, **setting), rel=2e-4)
    assert Delta <= places.highest(kernel, M, B=setting["B"], lengthscale=0.2, nu=setting["nu"])


def test_a_bump_of_the_highest_height_has_the_norm_b():
    Delta = places.highest("matern", 16, B=2.0, lengthscale=0.2, nu=2.5)
    assert bumps.width("matern", Delta / 2.0, 1, lengthscale=0.2, nu=2.5) == approx(1 / 16)


@mark.parametrize("kernel", ["matern", "se"])
def test_more_places_lower_the_bumps_once_a_cell_is_narrow_beside_the_lengthscale(kernel):
    """|g|^2 has the factor w^d, so a bump much wider than the lengthscale is lower again."""
    for lengthscale in (0.05, 0.1, 0.2):
        shape = dict(B=1.0, lengthscale=lengthscale, nu=2.5)
        first = places.lower_from(kernel, **shape)
        heights = [places.highest(kernel, M, **shape) for M in range(first - 1, 30)]
        assert heights[0] < heights[1] and (np.diff(heights[1:]) < 0).all()
        assert 1.5 * lengthscale < 1 / first < 3 * lengthscale


def test_no_norm_allows_more_and_the_parts_add_up():
    regret, _ = places.at_least("se", 8, **SETTING)
    free, Delta = places.at_least(None, 8, **SETTING)
    assert free > regret > 0
    told = np.tanh(0.5) * Delta * bounds.bump(1).table
    S = sum(n * -0.5 * np.log(1 - x**2) for n, x in zip(bounds.bump(1).repeats, told))
    expected = 1e4 * Delta * (2 - places.c / 8 - (2e4 * S / 8) ** 0.5)
    assert free == approx(expected, rel=1e-9)


def test_uniform_play_earns_the_area_of_a_bump():
    """A bump far from the ends of [0, 1] has the area Delta w H(0)/(zeta h(0)), as h^ = H."""
    bump = bounds.bump(1)
    area = exp(-1) / (bump.zeta * bump.peak)
    regret = places.uniform(40, 0.01, 100)
    assert regret[20] == approx(2 - area / 40, abs=1e-5)
