"""What the renderer adds to the text: meanings of terms, errata as marks, unbroken punctuation."""

import re
from pathlib import Path

import pytest
from docutils import nodes

import marks

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = (ROOT / "book/glossary.md").read_text("utf-8")


def test_every_term_of_the_glossary_has_a_meaning_without_markup():
    known = marks.definitions(GLOSSARY)
    block = GLOSSARY.split("```{glossary}\n")[1].split("```")[0]
    assert len(known) == len(re.findall(r"^\w", block, re.M)) > 20
    assert not [text for text in known.values() if re.search(r"[$\\{}*`]|\]\(", text)]
    assert all(text.endswith(".") and len(text) > 25 for text in known.values())


def test_two_terms_may_share_a_meaning_of_several_lines():
    known = marks.definitions(
        "one bit\nOneBit\n  A report that is\n  one of two. More.\n\narm\n  A.\n"
    )
    assert known == {"one bit": "A report that is one of two."} | {
        "onebit": "A report that is one of two.",
        "arm": "A.",
    }


@pytest.mark.parametrize(
    "markdown, text",
    [
        (r"The interval $\mu\pm\beta\sigma$ here. More.", "The interval μ ± βσ here."),
        (r"At most $e^\epsilon$ times, [so](pages/x).", "At most e^ε times, so."),
        (
            r"The size $\lVert f\rVert_{\mathcal H}$ of f: large. More.",
            "The size ‖f‖_H of f: large.",
        ),
        ("*order*: one. *printed*: two.", "order: one. printed: two."),
        ("No full stop", "No full stop"),
    ],
)
def test_a_meaning_is_the_first_sentence_in_plain_text(markdown, text):
    assert marks.plain(marks.first_sentence(markdown)) == text


def paragraph(*parts):
    """A paragraph of texts, formulas "$...$" and links ("name", "address")."""
    made = nodes.paragraph()
    for part in parts:
        if isinstance(part, tuple):
            made += nodes.reference("", part[0], refuri=part[1])
        elif part.startswith("$"):
            made += nodes.math("", part.strip("$"))
        else:
            made += nodes.Text(part)
    return made


@pytest.mark.parametrize(
    "before, after, raised",
    [
        ("It is false (Erratum ", "). A majority", True),
        ("It is false (", ").", True),
        ("It is called so (Improvement ", ")", True),
        ("It is false (see Erratum ", ").", False),
        ("It is false (Erratum ", ", and so on).", False),
        ("By Erratum ", " it is false.", False),
    ],
)
def test_an_erratum_alone_in_brackets_is_a_raised_mark(before, after, raised):
    tree = paragraph(before, ("A4", "errata.html#erratum-a4"), after)
    marks.raise_errata(tree, {"erratum-a4": "A4 · A constant"})
    (link,) = tree.findall(nodes.reference)
    assert link["reftitle"] == "A4 · A constant"
    assert ("ldpbo-raised" in link["classes"]) is raised
    assert tree.astext() == (
        before.split(" (")[0] + "A4" + after[1:] if raised else before + "A4" + after
    )


def test_a_mark_after_a_formula_stays_on_its_line():
    tree = paragraph("At ", "$b_t$", " (", ("B1", "errata.html#erratum-b1"), "). So")
    marks.raise_errata(tree, {})
    marks.keep_punctuation(tree)
    assert [box.astext() for box in tree.findall(nodes.inline)] == ["b_tB1"]
    assert tree.astext() == "At b_tB1. So"


def test_a_link_to_a_term_carries_its_meaning_and_other_links_do_not():
    tree = paragraph(
        ("arms", "../glossary.html#term-arm"),
        ("Nyström embedding", "../glossary.html#term-Nystrom-embedding"),
        ("arm", "tgp.html#arm"),
        ("Pinsker’s inequality", "../glossary.html#term-Pinsker-s-inequality"),
    )
    marks.title_terms(tree, marks.definitions(GLOSSARY))
    titles = [link.get("reftitle", "") for link in tree.findall(nodes.reference)]
    assert titles[0].startswith("One of the n points") and titles[1].startswith("A kernel replaced")
    assert titles[2] == "" and titles[3].startswith("The total variation of two laws")


def test_punctuation_stays_with_its_formula_and_the_text_stays_the_same():
    parts = ("At ", "$T=20000$", ". If (", "$a<b$", "), then ", "$c$", " holds")
    tree = paragraph(*parts)
    marks.keep_punctuation(tree)
    assert tree.astext() == "".join(parts).replace("$", "")
    boxes = [box.astext() for box in tree.findall(nodes.inline)]
    assert boxes == ["T=20000.", "(a<b),"]


def test_a_value_stays_with_its_symbol_and_a_percent_sign_with_its_number():
    tree = paragraph(
        "At ", "$k=$", " 334. With ", "$k$", " 3 it is 50 % of ", r"$x\le$", " −0.5, so"
    )
    before = tree.astext()
    marks.keep_punctuation(tree)
    marks.keep_percent(tree)
    assert [box.astext() for box in tree.findall(nodes.inline)] == ["k= 334.", r"x\le −0.5,"]
    assert "50\u00a0%" in tree.astext() and tree.astext().replace("\u00a0", " ") == before


@pytest.mark.xdist_group("book")
def test_every_page_that_links_a_term_says_what_it_means(book):
    pages = [path.read_text("utf-8") for path in (book / "html/book").rglob("*.html")]
    links = [link for page in pages for link in re.findall(r"<a [^>]*#term-[^>]*>", page)]
    links = [link for link in links if "headerlink" not in link]
    assert len(links) > 10 and all(re.search(r'title="\S', link) for link in links)
