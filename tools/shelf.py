"""The book offers more than its pages: sources, the API page, the ledger's badges, one archive.

render.py copies what `build` writes into the renderer's sources.
"""

import io
import json
import re
import zipfile
from collections import Counter
from pathlib import Path

import yaml
from pybtex.database import parse_file
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import api
import bibliography
import store
from store import ROOT
from wording import minutes, prose

BADGES = {
    "holds": "yes",
    "holds with a fix": "fix",
    "does not hold as stated": "no",
    "unproved": "open",
    "not reproduced": "differs",
    "cannot be tested": "untested",
}
ARCHIVED = """
    *.py ldpbo/* tools/*.py *.md *.yml *.toml *.lock Makefile LICENSE CITATION.cff notebooks/**/*
    data/* data/pins/* data/sweeps/* tests/*.py book/*.* book/live/* book/_static/*.* book/images/*
""".split()
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
        "book/_static/claims.json": (json.dumps(data(claims), indent=1) + "\n").encode(),
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


def data(claims: str) -> list[dict[str, str]]:
    """Read the ledger as data: its rows without Markdown, but for formulas.

    Glued numbers are written in later (wording.py).
    """
    titles = headings()
    names = cited_as()

    def plain(text):
        text = re.sub(r"\{cite:t\}`(\w+)`", lambda found: names[found[1]], text)
        text = re.sub(r"\{(?:prf:)?ref\}`([^`<]+?) +<[^`]*>`", r"\1", text)
        text = re.sub(r"\{ref\}`([\w-]+)`", lambda found: f"\u201c{titles[found[1]]}\u201d", text)
        text = re.sub(r"\[([^]]+)\]\([\w/]+\)", r"\1", text)
        return re.sub(r"(?<!\})`([^`{]+)`", r"\1", text)

    return [{name: plain(cell) for name, cell in row.items()} for row in verdicts(claims)]


def headings() -> dict[str, str]:
    """Find the sections that have a label -> {label: heading}."""
    files = [*(ROOT / "book").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    text = "\n\n".join(part for path in files for part in prose(path))
    return dict(re.findall(r"^\(([\w-]+)\)=\n+#+ (.+)$", text, re.M))


def cited_as() -> dict[str, str]:
    """Read the bibliography -> {key: "Duchi et al. (2013)"}."""
    entries = parse_file(str(ROOT / "book/references.bib")).entries
    return {
        key: f"{bibliography.authors(entry)} ({entry.fields['year']})"
        for key, entry in entries.items()
    }


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
    """Draw the verdicts as a bar of HTML, each part as wide as its number of claims, and a key."""
    counts = Counter(row["verdict"] for row in verdicts(claims))
    parts, key = "", ""
    for verdict, badge in BADGES.items():
        count = counts[verdict]
        parts += f'<span class="verdict {badge}" style="flex-grow: {count}"></span>'
        key += f'<li><span class="verdict {badge}">{count}</span> {verdict}</li>'
    bar = f'<div class="ledger-bar" aria-hidden="true">{parts}</div>'
    return f'{bar}<ul class="ledger-key" aria-label="Verdicts">{key}</ul>'


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
