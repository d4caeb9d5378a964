"""The words of the panels: headlines and verdicts follow from the intervals, and from nothing else.

The rules on made-up intervals, and what they say of the stored results on the paper's own data.
"""

import numpy as np
import pandas as pd
import pytest
from test_problems import ORIGINALS, needs_originals

import ldpbo_core as core
from ldpbo import datasets, originals, panels, results
from notebooks.ata import truncation
from notebooks.experiments import ranking
from notebooks.moma import cost
from notebooks.panel import change, parameters, words

PAIRS = [("TGP", "ATA"), ("TGP", "MoMA"), ("ATA", "MoMA")]


def rows(tgp, ata, moma, unclear=(), half=0.02):
    """Means with intervals of ± half; the differences are clear but for the pairs `unclear`."""
    mean = {"TGP": tgp, "ATA": ata, "MoMA": moma}
    found = {name: (x, x - half, x + half) for name, x in mean.items()}
    for a, b in PAIRS:
        d = mean[a] - mean[b]
        width = 2 * abs(d) if {a, b} in map(set, unclear) else abs(d) / 2
        found[f"{a} − {b}"] = (d, d - width, d + width)
    return found


ALL_UNCLEAR = PAIRS
CLAUSES = [
    (rows(1.2, 1.3, 1.1), "everybody loses to chance"),
    (rows(1.01, 1.3, 1.1), "nobody clearly beats chance"),
    (rows(0.99, 1.3, 1.1), "nobody clearly beats chance"),
    (rows(0.95, 1.3, 1.1), "nobody learns much"),
    (rows(0.95, 0.96, 1.3), "nobody learns much"),
    (rows(0.5, 0.6, 0.4), "MoMA wins clearly"),
    (rows(0.5, 0.6, 0.4, unclear=[("TGP", "MoMA")]), "MoMA and TGP share the lead"),
    (rows(0.5, 0.6, 0.4, unclear=[("ATA", "MoMA")]), "MoMA and ATA share the lead"),
    (rows(0.5, 0.6, 0.4, unclear=[("TGP", "ATA")]), "MoMA wins clearly"),
    (rows(0.5, 0.6, 0.4, unclear=ALL_UNCLEAR), "nobody wins clearly"),
    ({"TGP": (0.5, 0.4, 0.6)}, "TGP beats chance"),
    ({"TGP": (1.5, 1.4, 1.6)}, "everybody loses to chance"),
    ({"TGP": (0.5, float("nan"), float("nan"))}, "nobody clearly beats chance"),
]


@pytest.mark.parametrize("found, text", CLAUSES)
def test_a_clause_follows_from_the_intervals(found, text):
    assert panels.clause(found) == text


def test_a_headline_joins_the_settings_and_does_not_say_a_thing_twice():
    wins, loses = rows(0.5, 0.6, 0.4), rows(1.2, 1.3, 1.1)
    assert panels.headline({1.0: wins}) == "MoMA wins clearly"
    assert panels.headline({1.0: wins, 0.1: wins}) == "MoMA wins clearly, with narrower bands too"
    assert panels.headline({1.0: wins, 3.0: loses}) == (
        "MoMA wins clearly; with wider bands everybody loses to chance"
    )
    tie = rows(0.5, 0.6, 0.4, unclear=ALL_UNCLEAR)
    assert panels.headline({1.0: wins, 0.1: tie}).endswith("narrower bands nobody wins clearly")
    assert panels.headline({1.0: loses, 0.1: rows(1.01, 1.3, 1.1)}) == (
        "everybody loses to chance; with narrower bands nobody clearly beats it"
    )


@pytest.mark.parametrize(
    "found, second, third",
    [
        (rows(0.5, 0.6, 0.4), "yes", "yes"),
        (rows(0.5, 0.6, 0.4, unclear=[("TGP", "MoMA")]), "open", "yes"),
        (rows(0.4, 0.6, 0.5, unclear=[("TGP", "MoMA")]), "open", "yes"),
        (rows(0.4, 0.6, 0.5), "no", "no"),
    ],
)
def test_figure_2_asks_moma_to_win_and_figure_3_not_to_be_behind(found, second, third):
    assert panels.agreement("2a", found) == second
    assert panels.agreement("3a", found) == third


def test_a_verdict_names_the_settings_where_they_differ():
    wins, behind = rows(0.5, 0.6, 0.4), rows(0.4, 0.6, 0.5)
    assert panels.verdict("2a", {1.0: wins, 0.1: wins}) == (
        "**As the paper says.** MoMA is clearly first at both settings."
    )
    text = panels.verdict("2a", {1.0: wins, 0.1: behind})
    assert text == (
        "**As the paper says at order constants, not as the paper says with β\u00a0×\u00a00.1.** "
        "At order constants MoMA is clearly first; with β\u00a0×\u00a00.1 it is clearly behind "
        "TGP."
    )
    tie = rows(0.5, 0.6, 0.4, unclear=[("TGP", "MoMA")])
    assert "MoMA is not clearly before TGP" in panels.verdict("2a", {1.0: tie})
    tie = rows(0.4, 0.6, 0.5, unclear=[("TGP", "MoMA")])
    assert "MoMA cannot be told apart from TGP" in panels.verdict("2a", {1.0: tie})


def test_counts_are_written_as_a_person_writes_them():
    said = [panels.some_of(*pair) for pair in [(3, 3), (0, 6), (1, 6), (2, 2), (0, 2), (12, 30)]]
    assert said == [
        *("all three", "none of the six", "one of the six"),
        *("both", "neither", "12 of the 30"),
    ]
    assert panels.listed(["TGP"]) == "TGP"
    assert panels.listed(["TGP", "ATA", "MoMA"]) == "TGP, ATA and MoMA"


HEADLINES = {
    "2b": "everybody loses to chance; with narrower bands nobody clearly beats it",
    "2c": "nobody learns much; with narrower bands TGP and ATA share the lead",
    "2e": "MoMA wins clearly; with narrower bands TGP does",
    "2f": "MoMA wins clearly; with narrower bands TGP and MoMA share the lead",
    "3b": "everybody loses to chance; with narrower bands TGP and ATA share the lead",
    "3c": "nobody learns much; with narrower bands ATA and TGP share the lead",
}


@pytest.mark.parametrize("panel", HEADLINES)
def test_headlines_on_the_papers_own_data(panel):
    found = ranking.by_setting(originals.table(panel, "final"), [1.0, 0.1])
    assert panels.headline(found) == HEADLINES[panel]
    words_ = [panels.agreement(panel, part) for part in found.values()]
    expected = {"2e": ["yes", "no"], "2f": ["yes", "open"], "3c": ["yes", "no"]}
    assert words_ == expected.get(panel, ["no", "no"])


# ---- the sentences of a panel's own page


def test_a_page_without_privacy_does_not_speak_of_protection():
    assert "protected" not in words.told_text(None) and "curator" not in words.told_text(None)
    assert "protected" in words.told_text(0.5)
    source = parameters.make_problem("synthetic", "se", 0.2, None)
    text = words.told_text(None, source)
    assert "protected" not in text and "curator" not in text


def test_on_synthetic_data_only_b_is_computed_from_f_and_the_noise_is_named():
    """What follows from the law of the noise needs no f; checked on draws of it."""
    private = words.told_text(1.0, parameters.make_problem("synthetic", "matern", 0.2, 1.0))
    assert private.startswith("$B$ is computed from the very function that is to be protected")
    assert "$R=1$ is known from the noise, which is uniform on $[-1,1]$." in private
    source = parameters.make_problem("synthetic", "se", 0.2, None)
    text = words.told_text(None, source)
    assert "Student's $t$ with three degrees of freedom" in text and "$c=3$" in text
    assert "$v=B^2+3$" in text
    for seed in (0, 1):
        problem = source(seed)
        assert problem.noise == "t3" and (problem.c, problem.v) == (3.0, problem.B**2 + 3)
    light = parameters.make_problem("light", "", None, 0.5)
    assert words.told_text(0.5, light) == words.told_text(0.5)


def test_an_interval_that_excludes_0_does_not_read_as_if_it_touched_it():
    assert words.estimate(-0.21, -0.4159, -0.0007) == "−0.210 [−0.416, −0.001], borderline"
    assert words.estimate(0.019, 0.0004, 0.0371) == "0.0190 [0.0004, 0.0371], borderline"
    assert words.estimate(-0.21, -0.4159, 0.003) == "−0.210 [−0.416, 0.003]"
    assert words.estimate(0.0091, -0.00087, 0.019) == "0.009 [−0.001, 0.019]"
    assert words.estimate(-0.00001, -0.001008, 0.000988) == "0.000 [−0.001, 0.001]"
    assert words.estimate(0.5, 0.0, 1.0) == "0.50 [0.00, 1.00]"
    assert words.estimate(0.5, 0.4, 0.6) == "0.50 [0.40, 0.60]"
    assert words.estimate(0.5, float("nan"), float("nan")) == "0.50"


def test_a_caption_names_the_data_once():
    assert words.caption("original fin.csv") == "Original data (fin.csv)"
    source = parameters.make_problem("synthetic", "se", 0.2, 1.0)
    data = parameters.data_of(source, "se")
    assert words.caption(data) == "Synthetic, SE kernel, new f in each trial"
    assert results.data_label(data) == "new f in each trial"


def test_what_an_answer_rests_on_is_said_in_words():
    text = words.sure_text(trials=1, T=20_000, settings=[1.0, 0.1])
    assert text.startswith("Measured in one trial of 20,000 rounds, at order constants and with β")


@pytest.mark.parametrize(
    "half, said",
    [
        (0.05, "MoMA, TGP and ATA."),
        (0.15, "MoMA, TGP and ATA (ATA's interval reaches the line)."),
        (0.25, "MoMA, TGP and ATA (the intervals of TGP and ATA reach the line)."),
        (0.4, "MoMA, TGP and ATA, by their means; their intervals reach the line."),
    ],
)
def test_a_mean_below_chance_whose_interval_is_not_is_said_to_be_so(half, said):
    found = words.curves_text({1.0: rows(0.8, 0.9, 0.7, half=half)})
    assert found.endswith(f"At order constants: {said}")


def test_a_panel_where_little_is_learned_says_where_the_reason_stands():
    loses, wins = rows(1.2, 1.2, 1.3), rows(0.5, 0.6, 0.4)
    slow = rows(0.95, 0.96, 0.99)
    assert "<sec-light>" in words.why_text("2b", {1.0: loses, 0.1: wins})
    assert "<sec-panel-2c>" in words.why_text("3c", {1.0: slow, 0.1: wins})
    assert words.why_text("2b", {1.0: wins, 0.1: loses}) == ""
    assert words.why_text("2b", {1.0: slow}) == ""
    assert words.why_text("", {1.0: loses}) == ""


def test_a_curve_is_below_chance_if_its_mean_is():
    found = {1.0: rows(1.2, 1.0, 1.1), 0.1: rows(0.8, 0.7, 1.1)}
    assert words.curves_text(found).endswith(
        "At order constants: nobody; with β\u00a0×\u00a00.1: ATA and TGP."
    )


def test_the_cost_of_exploring_is_read_from_the_first_quarter():
    plays = {"arms": [5, 5, 5, 5], "loss": [1.4, 1.1, 0.9, 0.6]}
    plays |= {"TGP (beta x 1)": [0.4, 0.3, 0.2, 0.1], "ATA (beta x 1)": [0.6, 0.2, 0.1, 0.1]}
    text = words.plays_text(pd.DataFrame(plays), ["TGP", "ATA"], 1.0)
    assert "ATA, with 60\u00a0% of its rounds (uniform play: 25\u00a0%)" in text
    assert "loses 1.40 times" in text and "costs more than" in text
    assert text.endswith("keeps to the better arms.")  # 1.4 is the average over the quarter
    cheap = pd.DataFrame(plays | {"loss": [0.7, 1.1, 1.1, 1.1]})
    assert "costs no more than" in words.plays_text(cheap, ["TGP", "ATA"], 1.0)


def test_where_nobody_explores_more_than_uniform_play_it_says_so():
    plays = {"arms": [5, 5, 5, 5], "loss": [1.2, 1.1, 0.9, 0.8]}
    plays |= {"TGP (beta x 1)": [0.17, 0.3, 0.3, 0.23], "ATA (beta x 1)": [0.1, 0.3, 0.3, 0.3]}
    text = words.plays_text(pd.DataFrame(plays), ["TGP", "ATA"], 1.0)
    assert text.endswith(
        "At order constants: nobody more than uniform play (25\u00a0%): the most is TGP's "
        "17\u00a0%. The average arm there loses 1.20 times the average of all arms, and the "
        "learners have seen it."
    )
    cheap = pd.DataFrame(plays | {"loss": [0.7, 1.1, 1.1, 1.1]})
    assert words.plays_text(cheap, ["TGP", "ATA"], 1.0).endswith("than one at random.")


def test_what_sigma_alone_loses_is_said_of_each_kind_of_data():
    share = "sigma alone, relative regret"
    one = pd.DataFrame({"data": ["synthetic, SE kernel"] * 4, share: [1.17] * 4})
    assert words.alone_text(one).endswith(
        "level of learning nothing: a learner that looks at "
        "$\\sigma$ alone, and never at a reward, has 1.17 here."
    )
    data = ["original fin.csv"] * 4 + ["stand-in light.csv"] * 4
    both = pd.DataFrame({"data": data, share: [1.207] * 4 + [0.856] * 4})
    said = "a reward, has 1.21 on the original data and 0.86 on the stand-in data."
    assert words.alone_text(both).endswith(said)
    assert words.alone_text(both.assign(**{share: 1.003})) == (
        "A learner that looks at $\\sigma$ alone, and never at a reward, has 1.00 here, too."
    )


def test_the_verdict_stands_beside_the_quotation():
    wins, loses = rows(0.5, 0.6, 0.4), rows(0.4, 0.6, 0.5)
    text = panels.beside_the_paper("2a", {1.0: wins, 0.1: wins})
    assert text.startswith("The paper says that ") and text.endswith(
        ". Here: **as the paper says.** MoMA is clearly first at both settings."
    )
    assert "Here: **not as the paper says.** At order" in panels.beside_the_paper(
        "3a", {1.0: loses}
    )
    assert "Here, for MoMA: **" in panels.beside_the_paper("2d", {1.0: loses})
    assert panels.beside_the_paper("", {1.0: wins}) == ""
    alone = panels.beside_the_paper("2a", {1.0: {"TGP": (0.5, 0.4, 0.6)}})  # MoMA was not run
    assert alone == f"The paper says that {panels.paper_text('2a')}."


def test_a_verdict_says_if_a_difference_is_clear_by_a_hair():
    found = rows(0.4, 0.6, 0.5)
    assert panels.place(found) == "MoMA is clearly behind TGP"
    just = found | {"TGP − MoMA": (-0.1, -0.196, -0.004)}
    assert panels.place(just) == "MoMA is only just clearly behind TGP"
    stored = ranking.by_setting(originals.table("2b", "final"), [1.0, 0.1])
    assert ["only just" in panels.place(part) for part in stored.values()] == [False, True]


def test_whether_the_panels_come_out_is_answered_by_counting_them():
    tables = {panel: originals.table(panel, "final") for panel in ("2b", "2e", "3c")}
    assert ranking.answer(tables, [1.0, 0.1]) == {
        "answer": "In part",
        "agree-order": "two of the three",
        "agree-narrow": "none of the three",
    }
    only = {"2e": tables["2e"], "3c": tables["3c"]}
    assert ranking.answer(only, [1.0, 1.0])["answer"] == "Yes"
    assert ranking.answer({"2b": tables["2b"]}, [1.0, 0.1])["answer"] == "No"
    assert ranking.idle_text(tables, 1.0) == " (among them 3c, where nobody learns much)"
    assert ranking.idle_text(tables, 0.1) == ""
    assert ranking.depends(["2b"]).startswith("The ranking depends on a constant")
    assert ranking.depends([]).startswith("The same")


either_data = pytest.mark.parametrize(
    "data", ["stand-in", pytest.param("original", marks=needs_originals)]
)


def real_problem(panel, data, monkeypatch):
    """The problem of 2e or 2f on the data that is named, whatever data is at hand."""
    if data == "stand-in":
        return datasets.stand_ins()[{"2e": "light", "2f": "stocks"}[panel]]
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    return ranking.NOT_PRIVATE[panel]()


@either_data
def test_without_privacy_momas_half_band_is_the_narrowest_at_order_constants(data, monkeypatch):
    """On the paper's data and on the stand-ins alike."""
    problems = [real_problem(panel, data, monkeypatch) for panel in ("2e", "2f")]
    assert all(problem.provenance.startswith(data) for problem in problems)
    for problem in [ranking.NOT_PRIVATE["2d"](), *problems]:
        width = {name: ranking.half_width(name, problem, 20_000) for name in ranking.NAMES}
        assert width["MoMA"] < 0.7 * min(width["TGP"], width["ATA"])


@either_data
@pytest.mark.parametrize("panel", ["2e", "2f"])
def test_with_the_narrowest_band_moma_is_first_on_the_papers_data_and_not_on_the_stand_ins(
    panel, data, monkeypatch
):
    """So the width cannot be the whole reason why MoMA leads there."""
    problem = real_problem(panel, data, monkeypatch)
    run = core.simulate(problem, ranking.NAMES, 20_000, trials=2, seed=7)
    names = np.array(run.records["names"])
    first = names[run.regret[:, :, -1].argmin(axis=0)]
    assert set(first == "MoMA") == {data == "original"}


def test_sigma_of_moma_is_about_root_k_times_larger_after_the_same_plays():
    """And at most that: the prior of a small epoch count weighs more."""
    problem = datasets.stand_ins()["stocks"]
    moma = core.make("MoMA", problem, 26_000, rng=0)
    plain = core.make("TGP", problem, 26_000, rng=0)
    for epoch in range(26_000 // moma.k):
        for learner in [moma, plain]:
            for _ in range(moma.k):
                learner.tell(problem.f[epoch % problem.n], arm=epoch % problem.n)
    ratio = moma.sigma / plain.sigma / np.sqrt(moma.k)
    assert 0.8 < np.median(ratio) < ratio.max() < 1


def test_how_narrow_momas_band_is_and_what_that_leaves_open_is_read_from_the_widths(monkeypatch):
    widths = {"TGP": 0.9, "ATA": 0.7, "MoMA": 0.4}
    monkeypatch.setattr(ranking, "half_width", lambda name, *_: widths[name])
    ranks = pd.DataFrame({"panel": ["2d", "2e", "2f"], "winner": ["TGP", "ATA", "MoMA"]})
    said = ranking.width_texts(20_000, ranks, here=False)
    measured = " (measured in 2e and 2f on the stand-in data)"
    assert said["widths-short"] == f"the narrowest of the three in all three panels{measured}"
    assert (
        "0.40, 0.40 and 0.40 times the range of $f$, where the narrower of the other two is "
        in (said["widths"])
    )
    assert "0.70, 0.70 and 0.70" in said["widths"] and "on the stand-in data" in said["widths"]
    assert "on the stand-in data of 2e its band is the narrowest as well" in said["widths-limit"]
    said = ranking.width_texts(20_000, ranks, here=True)
    assert said["widths-limit"] == "" and "stand-in" not in "".join(said.values())
    widths["MoMA"] = 0.8
    said = ranking.width_texts(20_000, ranks, here=False)
    assert (
        said["widths-short"] == f"the narrowest of the three in none of the three panels{measured}"
    )
    assert said["widths-limit"] == ""


def test_the_stronger_sentence_on_figure_3_asks_moma_to_outperform_there():
    """In 3c at order constants MoMA is among those in front, which the milder sentence allows."""
    tables = {panel: originals.table(panel, "final") for panel in ("2e", "3b", "3c")}
    assert ranking.similar_text(tables, [1.0, 0.1]) == "neither would come out at either setting"
    wins = tables | {"3b": originals.table("2e", "final")}
    assert ranking.similar_text(wins, [1.0, 0.1]) == (
        "one of the two would come out at order constants and neither with β\u00a0×\u00a00.1"
    )


def test_where_stand_ins_have_another_first_is_named_by_setting():
    rows = [("2b", 1.0, "TGP"), ("2b", 0.1, "TGP"), ("2e", 1.0, "MoMA")]
    ranks = pd.DataFrame(rows, columns=["panel", "setting", "winner"])
    text = ranking.stand_in_text(ranks, ranks.assign(winner=["ATA", "TGP", "ATA"]))
    assert "differs from that on the paper's data in 2b and 2e at order constants, and in" in text
    assert "and in no panel with β\u00a0×\u00a00.1." in text


def test_moma_is_not_called_clearly_first_in_none_where_it_is_first_in_none():
    assert ranking.lead_words({"MoMA-first": 0, "MoMA-clear": 0}, 9) == "first in none of the nine"
    found = {"MoMA-first": 2, "MoMA-clear": 1}
    assert ranking.lead_words(found, 9) == "clearly first in one of the nine"


@pytest.mark.parametrize(
    "one, many, single, beside",
    [
        (0.9, 1.9, "better than", "no better than"),
        (0.9, 1.7, "better than", "better than"),
        (2.0, 1.9, "not always better than", "no better than"),
    ],
)
def test_what_the_median_costs_is_read_from_the_errors_on_private_reports(
    one, many, single, beside
):
    errors = {("private", 1): [one], ("private", 13): [many - 0.1, many + 0.1]}
    errors |= {("Student", 1): [9.0], ("Student", 13): [0.0]}
    found = cost.in_words(errors, [1, 13], 1.8)
    assert (found["single"], found["beside"]) == (single, beside)
    assert found["answer"].endswith("expensive one") == (single == "better than")


@pytest.mark.parametrize("share, said", [(0.03, "Hardly"), (0.2, "It changes the estimate")])
def test_truncation_hardly_helps_if_it_moves_the_estimate_by_little(share, said):
    assert truncation.answer(pd.DataFrame({"change / half-band": [0.0, share]})) == said


def test_one_thing_changed_is_what_the_reader_will_see():
    source = parameters.make_problem("synthetic", "se", 0.2, 1.0)
    options = parameters.OPTIONS | dict(eps=1.0, trials=2, seed=1, beta_scale=1.0)
    before, after = change.compare(source, ["TGP"], 60, options)
    for eps, share in ((1.0, before), (4.0, after)):
        run = core.simulate(source, ["TGP"], 60, **options | {"eps": eps})
        assert share["TGP"] == pytest.approx(
            results.final_rows(results.final_table({1: run}), 1)["TGP"][0]
        )
    text = change.text({"TGP": 0.9, "ATA": 0.5}, {"TGP": 0.8, "ATA": 0.6}, 60, 2, 1.0, 1.0)
    assert "once as it is and once with `-p eps 4`" in text
    assert "TGP from 0.90 to 0.80 and ATA from 0.50 to 0.60. It falls for TGP, not for ATA." in text
    longer = change.text({"TGP": 0.5}, {"TGP": 0.6}, 60, 2, None, 1.0)
    assert "once with `-p T 60` and once with `-p T 240`" in longer
    assert "It falls for nobody." in longer


def test_without_privacy_the_rounds_are_changed():
    source = parameters.make_problem("synthetic", "se", 0.2, None)
    options = parameters.OPTIONS | dict(eps=None, trials=1, seed=1, beta_scale=1.0)
    _, after = change.compare(source, ["TGP"], 30, options)
    assert after == change.shares(source, ["TGP"], 120, options)


def test_on_the_stocks_the_bands_are_wider_than_f_and_twice_as_wide_at_half_the_eps():
    """What panels 2c and 3c say of the half-width; β is B and a noise term in 1/ε."""
    problem = core.stock_problem()
    wide, wider = (ranking.half_width("TGP", problem, 300, eps=eps) for eps in (1.0, 0.5))
    assert wide > 1 and 1.7 * wide < wider < 2 * wide
    assert ranking.half_width("TGP", problem, 300, eps=1.0, beta_scale=0.1) < wide / 5
