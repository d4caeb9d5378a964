"""A docstring becomes Markdown: prose, a list of arguments, and code where it is indented."""

import itertools
import re
import textwrap

FULL = 80  # a line of at least so many characters was broken because it was full
BRACKETS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"  # with two pairs inside each other
OPERAND = (  # without spaces, except in brackets: z^nu, K(x, x'), (M/n)^s, t^{1/2p}
    rf"(?:{BRACKETS}(?=[\^'(]))?"
    rf"(?:[\w'|_/.]|\^[-+]?|\{{[^{{}}]*\}}|(?<=[\w'^|)}}]){BRACKETS})+(?<![./])"
)
FORMULA = re.compile(rf"(?<![\w'\"]){OPERAND}(?: (?:[-=+<>]|<=|>=) {OPERAND})*")
SIGN = re.compile(  # a power, or a transposed matrix or other vector, not an apostrophe
    r"\^|[A-Za-z]'(?!s\b|t\b)\w|(?<![A-Za-z])(?:[A-Za-z](?:_[a-z])?|([a-z])\1)'(?!\w)|\)'\("
)


def rendered(text: str, parameters: frozenset[str] = frozenset()) -> str:
    """Turn a docstring into Markdown: prose, a list of arguments, and code where it is indented."""
    parts: list[str] = []
    for block in re.split(r"\n\s*\n", flowing(text)):
        is_code = lambda line: line.startswith((" ", ">>>", "..."))
        if block.startswith(">>>"):
            parts.append(f"```python\n{block}\n```")
            continue
        for code, run in itertools.groupby(whole_items(block, parameters), is_code):
            if code:
                body = textwrap.dedent("\n".join(run))
                parts.append(f"```text\n{body}\n```")
            else:
                parts.append("\n".join(prose(line, parameters) for line in run))
    return "\n\n".join(part for part in parts if part)


def whole_items(block: str, parameters: frozenset[str]) -> list[str]:
    """Split a block into lines, but keep whole an item of a list and what explains an argument.

    To these belongs what is indented below.
    """
    joined: list[str] = []
    for line in block.split("\n"):
        before = joined[-1] if joined else ""
        if line.startswith(" ") and (before.startswith("- ") or explained(before, parameters)):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    return joined


def explained(line: str, parameters: frozenset[str]) -> list[str]:
    """Find the arguments that a line of the form "a, b: meaning" explains."""
    names, colon, _ = line.partition(": ")
    words = names.split(", ")
    return words if colon and parameters.issuperset(words) else []


def prose(line: str, parameters: frozenset[str]) -> str:
    """Write a line of prose; one that explains arguments becomes an item of a list."""
    words = explained(line, parameters)
    if line.startswith("- "):
        return f"- {escaped(line[2:])}"
    if not words:
        return escaped(line)
    listed = ", ".join(f"`{word}`" for word in words)
    return f"- {listed}: {escaped(line.partition(': ')[2])}"


def escaped(text: str) -> str:
    """Protect what Markdown would take for its own signs, outside of `code`; 1e-9 is code."""
    parts = re.split(r"(`[^`]*`)", formulas_as_code(text))
    for i, part in enumerate(parts):
        if not part.startswith("`"):
            safe = re.sub(r"([\\*_$<>\[\]{}|~#])", r"\\\1", part)
            parts[i] = re.sub(r"(?<![\w.])(\d(?:\.\d+)?e[+-]?\d+)(?!\w)", r"`\1`", safe)
    return "".join(parts)


def formulas_as_code(text: str) -> str:
    """Put formulas with powers or primes into `code`, where no prime becomes a quotation mark."""
    as_code = lambda found: f"`{found[0]}`" if SIGN.search(found[0]) else found[0]
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [FORMULA.sub(as_code, part) for part in parts[::2]]
    return "".join(parts)


def flowing(text: str) -> str:
    """Join the lines of prose that were broken because they were full; the page breaks its own."""
    joined: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"(?<=\S) {3,}(?=# )", "  ", line)  # comments need no common column here
        if joined and runs_on(joined[-1], line):
            joined[-1] += f" {line}"
        else:
            joined.append(line)
    return "\n".join(joined)


def runs_on(before: str, line: str) -> bool:
    """Tell whether `line` continues the sentence of a full line before it."""
    if len(before) < FULL or not line.strip():
        return False
    if re.match(r"\w+: ", line) and before.endswith("."):  # what explains an argument begins a line
        return False
    return not re.match(r"\s|>>>|\.\.\.", before) and not re.match(r"\s|>>>|- ", line)
