"""Which rewards could have led to a report, in floating point? The page "Is it private?" explains
these lines."""

import math

import numpy as np

import ldpbo_core as core


def possible(report, reward, scale):
    """Does some u on the grid 2^-53 give reward ± scale·log(u) == report?"""
    u = np.rint(np.exp(-np.abs(report - reward) / scale) * 2.0**53)
    u = np.maximum(u + np.arange(-4, 5)[:, None], 1) * 2.0**-53
    log = np.frompyfunc(math.log, 1, 1)(u).astype(float)
    draw = np.sign(report - reward) * -log
    return (reward + scale * draw == report).any(0)


def neighbours(start, count):
    """List so many floating-point numbers in a row."""
    return start + np.arange(count) * np.spacing(start)


def exposed(eps, pair, n, seed):
    """Measure the share of Laplace reports from which the attack names the right one of a pair of
    rewards with certainty, and the share of such verdicts that are right."""
    curator = core.CTL(eps, 1.0, 1.0)
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, 2, n)
    rewards = np.array(pair)[secret]
    reports = curator.privatise(rewards, rng)
    fits = np.stack([possible(reports, y, curator.scale) for y in pair])
    certain = fits.sum(axis=0) == 1
    right = fits[secret, np.arange(n)]
    named = np.mean(certain & right)
    return float(named), float(right[certain].mean())
