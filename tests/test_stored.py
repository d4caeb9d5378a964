"""Stored tables hold what their programs declare, and parts of them are computed again."""

import hashlib
import importlib.util
import itertools
import os
import re
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ldpbo import datasets, results
from ldpbo.provenance import code_hash
from notebooks.elimination import runs
from notebooks.ub_coverage import runs as rounds

ROOT = Path(__file__).resolve().parent.parent


def program(name):
    """The program data/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"data/{name}.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


def table(name):
    return pd.read_csv(ROOT / f"data/{name}.csv", dtype={"code": str})


def program_and_table(name):
    return program(name), table(name)


def chance(name):
    """Draws that change with every change of a table."""
    content = (ROOT / f"data/{name}.csv").read_bytes()
    return np.random.default_rng(zlib.crc32(content))


def told(eps):
    """The eps of a row; an empty field is None."""
    return None if np.isnan(eps) else eps


def test_make_stored_computes_every_table_that_is_marked_where_another_code_made_it():
    """And data/packages.csv, which names the code of the audit."""
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\nstored:")[2]
    names = re.search(r"for name in (.*?);", recipe)[1].split()
    assert sorted(names) == sorted([*results.STORED_TESTS, "packages"])
    assert all((ROOT / f"data/{name}.py").exists() for name in names)


# ---- data/write.py -------------------------------------------------------------------------------


def test_a_program_that_is_stopped_leaves_the_parts_that_were_done(tmp_path, monkeypatch):
    """Stopped in the third part, then in the middle of writing: no half table, nothing else."""
    write = program("write")
    target = tmp_path / "table.csv"
    monkeypatch.setattr(sys, "argv", ["data/table.py", str(target)])

    def parts():
        yield pd.DataFrame({"a": [0.12345], "b": [None]})
        yield pd.DataFrame({"a": [2.0], "b": ["x"]})
        raise KeyboardInterrupt

    def stop(*paths):
        raise OSError

    with pytest.raises(KeyboardInterrupt):
        write.main("table.py", parts(), float_format="%.2g")
    code = code_hash()
    whole = f"a,b,code\n0.12,,{code}\n2,x,{code}\n"
    assert target.read_text("utf-8") == whole
    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(OSError):
        write.main("table.py", parts())
    assert target.read_text("utf-8") == whole
    assert list(tmp_path.iterdir()) == [target]


# ---- data/tables.py ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["named", "data/original"])
def test_stand_ins_are_among_the_tables_where_originals_are_here(tmp_path, monkeypatch, place):
    """An original of the stocks, made up, in the folder that is named or in that of `make data`."""
    folder = tmp_path / "data"
    (tmp_path / place).mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    for name in ("light.csv", "stocks.csv"):
        shutil.copy(ROOT / "data" / name, folder)
    content = (folder / "stocks.csv").read_bytes()
    (tmp_path / place / "fin.csv").write_bytes(content)
    monkeypatch.setattr(datasets, "DATA", folder)
    monkeypatch.setitem(datasets.ORIGINALS, "fin.csv", hashlib.sha256(content).hexdigest())
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    if place == "named":
        monkeypatch.setenv("LDPBO_DATA", str(tmp_path / place))
    stand_ins = [("light", "stand-in"), ("stocks", "stand-in")]
    assert list(program("tables").tables_here()) == [*stand_ins, ("stocks", "original")]
    made = program("constants")
    there = [("original", panel) for panel, (name, _) in made.PANELS.items() if name == "stocks"]
    assert list(made.problems()) == [("stand-in", panel) for panel in made.PANELS] + there
    (tmp_path / place / "fin.csv").unlink()
    assert list(program("tables").tables_here()) == stand_ins


# ---- data/elimination.csv ------------------------------------------------------------------------


def test_the_campaigns_of_elimination_are_those_declared():
    made, stored = program_and_table("elimination")
    assert stored.code.nunique() == 1
    assert set(stored.trials) == {made.TRIALS}
    for kernel, part in stored.groupby("kernel"):
        assert kernel in ("se", "matern")
        assert_allclose(part.users, made.USERS, rtol=1e-4)
    assert len(stored) == 2 * len(made.USERS)


@pytest.mark.build
def test_the_campaigns_of_a_kernel_chosen_at_random_are_computed_again():
    made, stored = program_and_table("elimination")
    kernel = chance("elimination").choice(["se", "matern"])
    kept = stored[stored.kernel == kernel].reset_index(drop=True)
    again = made.campaigns(kernel)
    for column in ("uniform", "PE", "GP-UCB", "share PE", "share GP-UCB", "batches"):
        assert_allclose(again[column], kept[column], rtol=1e-4, err_msg=column)


def test_bounds_chosen_at_random_are_computed_again():
    made, stored = program_and_table("elimination")
    place = chance("elimination").integers(len(stored))
    row = stored.iloc[place]
    (users,) = made.USERS[np.isclose(made.USERS, row.users, rtol=1e-4)]
    again = made.proved(row.kernel, [users])
    for column in ("upper", "upper GP-UCB", "lower"):
        assert_allclose(again[column][0], row[column], rtol=1e-4, err_msg=column)


def test_whole_plays_keep_what_the_proof_needs_in_the_stored_campaigns():
    """One campaign again; none of the stored ones has a ratio above 1."""
    made, stored = program_and_table("elimination")
    assert 0 < stored.rounding.max() < 1
    steps = stored.groupby("kernel").rounding.diff().dropna()
    assert (steps >= 0).all()
    trial = int(chance("elimination").integers(made.TRIALS))
    task = runs.problems("matern", made.SEED, trial + 1)[trial]
    found = runs.rounding(task, 10**6, made.SEED, trial, **made.GIVEN)
    ends, ratios = zip(*found)
    assert ends[-1] == 10**6
    assert ends[0] == runs.FIRST
    most = stored[stored.kernel == "matern"].rounding.max()
    assert max(ratios[:-1]) <= most * (1 + 1e-4)


# ---- data/coverage.csv ---------------------------------------------------------------------------


def numbers(text):
    return np.array(text.split(), float)


def test_the_coverage_runs_are_those_declared():
    made, stored = program_and_table("coverage")
    batches = stored[stored.learner == "PE"]
    eps = map(told, batches.eps)
    found = zip(batches.kernel, batches.reports, eps, batches["T"], batches.runs)
    assert list(found) == made.SHORT + made.LONG
    others = stored[stored.learner != "PE"]
    keys = zip(others.learner, others.constants, others.scale, others.reports)
    assert list(keys) == rounds.SETTINGS
    assert set(others.runs) == {made.RUNS}
    assert [len(numbers(text)) for text in stored.use] == list(stored.runs)
    assert stored.code.nunique() == 1


def test_proved_and_printed_bands_failed_in_no_stored_run():
    """A failure in one run of ten would be allowed; the pages say what was found."""
    stored = table("coverage")
    kept = stored[stored.constants.isin(["proved", "printed"])]
    assert max(numbers(text).max() for text in kept.use) <= 1


@pytest.mark.parametrize("i", range(13))
def test_runs_of_elimination_chosen_at_random_are_computed_again(i):
    made, stored = program_and_table("coverage")
    row = stored[stored.learner == "PE"].iloc[i]
    trials = chance("coverage").choice(row.runs, 2, replace=False)
    setting = row.kernel, row.reports, told(row.eps), row["T"]
    again = made.of_batches(*setting, trials.tolist())
    assert_allclose(again, numbers(row.use)[trials], rtol=6e-3)


@pytest.mark.parametrize("setting", rounds.SETTINGS, ids=lambda s: "-".join(map(str, s)))
def test_the_first_runs_of_each_setting_are_computed_again(setting):
    stored = table("coverage")
    (place,) = [i for i, known in enumerate(rounds.SETTINGS) if known == setting]
    again = rounds.use(setting, 2)
    assert_allclose(again, numbers(stored.use[place])[:2], rtol=6e-3)


# ---- data/onebit.csv -----------------------------------------------------------------------------


def test_the_campaigns_on_one_bit_are_those_declared():
    made, stored = program_and_table("onebit")
    names = ["experiment", "kernel", "users", "learner", "value"]
    found = stored[names].drop_duplicates().astype(object)
    found = found.where(found.notna(), None)
    assert [tuple(row) for row in found.to_numpy()] == made.CELLS
    assert len(stored) == len(made.CELLS) * made.FUNCTIONS
    assert stored.code.nunique() == 1


def test_campaigns_on_one_bit_chosen_at_random_are_computed_again():
    made, stored = program_and_table("onebit")
    for place in chance("onebit").choice(len(stored), 5, replace=False):
        row = stored.iloc[place]
        cell = made.CELLS[place // made.FUNCTIONS]
        share, choices, most = made.play(cell, row.function)
        assert_allclose(share, row.share, rtol=6e-4)
        assert_allclose(choices, row.choices, rtol=6e-4)
        if most is not None:
            assert_allclose(most, row["at most"], rtol=6e-4)


def test_seldom_switching_never_chose_more_often_than_the_theorem_allows():
    stored = table("onebit")
    kept = stored[stored["at most"].notna()]
    allowed = kept["at most"] * (1 + 1e-3)
    assert len(kept) > 400
    assert (kept.choices <= allowed).all()


# ---- data/constants.csv --------------------------------------------------------------------------


def test_bounds_on_the_tables_that_are_here_are_computed_again():
    made, stored = program_and_table("constants")
    kept = stored[stored.what == "bound"]
    groups = kept.groupby(["data", "panel"], sort=False).groups
    assert list(groups) == list(itertools.product(("stand-in", "original"), made.PANELS))
    here = made.problems()
    assert [panel for data, panel in here if data == "stand-in"] == list(made.PANELS)
    for (data, panel), problem in here.items():
        again = made.bounds_of(panel, problem)
        part = kept[(kept.panel == panel) & (kept.data == data)]
        assert list(part["name"]) == [row["name"] for row in again]
        assert_allclose(part.value, [row["value"] for row in again], rtol=1e-4)


@pytest.mark.build
def test_regret_at_the_constants_is_that_declared_and_one_learner_is_run_again():
    made, stored = program_and_table("constants")
    kept = stored[stored.what == "regret"]
    runs_of = kept.groupby(["name", "constants"], sort=False)
    assert list(runs_of.groups) == made.RUNS
    assert set(runs_of.size()) == {len(made.ROUNDS)}
    again = made.regret("MoMA", "printed")
    part = runs_of.get_group(("MoMA", "printed"))
    assert_allclose(part.value, [row["value"] for row in again], rtol=1e-4)


# ---- data/arms.csv -------------------------------------------------------------------------------


def test_numbers_of_users_for_few_arms_are_computed_again_exactly():
    made, stored = program_and_table("arms")
    assert set(zip(stored.problem, stored.arms)) == set(made.CASES)
    names = ["problem", "arms", "learner", "trust", "eps"]
    aggregated = [(kernel, 10, "PE", "aggregator", 0.3) for kernel in ("matern", "identity")]
    for kind in [("se", 10, "PE", "local", 1.0), *aggregated]:
        part = stored[(stored[names] == list(kind)).all(axis=1)]
        again = made.rows(*kind)
        assert again.users.astype(float).tolist() == part.users.tolist()


def test_the_first_page_names_the_better_learner_of_each_problem():
    """GP-UCB in the smooth case, elimination on the paper's two tables and for arms in no order."""
    users = results.stored("users")
    users = users[(users.eps == 1) & (users.trust == "local") & (users.data != "stand-in")]
    arms = results.stored("arms")
    unrelated = (arms.problem == "identity") & (arms.arms == 100)
    arms = arms[(arms.eps == 1) & (arms.trust == "local") & unrelated]
    needed = pd.concat([users, arms]).set_index(["problem", "share", "learner"]).users
    for share in (0.5, 0.1):
        assert needed["se", share, "GP-UCB"] < needed["se", share, "PE"]
        for problem in ("light", "stocks", "identity"):
            assert needed[problem, share, "PE"] < needed[problem, share, "GP-UCB"]
