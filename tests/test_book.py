"""The rendered book in a real browser, opened from disk without network.

Needs Chromium: `apt install chromium`, or CHROMIUM=/path.
"""

import functools
import re
import warnings
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

import browsers
import pytest
from test_docs import KINDS, wrong

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = browsers.program("chromium")
HOW = browsers.missing("chromium")
PAGES = re.findall(r"(?:file|root): (\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
THEME = {  # the sidebar's folding arrows, and docutils' list of references
    ("summary-name", "<summary>"),
    ("aria-required-children", '<div role="list" class="citation-list">'),
}
pytestmark = pytest.mark.xdist_group("book")
if HOW:
    warnings.warn(HOW)
needs_browser = pytest.mark.skipif(HOW is not None, reason=HOW or "")


def html(path):
    """A page's text, without what is embedded in it."""
    return re.sub(r'="data:[^"]*', '="data:', path.read_text("utf-8"))


class Document(HTMLParser):
    """Links, image sources and ids of a page."""

    def __init__(self, path):
        super().__init__()
        self.links = []
        self.sources = []
        self.ids = set()
        self.feed(re.sub(r"<svg.*?</svg>", "", html(path), flags=re.S))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.add(attributes.get("id"))
        if tag == "a":
            self.ids.add(attributes.get("name"))
        if tag in ("a", "link") and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script", "source", "iframe") and attributes.get("src"):
            self.sources.append(attributes["src"])


def test_no_broken_internal_link_image_or_anchor(book):
    site = book / "html"
    ids = functools.cache(lambda path: Document(path).ids)

    def leads_somewhere(page, link):
        parts = urlsplit(link)
        if parts.scheme or link.startswith("//"):
            return True
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not target.exists():
            return False
        anchored = parts.fragment and target.suffix == ".html"
        return not anchored or unquote(parts.fragment) in ids(target)

    broken = set()
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.relative_to(site).parts:
            continue
        document = Document(page)
        for link in document.links + document.sources:
            if not leads_somewhere(page, link):
                broken.add(f"{page.relative_to(site)} -> {link}")
    assert not broken, "\n".join(sorted(broken)[:20])


def test_every_rendered_link_to_a_statement_says_the_kind_and_number_of_its_box(book):
    """As tests/test_docs.py for the sources; here for what the reader sees."""
    texts = {page.stem: html(page) for page in sorted((book / "html/book").rglob("*.html"))}
    plain = lambda fragment: " ".join(re.sub(r"<[^>]*>", " ", fragment).split())
    start = rf'<div class="proof (?:{"|".join(KINDS)}) admonition" id="([\w-]+)">'
    box = start + r'\s*<p class="admonition-title"[^>]*>(.*?)</p>'
    link = r'<a class="reference internal" href="[^"#]*#([\w-]+)"[^>]*>(.*?)</a>'
    headings = {}
    for text in texts.values():
        for label, heading in re.findall(box, text, flags=re.S):
            headings[label] = plain(heading)
    assert len(headings) > 40
    checked = 0
    for page, text in texts.items():
        for label, words in re.findall(link, text, flags=re.S):
            if label in headings:
                checked += 1
                where = f"{page}: {plain(words)} -> {headings[label]}"
                assert not wrong(plain(words), headings[label]), where
    assert checked > 150


def test_the_same_quantity_has_the_same_value_on_every_page(book):
    """The paper's proof with Pinsker's 1/2 and without privacy, at Matérn, T = 10^4, eps = 1.

    Computed on two pages by two programs.
    """
    import wording

    pages = book / "src/book/pages"
    rates = wording.glued(pages / "lb_rates.ipynb")
    better = wording.glued(pages / "lb_better.ipynb")
    assert better["lb_better-pinsker"] == pytest.approx(rates["lb_rates-eps1-private"], rel=1e-9)
    assert better["lb_better-non-private"] == pytest.approx(rates["lb_rates-eps1-plain"], rel=1e-9)


def test_no_page_writes_minus_zero_powers_with_e_or_an_empty_exception(book):
    """In prose and tables; code, outputs of print and axes are as Python writes them."""
    minus_zero = r"[-−]0\.0+(?!\d)"
    power = r"\d(?:\.\d+)?e[+-]?\d{1,3}(?!\w)"
    ugly = rf".{{0,30}}(?<![\w.])(?:{minus_zero}|{power}|all but 0 of).{{0,20}}"
    for page in sorted((book / "html/book").rglob("*.html")):
        article = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
        prose = re.sub(r"<(pre|script|style|code|svg)\b.*?</\1>|<[^>]*>", " ", article, flags=re.S)
        assert not re.findall(ugly, prose), page.stem


def test_every_panel_and_page_of_the_toc_is_there(book):
    for panel in "2a 2b 2c 2d 2e 2f 3a 3b 3c".split():
        assert f"book/pages/panel_{panel}" in PAGES
    for name in PAGES:
        assert (book / f"html/{name}.html").exists(), name


def test_nothing_in_the_book_names_the_machine_it_was_built_on(book):
    for page in (book / "html").rglob("*.html"):
        assert str(ROOT) not in page.read_text("utf-8"), page


@pytest.fixture(scope="module")
def browser():
    with browsers.start("chromium") as chromium:
        yield chromium.browser


TYPESET = "window.MathJax && MathJax.startup && MathJax.startup.promise"


def load(browser, book, name, query=""):
    """-> playwright's page with its maths typeset, console errors, outside requests."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    watch = browsers.ChromiumPage(page)
    page.goto((book / f"html/{name}.html").as_uri() + query, timeout=120_000)
    no_maths = "!document.querySelector('script[src*=mathjax]')"
    page.wait_for_function(f"{no_maths} || ({TYPESET})", timeout=120_000)
    page.evaluate(TYPESET)
    return page, watch.faults, watch.outside


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
    const programs = [...document.querySelectorAll('pre')]
        .filter((e) => [...e.children].every(plain));
    const inside = programs.map((e) => [...e.childNodes]);
    const short = programs.map((e) => {
        const looks = new Map([...e.children].map((token) => [look(token), token]));
        return [e.textContent, ...looks.values()];
    });
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
    found = []
    for rule in page.evaluate(AXE):
        if rule["impact"] in ("serious", "critical"):
            found += [(rule["id"], node["html"]) for node in rule["nodes"]]
    return [(rule, html[:160]) for rule, html in found if (rule, html) not in THEME]


UNLOADED = """[...document.images]
    .filter((image) => !(image.complete && image.naturalWidth))
    .map((image) => image.src.slice(0, 80))"""
UNDESCRIBED = """[...document.images]
    .filter((image) => !image.alt.trim() && image.closest('article'))
    .map((image) => image.src.slice(0, 80))"""
PROSE = """() => {
    const copy = document.body.cloneNode(true);
    const code = copy.querySelectorAll('pre, code, script, style, mjx-container');
    code.forEach((element) => element.remove());
    return copy.textContent;
}"""
BELLS = """[...document.querySelectorAll('div.proof > .admonition-title')]
    .filter((title) => getComputedStyle(title, '::after').content != 'none').length"""
MARKUP = r"\\[a-zA-Z]+\{?|\\\(|\$\$|\$[^$\n]{1,60}\$|\{(?:glue|prf|cite|doc|ref|numref)[^}]*\}`"


@needs_browser
def test_page_opens_offline_with_maths_and_images_and_without_errors(opened):
    page, errors, outside = opened
    assert not errors
    assert not outside
    assert page.evaluate(UNLOADED) == []
    assert page.evaluate(UNDESCRIBED) == []
    # also in the sidebar, which gets no MathJax on pages without maths
    assert not re.findall(MARKUP, page.evaluate(PROSE))
    assert page.locator("mjx-merror").count() == 0
    assert page.evaluate(BELLS) == 0


@needs_browser
def test_axe_finds_nothing_serious_that_the_theme_does_not_bring(opened):
    assert serious(opened[0]) == []


TOO_WIDE = """[...document.querySelectorAll('main *')]
    .filter((e) => e.getBoundingClientRect().right > 391)
    .filter((e) => !e.closest('pre, .ldpbo-figure, .ldpbo-table, table'))
    .filter((e) => !e.closest('mjx-container, [style*=overflow]'))
    .map((e) => e.outerHTML.slice(0, 90)).slice(0, 5)"""
CUT = """[...document.querySelectorAll('article mjx-math')]
    .filter((formula) => {
        const box = formula.closest('span.math, mjx-container[display]');
        const width = (e) => e.getBoundingClientRect().width;
        return box && box.clientWidth && width(formula) > width(box) + 8
            && getComputedStyle(box).overflowX != 'auto';
    })
    .map((formula) => formula.textContent.slice(0, 60))"""


@needs_browser
def test_page_fits_a_phone_and_stays_accessible_in_dark_mode(opened):
    page, errors, _ = opened
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    page.wait_for_timeout(400)  # the theme makes what now scrolls focusable a moment after a resize
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, page.evaluate(TOO_WIDE)
    assert not errors
    assert page.evaluate(CUT) == []  # a formula wider than a phone can be scrolled
    if serious(page):
        page.wait_for_timeout(1000)  # a busy machine: that moment was longer
        assert serious(page) == []


@needs_browser
def test_a_term_says_what_it_means_on_keyboard_focus_and_escape_hides_it(browser, book):
    page, errors, _ = load(browser, book, "book/pages/twenty")
    term = page.locator("a.ldpbo-term[href$='#term-Arm']").first
    hint = page.locator("#ldpbo-hint")
    assert not hint.is_visible()
    term.focus()
    assert hint.is_visible()
    assert hint.inner_text().startswith("One of the n points")
    assert term.get_attribute("aria-describedby") == "ldpbo-hint"
    page.keyboard.press("Escape")
    assert not hint.is_visible()
    assert not errors
    page.close()


@needs_browser
def test_a_broad_figure_uses_the_margin_and_ends_inside_the_window(browser, book):
    page, _, _ = load(browser, book, "book/pages/tgp")
    column = page.locator("article").first.bounding_box()
    figure = page.locator("div.ldpbo-figure.full-width img").first.bounding_box()
    assert column["width"] < 800 < figure["width"]
    assert figure["x"] + figure["width"] <= 1280
    page.close()


@needs_browser
def test_search_works_from_disk(browser, book):
    page, errors, outside = load(browser, book, "search", query="?q=Laplace")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    assert not errors
    assert not outside


@needs_browser
def test_a_figures_svg_and_csv_can_be_downloaded(browser, book):
    page, _, _ = load(browser, book, "book/pages/panel_2a")
    for kind, begins in (("svg", "<?xml"), ("csv", "data,setting,algorithm,t,mean,low,high")):
        with page.expect_download() as download:
            page.locator(f'a[download="fig-panel-2a-regret.{kind}"]').click()
        assert Path(download.value.path()).read_text("utf-8").startswith(begins)
        assert download.value.suggested_filename.endswith(kind)
