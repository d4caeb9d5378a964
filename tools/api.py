"""The API page has a line for every public name of the modules.

A line opens, and shows signature, docstring and a link to the source.
"""

import ast
import dataclasses
import functools
import html
import inspect
import re
from pathlib import Path

import ldpbo_core
from docstrings import escaped, flowing, rendered
from ldpbo import (
    audit,
    bounds,
    campaigns,
    checks,
    datasets,
    design,
    lower,
    posterior,
    saving,
    tables,
)
from store import ROOT

MODULES = (
    ldpbo_core,
    datasets,
    tables,
    campaigns,
    saving,
    bounds,
    lower,
    audit,
    posterior,
    design,
    checks,
)
INTERNALS = (posterior, design, checks)
START = (  # what most programs need, in the order of use
    "read_table table_problem function_problem Problem OneBit CTL Sums make Learner Learner.ask"
    " Learner.tell Learner.plan Learner.tell_sums Learner.best simulate simulate_batches load"
).split()
INTRODUCTION = """# API

::::{admonition} In short
:class: answer
**Question.** What is there to call, what does it take, and what does it give back?

**Answer.** First comes what most programs need, then every public name of each module, in the order
of the source; internals come last. Click on a name below the table for its signature, arguments,
methods and source.
(`ldpbo_bounds` hands out names of `ldpbo.bounds`, `ldpbo.lower` and `ldpbo.audit`.)

**How sure.** The page is made from the source when the book is built.
::::"""


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
    """Write the whole page: a table of what most programs need, then the modules."""
    found = {module: entries(module) for module in MODULES}
    everything = {name: entry for part in found.values() for name, entry in part.items()}
    parts = [INTRODUCTION, summary({name: everything[name] for name in START})]
    for module, named in found.items():
        if module is INTERNALS[0]:
            parts += ["## Internals", "What is above stands on this; no program need call it."]
        level = "###" if module in INTERNALS else "##"
        head, _, rest = inspect.getdoc(module).partition("\n")
        parts += [f"{level} `{module.__name__}`", escaped(head), rendered(rest.strip())]
        whole = [entry for name, entry in named.items() if "." not in name]
        for entry in whole:
            behind = behind_the_door(entry.name, found) if module is ldpbo_core else ""
            parts.append(entry.folded(methods(entry.name, named), behind))
    return "\n\n".join(parts) + "\n"


@dataclasses.dataclass
class Entry:
    """An entry describes one name of a module: its signature, its docstring, its source."""

    name: str
    path: str
    arguments: str
    parameters: frozenset[str]
    doc: str

    @property
    def anchor(self):
        """Make the label of the entry; Sphinx does not tell capitals from small letters."""
        kind = "class-" if self.name[0].isupper() else ""
        words = f"api-{Path(self.path).stem}-{kind}{self.name}"
        return re.sub(r"[._]", "-", words).lower()

    @property
    def sentence(self):
        """Find the first sentence of the docstring."""
        first = flowing(self.doc).partition("\n")[0]
        return re.split(r"(?<=[a-z)'`\]])[.;:] (?=[A-Z])", first)[0]

    @property
    def line(self):
        """Write the first sentence as a title, without its full stop."""
        return re.sub(r"(?<!\.)[.:]$", "", self.sentence).replace("->", "→")

    def link(self) -> str:
        return f"[`{self.name}`](#{self.anchor})"

    def folded(self, methods: list["Entry"], behind: str = "") -> str:
        """Write a line that opens: the entry of this name and, if it is a class, of its methods.

        The line stays in sight, so the entry does not repeat it. behind: a sentence at its end.
        """
        line = f":::{{dropdown}} `{self.name}` · {escaped(self.line)}"
        rest = flowing(self.doc).removeprefix(self.sentence).lstrip(".;: \n")
        parts = [f"{line}\n:name: {self.anchor}\n:margin: 0 1 0 0", self.call("source")]
        if rest:
            parts.append(rendered(rest, self.parameters))
        if behind:
            parts.append(behind)
        if methods:
            parts.append(f"Methods: {', '.join(method.link() for method in methods)}.")
        parts += [f"({method.anchor})=\n{method.text()}" for method in methods]
        return "\n\n".join([*parts, ":::"])

    def text(self) -> str:
        """Write name, link to the source, signature and docstring."""
        named = f"**`{self.name}`** "
        return f"{named}{self.call('source')}\n\n{rendered(self.doc, self.parameters)}"

    def call(self, word: str) -> str:
        """Write a word that leads to the source, and the signature."""
        link = source_link(self.path, self.name, word)
        return f"{link}\n\n```python\n{self.name}{self.arguments}\n```" if self.arguments else link


def entries(module) -> dict[str, Entry]:
    """Collect the public names of a module that have a docstring of their own."""
    path = module.__name__.replace(".", "/") + ".py"
    found = {}
    for name in lines(inspect.getsource(module)):
        if name.startswith("_") or "._" in name:
            continue
        thing = module
        for step in name.split("."):
            thing = inspect.getattr_static(thing, step)
        is_value = isinstance(thing, property | functools.cached_property)
        for attribute in ("__func__", "fget", "func"):  # of a class method, two kinds of property
            thing = getattr(thing, attribute, thing)
        doc = inspect.getdoc(thing)
        if not doc or "." in name and thing.__doc__ is None:
            continue
        arguments = "" if is_value else signature(thing)
        found[name] = Entry(name, path, arguments, parameters(thing), doc)
    return found


def behind_the_door(name: str, found: dict) -> str:
    """Say where the function is that a door of the core leads to; nothing of other names."""
    behind = {m: named[name] for m, named in found.items() if m is not ldpbo_core and name in named}
    says = "It calls {} of `{}`, whose entry says the rest."
    return "".join(says.format(x.link(), m.__name__) for m, x in behind.items())


def methods(name: str, named: dict[str, Entry]) -> list[Entry]:
    """Find the methods of a class among the names of its module."""
    return [entry for other, entry in named.items() if other.startswith(f"{name}.")]


def parameters(thing) -> frozenset[str]:
    """Find the names of a function's or a class's arguments."""
    try:
        return frozenset(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return frozenset()


def summary(named: dict[str, Entry]) -> str:
    """Write a table with one line for each name."""
    rows = []
    for entry in named.values():
        line = re.sub(r"(?<!\\)\|", r"\|", escaped(entry.line))  # a bar would end the cell
        rows.append(f"| {entry.link()} | {line} |")
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


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
