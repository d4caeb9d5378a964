"""The text of the pages is completed here: glued numbers, cited code, its hash, reading times.

render.py applies `substitute` and `part_heads` to the renderer's sources.
"""

import json
import math
import re
from pathlib import Path

import yaml

import citations
from ldpbo import formats, provenance
from store import ROOT
from tidy import dump

NEEDS = {
    "Start here": "averages and probabilities",
    "The paper": "probability and linear algebra, and the part “Start here”",
    "What holds": "the paper, or its pages here",
    "What to use": "the part “Start here”, and a little Python",
    "Proofs": "the algorithms' pages, martingales; for the lower bounds Fourier transforms"
    " and relative entropy",
}
PROOFS = {"Proofs"}  # parts that are worked through with a pencil
WORDS_A_MINUTE = 180  # of prose with formulas
DISPLAYED = re.compile(r"\$\$.+?\$\$|```\{math\}.+?```", re.S)
INLINE = re.compile(r"\$[^$\n]+\$")
MINUTES_A_DISPLAY = 2.0  # of checking a displayed formula
MINUTES_AN_INLINE = 1 / 6  # and one in the text
CODE = re.compile(rb"(?<=\. Code: )[0-9a-f]{12}(?=; Python )")  # in the line of show.provenance
GLUE = re.compile(  # {glue:text}`name:format` and {glue:text}`page::name:format`
    r"\{glue:(?:text|any)\}`(?:(?:pages/)?(?P<page>\w+)(?:\.ipynb)?::)?"
    r"(?P<name>[^`]+?)(?::(?P<spec>[.,]?\d*[defg]))?`"
)


# ---- The prose of a page -------------------------------------------------------------------------


def prose(path: Path) -> list[str]:
    """Read the text of a page: a file, or the Markdown cells of a notebook."""
    if path.suffix != ".ipynb":
        return [path.read_text("utf-8")]
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]


def with_prose(path: Path, change) -> bytes:
    """Apply a function to the text, or to each Markdown cell, of a page -> its new content."""
    texts = iter([change(text) for text in prose(path)])
    if path.suffix != ".ipynb":
        return next(texts).encode()
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = next(texts)
    return dump(notebook)


# ---- Numbers -------------------------------------------------------------------------------------


def number(value, spec: str = "") -> str:
    """Write a number for prose: 3·10⁻¹⁶ for 3e-16, 20,000 for 20000, a true minus, never -0.00."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return str(value)
    if not spec and isinstance(value, int) and abs(value) > 9999:
        spec = ","
    text = format(value, spec)
    if not float(text.replace(",", "")):
        text = "0" if "e" in text else text.lstrip("-")
    text, _, exponent = text.partition("e")
    if exponent:
        text = formats.times_power(text, exponent)
    return text.replace("-", "−")


def glued(path: Path) -> dict:
    """Find what an executed page has glued: name -> value."""
    return formats.glued(json.loads(path.read_text("utf-8")))


def substitute(source: Path) -> dict[Path, bytes]:
    """Write glued numbers and cited lines into pages and the ledger's data -> {page: new content}.

    The hash of the code below a page becomes that of today's: a page is not run again for its last
    line, since its numbers are those that today's code would give.
    """
    values = {path.stem: glued(path) for path in source.glob("book/pages/*.ipynb")}
    code = provenance.code_hash().encode()
    made = {}
    ledgers = source.glob("book/_static/claims.json")
    for path in [*source.glob("book/*.md"), *source.glob("book/pages/*.ipynb"), *ledgers]:

        def numbers(text, page=path.stem):
            text = citations.substitute(text)
            return GLUE.sub(lambda found: glued_number(found, page, values), text)

        new = CODE.sub(code, with_prose(path, numbers))
        if new != path.read_bytes():
            made[path] = new
    return made


def glued_number(found: re.Match, page: str, values: dict[str, dict]) -> str:
    """Write the number that a role names; Sphinx warns of one that nobody has glued."""
    known = values.get(found["page"] or page, {})
    if found["name"] not in known:
        return found[0]
    return number(known[found["name"]], found["spec"] or "")


# ---- Times to read -------------------------------------------------------------------------------


def minutes(names: list[str]) -> int:
    """Estimate how long it takes to read these pages' prose, in steps of five minutes."""
    paths = []
    for name in names:
        notebook = ROOT / f"notebooks/{name}.ipynb"
        paths.append(notebook if notebook.exists() else ROOT / f"book/{name}.md")
    return reading_time(paths)


def reading_time(paths: list[Path]) -> int:
    """Estimate the minutes that the prose of these files takes, in steps of five."""
    words = sum(len(text.split()) for path in paths for text in prose(path))
    return max(5, 5 * round(words / WORDS_A_MINUTE / 5))


def working_time(paths: list[Path]) -> int:
    """Estimate the hours it takes to read these files and to check every formula in them."""
    spent = 0.0
    for text in [text for path in paths for text in prose(path)]:
        rest, displayed = DISPLAYED.subn("", text)
        spent += len(text.split()) / WORDS_A_MINUTE + MINUTES_A_DISPLAY * displayed
        spent += MINUTES_AN_INLINE * len(INLINE.findall(rest))
    return max(1, round(spent / 60))


def part_heads(source: Path) -> dict[Path, bytes]:
    """Give the first page of each part a line: pages, time to read, what to know before."""
    made = {}
    for part in yaml.safe_load((source / "_toc.yml").read_text("utf-8"))["parts"]:
        caption = part["caption"]
        if caption not in NEEDS:
            continue
        files = pages_of(part, source)
        count = "1 page" if len(files) == 1 else f"{len(files)} pages"
        time = f"about {reading_time(files)} minutes to read"
        if caption in PROOFS:
            time = f"skim {reading_time(files)} min · work through {working_time(files)} h"
        before = NEEDS[caption]
        line = f"*Part “{caption}”: {count}, {time}. Good to know before: {before}.*"
        made[files[0]] = with_line(files[0], line)
    return made


def with_line(path: Path, line: str) -> bytes:
    """Put a line below the title of a page -> its new content."""
    first = prose(path)[0]
    title, _, rest = first.partition("\n")
    headed = f"{title}\n\n{line}\n{rest}"
    return with_prose(path, lambda text: headed if text == first else text)


def pages_of(part: dict, source: Path) -> list[Path]:
    """Find the files of a part of the table of contents."""
    names = []
    for chapter in part["chapters"]:
        names += [chapter["file"], *(section["file"] for section in chapter.get("sections", ()))]
    kinds = [(source / f"{name}.ipynb", source / f"{name}.md") for name in names]
    return [notebook if notebook.exists() else text for notebook, text in kinds]
