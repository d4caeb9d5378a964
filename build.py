"""Build the book: run the notebooks that changed (papermill), then render the pages (jupyter-book).

    python build.py [--quick] [--out DIR] [PAGE ...]     PAGE: only run these pages, do not render

The toc is the manifest: page P of book/pages comes from notebooks/P.ipynb, or from the notebook named by the part before
the first "_" (panel_2a from panel.ipynb), with notebooks/params/P.yml and, for --quick, its entry in params/quick.yml.
A page is run again only if its digest changed: notebook, parameters, core, figures, data, lock file, Python, needed pages.
Everything lands by an atomic rename, so a build may be killed at any moment and started again.
"""
import argparse
import ast
import concurrent.futures as cf
import fcntl
import fnmatch
import hashlib
import html
import importlib.metadata
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

for var in ("OMP", "OPENBLAS", "MKL"):                # one BLAS thread: notebooks run side by side, sums come out the same
    os.environ[f"{var}_NUM_THREADS"] = "1"
os.environ |= {"PYTHONHASHSEED": "0", "NO_COLOR": "1", "JUPYTER_PLATFORM_DIRS": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}

import psutil
import yaml

ROOT = Path(__file__).resolve().parent


class Stop(Exception):
    """A message for the person building, one screen long."""


def sha(*parts):
    whole = hashlib.sha256()
    for part in parts:
        part = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def write(path, data):
    """Put bytes in place atomically; leave the file alone if they are there already."""
    if not (path.is_file() and path.read_bytes() == data):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_bytes(data)
        os.replace(part, path)


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def toc():
    """-> {file: title or None} in reading order."""
    found = {}
    def walk(node):
        if isinstance(node, dict):
            if name := node.get("file") or node.get("root"):
                found[name] = node.get("title")
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)
    walk(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    return found


class Page:
    """One notebook with one set of parameters."""

    def __init__(self, name, title, quick):
        self.name, self.title = name, title
        stem = name if (ROOT / f"notebooks/{name}.ipynb").exists() else name.split("_")[0]
        self.source = ROOT / f"notebooks/{stem}.ipynb"
        if not self.source.exists():
            raise Stop(f"_toc.yml lists book/pages/{name}, but there is no notebooks/{name}.ipynb or notebooks/{stem}.ipynb")
        self.notebook = json.loads(self.source.read_text("utf-8"))
        self.stem, self.needs = stem, self.notebook["metadata"].get("needs", [])
        self.heading = title or "".join(self.notebook["cells"][0]["source"]).splitlines()[0].lstrip("# ")
        full, small = ROOT / f"notebooks/params/{name}.yml", yaml.safe_load((ROOT / "notebooks/params/quick.yml").read_text("utf-8")) or {}
        self.parameters = (yaml.safe_load(full.read_text("utf-8")) or {}) if full.exists() else {}
        if quick:
            self.parameters |= small.get(stem, {}) | small.get(name, {})
        cells = [c for c in self.notebook["cells"] if "parameters" in c["metadata"].get("tags", ())]
        if len(cells) != 1:
            raise Stop(f"notebooks/{stem}.ipynb has {len(cells)} cells tagged `parameters`; it needs exactly one")
        known = [t.id for s in ast.parse("".join(cells[0]["source"])).body if isinstance(s, ast.Assign) for t in s.targets]
        if unknown := sorted(set(self.parameters) - set(known)):
            raise Stop(f"Page {name}: unknown parameter {', '.join(unknown)} for notebooks/{stem}.ipynb, cell `{cells[0]['id']}`.\n"
                       f"It has: {', '.join(known)}. Look in notebooks/params/{name}.yml and quick.yml.")

    def digest(self, pages):
        """Digest of everything the executed page depends on; data only where a data set is named."""
        parts = [self.source.read_bytes(), self.parameters, platform.python_version()]
        parts += [(ROOT / f).read_bytes() for f in ("ldpbo_core.py", "ldpbo_figures.py", "requirements.lock")]
        if re.search("light|stock", str(self.parameters.get("problem", self.source.read_text("utf-8")))):
            parts += data()
        return sha(*parts, [pages[n].digest(pages) for n in self.needed(pages)])

    def needed(self, pages):
        return [n for n in pages if any(fnmatch.fnmatch(n, pattern) for pattern in self.needs)]


@cache
def data():
    """Hashes of the data files there are, in the order the core looks for them."""
    folders = [Path(f) for f in (os.environ.get("LDPBO_DATA"), ROOT / "data/original", ROOT / "data") if f]
    files = [d / f for d in folders for f in ("iw_data_all.mat", "fin.csv", "light.csv", "stocks.csv", "originals.csv")]
    return [sha(f.read_bytes()) if f.is_file() else "" for f in files]


def run(page, digest, out):
    """Run `page` unless the cache has it, put it into place -> seconds, 0 if cached."""
    start, cached = time.time(), ROOT / f"_build/cache/{page.name}-{digest[:20]}.ipynb"
    if fresh := not cached.exists():
        part = out / f"running/{page.name}.ipynb"
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            import papermill                          # slow to import, and not needed where nothing changed
            papermill.execute_notebook(str(page.source), str(part), page.parameters, cwd=str(ROOT), kernel_name="python3",
                                       progress_bar=False, coalesce_streams=True, autosave_cell_every=0)
        except Exception as error:
            raise Stop(explain(page, part, error, out)) from error
        write(cached, tidy(page, json.loads(part.read_text("utf-8")), digest))
        part.unlink()
    notebook = json.loads(cached.read_text("utf-8"))
    if page.title:                                    # the toc's title names the page, so that nine panels are told apart
        first = notebook["cells"][0]
        first["source"] = re.sub(r"\A# .*", f"# {page.title}", "".join(first["source"]))
    write(out / f"src/book/pages/{page.name}.ipynb", dump(notebook))
    return (time.time() - start) if fresh else 0.0


def explain(page, part, error, out):
    """Notebook, cell and error in one screen; the half-run notebook is kept in failed/."""
    kept, where, text = out / f"failed/{page.name}.ipynb", "before the first cell", str(error)
    if part.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        begun = [c for c in json.loads(part.read_text("utf-8"))["cells"] if c["metadata"].get("papermill", {}).get("start_time")]
        if begun:                                     # the last cell begun is the one that failed, also when the kernel was killed
            lines = "".join(begun[-1]["source"]).splitlines()
            where = f"cell `{begun[-1]['id']}`:\n" + "\n".join("    " + x for x in lines[:12] + ["..."] * (len(lines) > 12))
        os.replace(part, kept)
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(getattr(error, "traceback", [])[-2:]) or text).strip().splitlines()
    return (f"notebooks/{page.stem}.ipynb (page {page.name}) failed in {where}\n\n" + "\n".join(text[-14:]) +
            f"\n\nThe half-run notebook is {kept.relative_to(ROOT) if kept.is_relative_to(ROOT) else kept}; the last good pages stay in place.")


def dump(notebook):
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def tidy(page, notebook, digest):
    """The executed notebook without anything that changes from run to run, and with what the renderer needs."""
    notebook["metadata"] = page.notebook["metadata"] | {"ldpbo": {"digest": digest, "parameters": page.parameters}}
    for i, cell in enumerate(notebook["cells"]):
        meta = cell["metadata"] = {k: v for k, v in cell["metadata"].items() if k not in ("papermill", "execution")}
        if "injected-parameters" in meta.get("tags", ()):
            cell["id"] = "injected-parameters"
        options = meta.get("mystnb", {})
        for output in cell.get("outputs", ()):
            output.pop("execution_count", None) if output["output_type"] != "execute_result" else None
            content = output.get("data", {})
            if "ldpbo-figure" in (text := "".join(content.get("text/html", ""))):
                alt, figure = options.get("image", {}).get("alt"), options.get("figure", {})
                if not (alt and figure.get("caption") and figure.get("name")) or len(cell["outputs"]) != 1:
                    raise Stop(f"notebooks/{page.stem}.ipynb, cell `{cell['id']}`: a figure needs a caption, a name and alt text in the cell's "
                               "metadata (mystnb.figure.caption, .name, mystnb.image.alt) and must be the cell's only output")
                content["text/html"] = text.replace('alt=""', f'alt="{html.escape(alt)}"', 1)
    if page.name != page.stem:                        # several pages from one notebook: labels stay unique over the book
        return dump(notebook).replace(f"fig-{page.stem}-".encode(), f"fig-{page.name.replace('_', '-')}-".encode())
    return dump(notebook)


def execute(pages, wanted, out):
    """Run the wanted pages side by side, each when those it needs are done; stop at the first failure -> seconds by page."""
    waiting = sorted(wanted, key=lambda n: not (ROOT / f"notebooks/params/{n}.yml").exists() and not pages[n].needs)       # the long ones first
    total, started, seconds, active = len(waiting), time.time(), {}, {}
    digests = {n: pages[n].digest(pages) for n in waiting}
    clock = lambda: "{}:{:02d}".format(*divmod(int(time.time() - started), 60))
    tty = sys.stdout.isatty()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{total} pages, {cores} at a time; a page that did not change is not run again", flush=True)
    pool = cf.ThreadPoolExecutor(cores)
    try:
        while waiting or active:
            for n in [n for n in waiting if not set(pages[n].needed(pages)) & {*waiting, *active.values()}][:cores - len(active)]:
                waiting.remove(n)
                active[pool.submit(run, pages[n], digests[n], out)] = n
            for future in cf.wait(active, timeout=0.5, return_when=cf.FIRST_COMPLETED).done:
                name = active.pop(future)
                seconds[name] = spent = future.result()
                if spent:
                    print(f"{chr(13) + chr(27) + '[K' if tty else ''}[{len(seconds):2d}/{total}] {name:10} {pages[name].heading:46.46}"
                          f" {spent:6.1f} s   elapsed {clock()}", flush=True)
            if tty and active:
                print(f"\r\033[K[{len(seconds):2d}/{total}] {', '.join(active.values())} ...   elapsed {clock()}", end="", flush=True)
    except BaseException:
        for child in psutil.Process().children(recursive=True):
            child.kill()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        print("\r\033[K" * tty, end="")
    if cached := sum(not s for s in seconds.values()):
        print(f"{cached} of {total} pages unchanged")
    return seconds


def stage(files, out):
    """Everything the renderer reads besides the executed pages: prose, style, MathJax, browser assets."""
    sources = {p.relative_to(ROOT): p for p in [ROOT / "_config.yml", ROOT / "_toc.yml", *(ROOT / "book").rglob("*")]
               if p.is_file() and p.suffix in {".yml", ".md", ".bib", ".css", ".js", ".svg", ".png", ".html", ".txt"}}
    mathjax = next(Path(p.locate()) for p in importlib.metadata.files("sphinx-mathjax-offline") if p.name == "tex-chtml-full.js").parent
    sources |= {Path("book/_static/mathjax") / p.relative_to(mathjax): p for p in [mathjax / "tex-chtml-full.js", *mathjax.glob("output/chtml/fonts/*/*")]}
    if (ROOT / "book/live_assets.py").exists():
        sys.path[:0] = [str(ROOT), str(ROOT / "book")]
        import live_assets
        live = ROOT / "_build/live"
        print(live_assets.build(live) or "", flush=True)
        sources |= {Path("book/_static/live") / p.relative_to(live): p for p in live.rglob("*") if p.is_file()}
    for target, source in sources.items():
        write(out / "src" / target, source.read_bytes())
    keep = {out / "src" / t for t in sources} | {out / f"src/{f}.ipynb" for f in files}
    for path in [p for p in (out / "src").rglob("*") if p.is_file() and p not in keep]:
        path.unlink()
    return sha(*[x for p in sorted(keep) if p.exists() for x in (str(p.relative_to(out)), p.read_bytes())],
               (ROOT / "requirements.lock").read_bytes(), Path(__file__).read_bytes(), platform.python_version())


def render(files, out):
    """jupyter-book with warnings as errors into a new folder, checked, then swapped in."""
    digest, site, new = stage(files, out), out / "html", out / "rendering"
    if (site / ".digest").is_file() and (site / ".digest").read_text() == digest:
        return False
    remove(new)
    done = subprocess.run([sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", str(out / "src"), "--path-output", str(new),
                           "-W", "--keep-going", "-q"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        lines = [x for x in (done.stderr + done.stdout).replace(f"{out}/src/", "").splitlines() if re.search("WARNING|ERROR|rror:", x)]
        raise Stop("The pages were not rendered (the last good book stays in place):\n" + "\n".join(lines[:25] or (done.stderr + done.stdout).splitlines()[-25:]))
    made = new / "_build/html"
    for file in files:
        page, source = made / f"{file}.html", out / f"src/{file}.ipynb"
        if not page.exists():
            raise Stop(f"{file} is in _toc.yml but was not rendered")
        cells = json.loads(source.read_text("utf-8"))["cells"] if source.exists() else ()
        for name in [c["metadata"]["mystnb"]["figure"]["name"] for c in cells if "figure" in c["metadata"].get("mystnb", {})]:
            if f'id="{re.sub("[^a-z0-9]+", "-", name.lower())}"' not in page.read_text("utf-8"):
                raise Stop(f"Figure {name} is missing from {file}")
    (made / ".digest").write_text(digest)
    remove(out / "old")
    if site.exists():
        os.replace(site, out / "old")
    os.replace(made, site)
    remove(out / "old")
    remove(new)
    return True


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="small sizes from notebooks/params/quick.yml")
    options.add_argument("--out", type=Path, help="where to build (default _build, or _build/quick)")
    options.add_argument("pages", nargs="*", metavar="PAGE", help="only run these pages")
    args = options.parse_args()
    out = (args.out or ROOT / ("_build/quick" if args.quick else "_build")).resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.environ["LDPBO_PAGES"] = str(out / "src/book/pages")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open(out / ".lock", "w") as lock:            # released by the system however the build ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is running in the same folder; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        start = time.time()
        files = toc()
        pages = {p: Page(p, title, args.quick) for f, title in files.items() for p in [f.removeprefix("book/pages/")] if p != f}
        if unknown := [p for p in args.pages if p not in pages]:
            raise Stop(f"No page {', '.join(unknown)} in _toc.yml; there are: {', '.join(pages)}")
        remove(out / "running")
        wanted = [n for n in pages if not args.pages or n in args.pages or any(n in pages[p].needed(pages) for p in args.pages)]
        seconds = execute(pages, wanted, out)
        ran, middle = {n: s for n, s in seconds.items() if s}, time.time()
        remove(out / "failed")
        if args.pages:
            return
        fresh = render(files, out)
        print(f"\nNotebooks {middle - start:.0f} s ({len(ran)} run" + "".join(f", {n} {s:.0f} s" for n, s in sorted(ran.items(), key=lambda x: -x[1])[:5])
              + f"), pages {time.time() - middle:.0f} s" + " (unchanged)" * (not fresh) + f"; total {time.time() - start:.0f} s")
        print(f"Open {(out / 'html/index.html').as_uri()}")


if __name__ == "__main__":
    try:
        main()
    except Stop as stop:
        print(f"\nStopped. {stop}", file=sys.stderr, flush=True)
        os._exit(1)
    except KeyboardInterrupt:
        print("\nInterrupted; the next run goes on from here.", file=sys.stderr, flush=True)
        os._exit(130)
