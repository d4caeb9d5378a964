"""A page runs again when something that it uses has changed: its digest covers that and no more.

A page uses its notebook, its parameters and the programs beside it (notebooks/PAGE/*.py), byte for
byte; the modules that these import, and what those import in turn, without comments, docstrings and
layout (ldpbo.provenance.syntax); the data it names; the lock file, Python, and the pages it needs.
"""

import ast
import functools
import json
import os
import platform
import re
from pathlib import Path
from typing import NamedTuple

from ldpbo import provenance
from store import ROOT, sha

DATA_SETS = ("iw_data_all.mat", "fin.csv", "light.csv", "stocks.csv")  # what the problems read
code_hash = functools.cache(provenance.code_hash)


def imported(tree):
    """Find the dotted names that a syntax tree imports, at its top or inside a function."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def imported_by_cell(source):
    """Find the names that a cell imports: none if it is not Python, which its run will say."""
    try:
        return imported(ast.parse(source))
    except SyntaxError:
        return set()


class Module(NamedTuple):
    """What matters of a module: the names it imports, its syntax as a text, the hash of that."""

    imports: set
    syntax: str
    digest: str


@functools.cache
def module(path):
    """Parse a module."""
    tree = ast.parse(path.read_text("utf-8"))
    syntax = provenance.syntax(tree)
    return Module(imported(tree), syntax, sha(syntax))


@functools.cache
def files(name, folder):
    """Find our own files behind a dotted name: the module, and the packages it is in."""
    parts = name.split(".")
    packages = [folder.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    paths = [*packages, folder.joinpath(*parts[:-1], f"{parts[-1]}.py")]
    return {path for path in paths if path.is_file()}


def closure(names, folders=(ROOT,)):
    """Find our own files behind these names and behind what they import in turn, sorted."""
    found = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        new = set().union(*(files(name, folder) for folder in folders)) - found
        found |= new
        for path in new:
            waiting |= module(path).imports
    return sorted(found)


@functools.cache
def data_sets():
    """Hash the data sets that are here, in the order in which the problems look for them."""
    folders = [ROOT / "data/original", ROOT / "data"]
    if os.environ.get("LDPBO_DATA"):
        folders.insert(0, Path(os.environ["LDPBO_DATA"]))
    files = [folder / name for folder in folders for name in DATA_SETS]
    return [sha(file.read_bytes()) if file.is_file() else "" for file in files]


def stored_tables(code, modules):
    """Find the stored tables under data/ that a page uses -> {name: hash}.

    Code names a table in quotes ("bench") or by its file (bench.csv); a module by its file.
    """
    tables = [p for p in sorted((ROOT / "data").rglob("*.*")) if p.suffix in (".csv", ".json")]
    used = {}
    for table in tables:
        named = re.search(rf"""["'/]{re.escape(table.stem)}["'.]""", code)
        named = named or any(table.name in module(path).syntax for path in modules)
        if named and table.name not in DATA_SETS:
            used[table.name] = sha(table.read_bytes())
    return used


def digest(page, pages):
    """Digest everything that the executed page depends on."""
    beside = ROOT / "notebooks" / page.stem
    programs = {path.stem: path.read_text("utf-8") for path in sorted(beside.glob("*.py"))}
    names = set(programs).union(*map(imported_by_cell, page.code()))
    modules = closure(names, (ROOT, beside))
    notebook = page.source.read_text("utf-8")
    code = "\n".join([*page.code(), *programs.values(), json.dumps(page.parameters)])
    parts = {
        "notebook": notebook,
        "programs": programs,
        "parameters": page.parameters,
        "modules": {str(path.relative_to(ROOT)): module(path).digest for path in modules},
        "tables": stored_tables(code, modules),
        "lock": sha((ROOT / "requirements.lock").read_bytes()),
        "python": platform.python_version(),
        "needed": [digest(pages[name], pages) for name in page.needed(pages)],
    }
    if ROOT / "ldpbo/provenance.py" in modules:
        parts["code"] = code_hash()  # the page names it
    if re.search("light|stock", str(page.parameters.get("problem", notebook + code))):
        parts["data"] = data_sets()
    return sha(parts)
