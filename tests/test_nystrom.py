"""Alg. 4: the embedding and the draw of its dictionary."""

import math
from math import inf, sqrt

import numpy as np
import oracle as o
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal

import ldpbo_core as core

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 13) / 12
K = {
    "se": o.gram(lambda x, y: o.se(x, y, 0.2), X),
    "matern": o.gram(lambda x, y: o.matern(x, y, 0.2, 2.5), X),
    "empirical": o.correlation(default_rng(5).standard_t(3, (40, 12)).tolist()),
}


@pytest.mark.parametrize("kernel", K)
@pytest.mark.parametrize("dictionary", [[0], [11], [2, 5, 7], [0, 1, 2, 3], list(range(12))])
def test_features_equal_the_pseudo_inverse_root_times_the_kernel(kernel, dictionary):
    phi = core.nystrom_features(K[kernel], dictionary)
    assert phi.shape == (len(dictionary), 12)
    assert_allclose(phi, o.embedding(K[kernel], dictionary)[0].T, atol=1e-9)


@pytest.mark.parametrize("kernel", K)
def test_features_reproduce_the_kernel_on_the_dictionary(kernel):
    phi = core.nystrom_features(K[kernel], [1, 4, 6, 10])
    assert_allclose(phi.T @ phi[:, [1, 4, 6, 10]], K[kernel][:, [1, 4, 6, 10]], atol=1e-9)


@pytest.mark.parametrize("kernel", K)
def test_features_of_all_arms_reproduce_the_whole_kernel(kernel):
    phi = core.nystrom_features(K[kernel], list(range(12)))
    assert_allclose(phi.T @ phi, K[kernel], atol=1e-9)


@pytest.mark.parametrize("kernel", K)
def test_embedding_never_exceeds_the_kernel(kernel):
    """K - phi^T phi is a Schur complement, hence positive semi-definite.

    The approximate variance never falls below 0.
    """
    for dictionary in ([3], [0, 11], [1, 2, 3, 4, 5]):
        phi = core.nystrom_features(K[kernel], dictionary)
        assert np.min(np.linalg.eigvalsh(K[kernel] - phi.T @ phi)) > -1e-10


def test_coordinates_are_those_of_the_symmetric_root():
    """On the dictionary phi = K_D^{1/2}, which is symmetric.

    A Cholesky factor would not be (it would change ATA's truncation).
    """
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

    The second direction is kept iff h >= 1e-12 (2 - h).
    """
    for h, rank in ((1e-8, 2), (1e-11, 2), (1e-13, 1), (0.0, 1)):
        pair = np.array([[1.0, 1 - h], [1 - h, 1.0]])
        assert np.linalg.matrix_rank(core.nystrom_features(pair, [0, 1]), tol=1e-9) == rank
    phi = core.nystrom_features(np.ones((3, 3)), [0, 1, 2])
    assert_allclose(phi, np.full((3, 3), 1 / sqrt(3)), atol=1e-12)


def kept(algorithm):
    dictionary = np.asarray(algorithm.dictionary)
    return tuple(
        int(a)
        for a in (np.flatnonzero(dictionary) if dictionary.dtype == bool else np.sort(dictionary))
    )


def problem(kernel="matern", **change):
    settings = dict(K=K[kernel], f=np.sin(6 * X), B=1.0, R=1.0, v=4.0, c=3.0) | change
    return core.Problem(**settings)


@pytest.mark.parametrize("name, epoch", [("ATA", 1), ("MoMA", 3)])
@pytest.mark.parametrize("kernel", K)
@pytest.mark.parametrize("lam", [1.0, 0.2])
def test_q_infinite_keeps_the_played_arms_and_the_width_is_exact(name, epoch, kernel, lam):
    T = 60
    algorithm = core.make(
        name, problem(kernel), T, q=inf, lam=lam, k=epoch if name == "MoMA" else None
    )
    rng, arms = default_rng(0), []
    for t in range(T):
        arms.append(algorithm.ask())
        algorithm.tell(np.sin(6 * X[arms[-1]]) + rng.standard_t(3))
        if (t + 1) % epoch == 0:
            assert kept(algorithm) == tuple(sorted(set(arms)))
            assert algorithm.m == len(set(arms))
            _, sigma = o.exact_posterior(K[kernel], arms[::epoch], [0.0] * len(arms[::epoch]), lam)
            assert_allclose(algorithm.sigma**2, sigma**2, atol=1e-9)
    assert len(set(arms)) > 2


def test_q_infinite_and_no_truncation_makes_ata_the_exact_posterior():
    algorithm = core.make("ATA", problem(v=1e9, f=np.zeros(12)), 50, q=inf, beta_scale=1e-5)
    arms = []
    y = []
    rng = default_rng(2)
    for _ in range(50):
        arms.append(algorithm.ask())
        y.append(rng.normal())
        algorithm.tell(y[-1])
        mu, sigma = o.exact_posterior(K["matern"], arms, y, 1.0)
        assert_allclose(algorithm.mu, mu, atol=1e-9)
        assert_allclose(algorithm.sigma, sigma, atol=1e-8)
    assert len(set(arms)) > 2


@pytest.mark.parametrize("constants, first", [("order", 1.0), ("theorem", 1 + 1 / sqrt(0.9))])
@pytest.mark.parametrize("name", ["ATA", "MoMA"])
def test_an_empty_dictionary_gives_the_prior_and_the_width_before_data(name, constants, first):
    algorithm = core.make(
        name,
        problem(),
        30,
        q=1e-300,
        k=3 if name == "MoMA" else None,
        constants=constants,
        rng=default_rng(0),
    )
    for _ in range(30):
        algorithm.ask()
        algorithm.tell(5.0)
        assert algorithm.m == 0 and kept(algorithm) == ()
        assert_array_equal(algorithm.mu, np.zeros(12))
        assert_allclose(algorithm.sigma, 1.0, atol=1e-12)
        assert algorithm.beta == pytest.approx(first, rel=1e-12)


def test_dictionary_is_drawn_arm_by_arm_by_the_documented_rule():
    """One uniform u_a per arm and round, arm a kept iff u_a < 1 - (1 - p_a)^{n_a}, p_a = min(q
    sigma_a^2 / lam, 1) with the width before the update.
    """
    q = 0.8
    lam = 0.5
    T = 80
    algorithm = core.make("ATA", problem(), T, q=q, lam=lam, rng=default_rng(11))
    rng = default_rng(11)
    noise = default_rng(1)
    counts = np.zeros(12)
    sizes = set()
    for _ in range(T):
        before = algorithm.sigma.copy()
        counts[algorithm.ask()] += 1
        algorithm.tell(noise.normal())
        keep = rng.random(12) < 1 - (1 - np.minimum(q * before**2 / lam, 1)) ** counts
        assert kept(algorithm) == tuple(np.flatnonzero(keep & (counts > 0)))
        sizes.add((algorithm.m, int((counts > 0).sum())))
    assert any(m < played for m, played in sizes), (
        "nothing was ever dropped: the test would not see a wrong rule"
    )


@pytest.mark.parametrize("name, q", [("ATA", 6.0), ("MoMA", 6.0), ("ATA", 60.0)])
@pytest.mark.parametrize("kernel", K)
def test_rounds_that_skip_the_draw_have_the_dictionary_of_the_rule(name, q, kernel):
    """As above over many rounds with arms at random, some of them new late.

    Most rounds look at no arm because no uniform is large enough, and none of them may differ.
    Also an arm that is new and dropped at once, so that the dictionary stays as it is and is not
    that of all played arms.
    """
    T = 1500
    level = 1e-290
    skipped = 0
    dropped = 0
    algorithm = core.make(
        name,
        problem(kernel),
        T,
        q=q,
        k=1 if name == "MoMA" else None,
        rng=default_rng(11),
    )
    rng = default_rng(11)
    chooser = default_rng(1)
    counts = np.zeros(12)
    draw = algorithm._draw
    for t in range(T):
        looked = []
        algorithm._draw = lambda u: looked.append(u) or draw(u)
        before = algorithm.sigma.copy()
        arm = int(min(12, 4 + t // 150) * chooser.random())
        algorithm.tell(chooser.normal(), arm=arm)
        counts[arm] += 1
        keep = (
            rng.random(12)
            < 1 - (1 - np.minimum(before**2 / max(1 / algorithm.q, level), 1)) ** counts
        )
        assert kept(algorithm) == tuple(np.flatnonzero(keep & (counts > 0))), t
        skipped = skipped + (not looked)
        dropped = dropped + (algorithm.m < (counts > 0).sum())
    assert skipped > 100 and (q == 60 or dropped > 10), (skipped, dropped)


def test_same_sketch_seed_same_run_and_another_seed_another_dictionary():
    def dictionaries(seed):
        algorithm = core.make("ATA", problem(), 40, q=0.5, rng=default_rng(seed))
        out = []
        for t in range(40):
            algorithm.ask()
            algorithm.tell(math.sin(t))
            out.append(kept(algorithm))
        return out

    assert dictionaries(1) == dictionaries(1) != dictionaries(2)
