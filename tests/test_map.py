"""What the page of the map counts: on made-up tables, and against loops over the stored ones."""

import numpy as np
import pandas as pd
import pytest
from test_problems import ORIGINALS, needs_originals

import ldpbo_core as core
from ldpbo import originals, results
from notebooks.map import pictures, tables


def test_ata_has_the_seeds_of_the_others():
    keys = ["panel", "learner", "setting", "beta_scale", "seed"]
    for name in ("map", "judge"):
        frame = results.sweep_with_ata(name).query("T == 20_000")
        if "setting" in frame:
            frame = frame[frame["setting"].isin(["tuned", "order"])]
        seeds = {who: set(part["seed"]) for who, part in frame.groupby("name")}
        assert seeds["ATA"] == seeds["TGP"] == seeds["MoMA"]
        assert not frame.duplicated([key for key in keys if key in frame]).any()


def made_up(gaps):
    """A sweep in which MoMA's regret minus that of the better of the others is as given."""
    rows = []
    for (panel, curator, scale, seed), gap in gaps.items():
        for name, share in (("TGP", 0.5), ("ATA", 0.7), ("MoMA", 0.5 + gap)):
            rows.append((panel, curator, scale, seed, name, share))
    head = ["panel", "curator", "beta_scale", "seed", "name", "share"]
    return pd.DataFrame(rows, columns=head)


def test_the_region_counts_means_and_every_seed():
    frame = made_up(
        {
            ("2a", "laplace", 1.0, 1): -0.3,
            ("2a", "laplace", 1.0, 2): 0.1,
            ("2a", "one bit", 1.0, 1): 0.2,
            ("2a", "one bit", 1.0, 2): -0.1,
            ("2d", None, 1.0, 1): -0.1,
            ("2d", None, 1.0, 2): -0.2,
        }
    )
    found = tables.region(tables.gaps(frame))
    assert (found["cells"], found["true"], found["always"]) == (3, 2, 1)
    assert (found["cells-public"], found["true-public"]) == (1, 1)
    assert (found["cells-private"], found["true-private"]) == (2, 1)


def test_the_stored_region_is_that_of_a_loop():
    frame = results.sweep_with_ata("map")
    frame = frame[(frame["T"] == 20_000) & frame["name"].isin(tables.PAPER)]
    first = 0
    points = frame.fillna({"curator": ""}).groupby(["panel", "curator", "beta_scale"])
    for _, part in points:
        share = {name: np.mean(rows["share"]) for name, rows in part.groupby("name")}
        first += share["MoMA"] < min(share["TGP"], share["ATA"])
    found = tables.region(tables.gaps(frame))
    assert (found["true"], found["cells"]) == (first, len(points))


def test_clear_differences_are_counted_by_their_sign_and_a_larger_one_would_be_seen():
    found = pd.DataFrame(
        {
            "setting": ["order"] * 4 + ["tuned"] * 2,
            "curator": ["", "", "Laplace", "Laplace", "", ""],
            "rival": ["TGP", "ATA", "TGP", "PE", "TGP", "ATA"],
            "mean": [-0.2, -0.1, 0.3, 0.4, 0.1, 0.2],
            "low": [-0.3, -0.2, 0.2, 0.3, -0.9, -0.8],
            "high": [-0.1, 0.0, 0.4, 0.5, 1.1, 1.2],
            "clear": [True, False, True, True, False, False],
        }
    )
    counts = tables.counts(found, "order")
    expected = {
        "pairs": 3,
        "pairs-private": 1,
        "better": 1,
        "better-private": 0,
        "worse": 1,
        "worse-private": 1,
    }
    assert counts == expected | {"worse-all": 2, "better-all": 1, "better-PE": 0, "all": 4}
    assert tables.counts(found.assign(mean=-found["mean"]), "order")["better-PE"] == 1
    for setting in ("order", "tuned"):
        part = tables.counts(found, setting)
        counts |= {f"{key}-{setting}": value for key, value in part.items()}
    public = tables.without_privacy(counts)
    assert [public[f"{kind}-public-order"] for kind in ("pairs", "better", "worse")] == [2, 1, 0]
    assert [public[f"{kind}-public-tuned"] for kind in ("pairs", "better", "worse")] == [2, 0, 0]
    assert tables.verdict(counts) == "No, it depends on them"
    assert tables.verdict(counts | {"better-order": 0}) == "No"
    assert tables.verdict(counts | {"worse-order": 0}) == "Nothing here speaks against it"
    seen = tables.visible(found, "order", 8, 0.05)
    assert seen > 0.1 and tables.visible(found, "tuned", 8, 0.05) == pytest.approx(10 * seen)
    # a difference of that size, with that error, has the p-value that Holm's first step asks for
    needed = tables.errors_needed(len(found), 8, 0.05)
    assert results.holm([2 * _tail(needed, 7)] + [1.0] * 5)[0] == pytest.approx(0.05)


def test_the_smallest_clear_difference_is_told_in_its_standard_errors():
    head = ["mean", "low", "high", "clear"]
    half = 2.364624  # of a 95 % interval of eight values, in standard errors
    rows = [(0.7, 0.7 - 0.1 * half, 0.7 + 0.1 * half, True)]
    rows += [(-3.0, -3.0 - 0.5 * half, -3.0 + 0.5 * half, True), (0.1, -0.9, 1.1, False)]
    found = pd.DataFrame(rows, columns=head)
    assert tables.least_clear(found, 8) == pytest.approx(6.0, rel=1e-5)
    final = results.sweep_with_ata("judge").query("T == 20_000")
    found = tables.differences(final)
    found["clear"] = results.holm(found["p"]) < 0.05
    first_step = tables.errors_needed(len(found), 8, 0.05)
    assert tables.least_clear(found, 8) < first_step  # later steps of Holm's method ask for less


def plain_curves(shares):
    """GP-UCB's private line over three factors; shares: {factor: regret on each seed}."""
    rows = [
        ("Laplace", "GP-UCB", scale, seed, share)
        for scale, pair in shares.items()
        for seed, share in enumerate(pair)
    ]
    return pd.DataFrame(rows, columns=["kind", "name", "beta_scale", "seed", "share"])


def test_the_jumps_of_a_line_are_those_of_every_seed():
    """A fall on one of the seeds alone is not spoken of."""
    both = plain_curves({0.1: (0.8, 0.3), 0.2: (0.8, 0.9), 0.5: (0.3, 0.4)})
    assert tables.jumps(both).startswith(
        "With privacy its two seeds lie 0.50 apart at factor 0.1 (thin bar). "
        "On both seeds it does far worse at 0.2 than at 0.5: at 0.2 it gives up"
    )
    one = plain_curves({0.1: (0.8, 0.3), 0.2: (0.8, 0.9), 0.5: (0.3, 0.8)})
    assert tables.jumps(one).endswith("(thin bar).")


@needs_originals
@pytest.mark.parametrize("panel", ["2b", "2c", "3b", "3c"])
def test_with_the_narrower_band_gp_ucb_gives_up_more_arms_and_stays_with_a_worse_one(
    panel, monkeypatch
):
    """What the page says of the fall from 0.2 to 0.5; the runs are those of the sweep."""
    monkeypatch.setenv("LDPBO_DATA", str(ORIGINALS))
    problem = core.stock_problem() if panel.endswith("c") else core.light_problem()
    frame = results.sweep("map").query("panel == @panel and T == 20_000 and name == 'GP-UCB'")
    frame = frame[frame["curator"] == "laplace"]
    for seed in (1, 2):
        played, loss = [], []
        for scale in (0.2, 0.5):
            options = dict(eps=float(frame["eps"].iloc[0]), beta_scale=scale)
            run = core.simulate(problem, "GP-UCB", 20_000, trials=1, seed=seed, **options)
            share = run.regret[0, 0, -1] / (20_000 * run.records["uniform"][0])
            stored = frame.query("seed == @seed and beta_scale == @scale")["share"].item()
            assert share == pytest.approx(stored)
            pulls = run.records["pulls"][0, 0]
            played.append((pulls > 0).sum())
            loss.append(problem.f.max() - problem.f[pulls.argmax()])
        assert played[0] < played[1] and loss[0] > loss[1]


def _tail(t, freedom):
    """Student's tail beyond t, by numerical integration."""
    x = np.linspace(t, t + 400, 4_000_001)
    shape = (1 + x**2 / freedom) ** (-(freedom + 1) / 2)
    y = np.linspace(-400, 400, 4_000_001)
    whole = (1 + y**2 / freedom) ** (-(freedom + 1) / 2)
    return np.trapezoid(shape, x) / np.trapezoid(whole, y)


def test_the_ridge_counts_of_a_table_that_one_can_read():
    shares = {"TGP": (0.9, 0.5, 0.2), "ATA": (0.9, 0.8, 0.7), "MoMA": (0.4, 0.3, 0.6)}
    rows = [
        (panel, 1.0, name, ridge, share)
        for panel, better in (("2a", 0.0), ("2d", 0.5))
        for name, three in shares.items()
        for ridge, share in zip((0.1, 1.0, 10.0), np.array(three) - better * (name == "MoMA"))
    ]
    frame = pd.DataFrame(rows, columns=["panel", "beta_scale", "name", "lam", "share"])
    found = tables.ridge_counts(frame)
    assert (found["ridge-private"], found["ridge-public"]) == ("two of the three", "all three")
    assert found["ridge-gain-1"] == pytest.approx((0.7 / 0.8 + 0.7 / 0.8) / 2)


def test_on_the_stored_table_no_ridge_makes_moma_first_of_the_three_with_privacy():
    found = tables.ridge_counts(results.sweep("ridge"))
    assert found["ridge-private"] == "none of the 24"


def lines(moma, plain=(1.0, 1.0)):
    """Curves over two factors and two seeds; MoMA's regret by kind, factor and seed is as given."""
    others = {"TGP": (0.5, 0.9), "ATA": (0.6, 1.0), "GP-UCB": plain}
    by_seed = {name: [(share, share) for share in shares] for name, shares in others.items()}
    rows = [
        (kind, name, scale, seed, share)
        for kind in ("not private", "Laplace")
        for name, pairs in (by_seed | {"MoMA": moma[kind]}).items()
        for scale, pair in zip((0.1, 10.0), pairs)
        for seed, share in enumerate(pair)
    ]
    return pd.DataFrame(rows, columns=["kind", "name", "beta_scale", "seed", "share"])


def test_the_first_picture_says_where_moma_is_lowest_and_whether_on_each_seed():
    always, never = ((0.4, 0.4), (0.8, 0.8)), ((0.7, 0.7), (1.1, 1.1))
    said = tables.idea_words(lines({"not private": always, "Laplace": never}))
    assert said["idea-public"] == "at every factor, on each seed"
    assert said["idea-private"] == "nowhere"
    assert (said["idea-low"], said["idea-high"], said["idea-widest"]) == (0.9, 1.1, "10")
    noisy, mixed = ((0.3, 0.6), (1.1, 1.1)), ((0.3, 0.6), (0.8, 0.8))
    said = tables.idea_words(lines({"not private": mixed, "Laplace": noisy}))
    assert said["idea-public"] == "at every factor, and on each seed at the factor 10"
    expected = "at the factor 0.1, but not on each of the seeds: that is within the noise"
    assert said["idea-private"] == expected


def test_the_plain_learner_is_compared_with_all_three_and_moma_is_not_with_it():
    low, high = ((0.4, 0.4), (0.8, 0.8)), ((0.7, 0.7), (0.8, 0.8))
    said = tables.idea_words(lines({"not private": low, "Laplace": high}, plain=(0.45, 0.7)))
    assert said["idea-plain-public"] == "at the factor 10"
    assert said["idea-plain-private"] == "at every factor"
    assert said["idea-public"] == "at every factor, on each seed"


def test_the_numbers_of_comparisons_are_the_products_that_the_page_says():
    final = results.sweep_with_ata("judge").query("T == 20_000")
    found = tables.differences(final)
    of = tables.factors_of(found)
    assert of["cases"] == of["panels-public"] + of["panels-private"] * of["reports"]
    assert len(found) == of["cases"] * of["rivals"] * of["settings"]
    counts = tables.counts(found.assign(clear=False), "order")
    assert counts["all"] == of["cases"] * of["rivals"]
    assert counts["pairs-private"] == of["panels-private"] * 2 * of["reports"]
    assert counts["pairs"] - counts["pairs-private"] == of["panels-public"] * 2
    short = results.sweep_with_ata("map").query("T == 20_000")
    cells = tables.region(tables.gaps(short))
    assert cells["cells-public"] == of["panels-public"] * cells["factors"]
    assert cells["cells-private"] == of["panels-private"] * cells["factors"] * of["reports"]


def test_what_the_panels_own_page_has_is_read_from_the_papers_data():
    said = tables.elsewhere("2e", 0.1, ("TGP", "MoMA"))
    rows = results.final_rows(originals.table("2e", "final"), 0.1)
    assert said["cell-elsewhere"].startswith(f"TGP {rows['TGP'][0]:.2f} [")
    assert f" and MoMA {rows['MoMA'][0]:.2f} [" in said["cell-elsewhere"]
    assert originals.parameters("2e")["trials"] == 10 and said["cell-trials"] == "ten"


def test_the_map_frames_the_cell_that_is_asked_for():
    gap = tables.gaps(results.sweep_with_ata("map").query("T == 20_000"))
    main = gap[gap["kind"] != "one bit"]
    figure = pictures.region(main, framed=("not private", "2e", 1.0))
    (public, private) = figure.axes
    (frame,) = [patch for patch in public.patches if not patch.get_fill()]
    assert not private.patches
    labels = [
        [label.get_text() for label in part]
        for part in (public.get_xticklabels(), public.get_yticklabels())
    ]
    assert labels[0][int(frame.get_x())] == "1, order"
    assert labels[1][int(frame.get_y())] == results.PANELS["2e"]


def test_the_cell_in_words_is_a_cell_of_the_map():
    frame = made_up(
        {("2e", None, 1.0, 1): -0.3, ("2e", None, 1.0, 2): -0.1, ("2e", None, 0.1, 1): 0.2}
    )
    said = tables.cell_words(frame, "2e", 1.0, 0.1)
    assert "MoMA has 0.300" in said["cell-text"] and "other two is TGP" in said["cell-text"]
    assert (
        "0.300 − 0.500 = −0.200. The number is negative, so the framed cell is blue"
        in said["cell-text"]
    )
    assert said["cell-other"].endswith("MoMA has 0.700: TGP has the smallest mean.")
    worse = tables.cell_words(frame, "2e", 0.1, 1.0)["cell-text"]
    assert worse.endswith("The number is not negative, so the framed cell is not blue.")


def test_the_first_picture_averages_laplace_reports_and_open_ones():
    frame = made_up(
        {("2a", "laplace", 1.0, 1): -0.3, ("2a", "one bit", 1.0, 1): 0.4, ("2d", None, 1.0, 1): 0.1}
    )
    found = tables.by_privacy(frame).set_index(["kind", "name"])["share"]
    assert found["Laplace", "MoMA"] == pytest.approx(0.2)
    assert found["not private", "MoMA"] == pytest.approx(0.6)
    assert len(found) == 6


def test_the_table_behind_a_cell_is_what_the_words_say():
    frame = made_up({("2e", None, 1.0, 1): -0.3, ("2e", None, 0.1, 1): 0.2})
    assert tables.cell_rows(frame, "2e", (0.1, 1.0)) == [
        ["TGP", "0.500", "0.500"],
        ["ATA", "0.700", "0.700"],
        ["MoMA", "0.700", "0.200"],
        ["MoMA minus the better of the two", "0.200", "−0.300"],
    ]


def judged(shares):
    """Fresh seeds of one open panel, {(setting, learner): regret}, and a private one alike."""
    head = ["panel", "curator", "setting", "name", "share", "beta_scale"]
    rows = [
        (panel, curator, setting, name, share, 1.0 if setting == "order" else 0.1)
        for panel, curator in (("2d", None), ("2a", "laplace"), ("2a", "one bit"))
        for (setting, name), share in shares.items()
    ]
    return pd.DataFrame(rows, columns=head)


def test_who_is_first_is_counted_by_who_is_tuned():
    shares = {("order", "TGP"): 0.8, ("order", "ATA"): 0.7, ("order", "MoMA"): 0.6}
    shares |= {("tuned", "TGP"): 0.3, ("tuned", "ATA"): 0.4, ("tuned", "MoMA"): 0.5}
    found = tables.favourites(judged(shares))  # one-bit reports are not in the paper
    assert found[None] == {"TGP": 0, "ATA": 0, "MoMA": 2}
    assert found["TGP"] == found["all"] == {"TGP": 2, "ATA": 0, "MoMA": 0}
    assert found["ATA"]["ATA"] == found["MoMA"]["MoMA"] == 2
    assert tables.favourite_words(found) == "in both panels, whichever of the three it is"
    found = tables.favourites(judged(shares | {("tuned", "ATA"): 0.65}))
    assert (
        tables.favourite_words(found) == "in two (TGP), no (ATA) and two (MoMA) of the two panels"
    )


def test_lessons_of_a_table_that_one_can_read():
    frame = made_up(
        {
            ("2d", None, 0.1, 1): -0.4,
            ("2d", None, 1.0, 1): 0.3,
            ("2a", "one bit", 0.1, 1): 0.0,
            ("2a", "one bit", 1.0, 1): 9.0,
        }
    )
    rows = frame["name"].isin(["TGP", "ATA"]) & (frame["beta_scale"] == 1.0)
    rows &= frame["panel"] == "2d"
    frame.loc[rows, "share"] += 0.2  # TGP 0.5 and 0.7, ATA 0.7 and 0.9, MoMA 0.1 and 0.8
    tuned = {("tuned", "TGP"): 0.55, ("tuned", "ATA"): 0.75, ("tuned", "MoMA"): 0.5}
    final = judged(tuned).query("panel == '2d'")
    found = tables.lessons(frame, final)
    assert found["by-width-public"] == pytest.approx(0.2)
    assert found["by-learner-public"] == pytest.approx(0.2)
    assert found["by-width-bit"] == 0 and found["by-learner-bit"] == pytest.approx(9.0)
    assert found["by-head"] == "The width matters as much as the learner."
    assert found["seen"] == pytest.approx((0.5 + 0.7 + 0.1) / 3)
    assert found["fresh"] == pytest.approx(0.6)


def test_what_matters_more_is_said_only_if_it_does_with_every_kind_of_report():
    much, little = pd.Series([0.4, 0.5]), pd.Series([0.1, 0.2])
    mixed = pd.Series([0.1, 0.6])
    assert tables.width_or_learner(much, little) == "The width matters more than the learner."
    assert tables.width_or_learner(little, much) == "The learner matters more than the width."
    assert tables.width_or_learner(much, mixed) == "The width matters as much as the learner."


def test_on_the_stored_tables_the_width_matters_as_much_as_the_learner_and_the_lines_cross():
    """What the page says in words of its own; only with Laplace reports does the width decide."""
    short = results.sweep_with_ata("map").query("T == 20_000")
    final = results.sweep_with_ata("judge").query("T == 20_000")
    found = tables.lessons(short, final)
    assert found["by-head"] == "The width matters as much as the learner."
    assert found["by-width-private"] > 2 * found["by-learner-private"]
    assert found["by-width-bit"] < found["by-learner-bit"] < 1.5 * found["by-width-bit"]
    public = found["by-learner-public"], found["by-width-public"]
    assert public[0] == pytest.approx(public[1], rel=0.1)
    assert found["fresh"] > found["seen"]
    for _, part in tables.by_privacy(short).groupby("kind"):
        part = part[part["name"] != "GP-UCB"]
        first = part.pivot_table(index="beta_scale", columns="name", values="share").idxmin(axis=1)
        assert first.nunique() > 1
    tuned = final[final["setting"] == "tuned"]
    keys = ["panel", "curator", "name"]
    mean = short.fillna({"curator": ""}).groupby([*keys, "beta_scale"])["share"].mean()
    best = mean.unstack("beta_scale").idxmin(axis=1)
    chosen = tuned.fillna({"curator": ""}).groupby(keys)["beta_scale"].agg(["min", "max"])
    assert (chosen["min"] == chosen["max"]).all()
    assert (best.loc[chosen.index] == chosen["min"]).all()  # tuned is the best on the tuning seeds


def test_one_rival_is_counted_and_the_narrowest_lead_is_named():
    found = pd.DataFrame(
        {
            "setting": ["order"] * 3 + ["tuned"],
            "rival": ["GP-UCB", "GP-UCB", "TGP", "GP-UCB"],
            "mean": [0.2, -0.1, 0.3, 0.4],
            "clear": [True, True, True, True],
        }
    )
    said = tables.against(found, "GP-UCB", "order")
    assert said == {"GP-UCB-better": "one of the two", "GP-UCB-worse": "one of the two"}
    gap = tables.gaps(
        made_up(
            {
                ("2d", None, 0.1, 1): -0.012,
                ("2d", None, 0.1, 2): 0.008,
                ("2e", None, 0.1, 1): 0.001,
                ("2f", None, 0.1, 1): -0.3,
            }
        )
    )
    said = tables.narrow_cell(gap)
    assert said["narrow-panel"] == "2d synthetic, SE, non-private"
    assert (said["narrow-factor"], said["narrow-gap"]) == ("0.1", "−0.002")
    assert said["narrow-always"] == "MoMA is not first on each seed"
