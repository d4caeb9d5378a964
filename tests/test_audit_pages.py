"""The programs beside *What ε means* and *Is it private?*: beliefs, votes, and the attack."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

import ldpbo_core as core
from ldpbo import results
from notebooks.epsilon import attack, odds
from notebooks.private import evidence, price
from notebooks.users import picture

ROOT = Path(__file__).resolve().parent.parent


def attack_of_the_page():
    """The function that private.ipynb shows."""
    cells = json.loads((ROOT / "notebooks/private.ipynb").read_text("utf-8"))["cells"]
    source = next("".join(c["source"]) for c in cells if c["id"] == "attack")
    names = {"np": np, "math": math}
    exec(source, names)
    return names["possible"]


@pytest.mark.parametrize("eps", [0.01, 1.0, 10.0])
def test_the_attack_that_is_drawn_is_the_attack_that_is_shown(eps):
    curator, rng = core.CTL(eps, 1.0, 1.0), np.random.default_rng(7)
    reports = np.append(curator.privatise(np.full(2000, 0.7), rng), attack.neighbours(1.3, 100))
    shown = attack_of_the_page()
    for reward in (0.7, 0.7000001, -2.0):
        drawn = attack.possible(reports, reward, curator.scale)
        assert np.array_equal(drawn, shown(reports, reward, curator.scale))
    assert attack.possible(reports[:2000], 0.7, curator.scale).all()


def test_neighbours_are_all_the_floating_point_numbers_of_a_stretch():
    found = attack.neighbours(1.3, 50)
    assert found[0] == 1.3 and np.array_equal(np.nextafter(found, math.inf)[:-1], found[1:])


@pytest.mark.parametrize("eps", [0.1, 1.0])
@pytest.mark.parametrize("k", range(1, 8))
def test_no_rule_names_the_reward_more_often_than_the_majority_of_the_bits(eps, k):
    """The best rule names, for every sequence of bits, the reward that makes it more likely."""
    honest = 1 / (1 + math.exp(-eps))
    best = 0.0
    for bits in itertools.product((0, 1), repeat=k):
        up = honest ** sum(bits) * (1 - honest) ** (k - sum(bits))
        down = honest ** (k - sum(bits)) * (1 - honest) ** sum(bits)
        best += max(up, down) / 2
    assert odds.vote(eps, k) == pytest.approx(best)
    assert odds.vote(eps, k) <= odds.belief(0.5, k * eps) + 1e-12


def test_a_belief_is_what_bayes_says_of_the_one_bit_curator():
    curator = core.OneBit(0.8, 1.0, 1.0)
    up, down = (np.exp(curator.log_density(curator.scale, y)) for y in (2.0, -2.0))
    for before in (0.01, 0.5, 0.9):
        after = before * up / (before * up + (1 - before) * down)
        assert odds.belief(before, 0.8) == pytest.approx(after)
    assert odds.belief(odds.belief(0.3, 0.8), -0.8) == pytest.approx(0.3)


@pytest.mark.parametrize("eps", [0.1, 0.3, 1.0, 3.0])
def test_the_price_of_a_promise_is_that_of_the_page_on_users_which_the_first_page_quotes(eps):
    table = results.stored("users")
    need = odds.cheapest(table, eps, 0.1)
    row = picture.value(picture.better(table), problem="se", eps=eps, share=0.1)
    assert need == row
    assert odds.reach(need) == picture.factor(row)


@pytest.mark.parametrize(
    "intervals, said",
    [
        ([(-1, -2, -0.5)] * 4, "clearly better at every level"),
        ([(-1, -2, -0.5), (0, -1, 1)], "clearly better at 1 of 2 levels"),
        ([(0, -1, 1)] * 3, "not clearly different at any level"),
        (
            [(-1, -2, -0.5), (1, 0.5, 2)],
            "clearly better at 1 of 2 levels and clearly worse at 1 of 2 levels",
        ),
    ],
)
def test_differences_are_said_in_words(intervals, said):
    assert price.verdict(intervals) == said


@pytest.mark.parametrize(
    "event, said",
    [
        ("lowest bit of report 1 - (-2.0)", "lowest bit of the report's distance from −2"),
        ("trailing zeros of report 1", "trailing zeros of the report"),
        ("report 2 - report 1", "difference of the two reports"),
    ],
)
def test_events_are_said_in_words(event, said):
    assert evidence.in_words(event) == said
