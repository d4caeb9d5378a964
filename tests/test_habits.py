"""The habits that `make test` keeps: lint and layout, types, and files that other machines read."""

import ast
import importlib
import inspect
import itertools
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent


def run(*words):
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing():
    run("ruff", "check", "--no-cache", ".")


def test_ruff_would_format_nothing_in_another_way():
    run("ruff", "format", "--check", "--no-cache", ".")


def tracked(*patterns):
    """The files of the repository that match; of a copy without git, all that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split("\0") if listed.returncode == 0 else []
    found = [ROOT / name for name in names if name] or [
        path
        for path in ROOT.rglob("*")
        if not path.relative_to(ROOT).parts[0].startswith((".", "_"))
    ]
    return [p for p in found if p.is_file() and any(p.match(pattern) for pattern in patterns)]


def test_a_hundred_columns_without_exception():
    """Ruff measures Python and notebooks, nobody is excused; JavaScript is measured here."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    excused = [*lint["ignore"], *itertools.chain(*lint["per-file-ignores"].values())]
    assert "E" in lint["select"] and not {"E", "E5", "E50", "E501"} & set(excused)
    assert lint["mccabe"]["max-complexity"] == 10 and "C90" in lint["select"]
    assert not [p for p in tracked("*.py", "*.ipynb") if "noqa: " + "E5" in p.read_text("utf-8")]
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked("*.js")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 100
    ]
    assert not long


def programs():
    """Every module, test and code cell -> (where it is, its syntax tree)."""
    for path in tracked("*.py"):
        yield path.relative_to(ROOT), ast.parse(path.read_text("utf-8"))
    for path in tracked("*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                lines = ["\n" if line.startswith(("%", "!")) else line for line in cell["source"]]
                yield f"{path.relative_to(ROOT)}, {cell['id']}", ast.parse("".join(lines))


def test_nobody_assigns_three_values_to_three_names_in_one_statement():
    """Three things that are written side by side have nothing to do with each other."""
    found = []
    for where, tree in programs():
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                if len(getattr(node.value, "elts", ())) > 2:
                    found.append(f"{where}:{node.lineno}")
    assert not found


@pytest.mark.build
def test_mypy_finds_nothing_on_the_public_surface():
    run("mypy", "--no-incremental")


def public(module):
    """Public functions and methods defined in `module` -> {qualified name: function}."""
    found = {}
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(value):
            methods = {
                k: v
                for k, v in vars(value).items()
                if inspect.isfunction(v) and not k.startswith("_")
            }
            found |= {f"{name}.{k}": v for k, v in methods.items()}
        elif callable(value):
            found[name] = inspect.unwrap(value)
    return found


@pytest.mark.parametrize(
    "module",
    [
        "ldpbo_core",
        *sorted(
            f"ldpbo.{p.stem}"
            for p in ROOT.glob("ldpbo/*.py")
            if p.stem not in ("originals", "plots", "results", "show", "__init__")
        ),
    ],
)
def test_every_public_function_says_the_types_it_takes_and_gives(module):
    missing = []
    for name, function in public(importlib.import_module(module)).items():
        hints = function.__annotations__
        parameters = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
        missing += [f"{name}({p})" for p in parameters if p not in hints] + [f"{name} ->"] * (
            "return" not in hints
        )
    assert not missing


@pytest.mark.build
def test_notebooks_are_committed_as_nbstripout_leaves_them():
    run(
        "nbstripout",
        "--keep-id",
        "--verify",
        *map(str, sorted((ROOT / "notebooks").glob("*.ipynb"))),
    )


@pytest.mark.parametrize(
    "name, schema",
    [(".github/workflows/book.yml", "github-workflows"), ("CITATION.cff", "citation-file-format")],
)
def test_what_github_reads_follows_its_schema(name, schema):
    """The schemas come with check-jsonschema, so that no network is needed."""
    schemas = (
        Path(pytest.importorskip("check_jsonschema").__file__).parent / "builtin_schemas/vendor"
    )
    schema = json.loads((schemas / f"{schema}.json").read_text("utf-8"))
    content = yaml.load((ROOT / name).read_text("utf-8"), Plain)
    jsonschema.validators.validator_for(schema)(schema).validate(content)


class Plain(yaml.SafeLoader):
    """Dates stay text, and so does `on`."""

    yaml_implicit_resolvers = {
        start: [r for r in resolvers if not re.search("timestamp|bool", r[0])]
        for start, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def test_actionlint_finds_nothing_in_the_workflow():
    if not (program := shutil.which("actionlint")):
        pytest.skip("actionlint is not installed")
    done = subprocess.run([program, "-no-color"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_workflow_runs_what_we_run_and_publishes_only_what_was_tested():
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text("utf-8"))["jobs"]
    commands = {name: [s["run"] for s in job["steps"] if "run" in s] for name, job in jobs.items()}
    assert commands["test"] == [".ci/run"] and commands["book"] == ["make book pdf"]
    assert (
        jobs["book"]["needs"] == "test"
        and jobs["publish"]["needs"] == "book"
        and "refs/heads/main" in jobs["book"]["if"]
    )
    assert all("timeout-minutes" in job for job in jobs.values())


def test_pre_commit_runs_the_same_checks_without_network():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    hooks = {hook["id"]: hook for hook in repo["hooks"]}
    assert repo["repo"] == "local" and set(hooks) == {"ruff", "format", "mypy", "nbstripout"}
    for hook in hooks.values():
        assert hook["language"] == "system" and hook["entry"].startswith(".venv/bin/")
    typed = tracked("ldpbo_*.py", "ldpbo/*.py")  # a change of any typed module is checked
    names = [path.relative_to(ROOT).as_posix() for path in typed]
    assert len(names) > 5 and all(re.search(hooks["mypy"]["files"], name) for name in names)
    run("pre_commit", "validate-config")


def test_every_locked_package_has_its_hashes_and_a_new_lock_will_have_them():
    """Continued lines: `name==version \\` or `name==version ; marker \\`, then hashes."""
    lock = re.sub(r"\\\n", " ", (ROOT / "requirements.lock").read_text("utf-8"))
    packages = [line for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) > 100 and not [
        line for line in packages if not re.search(r"==.* --hash=sha256:[0-9a-f]{64}", line)
    ]
    assert "--generate-hashes" in (ROOT / "Makefile").read_text("utf-8")


def test_pip_leaves_no_build_folder_beside_build_py():
    program = (
        "from setuptools import Distribution\n"
        "d = Distribution()\n"
        "d.parse_config_files(['pyproject.toml'])\n"
        "c = d.get_command_obj('build')\n"
        "c.ensure_finalized()\n"
        "print(c.build_base)"
    )
    out = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.split()[-1].startswith("_build/")


def test_one_version_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert yaml.load((ROOT / "CITATION.cff").read_text("utf-8"), Plain)["version"] == version
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[1] == version
