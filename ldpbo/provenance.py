"""A result names the code that made it, by a hash of what is computed and not of how it reads."""

import ast
import hashlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMPUTES = (
    "ldpbo_core.py",
    "ldpbo/posterior.py",
    "ldpbo/design.py",
    "ldpbo/campaigns.py",
    "ldpbo/bounds.py",
    "ldpbo/lower.py",
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
    """Return 12 digits of the hash of what runs learners and computes bounds.

    Every stored table names it. A changed comment, docstring or line break leaves it alone. The
    modules that check arguments, read files and make problems are not part of it: tests recompute
    stored results from the problems up.
    """
    whole = hashlib.sha256()
    for name in COMPUTES:
        tree = ast.parse((ROOT / name).read_text("utf-8"))
        whole.update(syntax(tree).encode())
    return whole.hexdigest()[:12]
