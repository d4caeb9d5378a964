"""What no curator can hide and what no learner can beat: privacy accounting, the audit, and the lower bounds.

>>> from ldpbo import bounds
>>> round(bounds.lower_bound("matern", 1e4, 1.0, B=1.0, v=1.0, alpha=1.0, d=1, nu=2.5))     # Theorem 1's rate
137

Notation, checks and error messages are those of `ldpbo_core`. SciPy is imported where it is needed.
"""

import copy
import functools
import itertools
import math
import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ldpbo import checks as check
from ldpbo_core import CTL, ArrayLike, OneBit

# ---- Accounting (Section 4.1, Section 4.3) ---------------------------------------------------------------------


def total_epsilon(eps: float | None, reports: ArrayLike) -> np.ndarray:
    """What `reports` eps-LDP reports of one user cost together: reports * eps. `reports` may be counts per user.

    The paper's eps is per report and needs a fresh user each round; one user behind a whole MoMA epoch spends k eps
    (Erratum C12).
    """
    counts = check.array("reports", reports, np.ndim(reports))
    if (counts < 0).any() or (counts % 1).any():
        raise ValueError(f"reports = {counts}: must be whole numbers >= 0, reports per user")
    return counts * (math.inf if eps is None else check.positive("eps", eps))


def subweibull_radius(
    T: int, delta: float, *, theta: float, a: float = 1.0, b: float = 1.0
) -> float:
    """R with P(some of T noises exceeds R) <= delta when P(|noise| >= x) <= a exp(-b x^{1/theta}) (Erratum A6)."""
    T, delta = check.integer("T", T), check.fraction("delta", delta)
    theta, a, b = check.positive("theta", theta), check.positive("a", a), check.positive("b", b)
    log = theta * (math.log(max(math.log(a) + math.log(T / delta), 1e-300)) - math.log(b))
    if log > 700:
        raise ValueError(
            f"theta = {theta!r}, a = {a!r}, b = {b!r}: the radius e^{log:.3g} is too large for a float"
        )
    return math.exp(log)


# ---- Audit: how much privacy a curator really gives ----------------------------------------------------------


class Audit(NamedTuple):
    """With the confidence asked for, the true eps is at least eps_low; flagged if that is more than was promised."""

    eps_low: float
    promised: float
    flagged: bool
    event: str  # what gave the secret away; in the second half of the games it was ...
    right: int  # ... right so often,
    guesses: int  # out of this many times that it happened


def _clues(report, before, y, y_prime, bits):
    """What an attacker computes from reports (n, users) and the reports before them.

    Yields (name, values (n,), values to watch). Names are exact: two clues never share one. Sizes, signs and
    differences first, low bits last.
    """
    views = [(f"report {i}", r, pair) for i, (r, *pair) in enumerate(zip(report.T, y, y_prime), 1)]
    if len(views) > 1:
        views += [("least report", report.min(1), ()), ("largest report", report.max(1), ())]
        views += [
            (f"report {i} - report 1", r - report[:, 0], ()) for i, r in enumerate(report.T[1:], 2)
        ]
    yield from views
    unit = max(np.abs(y - y_prime).max() * 2.0**-30, np.abs([y, y_prime]).max() * 2.0**-46, 1e-300)
    with np.errstate(all="ignore"):
        change = np.rint((report - before) / unit)  # equal noise cancels up to rounding
    for i, (r, difference) in enumerate(zip(report.T, change.T), 1):
        yield f"sign bit of report {i}", np.signbit(r) + 2.0 * (r == 0), ()  # a zero has one, too
        yield f"report {i} - the one before it", difference, ()
    if not bits:
        return
    pairs = zip(y.tolist(), y_prime.tolist())
    views += [
        (f"report {i + 1} - ({x!r})", report[:, i] - x, ())
        for i, pair in enumerate(pairs)
        for x in dict.fromkeys(pair)
    ]
    for name, x, _ in views:
        m, e = np.frexp(np.where(np.isfinite(x), x, 0.0))
        m = np.ldexp(m, 53).astype(np.int64)
        zeros = np.where(m == 0, 53, np.frexp((m & -m).astype(float))[1] - 1)
        yield f"lowest bit of {name}", e - 53 + zeros, ()  # the largest k such that 2^k divides x
        yield f"trailing zeros of {name}", zeros, ()


def _cuts(x, watched):
    """Borders of the cells into which values x are cut: single values (`watched`, and all that repeat), quantiles, NaN.

    Quantiles are 1/8 apart in log-odds, down to 16 games outside the last: tails are seen as far as so many games can.
    """
    x = np.sort(x[~np.isnan(x)])
    first = np.flatnonzero(np.append(True, x[1:] != x[:-1])[: len(x)])
    value, count, quantile = x[first], np.diff(first, append=len(x)), []
    if len(value) > 256:
        reach = math.log(len(x) / 16)
        quantile = x[(len(x) / (1 + np.exp(-np.arange(-reach, reach, 1 / 8)))).astype(int)]
        value, count = value[count >= 8], count[count >= 8]
        value = value[np.argsort(-count, kind="stable")[:128]]
    alone = np.concatenate([value, watched])
    return np.unique(np.concatenate([quantile, alone, np.nextafter(alone, math.inf), [math.nan]]))


def _fresh(curator):
    """A copy that has not reported yet. Copies share their generator: copied along, it would repeat its noise."""
    parts = getattr(curator, "__dict__", {}).values()
    shared = [
        x
        for x in parts
        if isinstance(x, (np.random.Generator, np.random.RandomState, random.Random))
    ]
    if type(curator) in (CTL, OneBit) and all(isinstance(x, (int, float, str)) for x in parts):
        return copy.copy(curator)  # the same, in a tenth of the time
    try:
        return copy.deepcopy(curator, {id(x): x for x in shared})
    except Exception as error:
        raise ValueError(
            f"curator = {type(curator).__name__}: must be such that copy.deepcopy makes a fresh one; "
            f"it says {error}"
        ) from None


def _ask(curator, rewards, single, rng):
    """The curator's reports of rewards (games, users), told in one array or as single numbers, in the same shape."""
    told = rewards if rewards.shape[1] > 1 else rewards[:, 0]
    found = (
        [curator.privatise(x, rng) for x in rewards.ravel().tolist()]
        if single
        else curator.privatise(told, rng)
    )
    try:
        return np.asarray(found, dtype=float).reshape(rewards.shape)
    except (TypeError, ValueError):
        who = type(curator).__name__
        raise ValueError(
            f"curator = {who}: privatise must return one number for each reward"
        ) from None


def _play(curator, inputs, games, single, rng):
    """Games against fresh copies of the curator -> coin (games,), used (games,), report and before (games, users).

    inputs (2, users): the coin's 0 and 1. A fresh copy is told the rewards of many games in one array, or, if single,
    of one game, one number at a time. In the second half of the games (`used`) the copy has reported inputs[0] before;
    that report is `before` then, and otherwise the report of the game before.
    """
    coin, half = rng.integers(0, 2, games), (games + 1) // 2
    secret, used = inputs[coin], np.arange(games) >= half
    report, before = np.full((2, *secret.shape), math.nan)
    edges = (
        range(games + 1)
        if single
        else np.unique(np.linspace([0, half], [half, games], 17).astype(int)).tolist()
    )
    for lot in itertools.starmap(slice, itertools.pairwise(edges)):
        one = _fresh(curator)
        if used[lot][0]:
            before[lot] = _ask(one, np.repeat(inputs[:1], len(coin[lot]), axis=0), single, rng)
        report[lot] = _ask(one, secret[lot], single, rng)
    before[1:half] = report[: half - 1]
    return coin, used, report, before


def audit(
    curator: Any,
    y: ArrayLike,
    y_prime: ArrayLike,
    n: int,
    confidence: float = 0.99,
    rng: int | np.random.Generator | None = None,
    *,
    bits: bool = True,
    clues: Callable | None = None,
) -> Audit:
    """Lower confidence bound on the eps that `curator` really gives between the inputs y and y_prime -> Audit.

    n games: a fair coin picks y or y_prime, the curator reports. Under eps-LDP nobody tells the coin with odds above
    e^eps. The first half of the games chooses: every clue is cut into cells, each cell guesses the coin that it saw
    more often, cells are sorted by that on a quarter and the best set is taken on the next. Arrays are played and
    single numbers (one game in 64, at least 500 if n allows), fresh curators and such as have reported before. The
    second half tests the one event that came out best: whatever is reported, under eps-LDP the number of right guesses
    is at most binomial, so one Clopper-Pearson bound suffices.

    y, y_prime: numbers, or vectors (users,) of inputs that are reported together; each entry that differs is promised
    eps. bits=False leaves out the low bits, which betray any floating-point sum of reward and noise, CTL's as well.
    clues: function of the reports (n, users) -> {name: values (n,)}, an auditor's own. The curator is copied, and not
    changed itself. A low bound proves nothing.
    """
    from scipy.special import betaincinv

    y, y_prime = (
        check.array("y", np.atleast_1d(y), 1),
        check.array("y_prime", np.atleast_1d(y_prime), 1),
    )
    if len(y) != len(y_prime):
        raise ValueError(
            f"y has {len(y)} entries and y_prime has {len(y_prime)}: must have the same length"
        )
    if not hasattr(curator, "eps") or not hasattr(curator, "privatise"):
        raise ValueError(
            f"curator = {curator!r:.80}: must have eps, which it promises, and privatise"
        )
    inputs, n = np.stack([y_prime, y]), check.integer("n", n, low=2)
    alpha = 1 - check.number(
        "confidence", confidence, "in [0.5, 1)", low=math.nextafter(0.5, 0.0), high=1.0
    )
    promised = float(total_epsilon(curator.eps, (y != y_prime).sum()))
    curator, rng = _fresh(curator), check.seeded(rng)

    def found(report, before):
        own = clues(report) if clues else {}
        return itertools.chain(
            ((name, np.asarray(x, float), ()) for name, x in own.items()),
            (clue for clue in _clues(report, before, y, y_prime, bits) if clue[0] not in own),
        )

    cell = lambda cuts, x, used: 2 * np.searchsorted(cuts, x, side="right") + used
    best: tuple[Any, ...] = (-math.inf,)
    single_games = max(min(n // 8, 500), min(n // 64, 50_000))
    for single, games in ((False, n // 2 - single_games), (True, single_games)):
        try:
            parts = [
                _play(curator, inputs, part, single, rng)
                for part in (games - games // 2, games // 2)
            ]
        except Exception as error:
            if single and best == (-math.inf,):
                raise
            what = "single rewards" if single else "arrays of rewards"
            warnings.warn(
                f"curator = {type(curator).__name__} is audited without {what}: {error}",
                stacklevel=2,
            )
            continue
        for (name, x, watched), (_, judged, _) in zip(
            *(found(report, before) for _, _, report, before in parts)
        ):
            cuts = _cuts(x, watched)
            sort, judge = (
                np.bincount(2 * cell(cuts, x, used) + coin, minlength=4 * len(cuts) + 4).reshape(
                    -1, 2
                )
                for x, (coin, used, _, _) in zip((x, judged), parts)
            )
            guess = sort.argmax(1)
            order = np.argsort(-(sort.max(1) + 0.5) / (sort.sum(1) + 1), kind="stable")
            total = np.maximum(np.cumsum(judge[order].sum(1)), 1)
            p = np.cumsum(judge[order, guess[order]]) / total
            score = (
                p - 3 * np.sqrt(p * (1 - p) / total) - 7 / total
            )  # any rule may choose; strict against luck
            if score.max() > best[0]:
                best = score.max(), single, name, cuts, order[: score.argmax() + 1], guess
    _, single, name, cuts, cells, guess = best
    coin, used, report, before = _play(
        curator, inputs, min(n - n // 2, 20_000) if single else n - n // 2, single, rng
    )
    code = cell(cuts, next(x for key, x, _ in found(report, before) if key == name), used)
    inside = np.isin(code, cells)
    guesses, right = int(inside.sum()), int((inside & (coin == guess[code])).sum())
    low = betaincinv(right, guesses - right + 1, alpha) if right else 0.0
    eps_low = math.log(low / (1 - low)) if low > 0.5 else 0.0
    manner = ", single rewards" * single + ", after an earlier report" * bool((cells % 2).all())
    event = f"{name}{manner} ({len(cells)} of {2 * len(cuts) + 2} cells)"
    return Audit(eps_low, promised, eps_low > promised, event, right, guesses)


# ---- Information gain: a ceiling ------------------------------------------------------------------------------


def gain_ceiling(K: np.ndarray, T: float, lam: float, steps: int = 80) -> float:
    """A number that gamma_T (the largest information gain of T plays) cannot exceed, for any T, in O(n^3).

    Real-valued plays w with sum T make the gain g(w) concave with slope sigma_w^2/(2 lam), so for any w
    gamma_T <= g(w) + (T max sigma_w^2 - sum w sigma_w^2)/(2 lam); multiplicative steps improve w. Eigenvalues too small
    to keep add at most T/(2 lam) times the most that they give to any k(x,x) (Erratum B14).
    """
    T, lam, K = check.positive("T", T), check.positive("lam", lam), check.kernel_matrix(K)
    return _gain_ceiling(K.tobytes(), T, lam, steps)


@functools.lru_cache
def _gain_ceiling(K, T, lam, steps):
    """`gain_ceiling` of the bytes of K: trials with new f on the same arms ask for it again and again."""
    K = np.frombuffer(K)
    K = K.reshape(math.isqrt(K.size), -1)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-14 * values[-1]
    Z = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    w, best = np.full(len(K), T / len(K)), math.inf
    for _ in range(steps):
        V = (Z * w) @ Z.T / lam + np.eye(len(Z))
        var = (Z * np.linalg.solve(V, Z)).sum(axis=0)  # sigma_w^2, Lemma 5
        best = min(best, np.linalg.slogdet(V)[1] / 2 + (T * var.max() - w @ var) / (2 * lam))
        w *= T * var / (w @ var)
    lost = vectors[:, ~kept] ** 2 @ np.maximum(values[~kept], 0.0)
    return float(best + T * lost.max() / (2 * lam))


# ---- Lower bounds (Theorem 1, its regime and its sharpening; proofs and checks: pages lb_bump to lb_better) ----


class Bound(float):
    """A float that says why it is NaN (`reason`), and on which gap `Delta` and number of functions `M` it stands."""

    def __new__(cls, value, reason="", Delta=math.nan, M=math.nan):
        self = super().__new__(cls, value)
        self.reason, self.Delta, self.M = reason, float(Delta), float(M)
        return self


def lower_bound(
    kernel: str,
    T: float,
    eps: float | None,
    *,
    B: float,
    v: float,
    alpha: float,
    d: int,
    nu: float | None = None,
    variant: str = "printed",
    lengthscale: float = 0.2,
) -> Bound:
    """Regret that every eps-LDP learner suffers on some f with |f|_H <= B on [0,1]^d and E|y|^{1+alpha} <= v (C-lb).

    variant: "printed" the rate of Theorem 1, constant 1. "corrected" the larger rate of Erratum A1, constant 1, never
    below the non-private one (A3) nor below that of a larger eps, whose mechanisms include those of eps. "explicit" no
    rate but a number, with every constant of the proof, maximised over Delta and M (d = 1 or 2). "bounded" the same for
    rewards +b and -b, b = sqrt(v), whatever alpha is. eps=None: not private. Returns a `Bound`, NaN with a reason
    outside the regime that the theorem leaves unstated (A14), taken with its unnamed constants equal to 1. The
    lengthscale matters to "explicit" and "bounded" only.
    """
    check.choice("kernel", kernel, "se", "matern")
    check.choice("variant", variant, "printed", "corrected", "explicit", "bounded")
    T = check.number("T", T, "a number of rounds >= 1", low=math.nextafter(1.0, 0.0))
    eps = (
        math.inf
        if eps is None
        else check.number("eps", eps, "a finite number > 0, or None: not private", low=0.0)
    )
    B, v, d, alpha = (
        check.positive("B", B),
        check.positive("v", v),
        check.integer("d", d),
        check.order("alpha", alpha),
    )
    lengthscale = check.positive("lengthscale", lengthscale)
    nu = check.positive("nu", nu) if kernel == "matern" else math.inf
    if variant in ("explicit", "bounded"):
        if d > 2:
            raise ValueError(f"d = {d}: must be 1 or 2 with variant={variant!r}")
        rewards = _rare(eps, v, alpha) if variant == "explicit" else _signs(eps, v)
        return _best_bump(T, B, d, nu, lengthscale, *rewards)
    log_n = math.log(T) + 2 * (eps + math.log(-math.expm1(-eps)))  # T z^2, z = e^eps - 1
    s = alpha / (1 + alpha)
    plain = _rate(T, math.log(T), s, B, v, alpha, d, nu)  # z = 1
    if eps == math.inf:
        return plain
    if variant == "printed":
        return _rate(T, log_n, s, B, v, alpha, d, nu)
    return _monotone(plain, T, log_n, s / 2, B, v, alpha, d, nu)


def _rate(T, log_n, s, B, v, alpha, d, nu):
    """T Delta, Delta = v^{1/(1+a)} (M/n)^s, n = T z^2, solved with M = ln(..)^{d/2} (SE: nu = inf) or (B/Delta)^{d/nu}.

    s = a/(1+a): Theorem 1, and with z = 1 the non-private rate. s = a/(2(1+a)): Erratum A1."""
    log_top = math.log(v) / (1 + alpha)
    log_x = (math.log(B) - log_top) / s + log_n  # what Theorem 1 takes the logarithm of
    show = lambda log: f"{math.exp(min(log, 700.0)):.3g}"
    if log_x <= 0:
        return Bound(
            math.nan,
            f"needs v^(1/(1+alpha)) < B (T z^2)^{s:.3g}: the logarithm is that of {show(log_x)}",
        )
    log_m = d / 2 * math.log(log_x) if nu == math.inf else log_x * s * d / (nu + s * d)
    if log_m > min(log_n, log_x) + 1e-9:  # Delta <= v^{1/(1+a)} and Delta <= B
        return Bound(
            math.nan,
            f"needs M <= T z^2 and Delta <= B: M = {show(log_m)}, T z^2 = {show(log_n)}, "
            f"Delta/B = {show(s * (log_m - log_x))}",
        )
    Delta = math.exp(log_top + s * (log_m - log_n))
    return Bound(T * Delta, "", Delta, math.exp(log_m))


def _monotone(plain, T, log_n, s, B, v, alpha, d, nu):
    """The largest of the non-private rate and of the rates of Erratum A1 at this n = T z^2 and at all larger ones.

    With L the logarithm of Theorem 1, L = ln n + g, the rate has one peak on each stretch of n in the regime: the
    largest is at n, at the peak (SE: L = d/2) or at an end of a stretch, where M = n or Delta = B."""
    from scipy.special import lambertw

    g = (math.log(B) - math.log(v) / (1 + alpha)) / s
    if nu == math.inf:  # d/2 ln L = L - g, or = L
        ends = [
            -d / 2 * lambertw(-2 / d * math.exp(min(-2 * x / d, 700.0)), branch)
            for x in (g, 0.0)
            for branch in (0, -1)
        ]
        peaks = [d / 2] + [end.real for end in ends if end.imag == 0]
    else:
        peaks = [max(g * (1 + s * d / nu), 1e-9 * (1 + abs(g)))]  # it falls with L > 0
    here = _rate(T, log_n, s, B, v, alpha, d, nu)
    larger = [_rate(T, L - g, s, B, v, alpha, d, nu) for L in peaks if L - g > log_n]
    best = max((rate for rate in (plain, here, *larger) if rate > 0), default=here)
    if best is here or best is plain:
        return best
    return Bound(
        best,
        f"rate of a larger eps, as the private one {here.reason or 'is smaller'}",
        best.Delta,
        best.M,
    )


@functools.lru_cache
def bump(d: int) -> tuple:
    """H(u) = exp(-1/(1-|u|^2)) and its Fourier transform h -> h(0); zeta, where h(zeta) = h(0)/2; v_m^j/Delta by offset
    j - m (coordinates 0..25) and how often each occurs; nodes and weights for integrals of H^2 over the unit ball."""
    from scipy import optimize, special

    u, weight = np.polynomial.legendre.leggauss(400)
    u, weight = (u + 1) / 2, weight / 2 * (2 if d == 1 else math.pi * (u + 1))
    wave = np.cos if d == 1 else special.j0
    h = lambda r: wave(2 * math.pi * np.multiply.outer(r, u)) @ (weight * np.exp(-1 / (1 - u * u)))
    h0 = float(h(0.0))
    zeta = optimize.brentq(lambda r: h(r) - h0 / 2, 0.1, 1.0, xtol=1e-15)
    offset = np.stack(np.meshgrid(*[np.arange(26)] * d), -1).reshape(-1, d)
    near, far = (
        np.sqrt((x**2).sum(axis=1)) for x in (np.maximum(2 * offset - 1, 0), 2 * offset + 1)
    )  # unit: zeta
    fine = np.abs(h(zeta / 200 * np.arange(200 * 51 * d)))  # a cell is 2 zeta wide in h's variable
    inside = [fine[math.ceil(200 * a) : math.floor(200 * b) + 1].max() for a, b in zip(near, far)]
    table = 2 / h0 * np.maximum(inside, np.abs(h(zeta * near)))
    return h0, zeta, table, 2.0 ** (offset > 0).sum(axis=1), u, weight * np.exp(-2 / (1 - u * u))


def _rare(eps, v, alpha):
    """Rewards that are non-zero with probability p (page lb_rewards): the largest Delta, with p <= 1, and the most that
    an eps-LDP report can tell of them, D*(p) by Delta and table (page lb_better)."""
    e = math.exp(min(eps, 700.0))  # at 700 the report is the reward itself

    def leak(Delta, table):
        p = np.multiply.outer((2 * Delta / v) ** (1 / alpha) * Delta, table)
        return -(np.log1p(p * (e - 1)) + e * np.log1p(-p * (1 - 1 / e))) / (e + 1)

    return (0.5 - 1e-9) * v ** (1 / (1 + alpha)), leak


def _signs(eps, v):
    """Rewards +b and -b, b = sqrt(v), of mean f: -ln(1 - (f tanh(eps/2)/b)^2)/2 is the most that a report can tell."""
    b, tau = math.sqrt(v), math.tanh(eps / 2)
    return (
        0.5 - 1e-9
    ) * b, lambda Delta, table: -0.5 * np.log1p(-((np.multiply.outer(Delta, table) * tau / b) ** 2))


def _best_bump(T, B, d, nu, lengthscale, top, leak):
    """max of T Delta (2 - c/M - sqrt(2 T S/M)) over M = n^d cells and Delta <= top with |g|_H <= B (page lb_better).

    c sums v_m^j/Delta; S sums leak(Delta, v_m^j/Delta), the most an eps-LDP report can tell of a reward there."""
    h0, zeta, table, count, u, weight = bump(d)
    n = np.unique(np.geomspace(2, 1e5, 400).astype(int)).astype(float)
    xi2 = (2 * zeta * np.multiply.outer(n, u)) ** 2  # squared frequencies of g
    if nu == math.inf:
        log_inverse = 2 * (math.pi * lengthscale) ** 2 * xi2 - d / 2 * math.log(
            2 * math.pi * lengthscale**2
        )
    else:
        log_inverse = (
            (nu + d / 2) * np.log1p((math.pi * lengthscale) ** 2 * 2 / nu * xi2)
            - math.lgamma(nu + d / 2)
            + math.lgamma(nu)
            - d / 2 * math.log(2 * math.pi * lengthscale**2 / nu)
        )
    norm = (
        2 / h0 * np.sqrt((2 * zeta * n) ** -d * (np.exp(np.minimum(log_inverse, 700)) @ weight))
    )  # |g|_H / Delta
    cap = np.minimum(B / norm, top)

    def value(Delta, M):
        S = np.maximum(leak(Delta, table) @ count, 0)
        return T * Delta * (2 - table @ count / M - np.sqrt(2 * T / M * S))

    share = np.geomspace(1e-6, 1, 121)
    coarse = np.stack([value(s * cap, n**d) for s in share])
    i, j = np.unravel_index(coarse.argmax(), coarse.shape)
    Delta = cap[j] * np.geomspace(share[max(i - 1, 0)], share[min(i + 1, 120)], 201)
    fine = value(Delta, n[j] ** d)
    return Bound(fine.max(), "", Delta[fine.argmax()], n[j] ** d)
