"""Results are tables: of a run, stored under data/, or left by one page for another.

    table = results.means(results.curves({"order": run}))    # mean regret with 95 % intervals
    tuned = results.sweep("judge")                           # a table under data/sweeps
    other = results.load("panel_2a", "fig-panel-2a-final")   # the table under another page's figure

Every stored table names the code that computed it. Where that is not the code of this book,
`code_note` says so, and which test computes a part of the table again.
"""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import ldpbo_core
from ldpbo import formats, provenance

ROOT = Path(ldpbo_core.__file__).resolve().parent
CODE = provenance.code_hash()
SWEEPS_TEST = "tests/test_sweeps.py::test_stored_cells_chosen_at_random_are_recomputed_exactly"
ORIGINALS_TEST = "tests/test_originals.py::test_one_stored_panel_is_computed_again_exactly"
STORED_TESTS = {  # a table data/NAME.csv -> the test that computes a part of it again
    "arms": "tests/test_stored.py::test_numbers_of_users_for_few_arms_are_computed_again_exactly",
    "campaigns": "tests/test_sweeps.py"
    "::test_stored_campaigns_are_those_declared_and_one_chosen_at_random_is_recomputed_exactly",
    "constants": "tests/test_stored.py"
    "::test_regret_at_the_constants_is_that_declared_and_one_learner_is_run_again",
    "coverage": "tests/test_stored.py::test_the_first_runs_of_each_setting_are_computed_again",
    "elimination": "tests/test_stored.py"
    "::test_the_campaigns_of_a_kernel_chosen_at_random_are_computed_again",
    "onebit": "tests/test_stored.py::test_campaigns_on_one_bit_chosen_at_random_are_computed_again",
    "users": "tests/test_sweeps.py"
    "::test_stored_numbers_of_users_are_those_declared_and_some_are_recomputed_exactly",
}
PANELS = {
    "2a": "2a synthetic, Matérn, ε = 1",
    "2b": "2b light, ε = 0.5",
    "2c": "2c stock, ε = 1",
    "2d": "2d synthetic, SE, non-private",
    "2e": "2e light, non-private",
    "2f": "2f stock, non-private",
    "3a": "3a synthetic, SE, ε = 1",
    "3b": "3b light, ε = 1",
    "3c": "3c stock, ε = 0.5",
}


def data_label(data):
    """Name the data of a panel's table in two words or so."""
    kinds = {"original": "original data", "stand-in": "stand-in data"}
    return kinds.get(data.split()[0], "new f in each trial")


def is_private(panel):
    """Tell whether a panel of the paper is about private reports."""
    return "non-private" not in PANELS[panel]


# ---- Intervals -----------------------------------------------------------------------------------


def interval(samples, axis=0, level=0.95):
    """Compute the mean and its Student-t confidence interval over `axis` -> (mean, low, high).

    One sample has no interval (NaN). Equal samples have one of length 0, where SciPy's `t.interval`
    gives NaN.
    """
    samples = np.asarray(samples, dtype=float)
    mean, n = samples.mean(axis), samples.shape[axis]
    if n > 1:
        from scipy.special import stdtrit

        quantile = stdtrit(n - 1, (1 + level) / 2)
        half = quantile * samples.std(axis, ddof=1) / np.sqrt(n)
    else:
        half = np.full_like(mean, np.nan)
    return mean, mean - half, mean + half


def proportion(hits, n, level=0.95):
    """Compute hits/n and its Clopper-Pearson interval -> (share, low, high)."""
    from scipy.stats import binomtest  # scipy.stats takes 0.4 s to import; few pages need it

    exact = binomtest(int(hits), n).proportion_ci(level)
    return hits / n, float(exact.low), float(exact.high)


# ---- Tables of a run -----------------------------------------------------------------------------


def curves(runs, points=25):
    """Collect {setting: result of `simulate`} in one tidy table, a row for each trial and round.

    The columns are setting, algorithm, trial, t, regret and relative. Uniform play is one more
    algorithm, with the regret that it is expected to have.
    """
    parts = []
    for setting, run in runs.items():
        frame = run.frame(points)
        uniform = frame[frame.algorithm == frame.algorithm.iloc[-1]]
        expected = uniform.t * np.asarray(run.records["uniform"])[uniform.trial]
        uniform = uniform.assign(algorithm="uniform", regret=expected, relative=1.0)
        learners = frame[frame.algorithm != "uniform"]
        parts.append(pd.concat([uniform, learners]).assign(setting=setting))
    return pd.concat(parts)[["setting", "algorithm", "trial", "t", "regret", "relative"]]


def means(frame):
    """Average `curves` over the trials: mean, low and high of each curve and round."""
    keys = ["setting", "algorithm", "t"]
    rows = [[*key, *interval(part)] for key, part in frame.groupby(keys, sort=False).regret]
    return pd.DataFrame(rows, columns=[*keys, "mean", "low", "high"])


def final_regret(run):
    """Compare the algorithms of a run at its end -> {"A" or "A − B": (mean, low, high)}.

    "A" is A's final regret over that of uniform play in the same trial, "A − B" the paired
    difference of two algorithms, each with its 95 % interval over the trials.
    """
    names, T = list(run.records["names"]), run.regret.shape[2]
    share = run.regret[:, :, -1] / (T * np.asarray(run.records["uniform"]))
    found = {name: interval(values) for name, values in zip(names, share)}
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            found[f"{first} − {names[j]}"] = interval(share[i] - share[j])
    return found


def final_table(runs):
    """Tabulate `final_regret` of {setting: result}: mean, low and high of each setting."""
    columns = {}
    for setting, run in runs.items():
        found = final_regret(run)
        columns["row"] = list(found)
        for part, values in zip(("mean", "low", "high"), zip(*found.values())):
            columns[f"{part} (beta x {setting:g})"] = values
    return pd.DataFrame(columns)


def final_rows(table, setting):
    """Read one setting of a `final_table` back as {row: (mean, low, high)}."""
    columns = [table[f"{part} (beta x {setting:g})"] for part in ("mean", "low", "high")]
    return dict(zip(table["row"], zip(*columns)))


# ---- Paired comparisons --------------------------------------------------------------------------


def paired_differences(frame, first, second, column="learner", key=("panel", "T", "seed")):
    """Compare two learners of a sweep on the same users -> {(panel, T): (mean, low, high, p)}.

    The difference is the regret of `first` minus that of `second`, in units of uniform play's; p is
    that of Student's t test over the seeds.
    """
    from scipy.stats import ttest_1samp

    wide = frame.pivot_table(index=list(key), columns=column, values="share")
    if not {first, second} <= set(wide):
        return {}
    difference = (wide[first] - wide[second]).dropna()
    rows = {}
    for where, part in difference.groupby(level=list(range(len(key) - 1))):
        p = float(ttest_1samp(part, 0.0).pvalue) if part.std() > 0 else 1.0
        rows[where] = (*interval(part), p)
    return rows


def holm(p):
    """Adjust p-values by Holm's method; all below alpha are true with probability 1 - alpha."""
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    adjusted = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)[np.argsort(order)]


# ---- Tables stored under data/ -------------------------------------------------------------------


def code_note(codes, test=""):
    """Say that an earlier code made a stored table, and which test computes a part of it again.

    If this code made it there is nothing to say: "". test: that test, "tests/FILE.py::NAME";
    timings have none.
    """
    if set(codes) == {CODE}:
        return ""
    if not test:
        return "computed by an earlier version of the code; no test repeats timings"
    said = test.partition("::test_")[2].replace("_", " ")
    return f"computed by an earlier version of the code and checked by the test “{said}”"


def stored_note(name):
    """Say where the stored runs of data/NAME.csv are, for the line under a figure."""
    return joined(f"stored (data/{name}.csv)", code_note(stored(name)["code"], STORED_TESTS[name]))


def joined(*parts):
    """Join the parts of a note that say something."""
    return "; ".join(part for part in parts if part)


def stored(name):
    """Read the table data/NAME.csv."""
    return pd.read_csv(ROOT / f"data/{name}.csv", dtype={"code": str})


def sweep(name):
    """Read the table data/sweeps/NAME.csv that tools/sweep.py wrote.

    Two columns are added: `share`, the regret over that of uniform play, and `learner`, the name
    with its curator.
    """
    kinds = {"panel": str, "code": str, "name": str}
    frame = pd.read_csv(ROOT / f"data/sweeps/{name}.csv", dtype=kinds)
    curators = frame["curator"].map({"laplace": ", Laplace", "one bit": ", one bit"}).fillna("")
    return frame.assign(share=frame.regret / frame.uniform, learner=frame["name"] + curators)


def sweep_with_ata(name):
    """Read a sweep whose rows of ATA stand in a table of their own, with the seeds of the others.

    ATA's rows that both tables have are the same (tests/test_sweeps.py).
    """
    frame = sweep(name)
    others = frame[frame["name"] != "ATA"]
    return pd.concat([others, sweep(f"{name}_ata")], ignore_index=True)


def sweep_note(frame):
    """Say what made these rows of a sweep, for the line under a figure."""

    def values(column):
        return ", ".join(str(x) for x in sorted(frame[column].unique()))

    constants = "order constants"
    if "constants" in frame and frame["constants"].notna().all():
        constants = values("constants")
    rounds = f"T = {values('T')}, seeds {values('seed')}, {constants}"
    return joined(rounds, f"data: {values('data')}", code_note(frame["code"], SWEEPS_TEST))


# ---- Tables that a page leaves for others --------------------------------------------------------


def columns(data):
    """Return {column: list} for JSON: floats have seven digits, NaN is None."""

    def plain(x):
        if not isinstance(x, float):
            return x
        return float(f"{x:.7g}") if np.isfinite(x) else None

    return {str(k): [plain(x) for x in np.atleast_1d(v).tolist()] for k, v in data.items()}


def csv(data):
    """Return a dict or DataFrame as the text of a CSV file; short columns end in empty cells."""
    series = {k: pd.Series(v, dtype=object) for k, v in columns(data).items()}
    return pd.DataFrame(series).to_csv(index=False, lineterminator="\n")


def executed(page):
    """Find the executed page: that of the build that runs now, else of the last full or quick one.

    A notebook that is run by hand, in JupyterLab or by papermill, has no build of its own.
    """
    book, quick = (ROOT / f"_build/{part}src/book/pages" for part in ("", "quick/"))
    building = os.environ.get("LDPBO_PAGES")
    for folder in [Path(building)] if building else [book, quick]:
        path = folder / f"{page}.ipynb"
        if path.exists():
            if folder == quick and not building:
                warnings.warn(f"{page} is that of a quick build, at small sizes", stacklevel=3)
            return path
    raise FileNotFoundError(
        f"the page {page} has not been run, and this page uses its numbers: run it by "
        f"`.venv/bin/python tools/build.py {page}`, with --quick at small sizes, or `make book`"
    )


def load(page, name):
    """Read the data of figure `name` of an executed page -> {column: array}; text stays text."""
    path = executed(page)
    notebook = json.loads(path.read_text("utf-8"))  # nbformat would take 2 s to import
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            table = output.get("data", {}).get(formats.TABLE)
            if table and table["name"] == name.replace("_", "-"):
                return {k: _array(v) for k, v in table["columns"].items()}
    raise KeyError(f"{path.name} has no figure {name} with data")


def _array(values):
    """Make an array of a column that `columns` wrote."""
    return np.array(values, dtype=None if values and isinstance(values[0], str) else float)
