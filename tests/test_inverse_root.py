"""The inverse root that ATA keeps up to date: its nodes, as an identity, and the root itself,
against an eigendecomposition."""

from math import exp, log, pi, sqrt

import numpy as np
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import mark

import ldpbo_core as core
from ldpbo.posterior import REFRESH, ROWS, Domain, InverseRoot, Posterior, Sketch, nodes

pytestmark = mark.filterwarnings("error::RuntimeWarning")
INTERVALS = [(1.0, 1.5), (1.0, 501.0), (0.3, 2e4), (1e-3, 2e5), (1e-6, 1e6), (1e3, 1e15)]


@mark.parametrize("low, high", INTERVALS)
def test_nodes_give_the_inverse_root_on_the_whole_interval(low, high):
    s, w = nodes(low, high)
    z = np.geomspace(low, high, 2001)
    assert np.min(s) > 0
    assert np.min(w) > 0
    assert_allclose((w / (z[:, None] + s)).sum(axis=1), z**-0.5, rtol=1.2e-11)


def test_nodes_are_as_few_as_their_accuracy_needs():
    """A fifth fewer nodes of the same rule miss 1e-10: the count is not wasteful."""

    def predicted(count):
        return 4 * exp(-2 * pi**2 * count / log(16 * 2e4))

    count = len(nodes(1.0, 2e4)[0])
    assert 1e-13 < predicted(count) < 1.2e-11
    assert predicted(0.8 * count) > 1e-10


def literal(V):
    """V^{-1/2} from the eigenvectors of V."""
    d, E = np.linalg.eigh(V)
    return (E / np.sqrt(d)) @ E.T


def directions(rng, count, m):
    """Vectors of length 1, (count, m)."""
    X = rng.standard_normal((count, m))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


class Plays:
    """V and its root as plays are added; where the root refuses a play it is made anew from V."""

    def __init__(self, V, room):
        self.V = V
        self.room = room
        self.made = 0
        self.renew()

    def renew(self):
        self.root = InverseRoot(np.linalg.inv(self.V), self.room)
        self.made += 1

    def add(self, x):
        if not self.root.add(x):
            self.renew()
            assert self.root.add(x)
        self.V = self.V + np.outer(x, x)

    def compare(self, smallest):
        """S against the eigenvectors of V, whose eigenvalues are at least `smallest`."""
        assert_allclose(self.root.S, literal(self.V), rtol=0, atol=2e-11 / sqrt(smallest))


@mark.parametrize("row", [2, 6, 100])
@mark.parametrize("smallest", [1.0, 1e-3, 40.0])
@mark.parametrize("m, arms, plays", [(1, 1, 30), (5, 3, 200), (12, 40, 300), (30, 7, 100)])
def test_inverse_root_is_that_of_v_after_every_play(m, arms, plays, smallest, row):
    """Some arms often, some late, in rows of up to `row` plays.

    The root refuses a play where rounding would grow beyond bounds, or after ROWS rows of plays.
    """
    rng = default_rng(m + plays)
    d = smallest * np.exp(rng.uniform(0, 6, m))
    X = directions(rng, arms, m)
    both = Plays(np.diag(d), plays)
    left = 0
    rows = 0
    for _ in range(plays):
        if not left:
            arm = int(arms * rng.random() ** 2)
            left = rng.integers(1, row)
            rows += 1
        left -= 1
        both.add(X[arm])
        both.compare(smallest)
    if smallest < 1 < m:
        assert both.made > 1
    else:
        assert both.made < 4 + rows // ROWS


def test_plays_in_a_row_count_as_growth_too():
    """Thousands of plays of one arm are of rank one, but det V grows with all of them.

    A root that did not see this would be wrong by 1e-6.
    """
    X = directions(default_rng(3), 12, 12)
    posterior = Posterior(Domain.of_matrix(X @ X.T), 0.1)
    x = posterior.span.at(slice(None))
    renewed = 0
    for arm in range(12):
        for _ in range(3000):
            before = posterior.root
            posterior.add(arm, 0.0)
            S = posterior.inverse_root()
            renewed += posterior.root is not before
        V = (x * posterior.counts) @ x.T + 0.1 * np.eye(len(x))
        assert_allclose(S, literal(V), rtol=0, atol=2e-11 / sqrt(0.1))
    assert renewed > 36_000 / REFRESH + 3


def test_a_refused_play_changes_nothing():
    root = InverseRoot(np.eye(6), 1000.0)
    accepted = 0
    for x in directions(default_rng(0), 1000, 6):
        S = root.S.copy()
        if not root.add(x):
            break
        accepted += 1
        assert not np.array_equal(S, root.S)
    assert_array_equal(S, root.S)
    assert 3 < accepted < 999


@mark.parametrize("room, precise", [(9e5, True), (2e6, False)])
def test_where_the_nodes_are_not_precise_enough_every_play_is_refused(room, precise):
    root = InverseRoot(np.diag([1e6, 1.0]), room)
    assert root.add(np.full(2, 1e-3)) == precise


@mark.parametrize("lam", [1.0, 1e-3])
@mark.parametrize("burst", [1, 3, 200])
def test_inverse_root_squares_to_the_inverse_as_plays_are_added(lam, burst):
    """S = V^{-1/2}: symmetric, positive, and S V S = I.

    Whether the last root is a play old or so old that it is of no use.
    """
    rng = default_rng(1)
    K = directions(rng, 14, 9) @ directions(default_rng(1), 14, 9).T
    sketch = Sketch(Domain.of_matrix(K), lam)
    sketch.project(np.arange(14))
    x = sketch.span.at(slice(None))
    assert_allclose(x.T @ x, K, atol=1e-12)
    assert_allclose(sketch.span.Q @ x, core.nystrom_features(K, range(14)), atol=1e-12)
    for arm in range(14):
        sketch.add(arm, 0.0)
    renewed = 0
    for _ in range(60):
        for arm in rng.integers(14, size=burst):
            sketch.add(int(arm), 0.0)
        before = sketch.root
        S = sketch.inverse_root()
        renewed += sketch.root is not before
        V = (x * sketch.counts) @ x.T + lam * np.eye(9)
        assert_allclose(S, S.T, atol=1e-13 / sqrt(lam))
        assert np.linalg.eigvalsh(S)[0] > 0
        assert_allclose(S @ V @ S, np.eye(9), atol=1e-10 / sqrt(lam))
    both = "both ways to a root must have been taken"
    assert renewed == 60 if burst == 200 else 0 < renewed < 60, both
