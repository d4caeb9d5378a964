"""Linear algebra beyond NumPy's: the nodes of the inverse root as an identity, the root itself against an eigendecomposition."""
import math

import numpy as np
import pytest

import ldpbo_linear as linear

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize("low, high", [(1.0, 1.5), (1.0, 501.0), (0.3, 2e4), (1e-3, 2e5), (1e-6, 1e6), (1e3, 1e15)])
def test_nodes_give_the_inverse_root_on_the_whole_interval(low, high):
    s, w = linear.nodes(low, high)
    z = np.geomspace(low, high, 2001)
    assert np.min(s) > 0 and np.min(w) > 0
    np.testing.assert_allclose((w / (z[:, None] + s)).sum(axis=1), z**-0.5, rtol=1.2e-11)


def test_nodes_are_as_few_as_their_accuracy_needs():
    """A fifth fewer nodes of the same rule miss 1e-10: the count is not wasteful."""
    s, _ = linear.nodes(1.0, 2e4)
    predicted = 4 * math.exp(-2 * math.pi**2 * len(s) / math.log(16 * 2e4))
    assert 1e-13 < predicted < 1.2e-11 and 4 * math.exp(-2 * math.pi**2 * 0.8 * len(s) / math.log(16 * 2e4)) > 1e-10


def literal(V):
    d, E = np.linalg.eigh(V)
    return (E / np.sqrt(d)) @ E.T


@pytest.mark.parametrize("smallest", [1.0, 1e-3, 40.0])
@pytest.mark.parametrize("m, arms, plays, first", [(1, 1, 30, []), (5, 3, 200, [0, 1, 2]), (12, 40, 300, [3, 1]), (30, 7, 100, []), (30, 7, 100, [5])])
def test_inverse_root_is_that_of_v_after_every_play(m, arms, plays, first, smallest):
    """Old and new arms in any order; after every play, so that changes kept apart, just written and carried to a new arm are all seen. Where the root refuses a
    play, because rounding would grow beyond bounds, it is made anew in the eigenvectors of V."""
    rng, made = np.random.default_rng(m + plays), 1
    d, X = smallest * np.exp(rng.uniform(0, 6, m)), rng.standard_normal((arms, m))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    root, V = linear.InverseRoot(d, plays, first, X[first]), np.diag(d)
    for _ in range(plays):
        a = int(arms * rng.random() ** 2)                                   # some arms often, some late
        if not root.play(a, X[a]):
            d, E = np.linalg.eigh(V)
            V, X, made = np.diag(d), X @ E, made + 1
            root = linear.InverseRoot(d, plays, first, X[first])
            assert root.play(a, X[a])
        V = V + np.outer(X[a], X[a])
        np.testing.assert_allclose(root.S, literal(V), rtol=0, atol=2e-11 / math.sqrt(smallest))
    assert made > 1 if smallest < 1 < m else made < 4


def test_an_arm_for_which_there_is_no_room_changes_nothing():
    rng = np.random.default_rng(0)
    root, X = linear.InverseRoot(np.ones(6), 100.0, [], np.zeros((0, 6))), rng.standard_normal((linear.MOST + 1, 6)) / 12
    assert all(root.play(a, X[a]) for a in range(linear.MOST))
    S = root.S.copy()
    assert not root.play(linear.MOST, X[-1]) and root.play(3, X[3])
    np.testing.assert_allclose(root.S, literal(np.eye(6) + X[:-1].T @ X[:-1] + np.outer(X[3], X[3])), atol=2e-11)
    assert not np.array_equal(S, root.S)


def test_where_the_nodes_are_not_precise_enough_every_play_is_refused():
    assert linear.InverseRoot(np.array([1e-6, 1.0]), 9e5, [0], np.ones((1, 2))).play(0, np.ones(2))
    assert not linear.InverseRoot(np.array([1e-6, 1.0]), 2e6, [0], np.ones((1, 2))).play(0, np.ones(2))
