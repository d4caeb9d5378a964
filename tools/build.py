"""Build the book: run the notebooks that changed (papermill), then render the pages (jupyter-book).

    python tools/build.py [--quick] [--pdf] [--out DIR] [PAGE ...]     PAGE: only run these pages, do not render

The toc is the manifest: page P of book/pages comes from notebooks/P.ipynb, or from the notebook named by the part
before the first "_" (panel_2a from panel.ipynb), with notebooks/params/P.yml and, for --quick, its entry in
params/quick.yml. A page is run again only if its digest changed: notebook, parameters, core, bounds, figures, the data
it names, lock file, Python, needed pages.

Tables travel as tables: an output of type application/vnd.ldpbo.table+json stays in the executed page
(DIR/src/book/pages/P.ipynb), where other pages read it (fig.load); readers do not see it. In the cell of a figure it
is part of the figure's own output, beside text/html.

Everything lands by an atomic rename, so a build may be killed at any moment and started again. What an earlier run left
is used only if it still has the bytes that were written.
"""

import argparse
import ast
import concurrent.futures as cf
import contextlib
import errno
import fcntl
import fnmatch
import gc
import hashlib
import html
import importlib
import importlib.metadata
import json
import multiprocessing
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

for var in (
    "OMP",
    "OPENBLAS",
    "MKL",
):  # one BLAS thread: notebooks run side by side, and sums come out the same
    os.environ[f"{var}_NUM_THREADS"] = "1"
os.environ |= {
    "PYTHONHASHSEED": "0",
    "NO_COLOR": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}

import psutil
import yaml

# jsonschema would compile the grammar of this package, 2 s of every start, to check addresses that no notebook has.
sys.modules["rfc3987_syntax"] = None

ROOT = Path(__file__).resolve().parent.parent
MARK = ".ldpbo-build"  # in every folder that a build may clear
TABLE = "application/vnd.ldpbo.table+json"  # a table for other pages, see above
SHOWN = {"text/html", "text/plain", "text/markdown", "text/latex", "image/svg+xml", "image/png"}
GLUED = "application/papermill.record/"  # a number for the prose, see ldpbo.figures.glue
CODE = (
    "ldpbo_core.py",
    *sorted(f"ldpbo/{p.name}" for p in (ROOT / "ldpbo").glob("*.py")),
    "requirements.lock",
)
DATA_SETS = (
    "iw_data_all.mat",
    "fin.csv",
    "light.csv",
    "stocks.csv",
)  # what the core's problems read
CELL_SECONDS = float(os.environ.get("LDPBO_CELL_SECONDS", 3600))  # a cell that takes longer hangs
RENDER_SECONDS = float(os.environ.get("LDPBO_RENDER_SECONDS", 1800))  # and so does a renderer


class Stop(Exception):
    """A message for the person building, one screen long."""


# ---- Files -----------------------------------------------------------------------------------------------------


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
        try:
            part.write_bytes(data)
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read(path, parse):
    """The parsed text of one of our own source files."""
    try:
        return parse(path.read_text("utf-8"))
    except (ValueError, yaml.YAMLError) as error:
        raise Stop(f"{path.relative_to(ROOT)} cannot be read: {error}") from error


def seal(path, data):
    """Keep bytes under the hash of what they are."""
    write(path, sha(data).encode() + b"\n" + data)


def unseal(path):
    """The bytes that `seal` kept, or None where they are missing or no longer the same."""
    if not path.is_file():
        return None
    kept, _, data = path.read_bytes().partition(b"\n")
    return data if kept == sha(data).encode() else None


def claim(out):
    """Make `out` a folder of ours. One that holds anything and was not made by a build is refused, not cleared."""
    if out.exists() and not out.is_dir():
        raise Stop(
            f"--out {out} is a file; name a folder that is new, empty or made by an earlier build"
        )
    ours = out.is_relative_to(ROOT / "_build") or (out / MARK).exists()
    if not ours and out.is_dir() and any(out.iterdir()):
        raise Stop(
            f"--out {out} holds files that are not from this build, which would clear them.\n"
            f"Name a folder that is new or empty. (An earlier build's own folder has a file {MARK} in it.)"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        write(
            out / MARK,
            b"A folder of ldpbo's build.py: src, html and the like are replaced by each build.\n",
        )
    except OSError as error:
        raise Stop(
            f"--out {out} cannot be written: {error.strerror}. Name another folder."
        ) from error


def trouble(error):
    """What to do about a disk that is full or may not be written."""
    full = "The disk is full or a quota is reached: free some space and start again; nothing built so far is lost."
    shut = (
        "Nothing may be written there: choose another folder with --out, or change its permissions."
    )
    what = {
        errno.ENOSPC: full,
        errno.EDQUOT: full,
        errno.EFBIG: full,
        errno.EACCES: shut,
        errno.EPERM: shut,
        errno.EROFS: shut,
    }
    return f"{error.filename or 'A file'}: {error.strerror or error}. {what.get(error.errno, '')}".strip()


# ---- Pages -----------------------------------------------------------------------------------------------------


def toc():
    """-> {file: title or None} in reading order."""
    found = {}

    def walk(node):
        if isinstance(node, dict):
            if name := node.get("file") or node.get("root"):
                found[name] = node.get("title")
            node = list(node.values())
        for value in node if isinstance(node, list) else ():
            walk(value)

    walk(read(ROOT / "_toc.yml", yaml.safe_load))
    return found


class Page:
    """One notebook with one set of parameters."""

    def __init__(self, name, title, quick):
        self.name, self.title = name, title
        self.stem = name if (ROOT / f"notebooks/{name}.ipynb").exists() else name.split("_")[0]
        self.source = ROOT / f"notebooks/{self.stem}.ipynb"
        if not self.source.exists():
            raise Stop(
                f"_toc.yml lists book/pages/{name}, but there is no notebooks/{name}.ipynb"
                f" or notebooks/{self.stem}.ipynb"
            )
        self.notebook = read(self.source, json.loads)
        self.needs = self.notebook["metadata"].get("needs", [])
        self.heading = title or "".join(self.notebook["cells"][0]["source"]).splitlines()[0].lstrip(
            "# "
        )
        full = ROOT / f"notebooks/params/{name}.yml"
        self.long = (
            full.exists() or bool(self.needs) or self.notebook["metadata"].get("long", False)
        )  # starts early
        self.parameters = read(full, yaml.safe_load) or {} if full.exists() else {}
        if quick:
            small = read(ROOT / "notebooks/params/quick.yml", yaml.safe_load) or {}
            self.parameters |= small.get(self.stem, {}) | small.get(name, {})
        self._check_parameters()

    def _check_parameters(self):
        """Papermill only warns of a parameter that the notebook does not have."""
        cells = [c for c in self.notebook["cells"] if "parameters" in c["metadata"].get("tags", ())]
        if len(cells) != 1:
            raise Stop(
                f"notebooks/{self.stem}.ipynb has {len(cells)} cells tagged `parameters`; it needs exactly one"
            )
        statements = ast.parse("".join(cells[0]["source"])).body
        known = [t.id for s in statements if isinstance(s, ast.Assign) for t in s.targets]
        if unknown := sorted(set(self.parameters) - set(known)):
            raise Stop(
                f"Page {self.name}: unknown parameter {', '.join(unknown)} for notebooks/{self.stem}.ipynb,"
                f" cell `{cells[0]['id']}`.\nIt has: {', '.join(known)}."
                f" Look in notebooks/params/{self.name}.yml and quick.yml."
            )

    def needed(self, pages):
        return [n for n in pages if any(fnmatch.fnmatch(n, pattern) for pattern in self.needs)]

    def digest(self, pages):
        """Digest of everything the executed page depends on."""
        text = self.source.read_text("utf-8")
        parts = [text, self.parameters, platform.python_version()] + [
            (ROOT / f).read_bytes() for f in CODE
        ]
        parts += [
            f.read_bytes() for f in sorted((ROOT / f"notebooks/{self.stem}").glob("*.py"))
        ]  # programs it shows
        if re.search("light|stock", str(self.parameters.get("problem", text))):
            parts += data_sets()
        return sha(
            *parts,
            named_data(text + json.dumps(self.parameters)),
            [pages[n].digest(pages) for n in self.needed(pages)],
        )


@cache
def data_sets():
    """Hashes of the data sets there are, in the order the core looks for them."""
    folders = [
        Path(f) for f in (os.environ.get("LDPBO_DATA"), ROOT / "data/original", ROOT / "data") if f
    ]
    return [
        sha(f.read_bytes()) if f.is_file() else ""
        for f in (d / name for d in folders for name in DATA_SETS)
    ]


def named_data(text):
    """Names and hashes of the other tables under data/ (sweeps, results on the originals) that `text` names."""
    tables = [p for p in sorted((ROOT / "data").rglob("*.*")) if p.suffix in (".csv", ".json")]
    tables = [p for p in tables if p.name not in DATA_SETS]
    return [
        (p.name, sha(p.read_bytes()))
        for p in tables
        if re.search(rf"\b{re.escape(p.stem)}\b", text)
    ]


def check_originals():
    """A full book shows the stored results on the paper's own data first: they must be those of this very code."""
    path = ROOT / "data/originals.json"
    if not path.exists():  # the toy books of the tests have none; a page that wants it says so
        return
    from ldpbo import provenance

    made, code = read(path, json.loads)["code"], provenance.code_hash()
    if made != code:
        raise Stop(
            f"data/originals.json was made by code {made}; the modules that compute are now {code}.\n"
            "Run `make data` (once), then `make originals`, which runs the six real-data panels on the paper's\n"
            "own data. (`make quick` builds without that and marks those results as old.)"
        )


# ---- Running the notebooks -------------------------------------------------------------------------------------


class Screen:
    """Lines that stay, and the state of things: on a terminal one line that is overwritten, elsewhere once a minute."""

    def __init__(self):
        self.tty, self.started = sys.stdout.isatty(), time.time()
        self.shown, self.cells = self.started, {}

    def clock(self):
        minutes, seconds = divmod(int(time.time() - self.started), 60)
        return f"elapsed {minutes}:{seconds:02d}"

    def clear(self):
        if self.tty:
            print("\r\033[K", end="", flush=True)

    def say(self, text):
        self.clear()
        print(text, flush=True)

    def cell(self, page, number, total):
        """Page `page` begins its cell `number`. Called from the thread that runs the page."""
        self.cells[page] = number, total, time.time()

    def state(self, done, active):
        """What is running now: page, cell, and for how long in this cell."""
        parts = []
        for page in active:
            number, total, since = self.cells.get(page, (0, 0, 0))
            parts.append(
                f"{page} (cell {number} of {total}, {time.time() - since:.0f} s)"
                if number
                else page
            )
        text = f"{done} {', '.join(parts)}   {self.clock()}"
        if self.tty:
            self.clear()
            print(text[: shutil.get_terminal_size().columns - 1], end="", flush=True)
        elif time.time() - self.shown >= 60:
            self.shown = time.time()
            print(text, flush=True)


def run(page, digest, out, screen):
    """Run `page` unless the cache has it, put it into place -> seconds, 0 if cached."""
    start, cached = time.time(), ROOT / f"_build/cache/{page.name}-{digest[:20]}.page"
    data = unseal(cached)
    if fresh := data is None:
        if cached.exists():
            screen.say(
                f"{cached.relative_to(ROOT)} is not what was written; {page.name} is run again"
            )
        part = out / f"running/{page.name}.ipynb"
        part.parent.mkdir(parents=True, exist_ok=True)
        play(page, part, out, screen)
        data = tidy(page, json.loads(part.read_text("utf-8")), digest)
        seal(cached, data)
        part.unlink()
    notebook = json.loads(data)
    if page.title:  # the toc's title names the page, so that nine panels are told apart
        first = notebook["cells"][0]
        first["source"] = re.sub(r"\A# .*", f"# {page.title}", "".join(first["source"]))
    write(out / f"src/book/pages/{page.name}.ipynb", dump(notebook))
    return (time.time() - start) if fresh else 0.0


multiprocessing.set_forkserver_preload(
    ["__main__", "ipykernel.kernelapp", "ipykernel.debugger", "ldpbo.figures"]
)


class Kernel(multiprocessing.get_context("forkserver").Process):
    """The kernel of a page, forked from a process that has imported what all pages import (2 s of each page).

    Jupyter takes it for a Popen."""

    stdin = stdout = stderr = None

    def __init__(self, command, env):
        super().__init__()
        self.command, self.env = command, env

    def run(self):
        from ipykernel.kernelapp import IPKernelApp

        build = (
            multiprocessing.parent_process()
        )  # the kernel ends when the build does, however that is
        threading.Thread(target=lambda: (build.join(), os._exit(1)), daemon=True).start()
        gc.freeze()  # what was imported stays: no need to search it
        os.setsid()
        os.chdir(ROOT)
        os.environ.update(self.env)
        options = self.command[self.command.index("ipykernel_launcher") + 1 :]
        IPKernelApp.launch_instance([*options, f"--IPKernelApp.parent_handle={os.getppid()}"])

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def play(page, part, out, screen):
    """Papermill runs the page into the file `part`; whatever stops it becomes a message that says where."""
    import papermill  # slow to import, and not needed where nothing changed
    from jupyter_client.manager import AsyncKernelManager
    from papermill.engines import NBClientEngine, papermill_engines

    class Forked(AsyncKernelManager):
        async def _async_launch_kernel(self, kernel_cmd, **options):
            self.provisioner.process = kernel = Kernel(kernel_cmd, options["env"])
            kernel.start()
            self.provisioner.pid = self.provisioner.pgid = kernel.pid  # it leads a group of its own

    class Watched(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man, *args, **kwargs):
            begin = nb_man.cell_start

            def cell_start(cell, index, **more):
                screen.cell(page.name, index + 1, len(nb_man.nb.cells))
                return begin(cell, index, **more)

            nb_man.cell_start = cell_start
            path, nb_man.output_path = (
                nb_man.output_path,
                None,
            )  # saved first and last, not at each cell
            try:
                return super().execute_managed_notebook(nb_man, *args, **kwargs)
            finally:
                nb_man.output_path = path

    papermill_engines.register(f"watched-{page.name}", Watched)
    try:
        notebook = papermill.execute_notebook(
            str(page.source),
            str(part),
            page.parameters,
            cwd=str(ROOT),
            kernel_name="python3",
            progress_bar=False,
            coalesce_streams=True,
            autosave_cell_every=0,
            engine_name=f"watched-{page.name}",
            execution_timeout=CELL_SECONDS,
            kernel_manager_class=Forked,
        )
    except TimeoutError:
        limit = f"No end after {CELL_SECONDS:g} s; LDPBO_CELL_SECONDS=... sets another limit."
        raise Stop(explain(page, part, limit, out)) from None
    except OSError:
        raise  # the disk's fault, not the notebook's
    except Exception as error:
        text = "\n".join(getattr(error, "traceback", [])[-2:]) or str(error)
        raise Stop(explain(page, part, text, out)) from error
    if any(o["output_type"] == "error" for c in notebook.cells for o in c.get("outputs", ())):
        raise Stop(
            explain(
                page,
                part,
                "SystemExit: the cell ended the run, and the cells after it are missing.",
                out,
            )
        )


def explain(page, part, text, out):
    """Notebook, cell and error in one screen; the half-run notebook is kept in failed/."""
    kept, where = out / f"failed/{page.name}.ipynb", "before the first cell"
    if part.exists():
        cells = json.loads(part.read_text("utf-8"))["cells"]
        if begun := [c for c in cells if c["metadata"].get("papermill", {}).get("start_time")]:
            last = begun[-1]  # the one that failed, also when the kernel was killed
            lines = "".join(last["source"]).splitlines()
            shown = lines[:12] + ["..."] * (len(lines) > 12)
            where = f"cell `{last['id']}`:\n" + "\n".join(f"    {line}" for line in shown)
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, kept)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()[-14:]
    kept = kept.relative_to(ROOT) if kept.is_relative_to(ROOT) else kept
    return "\n".join(
        [
            f"notebooks/{page.stem}.ipynb (page {page.name}) failed in {where}",
            "",
            *plain,
            "",
            f"The half-run notebook is {kept}; the last good pages stay in place.",
        ]
    )


def dump(notebook):
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def tidy(page, notebook, digest):
    """The executed notebook without anything that changes from run to run, and with what the renderer needs."""
    notebook["metadata"] = page.notebook["metadata"] | {
        "ldpbo": {"digest": digest, "parameters": page.parameters}
    }
    tagged = {tag: c for c in notebook["cells"] for tag in c["metadata"].get("tags", ())}
    if injected := tagged.get(
        "injected-parameters"
    ):  # shown once: the first cell, with the values used
        notebook["cells"].remove(injected)
        tagged["parameters"]["source"] = with_values(
            "".join(tagged["parameters"]["source"]), page.parameters
        )
    for cell in notebook["cells"]:
        cell["metadata"] = {
            k: v for k, v in cell["metadata"].items() if k not in ("papermill", "execution")
        }
        for output in cell.get("outputs", ()):
            if output["output_type"] != "execute_result":
                output.pop("execution_count", None)
            check_output(page, cell, output.get("data", {}))
    data = dump(notebook)
    if page.name == page.stem:
        return data
    label = f"fig-{page.name.replace('_', '-')}-"  # several pages from one notebook: labels stay unique in the book
    return data.replace(f"fig-{page.stem}-".encode(), label.encode())


def with_values(source, parameters):
    """The text of a parameters cell with the values of `parameters` in their places, comments kept."""
    lines = source.encode().splitlines()  # ast counts bytes
    for statement in reversed(ast.parse(source).body):
        name, value = statement.targets[0].id, statement.value
        if name in parameters:
            first, last = value.lineno - 1, value.end_lineno - 1
            comment = lines[last][value.end_col_offset :].lstrip()
            used = parameters[name]
            text = json.dumps(used, ensure_ascii=False) if isinstance(used, str) else repr(used)
            code = lines[first][: value.col_offset] + text.encode() + b"  "
            column = len(lines[last]) - len(comment)
            lines[first : last + 1] = [(code.ljust(column) + comment).rstrip()]
    return b"\n".join(lines).decode()


def check_output(page, cell, content):
    """Refuse what the renderer would drop in silence; give a figure its alt text."""
    where = f"notebooks/{page.stem}.ipynb, cell `{cell['id']}`"
    if unknown := [
        kind for kind in content if kind not in SHOWN | {TABLE} and not kind.startswith(GLUED)
    ]:
        raise Stop(f"{where}: an output of type {', '.join(unknown)} cannot be shown in the book")
    text = "".join(content.get("text/html", ""))
    if "ldpbo-figure" not in text:
        return
    options = cell["metadata"].get("mystnb", {})
    figure, alt = options.get("figure", {}), options.get("image", {}).get("alt")
    if not (alt and figure.get("caption") and figure.get("name")) or len(cell["outputs"]) != 1:
        raise Stop(
            f"{where}: a figure needs a caption, a name and alt text in the cell's metadata "
            "(mystnb.figure.caption, .name, mystnb.image.alt) and must be the cell's only output"
        )
    content["text/html"] = text.replace('alt=""', f'alt="{html.escape(alt)}"', 1)


def execute(pages, wanted, out):
    """Run the wanted pages side by side, each when those it needs are done; stop at the first failure.

    -> {page: seconds, 0 if cached}."""
    waiting = sorted(wanted, key=lambda n: not pages[n].long)
    total, seconds, active, screen = len(waiting), {}, {}, Screen()
    digests = {n: pages[n].digest(pages) for n in waiting}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    slots = cores + 1  # there is always one that waits
    screen.say(f"{total} pages, {slots} at a time; a page that did not change is not run again")
    pool = cf.ThreadPoolExecutor(slots)
    try:
        while waiting or active:
            unfinished = {*waiting, *active.values()}
            ready = [n for n in waiting if not unfinished.intersection(pages[n].needed(pages))]
            for name in ready[: slots - len(active)]:
                waiting.remove(name)
                active[pool.submit(run, pages[name], digests[name], out, screen)] = name
            for future in cf.wait(active, timeout=0.5, return_when=cf.FIRST_COMPLETED).done:
                name = active.pop(future)
                seconds[name] = spent = future.result()
                if spent:
                    screen.say(
                        f"[{len(seconds):2d}/{total}] {name:10} {pages[name].heading:46.46} {spent:6.1f} s"
                        f"   {screen.clock()}"
                    )
            if active:
                screen.state(f"[{len(seconds):2d}/{total}]", active.values())
    except BaseException:
        kill_children()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        screen.clear()
    if cached := sum(not s for s in seconds.values()):
        print(f"{cached} of {total} pages unchanged")
    return seconds


def kill_children():
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()


# ---- Rendering the pages ---------------------------------------------------------------------------------------


def gather():
    """Everything the renderer reads besides the executed pages: prose, style, MathJax, browser assets, sources
    -> {target: file}, and a line that says what the live page runs."""
    kinds = {".yml", ".md", ".bib", ".css", ".js", ".svg", ".png", ".html", ".txt"}
    own = [
        p
        for p in [ROOT / "_config.yml", ROOT / "_toc.yml", *(ROOT / "book").rglob("*")]
        if p.is_file()
    ]
    sources = {p.relative_to(ROOT): p for p in own if p.suffix in kinds}
    sources |= {
        Path("book/_static/mathjax") / target: source for target, source in mathjax().items()
    }
    assets, line = live()
    sources |= {Path("book/_static/live") / target: source for target, source in assets.items()}
    shelf = helper("shelf")
    return sources | (shelf.build(ROOT / "_build/shelf") if shelf else {}), line


def stage(files, sources, out):
    """Put these sources beside the executed pages, with the numbers of the pages in the prose -> digest."""
    for target, source in sources.items():
        write(out / "src" / target, source.read_bytes())
    shelf = helper("shelf")
    for finish in (shelf.substitute, shelf.part_heads) if shelf else ():
        for path, content in finish(out / "src").items():
            write(path, content)
    keep = {out / "src" / target for target in sources} | {out / f"src/{f}.ipynb" for f in files}
    for path in [p for p in (out / "src").rglob("*") if p.is_file() and p not in keep]:
        path.unlink()
    content = [
        part
        for p in sorted(keep)
        if p.exists()
        for part in (str(p.relative_to(out)), p.read_bytes())
    ]
    return sha(
        *content,
        (ROOT / "requirements.lock").read_bytes(),
        Path(__file__).read_bytes(),
        platform.python_version(),
    )


def helper(name):
    """The program tools/NAME.py, where the book has it (the toy books of the tests do not)."""
    if not (ROOT / f"tools/{name}.py").exists():
        return None
    sys.path[:0] = [p for p in (str(ROOT), str(ROOT / "tools")) if p not in sys.path]
    return importlib.import_module(name)


def mathjax():
    """The typesetter and its fonts, from a locked package -> {target: file}."""
    script = "tex-chtml-full.js"
    found = [
        Path(p.locate())
        for p in importlib.metadata.files("sphinx-mathjax-offline")
        if p.name == script
    ]
    folder = found[0].parent
    return {
        p.relative_to(folder): p for p in [folder / script, *folder.glob("output/chtml/fonts/*/*")]
    }


def live():
    """What the live page needs -> {target: file}, and a line that says what it is."""
    live_assets = helper("live_assets")
    if live_assets is None:
        return {}, ""
    folder = ROOT / "_build/live"
    try:
        line = live_assets.build(folder)
    except RuntimeError as error:
        raise Stop(f"The live page was not made: {error}") from error
    return {p.relative_to(folder): p for p in folder.rglob("*") if p.is_file()}, line


def render(files, out, digest, lock):
    """The book as a website, checked, then swapped in -> False if it is there already."""
    site = out / "html"
    state = whole(site, digest)
    if state is True:
        return False
    if state:
        print(f"{state} is not what was written; the pages are rendered again", flush=True)
    made = jupyter_book("html", out, lock)
    for file in files:
        check_page(file, made / f"{file}.html", out / f"src/{file}.ipynb")
    record(made, digest)
    if site.exists():
        os.replace(site, out / "old")
    os.replace(made, site)
    clear(out)
    return True


def record(site, digest):
    """Note what the site was made from, and the hash of each of its files."""
    files = {
        p.relative_to(site).as_posix(): sha(p.read_bytes())
        for p in sorted(site.rglob("*"))
        if p.is_file()
    }
    write(site / ".built", json.dumps({"from": digest, "files": files}, indent=0).encode())


def whole(site, digest):
    """True if the site was made from `digest` and is unharmed; else the file that is not, or None."""
    try:
        built = json.loads((site / ".built").read_text("utf-8"))
        if built["from"] != digest:
            return None
        return next(
            (
                f"{site.name}/{name}"
                for name, want in built["files"].items()
                if not (site / name).is_file() or sha((site / name).read_bytes()) != want
            ),
            True,
        )
    except (OSError, ValueError, KeyError):
        return f"{site.name}/.built" if site.exists() else None


PRINT = """
.bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article, .bd-footer, .prev-next-footer, .headerlink,
.copybtn, details.hide > summary, .toggle-button, dialog, .skip-link, #pst-back-to-top { display: none !important }
.bd-main .bd-content .bd-article-container { max-width: none; padding: 0 }
span[id^="document-"] { display: block; break-before: page }
figure, table, .MathJax, .cell_output { break-inside: avoid }
pre { white-space: pre-wrap }
"""
# Links of the single page name the file it was: they shall lead inside the PDF, and those to other files nowhere.
# Folded solutions are printed.
PAPER = """
for (const folded of document.querySelectorAll("details.sd-dropdown")) folded.open = true;
for (const link of document.querySelectorAll("a[href]")) {
    const url = new URL(link.href);
    if (url.protocol != "file:") continue;
    if (url.hash && document.getElementById(decodeURIComponent(url.hash.slice(1)))) link.setAttribute("href", url.hash);
    else link.removeAttribute("href");
}
"""
FOOTER = """<div style="font-size: 8px; width: 100%; text-align: center"><span class="pageNumber"></span></div>"""

# It ends when the pipe to the build that started it is closed, however that build ended.
RENDERER = """
import gc, os, sys, threading
gc.set_threshold(100_000)     # a book is many objects that stay: seldom search them for what does not
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
sys.modules["rfc3987_syntax"] = None
from jupyter_book.cli.main import main
main()
"""


def jupyter_book(builder, out, lock):
    """Render src/ with warnings as errors into a folder of this run -> that folder.

    The renderer holds the lock as well: if this process is killed, the next one waits until the renderer is gone."""
    new = out / f"rendering-{os.getpid()}-{builder}"
    end, alive = os.pipe()
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                RENDERER,
                "build",
                str(out / "src"),
                "--path-output",
                str(new),
                "--builder",
                builder,
                "-W",
                "--keep-going",
                "-q",
            ],
            stdin=end,
            pass_fds=[lock.fileno()],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=RENDER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Stop(
            f"The pages were not rendered within {RENDER_SECONDS:g} s (the last good book stays in place);"
            " LDPBO_RENDER_SECONDS=... sets another limit."
        ) from None
    finally:
        os.close(end)
        os.close(alive)
    if done.returncode:
        lines = (done.stderr + done.stdout).replace(f"{out}/src/", "").splitlines()
        telling = [line for line in lines if re.search("WARNING|ERROR|rror:", line)][:25] or lines[
            -25:
        ]
        raise Stop(
            "The pages were not rendered (the last good book stays in place):\n"
            + "\n".join(telling)
        )
    return new / "_build" / builder


def check_page(file, page, source):
    """Every page of the toc is there, with every figure of its notebook."""
    if not page.exists():
        raise Stop(f"{file} is in _toc.yml but was not rendered")
    text = page.read_text("utf-8")
    cells = json.loads(source.read_text("utf-8"))["cells"] if source.exists() else ()
    for options in (c["metadata"].get("mystnb", {}) for c in cells):
        name = options.get("figure", {}).get("name")
        if name and f'id="{re.sub("[^a-z0-9]+", "-", name.lower())}"' not in text:
            raise Stop(f"Figure {name} is missing from {file}")


def print_book(out, digest, lock):
    """The whole book as one PDF: the single page that Sphinx can make, printed by Chromium -> html/ldpbo.pdf.

    A new book starts without a PDF, so that the two never differ. False if it is there already."""
    pdf, seal = out / "html/ldpbo.pdf", out / "html/.ldpbo.pdf"
    if pdf.is_file() and seal.is_file() and seal.read_text() == sha(digest, pdf.read_bytes()):
        return False
    program = chromium()
    made = jupyter_book("singlehtml", out, lock)
    single = made / "index.html"
    os.replace(made / "book/index.html", single)  # style and scripts are named from here
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            root = ["--no-sandbox"] if os.getuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=program, args=root)
            page = browser.new_page()
            page.set_default_timeout(1000 * RENDER_SECONDS)
            page.goto(single.as_uri())
            page.evaluate(
                "document.querySelector('.math') && MathJax.startup.promise"
            )  # until formulas are set
            page.add_style_tag(content=PRINT)
            page.evaluate(f"() => {{{PAPER}}}")
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
    write(pdf, data)
    write(seal, sha(digest, data).encode())
    offer(out / "html", "book/reproduce.html")
    clear(out)
    return True


def offer(site, name):
    """Page `name`, if the book has it, links to the PDF from now on (the link is hidden in a book without one)."""
    page = site / name
    if page.exists():
        link = '<a class="ldpbo-pdf" '
        text = re.sub(
            link + 'data-href="([^"]*)" hidden(="")?>',
            link + r'href="\1">',
            page.read_text("utf-8"),
        )
        write(page, re.sub(r'<span class="ldpbo-no-pdf">.*?</span>', "", text, flags=re.S).encode())
        built = json.loads((site / ".built").read_text("utf-8"))
        built["files"][name] = sha(page.read_bytes())
        write(site / ".built", json.dumps(built, indent=0).encode())


def chromium():
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        if name and (found := shutil.which(name)):
            return found
    raise Stop(
        "The book is built, but its PDF is printed by Chromium, and there is none.\n"
        "Install it (on Debian: apt install chromium), or set CHROMIUM to its path."
    )


def clear(out):
    """Remove what a run leaves that was killed; bring back a book that was on its way out."""
    if (out / "old").exists() and not (out / "html").exists():
        os.replace(out / "old", out / "html")
    for path in [out / "old", out / "running", *out.glob("rendering*")]:
        remove(path)


# ---- The program -----------------------------------------------------------------------------------------------


def build(args, out, lock):
    start = time.time()
    files = toc()
    names = {
        f.removeprefix("book/pages/"): title
        for f, title in files.items()
        if f.startswith("book/pages/")
    }
    pages = {name: Page(name, title, args.quick) for name, title in names.items()}
    if unknown := [p for p in args.pages if p not in pages]:
        raise Stop(f"No page {', '.join(unknown)} in _toc.yml; there are: {', '.join(pages)}")
    if not (args.quick or args.pages):
        check_originals()
    clear(out)
    asked = args.pages or list(pages)
    wanted = [n for n in pages if n in asked or any(n in pages[p].needed(pages) for p in asked)]
    rest = (
        None if args.pages else cf.ThreadPoolExecutor(1).submit(gather)
    )  # while the notebooks run
    seconds = execute(pages, wanted, out)
    remove(out / "failed")
    if args.pages:
        return
    middle = time.time()
    sources, line = rest.result()
    print(line, flush=True)
    digest = stage(files, sources, out)
    fresh = render(files, out, digest, lock)
    ran = sorted(((s, n) for n, s in seconds.items() if s), reverse=True)
    longest = "".join(f", {n} {s:.0f} s" for s, n in ran[:5])
    print(
        f"\nNotebooks {middle - start:.0f} s ({len(ran)} run{longest}), pages {time.time() - middle:.0f} s"
        f"{'' if fresh else ' (unchanged)'}; total {time.time() - start:.0f} s"
    )
    print(f"Open {(out / 'html/index.html').as_uri()}")
    if args.pdf:
        print_book(out, digest, lock)
        print(f"Open {(out / 'html/ldpbo.pdf').as_uri()}")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--quick", action="store_true", help="small sizes from notebooks/params/quick.yml"
    )
    options.add_argument(
        "--pdf", action="store_true", help="also print the book as html/ldpbo.pdf (needs chromium)"
    )
    options.add_argument(
        "--out", type=Path, help="where to build (default _build, or _build/quick)"
    )
    options.add_argument("pages", nargs="*", metavar="PAGE", help="only run these pages")
    args = options.parse_args()
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # also where a script started the build with "&" (SIGINT ignored)
        signal.signal(number, signal.default_int_handler)
    out = (args.out or ROOT / ("_build/quick" if args.quick else "_build")).resolve()
    claim(out)
    os.environ["LDPBO_PAGES"] = str(out / "src/book/pages")
    with open(out / ".lock", "w") as lock:  # released by the system however the build ends
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is running in the same folder; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        build(args, out, lock)


if __name__ == "__main__":
    try:
        main()
    except Stop as stop:
        print(f"\nStopped. {stop}", file=sys.stderr, flush=True)
        os._exit(1)
    except OSError as error:
        print(f"\nStopped. {trouble(error)}", file=sys.stderr, flush=True)
        os._exit(1)
    except KeyboardInterrupt:
        print("\nInterrupted; the next run goes on from here.", file=sys.stderr, flush=True)
        os._exit(130)
