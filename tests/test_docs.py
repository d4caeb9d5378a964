"""What the documentation promises: the example at the top of the module runs, every public name says what it does, and `pip install .` works."""
import doctest
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ldpbo_core as ldpbo

ROOT = Path(ldpbo.__file__).resolve().parent
SPEC_7 = """se_kernel matern_kernel linear_kernel empirical_kernel posterior information_gain nystrom_features Problem synthetic_problem light_problem
stock_problem table_problem CTL make simulate lower_bound""".split()


def test_the_ten_line_example_of_the_module_runs():
    examples = doctest.DocTestParser().get_examples(ldpbo.__doc__)
    assert 5 <= len(examples) <= 10 and any(example.want for example in examples)
    outcome = doctest.testmod(ldpbo, verbose=False)
    assert outcome.attempted >= len(examples) and outcome.failed == 0


def test_help_opens_with_the_example():
    text = subprocess.run([sys.executable, "-c", "import ldpbo_core; help(ldpbo_core)"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    assert text.index(">>> import ldpbo_core") < 1500


@pytest.mark.parametrize("name", SPEC_7)
def test_public_names_exist_and_are_documented(name):
    thing = getattr(ldpbo, name)
    assert inspect.getdoc(thing) and len(inspect.getdoc(thing)) > 20


@pytest.mark.parametrize("name, parameters", [
    ("se_kernel", "X, Y, *, lengthscale"), ("matern_kernel", "X, Y, *, lengthscale, nu"), ("linear_kernel", "X, Y"), ("empirical_kernel", "samples"),
    ("posterior", "K, arms, y, lam"), ("information_gain", "K, T, lam"), ("nystrom_features", "K, dictionary"), ("CTL", "eps, B, R"),
])
def test_signatures_are_those_of_the_specification(name, parameters):
    assert str(inspect.signature(getattr(ldpbo, name))) == f"({parameters})"


def test_make_and_simulate_take_the_documented_arguments_by_name():
    defaults = {p.name: p.default for p in inspect.signature(ldpbo.make).parameters.values()}
    expected = dict(eps=None, lam=1.0, delta=0.1, acc=0.1, constants="order", beta_scale=1.0, q=None, k=None, rng=None)
    assert {key: defaults[key] for key in expected} == expected
    assert list(defaults)[:3] == ["name", "problem", "T"]
    kinds = {p.name: p.kind for p in inspect.signature(ldpbo.simulate).parameters.values()}
    assert list(kinds)[:3] == ["problem", "names", "T"] and kinds["trials"] == kinds["seed"] == inspect.Parameter.KEYWORD_ONLY


def test_algorithms_expose_mu_sigma_beta_over_all_arms():
    problem = ldpbo.synthetic_problem(kernel="se", noise="uniform", seed=0)
    for name in ("TGP", "ATA", "MoMA", "GP-UCB", "uniform"):
        algorithm = ldpbo.make(name, problem, 50, rng=0)
        for _ in range(20):
            algorithm.ask()
            algorithm.tell(0.5)
        assert algorithm.mu.shape == algorithm.sigma.shape == (100,) and np.isfinite(algorithm.beta) and algorithm.t == 20


def test_the_core_imports_numpy_and_the_standard_library_only():
    program = "import sys; import numpy; numpys = set(sys.modules); import ldpbo_core; print(*(set(sys.modules) - numpys))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert {module.split(".")[0] for module in out.split()} - set(sys.stdlib_module_names) <= {"ldpbo_core", "numpy"}


def test_pip_install_makes_the_module_importable_with_its_stand_in_data(tmp_path):
    """Into a new environment, offline, from a copy of the checkout; numpy and SciPy are borrowed from this environment."""
    pytest.importorskip("setuptools", minversion="77")
    source, venv = tmp_path / "source", tmp_path / "venv"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "ldpbo_core.py", "ldpbo_figures.py"):
        shutil.copy(ROOT / name, source)
    (source / "data").mkdir()
    for file in (ROOT / "data").glob("*.*"):                       # the data travel with their licences
        shutil.copy(file, source / "data")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    borrowed = str(Path(np.__file__).parent.parent)
    env = {key: value for key, value in os.environ.items() if key not in ("LDPBO_DATA", "PYTHONPATH")} | {"PYTHONPATH": borrowed, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    python = str(venv / "bin" / "python")
    install = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed", str(source)],
                             capture_output=True, text=True, env=env, cwd=tmp_path)
    assert install.returncode == 0, install.stderr
    program = "import ldpbo_core as l; p = l.stock_problem(); print(l.__file__); print(p.provenance, p.n, l.light_problem().n)"
    out = subprocess.run([python, "-c", program], capture_output=True, text=True, env=env, cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert str(venv) in out.stdout and "stand-in" in out.stdout and "20 41" in out.stdout
