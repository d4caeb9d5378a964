"""Bad input is refused with a ValueError that names the argument, the value and what is allowed.

Each row: a call, and the words its message must contain (the argument's name, the value where it
is one number or word, a word about what is allowed).
"""

import itertools
from fractions import Fraction
from functools import partial
from math import inf, nan

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises

import ldpbo_core as core
from ldpbo import bounds
from ldpbo.audit import audit, subweibull_radius

I3 = np.eye(3)
GOOD = dict(K=I3, f=[0.0, 0.5, 1.0], B=1.0, R=1.0, v=3.0, c=2.0)
PROBLEM = core.Problem(**GOOD)
RNG = default_rng(0)
TABLE = default_rng(1).random((10, 3))


def problem(**change):
    return core.Problem(**GOOD | change)


def make(name="TGP", T=100, **settings):
    return core.make(name, PROBLEM, T, **settings)


def simulate(names=("TGP",), T=20, **settings):
    told = dict(problem=PROBLEM, trials=1, seed=0)
    return core.simulate(names=names, T=T, **told | settings)


def report(y, rng=RNG):
    return core.CTL(1.0, 1.0, 1.0).privatise(y, rng)


def told(reward, name="TGP", asked=True, **where):
    algorithm = make(name)
    if asked:
        algorithm.ask()
    algorithm.tell(reward, **where)


def spoiled(array, index, value):
    array = np.array(array, float)
    array[index] = value
    return array


NOT_SYMMETRIC = [[1.0, 0.2], [0.1, 1.0]]
NOT_PSD = [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]

SCALARS = {
    "a complex number": np.complex128(0.5 + 2j),
    "a complex array": np.array(0.5 + 2j),
    "a date": np.datetime64("2020-01-01"),
    "a duration": np.timedelta64(1, "s"),
    "a masked value": np.ma.masked,
    "a masked array": np.ma.array(0.5, mask=True),
    "10**400": 10**400,
    "a text of digits": "0.5",
    "None in an array": np.array(None),
    "a list": [0.5],
}
ENTRIES = {
    "complex numbers": 0.5 + 2j,
    "dates": np.datetime64("2020-01-01"),
    "masked values": np.ma.masked,
    "10**400": 10**400,
    "texts of digits": "0.5",
    "None": None,
    "lists": [1.0, 2.0],
    "durations": np.timedelta64(1, "s"),
}


def row(entry, like=(0.0, 0.5, 1.0)):
    """The array `like` with one entry replaced, of its own kind where NumPy has one."""
    if entry is np.ma.masked:
        return np.ma.array(like, mask=[0, 0, 1])
    if isinstance(entry, np.datetime64):
        return np.full(len(like), entry)
    spoilt = np.array(like, dtype=complex if isinstance(entry, complex) else object)
    spoilt[-1] = entry
    return spoilt


def table(entry, like=TABLE):
    """The matrix `like` with one entry of each row replaced."""
    stack = np.ma.stack if entry is np.ma.masked else np.stack
    return stack([row(entry, r) for r in like])


CASES = {
    # privacy
    "eps zero": (lambda: make(eps=0.0), ["eps = 0", "> 0"]),
    "eps negative": (lambda: make(eps=-1.0), ["eps = -1", "> 0"]),
    "eps NaN": (lambda: make(eps=nan), ["eps = nan", "> 0"]),
    "eps infinite": (lambda: make(eps=inf), ["eps = inf", "None"]),
    "eps a word": (lambda: make(eps="one"), ["eps = 'one'"]),
    "eps beyond floats": (lambda: make(eps=10**400), ["eps"]),
    "eps so small that the noise overflows": (lambda: make(eps=1e-300), ["eps = 1e-300"]),
    "eps in simulate": (lambda: simulate(eps=-2.0), ["eps = -2"]),
    "curator eps": (lambda: core.CTL(0.0, 1.0, 1.0), ["eps = 0"]),
    "curator eps NaN": (lambda: core.CTL(nan, 1.0, 1.0), ["eps = nan"]),
    "curator B": (lambda: core.CTL(1.0, -1.0, 1.0), ["B = -1"]),
    "curator R": (lambda: core.CTL(1.0, 1.0, inf), ["R = inf"]),
    "curator centre": (lambda: core.OneBit(1.0, 1.0, 1.0, 1e12), ["centre = 1000000000000.0"]),
    "curator and another eps": (
        lambda: make(eps=2.0, curator=core.CTL(1.0, 1.0, 1.0)),
        ["eps", "2", "1"],
    ),
    "report of NaN": (
        lambda: report(nan),
        ["y = nan", "finite"],
    ),
    "report of infinity": (
        lambda: report(inf),
        ["y = inf", "finite"],
    ),
    "report of a table with NaN": (
        lambda: report(np.array([0.0, nan])),
        ["y", "nan", "finite"],
    ),
    "report of a word": (lambda: report("much"), ["y"]),
    # rewards
    "reward NaN": (lambda: told(nan), ["reward = nan", "finite"]),
    "reward infinite": (lambda: told(-inf), ["reward = -inf", "finite"]),
    "reward two numbers": (lambda: told([1.0, 2.0]), ["reward", "[1.0, 2.0]"]),
    "reward an array of two": (lambda: told(np.ones(2)), ["reward"]),
    "reward an empty array": (lambda: told(np.ones(0)), ["reward"]),
    "reward None": (lambda: told(None), ["reward = None"]),
    "reward a word": (lambda: told("good"), ["reward = 'good'"]),
    "reward complex": (lambda: told(1j), ["reward"]),
    "tell without ask": (lambda: told(1.0, asked=False), ["tell", "ask"]),
    "tell without ask, MoMA": (lambda: told(1.0, "MoMA", asked=False), ["tell", "ask"]),
    "tell of an arm that is not there": (lambda: told(1.0, arm=3), ["arm = 3", "0 to 2"]),
    "tell of a negative arm": (lambda: told(1.0, arm=-1), ["arm = -1", "0 to 2"]),
    # the kernel matrix
    "K not square": (lambda: problem(K=np.ones((2, 3))), ["K", "(2, 3)", "square"]),
    "K not a matrix": (lambda: problem(K=np.ones(3)), ["K", "1", "2"]),
    "K empty": (lambda: problem(K=np.ones((0, 0)), f=[]), ["K", "(0, 0)"]),
    "K not symmetric": (lambda: problem(K=NOT_SYMMETRIC, f=[0.0, 1.0]), ["K", "symmetric"]),
    "K not PSD": (lambda: problem(K=NOT_PSD), ["K", "positive semi-definite"]),
    "K with diagonal above 1": (lambda: problem(K=2 * I3), ["K", "diagonal", "2", "at most 1"]),
    "K with NaN": (lambda: problem(K=spoiled(I3, (1, 2), nan)), ["K", "nan", "finite"]),
    "K with infinity": (lambda: problem(K=spoiled(I3, (1, 2), inf)), ["K", "inf", "finite"]),
    "K of words": (lambda: problem(K=[["a", "b"], ["c", "d"]]), ["K", "numbers"]),
    "posterior: K not symmetric": (
        lambda: core.posterior(NOT_SYMMETRIC, [0], [1.0], 1.0),
        ["K", "symmetric"],
    ),
    "posterior: K not PSD": (
        lambda: core.posterior(NOT_PSD, [0], [1.0], 1.0),
        ["K", "positive semi-definite"],
    ),
    "information gain: K with diagonal above 1": (
        lambda: core.information_gain(2 * I3, 5, 1.0),
        ["K", "diagonal", "2"],
    ),
    "features: K not square": (
        lambda: core.nystrom_features(np.ones((2, 3)), [0]),
        ["K", "(2, 3)"],
    ),
    # the rest of a problem
    "f of the wrong length": (lambda: problem(f=[0.0, 1.0]), ["f", "2", "3 entries"]),
    "f with NaN": (lambda: problem(f=[0.0, 1.0, nan]), ["f", "nan", "finite"]),
    "B zero": (lambda: problem(B=0.0), ["B = 0", "> 0"]),
    "B NaN": (lambda: problem(B=nan), ["B = nan"]),
    "R negative": (lambda: problem(R=-1.0), ["R = -1", ">= 0"]),
    "v negative": (lambda: problem(v=-1.0), ["v = -1", ">= 0"]),
    "c infinite": (lambda: problem(c=inf), ["c = inf"]),
    "alpha zero": (lambda: problem(alpha=0.0), ["alpha = 0", "(0, 1]"]),
    "alpha above one": (lambda: problem(alpha=1.0001), ["alpha = 1.0001", "(0, 1]"]),
    "alpha NaN": (lambda: problem(alpha=nan), ["alpha = nan", "(0, 1]"]),
    "an unknown noise law": (
        lambda: problem(noise="gauss"),
        ["noise = 'gauss'", "uniform", "t3", "table"],
    ),
    "a table problem without a table": (lambda: problem(noise="table"), ["samples", "table"]),
    "sample of an arm that is not there": (lambda: PROBLEM.sample(3, RNG), ["arm = 3", "0 to 2"]),
    "sample of half an arm": (lambda: PROBLEM.sample(0.5, RNG), ["arm = 0.5"]),
    "a kernel that is a word": (
        lambda: core.Problem(points=[0.0, 1.0], kernel="se", B=1.0, R=1.0),
        ["kernel = 'se'", "function"],
    ),
    "a ceiling of a matrix beyond floats": (
        lambda: bounds.gain_ceiling([[10**400]], 10, 1.0),
        ["K", "real numbers"],
    ),
    "an audit of what is no curator": (
        lambda: audit("CTL", 1.0, -1.0, 100),
        ["curator = 'CTL'", "privatise"],
    ),
    "an unknown kernel": (
        lambda: core.synthetic_problem(kernel="rbf", noise="t3", seed=0),
        ["kernel = 'rbf'", "se", "matern"],
    ),
    "an unknown synthetic noise": (
        lambda: core.synthetic_problem(kernel="se", noise="gauss", seed=0),
        ["noise = 'gauss'", "uniform", "t3"],
    ),
    # tables
    "a table with NaN": (
        lambda: core.table_problem(spoiled(TABLE, (4, 1), nan)),
        ["samples", "[4, 1]", "nan", "finite"],
    ),
    "a table with infinity": (
        lambda: core.table_problem(spoiled(TABLE, (4, 1), inf)),
        ["samples", "inf"],
    ),
    "a table with a constant column": (
        lambda: core.table_problem(spoiled(TABLE, (slice(None), 2), 7.0)),
        ["samples", "2", "constant"],
    ),
    "a constant column whose mean rounds": (
        lambda: core.table_problem(spoiled(TABLE[:3], (slice(None), 2), 0.1)),
        ["samples", "2", "constant"],
    ),
    "a train table with a constant column": (
        lambda: core.table_problem(TABLE, spoiled(TABLE, (slice(None), 0), 0.1)),
        ["train", "0", "constant"],
    ),
    "a train table with NaN": (
        lambda: core.table_problem(TABLE, spoiled(TABLE, (0, 0), nan)),
        ["train", "nan"],
    ),
    "a train table of other arms": (
        lambda: core.table_problem(TABLE, TABLE[:, :2]),
        ["train", "2", "3"],
    ),
    "a table of one row": (lambda: core.table_problem(TABLE[:1]), ["samples", "1", "2"]),
    "a table that is a vector": (lambda: core.table_problem(TABLE[0]), ["samples", "1", "2"]),
    "an empirical kernel of a constant column": (
        lambda: core.empirical_kernel(spoiled(TABLE[:3], (slice(None), 1), 0.1)),
        ["samples", "1", "constant"],
    ),
    # settings
    "T zero": (lambda: make(T=0), ["T = 0", ">= 1"]),
    "T negative": (lambda: make(T=-5), ["T = -5", ">= 1"]),
    "T not whole": (lambda: make(T=10.5), ["T = 10.5", "integer"]),
    "T a truth value": (lambda: make(T=True), ["T = True", "integer"]),
    "T in simulate": (lambda: simulate(T=0), ["T = 0", ">= 1"]),
    "k above T": (lambda: make("MoMA", T=10, k=11), ["k = 11", "T", "10"]),
    "the printed k above T": (
        lambda: make("MoMA", T=200, constants="printed"),
        ["k = 240", "T", "200"],
    ),
    "k above T in simulate": (
        lambda: simulate(["MoMA"], T=200, constants="printed"),
        ["k = 240", "T", "200"],
    ),
    "k zero": (lambda: make("MoMA", k=0), ["k = 0", ">= 1"]),
    "k not whole": (lambda: make("MoMA", k=2.5), ["k = 2.5", "integer"]),
    "acc zero": (lambda: make("ATA", acc=0.0), ["acc = 0", "(0, 1)"]),
    "acc one": (lambda: make("ATA", acc=1.0), ["acc = 1", "(0, 1)"]),
    "acc NaN": (lambda: make("ATA", acc=nan), ["acc = nan", "(0, 1)"]),
    "delta zero": (lambda: make(delta=0.0), ["delta = 0", "(0, 1)"]),
    "delta one": (lambda: make(delta=1.0), ["delta = 1", "(0, 1)"]),
    "delta negative": (lambda: make(delta=-0.1), ["delta = -0.1", "(0, 1)"]),
    "lam zero": (lambda: make(lam=0.0), ["lam = 0", "> 0"]),
    "lam NaN": (lambda: make(lam=nan), ["lam = nan", "> 0"]),
    "q zero": (lambda: make("ATA", q=0.0), ["q = 0", "> 0"]),
    "q negative": (lambda: make("ATA", q=-inf), ["q = -inf", "> 0"]),
    "q NaN": (lambda: make("ATA", q=nan), ["q = nan", "> 0"]),
    "beta_scale negative": (lambda: make(beta_scale=-1.0), ["beta_scale = -1", ">= 0"]),
    "beta_scale NaN": (lambda: make(beta_scale=nan), ["beta_scale = nan"]),
    "an unknown algorithm": (
        lambda: make("UCB"),
        ["name = 'UCB'", "TGP", "ATA", "MoMA", "GP-UCB", "uniform"],
    ),
    "an algorithm that is no word": (lambda: make(["TGP"]), ["name", "TGP", "ATA", "MoMA"]),
    "an unknown algorithm in simulate": (
        lambda: simulate(["TGP", "UCB"]),
        ["name = 'UCB'", "TGP", "ATA", "MoMA"],
    ),
    "no algorithm": (lambda: simulate([]), ["names", "TGP", "ATA", "MoMA"]),
    "unknown constants": (
        lambda: make(constants="best"),
        ["constants = 'best'", "order", "printed"],
    ),
    "the old word for printed": (
        lambda: make("TGP", constants="theorem"),
        ["constants = 'theorem'", "printed", "proved"],
    ),
    "the old word for proved": (
        lambda: make("MoMA", constants="repaired"),
        ["constants = 'repaired'", "proved"],
    ),
    "proved GP-UCB on heavy tails": (
        lambda: core.make("GP-UCB", problem(noise="t3"), 10, constants="proved"),
        ["constants = 'proved'", "'order'", "GP-UCB", "heavy"],
    ),
    "proved with a CTL that clips to less than F + R": (
        lambda: make("PE", constants="proved", eps=None, curator=core.CTL(1.0, 0.1, 0.1)),
        ["curator: clips to 0.2", "F + R = "],
    ),
    "proved with SecureCTL": (
        lambda: make("GP-UCB", eps=1.0, constants="proved", curator=core.SecureCTL),
        ["constants = 'proved'", "'order' with SecureCTL", "grid"],
    ),
    "the curator of an arm that is not there": (
        lambda: make("PE").curator(3),
        ["arm = 3", "0 to 2"],
    ),
    "the curator of a negative arm": (
        lambda: make(
            "PE", schedule="double", constants="proved", eps=1.0, curator=core.OneBit
        ).curator(-1),
        ["arm = -1", "0 to 2"],
    ),
    "a window of no width": (
        lambda: core.OneBit(1.0, 0.0, 0.0),
        ["F = 0.0, R = 0.0", "> 0"],
    ),
    "reports and rewards that do not go together": (
        lambda: core.CTL(1.0, 1.0, 1.0).log_density([1.0, 2.0], [1.0, 2.0, 3.0]),
        ["report has shape (2,)", "y has shape (3,)"],
    ),
    "samples of no size": (
        lambda: PROBLEM.sample(0, RNG, -1),
        ["size = -1", ">= 0"],
    ),
    "the norm of a matrix": (
        lambda: core.rkhs_norm(np.eye(2)),
        ["problem = ndarray", "Problem"],
    ),
    "ragged counts": (
        lambda: make("PE").tell_sums([[1], [1, 2]], np.zeros(3)),
        ["counts: must be a list of integers"],
    ),
    "gains of too many rounds": (
        lambda: core.information_gain(np.eye(2), 10**12, 1.0),
        ["T = 1000000000000", "100000000"],
    ),
    "a run of too many rounds": (
        lambda: simulate("TGP", T=10**12),
        ["T = 1000000000000", "100000000", "simulate_batches"],
    ),
    "a bump in three dimensions": (
        lambda: bounds.bump(3),
        ["d = 3", "1 or 2"],
    ),
    "points and their number": (
        lambda: core.function_problem(np.linalg.norm, [[0, 1]], 5, points=[[0.1]]),
        ["n = 5", "must be 1", "left out"],
    ),
    "too small a proved k": (
        lambda: make("MoMA", T=100, constants="proved", k=3),
        ["k = 3", "delta/2", "order"],
    ),
    "no proved ATA": (
        lambda: make("ATA", constants="proved"),
        ["constants", "proved", "ATA"],
    ),
    "no printed PE": (lambda: make("PE", constants="printed"), ["constants", "printed", "PE"]),
    "T beyond what floats count": (
        lambda: make("PE", T=10**16),
        ["T = 10000000000000000", "10**15"],
    ),
    "more reports than planned": (
        lambda: make("PE").tell_sums([100, 0, 0], [0.0, 0.0, 0.0]),
        ["counts of arm 0 = 100", "from 0 to"],
    ),
    "sums with NaN": (
        lambda: make("PE").tell_sums([1, 0, 0], [nan, 0.0, 0.0]),
        ["sums", "nan", "finite"],
    ),
    "sums of another number of arms": (
        lambda: make("PE").tell_sums([1, 0], [0.0, 0.0]),
        ["counts", "sums", "(2,)", "(3,)"],
    ),
    "counts that are not whole": (
        lambda: make("PE").tell_sums([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ["counts", "float64", "integers"],
    ),
    "a problem that is none": (lambda: core.make("TGP", I3, 10), ["problem", "Problem"]),
    "a problem that is none in simulate": (lambda: simulate(problem=None), ["problem"]),
    "a callable that returns no problem": (
        lambda: simulate(problem=lambda seed: seed),
        ["problem", "Problem"],
    ),
    "weibull with eps": (lambda: make(eps=1.0, weibull=(1.0, 1.0, 1.0)), ["weibull"]),
    "weibull of another algorithm": (
        lambda: make("ATA", weibull=(1.0, 1.0, 1.0)),
        ["weibull", "TGP"],
    ),
    "weibull of two numbers": (lambda: make(weibull=(1.0, 1.0)), ["weibull", "(1.0, 1.0)"]),
    "weibull of one number": (lambda: make(weibull=1.0), ["weibull", "1.0"]),
    "weibull negative": (lambda: make(weibull=(1.0, -1.0, 1.0)), ["weibull", "-1"]),
    "rng a word": (lambda: make("ATA", rng="random"), ["rng", "random"]),
    "rng a matrix, which would crash NumPy": (
        lambda: make("ATA", rng=np.array([[1, 2, 3]]).view(np.matrix)),
        ["rng", "Generator", "seed"],
    ),
    "rng a table": (lambda: make("ATA", rng=np.ones((2, 2), int)), ["rng", "Generator", "seed"]),
    "the seed of a problem": (
        lambda: core.synthetic_problem(seed=1.5),
        ["seed = 1.5", "a seed >= 0"],
    ),
    "the seed of a function's points": (
        lambda: core.function_problem(lambda x: x[0], [(0, 1)], 8, seed="one"),
        ["seed = 'one'", "a seed >= 0"],
    ),
    "a function that is none": (
        lambda: core.function_problem([1.0], [(0, 1)], 8),
        ["function = [1.0]", "a function of a point"],
    ),
    "rng in simulate": (lambda: simulate(rng=3), ["rng", "seed"]),
    "trials zero": (lambda: simulate(trials=0), ["trials = 0", ">= 1"]),
    "seed negative": (lambda: simulate(seed=-1), ["seed = -1"]),
    "workers zero": (lambda: simulate(workers=0), ["workers = 0", ">= 1"]),
    # posterior, gain, features, kernels
    "posterior: lengths": (lambda: core.posterior(I3, [0, 1], [1.0], 1.0), ["y", "1", "arms", "2"]),
    "posterior: y NaN": (lambda: core.posterior(I3, [0], [nan], 1.0), ["y", "nan", "finite"]),
    "posterior: an arm that is not there": (
        lambda: core.posterior(I3, [3], [1.0], 1.0),
        ["arms[0] = 3", "0 to 2"],
    ),
    "posterior: a negative arm": (
        lambda: core.posterior(I3, [-1], [1.0], 1.0),
        ["arms[0] = -1", "0 to 2"],
    ),
    "posterior: lam": (lambda: core.posterior(I3, [0], [1.0], 0.0), ["lam = 0", "> 0"]),
    "gain: T": (lambda: core.information_gain(I3, -1, 1.0), ["T = -1", ">= 0"]),
    "gain: lam": (lambda: core.information_gain(I3, 5, -1.0), ["lam = -1", "> 0"]),
    "features: an arm that is not there": (
        lambda: core.nystrom_features(I3, [0, 5]),
        ["5", "0 to 2"],
    ),
    "features: an arm twice": (
        lambda: core.nystrom_features(I3, [0, 0]),
        ["dictionary", "[0, 0]", "once"],
    ),
    "features: not a list": (lambda: core.nystrom_features(I3, 1), ["dictionary", "1"]),
    "se: lengthscale": (
        lambda: core.se_kernel([0.0], [1.0], lengthscale=0.0),
        ["lengthscale", "0", "> 0"],
    ),
    "matern: nu": (
        lambda: core.matern_kernel([0.0], [1.0], lengthscale=1.0, nu=-1.0),
        ["nu", "-1", "> 0"],
    ),
    "kernel: dimensions": (
        lambda: core.se_kernel(np.ones((2, 2)), np.ones((2, 3)), lengthscale=1.0),
        ["X", "2", "Y", "3", "dimension"],
    ),
    "linear kernel: dimensions": (
        lambda: core.linear_kernel(np.ones((2, 2)), np.ones((2, 3))),
        ["X", "2", "Y", "3", "dimension"],
    ),
    "kernel: NaN": (
        lambda: core.matern_kernel([nan], [1.0], lengthscale=1.0, nu=1.5),
        ["X", "nan", "finite"],
    ),
    "kernel: a ragged list": (
        lambda: core.se_kernel([[1.0, 2.0], [3.0]], [[1.0, 2.0]], lengthscale=1.0),
        ["X"],
    ),
    "kernel: words": (lambda: core.se_kernel(["a"], [1.0], lengthscale=1.0), ["X", "numbers"]),
    "arms that are masked": (
        lambda: core.posterior(I3, np.ma.array([0, 1], mask=[0, 1]), [1.0, 2.0], 1.0),
        ["arm", "0 to 2"],
    ),
    "arms that are dates": (
        lambda: core.posterior(I3, np.array(["2020-01-01"], "M8[D]"), [1.0], 1.0),
        ["arm", "0 to 2"],
    ),
    "a ragged list of arms": (
        lambda: core.posterior(I3, [0, [1, 2]], [1.0, 2.0], 1.0),
        ["arms[1] = [1, 2]", "0 to 2"],
    ),
    "rewards that would overflow": (
        lambda: core.posterior(I3, [0], [1e200], 1.0),
        ["y[0] = 1e+200", "1e+100"],
    ),
    "mean rewards that would overflow": (
        lambda: problem(f=[0.0, 1.0, -1e308]),
        ["f[2] = -1e+308", "1e+100"],
    ),
    # settings at the ends of floating point
    "lam subnormal": (lambda: make(lam=5e-324), ["lam = 5e-324", "1e-10"]),
    "lam that rounding drowns": (lambda: make(lam=1e-14), ["lam = 1e-14", "1e-10"]),
    "posterior: lam that rounding drowns": (
        lambda: core.posterior(I3, [0], [1.0], 1e-14),
        ["lam = 1e-14", "1e-10"],
    ),
    "gain: lam subnormal": (
        lambda: core.information_gain(I3, 5, 5e-324),
        ["lam = 5e-324", "1e-10"],
    ),
    "delta subnormal": (
        lambda: make(delta=5e-324, constants="printed"),
        ["delta = 5e-324", "(0, 1)", "1e-100"],
    ),
    "acc subnormal": (lambda: make("ATA", acc=1e-300), ["acc = 1e-300", "(0, 1)", "1e-100"]),
    "beta_scale near the largest float": (
        lambda: make(beta_scale=1.7e308),
        ["beta_scale = 1.7e+308", "1e100"],
    ),
    "nu subnormal": (
        lambda: core.matern_kernel([0.0], [1.0], lengthscale=1.0, nu=5e-324),
        ["nu = 5e-324", "> 0"],
    ),
    "lengthscale subnormal": (
        lambda: core.se_kernel([0.0], [1.0], lengthscale=5e-324),
        ["lengthscale = 5e-324", "> 0"],
    ),
    "B subnormal": (lambda: core.CTL(1.0, 5e-324, 0.0), ["B = 5e-324", "> 0"]),
    "T beyond floats": (lambda: make(T=10**400), ["T = 1000", "10**15"]),
    "radius: delta subnormal": (
        lambda: subweibull_radius(10, 5e-324, theta=1.0),
        ["delta = 5e-324", "(0, 1)"],
    ),
    # things of the wrong kind
    "a curator by name": (
        lambda: make(eps=1.0, curator="OneBit"),
        ["curator = 'OneBit'", "core.OneBit"],
    ),
    "a class that is no curator": (
        lambda: make(eps=1.0, curator=int),
        ["curator = <class 'int'>", "core.OneBit"],
    ),
    "a seed for sample": (lambda: PROBLEM.sample(0, 3), ["rng = 3", "Generator", "same noise"]),
    "a seed for privatise": (
        lambda: report(0.5, 0),
        ["rng = 0", "Generator", "same noise"],
    ),
    "names None": (lambda: simulate(None), ["names", "TGP", "uniform"]),
    "names a number": (lambda: simulate(5), ["names", "TGP", "uniform"]),
    "progress that cannot be called": (
        lambda: simulate(progress="bar"),
        ["progress = 'bar'", "function"],
    ),
    # a problem without f
    "simulate without f": (
        lambda: simulate(problem=problem(f=None)),
        ["f = None", "regret", "ask and tell"],
    ),
    "sample without f": (
        lambda: problem(f=None).sample(0, RNG),
        ["f = None", "simulate rewards", "ask and tell"],
    ),
    "problem without B": (lambda: core.Problem(K=I3, R=1.0), ["B = None", "> 0"]),
    "problem without R": (lambda: core.Problem(K=I3, B=1.0), ["R = None", ">= 0"]),
    # the unbounded-noise schedule
    "radius: theta": (lambda: subweibull_radius(10, 0.1, theta=0.0), ["theta = 0", "> 0"]),
    "radius: delta": (
        lambda: subweibull_radius(10, 1.5, theta=1.0),
        ["delta = 1.5", "(0, 1)"],
    ),
    "radius: b": (lambda: subweibull_radius(10, 0.1, theta=1.0, b=-1.0), ["b = -1", "> 0"]),
}


# ---- kinds that NumPy would turn into numbers without a word -------------------------------------

TAKES_A_NUMBER = {
    "eps": lambda x: make(eps=x),
    "lam": lambda x: make(lam=x),
    "delta": lambda x: make(delta=x),
    "acc": lambda x: make("ATA", acc=x),
    "beta_scale": lambda x: make(beta_scale=x),
    "reward": told,
    "T": lambda x: make(T=x),
    "k": lambda x: make("MoMA", k=x),
    "B": lambda x: problem(B=x),
    "R": lambda x: problem(R=x),
    "v": lambda x: problem(v=x),
    "alpha": lambda x: problem(alpha=x),
    "y": report,
    "arm": lambda x: PROBLEM.sample(x, RNG),
    "lengthscale": lambda x: core.se_kernel([0.0], [1.0], lengthscale=x),
}
TAKES_AN_ARRAY = {
    "K": lambda x: problem(K=table(x, I3)),
    "f": lambda x: problem(f=row(x)),
    "samples": lambda x: core.table_problem(table(x)),
    "train": lambda x: core.table_problem(TABLE, table(x)),
    "X": lambda x: core.se_kernel(row(x), [1.0], lengthscale=1.0),
    "Y": lambda x: core.linear_kernel([1.0], row(x)),
    "y": lambda x: core.posterior(I3, [0, 1, 2], row(x), 1.0),
    "y of a report": lambda x: report(row(x)),
}
LISTS_ARE_FINE = {("a list", "y"), ("a list", "lengthscale")}

for (what, value), (name, call) in itertools.product(SCALARS.items(), TAKES_A_NUMBER.items()):
    if (what, name) not in LISTS_ARE_FINE:
        CASES[f"{what} as {name}"] = partial(call, value), [name, "must be"]
for (what, value), (name, call) in itertools.product(ENTRIES.items(), TAKES_AN_ARRAY.items()):
    CASES[f"an array of {what} as {name}"] = partial(call, value), [name.split()[0], "must be"]


@mark.parametrize("case", CASES)
def test_bad_input_names_the_argument_the_value_and_what_is_allowed(case):
    call, words = CASES[case]
    with raises(ValueError) as error:
        call()
    for word in words:
        assert word in str(error.value), f"{word!r} is not in: {error.value}"


NUMBERS = [
    Fraction(1, 2),
    np.float32(0.5),
    np.array(0.5),
    np.ma.array(0.5),
    np.int8(1),
    1,
    0.5,
]
ARRAYS = [
    np.array([Fraction(1, 2), np.int8(1), True], object),
    [1, 0.5, np.float32(2)],
    np.ma.array([0, 1, 2]),
    np.array([True, False, True]),
    np.float16([0, 1, 2]),
]


def test_good_input_of_the_same_kind_is_accepted():
    """The table above would also pass if everything were refused."""
    problem()
    problem(alpha=1e-3)
    problem(R=0.0, v=0.0, c=0.0)
    problem(K=I3 * (1 + 1e-12))
    for name in ("TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"):
        make(name)
        make(name, eps=1.0)
        make(name, T=np.int64(50), delta=0.999, acc=0.001, lam=1e-6, q=inf, beta_scale=0)
    make("MoMA", T=10, k=10)
    make(weibull=(2.0, 3.0, 0.1))
    make("ATA", rng=3)
    make("ATA", rng=default_rng(3))
    core.make("MoMA", problem(alpha=0.5), 100, constants="proved")
    for name in ("TGP", "ATA", "MoMA", "PE", "GP-UCB", "TS"):
        make(name, lam=None)
    make("PE").tell_sums([1, 0, 0], [0.5, 0.0, 0.0])
    make("MoMA", constants="proved")
    make("TGP", constants="proved")
    told(1)
    told(np.float32(1.0))
    told(np.array(1.0))
    told(1.0, arm=np.int64(2))
    core.table_problem(TABLE, TABLE[:4])
    core.table_problem(TABLE[:2])
    core.information_gain(I3, 0, 1.0)
    core.nystrom_features(I3, [])
    subweibull_radius(10, 0.1, theta=1.0)
    simulate(["TGP", "uniform"], workers=1, eps=1.0)
    for x in NUMBERS:
        make(eps=x, beta_scale=x)
        told(x)
        problem(B=x)
        report(x)
    assert_array_equal(problem(f=np.arange(3)).f, [0, 1, 2])
    for x in ARRAYS:
        problem(f=x)
        core.se_kernel(x, x, lengthscale=1.0)
    core.posterior(I3, np.ma.array([0, 1]), [1.0, 2.0], 1e-10)
    make("MoMA", constants="printed", T=10_000, delta=1e-99, acc=1e-99, lam=1e-10)
    report(0.5, None)
    PROBLEM.sample(0, None)
    simulate(seed=2**128)
    simulate(("TGP",), progress=None)


def test_a_problem_without_f_drives_every_learner_as_the_same_problem_with_f():
    rewards = default_rng(3).normal(size=60)
    for name in core.ALGORITHMS:
        known = core.make(name, problem(), 60, eps=1.0, rng=1)
        unknown = core.make(name, problem(f=None), 60, eps=1.0, rng=1)
        for y in rewards:
            assert known.ask() == unknown.ask()
            known.tell(y)
            unknown.tell(y)


@mark.parametrize("alpha", [1.0, 0.4])
def test_v_and_c_left_out_bound_the_moments_of_bounded_noise(alpha):
    """Exact for noise +-R at |f| = B and alpha = 1; never below any bounded noise's moment.

    Here a grid of means and two-point noises.
    """
    plain = core.Problem(K=I3, B=1.5, R=3.0)
    assert (plain.v, plain.c) == (11.25, 9.0)
    free = core.Problem(K=I3, B=1.5, R=3.0, alpha=alpha)
    order = 1 + alpha
    assert free.v == approx(11.25 ** (order / 2))
    assert free.c == approx(3.0**order)
    for f in np.linspace(-1.5, 1.5, 9):
        for low in np.linspace(0.01, 3.0, 7):  # noise -low or +3, mean 0
            p = low / (low + 3.0)
            moment = lambda a, b: p * abs(a) ** order + (1 - p) * abs(b) ** order
            assert moment(f + 3.0, f - low) <= free.v * (1 + 1e-12)
            assert moment(3.0, -low) <= free.c * (1 + 1e-12)


def test_posterior_is_right_at_the_smallest_ridge_allowed():
    """Within 1e-4 of 60 digits, for a kernel whose small eigenvalues are all rounding."""
    import mpmath

    x = np.arange(12) / 12
    K = core.se_kernel(x, x, lengthscale=0.3)
    arms = [0, 3, 5, 11, 5]
    y = [1.0, -2.0, 0.5, 0.3, 0.7]
    lam = 1e-10
    mu, sigma = core.posterior(K, arms, y, lam)
    with mpmath.workdps(60):
        KT = mpmath.matrix(K[np.ix_(arms, arms)].tolist()) + mpmath.mpf(lam) * mpmath.eye(5)
        weights = mpmath.lu_solve(KT, mpmath.matrix(y))
        exact = [float(sum(K[i, a] * w for a, w in zip(arms, weights))) for i in range(12)]
    assert_allclose(mu, exact, atol=1e-4)


def test_progress_is_refused_before_any_work():
    work = lambda seed: pytest.fail("work was done")
    with raises(ValueError, match="progress"):
        simulate(problem=work, progress=3)


def test_constants_that_are_not_private_say_how_to_ask_for_no_privacy():
    with raises(ValueError, match="None"):
        make(eps=0.0)
