"""The build program, on a toy book in a temporary folder: nothing is lost or half-written whatever happens to it."""

import base64
import hashlib
import importlib
import importlib.util
import json
import os
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIGURE = {
    "mystnb": {
        "figure": {"caption": "A line.", "name": "fig-toy-line"},
        "image": {"alt": "A straight line."},
    }
}
pytestmark = pytest.mark.xdist_group("build")


def notebook(*sources, metadata=None, tags=("parameters",)):
    code = lambda i, s: {
        "cell_type": "code",
        "id": f"cell-{i}",
        "metadata": {"tags": list(tags)} if i == 0 else (metadata or {}).get(i, {}),
        "source": s,
        "outputs": [],
        "execution_count": None,
    }
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A toy"}
    return json.dumps(
        {
            "cells": [title, *(code(i, s) for i, s in enumerate(sources))],
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
            },
        }
    )


TOY = (
    "n = 3   # size",
    "import time\nfrom ldpbo import plots, results, show",
    "time.sleep(0.5)",
    "figure, ax = plots.axes()\nax.plot(range(n))\nshow.figure(figure, 'fig-toy-line', data={'y': range(n)})",
)


class Project:
    """A folder with the real build program, core and configuration, and three toy pages from two notebooks."""

    def __init__(self, root):
        self.root = root
        (root / "notebooks/params").mkdir(parents=True)
        (root / "data").mkdir()
        for name in (
            "tools/build.py",
            "ldpbo_core.py",
            *(f"ldpbo/{p.name}" for p in ROOT.glob("ldpbo/*.py")),
            "requirements.lock",
            "_config.yml",
        ):
            (root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        for name in ("custom.css", "reader.js", "references.bib"):
            target = root / ("book/_static" if name.endswith(("css", "js")) else "book") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "book" / target.relative_to(root / "book"), target)
        self.write("book/index.md", "# Toy book\n\nHello.\n")
        self.write(
            "_toc.yml",
            "format: jb-book\nroot: book/index\nchapters:\n"
            + "".join(f"- file: book/pages/{p}\n" for p in ("toy_a", "toy_b", "plain")),
        )
        self.write("notebooks/toy.ipynb", notebook(*TOY, metadata={3: FIGURE}))
        self.write("notebooks/plain.ipynb", notebook("m = 1   # a number", "print('stock', m)"))
        self.write("notebooks/params/toy_b.yml", "n: 5\n")
        self.write("notebooks/params/quick.yml", "toy: {n: 2}\n")

    def write(self, name, text):
        (self.root / name).write_text(text, "utf-8")

    def start(self, *args, **options):
        return subprocess.Popen(
            [sys.executable, "tools/build.py", *args],
            cwd=self.root,
            text=True,
            **{
                "env": os.environ | {"PYTHONPATH": str(self.root)},
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
            }
            | options,
        )

    def build(self, *args, env=None, **options):
        process = self.start(
            *args, env=os.environ | {"PYTHONPATH": str(self.root)} | (env or {}), **options
        )
        self.out, self.err = process.communicate(timeout=300)
        return process.returncode

    def bytes(self, *folders):
        files = [
            p
            for f in folders or ("_build/src", "_build/html")
            for p in sorted((self.root / f).rglob("*"))
            if p.is_file()
        ]
        return {
            str(p.relative_to(self.root)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in files
            if p.suffix not in {".pickle", ".inv"}
        }


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("project"))
    assert project.build() == 0, project.err
    return project


@pytest.fixture
def clean(project):
    """The project, put back as it was afterwards."""
    kept = {
        p: p.read_bytes()
        for p in project.root.rglob("*")
        if p.is_file() and "_build" not in p.parts
    }
    yield project
    for path in [
        p
        for p in project.root.rglob("*")
        if p.is_file() and "_build" not in p.parts and p not in kept
    ]:
        path.unlink()
    for path, content in kept.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def test_killed_at_random_moments_it_ends_in_the_same_bytes_as_an_undisturbed_build(project):
    whole = project.bytes()
    assert (
        "_build/src/book/pages/toy_a.ipynb" in whole
        and "_build/html/book/pages/toy_b.html" in whole
    )
    shutil.rmtree(project.root / "_build")
    moments = random.Random(7)
    for _ in range(4):
        process = project.start()
        time.sleep(moments.uniform(0.3, 9))
        process.kill()
        process.communicate()
    assert project.build() == 0, project.err
    assert project.bytes() == whole
    assert not list((project.root / "_build").glob("*rendering*")) and not list(
        (project.root / "_build/running").glob("*")
    )


def test_a_second_run_runs_nothing_and_changes_nothing(project):
    assert project.build() == 0, project.err
    before, start = project.bytes("_build"), time.time()
    assert project.build() == 0 and time.time() - start < 10
    assert "3 of 3 pages unchanged" in project.out and "(unchanged)" in project.out
    assert project.bytes("_build") == before


def interrupt(project, **options):
    """A build that is sent SIGINT while its pages run -> what it says, exit code."""
    for cached in (project.root / "_build/cache").glob("toy_*"):
        cached.unlink()
    shutil.rmtree(project.root / "_build/running", ignore_errors=True)
    process, until = project.start(**options), time.time() + 60
    while not list((project.root / "_build/running").glob("toy_*")) and time.time() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=20)[1], process.returncode


def test_interrupted_in_the_background_of_a_script_it_stops_as_well(project):
    """A shell without job control starts `... &` with SIGINT ignored, and Python then installs no handler."""
    said, code = interrupt(project, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert "next run goes on" in said and code == 130


def test_interrupted_it_says_so_and_the_next_run_goes_on(project):
    said, code = interrupt(project)
    assert "next run goes on" in said and code == 130
    assert project.build() == 0, project.err


def test_killed_while_rendering_and_started_again_at_once_it_succeeds(clean):
    assert clean.build() == 0, clean.err
    whole, renderer = clean.bytes(), lambda: list((clean.root / "_build").glob("rendering*"))
    for i, moment in enumerate((0.1, 1.0, 2.5)):
        clean.write("book/index.md", f"# Toy book\n\nHello {i}.\n")
        process, until = clean.start(), time.time() + 60
        while not renderer() and time.time() < until:
            time.sleep(0.02)
        time.sleep(moment)
        process.kill()
        assert clean.build() == 0, clean.err
        process.communicate()
        assert not renderer()
    clean.write("book/index.md", "# Toy book\n\nHello.\n")
    assert clean.build() == 0, clean.err
    assert clean.bytes() == whole


def test_a_book_killed_between_its_two_renames_is_put_back(project):
    assert project.build() == 0, project.err
    before = project.bytes()
    os.replace(project.root / "_build/html", project.root / "_build/old")
    assert project.build() == 0, project.err
    assert (
        "(unchanged)" in project.out
        and project.bytes() == before
        and not (project.root / "_build/old").exists()
    )


@pytest.mark.parametrize(
    "name, damage",
    [
        ("_build/cache/toy_a-*.page", lambda data: data[: len(data) // 2]),
        ("_build/cache/toy_a-*.page", lambda data: data.replace(b"A toy", b"A lie")),
        ("_build/html/book/pages/toy_a.html", lambda data: b""),
        ("_build/html/book/pages/toy_a.html", None),
        ("_build/html/_static/mathjax/tex-chtml-full.js", lambda data: data + b";alert(1)"),
        ("_build/html/.built", lambda data: b"{"),
        ("_build/src/book/pages/toy_a.ipynb", lambda data: b"{}"),
    ],
    ids=[
        "truncated cache",
        "altered cache",
        "emptied page",
        "missing page",
        "altered script",
        "damaged record",
        "altered source",
    ],
)
def test_what_was_damaged_between_builds_is_made_anew(project, name, damage):
    assert project.build() == 0, project.err
    before = project.bytes()
    (path,) = project.root.glob(name)
    path.unlink() if damage is None else path.write_bytes(damage(path.read_bytes()))
    assert project.build() == 0, project.err
    assert "src" in path.parts or f"{path.name} is not what was written" in project.out
    assert project.bytes() == before


def test_a_folder_that_is_not_ours_is_refused_and_nothing_in_it_is_touched(project, tmp_path):
    for name in ("src/a.txt", "html/index.html", "old/b", "running/c", "failed/d", "rendering/e"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert project.build("--out", str(tmp_path), "plain") == 1
    assert "not from this build" in project.err and str(tmp_path) in project.err
    assert (
        sorted(tmp_path.rglob("*")) == before
        and (tmp_path / "html/index.html").read_text() == "mine"
    )
    assert project.build("--out", str(tmp_path / "new/folder"), "plain") == 0, project.err
    assert project.build("--out", str(tmp_path / "new/folder"), "plain") == 0, project.err


def test_a_folder_that_cannot_be_written_is_a_message(project, tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file/below", Path("/proc/ldpbo")):
        assert project.build("--out", str(out), "plain") == 1
        assert (
            str(out) in project.err
            and "Traceback" not in project.err
            and len(project.err.splitlines()) <= 4
        )
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_is_a_message_and_the_next_run_goes_on(clean, tmp_path):
    """A limit on the size of files stands for the full disk: the same error, at the same places."""
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    clean.write("notebooks/plain.ipynb", notebook("m = 1", "print('x' * 100_000)"))
    assert clean.build("--out", str(tmp_path / "out"), "plain", preexec_fn=small) == 1
    assert (
        "free some space" in clean.err
        and "Traceback" not in clean.err
        and len(clean.err.splitlines()) <= 4
    ), clean.err
    assert clean.build("--out", str(tmp_path / "out"), "plain") == 0, clean.err


def test_a_cell_that_hangs_is_ended_with_a_message(clean):
    clean.write("notebooks/plain.ipynb", notebook("m = 1", "while True: pass"))
    assert clean.build("plain", env={"LDPBO_CELL_SECONDS": "2"}) == 1
    assert all(
        words in clean.err
        for words in ("notebooks/plain.ipynb", "cell-1", "while True", "2 s", "LDPBO_CELL_SECONDS")
    )


def test_a_renderer_that_hangs_is_ended_with_a_message(clean):
    clean.write("book/index.md", "# Toy book\n\nHello again.\n")
    assert clean.build(env={"LDPBO_RENDER_SECONDS": "0.5"}) == 1
    assert "0.5 s" in clean.err and "Traceback" not in clean.err


def test_a_long_cell_shows_on_the_terminal_where_it_is_and_for_how_long(clean):
    clean.write("notebooks/plain.ipynb", notebook("m = 1", "import time\ntime.sleep(4)"))
    ours, theirs = pty.openpty()
    process = clean.start("plain", stdout=theirs)
    os.close(theirs)
    assert "" == process.communicate(timeout=60)[1]
    shown = os.read(ours, 10**6).decode()
    assert "plain (cell 3 of 3, 2 s)" in shown and "elapsed 0:0" in shown


def test_a_table_for_other_pages_stays_in_the_executed_page_and_readers_do_not_see_it(clean):
    table = {"columns": ["t"], "rows": [[1], [2]]}
    clean.write(
        "notebooks/plain.ipynb",
        notebook(
            "m = 1",
            f"display({{'application/vnd.ldpbo.table+json': {table}}}, raw=True)",
            "print('seen')",
        ),
    )
    assert clean.build() == 0, clean.err
    page = json.loads((clean.root / "_build/src/book/pages/plain.ipynb").read_text())
    assert page["cells"][2]["outputs"][0]["data"] == {"application/vnd.ldpbo.table+json": table}
    text = (clean.root / "_build/html/book/pages/plain.html").read_text()
    assert "seen" in text and "columns" not in text.split("cell_output")[1]


@pytest.fixture
def assets(monkeypatch, tmp_path):
    """tools/live_assets.py with a cache of its own."""
    monkeypatch.syspath_prepend(ROOT / "book")
    live_assets = importlib.import_module("live_assets")
    monkeypatch.setattr(live_assets, "CACHE", tmp_path / "npm")
    return live_assets


def test_npm_that_hangs_is_ended_and_the_page_goes_to_the_cdn(assets, monkeypatch, tmp_path):
    npm = tmp_path / "npm-bin/npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\nexec sleep 60\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(assets, "NPM_SECONDS", 0.5)
    with pytest.raises(assets.NoPackages, match="0.5 s"):
        assets._package("pyodide")


def test_an_altered_file_of_the_runtime_is_made_again(assets, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(assets, "_script", lambda packages: b"runtime")
    path = assets._runtime({})
    assert (
        path.read_bytes() == b"runtime"
        and assets._runtime({}) == path
        and capsys.readouterr().out == ""
    )
    for damage in (b"", b"runtime;alert(1)"):
        path.write_bytes(damage)
        assert (
            assets._runtime({}).read_bytes() == b"runtime"
            and "is not what was written" in capsys.readouterr().out
        )


def test_an_altered_package_is_downloaded_again(assets, monkeypatch, tmp_path, capsys):
    good = base64.b64encode(hashlib.sha512(b"good\n").digest()).decode()
    npm = tmp_path / "npm-bin/npm"
    npm.parent.mkdir()
    npm.write_text('#!/bin/sh\necho good > "$4/toy-1.0.tgz"\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(assets, "PINS", {"toy": ("1.0", good)})
    path = assets._package("toy")
    path.write_bytes(b"bad\n")
    assert (
        assets._package("toy").read_bytes() == b"good\n"
        and "downloaded again" in capsys.readouterr().out
    )
    monkeypatch.setattr(assets, "PINS", {"toy": ("1.0", "other")})
    with pytest.raises(RuntimeError, match="pinned is other"):
        assets._package("toy")


def test_the_whole_book_is_printed_with_links_that_work_and_only_when_it_changed(clean):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("no chromium")
    clean.write(
        "book/index.md",
        "(top)=\n# Toy book\n\nHello $x^2$. See {ref}`the top <top>`, [a file](_static/a.html).\n",
    )
    clean.write("book/_static/a.html", "<p>not in the PDF</p>")
    assert clean.build("--pdf") == 0, clean.err
    pdf = clean.root / "_build/html/ldpbo.pdf"
    data = pdf.read_bytes()
    assert (
        data.startswith(b"%PDF")
        and data.count(b"/Subtype /Link") >= 3
        and b"/Outlines" in data
        and b"MathJax" in data
    )
    assert (
        b"/URI (file:" not in data and b"/Dest" in data
    )  # they lead inside the PDF, not into the folder it was made in
    assert clean.build("--pdf") == 0 and pdf.read_bytes() == data
    pdf.write_bytes(data[:100])
    assert (
        clean.build("--pdf") == 0
        and pdf.read_bytes().startswith(b"%PDF")
        and pdf.stat().st_size > 1000
    )
    assert not list((clean.root / "_build").glob("rendering*"))


def test_a_printed_book_offers_its_pdf_and_stays_whole(tmp_path):
    """The link is hidden until there is something to load."""
    program = """import sys; from pathlib import Path; import build
site = Path(sys.argv[1]); page = site / "book/reproduce.html"
build.record(site, "digest")
build.offer(site, "book/reproduce.html"); build.offer(site, "book/missing.html")
print(build.whole(site, "digest"), page.read_text())"""
    page = tmp_path / "book/reproduce.html"
    page.parent.mkdir()
    page.write_text(
        '<p><a class="ldpbo-pdf" data-href="../ldpbo.pdf" hidden="">PDF</a><span class="ldpbo-no-pdf">none,\n<code>make pdf</code></span>.</p>'
    )
    out = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out == 'True <p><a class="ldpbo-pdf" href="../ldpbo.pdf">PDF</a>.</p>\n'


def test_without_chromium_the_book_is_there_and_the_pdf_is_a_message(project, tmp_path):
    assert project.build() == 0, project.err
    (project.root / "_build/html/ldpbo.pdf").unlink(missing_ok=True)
    assert project.build("--pdf", env={"PATH": str(tmp_path), "CHROMIUM": ""}) == 1
    assert (
        "apt install chromium" in project.err and (project.root / "_build/html/index.html").exists()
    )


def test_stored_results_of_another_code_stop_a_full_build_before_anything_runs(clean):
    code = importlib.import_module("ldpbo.provenance").code_hash()
    clean.write("data/originals.json", '{"code": "0123456789ab", "panels": {}}')
    assert clean.build() == 1
    assert (
        "made by code 0123456789ab" in clean.err
        and code in clean.err
        and "make originals" in clean.err
        and " pages, " not in clean.out
    )
    assert clean.build("plain") == 0, (
        clean.err
    )  # a single page, as `make originals` itself asks for
    clean.write("data/originals.json", json.dumps({"code": code, "panels": {}}))
    assert clean.build() == 0, clean.err


@pytest.mark.parametrize(
    "source, values, expected",
    [
        (
            "a = 1.0    # é first\nb = 2   # second",
            {"a": None},
            "a = None   # é first\nb = 2   # second",
        ),
        (
            "a = 1    # x\nb = [1,\n     2]   # y\nc = 3",
            {"b": [3], "c": "three", "a": 123456789},
            'a = 123456789  # x\nb = [3]   # y\nc = "three"',
        ),
        ("a = '#'   # x", {"a": "b#"}, 'a = "b#"  # x'),
        ("a = 1   # x", {}, "a = 1   # x"),
    ],
)
def test_values_are_put_into_the_text_of_a_parameters_cell(source, values, expected):
    assert importlib.import_module("build").with_values(source, values) == expected


def test_a_page_shows_its_parameters_once_with_the_values_used(project):
    cells = json.loads((project.root / "_build/src/book/pages/toy_b.ipynb").read_text("utf-8"))[
        "cells"
    ]
    assert [c["metadata"].get("tags") for c in cells].count(
        ["parameters"]
    ) == 1 and "injected-parameters" not in json.dumps(cells)
    assert "".join(cells[1]["source"]) == "n = 5   # size"


def test_quick_and_full_builds_keep_apart(clean):
    before = clean.bytes()
    assert clean.build("--quick", "toy_a", "toy_b") == 0, clean.err
    assert (
        '"n": 2' in (clean.root / "_build/quick/src/book/pages/toy_a.ipynb").read_text()
        and clean.bytes() == before
    )


@pytest.mark.parametrize(
    "name, text, said",
    [
        (
            "notebooks/params/toy_b.yml",
            "n: 5\nsize: 7\n",
            ["unknown parameter size", "notebooks/toy.ipynb", "cell-0", "It has: n"],
        ),
        (
            "notebooks/plain.ipynb",
            notebook("m = 1", tags=()),
            ["notebooks/plain.ipynb", "0 cells tagged `parameters`"],
        ),
        (
            "notebooks/plain.ipynb",
            notebook("m = 1", "x = 2\nx / 0"),
            ["notebooks/plain.ipynb", "cell-1", "x / 0", "ZeroDivisionError", "failed/plain.ipynb"],
        ),
        (
            "notebooks/plain.ipynb",
            notebook("m = 1", "import os\nos.kill(os.getpid(), 9)"),
            ["notebooks/plain.ipynb", "cell-1", "os.kill", "Kernel died"],
        ),
        (
            "notebooks/plain.ipynb",
            notebook("m = 1", "import sys\nsys.exit(0)", "print(1)"),
            ["notebooks/plain.ipynb", "cell-1", "sys.exit(0)", "SystemExit"],
        ),
        (
            "notebooks/plain.ipynb",
            notebook("m = 1", "display({'application/x-plot': 1}, raw=True)"),
            ["plain.ipynb", "cell-1", "application/x-plot"],
        ),
        ("notebooks/plain.ipynb", "{", ["notebooks/plain.ipynb", "cannot be read"]),
        ("notebooks/toy.ipynb", notebook(*TOY), ["notebooks/toy.ipynb", "cell-3", "caption"]),
        (
            "_toc.yml",
            "format: jb-book\nroot: book/index\nchapters:\n- file: book/pages/nowhere\n",
            ["book/pages/nowhere", "no notebooks/nowhere.ipynb"],
        ),
        (
            "book/index.md",
            "# Toy book\n\nSee {prf:ref}`no-such-label`.\n",
            ["book/index", "no-such-label"],
        ),
    ],
    ids=[
        "unknown parameter",
        "no parameters cell",
        "failing cell",
        "killed kernel",
        "exit in a cell",
        "output nobody sees",
        "broken notebook",
        "figure without caption",
        "page without notebook",
        "warning",
    ],
)
def test_a_fault_stops_the_build_in_one_screen_and_the_last_good_book_stays(
    clean, name, text, said
):
    assert clean.build() == 0, clean.err
    before = clean.bytes("_build/html", "_build/src/book/pages")
    clean.write(name, text)
    assert clean.build() == 1
    assert all(words in clean.err for words in said), clean.err
    assert (
        len(clean.err.splitlines()) <= 40
        and 'Traceback (most recent call last):\n  File "tools/build.py"' not in clean.err
    )
    assert clean.bytes("_build/html", "_build/src/book/pages") == before


@pytest.mark.parametrize(
    "name, pages",
    [
        ("ldpbo_core.py", ["plain", "toy_a", "toy_b"]),
        ("requirements.lock", ["plain", "toy_a", "toy_b"]),
        ("notebooks/params/toy_b.yml", ["toy_b"]),
        ("data/stocks.csv", ["plain"]),
        ("data/sweeps/widths.csv", ["toy_b"]),
        ("data/sweeps/width.csv", []),
        ("book/index.md", []),
    ],
)
def test_a_page_runs_again_exactly_when_something_it_depends_on_changed(clean, name, pages):
    (clean.root / "data/sweeps").mkdir(exist_ok=True)
    clean.write(
        "notebooks/params/toy_b.yml", "n: 5   # and a page that is told which sweep to show\n"
    )
    clean.write("notebooks/toy.ipynb", notebook("n = 3   # size\nsweep = ''   # name", metadata={}))
    clean.write("notebooks/params/toy_b.yml", "n: 5\nsweep: widths\n")
    digest = (
        "import build; pages = {p: build.Page(p, None, False) for p in ('toy_a', 'toy_b', 'plain')}; "
        "print(*(pages[p].digest(pages) for p in pages))"
    )
    ask = lambda: subprocess.run(
        [sys.executable, "-c", digest], cwd=clean.root, capture_output=True, text=True, check=True
    ).stdout.split()
    before = ask()
    with open(clean.root / name, "a") as file:
        file.write("n: 6\n" if name.endswith("yml") else "\n")
    assert (
        sorted(p for p, a, b in zip(("toy_a", "toy_b", "plain"), before, ask()) if a != b) == pages
    )


def test_the_page_that_needs_others_runs_after_them_and_again_when_they_change(clean):
    reader = json.loads(
        notebook(
            "m = 1",
            "from ldpbo import results\nprint(results.load('toy_b', 'fig-toy-b-line')['y'])",
        )
    )
    reader["metadata"]["needs"] = ["toy_*"]
    clean.write("notebooks/reader.ipynb", json.dumps(reader))
    clean.write(
        "_toc.yml",
        "format: jb-book\nroot: book/index\nchapters:\n"
        + "".join(f"- file: book/pages/{p}\n" for p in ("reader", "toy_a", "toy_b")),
    )
    clean.write("notebooks/params/toy_b.yml", "n: 4\n")
    assert clean.build("reader") == 0, clean.err
    assert "[0. 1. 2. 3.]" in (clean.root / "_build/src/book/pages/reader.ipynb").read_text()
    clean.write("notebooks/params/toy_b.yml", "n: 2\n")
    assert clean.build("reader") == 0, clean.err
    assert "[0. 1.]" in (clean.root / "_build/src/book/pages/reader.ipynb").read_text()


# ---- make and its .venv ----------------------------------------------------------------------------------------


def wheel(folder, name, files, scripts="", with_hash=True):
    """The line of a lock file for a package that is made here, without network."""
    path, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{info}/entry_points.txt": scripts,
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": "",
            **files,
        }.items():
            (entry := zipfile.ZipInfo(file)).external_attr = 0o100755 << 16  # a script may be run
            archive.writestr(entry, text)
    return (
        f"{name} @ {path.as_uri()}"
        + f" --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}" * with_hash
        + "\n"
    )


def locked(folder, uv=None, hashed=("uv", "toy")):
    """A lock file of two packages: `uv` is the shell script given, else one that starts the real one; `toy` has a program."""
    uv = uv or f'exec "{importlib.import_module("uv").find_uv_bin()}" "$@"'
    return wheel(
        folder, "uv", {"uv-1.0.data/scripts/uv": f"#!/bin/sh\n{uv}\n"}, with_hash="uv" in hashed
    ) + wheel(
        folder,
        "toy",
        {"toy.py": "def main(): print('toy runs')\n"},
        "[console_scripts]\ntoy = toy:main\n",
        "toy" in hashed,
    )


def makefile(folder, uv=None):
    """`make` on a project that locks two small packages -> function (words) -> finished process; .root is the project."""
    for name in ("Makefile", "tools/environment.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "requirements.lock").write_text(locked(folder, uv))
    (folder / "pyproject.toml").write_text("")
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHON", "MAKEFLAGS")} | {
        "PIP_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(folder / "cache"),
    }
    call = lambda *words: subprocess.run(
        ["make", "-s", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=300
    )
    call.root = folder
    return call


def installed(make):
    """What the program of `toy` in .venv says, and what installed it."""
    (by,) = make.root.glob(".venv/lib/python*/site-packages/toy-1.0.dist-info/INSTALLER")
    return subprocess.run(
        [make.root / ".venv/bin/toy"], capture_output=True, text=True
    ).stdout, by.read_text().strip()


@pytest.fixture
def make(tmp_path):
    return makefile(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`makefile` where an environment was made; .venv was a symbolic link to .other before; .said is what `make` wrote.

    The path is too long for the first line of a program, which then is one of the shell that starts Python."""
    make = makefile(tmp_path_factory.mktemp("made" + "-long" * 25))
    make.other = tmp_path_factory.mktemp("other")
    (make.other / "mine.txt").write_text("mine")
    (make.root / ".venv").symlink_to(make.other)
    make.said = make("venv")
    return make


def test_what_a_symbolic_link_leads_to_is_never_emptied(made):
    assert made.said.returncode == 0, made.said.stderr
    assert (made.other / "mine.txt").read_text() == "mine" and len(list(made.other.iterdir())) == 1
    assert (made.root / ".venv/bin/python").exists() and not (made.root / ".venv").is_symlink()


def test_uv_installs_the_locked_packages_without_a_word_and_their_programs_run(made):
    assert (
        made.said.returncode == 0 and made.said.stdout.count("\n") == 1 and made.said.stderr == ""
    ), made.said
    assert installed(made) == ("toy runs\n", "uv")
    assert (
        f"{made.root}/.venv/bin/python" in (text := (made.root / ".venv/bin/toy").read_text())
        and ".venv.new" not in text
    )
    assert ".venv.new" not in (made.root / ".venv/bin/activate").read_text()


def test_the_environment_is_made_again_when_its_content_changed_and_the_old_one_stays_until_then(
    made,
):
    assert made.said.returncode == 0 and "Installing" in made.said.stdout, made.said.stderr
    pip = made.root / ".venv/bin/pip"
    assert (
        f"{made.root}/.venv/bin/python" in pip.read_text()
        and subprocess.run([pip, "--version"]).returncode == 0
    )
    assert (
        str(made.root)
        in subprocess.run(
            [made.root / ".venv/bin/python", "-c", "import sys; print(sys.path)"],
            capture_output=True,
            text=True,
            cwd="/",
        ).stdout
    )
    os.utime(made.root / "requirements.lock", (2**32, 2**32))
    assert made("venv").stdout == ""
    for hashed in (
        ["uv"],
        [],
    ):  # nobody vouches for toy; nor for uv: pip wants all hashes as soon as one is there
        (made.root / "requirements.lock").write_text(locked(made.root, hashed=hashed))
        done = made("venv")
        assert "--require-hashes" in done.stderr and (
            "--require-hashes" in done.stdout or not hashed
        ), done
        assert (
            "Installing" in done.stdout
            and done.returncode != 0
            and "is as it was" in done.stderr
            and "Traceback" not in done.stderr
        )
        assert (made.root / ".venv/.ready").exists() and installed(made) == ("toy runs\n", "uv")
        assert not list(made.root.glob(".venv.[no]*"))


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """`makefile` where uv left half of toy and failed; .held are the files that uv had open, .said is what `make` wrote."""
    folder = tmp_path_factory.mktemp("fallen")
    site = '"$(dirname "$0")"/../lib/python*/site-packages'
    make = makefile(
        folder,
        f"ls -l /proc/self/fd > '{folder}/held'; cd {site}; mkdir toy-1.0.dist-info\n"
        "echo 'half =' | tee toy.py left.py; echo 'Name: toy\nVersion: 1.0' > toy-1.0.dist-info/METADATA\n"
        "echo 'error: no such index\n  Caused by: a mirror' >&2; exit 2",
    )
    make.said, make.held = make("venv"), folder / "held"
    return make


def test_where_uv_fails_pip_installs_everything_anew_and_one_line_says_why(fallen):
    assert fallen.said.returncode == 0 and fallen.said.stderr == "" and fallen.held.exists(), (
        fallen.said
    )
    assert fallen.said.stdout.splitlines()[1:] == [
        "uv could not install them (error: no such index); pip does, which takes longer"
    ]
    assert installed(fallen) == ("toy runs\n", "pip") and not list(
        fallen.root.glob(".venv*/lib/python*/site-packages/left.py")
    )
    assert (
        (fallen.root / ".venv/bin/toy").read_text().startswith(f"#!{fallen.root}/.venv/bin/python")
    )


def environment_of(root):
    spec = importlib.util.spec_from_file_location("environment", root / "tools/environment.py")
    spec.loader.exec_module(environment := importlib.util.module_from_spec(spec))
    return environment


def test_python_keeps_what_it_compiled_because_uv_compiles_nothing():
    """Else every start would compile its imports again where PYTHONDONTWRITEBYTECODE is set."""
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "7"}
    told = subprocess.run(
        ["make", "-s", "-C", ROOT, "--eval", "told:; @env", "told"],
        env=env,
        capture_output=True,
        text=True,
    ).stdout
    assert "PYTHONHASHSEED=0" in told and "PYTHONDONTWRITEBYTECODE" not in told


def test_what_pip_installs_first_is_uv_with_all_its_hashes_and_nothing_else():
    (block,) = re.findall(
        r"^uv==\S+ \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+(?=    # via)",
        (ROOT / "requirements.lock").read_text("utf-8"),
        re.M,
    )
    assert environment_of(ROOT).locked("uv") == block


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_an_installation_that_outlives_a_killed_make_holds_the_lock(make, fallen, monkeypatch):
    """Else the next `make` would meet it in .venv.new."""
    assert ".venv.lock" in fallen.held.read_text()
    environment = environment_of(make.root)
    (python := make.root / "python").write_text("#!/bin/sh\nls -l /proc/self/fd > held\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(make.root)
    with pytest.raises(SystemExit, match="could not be installed"):
        environment.main()
    assert ".venv.lock" in (make.root / "held").read_text()


def test_an_interpreter_that_is_not_there_is_an_error_and_a_picture_needs_a_build(make):
    done = make("venv", "PYTHON=/nowhere/python3.12")
    assert (
        done.returncode != 0
        and "/nowhere/python3.12" in done.stderr
        and not (make.root / ".venv").exists()
    )
    done = make("-o", "venv", "picture")
    assert (
        done.returncode != 0
        and "run make book first" in done.stderr
        and "Traceback" not in done.stderr
    )


def test_lab_starts_as_root_and_as_anybody_else(make):
    words = make("-n", "-o", "venv", "lab").stdout.split()
    assert words[-1] == "notebooks" and ("--allow-root" in words) == (os.getuid() == 0)
