"""Bad input is refused with a ValueError that names the argument, the value and what is allowed.

Each row: a call, and the words its message must contain (the argument's name, the value where it is one number or word, a word about what is allowed).
"""
import math

import numpy as np
import pytest

import ldpbo_core as ldpbo

I3 = np.eye(3)
GOOD = dict(K=I3, f=[0.0, 0.5, 1.0], B=1.0, R=1.0, v=3.0, c=2.0)
PROBLEM = ldpbo.Problem(**GOOD)
RNG = np.random.default_rng(0)
TABLE = np.random.default_rng(1).random((10, 3))


def problem(**change):
    return ldpbo.Problem(**{**GOOD, **change})


def make(name="TGP", T=100, **settings):
    return ldpbo.make(name, PROBLEM, T, **settings)


def simulate(names=("TGP",), T=20, **settings):
    return ldpbo.simulate(settings.pop("problem", PROBLEM), names, T, **{"trials": 1, "seed": 0, **settings})


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

CASES = {
    # privacy
    "eps zero": (lambda: make(eps=0.0), ["eps = 0", "> 0"]),
    "eps negative": (lambda: make(eps=-1.0), ["eps = -1", "> 0"]),
    "eps NaN": (lambda: make(eps=math.nan), ["eps = nan", "> 0"]),
    "eps infinite": (lambda: make(eps=math.inf), ["eps = inf", "None"]),
    "eps a word": (lambda: make(eps="one"), ["eps = 'one'"]),
    "eps beyond floats": (lambda: make(eps=10 ** 400), ["eps"]),
    "eps so small that the noise overflows": (lambda: make(eps=1e-300), ["eps = 1e-300"]),
    "eps in simulate": (lambda: simulate(eps=-2.0), ["eps = -2"]),
    "curator eps": (lambda: ldpbo.CTL(0.0, 1.0, 1.0), ["eps = 0"]),
    "curator eps NaN": (lambda: ldpbo.CTL(math.nan, 1.0, 1.0), ["eps = nan"]),
    "curator B": (lambda: ldpbo.CTL(1.0, -1.0, 1.0), ["B = -1"]),
    "curator R": (lambda: ldpbo.CTL(1.0, 1.0, math.inf), ["R = inf"]),
    "curator and another eps": (lambda: make(eps=2.0, curator=ldpbo.CTL(1.0, 1.0, 1.0)), ["eps", "2", "1"]),
    "report of NaN": (lambda: ldpbo.CTL(1.0, 1.0, 1.0).privatise(math.nan, RNG), ["y = nan", "finite"]),
    "report of infinity": (lambda: ldpbo.CTL(1.0, 1.0, 1.0).privatise(math.inf, RNG), ["y = inf", "finite"]),
    "report of a table with NaN": (lambda: ldpbo.CTL(1.0, 1.0, 1.0).privatise(np.array([0.0, math.nan]), RNG), ["y", "nan", "finite"]),
    "report of a word": (lambda: ldpbo.CTL(1.0, 1.0, 1.0).privatise("much", RNG), ["y"]),
    # rewards
    "reward NaN": (lambda: told(math.nan), ["reward = nan", "finite"]),
    "reward infinite": (lambda: told(-math.inf), ["reward = -inf", "finite"]),
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
    "K with NaN": (lambda: problem(K=spoiled(I3, (1, 2), math.nan)), ["K", "nan", "finite"]),
    "K with infinity": (lambda: problem(K=spoiled(I3, (1, 2), math.inf)), ["K", "inf", "finite"]),
    "K of words": (lambda: problem(K=[["a", "b"], ["c", "d"]]), ["K", "numbers"]),
    "posterior: K not symmetric": (lambda: ldpbo.posterior(NOT_SYMMETRIC, [0], [1.0], 1.0), ["K", "symmetric"]),
    "posterior: K not PSD": (lambda: ldpbo.posterior(NOT_PSD, [0], [1.0], 1.0), ["K", "positive semi-definite"]),
    "information gain: K with diagonal above 1": (lambda: ldpbo.information_gain(2 * I3, 5, 1.0), ["K", "diagonal", "2"]),
    "features: K not square": (lambda: ldpbo.nystrom_features(np.ones((2, 3)), [0]), ["K", "(2, 3)"]),
    # the rest of a problem
    "f of the wrong length": (lambda: problem(f=[0.0, 1.0]), ["f", "2", "3"]),
    "f with NaN": (lambda: problem(f=[0.0, 1.0, math.nan]), ["f", "nan", "finite"]),
    "B zero": (lambda: problem(B=0.0), ["B = 0", "> 0"]),
    "B NaN": (lambda: problem(B=math.nan), ["B = nan"]),
    "R negative": (lambda: problem(R=-1.0), ["R = -1", ">= 0"]),
    "v negative": (lambda: problem(v=-1.0), ["v = -1", ">= 0"]),
    "c infinite": (lambda: problem(c=math.inf), ["c = inf"]),
    "alpha zero": (lambda: problem(alpha=0.0), ["alpha = 0", "(0, 1]"]),
    "alpha above one": (lambda: problem(alpha=1.0001), ["alpha = 1.0001", "(0, 1]"]),
    "alpha NaN": (lambda: problem(alpha=math.nan), ["alpha = nan", "(0, 1]"]),
    "an unknown noise law": (lambda: problem(noise="gauss"), ["noise = 'gauss'", "uniform", "t3", "table"]),
    "a table problem without a table": (lambda: problem(noise="table"), ["samples", "table"]),
    "sample of an arm that is not there": (lambda: PROBLEM.sample(3, RNG), ["arm = 3", "0 to 2"]),
    "sample of half an arm": (lambda: PROBLEM.sample(0.5, RNG), ["arm = 0.5"]),
    "an unknown kernel": (lambda: ldpbo.synthetic_problem(kernel="rbf", noise="t3", seed=0), ["kernel = 'rbf'", "se", "matern"]),
    "an unknown synthetic noise": (lambda: ldpbo.synthetic_problem(kernel="se", noise="gauss", seed=0), ["noise = 'gauss'", "uniform", "t3"]),
    # tables
    "a table with NaN": (lambda: ldpbo.table_problem(spoiled(TABLE, (4, 1), math.nan)), ["samples", "[4, 1]", "nan", "finite"]),
    "a table with infinity": (lambda: ldpbo.table_problem(spoiled(TABLE, (4, 1), math.inf)), ["samples", "inf"]),
    "a table with a constant column": (lambda: ldpbo.table_problem(spoiled(TABLE, (slice(None), 2), 7.0)), ["samples", "2", "constant"]),
    "a constant column whose mean rounds": (lambda: ldpbo.table_problem(spoiled(TABLE[:3], (slice(None), 2), 0.1)), ["samples", "2", "constant"]),
    "a train table with a constant column": (lambda: ldpbo.table_problem(TABLE, spoiled(TABLE, (slice(None), 0), 0.1)), ["train", "0", "constant"]),
    "a train table with NaN": (lambda: ldpbo.table_problem(TABLE, spoiled(TABLE, (0, 0), math.nan)), ["train", "nan"]),
    "a train table of other arms": (lambda: ldpbo.table_problem(TABLE, TABLE[:, :2]), ["train", "2", "3"]),
    "a table of one row": (lambda: ldpbo.table_problem(TABLE[:1]), ["samples", "1", "2"]),
    "a table that is a vector": (lambda: ldpbo.table_problem(TABLE[0]), ["samples", "1", "2"]),
    "an empirical kernel of a constant column": (lambda: ldpbo.empirical_kernel(spoiled(TABLE[:3], (slice(None), 1), 0.1)), ["samples", "1", "constant"]),
    # settings
    "T zero": (lambda: make(T=0), ["T = 0", ">= 1"]),
    "T negative": (lambda: make(T=-5), ["T = -5", ">= 1"]),
    "T not whole": (lambda: make(T=10.5), ["T = 10.5", "integer"]),
    "T a truth value": (lambda: make(T=True), ["T = True", "integer"]),
    "T in simulate": (lambda: simulate(T=0), ["T = 0", ">= 1"]),
    "k above T": (lambda: make("MoMA", T=10, k=11), ["k = 11", "T", "10"]),
    "the theorem's k above T": (lambda: make("MoMA", T=200, constants="theorem"), ["k = 240", "T", "200"]),
    "k above T in simulate": (lambda: simulate(["MoMA"], T=200, constants="theorem"), ["k = 240", "T", "200"]),
    "k zero": (lambda: make("MoMA", k=0), ["k = 0", ">= 1"]),
    "k not whole": (lambda: make("MoMA", k=2.5), ["k = 2.5", "integer"]),
    "acc zero": (lambda: make("ATA", acc=0.0), ["acc = 0", "(0, 1)"]),
    "acc one": (lambda: make("ATA", acc=1.0), ["acc = 1", "(0, 1)"]),
    "acc NaN": (lambda: make("ATA", acc=math.nan), ["acc = nan", "(0, 1)"]),
    "delta zero": (lambda: make(delta=0.0), ["delta = 0", "(0, 1)"]),
    "delta one": (lambda: make(delta=1.0), ["delta = 1", "(0, 1)"]),
    "delta negative": (lambda: make(delta=-0.1), ["delta = -0.1", "(0, 1)"]),
    "lam zero": (lambda: make(lam=0.0), ["lam = 0", "> 0"]),
    "lam NaN": (lambda: make(lam=math.nan), ["lam = nan", "> 0"]),
    "q zero": (lambda: make("ATA", q=0.0), ["q = 0", "> 0"]),
    "q negative": (lambda: make("ATA", q=-math.inf), ["q = -inf", "> 0"]),
    "q NaN": (lambda: make("ATA", q=math.nan), ["q = nan", "> 0"]),
    "beta_scale negative": (lambda: make(beta_scale=-1.0), ["beta_scale = -1", ">= 0"]),
    "beta_scale NaN": (lambda: make(beta_scale=math.nan), ["beta_scale = nan"]),
    "an unknown algorithm": (lambda: make("UCB"), ["name = 'UCB'", "TGP", "ATA", "MoMA", "GP-UCB", "uniform"]),
    "an algorithm that is no word": (lambda: make(["TGP"]), ["name", "TGP", "ATA", "MoMA"]),
    "an unknown algorithm in simulate": (lambda: simulate(["TGP", "UCB"]), ["name = 'UCB'", "TGP", "ATA", "MoMA"]),
    "no algorithm": (lambda: simulate([]), ["names", "TGP", "ATA", "MoMA"]),
    "unknown constants": (lambda: make(constants="best"), ["constants = 'best'", "order", "theorem"]),
    "no repaired ATA": (lambda: make("ATA", constants="repaired"), ["constants", "repaired", "ATA"]),
    "no repaired MoMA below alpha 1": (lambda: ldpbo.make("MoMA", problem(alpha=0.5), 100, constants="repaired"), ["constants", "repaired", "alpha"]),
    "a problem that is none": (lambda: ldpbo.make("TGP", I3, 10), ["problem", "Problem"]),
    "a problem that is none in simulate": (lambda: simulate(problem=None), ["problem"]),
    "a callable that returns no problem": (lambda: simulate(problem=lambda seed: seed), ["problem", "Problem"]),
    "weibull with eps": (lambda: make(eps=1.0, weibull=(1.0, 1.0, 1.0)), ["weibull"]),
    "weibull of another algorithm": (lambda: make("ATA", weibull=(1.0, 1.0, 1.0)), ["weibull", "TGP"]),
    "weibull of two numbers": (lambda: make(weibull=(1.0, 1.0)), ["weibull", "(1.0, 1.0)"]),
    "weibull of one number": (lambda: make(weibull=1.0), ["weibull", "1.0"]),
    "weibull negative": (lambda: make(weibull=(1.0, -1.0, 1.0)), ["weibull", "-1"]),
    "rng a word": (lambda: make("ATA", rng="random"), ["rng", "random"]),
    "rng in simulate": (lambda: simulate(rng=3), ["rng", "seed"]),
    "trials zero": (lambda: simulate(trials=0), ["trials = 0", ">= 1"]),
    "seed negative": (lambda: simulate(seed=-1), ["seed = -1"]),
    "workers zero": (lambda: simulate(workers=0), ["workers = 0", ">= 1"]),
    # posterior, gain, features, kernels
    "posterior: lengths": (lambda: ldpbo.posterior(I3, [0, 1], [1.0], 1.0), ["y", "1", "arms", "2"]),
    "posterior: y NaN": (lambda: ldpbo.posterior(I3, [0], [math.nan], 1.0), ["y", "nan", "finite"]),
    "posterior: an arm that is not there": (lambda: ldpbo.posterior(I3, [3], [1.0], 1.0), ["arm = 3", "0 to 2"]),
    "posterior: a negative arm": (lambda: ldpbo.posterior(I3, [-1], [1.0], 1.0), ["arm = -1", "0 to 2"]),
    "posterior: lam": (lambda: ldpbo.posterior(I3, [0], [1.0], 0.0), ["lam = 0", "> 0"]),
    "gain: T": (lambda: ldpbo.information_gain(I3, -1, 1.0), ["T = -1", ">= 0"]),
    "gain: lam": (lambda: ldpbo.information_gain(I3, 5, -1.0), ["lam = -1", "> 0"]),
    "features: an arm that is not there": (lambda: ldpbo.nystrom_features(I3, [0, 5]), ["5", "0 to 2"]),
    "features: an arm twice": (lambda: ldpbo.nystrom_features(I3, [0, 0]), ["dictionary", "[0, 0]", "once"]),
    "features: not a list": (lambda: ldpbo.nystrom_features(I3, 1), ["dictionary", "1"]),
    "se: lengthscale": (lambda: ldpbo.se_kernel([0.0], [1.0], lengthscale=0.0), ["lengthscale", "0", "> 0"]),
    "matern: nu": (lambda: ldpbo.matern_kernel([0.0], [1.0], lengthscale=1.0, nu=-1.0), ["nu", "-1", "> 0"]),
    "kernel: dimensions": (lambda: ldpbo.se_kernel(np.ones((2, 2)), np.ones((2, 3)), lengthscale=1.0), ["X", "2", "Y", "3", "dimension"]),
    "linear kernel: dimensions": (lambda: ldpbo.linear_kernel(np.ones((2, 2)), np.ones((2, 3))), ["X", "2", "Y", "3", "dimension"]),
    "kernel: NaN": (lambda: ldpbo.matern_kernel([math.nan], [1.0], lengthscale=1.0, nu=1.5), ["X", "nan", "finite"]),
    "kernel: a ragged list": (lambda: ldpbo.se_kernel([[1.0, 2.0], [3.0]], [[1.0, 2.0]], lengthscale=1.0), ["X"]),
    "kernel: words": (lambda: ldpbo.se_kernel(["a"], [1.0], lengthscale=1.0), ["X", "numbers"]),
    # the unbounded-noise schedule
    "radius: theta": (lambda: ldpbo.subweibull_radius(10, 0.1, theta=0.0), ["theta = 0", "> 0"]),
    "radius: delta": (lambda: ldpbo.subweibull_radius(10, 1.5, theta=1.0), ["delta = 1.5", "(0, 1)"]),
    "radius: b": (lambda: ldpbo.subweibull_radius(10, 0.1, theta=1.0, b=-1.0), ["b = -1", "> 0"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_names_the_argument_the_value_and_what_is_allowed(case):
    call, words = CASES[case]
    with pytest.raises(ValueError) as error:
        call()
    for word in words:
        assert word in str(error.value), f"{word!r} is not in: {error.value}"


def test_good_input_of_the_same_kind_is_accepted():
    """The table above would also pass if everything were refused."""
    problem(), problem(alpha=1e-3), problem(R=0.0, v=0.0, c=0.0), problem(K=I3 * (1 + 1e-12))
    for name in ("TGP", "ATA", "MoMA", "GP-UCB", "uniform"):
        make(name), make(name, eps=1.0), make(name, T=np.int64(50), delta=0.999, acc=0.001, lam=1e-6, q=math.inf, beta_scale=0)
    make("MoMA", T=10, k=10), make(weibull=(2.0, 3.0, 0.1)), make("ATA", rng=3), make("ATA", rng=np.random.default_rng(3))
    make("MoMA", constants="repaired"), make("TGP", constants="repaired"), told(1), told(np.float32(1.0)), told(np.array(1.0)), told(1.0, arm=np.int64(2))
    ldpbo.table_problem(TABLE, TABLE[:4]), ldpbo.information_gain(I3, 0, 1.0), ldpbo.nystrom_features(I3, []), ldpbo.subweibull_radius(10, 0.1, theta=1.0)
    simulate(["TGP", "uniform"], workers=1, eps=1.0)


def test_constants_that_are_not_private_say_how_to_ask_for_no_privacy():
    with pytest.raises(ValueError, match="None"):
        make(eps=0.0)
