"""One BLAS thread per process (the matrices are small, and pytest runs two processes), and the core importable from a bare checkout."""

import os
import sys
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import subprocess

import pytest


@pytest.fixture(scope="session")
def book():
    """The quick book, built once -> folder with src/ (executed pages) and html/. Tests that use it share one xdist group."""
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [sys.executable, "tools/build.py", "--quick"], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return root / "_build/quick"
