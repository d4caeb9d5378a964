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


@functools.cache
def module(path):
    """Parse a module -> the names it imports, and the digest of its syntax."""
    tree = ast.parse(path.read_text("utf-8"))
    return imported(tree), sha(provenance.syntax(tree))


def files(name, folders):
    """Find our own files behind a dotted name: the module, and the packages it is in."""
    parts = name.split(".")
    candidates = [Path(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)]
    candidates.append(Path(*parts[:-1], f"{parts[-1]}.py"))
    paths = [folder / candidate for folder in folders for candidate in candidates]
    return {path for path in paths if path.is_file()}


def closure(names, folders=(ROOT,)):
    """Find our own files behind these names and behind what they import in turn, sorted."""
    found = set()
    waiting = set(names)
    while waiting:
        new = files(waiting.pop(), folders) - found
        found |= new
        for path in new:
            waiting |= module(path)[0]
    return sorted(found)


@functools.cache
def data_sets():
    """Hash the data sets that are here, in the order in which the problems look for them."""
    folders = [ROOT / "data/original", ROOT / "data"]
    if os.environ.get("LDPBO_DATA"):
        folders.insert(0, Path(os.environ["LDPBO_DATA"]))
    files = [folder / name for folder in folders for name in DATA_SETS]
    return [sha(file.read_bytes()) if file.is_file() else "" for file in files]


def stored_tables(text, modules):
    """Find the stored tables under data/ that a page uses -> their names and hashes.

    A page names a table by its stem (`bench`), a module by its file (`bench.csv`).
    """
    tables = [p for p in sorted((ROOT / "data").rglob("*.*")) if p.suffix in (".csv", ".json")]
    used = []
    for table in tables:
        named = re.search(rf"\b{re.escape(table.stem)}\b", text) or table.name in modules
        if named and table.name not in DATA_SETS:
            used.append((table.name, sha(table.read_bytes())))
    return used


def digest(page, pages):
    """Digest everything that the executed page depends on."""
    beside = ROOT / "notebooks" / page.stem
    programs = sorted(beside.glob("*.py"))
    names = set().union(*map(imported_by_cell, page.code()))
    names |= {program.stem for program in programs}
    modules = closure(names, (ROOT, ROOT / "notebooks", beside))
    notebook = page.source.read_text("utf-8")
    texts = [program.read_text("utf-8") for program in programs]
    said = "\n".join([notebook, *texts, json.dumps(page.parameters)])
    parts = [notebook, texts, page.parameters, platform.python_version()]
    parts.append((ROOT / "requirements.lock").read_bytes())
    parts += [[str(path.relative_to(ROOT)), module(path)[1]] for path in modules]
    if ROOT / "ldpbo/provenance.py" in modules:  # the page names the code
        parts.append(code_hash())
    if re.search("light|stock", str(page.parameters.get("problem", said))):
        parts.append(data_sets())
    parts.append(stored_tables(said, "\n".join(path.read_text("utf-8") for path in modules)))
    parts += [digest(pages[name], pages) for name in page.needed(pages)]
    return sha(*parts)
