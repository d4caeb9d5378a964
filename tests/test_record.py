"""The record: codecheck.yml, ro-crate-metadata.json, and the tests that stored tables rely on."""

import ast
import base64
import json
import re
from types import SimpleNamespace

import pytest
import yaml

import crate
import pages
import record
import render
import store
from ldpbo import originals, provenance, results
from store import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PAPER = "https://doi.org/10.1609/aaai.v35i12.17330"


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def executed(title, *figures):
    """An executed page with these figures: (name, caption, picture, table or None)."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": f"# {title}\n\nText."}]
    for name, caption, svg, csv in figures:
        html = f'<div class="ldpbo-figure"><img src="data:image/svg+xml;base64,{encoded(svg)}">'
        if csv:
            link = f"data:text/csv;charset=utf-8;base64,{encoded(csv)}"
            html += f'<a download="{name}.csv" href="{link}">CSV</a>'
        output = {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}}
        options = {"mystnb": {"figure": {"name": name, "caption": caption}}}
        cell = {"cell_type": "code", "metadata": options, "source": "x", "outputs": [output]}
        cells.append(cell)
    return json.dumps({"cells": cells})


CONTENTS = {"book/index": None, "book/pages/note": None, "book/pages/panel_2a": "Panel 2a"}


def write_sources(source):
    """The staged sources of a toy book."""
    (source / "book/pages").mkdir(parents=True)
    (source / "book/index.md").write_text("# First page\n\nHello.\n")
    note = executed("A note", ("fig-note", "A line. It is straight.", "<svg>note</svg>", None))
    (source / "book/pages/note.ipynb").write_text(note)
    panel = ("fig-panel-2a-regret", "Regret: the mean.", "<svg>2a</svg>", "t,mean\n1,2\n")
    (source / "book/pages/panel_2a.ipynb").write_text(executed("Panel", panel))


def rendered(site):
    """What the renderer makes of them -> its folder."""
    figures = '<p id="fig-note"></p><p id="fig-panel-2a-regret"></p>'
    for name in [*(f"{file}.html" for file in CONTENTS), "_static/claims.json", crate.ARCHIVE]:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(figures)
    return site


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A toy book, rendered with its record -> folder of the website."""
    write_sources(tmp_path / "src")
    made = rendered(tmp_path / "rendering-1/html")
    monkeypatch.setattr(render, "jupyter_book", lambda *_: made)
    assert render.render(CONTENTS, tmp_path, "digest", None)
    return tmp_path / "html"


def read(site):
    """-> the content of codecheck.yml, and of the crate as {identifier: entity}."""
    check = yaml.safe_load((site / "codecheck.yml").read_text("utf-8"))
    graph = json.loads((site / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph)
    return check, entities


def references(value):
    """Yield the identifiers that an entity refers to."""
    if isinstance(value, dict):
        if set(value) == {"@id"}:
            yield value["@id"]
        for part in value.values():
            yield from references(part)
    if isinstance(value, list):
        for part in value:
            yield from references(part)


def check_record(site):
    """Whatever the book, both files have what their formats require and name what is there."""
    check, entities = read(site)
    text = (site / "codecheck.yml").read_text("utf-8")
    assert text.startswith("%YAML 1.1\n---\n")
    assert "Nobody has checked this computation yet." in text
    assert not {"codechecker", "report", "summary", "check_time", "certificate"} & set(check)
    assert check["version"] == "https://codecheck.org.uk/spec/config/1.0/"
    assert check["paper"] == {
        "title": "Local Differential Privacy for Bayesian Optimization",
        "authors": [{"name": "Xingyu Zhou"}, {"name": "Jian Tan"}],
        "reference": PAPER,
    }
    assert check["ldpbo"]["code"] == provenance.code_hash()
    assert check["ldpbo"]["version"] == CITATION["version"]
    listed = [item["file"] for item in check["manifest"]]
    assert len(set(listed)) == len(listed)
    assert all(item["comment"] for item in check["manifest"])

    # The root is found as the specification says: by the descriptor that conforms to RO-Crate.
    about = [e["about"]["@id"] for e in entities.values() if "conformsTo" in e]
    assert about == ["./"]
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert root["datePublished"] == str(CITATION["date-released"])
    assert all(root[key] for key in ("name", "description", "license", "author", "version"))
    assert root["isBasedOn"] == {"@id": PAPER}
    parts = [part["@id"] for part in root["hasPart"]]
    files = [i for i, entity in entities.items() if "File" in entity["@type"]]
    assert parts == files
    assert set(listed) < set(parts)
    for name in parts:
        assert (site / name).is_file(), name
    outside = {"https://w3id.org/ro/crate/1.1"}
    for entity in entities.values():
        named = {i for key, value in entity.items() if key != "@id" for i in references(value)}
        assert named <= set(entities) | outside


def test_a_rendered_book_has_a_record_and_is_sealed_with_it(toy):
    check_record(toy)
    assert store.is_whole(toy, "digest")
    (toy / "codecheck.yml").write_text("another")
    assert not store.is_whole(toy, "digest")


def test_the_record_has_the_panels_first_and_the_figures_as_files(toy):
    check, entities = read(toy)
    assert [(item["file"], item["comment"]) for item in check["manifest"]] == [
        ("figures/fig-panel-2a-regret.svg", "Panel 2a of the paper. Regret: the mean"),
        ("figures/fig-panel-2a-regret.csv", "The numbers in fig-panel-2a-regret.svg"),
        ("figures/fig-note.svg", "A line"),
    ]
    assert (toy / "figures/fig-panel-2a-regret.csv").read_text() == "t,mean\n1,2\n"
    assert (toy / "figures/fig-note.svg").read_text() == "<svg>note</svg>"
    assert entities["book/index.html"]["name"] == "First page"
    assert entities["book/pages/panel_2a.html"]["name"] == "Panel 2a"
    assert entities["figures/fig-note.svg"]["isPartOf"] == {"@id": "book/pages/note.html"}


def test_the_record_of_the_same_pages_has_the_same_bytes(toy, tmp_path):
    again = rendered(tmp_path / "again")
    record.write(again, tmp_path / "src", CONTENTS)
    for name in ("codecheck.yml", "ro-crate-metadata.json"):
        assert (again / name).read_bytes() == (toy / name).read_bytes()


@pytest.mark.xdist_group("book")
def test_the_record_of_the_book_lists_every_page_and_every_figure(book):
    site = book / "html"
    check_record(site)
    check, entities = read(site)
    assert {f"{file}.html" for file in pages.contents()} <= set(entities)
    listed = {item["file"]: item["comment"] for item in check["manifest"]}
    drawn = set()
    for page in (site / "book").rglob("*.html"):
        drawn |= set(re.findall(r'download="([\w-]+\.(?:svg|csv))"', page.read_text("utf-8")))
    assert len(drawn) > 150
    assert {f"figures/{name}" for name in drawn} == set(listed)
    panels = [name for name, comment in listed.items() if comment.startswith("Panel ")]
    for panel in results.PANELS:
        assert f"figures/fig-panel-{panel}-regret.svg" in panels
        assert f"figures/fig-panel-{panel}-regret.csv" in listed


def test_the_first_page_and_reproduce_say_nothing_of_a_pdf_that_is_not_there():
    """What is said of it is inside the link, which is hidden until the PDF is printed."""
    for name in ("index", "reproduce"):
        text = (ROOT / f"book/{name}.md").read_text("utf-8")
        seen = re.sub(r'<a class="ldpbo-pdf" data-href="[^"]*" hidden>.*?</a>', "", text)
        assert "PDF" not in seen
        assert ".pdf" not in seen


@pytest.mark.parametrize("first, said", [("T = 5\nseed = 7", " (seed 7)"), ("T = 5", "")])
def test_the_last_line_of_a_page_is_short(monkeypatch, first, said):
    show = pytest.importorskip("ldpbo.show")
    used = {"In": ["", first], "T": 5, "seed": 7}
    shown = []
    monkeypatch.setattr(show, "get_ipython", lambda: SimpleNamespace(user_ns=used))
    monkeypatch.setattr(show, "display", lambda html: shown.append(html.data))
    show.provenance()
    (line,) = shown
    assert f"Parameters: first cell of this page{said}. Code: {results.CODE}; Python 3" in line
    assert len(re.sub("<.*?>", "", line)) < 160


# ---- Stored tables of an earlier code ------------------------------------------------------------


@pytest.mark.parametrize(
    "named", [results.SWEEPS_TEST, results.ORIGINALS_TEST, *results.STORED_TESTS.values()]
)
def test_the_test_that_a_note_names_exists(named):
    path, _, name = named.partition("::")
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_a_table_of_other_code_says_so_in_words_and_which_test_shows_whether_it_holds(
    monkeypatch,
):
    frame = results.sweep("judge")
    monkeypatch.setattr(results, "CODE", "0" * 12)
    for note, test in (
        (results.sweep_note(frame), results.SWEEPS_TEST),
        (originals.note(), results.ORIGINALS_TEST),
        *((results.stored_note(name), test) for name, test in results.STORED_TESTS.items()),
    ):
        name = test.partition("::test_")[2].replace("_", " ")
        said = f"computed by an earlier version of the code and checked by the test “{name}”"
        assert said in note
        assert not re.search(r"\b[0-9a-f]{12}\b", note)
    untested = "computed by an earlier version of the code; no test repeats timings"
    assert results.code_note(["1" * 12]) == untested
    assert results.code_note(["0" * 12], results.SWEEPS_TEST) == ""
