"""Pip builds here: setuptools works in a copy of the package, so the checkout may be read-only.

Nothing is left in the checkout, neither build/ nor *.egg-info. `pip install -e .` alone wants the
checkout itself.
"""

import contextlib
import functools
import shutil
import tempfile
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
)

FILES = ("pyproject.toml", "README.md", "LICENSE", "ldpbo*.py", "ldpbo/*.py", "data/*.*")


def copy_package(folder):
    """Copy what the package is made of, and this program, from the working directory."""
    here = Path.cwd()
    found = [path for pattern in FILES for path in here.glob(pattern)]
    for path in [*found, Path(__file__).resolve()]:
        target = folder / path.relative_to(here)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    (folder / "MANIFEST.in").write_text("include tools/pip_backend.py\n")  # of an sdist


def in_a_copy(hook):
    """Let a hook of setuptools run in a copy of the package; its results go where pip says."""

    @functools.wraps(hook)
    def wrapped(*arguments, **options):
        with tempfile.TemporaryDirectory() as folder:
            copy_package(Path(folder))
            with contextlib.chdir(folder):
                return hook(*arguments, **options)

    return wrapped


get_requires_for_build_wheel = in_a_copy(build_meta.get_requires_for_build_wheel)
get_requires_for_build_sdist = in_a_copy(build_meta.get_requires_for_build_sdist)
prepare_metadata_for_build_wheel = in_a_copy(build_meta.prepare_metadata_for_build_wheel)
build_wheel = in_a_copy(build_meta.build_wheel)
build_sdist = in_a_copy(build_meta.build_sdist)
