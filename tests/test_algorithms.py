"""Every algorithm against the literal programs of oracle.py, and where the answer is known.

Round by round with teacher forcing; then truncation, epochs, schedules, ties, limits, the protocol
of ask and tell, and long runs.
"""

from math import ceil, comb, e, inf, isfinite, log, log2, nan, sin, sqrt

import numpy as np
import oracle as o
import pytest
from helpers import epochs, kernels, matern, se
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark

import ldpbo_core as core

pytestmark = mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 26) / 25
OWN = default_rng(5).standard_t(3, (60, 25))
COMMON = default_rng(6).standard_t(3, (60, 1))
KERNEL = kernels(X, OWN + 2 * COMMON)
F = np.sin(6 * X) - 0.5 * np.cos(11 * X)
MOMENTS = dict(B=1.5, R=1.0, v=5.0, c=3.0)
LEAST = dict(v=1.5**2 + 1, c=1.0)  # the moments that B and R give
ONES = dict(B=1.0, R=1.0, v=1.0, c=1.0)
PAPER = ["TGP", "ATA", "MoMA"]
algorithms_of_the_paper = mark.parametrize("name", PAPER)
all_kernels = mark.parametrize("kernel", KERNEL)
order_and_printed = mark.parametrize("constants", ["order", "printed"])


def problem(K=KERNEL["matern"], f=F, **change):
    return core.Problem(K=K, f=f, **MOMENTS | change)


def one_arm():
    return problem(np.eye(1), [0.0])


def rewards(T, eps, scale=1.0):
    """What a learner sees, less f: Student noise; or bounded noise and Curator 1's of Laplace."""
    rng = default_rng(0)
    if eps is None:
        return scale * rng.standard_t(3, T)
    laplace = 2 * (MOMENTS["B"] + MOMENTS["R"]) / eps
    return scale * (rng.uniform(-1, 1, T) + rng.laplace(scale=laplace, size=T))


def pair(name, T, K=KERNEL["matern"], **settings):
    """A learner of the core and the literal program, told the same; settings: also the moments."""
    moments = MOMENTS | dict(alpha=1.0)
    for field in moments:
        moments[field] = settings.pop(field, moments[field])
    arms = problem(K, None, **moments)
    learner = core.make(name, arms, T, rng=default_rng(3), **settings)
    slow = o.oracle(name, arms.K, T, rng=default_rng(3), **moments, **settings)
    return learner, slow


class Comparison:
    """Core and oracle side by side on the same arms and rewards, in agreement after every round.

    force: None (the core chooses) or a seed (arms at random, the core is told which). Discrete
    decisions are compared where the margin exceeds rounding; the dictionary always (its margins
    here are above 1e-7, which is asserted, so it may not differ on any machine).
    """

    def __init__(self, name, T, K=KERNEL["matern"], f=F, scale=1.0, force=None, **settings):
        self.learner, self.slow = pair(name, T, K, **settings)
        self.name = name
        self.f = f
        self.noise = rewards(T, settings.get("eps"), scale)
        self.epoch = self.slow.k if name == "MoMA" else 1
        self.chooser = None if force is None else default_rng(force)
        self.size = 1.0  # of the largest reward
        self.clear = self.truncated = self.dropped = self.leftover = 0
        self.kstar = set()
        self.arms = set()
        for t in range(T):
            self.play(t)
        assert self.clear >= 0.95 * T

    def play(self, t):
        """One round of both programs, then everything they can be asked for."""
        assert self.learner.t == t
        left_over = self.name == "MoMA" and t >= self.slow.N * self.epoch
        arm = self.choose(t, left_over)
        y = self.f[arm] + self.noise[t]
        if self.chooser is None:
            self.learner.tell(y)
        else:
            self.learner.tell(y, arm=arm)
        self.slow.feed(arm, y)
        self.arms.add(arm)
        self.size = max(self.size, abs(y))
        self.leftover += left_over
        where = f"{self.name}, round {t + 1}"
        if self.name != "TGP":
            self.compare_dictionary(where)
        if self.name == "MoMA" and (t + 1) % self.epoch == 0 and not left_over:
            self.compare_epoch(where)
        if self.name != "MoMA":
            self.compare_threshold(y, where)
        self.compare_posterior(where)

    def choose(self, t, left_over):
        """The arm to play; both programs would play the same one where scores are no near tie."""
        expected = self.slow.ask()
        margin = self.slow.margin["score"]
        self.clear += margin > 5e-10
        arm = self.learner.ask()
        first = t % self.epoch == 0
        if first or self.chooser is None or left_over:  # else ask() names the arm that was forced
            assert arm == expected or margin <= 5e-10, (
                f"round {t + 1}: core plays {arm}, the oracle {expected}, margin {margin:.1e}"
            )
        if self.chooser is None:
            return arm
        if first:
            self.forced = int(self.chooser.integers(len(self.f)))
        return arm if left_over else self.forced  # those rounds have no arm but the next one

    def compare_dictionary(self, where):
        learner, slow = self.learner, self.slow
        assert slow.margin["sketch"] > 1e-7, "the draw is too close to call: choose another seed"
        assert tuple(np.sort(learner.dictionary)) == slow.dictionary, where
        assert learner.m == slow.m, where
        self.dropped += len(set(slow.plays)) > slow.m

    def compare_epoch(self, where):
        learner, slow = self.learner, self.slow
        assert_allclose(learner.median_distances(), slow.r, atol=1e-7 * self.size, err_msg=where)
        if slow.margin["r"] > 5e-10:
            assert learner.kstar == slow.kstar, where
        self.kstar.add(learner.kstar)

    def compare_threshold(self, y, where):
        if self.name == "ATA" and not self.slow.m:
            return
        assert self.learner.b == approx(self.slow.b, rel=1e-12), where
        self.truncated += abs(y) > self.slow.b

    def compare_posterior(self, where):
        learner, slow = self.learner, self.slow
        if slow.margin["cut"] > 1e-6:
            assert_allclose(learner.mu, slow.mu, atol=1e-8 * self.size, err_msg=where)
        assert_allclose(learner.sigma**2, slow.sigma**2, atol=1e-9, err_msg=where)
        assert learner.beta == approx(slow.beta, rel=1e-9), where


# ---- the grid -----------------------------------------------------------------------------------


@mark.parametrize("force", [None, 8], ids=["own arms", "forced arms"])
@mark.parametrize("eps", [None, 1.0], ids=["non-private", "eps 1"])
@order_and_printed
@all_kernels
@algorithms_of_the_paper
def test_agrees_with_the_oracle(name, kernel, constants, eps, force):
    settings = dict(eps=eps, force=force, constants=constants, **epochs(name, 7))
    out = Comparison(name, 130, KERNEL[kernel], **settings)
    assert len(out.arms) >= 5
    if name == "MoMA":
        assert out.learner.N == 18
        assert out.leftover == 4
        assert len(out.kstar) > 2


@mark.parametrize("eps", [None, 0.5], ids=["non-private", "eps 0.5"])
@all_kernels
@mark.parametrize("name", ["TGP", "MoMA"])
def test_proved_constants_agree_with_the_oracle(name, kernel, eps):
    """Errata A5 and A7; k is the least that the proof allows."""
    out = Comparison(name, 120, KERNEL[kernel], eps=eps, constants="proved", delta=0.05)
    if name == "MoMA":
        of_the_order = core.make("MoMA", out.learner.problem, 120, delta=0.05).k
        assert out.learner.k == out.slow.k < of_the_order


@mark.parametrize("alpha", [0.25, 0.6])
def test_proved_moma_agrees_with_the_oracle_for_heavier_tails(alpha):
    Comparison("MoMA", 120, alpha=alpha, constants="proved", scale=3.0)


@mark.parametrize("lam", [0.02, 0.3, 5.0])
@order_and_printed
@algorithms_of_the_paper
def test_agrees_with_the_oracle_for_other_ridges(name, constants, lam):
    settings = dict(lam=lam, constants=constants, **epochs(name, 5))
    Comparison(name, 100, **settings)
    Comparison(name, 100, eps=2.0, force=1, **settings)


@mark.parametrize("alpha", [0.25, 0.6, 1.0])
@order_and_printed
@algorithms_of_the_paper
def test_agrees_with_the_oracle_for_heavier_tails(name, constants, alpha):
    """alpha < 1: only 1 + alpha moments; rewards with tails to match."""
    settings = dict(alpha=alpha, constants=constants, scale=3.0, **epochs(name, 5))
    Comparison(name, 100, **settings)
    Comparison(name, 100, KERNEL["empirical"], force=2, **settings)


@algorithms_of_the_paper
def test_privacy_ignores_the_moments_and_alpha_that_the_problem_carries(name):
    """With eps set, alpha = 1 and v, c follow from B, R and eps, whatever the problem says."""
    settings = dict(eps=1.0, **epochs(name, 4))
    out = Comparison(name, 60, alpha=0.3, v=77.0, c=55.0, **settings)
    plain = Comparison(name, 60, **settings)
    assert_array_equal(out.learner.mu, plain.learner.mu)
    assert out.learner.beta == plain.learner.beta


@mark.parametrize("q", [0.05, 0.5, 3.0])
@all_kernels
@mark.parametrize("name", ["ATA", "MoMA"])
def test_agrees_with_the_oracle_where_the_sketch_drops_arms(name, kernel, q):
    out = Comparison(name, 120, KERNEL[kernel], q=q, scale=2.0, **epochs(name, 3))
    assert out.dropped > 10


OTHERS = [
    dict(delta=0.5, acc=0.5, beta_scale=0.1),
    dict(delta=0.01, acc=0.9, beta_scale=3.0),
    dict(delta=0.1, acc=0.1, beta_scale=0.0),
]


@mark.parametrize("settings", OTHERS, ids=str)
@order_and_printed
@algorithms_of_the_paper
def test_agrees_with_the_oracle_for_other_delta_acc_and_beta_scale(name, constants, settings):
    Comparison(name, 60, constants=constants, **settings, **epochs(name, 6))


@mark.parametrize("constants", ["order", "printed", "proved"])
@mark.parametrize("weibull", [(0.5, 2.0, 0.5), (1.0, 1.0, 1.0), (2.0, 3.0, 1.5)])
def test_subweibull_tgp_agrees_with_the_oracle(constants, weibull):
    settings = dict(weibull=weibull, constants=constants)
    assert Comparison("TGP", 80, scale=2.0, **settings).truncated > 0


def test_subweibull_schedule_of_laplace_noise_has_the_second_moment_of_laplace():
    """theta = 1, a = 1, b = 1/L: the bias term is sqrt((B^2 + 2 L^2)(ln t + 1) / lam)."""
    L, lam = 3.0, 0.7
    settings = dict(weibull=(1.0, 1.0, 1 / L), constants="printed", lam=lam)
    algorithm = core.make("TGP", one_arm(), 50, **settings)
    gamma = core.information_gain(np.eye(1), 50, lam)
    levels = ceil(log2((1.5 + L * log(50)) / 1.5)) + 1
    for t in range(1, 51):
        algorithm.ask()
        algorithm.tell(0.0)
        b = 1.5 + L * log(t)
        noise = 2 * sqrt(2 / lam) * b * sqrt(gamma[t] + log(levels / 0.1))
        bias = sqrt((1.5**2 + 2 * L**2) * (log(t) + 1) / lam)
        assert algorithm.b == approx(b)
        assert algorithm.beta == approx(1.5 + noise + bias, rel=1e-10)


# ---- truncation really happens ------------------------------------------------------------------


def test_agrees_with_the_oracle_on_rewards_that_tgp_truncates():
    assert Comparison("TGP", 120, scale=6.0).truncated > 10
    assert Comparison("TGP", 120, eps=1.0, scale=3.0).truncated > 5


def untruncated(learner, slow, lam=1.0):
    """How far the mean is from that of ridge regression on all rewards as they are."""
    mu, _ = o.exact_posterior(slow.K, slow.plays, slow.rewards, lam)
    return np.max(np.abs(learner.mu - mu))


@all_kernels
def test_agrees_with_the_oracle_on_rewards_that_ata_truncates(kernel):
    out = Comparison("ATA", 130, KERNEL[kernel], scale=6.0, v=2.0, q=inf)
    difference = untruncated(out.learner, out.slow)
    assert difference > 0.05, "nothing was truncated: the test shows nothing"


@mark.parametrize("outlier", [1e6, -1e12, 1e16, 1e90])
@all_kernels
@mark.parametrize("name", ["TGP", "ATA"])
def test_one_absurd_reward_costs_no_precision(name, kernel, outlier):
    """What truncation drops must leave nothing behind, not even rounding.

    The literal programs never add it.
    """
    learner, slow = pair(name, 80, KERNEL[kernel], q=inf)
    for t, z in enumerate(rewards(80, None)):
        arm = learner.ask()
        y = outlier if t in (5, 30) else F[arm] + z
        learner.tell(y)
        slow.feed(arm, y)
        if slow.margin["cut"] > 1e-6:
            assert_allclose(learner.mu, slow.mu, atol=1e-7)
    assert t == 79
    assert np.max(np.abs(learner.mu)) < 10


@mark.parametrize("outlier", [1e6, 1e16, 1e90])
def test_a_column_with_an_absurd_reward_is_never_the_chosen_one(outlier):
    """MoMA with k = 5 and one user in column 2 who reports nonsense: k* avoids that column.

    And mu stays of the size of the honest rewards.
    """
    learner = core.make("MoMA", problem(), 100, k=5, q=inf)
    for t, z in enumerate(rewards(100, None)):
        arm = learner.ask()
        learner.tell(outlier if t == 12 else F[arm] + z)
        assert learner.kstar != 2 or t < 14
        assert np.max(np.abs(learner.mu)) < 20


def test_ata_compares_old_rewards_with_the_current_threshold():
    """Deviation B1: b_t, not b_tau.

    u shrinks and, with alpha < 1, b_t grows: a reward cut once counts later; with b_tau it never
    would.
    """
    algorithm, slow = pair("ATA", 400, np.eye(2), alpha=0.2, q=inf, **ONES)
    means = []
    for t in range(400):
        y = 10.0 if t == 0 else 0.0
        arm = 0 if t == 0 or t % 2 else 1
        algorithm.ask()
        algorithm.tell(y, arm=arm)
        slow.feed(arm, y)
        assert_allclose(algorithm.mu, slow.mu, atol=1e-10)
        means.append(algorithm.mu[0])
    assert abs(means[0]) < 1e-12
    assert means[-1] > 0.01


def coordinates(K, plays, lam):
    """u_i of every arm, (m, n), after `plays`, with every played arm in the dictionary."""
    phi = o.embedding(K, sorted(set(plays)))[0]
    V = phi[plays].T @ phi[plays] + lam * np.eye(phi.shape[1])
    return o.symmetric_power(V, -0.5) @ phi.T


def largest(K, plays, arm, lam):
    """max_i |u_i| of this arm after `plays`."""
    return np.max(np.abs(coordinates(K, plays, lam)[:, arm]))


def fastest_growth(K, arms, plays, lam):
    """(a, z) where a play of z after one of a makes max_i |u_i| of a grow most; and the factor."""
    growth = {}
    for a in arms:
        now = largest(K, [*plays, a], a, lam)
        for z in arms:
            growth[a, z] = largest(K, [*plays, a, z], a, lam) / now
    return max(growth.items(), key=lambda item: item[1])


def agree(learner, slow, least=1.0):
    """The means are the same to 1e-8 of the largest reward, or of `least` where that is larger."""
    size = max(least, np.max(np.abs(slow.rewards)))
    assert_allclose(learner.mu, slow.mu, atol=1e-8 * size)


def threshold(m, T):
    """ATA's b_t at v = 1, alpha = 1 and order constants."""
    return sqrt(1 / log((m + 1) * T))


@mark.parametrize("seed", range(2))
@mark.parametrize("lam", [1.0, 0.1])
@all_kernels
def test_ata_agrees_with_the_oracle_where_every_product_is_near_the_threshold(kernel, lam, seed):
    """An adversary sizes each reward so that max_i |u_i y| is within 3 % of b_t, above or below.

    Any bound on |u| that is too small by that much shows in mu. Most rounds play other arms than
    the ones just loaded, so the old products drift slowly across the threshold in both directions.
    """
    rng = default_rng(seed)
    T = 110
    K = KERNEL[kernel][::2, ::2]
    learner, slow = pair("ATA", T, K, q=inf, lam=lam, **ONES)
    near = crossed = 0
    cut = {}  # by reward: was its largest product above b_t?
    for t in range(T):
        arm = int(rng.integers(13) if t < 40 else rng.choice([0, 3, 6, 12]))
        plays = [*slow.plays, arm]
        u = coordinates(K, plays, lam)[:, plays]
        b = threshold(len(u), T)
        size = b / np.max(np.abs(u[:, -1]))
        y = size * (1 + rng.uniform(-0.03, 0.03)) * rng.choice([-1, 1])
        learner.ask()
        learner.tell(y, arm=arm)
        slow.feed(arm, y)
        if slow.margin["rank"] < 0.1 or slow.margin["cut"] < 1e-7:
            continue
        agree(learner, slow)
        products = np.max(np.abs(u * slow.rewards), axis=0)
        near += np.sum(np.abs(products / b - 1) < 0.05)
        for tau, product in enumerate(products):
            crossed += cut.get(tau, product > b) != (product > b)
            cut[tau] = product > b
    assert near > 200 and crossed > 20


@mark.parametrize("lam", [1.0, 0.1, 0.01])
@all_kernels
def test_ata_sees_a_product_that_grows_past_the_threshold_because_another_arm_is_played(
    kernel, lam
):
    """V^{-1/2} phi may turn: a coordinate of u can grow although phi' V^{-1} phi falls.

    A reward just left whole must then be cut.
    """
    K = KERNEL[kernel][::3, ::3]
    T = 200
    crossings = 0
    n = len(K)
    for seed in range(12):
        rng = default_rng(seed)
        learner, slow = pair("ATA", T, K, q=inf, lam=lam, **ONES)

        def play(arm, y):
            learner.tell(y, arm=arm)
            slow.feed(arm, y)
            if slow.margin["cut"] > 1e-9:
                agree(learner, slow)

        for arm in [*range(n), *rng.integers(n, size=int(rng.integers(12)))]:
            play(int(arm), 0.0)
        (a, z), _ = fastest_growth(K, range(n), slow.plays, lam)
        top = largest(K, [*slow.plays, a], a, lam)
        play(a, threshold(n, T) / top * (1 - 1e-7))  # whole now, by a hair
        play(z, 0.0)
        crossings += largest(K, slow.plays, a, lam) / top > 1 + 1e-6
        for arm in rng.integers(n, size=10):
            play(int(arm), 0.0)
    assert crossings >= 6, "no coordinate grew: the test shows nothing"


@mark.parametrize("wait", range(1, 9))
@all_kernels
def test_ata_sees_it_also_after_rounds_in_which_nothing_could_grow(kernel, wait):
    """The last arm has next to no variance: its plays move nothing, and the reward stays whole.

    Then one play of z moves it across.
    """
    T, n = 1000, len(KERNEL[kernel][::3])
    K = 1e-6 * np.eye(n + 1)
    K[:n, :n] = KERNEL[kernel][::3, ::3]
    learner, slow = pair("ATA", T, K, q=inf, **ONES)
    once = list(range(n + 1))
    (a, z), growth = fastest_growth(K, range(n), once, 1.0)
    b = threshold(n + 1, T)
    y = b / largest(K, [*once, a], a, 1.0) * (1 - 0.5 * (growth - 1))
    cut = []
    for arm in [*once, a, *[n] * wait, z]:
        reward = y if len(cut) == n + 1 else 0.0
        learner.tell(reward, arm=arm)
        slow.feed(arm, reward)
        agree(learner, slow)
        u = coordinates(K, slow.plays, 1.0)[:, slow.plays]
        cut.append(np.any(np.abs(u * slow.rewards) > b))
    shows = "the reward did not cross the threshold in the last round: the test shows nothing"
    assert growth > 1.001 and cut == [False] * (n + 2 + wait) + [True], shows


@mark.parametrize("lam", [1.0, 0.05])
def test_ata_agrees_with_the_oracle_where_the_root_of_v_is_needed_round_after_round(lam):
    """60 Matern arms, of which six are played again and again: most rounds truncate."""
    T = 200
    K = matern(np.arange(60) / 60, 0.2)
    learner, slow = pair("ATA", T, K, q=inf, lam=lam, v=1.0)
    rng = default_rng(2)
    truncating = 0
    for t, y in enumerate(rewards(T, None, scale=4.0)):
        arm = t if t < 60 else int(rng.choice(6) * 9)
        learner.tell(y, arm=arm)
        slow.feed(arm, y)
        if slow.margin["cut"] > 1e-6:
            agree(learner, slow, least=0.0)
        truncating += untruncated(learner, slow, lam) > 0.05
    assert truncating > 80 and untruncated(learner, slow, lam) > 0.05


def test_ata_on_a_kernel_of_rank_zero_learns_nothing_and_says_so():
    """No feature, so no root either, although every reward is above the threshold."""
    arms = core.Problem(K=np.zeros((2, 2)), B=1.0, R=0.0, v=1.0)
    learner = core.make("ATA", arms, 30, q=inf)
    for _ in range(30):
        learner.ask()
        learner.tell(1e6)
        assert learner.b < 1
    assert not learner.mu.any()
    assert not learner.sigma.any()


@mark.parametrize("scale", [2.0, 20.0])
def test_ata_agrees_with_the_oracle_on_near_singular_dictionaries(scale):
    """60 SE arms at lengthscale 0.4: K_D has rank about 15 at the 1e-12 cut-off.

    The cut-off is part of the definition.
    """
    x = np.arange(60) / 60
    K = se(x, 0.4)
    settings = dict(v=3.0, q=inf, force=4)
    out = Comparison("ATA", 90, K, np.sin(6 * x), scale, **settings)
    D = list(out.slow.dictionary)
    w = np.linalg.eigvalsh(K[np.ix_(D, D)])
    assert np.sum(w < 1e-12 * w[-1]) > 10
    assert out.learner.m > 30


# ---- MoMA's own cases ---------------------------------------------------------------------------


def test_moma_at_the_theorems_own_k_with_leftover_rounds():
    out = Comparison("MoMA", 900, constants="printed")
    k = ceil(24 * log(4 * e * 900 / 0.1))
    assert out.learner.k == k == 276
    assert out.learner.N == 3
    assert out.leftover == 900 - 3 * 276


@mark.parametrize("k", [1, 2, 3, 4, 30, 59, 60])
@mark.parametrize("eps", [None, 1.0])
def test_moma_agrees_with_the_oracle_for_small_and_large_epochs(k, eps):
    out = Comparison("MoMA", 60, k=k, eps=eps)
    assert out.learner.N == 60 // k


def test_moma_with_k_one_is_ridge_regression_on_every_reward():
    out = Comparison("MoMA", 50, k=1, q=inf)
    plays = out.slow.plays
    mu, _ = o.exact_posterior(KERNEL["matern"], plays, F[plays] + rewards(50, None), 1.0)
    assert_allclose(out.learner.mu, mu, atol=1e-9)


def test_moma_with_two_rewards_per_epoch_always_ties_and_takes_the_first():
    """r_1 = r_2 by definition; the lowest index wins."""
    assert Comparison("MoMA", 80, k=2).kstar == {0}


def test_moma_plays_one_arm_per_epoch_and_the_next_arm_in_the_leftover_rounds():
    algorithm = core.make("MoMA", problem(), 47, k=9)
    arms = []
    for t, z in enumerate(rewards(47, None)):
        arms.append(algorithm.ask())
        mu = algorithm.mu.copy()
        sigma = algorithm.sigma.copy()
        beta = algorithm.beta
        algorithm.tell(F[arms[-1]] + z)
        if (t + 1) % 9 or t >= 45:
            assert_array_equal(algorithm.mu, mu)
            assert_array_equal(algorithm.sigma, sigma)
            assert algorithm.beta == beta
        else:
            assert not np.array_equal(algorithm.sigma, sigma)
        if t == 44:
            following = o.pick(list(algorithm.mu + algorithm.beta * algorithm.sigma))
    assert all(len(set(arms[start : start + 9])) == 1 for start in range(0, 45, 9))
    assert arms[45:] == [following] * 2


def test_moma_estimate_is_the_one_with_the_smallest_median_distance():
    """One epoch on one arm: theta_j is proportional to the j-th reward.

    So k* is the most central reward. Distances from 3.5, times 1/sqrt(2): 0.5, 0.5, 5.5, 96.5, with
    median 3; from 3: 0.5, 1, 5, 97, with median 3; a tie, so the lower index.
    """
    algorithm = core.make("MoMA", one_arm(), 5, k=5, q=inf)
    for y in (100.0, 3.0, -2.0, 4.0, 3.5):
        algorithm.ask()
        algorithm.tell(y)
    expected = [(96.5 + 97) / 2, 3.0, 5.75, 3.5, 3.0]
    assert_allclose(algorithm.median_distances() * sqrt(2), expected, atol=1e-12)
    assert algorithm.kstar == 1
    assert algorithm.mu[0] == approx(1.5)


@mark.parametrize("delta", [0.5, 0.1, 0.01, 1e-6])
def test_proved_k_is_the_smallest_that_the_bound_allows(delta):
    def bound(k):
        a = ceil((k - 1) / 2)
        return comb(k, a) * 8.0**-a

    arms = problem(np.eye(2), [0.0, 1.0])
    k = core.make("MoMA", arms, 500, constants="proved", delta=delta).k
    assert bound(k) <= delta / 2
    assert all(bound(j) > delta / 2 for j in range(2, k))


# ---- schedules from the table, typed in again ---------------------------------------------------


@order_and_printed
@algorithms_of_the_paper
def test_first_width_is_the_part_before_the_data(name, constants):
    settings = dict(constants=constants, acc=0.19, beta_scale=7.0)
    algorithm = core.make(name, problem(), 1000, **settings)
    expected = 1.5 if name == "TGP" or constants == "order" else 1.5 * (1 + 1 / 0.9)
    assert algorithm.beta == approx(expected, rel=1e-14)
    assert_array_equal(algorithm.mu, np.zeros(25))
    assert_allclose(algorithm.sigma, 1.0, atol=1e-12)


K_OF_THE_PAPER = [
    (10_000, "order", 14),
    (1000, "printed", 279),
    (10_000, "printed", 334),
    (20_000, "printed", 351),
]


@mark.parametrize("T, constants, k", K_OF_THE_PAPER)
def test_k_of_theorem_4_as_tabulated(T, constants, k):
    assert core.make("MoMA", one_arm(), T, constants=constants).k == k


def test_sigma_zero_is_the_root_of_the_kernel_diagonal():
    """Erratum B4: with k(x, x) = 1/4 the first width is 1/2, not 1/4."""
    arms = problem(np.eye(3) / 4, [0.0, 0.0, 1.0])
    for name in ("TGP", "ATA", "MoMA"):
        assert_allclose(core.make(name, arms, 100).sigma, 0.5, atol=1e-15)


@mark.parametrize("diagonal", [0.25, 0.9])
@algorithms_of_the_paper
def test_agrees_with_the_oracle_on_a_kernel_with_unequal_diagonal(name, diagonal):
    scale = np.sqrt(np.linspace(diagonal, 1, 25))
    Comparison(name, 80, scale[:, None] * KERNEL["matern"] * scale, **epochs(name, 4))


@algorithms_of_the_paper
def test_agrees_with_the_oracle_on_one_arm_and_on_identical_arms(name):
    """Identical arms make a singular matrix: one feature, three names for it."""
    settings = epochs(name, 4)
    assert Comparison(name, 40, np.eye(1), np.zeros(1), **settings).arms == {0}
    Comparison(name, 40, np.ones((3, 3)), np.zeros(3), force=1, **settings)
    Comparison(name, 40, np.ones((3, 3)), np.zeros(3), **settings)


# ---- ties ---------------------------------------------------------------------------------------


@mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
@all_kernels
def test_round_one_is_a_tie_and_plays_arm_zero(name, kernel):
    """The diagonal of an empirical kernel is 1 up to rounding; the tie rule must not see that."""
    rounding = 1 - 3e-15 * np.arange(25)[::-1]
    K = KERNEL[kernel] * rounding[:, None] * rounding
    assert core.make(name, problem(K), 1000).ask() == 0


@mark.parametrize("name", ["TGP", "ATA"])
def test_tied_arms_are_played_in_order_of_index(name):
    """Independent arms and zero rewards: the widest arm is always one of the least played."""
    algorithm = core.make(name, problem(np.eye(6), np.zeros(6), **ONES), 60, q=inf)
    arms = []
    for _ in range(60):
        arms.append(algorithm.ask())
        algorithm.tell(0.0)
    assert arms == list(range(6)) * 10


@mark.parametrize("gap, first", [(0.9e-9, 0), (1.2e-9, 1)])
def test_tie_band_is_one_part_in_a_billion(gap, first):
    """sigma_0 decides round 1: score 2 sqrt(k(x,x)).

    Arm 1 leads by `gap` relative to the largest score.
    """
    K = np.diag([0.9, 0.9]) * (np.array([1.0, 1 + gap]) ** 2)
    arms = problem(K, [0.0, 0.0], **ONES | dict(B=5.0))
    assert core.make("TGP", arms, 10).ask() == first


# ---- limits -------------------------------------------------------------------------------------


@order_and_printed
@mark.parametrize("name", ["ATA", "MoMA"])
@all_kernels
def test_eps_to_infinity_is_the_non_private_run_bit_for_bit(name, constants, kernel):
    """With v = B^2 + R^2 and c = R^2, and a Laplace scale below the last bit of every reward."""
    arms = problem(KERNEL[kernel], **LEAST)
    settings = dict(constants=constants, q=2.0, trials=2, seed=4, trace=True, **epochs(name, 5))
    one = core.simulate(arms, [name], 150, eps=1e300, **settings)
    other = core.simulate(arms, [name], 150, **settings)
    assert_array_equal(one.records["arms"], other.records["arms"])
    assert_array_equal(one.records["reports"], other.records["reports"])
    assert_array_equal(one.regret, other.regret)
    weak = core.simulate(arms, [name], 150, eps=0.5, **settings)
    assert not np.array_equal(weak.records["arms"], other.records["arms"])


def test_eps_to_infinity_makes_tgp_truncate_nothing_at_b_equal_to_B_plus_R():
    assert np.max(np.abs(F)) <= 1.5
    algorithm = core.make("TGP", problem(), 100, eps=1e300)
    curator = core.CTL(1e300, 1.5, 1.0)
    rng = default_rng(0)
    arms, y = [], []
    for t in range(1, 101):
        arms.append(algorithm.ask())
        y.append(problem().sample(arms[-1], rng))
        algorithm.tell(curator.privatise(y[-1], rng))
        width = 1.5 + 2.5 * sqrt(log(t + 1))
        assert algorithm.b == 2.5
        assert algorithm.beta == approx(width, rel=1e-14)
        mu, sigma = o.exact_posterior(KERNEL["matern"], arms, y, 1.0)
        assert_allclose(algorithm.mu, mu, atol=1e-11)
        assert_allclose(algorithm.sigma, sigma, atol=1e-11)


@algorithms_of_the_paper
def test_large_eps_approaches_the_limit_smoothly(name):
    """eps = 1e9 against 1e300: the same arms, means within the noise scale."""
    arms = problem(**LEAST)
    settings = dict(trials=1, seed=1, trace=True)
    a = core.simulate(arms, [name], 120, eps=1e9, **settings)
    b = core.simulate(arms, [name], 120, eps=1e300, **settings)
    assert_array_equal(a.records["arms"], b.records["arms"])
    assert_allclose(a.records["reports"], b.records["reports"], atol=1e-7)


@mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
def test_relabelling_the_arms_relabels_everything(name):
    """No algorithm knows the arms' names, away from ties: permute them, and mu, sigma follow.

    q = inf: no draw depends on the order.
    """
    order = default_rng(0).permutation(25)
    where = np.argsort(order)
    permuted = KERNEL["empirical"][np.ix_(order, order)]
    settings = dict(q=inf, **epochs(name, 3))
    one = core.make(name, problem(KERNEL["empirical"]), 60, **settings)
    other = core.make(name, problem(permuted, F[order]), 60, **settings)
    for t, z in enumerate(rewards(60, None)):
        arm = (t // 3 * 7) % 25
        one.ask()
        other.ask()
        one.tell(F[arm] + z, arm=arm)
        other.tell(F[arm] + z, arm=int(where[arm]))
        assert_allclose(other.mu, one.mu[order], atol=1e-9)
        assert_allclose(other.sigma, one.sigma[order], atol=1e-7)


@algorithms_of_the_paper
@mark.parametrize("eps", [None, 1.0])
def test_units_of_the_reward_do_not_matter(name, eps):
    """Rewards in units 1000 times smaller (B, R times 1000, v, c times 1000^2).

    mu and beta scale, the arms stay.
    """
    settings = dict(eps=eps, rng=5, **epochs(name, 5))
    units = dict(B=1500.0, R=1000.0, v=5e6, c=3e6)
    one = core.make(name, problem(), 100, **settings)
    other = core.make(name, problem(), 100, **settings)
    big = core.make(name, problem(f=1000 * F, **units), 100, **settings)
    for z in rewards(100, eps):
        arm = one.ask()
        assert big.ask() == arm == other.ask()
        one.tell(F[arm] + z)
        other.tell(F[arm] + z)
        big.tell(1000 * (F[arm] + z))
        assert_allclose(big.mu, 1000 * one.mu, rtol=1e-9, atol=1e-9)
        assert big.beta == approx(1000 * one.beta, rel=1e-12)
        assert_array_equal(one.mu, other.mu)


# ---- protocol -----------------------------------------------------------------------------------


@mark.parametrize("name", ["TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"])
def test_asking_twice_without_telling_returns_the_same_arm(name):
    algorithm = core.make(name, problem(), 60, rng=1)
    for t in range(60):
        assert len({algorithm.ask() for _ in range(4)}) == 1
        assert algorithm.t == t
        algorithm.tell(sin(t))


@mark.parametrize("name", ["TGP", "ATA", "MoMA", "PE"])
def test_a_refused_reward_leaves_no_trace(name):
    one = core.make(name, problem(), 60, rng=1)
    other = core.make(name, problem(), 60, rng=1)
    for t in range(60):
        assert one.ask() == other.ask()
        for bad in (nan, inf, "many", None, [1.0, 2.0]):
            with pytest.raises(ValueError):
                one.tell(bad)
        assert one.ask() == other.ask()
        one.tell(sin(t))
        other.tell(sin(t))
        assert_array_equal(one.mu, other.mu)


@mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
def test_playing_past_the_horizon_stays_finite(name):
    constants = "proved" if name == "GP-UCB" else "printed"
    algorithm = core.make(name, problem(), 20, constants=constants, **epochs(name, 4))
    for t in range(50):
        assert 0 <= algorithm.ask() < 25
        algorithm.tell(sin(t))
        assert np.all(np.isfinite(algorithm.mu))
        assert np.all(np.isfinite(algorithm.sigma))
        assert isfinite(algorithm.beta)


@order_and_printed
@algorithms_of_the_paper
def test_a_horizon_of_one_round(name, constants):
    algorithm = core.make(name, problem(), 1, constants=constants, rng=0, **epochs(name, 1))
    algorithm.tell(0.5, arm=algorithm.ask())
    assert np.all(np.isfinite(algorithm.mu))
    assert algorithm.t == 1


def test_gp_ucb_never_truncates_and_uniform_never_learns():
    plain = core.make("GP-UCB", problem(), 60)
    y = 50 * rewards(60, None)
    arms = []
    for t in range(60):
        arms.append(plain.ask())
        plain.tell(y[t])
    mu, sigma = o.exact_posterior(KERNEL["matern"], arms, y, 1.0)
    assert_allclose(plain.mu, mu, atol=1e-8)
    assert_allclose(plain.sigma, sigma, atol=1e-9)
    uniform = core.make("uniform", problem(), 5000, rng=3)
    counts = np.zeros(25)
    for _ in range(5000):
        counts[uniform.ask()] += 1
        uniform.tell(1e6)
    chi2 = ((counts - 200) ** 2 / 200).sum()
    assert chi2 < 64.0  # fixed seed; for a fresh one P(chi2_24 > 64) < 2e-5


# ---- long runs ----------------------------------------------------------------------------------

LONG = 200_000


def drive(name, K, f, noise, **settings):
    """A learner after its own plays, with the arms it played and their rewards."""
    T = len(noise)
    algorithm = core.make(name, problem(K, f, B=1.0, v=3.0, c=2.0), T, **settings)
    arms, y = np.empty(T, int), np.empty(T)
    for t in range(T):
        arms[t] = arm = algorithm.ask()
        y[t] = f[arm] + noise[t]
        algorithm.tell(y[t])
    return algorithm, arms, y


def truncate(y):
    """TGP's rewards: 0 where they exceed b_t = sqrt(3) t^{1/4}."""
    t = np.arange(1, len(y) + 1)
    return np.where(np.abs(y) <= sqrt(3.0) * t**0.25, y, 0.0)


def weights(K, counts):
    """Played arms P and the matrix that turns their mean rewards into mu, in the n x n form.

    (K + lam N^{-1})^{-1} with lam = 1 on the played arms; and sigma.
    """
    P = np.flatnonzero(counts)
    inverse = np.linalg.inv(K[np.ix_(P, P)] + np.diag(1 / counts[P]))
    sigma = np.sqrt(np.diag(K) - np.einsum("ia,ij,ja->a", K[P], inverse, K[P]))
    return P, K[:, P] @ inverse, sigma


def solved(name, K, arms, y):
    """Algorithm `name` after plays of `arms` with rewards y, solved once from all of them."""
    return dict(TGP=solved_tgp, ATA=solved_ata, MoMA=solved_moma)[name](K, arms, y)


def solved_tgp(K, arms, y):
    counts = np.bincount(arms, minlength=6).astype(float)
    P, matrix, sigma = weights(K, counts)
    sums = np.bincount(arms, truncate(y), 6)
    return matrix @ (sums[P] / counts[P]), sigma


def solved_moma(K, arms, y, k=11):
    N = LONG // k
    played = arms[: N * k : k]
    counts = np.bincount(played, minlength=6).astype(float)
    P, matrix, sigma = weights(K, counts)
    sums = np.stack([np.bincount(played, y[j : N * k : k], 6) for j in range(k)])[:, P]
    means = (matrix @ (sums / counts[P]).T).T
    spread = []
    for i in range(k):
        squares = [(sums[i] - sums[j]) @ (means[i] - means[j])[P] for j in range(k) if j != i]
        spread.append(o.median([sqrt(max(0.0, square)) for square in squares]))
    return means[o.pick([-r for r in spread])], sigma


def solved_ata(K, arms, y):
    counts = np.bincount(arms, minlength=6).astype(float)
    P, _, sigma = weights(K, counts)
    phi = o.embedding(K, P)[0]
    root = o.symmetric_power((phi.T * counts) @ phi + np.eye(len(P)), -0.5)
    u = root @ phi.T
    b = sqrt(3.0 / log((len(P) + 1) * LONG))
    r = np.zeros(len(P))
    for i in range(len(P)):
        for a in P:
            products = u[i, a] * y[arms == a]
            r[i] += np.sum(np.where(np.abs(products) <= b, products, 0.0))
    return phi @ root @ r, sigma


@mark.build
@algorithms_of_the_paper
def test_no_drift_after_200_000_rounds(name):
    """mu and sigma against a fresh solve from all 200,000 rewards."""
    x = np.arange(1, 7) / 6
    K = matern(x, 0.3)
    noise = default_rng(1).standard_t(3, LONG)
    settings = {} if name == "TGP" else dict(q=inf, **epochs(name, 11))
    algorithm, arms, y = drive(name, K, np.cos(5 * x) / 2, noise, **settings)
    mu, sigma = solved(name, K, arms, y)
    assert_allclose(algorithm.mu, mu, atol=1e-8)
    assert_allclose(algorithm.sigma, sigma, atol=1e-8)
    assert len(set(arms)) >= 3


def kept(thing, seen):
    """Count the numbers and objects that a learner holds, its problem and generator left out."""
    if id(thing) in seen or isinstance(thing, (core.Problem, np.random.Generator)):
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.size
    inside = vars(thing) if hasattr(thing, "__dict__") else thing
    if isinstance(inside, dict):
        inside = list(inside.values())
    if not isinstance(inside, (list, tuple)):
        return 0
    return len(inside) + sum(kept(x, seen) for x in inside)


@mark.parametrize("eps", [None, 1.0])
@algorithms_of_the_paper
def test_what_a_learner_keeps_does_not_grow_with_the_rounds(name, eps):
    """C-complexity: no list of plays or rewards grows with t, however long the run.

    The largest state of rounds 4,097 to 8,192 is no larger than that of the rounds before them. (It
    comes and goes: ATA puts aside what may still be truncated, until it may not.)
    """
    x = np.arange(1, 7) / 6
    arms = problem(matern(x, 0.3), np.cos(5 * x) / 2)
    settings = {} if name == "TGP" else dict(q=inf, **epochs(name, 5))
    k = 5 if name == "MoMA" else 1
    learner = core.make(name, arms, 8192, eps=eps, rng=3, **settings)
    most = dict.fromkeys((4096, 8192), 0)
    for t, y in enumerate(rewards(8192, eps), 1):
        learner.tell(y, arm=(t - 1) // k % 6)
        window = next(end for end in most if t <= end)
        most[window] = max(most[window], kept(learner, set()))
    assert most[8192] <= most[4096] < 8192


class Threshold(np.float64):
    """A number that counts how often something is compared with it."""

    comparisons = 0

    def __ge__(self, other):
        Threshold.comparisons += 1
        return float(self) >= other


@algorithms_of_the_paper
def test_the_pseudo_code_makes_as_many_comparisons_and_updates_as_the_page_counts(
    name, monkeypatch
):
    """C-complexity, on the literal programs: what a round of each algorithm does as printed.

    ATA compares m products of each of t rewards with its threshold and draws a new dictionary in
    every round; TGP makes one comparison and MoMA none, and MoMA draws a dictionary once in k.
    """
    T = 60
    k, m = 5, 4
    settings = {} if name == "TGP" else dict(q=inf, **epochs(name, k))
    K = se(np.arange(m) / m, 0.3)
    slow = o.oracle(name, K, T, eps=1.0, rng=default_rng(3), **MOMENTS, **settings)
    drawn = []
    sketch = slow.sketch
    monkeypatch.setattr(slow, "sketch", lambda played: (drawn.append(len(played)), sketch(played)))
    if name == "TGP":
        threshold = slow.threshold
        monkeypatch.setattr(slow, "threshold", lambda t: Threshold(threshold(t)))
    if name == "ATA":
        schedule = slow.schedule

        def counted(t):
            schedule(t)
            slow.b = Threshold(slow.b)

        monkeypatch.setattr(slow, "schedule", counted)
    monkeypatch.setattr(Threshold, "comparisons", 0)
    expected = 0
    for t, y in enumerate(rewards(T, 1.0), 1):
        slow.feed(t // k % m, y)
        expected += {"TGP": 1, "ATA": slow.m * t, "MoMA": 0}[name]
    assert Threshold.comparisons == expected
    assert len(drawn) == {"TGP": 0, "ATA": T, "MoMA": T // k}[name]
    assert slow.m == (0 if name == "TGP" else m)


def test_no_drift_with_a_small_ridge():
    """lam = 1e-3, 60,000 plays on a near-singular kernel.

    The rank-one updates are worst conditioned here.
    """
    x = np.arange(1, 9) / 8
    K = se(x, 0.4)
    noise = default_rng(1).uniform(-1, 1, 60_000)
    algorithm, arms, y = drive("TGP", K, np.cos(5 * x) / 2, noise, lam=1e-3)
    counts = np.bincount(arms, minlength=8).astype(float)
    sums = np.bincount(arms, truncate(y), 8)
    P = np.flatnonzero(counts)
    w = np.sqrt(counts[P])
    A = w[:, None] * K[np.ix_(P, P)] * w + 1e-3 * np.eye(len(P))
    mu = K[:, P] * w @ np.linalg.solve(A, sums[P] / w)
    assert_allclose(algorithm.mu, mu, atol=1e-8)
