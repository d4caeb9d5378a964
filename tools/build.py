"""Build the book: run the notebooks that changed (papermill), then render the pages (Jupyter Book).

    python tools/build.py [--quick] [--pdf] [--out DIR] [PAGE ...]

With PAGE only these pages are run, with those they need, and rendered alone: DIR/preview/.

    pages.py          which pages there are, with which parameters
    dependencies.py   when a page runs again
    run.py            the pages run side by side
    execute.py        one notebook runs by papermill
    kernels.py        in a kernel that starts at once
    tidy.py           the executed notebook becomes a page
    render.py         the pages become a website
    wording.py        glued numbers and times to read are written into the prose
    citations.py      lines of the core that the prose cites
    shelf.py          what lies beside the pages: sources, ledger, archive
    api.py            the API page
    docstrings.py     a docstring becomes Markdown
    live_assets.py    what the live page carries
    runtime.py        Python for the browser
    npm.py            the pinned packages of npm
    marks.py          what a term means, errata as marks, formulas with their punctuation
    bibliography.py   works are cited by authors and years
    record.py         what the website holds, for those who check it: codecheck.yml
    crate.py          the same for programs: ro-crate-metadata.json
    figures.py        the figures of a page as files
    pdf.py            the website becomes a PDF
    store.py          files appear whole or not at all
    terminal.py       messages and the bar

Everything lands by an atomic rename, so a build may be killed at any moment and started again. What
an earlier run left is used only if it still has the bytes that were written.
"""

import argparse
import concurrent.futures as cf
import fcntl
import os
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages find the core here, and their own programs (from notebooks.PAGE import ...). The parts of
# this program must be found by the process, too, from which kernels are forked.
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
os.environ |= {
    # One BLAS thread: notebooks run side by side, and sums come out the same.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "NO_COLOR": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}

import pages
import pdf
import render
import run
import store
import terminal
from terminal import Stop

MARK = ".ldpbo-build"  # in every folder that a build may clear


def take_folder(out):
    """Make `out` a folder of ours; refuse one that holds files which no build has made."""
    if out.exists() and not out.is_dir():
        raise Stop(
            f"--out {out} is a file; name a folder that is new, empty or made by an earlier build"
        )
    ours = out.is_relative_to(ROOT / "_build") or (out / MARK).exists()
    if not ours and out.is_dir() and any(out.iterdir()):
        raise Stop(
            f"--out {out} holds files that are not from this build, which would clear them.\n"
            "Name a folder that is new or empty."
            f" (An earlier build's own folder has a file {MARK} in it.)"
        )
    try:
        store.write(out / MARK, b"A folder of tools/build.py: each build replaces what is in it.\n")
    except OSError as error:
        text = f"{out} cannot be written: {error.strerror}. Name another folder: --out FOLDER"
        raise Stop(text) from error


def build_pages(names, known, out, lock):
    """Run a few pages, with those they need, and render them alone."""
    needed = {n for name in names for n in known[name].needed(known)}
    run.run(known, [n for n in known if n in names or n in needed], out)
    store.remove(out / "failed")
    for path in render.preview(names, render.prose(), out, lock):
        print(f"Open {path.as_uri()}")


def build_book(args, known, out, lock):
    """Run what changed, render the book and print it if asked to."""
    start = time.time()
    rest = cf.ThreadPoolExecutor(1).submit(render.gather, out)  # while the notebooks run
    seconds = run.run(known, list(known), out)
    store.remove(out / "failed")
    middle = time.time()
    sources, line = rest.result()
    print(line, flush=True)
    files = pages.contents()
    digest = render.stage(files, sources, out)
    unchanged = "" if render.render(files, out, digest, lock) else " (unchanged)"
    ran = sorted(((spent, name) for name, spent in seconds.items() if spent), reverse=True)
    longest = "".join(f", {name} {spent:.0f} s" for spent, name in ran[:5])
    print(
        f"\nNotebooks {middle - start:.0f} s ({len(ran)} run{longest}), pages"
        f" {time.time() - middle:.0f} s{unchanged}; total {time.time() - start:.0f} s"
    )
    print(f"Open {(out / 'html/index.html').as_uri()}")
    if args.pdf:
        print(f"Open {pdf.make(out, digest, lock).as_uri()}")


def arguments():
    """Parse the command line."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = options.add_argument
    add("--quick", action="store_true", help="small sizes from notebooks/params/quick.yml")
    add("--pdf", action="store_true", help="also print html/ldpbo.pdf (needs chromium)")
    add("--out", type=Path, help="where to build (default _build, or _build/quick)")
    add("pages", nargs="*", metavar="PAGE", help="run and render only these pages")
    return options.parse_args()


def main():
    args = arguments()
    for number in (signal.SIGINT, signal.SIGTERM):  # SIGINT is ignored where a script says "&"
        signal.signal(number, signal.default_int_handler)
    out = (args.out or ROOT / ("_build/quick" if args.quick else "_build")).resolve()
    take_folder(out)
    os.environ["LDPBO_PAGES"] = str(out / "src/book/pages")
    with open(out / ".lock", "w") as lock:  # released by the system however the build ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is running in the same folder; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        known = pages.load(args.quick)
        unknown = [name for name in args.pages if name not in known]
        if unknown:
            there = ", ".join(known)
            raise Stop(f"No page {', '.join(unknown)} in _toc.yml; there are: {there}")
        render.clear(out)
        if args.pages:
            build_pages(args.pages, known, out, lock)
        else:
            build_book(args, known, out, lock)


if __name__ == "__main__":
    terminal.leave(main)
