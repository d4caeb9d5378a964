"""Tables travel as tables, bands are the stated intervals, and what is drawn is in the data."""

import json

import matplotlib
import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy import stats

matplotlib.use("Agg")
import ldpbo_core as core

show = pytest.importorskip("ldpbo.show")
from ldpbo import formats, plots, results
from notebooks.domains import boxes, snapshots, users
from notebooks.elimination import coverage, example, runs
from notebooks.map import pictures as heatmaps
from notebooks.which import choice


@pytest.fixture(scope="module")
def result():
    return core.simulate(
        lambda seed: core.synthetic_problem(seed=seed, n=12),
        ["TGP", "uniform"],
        60,
        trials=4,
        seed=1,
        eps=1.0,
    )


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(show, "display", lambda data, **_: outputs.append(data))
    return outputs


def page(folder, outputs):
    cell = nbformat.v4.new_code_cell(
        "x", outputs=[nbformat.v4.new_output("display_data", data=data) for data in outputs]
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "page.ipynb")


def test_what_show_emits_load_reads_back(shown, tmp_path, monkeypatch):
    data = {
        "t": np.arange(3),
        "y": [0.1, np.nan, 1e-9],
        "name": ["a", "b,\nc", '"'],
        "short": [2.5],
    }
    figure, _ = plots.axes()
    show.figure(figure, "fig-one_two", data=data, note="<note>")
    show.figure(plots.axes()[0], "fig-no-data")
    page(tmp_path, shown)
    monkeypatch.setenv("LDPBO_PAGES", str(tmp_path))
    for name in ("fig-one_two", "fig-one-two"):
        back = results.load("page", name)
        np.testing.assert_array_equal(back["y"], data["y"])
        assert (
            back["t"].tolist() == [0, 1, 2]
            and back["name"].tolist() == data["name"]
            and back["short"].tolist() == [2.5]
        )
    assert (
        json.loads((tmp_path / "page.ipynb").read_text())["cells"][0]["outputs"][0]["data"][
            formats.TABLE
        ]["name"]
        == "fig-one-two"
    )
    assert (
        len(shown) == 2
        and formats.TABLE not in shown[1]
        and "&lt;note&gt;" in shown[0]["text/html"]
        and "one_two.csv" in shown[0]["text/html"]
    )
    with pytest.raises(KeyError, match="fig-no-data"):
        results.load("page", "fig-no-data")
    with pytest.raises(FileNotFoundError, match="make book"):
        results.load("nowhere", "fig-one-two")


def test_intervals_are_students_and_clopper_and_pearsons():
    samples = np.random.default_rng(0).normal(size=(7, 3))
    mean, low, high = results.interval(samples)
    np.testing.assert_allclose(mean, samples.mean(axis=0))
    exact = stats.ttest_1samp(samples, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose((low, high), exact)
    assert results.interval([2.0, 2.0, 2.0]) == (2, 2, 2)
    assert results.interval([2.0])[0] == 2 and np.isnan(results.interval([2.0])[1:]).all()
    tails = stats.beta.ppf(0.025, 3, 8), stats.beta.ppf(0.975, 4, 7)
    np.testing.assert_allclose(results.proportion(3, 10), (0.3, *tails))
    assert results.proportion(0, 5)[1] == 0 and results.proportion(5, 5)[2] == 1


def test_a_csv_has_seven_digits_and_empty_cells_where_there_is_nothing():
    data = {"t": [1, 2], "x": [1 / 3, np.nan], "name": ['a,"b"', "c"], "one": [2.0]}
    assert results.csv(data) == 't,x,name,one\n1,0.3333333,"a,""b""",2.0\n2,,c,\n'


def test_curves_hold_every_trial_and_what_uniform_play_is_expected_to_lose(result):
    frame = results.curves({1.0: result, 0.1: result}, points=6)
    assert (
        list(frame) == ["setting", "algorithm", "trial", "t", "regret", "relative"]
        and len(frame) == 2 * 2 * 4 * 6
    )
    part = frame[(frame.setting == 0.1) & (frame.trial == 2)]
    uniform, own = (part[part.algorithm == name] for name in ("uniform", "TGP"))
    np.testing.assert_allclose(uniform.regret, uniform.t * result.records["uniform"][2])
    np.testing.assert_array_equal(own.regret, result.regret[0, 2, own.t - 1])
    np.testing.assert_allclose(own.relative, own.regret.to_numpy() / uniform.regret.to_numpy())
    means = results.means(frame)
    row = means[(means.setting == 1.0) & (means.algorithm == "TGP") & (means.t == 60)].iloc[0]
    np.testing.assert_allclose(
        row[["mean", "low", "high"]].astype(float), results.interval(result.regret[0, :, -1])
    )


def test_a_regret_plot_draws_means_intervals_and_uniform_play(result):
    _, ax = plots.axes()
    plots.regret_curves(ax, results.means(results.curves({"": result})), private=True)
    frame = results.curves({"": result})
    lines = {line.get_label(): line for line in ax.lines}
    for name in ("TGP", "uniform"):
        expected = frame[frame.algorithm == name].groupby("t").regret.mean()
        np.testing.assert_allclose(
            lines[plots.label(name)].get_xydata(), np.column_stack([expected.index, expected])
        )
        assert lines[plots.label(name)].get_color() == plots.COLORS[name]
    low, high = zip(
        *(
            results.interval(part)[1:]
            for _, part in frame[frame.algorithm == "TGP"].groupby("t").regret
        )
    )
    drawn = np.vstack([path.vertices for path in ax.collections[0].get_paths()])
    assert (
        len(ax.collections) == 1
        and drawn[:, 1].min() == pytest.approx(min(low))
        and drawn[:, 1].max() == pytest.approx(max(high))
    )


@pytest.mark.parametrize("high, cut", [(1.0, False), (1.2, True)])
def test_bands_are_said_to_be_cut_where_the_plot_cuts_them(high, cut):
    head = ["data", "setting", "algorithm", "t", "mean", "low", "high"]
    rows = [("synthetic", 1.0, name, t, t, t, t) for name in ("TGP", "uniform") for t in (0.5, 1.0)]
    table = pd.DataFrame(rows, columns=head)
    table.loc[1, "high"] = high
    (ax,) = plots.panel(table, [1.0], private=True).axes
    assert (high > ax.get_ylim()[1]) == cut
    assert plots.cut_note(table) == ("; bands are cut at the top of the plot" if cut else "")


def test_a_forest_draws_the_final_shares(result):
    _, ax = plots.axes()
    plots.forest(ax, {"here": results.final_rows(results.final_table({1.0: result}), 1.0)})
    frame = results.curves({"": result})
    final = frame[(frame.t == 60) & (frame.algorithm == "TGP")].relative
    bars = [path.vertices[:, 0] for c in ax.collections for path in c.get_paths()]
    drawn = np.concatenate([*(line.get_xdata() for line in ax.lines), *bars]).astype(float)
    for value in (*results.interval(final), 1.0):
        assert np.isclose(drawn, value).any()
    assert [t.get_text() for t in ax.get_yticklabels()] == ["here"]


def test_one_trial_has_no_band_and_still_a_line():
    result = core.simulate(
        core.synthetic_problem(seed=0, n=8), "TGP", 20, trials=1, seed=1, eps=1.0
    )
    _, ax = plots.axes()
    plots.regret_curves(ax, results.means(results.curves({"": result})), private=True)
    assert np.isfinite(ax.lines[0].get_ydata()).all() and isinstance(
        results.curves({"": result}), pd.DataFrame
    )


@pytest.mark.parametrize(
    "text, want",
    [
        ("1e+04", "10⁴"),
        ("SE, 0.1, 1e4", "SE, 0.1, 10⁴"),
        ("2.30e-05", "2.30·10⁻⁵"),
        ("-0.00 [-0.01, -0.0]", "0.00 [-0.01, 0.0]"),
        ("-0", "0"),
        ("-0.05", "-0.05"),
        ("-0.001", "-0.001"),
        ("d = 1, ε = 0.5", "d = 1, ε = 0.5"),
        ("code 3e8f12", "code 3e8f12"),
        ("code fd1e23", "code fd1e23"),
        ("β × 0.1", "β × 0.1"),
        ("-3e2", "-3·10²"),
    ],
)
def test_numbers_in_tables_are_written_as_in_prose(text, want):
    assert show.typeset(text) == want


def test_a_power_of_ten_is_written_as_such():
    assert [show.scientific(x, 0) for x in (1e8, 2e8, 1e-3, 0)] == [
        "10⁸",
        "2·10⁸",
        "10⁻³",
        "0",
    ] and show.scientific(1e8) == "1.0·10⁸"


@pytest.mark.parametrize(
    "users, said, how_long",
    [
        (27_000, "30,000", "within a day"),
        (50_000, "50,000", "within a day"),
        (52_500, "50,000", "about a day"),
        (65_000, "70,000", "1.5 days"),
        (138_000, "150,000", "3 days"),
        (757_525, "800,000", "15 days"),
        (2.8e6, "3 million", "60 days"),
        (13_667_164, "15 million", "40 weeks"),
        (2.6e9, "3 billion", "150 years"),
        (np.inf, "beyond 10¹²", "never"),
    ],
)
def test_users_and_days_have_the_digits_that_a_few_trials_tell_apart(users, said, how_long):
    assert show.count(users) == said
    assert show.duration(users, 50_000) == how_long


def test_a_forecast_that_looks_less_far_says_so():
    assert show.count(np.inf, 10**10) == "beyond 10¹⁰"


# ---- bigger domains
@pytest.mark.parametrize(
    "name, tops",
    [
        ("Branin", [(-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)]),
        ("Hartmann-3", [(0.114614, 0.555649, 0.852547)]),
        ("Hartmann-6", [(0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573)]),
    ],
)
def test_test_functions_have_their_known_tops_and_stay_in_their_range(name, tops):
    """Minima of the literature, where the scaled negative is 1 and flat."""
    function, bounds, _ = boxes.BOXES[name]
    for top in tops:
        assert function(np.array(top)) == pytest.approx(1.0, abs=2e-6)
        for j in range(len(top)):
            h = 1e-4 * (bounds[j][1] - bounds[j][0]) * np.eye(len(top))[j]
            assert abs(function(top + h) - function(top - h)) / 2e-4 < 1e-3
    f = boxes.problem(name, 4096, 3).f
    assert -1 - 1e-6 <= f.min() < 0.2 and 0.6 < f.max() <= 1 + 1e-6
    assert boxes.branin((-5, 0)) == pytest.approx(-1, abs=1e-8)


def test_users_are_counted_until_the_mean_run_stays_below():
    so_far = np.array([100, 1000, 10_400, 100_000])
    runs = np.array([[0.2, 0.9, 0.6, 0.2], [0.4, 0.7, 0.3, 0.2]])
    assert users.until(so_far, runs, 0.5) == "about 10,000 users"
    assert users.until(so_far, runs, 0.9) == "about 100 users"
    assert users.until(so_far, runs, 0.1) == "more than 100,000 users"


def test_steps_play_what_simulate_plays():
    problem = boxes.problem("Branin", 200, 1, tol=1e-3)
    got = snapshots.take(
        problem, "ATA", 40, {7, 40}, lambda learner, arms: (learner.t, arms), seed=5, eps=2.0
    )
    want = (
        core.simulate(problem, "ATA", 40, trials=1, seed=5, eps=2.0, trace=True)
        .records["arms"][0, 0]
        .tolist()
    )
    assert got == [(7, want[:7]), (40, want)]


def test_missed_is_the_residual_of_the_projection():
    problem = boxes.problem("Hartmann-3", 150, 1, tol=1e-4)
    D, K = [3, 50, 99, 149], problem.K
    want = (
        K.diagonal() - np.einsum("ij,ij->j", K[D], np.linalg.solve(K[np.ix_(D, D)], K[D]))
    ).max()
    assert boxes.missed(problem, D) == pytest.approx(
        want, abs=1e-3
    )  # Z misses 1e-4 of each k(x, x)
    after = boxes.missed(problem)
    assert (
        len(after) == len(problem.Z)
        and after[-1] == pytest.approx(problem.residual, abs=1e-14)
        and (np.diff(after) <= 1e-14).all()
    )


def test_coverage_of_batches_is_that_of_the_batches_played_by_hand():
    options = dict(eps=2.0, curator=core.OneBit, constants="proved", schedule="double")
    found = []
    for trial in range(2):
        new, env, privacy, _ = core.streams(9, trial)
        problem = runs.source("se")(new)
        learner = core.make("PE", problem, 5000, rng=trial, **options)
        for _ in core.play_batches(learner, env, privacy):
            above = (problem.f - learner.lower) / (learner.upper - learner.lower)
            found.append((trial, np.abs(2 * above - 1).max()))
    got = [coverage.largest_use(runs.source("se"), 5000, 9, i, **options) for i in range(2)]
    wanted = [max(x for i, x in found if i == trial) for trial in range(2)]
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    assert 0 < min(got) and max(got) < 1


def test_the_example_of_three_arms_is_what_the_formulas_of_the_page_say():
    """mu = y/(1 + q), W = a + sqrt(2 l) b, sqrt 2 W for a difference; windows are R wider."""
    known = (-0.9, 0.9)
    left = [0, 1, 2]
    for i, state in enumerate(example.play(), 1):
        half = (known[1] - known[0]) / 2
        n = 1200 * i // len(left)
        s = 2 * (half + 0.1)  # coth(eps/2) = 2
        log = np.log(4 * 3 * i * (i + 1) / 0.1)
        q = s**2 / n
        W = (q + np.sqrt(2 * log) * s / np.sqrt(n)) / (1 + q)
        np.testing.assert_allclose(state["size"][left], s, rtol=1e-12)
        assert (state["plays"][left] == n).all() and state["W"] == pytest.approx(W, rel=1e-12)
        up = 2 * state["ups"][left] / n - 1
        mean = state["centre"][left] + s * up
        np.testing.assert_allclose(state["mu"][left], mean / (1 + q), rtol=1e-9)
        left = [x for x in left if state["mu"][0] - state["mu"][x] <= np.sqrt(2) * W]
        assert np.flatnonzero(state["active"]).tolist() == left == [0, 1][: 3 - i]
        known = (state["mu"][0] - W, state["mu"][0] + W)
    behind = state["mu"][0] - state["mu"][1]
    assert behind < np.sqrt(2) * example.width(2.0, n, log)  # with the first window B would stay
    assert state["size"][0] < 2.0 / 2  # "less than half the noise"


def test_the_bands_of_the_example_are_those_of_the_core():
    learner = example.begin()
    state = example.batch(learner, np.array(example.UPS[0]))
    np.testing.assert_allclose(learner.upper, state["mu"] + state["W"], rtol=1e-9)
    np.testing.assert_allclose(learner.lower, state["mu"] - state["W"], rtol=1e-9)


def test_one_bit_less_than_the_exercise_says_and_the_third_arm_is_dropped():
    bits = example.bits_to_stay(example.play()[0], 2)
    for fewer in (0, 1):
        ups = np.array([*example.UPS[0][:2], bits - fewer])
        assert example.batch(example.begin(), ups)["active"].tolist() == [True, True, not fewer]


def test_more_failures_than_are_tolerated_are_rare_and_one_fewer_would_not_be():
    """P(Bin(40, 0.1) > 10) = 0.0015, P(Bin(40, 0.1) > 11) = 0.0004; no run, no failure."""
    assert coverage.most_failures(40, 0.1, 0.001) == 11
    assert coverage.most_failures(40, 0.1, 0.002) == 10


def test_holm_multiplies_the_ordered_p_values_and_keeps_their_order():
    """0.005 x 4, 0.01 x 3, 0.03 x 2, then at least what came before; never above 1."""
    np.testing.assert_allclose(results.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(results.holm([0.9, 0.6]), [1.0, 1.0])


def sweep_table(shares, panel="2a"):
    """Rows of a sweep from {learner: shares by seed}."""
    return pd.DataFrame(
        [
            dict(panel=panel, T=10, seed=seed, learner=learner, share=x)
            for learner, values in shares.items()
            for seed, x in enumerate(values)
        ]
    )


def test_paired_differences_are_students_on_the_seeds_that_both_have():
    from scipy.stats import ttest_rel

    one, two = [0.5, 0.7, 0.4, 0.9], [0.4, 0.5, 0.35, 0.6, 0.1]
    expected = ttest_rel(one, two[:4])
    ((where, found),) = results.paired_differences(
        sweep_table({"A": one, "B": two}), "A", "B"
    ).items()
    assert where == ("2a", 10)
    np.testing.assert_allclose(
        found,
        [np.mean(np.subtract(one, two[:4])), *expected.confidence_interval(), expected.pvalue],
    )
    assert (
        results.paired_differences(sweep_table({"A": one}), "A", "B") == {}
        and results.paired_differences(sweep_table({"A": [1.0], "B": [2.0]}), "A", "B")["2a", 10][
            -1
        ]
        == 1
    )


def test_the_best_learner_is_compared_with_the_second():
    frame = sweep_table({"A": [0.5, 0.7, 0.4], "B": [0.4, 0.5, 0.35], "C": [0.9, 0.9, 0.9]})
    name, share, p = choice.best_learner(frame)
    assert (
        name == "B"
        and share == pytest.approx(1.25 / 3)
        and p == results.paired_differences(frame, "B", "A")["2a", 10][-1]
    )


def test_a_heat_map_frames_the_best_number_and_puts_names_last():
    frame = pd.DataFrame(
        {
            "row": ["a"] * 3 + ["b"] * 2,
            "column": [0.1, 10.0, "printed", 0.1, 10.0],
            "share": [0.5, -0.001, -0.4, 0.2, 0.3],
        }
    )
    figure, ax = plots.axes()
    wide = heatmaps.heatmap(ax, frame, "row", "column", names={10.0: "ten"})
    assert list(wide.columns) == [0.1, 10.0, "printed"] and [
        t.get_text() for t in ax.get_xticklabels()
    ] == ["0.1", "ten", "printed"]
    frames = [p for p in ax.patches if not p.get_fill()]
    assert [(int(p.get_x()), int(p.get_y())) for p in frames] == [(1, 0), (0, 1)]
    assert [t.get_text() for t in ax.texts] == ["0.50", "0.00", "−0.40", "0.20", "0.30"]


def test_a_map_of_differences_shows_the_sign_of_small_ones():
    gaps = [-0.0016, 0.0002, -0.0052, 0.0, -0.29]
    frame = pd.DataFrame({"row": "a", "column": [0.1, 0.2, 0.5, 1.0, 2.0], "share": gaps})
    _, ax = plots.axes()
    heatmaps.heatmap(ax, frame, "row", "column", signed=True)
    assert [t.get_text() for t in ax.texts] == ["−0.002", "0.0002", "−0.01", "0.00", "−0.29"]


@pytest.mark.parametrize(
    "x, digits, low, high",
    [
        (6.07, 1, "6.0", "6.1"),
        (1.64, 1, "1.6", "1.7"),
        (0.29, 2, "0.29", "0.29"),  # 0.29 * 100 is 28.999999999999996
        (np.float64(1.1), 1, "1.1", "1.1"),
        (-0.04, 1, "−0.1", "0.0"),
        (8161, -3, "8,000", "9,000"),
        (np.inf, 1, "inf", "inf"),
    ],
)
def test_bounds_are_rounded_so_that_at_least_and_at_most_hold(x, digits, low, high):
    assert (show.at_least(x, digits), show.at_most(x, digits)) == (low, high)


@pytest.mark.parametrize(
    "x, figures, low, high",
    [
        (659.68, 3, "659", "660"),
        (3.62e6, 1, "3·10⁶", "4·10⁶"),
        (6.3e-5, 1, "6·10⁻⁵", "7·10⁻⁵"),
        (25917, 3, "2.59·10⁴", "2.60·10⁴"),
        (0.29, 2, "0.29", "0.29"),
        (9999, 3, "9990", "1.00·10⁴"),
    ],
)
def test_bounds_with_so_many_figures_are_rounded_to_the_safe_side(x, figures, low, high):
    assert (show.figures_down(x, figures), show.figures_up(x, figures)) == (low, high)
