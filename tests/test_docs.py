"""What the documentation promises.

The example of the module runs, every public name says what it does, and `pip install .` works.
"""

import doctest
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from pytest import mark

import ldpbo_bounds
import ldpbo_core as core
from ldpbo import bounds, campaigns, datasets, saving

ROOT = Path(core.__file__).resolve().parent
SPEC_7 = """
    se_kernel matern_kernel linear_kernel empirical_kernel posterior information_gain
    nystrom_features Problem synthetic_problem light_problem stock_problem table_problem
    CTL make simulate simulate_batches
""".split()


def run(*command, **options):
    """A program's process, with its output as text."""
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_the_ten_line_example_of_the_module_runs():
    examples = doctest.DocTestParser().get_examples(core.__doc__)
    assert 5 <= len(examples) <= 10
    assert any(example.want for example in examples)
    for module in (core, bounds):
        outcome = doctest.testmod(module, verbose=False)
        assert outcome.attempted
        assert outcome.failed == 0


@mark.parametrize("name", ["audit", "lower_bound", "total_epsilon", "subweibull_radius"])
def test_names_of_the_second_module_exist_and_are_documented(name):
    assert len(inspect.getdoc(getattr(ldpbo_bounds, name))) > 20


def test_help_opens_with_the_example():
    help_core = "import ldpbo_core; help(ldpbo_core)"
    text = run(sys.executable, "-c", help_core, cwd=ROOT, check=True).stdout
    assert text.index(">>> import ldpbo_core") < 1500


@mark.parametrize("name", SPEC_7)
def test_public_names_exist_and_are_documented(name):
    thing = getattr(core, name)
    assert inspect.getdoc(thing)
    assert len(inspect.getdoc(thing)) > 20


SIGNATURES = {
    "se_kernel": "X, Y, *, lengthscale",
    "matern_kernel": "X, Y, *, lengthscale, nu",
    "linear_kernel": "X, Y",
    "empirical_kernel": "samples",
    "posterior": "K, arms, y, lam",
    "information_gain": "K, T, lam",
    "nystrom_features": "K, dictionary",
    "CTL": "eps, B, R",
}


@mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_the_specification(name):
    signature = inspect.signature(getattr(core, name))
    empty = inspect.Signature.empty
    bare = [p.replace(annotation=empty) for p in signature.parameters.values()]
    signature = signature.replace(parameters=bare, return_annotation=empty)
    assert str(signature) == f"({SIGNATURES[name]})"


DOORS = {
    campaigns: ["simulate_batches", "play_batches"],
    datasets: [name for name in vars(core) if name.endswith("_problem")] + ["read_table"],
    saving: ["load"],
}


@mark.parametrize("module, name", [(module, name) for module in DOORS for name in DOORS[module]])
def test_a_door_of_the_core_has_the_signature_of_the_function_behind_it(module, name):
    behind = str(inspect.signature(getattr(module, name)))
    assert str(inspect.signature(getattr(core, name))) == behind.replace("core.", "")


def test_make_and_simulate_take_the_documented_arguments_by_name():
    defaults = {p.name: p.default for p in inspect.signature(core.make).parameters.values()}
    expected = dict(
        eps=None,
        lam=1.0,
        delta=0.1,
        acc=0.1,
        constants="order",
        beta_scale=1.0,
        q=None,
        k=None,
        rng=None,
    )
    assert {key: defaults[key] for key in expected} == expected
    assert list(defaults)[:3] == ["name", "problem", "T"]
    kinds = {p.name: p.kind for p in inspect.signature(core.simulate).parameters.values()}
    assert list(kinds)[:3] == ["problem", "names", "T"]
    assert kinds["trials"] == kinds["seed"] == inspect.Parameter.KEYWORD_ONLY


def test_algorithms_expose_mu_sigma_beta_over_all_arms():
    problem = core.synthetic_problem(kernel="se", noise="uniform", seed=0)
    for name in ("TGP", "ATA", "MoMA", "PE", "GP-UCB", "uniform"):
        algorithm = core.make(name, problem, 50, rng=0)
        for _ in range(20):
            algorithm.ask()
            algorithm.tell(0.5)
        assert algorithm.mu.shape == algorithm.sigma.shape == (100,)
        assert np.isfinite(algorithm.beta)
        assert algorithm.t == 20


def test_the_core_imports_numpy_and_the_standard_library_only():
    program = (
        "import sys; import numpy; numpys = set(sys.modules); import ldpbo_core; "
        "print(*(set(sys.modules) - numpys))"
    )
    out = run(sys.executable, "-c", program, cwd=ROOT, check=True).stdout
    packages = {module.split(".")[0] for module in out.split()}
    assert packages - set(sys.stdlib_module_names) <= {"ldpbo_core", "ldpbo", "numpy"}


def test_a_source_distribution_can_be_built_from_as_well(tmp_path, monkeypatch):
    pytest.importorskip("setuptools", minversion="77")
    monkeypatch.syspath_prepend(ROOT / "tools")
    monkeypatch.chdir(ROOT)
    import pip_backend

    name = pip_backend.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        files = {file.partition("/")[2] for file in archive.getnames()}
    assert {"tools/pip_backend.py", "pyproject.toml", "ldpbo_core.py", "data/stocks.csv"} <= files
    assert not list(ROOT.glob("*.egg-info"))


@pytest.mark.build
def test_pip_install_makes_the_module_importable_with_its_stand_in_data(tmp_path):
    """Into a new environment, offline, from a copy of the checkout.

    Numpy and SciPy are borrowed from this environment.
    """
    pytest.importorskip("setuptools", minversion="77")
    source = tmp_path / "source"
    venv = tmp_path / "venv"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "ldpbo_core.py", "ldpbo_bounds.py"):
        shutil.copy(ROOT / name, source)
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ldpbo", source / "ldpbo", ignore=compiled)
    (source / "tools").mkdir()
    shutil.copy(ROOT / "tools/pip_backend.py", source / "tools")
    (source / "data").mkdir()
    for file in (ROOT / "data").glob("*.*"):  # the data travel with their licences
        shutil.copy(file, source / "data")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    env = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    env["PYTHONPATH"] = str(Path(np.__file__).parent.parent)  # the borrowed packages
    env.pop("LDPBO_DATA", None)
    there = dict(env=env, cwd=tmp_path)
    python = str(venv / "bin" / "python")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed"]
    before = sorted(source.rglob("*"))
    install = run(python, "-m", "pip", "install", "-q", *offline, str(source), **there)
    assert install.returncode == 0, install.stderr
    assert [p for p in sorted(source.rglob("*")) if "__pycache__" not in p.parts] == before
    program = (
        "import ldpbo_bounds, ldpbo_core as l; p = l.stock_problem(); print(l.__file__); "
        "print(p.provenance, p.n, l.light_problem().n); "
        "ldpbo_bounds.audit, ldpbo_bounds.lower_bound"
    )
    out = run(python, "-c", program, **there)
    assert out.returncode == 0, out.stderr
    assert str(venv) in out.stdout
    assert "stand-in" in out.stdout
    assert "20 41" in out.stdout


# ---- one numbering: statements carry the paper's numbers, in their boxes and in every link ------

KINDS = ["theorem", "lemma", "definition", "algorithm", "corollary", "proposition", "curator"]
NUMBER = r"(\d+|[A-Z]\b|[ivx]+\b)"  # one of the paper's, or a letter of ours


def pages():
    """Markdown of every page, by file."""
    texts = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "book").glob("*.md"))}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        texts[path.name] = "\n\n".join(prose)
    return texts


def boxes(texts):
    """{label: heading as printed}, such as "Lemma 4 of the paper"."""
    box = r"^[:`]{3,}\{prf:(?!proof)(\w+)\} *([^\n]*)\n((?::\w+:[^\n]*\n)*)"
    labels = {}
    for kind, title, options in re.findall(box, "\n".join(texts.values()), flags=re.M):
        label = re.search(r":label: *(\S+)", options)[1]
        labels[label] = f"{kind.title()} {title}"
    return labels


def named(text):
    """The kinds that a link's text names, in lower case, and the first number or ""."""
    kinds = "|".join(KINDS)
    found = re.findall(rf"(?i)\b({kinds})\b", text)
    number = re.search(rf"(?:(?i:{kinds}) \(?){NUMBER}|^(\d+)", text)
    return {kind.lower() for kind in found}, (number[1] or number[2]) if number else ""


def wrong(text, heading):
    """Why a link with this text does not fit the box with this heading; "" if it does.

    "Algorithm (Curator 1 of the paper" is of both kinds.
    """
    kind, curator, number = re.match(rf"(\w+) \(?(Curator )?{NUMBER}?", heading).groups()
    said_kinds, said_number = named(text)
    if not text:
        return "has no text of its own"
    if not said_kinds <= {kind.lower(), "curator" if curator else ""}:
        return "says another kind"
    return "says another number" if said_number and said_number != number else ""


def links(text, labels):
    """(text, label) of every link to a box, in each of the ways Markdown and its roles allow.

    Text "" where the box's own heading would be printed.
    """
    roles = re.findall(r"\{(?:prf:ref|ref|numref)\}`(?:([^`<]*?) *<)?([\w-]+)>?`", text)
    markdown = re.findall(r"\[([^]]*)\]\([\w./]*#([\w-]+)\)", text)
    return [(words, label) for words, label in roles + markdown if label in labels]


def test_every_link_to_a_statement_says_the_kind_and_number_of_its_box():
    texts = pages()
    labels = boxes(texts)
    assert len(labels) > 40
    checked = 0
    for page, content in texts.items():
        for text, label in links(content, labels):
            why = wrong(text, labels[label])
            assert not why, f"{page}: `{text} <{label}>` {why}: {labels[label]}"
            checked += 1
        for label in re.findall(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`", content):
            assert label in labels, f"{page}: {label} leads nowhere"
    assert checked > 150


LINKS = [
    ("Lemma 4", "Lemma 4 of the paper", ""),
    ("4", "Theorem 4 of the paper", ""),
    ("Curator 1", "Algorithm (Curator 1 of the paper: CTL)", ""),
    ("Lemma A", "Lemma A: a fixed design", ""),
    ("the corrected theorem", "Theorem (MoMA-GP-UCB with adaptive designs)", ""),
    ("the Corollary", "Corollary of Theorem 4", ""),
    ("another proof", "Theorem (any)", ""),
    ("Lemma 4", "Lemma 10 of the paper", "number"),
    ("3", "Theorem 4 of the paper", "number"),
    ("Theorem 4", "Lemma 4 of the paper", "kind"),
    ("Lemma B", "Lemma A: a fixed design", "number"),
    ("Lemma 10", "Lemma (averaging)", "number"),
    ("Theorem 4", "Corollary of Theorem 4", "kind"),
    ("the lemma", "Theorem (any)", "kind"),
    ("", "Lemma 4 of the paper", "text"),
]


@mark.parametrize("text, heading, says", LINKS)
def test_a_link_that_says_otherwise_is_noticed(text, heading, says):
    assert says in wrong(text, heading)
    assert bool(says) == bool(wrong(text, heading))


def test_boxes_have_the_numbers_of_the_paper_once_and_none_of_their_own():
    texts = pages()
    labels = boxes(texts)
    printed = [heading for heading in labels.values() if "of the paper" in heading]
    expected = ["Definition 1", "Definition 2", "Algorithm (Curator 1"]
    for kind, last in (("Algorithm", 4), ("Theorem", 4), ("Lemma", 11)):
        expected += [f"{kind} {i}" for i in range(1, last + 1)]
    assert sorted(heading.split(" of the paper")[0] for heading in printed) == sorted(expected)
    book = "\n".join(texts.values())
    assert len(re.findall(r"\{prf:(?!proof|ref)\w+\}", book)) == len(labels)
    assert book.count("\n:nonumber:\n") == len(labels)


def test_every_reference_leads_somewhere_but_for_two():
    """A book of 1978, and one whose address was not at hand."""
    text = (ROOT / "book/references.bib").read_text("utf-8")
    entries = re.findall(r"^@\w+\{(\w+),(.*?)^\}", text, re.S | re.M)
    assert len(entries) > 30
    without = [key for key, body in entries if not re.search(r"\b(doi|url|eprint) = ", body)]
    assert without == ["li2023differentially", "dixon1978global"]


def test_the_table_of_what_is_where_names_every_module():
    table = (ROOT / "book/reproduce.md").read_text("utf-8").partition("## How it is made")[2]
    there = [f"`ldpbo/{path.name}`" for path in ROOT.glob("ldpbo/[!_]*.py")]
    assert [name for name in there if name not in table] == []
