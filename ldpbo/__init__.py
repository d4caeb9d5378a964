"""`ldpbo_core` is built on some of these modules (checks, posterior, design); others use it."""

import re
from pathlib import Path


def _version() -> str:
    """Read the version: from pyproject.toml in a checkout, else from the installed package.

    A browser that was handed the modules alone has neither.
    """
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if project.exists():
        found = re.search(r'^name = "ldpbo"\nversion = "(.+)"$', project.read_text("utf-8"), re.M)
        if found:
            return found[1]
    from importlib import metadata

    try:
        return metadata.version("ldpbo")
    except metadata.PackageNotFoundError:
        return "unknown"


__version__ = _version()
