"""Linear algebra beyond NumPy's.

The nodes of the inverse root as an identity, the root itself against an eigendecomposition.
"""

from math import exp, log, pi, sqrt

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose

from ldpbo import posterior as linear

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


@pytest.mark.parametrize(
    "low, high", [(1.0, 1.5), (1.0, 501.0), (0.3, 2e4), (1e-3, 2e5), (1e-6, 1e6), (1e3, 1e15)]
)
def test_nodes_give_the_inverse_root_on_the_whole_interval(low, high):
    s, w = linear.nodes(low, high)
    z = np.geomspace(low, high, 2001)
    assert np.min(s) > 0
    assert np.min(w) > 0
    assert_allclose((w / (z[:, None] + s)).sum(axis=1), z**-0.5, rtol=1.2e-11)


def test_nodes_are_as_few_as_their_accuracy_needs():
    """A fifth fewer nodes of the same rule miss 1e-10: the count is not wasteful."""
    s, _ = linear.nodes(1.0, 2e4)
    predicted = 4 * exp(-2 * pi**2 * len(s) / log(16 * 2e4))
    assert 1e-13 < predicted < 1.2e-11
    assert 4 * exp(-2 * pi**2 * 0.8 * len(s) / log(16 * 2e4)) > 1e-10


def literal(V):
    d, E = np.linalg.eigh(V)
    return (E / np.sqrt(d)) @ E.T


@pytest.mark.parametrize("row", [2, 6, 100])
@pytest.mark.parametrize("smallest", [1.0, 1e-3, 40.0])
@pytest.mark.parametrize(
    "m, arms, plays, first",
    [
        (1, 1, 30, []),
        (5, 3, 200, [0, 1, 2]),
        (12, 40, 300, [3, 1]),
        (30, 7, 100, []),
        (30, 7, 100, [5]),
    ],
)
def test_inverse_root_is_that_of_v_after_every_play(m, arms, plays, first, smallest, row):
    """Old and new arms in any order, in rows.

    After every play, so that changes kept apart, just written and carried to a new arm are all
    seen. Where the root refuses a play, because rounding would grow beyond bounds, it is made anew
    in the eigenvectors of V.
    """
    rng = default_rng(m + plays)
    made = 1
    left = 0
    d = smallest * np.exp(rng.uniform(0, 6, m))
    X = rng.standard_normal((arms, m))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    root = linear.InverseRoot(d, plays, first, X[first])
    V = np.diag(d)
    Q = rng.standard_normal((3, m))
    R = rng.standard_normal((m, 2))
    for _ in range(plays):
        if not left:
            a, left = (
                int(arms * rng.random() ** 2),
                rng.integers(1, row),
            )  # some arms often, some late
        left -= 1
        if not root.play(a, X[a]):
            d, E = np.linalg.eigh(V)
            V = np.diag(d)
            X = X @ E
            made = made + 1
            root = linear.InverseRoot(d, plays, first, X[first])
            assert root.play(a, X[a])
        V = V + np.outer(X[a], X[a])
        assert_allclose(root.dot(np.eye(m)), literal(V), rtol=0, atol=2e-11 / sqrt(smallest))
        assert_allclose(
            root.dot(R[:, 0]), literal(V) @ R[:, 0], rtol=0, atol=1e-10 / sqrt(smallest)
        )
        assert_allclose(root.between(Q, R), Q @ literal(V) @ R, rtol=0, atol=1e-9 / sqrt(smallest))
        R = R if rng.random() < 0.7 else rng.standard_normal((m, 2))  # in the middle of a row
    assert made > 1 if smallest < 1 < m else made < 4


def test_plays_in_a_row_count_as_growth_too():
    """Thousands of plays of one arm are of rank one, but det V grows with all of them.

    A root that did not see this would be wrong by 1e-6.
    """
    rng, refused = default_rng(3), 0
    d = 0.1 * np.exp(rng.uniform(0, 1, 12))
    X = rng.standard_normal((12, 12))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    root = linear.InverseRoot(d, 40_000, [], np.zeros((0, 12)))
    V = np.diag(d)
    for a in range(12):
        for _ in range(3000):
            if not root.play(a, X[a]):
                d, E = np.linalg.eigh(V)
                V = np.diag(d)
                X = X @ E
                refused = refused + 1
                root = linear.InverseRoot(d, 40_000, [], np.zeros((0, 12)))
                assert root.play(a, X[a])
            V = V + np.outer(X[a], X[a])
        assert_allclose(root.dot(np.eye(12)), literal(V), rtol=0, atol=2e-11 / sqrt(0.1))
    assert refused > 3


def test_an_arm_for_which_there_is_no_room_changes_nothing():
    rng = default_rng(0)
    root = linear.InverseRoot(np.ones(6), 100.0, [], np.zeros((0, 6)))
    X = rng.standard_normal((linear.MOST + 1, 6)) / 12
    assert all(root.play(a, X[a]) for a in range(linear.MOST))
    S = root.dot(np.eye(6))
    assert not root.play(linear.MOST, X[-1])
    assert root.play(3, X[3])
    assert_allclose(
        root.dot(np.eye(6)),
        literal(np.eye(6) + X[:-1].T @ X[:-1] + np.outer(X[3], X[3])),
        atol=2e-11,
    )
    assert not np.array_equal(S, root.dot(np.eye(6)))


def test_where_the_nodes_are_not_precise_enough_every_play_is_refused():
    assert linear.InverseRoot(np.array([1e-6, 1.0]), 9e5, [0], np.ones((1, 2))).play(0, np.ones(2))
    assert not linear.InverseRoot(np.array([1e-6, 1.0]), 2e6, [0], np.ones((1, 2))).play(
        0, np.ones(2)
    )
