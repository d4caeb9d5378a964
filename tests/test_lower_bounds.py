"""Theorem 1, its regime, and the bounds of Improvements A1 and A3 and of Erratum A2.

Claim C-lb; pages lb_bump to lb_better.
"""

import copy
import itertools
import pickle
import re
from functools import partial
from math import ceil, e, exp, expm1, gamma, inf, isnan, log, log1p, log10, nan, pi, sqrt, tanh

import numpy as np
import pytest
from numpy.random import default_rng
from pytest import approx, mark, raises
from scipy import integrate, special

import ldpbo_core as core
from ldpbo import bounds

mpmath = pytest.importorskip("mpmath")
sp = pytest.importorskip("sympy")
pytestmark = mark.filterwarnings("error::RuntimeWarning")
PLAIN = dict(B=1.0, v=1.0, alpha=1.0, d=1)
ODD = dict(B=2.0, v=3.0, alpha=0.5, d=2)


def bound(kernel="se", T=10_000, eps=1.0, **changes):
    return bounds.lower_bound(kernel, T, eps, **PLAIN | {"nu": 2.5} | changes)


def D_star(p, eps):
    """Most an eps-LDP report reveals of a reward that is non-zero with probability p.
    In 50 digits; eps = None: the report is the reward."""
    if eps is None:
        return -log1p(-p)
    with mpmath.workdps(50):
        p = mpmath.mpf(p)
        odds = mpmath.exp(mpmath.mpf(eps))
        rise = mpmath.log(1 + p * (odds - 1))
        fall = mpmath.log(1 - p * (1 - 1 / odds))
        return float(-(rise + odds * fall) / (odds + 1))


def constants(d=1):
    """v_m^j/Delta by offset, how often each occurs, and the sum c of all of them."""
    bump = bounds.bump(d)
    return bump.table, bump.repeats, bump.table @ bump.repeats


def averaged(T, Delta, M, S, c):
    """T Delta (2 - c/M - sqrt(2 T S/M)), the bound of page lb_better."""
    return T * Delta * (2 - c / M - sqrt(2 * T * S / M))


# ---- The bump (page lb_bump) --------------------------------------------------------------------


def integral_of_the_bump(c, d):
    """int exp(-c/(1 - |u|^2)) over the unit ball, in closed form."""
    if d == 1:
        return c * exp(-c / 2) * (special.kv(1, c / 2) - special.kv(0, c / 2))
    return pi * special.expn(2, c)


def transform_at(zeta, d):
    """h(zeta) by mpmath's quadrature."""
    with mpmath.workdps(20):
        if d == 1:
            wave = lambda s: 2 * mpmath.cos(s)
        else:
            wave = lambda s: s / zeta * mpmath.besselj(0, s)
        integrand = lambda t: mpmath.exp(-1 / (1 - t * t)) * wave(2 * mpmath.pi * zeta * t)
        return float(mpmath.quad(integrand, mpmath.linspace(0, 1, 9)))


OF_THE_BUMP = [(1, 0.443994, 0.446479, 0.133086), (2, 0.466512, 0.494984, 0.117917)]


@mark.parametrize("d, peak, zeta, energy", OF_THE_BUMP)
def test_constants_of_the_bump_equal_closed_forms_and_a_second_quadrature(d, peak, zeta, energy):
    bump = bounds.bump(d)
    assert round(bump.peak, 6) == peak
    assert round(bump.zeta, 6) == zeta
    assert round(bump.weights.sum(), 6) == energy
    assert bump.peak == approx(integral_of_the_bump(1, d), abs=1e-12)
    assert bump.weights.sum() == approx(integral_of_the_bump(2, d), abs=1e-12)
    assert transform_at(bump.zeta, d) == approx(bump.peak / 2, abs=1e-10)


def test_lemma2_table_sums_to_the_constants_of_the_book():
    table, repeats, c = constants()
    assert np.round(table[:5], 4) == approx([2, 1, 0.0715, 0.0336, 0.0105])
    assert round(c, 4) == 4.2568
    assert round(table**2 @ repeats, 3) == 6.013
    _, repeats, c = constants(2)
    assert 8.60 < c < 8.63
    assert repeats.sum() == 51**2


def bump_function():
    """h by the trapezoid rule, which shares nothing with the core's Gauss nodes."""
    t = np.linspace(-1, 1, 4001)[1:-1]
    H = np.exp(-1 / (1 - t * t))
    return lambda x: np.cos(2 * np.pi * np.multiply.outer(x, t)) @ H * 5e-4


def spectral_density(kernel, xi, d, l=0.2, nu=2.5):
    """Fourier transform of the kernel at frequency xi, for lengthscale l."""
    if kernel == "se":
        return (2 * pi * l * l) ** (d / 2) * exp(-2 * (pi * l * xi) ** 2)
    power = nu + d / 2
    ratio = gamma(power) / gamma(nu)
    front = 2**d * pi ** (d / 2) * ratio * (2 * nu / l**2) ** nu
    return front * (2 * nu / l**2 + 4 * pi**2 * xi**2) ** -power


def norm(kernel, n, d):
    """|g|_H for Delta = 1 and cells of width 1/n, by SciPy's adaptive quadrature."""
    bump = bounds.bump(d)

    def integrand(t):
        shell = 2 if d == 1 else 2 * pi * t
        density = spectral_density(kernel, 2 * bump.zeta * n * t, d)
        return shell * exp(-2 / (1 - t * t)) / density

    value, _ = integrate.quad(integrand, 0, 1, epsabs=0, epsrel=1e-11, limit=200)
    return 2 / bump.peak * sqrt(value / (2 * bump.zeta * n) ** d)


def test_norm_by_fourier_is_approached_from_below_by_the_kernel_matrix():
    bump = bounds.bump(1)
    h = bump_function()
    n = 60
    last = 0.0
    for points in (101, 201, 401):
        x = np.linspace(0, 1, points)
        g = 2 / bump.peak * h(2 * bump.zeta * n * (x - 0.5))
        K = core.matern_kernel(x, x, lengthscale=0.2, nu=2.5)
        share = sqrt(g @ np.linalg.solve(K, g)) / norm("matern", n, 1)
        assert last < share <= 1 + 1e-6
        last = share
    assert last == approx(1, abs=1e-5)


def test_a_point_is_delta_optimal_for_one_function_with_half_the_width_and_for_two_without():
    zeta = bounds.bump(1).zeta
    h = bump_function()
    M = 62
    x = (np.arange(40001) + 0.5) / 40001 * M
    r = np.linspace(0, 3, 3001)
    distance = np.abs(x[:, None] - np.arange(M) - 0.5)
    for reach, crowded in ((0.5, 0.0), (1.0, 1 - 1 / M)):
        profile = 2 * h(zeta * (1 + 1e-9) * r / reach) / h(0.0)
        height = np.interp(distance, r, profile, right=0)
        served = (height >= 1).sum(axis=1)
        assert (served > 1).mean() == approx(crowded, abs=1e-4)


# ---- What a report reveals (pages lb_rewards and lb_better) -------------------------------------


@mark.parametrize("alpha", [0.3, 0.5, 1.0])
def test_reward_law_has_mean_f_and_moment_at_most_v(alpha):
    v, top = 2.3, 0.14  # top = 2 Delta
    size = (v / top) ** (1 / alpha)
    for f in np.linspace(0, top, 7):
        p = (top / v) ** (1 / alpha) * f
        moment = p * size ** (1 + alpha)
        assert p <= 1
        assert p * size == approx(f, rel=1e-12)
        assert moment == approx(v * f / top, rel=1e-12)
        assert moment <= v * (1 + 1e-12)


def laplace_divergence(p, eps):
    """D(P_0 || P_m) for Laplace reports of rewards 0 and a, scale 2a/eps.
    Quadrature over the core's densities, a = 1."""
    curator = core.CTL(eps, B=0.5, R=0.5)

    def integrand(y):
        at_zero = curator.log_density(y, 0.0)
        x = p * np.expm1(curator.log_density(y, 1.0) - at_zero)
        series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5)))
        return np.exp(at_zero) * np.where(abs(x) < 1e-3, series, x - np.log1p(x))

    reach = 60 * curator.scale
    total = 0.0
    for a, b in ((-reach, 0), (0, 1), (1, 1 + reach)):
        total += integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11)[0]
    return total


def laplace_closed(p, eps):
    """The same in closed form."""
    with mpmath.workdps(60):
        p = mpmath.mpf(p)
        beta = mpmath.exp(-mpmath.mpf(eps) / 2)
        ln = mpmath.log
        root = mpmath.sqrt(p * beta / (1 - p))
        G = lambda u: u * ln(1 - p + p * beta / u**2) + 2 * root * mpmath.atan(u / root)
        left = -ln(1 - p + p * beta) / 2
        right = -beta / 2 * ln(1 - p + p / beta)
        middle = G(mpmath.mpf(1)) - G(beta)
        return float(left + right - middle / 2)


@mark.parametrize("p", [0.5, 1e-2, 1e-4, 1e-8])
@mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_exact_divergence_of_laplace_reports_agrees_in_two_ways(p, eps):
    assert laplace_divergence(p, eps) == approx(laplace_closed(p, eps), rel=1e-8)


@mark.parametrize("Delta, exact, lemma", [(0.05, 1.11e-5, 0.472), (1e-3, 1.77e-12, 1.89e-4)])
def test_lemma4_is_loose_by_one_over_p(Delta, exact, lemma):
    p = (2 * Delta) ** 2
    z2 = expm1(1) ** 2
    least = laplace_closed(p, 1.0)
    loosest = 16 * z2 * p
    assert float(f"{least:.3g}") == exact
    assert float(f"{loosest:.3g}") == lemma
    between = [D_star(p, 1.0), z2 * p**2, 4 * z2 * p**2, -8 * z2 * log1p(-p)]
    chain = [least, *between, loosest]
    assert chain == sorted(chain)
    assert 1 < p * loosest / least < 500


def test_no_random_private_channel_reveals_more_than_z_squared_tv_squared():
    rng = default_rng(3)
    for _ in range(500):
        spread = rng.choice([0.1, 1.0, 3.0])
        shape = rng.integers(2, 5), rng.integers(2, 7)
        Q = np.exp(spread * rng.random(shape))
        Q /= Q.sum(axis=1, keepdims=True)
        P = rng.dirichlet(np.ones(len(Q)), 2)
        m0, m1 = P @ Q
        tv = np.abs(P[0] - P[1]).sum() / 2
        z = (Q.max(axis=0) / Q.min(axis=0)).max() - 1  # e^eps - 1
        divergence = m0 @ np.log(m0 / m1)
        chi_squared = ((m0 - m1) ** 2 / m1).sum()
        assert divergence <= chi_squared + 1e-15 <= (z * tv) ** 2 + 2e-15


@mark.parametrize("eps", [0.05, 0.5, 1.0, 4.0])
@mark.parametrize("p", [1e-3, 0.1, 0.9])
def test_randomised_response_attains_the_largest_divergence_and_nothing_exceeds_it(p, eps):
    odds = exp(eps)
    q0 = np.array([1, odds]) / (odds + 1)
    q1 = np.array([odds, 1]) / (odds + 1)
    assert -q0 @ np.log1p(p * (q1 / q0 - 1)) == approx(D_star(p, eps), rel=1e-10)
    assert D_star(p, eps) <= min(expm1(eps) ** 2 * p * p, -log1p(-p))
    rng = default_rng(5)
    for _ in range(100):
        q = rng.dirichlet(np.ones(4), 2)
        mix = rng.random()
        r = 1 + mix * (q[1] / q[0] - 1)  # mean one under q[0]
        if np.abs(np.log(r)).max() <= eps:  # private
            assert -q[0] @ np.log1p(p * (r - 1)) <= D_star(p, eps) + 1e-15


# ---- Exponents, symbolically --------------------------------------------------------------------


def exponents(s):
    """Exponents of T Delta in T, z, v, B.
    Delta = v^{1/(1+a)} (M/(T z^2))^s and M = (B/Delta)^{d/nu}."""
    a, nu, d = sp.symbols("alpha nu d", positive=True)
    T, z, v, B, Delta, M = sp.symbols("T z v B Delta M")  # logarithms
    gap = Delta - v / (1 + a) - s(a) * (M - T - 2 * z)
    functions = M - d / nu * (B - Delta)
    regret = sp.expand(T + sp.solve([gap, functions], [Delta, M])[Delta])
    return a, nu, d, {str(x): regret.coeff(x) for x in (T, z, v, B)}


def compare_exponents(found, stated):
    for x in stated:
        assert sp.simplify(found[x] - stated[x]) == 0, x


def test_theorem1_matern_exponents_follow_from_the_construction():
    a, nu, d, found = exponents(lambda a: a / (1 + a))
    q = nu * (1 + a) + d * a
    privacy = -2 * a / (1 + a) + 2 * d * a**2 / ((1 + a) * q)
    compare_exponents(found, dict(v=nu / q, T=(nu + d * a) / q, B=d * a / q, z=privacy))


def test_erratum_a1_matern_exponents_follow_from_the_construction():
    a, nu, d, found = exponents(lambda a: a / (2 * (1 + a)))
    q = 2 * (1 + a) * nu + a * d
    horizon = (2 + a) * nu + a * d
    compare_exponents(found, dict(v=2 * nu / q, T=horizon / q, B=a * d / q, z=-2 * a * nu / q))


@mark.parametrize("variant", ["printed", "corrected"])
def test_matern_rate_has_exactly_the_symbolic_exponents(variant):
    half = 1 if variant == "printed" else 2
    a, nu, d, symbolic = exponents(lambda a: a / (half * (1 + a)))
    at = dict(T=10**6, eps=log1p(0.5), v=3.0, B=2.0)
    scaled = dict(T=10**7, eps=log1p(5.0), v=30.0, B=20.0)  # each of T, z, v, B ten times larger
    value = partial(bound, "matern", alpha=0.5, d=2, nu=1.5, variant=variant)
    for key in at:
        larger = value(**at | {key: scaled[key]})
        exponent = log10(larger / value(**at))
        expected = symbolic["z" if key == "eps" else key].subs({a: 0.5, nu: 1.5, d: 2})
        assert exponent == approx(float(expected), abs=1e-10), key


def test_se_logarithm_is_that_of_the_theorem():
    a, B, v, T, z = sp.symbols("a B v T z", positive=True)
    inner = (B * (T * z**2) ** (a / (1 + a)) / v ** (1 / (1 + a))) ** ((1 + a) / a)
    stated = B ** ((1 + a) / a) * T * z**2 / v ** (1 / a)
    assert sp.simplify(sp.expand_log(sp.log(inner / stated), force=True)) == 0


# ---- Values -------------------------------------------------------------------------------------


def se_printed(T, eps, B, v, alpha, d):
    z = e**eps - 1
    p = 1 + alpha
    logarithm = log(B ** (p / alpha) * T * z**2 / v ** (1 / alpha))
    rate = v ** (1 / p) * T ** (1 / p) * z ** (-2 * alpha / p)
    return rate * logarithm ** (d * alpha / (2 * p))


def matern_printed(T, eps, B, v, alpha, d, nu):
    z = e**eps - 1
    p = 1 + alpha
    q = nu * p + d * alpha
    privacy = -2 * alpha / p + 2 * d * alpha**2 / (p * q)
    return v ** (nu / q) * T ** ((nu + d * alpha) / q) * B ** (d * alpha / q) * z**privacy


@mark.parametrize("setting", [PLAIN, ODD])
@mark.parametrize("T, eps", [(10_000, 1.0), (1_000_000, 0.1), (500, 3.0)])
def test_printed_rates_equal_the_theorem(setting, T, eps):
    se = bounds.lower_bound("se", T, eps, **setting)
    assert se == approx(se_printed(T, eps, **setting), rel=1e-10)
    matern = bounds.lower_bound("matern", T, eps, **setting, nu=1.5)
    assert matern == approx(matern_printed(T, eps, **setting, nu=1.5), rel=1e-10)


def test_printed_rates_at_two_points_worked_out_by_hand():
    """eps = ln 2: z = 1, and all else but T is 1 too.

    SE, T = e^16: e^8 * 16^{1/4} = 2 e^8. Matern nu = 2.5, d = 1: T^{3.5/6}. Improvement A1 at the
    same points: T^{3/4} 16^{1/8} and T^{(3*2.5+1)/(4*2.5+1)}.
    """
    T = round(e**16)
    assert bound("se", T, log(2)) == approx(2 * e**8, rel=1e-7)
    assert bound("matern", 10**6, log(2)) == approx(10**3.5, rel=1e-12)
    corrected = partial(bound, eps=log(2), variant="corrected")
    assert corrected("se", T) == approx(e**12 * sqrt(2), rel=1e-7)
    assert corrected("matern", 10**6) == approx(10 ** (6 * 8.5 / 11), rel=1e-12)


@mark.parametrize("kernel", ["se", "matern"])
def test_non_private_rate_is_the_printed_one_at_z_equal_to_one(kernel):
    plain = bound(kernel, eps=None)
    assert plain == bound(kernel, eps=log(2)) == bound(kernel, eps=None, variant="corrected")


def test_remark_1_the_printed_bound_has_one_over_eps_in_front_of_the_non_private_one():
    """C-lb-remark: for alpha = 1, but for the SE logarithm and for Matern as nu grows."""
    for T, eps in ((10**8, 0.01), (10**12, 1e-3), (10**30, 0.01)):
        z = expm1(eps)
        logarithms = log(T * z**2) / log(T)
        ratio = bound("se", T, eps) / bound("se", T, None)
        assert ratio == approx(logarithms**0.25 / z, rel=1e-9)
        assert 0.8 / eps < ratio < 1 / eps
        for nu in (2.5, 500.0):
            ratio = bound("matern", T, eps, nu=nu) / bound("matern", T, None, nu=nu)
            assert ratio == approx(z ** (-2 * nu / (2 * nu + 1)), rel=1e-9)
        assert 0.98 / eps < ratio < 1 / eps


@mark.parametrize("kernel", ["se", "matern"])
@mark.parametrize("setting", [PLAIN, ODD])
def test_erratum_a3_corrected_rate_is_the_larger_of_two(kernel, setting):
    plain = bound(kernel, 10**5, None, **setting)
    corrected = partial(bound, kernel, 10**5, variant="corrected", **setting)
    values = np.array([corrected(eps) for eps in np.geomspace(0.05, 30, 40)])
    assert min(values) == plain == values[-1]
    assert values[0] > 3 * plain
    assert np.all(np.diff(values) <= 0)


def test_erratum_a3_printed_constant_passes_data_processing_from_0_3027_on():
    crossing = log1p(1 / sqrt(8))
    assert round(crossing, 4) == 0.3027
    assert 8 * expm1(0.5) ** 2 > 1 > 8 * expm1(0.3) ** 2


# ---- Regime (Erratum A14) -----------------------------------------------------------------------


OUTSIDE = [
    ("se", 1000, 0.01, {}, r"needs v\^\(1/\(1\+alpha\)\) < B \(T z\^2\)\^0.5: the logarithm is"),
    ("se", 1000, 0.01, {}, "the logarithm is that of 0.101"),
    ("matern", 1000, 0.01, {}, "the logarithm is that of 0.101"),
    ("se", 10_000, 1.0, {"v": 1e6}, "needs v"),
    ("matern", 10_000, 1.0, {"B": 1e-3}, "needs v"),
    ("se", 10, 0.1, {"B": 100.0}, r"needs M <= T z\^2 and Delta <= B: M = 2.65, T z\^2 = 0.111"),
    ("matern", 10, 0.1, {"B": 100.0}, r"needs M <= T z\^2"),
    ("se", 10, 1.0, {"d": 40}, "Delta <= B"),
    ("se", 2, None, {"B": 0.1}, "needs v"),
    ("se", 1000, 1.0, {"d": 5000}, "Delta <= B"),
]


@mark.parametrize("kernel, T, eps, changes, why", OUTSIDE)
def test_outside_the_regime_there_is_a_reason_and_no_number(kernel, T, eps, changes, why):
    found = bound(kernel, T, eps, **changes)
    assert isnan(found)
    assert re.search(why, found.reason)


def test_corrected_falls_back_on_a_larger_eps_and_says_so():
    """Earlier, SE at T = 1000 gave 809 at eps = 0.04 and 51 at 0.03, which cannot be.
    Less privacy would have had more regret."""
    found = bound("se", 1000, 0.03, variant="corrected")
    assert found >= bound("se", 1000, 0.04, variant="corrected") > 809
    assert "rate of a larger eps, as the private one needs" in found.reason
    assert bound("se", 1000, 30.0, variant="corrected") == bound("se", 1000, None)
    assert isnan(bound("se", 2, None, variant="corrected", B=0.1))
    assert isnan(bound("matern", 1, 1e-3, variant="printed", B=0.1))


SETTINGS = [
    dict(B=1.0, v=1.0, alpha=1.0, d=1),
    dict(B=10.0, v=0.1, alpha=1.0, d=2),
    dict(B=0.1, v=10.0, alpha=0.5, d=1),
    dict(B=100.0, v=1.0, alpha=0.3, d=3),
    dict(B=1.0, v=1.0, alpha=1.0, d=8),
]


@mark.parametrize("T", [10, 1000, 10**6])
@mark.parametrize("told", SETTINGS, ids=str)
@mark.parametrize("kernel", ["se", "matern"])
def test_corrected_never_rises_with_eps_and_is_the_largest_rate_of_all_larger_eps(kernel, told, T):
    """An eps-LDP mechanism is eps'-LDP for every eps' > eps.
    The supremum is compared with a search on a grid."""
    nu = 2.5 if kernel == "matern" else inf
    rate = partial(bounds.rate, bounds.Setting(T, **told, nu=nu))
    s = told["alpha"] / (1 + told["alpha"])
    grid = np.linspace(-30, 60, 3001)  # ln z
    private = [float(rate(log(T) + 2 * z, s / 2)) for z in grid]
    at_least = np.fmax(private, float(rate(log(T), s)))  # the non-private rate
    best = np.fmax.accumulate(at_least[::-1])[::-1][::100]
    eps = np.log1p(np.exp(grid[::100]))
    corrected = partial(bound, kernel, T, **told, variant="corrected")
    found = np.array([float(corrected(x)) for x in eps])
    numbers = found[~np.isnan(found)]
    assert np.all(np.diff(numbers) <= 1e-9 * numbers[1:])
    assert np.all(np.isnan(found) <= np.isnan(best))
    both = ~np.isnan(best)
    assert found[both] == approx(best[both], rel=0.04)
    assert np.all(found[both] >= best[both] * (1 - 1e-9))


@mark.parametrize("variant", ["printed", "corrected", "explicit", "bounded"])
@mark.parametrize("kernel", ["se", "matern"])
def test_no_bound_exceeds_linear_regret(kernel, variant):
    horizons = (1, 10, 10**3, 10**6)
    privacy = (0.01, 0.3, 2.0, None)
    sizes = ((1.0, 1.0), (10.0, 0.1), (0.1, 10.0))
    for T, eps, (B, v) in itertools.product(horizons, privacy, sizes):
        found = bound(kernel, T, eps, B=B, v=v, variant=variant)
        assert isnan(found) and found.reason or 0 < found <= 2 * B * T * (1 + 1e-12)


# ---- Explicit bounds ----------------------------------------------------------------------------


def compare_norm(found, kernel, d, B):
    """The bump of this bound has M = n^d cells and fits into the ball of radius B."""
    n = round(found.M ** (1 / d))
    assert found.M == n**d
    assert found.Delta * norm(kernel, n, d) <= B * (1 + 1e-8)


EXPLICIT = [
    ("se", 1.0, 1, 1.0),
    ("matern", 0.1, 1, 1.0),
    ("matern", 1.0, 2, 1.0),
    ("se", None, 1, 0.5),
    ("matern", None, 2, 0.7),
]


@mark.parametrize("kernel, eps, d, alpha", EXPLICIT)
def test_explicit_bound_is_the_stated_formula_at_an_admissible_bump(kernel, eps, d, alpha):
    T = 10_000
    v = 1.5
    B = 0.8
    found = bound(kernel, T, eps, d=d, alpha=alpha, v=v, B=B, variant="explicit")
    compare_norm(found, kernel, d, B)
    table, repeats, c = constants(d)
    p = (2 * found.Delta / v) ** (1 / alpha) * found.Delta * table
    assert p[0] <= 1
    S = repeats @ [D_star(float(x), eps) for x in p]
    assert found == approx(averaged(T, found.Delta, found.M, S, c), rel=1e-8)


@mark.parametrize("kernel", ["se", "matern"])
def test_explicit_bound_is_not_beaten_by_other_bumps(kernel):
    found = bound(kernel, variant="explicit")
    table, repeats, c = constants()
    best = 0.0
    for n in range(3, 40 if kernel == "matern" else 12):
        top = min(1 / norm(kernel, n, 1), 0.4999)
        for Delta in top * np.array([1.0, 0.9, 0.7, 0.5, 0.2]):
            S = repeats[:8] @ [D_star(2 * Delta**2 * V, 1.0) for V in table[:8]]
            best = max(best, averaged(10_000, Delta, n, S, c))
    assert best <= found * (1 + 1e-6)
    assert best > 0.9 * found


@mark.parametrize("kernel", ["se", "matern"])
def test_explicit_bound_falls_with_eps_to_the_non_private_one_and_grows_with_T(kernel):
    explicit = partial(bound, kernel, variant="explicit")
    by_eps = np.array([explicit(eps=eps) for eps in (0.01, 0.1, 1.0, 5.0, 30.0, 1000.0)])
    assert np.all(np.diff(by_eps) <= 0)
    assert by_eps[-1] == explicit(eps=None)
    by_T = np.array([explicit(T=T) for T in (1, 10, 10**3, 10**5, 10**8, 10**12)])
    assert by_T[0] > 0
    assert np.all(np.diff(by_T) > 0)


def test_explicit_slope_in_T_is_that_of_erratum_a1():
    for kernel, exponent in (("se", 0.75), ("matern", 8.5 / 11)):
        values = [bound(kernel, T=T, variant="explicit", alpha=1.0) for T in (10**7, 10**13)]
        assert log10(values[1] / values[0]) / 6 == approx(exponent, abs=0.02)


def finite(kernel, T, S, top):
    """The paper's averaging with Pinsker's 1/2, for d = 1, l = 0.2, nu = 2.5, B = 1.
    The largest T Delta (2 - c/M - c sqrt(T S/(2 M)))."""
    _, _, c = constants()
    n = np.arange(3, 180 if kernel == "matern" else 13)
    largest = np.minimum([1 / norm(kernel, k, 1) for k in n], top)
    Delta = largest * np.geomspace(1e-3, 1, 400)[:, None]
    share = 2 - c / n - c * np.sqrt(T * S(Delta) / (2 * n))
    return (T * Delta * share).max()


OF_THE_AUDIT = [  # kernel, eps, T; then printed, non-private, A1 and A2
    ("matern", 0.1, 1e4, [108, 41.8, 1010, 553]),
    ("matern", 1.0, 1e4, [11.7, 41.8, 345, 81.9]),
    ("matern", 1.0, 1e6, [179, 654, 13100, 1320]),
    ("se", 0.1, 1e4, [27.6, 8.2, 506, 190]),
    ("se", 1.0, 1e4, [2.1, 8.2, 141, 19.5]),
    ("se", 1.0, 1e6, [21, 103, 5540, 245]),
]


@mark.parametrize("kernel, eps, T, audit", OF_THE_AUDIT)
def test_finite_T_table_of_the_audit(kernel, eps, T, audit):
    """The audit searched Delta on a grid, so its values are a little lower."""
    table, repeats, c = constants()
    c2 = table**2 @ repeats
    z2 = expm1(eps) ** 2

    def bounded(Delta):
        signs = np.log1p(-np.multiply.outer(Delta**2, table**2)) @ repeats
        return np.minimum(z2 * c2 * Delta**2 / 4, -signs / 2)

    best = partial(finite, kernel, T)
    found = [
        best(lambda Delta: 32 * z2 * c * Delta**2, 0.5**1.5),
        best(lambda Delta: 4 * c * Delta**2, 0.5**1.5),
        best(lambda Delta: z2 * c2 * (2 * Delta**2) ** 2, 0.5),
        best(bounded, 0.499999),
    ]
    for value, theirs in zip(found, audit):
        assert 0.985 * theirs <= value <= 1.05 * theirs
    assert bound(kernel, T, eps, variant="explicit") > max(found)


# ---- Bounded rewards (REFEREE F6) ---------------------------------------------------------------


def sign_leak(x, eps):
    """Most an eps-LDP report reveals of a sign with mean x, 50 digits."""
    with mpmath.workdps(50):
        tau = mpmath.tanh(mpmath.mpf(eps) / 2) if eps else 1
        mean = mpmath.mpf(float(x)) * tau
        return float(-mpmath.log(1 - mean**2) / 2)


@mark.parametrize("eps", [0.05, 0.5, 1.0, 4.0])
@mark.parametrize("x", [1e-4, 0.1, 0.9, 1.0])
def test_randomised_response_attains_the_largest_divergence_of_signs_and_no_channel_exceeds_it(
    x, eps
):
    def divergence(Q):
        m0 = Q.mean(axis=0)
        m1 = np.array([1 + x, 1 - x]) / 2 @ Q
        return m0 @ np.log(m0 / m1)

    odds = exp(eps)
    response = np.array([[odds, 1], [1, odds]]) / (odds + 1)
    assert divergence(response) == approx(sign_leak(x, eps), rel=1e-7, abs=1e-16)
    rng = default_rng(7)
    for _ in range(300):
        outputs = rng.integers(2, 7)
        Q = np.exp(eps * (rng.random((2, outputs)) - 0.5))  # ratios within e^eps before ...
        Q /= Q.sum(axis=1, keepdims=True)
        if np.abs(np.log(Q[0] / Q[1])).max() <= eps:  # ... and after normalising
            assert divergence(Q) <= sign_leak(x, eps) + 1e-15


@mark.parametrize("kernel, eps, d, _", EXPLICIT)
def test_bounded_bound_is_the_stated_formula_at_an_admissible_bump(kernel, eps, d, _):
    T = 10_000
    v = 2.3
    B = 0.8
    found = bound(kernel, T, eps, d=d, v=v, B=B, variant="bounded")
    compare_norm(found, kernel, d, B)
    b = sqrt(v)
    assert 2 * found.Delta <= b
    table, repeats, c = constants(d)
    S = repeats @ [sign_leak(V * found.Delta / b, eps) for V in table]
    assert found == approx(averaged(T, found.Delta, found.M, S, c), rel=1e-8)


@mark.parametrize("kernel, private, plain", [("matern", 263, 148), ("se", 69, 42)])
def test_bounded_bound_has_the_referees_values_falls_with_eps_and_ignores_alpha(
    kernel, private, plain
):
    bounded = partial(bound, kernel, variant="bounded")
    assert bounded() == approx(private, abs=1)
    assert bounded(eps=None) == approx(plain, abs=1)
    by_eps = np.array([bounded(eps=eps) for eps in (1e-3, 0.01, 0.1, 1.0, 5.0, 30.0, 1000.0)])
    assert np.all(np.diff(by_eps) <= 0)
    assert by_eps[-1] == bounded(eps=None)
    assert bounded(alpha=0.4) == bounded()


@mark.parametrize("kernel, eps", [("se", 1.0), ("matern", 0.3), ("matern", None)])
def test_bounded_bound_is_at_least_the_theorem_with_coth(kernel, eps):
    """b coth(eps/2) sqrt(TM/c2) / (4 sqrt(ln 4/3)) with b = 1.3.
    If 2c <= M <= ln(4/3) min(1, 4 tau^2) c2 T and M cells fit."""
    table, repeats, c = constants()
    c2 = table**2 @ repeats
    tau = tanh(eps / 2) if eps else 1.0
    horizons, cells = ((10**4, 10**6, 10**9), 60) if kernel == "matern" else ((1e60, 1e90), 13)
    checked = 0
    limit = log(4 / 3)
    for T in horizons:
        found = bound(kernel, T, eps, v=1.3**2, variant="bounded")
        for M in range(ceil(2 * c), cells):
            Delta = 1.3 / tau * sqrt(M / (c2 * T)) / (4 * sqrt(limit))
            few = M <= limit * min(1, 4 * tau**2) * c2 * T
            if few and Delta * norm(kernel, M, 1) <= 1:
                checked += 1
                assert T * Delta <= found
    assert checked


def test_bounded_slope_in_T_is_that_of_the_upper_bound_of_elimination():
    for kernel, exponent in (("se", 1 / 2), ("matern", 3.5 / 6)):
        values = [bound(kernel, T=T, variant="bounded") for T in (10**9, 10**15)]
        assert log10(values[1] / values[0]) / 6 == approx(exponent, abs=0.025)


def test_explicit_bound_is_below_the_regret_of_playing_uniformly_on_its_instance():
    bump = bounds.bump(1)
    h = bump_function()
    x = (np.arange(2000) + 0.5) / 2000
    for kernel, T in itertools.product(("se", "matern"), (100, 10**4)):
        found = bound(kernel, T, variant="explicit")
        n = int(found.M)
        centres = (np.arange(n) + 0.5) / n
        heights = h(2 * bump.zeta * n * (x - centres[:, None]))
        top = 2 * found.Delta
        paid = top / bump.peak * heights.mean()
        assert 0.2 * T * top < found < T * (top - paid)


# ---- Surface ------------------------------------------------------------------------------------


REFUSED = [
    ("kernel", "rbf", "'se' or 'matern'"),
    ("T", 0, ">= 1"),
    ("T", nan, ">= 1"),
    ("eps", 0.0, "> 0, or None"),
    ("eps", inf, "> 0, or None"),
    ("B", -1, "> 0"),
    ("v", 0, "> 0"),
    ("alpha", 1.2, r"in \(0, 1\]"),
    ("alpha", 0.0, r"in \(0, 1\]"),
    ("d", 1.5, "integer >= 1"),
    ("d", 0, "integer >= 1"),
    ("nu", None, "> 0"),
    ("nu", -2.5, "> 0"),
    ("variant", "exact", "'printed', 'corrected', 'explicit' or 'bounded'"),
    ("lengthscale", 0.0, "> 0"),
]


@mark.parametrize("name, value, allowed", REFUSED)
def test_errors_name_the_argument_the_value_and_what_is_allowed(name, value, allowed):
    arguments = dict(kernel="matern", T=100, eps=1.0, nu=2.5) | PLAIN | {name: value}
    with raises(ValueError, match=rf"^{name} = .*must be .*{allowed}"):
        bounds.lower_bound(**arguments)


@mark.parametrize("variant", ["explicit", "bounded"])
def test_bounds_with_constants_say_that_they_know_one_and_two_dimensions(variant):
    with raises(ValueError, match=f"d = 3: must be 1 or 2 with variant='{variant}'"):
        bound(d=3, variant=variant)


def test_bound_is_a_float_that_keeps_its_reason_when_copied():
    found = bound("se", 1000, 0.01)
    for twin in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert isinstance(twin, float)
        assert isnan(twin)
        assert twin.reason == found.reason
    assert bound().reason == ""
    assert bound().Delta * 10_000 == approx(bound())
    assert bound().M > 1
