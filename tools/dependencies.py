"""A page runs again when something that it uses has changed: its digest covers that and no more.

A page uses its notebook, its parameters and the programs beside it (notebooks/PAGE/*.py), byte for
byte; what it names of the modules that these import, and what that names in turn, without comments,
docstrings and layout (ldpbo.provenance.syntax); its data; the lock file, Python, and the pages it
needs. A function, method or constant counts once something that counts has its name, so that a page
which saves no learner does not use ldpbo/saving.py, to which `save` leads.
"""

import ast
import collections
import dataclasses
import functools
import os
import platform
import re
from pathlib import Path

from ldpbo import provenance
from store import ROOT, sha

DATA_SETS = ("iw_data_all.mat", "fin.csv", "light.csv", "stocks.csv")  # what the problems read
code_hash = functools.cache(provenance.code_hash)


@dataclasses.dataclass
class Uses:
    """Some code uses the dotted names that it imports, and the names that occur in it."""

    imports: set = dataclasses.field(default_factory=set)
    names: set = dataclasses.field(default_factory=set)
    syntax: str = ""

    def add(self, other):
        self.imports |= other.imports
        self.names |= other.names

    def read(self, node):
        """Note what a piece of syntax uses."""
        self.syntax += provenance.syntax(node)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Import):
                self.imports.update(alias.name for alias in inner.names)
            elif isinstance(inner, ast.ImportFrom):
                names = [alias.name for alias in inner.names]
                self.names.update(names)
                self.imports |= {inner.module, *(f"{inner.module}.{name}" for name in names)}
            elif isinstance(inner, ast.Name):
                self.names.add(inner.id)
            elif isinstance(inner, ast.Attribute):
                self.names.add(inner.attr)


@functools.cache
def parts(path):
    """Find what the parts of a module use -> {name of a function, method or constant: Uses}.

    The part "" is the rest: what runs when the module is imported, and methods such as __init__.
    """
    found = collections.defaultdict(Uses)
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            continue  # for mypy
        if isinstance(statement, ast.ClassDef):
            for inner in statement.body:
                found[part_of(inner, ast.FunctionDef)].read(inner)
            statement.body = []
        found[part_of(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign))].read(statement)
    return found


def part_of(statement, kinds):
    """Name the part that a statement belongs to: what it defines, if it is of these kinds."""
    if not isinstance(statement, kinds):
        return ""
    targets = getattr(statement, "targets", [getattr(statement, "target", statement)])
    names = {getattr(target, "id", getattr(target, "name", "")) for target in targets}
    name = names.pop()
    return "" if names or name.startswith("__") else name


def used_by_cells(cells):
    """Find what cells use, functions included.

    A cell that is not Python counts for nothing; its run will say so.
    """
    found = Uses()
    for source in cells:
        try:
            found.read(ast.parse(source))
        except SyntaxError:
            continue
    return found


@functools.cache
def files(name, folder):
    """Find our own files behind a dotted name: the module, and the packages it is in."""
    parts = name.split(".")
    packages = [folder.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    paths = [*packages, folder.joinpath(*parts[:-1], f"{parts[-1]}.py")]
    return {path for path in paths if path.is_file()}


def closure(used, folders=(ROOT,)):
    """Find what some code uses of our own files, and what that uses in turn.

    -> {file: the syntax of its parts that count}, sorted.
    """
    whole = Uses()
    whole.add(used)
    counted = set()
    while True:
        found = set().union(*(files(name, folder) for name in whole.imports for folder in folders))
        named = {(path, part) for path in found for part in parts(path).keys() & whole.names}
        new = (named | {(path, "") for path in found}) - counted
        if not new:
            break
        for path, part in new:
            whole.add(parts(path)[part])
        counted |= new
    syntax = dict.fromkeys(sorted(found), "")
    for path, part in sorted(counted):
        syntax[path] += parts(path)[part].syntax
    return syntax


@functools.cache
def data_sets():
    """Hash the data sets that are here, in the order in which the problems look for them."""
    folders = [ROOT / "data/original", ROOT / "data"]
    if os.environ.get("LDPBO_DATA"):
        folders.insert(0, Path(os.environ["LDPBO_DATA"]))
    files = [folder / name for folder in folders for name in DATA_SETS]
    return [sha(file.read_bytes()) if file.is_file() else "" for file in files]


def stored_tables(code, parameters, modules):
    """Find the stored tables under data/ that a page uses -> {name: (hash, our code or "")}.

    A page names a table in quotes if it reads tables at all, by a parameter, or by its file
    (bench.csv); a module by its file. Whether our code made a table is said on the page
    (`results.code_note`).
    """
    tables = [p for p in sorted((ROOT / "data").rglob("*.*")) if p.suffix in (".csv", ".json")]
    reads = re.search(r"\bresults\.(stored|sweep)", code)
    quoted = set(re.findall(r"""["'](\w+)["']""", code)) if reads else set()
    used = {}
    for table in tables:
        name = table.stem.removesuffix("_ata")  # results.sweep_with_ata reads both
        named = name in quoted or name in parameters
        if table.name not in DATA_SETS and (named or table.name in code + modules):
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
    code = "\n".join([*page.code(), *programs.values()])
    parts = {
        "notebook": page.source.read_text("utf-8"),
        "programs": programs,
        "parameters": page.parameters,
        "modules": {str(path.relative_to(ROOT)): sha(text) for path, text in modules.items()},
        "tables": stored_tables(code, page.parameters.values(), "".join(modules.values())),
        "lock": sha((ROOT / "requirements.lock").read_bytes()),
        "python": platform.python_version(),
        "needed": [digest(pages[name], pages) for name in page.needed(pages)],
    }
    if re.search(r"\b(light|stocks?)(_problem)?\b", page.parameters.get("problem", code)):
        parts["data"] = data_sets()
    return sha(parts)
