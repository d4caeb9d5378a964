"""This Sphinx extension helps the reader of the text, on every page and without JavaScript.

A link to a term of the glossary has the first sentence of its definition as its title. "(Erratum
A7)" becomes a small raised mark whose title is the erratum's heading. A full stop, a bracket or a
value stays on the line of the formula beside it, and a percent sign on that of its number.
reader.js shows the titles on keyboard focus, too.
"""

import re

from docutils import nodes

ENTRY = re.compile(r"((?:^\w.*\n)+)((?:^  \S.*\n?)+)", re.M)  # of the glossary: terms, definition
SENTENCE = re.compile(r".*?\.(?=\s|$)")
FORMULA = re.compile(r"\$([^$]+)\$")
SIGNS = {
    "alpha": "α",
    "beta": "β",
    "delta": "δ",
    "epsilon": "ε",
    "eta": "η",
    "gamma": "γ",
    "ge": " ≥ ",
    "lVert": "‖",
    "lambda": "λ",
    "le": " ≤ ",
    "mathcal": "",
    "mu": "μ",
    "pm": " ± ",
    "rVert": "‖",
    "sigma": "σ",
    "sqrt": "√",
    "theta": "θ",
    "times": " × ",
}
BEFORE_MARK = re.compile(r"\s*\((?:Erratum|Improvement)?\s*$")
OPENING = re.compile(r"[(\[“]+$")
CLOSING = re.compile(r"^(?:-\w+)?[.,;:!?)\]”’%]+|^-\w+")
VALUE = re.compile(r"^ [−-]?\d\S*")  # after a formula that ends in a relation
RELATIONS = ("=", "<", ">", r"\le", r"\ge", r"\approx", r"\pm")
TABLES_OF_ERRATA = ("book/pages/errata", "book/claims", "book/notation", "book/deviations")


# ---- The glossary's text -------------------------------------------------------------------------


def definitions(glossary):
    """Read the glossary's Markdown -> {term: first sentence of its definition, as plain text}."""
    found = {}
    for terms, text in ENTRY.findall(glossary):
        meaning = plain(first_sentence(" ".join(text.split())))
        found |= {key(term): meaning for term in terms.splitlines()}
    return found


def key(term):
    """Write a term as it is looked up; a page has curved apostrophes."""
    return term.lower().replace("-", " ").replace("’", "'")


def first_sentence(text):
    """Cut a definition after its first sentence, but not one that lists words to be explained."""
    found = SENTENCE.match(text)
    return text if text.startswith("*") or not found else found[0]


def plain(text):
    """Write Markdown with simple formulas as text: μ ± βσ, e^ε, ‖f‖_H."""
    text = FORMULA.sub(lambda found: unicode(found[1]), text)
    text = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*`]", "", text)


def unicode(formula):
    """Write a TeX formula with the signs of the alphabet."""
    named = re.sub(r"\\([a-zA-Z]+) ?", lambda found: SIGNS.get(found[1], found[1]), formula)
    return re.sub(r"[{}\\]", "", named).strip()


# ---- Marks in a page -----------------------------------------------------------------------------


def title_terms(tree, known):
    """Give the links to terms of the glossary their definitions as titles."""
    for link in tree.findall(nodes.reference):
        target = link.get("refuri") or "glossary#" + link.get("refid", "")  # its own page has an id
        if "glossary" in target and "#term-" in target:
            names = target.split("#term-")[1], link.astext()
            sentence = known.get(key(names[0])) or known.get(key(names[1]))
            if sentence:
                link["reftitle"] = sentence
                link["classes"].append("ldpbo-term")


def raise_errata(tree, headings):
    """Turn each "(Erratum A7)" into a raised mark that links to the erratum."""
    for link in list(tree.findall(nodes.reference)):
        name = link.astext()
        address = link.get("refuri", "")
        if not re.fullmatch(r"[ABCHI]\d+", name) or "#erratum-" not in address:
            continue
        link["reftitle"] = headings.get(f"erratum-{name.lower()}") or f"Erratum {name}"
        link["classes"].append("ldpbo-erratum")
        raise_one(link)


def raise_one(link):
    """Take a link out of the brackets that hold nothing else, and raise it."""
    here = link.parent.index(link)
    around = link.parent.children[max(here - 1, 0) : here + 2]
    if len(around) < 3 or not all(isinstance(around[i], nodes.Text) for i in (0, 2)):
        return
    before, _, after = around
    if not BEFORE_MARK.search(before) or not after.startswith(")"):
        return
    link.parent[here + 1] = nodes.Text(after[1:])
    link.parent[here - 1] = nodes.Text(BEFORE_MARK.sub("", before))
    link["classes"].append("ldpbo-raised")
    alone = not link.parent[here - 1].astext() and here > 1
    if alone and isinstance(link.parent[here - 2], nodes.math):
        join(link.parent, here - 2, here)


def join(line, first, last):
    """Put some children of a line into one box that does not break."""
    box = nodes.inline(classes=["ldpbo-nobreak"])
    inside = line.children[first : last + 1]
    line[first : last + 1] = [box]
    box += inside


def keep_punctuation(tree):
    """Put a formula and the punctuation that touches it into one box that does not break."""
    for formula in list(tree.findall(nodes.math)):
        line = formula.parent
        here = line.index(formula)
        left = touching(line, here - 1, OPENING)
        is_open = formula.astext().rstrip().endswith(RELATIONS)
        right = touching(line, here + 1, VALUE if is_open else CLOSING)
        if not left and not right:
            continue
        if right:
            line[here + 1] = nodes.Text(line[here + 1][len(right) :])
        if left:
            line[here - 1] = nodes.Text(line[here - 1][: -len(left)])
        box = nodes.inline(classes=["ldpbo-nobreak"])
        line.replace(formula, box)
        box += [nodes.Text(left), formula, nodes.Text(right)]


def keep_percent(tree):
    """Keep a percent sign on the line of its number."""
    for text in list(tree.findall(nodes.Text)):
        if re.search(r"\d %", text) and not isinstance(text.parent, nodes.literal_block):
            text.parent.replace(text, nodes.Text(re.sub(r"(?<=\d) (?=%)", "\u00a0", text)))


def touching(line, place, pattern):
    """Return the punctuation of a neighbouring text that touches the formula, or nothing."""
    if not 0 <= place < len(line.children) or not isinstance(line[place], nodes.Text):
        return ""
    found = pattern.search(line[place])
    return found[0] if found else ""


# ---- Sphinx --------------------------------------------------------------------------------------


def mark(app, tree, page):
    """Mark up one page when its links are known."""
    source = app.srcdir / "book/glossary.md"
    if source.exists():
        title_terms(tree, definitions(source.read_text("utf-8")))
    if page not in TABLES_OF_ERRATA:
        labels = app.env.get_domain("std").labels
        raise_errata(tree, {name: heading for name, (_, _, heading) in labels.items()})
    keep_punctuation(tree)
    keep_percent(tree)


def setup(app):
    """Tell Sphinx when to mark up a page."""
    app.connect("doctree-resolved", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
