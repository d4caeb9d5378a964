"""The literal programs are themselves checked where a formula is known.

So agreement with them means something.
"""

import ast
from math import inf, log
from pathlib import Path

import numpy as np
import oracle as o
from helpers import matern
from numpy.random import default_rng
from numpy.testing import assert_allclose
from pytest import approx, mark

K = matern(np.arange(1, 9) / 8, 0.3)
BIG = dict(B=1.0, R=1.0, v=1e12, c=1.0)  # v this large: no reward is ever truncated


def test_oracle_imports_nothing_but_math_numpy_and_scipy():
    imported = set()
    for node in ast.walk(ast.parse(Path(o.__file__).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert imported == {"math", "numpy", "scipy.special"}


def is_the_exact_posterior(program, T, seed, arms, lam):
    """After T plays of the first `arms` arms the program has the numbers of the t x t formula."""
    rng = default_rng(seed)
    plays, y = [], []
    for _ in range(T):
        plays.append(int(rng.integers(arms)))
        y.append(rng.normal())
        program.feed(plays[-1], y[-1])
    mu, sigma = o.exact_posterior(K, plays, y, lam)
    assert_allclose(program.mu, mu, atol=1e-10)
    assert_allclose(program.sigma, sigma, atol=1e-7)


@mark.parametrize("lam", [1.0, 0.1])
def test_untruncated_ata_with_every_arm_kept_is_the_exact_posterior(lam):
    """Arms 5 to 7 are never played: the embedding has to extend to them."""
    is_the_exact_posterior(o.oracle("ATA", K, 40, lam=lam, q=inf, **BIG), 40, 0, 5, lam)


def test_moma_with_one_reward_per_epoch_is_the_exact_posterior():
    is_the_exact_posterior(o.oracle("MoMA", K, 30, k=1, q=inf, **BIG), 30, 1, 8, 1.0)


def test_median_and_tie_rule():
    assert o.median([3, 1, 2]) == 2
    assert o.median([4, 1, 2, 3]) == 2.5
    assert o.median([]) == 0
    assert o.pick([1.0, 1.0 + 5e-10, 1.0 + 9e-10]) == 0
    assert o.pick([1.0, 1.0 + 2e-9]) == 1
    assert o.pick([1e6, 1e6 + 5e-4]) == 0
    assert o.pick([-1e-10, 0.0]) == 0


def test_gain_of_repeated_plays_of_one_arm():
    assert o.gain(np.eye(1), [0] * 7, 0.5) == approx(0.5 * log(1 + 7 / 0.5), rel=1e-14)
