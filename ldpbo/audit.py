"""The audit measures how much privacy a curator really gives; the accounting adds up what it costs.

>>> import ldpbo_core as core
>>> from ldpbo.audit import audit
>>> cheat = core.CTL(1.0, B=1.0, R=1.0)
>>> cheat.scale /= 2                                       # B + R taken for 2(B + R)
>>> audit(cheat, 2.0, -2.0, 100_000, rng=0, bits=False).flagged
True
>>> audit(cheat, rewards=[-2.0, 0.0, 2.0], n=100_000, rng=0, bits=False).pair
(2.0, -2.0)

A game: a coin picks one of the rewards, the curator reports it, and an attacker who sees the report
names the coin. Under eps-LDP nobody is right with odds above e^eps.
"""

import copy
import itertools
import math
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ldpbo import checks as check
from ldpbo_core import CTL, ArrayLike, OneBit

# ---- Accounting (Section 4.1, Section 4.3) -------------------------------------------------------


def total_epsilon(eps: float | None, reports: ArrayLike) -> np.ndarray:
    """Return what one user's eps-LDP reports cost together; `reports` may be counts per user.

    The cost is reports * eps. The paper's eps is per report and needs a fresh user each round; one
    user behind a whole MoMA epoch spends k eps (Erratum C12).
    """
    counts = check.array("reports", reports, np.ndim(reports))
    if (counts < 0).any() or (counts % 1).any():
        raise ValueError(f"reports = {counts}: must be whole numbers >= 0, reports per user")
    return counts * (math.inf if eps is None else check.positive("eps", eps))


def subweibull_radius(
    T: int, delta: float, *, theta: float, a: float = 1.0, b: float = 1.0
) -> float:
    """Return an R that, with probability 1 - delta, none of T noises exceeds (Erratum A6).

    The noise is sub-Weibull: `P(|noise| >= x) <= a exp(-b x^{1/theta})`.
    """
    T = check.integer("T", T)
    delta = check.fraction("delta", delta)
    theta = check.positive("theta", theta)
    a = check.positive("a", a)
    b = check.positive("b", b)
    tail = max(math.log(a) + math.log(T / delta), 1e-300)
    log = theta * (math.log(tail) - math.log(b))
    if log > 700:
        raise ValueError(
            f"theta = {theta!r}, a = {a!r}, b = {b!r}: "
            f"the radius e^{log:.3g} is too large for a float"
        )
    return math.exp(log)


# ---- The parts of an audit -----------------------------------------------------------------------

# A pair is sought among these parts of B + R: ends, middle, outliers, either side of 0; and chance.
PLACES = (-1.0, 1.0, 0.0, 0.5, -0.5, 10.0, -10.0, 1e-9, -1e-9)
CHANCE = 4
MOST = 64  # rewards to choose from: 2,016 pairs


class Audit(NamedTuple):
    """An audit says that eps is at least eps_low; if `flagged`, more than was promised."""

    eps_low: float
    promised: float
    flagged: bool
    event: str  # what gave the secret away; in the second half of the games it was ...
    right: int  # ... right so often,
    guesses: int  # out of this many times that it happened
    pair: tuple  # the inputs y and y_prime that were told apart


class Games(NamedTuple):
    """The games of an audit, in the order played."""

    coin: np.ndarray  # (games,) which of the rewards was the secret
    used: np.ndarray  # (games,) had this curator reported before?
    report: np.ndarray  # (games, users)
    before: np.ndarray  # (games, users) the report before it

    def between(self, i: int, j: int) -> "Games":
        """Return the games whose secret was reward i or j; the coin then says whether it was j."""
        chosen = (self.coin == i) | (self.coin == j)
        if chosen.all():
            return self._replace(coin=self.coin == j)
        coin, *rest = (part[chosen] for part in self)
        return Games(coin == j, *rest)


class Event(NamedTuple):
    """An event says what an attacker waits for, and what they then guess."""

    score: float  # how often the guess is right, at least: a cautious estimate
    pair: tuple[int, int]  # the rewards between which it decides
    single: bool  # rewards are told as single numbers
    clue: str
    borders: np.ndarray  # of the cells into which the clue is cut
    cells: np.ndarray  # the cells that make up the event
    guess: np.ndarray  # the coin to name in each cell


# ---- What an attacker looks at -------------------------------------------------------------------


def attack_clues(
    report: np.ndarray, before: np.ndarray, y: np.ndarray, y_prime: np.ndarray, bits: bool
) -> Iterator[tuple[str, np.ndarray, Any]]:
    """Yield the clues that an attacker computes from reports (n, users) and those before them.

    A clue is (name, values (n,), values to watch). Names are exact: two clues never share one.
    Sizes, signs and differences come first, low bits last.
    """
    views = list(_sizes(report, y, y_prime))
    yield from views
    apart = np.abs(y - y_prime).max()
    size = np.abs([y, y_prime]).max()
    unit = max(apart * 2.0**-30, size * 2.0**-46, 1e-300)
    with np.errstate(all="ignore"):
        change = np.rint((report - before) / unit)  # equal noise cancels up to rounding
    for i, (r, difference) in enumerate(zip(report.T, change.T), 1):
        yield f"sign bit of report {i}", np.signbit(r) + 2.0 * (r == 0), ()  # a zero has one, too
        yield f"report {i} - the one before it", difference, ()
    if not bits:
        return
    views += _distances(report, y, y_prime)
    for name, x, _ in views:
        lowest, zeros = _low_bits(x)
        yield f"lowest bit of {name}", lowest, ()
        yield f"trailing zeros of {name}", zeros, ()


def _sizes(report, y, y_prime):
    """Yield each report and, where several come together, extremes and differences."""
    for i, (r, *pair) in enumerate(zip(report.T, y, y_prime), 1):
        yield f"report {i}", r, pair
    if report.shape[1] == 1:
        return
    yield "least report", report.min(1), ()
    yield "largest report", report.max(1), ()
    for i, r in enumerate(report.T[1:], 2):
        yield f"report {i} - report 1", r - report[:, 0], ()


def _distances(report, y, y_prime):
    """Yield the distance of each report from either input: noise, if that was the input."""
    pairs = zip(y.tolist(), y_prime.tolist())
    for i, (r, pair) in enumerate(zip(report.T, pairs), 1):
        for x in dict.fromkeys(pair):
            yield f"report {i} - ({x!r})", r - x, ()


def _low_bits(x):
    """Find the largest k such that 2^k divides x, and count the zeros at the end of its 53 bits."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    mantissa = np.ldexp(mantissa, 53).astype(np.int64)
    last = (mantissa & -mantissa).astype(float)
    zeros = np.where(mantissa == 0, 53, np.frexp(last)[1] - 1)
    return exponent - 53 + zeros, zeros


def cell_borders(x: np.ndarray, watched: ArrayLike) -> np.ndarray:
    """Return the borders of the cells into which a clue's values x are cut.

    Each watched value, each one that repeats, and NaN has a cell of its own. Quantiles are 1/8
    apart in log-odds, down to 16 games outside the last: tails are seen as far as so many games
    can.
    """
    x = np.sort(x[~np.isnan(x)])
    new = np.append(True, x[1:] != x[:-1])
    first = np.flatnonzero(new[: len(x)])
    value = x[first]
    quantile = []
    if len(value) > 256:
        reach = math.log(len(x) / 16)
        odds = np.exp(-np.arange(-reach, reach, 1 / 8))
        quantile = x[(len(x) / (1 + odds)).astype(int)]
        count = np.diff(first, append=len(x))
        often = np.flatnonzero(count >= 8)
        value = value[often[np.argsort(-count[often], kind="stable")[:128]]]
    alone = np.concatenate([value, watched])
    after = np.nextafter(alone, math.inf)
    return np.unique(np.concatenate([quantile, alone, after, [math.nan]]))


# ---- Playing -------------------------------------------------------------------------------------


def _fresh(curator):
    """Copy a curator that has not reported yet; copies share generators, or noise would repeat."""
    parts = getattr(curator, "__dict__", {}).values()
    plain = all(isinstance(x, (int, float, str)) for x in parts)
    if plain and type(curator) in (CTL, OneBit):
        return copy.copy(curator)  # the same, in a tenth of the time
    generators = (np.random.Generator, np.random.RandomState, random.Random)
    shared = {id(x): x for x in parts if isinstance(x, generators)}
    try:
        return copy.deepcopy(curator, shared)
    except Exception as error:
        who = type(curator).__name__
        raise ValueError(
            f"curator = {who}: must be such that copy.deepcopy makes a fresh one; it says {error}"
        ) from None


def _ask(curator, rewards, single, rng):
    """Let the curator report rewards (games, users), told in one array or as single numbers."""
    if single:
        found = [curator.privatise(x, rng) for x in rewards.ravel().tolist()]
    else:
        told = rewards if rewards.shape[1] > 1 else rewards[:, 0]
        found = curator.privatise(told, rng)
    try:
        return np.asarray(found, dtype=float).reshape(rewards.shape)
    except (TypeError, ValueError):
        who = type(curator).__name__
        raise ValueError(
            f"curator = {who}: privatise must return one number for each reward"
        ) from None


def _play(curator, secrets, earlier, games, single, rng):
    """Let fresh copies of the curator report one of the secrets (K, users) in each game -> Games.

    A copy is told the rewards of many games in one array, or, if single, of one game, one number at
    a time. In the second half of the games (`used`) the copy has reported `earlier` (1, users)
    before; that report is `before` then, and otherwise the report of the game before.
    """
    coin = rng.integers(0, len(secrets), games)
    rewards = secrets[coin]
    half = (games + 1) // 2
    used = np.arange(games) >= half
    report, before = np.full((2, *rewards.shape), math.nan)
    edges = range(games + 1)
    if not single:
        lots = np.linspace([0, half], [half, games], 17)
        edges = np.unique(lots.astype(int)).tolist()
    for lot in itertools.starmap(slice, itertools.pairwise(edges)):
        one = _fresh(curator)
        if used[lot][0]:
            known = np.repeat(earlier, len(coin[lot]), axis=0)
            before[lot] = _ask(one, known, single, rng)
        report[lot] = _ask(one, rewards[lot], single, rng)
    before[1:half] = report[: half - 1]
    return Games(coin, used, report, before)


# ---- The audit -----------------------------------------------------------------------------------


def audit(
    curator: Any,
    y: ArrayLike | None = None,
    y_prime: ArrayLike | None = None,
    n: int = 400_000,
    confidence: float = 0.99,
    rng: int | np.random.Generator | None = None,
    *,
    rewards: ArrayLike | None = None,
    bits: bool = True,
    clues: Callable | None = None,
) -> Audit:
    """Bound from below the eps that `curator` really gives -> Audit.

    In each of n games a fair coin picks y or y_prime, and the curator reports. Under eps-LDP nobody
    tells the coin with odds above e^eps. The first half of the games chooses: every clue is cut
    into cells, each cell guesses the coin that it saw more often, cells are sorted by that on a
    quarter and the best set is taken on the next. Rewards are told in arrays and as single numbers
    (one game in 64, at least 500 if n allows), to fresh curators and to such as have reported
    before. The second half tests the one event that came out best: whatever is reported, under
    eps-LDP the number of right guesses is at most binomial, so one Clopper-Pearson bound suffices.

    y, y_prime: numbers, or vectors (users,) of inputs that are reported together; each entry that
    differs is promised eps. Where neither is given, the first half chooses the pair as well: a fair
    die picks one of K `rewards`, and every two of them are a game with a coin, of which there are
    2/K of all. The second half plays the two that were told apart best. It chooses nothing, so the
    bound holds as before. rewards: 2 to 64 different numbers; left out, 9 places in and around the
    curator's range `bound` and 4 by chance.

    bits=False leaves out the low bits, which betray any floating-point sum of reward and noise,
    CTL's as well. clues: function of the reports (n, users) -> {name: values (n,)}, an auditor's
    own. The curator is copied, and not changed itself. A low bound proves nothing.
    """
    if not hasattr(curator, "eps") or not hasattr(curator, "privatise"):
        raise ValueError(
            f"curator = {curator!r:.80}: must have eps, which it promises, and privatise"
        )
    given = _given_rewards(y, y_prime, rewards)
    n = check.integer("n", n, low=2)
    least = math.nextafter(0.5, 0.0)
    alpha = 1 - check.number("confidence", confidence, "in [0.5, 1)", low=least, high=1.0)
    rng = check.seeded(rng)
    candidates = _candidates(curator, rng) if given is None else given
    curator = _fresh(curator)

    def look(games, pair):
        first, second = candidates[list(pair)]
        return _all_clues(games, first, second, bits, clues)

    events = _events(curator, candidates, n // 2, rng, look)
    event = max(events, key=lambda found: found.score)
    secrets = candidates[list(event.pair)]
    tests = n - n // 2
    if event.single:
        tests = min(tests, 20_000)
    games = _play(curator, secrets, candidates[:1], tests, event.single, rng)
    right, guesses = _count(event, games, look(games, event.pair))
    differ = (secrets[0] != secrets[1]).sum()
    promised = float(total_epsilon(curator.eps, differ))
    eps_low = _least_eps(right, guesses, alpha)
    pair = tuple(_plain(x) for x in secrets[::-1])
    return Audit(eps_low, promised, eps_low > promised, _name(event), right, guesses, pair)


def _given_rewards(y, y_prime, rewards):
    """Check the pair, or the rewards to choose from -> (K, users), y_prime first; or None."""
    if y is None and y_prime is None:
        return None if rewards is None else _distinct(rewards)
    if y is None or y_prime is None or rewards is not None:
        raise ValueError("y, y_prime, rewards: give both inputs y and y_prime, or rewards, or none")
    y = check.array("y", np.atleast_1d(y), 1)
    y_prime = check.array("y_prime", np.atleast_1d(y_prime), 1)
    if len(y) != len(y_prime):
        raise ValueError(
            f"y has {len(y)} entries and y_prime has {len(y_prime)}: must have the same length"
        )
    return np.stack([y_prime, y])


def _distinct(rewards):
    """Return the rewards to choose a pair from, as a column."""
    rewards = check.array("rewards", rewards, 1)
    if not 2 <= len(np.unique(rewards)) == len(rewards) <= MOST:
        raise ValueError(
            f"rewards has {len(rewards)} entries, {len(np.unique(rewards))} of them different: "
            f"must have 2 to {MOST}, all different"
        )
    return rewards[:, None]


def _candidates(curator, rng):
    """Return rewards in and around the curator's range, as a column, if the auditor names none."""
    bound = getattr(curator, "bound", math.nan)
    if not 0 < bound < math.inf:
        who = type(curator).__name__
        raise ValueError(
            f"curator = {who}: has no finite range `bound`; give y and y_prime, or rewards"
        )
    places = np.append(PLACES, rng.uniform(-1, 1, CHANCE))
    return bound * places[:, None]


def _all_clues(games, y_prime, y, bits, clues):
    """Yield the auditor's own clues first; they replace those of the same name."""
    own = clues(games.report) if clues else {}
    for name, x in own.items():
        yield name, np.asarray(x, float), ()
    for clue in attack_clues(games.report, games.before, y, y_prime, bits):
        if clue[0] not in own:
            yield clue


def _manners(curator, rewards, n, rng):
    """Play n games in arrays, then as single numbers; yield (single, halves of Games)."""
    alone = max(min(n // 4, 500), min(n // 32, 50_000))
    served = False
    for single, games in ((False, n - alone), (True, alone)):
        sizes = (games - games // 2, games // 2)
        try:
            halves = [_play(curator, rewards, rewards[:1], size, single, rng) for size in sizes]
        except Exception as error:
            if single and not served:
                raise
            who = type(curator).__name__
            what = "single rewards" if single else "arrays of rewards"
            warnings.warn(f"curator = {who} is audited without {what}: {error}", stacklevel=4)
            continue
        served = True
        yield single, halves


def _events(curator, rewards, n, rng, look):
    """Yield, for each pair of rewards and each clue, the event of n games that decides best."""
    for single, halves in _manners(curator, rewards, n, rng):
        for pair in itertools.combinations(range(len(rewards)), 2):
            sorting, judging = (half.between(*pair) for half in halves)
            both = zip(look(sorting, pair), look(judging, pair))
            for (clue, x, watched), (_, judged, _) in both:
                borders = cell_borders(x, watched)
                seen = _tally(borders, x, sorting)
                cells, score = _best_cells(seen, _tally(borders, judged, judging))
                yield Event(score, pair, single, clue, borders, cells, seen.argmax(1))


def _cells(borders, x, used):
    """Number the cells; those of curators that have reported before are odd."""
    return 2 * np.searchsorted(borders, x, side="right") + used


def _tally(borders, x, games):
    """Count how often each cell saw either side of the coin, (cells, 2)."""
    code = 2 * _cells(borders, x, games.used) + games.coin
    return np.bincount(code, minlength=4 * len(borders) + 4).reshape(-1, 2)


def _best_cells(seen, judged):
    """Take cells in the order of how well they told the coin -> the best set, and its score.

    seen, judged (cells, 2): tallies of separate games; the first gives the order and the guesses,
    the second the score. Any rule may choose; this one distrusts luck.
    """
    certainty = (seen.max(1) + 0.5) / (seen.sum(1) + 1)
    order = np.argsort(-certainty, kind="stable")
    guess = seen.argmax(1)
    total = np.maximum(np.cumsum(judged[order].sum(1)), 1)
    p = np.cumsum(judged[order, guess[order]]) / total
    score = p - 3 * np.sqrt(p * (1 - p) / total) - 7 / total
    return order[: score.argmax() + 1], score.max()


def _count(event, games, found):
    """Count how often the event's guess was right, and how often the event occurred."""
    x = next(values for name, values, _ in found if name == event.clue)
    code = _cells(event.borders, x, games.used)
    inside = np.isin(code, event.cells)
    right = inside & (games.coin == event.guess[code])
    return int(right.sum()), int(inside.sum())


def _least_eps(right, guesses, alpha):
    """Compute the Clopper-Pearson bound on the chance of being right, as log-odds, at least 0."""
    from scipy.special import betaincinv

    low = betaincinv(right, guesses - right + 1, alpha) if right else 0.0
    return math.log(low / (1 - low)) if low > 0.5 else 0.0


def _name(event):
    """Describe the event in words."""
    manner = ", single rewards" * event.single
    if (event.cells % 2).all():
        manner += ", after an earlier report"
    return f"{event.clue}{manner} ({len(event.cells)} of {2 * len(event.borders) + 2} cells)"


def _plain(x):
    """Return an input as a number, or as a tuple if several are reported together."""
    return float(x[0]) if len(x) == 1 else tuple(x.tolist())
