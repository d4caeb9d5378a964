"""Results on the paper's own data: of this code, exact where the data is at hand, shown first."""

import ast
import importlib.util
import json
import shlex
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
import yaml
from test_problems import ORIGINALS, ROOT, needs_originals

matplotlib.use("Agg")
import ldpbo_core as core

show = pytest.importorskip("ldpbo.show")
from ldpbo import formats, originals, results
from ldpbo.panels import paper_text
from notebooks.experiments import ranking
from notebooks.panel import parameters as panels
from notebooks.panel import quarters

SIX = ["2b", "2c", "2e", "2f", "3b", "3c"]
STORED = json.loads((ROOT / "data/originals.json").read_text("utf-8"))
each_panel = pytest.mark.parametrize("panel", SIX)


def parameters(panel):
    """The parameters that a full build gives to the page of a panel."""
    cells = json.loads((ROOT / "notebooks/panel.ipynb").read_text("utf-8"))["cells"]
    source = next(
        "".join(c["source"]) for c in cells if "parameters" in c["metadata"].get("tags", ())
    )
    defaults = {s.targets[0].id: ast.literal_eval(s.value) for s in ast.parse(source).body}
    return defaults | yaml.safe_load(
        (ROOT / f"notebooks/params/panel_{panel}.yml").read_text("utf-8")
    )


def test_the_stored_results_are_those_of_this_code_or_carry_a_mark():
    """Who does not have the data may change the core all the same; `make originals` renews them."""
    marked = "computed by an earlier version of the code" in originals.note()
    assert marked == (STORED["code"] != results.CODE)


@each_panel
def test_the_stored_panels_are_the_books_own_and_whole(panel):
    kept, p = STORED["panels"][panel], parameters(panel)
    assert kept["parameters"] == p
    assert (
        kept["data"]
        == {"light": "original iw_data_all.mat", "stock": "original fin.csv"}[p["problem"]]
    )
    curves, final, plays = (originals.table(panel, part) for part in ("regret", "final", "plays"))
    assert curves.groupby(["setting", "algorithm"]).t.apply(list).map(
        lambda t: (len(t), t[-1])
    ).unique().tolist() == [(25, p["T"])]
    assert set(curves.setting) == set(p["beta_scale"]) and set(curves.algorithm) == {
        *p["names"],
        "uniform",
    }
    assert list(final.row) == ["TGP", "ATA", "MoMA", "TGP − ATA", "TGP − MoMA", "ATA − MoMA"]
    for s in p["beta_scale"]:
        last = curves[(curves.setting == s) & (curves.t == p["T"])].set_index("algorithm")["mean"]
        for name in p["names"]:
            assert results.final_rows(final, s)[name][0] == pytest.approx(
                last[name] / last["uniform"], rel=1e-5
            )
            assert plays[f"{name} (beta x {s:g})"].sum() == pytest.approx(1, abs=1e-6)


@needs_originals
def test_one_stored_panel_is_computed_again_exactly(monkeypatch):
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    p = parameters("2f")
    again = core.simulate(
        core.stock_problem(),
        "MoMA",
        p["T"],
        trials=p["trials"],
        seed=p["seed"],
        eps=p["eps"],
        lam=p["lam"],
        delta=p["delta"],
        acc=p["acc"],
        constants=p["constants"],
        k=p["k"],
    )
    np.testing.assert_allclose(
        results.final_rows(originals.table("2f", "final"), 1.0)["MoMA"],
        results.final_regret(again)["MoMA"],
        rtol=1e-6,
    )
    kept = originals.table("2f", "regret")
    kept = kept[(kept.setting == 1.0) & (kept.algorithm == "MoMA")]
    np.testing.assert_allclose(
        kept[["mean", "low", "high"]].to_numpy().T,
        results.interval(again.regret[0][:, kept.t.astype(int) - 1]),
        rtol=1e-6,
    )


def test_on_the_light_data_wide_bands_play_the_dark_sensors_and_lose_more_than_uniform_play():
    for panel in ("2b", "3b"):
        final, plays = originals.table(panel, "final"), originals.table(panel, "plays")
        half = plays.iloc[:2]
        assert (
            (half.reward < 0.7).all()
            and (half.loss > 1.3).all()
            and (plays.loss * plays.arms).sum() / plays.arms.sum() == pytest.approx(1, abs=1e-5)
        )
        for name in ("TGP", "ATA", "MoMA"):
            assert (
                results.final_rows(final, 1.0)[name][1] > 1
                and half[f"{name} (beta x 1)"].sum() > 1.2 * half.arms.sum() / plays.arms.sum()
            )
        assert (
            half["sigma alone"].sum() > 1.2 * half.arms.sum() / plays.arms.sum()
            and plays["sigma alone, relative regret"][0] > 1.1
        )


def test_on_the_stand_in_for_the_light_data_the_arms_with_the_largest_sigma_are_bright(monkeypatch):
    """What the caption of fig-experiments-light says."""
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    problem, T = core.light_problem(), parameters("2b")["T"]
    if problem.provenance.startswith("original"):
        pytest.skip("data/original holds the originals")
    sigma = core.posterior(problem.K, np.arange(problem.n), np.zeros(problem.n), problem.n / T)[1]
    assert problem.f[np.argsort(-sigma)[: problem.n // 4]].mean() > 1.2 * problem.f.mean()


def test_quarters_are_counted_as_a_loop_counts_them():
    problem = core.table_problem(
        np.random.default_rng(0).gamma(2.0, size=(40, 10)) @ np.triu(np.ones((10, 10)))
    )
    result = core.simulate(problem, ["TGP", "MoMA"], 120, trials=2, seed=3, eps=1.0)
    found = quarters.table(problem, {1.0: result}, seed=3, lam=0.5)
    counts = np.tile(np.arange(10), 12)  # every arm twelve times: T/n plays each
    sigma = core.posterior(problem.K, counts, np.zeros(120), 0.5)[1]
    order = sorted(range(10), key=lambda arm: -sigma[arm])
    gap, at = problem.f.max() - problem.f, 0
    for q, size in enumerate((3, 3, 2, 2)):
        arms = order[at : at + size]
        at += size
        assert (
            found.arms[q] == size
            and found.loss[q] == pytest.approx(gap[arms].mean() / gap.mean())
            and found.reward[q] == pytest.approx(problem.f[arms].mean() / problem.f.mean())
        )
        for i, name in enumerate(("TGP", "MoMA")):
            assert found[f"{name} (beta x 1)"][q] == pytest.approx(
                sum(result.records["pulls"][i, :, a].sum() for a in arms) / 240
            )
    S, played = problem.K.copy(), np.zeros(10)
    for _ in range(120):  # pure exploration, by rank-one updates
        arm = int(np.argmax(np.round(np.diag(S), 9)))
        played[arm] += 1
        S = S - np.outer(S[:, arm], S[arm]) / (0.5 + S[arm, arm])
    assert found["sigma alone, relative regret"][0] == pytest.approx(
        played @ gap / (120 * gap.mean()), rel=0.02
    )


# ---- shown first


def test_a_run_on_a_stand_in_stands_under_the_originals_and_a_run_on_the_originals_alone():
    frame = pd.DataFrame({"row": ["TGP"], "mean (beta x 1)": [0.5]})
    both = originals.prepended("2b", "final", frame, "stand-in light.csv")
    assert (
        both.data.tolist() == ["original iw_data_all.mat"] * 6 + ["stand-in light.csv"]
        and both["mean (beta x 1)"].iloc[-1] == 0.5
    )
    for panel, data in (
        ("2b", "original iw_data_all.mat"),
        ("2a", "synthetic, matern kernel"),
        ("", "stand-in light.csv"),
    ):
        assert originals.prepended(panel, "final", frame, data).data.tolist() == [data]


def test_results_of_another_code_are_marked_in_words_and_those_of_this_code_are_not(monkeypatch):
    stored = STORED["code"]
    monkeypatch.setattr(results, "CODE", "0" * 12)
    note = originals.note()
    assert note.endswith(
        "; computed by an earlier version of the code and checked by the test “one stored panel is "
        "computed again exactly”"
    )
    assert "T = 20000, 10 trials, seed 2021" in note
    mixed = results.code_note(["b" * 12, "a" * 12, "0" * 12])
    assert mixed == "computed by an earlier version of the code; no test repeats timings"
    monkeypatch.setattr(results, "CODE", stored)
    assert "test" not in originals.note() and results.code_note([stored]) == ""


@pytest.mark.parametrize("panel", results.PANELS)
def test_a_panel_is_known_by_its_parameters_and_has_the_papers_words(panel):
    p = parameters(panel)
    options = {name: p[name] for name in ("lam", "delta", "acc", "constants", "k")}
    assert panels.panel_of(p["problem"], p["kernel"], p["eps"], **options) == panel
    assert (
        panels.panel_of(p["problem"], p["kernel"], 7.0, **options)
        == panels.panel_of(p["problem"], p["kernel"], p["eps"], **options | {"lam": 2.0})
        == ""
    )
    text = {"2": "empirically outperform", "3": "better or competitive"}[panel[0]]
    assert (
        text in paper_text(panel)
        and ("error bar" in paper_text(panel)) == (panel == "2d")
        and paper_text("") == ""
    )


def test_the_ranking_names_the_winner_and_says_whether_it_is_clear():
    table = pd.DataFrame(
        {
            "data": "original x",
            "row": ["TGP", "ATA", "MoMA", "TGP − ATA", "TGP − MoMA", "ATA − MoMA"],
            "mean (beta x 1)": [0.5, 0.4, 0.9, 0.1, -0.4, -0.5],
            "low (beta x 1)": [0.4, 0.3, 0.8, 0.05, -0.5, -0.6],
            "high (beta x 1)": [0.6, 0.5, 1.0, 0.15, -0.3, -0.4],
        }
    )
    row = ranking.ranking({"2e": table}, [1.0]).iloc[0]
    assert (
        row.winner == "ATA"
        and row.clear
        and row.behind == ["TGP", "MoMA"]
        and not row.private
        and row.MoMA == (0.9, 0.8, 1.0)
    )
    near = table.assign(**{"low (beta x 1)": [0.4, 0.3, 0.8, -0.01, -0.5, -0.6]})
    assert not ranking.ranking({"2b": near}, [1.0]).clear[0] and ranking.ranking(
        {"2b": near}, [1.0]
    ).behind[0] == ["MoMA"]


def rank(winner, behind):
    """A `ranking` of one panel: who is first, and who is clearly behind."""
    bands = {name: [(0.5, 0.4, 0.6)] for name in ranking.NAMES}
    return pd.DataFrame({"panel": ["2e"], "winner": [winner], "behind": [behind]} | bands)


@pytest.mark.parametrize(
    "before, after, moved, clear",
    [
        (("TGP", ["ATA", "MoMA"]), ("TGP", ["ATA", "MoMA"]), [], []),
        (("MoMA", ["TGP", "ATA"]), ("TGP", ["ATA", "MoMA"]), ["2e"], ["2e"]),
        (("MoMA", ["TGP", "ATA"]), ("TGP", ["ATA"]), ["2e"], []),
        (("MoMA", ["ATA"]), ("TGP", ["ATA", "MoMA"]), ["2e"], []),
    ],
)
def test_a_winner_changes_clearly_only_if_it_is_clear_at_both_settings(before, after, moved, clear):
    assert ranking.passed(rank(*before), rank(*after)) == (moved, clear)


def test_panels_are_counted_and_listed_and_where_there_are_none_no_bracket_is_left():
    assert ranking.named(["2c", "2e"], 9) == "two of the nine (2c, 2e)"
    assert ranking.named([], 9) == "none of the nine"


@pytest.mark.parametrize(
    "clear, said",
    [
        ("def", "three of the six panels, those without privacy"),
        ("df", "two of the six panels (2d, 2f)"),
        ("", "none of the six panels"),
    ],
)
def test_where_an_algorithm_is_clearly_first_is_said_in_words(clear, said):
    rows = [(f"2{p}", "MoMA", p in clear, p in "abc") for p in "abcdef"]
    ranks = pd.DataFrame(rows, columns=["panel", "winner", "clear", "private"])
    assert ranking.clear_words(ranks, "MoMA") == said
    assert ranking.clear_words(ranks, "TGP") == "none of the six panels"


def test_a_mean_over_panels_has_an_interval_that_also_covers_equal_luck_in_all():
    bands = pd.Series([(0.5, 0.2, 0.8), (0.7, 0.3, 1.1)])
    assert ranking.overall(bands) == pytest.approx((0.6, 0.25, 0.95))  # not hypot(0.3, 0.4) / 2


def test_sizes_are_said_once_where_all_panels_have_the_same():
    ten = {"trials": [10.0], "T": [20000.0]}
    assert ranking.sizes_text(ten, ten) == "ten trials of 20,000 rounds a panel"
    one = {"trials": [1.0], "T": [500.0]}
    assert ranking.sizes_text(ten, one).endswith(
        "and one trial of 500 rounds in each synthetic one"
    )


def test_the_command_to_run_a_page_again_has_this_pages_parameters(monkeypatch):
    first = "problem = 'synthetic'   # a\neps = 1.0   # b\nnames = ['TGP']   # c\nT = 10   # d"
    used = {"problem": "light", "eps": None, "names": ["TGP", "ATA"], "T": 10, "In": ["", first]}
    shown = []
    monkeypatch.setattr(show, "get_ipython", lambda: SimpleNamespace(user_ns=used))
    monkeypatch.setattr(show, "display", lambda data, **_: shown.append(data["text/markdown"]))
    show.rerun("panel")
    words = shlex.split(shown[0].strip("`").removeprefix("bash"))
    assert words == [
        "papermill",
        "notebooks/panel.ipynb",
        "out.ipynb",
        "-p",
        "problem",
        "light",
        "-p",
        "eps",
        "None",
        "-y",
        'names: ["TGP", "ATA"]',
        "--log-output",
    ]


# ---- data/originals.py


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("originals_program", ROOT / "data/originals.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def page(folder, panel, data):
    tables = {
        "regret": {"t": [1, 2]},
        "final": {"row": ["TGP", "ATA"]},
        "plays": {"quarter": [1, 2]},
    }
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {
                formats.TABLE: {
                    "name": f"fig-panel-{panel}-{part}",
                    "columns": {"data": [data] * 2} | columns,
                }
            },
        }
        for part, columns in tables.items()
    ]
    cell = {
        "cell_type": "code",
        "id": "a",
        "metadata": {"tags": ["parameters"]},
        "execution_count": 1,
        "outputs": outputs,
        "source": "T = 2   # rounds",
    }
    (folder / f"panel_{panel}.ipynb").write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )


def test_collected_is_what_the_pages_hold_and_a_stand_in_is_refused(program, tmp_path, monkeypatch):
    monkeypatch.setenv("LDPBO_PAGES", "")  # put back at the end
    assert (
        program.PANELS
        == SIX
        == [p for p, title in results.PANELS.items() if "synthetic" not in title]
    )
    for panel in SIX:
        page(tmp_path, panel, "original fin.csv")
    program.write(collected := program.collect(tmp_path), tmp_path / "kept.json")
    assert (
        json.loads((tmp_path / "kept.json").read_text("utf-8")) == collected
        and collected["code"] == results.CODE
    )
    assert collected["panels"]["3c"] == {
        "parameters": {"T": 2},
        "data": "original fin.csv",
        "regret": {"t": [1.0, 2.0]},
        "final": {"row": ["TGP", "ATA"]},
        "plays": {"quarter": [1.0, 2.0]},
    }
    page(tmp_path, "2f", "stand-in stocks.csv")
    with pytest.raises(SystemExit, match="panel_2f was not run on the original data"):
        program.collect(tmp_path)
