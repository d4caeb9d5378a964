"""Private Bayesian optimisation in 20 minutes: what its pictures and sentences say is so."""

import re

import numpy as np
from pytest import approx

import ldpbo_core as core
from notebooks.twenty import example, regret, steps


def test_the_norm_of_the_running_example_is_below_what_the_learner_is_told():
    problem, means = example.PROBLEM, example.MEANS
    square = means @ np.linalg.solve(problem.K, means)
    norm = float(np.sqrt(square))
    assert norm == approx(0.88, abs=0.005)
    assert norm <= problem.B
    assert np.abs(means).max() <= problem.F


def test_the_page_says_where_the_upper_edge_is_highest():
    state = example.play(core.Identity(), [30], seed=1)[30]
    upper = state["mean"] + state["half"]
    assert state["next"] == np.argmax(upper)
    assert state["counts"].sum() == 30
    assert state["misses"] == 0


def test_a_width_that_does_not_know_of_the_noise_misses_the_truth():
    bit = core.OneBit(1.0, 1.0, 0.5)

    def misses(seed, **told):
        state = example.play(bit, [200], seed, **told)[200]
        return state["misses"]

    for seed in range(5):
        assert misses(seed, told=core.Identity()) > 0
        assert misses(seed) == 0


def test_steps_have_buttons_a_caption_each_and_no_network():
    state = example.play(core.Identity(), [3], seed=1)[3]
    first = steps.truth(example.MEANS), "a < b"
    second = steps.band(example.MEANS, state), "two"
    text = steps.show('a "label"', [first, second]).data
    for mark in ("<button", "<svg", 'role="img"'):
        assert text.count(mark) == 2
    for words in ("a &lt; b", 'aria-label="a &quot;label&quot;"', "ArrowLeft", "ArrowRight"):
        assert words in text
    assert not re.search(r"https?:|src=|fetch|import", text)


def test_visitors_for_a_half_are_those_after_which_it_stays_there():
    def users(*shares):
        t = np.array([10, 100, 1000, 20_040])
        return regret.users((t, np.array(shares)), 0.5)

    assert users(0.9, 0.4, 0.6, 0.3) == "about 20,000"
    assert users(0.9, 0.4, 0.3, 0.2) == "100"
    assert users(0.9, 0.4, 0.3, 0.6) == "more than 20,040"


def test_the_visitors_of_two_curves_are_compared_as_a_percentage():
    t = np.array([10, 100, 1000])
    soon, late = (t, np.array([0.4, 0.2, 0.1])), (t, np.array([1, 0.4, 0.1]))
    assert regret.part_of(soon, late, share=0.5) == "about 10\u00a0% of the visitors"
    assert regret.part_of(soon, (t, np.ones(3)), share=0.5) == "fewer visitors"
