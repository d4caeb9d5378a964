"""The audit: it catches each cheat at 99 % confidence, and does not accuse honest curators beyond the rate it states."""

import math
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

import ldpbo_core as core
from ldpbo import bounds
from ldpbo.audit import attack_clues, cell_borders

EPS, B, R = 1.0, 1.0, 1.0
C = B + R
secure = pytest.mark.skipif(
    not any((Path(p) / "opendp").exists() for p in sys.path), reason="needs the extra `secure`"
)


def cheat(kind=core.CTL, eps=EPS, **changes):
    """An honest curator with one attribute changed: it still claims EPS."""
    curator = kind(eps, B, R)
    for name, value in (changes | {"eps": EPS}).items():
        setattr(curator, name, value)
    return curator


def shared_seed(rng, size):
    return (
        rng.laplace(size=size)
        if size is None
        else np.broadcast_to(rng.laplace(size=(*size[:-1], 1)), size)
    )


HONEST_CTL = core.CTL(EPS, B, R)
CHEATS = {
    "scale halved": (cheat(scale=HONEST_CTL.scale / 2), C, -C, False),
    "scale a tenth too small": (cheat(scale=0.9 * HONEST_CTL.scale), C, -C, False),
    "clipping removed, one outlier": (cheat(bound=math.inf), 5 * C, 0.0, False),
    "one bit with wrong probabilities": (cheat(core.OneBit, eps=1.1), C, -C, True),
    "one seed shared by two users": (cheat(draw=shared_seed), [0.3, 0.3], [0.3, 0.4], False),
    "noise of bounded size": (cheat(draw=lambda rng, size: rng.uniform(-2, 2, size)), C, -C, False),
    "Gaussian noise of the same variance": (
        cheat(draw=lambda rng, size: rng.normal(0, 2**0.5, size)),
        C,
        -C,
        False,
    ),
    "low bits of floating-point Laplace": (HONEST_CTL, C, -C, True),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_flagged_at_99_percent_five_times_out_of_five(name):
    curator, y, y_prime, bits = CHEATS[name]
    results = [bounds.audit(curator, y, y_prime, 400_000, rng=seed, bits=bits) for seed in range(5)]
    assert all(r.flagged and r.eps_low > EPS == r.promised for r in results), results


@pytest.mark.parametrize("y, y_prime", [(2.0, -2.0), (0.0, 1.0), (0.3, 0.7), (1.9, -0.123)])
def test_low_bits_condemn_floating_point_laplace_and_only_they_do(y, y_prime):
    with_bits = bounds.audit(HONEST_CTL, y, y_prime, 400_000, rng=0)
    assert (
        with_bits.flagged
        and with_bits.event.startswith(("lowest bit", "trailing zeros"))
        and with_bits.eps_low > 4 * EPS
    )
    assert not bounds.audit(HONEST_CTL, y, y_prime, 400_000, rng=0, bits=False).flagged


def test_an_auditors_own_clue_condemns_inputs_that_differ_in_the_seventh_digit():
    """Mironov's attack: could this float have come from that input at all? It needs no difference in size."""
    y, y_prime, s = 1.7, 1.7000001, HONEST_CTL.scale
    log = np.frompyfunc(
        math.log, 1, 1
    )  # the C library's, as rng.laplace takes it; np.log may differ from it in the last bit

    def reachable(r, x):
        grid = np.rint(np.exp(-np.abs(r - x) / s) * 2.0**53) + np.arange(-4, 5)[:, None]
        return (
            x - np.sign(r - x) * s * log(np.maximum(grid, 1) * 2.0**-53).astype(float) == r
        ).any(0)

    clues = lambda r: {"reachable": 2 * reachable(r[:, 0], y) + reachable(r[:, 0], y_prime)}
    result = bounds.audit(HONEST_CTL, y, y_prime, 100_000, rng=0, clues=clues)
    assert (
        result.flagged and result.event.startswith("reachable") and result.right == result.guesses
    )
    assert not bounds.audit(HONEST_CTL, y, y_prime, 100_000, rng=0, bits=False).flagged


@secure
def test_noise_that_is_safe_in_floating_point_survives_the_low_bits():
    """Not seedable: three audits at this confidence raise a false alarm with probability at most 3e-6."""
    for y, y_prime in ((C, -C), (0.0, 1.0), (0.3, 0.7)):
        assert not bounds.audit(
            core.SecureCTL(EPS, B, R), y, y_prime, 60_000, 1 - 1e-6, rng=0
        ).flagged


def test_identity_is_honestly_infinite():
    result = bounds.audit(core.Identity(), 0.1, 0.2, 10_000, rng=0)
    assert (
        result.promised == math.inf and not result.flagged and result.right == result.guesses > 2000
    )
    assert result.eps_low == pytest.approx(
        math.log(0.01 ** (1 / result.guesses) / (1 - 0.01 ** (1 / result.guesses)))
    )


def test_bound_is_the_one_sided_clopper_pearson_bound_of_its_counts():
    for seed, confidence in enumerate((0.9, 0.99, 0.999)):
        r = bounds.audit(core.OneBit(EPS, B, R), C, -C, 10_000, confidence, rng=seed)
        low = beta.ppf(1 - confidence, r.right, r.guesses - r.right + 1)
        assert r.eps_low == pytest.approx(math.log(low / (1 - low)), rel=1e-9)


# ---- curators that misbehave now and then: only for some inputs, calls or bits ------------------------------------


class RarelyRaw(core.CTL):
    """Reports the clipped reward itself with probability 1e-3."""

    rate = 1e-3

    def raw(self, y, report):
        return np.clip(y, -self.bound, self.bound)

    def privatise(self, y, rng=None):
        report = super().privatise(y, rng)
        return np.where(rng.random(np.shape(y)) < self.rate, self.raw(y, report), report)[()]


class FarOut(RarelyRaw):
    rate = 3e-5
    raw = lambda self, y, report: 1e3 * np.sign(y)


class SignedZero(RarelyRaw):
    """A report of 0 now and then, with the reward's sign."""

    rate = 0.01
    raw = lambda self, y, report: np.copysign(0.0, y)


class NotANumber(RarelyRaw):
    rate = 0.01
    raw = lambda self, y, report: np.where(np.greater(y, 0), math.nan, report)


class LastBit(core.OneBit):
    """A one-bit report whose sign is honest; the sign of y is in the last bit of its size."""

    def report(self, y, draw):
        r = super().report(y, draw)
        return np.where(np.greater(y, 0), np.nextafter(r, math.inf), r)[()]


class RawSingles(core.CTL):
    """Honest for arrays, raw for numbers; returns lists."""

    def privatise(self, y, rng=None):
        return float(y) if np.ndim(y) == 0 else super().privatise(y, rng).tolist()


class RawSecondTime(core.CTL):
    calls, when = 0, (2,)

    def privatise(self, y, rng=None):
        self.calls += 1
        return self.clip(y) if self.calls in self.when else super().privatise(y, rng)


class RawSecondSingle(RawSecondTime):
    def privatise(self, y, rng=None):
        return super().privatise(y, rng) if np.ndim(y) == 0 else core.CTL.privatise(self, y, rng)


class RawFirstSingle(RawSecondSingle):
    when = (1,)


class SameNoise(core.CTL):
    """Draws its noise once for each shape."""

    def draw(self, rng, size=None):
        self.noise = getattr(self, "noise", {})
        return self.noise.setdefault(size, super().draw(rng, size))


class Seeded(core.CTL):
    """The same seed at each call; for an array, one draw for all."""

    def draw(self, rng, size=None):
        return np.random.default_rng(3).laplace()


class Remembers(core.CTL):
    """The same report whenever the reward is the same: harmless for one user, told apart by the next."""

    def privatise(self, y, rng=None):
        self.known = getattr(self, "known", {})
        return [
            self.known.setdefault(x, super(Remembers, self).privatise(x, rng))
            for x in np.atleast_1d(y).tolist()
        ]


RARE = {
    "raw with probability 1e-3": (RarelyRaw, C, -C, "report 1"),
    "the same, beyond the range": (RarelyRaw, 10 * C, 0.1, "report 1"),
    "sign of a zero": (SignedZero, C, -C, "sign bit of report 1"),
    "sign of a zero, small rewards": (SignedZero, 1e-9, -1e-9, "sign bit of report 1"),
    "NaN for some": (NotANumber, C, -C, "report 1"),
    "last bit": (LastBit, C, -C, "report 1"),
    "raw for single rewards": (RawSingles, C, -C, "report 1, single rewards"),
    "raw the second time": (RawSecondTime, C, -C, "report 1, after an earlier report"),
    "raw the second time, single rewards": (RawSecondSingle, C, -C, "report 1, single rewards"),
    "raw the first time, single rewards": (RawFirstSingle, C, -C, "report 1, single rewards"),
    "one noise for all calls": (SameNoise, 0.4, 0.3, "report 1 - the one before it"),
    "one seed for all calls": (Seeded, 0.4, 0.3, ""),
    "reports remembered": (Remembers, 0.4, 0.3, "report 1 - the one before it"),
}


@pytest.mark.parametrize("name", RARE)
def test_a_curator_that_misbehaves_now_and_then_is_flagged(name):
    kind, y, y_prime, event = RARE[name]
    for seed in range(2):
        result = bounds.audit(
            kind(EPS, B, R),
            y,
            y_prime,
            400_000 if issubclass(kind, RarelyRaw) else 40_000,
            rng=seed,
            bits=False,
        )
        assert result.flagged and result.event.startswith(event), result


def test_ten_million_games_find_a_leak_of_three_in_a_hundred_thousand_within_a_minute_and_two_gigabytes():
    tracemalloc.start()
    start = time.process_time()
    result = bounds.audit(FarOut(EPS, B, R), C, -C, 10_000_000, rng=0, bits=False)
    spent, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result.flagged and spent < 60 and peak < 2e9, (result, spent, peak)  # 12 s and 0.4 GB


def test_clues_have_exact_names_and_values():
    """0.7 and 0.7000001 are two clues; the lowest bit is that of report - y, not of report + y."""
    y, y_prime = np.array([0.7, 0.375 + 2.0**-30]), np.array([0.7000001, 1.0])
    report = np.array([[1.0, y[1] + 2.0**-20], [-0.0, 0.0]])
    found = {name: x for name, x, _ in attack_clues(report, report, y, y_prime, True)}
    assert len(found) == len(list(attack_clues(report, report, y, y_prime, True)))
    assert {"lowest bit of report 1 - (0.7)", "lowest bit of report 1 - (0.7000001)"} <= set(found)
    assert (
        found[f"lowest bit of report 2 - ({y[1]!r})".replace("np.float64(", "").replace("))", ")")][
            0
        ]
        == -20
    )
    assert found["sign bit of report 1"].tolist() == [0.0, 3.0] and found[
        "sign bit of report 2"
    ].tolist() == [0.0, 2.0]


def test_outermost_cells_shrink_with_the_number_of_games():
    for n in (1000, 100_000):
        x = np.random.default_rng(0).normal(size=n)
        cuts = cell_borders(x, [0.5])
        assert (x < cuts[0]).sum() <= 17 and (x >= cuts[-2]).sum() <= 20 and math.isnan(cuts[-1])
        assert 0.5 in cuts and np.nextafter(0.5, 1) in cuts  # a watched value is a cell of its own


@pytest.mark.parametrize("single", [True, False])
def test_a_curator_for_arrays_or_for_numbers_only_is_audited_as_it_can_be(single):
    class Picky(core.CTL):
        def privatise(self, y, rng=None):
            if (np.ndim(y) == 0) != single:
                raise TypeError("not served")
            return self.clip(y)

    with pytest.warns(
        UserWarning,
        match=f"Picky is audited without {'arrays of' if single else 'single'} rewards: not served",
    ):
        result = bounds.audit(Picky(EPS, B, R), C, -C, 4000, rng=0)
    assert result.flagged and ("single" in result.event) == single


def test_a_curator_that_serves_nobody_or_cannot_be_copied_is_refused():
    class Mute(core.CTL):
        def privatise(self, y, rng=None):
            return "nothing"

    with (
        pytest.raises(ValueError, match="Mute: privatise must return one number for each reward"),
        pytest.warns(UserWarning),
    ):
        bounds.audit(Mute(EPS, B, R), C, -C, 100, rng=0)
    stuck = core.CTL(EPS, B, R)
    stuck.lock = threading.Lock()
    with pytest.raises(ValueError, match="CTL: must be such that copy.deepcopy makes a fresh one"):
        bounds.audit(stuck, C, -C, 100, rng=0)


def test_the_curator_itself_is_left_as_it_was():
    curator = RawSecondTime(EPS, B, R)
    bounds.audit(curator, C, -C, 100, rng=0)
    assert curator.calls == curator.seen == 0


class OwnGenerator(core.CTL):
    """Honest, with a generator of its own: copies that repeated its noise would be flagged for what the audit did."""

    def __init__(self, eps, B, R):
        super().__init__(eps, B, R)
        self.rng = np.random.default_rng(7)

    def privatise(self, y, rng=None):
        return super().privatise(y, self.rng)


# ---- false alarms: with 200 audits at a rate of at most 1 %, more than 14 flags has probability below 1e-7 -------------

AUDITS, ALLOWED = 200, 14
HONEST = {
    "OneBit": (core.OneBit, C, -C, True),
    "OneBit, outlier": (core.OneBit, 40.0, -C, True),
    "CTL without low bits": (core.CTL, C, -C, False),
    "OneBit, two users, one changed": (core.OneBit, [C, C], [C, -C], True),
    "OneBit, one user twice": (core.OneBit, [C, C], [-C, -C], True),
    "CTL with a generator of its own": (OwnGenerator, C, -C, False),
}


def test_more_flags_than_allowed_are_beyond_the_stated_rate():
    assert binom.sf(ALLOWED, AUDITS, 0.01) < 1e-7


@pytest.mark.parametrize("name", HONEST)
def test_honest_curators_are_flagged_no_more_often_than_stated(name):
    kind, y, y_prime, bits = HONEST[name]
    rng = np.random.default_rng(2024)
    flags = sum(
        bounds.audit(kind(EPS, B, R), y, y_prime, 1000, 0.99, rng, bits=bits).flagged
        for _ in range(AUDITS)
    )
    assert flags <= ALLOWED


@secure
def test_secure_curator_is_flagged_no_more_often_than_stated():
    curator, rng = core.SecureCTL(EPS, B, R), np.random.default_rng(2024)
    assert (
        sum(bounds.audit(curator, C, -C, 400, 0.99, rng).flagged for _ in range(AUDITS)) <= ALLOWED
    )


def test_the_rate_of_false_alarms_is_used_not_wasted():
    """At confidence 0.8 the one-bit curator, whose odds are exactly e^eps, is exceeded in up to 20 % of audits, and in more than 10 %."""
    rng = np.random.default_rng(5)
    flags = sum(
        bounds.audit(core.OneBit(EPS, B, R), C, -C, 1000, 0.8, rng).flagged for _ in range(AUDITS)
    )
    assert binom.ppf(1e-6, AUDITS, 0.1) <= flags <= binom.ppf(1 - 1e-6, AUDITS, 0.2)


# ---- behaviour -------------------------------------------------------------------------------------------------------


def test_same_seed_same_verdict_and_swapping_the_inputs_does_not_matter_to_power():
    a, b = (bounds.audit(core.OneBit(EPS, B, R), C, -C, 5000, rng=3) for _ in range(2))
    assert a == b
    assert bounds.audit(core.OneBit(EPS, B, R), -C, C, 100_000, rng=3).eps_low == pytest.approx(
        EPS, abs=0.1
    )


def test_eps_is_promised_once_per_entry_that_differs():
    promised = lambda y, y_prime: bounds.audit(HONEST_CTL, y, y_prime, 100, rng=0).promised
    assert [promised(0, 1), promised([0, 0], [0, 1]), promised([0, 0], [1, 1]), promised(1, 1)] == [
        EPS,
        EPS,
        2 * EPS,
        0,
    ]


def test_k_reports_of_one_user_cost_close_to_k_eps():
    """Erratum C12: all of an epoch's rewards from one user."""
    for k in (2, 4):
        low = bounds.audit(core.OneBit(EPS, B, R), [C] * k, [-C] * k, 400_000, rng=0).eps_low
        assert 0.9 * k * EPS < low <= bounds.total_epsilon(EPS, k)


@pytest.mark.parametrize(
    "bad, name",
    [
        (dict(n=1), "n"),
        (dict(n=1e6), "n"),
        (dict(confidence=1.0), "confidence"),
        (dict(confidence=1e-300), "confidence"),
        (dict(y=math.nan), "y"),
        (dict(y_prime=[0.0, math.inf]), "y_prime"),
        (dict(y=[[1.0]]), "y"),
    ],
)
def test_nonsense_is_named(bad, name):
    with pytest.raises(ValueError, match=name):
        bounds.audit(**(dict(curator=HONEST_CTL, y=0.0, y_prime=1.0, n=100) | bad))


def test_mismatched_inputs_are_named():
    with pytest.raises(ValueError, match="same length"):
        bounds.audit(HONEST_CTL, [0.0, 1.0], 0.0, 100)
