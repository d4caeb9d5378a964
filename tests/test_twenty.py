"""Private Bayesian optimisation in 20 minutes: what its pictures and sentences say is so."""

import re

import numpy as np
import pytest

import ldpbo_core as core
from notebooks.twenty import example, regret, steps


def test_the_norm_of_the_running_example_is_below_what_the_learner_is_told():
    K = example.PROBLEM.K
    norm = float(np.sqrt(example.MEANS @ np.linalg.solve(K, example.MEANS)))
    assert norm == pytest.approx(0.88, abs=0.005)
    assert norm <= example.PROBLEM.B
    assert np.abs(example.MEANS).max() <= example.PROBLEM.F


def test_the_page_says_where_the_upper_edge_is_highest():
    state = example.play(core.Identity(), [30], seed=1)[30]
    assert state["next"] == np.argmax(state["mean"] + state["half"])
    assert state["counts"].sum() == 30 and state["misses"] == 0


def test_a_width_that_does_not_know_of_the_noise_misses_the_truth():
    bit = core.OneBit(1.0, 1.0, 0.5)
    naive = [example.play(bit, [200], s, told=core.Identity())[200]["misses"] for s in range(5)]
    honest = [example.play(bit, [200], s)[200]["misses"] for s in range(5)]
    assert min(naive) > 0 and max(honest) == 0


def test_steps_have_buttons_a_caption_each_and_no_network():
    state = example.play(core.Identity(), [3], seed=1)[3]
    frames = [(steps.truth(example.MEANS), "a < b"), (steps.band(example.MEANS, state), "two")]
    text = steps.show('a "label"', frames).data
    assert text.count("<button") == 2 and text.count("<svg") == text.count('role="img"') == 2
    assert "a &lt; b" in text and 'aria-label="a &quot;label&quot;"' in text
    assert not re.search(r"https?:|src=|fetch|import", text)
    assert "ArrowLeft" in text and "ArrowRight" in text


def test_visitors_for_a_half_are_those_after_which_it_stays_there():
    t = np.array([10, 100, 1000, 20_040])
    assert regret.users((t, np.array([0.9, 0.4, 0.6, 0.3])), 0.5) == "about 20,000"
    assert regret.users((t, np.array([0.9, 0.4, 0.3, 0.2])), 0.5) == "100"
    assert regret.users((t, np.array([0.9, 0.4, 0.3, 0.6])), 0.5) == "more than 20,040"
