"""Lines of the code that carry out a line of an algorithm cite it: `# Alg. 1, l. 8`.

A comment at the end of a statement, or alone above it, cites lines in full, so that a search finds
them: "Alg. 1, l. 8", "Alg. 3, l. 7-10", for several algorithms "Alg. 1-3, l. 1", for our own "PE,
step 2". Curator 1 has one line. In the prose of a page {core}`Alg. 1, l. 8` or {core}`PE, step 2`
becomes the code of the statements that cite it, with links to the source.
"""

import ast
import collections
import functools
import io
import itertools
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from store import ROOT

FILES = ("ldpbo_core.py", "ldpbo/posterior.py")
NAME = r"(?P<algorithm>(?:Alg\. |Curator )?\w+)"
LINES = r"(?:l\.|step) (?P<first>\d+)(?:-(?P<last>\d+))?"
CITATION = re.compile(rf"{NAME}(?:-(?P<to>\d))?, {LINES}")
ROLE = re.compile(rf"\{{core\}}`{NAME}, {LINES}`")


class Cited(NamedTuple):
    """A statement cites `lines` lines of an algorithm."""

    path: str
    line: int
    scope: str
    code: str
    lines: int

    def link(self) -> str:
        """Link to the statement in the highlighted source; the text names its function."""
        target = f"../../_static/source/{Path(self.path).stem}.html#L-{self.line}"
        name = self.scope.replace("_", "&#95;")  # no emphasis
        return f'<a class="source" href="{target}" title="{self.path}">{name}</a>'


def numbers(found: re.Match) -> range:
    """Read the lines that a citation names."""
    return range(int(found["first"]), int(found["last"] or found["first"]) + 1)


def scope_at(tree: ast.Module, line: int) -> str:
    """Name the classes and functions around a line, such as "ATA.update"."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    around = [
        n for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno <= line <= n.end_lineno
    ]
    return ".".join(node.name for node in sorted(around, key=lambda node: node.lineno))


def statement_at(tree: ast.Module, line: int) -> str:
    """Write the innermost statement at a line; only the head of one with a body."""
    statements = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
    around = [n for n in statements if n.lineno <= line <= n.end_lineno]
    innermost = min(around, key=lambda node: node.end_lineno - node.lineno)
    code = ast.unparse(innermost)
    return code.splitlines()[0] if hasattr(innermost, "body") else code


def algorithms(found: re.Match) -> list[str]:
    """List the algorithms that a citation names: "Alg. 1-3" are three."""
    if not found["to"]:
        return [found["algorithm"]]
    word, first = found["algorithm"].split()
    return [f"{word} {number}" for number in range(int(first), int(found["to"]) + 1)]


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Find the comments of a source -> (line of the statement that each belongs to, its text)."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            alone = not token.line[:column].strip()
            if not alone:
                yield line, token.string
            elif CITATION.match(token.string, 2):
                yield line + 1, token.string


@functools.cache
def citations() -> dict[tuple[str, int], list[Cited]]:
    """Read all citations -> {(algorithm, line): statements}."""
    cited = collections.defaultdict(list)
    for path in FILES:
        source = (ROOT / path).read_text("utf-8")
        tree = ast.parse(source)
        for line, text in comments(source):
            for found in CITATION.finditer(text):
                lines = numbers(found)
                code = statement_at(tree, line)
                statement = Cited(path, line, scope_at(tree, line), code, len(lines))
                for key in itertools.product(algorithms(found), lines):
                    cited[key].append(statement)
    return cited


def statements(algorithm: str, lines: range) -> list[Cited]:
    """Find the statements that carry out some lines of an algorithm.

    Of those that cite a line the ones are taken that cite fewest others: a call that stands for
    three lines gives way to the three. A line that nobody cites is refused.
    """
    chosen = []
    for line in lines:
        known = citations().get((algorithm, line), [])
        if not known:
            raise LookupError(f"{algorithm}, line or step {line}: no statement cites it")
        fewest = min(cited.lines for cited in known)
        chosen += [c for c in known if c.lines == fewest and c not in chosen]
    return chosen


def substitute(text: str) -> str:
    """Replace {core}`Alg. 1, l. 8` in the prose of a page by the code that carries it out."""

    def code(found: re.Match) -> str:
        cited = statements(found["algorithm"], numbers(found))
        parts = []
        for _, group in itertools.groupby(cited, key=lambda statement: statement.scope):
            first, *others = group
            lines = [statement.code.replace("|", r"\|") for statement in (first, *others)]
            parts.append("<br>".join(f"`{line}`" for line in lines) + f" {first.link()}")
        return "<br>".join(parts)

    return ROLE.sub(code, text)
