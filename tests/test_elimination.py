"""Elimination.

The batches against a literal program, the design by its certificate, Lemmas A and B, coverage at
proved widths, and the law of the sums.

The oracle below shares no code with the core: it expands a plan into single plays, solves the t x
t system of the posterior, and follows the specification.
"""

import copy
import dataclasses
import math
import time
from math import ceil, inf, log2, nan, sqrt, tanh

import numpy as np
import oracle as o
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises

import ldpbo_core as core
from ldpbo import simulation

X = np.linspace(0, 1, 12)
K = o.gram(lambda a, b: o.matern(a, b, 0.3, 1.5), X)
SE = o.gram(lambda a, b: o.se(a, b, 0.2), X)


def norm(K, f):
    """RKHS norm of f on the arms, the B of the theorems."""
    return sqrt(f @ np.linalg.solve(K + 1e-12 * np.eye(len(K)), f))


def problem(K=K, noise="uniform", seed=0, **change):
    f = K @ default_rng(seed).uniform(-1, 1, len(K))
    return core.Problem(
        **{**dict(K=K, f=f, B=norm(K, f), R=0.7, v=9.0, c=3.0, noise=noise), **change}
    )


TABLE = core.table_problem(default_rng(5).uniform(-1, 1, (40, 6)) + np.linspace(-1, 1, 6))
KINDS = {  # problem, settings of make
    "one bit": (problem(), dict(eps=1.0, curator=core.OneBit)),
    "Laplace": (problem(), dict(eps=3.0)),
    "bounded": (problem(), {}),
    "heavy": (problem(noise="t3"), {}),
    "heavy, alpha 0.4": (problem(alpha=0.4), {}),
    "one bit, table": (TABLE, dict(eps=2.0, curator=core.OneBit)),
    "Laplace, table": (TABLE, dict(eps=2.0)),
    "one bit, SE": (problem(SE), dict(eps=0.5, curator=core.OneBit)),
    "one bit, Student": (problem(noise="t3"), dict(eps=1.0, curator=core.OneBit)),
}


def kind(name, T, **change):
    p, settings = KINDS[name]
    return p, core.make("PE", p, T, rng=1, **{**settings, **change})


def reporter(p, learner, seed=0):
    """arm -> one report, as a user would send it."""
    rng, curator = default_rng(seed), copy.copy(learner.s.curator)
    return lambda arm: (
        float(p.sample(arm, rng))
        if curator is None
        else float(curator.privatise(p.sample(arm, rng), rng))
    )


# ---- the oracle ---------------------------------------------------------------------------------
def sizes(T):
    """N_1 = ceil(sqrt T), N_{i+1} = ceil(sqrt(T N_i)), the last cut; in integers."""
    out, N = [], 1
    while sum(out) < T:
        square, N = T * N, 1
        N = max(0, math.isqrt(square) - 1)
        while N * N < square:
            N += 1
        out.append(N)
    out[-1] -= sum(out) - T
    return out


def width(kind, order, *, n, I, T, B, R, scale, c, alpha, lam, delta, b, widest, plays):
    """beta of SPEC, section 8, table; scale is s of one bit or the Laplace scale."""
    log = math.log(2 * n * I / delta)
    if kind == "Laplace":
        if order:
            return B + b * sqrt((R**2 + 2 * scale**2) * math.log(T)) / sqrt(lam)
        return B + b * max(
            sqrt(2 * (R**2 + 4 * scale**2) * log),
            2 * sqrt(2) * scale * log * widest / sqrt(lam),
        ) / sqrt(lam)
    if kind == "heavy":
        if alpha == 1:
            square = c / lam if order else 4 * c / lam
        else:
            square = (
                (c if order else 8 * c) ** (1 / (1 + alpha))
                * plays ** ((1 - alpha) / (2 * (1 + alpha)))
            ) ** 2 / lam
        return sqrt(B**2 + b**2 * square)
    s = R if kind == "bounded" else scale
    return sqrt(B**2 + b**2 * (s**2 * math.log(T) / lam if order else 2 * s**2 * log / lam))


def replay(p, learner, counts, reports, active):
    """mu, sigma, beta and the active arms after a batch of counts[arm, copy] plays with their list
    of reports[arm, copy].
    """
    kind = learner.kind
    k = learner.k
    s = learner.s
    n = p.n
    each = [
        min(len(reports[a, j]) for j in range(k)) for a in range(n)
    ]  # plays of the common design
    arms = [a for a in range(n) for _ in range(each[a])]
    mus = []
    for j in range(k):
        y = [
            sum(reports[a, j]) / len(reports[a, j]) for a in range(n) for _ in range(each[a])
        ]  # the mean stands for each play: the same mu
        mu, sigma = o.exact_posterior(p.K, arms, y, s.lam)
        mus.append(mu)
    mu = np.array([o.median([m[x] for m in mus]) for x in range(n)])
    beta = width(
        kind.split(",")[0],
        s.constants == "order",
        n=n,
        I=len(sizes(s.T)),
        T=s.T,
        B=p.B,
        R=p.R,
        scale=getattr(s.curator, "scale", 0.0),
        c=p.c,
        alpha=s.alpha,
        lam=s.lam,
        delta=s.delta,
        b=s.beta_scale,
        widest=max(sigma[x] for x in range(n) if active[x]),
        plays=max(len(arms), 1),
    )
    best = max(mu[x] - beta * sigma[x] for x in range(n) if active[x])
    margin = min(abs(mu[x] + beta * sigma[x] - best) for x in range(n))
    return (
        mu,
        sigma,
        beta,
        [bool(active[x]) and mu[x] + beta * sigma[x] >= best for x in range(n)],
        margin,
    )


def gradient(K, w, ratio):
    """d_x = ratio phi_x'(I + ratio sum w phi phi')^{-1} phi_x, from K alone."""
    return ratio * np.diag(K @ np.linalg.inv(np.eye(len(K)) + ratio * w[:, None] * K))


def literal_weights(K, ratio):
    w = np.full(len(K), 1 / len(K))
    while True:
        d = gradient(K, w, ratio)
        if max(d) <= 1.01 * (w @ d):
            return w
        w = w * d / (w @ d)


@mark.parametrize(
    "change",
    [
        dict(constants="theorem"),
        dict(constants="order"),
        dict(constants="theorem", lam=0.3, beta_scale=0.4, delta=0.01),
    ],
    ids=["theorem", "order", "theorem, other settings"],
)
@mark.parametrize("name", KINDS)
def test_batches_agree_with_the_oracle(name, change):
    p, learner = kind(name, 900, **change)
    report = reporter(p, learner)
    active = np.ones(p.n, dtype=bool)
    assert np.all(learner.active)
    assert learner.beta == p.B
    for N in sizes(900):
        counts = learner.left.copy()
        reports = {(a, j): [] for a in range(p.n) for j in range(learner.k)}
        assert counts.sum() == N == learner.plan().sum()
        assert not learner.plan()[~active].any()
        for _ in range(N):
            arm = learner.ask()
            before = learner.left[arm].copy()
            y = report(arm)
            learner.tell(y)
            turn = int(np.argmax(before))
            reports[arm, turn].append(y)
        assert all(len(reports[a, j]) == counts[a, j] for a, j in reports)
        mu, sigma, beta, survivors, margin = replay(p, learner, counts, reports, active)
        assert learner.beta == approx(beta, rel=1e-9)
        assert_allclose(learner.sigma, sigma, atol=1e-7)
        assert_allclose(learner.mu, mu, atol=1e-8 * max(1, max(abs(mu))))
        assert margin > 1e-6 and learner.active.tolist() == survivors
        active = learner.active
    assert learner.t == 900
    assert not learner.plan().any()


def test_the_oracle_sees_eliminations():
    """The comparison above would be empty if no arm were ever dropped."""
    for name in ("one bit", "bounded", "Laplace", "heavy"):
        p, _ = KINDS[name]
        out = core.simulate_batches(p, 10**6, trials=1, seed=0, constants="order", **KINDS[name][1])
        assert out.active[0, 0] < p.n or out.active[0, -1] < p.n


# ---- batches and design -------------------------------------------------------------------------
@mark.parametrize(
    "T", [1, 2, 3, 4, 5, 7, 16, 17, 100, 1000, 20_000, 10**6, 10**9, 10**15 - 1, 10**15]
)
def test_batches_sum_to_T_and_are_few(T):
    found = core.batch_sizes(T)
    assert found == sizes(T)
    assert sum(found) == T
    assert all(isinstance(N, int) for N in found)
    assert len(found) <= ceil(log2(max(log2(T), 1))) + 1
    for N, following in zip(found, found[1:]):
        assert (
            following <= sqrt(T * N) + 1 and following / sqrt(N) <= sqrt(T) + 1
        )  # used in Lemma B


@mark.parametrize("N", [1, 7, 100, 10**4, 10**8, 10**12, 10**15])
@mark.parametrize("lam", [0.05, 1.0, 40.0])
@mark.parametrize(
    "K",
    [K, SE, np.eye(5), np.ones((4, 4)), np.diag([0.0, 1.0, 0.5])],
    ids=["matern", "se", "identity", "ones", "diagonal"],
)
def test_counts_sum_to_N_and_follow_the_certified_weights(K, lam, N):
    """max d <= 1.01 sum w d holds for counts/N where N is large.

    For small N the counts stay within one play of N w.
    """
    counts = core.optimal_design(
        core.Problem(K=K, f=np.zeros(len(K)), B=1, R=1, v=1, c=1).Z, N, lam
    )
    assert counts.sum() == N
    assert counts.min() >= 0
    assert counts.dtype == np.int64
    w = counts / N
    if N <= 10**8:
        assert np.abs(counts - N * literal_weights(K, N / lam)).max() <= 1 + 1e-6 * N
    if 10**4 <= N <= 10**8:
        d = gradient(K, w, N / lam)
        assert d.max() <= 1.0101 * (w @ d) + 2 * len(K) * d.max() / N * len(K)


@mark.parametrize("lam", [0.5, 30.0])
def test_certificate_bounds_the_largest_variance(lam):
    """max sigma^2 <= 1.01 (lam/N) d_eff, with sigma from the oracle's posterior of single plays."""
    counts = core.optimal_design(
        core.Problem(K=K, f=np.zeros(len(K)), B=1, R=1, v=1, c=1).Z, 1500, lam
    )
    _, sigma = o.exact_posterior(
        K, np.repeat(np.arange(len(K)), counts).tolist(), np.zeros(1500), lam
    )
    effective = np.trace(
        K @ np.diag(counts / lam) @ np.linalg.inv(np.eye(len(K)) + K @ np.diag(counts / lam))
    )
    assert (sigma**2).max() <= 1.02 * lam / 1500 * effective
    best = 0.5 * np.linalg.slogdet(np.eye(len(K)) + K * (counts / lam))[1]
    assert (
        best >= o.greedy_gains(K, 200, lam * 200 / 1500)[-1] * 0.99
    )  # and it is no worse than the greedy choice


@mark.parametrize("kernel", ["matern", "se"])
@mark.parametrize("lam", [1.0, 20.0])
def test_remainders_that_differ_by_rounding_are_a_tie(kernel, lam):
    """The grid is its own mirror image, so a design of the arms in reverse order is the same
    design.
    """
    Z = core.synthetic_problem(kernel, "uniform", 1, n=30).Z
    for N in (*range(40, 4000, 97), 10**4, 10**5):
        assert_array_equal(
            core.optimal_design(Z, N, lam), core.optimal_design(Z[:, ::-1], N, lam), err_msg=str(N)
        )


def test_equal_arms_get_equal_counts_lowest_index_first():
    assert core.optimal_design(np.eye(4), 6, 1.0).tolist() == [2, 2, 1, 1]
    assert core.optimal_design(np.zeros((0, 3)), 4, 1.0).tolist() == [
        2,
        1,
        1,
    ]  # a kernel of zeros has no features


# ---- Lemmas A and B -----------------------------------------------------------------------------
@mark.parametrize("lam", [0.1, 2.0])
def test_lemma_a_bias_and_noise_share_the_variance(lam):
    """|f(x) - w'f_X| <= B a, sqrt(lam)|w| = b, a^2 + b^2 = sigma^2, |w_j| <= sigma(x)
    sigma(x_j)/lam; a is attained.
    """
    rng = default_rng(3)
    arms = rng.integers(len(K), size=25).tolist()
    _, sigma = o.exact_posterior(K, arms, np.zeros(25), lam)
    for x in range(len(K)):
        w = np.linalg.solve(K[np.ix_(arms, arms)] + lam * np.eye(25), K[arms, x])
        weights = np.eye(len(K))[x] - np.bincount(
            arms, w, len(K)
        )  # bias of f is weights'f, its norm is a
        a = sqrt(weights @ K @ weights)
        b = sqrt(lam) * np.linalg.norm(w)
        assert a * a + b * b == approx(sigma[x] ** 2, rel=1e-8)
        assert np.all(np.abs(w) <= sigma[x] * sigma[arms] / lam + 1e-12)
        worst = K @ weights / a  # norm 1, bias a
        assert abs(worst[x] - w @ worst[arms]) == approx(a, rel=1e-8)
        assert norm(K, worst) == approx(1, rel=1e-6)


@mark.parametrize("seed", range(4))
@mark.parametrize("lam", [0.5, 4.0])
def test_lemma_b_holds_for_the_play_by_play_maximum_variance_design(lam, seed):
    """Plays chosen one by one by the largest posterior variance, noise within R.

    R_T <= 2B ceil(sqrt T) + 4 beta (I-1)(sqrt T + 1) sqrt(C gamma_T).
    """
    T = 256
    R = 0.2
    delta = 1e-6
    p = problem(seed=seed, R=R)
    rng = default_rng(seed)
    active = list(range(p.n))
    regret = 0.0
    beta = sqrt(p.B**2 + 2 * R**2 * math.log(2 * p.n * len(sizes(T)) / delta) / lam)
    C = 2 / math.log(1 + 1 / lam)
    gamma = o.greedy_gains(p.K, T, lam)[-1] / (1 - 1 / math.e)
    for N in sizes(T):
        arms, widest = [], []
        for _ in range(N):
            _, sigma = o.exact_posterior(p.K, arms, np.zeros(len(arms)), lam)
            arms.append(max(active, key=lambda x: sigma[x]))
            widest.append(sigma[arms[-1]])
        y = p.f[arms] + R * rng.uniform(-1, 1, N)
        mu, sigma = o.exact_posterior(p.K, arms, y, lam)
        assert np.all(np.abs(p.f - mu) <= beta * sigma)  # fails with probability 1e-6
        assert max(sigma[x] for x in active) <= np.mean(widest) + 1e-9 <= sqrt(C * gamma / N) + 1e-9
        regret += sum(max(p.f) - p.f[arms])
        best = max(mu[x] - beta * sigma[x] for x in active)
        active = [x for x in active if mu[x] + beta * sigma[x] >= best]
        assert int(np.argmax(p.f)) in active
        assert all(max(p.f) - p.f[x] <= 4 * beta * sqrt(C * gamma / N) for x in active)
    assert regret <= 2 * p.B * ceil(sqrt(T)) + 4 * beta * (len(sizes(T)) - 1) * (
        sqrt(T) + 1
    ) * sqrt(C * gamma)


# ---- coverage at proved widths ------------------------------------------------------------------
def failures(name, trials, **change):
    """In how many trials |f - mu| <= beta sigma fails at some arm after some batch.

    The sums are drawn in their exact law.
    """
    p, settings = KINDS[name]
    bad = 0
    for i in range(trials):
        learner = core.make(
            "PE", p, 1000, delta=0.1, constants="theorem", rng=i, **{**settings, **change}
        )
        rng = default_rng([7, i])
        missed = False
        while learner.left.any():
            sums = np.zeros(learner.left.shape)
            for a, j in zip(*np.nonzero(learner.left)):
                y = p.sample(a, rng, learner.left[a, j])
                sums[a, j] = (
                    y.sum()
                    if learner.s.curator is None
                    else learner.s.curator.privatise(y, rng).sum()
                )
            learner.tell_sums(
                *((learner.left, sums) if learner.k > 1 else (learner.left[:, 0], sums[:, 0]))
            )
            missed = missed or bool((np.abs(p.f - learner.mu) > learner.beta * learner.sigma).any())
        bad += missed
    return bad


@mark.parametrize("name", ["one bit", "Laplace", "bounded", "heavy", "one bit, SE"])
def test_bands_hold_with_probability_one_minus_delta(name):
    """At most 27 of 100 trials may fail at delta = 0.1.

    A program that fails in one of ten exceeds that with probability below 1e-6.
    """
    from scipy.stats import binom

    assert binom.sf(27, 100, 0.1) < 1e-6
    assert failures(name, 100) <= 27


def test_what_the_features_leave_out_is_part_of_the_band():
    """f of norm B along an eigenvector of K that is dropped as near rounding, no noise.

    10^15 plays make sigma so small that only the part left out bounds the error.
    """
    points = np.arange(1, 101) / 100
    K = core.se_kernel(points, points, lengthscale=0.2)
    w, Q = np.linalg.eigh(K)
    below = w[::-1][np.argmax(w[::-1] < 1e-12 * w[-1])]  # the largest of those below the cut
    f = sqrt(below) * Q[:, np.argmin(np.abs(w - below))]
    learner = core.make("PE", core.Problem(K=K, f=f, B=1.0, R=1.0), 10**15, constants="theorem")
    while (plan := learner.plan()).any():
        active = learner.active.copy()
        learner.tell_sums(plan, plan * f)
        assert (np.abs(f - learner.mu) <= learner.beta * learner.sigma)[active].all()
    assert learner.batch == len(learner.sizes)


def test_bands_a_tenth_as_wide_do_not_hold():
    """So the test above can fail: without B's share the widths are of the order of the noise."""
    p = dataclasses.replace(KINDS["one bit"][0], B=0.05)
    KINDS["narrow"] = (
        p,
        dict(eps=1.0, curator=core.OneBit(1.0, KINDS["one bit"][0].B, 0.7), beta_scale=0.1),
    )
    try:
        assert failures("narrow", 40) > 25
    finally:
        del KINDS["narrow"]


# ---- sums and single reports --------------------------------------------------------------------
def state(learner):
    return [
        learner.t,
        learner.batch,
        learner.beta,
        *(
            a.tobytes()
            for a in (learner.mu, learner.sigma, learner.active, learner.left, learner._plan)
        ),
    ]


@mark.parametrize("seed", range(3))
@mark.parametrize("name", KINDS)
def test_sums_and_single_reports_give_the_same_state_bit_for_bit(name, seed):
    """Single reports, one sum a batch as numpy adds it, and a random split of the batch in random
    order.
    """
    p, single = kind(name, 700)
    whole, split = copy.deepcopy(single), copy.deepcopy(single)
    report, rng = reporter(p, single, seed), default_rng(seed)
    while single.left.any():
        told = []
        for _ in range(single.plan().sum()):
            arm = single.ask()
            turn = int(single.left[arm].argmax())
            y = report(arm)
            told.append((arm, turn, y))
            single.tell(y)
        shape = whole.left.shape
        parts = rng.integers(4, size=len(told))
        for learner, groups in (
            (whole, [told]),
            (split, [[x for x, part in zip(told, parts) if part == i] for i in rng.permutation(4)]),
        ):
            for group in groups:
                counts = np.zeros(shape, dtype=int)
                sums = np.zeros(shape)
                for arm, turn, y in group:
                    counts[arm, turn] += 1
                    sums[arm, turn] += y
                learner.tell_sums(
                    *((counts, sums) if learner.k > 1 else (counts[:, 0], sums[:, 0]))
                )
        assert state(single) == state(whole) == state(split)
    assert single.t == 700


def test_sums_and_single_reports_may_be_mixed_within_a_batch():
    p, learner = kind("one bit", 500)
    arm = learner.ask()
    counts = np.zeros(p.n, dtype=int)
    counts[arm] = learner.plan()[arm]
    learner.tell_sums(counts, np.zeros(p.n) + learner.scale * (counts % 2))
    assert learner.plan()[arm] == 0
    assert learner.t == counts.sum()
    with raises(ValueError, match="ask"):
        learner.tell(learner.scale)  # that arm's plays are all told
    assert learner.ask() != arm
    learner.tell(learner.scale)
    assert learner.t == counts.sum() + 1


BAD = {
    "more than planned": (lambda c, s: (c + (np.arange(len(c)) == 2), s), "counts of arm 2"),
    "negative counts": (lambda c, s: (c - 10**6 * (np.arange(len(c)) == 1), s), "counts of arm 1"),
    "NaN sums": (lambda c, s: (c, np.where(np.arange(len(c)) == 3, nan, s)), "sums"),
    "infinite sums": (lambda c, s: (c, s + inf), "sums"),
    "a sum without reports": (
        lambda c, s: (c * (np.arange(len(c)) != 0), s + 1.0),
        "sums of arm 0",
    ),
    "a sum beyond 1e100 a report": (lambda c, s: (c, s + 1e200), "sums of arm"),
    "too short": (lambda c, s: (c[:-1], s[:-1]), "shape"),
    "sums too long": (lambda c, s: (c, np.append(s, 0.0)), "shape"),
    "a matrix": (lambda c, s: (c[:, None], s[:, None]), "shape"),
    "counts that are floats": (lambda c, s: (c.astype(float), s), "integers"),
    "counts that are truth values": (lambda c, s: (c > 0, s), "integers"),
    "counts that are words": (lambda c, s: (["a"] * len(c), s), "integers"),
    "sums that are words": (lambda c, s: (c, ["a"] * len(c)), "sums"),
    "counts that are one number": (lambda c, s: (3, s), "shape"),
}


@mark.parametrize("case", BAD)
def test_bad_sums_are_refused_and_change_nothing(case):
    p, learner = kind("bounded", 400)
    learner.tell_sums(np.zeros(p.n, dtype=int), np.zeros(p.n))
    before = state(learner) + [str(learner._sums.tolist())]
    call = BAD[case]
    with raises(ValueError, match=call[1]):
        learner.tell_sums(*call[0](learner.plan(), np.zeros(p.n)))
    assert state(learner) + [str(learner._sums.tolist())] == before
    learner.tell_sums(learner.plan(), np.zeros(p.n))  # and the plan can still be told
    assert learner.batch == 1


def test_a_report_of_an_arm_that_is_not_planned_is_refused():
    p, learner = kind("one bit", 4)
    idle = int(np.flatnonzero(learner.plan() == 0)[0])
    before = state(learner)
    with raises(ValueError, match=f"arm = {idle}.*plan"):
        learner.tell(1.0, arm=idle)
    assert state(learner) == before


# ---- edges --------------------------------------------------------------------------------------
@mark.parametrize("name", KINDS)
@mark.parametrize("T", [1, 2, 3, 5, 11])
def test_horizons_below_the_number_of_arms(name, T):
    p, learner = kind(name, T)
    report = reporter(p, learner)
    for t in range(T + 3):  # three rounds beyond the horizon
        assert learner.plan().sum() > 0 or t >= T
        arm = learner.ask()
        assert 0 <= arm < p.n
        assert isinstance(arm, int)
        assert arm == learner.ask()
        learner.tell(report(arm))
    assert learner.t == T + 3
    assert np.isfinite(learner.mu).all()
    assert learner.active.any()
    assert learner.plan().dtype == np.int64
    assert learner.plan().shape == (p.n,)
    assert not learner.plan().any()


def test_after_the_horizon_the_best_arm_is_played_and_no_sum_is_taken():
    p, learner = kind("bounded", 2000)
    while learner.plan().any():
        learner.tell_sums(learner.plan(), learner.plan() * p.f)
    best = int(np.argmax(np.where(learner.active, learner.mu, -np.inf)))
    before = state(learner)
    assert [learner.ask()] * 2 == [best, learner.ask()]
    learner.tell_sums(np.zeros(p.n, dtype=int), np.zeros(p.n))
    assert state(learner) == before
    with raises(ValueError, match="counts of arm 0 = 1: must be from 0 to 0"):
        learner.tell_sums(np.eye(p.n, dtype=int)[0], np.zeros(p.n))


def test_one_arm_and_a_kernel_of_zeros():
    for K in (np.eye(1), np.zeros((1, 1)), np.zeros((3, 3)), np.ones((3, 3))):
        p = core.Problem(K=K, f=np.zeros(len(K)), B=1.0, R=1.0, v=1.0, c=1.0)
        out = core.simulate_batches(p, 1000, trials=2, seed=0, eps=1.0, curator=core.OneBit)
        assert np.all(out.active == len(K))
        assert np.all(out.regret == 0)
        assert out.t[-1] == 1000


def test_one_active_arm_gets_the_whole_plan():
    p, learner = kind("bounded", 10**8)
    while learner.plan().any():
        plan = learner.plan()
        if learner.active.sum() == 1:
            assert plan[learner.active] == plan.sum() == learner.sizes[learner.batch]
        learner.tell_sums(plan, plan * p.f)
    assert learner.active.sum() == 1
    assert learner.active[np.argmax(p.f)]


def test_noise_free_rewards_have_a_ridge():
    p = problem(R=0.0)
    assert core.make("PE", p, 100).s.lam == 1e-8
    assert core.simulate_batches(p, 10**6, trials=1, seed=0).active[0, -1] == 1


def test_T_beyond_1e15_is_refused():
    with raises(ValueError, match=r"T = 1000000000000001: must be .*at most 10\*\*15"):
        core.make("PE", problem(), 10**15 + 1)


def test_order_inside_a_batch_is_drawn_from_rng():
    runs = [
        [a.ask() for _ in range(20) if a.tell(0.0, arm=a.ask()) is None]
        for a in (core.make("PE", problem(), 5000, rng=seed) for seed in (1, 1, 2))
    ]
    assert runs[0] == runs[1] != runs[2]


# ---- settings -----------------------------------------------------------------------------------
def test_lam_defaults_to_the_squared_noise_over_B_for_PE_alone():
    p = problem()
    L = 2 * (p.B + p.R) / 2.0
    s = (p.B + p.R) / tanh(1.0)
    assert core.make("PE", p, 10).s.lam == approx((p.R / p.B) ** 2, rel=1e-12)
    assert core.make("PE", p, 10, eps=2.0, curator=core.OneBit).s.lam == approx(
        (s / p.B) ** 2, rel=1e-12
    )
    assert (
        core.make("PE", p, 10, eps=2.0).s.lam
        == core.make("PE", p, 10, eps=2.0, lam=None).s.lam
        == approx((L / p.B) ** 2, rel=1e-12)
    )
    assert core.make("PE", problem(noise="t3"), 10).s.lam == approx(3.0 / p.B**2, rel=1e-12)
    assert core.make("PE", p, 10, lam=1.0).s.lam == 1.0 == core.make("TGP", p, 10).s.lam
    with raises(ValueError, match="lam = None"):
        core.make("TGP", p, 10, lam=None)


@mark.parametrize("constants, factor", [("theorem", 8), ("order", 1)])
def test_copies_under_heavy_tails(constants, factor):
    p = problem(noise="t3")
    learner = core.make("PE", p, 1000, constants=constants, delta=0.05)
    assert learner.k == ceil(factor * math.log(p.n * len(sizes(1000)) / 0.05))
    assert core.make("PE", p, 1000, k=3).k == 3
    assert core.make("PE", p, 1000, eps=1.0).k == 1


def test_there_is_no_repaired_elimination():
    with raises(ValueError, match="constants = 'repaired'.*PE"):
        core.make("PE", problem(), 10, constants="repaired")


def test_gp_ucb_on_one_bit_reports_has_its_proved_width():
    """beta = B + (s/sqrt(lam)) sqrt(2 (g + ln(1/delta))), g = 1/2 ln det(I + K_t/lam) of the run."""
    p = problem()
    s = (p.B + p.R) / tanh(0.5)
    learner = core.make(
        "GP-UCB",
        p,
        60,
        eps=1.0,
        curator=core.OneBit,
        constants="theorem",
        lam=0.5,
        delta=0.02,
        beta_scale=0.7,
    )
    arms = []
    for t in range(60):
        arms.append(learner.ask())
        learner.tell(s if t % 3 else -s)
        assert learner.beta == approx(
            p.B + 0.7 * s / sqrt(0.5) * sqrt(2 * (o.gain(p.K, arms, 0.5) + math.log(50))),
            rel=1e-9,
        )


@mark.parametrize("alpha", [0.25, 0.6, 0.9, 1.0])
def test_repaired_moma_has_a_radius_for_every_alpha(alpha):
    """3 (s 2^{1-alpha} c)^{1/(1+alpha)} N^{(1-alpha)/(2(1+alpha))} sqrt(2 gamma_N) / sqrt(lam)
    after B(1 + 1/sqrt(1-acc)), s = 8.
    """
    p = problem(alpha=alpha)
    learner = core.make("MoMA", p, 400, constants="repaired", lam=0.5, k=8)
    gamma = o.greedy_gains(p.K, 50, 0.5)[-1] / (1 - 1 / math.e)
    for _ in range(8):
        learner.ask()
        learner.tell(0.1)
    want = (
        3
        * (8 * 2 ** (1 - alpha) * p.c) ** (1 / (1 + alpha))
        * 50 ** ((1 - alpha) / (2 * (1 + alpha)))
        * sqrt(2 * gamma / 0.5)
    )
    assert learner.beta == approx(p.B * (1 + 1 / sqrt(0.9)) + want, rel=1e-9)


@mark.parametrize("alpha, lam", [(0.6, 0.2), (0.25, 1.0), (0.9, 0.05), (1.0, 0.5)])
def test_the_supermartingale_of_the_repair_for_every_alpha(alpha, lam):
    """E ||S_n||^p <= 2^{1-alpha} c sum l_i^{p/2}, on enumerated coin flips with adaptive designs
    (p = 1 + alpha); F1 of the repair.
    """
    Z = np.linalg.cholesky(K[:4, :4] + 1e-9 * np.eye(4))
    p = 1 + alpha
    rng = default_rng(8)
    rule = rng.integers(4, size=(7, 2**7))  # the arm of step i after the flips so far
    flip = np.array([3.0, -1.0])
    chance = np.array([0.25, 0.75])  # mean 0, c = E|eta|^p
    c = (chance * np.abs(flip) ** p).sum()

    def walk(step, history, S, V, weight):
        """(E ||S_7||^p, E sum l^{p/2}) below this node."""
        if step == 7:
            return weight * (S @ np.linalg.solve(V, S)) ** (p / 2), 0.0
        phi = Z[rule[step, history]]
        V = V + np.outer(phi, phi)
        size = weight * (phi @ np.linalg.solve(V, phi)) ** (p / 2)
        below = [
            walk(step + 1, 2 * history + i, S + flip[i] * phi, V, weight * chance[i])
            for i in range(2)
        ]
        return sum(b[0] for b in below), size + sum(b[1] for b in below)

    left, right = walk(0, 0, np.zeros(4), lam * np.eye(4), 1.0)
    assert left <= 2 ** (1 - alpha) * c * right + 1e-12


# ---- simulate_batches ---------------------------------------------------------------------------
def test_campaign_has_the_documented_fields_and_is_reproducible():
    make = lambda seed: problem(seed=seed)
    one, two = (
        core.simulate_batches(make, 5000, trials=3, seed=4, eps=1.0, curator=core.OneBit)
        for _ in range(2)
    )
    assert one._fields == ("t", "regret", "active", "uniform")
    assert one.t.tolist() == np.cumsum(sizes(5000)).tolist()
    assert one.regret.shape == one.active.shape == (3, len(one.t))
    assert one.uniform.shape == (3,)
    assert np.all(np.diff(one.regret) >= 0)
    assert np.all(np.diff(one.active) <= 0)
    assert np.all(one.active >= 1)
    for a, b in zip(one, two):
        assert_array_equal(a, b)
    used = [problem(seed=core.streams(4, i)[0]) for i in range(3)]
    assert_allclose(one.uniform, [np.mean(p.f.max() - p.f) for p in used], rtol=1e-12)
    more = core.simulate_batches(make, 5000, trials=5, seed=4, eps=1.0, curator=core.OneBit)
    assert_array_equal(more.regret[:3], one.regret)


@mark.parametrize(
    "name",
    ["one bit", "Laplace", "bounded", "one bit, table", "Laplace, table", "one bit, Student"],
)
def test_the_cost_does_not_grow_with_T(name):
    """A billion users in under a second of this process's time, and 1e15 of them at all."""
    p, settings = KINDS[name]
    start = time.process_time()
    out = core.simulate_batches(p, 10**9, trials=1, seed=0, constants="theorem", **settings)
    assert time.process_time() - start < 1.0
    assert out.t[-1] == 10**9
    out = core.simulate_batches(p, 10**15, trials=1, seed=0, constants="theorem", **settings)
    assert out.t[-1] == 10**15
    assert np.isfinite(out.regret).all()
    assert out.regret[0, -1] < 1e-3 * 10**15 * out.uniform[0]
    assert out.active[0, -1] == 1


def test_where_no_law_is_known_single_draws_are_added_up_to_a_stated_T():
    student = problem(noise="t3")
    clipped = dataclasses.replace(problem(), B=0.1)
    for p, settings in ((student, {}), (student, dict(eps=1.0)), (clipped, dict(eps=1.0))):
        with raises(
            ValueError,
            match=f"T = {10 * simulation.SINGLES}: must be at most {simulation.SINGLES}.*OneBit",
        ):
            core.simulate_batches(p, 10 * simulation.SINGLES, trials=1, seed=0, **settings)
        assert core.simulate_batches(p, 2000, trials=1, seed=0, **settings).t[-1] == 2000


@mark.parametrize("noise", ["uniform", "t3", "table"])
@mark.parametrize("bound", [0.05, 0.8, 3.0, 50.0])
def test_mean_of_the_clipped_reward(noise, bound):
    """Against integration of the density (uniform, Student) or the table itself."""
    from scipy import integrate, stats

    p = TABLE if noise == "table" else problem(noise=noise)
    found = simulation._clipped_mean(p, bound)
    for x in (0, p.n // 2, p.n - 1):
        clip = lambda y: min(max(y, -bound), bound)
        if noise == "table":
            want = np.mean([clip(y) for y in p.samples[:, x]])
        else:
            law = stats.t(3) if noise == "t3" else stats.uniform(-p.R, 2 * p.R)
            want = (
                bound
                - integrate.quad(
                    lambda y: law.cdf(y - p.f[x]),
                    -bound,
                    bound,
                    limit=500,
                    points=[v for v in (p.f[x] - p.R, p.f[x] + p.R) if abs(v) < bound] or None,
                )[0]
            )
        assert found[x] == approx(want, abs=1e-7)


LAWS = {
    name: KINDS[name]
    for name in (
        "one bit",
        "Laplace",
        "bounded",
        "one bit, table",
        "Laplace, table",
        "one bit, Student",
    )
} | {
    "bounded, table": (TABLE, {}),
    "one bit that clips": (
        dataclasses.replace(problem(), B=0.4),
        dict(eps=1.0, curator=core.OneBit),
    ),
    "Laplace that clips, table": (dataclasses.replace(TABLE, B=0.4, R=0.3), dict(eps=2.0)),
}


@mark.parametrize("name", LAWS)
def test_sums_are_drawn_in_the_law_of_summed_reports(name):
    """Mean, variance and a two-sample Kolmogorov-Smirnov test of 4,000 sums of 9 reports, each at
    1e-8 per arm: below 1e-6 for the test.
    """
    from scipy import stats

    p, settings = LAWS[name]
    learner = core.make("PE", p, 10, **settings)
    rng = default_rng(11)
    size = 4000
    curator = learner.s.curator
    counts = np.zeros((p.n, 1), dtype=np.int64)
    arms = [0, p.n // 2, p.n - 1]
    counts[arms] = 9
    drawn = np.array(
        [simulation._report_sums(learner, curator, counts, rng, rng)[:, 0] for _ in range(size)]
    )
    assert np.all(drawn[:, counts[:, 0] == 0] == 0)
    for x in arms:
        y = p.sample(x, rng, (size, 9))
        single = (y if curator is None else curator.privatise(y, rng)).sum(axis=1)
        spread = single.std()
        assert abs(drawn[:, x].mean() - single.mean()) < 5.8 * spread * sqrt(2 / size)
        assert abs(drawn[:, x].std() / spread - 1) < 5.8 * sqrt(
            (stats.kurtosis(single) + 2) / (2 * size)
        )
        jitter = 1e-9 * spread * rng.random(size)  # one-bit sums have atoms
        assert stats.ks_2samp(drawn[:, x] + jitter, single + jitter).pvalue > 1e-8


@mark.parametrize("name", ["one bit", "Laplace", "bounded", "heavy"])
def test_simulate_batches_and_ask_tell_agree_in_law(name):
    """Mean final regret of 60 runs of each, two-sample z below 5.5.

    False alarms 4e-8, were the means Gaussian.
    """
    p, settings = KINDS[name]
    T, settings = 600, dict(settings, constants="order", beta_scale=0.3)
    sums = core.simulate_batches(p, T, trials=60, seed=1, **settings).regret[:, -1]
    single = core.simulate(p, "PE", T, trials=60, seed=2, **settings).regret[0, :, -1]
    spread = sqrt((sums.var() + single.var()) / 60)
    assert abs(sums.mean() - single.mean()) < 5.5 * spread
    assert sums.std() > 0
    assert single.std() > 0  # data decide something in both


def test_relative_regret_falls_as_T_grows():
    """One-bit reports at proved widths, eps = 1: learning shows by 1e7 users.

    The referee's prototype has .067 (SE) there, ours is the same program anew.
    """

    def make(seed):
        p = core.synthetic_problem("se", "uniform", seed)
        w, Q = np.linalg.eigh(p.K)
        return dataclasses.replace(
            p, B=float(np.linalg.norm((Q.T @ p.f)[w > 1e-10] / np.sqrt(w[w > 1e-10])))
        )

    relative = []
    for T in (10**5, 10**7, 10**9):
        out = core.simulate_batches(
            make, T, trials=4, seed=0, eps=1.0, curator=core.OneBit, constants="theorem"
        )
        relative.append(np.mean(out.regret[:, -1] / (T * out.uniform)))
    assert 0.3 < relative[0] < 0.8
    assert 0.03 < relative[1] < 0.12
    assert 0.003 < relative[2] < 0.012


CALLS = {
    "T zero": (dict(T=0), "T = 0"),
    "trials zero": (dict(trials=0), "trials = 0"),
    "seed negative": (dict(seed=-1), "seed = -1"),
    "rng": (dict(rng=0), "rng"),
    "no problem": (dict(problem=None), "problem"),
    "eps": (dict(eps=-1.0), "eps = -1"),
    "T beyond 1e15": (dict(T=10**16), "T = 1"),
    "constants": (dict(constants="best"), "constants = 'best'"),
    "T a float": (dict(T=1e6), "T = 1000000.0"),
}


@mark.parametrize("case", CALLS)
def test_bad_campaigns_are_refused(case):
    change, words = CALLS[case]
    with raises(ValueError, match=words):
        core.simulate_batches(
            **{**dict(problem=problem(), T=100, trials=1, seed=0, eps=1.0), **change}
        )
