"""Jupyter Book renders the executed pages and the prose into a website, with warnings as errors.

`gather` collects what the renderer reads besides the executed pages, `stage` puts it beside them,
`render` makes the whole website and `preview` a few pages alone.
"""

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import yaml

import live_assets
import npm
import record
import shelf
import store
import wording
from store import ROOT
from terminal import Stop

RENDER_SECONDS = float(os.environ.get("LDPBO_RENDER_SECONDS", 1800))  # a longer one hangs
KINDS = {".yml", ".md", ".bib", ".css", ".js", ".svg", ".png", ".html", ".txt"}
# The renderer ends when the pipe to the build that started it is closed, however that build ended.
RENDERER = """
import gc, os, sys, threading
gc.set_threshold(100_000)     # a book is many objects that stay: seldom search them
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
sys.modules["rfc3987_syntax"] = None
from jupyter_book.cli.main import main
main()
"""


# ---- Sources -------------------------------------------------------------------------------------


def prose():
    """Find our own files that the renderer reads, and MathJax -> {target: file}."""
    files = [ROOT / "_config.yml", ROOT / "_toc.yml"]
    files += [p for p in (ROOT / "book").rglob("*") if p.is_file() and p.suffix in KINDS]
    found = {path.relative_to(ROOT): path for path in files}
    for target, source in mathjax().items():
        found[Path("book/_static/mathjax") / target] = source
    return found


def mathjax():
    """Find the typesetter and its fonts in a locked package -> {target: file}."""
    script = "tex-chtml-full.js"
    files = importlib.metadata.files("sphinx-mathjax-offline")
    (found,) = [Path(p.locate()) for p in files if p.name == script]
    folder = found.parent
    needed = [found, *folder.glob("output/chtml/fonts/*/*")]
    return {path.relative_to(folder): path for path in needed}


def gather(out):
    """Collect all that the renderer reads besides the executed pages.

    -> {target: file}, and a line that says what the live page runs.
    """
    sources = prose()
    folder = store.shared(out)
    assets, line = live(folder / "live")
    sources |= {Path("book/_static/live") / target: source for target, source in assets.items()}
    sources |= shelf.build(folder / "shelf")
    return sources, line


def live(folder):
    """Make what the live page needs -> {target: file}, and a line that says what it is."""
    npm.CACHE = folder.with_name("npm")
    try:
        line = live_assets.build(folder)
    except RuntimeError as error:
        raise Stop(f"The live page was not made: {error}") from error
    return {p.relative_to(folder): p for p in folder.rglob("*") if p.is_file()}, line


def place(sources, out):
    """Write these sources beside the executed pages, and the pages' numbers into the prose."""
    for target, source in sources.items():
        store.write(out / "src" / target, source.read_bytes())
    for path, content in wording.substitute(out / "src").items():
        store.write(path, content)


def stage(files, sources, out):
    """Make src/ hold what the website is made of and nothing else -> its digest."""
    place(sources, out)
    for path, content in wording.part_heads(out / "src").items():
        store.write(path, content)
    keep = {out / "src" / target for target in sources} | {out / f"src/{f}.ipynb" for f in files}
    for path in [p for p in (out / "src").rglob("*") if p.is_file() and p not in keep]:
        path.unlink()
    parts = ("render", "marks", "bibliography")
    programs = [Path(__file__).with_name(f"{part}.py") for part in parts]
    made_by = [path.read_bytes() for path in (ROOT / "requirements.lock", *programs)]
    return store.sha(store.hashes(out / "src"), *made_by, platform.python_version())


# ---- Websites ------------------------------------------------------------------------------------


def render(files, out, digest, lock):
    """Render the book, check it and swap it in -> False if it is there already."""
    site = out / "html"
    if store.is_whole(site, digest):
        return False
    made = jupyter_book(out, lock, "--builder", "html", "-W", "--keep-going")
    for file in files:
        check_page(file, made / f"{file}.html", out / f"src/{file}.ipynb")
    record.write(made, out / "src", files)
    store.seal_folder(made, digest)
    if site.exists():
        os.replace(site, out / "old")
    os.replace(made, site)
    clear(out)
    return True


def preview(names, sources, out, lock):
    """Render these executed pages alone, without links to others -> their files."""
    place(sources, out)
    first, *others = [f"book/pages/{name}" for name in names]
    toc = {"format": "jb-book", "root": first}
    if others:
        toc["chapters"] = [{"file": file} for file in others]
    store.write(out / "preview.yml", yaml.safe_dump(toc).encode())
    made = jupyter_book(out, lock, "--toc", str(out / "preview.yml"))
    store.remove(out / "preview")
    os.replace(made, out / "preview")
    clear(out)
    return [out / f"preview/book/pages/{name}.html" for name in names]


def clear(out):
    """Remove what a killed run left; bring back a book that was on its way out."""
    if (out / "old").exists() and not (out / "html").exists():
        os.replace(out / "old", out / "html")
    for path in [out / "old", out / "running", *out.glob("rendering*")]:
        store.remove(path)


def jupyter_book(out, lock, *options):
    """Render src/ into a folder of this run -> the folder with the website.

    The renderer holds the lock as well: if this process is killed, the next one waits for its end.
    """
    new = out / f"rendering-{os.getpid()}"
    command = [sys.executable, "-c", RENDERER, "build", str(out / "src"), "-q"]
    end, alive = os.pipe()
    try:
        done = subprocess.run(
            [*command, "--path-output", str(new), *options],
            stdin=end,
            pass_fds=[lock.fileno()],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=RENDER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Stop(
            f"The pages were not rendered within {RENDER_SECONDS:g} s (the last good book stays in"
            " place); LDPBO_RENDER_SECONDS=... sets another limit."
        ) from None
    finally:
        os.close(end)
        os.close(alive)
    if done.returncode:
        lines = (done.stderr + done.stdout).replace(f"{out}/src/", "").splitlines()
        telling = [line for line in lines if re.search("WARNING|ERROR|rror:", line)][:25]
        text = "\n".join(telling or lines[-25:])
        raise Stop(f"The pages were not rendered (the last good book stays in place):\n{text}")
    (site,) = [path for path in (new / "_build").iterdir() if (path / "_static").exists()]
    return site


def check_page(file, page, source):
    """Refuse a website that lacks a page of the table of contents or a figure of a notebook."""
    if not page.exists():
        raise Stop(f"{file} is in _toc.yml but was not rendered")
    text = page.read_text("utf-8")
    cells = json.loads(source.read_text("utf-8"))["cells"] if source.exists() else ()
    for cell in cells:
        name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name", "")
        anchor = re.sub("[^a-z0-9]+", "-", name.lower())
        if name and f'id="{anchor}"' not in text:
            raise Stop(f"Figure {name} is missing from {file}")
