"""Tests find the core and the programs in a bare checkout, run on one BLAS thread, and are marked.

pytest runs two processes, and the matrices are small. The marks `browser` and `build` are described
in pyproject.toml. What uses a fixture of MARKS, or is in a file of MARKS, gets its mark here; other
tests have it where they stand. `-m "not browser and not build"` takes two minutes.
"""

import os
import subprocess
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import pytest

MARKS = {  # fixture, or file: the mark of the tests that use it, or are in it
    "browser": "browser",
    "book": "build",
    "assets": "build",
    "reference": "build",
    "test_build.py": "build",
    "test_environment.py": "build",
}


def pytest_collection_modifyitems(items):
    for item in items:
        for name in {item.path.name, *item.fixturenames} & set(MARKS):
            item.add_marker(MARKS[name])


@pytest.fixture(scope="session")
def book():
    """The quick book, built once -> folder with src/ (executed pages) and html/.

    Tests that use it share one xdist group.
    """
    done = subprocess.run(
        [sys.executable, "tools/build.py", "--quick"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return ROOT / "_build/quick"
