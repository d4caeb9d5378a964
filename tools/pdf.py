"""Chromium prints the whole book as one PDF, from the single page that Sphinx can make of it."""

import os
import re
import shutil

import render
import store
from terminal import Stop

PDF = "ldpbo.pdf"
NAMES = ("chromium", "chromium-browser", "google-chrome")
STYLE = """
.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article, .bd-footer,
.prev-next-footer, .headerlink, .copybtn, details.hide > summary, .toggle-button, dialog,
.skip-link, #pst-back-to-top { display: none !important }
.bd-main .bd-content .bd-article-container { max-width: none; padding: 0 }
span[id^="document-"] { display: block; break-before: page }
figure, table, .MathJax, .cell_output { break-inside: avoid }
pre { white-space: pre-wrap }
"""
# Links of the single page name the file it was: they shall lead inside the PDF, and those to other
# files nowhere. Folded solutions and tables are printed, folded code is not.
LINKS = """() => {
    const results = "details.sd-dropdown, details.above-output";
    for (const folded of document.querySelectorAll(results)) folded.open = true;
    for (const link of document.querySelectorAll("a[href]")) {
        const url = new URL(link.href);
        if (url.protocol != "file:") continue;
        const target = decodeURIComponent(url.hash.slice(1));
        if (target && document.getElementById(target)) link.setAttribute("href", url.hash);
        else link.removeAttribute("href");
    }
}"""
FOOTER = """<div style="font-size: 8px; width: 100%; text-align: center">
<span class="pageNumber"></span></div>"""


def chromium():
    """Find the browser."""
    for name in (os.environ.get("CHROMIUM"), *NAMES):
        found = name and shutil.which(name)
        if found:
            return found
    raise Stop(
        "The book is built, but its PDF is printed by Chromium, and there is none.\n"
        "Install it (on Debian: apt install chromium), or set CHROMIUM to its path."
    )


def make(out, digest, lock):
    """Print the rendered book as html/ldpbo.pdf, unless it is there -> its path.

    A new book starts without a PDF, so that the two never differ.
    """
    site = out / "html"
    if not (site / PDF).exists():
        program = chromium()
        made = render.jupyter_book(out, lock, "--builder", "singlehtml", "-W", "--keep-going")
        single = made / "index.html"
        os.replace(made / "book/index.html", single)  # style and scripts are named from here
        data = printed(program, single)
        offer(site / "book/reproduce.html")
        store.write(site / PDF, data)
        store.seal_folder(site, digest)
        render.clear(out)
    return site / PDF


def printed(program, path):
    """Open a page in Chromium, without its navigation -> the PDF as bytes."""
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            options = ["--no-sandbox"] if os.getuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=program, args=options)
            page = browser.new_page()
            page.set_default_timeout(1000 * render.RENDER_SECONDS)
            page.goto(path.as_uri())
            page.evaluate("document.querySelector('.math') && MathJax.startup.promise")
            page.add_style_tag(content=STYLE)
            page.evaluate(LINKS)
            data = page.pdf(
                format="A4",
                margin=dict.fromkeys(("top", "bottom", "left", "right"), "18mm"),
                tagged=True,
                outline=True,
                display_header_footer=True,
                header_template="<i></i>",
                footer_template=FOOTER,
            )
            browser.close()
    except Error as error:
        raise Stop(f"{program} could not print the book: {str(error).splitlines()[0]}") from error
    return data


def offer(page):
    """Make a page, if the book has it, link to the PDF; without a PDF the link is hidden."""
    if page.exists():
        link = '<a class="ldpbo-pdf" '
        text = page.read_text("utf-8")
        text = re.sub(link + 'data-href="([^"]*)" hidden(="")?>', link + r'href="\1">', text)
        store.write(page, text.encode())
