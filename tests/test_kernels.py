"""Kernels of Sec. 2 of the paper: entry by entry, positive semi-definite, diagonal 1."""

import subprocess
import sys
from functools import partial
from math import exp, sqrt
from pathlib import Path

import numpy as np
import oracle as o
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import mark

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
RNG = default_rng(7)
LINE = np.arange(1, 41) / 40
CLOUD = RNG.random((25, 3))
SE = partial(core.se_kernel, lengthscale=0.2)
MATERN = partial(core.matern_kernel, lengthscale=0.2)
NUS = [0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.5, 4.2]


def entries(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X])


PAIRS = [
    (LINE, LINE),
    (CLOUD, CLOUD),
    (LINE[:7], LINE[5:20]),
    (CLOUD[:4], CLOUD[2:]),
]


@mark.parametrize("X, Y", PAIRS)
@mark.parametrize("lengthscale", [0.05, 0.2, 3.0])
def test_se_kernel_is_the_formula_entry_by_entry(X, Y, lengthscale):
    expected = entries(lambda x, y: o.se(x, y, lengthscale), X, Y)
    found = core.se_kernel(X, Y, lengthscale=lengthscale)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@mark.parametrize("X, Y", [(LINE, LINE), (CLOUD[:4], CLOUD[2:])])
@mark.parametrize("nu", NUS)
def test_matern_kernel_equals_the_bessel_form_entry_by_entry(nu, X, Y):
    expected = entries(lambda x, y: o.matern(x, y, 0.2, nu), X, Y)
    assert_allclose(MATERN(X, Y, nu=nu), expected, rtol=1e-9, atol=1e-12)


@mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_half_integer_matern_is_the_limit_of_its_neighbours_in_nu(nu):
    kernel = partial(MATERN, LINE, LINE)
    neighbours = kernel(nu=nu - 1e-4) + kernel(nu=nu + 1e-4)
    assert_allclose(kernel(nu=nu), neighbours / 2, atol=1e-7)


TEXTBOOK = {
    0.5: lambda z: exp(-z),
    1.5: lambda z: (1 + z) * exp(-z),
    2.5: lambda z: (1 + z + z * z / 3) * exp(-z),
}


@mark.parametrize("nu", TEXTBOOK)
def test_half_integer_matern_equals_its_textbook_polynomial(nu):
    s = np.concatenate([[0.0], np.geomspace(1e-9, 30, 60)])
    expected = [TEXTBOOK[nu](sqrt(2 * nu) * x / 0.7) for x in s]
    found = core.matern_kernel(np.zeros(1), s, lengthscale=0.7, nu=nu)[0]
    assert_allclose(found, expected, rtol=1e-11, atol=1e-300)


@mark.parametrize("nu", [9.9, 10.0, 17.3, 60.0, 1000.0])
def test_matern_of_large_nu_equals_the_bessel_form_in_fifty_digits(nu):
    """From nu = 10 the core integrates over SE kernels instead.
    No digit that a double has may be lost, and none in the tail that counts."""
    mp = pytest.importorskip("mpmath")
    s = np.array([1e-6, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0])

    def bessel_form(x):
        z = mp.sqrt(2 * mp.mpf(nu)) * mp.mpf(x)
        return float(mp.mpf(2) ** (1 - nu) / mp.gamma(nu) * z**nu * mp.besselk(nu, z))

    with mp.workdps(50):
        expected = [bessel_form(float(x)) for x in s]
    found = core.matern_kernel(np.zeros(1), 0.7 * s, lengthscale=0.7, nu=nu)[0]
    assert_allclose(found, expected, rtol=1e-11, atol=0)
    assert_allclose(found, expected, rtol=0, atol=2e-14 if nu < 10 else 2e-15)


def test_matern_tends_to_se_as_nu_grows():
    limit = SE(LINE, LINE)
    gap = []
    for nu in (5, 10, 20, 40):
        gap.append(np.max(np.abs(MATERN(LINE, LINE, nu=nu) - limit)))
    gap = np.array(gap)
    assert np.all(gap[1:] < 0.6 * gap[:-1])


def kernel_matrix(kernel, X):
    """ "se", "empirical", or the nu of a Matern kernel, on the points X."""
    if kernel == "se":
        return SE(X, X)
    if kernel == "empirical":
        return core.empirical_kernel(default_rng(3).standard_t(3, (50, len(X))))
    return MATERN(X, X, nu=kernel)


@mark.parametrize("kernel", ["se", *NUS, "empirical"])
@mark.parametrize("X", [LINE, CLOUD], ids=["line", "cloud"])
def test_kernels_are_symmetric_positive_semidefinite_with_diagonal_one(kernel, X):
    K = kernel_matrix(kernel, X)
    assert K.shape == (len(X), len(X))
    assert_allclose(K, K.T, atol=1e-15)
    assert_allclose(np.diag(K), 1.0, atol=1e-14)
    assert np.max(K) <= 1 + 1e-14
    assert np.min(np.linalg.eigvalsh((K + K.T) / 2)) >= -1e-12 * len(X)


@mark.parametrize("nu", [0.3, 0.5, 2.0, 2.5])
def test_matern_is_finite_at_zero_tiny_and_huge_distances(nu):
    distances = [0.0, 1e-300, 1e-160, 1e-20, 1e-9, 1.0, 1e3, 1e8]
    row = MATERN(np.zeros(1), distances, nu=nu)[0]
    assert np.all(np.isfinite(row))
    assert row[0] == 1
    assert np.all(np.diff(row) <= 1e-12)
    assert row[-1] == 0
    assert row[3] == pytest.approx(1, abs=1e-5)


def test_se_underflows_to_zero_without_a_warning():
    assert core.se_kernel(np.zeros(1), np.array([1e200]), lengthscale=1e-3)[0, 0] == 0


def test_points_on_a_line_may_be_given_flat_or_as_a_column():
    column = LINE[:, None]
    for kernel in (SE, partial(MATERN, nu=1.5), core.linear_kernel):
        assert_array_equal(kernel(LINE, LINE), kernel(column, column))


def test_linear_kernel_is_the_inner_product():
    expected = entries(lambda x, y: sum(a * b for a, b in zip(x, y)), CLOUD[:6], CLOUD)
    assert_allclose(core.linear_kernel(CLOUD[:6], CLOUD), expected, rtol=1e-13)


def test_empirical_kernel_is_the_correlation_with_ddof_one():
    table = RNG.standard_t(3, (60, 9)) + 100
    assert_allclose(core.empirical_kernel(table), o.correlation(table.tolist()), atol=1e-12)


def test_empirical_kernel_does_not_see_units_and_flips_with_the_sign():
    table = RNG.normal(size=(60, 4))
    K = core.empirical_kernel(table)
    other_units = table * [1e-6, 1, 1e6, 3] + [5, -1e3, 0, 2]
    assert_allclose(core.empirical_kernel(other_units), K, atol=1e-9)
    flipped = core.empirical_kernel(table * [-1, 1, 1, 1])
    assert_allclose(flipped[0, 1:], -K[0, 1:], atol=1e-14)


def test_inputs_are_left_unchanged():
    X, before = CLOUD.copy(), CLOUD.copy()
    SE(X, X)
    MATERN(X, X, nu=2.5)
    core.linear_kernel(X, X)
    core.empirical_kernel(X)
    assert_array_equal(X, before)


def test_core_imports_and_runs_with_numpy_alone():
    """The browser page has no SciPy: every algorithm on SE and half-integer Matern runs without."""
    program = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("scipy", "opendp", "matplotlib", "sklearn", "pooch"):
            raise ImportError(name + " is not here")
sys.meta_path.insert(0, Block())
import ldpbo_core as core
for kernel in ("se", "matern"):
    problem = core.synthetic_problem(kernel=kernel, noise="uniform", seed=1)
    names = ["TGP", "ATA", "MoMA", "GP-UCB", "uniform"]
    core.simulate(problem, names, 60, trials=1, seed=0, eps=1.0)
    core.simulate(problem, names[:3], 60, trials=1, seed=0, constants="printed", k=5)
print("ok", sorted(m for m in sys.modules if m.split(".")[0] == "scipy"))
"""
    here = Path(core.__file__).parent
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, capture_output=True, text=True, cwd=here)
    assert out.stdout.strip() == "ok []", out.stderr
