"""The book offers more than its pages: sources, the API page, the ledger's badges, one archive.

render.py copies what `build` writes into the renderer's sources, then applies `substitute` and
`part_heads` to them.
"""

import ast
import io
import json
import math
import re
import zipfile
from collections import Counter
from pathlib import Path

import yaml
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import api
import citations
import store
from store import ROOT
from tidy import dump

BADGES = {
    "holds": "yes",
    "holds with a fix": "fix",
    "does not hold as stated": "no",
    "unproved": "open",
    "not reproduced": "no",
    "cannot be tested": "open",
}
NEEDS = {
    "Start here": "averages and probabilities",
    "The paper": "probability and linear algebra, and *Start here*",
    "What holds": "the paper, or its pages here",
    "What to use": "*Start here*; the code wants nothing but Python",
    "Proofs": "the algorithms' pages, martingales; for lower bounds Fourier transforms",
}
ARCHIVED = """
    *.py ldpbo/* tools/*.py *.md *.yml *.toml *.lock Makefile LICENSE CITATION.cff notebooks/**/*
    data/* data/pins/* data/sweeps/* tests/*.py book/*.* book/live/* book/_static/*.* book/images/*
""".split()
PROOFS = {"Proofs"}  # parts that are worked through with a pencil
WORDS_A_MINUTE = 180  # of prose with formulas
DISPLAYED = re.compile(r"\$\$.+?\$\$|```\{math\}.+?```", re.S)
INLINE = re.compile(r"\$[^$\n]+\$")
MINUTES_A_DISPLAY = 2.0  # of checking a displayed formula
MINUTES_AN_INLINE = 1 / 6  # and one in the text
GLUED = "application/papermill.record/text/plain"
GLUE = re.compile(  # {glue:text}`name:format` and {glue:text}`page::name:format`
    r"\{glue:(?:text|any)\}`(?:(?:pages/)?(?P<page>\w+)(?:\.ipynb)?::)?"
    r"(?P<name>[^`]+?)(?::(?P<spec>[.,]?\d*[defg]))?`"
)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{name}</title>
<style>body {{ margin: 1rem; background: #fff; font-size: 0.85rem }}
pre {{ line-height: 1.35; white-space: pre-wrap }}
.linenos {{ color: #666; padding-right: 1em; user-select: none }}
:target {{ background: #fff3bf }}
{light}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181e; color: #ced6dd }}
.linenos {{ color: #9ca4af }} :target {{ background: #4a3f00 }}
{dark} }}</style></head><body><main><h1>{name}</h1>{code}</main></body></html>
"""


# ---- What lies on the shelf ----------------------------------------------------------------------


def build(folder: Path) -> dict[Path, Path]:
    """Write everything below `folder` -> {where it belongs in the renderer's sources: file}."""
    claims = (ROOT / "book/claims.md").read_text("utf-8")
    notation = (ROOT / "book/notation.md").read_text("utf-8")
    index = (ROOT / "book/index.md").read_text("utf-8")
    made = {
        "book/api.md": api.page().encode(),
        "book/_static/ldpbo.zip": archive(),
        "book/claims.md": link_tests(with_bar(ledger(claims), claims)).encode(),
        "book/notation.md": link_tests(with_figures(notation)).encode(),
        "book/index.md": first_page(index, claims).encode(),
        "book/_static/claims.json": (json.dumps(verdicts(claims), indent=1) + "\n").encode(),
    }
    sources = [Path(module.__file__) for module in api.MODULES]
    for path in [*sources, *(ROOT / "tests").glob("test_*.py")]:
        made[f"book/_static/source/{path.stem}.html"] = source_page(path).encode()
    for name, content in made.items():
        store.write(folder / name, content)
    return {Path(name): folder / name for name in made}


def source_page(path: Path) -> str:
    """Highlight a source; line 12 has the anchor L-12."""
    formatter = HtmlFormatter(linenos="inline", linespans="L")
    code = highlight(path.read_text("utf-8"), PythonLexer(), formatter)
    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="monokai").get_style_defs(".highlight")
    return PAGE.format(name=path.relative_to(ROOT), code=code, light=light, dark=dark)


def ledger(text: str) -> str:
    """Give each claim an anchor and its verdict a badge; link other claims named as evidence."""
    lines = text.splitlines()
    return "\n".join(claim_row(s) if s.startswith("| **C-") else s for s in lines) + "\n"


def claim_row(line: str) -> str:
    """Mark up one row of the ledger."""
    line = re.sub(r"(?<![\w*`-])C-[a-zA-Z][\w-]*", r'<a href="#\g<0>">\g<0></a>', line)
    own = r'<a class="claim" id="\1" href="#\1">\1</a>'
    line = re.sub(r"\*\*(C-[\w-]+)\*\*", own, line, count=1)
    verdict = line.split(" | ")[1].strip()
    badge = f'<span class="verdict {BADGES[verdict]}">{verdict}</span>'
    return line.replace(f"| {verdict} |", f"| {badge} |", 1)


def verdicts(claims: str) -> list[dict[str, str]]:
    """Read the ledger -> its rows: claim, statement, verdict, evidence, test, in plain Markdown."""
    rows = []
    for line in claims.splitlines():
        found = re.match(r"\| \*\*(C-[\w-]+)\*\* (.*) \|$", line)
        if found:
            cells = found[2].split(" | ")
            row = dict(zip(("statement", "verdict", "evidence", "test"), cells, strict=True))
            rows.append({"claim": found[1]} | row)
    return rows


def first_page(text: str, claims: str) -> str:
    """Write into the first page the ledger's bar, the minutes to read and the version."""
    text = with_bar(text, claims)
    text = re.sub(r"\{minutes\}`([^`]+)`", lambda found: str(minutes(found[1].split())), text)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    text = text.replace("{{version}}", f"{{{citation['version']}}}")
    return text.replace("{{year}}", f"{{{config['copyright']}}}")


def with_bar(text: str, claims: str) -> str:
    """Put the ledger's bar where a page wants it."""
    return text.replace("{ledger-bar}", ledger_bar(claims))


def ledger_bar(claims: str) -> str:
    """Draw the verdicts as one bar of HTML, each part as wide as its number of claims."""
    counts = Counter(row["verdict"] for row in verdicts(claims))
    parts = []
    for verdict, badge in BADGES.items():
        count = counts[verdict]
        label = f'<span>{count}</span><span class="what">{verdict}</span>'
        parts.append(f'<li class="verdict {badge}" style="flex-grow: {count}">{label}</li>')
    return f'<ul class="ledger-bar" aria-label="Verdicts">{"".join(parts)}</ul>'


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


def link_tests(text: str) -> str:
    """Make `tests/test_x.py::test_y` a small link to that test's source."""
    pattern = r"`(tests/\w+\.py)::(\w+)`"
    return re.sub(pattern, lambda found: api.source_link(found[1], found[2], "test"), text)


def with_figures(text: str) -> str:
    """Replace {figures}`page` by links to the figures of that page, in their order."""

    def links(found: re.Match) -> str:
        notebook = json.loads((ROOT / f"notebooks/{found[1]}.ipynb").read_text("utf-8"))
        options = [cell["metadata"].get("mystnb", {}) for cell in notebook["cells"]]
        names = [part["figure"]["name"] for part in options if "figure" in part]
        return ", ".join(f"{{numref}}`{name}`" for name in names)

    return re.sub(r"\{figures\}`(\w+)`", links, text)


def archive() -> bytes:
    """Zip modules, notebooks, data, tests and build files; the same files give the same bytes."""
    files = {path for pattern in ARCHIVED for path in ROOT.glob(pattern) if is_archived(path)}
    with zipfile.ZipFile(whole := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"ldpbo/{path.relative_to(ROOT)}", (2021, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            target.writestr(entry, path.read_bytes())
    return whole.getvalue()


def is_archived(path: Path) -> bool:
    """Tell a file of ours from what programs leave behind."""
    hidden = any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    return path.is_file() and not hidden and path.suffix not in (".pyc", ".zip")


# ---- What is written into the staged pages -------------------------------------------------------


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
        power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        text = power if text == "1" else f"{text}·{power}"
    return text.replace("-", "−")


def glued(path: Path) -> dict:
    """Find what an executed notebook has glued: name -> value."""
    found = {}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if GLUED in output.get("data", {}):
                name = output["metadata"]["scrapbook"]["name"]
                found[name] = ast.literal_eval("".join(output["data"][GLUED]))
    return found


def substitute(source: Path) -> dict[Path, bytes]:
    """Replace the names of glued numbers, and cited lines of code, in the prose of all pages.

    -> {page: new content}
    """
    values = {path.stem: glued(path) for path in source.glob("book/pages/*.ipynb")}
    made = {}
    for path in [*source.glob("book/*.md"), *source.glob("book/pages/*.ipynb")]:

        def numbers(text, page=path.stem):
            text = citations.substitute(text)
            return GLUE.sub(lambda found: glued_number(found, page, values), text)

        new = with_prose(path, numbers)
        if new != path.read_bytes():
            made[path] = new
    return made


def glued_number(found: re.Match, page: str, values: dict[str, dict]) -> str:
    """Write the number that a role names; Sphinx warns of one that nobody has glued."""
    known = values.get(found["page"] or page, {})
    if found["name"] not in known:
        return found[0]
    return number(known[found["name"]], found["spec"] or "")


def prose(path: Path) -> list[str]:
    """Read the text of a page: a Markdown file, or the Markdown cells of a notebook."""
    if path.suffix == ".md":
        return [path.read_text("utf-8")]
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]


def with_prose(path: Path, change) -> bytes:
    """Apply a function to the text, or to each Markdown cell, of a page -> its new content."""
    texts = iter([change(text) for text in prose(path)])
    if path.suffix == ".md":
        return next(texts).encode()
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = next(texts)
    return dump(notebook)


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
        before = NEEDS[caption].replace("*", "")
        line = f"*{caption}: {count}, {time}. Good to know before: {before}.*"
        first, *_ = prose(files[0])
        title, _, rest = first.partition("\n")
        headed = {first: f"{title}\n\n{line}\n{rest}"}
        made[files[0]] = with_prose(files[0], lambda text, headed=headed: headed.get(text, text))
    return made


def pages_of(part: dict, source: Path) -> list[Path]:
    """Find the files of a part of the table of contents."""
    names = []
    for chapter in part["chapters"]:
        names += [chapter["file"], *(section["file"] for section in chapter.get("sections", ()))]
    kinds = [(source / f"{name}.ipynb", source / f"{name}.md") for name in names]
    return [notebook if notebook.exists() else text for notebook, text in kinds]
