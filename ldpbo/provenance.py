"""A result names the code that made it, by a hash of what is computed, not of how it is described;
a notebook refuses parameters that it does not have."""

import ast
import difflib
import hashlib
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMPUTES = (
    "ldpbo_core.py",
    "ldpbo/posterior.py",
    "ldpbo/design.py",
    "ldpbo/campaigns.py",
    "ldpbo/bounds.py",
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def syntax(node: Any) -> str:
    """Write a syntax tree as text, without comments, docstrings and layout, whatever the Python."""
    if isinstance(node, list):
        return f"[{','.join(map(syntax, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
        fields["body"] = node.body[1:]
    told = [f"{name}={syntax(value)}" for name, value in fields.items() if value not in (None, [])]
    return f"{type(node).__name__}({','.join(told)})"


def code_hash() -> str:
    """Hash the modules that play and bound to 12 digits, which every stored table names.

    A changed comment, docstring or line break leaves the hash alone. The modules that check
    arguments, read files and make problems are not part of it: tests recompute stored results from
    the problems up.
    """
    whole = hashlib.sha256()
    for name in COMPUTES:
        tree = ast.parse((ROOT / name).read_text("utf-8"))
        whole.update(syntax(tree).encode())
    return whole.hexdigest()[:12]


def check_parameters(cells: Sequence[str] | None = None) -> None:
    """Refuse a parameter that papermill was told and the notebook does not have.

    Papermill only warns of it, and the run goes on with the default. cells: the code that has run,
    IPython's `In` where left out; papermill adds its cell after the one tagged `parameters`.
    """
    if cells is None:
        cells = getattr(sys.modules["__main__"], "In", [])
    for own, added in itertools.pairwise(cells):
        if not added.startswith("# Parameters\n"):
            continue
        known = _assigned(own)
        for name in _assigned(added):
            if name not in known:
                close = difflib.get_close_matches(name, known, 1, 0.5)
                advice = f"; do you mean {close[0]}?" if close else ""
                raise ValueError(
                    f"unknown parameter {name}: this notebook has {', '.join(known)}{advice}"
                )


def _assigned(cell):
    """List the names that a cell assigns, in its order."""
    statements = [s for s in ast.parse(cell).body if isinstance(s, ast.Assign)]
    return [t.id for s in statements for t in s.targets if isinstance(t, ast.Name)]
