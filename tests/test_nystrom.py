"""Alg. 4: the embedding and the draw of its dictionary."""

from math import inf, sin, sqrt

import numpy as np
import oracle as o
import pytest
from helpers import epochs, kernels
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import mark

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 13) / 12
K = kernels(X, default_rng(5).standard_t(3, (40, 12)))
all_kernels = mark.parametrize("kernel", K)


@all_kernels
@mark.parametrize("dictionary", [[0], [11], [2, 5, 7], [0, 1, 2, 3], list(range(12))])
def test_features_equal_the_pseudo_inverse_root_times_the_kernel(kernel, dictionary):
    phi = core.nystrom_features(K[kernel], dictionary)
    assert phi.shape == (len(dictionary), 12)
    assert_allclose(phi, o.embedding(K[kernel], dictionary)[0].T, atol=1e-9)


@all_kernels
def test_features_reproduce_the_kernel_on_the_dictionary(kernel):
    phi = core.nystrom_features(K[kernel], [1, 4, 6, 10])
    assert_allclose(phi.T @ phi[:, [1, 4, 6, 10]], K[kernel][:, [1, 4, 6, 10]], atol=1e-9)


@all_kernels
def test_features_of_all_arms_reproduce_the_whole_kernel(kernel):
    phi = core.nystrom_features(K[kernel], list(range(12)))
    assert_allclose(phi.T @ phi, K[kernel], atol=1e-9)


@all_kernels
def test_embedding_never_exceeds_the_kernel(kernel):
    """K - phi^T phi is a Schur complement, hence positive semi-definite.
    The approximate variance never falls below 0."""
    for dictionary in ([3], [0, 11], [1, 2, 3, 4, 5]):
        phi = core.nystrom_features(K[kernel], dictionary)
        assert np.min(np.linalg.eigvalsh(K[kernel] - phi.T @ phi)) > -1e-10


def test_coordinates_are_those_of_the_symmetric_root():
    """On the dictionary phi = K_D^{1/2}, which is symmetric.
    A Cholesky factor would not be (it would change ATA's truncation)."""
    D = [1, 4, 6, 10]
    block = core.nystrom_features(K["matern"], D)[:, D]
    assert_allclose(block, block.T, atol=1e-12)
    assert np.min(np.linalg.eigvalsh(block)) > 0
    assert_allclose(block @ block, K["matern"][np.ix_(D, D)], atol=1e-12)


def test_order_of_the_dictionary_permutes_the_coordinates():
    phi = core.nystrom_features(K["matern"], [1, 4, 6])
    assert_allclose(core.nystrom_features(K["matern"], [6, 1, 4]), phi[[2, 0, 1]], atol=1e-12)


def test_eigenvalues_below_1e_12_of_the_largest_are_dropped_and_those_above_are_kept():
    """Two arms with correlation 1 - h have eigenvalues 2 - h and h.
    The second direction is kept iff h >= 1e-12 (2 - h)."""
    for h, rank in ((1e-8, 2), (1e-11, 2), (1e-13, 1), (0.0, 1)):
        pair = np.array([[1.0, 1 - h], [1 - h, 1.0]])
        assert np.linalg.matrix_rank(core.nystrom_features(pair, [0, 1]), tol=1e-9) == rank
    phi = core.nystrom_features(np.ones((3, 3)), [0, 1, 2])
    assert_allclose(phi, np.full((3, 3), 1 / sqrt(3)), atol=1e-12)


# ---- the draw of the dictionary -----------------------------------------------------------------


def kept(algorithm):
    return tuple(np.sort(algorithm.dictionary))


def by_the_rule(u, counts, p):
    """Arms kept for uniforms u: those with u_a < 1 - (1 - p_a)^{n_a} among the played ones."""
    keep = u < 1 - (1 - np.minimum(p, 1)) ** counts
    return tuple(np.flatnonzero(keep & (counts > 0)))


def problem(kernel="matern", **change):
    settings = dict(K=K[kernel], f=np.sin(6 * X), B=1.0, R=1.0, v=4.0, c=3.0)
    return core.Problem(**settings | change)


@mark.parametrize("name, epoch", [("ATA", 1), ("MoMA", 3)])
@all_kernels
@mark.parametrize("lam", [1.0, 0.2])
def test_q_infinite_keeps_the_played_arms_and_the_width_is_exact(name, epoch, kernel, lam):
    algorithm = core.make(name, problem(kernel), 60, q=inf, lam=lam, **epochs(name, epoch))
    rng = default_rng(0)
    arms = []
    for t in range(60):
        arms.append(algorithm.ask())
        algorithm.tell(np.sin(6 * X[arms[-1]]) + rng.standard_t(3))
        if (t + 1) % epoch == 0:
            assert kept(algorithm) == tuple(sorted(set(arms)))
            assert algorithm.m == len(set(arms))
            updates = arms[::epoch]
            _, sigma = o.exact_posterior(K[kernel], updates, np.zeros(len(updates)), lam)
            assert_allclose(algorithm.sigma**2, sigma**2, atol=1e-9)
    assert len(set(arms)) > 2


def test_q_infinite_and_no_truncation_makes_ata_the_exact_posterior():
    untruncated = problem(v=1e9, f=np.zeros(12))
    algorithm = core.make("ATA", untruncated, 50, q=inf, beta_scale=1e-5)
    rng = default_rng(2)
    arms, y = [], []
    for _ in range(50):
        arms.append(algorithm.ask())
        y.append(rng.normal())
        algorithm.tell(y[-1])
        mu, sigma = o.exact_posterior(K["matern"], arms, y, 1.0)
        assert_allclose(algorithm.mu, mu, atol=1e-9)
        assert_allclose(algorithm.sigma, sigma, atol=1e-8)
    assert len(set(arms)) > 2


@mark.parametrize("constants, first", [("order", 1.0), ("printed", 1 + 1 / sqrt(0.9))])
@mark.parametrize("name", ["ATA", "MoMA"])
def test_an_empty_dictionary_gives_the_prior_and_the_width_before_data(name, constants, first):
    settings = dict(q=1e-300, constants=constants, **epochs(name, 3))
    algorithm = core.make(name, problem(), 30, rng=default_rng(0), **settings)
    for _ in range(30):
        algorithm.ask()
        algorithm.tell(5.0)
        assert algorithm.m == 0 and kept(algorithm) == ()
        assert_array_equal(algorithm.mu, np.zeros(12))
        assert_allclose(algorithm.sigma, 1.0, atol=1e-12)
        assert algorithm.beta == pytest.approx(first, rel=1e-12)


def test_dictionary_is_drawn_arm_by_arm_by_the_documented_rule():
    """One uniform u_a per arm and round, arm a kept iff u_a < 1 - (1 - p_a)^{n_a}.
    p_a = min(q sigma_a^2 / lam, 1) with the width before the update."""
    q, lam = 0.8, 0.5
    algorithm = core.make("ATA", problem(), 80, q=q, lam=lam, rng=default_rng(11))
    rng = default_rng(11)
    noise = default_rng(1)
    counts = np.zeros(12)
    dropped = 0
    for _ in range(80):
        before = algorithm.sigma.copy()
        counts[algorithm.ask()] += 1
        algorithm.tell(noise.normal())
        assert kept(algorithm) == by_the_rule(rng.random(12), counts, q * before**2 / lam)
        dropped += algorithm.m < np.count_nonzero(counts)
    assert dropped > 0, "nothing was ever dropped: the test would not see a wrong rule"


@mark.parametrize("name, q", [("ATA", 6.0), ("MoMA", 6.0), ("ATA", 60.0)])
@all_kernels
def test_dictionary_follows_the_rule_over_many_rounds(name, q, kernel):
    """As above with arms at random, some of them new late.

    In most rounds no uniform is large enough to drop an arm. Also an arm that is new and dropped
    at once, so that the dictionary stays as it is and is not that of all played arms.
    """
    algorithm = core.make(name, problem(kernel), 1500, q=q, rng=default_rng(11), **epochs(name, 1))
    rng = default_rng(11)
    chooser = default_rng(1)
    counts = np.zeros(12)
    dropped = 0
    for t in range(1500):
        before = algorithm.sigma.copy()
        arm = int(min(12, 4 + t // 150) * chooser.random())
        algorithm.tell(chooser.normal(), arm=arm)
        counts[arm] += 1
        assert kept(algorithm) == by_the_rule(rng.random(12), counts, q * before**2), t
        dropped += algorithm.m < np.count_nonzero(counts)
    assert q == 60 or dropped > 10


def test_same_sketch_seed_same_run_and_another_seed_another_dictionary():
    def dictionaries(seed):
        algorithm = core.make("ATA", problem(), 40, q=0.5, rng=default_rng(seed))
        out = []
        for t in range(40):
            algorithm.ask()
            algorithm.tell(sin(t))
            out.append(kept(algorithm))
        return out

    assert dictionaries(1) == dictionaries(1) != dictionaries(2)
