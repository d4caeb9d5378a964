"""What the book offers besides its pages: numbers in prose, ledger, API page, sources, archive."""

import inspect
import io
import json
import math
import re
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from pybtex.database import Entry, Person

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import api
import bibliography
import docstrings
import ldpbo_core
import shelf
import wording
from ldpbo import bounds, provenance


@pytest.mark.parametrize(
    "value, spec, text",
    [
        (3.2e-16, ".0e", "3·10⁻¹⁶"),
        (1e-9, ".0e", "10⁻⁹"),
        (1234567.0, ".3g", "1.23·10⁶"),
        (-0.001, ".2f", "0.00"),
        (-0.105, ".3f", "−0.105"),
        (0.0, ".0e", "0"),
        (20000, "", "20,000"),
        (2021, "", "2021"),
        (-3, "", "−3"),
        (0.25, "", "0.25"),
        ("two words", "", "two words"),
        (math.nan, ".2f", "nan"),
        (True, "", "True"),
        (5e-5, ".2g", "5·10⁻⁵"),
    ],
)
def test_numbers_in_prose(value, spec, text):
    assert wording.number(value, spec) == text


def executed(**glued):
    """A notebook with these values glued and a sentence that uses them."""
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {"scrapbook": {"name": name}},
            "data": {"application/papermill.record/text/plain": repr(value)},
        }
        for name, value in glued.items()
    ]
    return {
        "cells": [
            {"cell_type": "code", "source": "x", "outputs": outputs},
            {
                "cell_type": "markdown",
                "source": "It is {glue:text}`a-b:.1e`, {glue:text}`word` and {glue:text}`other`.",
            },
        ]
    }


def test_the_last_line_of_a_page_gets_the_hash_of_the_code_of_the_build(tmp_path, monkeypatch):
    """The page itself is not run again for these digits alone."""
    show = pytest.importorskip("ldpbo.show")
    shown = []
    monkeypatch.setattr(show, "get_ipython", lambda: SimpleNamespace(user_ns={"In": ["", ""]}))
    monkeypatch.setattr(show, "display", lambda html: shown.append(html.data))
    monkeypatch.setattr(show.results, "CODE", "0123456789ab")
    show.provenance()
    page = tmp_path / "book/pages/one.ipynb"
    page.parent.mkdir(parents=True)
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": shown}}
    page.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}]}))
    text = wording.substitute(tmp_path)[page].decode()
    assert "0123456789ab" not in text
    assert f". Code: {provenance.code_hash()}; Python 3" in text


def test_glued_numbers_are_put_into_the_prose_of_their_page_and_of_others(tmp_path):
    pages = tmp_path / "book/pages"
    pages.mkdir(parents=True)
    (pages / "one.ipynb").write_text(json.dumps(executed(**{"a-b": 1.6e-7, "word": "so"})))
    (tmp_path / "book/claims.md").write_text(
        "See {glue:any}`pages/one.ipynb::a-b:.0e` and {glue:text}`one::word`.\n"
    )
    made = {path.name: content.decode() for path, content in wording.substitute(tmp_path).items()}
    assert made["claims.md"] == "See 2·10⁻⁷ and so.\n"
    assert (
        "It is 1.6·10⁻⁷, so and {glue:text}`other`." in made["one.ipynb"]
    )  # what is missing is left for Sphinx to complain of


def test_the_ledger_has_an_anchor_a_badge_and_a_link_to_the_test_for_every_claim():
    source = (ROOT / "book/claims.md").read_text("utf-8")
    claims = re.findall(r"^\| \*\*(C-[\w-]+)\*\*", source, re.M)
    text = shelf.link_tests(shelf.ledger(source))
    assert len(claims) > 50 and all(f'id="{claim}"' in text for claim in claims)
    assert text.count('class="verdict') == len(claims) and "`tests/" not in text
    page, line = re.search(r"_static/source/(test_\w+)\.html#L-(\d+)", text).groups()
    assert re.match(
        r"\s*def test_", (ROOT / f"tests/{page}.py").read_text("utf-8").splitlines()[int(line) - 1]
    )


def test_the_api_page_has_every_public_function_and_class_with_its_docstring():
    text = re.sub(r"\\([^A-Za-z\d\s])", r"\1", api.page())  # without Markdown's protection of signs
    for module in (ldpbo_core, bounds):
        for name, thing in vars(module).items():
            if (
                (inspect.isfunction(thing) or inspect.isclass(thing))
                and thing.__module__ == module.__name__
                and not name.startswith("_")
            ):
                opened = text.partition(f"\n:::{{dropdown}} `{name}` · ")[2].partition("\n:::\n")[0]
                title = opened.partition("\n")[0].replace("→", "->")
                title, opened = title.replace("`", ""), opened.replace("`", "")
                first = inspect.getdoc(thing).splitlines()[0].replace("`", "")
                assert first.startswith(title) and "<a class" in opened, name
                assert title not in opened.partition("\n")[2], name  # which stays in sight
                assert first.removeprefix(title).lstrip(".:; ") in opened, name
    assert "**`_" not in text and "dropdown} `_" not in text


def test_the_api_page_has_a_line_for_each_name_that_opens_and_links_to_every_method():
    text = api.page()
    start = text.split("\n## ")[0]
    assert all(f"| [`{name}`](#" in start for name in api.START)
    opens = re.findall(r"^:::\{dropdown\} `(\w+)` · \S.+\n:name: (api-[\w-]+)$\n", text, flags=re.M)
    labelled = re.findall(r"^\((api-[\w-]+)\)=\n\*\*`([\w.]+)`\*\*", text, flags=re.M)
    methods = [(name, anchor) for anchor, name in labelled]
    names = {name for module in api.MODULES for name in api.entries(module)}
    assert {name for name, _ in opens + methods} == names
    anchors = [anchor for _, anchor in opens + methods]
    assert len(set(anchors)) == len(anchors) > 150
    linked = set(re.findall(r"\[`([\w.]+)`\]\(#([\w-]+)\)", text))
    assert set(methods) <= linked <= set(opens + methods)
    assert text.count("\n:::{dropdown}") == text.count("\n:::\n") == len(opens)


def test_docstrings_are_rendered_on_the_api_page():
    doc = """The sum of *all* x[i] up to 1e-9, see `f(1e-9)`.

    n: how many; `None`
    a, b: two
        of them
    Note: none

    - one *item*
      in two lines
    - n: another

        table  of
        signs

    >>> f(1)
    2
    """
    told = frozenset(["n", "a", "b"])
    assert docstrings.rendered(inspect.cleandoc(doc), told) == "\n\n".join(
        [
            r"The sum of \*all\* x\[i\] up to `1e-9`, see `f(1e-9)`.",
            "- `n`: how many; `None`\n- `a`, `b`: two of them\nNote: none",
            "- one \\*item\\* in two lines\n- n: another",
            "```text\ntable  of\nsigns\n```",
            "```python\n>>> f(1)\n2\n```",
        ]
    )


def test_formulas_in_docstrings_become_code_and_apostrophes_do_not():
    for formula in ("K = Z'Z", "|x - x'|/l", "t^{1/2p}", "(K_D^{1/2})^+", "2^-53", "x' in D"):
        whole = formula.removesuffix(" in D")
        assert docstrings.escaped(f"Take {formula}, a bound.").startswith(f"Take `{whole}`"), (
            formula
        )
    for prose in ("the user's table", "the users' arms", "it isn't one", "f(x) and g (see below)"):
        assert docstrings.escaped(prose) == prose


def test_a_door_of_the_core_leads_to_the_entry_that_says_more_and_internals_come_last():
    text = api.page()
    assert "It calls [`read_table`](#api-tables-read-table) of `ldpbo.tables`" in text
    assert text.index("\n## Internals\n") < text.index("\n### `ldpbo.posterior`\n")


def test_signatures_on_the_api_page_read_as_written_and_docstrings_flow():
    text = api.page()
    assert "ForwardRef" not in text and not re.search(r"\(self\b|: '[A-Z]\w+'|-> '", text)
    assert api.signature(ldpbo_core.CTL.privatise).startswith("(y")

    def long(first, *, second=(1, 2), **others_with_a_name_that_makes_it_longer_than_a_line):
        pass

    lines = ["(", "    first,", "    *,", "    second=(1, 2),"]
    lines += ["    **others_with_a_name_that_makes_it_longer_than_a_line,", ")"]
    assert api.signature(long) == "\n".join(lines)
    assert docstrings.flowing(
        "A" * 90
        + "\nruns on\n\nshort\nstays\n"
        + "B" * 90
        + ".\nname: stays\n"
        + "C" * 90
        + "\n    table"
    ) == (
        "A" * 90
        + " runs on\n\nshort\nstays\n"
        + "B" * 90
        + ".\nname: stays\n"
        + "C" * 90
        + "\n    table"
    )
    assert docstrings.flowing("C" * 90 + "\nK: runs on") == "C" * 90 + " K: runs on"
    assert docstrings.flowing(">>> " + "f" * 90 + "\n(result)") == ">>> " + "f" * 90 + "\n(result)"


def test_a_claim_named_as_evidence_is_a_link_to_its_row():
    text = shelf.ledger((ROOT / "book/claims.md").read_text("utf-8"))
    linked = set(re.findall(r'<a href="#(C-[\w-]+)">', text))
    assert linked and all(f'id="{claim}"' in text for claim in linked)
    assert not [
        row
        for row in text.splitlines()
        if row.startswith("| ") and re.search(r"(?<![\w\"#>-])C-[a-z]", row)
    ]


def test_sources_are_highlighted_with_an_anchor_for_each_line():
    path = ROOT / "ldpbo/bounds.py"
    page = shelf.source_page(path)
    assert all(
        f'id="L-{i}"' in page for i in range(1, len(path.read_text("utf-8").splitlines()) + 1)
    )
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_archive_is_the_same_each_time_and_holds_what_a_reader_needs_and_no_original():
    one, two = shelf.archive(), shelf.archive()
    assert one == two
    names = set(zipfile.ZipFile(io.BytesIO(one)).namelist())
    assert {
        "ldpbo/ldpbo_core.py",
        "ldpbo/notebooks/panel.ipynb",
        "ldpbo/data/light.csv",
        "ldpbo/Makefile",
        "ldpbo/tests/oracle.py",
    } <= names
    assert not [name for name in names if name.endswith(("fin.csv", "iw_data_all.mat"))]


def test_the_first_page_of_a_part_says_how_long_it_takes_and_what_to_know(tmp_path):
    toc = "parts: [{caption: What holds, chapters: [{file: a, sections: [{file: b}]}]}]\n"
    (tmp_path / "_toc.yml").write_text(toc)
    (tmp_path / "a.md").write_text("# Title\n\nText.\n")
    (tmp_path / "b.md").write_text("word " * 10 * wording.WORDS_A_MINUTE)
    ((path, content),) = wording.part_heads(tmp_path).items()
    assert path == tmp_path / "a.md"
    before = "Good to know before: the paper, or its pages here."
    line = f"*Part “What holds”: 2 pages, about 10 minutes to read. {before}*"
    assert content.decode().startswith(f"# Title\n\n{line}")


def test_a_part_of_proofs_says_how_long_it_takes_to_skim_and_to_work_through(tmp_path):
    """Reading 1800 words, 50 displayed formulas of two minutes, 60 others of ten seconds."""
    toc = "parts: [{caption: Proofs, chapters: [{file: a}]}]\n"
    (tmp_path / "_toc.yml").write_text(toc)
    formulas = "$$\nx\n$$\n" * 25 + "```{math}\ny\n```\n" * 25 + "$z$ " * 60
    words = "word " * (10 * wording.WORDS_A_MINUTE - len(f"# Title {formulas}".split()))
    (tmp_path / "a.md").write_text(f"# Title\n\n{words}\n\n{formulas}")
    ((_, content),) = wording.part_heads(tmp_path).items()
    line = "*Part “Proofs”: 1 page, skim 10 min · work through 2 h. Good to know before: "
    assert content.decode().startswith(f"# Title\n\n{line}")


def test_every_part_that_wants_a_head_is_in_the_table_of_contents():
    toc = (ROOT / "_toc.yml").read_text("utf-8")
    assert all(f"caption: {part}\n" in toc for part in wording.NEEDS), [
        p for p in wording.NEEDS if f"caption: {p}\n" not in toc
    ]
    assert set(wording.PROOFS) <= set(wording.NEEDS)


def test_the_first_page_has_the_ledger_as_one_bar_and_the_version_of_the_citation():
    claims = (ROOT / "book/claims.md").read_text("utf-8")
    rows = shelf.verdicts(claims)
    text = shelf.first_page((ROOT / "book/index.md").read_text("utf-8"), claims)
    widths = [int(n) for n in re.findall(r"flex-grow: (\d+)", text)]
    assert len(widths) == len(shelf.BADGES) and sum(widths) == len(rows) > 50
    said = [int(n) for n in re.findall(r"\b\d+\b", claims.split("\n\n")[2])]
    assert said == [len(rows), *widths]
    assert f"[The ledger](claims): {len(rows)} claims" in text
    version = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)[1]
    assert f"version = {{{version}}}" in text
    assert not re.search(r"\{(minutes|ledger-bar|\{version|\{year)", text)
    assert len(re.findall(r"\*To (?:read|skim): \d+ minutes", text)) == 3


def test_the_ledger_as_data_is_plain_text_but_for_formulas():
    """Nothing of Markdown is left: roles, links, code; glued numbers come with the pages."""
    rows = shelf.data((ROOT / "book/claims.md").read_text("utf-8"))
    assert len(rows) > 50
    glue = re.compile(r"\{glue:\w+\}`[^`]+`")
    for text in (glue.sub("", cell) for row in rows for cell in row.values()):
        words = re.sub(r"\$[^$]+\$", "", text)
        assert not re.search(r"[`{}<>]|\]\(|\*\*", words), text
    assert "Dubey (2021)" in rows[0]["evidence"]
    cost = next(row for row in rows if row["claim"] == "C-ata-cost")
    assert "\u201cWhat the algorithms cost as printed\u201d" in cost["evidence"]


def test_glued_numbers_are_written_into_the_ledger_as_data(tmp_path):
    for folder in ("book/pages", "book/_static"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "book/pages/one.ipynb").write_text(json.dumps(executed(n=3)))
    ledger = tmp_path / "book/_static/claims.json"
    ledger.write_text(json.dumps([{"evidence": "in {glue:text}`pages/one.ipynb::n`, β"}]))
    made = wording.substitute(tmp_path)
    assert json.loads(made[ledger]) == [{"evidence": "in 3, β"}]


def test_a_page_of_the_notation_table_links_to_the_figures_of_its_notebook():
    text = shelf.with_figures("| {figures}`moma` | {figures}`errata` |")
    notebook = (ROOT / "notebooks/moma.ipynb").read_text("utf-8")
    names = re.findall(r'"name": "(fig-[\w-]+)"', notebook)
    assert names
    assert text == f"| {', '.join(f'{{numref}}`{name}`' for name in names)} |  |"


def test_works_of_the_same_authors_and_year_are_told_apart_also_where_they_are_cited():
    """A citation in the text is written from the year of its entry."""
    names = ("Vakili", "Khezeli", "Picheny"), ("Vakili", "Bouziani", "Jalali"), ("Mironov",)
    entries = [
        Entry("article", {"year": year}, {"author": [Person(last=name) for name in authors]})
        for authors, year in zip(names, ("2021", "2021", "2012"))
    ]
    labels = ["Vakili et al., 2021a", "Vakili et al., 2021b", "Mironov, 2012"]
    for _ in range(2):  # a second build finds the entries as the first left them
        assert list(bibliography.AuthorsAndYear().format_labels(entries)) == labels
        assert [entry.fields["year"] for entry in entries] == ["2021a", "2021b", "2012"]
