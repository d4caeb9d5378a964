"""What several test modules share."""

import numpy as np
import oracle as o


def se(X, lengthscale):
    """The squared exponential matrix on the points X, by the oracle's formula."""
    return o.gram(lambda x, y: o.se(x, y, lengthscale), X)


def matern(X, lengthscale, nu=2.5):
    """The Matern matrix on the points X, by the oracle's formula."""
    return o.gram(lambda x, y: o.matern(x, y, lengthscale, nu), X)


def kernels(X, table):
    """The paper's kernel matrices on the points X; the last is the correlation of a table."""
    return {
        "se": se(X, 0.2),
        "matern": matern(X, 0.2),
        "empirical": o.correlation(table.tolist()),
    }


def epochs(name, k):
    """The setting k for the algorithms that play in epochs; none for the others."""
    return dict(k=k) if name.startswith("MoM") else {}


class Unit:
    """A generator whose first standard normals are the i-th unit vector, and whose others are 0."""

    def __init__(self, i):
        self.i = i
        self.asked = 0

    def standard_normal(self, size):
        self.asked += 1
        return np.eye(size)[self.i] if self.asked == 1 else np.zeros(size)


def draw_root(learner):
    """The matrix (r, n) whose product with r standard normals is a draw from the posterior."""
    rank = len(learner.problem.Z)
    return np.stack([learner.posterior.draw(Unit(i)) for i in range(rank)])
