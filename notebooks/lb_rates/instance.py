"""The theorem's own instance: a function drawn from the class, and its rewards."""

import numpy as np

import ldpbo_core as core
from ldpbo import bumps


def gram(kernel, x, lengthscale, nu):
    """The kernel matrix of the points x."""
    if kernel == "se":
        return core.se_kernel(x, x, lengthscale=lengthscale)
    return core.matern_kernel(x, x, lengthscale=lengthscale, nu=nu)


def draw(kernel, bound, seed, *, per_cell, B, v, alpha, lengthscale, nu):
    """A random member of the class behind `bound`, with rewards 0 and +-a.

    Probabilities are rounded to multiples of 1/20000.
    """
    n = int(bound.M)
    size = (v / (2 * bound.Delta)) ** (1 / alpha)
    x = (np.arange(n * per_cell) + 0.5) / (n * per_cell)
    centre = np.random.default_rng(seed).integers(n) + 0.5
    f = bound.Delta * bumps.profile(n * x - centre, 1)
    paid = np.arange(20000)[:, None] < np.rint(20000 * np.abs(f) / size)
    rewards = np.where(paid, np.sign(f) * size, 0.0)
    return core.Problem(
        K=gram(kernel, x, lengthscale, nu),
        f=rewards.mean(axis=0),
        B=B,
        R=size + 2 * bound.Delta,
        v=v,
        c=v,
        alpha=alpha,
        noise="table",
        samples=rewards,
    )
