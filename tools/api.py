"""The API page lists every public name of the modules: signature, docstring, link to the source."""

import ast
import functools
import html
import inspect
import re
from pathlib import Path

import ldpbo_core
from ldpbo import audit, bounds, campaigns, checks, datasets, posterior, saving
from store import ROOT

MODULES = (ldpbo_core, datasets, campaigns, saving, bounds, audit, posterior, checks)
FULL = 80  # a line of at least so many characters was broken because it was full
INTRODUCTION = """# API

Every public name of the modules, in the order of the source: signature and docstring as they stand
there."""


@functools.cache
def lines(source: str) -> dict[str, int]:
    """Find the line of every class, function and method of a module, methods as Class.method."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node.lineno
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    found[f"{node.name}.{part.name}"] = part.lineno
    return found


def source_link(path: str, name: str, text: str, up: str = "../") -> str:
    """Link to the line of the highlighted source at which `name` is defined, in HTML."""
    line = lines((ROOT / path).read_text("utf-8"))[name]
    target = f"{up}_static/source/{Path(path).stem}.html#L-{line}"
    title = html.escape(f"{path}: {name}")
    return f'<a class="source" href="{target}" title="{title}">{text}</a>'


def page() -> str:
    """Write the whole page."""
    parts = [INTRODUCTION]
    for module in MODULES:
        head, _, rest = inspect.getdoc(module).partition("\n")
        parts += [f"## `{module.__name__}`", head, f"```text\n{flowing(rest.strip())}\n```"]
        for name in lines(inspect.getsource(module)):
            if not name.startswith("_") and "._" not in name:
                parts += entry(module, name)
    return "\n\n".join(parts) + "\n"


def entry(module, name: str) -> list[str]:
    """Write the parts of the page for one name; none if it has no docstring of its own."""
    thing = module
    for step in name.split("."):
        thing = inspect.getattr_static(thing, step)
    is_value = isinstance(thing, property | functools.cached_property)
    for attribute in ("__func__", "fget", "func"):  # of a class method, a property, a cached one
        thing = getattr(thing, attribute, thing)
    text = inspect.getdoc(thing)
    is_method = "." in name
    if not text or is_method and thing.__doc__ is None:
        return []
    path = module.__name__.replace(".", "/") + ".py"
    arguments = "" if is_value else signature(thing)
    return [
        f"###{'#' if is_method else ''} `{name}`",
        source_link(path, name, "source"),
        f"```python\n{name}{arguments}\n```",
        f"```text\n{flowing(text)}\n```",
    ]


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
    return not re.match(r"\s|>>>|\.\.\.", before) and not re.match(r"\s|>>>|\w+: ", line)


def signature(thing) -> str:
    """Write the signature as in the source; a long one with a line for each argument."""
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    text = text.replace("(self, ", "(").replace("(self)", "()")
    if len(text) < 76:
        return text
    inside, _, result = text[1:].rpartition(")")
    arguments = "".join(f"    {argument.strip()},\n" for argument in split(inside))
    return f"(\n{arguments}){result}"


def split(text: str) -> list[str]:
    """Split at the commas that are outside all brackets."""
    depth = 0
    parts = [""]
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
