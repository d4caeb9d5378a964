"""A reader's own table: read as it comes, one recipe for B, F and R, what the pages say of it."""

import warnings
from functools import partial
from math import inf, nan, sqrt
from pathlib import Path

import numpy as np
import own_classes as own
import pytest
from numpy.linalg import solve
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import approx, mark, raises, warns

import ldpbo_core as core
from ldpbo.tables import Table

ROOT = Path(core.__file__).resolve().parent
RECENTRED = dict(curator=core.OneBit, constants="proved", schedule="double")


# ---- Range, noise, norm --------------------------------------------------------------------------


def stars(rows=400, n=6, seed=0):
    """Ratings of 1 to 5 stars."""
    rng = default_rng(seed)
    taste = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, n))
    liking = np.linspace(2.3, 3.9, n) + taste + rng.normal(size=(rows, n))
    return np.clip(np.rint(liking), 1, 5)


def test_the_range_of_the_rewards_makes_the_curator_and_their_norm_the_learner():
    problem = core.table_problem(stars(), low=1, high=5)
    assert (problem.F, problem.Y, problem.R, problem.bound, problem.spread) == (2, 2, 4, 2, 2)
    assert_array_equal(problem.samples, stars() - 3)
    square = problem.f @ solve(problem.K, problem.f)
    assert problem.B == approx(sqrt(square))
    assert problem.B == core.rkhs_norm(problem)
    for kind in (core.CTL, core.OneBit, own.Triangular):
        curator = core.make("TGP", problem, 10, eps=1.0, curator=kind).settings.curator
        assert curator.bound == 2
    assert "centred at 3" in problem.provenance
    told = core.table_problem(stars(), low=1, high=5, B=7.0, R=3.5)
    assert (told.B, told.R, told.F, told.Y) == (7.0, 3.5, 2, 2)


def test_without_a_range_a_table_has_the_bounds_of_the_paper():
    problem = core.table_problem(stars())
    mean = stars().mean(axis=0)
    assert problem.B == problem.F == np.abs(mean).max()
    assert problem.R == np.abs(stars() - mean).max()
    assert problem.Y is None and problem.bound == problem.B + problem.R
    assert_array_equal(problem.samples, stars())


@mark.parametrize("R", [None, 3.9])
@mark.parametrize("low, high", [(1, 5), (0.1, 5.3), (1 / 3, 5.7)])
def test_with_a_range_no_reward_is_ever_clipped(low, high, R):
    """Neither by a fixed curator nor in batches; rewards lie on the ends of the range."""
    table = low + (stars() - 1) * (high - low) / 4
    problem = core.table_problem(np.clip(table, low, high), low=low, high=high, R=R)
    play = partial(core.simulate, problem, trials=2, seed=0, eps=3.0)
    fixed = play(["TGP", "GP-UCB"], 300, curator=core.OneBit)
    assert not fixed.records["clipped"].any()
    in_batches = play("PE", 6000, first=256, **RECENTRED)
    assert not in_batches.records["clipped"].any()


def test_windows_that_shrink_within_the_range_clip_nothing_and_bands_hold():
    """Arms near both ends of [-2, 2], whose rewards are within R of their means. At delta = 0.1 at
    most 12 of 40 runs fail, but for a chance of 1e-3."""
    rng = default_rng(0)
    means = np.linspace(-1.9, 1.9, 8)
    table = np.clip(means + rng.uniform(-0.3, 0.3, (500, 8)), -2, 2)
    R = float(np.abs(table - table.mean(axis=0)).max())
    problem = core.table_problem(table, low=-2, high=2, R=R)
    told = dict(eps=3.0, first=256, **RECENTRED)
    result = core.simulate(problem, "PE", 20_000, trials=2, seed=0, **told)
    assert not result.records["clipped"].any()
    best = int(problem.f.argmax())
    failures = 0
    for seed in range(40):
        learner = core.make("PE", problem, 10**6, **told, rng=seed)
        failures += bands_fail(learner, default_rng(seed))
        assert learner.centre[best] + learner.reach[best] <= 2 + 1e-12  # cut at the end
        assert learner.reach[best] < R + 0.1
    assert failures <= 12


def bands_fail(learner, rng):
    """Play the campaign out: was f outside the bands after some batch?"""
    f = learner.problem.f
    held = True
    for _ in core.play_batches(learner, rng, rng):
        held &= bool((learner.lower <= f).all() and (f <= learner.upper).all())
    return not held


def test_a_window_is_what_band_noise_and_range_leave_of_the_line():
    """Bands [-1.5, -0.5], [-0.2, 0.2] and [1.9, 2], R = 0.7, Y = 2: windows worked out by hand."""
    by_hand = [
        (2.0, [-0.9, 0.0, 1.6], [1.1, 0.9, 0.4]),
        (None, [-1.0, 0.0, 1.95], [1.2, 0.9, 0.75]),
    ]
    for Y, centres, reaches in by_hand:
        problem = core.Problem(K=np.eye(3), B=2.0, F=2.0, R=0.7, Y=Y)
        learner = core.make("PE", problem, None, eps=1.0, rng=0, **RECENTRED)
        learner.lower = np.array([-1.5, -0.2, 1.9])
        learner.upper = np.array([-0.5, 0.2, 2.0])
        learner.recentre()
        assert_allclose(learner.centre, centres, atol=1e-15)
        assert_allclose(learner.reach, reaches, atol=1e-15)
        assert learner.curator(2).centre == learner.centre[2]
        assert learner.curator(2).bound == learner.reach[2]


def test_the_ends_of_a_window_are_not_clipped_by_rounding():
    rng = default_rng(0)
    for Y in rng.uniform(0.1, 10, 50).tolist():
        problem = core.Problem(K=np.eye(20), B=Y, F=Y, R=0.4 * Y, Y=Y)
        learner = core.make("PE", problem, None, eps=1.0, rng=0, **RECENTRED)
        learner.lower = rng.uniform(-Y, 0.5 * Y, 20)
        learner.upper = np.minimum(learner.lower + rng.uniform(0, Y, 20), Y)
        learner.recentre()
        for arm in range(20):
            curator = learner.curator(arm)
            if learner.lower[arm] - problem.R <= -Y:
                curator.report(-Y, 0.5)
            if learner.upper[arm] + problem.R >= Y:
                curator.report(Y, 0.5)
            assert curator.clipped == 0


def test_a_range_is_a_bound_on_the_noise_as_well():
    wide = core.Problem(K=np.eye(3), B=5.0, R=4.0, Y=2.0)
    assert (wide.F, wide.bound, wide.spread, wide.c, wide.v) == (2.0, 2.0, 2.0, 4.0, 4.0)
    usual = core.Problem(K=np.eye(3), B=5.0, R=4.0)
    assert (usual.F, usual.bound, usual.spread, usual.c, usual.v) == (5.0, 9.0, 4.0, 16.0, 41.0)
    loose = core.Problem(K=np.eye(3), B=5.0, R=4.0, Y=100.0)
    assert (loose.F, loose.bound, loose.spread) == (5.0, 9.0, 4.0)


@mark.parametrize("name", ["PE", "GP-UCB"])
def test_proved_bands_hold_on_a_table_with_a_range(name):
    """At delta = 0.1 at most 12 of 40 runs fail, but for a chance of 1e-3."""
    how = {"PE": dict(schedule="double", first=256), "GP-UCB": dict(switch=0.1, lam=None)}
    told = dict(eps=2.0, curator=core.OneBit, constants="proved") | how[name]
    problem = core.table_problem(stars(), low=1, high=5)
    failures = 0
    for seed in range(40):
        learner = core.make(name, problem, 50_000, rng=seed, **told)
        failures += bands_fail(learner, default_rng(seed))
    assert failures <= 12


def test_the_recipe_learns_where_the_papers_bounds_do_not():
    """The first snippet of a practitioner, on ratings."""

    def regret(problem, **curator):
        run = core.simulate(problem, "TGP", 3000, trials=3, seed=0, eps=1.0, **curator)
        return run.regret[0, :, -1].mean()

    table = stars(2000, 12)
    paper = regret(core.table_problem(table))
    assert regret(core.table_problem(table, low=1, high=5), curator=core.OneBit) < 0.7 * paper


def test_one_recipe_for_range_noise_and_norm_and_every_page_of_use_leads_to_it():
    read = lambda name: (ROOT / name).read_text("utf-8")
    assert read("notebooks/which.ipynb").count("(sec-recipe)=") == 1
    for name in ("notebooks/own.ipynb", "notebooks/deploy.ipynb", "book/reproduce.md"):
        assert "{ref}`the recipe <sec-recipe>`" in read(name), name
    assert "the recipe" in read("README.md")


def test_the_users_named_beside_the_eight_lines_are_those_of_learners_told_the_same():
    from notebooks.which import eight_lines, norms

    told, played = eight_lines.problem, norms.ratings(eight_lines.problem)(3)
    for name in ("B", "F", "R", "Y"):
        assert getattr(played, name) == getattr(told, name), name
    assert_allclose(played.samples.mean(axis=0), played.f)
    assert np.abs(played.f).max() == 1 and np.abs(played.samples - played.f).max() == approx(1)
    assert core.rkhs_norm(played) < told.B  # the guess is high enough


@mark.parametrize(
    "range_, words",
    [
        (dict(low=5, high=1), "low = 5, high = 1: must be low < high"),
        (dict(low=1), "low = 1, high = None: must be given together"),
        (dict(low=1, high=nan), "high = nan: must be a number"),
        (dict(low=2, high=5), r"samples\[\d+, \d+\] = 1: must be from low = 2 to high = 5"),
        (dict(low="1", high=5), "low = '1'"),
    ],
)
def test_a_range_that_cannot_be_is_refused(range_, words):
    with raises(ValueError, match=words):
        core.table_problem(stars(), **range_)


def test_a_table_with_fewer_rows_than_arms_has_no_norm_and_wants_B():
    few = stars(5, 9, seed=3) + 0.01 * np.arange(5)[:, None]
    assert core.rkhs_norm(core.table_problem(few)) == inf
    with raises(ValueError, match=r"B: must be given.*\(9 arms, 5 rows\)"):
        core.table_problem(few, low=0, high=6)
    assert core.table_problem(few, low=0, high=6, B=60.0).B == 60.0


def test_the_norm_of_a_known_function():
    x = np.linspace(0, 1, 30)
    a = default_rng(0).uniform(-1, 1, 30)
    smooth = partial(core.se_kernel, lengthscale=0.2)
    rougher = partial(core.matern_kernel, lengthscale=0.3, nu=1.5)
    for kernel in (smooth, rougher):
        K = kernel(x, x)
        norm = sqrt(a @ K @ a)
        told = dict(f=K @ a, B=norm, R=1.0)
        assert core.rkhs_norm(core.Problem(K=K, **told)) == approx(norm)
        by_points = core.Problem(points=x, kernel=kernel, **told)
        assert core.rkhs_norm(by_points) == approx(norm, rel=1e-5)
    with raises(ValueError, match="f = None: must be known to have a norm"):
        core.rkhs_norm(core.Problem(K=K, B=1.0, R=1.0))


def test_an_f_beyond_its_bounds_is_warned_of_and_one_within_is_not():
    K = np.eye(2)
    with warns(UserWarning, match=r"max \|f\| = 3 is beyond F = 2: rewards may be clipped"):
        core.Problem(K=K, f=[0.0, 3.0], B=2.0, R=1.0)
    with warns(UserWarning, match=r"max \|f\| = 3 is beyond B = 2: .*nothing is proved"):
        core.Problem(K=K, f=[0.0, 3.0], B=2.0, F=4.0, R=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        core.Problem(K=K, f=[0.0, -2.0], B=2.0, R=1.0)
        core.synthetic_problem(seed=0)
        core.stock_problem()
        core.light_problem()
        core.table_problem(stars(), low=1, high=5)


# ---- Tables as they come -------------------------------------------------------------------------


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        (tmp_path / "größe.csv").write_text(text, encoding="utf-8")
        return core.read_table(tmp_path / "größe.csv", **options)

    return read


GAPS = "user,a,b\nx,1,2\ny,,4\nz,3,NA\nw,5,6\nv,nan,null\n"


def test_missing_values_are_refused_dropped_or_filled_with_the_mean(read):
    with raises(ValueError) as error:
        read(GAPS)
    for word in ("line 3, column 2 (a) is ''", "missing='drop'", "3 of 5 rows", "missing='mean'"):
        assert word in str(error.value)
    dropped = read(GAPS, missing="drop")
    assert dropped.values.tolist() == [[1, 2], [5, 6]]
    assert dropped.left_out == {"user": ["x", "w"]}
    filled = read(GAPS, missing="mean")
    assert filled.values.tolist() == [[1, 2], [3, 4], [3, 4], [5, 6], [3, 4]]
    with raises(ValueError, match="leaves no row.*'mean'"):
        read("a,b\n1,\n,2\n", missing="drop")
    with raises(ValueError, match="missing = 'skip': must be 'error', 'drop' or 'mean'"):
        read(GAPS, missing="skip")


@mark.parametrize("missing", ["drop", "mean"])
def test_infinities_and_words_are_no_missing_values(read, missing):
    with raises(ValueError, match="line 3, column 1 .a. is 'inf'"):
        read("a,b\n1,2\ninf,3\n", missing=missing)
    with raises(ValueError, match="line 3, column 2 .b. is 'four'"):
        read("a,b\n1,2\n3,four\n", missing=missing)


@mark.parametrize(
    "text",
    [
        "a,b,date\n1,1e6,2020-01-01\n-3.5,2E-1,2020-01-02\n",
        "a,date,b\n1,2020-01-01,1e6\n-3.5,2020-01-02,2E-1\n",
        "a;day;b\n1;31.12.2020;1e6\n-3,5;1.1.2021;2E-1\n",
        "a,b,who,\n1,1e6,me,\n-3.5,.2,you,\n",
    ],
)
def test_a_column_of_dates_or_labels_is_left_out_wherever_it_stands(read, text):
    table = read(text)
    assert table.values.tolist() == [[1, 1e6], [-3.5, 0.2]]
    assert table.names == ["a", "b"]
    assert next(iter(table.left_out)) in ("date", "day", "who")


COLUMNS = ("user", "film", "stars")
LONG = """user,when,film,stars
u0,2020-01-01,Film A,1
u0,2020-01-02,Film B,2
u0,2020-01-03,Film C,3
u1,2020-01-02,Film A,2
u1,2020-01-03,Film B,3
u1,2020-01-04,Film C,4
u2,2020-01-03,Film A,3
u2,2020-01-05,Film C,5
u3,2020-01-04,Film A,4
u3,2020-01-05,Film B,5
u3,2020-01-06,Film C,1
"""


def test_one_value_a_row_is_read_as_users_by_items(read):
    text = LONG + "u2,2020-02-01,Film B,4\n"
    table = read(text, long=COLUMNS)
    assert table.names == ["Film A", "Film B", "Film C"]
    assert table.left_out == {"user": ["u0", "u1", "u2", "u3"]}
    assert table.values.tolist() == [[1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 1]]


def test_one_value_a_row_with_gaps_wants_to_be_told(read):
    with raises(ValueError) as error:
        read(LONG, long=COLUMNS)
    for word in ("no value of 'Film B' for 'u2'", "missing='drop'", "1 of 4 rows"):
        assert word in str(error.value)
    assert len(read(LONG, long=COLUMNS, missing="drop").values) == 3
    filled = read(LONG, long=["user", "film", "stars"], missing="mean")
    assert filled.values[2, 1] == (2 + 3 + 5) / 3
    with raises(ValueError, match="no column 'movie'; the columns are user, when, film"):
        read(LONG, long=("user", "movie", "stars"))
    with raises(ValueError, match="second value of 'Film A' for 'u0'"):
        read(LONG + "u0,2020-03-01,Film A,4\n", long=COLUMNS)
    with raises(ValueError, match="line 13, column 4 .stars. is 'good'"):
        read(LONG + "u9,2020-03-01,Film A,good\n", long=COLUMNS)
    for wrong in (True, "user", ("user", "film")):
        with raises(ValueError, match="long = .*three columns"):
            read(LONG, long=wrong)


def test_a_file_that_looks_long_is_refused_with_what_to_write(read):
    with raises(ValueError, match=r"long=\('user', 'film', 'stars'\).*long=False"):
        read(LONG)
    with raises(ValueError, match=r"long=\('user', 'film', 'stars'\)"):
        read("user,film,stars\n1,A,4\n1,B,5\n2,A,3\n2,B,2\n")
    ids = "".join(f"{u},{i},{(u * i) % 5}\n" for u in range(10, 50, 4) for i in range(7))
    with raises(ValueError, match=r"long=\('user', 'item', 'rating'\)"):
        read("user,item,rating\n" + ids)
    assert read("user,item,rating\n" + ids, long=False).values.shape == (70, 3)


def test_tables_of_three_arms_are_not_taken_for_long_ones(read):
    for seed in range(20):
        rows = default_rng(seed).integers(1, 6, (40, 3))
        body = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
        assert read("a,b,c\n" + body).values.shape == (40, 3)


def test_a_table_and_what_it_leaves_out_print_short():
    table = core.read_table(ROOT / "data/stocks.csv")
    assert len(repr(table)) < 100 and len(repr(table.left_out)) < 100
    assert "823" in repr(table.left_out) and "date" in str(table.left_out)
    assert len(table.left_out["date"]) == 823


# ---- The page "Your own data" --------------------------------------------------------------------


def star_ratings():
    """1 to 5 stars of 6 films; the first column is the worst, the fourth the best."""
    rng = default_rng(3)
    means = np.array([2.3, 2.9, 3.3, 4.1, 3.0, 2.6])
    return np.clip(np.round(rng.normal(means, 0.8, (400, 6))), 1, 5)


def test_a_range_that_leaves_no_reward_is_refused_by_its_name():
    from notebooks.own import forecast

    table = Table(stars(), [f"Film {i}" for i in range(stars().shape[1])], {})
    assert_array_equal(forecast.clipped(table, 1.0, 5.0), stars())
    with raises(ValueError, match="low = 0, high = 1: must hold the rewards; column Film 0 goes"):
        forecast.clipped(table, 0.0, 1.0)
    with raises(ValueError, match="low = 5, high = 1: must be low < high"):
        forecast.read_problem(forecast.clipped(table, 5.0, 1.0), 5.0, 1.0)


def test_the_forecast_has_no_cliff_at_any_number_of_users():
    from notebooks.own import forecast

    problem, has_norm = forecast.read_problem(star_ratings(), 1.0, 5.0)
    assert has_norm
    for label in forecast.CANDIDATES:
        ends = []
        for users in (100_000, 100_001):
            _, relative = forecast.run(problem, label, users, trials=2, seed=1, eps=1.0)
            ends.append(relative[:, -1].mean())
        assert ends[0] == approx(ends[1], rel=0.02), label


def test_nothing_is_recommended_whose_interval_reaches_uniform_play():
    from notebooks.own import forecast

    unsure = {"a": np.array([0.2, 1.2]), "b": np.array([0.99, 1.01])}
    assert forecast.choose(unsure) is None
    sure = unsure | {"c": np.array([0.5, 0.52, 0.51]), "d": np.array([0.6, 0.62, 0.61])}
    assert forecast.choose(sure) == "c"


def test_the_advice_says_what_the_trials_show_and_no_more():
    from notebooks.own import forecast

    def advise(**means):
        spread = np.array([-0.01, 0.0, 0.01])
        finals = dict.fromkeys(forecast.CANDIDATES, 1.0 + spread)
        finals |= {label.replace("_", ", "): mean + spread for label, mean in means.items()}
        return forecast.advise(finals)

    choice, text = advise()
    assert "**no recommendation**: none of the four is shown to beat uniform play" in text
    assert all(forecast.said(label) in text for label in forecast.CANDIDATES)  # all were tried
    choice, text = advise(elimination_order=0.5)
    assert choice == "elimination, order" and "**use elimination at order constants" in text
    assert "Neither proved learner is shown" in text
    choice, text = advise(**{"GP-UCB_order": 0.5, "GP-UCB_proved": 0.7})
    assert choice == "GP-UCB, proved" and "**use GP-UCB at proved constants" in text
    assert "Without a proof, GP-UCB at order constants loses less: 0.50" in text
    single = {label: np.array([0.3]) for label in forecast.CANDIDATES}
    assert "one trial gives no interval" in forecast.advise(single)[1]


def test_a_candidate_that_has_not_used_a_report_is_not_recommended():
    """Elimination's first batch is the same in every trial, and may lie below uniform play."""
    from notebooks.own import forecast

    first_batch = {"elimination, proved": np.array([0.9, 0.9, 0.9])}
    assert forecast.choose(first_batch) is None


def test_a_share_has_two_digits():
    from notebooks.own import forecast

    assert forecast.share(0.004, 0.003, 0.006) == "less than 0.01"
    assert forecast.share(0.58, 0.55, 0.6) == "0.58 [0.55, 0.60]"


@mark.parametrize(
    "lower, upper, said",
    [
        (134.9, 228.2, "134 and 229"),
        (3.6297, 3.7201, "3.629 and 3.721"),
        (-0.2, 1.04, "-0.2 and 1.1"),
    ],
)
def test_the_ends_of_a_band_are_rounded_away_from_each_other(lower, upper, said):
    from notebooks.own import forecast

    assert forecast.between(lower, upper) == said
    assert forecast.at_most(upper - lower) in ("94", "0.091", "1.3")


def test_the_page_says_how_often_the_right_arm_was_named():
    from notebooks.own import forecast

    f = np.array([0.5, 2.0, 1.0, 0.0])
    named = lambda *arms: [(arm, 0.0, 1.0, 0.3) for arm in arms]
    assert forecast.say_right(named(1, 1, 1), f) == "All 3 trials name it."
    said = forecast.say_right(named(1, 2), f)
    assert said.startswith("1 of 2 trials name it (by chance: one in 4)")
    assert said.endswith("the arms they name lie 0.5 below it on average.")


@mark.parametrize(
    "lost, sure, unsure",
    [(0.3, 0, 1), (0.0, 1, 0)],
)
def test_the_page_says_that_more_users_narrow_a_band_in_which_another_arm_may_be_better(
    lost, sure, unsure
):
    from notebooks.own import forecast

    said = forecast.say_found("GP-UCB, proved", (1, 0.1, 0.4, lost), "B", 3.0, True)
    assert said.startswith("GP-UCB at proved constants names **B** (first trial).")
    assert said.count("no other arm's mean is larger; this holds") == sure
    assert said.count("Not sure yet") == said.count("More users narrow this.") == unsure


def test_the_norm_in_the_printed_program_is_not_below_that_of_the_table():
    from notebooks.own import program

    for norm in (1755.7348327, 0.0123456789, 2.0, 9.9999999):
        printed = float(f"{program.rounded_up(norm):.6g}")
        assert norm * (1 - 1e-12) <= printed <= norm * (1 + 2e-5)


@mark.parametrize(
    "long, columns",
    [
        ("user,item,value", ("user", "item", "value")),
        (" user, item , value", ("user", "item", "value")),
        (["user", "item", "value"], ("user", "item", "value")),
        ([], None),
        ("", None),
        (False, False),
    ],
)
def test_the_columns_of_a_long_file_may_be_a_text(long, columns):
    from notebooks.own import forecast

    assert forecast.read_columns(long) == columns


@mark.parametrize("users, says", [(20, "no arm can be named yet"), (60_000, "Film D")])
def test_the_printed_program_names_the_right_arm_or_none(tmp_path, users, says):
    from notebooks.own import forecast, program

    path = tmp_path / "films.csv"
    names = ",".join(f"Film {letter}" for letter in "ABCDEF")
    np.savetxt(path, star_ratings(), delimiter=",", header=names, comments="", fmt="%d")
    problem, _ = forecast.read_problem(star_ratings(), 1.0, 5.0)
    for label in forecast.CANDIDATES if users > 1000 else forecast.PROVED:
        name, options = forecast.learner_options(label)
        options.pop("curator")
        told = dict(table=str(path), missing="", low=1.0, high=5.0, eps=2.0)
        text = program.write(problem, options, learner=name, users=users, **told)
        assert says in program.run(text), label


# ---- The page "How many users do I need?" --------------------------------------------------------


@mark.parametrize(
    "users, low, high, said",
    [
        (2.71e8, 2.6e8, 2.8e8, "270 million ± 5 %"),
        (9.5e6, 5.3e6, 2.04e7, "5 to 20 million"),
        (1.2e6, 5.8e5, 2.2e6, "600,000 to 2 million"),
        (1200, 426, 2770, "400 to 3,000"),
    ],
)
def test_an_interval_is_never_written_from_a_number_to_itself(users, low, high, said):
    from notebooks.users import picture

    assert picture.spread(dict(users=users, low=low, high=high)) == said


def test_the_price_of_privacy_is_that_of_the_better_learner_on_either_side():
    """Without privacy GP-UCB needs far fewer users than elimination, so it has to be counted."""
    from ldpbo import results
    from notebooks.users import picture

    table = results.stored("users")
    plain = picture.least_without_privacy(table, 0.1, "se")
    stored = table[(table.trust == "none") & (table.share == 0.1) & (table.problem == "se")]
    assert 100 < plain < stored.users.min() / 5
