"""The literal programs are themselves checked where a formula is known, so that agreement with
them means something.
"""

import ast
import math

import numpy as np
import oracle as o
import pytest

X = np.arange(1, 9) / 8
K = o.gram(lambda x, y: o.matern(x, y, 0.3, 2.5), X)
BIG = dict(B=1.0, R=1.0, v=1e12, c=1.0)  # v this large: no reward is ever truncated


def test_oracle_imports_nothing_but_math_numpy_and_scipy():
    tree = ast.parse(open(o.__file__, encoding="utf-8").read())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"math", "numpy", "scipy.special"}


@pytest.mark.parametrize("lam", [1.0, 0.1])
def test_untruncated_ata_with_every_arm_kept_is_the_exact_posterior(lam):
    rng = np.random.default_rng(0)
    a, arms, y = o.oracle("ATA", K, 40, lam=lam, q=math.inf, **BIG), [], []
    for _ in range(40):
        arms.append(
            int(rng.integers(5))
        )  # arms 5..7 are never played: the embedding has to extend to them
        y.append(rng.normal())
        a.feed(arms[-1], y[-1])
    mu, sigma = o.exact_posterior(K, arms, y, lam)
    np.testing.assert_allclose(a.mu, mu, atol=1e-10)
    np.testing.assert_allclose(a.sigma, sigma, atol=1e-7)


def test_moma_with_one_reward_per_epoch_is_the_exact_posterior():
    rng = np.random.default_rng(1)
    a, arms, y = o.oracle("MoMA", K, 30, k=1, q=math.inf, **BIG), [], []
    for _ in range(30):
        arms.append(int(rng.integers(8)))
        y.append(rng.normal())
        a.feed(arms[-1], y[-1])
    mu, sigma = o.exact_posterior(K, arms, y, 1.0)
    np.testing.assert_allclose(a.mu, mu, atol=1e-10)
    np.testing.assert_allclose(a.sigma, sigma, atol=1e-7)


def test_median_and_tie_rule():
    assert o.median([3, 1, 2]) == 2 and o.median([4, 1, 2, 3]) == 2.5 and o.median([]) == 0
    assert o.pick([1.0, 1.0 + 5e-10, 1.0 + 9e-10]) == 0 and o.pick([1.0, 1.0 + 2e-9]) == 1
    assert o.pick([1e6, 1e6 + 5e-4]) == 0 and o.pick([-1e-10, 0.0]) == 0


def test_gain_of_repeated_plays_of_one_arm():
    assert o.gain(np.eye(1), [0] * 7, 0.5) == pytest.approx(0.5 * math.log(1 + 7 / 0.5), rel=1e-14)
