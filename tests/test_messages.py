"""What is said to whom: results in print, refusals with their remedy, parameters of a page."""

import json
import os
import re
import subprocess
import sys
import tomllib
import warnings
from concurrent import futures
from functools import partial
from math import inf
from pathlib import Path

import numpy as np
import own_classes as own
import pytest
from numpy.testing import assert_array_equal
from pytest import mark, raises, warns

import ldpbo
import ldpbo_core as core
from ldpbo import formats, parameters

ROOT = Path(core.__file__).resolve().parent
PROBLEM = core.synthetic_problem("se", seed=1, n=12)
f = 0.8 * PROBLEM.f / np.abs(PROBLEM.f).max()
CLICKS = own.Clicks(K=PROBLEM.K, f=f, B=4.0, R=2.0, Y=1.0)


def run_python(*words, **options):
    """A Python process with these words -> what it wrote."""
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, **options)


# ---- What is said to whom ------------------------------------------------------------------------


def test_the_version_is_that_of_the_project():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert ldpbo.__version__ == core.__version__ == version


def test_the_modules_alone_import_without_a_project_file(tmp_path):
    """As in the browser: no metadata, no pyproject.toml."""
    (tmp_path / "ldpbo").mkdir()
    for source in (ROOT / "ldpbo_core.py", *(ROOT / "ldpbo").glob("*.py")):
        (tmp_path / source.relative_to(ROOT)).write_bytes(source.read_bytes())
    program = "import ldpbo_core; print(ldpbo_core.__version__)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = run_python("-c", program, cwd=tmp_path, env=environment, check=True)
    assert re.fullmatch(r"unknown|\d+\.\d+.*", done.stdout.strip())


def test_results_print_short_and_say_how_much_was_learned():
    run = core.simulate(PROBLEM, ["TGP", "uniform"], 200, trials=2, seed=0, eps=1.0)
    shares = (run.regret[:, :, -1] / (200 * run.records["uniform"])).mean(axis=1)
    said = f"TGP {shares[0]:.3g}, uniform {shares[1]:.3g}"
    assert repr(run) == f"Simulation(T=200, trials=2; regret/uniform: {said})"
    many = core.simulate_batches(PROBLEM, 10**5, trials=2, seed=0, eps=1.0, curator=core.OneBit)
    share = (many.regret[:, -1] / (10**5 * many.uniform)).mean()
    assert repr(many) == f"Campaign(T=100000, trials=2; regret/uniform: {share:.3g})"
    same = core.Problem(K=np.eye(3), f=np.zeros(3), B=1.0, R=1.0)
    flat = core.simulate(same, "TGP", 5, trials=1, seed=0)
    assert "TGP 0" in repr(flat)
    assert repr(CLICKS) == "Clicks('unnamed', 12 arms, B=4, F=1, R=2, Y=1, uniform noise)"
    B = f"{PROBLEM.B:.6g}"
    assert repr(PROBLEM) == f"Problem('synthetic-se', 12 arms, B={B}, R=1, uniform noise)"


def valley(x):
    return -abs(x[0] - 0.3)


def rough(X, Y):
    return core.matern_kernel(X, Y, lengthscale=0.3, nu=0.5)


def test_a_function_problem_takes_a_kernel_of_ones_own():
    mine = core.function_problem(valley, [(0, 1)], 32, kernel=rough, seed=0)
    told = dict(kernel="matern", lengthscale=0.3, nu=0.5)
    named = core.function_problem(valley, [(0, 1)], 32, seed=0, **told)
    assert_array_equal(mine.K, named.K)
    assert "rough kernel" in mine.provenance
    by_features = core.function_problem(valley, [(0, 1)], 8, kernel=core.linear_kernel, seed=0)
    assert by_features.Z.shape[0] == 1
    with raises(ValueError, match="kernel = 'cubic': must be 'se', 'matern', or a function of"):
        core.function_problem(valley, [(0, 1)], 8, kernel="cubic")


def test_what_no_process_can_be_sent_is_named_with_the_remedy():
    x = np.linspace(0, 1, 5)
    kernel = lambda X, Y: core.se_kernel(X, Y, lengthscale=0.3)
    problem = core.Problem(points=x, kernel=kernel, f=x, B=2.0, R=1.0)
    play = partial(core.simulate, problem, "TGP", 10, trials=2, seed=0)
    with raises(ValueError, match="workers = 2: problem cannot be sent.*workers=1"):
        play(workers=2)
    assert play(workers=1).regret.shape == play(workers=futures.ThreadPoolExecutor(2)).regret.shape

    class Local(own.Greedy):
        pass

    with raises(ValueError, match="workers = 2: name cannot be sent.*top of a module"):
        core.simulate(PROBLEM, Local, 10, trials=2, seed=0, workers=2)
    with raises(ValueError, match="workers = 'many': .*Executor or a Dask client"):
        core.simulate(PROBLEM, "TGP", 10, trials=2, seed=0, workers="many")


UNFINDABLE = """
import multiprocessing, sys
sys.path[:0] = [{root!r}]
import ldpbo_core as core
multiprocessing.set_start_method("spawn")
class Mine(core.Learner): pass
core.simulate(core.synthetic_problem(seed=0, n=5), Mine, 10, trials=2, seed=0, workers=2)
"""


def test_a_class_that_a_spawned_process_does_not_find_is_explained():
    """Started by -c, a program has no file that the new process could read the class from."""
    done = run_python("-c", UNFINDABLE.format(root=str(ROOT)))
    assert done.returncode
    assert "workers = 2: a process ended" in done.stderr
    assert "put these into a module" in done.stderr


def test_numbers_of_numpy_are_named_as_numbers():
    for value, said in ((np.int64(0), "0"), (np.float32(-1.5), "-1.5"), (np.bool_(False), "False")):
        with raises(ValueError, match=f"lengthscale = {said}: must be"):
            core.se_kernel([0.0], [1.0], lengthscale=value)
    with raises(ValueError, match="T = -3: must be an integer"):
        core.make("TGP", PROBLEM, np.int64(-3))


def test_a_whole_number_with_a_point_is_refused_with_what_to_write():
    with raises(ValueError, match=r"T = 1000000.0: must be an integer .*; write 1000000$"):
        core.make("TGP", PROBLEM, 1e6)
    with raises(ValueError, match=r"at most 10\*\*15$"):
        core.make("TGP", PROBLEM, 10.5)


@mark.parametrize("name", ["TGP", "MoMA", "PE"])
def test_a_learner_past_its_horizon_says_so_once_and_goes_on(name):
    learner = core.make(name, PROBLEM, 40, rng=0)

    def play(rounds):
        for _ in range(rounds):
            learner.ask()
            learner.tell(0.5)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(40)
    with warns(UserWarning, match="T = 40 rounds have been told") as said:
        play(30)
    assert len(said) == 1
    assert learner.t == 70


# ---- Papermill's parameters ----------------------------------------------------------------------

CELLS = ["", "eps = 1.0  # privacy\nusers = 20000\ncsv = ''"]


def test_a_parameter_that_the_notebook_does_not_have_is_refused_in_words():
    with raises(ValueError) as error:
        parameters.checked([*CELLS, "# Parameters\nepsilon = 2\n", "import numpy"])
    assert str(error.value) == (
        "unknown parameter epsilon: this notebook has eps, users, csv; do you mean eps?"
    )
    parameters.checked([*CELLS, "# Parameters\neps = 2\nusers = 5\n", "import numpy"])
    assert parameters.checked(CELLS) == {}
    assert parameters.checked() == {}  # outside a notebook


@mark.parametrize(
    "value, default, becomes",
    [
        (1e6, 20000, 1_000_000),
        ("1e3", 20000, 1000),
        ("100_000", 20000, 100_000),
        (2, 1.0, 2),
        (1, [1.0, 0.1], [1]),
        ("1, 0.5,0.1", [1.0, 0.1], [1, 0.5, 0.1]),
        ("TGP,PE", ["TGP"], ["TGP", "PE"]),
        ('["TGP", "PE"]', ["TGP"], ["TGP", "PE"]),
        ("['TGP']", ["TGP"], ["TGP"]),
        (["TGP"], ["ATA"], ["TGP"]),
        ("user,film,stars", [], ["user", "film", "stars"]),
        (1e3, [500, 501], [1000]),
        (False, [], False),
        (None, 3, None),
        ("a,b.csv", "", "a,b.csv"),
    ],
)
def test_a_parameter_of_the_command_line_takes_the_form_of_the_notebooks_own(
    value, default, becomes
):
    given = [f"x = {default!r}", f"# Parameters\nx = {value!r}\n"]
    (settled,) = parameters.checked(given).values()
    assert settled == becomes
    assert type(settled) is type(becomes)


@mark.parametrize("value", [2.5, "many", "1e3.5", inf])
def test_a_number_of_users_that_is_none_is_refused(value):
    with raises(ValueError, match="users = .*: must be a whole number, such as 1000"):
        parameters.settled("users", value, 20000)


@pytest.mark.build
@mark.parametrize("given, went_on", [("epsilon", False), ("users", True)])
def test_papermill_itself_is_stopped_and_whole_numbers_stay_whole(given, went_on, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("papermill")
    new = nbformat.v4
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    code = "from ldpbo import show\nassert type(users) is int, users"
    parameters = new.new_code_cell(CELLS[1], metadata={"tags": ["parameters"]})
    cells = [new.new_markdown_cell("# Page"), parameters, new.new_code_cell(code)]
    nbformat.write(new.new_notebook(cells=cells, metadata=kernel), tmp_path / "page.ipynb")
    words = ["-m", "papermill", "page.ipynb", "out.ipynb", "-p", given, "2e3"]
    done = run_python(*words, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (done.returncode == 0) is went_on
    assert ("unknown parameter epsilon" in done.stderr) is not went_on


def test_a_page_that_needs_another_takes_it_from_either_build_or_says_how_to_run_it(
    tmp_path, monkeypatch
):
    from ldpbo import results

    monkeypatch.setattr(results, "ROOT", tmp_path)
    monkeypatch.delenv("LDPBO_PAGES", raising=False)
    with raises(FileNotFoundError, match="tools/build.py panel_2a`, with --quick"):
        results.load("panel_2a", "fig-x")
    table = {"name": "fig-x", "columns": {"t": [1.0]}}
    notebook = {"cells": [{"outputs": [{"data": {formats.TABLE: table}}]}]}
    for part in ("quick/", ""):
        path = tmp_path / f"_build/{part}src/book/pages/panel_2a.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert results.load("panel_2a", "fig-x")["t"].tolist() == [1.0]
        assert len(said) == (part == "quick/")
    monkeypatch.setenv("LDPBO_PAGES", str(tmp_path / "_build/quick/src/book/pages"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results.load("panel_2a", "fig-x")  # a quick build that runs now
    monkeypatch.setenv("LDPBO_PAGES", str(tmp_path / "elsewhere"))
    with raises(FileNotFoundError):
        results.load("panel_2a", "fig-x")


def test_the_sliders_say_in_a_line_what_is_refused(monkeypatch, capsys):
    from types import SimpleNamespace

    from notebooks.panel import controls

    parent = {"metadata": {"cellId": "x"}}
    shell = SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: parent))
    monkeypatch.setattr(controls, "get_ipython", lambda: shell)
    given = dict(problem="synthetic", kernel="se", lengthscale=0.2, eps=1.0, T=40, trials=2, seed=0)
    more = dict(lam=1.0, constants="proved", beta_scale=1.0, k=None, delta=0.1, acc=0.1)
    box = controls.make(names=["ATA"], **given, **more)
    box.children[1].click()
    said = capsys.readouterr().out
    assert "constants = 'proved'" in said and "Traceback" not in said
