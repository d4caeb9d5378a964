"""A page runs again when something that it uses has changed: its digest covers that and no more.

A page uses its notebook, its parameters and the programs beside it (notebooks/PAGE/*.py), byte for
byte; the modules that these import, and what those import in turn, without comments, docstrings and
layout (ldpbo.provenance.syntax); the data it names; the lock file, Python, and the pages it needs.
An import inside a function counts once something that counts names the function, so that a page
which saves no learner does not use ldpbo/saving.py, to which `save` leads.
"""

import ast
import collections
import dataclasses
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


@dataclasses.dataclass
class Uses:
    """Some code uses the dotted names that it imports, and the names that occur in it."""

    imports: set = dataclasses.field(default_factory=set)
    names: set = dataclasses.field(default_factory=set)

    def add(self, other):
        self.imports |= other.imports
        self.names |= other.names


class Reader(ast.NodeVisitor):
    """A reader finds what the parts of a module use: `parts`, {function or method: Uses}.

    The part "" is what runs when the module is imported, and what Python calls by itself, such as
    __init__.
    """

    def __init__(self, tree):
        self.parts = collections.defaultdict(Uses)
        self.part = ""
        self.visit(tree)

    def visit_FunctionDef(self, node):
        if self.part or node.name.startswith("__"):
            self.generic_visit(node)
            return
        for when_defined in (*node.decorator_list, node.args):
            self.visit(when_defined)
        self.part = node.name
        for statement in node.body:
            self.visit(statement)
        self.part = ""

    def visit_If(self, node):
        if ast.unparse(node.test) != "TYPE_CHECKING":  # those are for mypy
            self.generic_visit(node)

    def visit_Import(self, node):
        self.parts[self.part].imports.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node):
        names = [alias.name for alias in node.names]
        self.parts[self.part].names.update(names)
        self.parts[self.part].imports |= {node.module, *(f"{node.module}.{n}" for n in names)}

    def visit_Name(self, node):
        self.parts[self.part].names.add(node.id)

    def visit_Attribute(self, node):
        self.parts[self.part].names.add(node.attr)
        self.generic_visit(node)


def used_by_cells(cells):
    """Find what cells use, functions included.

    A cell that is not Python counts for nothing; its run will say so.
    """
    found = Uses()
    for source in cells:
        try:
            parts = Reader(ast.parse(source)).parts
        except SyntaxError:
            continue
        for part in parts.values():
            found.add(part)
    return found


class Module(NamedTuple):
    """A module is known by what its parts use, its syntax as a text, and the hash of that."""

    parts: dict
    syntax: str
    digest: str


@functools.cache
def module(path):
    """Parse a module."""
    tree = ast.parse(path.read_text("utf-8"))
    syntax = provenance.syntax(tree)
    return Module(Reader(tree).parts, syntax, sha(syntax))


@functools.cache
def files(name, folder):
    """Find our own files behind a dotted name: the module, and the packages it is in."""
    parts = name.split(".")
    packages = [folder.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    paths = [*packages, folder.joinpath(*parts[:-1], f"{parts[-1]}.py")]
    return {path for path in paths if path.is_file()}


def closure(used, folders=(ROOT,)):
    """Find our own files behind what some code uses, and behind what they use in turn, sorted."""
    whole = Uses()
    whole.add(used)
    counted = set()
    while True:
        found = set().union(*(files(name, folder) for name in whole.imports for folder in folders))
        parts = {(path, part) for path in found for part in module(path).parts}
        new = {(path, part) for path, part in parts if part in whole.names | {""}} - counted
        if not new:
            return sorted(found)
        for path, part in new:
            whole.add(module(path).parts[part])
        counted |= new


@functools.cache
def data_sets():
    """Hash the data sets that are here, in the order in which the problems look for them."""
    folders = [ROOT / "data/original", ROOT / "data"]
    if os.environ.get("LDPBO_DATA"):
        folders.insert(0, Path(os.environ["LDPBO_DATA"]))
    files = [folder / name for folder in folders for name in DATA_SETS]
    return [sha(file.read_bytes()) if file.is_file() else "" for file in files]


def stored_tables(code, modules):
    """Find the stored tables under data/ that a page uses -> {name: (hash, our code or "")}.

    Code names a table in quotes ("bench") or by its file (bench.csv); a module by its file. Whether
    our code made a table is said on the page (`results.code_note`).
    """
    tables = [p for p in sorted((ROOT / "data").rglob("*.*")) if p.suffix in (".csv", ".json")]
    used = {}
    for table in tables:
        name = table.stem.removesuffix("_ata")  # results.sweep_with_ata reads both
        named = re.search(rf"""["'/]{re.escape(name)}["'.]""", code)
        named = named or any(table.name in module(path).syntax for path in modules)
        if named and table.name not in DATA_SETS:
            content = table.read_bytes()
            ours = code_hash() if code_hash().encode() in content else ""
            used[table.name] = (sha(content), ours)
    return used


def digest(page, pages):
    """Digest everything that the executed page depends on."""
    beside = ROOT / "notebooks" / page.stem
    programs = {path.stem: path.read_text("utf-8") for path in sorted(beside.glob("*.py"))}
    used = used_by_cells(page.code())
    used.imports |= set(programs)
    modules = closure(used, (ROOT, beside))
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
    if re.search("light|stock", str(page.parameters.get("problem", notebook + code))):
        parts["data"] = data_sets()
    return sha(parts)
