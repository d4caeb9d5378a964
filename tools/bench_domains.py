"""Rounds are timed on large domains, and memory is measured, in a process for each of them."""

import functools
import math
import resource

import numpy as np

import ldpbo_core as core
from bench_runs import LEARNERS, child, clock, player, report, write_table

KERNELS = {
    "SE": functools.partial(core.se_kernel, lengthscale=0.2),
    "Matern 5/2": functools.partial(core.matern_kernel, lengthscale=0.2, nu=2.5),
}
SIZES = [1000, 3000, 10_000, 30_000, 100_000]
CLAIMS = {
    "TGP": "one estimate and one comparison a round",
    "ATA": "m x t comparisons and a new dictionary a round",
    "MoMA": "one dictionary and k estimates an epoch",
}


def cloud(n, d, kernel, **options):
    """Make a problem on n random points of the d-dimensional cube."""
    X = np.random.default_rng(d).random((n, d))
    f = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
    bounds = dict(B=1.0, R=1.0, v=2.0, c=1.0)
    return core.Problem(points=X, kernel=KERNELS[kernel], f=f, **bounds, **options)


def cost(name, problem, T, seconds, after=0):
    """Time rounds and reads of Z, in turns, for `seconds`, when `after` rounds have been played.

    -> seconds a round, seconds a read, rounds, and the dearest ten rounds (or epoch) in reads.
    """
    Z = problem.Z
    x = np.ones(len(Z))
    play = player(name, problem, T, 1.0)
    play(after)
    step = getattr(play.learner, "k", None) or 10  # whole epochs of MoMA
    spent = []
    while np.sum(spent) < seconds and after + (len(spent) + 1) * step <= T:
        rounds = clock(lambda: play(step))
        reads = clock(lambda: [x @ Z for _ in range(step)])
        spent.append((rounds, reads))
    count = len(spent) * step
    a_round, a_read = np.sum(spent, axis=0) / count
    return float(a_round), float(a_read), count, max(a / b for a, b in spent)


def row(axis, name, problem, kernel, t, T, seconds):
    """Measure a learner's `cost` -> a row of data/bench.csv."""
    a_round, a_read, rounds, dearest = cost(name, problem, T, seconds, after=t)
    where = dict(axis=axis, learner=name, kernel=kernel, d=problem.points.shape[1])
    sizes = dict(n=problem.n, r=len(problem.Z), t=t, T=T, rounds=rounds)
    return where | sizes | dict(seconds=a_round, read=a_read, dearest=dearest)


def one_domain(kernel, d):
    """Measure, in a child, rounds at all sizes and the peak memory."""
    rows = []
    for n in SIZES:
        problem = cloud(n, int(d), kernel)
        short = 3.0 if n == SIZES[-1] else 0.5
        for name in LEARNERS:
            seconds = math.inf if name == "ATA" else short  # ATA's rounds differ: its whole run
            rows.append(row("n", name, problem, kernel, 0, 1000, seconds))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rows": rows, "Z": problem.Z.nbytes / 2**20, "peak": peak}


def report_domain(kernel, d, found):
    """Report what `one_domain` has found."""
    where = f"{kernel} in [0,1]^{d}"
    for r in found["rows"]:
        if r["n"] == SIZES[-1]:
            what = f"{r['learner']} a round / one read of Z, n = {r['n']:,}, {where}, rank {r['r']}"
            played = f"{r['rounds']} of {r['T']:,} rounds (dearest ten: {r['dearest']:.1f})"
            most = 20 if r["learner"] == "ATA" else 5
            report(f"{what}, {played}", r["seconds"], r["read"], most=most)
    what = f"peak memory / (3 Z + 300 MB), n = {SIZES[-1]:,}, {where}"
    report(what, found["peak"], 3 * found["Z"] + 300, most=1, unit="MB")
    for name in LEARNERS:
        mine = [r for r in found["rows"] if r["learner"] == name]
        n = np.log([r["n"] for r in mine])
        seconds = np.log([r["seconds"] for r in mine])
        exponent = float(np.polyfit(n, seconds, 1)[0])
        what = f"{name}, {where}: exponent of n in a round's cost (paper: {CLAIMS[name]})"
        report(what, exponent, 1.0, most=1.1, unit="")


def large_domains():
    """Measure rounds on large domains; first, because a child's memory begins with its parent's."""
    rows = []
    for d in (2, 3):
        for kernel in KERNELS:
            found = child("one_domain", kernel, d)
            report_domain(kernel, d, found)
            rows += found["rows"]
    for rank in (25, 50, 100, 200, 400):
        problem = cloud(10_000, 2, "Matern 5/2", rank=rank)
        for name in LEARNERS:
            rows.append(row("r", name, problem, "Matern 5/2", 0, 1000, 1.0))
    problem = cloud(1000, 2, "SE")
    for t in (0, 300, 1000, 3000):
        for name in LEARNERS:
            rows.append(row("t", name, problem, "SE", t, 5000, 0.5))
    write_table("bench", rows)
