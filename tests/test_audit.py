"""The audit: it catches each cheat at 99 % confidence, and does not accuse honest curators beyond the rate it states."""
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

import ldpbo_core as ldpbo

EPS, B, R = 1.0, 1.0, 1.0
C = B + R
secure = pytest.mark.skipif(not any((Path(p) / "opendp").exists() for p in sys.path), reason="needs the extra `secure`")


def cheat(kind=ldpbo.CTL, eps=EPS, **changes):
    """An honest curator with one attribute changed: it still claims EPS."""
    curator = kind(eps, B, R)
    for name, value in (changes | {"eps": EPS}).items():
        setattr(curator, name, value)
    return curator


def shared_seed(rng, size):
    return np.broadcast_to(rng.laplace(size=(*size[:-1], 1)), size)


HONEST_CTL = ldpbo.CTL(EPS, B, R)
CHEATS = {
    "scale halved": (cheat(scale=HONEST_CTL.scale / 2), C, -C, False),
    "scale a tenth too small": (cheat(scale=0.9 * HONEST_CTL.scale), C, -C, False),
    "clipping removed, one outlier": (cheat(bound=math.inf), 5 * C, 0.0, False),
    "one bit with wrong probabilities": (cheat(ldpbo.OneBit, eps=1.1), C, -C, True),
    "one seed shared by two users": (cheat(draw=shared_seed), [0.3, 0.3], [0.3, 0.4], False),
    "noise of bounded size": (cheat(draw=lambda rng, size: rng.uniform(-2, 2, size)), C, -C, False),
    "Gaussian noise of the same variance": (cheat(draw=lambda rng, size: rng.normal(0, 2**0.5, size)), C, -C, False),
    "low bits of floating-point Laplace": (HONEST_CTL, C, -C, True),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_flagged_at_99_percent_five_times_out_of_five(name):
    curator, y, y_prime, bits = CHEATS[name]
    results = [ldpbo.audit(curator, y, y_prime, 400_000, rng=seed, bits=bits) for seed in range(5)]
    assert all(r.flagged and r.eps_low > EPS == r.promised for r in results), results


@pytest.mark.parametrize("y, y_prime", [(2.0, -2.0), (0.0, 1.0), (0.3, 0.7), (1.9, -0.123)])
def test_low_bits_condemn_floating_point_laplace_and_only_they_do(y, y_prime):
    with_bits = ldpbo.audit(HONEST_CTL, y, y_prime, 400_000, rng=0)
    assert with_bits.flagged and with_bits.event.startswith(("lowest bit", "trailing zeros")) and with_bits.eps_low > 4 * EPS
    assert not ldpbo.audit(HONEST_CTL, y, y_prime, 400_000, rng=0, bits=False).flagged


def test_an_auditors_own_clue_condemns_inputs_that_differ_in_the_seventh_digit():
    """Mironov's attack: could this float have come from that input at all? It needs no difference in size."""
    y, y_prime, s = 1.7, 1.7000001, HONEST_CTL.scale

    def reachable(r, x):
        grid = np.rint(np.exp(-np.abs(r - x) / s) * 2.0**53) + np.arange(-4, 5)[:, None]
        return (x - np.sign(r - x) * s * np.log(np.maximum(grid, 1) * 2.0**-53) == r).any(0)

    clues = lambda r: {"reachable": 2 * reachable(r[:, 0], y) + reachable(r[:, 0], y_prime)}
    result = ldpbo.audit(HONEST_CTL, y, y_prime, 100_000, rng=0, clues=clues)
    assert result.flagged and result.event.startswith("reachable") and result.right == result.guesses
    assert not ldpbo.audit(HONEST_CTL, y, y_prime, 100_000, rng=0, bits=False).flagged


@secure
def test_noise_that_is_safe_in_floating_point_survives_the_low_bits():
    """Not seedable: three audits at this confidence raise a false alarm with probability at most 3e-6."""
    for y, y_prime in ((C, -C), (0.0, 1.0), (0.3, 0.7)):
        assert not ldpbo.audit(ldpbo.SecureCTL(EPS, B, R), y, y_prime, 60_000, 1 - 1e-6, rng=0).flagged


def test_identity_is_honestly_infinite():
    result = ldpbo.audit(ldpbo.Identity(), 0.1, 0.2, 10_000, rng=0)
    assert result.promised == math.inf and not result.flagged and result.right == result.guesses > 2000
    assert result.eps_low == pytest.approx(math.log(0.01 ** (1 / result.guesses) / (1 - 0.01 ** (1 / result.guesses))))


def test_bound_is_the_one_sided_clopper_pearson_bound_of_its_counts():
    for seed, confidence in enumerate((0.9, 0.99, 0.999)):
        r = ldpbo.audit(ldpbo.OneBit(EPS, B, R), C, -C, 10_000, confidence, rng=seed)
        low = beta.ppf(1 - confidence, r.right, r.guesses - r.right + 1)
        assert r.eps_low == pytest.approx(math.log(low / (1 - low)), rel=1e-9)


# ---- false alarms: with 1,000 audits at a rate of at most 1 %, more than 30 flags has probability below 1e-7 ---------

AUDITS, ALLOWED = 1000, 30
HONEST = {"OneBit": (ldpbo.OneBit, C, -C, True), "OneBit, outlier": (ldpbo.OneBit, 40.0, -C, True),
          "CTL without low bits": (ldpbo.CTL, C, -C, False),
          "OneBit, two users, one changed": (ldpbo.OneBit, [C, C], [C, -C], True),
          "OneBit, one user twice": (ldpbo.OneBit, [C, C], [-C, -C], True)}


def test_thirty_flags_in_a_thousand_is_beyond_the_stated_rate():
    assert binom.sf(ALLOWED, AUDITS, 0.01) < 1e-7


@pytest.mark.parametrize("name", HONEST)
def test_honest_curators_are_flagged_no_more_often_than_stated(name):
    kind, y, y_prime, bits = HONEST[name]
    rng = np.random.default_rng(2024)
    flags = sum(ldpbo.audit(kind(EPS, B, R), y, y_prime, 1000, 0.99, rng, bits=bits).flagged for _ in range(AUDITS))
    assert flags <= ALLOWED


@secure
def test_secure_curator_is_flagged_no_more_often_than_stated():
    curator, rng = ldpbo.SecureCTL(EPS, B, R), np.random.default_rng(2024)
    flags = sum(ldpbo.audit(curator, C, -C, 600, 0.99, rng).flagged for _ in range(AUDITS))
    assert flags <= ALLOWED


def test_the_rate_of_false_alarms_is_used_not_wasted():
    """At confidence 0.8 the one-bit curator, whose odds are exactly e^eps, is exceeded in up to 20 % of audits, and in more than 10 %."""
    rng = np.random.default_rng(5)
    flags = sum(ldpbo.audit(ldpbo.OneBit(EPS, B, R), C, -C, 1000, 0.8, rng).flagged for _ in range(AUDITS))
    assert binom.ppf(1e-6, AUDITS, 0.1) <= flags <= binom.ppf(1 - 1e-6, AUDITS, 0.2)


# ---- behaviour -------------------------------------------------------------------------------------------------------

def test_ten_million_games_take_seconds():
    start = time.perf_counter()
    result = ldpbo.audit(HONEST_CTL, C, -C, 10_000_000, rng=0)
    assert result.flagged and time.perf_counter() - start < 30                       # 3 s on two idle cores


def test_same_seed_same_verdict_and_swapping_the_inputs_does_not_matter_to_power():
    a, b = (ldpbo.audit(ldpbo.OneBit(EPS, B, R), C, -C, 5000, rng=3) for _ in range(2))
    assert a == b
    assert ldpbo.audit(ldpbo.OneBit(EPS, B, R), -C, C, 100_000, rng=3).eps_low == pytest.approx(EPS, abs=0.1)


def test_eps_is_promised_once_per_entry_that_differs():
    promised = lambda y, y_prime: ldpbo.audit(HONEST_CTL, y, y_prime, 100, rng=0).promised
    assert [promised(0, 1), promised([0, 0], [0, 1]), promised([0, 0], [1, 1]), promised(1, 1)] == [EPS, EPS, 2 * EPS, 0]


def test_k_reports_of_one_user_cost_close_to_k_eps():
    """Erratum C12: all of an epoch's rewards from one user."""
    for k in (2, 4):
        low = ldpbo.audit(ldpbo.OneBit(EPS, B, R), [C] * k, [-C] * k, 400_000, rng=0).eps_low
        assert 0.9 * k * EPS < low <= ldpbo.total_epsilon(EPS, k)


@pytest.mark.parametrize("bad, name", [(dict(n=1), "n"), (dict(n=1e6), "n"), (dict(confidence=1.0), "confidence"), (dict(y=math.nan), "y"),
                                       (dict(y_prime=[0.0, math.inf]), "y_prime"), (dict(y=[[1.0]]), "y")])
def test_nonsense_is_named(bad, name):
    with pytest.raises(ValueError, match=name):
        ldpbo.audit(**(dict(curator=HONEST_CTL, y=0.0, y_prime=1.0, n=100) | bad))


def test_mismatched_inputs_are_named():
    with pytest.raises(ValueError, match="same length"):
        ldpbo.audit(HONEST_CTL, [0.0, 1.0], 0.0, 100)
