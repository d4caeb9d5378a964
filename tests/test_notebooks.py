"""Notebooks: thin, parameterised, committed clean; each runs (at the sizes of params/quick.yml)."""

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

import citations

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
    """The line at the end of a page says them as they are then. (A panel makes a list of names.)"""
    first, *others = [ast.parse("".join(c["source"])) for c in cells(path)]
    known = {t.id for s in first.body for t in s.targets}
    stored = set()
    for tree in others:
        functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
        inner = [*functions, *(n for n in ast.walk(tree) if isinstance(n, ast.comprehension))]
        local = {id(n) for outer in inner for n in ast.walk(outer)}
        names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in local]
        stored |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    assert known & stored <= ({"names"} if path.stem == "panel" else set())


@each_notebook
def test_committed_without_outputs_and_with_stable_unique_ids(path):
    notebook = json.loads(path.read_text("utf-8"))
    assert not any(c["outputs"] or c["execution_count"] for c in cells(path))
    ids = [c["id"] for c in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert set(notebook["metadata"]) <= {"kernelspec", "language_info", "long", "needs"}


def statements(function):
    """How many statements a function has, its docstring and those inside others included."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1


@each_notebook
def test_no_class_and_no_algorithm_is_defined_in_a_notebook(path):
    """A derivation's own tiny helper is the content of its page; longer ones stand beside it."""
    for cell in cells(path):
        code = [line for line in cell["source"] if not line.startswith(("%", "!"))]
        nodes = list(ast.walk(ast.parse("".join(code))))
        assert not [n for n in nodes if isinstance(n, (ast.ClassDef, ast.AsyncFunctionDef))]
        functions = [n for n in nodes if isinstance(n, ast.FunctionDef)]
        assert not [f.name for f in functions if statements(f) > 10]
        names = {f.name for f in functions}
        assert not names & {"ask", "tell", "make", "simulate", "posterior"}
        assert len(cell["source"]) <= 25, cell["id"]


@each_notebook
def test_the_programs_beside_a_page_are_its_own(path):
    """A label that changes for one page reruns one page."""
    source = "\n".join("".join(cell["source"]) for cell in cells(path))
    for folder in re.findall(r"^from notebooks\.(\w+)", source, flags=re.M):
        assert folder == path.stem
    for program in (ROOT / "notebooks" / path.stem).glob("*.py"):
        for folder in re.findall(r"^from notebooks\.(\w+)", program.read_text(), flags=re.M):
            assert folder == path.stem, program.name


def test_every_folder_of_programs_belongs_to_a_page():
    folders = [f for f in (ROOT / "notebooks").iterdir() if f.is_dir() and list(f.glob("*.py"))]
    assert len(folders) > 15
    assert all((ROOT / f"notebooks/{folder.name}.ipynb").exists() for folder in folders)


ALGORITHMS = {
    "tgp": {"Alg. 2"},
    "ata": {"Alg. 1", "Alg. 4"},
    "moma": {"Alg. 3"},
    "elimination": {"PE", "DoublingPE"},
}


@pytest.mark.parametrize("page", ALGORITHMS)
def test_each_line_of_an_algorithm_names_a_line_of_the_core(page):
    """The third column of the tables cites the lines of the first, and none is left out."""
    prose = "\n".join(
        "".join(c["source"]) for c in cells(ROOT / f"notebooks/{page}.ipynb", "markdown")
    )
    rows = re.findall(r"^\| ([\d–]+) \| .* \| (.*) \|$", prose, flags=re.M)
    found = {}
    for label, code in rows:
        role = citations.ROLE.fullmatch(code)
        assert role, f"{label}: {code}"
        lines = citations.numbers(role)
        assert label.replace("–", "-") == code.rstrip("`").split()[-1]
        for statement in citations.statements(role["algorithm"], lines):
            source = (ROOT / statement.path).read_text("utf-8").splitlines()
            start = re.split(r"\W", statement.code)[0]
            assert source[statement.line - 1].lstrip().startswith(start)
        found.setdefault(role["algorithm"], []).extend(lines)
    assert set(found) == ALGORITHMS[page]
    for algorithm, lines in found.items():
        missing = set(range(1, lines[-1] + 1)) - set(lines)
        assert missing == ({6} if algorithm == "Alg. 4" else set())  # 6: end for


def test_a_citation_shows_the_statement_and_one_that_nobody_makes_is_refused():
    text = citations.substitute("| 12 | x | {core}`Alg. 1, l. 12` |")
    assert "`self.mu = " in text and ">ATA.update</a> |" in text and "{core}" not in text
    own = citations.substitute("{core}`Curator 1, l. 1`")
    assert "`return self.clip(y) + self.scale * draw`" in own and ">CTL.report</a>" in own
    with pytest.raises(LookupError, match="Alg. 1, line or step 99: no statement cites it"):
        citations.substitute("{core}`Alg. 1, l. 99`")


def shown(path):
    """Code cells whose code the reader sees without asking for it."""
    return [
        c
        for c in cells(path)
        if not set(c["metadata"].get("tags", ())) & {"hide-input", "remove-input", "remove-cell"}
    ]


@each_notebook
def test_code_on_the_page_fits_its_column(path):
    """A code cell holds COLUMN characters at 1280 pixels (tests/test_book.py measures it)."""
    assert not [
        f"{c['id']}: {line}"
        for c in shown(path)
        for line in "".join(c["source"]).splitlines()
        if len(line) > COLUMN
    ]


@each_notebook
def test_plumbing_is_hidden_and_modules_have_one_alias(path):
    plumbing = re.compile(r"show\.(glue|glue_all|provenance)\(|^(import|from) ", flags=re.M)
    assert not [c["id"] for c in shown(path) if plumbing.search("".join(c["source"]))]
    source = "\n".join("".join(c["source"]) for c in cells(path))
    ours = re.findall(r"^(?:import|from) (?:ldpbo|notebooks).*$", source, flags=re.M)
    assert ours and all(" as " not in line or line == "import ldpbo_core as core" for line in ours)


@each_notebook
def test_every_figure_has_a_caption_a_label_and_alt_text(path):
    for cell in cells(path):
        if "show.figure(" in "".join(cell["source"]):
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


@pytest.mark.build
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
@pytest.mark.build
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
@pytest.mark.build
def test_your_own_table_gives_a_recommendation_a_statement_and_a_program(tmp_path, rows, columns):
    """Semicolons, decimal commas, a column of dates; nothing is left for the book to fill in."""
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


@pytest.mark.build
def test_a_file_with_one_value_a_row_is_taken_from_the_command_line(tmp_path):
    """As the page prints it: `-p long user,item,value`; and 1e3 is a number of users."""
    stars = np.random.default_rng(2).integers(1, 6, (30, 4)).tolist()
    lines = ["user,when,item,value"]
    for user, row in enumerate(stars):
        lines += [f"u{user},2024-01-0{j + 1},Film {j},{x}" for j, x in enumerate(row)]
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = "-p csv {} -p long user,item,value -p users 1e3 -p low 1 -p high 5 -p trials 2"
    told = words.format(tmp_path / "long.csv").split()
    done = papermill(
        "notebooks/own.ipynb", tmp_path / "out.ipynb", *told, "--log-output", "--no-progress-bar"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for said in ("and 1,000 users: **", "long=('user', 'item', 'value')", "best: "):
        assert said in done.stderr, said
    text = (tmp_path / "out.ipynb").read_text("utf-8")
    assert "4 columns, 30 rows; left out: user" in text


@pytest.mark.parametrize("file", ["README.md", "book/reproduce.md"])
def test_the_python_of_the_readme_runs_and_the_table_is_learned(file, monkeypatch, capsys):
    """The snippet that a practitioner copies says how much it learned: well below uniform play."""
    monkeypatch.chdir(ROOT)
    text = (ROOT / file).read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert blocks
    for block in blocks:
        names = {}
        exec(compile(block, file, "exec"), names)
        if "read_table" in block:
            run = names["result"]
            share = run.regret[0, :, -1] / (5000 * run.records["uniform"])
            assert (share < 0.9).all()
            assert "regret/uniform: GP-UCB 0." in capsys.readouterr().out
    assert "read_table" in text and "low=" in text and "recipe" in text


@pytest.mark.parametrize("page", ["onebit", "private"])
def test_the_python_that_a_page_offers_for_copying_runs_by_itself(page, capsys):
    """One bit: each user is asked and answers with one bit. Private: the paper's curator leaks."""
    prose = "\n".join(
        "".join(c["source"]) for c in cells(ROOT / f"notebooks/{page}.ipynb", "markdown")
    )
    (block,) = re.findall(r"```python\n(.*?)```", prose, flags=re.S)
    names = {}
    exec(compile(block, page, "exec"), names)
    if page == "onebit":
        assert names["learner"].t == 1000
        assert names["problem"].F + names["problem"].R < names["device"].scale
    else:
        assert names["verdict"].eps_low > names["mine"].eps
        assert "flagged=True" in capsys.readouterr().out
