"""Random calls of the public names: a finite answer, or a ValueError that names an argument.

Nothing else, and no floating-point warning. The profile `fixed` (default) draws the same examples
on every machine; HYPOTHESIS_PROFILE=explore draws new ones each time, ten times as many.
"""

import os
import re
from decimal import Decimal
from fractions import Fraction
from math import exp, inf, isfinite, isnan, log1p, nan

import numpy as np
import oracle as o
from helpers import epochs, matern, se
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.random import default_rng
from pytest import approx, mark

import ldpbo_core as core
from ldpbo.audit import subweibull_radius
from ldpbo.bounds import lower_bound

pytestmark = mark.filterwarnings("error::RuntimeWarning")
relaxed = dict(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
settings.register_profile("fixed", derandomize=True, **relaxed)
settings.register_profile("explore", derandomize=False, print_blob=True, **relaxed)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
MORE = 10 if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else 1


def cases(number):
    return settings(max_examples=number * MORE)


def outcome(call, *arguments):
    """The answer of `call`, or None where a ValueError that starts with an argument refused it."""
    try:
        return call()
    except ValueError as error:
        first = re.match(r"\w*", str(error)).group()
        assert first in arguments, f"the message names none of {arguments}: {error}"
        assert len(str(error)) < 400
        return None


def finite(*values):
    return all(np.all(np.isfinite(value)) for value in values)


NUMBER = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 5e-324, inf, nan]),
)
POSITIVE = st.floats(1e-3, 1e3)
ANY_POSITIVE = st.one_of(POSITIVE, NUMBER)
PROBABILITY = st.one_of(st.floats(0.001, 0.999), NUMBER)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
POINTS = hnp.arrays(float, SHAPES, elements=NUMBER)
GOOD_SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 3))
GOOD_POINTS = hnp.arrays(float, GOOD_SHAPES, elements=st.floats(-5, 5))
SETTINGS_OF_ONE_NUMBER = ("T", "eps", "lam", "delta", "acc", "beta_scale", "q", "k")


@st.composite
def kernels(draw):
    """A valid kernel matrix with a diagonal of at most 1, of any rank, perhaps of repeated arms."""
    n = draw(st.integers(1, 7))
    kind = draw(st.sampled_from(["se", "matern", "gram", "identity", "ones", "zero"]))
    if kind == "identity":
        return np.eye(n)
    if kind == "ones":
        return np.ones((n, n))
    if kind == "zero":
        return np.diag([0.0] + [1.0] * (n - 1))
    rng = default_rng(draw(st.integers(0, 1000)))
    if kind == "gram":
        Z = rng.normal(size=(n, draw(st.integers(1, 4))))
        K = Z @ Z.T
        return K / np.max(np.diag(K))
    x = np.round(rng.random(n), draw(st.integers(1, 6)))
    return se(x, 0.3) if kind == "se" else matern(x, 0.3, nu=1.5)


@st.composite
def problems(draw):
    K = draw(kernels())
    f = draw(hnp.arrays(float, len(K), elements=st.floats(-10, 10)))
    return core.Problem(
        K=K,
        f=f,
        B=max(0.1, np.max(np.abs(f))),
        R=draw(st.floats(0, 10)),
        v=draw(st.floats(0.01, 1e3)),
        c=draw(st.floats(0, 1e3)),
        alpha=draw(st.floats(0.05, 1.0)),
        noise=draw(st.sampled_from(["uniform", "t3"])),
    )


# ---- odd kinds ----------------------------------------------------------------------------------
ODD = st.sampled_from(
    [
        1j,
        np.complex128(1 + 2j),
        np.datetime64("2020-01-01"),
        np.timedelta64(3, "s"),
        np.ma.masked,
        10**400,
        -(10**400),
        "1",
        b"1",
        None,
        (),
        {},
        object(),
        float,
        True,
        5e-324,
        1e-300,
        -5e-324,
        1.7e308,
        np.float32(1e-45),
        np.longdouble("1e4000"),
        Fraction(1, 10**400),
        Decimal("1.5"),
    ]
)
ANY = st.one_of(st.floats(0.1, 5), st.integers(1, 5), ODD)


def built(values, how):
    """A list of anything as an array of objects, a masked array or a plain list."""
    if how == "masked":
        mask = [value is np.ma.masked for value in values]
        return np.ma.array(np.ones(len(values)), mask=mask)
    if how == "list":
        return list(values)
    array = np.empty(len(values), object)
    array[:] = values
    return array


TRIPLES = st.lists(ANY, min_size=3, max_size=3)
ARRAYS = st.builds(built, TRIPLES, st.sampled_from(["object", "masked", "list"]))
REAL = (bool, int, float, np.integer, np.floating, Fraction)


def is_real(x):
    """A kind that NumPy does not have to turn into a number without a word."""
    return isinstance(x, REAL) and not isinstance(x, np.timedelta64)


def plain(values):
    """What the core may take for numbers."""
    return not np.ma.is_masked(values) and all(map(is_real, values))


@cases(300)
@given(ARRAYS, ANY)
@example([(), (), ()], 1.0)  # no numbers at all: nothing comes back, if anything
@mark.filterwarnings("ignore:Warning. converting a masked element to nan")
def test_arrays_of_any_kind_are_numbers_or_are_refused(x, y):
    curator = core.CTL(1.0, 1.0, 1.0)

    def table():
        if plain(x):
            return core.table_problem(np.stack([x, np.arange(3), np.ones(3)]).T)
        return core.empirical_kernel([x, x[::-1]])

    calls = [
        (lambda: core.Problem(K=np.eye(3), f=x, B=1.0, R=1.0).f, ["f"]),
        (lambda: core.posterior(np.eye(3), [0, 1, 2], x, 1.0), ["y"]),
        (lambda: core.se_kernel(x, x, lengthscale=1.0), ["X"]),
        (lambda: curator.privatise(x, default_rng(0)), ["y"]),
        (lambda: curator.log_density(x, 0.0), ["report"]),
        (lambda: core.posterior(np.eye(3), x, [1.0] * 3, 1.0), ["arm", "arms"]),
        (table, ["samples"]),
    ]
    for call, names in calls:
        answer = outcome(call, *names)
        assert answer is None or plain(x) or np.size(answer) == np.size(x) == 0
        assert answer is None or isinstance(answer, core.Problem) or finite(*answer)


@cases(400)
@given(
    st.sampled_from(["TGP", "ATA", "MoMA", "GP-UCB"]),
    st.sampled_from(SETTINGS_OF_ONE_NUMBER),
    ANY,
    st.sampled_from(["order", "printed"]),
    ANY,
)
@mark.filterwarnings("ignore:Warning. converting a masked element to nan")
def test_settings_of_any_kind_are_numbers_or_are_refused(name, setting, value, constants, reward):
    problem = core.Problem(K=se(np.arange(4) / 4, 0.3), B=1.0, R=1.0)
    if name == "GP-UCB" and constants == "printed":  # the paper prints no width for it
        constants = "proved"
    told = dict(T=300, rng=0, constants=constants) | {setting: value}
    algorithm = outcome(lambda: core.make(name, problem, **told), setting, "k")
    if algorithm is None:
        return
    assert value is None or plain([value])
    for y in (1.0, -2.0, reward):
        algorithm.ask()
        if outcome(lambda: algorithm.tell(y) or True, "reward") is None:
            assert y is reward
            assert not (plain([y]) and abs(y) < 1e100)
        assert finite(algorithm.mu, algorithm.sigma, algorithm.beta)


# ---- kernels ------------------------------------------------------------------------------------
@cases(150)
@given(POINTS, POINTS, ANY_POSITIVE, ANY_POSITIVE)
def test_kernels_of_any_input(X, Y, lengthscale, nu):
    se_call = lambda: core.se_kernel(X, Y, lengthscale=lengthscale)
    matern_call = lambda: core.matern_kernel(X, Y, lengthscale=lengthscale, nu=nu)
    for call in (se_call, matern_call):
        K = outcome(call, "X", "Y", "lengthscale", "nu")
        if K is not None:
            assert finite(K)
            assert np.all(K >= 0)
            assert np.all(K <= 1 + 1e-12)


@cases(100)
@given(GOOD_POINTS, POSITIVE, st.floats(0.05, 60))
def test_kernels_of_good_points_are_positive_semidefinite(X, lengthscale, nu):
    smooth = core.se_kernel(X, X, lengthscale=lengthscale)
    rough = core.matern_kernel(X, X, lengthscale=lengthscale, nu=nu)
    for K in (smooth, rough):
        assert np.allclose(K, K.T, atol=1e-13)
        assert np.allclose(np.diag(K), 1)
        assert np.min(np.linalg.eigvalsh(K)) > -1e-9
        core.posterior(K, [0], [1.0], 1.0)  # and the core accepts its own kernels


@cases(60)
@given(st.floats(1e-6, 20), st.floats(0.05, 8))
def test_matern_equals_its_bessel_form(s, nu):
    found = core.matern_kernel([0.0], [s], lengthscale=1.0, nu=nu)[0, 0]
    assert found == approx(o.matern(0.0, s, 1.0, nu), rel=1e-8, abs=1e-12)


TABLE_SHAPES = st.tuples(st.integers(0, 8), st.integers(0, 5))
SQUARES_BEYOND_V = np.array([[0.0], [1.41421356e50]])
DEVIATION_OF_ZERO = np.array([[0.0], [2.2e-309]])  # a column that varies, by so little


@cases(100)
@given(hnp.arrays(float, TABLE_SHAPES, elements=st.one_of(st.floats(-10, 10), NUMBER)))
@example(SQUARES_BEYOND_V)
@example(DEVIATION_OF_ZERO)
def test_tables_of_any_numbers(table):
    K = outcome(lambda: core.empirical_kernel(table), "samples")
    if K is not None:
        assert finite(K)
        assert np.allclose(np.diag(K), 1)
        assert np.max(np.abs(K)) <= 1 + 1e-9
    problem = outcome(lambda: core.table_problem(table), "samples", "K", "B")
    if problem is not None:
        assert finite(problem.K, problem.f, problem.B, problem.R, problem.v, problem.c)
        bound = (problem.B + problem.R) * (1 + 1e-9)
        assert np.all(np.abs(table) <= bound)


# ---- posterior, gain, features ------------------------------------------------------------------
@cases(100)
@given(
    kernels(),
    st.lists(st.tuples(st.integers(0, 8), st.floats(-1e6, 1e6)), max_size=25),
    st.floats(1e-3, 1e3),
)
def test_posterior_of_good_kernels(K, data, lam):
    arms = [a for a, _ in data]
    y = [r for _, r in data]
    answer = outcome(lambda: core.posterior(K, arms, y, lam), "arm", "arms")
    assert (answer is None) == any(a >= len(K) for a in arms)
    if answer is not None:
        mu, sigma = answer
        expected_mu, expected_sigma = o.exact_posterior(K, arms, y, lam)
        size = 1 + max(map(abs, y), default=0)
        assert np.allclose(mu, expected_mu, atol=1e-7 * size)
        assert np.allclose(sigma**2, expected_sigma**2, atol=1e-9)
        assert np.all(sigma**2 <= np.diag(K) + 1e-12)


MATRIX_SHAPES = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4)


@cases(60)
@given(
    hnp.arrays(float, MATRIX_SHAPES, elements=NUMBER),
    st.lists(st.integers(-2, 5), max_size=3),
    NUMBER,
    NUMBER,
)
def test_posterior_gain_and_features_of_any_matrix(K, arms, y, lam):
    posterior = lambda: core.posterior(K, arms, [y] * len(arms), lam)
    mu_sigma = outcome(posterior, "K", "arm", "arms", "y", "lam")
    gains = outcome(lambda: core.information_gain(K, len(arms), lam), "K", "lam", "T")
    features = outcome(lambda: core.nystrom_features(K, arms), "K", "arm", "dictionary")
    for answer in (mu_sigma, gains, features):
        assert answer is None or finite(*answer)


@cases(60)
@given(kernels(), st.integers(0, 40), st.floats(1e-3, 1e3))
def test_information_gain_is_concave_and_bounded(K, T, lam):
    gains = core.information_gain(K, T, lam)
    steps = np.diff(gains)
    assert gains[0] == 0
    assert np.all(steps >= 0)
    assert np.all(np.diff(steps) <= 1e-8 * (1 + steps[:-1]))
    assert np.all(steps <= 0.5 * log1p(1 / lam) + 1e-9)


@cases(60)
@given(kernels(), st.data())
def test_features_never_exceed_the_kernel(K, data):
    dictionary = data.draw(st.lists(st.integers(0, len(K) - 1), unique=True))
    phi = core.nystrom_features(K, dictionary)
    assert phi.shape == (len(dictionary), len(K))
    assert np.min(np.linalg.eigvalsh(K - phi.T @ phi)) > -1e-7
    assert np.allclose((phi.T @ phi)[dictionary], K[dictionary], atol=1e-7)


# ---- curator ------------------------------------------------------------------------------------
@cases(100)
@given(NUMBER, NUMBER, NUMBER, NUMBER)
def test_ctl_of_any_numbers(eps, B, R, y):
    curator = outcome(lambda: core.CTL(eps, B, R), "eps", "B", "R")
    if curator is None:
        return
    report = outcome(lambda: curator.privatise(y, default_rng(0)), "y")
    assert (report is None) == (not isfinite(y))
    if report is not None:
        assert finite(report, curator.scale, curator.variance)
        assert curator.scale == approx(2 * (B + R) / eps)
        assert curator.clipped == (abs(y) > B + R)
        assert finite(curator.log_density(report, y))


@cases(100)
@given(
    st.floats(1e-3, 50),
    st.floats(1e-3, 1e3),
    st.floats(0, 1e3),
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
    st.floats(-1e6, 1e6),
)
@example(1.001, 0.015625, 0.0, 1.0, -1.0, 524288.0)
def test_lemma_1_log_density_ratio_never_exceeds_eps(eps, B, R, y, y_prime, report):
    """For every pair of rewards, inside the assumption or not, and every report.

    Each log-density is a rounded number: in the example they are 2e7, and a last digit is 4e-9.
    """
    curator = core.CTL(eps, B, R)
    one = curator.log_density(report, y)
    other = curator.log_density(report, y_prime)
    rounding = 2 * np.spacing(max(abs(one), abs(other)))
    assert abs(one - other) <= eps * (1 + 1e-9) + 1e-9 + rounding


# ---- algorithms ---------------------------------------------------------------------------------
NAMES = ["TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"]
WEIBULL = st.tuples(st.floats(0.1, 3), st.floats(0.1, 10), st.floats(0.1, 10))
SETTINGS = (
    "name",
    "T",
    "eps",
    "lam",
    "delta",
    "acc",
    "constants",
    "beta_scale",
    "q",
    "k",
    "weibull",
)


@cases(250)
@given(problems(), st.data())
def test_algorithms_with_good_settings_stay_finite(problem, data):
    name = data.draw(st.sampled_from(NAMES))
    T = data.draw(st.integers(1, 30))
    chosen = dict(
        eps=data.draw(st.one_of(st.none(), st.floats(0.01, 100))),
        lam=data.draw(st.floats(1e-3, 100)),
        delta=data.draw(st.floats(0.001, 0.999)),
        acc=data.draw(st.floats(0.01, 0.99)),
        constants=data.draw(st.sampled_from(["order", "printed", "proved"])),
        beta_scale=data.draw(st.floats(0, 10)),
        q=data.draw(st.one_of(st.none(), st.just(inf), st.floats(1e-6, 1e6))),
    )
    if name == "MoMA":
        chosen["k"] = data.draw(st.one_of(st.none(), st.integers(1, 31)))
    if name == "TGP":
        chosen["weibull"] = data.draw(st.one_of(st.none(), WEIBULL))
    algorithm = outcome(lambda: core.make(name, problem, T, rng=0, **chosen), *SETTINGS)
    if algorithm is None:
        return
    reward = st.one_of(st.floats(-10, 10), st.floats(-1e9, 1e9))
    for t, y in enumerate(data.draw(hnp.arrays(float, T, elements=reward))):
        arm = algorithm.ask()
        assert isinstance(arm, int)
        assert 0 <= arm < problem.n
        assert arm == algorithm.ask()
        algorithm.tell(y)
        assert finite(algorithm.mu, algorithm.sigma, algorithm.beta)
        assert algorithm.beta >= problem.B * (1 - 1e-12)
        assert algorithm.mu.shape == algorithm.sigma.shape == (problem.n,)
        assert algorithm.t == t + 1
        assert np.all(algorithm.sigma >= 0)
        assert np.all(algorithm.sigma**2 <= np.diag(problem.K) + 1e-9)


@cases(150)
@given(problems(), st.data())
def test_algorithms_with_any_settings(problem, data):
    name = data.draw(st.sampled_from([*NAMES, "tgp", ""]))
    T = data.draw(st.one_of(st.integers(-1, 40), NUMBER))
    chosen = dict(
        eps=data.draw(st.one_of(st.none(), NUMBER)),
        lam=data.draw(ANY_POSITIVE),
        delta=data.draw(PROBABILITY),
        acc=data.draw(PROBABILITY),
        constants=data.draw(st.sampled_from(["order", "printed", "proved", "best", None])),
        beta_scale=data.draw(ANY_POSITIVE),
        q=data.draw(st.one_of(st.none(), NUMBER)),
        k=data.draw(st.one_of(st.none(), st.integers(-1, 50), NUMBER)),
        weibull=data.draw(st.one_of(st.none(), st.tuples(NUMBER, NUMBER, NUMBER))),
    )
    algorithm = outcome(lambda: core.make(name, problem, T, rng=0, **chosen), *SETTINGS)
    if algorithm is None:
        return
    for _ in range(3):
        algorithm.ask()
        reward = data.draw(NUMBER)
        told = outcome(lambda: algorithm.tell(reward) or True, "reward")
        assert told or not abs(reward) < 1e100
        if told is None:
            break
        assert finite(algorithm.mu, algorithm.sigma, algorithm.beta)


@cases(100)
@given(problems(), st.data())
def test_any_finite_reward_leaves_a_finite_answer(problem, data):
    """Below 1e100 always; beyond that it may be refused.

    A learner that a single user can switch off is not robust.
    """
    name = data.draw(st.sampled_from(["TGP", "ATA", "MoMA", "PE"]))
    eps = data.draw(st.sampled_from([None, 1.0]))
    algorithm = core.make(name, problem, 20, q=inf, eps=eps, **epochs(name, 4))
    for _ in range(20):
        arm = algorithm.ask()
        assert 0 <= arm < problem.n
        reward = data.draw(st.floats(allow_nan=False, allow_infinity=False))
        told = outcome(lambda: algorithm.tell(reward) or True, "reward")
        assert told or abs(reward) >= 1e100
        assert finite(algorithm.mu, algorithm.sigma, algorithm.beta)


@cases(60)
@given(problems(), st.data())
def test_random_settings_agree_with_the_oracle(problem, data):
    """Teacher forcing on whatever hypothesis draws; q = inf takes out the dictionary's draw."""
    name = data.draw(st.sampled_from(["TGP", "ATA", "MoMA"]))
    chosen = dict(
        eps=data.draw(st.one_of(st.none(), st.floats(0.1, 10))),
        lam=data.draw(st.floats(0.05, 10)),
        delta=data.draw(st.floats(0.01, 0.9)),
        acc=data.draw(st.floats(0.05, 0.9)),
        constants=data.draw(st.sampled_from(["order", "printed"])),
        beta_scale=data.draw(st.floats(0, 3)),
        q=inf,
        k=data.draw(st.integers(1, 6)),
    )
    fast = core.make(name, problem, 24, **chosen)
    moments = {field: getattr(problem, field) for field in ("B", "R", "v", "c", "alpha")}
    slow = o.oracle(name, problem.K, 24, **moments, **chosen)
    rng = default_rng(data.draw(st.integers(0, 99)))
    size = 1.0
    for _ in range(24):
        arm, expected = fast.ask(), slow.ask()
        assert arm == expected or slow.margin["score"] < 5e-10
        y = float(problem.f[arm] + 3 * rng.standard_t(2))
        size = max(size, abs(y))
        fast.tell(y)
        slow.feed(arm, y)
        if slow.margin["rank"] < 0.1:  # the pseudo-inverse may go either way
            return
        assert fast.beta == approx(slow.beta, rel=1e-9)
        assert np.allclose(fast.sigma**2, slow.sigma**2, atol=1e-8)
        if slow.margin["cut"] < 1e-6 or slow.margin["r"] < 5e-10:
            return
        assert np.allclose(fast.mu, slow.mu, atol=1e-7 * size)


# ---- simulate, bounds, radius -------------------------------------------------------------------
@cases(60)
@given(
    problems(),
    st.lists(st.sampled_from([*NAMES, "none"]), max_size=3),
    st.integers(-1, 20),
    st.integers(0, 2),
    st.one_of(st.none(), NUMBER),
    st.integers(-1, 10**6),
)
def test_simulate_of_any_settings(problem, names, T, trials, eps, seed):
    call = lambda: core.simulate(problem, names, T, trials=trials, seed=seed, eps=eps)
    out = outcome(call, "names", "name", "T", "trials", "eps", "seed", "k")
    if out is not None:
        assert out.regret.shape == (len(names), trials, T)
        assert finite(out.regret)
        assert np.all(out.regret >= -1e-12)
        assert np.all(np.diff(out.regret) >= 0)


@cases(80)
@given(
    st.sampled_from(["se", "matern", "linear"]),
    st.one_of(st.integers(-1, 10**9), NUMBER),
    st.one_of(st.none(), NUMBER),
    ANY_POSITIVE,
    ANY_POSITIVE,
    st.one_of(st.floats(0.01, 1), NUMBER),
    st.integers(-1, 4),
    st.one_of(st.none(), ANY_POSITIVE),
    st.sampled_from(["printed", "corrected", "other"]),
)
def test_lower_bound_is_a_number_or_nan_with_a_reason(kernel, T, eps, B, v, alpha, d, nu, variant):
    """0 is a number: the printed bound falls like e^-eps and underflows."""
    told = dict(B=B, v=v, alpha=alpha, d=d, nu=nu, variant=variant)
    bound = outcome(lambda: lower_bound(kernel, T, eps, **told), "kernel", "T", "eps", *told)
    if bound is not None:
        assert 0 <= bound < inf or (isnan(bound) and bound.reason)


@cases(60)
@given(
    st.one_of(st.integers(0, 10**9), NUMBER),
    PROBABILITY,
    ANY_POSITIVE,
    ANY_POSITIVE,
    ANY_POSITIVE,
)
def test_subweibull_radius_of_any_numbers(T, delta, theta, a, b):
    call = lambda: subweibull_radius(T, delta, theta=theta, a=a, b=b)
    radius = outcome(call, "T", "delta", "theta", "a", "b")
    if radius is not None:
        assert isfinite(radius)
        assert radius >= 0


@cases(60)
@given(
    st.integers(1, 10**6),
    st.floats(1e-6, 0.9),
    st.floats(0.1, 3),
    st.floats(0.1, 10),
    st.floats(0.1, 10),
)
def test_subweibull_radius_makes_the_union_bound_hold(T, delta, theta, a, b):
    """T a exp(-b R^{1/theta}) <= delta, with equality unless R = 0."""
    radius = subweibull_radius(T, delta, theta=theta, a=a, b=b)
    tail = T * a * exp(-b * radius ** (1 / theta))
    assert tail <= delta * (1 + 1e-6)
    assert radius == 0 or tail == approx(delta, rel=1e-6)
