"""Every algorithm against the literal programs of oracle.py, round by round with teacher forcing,
and in the limits where the answer is known.
"""

import math

import numpy as np
import oracle as o
import pytest

import ldpbo_core as core

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
X = np.arange(1, 26) / 25
KERNEL = {
    "se": o.gram(lambda x, y: o.se(x, y, 0.2), X),
    "matern": o.gram(lambda x, y: o.matern(x, y, 0.2, 2.5), X),
    "empirical": o.correlation(
        (
            np.random.default_rng(5).standard_t(3, (60, 25))
            + 2 * np.random.default_rng(6).standard_t(3, (60, 1))
        ).tolist()
    ),
}
F = np.sin(6 * X) - 0.5 * np.cos(11 * X)
MOMENTS = dict(B=1.5, R=1.0, v=5.0, c=3.0)


def kept(algorithm):
    return tuple(int(a) for a in np.sort(algorithm.dictionary))


def rewards(T, eps, scale=1.0, seed=0):
    """What a learner sees, less f: Student noise.

    Or noise in [-1, 1] plus the Laplace noise of Curator 1.
    """
    rng = np.random.default_rng(seed)
    if eps is None:
        return scale * rng.standard_t(3, T)
    return scale * (
        rng.uniform(-1, 1, T) + rng.laplace(scale=2 * (MOMENTS["B"] + MOMENTS["R"]) / eps, size=T)
    )


def compare(
    name, K, T, *, eps=None, force=None, scale=1.0, noise_seed=0, sketch_seed=3, f=F, **settings
):
    """Run core and oracle side by side on the same arms and rewards.

    Assert agreement after every round; return what happened.

    force: None (the core chooses) or a seed (arms at random, the core is told which). Discrete
    decisions are compared where the margin exceeds rounding; the dictionary always (its margins
    here are above 1e-7, which is asserted, so it may not differ on any machine).
    """
    problem_names = ("B", "R", "v", "c", "alpha")
    problem = core.Problem(
        K=K, f=f, **{**MOMENTS, **{p: settings.pop(p) for p in problem_names if p in settings}}
    )
    parameters = {p: getattr(problem, p) for p in problem_names}
    learner = core.make(
        name, problem, T, eps=eps, rng=np.random.default_rng(sketch_seed), **settings
    )
    slow = o.oracle(
        name,
        problem.K,
        T,
        eps=eps,
        rng=np.random.default_rng(sketch_seed),
        **parameters,
        **settings,
    )
    noise, chooser = rewards(T, eps, scale, noise_seed), np.random.default_rng(force)
    happened = dict(actions=0, truncated=0, dropped=0, kstar=set(), arms=set(), leftover=0, ranks=0)
    size = 1.0
    for t in range(T):
        assert learner.t == t
        epoch = slow.k if name == "MoMA" else 1
        leftover = name == "MoMA" and t >= slow.N * epoch
        expected, clear = slow.ask(), slow.margin["score"] > 5e-10
        arm = learner.ask()
        if (
            t % epoch == 0 or force is None or leftover
        ):  # inside an epoch whose arm was forced, ask() names that arm
            assert arm == expected or not clear, (
                f"round {t + 1}: core plays {arm}, the oracle {expected}, margin {slow.margin['score']:.1e}"
            )
        happened["actions"] += clear
        happened["leftover"] += leftover
        if force is not None and t % epoch == 0:
            forced = int(chooser.integers(len(K)))
        if leftover:
            forced = arm  # the leftover rounds have no arm but the next one
        y = f[arm if force is None else forced] + noise[t]
        size = max(size, abs(y))
        if force is None:
            learner.tell(y)
            slow.feed(arm, y)
        else:
            learner.tell(y, arm=forced)
            slow.feed(forced, y)
        where = f"{name}, round {t + 1}"
        if name in ("ATA", "MoMA"):
            assert slow.margin["sketch"] > 1e-7, (
                "the draw is too close to call: choose another seed"
            )
            assert kept(learner) == slow.dictionary and learner.m == slow.m, where
            happened["dropped"] += len(set(slow.plays)) > slow.m
            happened["ranks"] += slow.margin["rank"] < 0.01
        if name == "MoMA" and (t + 1) % epoch == 0 and not leftover:
            np.testing.assert_allclose(learner.spread(), slow.r, atol=1e-7 * size, err_msg=where)
            if slow.margin["r"] > 5e-10:
                assert learner.kstar == slow.kstar, where
            happened["kstar"].add(learner.kstar)
        if name == "ATA" and slow.m:
            assert learner.b == pytest.approx(slow.b, rel=1e-12), where
        if name == "TGP":
            assert learner.b == pytest.approx(slow.b, rel=1e-12), where
            happened["truncated"] += abs(y) > slow.b
        if slow.margin["cut"] > 1e-6:
            np.testing.assert_allclose(learner.mu, slow.mu, atol=1e-8 * size, err_msg=where)
        np.testing.assert_allclose(learner.sigma**2, slow.sigma**2, atol=1e-9, err_msg=where)
        assert learner.beta == pytest.approx(slow.beta, rel=1e-9), where
        happened["arms"].add(slow.plays[-1])
    assert happened["actions"] >= 0.95 * T
    happened.update(core=learner, slow=slow)
    return happened


# ---- the grid -----------------------------------------------------------------------------------
@pytest.mark.parametrize("force", [None, 8], ids=["own arms", "forced arms"])
@pytest.mark.parametrize("eps", [None, 1.0], ids=["non-private", "eps 1"])
@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("kernel", KERNEL)
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle(name, kernel, constants, eps, force):
    settings = dict(k=7) if name == "MoMA" else {}
    T = 130
    out = compare(name, KERNEL[kernel], T, eps=eps, force=force, constants=constants, **settings)
    assert len(out["arms"]) >= 5
    if name == "MoMA":
        assert out["core"].N == 18 and out["leftover"] == 4 and len(out["kstar"]) > 2


@pytest.mark.parametrize("eps", [None, 0.5], ids=["non-private", "eps 0.5"])
@pytest.mark.parametrize("kernel", KERNEL)
@pytest.mark.parametrize("name", ["TGP", "MoMA"])
def test_repaired_constants_agree_with_the_oracle(name, kernel, eps):
    """Errata A5 and A7; k is the repaired one."""
    out = compare(name, KERNEL[kernel], 120, eps=eps, constants="repaired", delta=0.05)
    if name == "MoMA":
        assert (
            out["core"].k
            == out["slow"].k
            < core.make("MoMA", out["core"].problem, 120, delta=0.05).k
        )


@pytest.mark.parametrize("alpha", [0.25, 0.6])
def test_repaired_moma_agrees_with_the_oracle_for_heavier_tails(alpha):
    compare("MoMA", KERNEL["matern"], 120, alpha=alpha, constants="repaired", scale=3.0)


@pytest.mark.parametrize("lam", [0.02, 0.3, 5.0])
@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle_for_other_ridges(name, constants, lam):
    settings = dict(k=5) if name == "MoMA" else {}
    compare(name, KERNEL["matern"], 100, lam=lam, constants=constants, **settings)
    compare(name, KERNEL["matern"], 100, lam=lam, constants=constants, eps=2.0, force=1, **settings)


@pytest.mark.parametrize("alpha", [0.25, 0.6, 1.0])
@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle_for_heavier_tails(name, constants, alpha):
    """alpha < 1: only 1 + alpha moments; rewards with tails to match."""
    settings = dict(k=5) if name == "MoMA" else {}
    compare(name, KERNEL["matern"], 100, alpha=alpha, constants=constants, scale=3.0, **settings)
    compare(
        name,
        KERNEL["empirical"],
        100,
        alpha=alpha,
        constants=constants,
        force=2,
        scale=3.0,
        **settings,
    )


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_privacy_ignores_the_moments_and_alpha_that_the_problem_carries(name):
    """With eps set, alpha = 1 and v, c follow from B, R and eps, whatever the problem says."""
    settings = dict(k=4) if name == "MoMA" else {}
    out = compare(name, KERNEL["matern"], 60, eps=1.0, alpha=0.3, v=77.0, c=55.0, **settings)
    plain = compare(name, KERNEL["matern"], 60, eps=1.0, **settings)
    np.testing.assert_array_equal(out["core"].mu, plain["core"].mu)
    assert out["core"].beta == plain["core"].beta


@pytest.mark.parametrize("q", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("kernel", KERNEL)
@pytest.mark.parametrize("name", ["ATA", "MoMA"])
def test_agrees_with_the_oracle_where_the_sketch_drops_arms(name, kernel, q):
    settings = dict(k=3) if name == "MoMA" else {}
    out = compare(name, KERNEL[kernel], 120, q=q, scale=2.0, **settings)
    assert out["dropped"] > 10


@pytest.mark.parametrize(
    "delta, acc, beta_scale", [(0.5, 0.5, 0.1), (0.01, 0.9, 3.0), (0.1, 0.1, 0.0)]
)
@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle_for_other_delta_acc_and_beta_scale(
    name, constants, delta, acc, beta_scale
):
    settings = dict(k=6) if name == "MoMA" else {}
    compare(
        name,
        KERNEL["matern"],
        60,
        delta=delta,
        acc=acc,
        beta_scale=beta_scale,
        constants=constants,
        **settings,
    )


@pytest.mark.parametrize("constants", ["order", "theorem", "repaired"])
@pytest.mark.parametrize("weibull", [(0.5, 2.0, 0.5), (1.0, 1.0, 1.0), (2.0, 3.0, 1.5)])
def test_subweibull_tgp_agrees_with_the_oracle(constants, weibull):
    out = compare("TGP", KERNEL["matern"], 80, weibull=weibull, constants=constants, scale=2.0)
    assert out["truncated"] > 0


def test_subweibull_schedule_of_laplace_noise_has_the_second_moment_of_laplace():
    """theta = 1, a = 1, b = 1/L: the bias term is sqrt((B^2 + 2 L^2)(ln t + 1) / lam)."""
    L, problem = 3.0, core.Problem(K=np.eye(1), f=[0.0], **MOMENTS)
    algorithm = core.make(
        "TGP", problem, 50, weibull=(1.0, 1.0, 1 / L), constants="theorem", lam=0.7
    )
    gamma = core.information_gain(np.eye(1), 50, 0.7)
    levels = math.ceil(math.log2((1.5 + L * math.log(50)) / 1.5)) + 1
    for t in range(1, 51):
        algorithm.ask()
        algorithm.tell(0.0)
        b = 1.5 + L * math.log(t)
        expected = (
            1.5
            + 2 * math.sqrt(2 / 0.7) * b * math.sqrt(gamma[t] + math.log(levels / 0.1))
            + math.sqrt((1.5**2 + 2 * L**2) * (math.log(t) + 1) / 0.7)
        )
        assert algorithm.b == pytest.approx(b) and algorithm.beta == pytest.approx(
            expected, rel=1e-10
        )


# ---- truncation really happens ------------------------------------------------------------------
def test_agrees_with_the_oracle_on_rewards_that_tgp_truncates():
    assert compare("TGP", KERNEL["matern"], 120, scale=6.0)["truncated"] > 10
    out = compare("TGP", KERNEL["matern"], 120, eps=1.0, scale=3.0)
    assert out["truncated"] > 5


@pytest.mark.parametrize("kernel", KERNEL)
def test_agrees_with_the_oracle_on_rewards_that_ata_truncates(kernel):
    out = compare("ATA", KERNEL[kernel], 130, scale=6.0, v=2.0, q=math.inf)
    learner, slow = out["core"], out["slow"]
    untruncated, _ = o.exact_posterior(KERNEL[kernel], slow.plays, slow.rewards, 1.0)
    assert np.max(np.abs(learner.mu - untruncated)) > 0.05, (
        "nothing was truncated: the test shows nothing"
    )


@pytest.mark.parametrize("outlier", [1e6, -1e12, 1e16, 1e90])
@pytest.mark.parametrize("kernel", KERNEL)
@pytest.mark.parametrize("name", ["TGP", "ATA"])
def test_one_absurd_reward_costs_no_precision(name, kernel, outlier):
    """What truncation drops must leave nothing behind, not even rounding.

    The literal programs never add it.
    """
    problem = core.Problem(K=KERNEL[kernel], f=F, **MOMENTS)
    learner, slow = (
        core.make(name, problem, 80, q=math.inf),
        o.oracle(name, problem.K, 80, q=math.inf, **MOMENTS),
    )
    for t, z in enumerate(rewards(80, None)):
        arm = learner.ask()
        y = outlier if t in (5, 30) else F[arm] + z
        learner.tell(y)
        slow.feed(arm, y)
        if slow.margin["cut"] > 1e-6:
            np.testing.assert_allclose(learner.mu, slow.mu, atol=1e-7)
    assert t == 79 and np.max(np.abs(learner.mu)) < 10


@pytest.mark.parametrize("outlier", [1e6, 1e16, 1e90])
def test_a_column_with_an_absurd_reward_is_never_the_chosen_one(outlier):
    """MoMA with k = 5 and one user in column 2 who reports nonsense.

    K* avoids that column and mu stays of the size of the honest rewards.
    """
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    learner, noise = core.make("MoMA", problem, 100, k=5, q=math.inf), rewards(100, None)
    for t in range(100):
        arm = learner.ask()
        learner.tell(outlier if t == 12 else F[arm] + noise[t])
        assert learner.kstar != 2 or t < 14
        assert np.max(np.abs(learner.mu)) < 20


def test_ata_compares_old_rewards_with_the_current_threshold():
    """Deviation B1: b_t, not b_tau.

    u shrinks and, with alpha < 1, b_t grows: a reward cut once counts later; with b_tau it never
    would.
    """
    K = np.eye(2)
    problem = core.Problem(K=K, f=[0.0, 0.0], B=1.0, R=1.0, v=1.0, c=1.0, alpha=0.2)
    algorithm = core.make("ATA", problem, 400, q=math.inf)
    slow = o.oracle("ATA", K, 400, B=1.0, R=1.0, v=1.0, c=1.0, alpha=0.2, q=math.inf)
    means = []
    for t in range(400):
        y, arm = (10.0, 0) if t == 0 else (0.0, 0 if t % 2 else 1)
        algorithm.ask()
        algorithm.tell(y, arm=arm)
        slow.feed(arm, y)
        np.testing.assert_allclose(algorithm.mu, slow.mu, atol=1e-10)
        means.append(algorithm.mu[0])
    assert abs(means[0]) < 1e-12 and means[-1] > 0.01


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("lam", [1.0, 0.1])
@pytest.mark.parametrize("kernel", KERNEL)
def test_ata_agrees_with_the_oracle_where_every_product_is_near_the_threshold(kernel, lam, seed):
    """An adversary sizes each reward so that max_i |u_i y| is within 3 % of b_t, above or below.

    Any bound on |u| that is too small by that much shows in mu.

    Most rounds play other arms than the ones just loaded, so the old products drift slowly across
    the threshold in both directions.
    """
    rng, T, K = np.random.default_rng(seed), 110, KERNEL[kernel][::2, ::2]
    problem = core.Problem(K=K, f=np.zeros(13), B=1.0, R=1.0, v=1.0, c=1.0)
    learner = core.make("ATA", problem, T, q=math.inf, lam=lam)
    slow = o.oracle("ATA", K, T, B=1.0, R=1.0, v=1.0, c=1.0, q=math.inf, lam=lam)
    near, crossed, flags = 0, 0, {}
    for t in range(T):
        arm = int(rng.integers(13) if t < 40 else rng.choice([0, 3, 6, 12]))
        plays = slow.plays + [arm]
        D = sorted(set(plays))
        phi = o.embedding(K, D)[0]
        u = o.symmetric_power(phi[plays].T @ phi[plays] + lam * np.eye(len(D)), -0.5) @ phi[plays].T
        b = math.sqrt(1 / math.log((len(D) + 1) * T))
        y = b / np.max(np.abs(u[:, -1])) * (1 + rng.uniform(-0.03, 0.03)) * rng.choice([-1, 1])
        learner.ask()
        learner.tell(y, arm=arm)
        slow.feed(arm, y)
        if slow.margin["rank"] < 0.1 or slow.margin["cut"] < 1e-7:
            continue
        np.testing.assert_allclose(
            learner.mu, slow.mu, atol=1e-8 * max(1, np.max(np.abs(slow.rewards)))
        )
        products = np.max(np.abs(u * slow.rewards), axis=0)
        near += np.sum(np.abs(products / b - 1) < 0.05)
        for tau, product in enumerate(products):
            crossed += flags.get(tau, product > b) != (product > b)
            flags[tau] = product > b
    assert near > 200 and crossed > 20


def coordinates(K, plays, lam):
    """u_i of every arm, (m, n), after `plays`, with every played arm in the dictionary."""
    phi = o.embedding(K, sorted(set(plays)))[0]
    return o.symmetric_power(phi[plays].T @ phi[plays] + lam * np.eye(phi.shape[1]), -0.5) @ phi.T


@pytest.mark.parametrize("lam", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("kernel", KERNEL)
def test_ata_sees_a_product_that_grows_past_the_threshold_because_another_arm_is_played(
    kernel, lam
):
    """V^{-1/2} phi may turn: a coordinate of u can grow although phi' V^{-1} phi falls.

    A reward just left whole must then be cut.
    """
    K, T, crossings = KERNEL[kernel][::3, ::3], 200, 0
    n = len(K)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        learner = core.make(
            "ATA",
            core.Problem(K=K, f=np.zeros(n), B=1.0, R=1.0, v=1.0, c=1.0),
            T,
            q=math.inf,
            lam=lam,
        )
        slow = o.oracle("ATA", K, T, B=1.0, R=1.0, v=1.0, c=1.0, q=math.inf, lam=lam)

        def play(arm, y):
            learner.tell(y, arm=arm)
            slow.feed(arm, y)
            if slow.margin["cut"] > 1e-9:
                np.testing.assert_allclose(
                    learner.mu, slow.mu, atol=1e-8 * max(1, np.max(np.abs(slow.rewards)))
                )

        for arm in [*range(n), *rng.integers(n, size=int(rng.integers(12)))]:
            play(int(arm), 0.0)
        growth = {}
        for a in range(n):  # which arm's coordinates grow most, and by playing what?
            now = np.max(np.abs(coordinates(K, slow.plays + [a], lam)[:, a]))
            growth |= {
                (a, z): np.max(np.abs(coordinates(K, slow.plays + [a, z], lam)[:, a])) / now
                for z in range(n)
            }
        a, z = max(growth, key=growth.get)
        b = math.sqrt(1 / math.log((n + 1) * T))
        top = np.max(np.abs(coordinates(K, slow.plays + [a], lam)[:, a]))
        play(a, b / top * (1 - 1e-7))  # whole now, by a hair
        play(z, 0.0)
        crossings += np.max(np.abs(coordinates(K, slow.plays, lam)[:, a])) / top > 1 + 1e-6
        for arm in rng.integers(n, size=10):
            play(int(arm), 0.0)
    assert crossings >= 6, "no coordinate grew: the test shows nothing"


@pytest.mark.parametrize("wait", range(1, 9))
@pytest.mark.parametrize("kernel", KERNEL)
def test_ata_sees_it_also_after_rounds_in_which_nothing_could_grow(kernel, wait):
    """The last arm has next to no variance.

    Its plays move nothing, so that the reward goes to the ridge as whole. Then one play of z moves
    it across.
    """
    n, T = len(KERNEL[kernel][::3]), 1000
    K = 1e-6 * np.eye(n + 1)
    K[:n, :n] = KERNEL[kernel][::3, ::3]
    learner = core.make(
        "ATA", core.Problem(K=K, f=np.zeros(n + 1), B=1.0, R=1.0, v=1.0, c=1.0), T, q=math.inf
    )
    slow = o.oracle("ATA", K, T, B=1.0, R=1.0, v=1.0, c=1.0, q=math.inf)
    growth = {}
    for a in range(n):
        now = np.max(np.abs(coordinates(K, [*range(n + 1), a], 1.0)[:, a]))
        growth |= {
            (a, z): np.max(np.abs(coordinates(K, [*range(n + 1), a, z], 1.0)[:, a])) / now
            for z in range(n)
        }
    a, z = max(growth, key=growth.get)
    b, top = (
        math.sqrt(1 / math.log((n + 2) * T)),
        np.max(np.abs(coordinates(K, [*range(n + 1), a], 1.0)[:, a])),
    )
    y, risk = b / top * (1 - 0.5 * (growth[a, z] - 1)), []
    for arm, reward in [*((x, 0.0) for x in range(n + 1)), (a, y), *[(n, 0.0)] * wait, (z, 0.0)]:
        learner.tell(reward, arm=arm)
        slow.feed(arm, reward)
        np.testing.assert_allclose(learner.mu, slow.mu, atol=1e-8 * max(1, y))
        risk.append(bool(learner._out.any()))
    assert growth[a, z] > 1.001 and risk[-2:] == [False, True], (
        "the reward was not given to the ridge: the test shows nothing"
    )


@pytest.mark.parametrize("lam", [1.0, 0.05])
def test_ata_agrees_with_the_oracle_where_the_root_of_v_is_updated(lam):
    """60 Matern arms.

    Coordinates in which V was diagonal serve many rounds, and plays bring the root up to date
    (`_inverse_root`).
    """
    x, T, corrected = np.arange(60) / 60, 200, 0
    K = o.gram(lambda a, b: o.matern(a, b, 0.2, 2.5), x)
    problem = core.Problem(K=K, f=np.zeros(60), **{**MOMENTS, "v": 1.0})
    learner, slow = (
        make("ATA", p, T, q=math.inf, lam=lam, **more)
        for make, p, more in ((core.make, problem, {}), (o.oracle, K, {**MOMENTS, "v": 1.0}))
    )
    rng = np.random.default_rng(2)
    for t, y in enumerate(rewards(T, None, scale=4.0)):
        arm = t if t < 60 else int(rng.choice(6) * 9)
        learner.tell(y, arm=arm)
        slow.feed(arm, y)
        if slow.margin["cut"] > 1e-6:
            np.testing.assert_allclose(
                learner.mu, slow.mu, atol=1e-8 * np.max(np.abs(slow.rewards))
            )
        corrected += learner._root is not None and np.count_nonzero(learner._root.S) > 60
    untruncated, _ = o.exact_posterior(K, slow.plays, slow.rewards, lam)
    assert corrected > 80 and np.max(np.abs(learner.mu - untruncated)) > 0.05


@pytest.mark.parametrize("lam", [1.0, 1e-3])
@pytest.mark.parametrize("burst", [1, 3, 200])
def test_inverse_root_squares_to_the_inverse_as_plays_are_added(lam, burst):
    """S = V^{-1/2}.

    Symmetric, positive, and S V S = I, whether the last root is a play old or so old that it is of
    no use.
    """
    rng = np.random.default_rng(1)
    X = rng.standard_normal((9, 14))
    X /= np.linalg.norm(X, axis=0)
    learner, counts, turned = (
        core.make("ATA", core.Problem(K=X.T @ X, B=1.0, R=1.0), 10**6, q=math.inf, lam=lam),
        np.zeros(14),
        0,
    )
    for a in range(14):
        learner.tell(0.0, arm=a)
        counts[a] += 1
    for _ in range(60):
        for a in rng.integers(14, size=burst):
            learner.tell(0.0, arm=int(a))
            counts[a] += 1
        U = learner.ridge.U
        S = learner._inverse_root().dot(np.eye(9))
        turned += U is not learner.ridge.U
        x = learner.ridge.U.T @ learner.problem.Z
        V = (x * counts) @ x.T + lam * np.eye(9)
        np.testing.assert_allclose(x.T @ x, X.T @ X, atol=1e-12)
        np.testing.assert_allclose(
            learner.ridge.Q @ x, core.nystrom_features(X.T @ X, range(14)), atol=1e-12
        )
        np.testing.assert_allclose(S, S.T, atol=1e-13 / math.sqrt(lam))
        assert np.linalg.eigvalsh(S)[0] > 0
        np.testing.assert_allclose(S @ V @ S, np.eye(9), atol=1e-10 / math.sqrt(lam))
    assert turned == 60 if burst == 200 else 0 < turned < 60, (
        "both ways to a root must have been taken"
    )


def test_ata_on_a_kernel_of_rank_zero_learns_nothing_and_says_so():
    """No feature, so no root either, although every reward is large."""
    learner = core.make(
        "ATA", core.Problem(K=np.zeros((2, 2)), B=1.0, R=0.0, v=1.0), 30, q=math.inf
    )
    for _ in range(30):
        learner.ask()
        learner.tell(1e6)
    assert not learner.mu.any() and not learner.sigma.any() and len(learner._large) > 0


@pytest.mark.parametrize("scale", [2.0, 20.0])
def test_ata_agrees_with_the_oracle_on_near_singular_dictionaries(scale):
    """60 SE arms at lengthscale 0.4.

    K_D has rank about 15 at the 1e-12 cut-off, and the cut-off is part of the definition.
    """
    x = np.arange(60) / 60
    K = o.gram(lambda a, b: o.se(a, b, 0.4), x)
    out = compare("ATA", K, 90, scale=scale, v=3.0, q=math.inf, f=np.sin(6 * x), force=4)
    D = list(out["slow"].dictionary)
    w = np.linalg.eigvalsh(K[np.ix_(D, D)])
    assert np.sum(w < 1e-12 * w[-1]) > 10 and out["core"].m > 30


# ---- MoMA's own cases ---------------------------------------------------------------------------
def test_moma_at_the_theorems_own_k_with_leftover_rounds():
    out = compare("MoMA", KERNEL["matern"], 900, constants="theorem")
    k = math.ceil(24 * math.log(4 * math.e * 900 / 0.1))
    assert out["core"].k == k == 276 and out["core"].N == 3 and out["leftover"] == 900 - 3 * 276


@pytest.mark.parametrize("k", [1, 2, 3, 4, 30, 59, 60])
@pytest.mark.parametrize("eps", [None, 1.0])
def test_moma_agrees_with_the_oracle_for_small_and_large_epochs(k, eps):
    out = compare("MoMA", KERNEL["matern"], 60, k=k, eps=eps)
    assert out["core"].N == 60 // k


def test_moma_with_k_one_is_ridge_regression_on_every_reward():
    out = compare("MoMA", KERNEL["matern"], 50, k=1, q=math.inf)
    mu, _ = o.exact_posterior(
        KERNEL["matern"],
        out["slow"].plays,
        [F[a] + z for a, z in zip(out["slow"].plays, rewards(50, None))],
        1.0,
    )
    np.testing.assert_allclose(out["core"].mu, mu, atol=1e-9)


def test_moma_with_two_rewards_per_epoch_always_ties_and_takes_the_first():
    """r_1 = r_2 by definition; the lowest index wins."""
    assert compare("MoMA", KERNEL["matern"], 80, k=2)["kstar"] == {0}


def test_moma_plays_one_arm_per_epoch_and_the_next_arm_in_the_leftover_rounds():
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    algorithm, arms, noise = core.make("MoMA", problem, 47, k=9), [], rewards(47, None)
    for t in range(47):
        arms.append(algorithm.ask())
        before = algorithm.mu.copy(), algorithm.sigma.copy(), algorithm.beta
        algorithm.tell(F[arms[-1]] + noise[t])
        if (t + 1) % 9 or t >= 45:
            np.testing.assert_array_equal(algorithm.mu, before[0])
            np.testing.assert_array_equal(algorithm.sigma, before[1])
            assert algorithm.beta == before[2]
        else:
            assert not np.array_equal(algorithm.sigma, before[1])
        if t == 44:
            following = o.pick(list(algorithm.mu + algorithm.beta * algorithm.sigma))
    assert (
        all(len(set(arms[e : e + 9])) == 1 for e in range(0, 45, 9))
        and arms[45:] == [following] * 2
    )


def test_moma_estimate_is_the_one_with_the_smallest_median_distance():
    """One epoch on one arm.

    Theta_j is proportional to the j-th reward, so k* is the most central reward.
    """
    problem = core.Problem(K=np.eye(1), f=[0.0], **MOMENTS)
    algorithm = core.make("MoMA", problem, 5, k=5, q=math.inf)
    for y in (100.0, 3.0, -2.0, 4.0, 3.5):
        algorithm.ask()
        algorithm.tell(y)
    # distances from 3.5 (times 1/sqrt(2)): 0.5, 0.5, 5.5, 96.5: median 3; from 3: 0.5, 1, 5, 97: median 3; a tie, so the lower index
    np.testing.assert_allclose(
        algorithm.spread() * math.sqrt(2), [(96.5 + 97) / 2, 3.0, 5.75, 3.5, 3.0], atol=1e-12
    )
    assert algorithm.kstar == 1 and algorithm.mu[0] == pytest.approx(1.5)


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01, 1e-6])
def test_repaired_k_is_the_smallest_that_the_bound_allows(delta):
    def bound(k):
        a = math.ceil((k - 1) / 2)
        return math.comb(k, a) * 8.0**-a

    k = core.make(
        "MoMA",
        core.Problem(K=np.eye(2), f=[0.0, 1.0], **MOMENTS),
        500,
        constants="repaired",
        delta=delta,
    ).k
    assert bound(k) <= delta / 2 and all(bound(j) > delta / 2 for j in range(2, k))


# ---- schedules from the table, typed in again ---------------------------------------------------
def test_first_width_is_the_part_before_the_data():
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    for name in ("TGP", "ATA", "MoMA"):
        for constants in ("order", "theorem"):
            algorithm = core.make(
                name, problem, 1000, constants=constants, acc=0.19, beta_scale=7.0
            )
            expected = 1.5 if name == "TGP" or constants == "order" else 1.5 * (1 + 1 / 0.9)
            assert algorithm.beta == pytest.approx(expected, rel=1e-14)
            np.testing.assert_array_equal(algorithm.mu, np.zeros(25))
            np.testing.assert_allclose(algorithm.sigma, 1.0, atol=1e-12)


@pytest.mark.parametrize("name, constants, k", [("MoMA", "order", 14), ("MoMA", "theorem", 334)])
def test_k_of_the_paper_at_ten_thousand_rounds(name, constants, k):
    assert (
        core.make(
            name, core.Problem(K=np.eye(1), f=[0.0], **MOMENTS), 10_000, constants=constants
        ).k
        == k
    )


@pytest.mark.parametrize("T, k", [(1000, 279), (10_000, 334), (20_000, 351)])
def test_k_of_theorem_4_as_tabulated(T, k):
    assert (
        core.make("MoMA", core.Problem(K=np.eye(1), f=[0.0], **MOMENTS), T, constants="theorem").k
        == k
    )


def test_sigma_zero_is_the_root_of_the_kernel_diagonal():
    """Erratum B4: with k(x, x) = 1/4 the first width is 1/2, not 1/4."""
    problem = core.Problem(K=np.eye(3) / 4, f=[0.0, 0.0, 1.0], **MOMENTS)
    for name in ("TGP", "ATA", "MoMA"):
        np.testing.assert_allclose(core.make(name, problem, 100).sigma, 0.5, atol=1e-15)


@pytest.mark.parametrize("diagonal", [0.25, 0.9])
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle_on_a_kernel_with_unequal_diagonal(name, diagonal):
    scale = np.sqrt(np.linspace(diagonal, 1, 25))
    compare(
        name, scale[:, None] * KERNEL["matern"] * scale, 80, **(dict(k=4) if name == "MoMA" else {})
    )


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_agrees_with_the_oracle_on_one_arm_and_on_identical_arms(name):
    settings = dict(k=4) if name == "MoMA" else {}
    with_one = compare(name, np.eye(1), 40, f=np.zeros(1), **settings)
    assert with_one["arms"] == {0}
    compare(
        name, np.ones((3, 3)), 40, f=np.zeros(3), force=1, **settings
    )  # singular: one feature, three names for it
    compare(name, np.ones((3, 3)), 40, f=np.zeros(3), **settings)


# ---- ties ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
@pytest.mark.parametrize("kernel", KERNEL)
def test_round_one_is_a_tie_and_plays_arm_zero(name, kernel):
    """The diagonal of an empirical kernel is 1 up to rounding; the tie rule must not see that."""
    K = KERNEL[kernel] * (1 - 3e-15 * np.arange(25)[::-1, None]) * (1 - 3e-15 * np.arange(25)[::-1])
    assert core.make(name, core.Problem(K=K, f=F, **MOMENTS), 1000).ask() == 0


@pytest.mark.parametrize("name", ["TGP", "ATA"])
def test_tied_arms_are_played_in_order_of_index(name):
    """Independent arms and zero rewards: the widest arm is always one of the least played."""
    problem = core.Problem(K=np.eye(6), f=np.zeros(6), B=1.0, R=1.0, v=1.0, c=1.0)
    algorithm, arms = core.make(name, problem, 60, q=math.inf), []
    for _ in range(60):
        arms.append(algorithm.ask())
        algorithm.tell(0.0)
    assert arms == list(range(6)) * 10


@pytest.mark.parametrize("gap, first", [(0.9e-9, 0), (1.2e-9, 1)])
def test_tie_band_is_one_part_in_a_billion(gap, first):
    """sigma_0 decides round 1: score 2 sqrt(k(x,x)).

    Arm 1 leads by `gap` relative to the largest score.
    """
    K = np.diag([0.9, 0.9]) * (np.array([1.0, 1 + gap]) ** 2)
    assert (
        core.make("TGP", core.Problem(K=K, f=[0.0, 0.0], B=5.0, R=1.0, v=1.0, c=1.0), 10).ask()
        == first
    )


# ---- limits -------------------------------------------------------------------------------------
@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("name", ["ATA", "MoMA"])
@pytest.mark.parametrize("kernel", KERNEL)
def test_eps_to_infinity_is_the_non_private_run_bit_for_bit(name, constants, kernel):
    """With v = B^2 + R^2 and c = R^2, and a Laplace scale below the last bit of every reward."""
    problem = core.Problem(K=KERNEL[kernel], f=F, B=1.5, R=1.0, v=1.5**2 + 1, c=1.0)
    settings = dict(constants=constants, q=2.0, **(dict(k=5) if name == "MoMA" else {}))
    one = core.simulate(problem, [name], 150, trials=2, seed=4, trace=True, eps=1e300, **settings)
    other = core.simulate(problem, [name], 150, trials=2, seed=4, trace=True, **settings)
    np.testing.assert_array_equal(one.records["arms"], other.records["arms"])
    np.testing.assert_array_equal(one.records["reports"], other.records["reports"])
    np.testing.assert_array_equal(one.regret, other.regret)
    weak = core.simulate(problem, [name], 150, trials=2, seed=4, trace=True, eps=0.5, **settings)
    assert not np.array_equal(weak.records["arms"], other.records["arms"])


def test_eps_to_infinity_makes_tgp_truncate_nothing_at_b_equal_to_B_plus_R():
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    assert np.max(np.abs(F)) <= 1.5
    algorithm, curator = core.make("TGP", problem, 100, eps=1e300), core.CTL(1e300, 1.5, 1.0)
    rng, arms, y = np.random.default_rng(0), [], []
    for t in range(1, 101):
        arms.append(algorithm.ask())
        y.append(problem.sample(arms[-1], rng))
        algorithm.tell(curator.privatise(y[-1], rng))
        assert algorithm.b == 2.5 and algorithm.beta == pytest.approx(
            1.5 + 2.5 * math.sqrt(math.log(t + 1)), rel=1e-14
        )
        mu, sigma = o.exact_posterior(KERNEL["matern"], arms, y, 1.0)
        np.testing.assert_allclose(algorithm.mu, mu, atol=1e-11)
        np.testing.assert_allclose(algorithm.sigma, sigma, atol=1e-11)


def test_large_eps_approaches_the_limit_smoothly():
    """eps = 1e9 against 1e300: the same arms, means within the noise scale."""
    problem = core.Problem(K=KERNEL["matern"], f=F, B=1.5, R=1.0, v=1.5**2 + 1, c=1.0)
    for name in ("TGP", "ATA", "MoMA"):
        a, b = (
            core.simulate(problem, [name], 120, trials=1, seed=1, trace=True, eps=eps)
            for eps in (1e9, 1e300)
        )
        np.testing.assert_array_equal(a.records["arms"], b.records["arms"])
        np.testing.assert_allclose(a.records["reports"], b.records["reports"], atol=1e-7)


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
def test_relabelling_the_arms_relabels_everything(name):
    """No algorithm knows the arms' names, away from ties.

    Permute them, and mu, sigma follow (q = inf: no draw depends on the order).
    """
    order = np.random.default_rng(0).permutation(25)
    K, settings = KERNEL["empirical"], dict(q=math.inf, **(dict(k=3) if name == "MoMA" else {}))
    one = core.make(name, core.Problem(K=K, f=F, **MOMENTS), 60, **settings)
    other = core.make(
        name, core.Problem(K=K[np.ix_(order, order)], f=F[order], **MOMENTS), 60, **settings
    )
    where = np.argsort(order)
    noise = rewards(60, None)
    for t in range(60):
        arm = (t // 3 * 7) % 25
        one.ask(), other.ask()
        one.tell(F[arm] + noise[t], arm=arm)
        other.tell(F[arm] + noise[t], arm=int(where[arm]))
        np.testing.assert_allclose(other.mu, one.mu[order], atol=1e-9)
        np.testing.assert_allclose(other.sigma, one.sigma[order], atol=1e-7)


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
@pytest.mark.parametrize("eps", [None, 1.0])
def test_units_of_the_reward_do_not_matter(name, eps):
    """Measure rewards in units 1000 times smaller (B, R times 1000, v, c times 1000^2).

    Mu and beta scale, the arms stay.
    """
    settings = dict(eps=eps, rng=5, **(dict(k=5) if name == "MoMA" else {}))
    one = core.make(name, core.Problem(K=KERNEL["matern"], f=F, **MOMENTS), 100, **settings)
    big = core.make(
        name,
        core.Problem(K=KERNEL["matern"], f=1000 * F, B=1500.0, R=1000.0, v=5e6, c=3e6),
        100,
        **settings,
    )
    other = core.make(
        name, core.Problem(K=KERNEL["matern"], f=F, **MOMENTS), 100, **{**settings, "rng": 5}
    )
    noise = rewards(100, eps)
    for t in range(100):
        arm = one.ask()
        assert big.ask() == arm == other.ask()
        one.tell(F[arm] + noise[t]), other.tell(F[arm] + noise[t])
        big.tell(1000 * (F[arm] + noise[t]))
        np.testing.assert_allclose(big.mu, 1000 * one.mu, rtol=1e-9, atol=1e-9)
        assert big.beta == pytest.approx(1000 * one.beta, rel=1e-12)
        np.testing.assert_array_equal(one.mu, other.mu)


# ---- protocol -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"])
def test_asking_twice_without_telling_returns_the_same_arm(name):
    algorithm = core.make(name, core.Problem(K=KERNEL["matern"], f=F, **MOMENTS), 60, rng=1)
    for t in range(60):
        assert len({algorithm.ask() for _ in range(4)}) == 1 and algorithm.t == t
        algorithm.tell(math.sin(t))


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "PE"])
def test_a_refused_reward_leaves_no_trace(name):
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    one, other = (core.make(name, problem, 60, rng=1) for _ in range(2))
    for t in range(60):
        assert one.ask() == other.ask()
        for bad in (math.nan, math.inf, "many", None, [1.0, 2.0]):
            with pytest.raises(ValueError):
                one.tell(bad)
        assert one.ask() == other.ask()
        one.tell(math.sin(t)), other.tell(math.sin(t))
        np.testing.assert_array_equal(one.mu, other.mu)


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA", "GP-UCB"])
def test_playing_past_the_horizon_stays_finite(name):
    algorithm = core.make(
        name,
        core.Problem(K=KERNEL["matern"], f=F, **MOMENTS),
        20,
        constants="theorem",
        k=4 if name == "MoMA" else None,
    )
    for t in range(50):
        assert 0 <= algorithm.ask() < 25
        algorithm.tell(math.sin(t))
        assert (
            np.all(np.isfinite(algorithm.mu))
            and np.all(np.isfinite(algorithm.sigma))
            and math.isfinite(algorithm.beta)
        )


@pytest.mark.parametrize("constants", ["order", "theorem"])
@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_a_horizon_of_one_round(name, constants):
    algorithm = core.make(
        name,
        core.Problem(K=KERNEL["matern"], f=F, **MOMENTS),
        1,
        constants=constants,
        k=1 if name == "MoMA" else None,
        rng=0,
    )
    algorithm.tell(0.5, arm=algorithm.ask())
    assert np.all(np.isfinite(algorithm.mu)) and algorithm.t == 1


def test_gp_ucb_never_truncates_and_uniform_never_learns():
    problem = core.Problem(K=KERNEL["matern"], f=F, **MOMENTS)
    plain, arms, y = core.make("GP-UCB", problem, 60), [], 50 * rewards(60, None)
    for t in range(60):
        arms.append(plain.ask())
        plain.tell(y[t])
    mu, sigma = o.exact_posterior(KERNEL["matern"], arms, y, 1.0)
    np.testing.assert_allclose(plain.mu, mu, atol=1e-8)
    np.testing.assert_allclose(plain.sigma, sigma, atol=1e-9)
    uniform = core.make("uniform", problem, 5000, rng=3)
    counts = np.zeros(25)
    for _ in range(5000):
        counts[uniform.ask()] += 1
        uniform.tell(1e6)
    chi2 = ((counts - 200) ** 2 / 200).sum()
    assert chi2 < 64.0  # fixed seed; for a fresh one P(chi2_24 > 64) < 2e-5


# ---- long runs ----------------------------------------------------------------------------------
LONG = 200_000


def drive(name, K, T, noise, f, **settings):
    problem = core.Problem(K=K, f=f, B=1.0, R=1.0, v=3.0, c=2.0)
    algorithm, arms, y = core.make(name, problem, T, **settings), np.empty(T, int), np.empty(T)
    for t in range(T):
        arms[t] = arm = algorithm.ask()
        y[t] = f[arm] + noise[t]
        algorithm.tell(y[t])
    return algorithm, arms, y


@pytest.mark.parametrize("name", ["TGP", "ATA", "MoMA"])
def test_no_drift_after_200_000_rounds(name):
    """mu and sigma against a fresh solve from all 200,000 rewards, in the n x n form (K + lam
    N^{-1})^{-1} on the played arms.
    """
    x = np.arange(1, 7) / 6
    K, f = o.gram(lambda a, b: o.matern(a, b, 0.3, 2.5), x), np.cos(5 * x) / 2
    noise = np.random.default_rng(1).standard_t(3, LONG)
    settings = dict(TGP={}, ATA=dict(q=math.inf), MoMA=dict(q=math.inf, k=11))[name]
    algorithm, arms, y = drive(name, K, LONG, noise, f, **settings)
    k = 11 if name == "MoMA" else 1
    N = LONG // k
    counts = np.bincount(arms[: N * k : k], minlength=6).astype(float)
    P = np.flatnonzero(counts)
    inverse = np.linalg.inv(K[np.ix_(P, P)] + np.diag(1 / counts[P]))
    sigma = np.sqrt(np.diag(K) - np.einsum("ia,ij,ja->a", K[P], inverse, K[P]))
    if name == "TGP":
        t = np.arange(1, LONG + 1)
        cut = np.where(np.abs(y) <= math.sqrt(3.0) * t**0.25, y, 0.0)
        mu = K[:, P] @ inverse @ (np.bincount(arms, cut, 6)[P] / counts[P])
    elif name == "MoMA":
        sums = np.stack([np.bincount(arms[: N * k : k], y[j : N * k : k], 6) for j in range(k)])[
            :, P
        ]
        means = (K[:, P] @ inverse @ (sums / counts[P]).T).T
        distance = [
            [
                math.sqrt(max(0.0, (sums[i] - sums[j]) @ (means[i] - means[j])[P]))
                for j in range(k)
                if j != i
            ]
            for i in range(k)
        ]
        mu = means[o.pick([-o.median(d) for d in distance])]
    else:
        phi = o.embedding(K, P)[0]
        V = (phi.T * counts) @ phi + np.eye(len(P))
        root = o.symmetric_power(V, -0.5)
        u, b = root @ phi.T, math.sqrt(3.0 / math.log((len(P) + 1) * LONG))
        r = [
            sum(
                float(
                    np.sum(
                        np.where(np.abs(u[i, a] * y[arms == a]) <= b, u[i, a] * y[arms == a], 0.0)
                    )
                )
                for a in P
            )
            for i in range(len(P))
        ]
        mu = phi @ root @ r
    np.testing.assert_allclose(algorithm.mu, mu, atol=1e-8)
    np.testing.assert_allclose(algorithm.sigma, sigma, atol=1e-8)
    assert len(P) >= 3


def test_no_drift_with_a_small_ridge():
    """lam = 1e-3, 60,000 plays on a near-singular kernel.

    The rank-one updates are worst conditioned here.
    """
    x = np.arange(1, 9) / 8
    K, f = o.gram(lambda a, b: o.se(a, b, 0.4), x), np.cos(5 * x) / 2
    algorithm, arms, y = drive(
        "TGP", K, 60_000, np.random.default_rng(1).uniform(-1, 1, 60_000), f, lam=1e-3
    )
    counts = np.bincount(arms, minlength=8).astype(float)
    P = np.flatnonzero(counts)
    sums = np.bincount(
        arms, np.where(np.abs(y) <= math.sqrt(3.0) * np.arange(1, 60_001) ** 0.25, y, 0.0), 8
    )
    w = np.sqrt(counts[P])
    A = w[:, None] * K[np.ix_(P, P)] * w + 1e-3 * np.eye(len(P))
    mu = K[:, P] * w @ np.linalg.solve(A, sums[P] / w)
    np.testing.assert_allclose(algorithm.mu, mu, atol=1e-8)
