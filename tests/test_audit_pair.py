"""Where no pair of rewards is given, the audit finds one itself; its false alarms stay as stated.

The argument: let F be all that happened in the first half of the games. Pair, event and guesses
are functions of F. Given F, the second half tosses fresh fair coins, and under eps-LDP the odds of
each coin, given every report, are at most e^eps. So given F and the number of guesses, right
guesses are stochastically at most Binomial(guesses, e^eps/(1 + e^eps)), and the Clopper-Pearson
bound exceeds eps with probability at most 1 - confidence: for each F, hence on average over F,
however many pairs and clues were looked at. Nothing is said about power: with more rewards to
choose from, fewer games choose.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import ldpbo_core as core
from ldpbo.audit import CHANCE, MOST, PLACES, audit
from notebooks.private.leaks_inside import LeaksInside

EPS = 1.0
B = 1.0
R = 1.0
C = B + R
INSIDE = (C / 2, -C / 2)


def changed(kind=core.CTL, eps=EPS, **changes):
    """An honest curator with some attributes changed: it still claims EPS."""
    curator = kind(eps, B, R)
    for name, value in (changes | {"eps": EPS}).items():
        setattr(curator, name, value)
    return curator


# ---- A leak between two rewards only -------------------------------------------------------------


def test_the_curator_that_leaks_inside_leaks_for_one_pair_only():
    curator = LeaksInside(EPS, B, R)
    rewards = [*C * np.array(PLACES), *np.random.default_rng(0).uniform(-C, C, 100)]
    leaks = {
        frozenset(pair)
        for pair in itertools.combinations(rewards, 2)
        if curator.loss(*pair) > EPS
        and not any(0 < abs(abs(y) - C / 2) < 0.01 * C for y in pair)  # as good as one of the two
    }
    assert leaks == {frozenset(INSIDE)}


@pytest.mark.parametrize("seed", range(5))
def test_a_leak_for_one_pair_inside_the_range_is_found_without_being_told_the_pair(seed):
    curator = LeaksInside(EPS, B, R)
    assert not audit(curator, C, -C, 100_000, rng=seed).flagged
    found = audit(curator, n=100_000, rng=seed)
    assert found.flagged and set(found.pair) == set(INSIDE)
    assert EPS < found.eps_low <= curator.loss(*INSIDE) * 1.01


def test_a_leak_at_one_of_many_rewards_is_found_where_the_auditor_names_them():
    class RawAtOne(core.CTL):
        def report(self, y, draw):
            return np.where(np.asarray(y) == 0.375, 0.375, super().report(y, draw))[()]

    rewards = np.linspace(-C, C, 33)
    assert 0.375 in rewards
    found = audit(RawAtOne(EPS, B, R), rewards=rewards, n=100_000, rng=0, bits=False)
    assert found.flagged and 0.375 in found.pair and found.event.startswith("report 1")


@pytest.mark.build
def test_rewards_by_chance_find_a_leak_on_a_part_of_the_range():
    """An interval of a fifth of the range that no fixed place meets: found in 59 audits of 100."""

    class RawBetween(core.CTL):
        def report(self, y, draw):
            part = np.asarray(y) / self.bound
            return np.where((part > 0.55) & (part < 0.95), y, super().report(y, draw))[()]

    caught = sum(
        audit(RawBetween(EPS, B, R), n=4000, rng=s, bits=False).flagged for s in range(100)
    )
    hit = 1 - 0.8**CHANCE
    assert binom.ppf(1e-6, 100, hit) <= caught <= binom.ppf(1 - 1e-6, 100, hit)


# ---- The cheats of test_audit, without a hint ----------------------------------------------------


class NoClipping(core.CTL):
    def clip(self, y):
        return np.asarray(y, float)[()]


class RawSingles(core.CTL):
    """A curator that is honest for arrays and raw for numbers."""

    def privatise(self, y, rng=None):
        return float(y) if np.ndim(y) == 0 else super().privatise(y, rng)


class RawSecondTime(core.CTL):
    calls = 0

    def privatise(self, y, rng=None):
        self.calls += 1
        return self.clip(y) if self.calls == 2 else super().privatise(y, rng)


class SameNoise(core.CTL):
    """A curator that draws its noise once for each shape."""

    def draw(self, rng, size=None):
        self.noise = getattr(self, "noise", {})
        return self.noise.setdefault(size, super().draw(rng, size))


class SignedZero(core.CTL):
    """A curator that reports 0 now and then, with the reward's sign."""

    def privatise(self, y, rng=None):
        zero = np.copysign(0.0, y)
        return np.where(rng.random(np.shape(y)) < 0.01, zero, super().privatise(y, rng))[()]


HONEST = core.CTL(EPS, B, R)
CHEATS = {
    "scale halved": (changed(scale=HONEST.scale / 2), False),
    "scale a tenth too small": (changed(scale=0.9 * HONEST.scale), False),
    "one bit with wrong probabilities": (changed(core.OneBit, eps=1.1), True),
    "noise of bounded size": (changed(draw=lambda rng, size: rng.uniform(-2, 2, size)), False),
    "Gaussian noise": (changed(draw=lambda rng, size: rng.normal(0, 2**0.5, size)), False),
    "low bits of floating-point Laplace": (HONEST, True),
    "no clipping": (NoClipping(EPS, B, R), False),
    "raw for single rewards": (RawSingles(EPS, B, R), False),
    "raw the second time": (RawSecondTime(EPS, B, R), False),
    "one noise for all calls": (SameNoise(EPS, B, R), False),
    "sign of a zero": (SignedZero(EPS, B, R), False),
}


@pytest.mark.build
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_flagged_without_a_pair_three_times_out_of_three(name):
    curator, bits = CHEATS[name]
    found = [audit(curator, n=400_000, rng=seed, bits=bits) for seed in range(3)]
    assert all(r.flagged and r.eps_low > EPS == r.promised for r in found), found


# ---- False alarms: of 200 audits at a rate of at most 1 %, more than 14 flag with chance 1e-7 ----

AUDITS, ALLOWED = 200, 14
ALIKE = np.append(np.linspace(C, 10 * C, 6), np.linspace(-C, -10 * C, 6))
CHECKED = {
    "OneBit": (core.OneBit, None, True),
    "CTL without low bits": (core.CTL, None, False),
    "OneBit, 36 pairs whose odds are exactly e^eps": (core.OneBit, ALIKE, False),
}


@pytest.mark.build
@pytest.mark.parametrize("name", CHECKED)
def test_honest_curators_are_flagged_no_more_often_than_stated(name):
    kind, rewards, bits = CHECKED[name]
    rng = np.random.default_rng(2024)
    flags = sum(
        audit(kind(EPS, B, R), n=1000, rng=rng, rewards=rewards, bits=bits).flagged
        for _ in range(AUDITS)
    )
    assert flags <= ALLOWED and binom.sf(ALLOWED, AUDITS, 0.01) < 1e-7


@pytest.mark.build
def test_the_rate_of_false_alarms_is_used_not_wasted():
    """At confidence 0.8, with rewards of which two on either side have odds of exactly e^eps."""
    rng = np.random.default_rng(5)
    rewards = [C, 2 * C, -C, -2 * C]
    flags = sum(
        audit(core.OneBit(EPS, B, R), None, None, 1000, 0.8, rng, rewards=rewards).flagged
        for _ in range(AUDITS)
    )
    assert binom.ppf(1e-6, AUDITS, 0.1) <= flags <= binom.ppf(1 - 1e-6, AUDITS, 0.2)


# ---- Behaviour -----------------------------------------------------------------------------------


def test_the_pair_is_told():
    assert audit(HONEST, 1, 0.5, 100, rng=0).pair == (1.0, 0.5)
    assert audit(HONEST, [1, 2], [1, 3], 100, rng=0).pair == ((1.0, 2.0), (1.0, 3.0))
    assert set(audit(HONEST, rewards=[0.1, 0.2], n=100, rng=0).pair) == {0.1, 0.2}


def test_clues_are_those_of_the_pair_and_not_of_the_other_rewards():
    for seed in range(3):
        found = audit(HONEST, rewards=[1.9, 1.8, C, -C], n=40_000, rng=seed)
        assert set(found.pair) == {C, -C}
        assert found.event.startswith(tuple(f"lowest bit of report 1 - ({y})" for y in found.pair))


def test_two_rewards_are_a_pair():
    curator = core.OneBit(EPS, B, R)
    assert audit(curator, rewards=[-C, C], n=5000, rng=1) == audit(curator, C, -C, 5000, rng=1)


def test_same_seed_same_verdict_and_the_curator_is_left_as_it_was():
    curator = RawSecondTime(EPS, B, R)
    assert audit(curator, n=2000, rng=3) == audit(curator, n=2000, rng=3)
    assert curator.calls == curator.seen == 0


def test_a_curator_for_numbers_only_is_audited_without_a_pair():
    class NumbersOnly(core.OneBit):
        def privatise(self, y, rng=None):
            return super().privatise(float(y), rng)

    with pytest.warns(UserWarning, match="NumbersOnly is audited without arrays of rewards"):
        assert not audit(NumbersOnly(EPS, B, R), n=4000, rng=0).flagged


class NoRange:
    eps = EPS

    def privatise(self, y, rng=None):
        return y


@pytest.mark.parametrize(
    "given, complaint",
    [
        (dict(y=1.0), "give both inputs"),
        (dict(y_prime=1.0), "give both inputs"),
        (dict(y=1.0, y_prime=0.0, rewards=[0.0, 1.0]), "give both inputs"),
        (dict(rewards=[1.0, 1.0, 2.0]), "rewards has 3 entries, 2 of them different"),
        (dict(rewards=[1.0]), "rewards has 1 entries"),
        (dict(rewards=np.arange(MOST + 1)), f"must have 2 to {MOST}"),
        (dict(rewards=[0.0, math.nan]), "rewards"),
        (dict(rewards=[[0.0, 1.0]]), "rewards"),
        (dict(curator=NoRange()), "NoRange: has no finite range `bound`"),
        (dict(curator=core.Identity()), "Identity: has no finite range `bound`"),
    ],
)
def test_nonsense_is_named(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        audit(**(dict(curator=HONEST, n=100) | given))


def test_a_curator_without_a_range_is_audited_on_the_rewards_given():
    assert audit(NoRange(), rewards=[1.0, 2.0, 3.0], n=1000, rng=0).flagged
