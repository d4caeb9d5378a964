"""Notebooks: thin, parameterised, committed clean; and each of them runs (at the sizes of params/quick.yml)."""

import ast
import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
COLUMN = 90
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)


def cells(path, kind="code"):
    return [c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == kind]


def parameters(path):
    found = [c for c in cells(path) if "parameters" in c["metadata"].get("tags", ())]
    assert len(found) == 1, f"{len(found)} cells tagged `parameters`"
    return found[0]


@each_notebook
def test_first_code_cell_is_the_only_parameters_cell_and_holds_commented_literals(path):
    cell = parameters(path)
    assert cell["id"] == cells(path)[0]["id"]
    source = "".join(cell["source"])
    for statement in ast.parse(source).body:
        assert isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        ast.literal_eval(statement.value)
        assert "#" in source.splitlines()[statement.lineno - 1], (
            f"no comment on {statement.targets[0].id}"
        )


@each_notebook
def test_no_later_cell_gives_a_parameter_another_value(path):
    """The line at the end of each page says the parameters as they are then. (A panel makes a list of the names it is given.)"""
    first, *others = [ast.parse("".join(c["source"])) for c in cells(path)]
    known = {t.id for s in first.body for t in s.targets}
    stored = {
        n.id
        for tree in others
        for s in tree.body
        if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.With))
        for t in getattr(s, "targets", [getattr(s, "target", s)])
        for n in ast.walk(t)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    stored |= {
        n.id
        for tree in others
        for s in tree.body
        if isinstance(s, ast.For)
        for inner in s.body
        for n in ast.walk(inner)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    assert known & stored <= ({"names"} if path.stem == "panel" else set())


@each_notebook
def test_committed_without_outputs_and_with_stable_unique_ids(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert not any(c["outputs"] or c["execution_count"] for c in cells(path))
    ids = [c["id"] for c in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info", "long", "needs"}


@each_notebook
def test_no_class_and_no_algorithm_is_defined_in_a_notebook(path):
    for cell in cells(path):
        tree = ast.parse(
            "".join(line for line in cell["source"] if not line.startswith(("%", "!")))
        )
        assert not [
            n for n in ast.walk(tree) if isinstance(n, (ast.ClassDef, ast.AsyncFunctionDef))
        ]
        assert not [
            n.name
            for n in tree.body
            if isinstance(n, ast.FunctionDef) and n.end_lineno - n.lineno >= 10
        ], "only a derivation's own tiny helper"
        assert not [
            n
            for n in ast.walk(tree)
            if isinstance(n, ast.FunctionDef)
            and n.name in {"ask", "tell", "make", "simulate", "posterior"}
        ]
        assert len("".join(cell["source"]).splitlines()) <= 25


def lines(path):
    return [len("".join(c["source"]).splitlines()) for c in cells(path)]


def test_code_cells_of_the_book_have_at_most_six_lines_on_average():
    """Over all code cells of all notebooks, blank lines counted; what draws repeatedly is in ldpbo/figures.py."""
    counts = [n for path in NOTEBOOKS for n in lines(path)]
    assert len(counts) > 300 and sum(counts) / len(counts) <= 6


@each_notebook
def test_no_notebook_has_more_than_eight_lines_a_code_cell(path):
    assert sum(lines(path)) / len(lines(path)) <= 8


def shown(path):
    """Code cells whose code the reader sees without asking for it."""
    return [
        c
        for c in cells(path)
        if not set(c["metadata"].get("tags", ())) & {"hide-input", "remove-input", "remove-cell"}
    ]


@each_notebook
def test_code_on_the_page_fits_its_column(path):
    """COLUMN characters are what a code cell holds at 1280 pixels (tests/test_book.py measures it); wider lines would be wrapped."""
    assert not [
        f"{c['id']}: {line}"
        for c in shown(path)
        for line in "".join(c["source"]).splitlines()
        if len(line) > COLUMN
    ]


@each_notebook
def test_plumbing_is_hidden_and_modules_have_one_alias(path):
    assert not [
        c["id"]
        for c in shown(path)
        if re.search(
            r"fig\.(glue|glue_all|provenance)\(|^(import|from) ", "".join(c["source"]), flags=re.M
        )
    ]
    aliases = re.findall(
        r"^import (ldpbo_\w+)(?: as (\w+))?$",
        "\n".join("".join(c["source"]) for c in cells(path)),
        flags=re.M,
    )
    assert set(aliases) <= {
        ("ldpbo_core", "core"),
        ("ldpbo.bounds", "bounds"),
        ("ldpbo.figures", "fig"),
    }


@each_notebook
def test_every_figure_has_a_caption_a_label_and_alt_text(path):
    for cell in cells(path):
        if "fig.show(" in "".join(cell["source"]):
            options = cell["metadata"]["mystnb"]
            name = options["figure"]["name"]
            assert len(options["figure"]["caption"]) > 20 and len(options["image"]["alt"]) > 20
            assert f'"{name}"' in "".join(cell["source"]) and name.startswith("fig-"), name


def test_figure_labels_are_unique_over_the_book():
    names = [
        c["metadata"]["mystnb"]["figure"]["name"]
        for p in NOTEBOOKS
        for c in cells(p)
        if "figure" in c["metadata"].get("mystnb", {})
    ]
    assert len(set(names)) == len(names)


def test_quick_sizes_name_existing_notebooks_and_parameters():
    small = yaml.safe_load((ROOT / "notebooks/params/quick.yml").read_text("utf-8"))
    for page, sizes in small.items():
        path = ROOT / f"notebooks/{page}.ipynb"
        known = {
            t.id for s in ast.parse("".join(parameters(path)["source"])).body for t in s.targets
        }
        assert set(sizes) <= known, page
    for path in (ROOT / "notebooks/params").glob("*_*.yml"):
        assert any(
            (ROOT / f"notebooks/{stem}.ipynb").exists()
            for stem in (path.stem, path.stem.split("_")[0])
        ), path.name


@pytest.mark.xdist_group("book")
@each_notebook
def test_runs_at_quick_size_and_is_a_page_of_the_book(path, book):
    pages = list((book / "src/book/pages").glob(f"{path.stem}*.ipynb"))
    assert pages, "not in _toc.yml"
    for page in pages:
        outputs = [o for c in cells(page) for o in c["outputs"]]
        assert all(c["execution_count"] for c in cells(page)) and outputs
        assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]


def papermill(*words):
    return subprocess.run(
        [sys.executable, "-m", "papermill", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )


def test_the_papermill_command_of_the_readme_answers_soon_and_shows_how_far_it_is(tmp_path):
    """Processor seconds, because another test runs beside this one; the first version took 80."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    words = next(line for line in lines if line.startswith("papermill ")).split("#")[0].split()[1:]
    assert words[0].startswith("notebooks/") and (ROOT / words[0]).exists()
    words[1], before = tmp_path / "out.ipynb", resource.getrusage(resource.RUSAGE_CHILDREN)
    done = papermill(*words)
    after, text = (
        resource.getrusage(resource.RUSAGE_CHILDREN),
        (tmp_path / "out.ipynb").read_text("utf-8"),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert after.ru_utime - before.ru_utime < 40
    assert "eps = 2" in text and "T = 1000" in text
    assert re.search(r"\d of 12 runs, \d+ s", done.stderr) and " of 12 runs" not in text


@pytest.mark.parametrize(
    "settings, said",
    [
        (["names", "TGP"], None),
        (["names", "TGP, ATA"], None),
        (["names", "TGB"], "names = TGB: must be among TGP, ATA, MoMA"),
        (["problem", "stocks"], "problem = 'stocks': must be synthetic, light or stock"),
        (["problem", "stock"], None),
    ],
)
def test_a_panel_takes_settings_from_the_command_line_or_says_what_it_takes(
    tmp_path, settings, said
):
    done = papermill(
        "notebooks/panel.ipynb",
        tmp_path / "out.ipynb",
        "-p",
        *settings,
        "-p",
        "T",
        60,
        "-p",
        "trials",
        2,
        "--no-progress-bar",
    )
    assert (done.returncode == 0) == (said is None) and (said or "") in done.stderr, done.stderr[
        -2000:
    ]


@pytest.mark.parametrize("rows, columns", [(40, 4), (12, 20)], ids=["tall", "wide"])
def test_your_own_table_gives_a_recommendation_a_statement_and_a_program(tmp_path, rows, columns):
    """Semicolons, decimal commas and a column of dates; more columns than rows is a problem of another form. Nothing is left for the book to fill in."""
    numbers = np.random.default_rng(1).normal(np.linspace(2, 3, columns), 0.5, (rows, columns))
    lines = ["Datum;" + ";".join(f"Ort {j}" for j in range(columns))]
    lines += [
        f"{i % 28 + 1:02d}.{i // 28 + 1:02d}.2024;"
        + ";".join(f"{x:.3f}".replace(".", ",") for x in row)
        for i, row in enumerate(numbers)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = papermill(
        "notebooks/own.ipynb",
        tmp_path / "out.ipynb",
        "-p",
        "csv",
        tmp_path / "mine.csv",
        "-p",
        "users",
        500,
        "-p",
        "trials",
        2,
        "--log-output",
        "--no-progress-bar",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for said in (f"{columns} columns", "left out: Datum"):
        assert said in (tmp_path / "out.ipynb").read_text("utf-8")
    for said in (
        "For mine.csv and 500 users: **",
        "Your device sends one bit",
        f"read_table({str(tmp_path / 'mine.csv')!r})",
        "learner.tell(",
    ):
        assert said in done.stderr, said
    assert "{glue:" not in (tmp_path / "out.ipynb").read_text("utf-8")


def test_the_python_of_the_readme_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
