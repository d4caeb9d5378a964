"""What the documentation promises.

The example at the top of the module runs, every public name says what it does, and `pip install .`
works.
"""

import doctest
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pytest import mark

import ldpbo_core as core
from ldpbo import bounds

ROOT = Path(core.__file__).resolve().parent
SPEC_7 = """
se_kernel matern_kernel linear_kernel empirical_kernel posterior information_gain nystrom_features
Problem synthetic_problem light_problem stock_problem table_problem CTL make simulate
simulate_batches
""".split()


def test_the_ten_line_example_of_the_module_runs():
    examples = doctest.DocTestParser().get_examples(core.__doc__)
    assert 5 <= len(examples) <= 10
    assert any(example.want for example in examples)
    for module in (core, bounds):
        outcome = doctest.testmod(module, verbose=False)
        assert outcome.attempted and outcome.failed == 0


@mark.parametrize("name", ["audit", "lower_bound", "total_epsilon", "subweibull_radius"])
def test_names_of_the_second_module_exist_and_are_documented(name):
    assert len(inspect.getdoc(getattr(bounds, name))) > 20


def test_help_opens_with_the_example():
    text = subprocess.run(
        [sys.executable, "-c", "import ldpbo_core; help(ldpbo_core)"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout
    assert text.index(">>> import ldpbo_core") < 1500


@mark.parametrize("name", SPEC_7)
def test_public_names_exist_and_are_documented(name):
    thing = getattr(core, name)
    assert inspect.getdoc(thing)
    assert len(inspect.getdoc(thing)) > 20


@mark.parametrize(
    "name, parameters",
    [
        ("se_kernel", "X, Y, *, lengthscale"),
        ("matern_kernel", "X, Y, *, lengthscale, nu"),
        ("linear_kernel", "X, Y"),
        ("empirical_kernel", "samples"),
        ("posterior", "K, arms, y, lam"),
        ("information_gain", "K, T, lam"),
        ("nystrom_features", "K, dictionary"),
        ("CTL", "eps, B, R"),
    ],
)
def test_signatures_are_those_of_the_specification(name, parameters):
    signature = inspect.signature(getattr(core, name))
    empty = inspect.Signature.empty
    bare = signature.replace(
        parameters=[p.replace(annotation=empty) for p in signature.parameters.values()],
        return_annotation=empty,
    )
    assert str(bare) == f"({parameters})"


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
        "import sys; import numpy; numpys = set(sys.modules); import ldpbo_core;"
        " print(*(set(sys.modules) - numpys))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert {module.split(".")[0] for module in out.split()} - set(sys.stdlib_module_names) <= {
        "ldpbo_core",
        "ldpbo",
        "numpy",
    }


def test_pip_install_makes_the_module_importable_with_its_stand_in_data(tmp_path):
    """Into a new environment, offline, from a copy of the checkout.

    Numpy and SciPy are borrowed from this environment.
    """
    pytest.importorskip("setuptools", minversion="77")
    source, venv = tmp_path / "source", tmp_path / "venv"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "ldpbo_core.py", "ldpbo_bounds.py"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "ldpbo", source / "ldpbo")
    (source / "data").mkdir()
    for file in (ROOT / "data").glob("*.*"):  # the data travel with their licences
        shutil.copy(file, source / "data")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    borrowed = str(Path(np.__file__).parent.parent)
    env = {
        key: value for key, value in os.environ.items() if key not in ("LDPBO_DATA", "PYTHONPATH")
    } | {"PYTHONPATH": borrowed, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    python = str(venv / "bin" / "python")
    install = subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--ignore-installed",
            str(source),
        ],
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
    )
    assert install.returncode == 0, install.stderr
    program = (
        "import ldpbo_bounds, ldpbo_core as l; p = l.stock_problem(); print(l.__file__);"
        " print(p.provenance, p.n, l.light_problem().n); ldpbo_bounds.audit,"
        " ldpbo_bounds.lower_bound"
    )
    out = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, env=env, cwd=tmp_path
    )
    assert out.returncode == 0, out.stderr
    assert str(venv) in out.stdout
    assert "stand-in" in out.stdout
    assert "20 41" in out.stdout


# ---- one numbering: statements of the paper carry its numbers, in their boxes and in every link

KINDS = "theorem lemma definition algorithm corollary proposition curator".split()


def pages():
    """Markdown of every page, by file."""
    texts = {path.name: path.read_text("utf-8") for path in sorted((ROOT / "book").glob("*.md"))}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        texts[path.name] = "\n\n".join(
            "".join(c["source"])
            for c in json.loads(path.read_text("utf-8"))["cells"]
            if c["cell_type"] == "markdown"
        )
    return texts


def boxes(texts):
    """{label: heading as printed}, such as "Lemma 4 of the paper"."""
    found = re.findall(
        r"^[:`]{3,}\{prf:(?!proof)(\w+)\} *([^\n]*)\n((?::\w+:[^\n]*\n)*)",
        "\n".join(texts.values()),
        flags=re.M,
    )
    return {
        re.search(r":label: *(\S+)", options)[1]: f"{kind.title()} {title}"
        for kind, title, options in found
    }


def named(text):
    """(kinds, number) that a link's text names.

    A number is one of the paper's, or a letter of ours.
    """
    kinds = "|".join(KINDS)
    return {k.lower() for k in re.findall(rf"(?i)\b({kinds})\b", text)}, re.findall(
        rf"(?:(?i:{kinds}) \(?)(\d+|[A-Z]\b|[ivx]+\b)|^(\d+)", text
    )[:1]


def wrong(text, heading):
    """Why a link with this text does not fit the box with this heading.

    "" if it does. "Algorithm (Curator 1 of the paper" is of both kinds.
    """
    kind, curator, number = re.match(
        r"(\w+) \(?(Curator )?(\d+|[A-Z]\b|[ivx]+\b)?", heading
    ).groups()
    kinds, numbers = named(text)
    if not text:
        return "has no text of its own"
    if not kinds <= {kind.lower(), "curator" if curator else ""}:
        return "says another kind"
    return "says another number" if numbers and number not in numbers[0] else ""


def links(text, labels):
    """(text, label) of every link to a box, in each of the ways Markdown and its roles allow.

    Text "" where the box's own heading would be printed.
    """
    for words, label in re.findall(
        r"\{(?:prf:ref|ref|numref)\}`(?:([^`<]*?) *<)?([\w-]+)>?`", text
    ) + re.findall(r"\[([^]]*)\]\([\w./]*#([\w-]+)\)", text):
        if label in labels:
            yield words, label


def test_every_link_to_a_statement_says_the_kind_and_number_of_its_box():
    texts = pages()
    labels = boxes(texts)
    found = [
        (page, text, label)
        for page, content in texts.items()
        for text, label in links(content, labels)
    ]
    assert len(labels) > 40 and len(found) > 150
    assert not [
        f"{page}: `{text} <{label}>` {why}: {labels[label]}"
        for page, text, label in found
        if (why := wrong(text, labels[label]))
    ]
    dangling = [
        f"{page}: {label}"
        for page, content in texts.items()
        for label in re.findall(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`", content)
        if label not in labels
    ]
    assert not dangling


@mark.parametrize(
    "text, heading, says",
    [
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
    ],
)
def test_a_link_that_says_otherwise_is_noticed(text, heading, says):
    assert says in wrong(text, heading)
    assert bool(says) == bool(wrong(text, heading))


def test_boxes_have_the_numbers_of_the_paper_once_and_none_of_their_own():
    texts = pages()
    headings = [h for h in boxes(texts).values() if "of the paper" in h]
    assert sorted(h.split(" of the paper")[0] for h in headings) == sorted(
        [
            "Definition 1",
            "Algorithm (Curator 1",
            *(f"Algorithm {i}" for i in range(1, 5)),
            *(f"Theorem {i}" for i in range(1, 5)),
            *(f"Lemma {i}" for i in range(1, 12)),
        ]
    )
    assert (
        len(re.findall(r"\{prf:(?!proof|ref)\w+\}", "\n".join(texts.values())))
        == len(boxes(texts))
        == "\n".join(texts.values()).count("\n:nonumber:\n")
    )


def test_every_reference_leads_somewhere_but_for_two_whose_address_was_not_at_hand():
    entries = re.findall(
        r"^@\w+\{(\w+),(.*?)^\}", (ROOT / "book/references.bib").read_text("utf-8"), re.S | re.M
    )
    without = [key for key, body in entries if not re.search(r"\b(doi|url|eprint) = ", body)]
    assert len(entries) > 30 and without == ["li2023differentially", "dixon1978global"]
