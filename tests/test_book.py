"""The rendered book in a real browser, opened from disk without network.

Needs Chromium: `apt install chromium`, or CHROMIUM=/path.
"""

import os
import re
import shutil
import sys
import warnings
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from test_docs import KINDS, wrong

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)
HOW = (
    "NO BROWSER: the tests of the rendered book are SKIPPED. Install one (`apt install chromium`)"
    " or set CHROMIUM=/path/to/chromium."
)
PAGES = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
THEME = {
    ("summary-name", "<summary>"),  # the sidebar's folding arrows
    ("aria-required-children", '<div role="list" class="citation-list">'),
}  # docutils' list of references
pytestmark = pytest.mark.xdist_group("book")
if not CHROMIUM:
    warnings.warn(HOW)
needs_browser = pytest.mark.skipif(not CHROMIUM, reason=HOW)


class Document(HTMLParser):
    """Links, image sources and ids of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.sources, self.ids = [], [], set()
        self.feed(
            re.sub(
                r"<svg.*?</svg>",
                "",
                re.sub(r'="data:[^"]*', '="data:', path.read_text("utf-8")),
                flags=re.S,
            )
        )

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        self.ids.add(attributes.get("name")) if tag == "a" else None
        if tag in ("a", "link") and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script", "source", "iframe") and attributes.get("src"):
            self.sources.append(attributes["src"])


def test_no_broken_internal_link_image_or_anchor(book):
    site = book / "html"
    seen = {}
    broken = []
    ids = lambda path: seen.setdefault(
        path, Document(path).ids if path.suffix == ".html" else set()
    )
    for page in [p for p in sorted(site.rglob("*.html")) if "_static" not in p.parts]:
        document = Document(page)
        for link in document.links + document.sources:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if (
                not target.exists()
                or parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in ids(target)
            ):
                broken.append(f"{page.relative_to(site)} -> {link}")
    assert not broken, "\n".join(sorted(set(broken))[:20])


def test_every_rendered_link_to_a_statement_says_the_kind_and_number_of_its_box(book):
    """As tests/test_docs.py for the sources; here for what the reader sees."""
    texts = {
        page: re.sub(r'="data:[^"]*', '="data:', page.read_text("utf-8"))
        for page in sorted((book / "html/book").rglob("*.html"))
    }
    plain = lambda fragment: " ".join(re.sub(r"<[^>]*>", " ", fragment).split())
    box = (
        rf'<div class="proof (?:{"|".join(KINDS)}) admonition" id="([\w-]+)">\s*<p'
        r' class="admonition-title"[^>]*>(.*?)</p>'
    )
    boxes = {
        label: plain(heading)
        for text in texts.values()
        for label, heading in re.findall(box, text, flags=re.S)
    }
    links = [
        (page.stem, plain(words), label)
        for page, text in texts.items()
        for label, words in re.findall(
            r'<a class="reference internal" href="[^"#]*#([\w-]+)"[^>]*>(.*?)</a>', text, flags=re.S
        )
        if label in boxes
    ]
    assert len(boxes) > 40 and len(links) > 150
    assert not [
        f"{page}: {words} -> {boxes[label]}"
        for page, words, label in links
        if wrong(words, boxes[label])
    ]


def test_the_same_quantity_has_the_same_value_on_every_page(book):
    """Computed on two pages by two programs.

    The paper's proof with Pinsker's 1/2 and without privacy, at Matérn, T = 10^4, eps = 1.
    """
    sys.path.insert(0, str(ROOT / "tools"))
    import shelf

    rates, better = (
        shelf.glued(book / f"src/book/pages/{page}.ipynb") for page in ("lb_rates", "lb_better")
    )
    assert better["lb_better-pinsker"] == pytest.approx(rates["lb_rates-eps1-private"], rel=1e-9)
    assert better["lb_better-non-private"] == pytest.approx(rates["lb_rates-eps1-plain"], rel=1e-9)


def test_no_page_writes_minus_zero_powers_with_e_or_an_empty_exception(book):
    """In prose and tables; code, outputs of print and axes are as Python writes them."""
    found = []
    for page in sorted((book / "html/book").rglob("*.html")):
        text = re.sub(
            r"<(pre|script|style|code|svg)\b.*?</\1>|<[^>]*>",
            " ",
            page.read_text("utf-8").partition("<article")[2].partition("</article>")[0],
            flags=re.S,
        )
        found += [
            f"{page.stem}: {m[0]}"
            for m in re.finditer(
                r".{0,30}(?<![\w.])(?:[-−]0\.0+(?!\d)|\d(?:\.\d+)?e[+-]?\d{1,3}(?!\w)|all but 0"
                r" of).{0,20}",
                text,
            )
        ]
    assert not found


def test_every_panel_and_page_of_the_toc_is_there(book):
    assert {f"book/pages/panel_{p}" for p in "2a 2b 2c 2d 2e 2f 3a 3b 3c".split()} <= set(PAGES)
    assert all((book / f"html/{name}.html").exists() for name in PAGES)


def test_nothing_in_the_book_names_the_machine_it_was_built_on(book):
    for page in (book / "html").rglob("*.html"):
        assert str(ROOT) not in page.read_text("utf-8"), page


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield chromium
        chromium.close()


def load(browser, book, name, query=""):
    """-> page with its maths typeset, console errors, outside requests."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    errors = []
    outside = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.on(
        "request",
        lambda r: (
            outside.append(r.url) if r.url.split(":")[0] not in ("file", "data", "blob") else None
        ),
    )
    page.goto((book / f"html/{name}.html").as_uri() + query, timeout=120_000)
    page.wait_for_function(
        "!document.querySelector('script[src*=mathjax]') || (window.MathJax && MathJax.startup &&"
        " MathJax.startup.promise)",
        timeout=120_000,
    )
    page.evaluate("window.MathJax && MathJax.startup && MathJax.startup.promise")
    return page, errors, outside


@pytest.fixture(scope="module", params=PAGES)
def opened(request, browser, book):
    """Each page of the book, opened once for all its tests."""
    page, errors, outside = load(browser, book, request.param)
    yield page, errors, outside
    page.close()


AXE = """async () => {
    const look = (e) => {
        const s = getComputedStyle(e);
        return [s.color, s.backgroundColor, s.opacity, s.fontSize, s.fontWeight].join();
    };
    const plain = (token) => token.matches('span') && !token.children.length;
    const programs = [...document.querySelectorAll('pre')].filter(
        (e) => [...e.children].every(plain));
    const inside = programs.map((e) => [...e.childNodes]);
    const kinds = (e) => new Map([...e.children].map((token) => [look(token), token])).values();
    const short = programs.map((e) => [e.textContent, ...kinds(e)]);
    programs.forEach((e, i) => e.replaceChildren(...short[i]));
    const found = await axe.run(document, {resultTypes: ['violations'], preload: false});
    programs.forEach((e, i) => e.replaceChildren(...inside[i]));
    return found.violations;
}"""


def serious(page):
    """What axe-core finds serious or worse on the page and the theme does not bring.

    Programs are shown to it as plain text followed by one token of each look: it takes half of its
    time to find out which of thousands of tokens lies where.
    """
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found = page.evaluate(AXE)
    return [
        (v["id"], n["html"][:160])
        for v in found
        if v["impact"] in ("serious", "critical")
        for n in v["nodes"]
        if (v["id"], n["html"]) not in THEME
    ]


@needs_browser
def test_page_opens_offline_with_maths_and_images_and_without_errors(opened):
    page, errors, outside = opened
    assert not errors and not outside
    assert (
        page.evaluate(
            "[...document.images].filter(i => !(i.complete && i.naturalWidth)).map(i =>"
            " i.src.slice(0, 80))"
        )
        == []
    )
    assert (
        page.evaluate(
            "[...document.images].filter(i => !i.alt.trim() && i.closest('article')).map(i =>"
            " i.src.slice(0, 80))"
        )
        == []
    )
    text = page.evaluate(
        """() => { const copy = document.body.cloneNode(true);
        const apart = 'pre, code, script, style, mjx-container';
        copy.querySelectorAll(apart).forEach(n => n.remove());
        return copy.textContent }"""
    )
    # also in the sidebar, which gets no MathJax on pages without maths
    assert not re.findall(
        r"\\[a-zA-Z]+\{?|\\\(|\$\$|\$[^$\n]{1,60}\$|\{(?:glue|prf|cite|doc|ref|numref)[^}]*\}`",
        text,
    )
    assert page.locator("mjx-merror").count() == 0
    bells = (
        "[...document.querySelectorAll('div.proof > .admonition-title')].filter(e =>"
        " getComputedStyle(e, '::after').content != 'none').length"
    )
    assert page.evaluate(bells) == 0


@needs_browser
def test_axe_finds_nothing_serious_that_the_theme_does_not_bring(opened):
    assert serious(opened[0]) == []


@needs_browser
def test_page_fits_a_phone_and_stays_accessible_in_dark_mode(opened):
    page, errors, _ = opened
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    page.wait_for_timeout(400)  # the theme makes what now scrolls focusable a moment after a resize
    culprits = """[...document.querySelectorAll('main *')].filter(
        e => e.getBoundingClientRect().right > 391 && !e.closest(
        'pre, .ldpbo-figure, .ldpbo-table, table, mjx-container, [style*=overflow]'))
        .map(e => e.outerHTML.slice(0, 90)).slice(0, 5)"""
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390 and not errors, (wide, page.evaluate(culprits))
    cut = """[...document.querySelectorAll('article mjx-math')].filter(m => {
        const box = m.closest('span.math, mjx-container[display]');
        if (!box || !box.clientWidth) return false;
        const room = box.getBoundingClientRect().width + 8;
        const wider = m.getBoundingClientRect().width > room;
        return wider && getComputedStyle(box).overflowX != 'auto' })
        .map(m => m.textContent.slice(0, 60))"""
    assert page.evaluate(cut) == []  # a formula wider than a phone can be scrolled
    if serious(page):
        page.wait_for_timeout(1000)  # a busy machine: that moment was longer
        assert serious(page) == []


@needs_browser
def test_search_works_from_disk(browser, book):
    page, errors, outside = load(browser, book, "search", query="?q=Laplace")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    assert not errors and not outside


@needs_browser
def test_a_figures_svg_and_csv_can_be_downloaded(browser, book):
    page, _, _ = load(browser, book, "book/pages/panel_2a")
    for kind, begins in (("svg", "<?xml"), ("csv", "data,setting,algorithm,t,mean,low,high")):
        with page.expect_download() as download:
            page.locator(f'a[download="fig-panel-2a-regret.{kind}"]').click()
        assert Path(download.value.path()).read_text("utf-8").startswith(begins)
        assert download.value.suggested_filename.endswith(kind)
