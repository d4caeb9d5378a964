"""The build program on a toy book: whatever happens to it, nothing is lost or half-written."""

import ast
import base64
import hashlib
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
import termios
import time
from pathlib import Path

import pytest

import dependencies
import npm
import pdf
import runtime
import store
import tidy
from ldpbo import provenance

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


PARTS = (
    "build pages dependencies run execute kernels tidy render marks bibliography pdf npm store "
    "terminal"
)
STUBS = {  # for what toy pages do without: the shelf, glued numbers, the live page, the record
    "shelf": "def build(folder):\n    return {}\n",
    "wording": "def substitute(source):\n    return {}\n\n\npart_heads = substitute\n",
    "live_assets": "def build(folder):\n    return 'no live page'\n",
    "record": "def write(site, source, contents):\n    pass\n",
}
TOY = (
    "n = 3   # size",
    "import time\nfrom ldpbo import plots, results, show",
    "time.sleep(0.5)",
    "figure, ax = plots.axes()\nax.plot(range(n))\n"
    "show.figure(figure, 'fig-toy-line', data={'y': range(n)})",
)


class Project:
    """A folder with the real build program and core, and three toy pages from two notebooks."""

    def __init__(self, root):
        self.root = root
        (root / "notebooks/params").mkdir(parents=True)
        (root / "data").mkdir()
        for name in (
            *(f"tools/{part}.py" for part in PARTS.split()),
            "ldpbo_core.py",
            *(f"ldpbo/{p.name}" for p in ROOT.glob("ldpbo/*.*")),
            "requirements.lock",
            "_config.yml",
        ):
            (root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        for name in ("custom.css", "reader.js", "references.bib"):
            target = root / ("book/_static" if name.endswith(("css", "js")) else "book") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "book" / target.relative_to(root / "book"), target)
        for part, text in STUBS.items():
            self.write(f"tools/{part}.py", text)
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

    def environment(self, **more):
        return os.environ | {"PYTHONPATH": str(self.root)} | more

    def start(self, *args, **options):
        defaults = {
            "env": self.environment(),
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        command = [sys.executable, "tools/build.py", *args]
        return subprocess.Popen(command, cwd=self.root, text=True, **defaults | options)

    def build(self, *args, env=None, **options):
        process = self.start(*args, env=self.environment(**env or {}), **options)
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


def test_the_first_lines_of_the_build_name_all_its_parts():
    text = (ROOT / "tools/build.py").read_text("utf-8")
    listed = re.findall(r"^    (\w+)\.py {2,}", ast.get_docstring(ast.parse(text)), re.M)
    imported = dependencies.closure(dependencies.Uses({"build"}), (ROOT / "tools",))
    extensions = re.findall(r"tools\.(\w+)", (ROOT / "_config.yml").read_text("utf-8"))
    assert sorted([*listed, "build"]) == sorted({path.stem for path in imported} | set(extensions))


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
    before = project.bytes("_build")
    assert project.build() == 0
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
    """A shell without job control starts `... &` with SIGINT ignored, which Python leaves so."""
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


def on_a_terminal(project, kind, columns=100):
    """What a build of the page `plain` writes to a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    process = project.start("plain", stdout=theirs, env=project.environment(TERM=kind))
    os.close(theirs)
    assert "" == process.communicate(timeout=60)[1]
    return os.read(ours, 10**6).decode()


def test_a_long_cell_shows_on_the_terminal_where_it_is_and_for_how_long(clean):
    clean.write("notebooks/plain.ipynb", notebook("m = 1", "import time\ntime.sleep(4)"))
    shown = on_a_terminal(clean, "xterm")
    assert "plain (cell 3 of 3, 2 s)" in shown and "elapsed 00:0" in shown


def test_a_terminal_without_a_cursor_gets_a_line_a_page(clean):
    clean.write("notebooks/plain.ipynb", notebook("m = 1", "import time\ntime.sleep(2)"))
    shown = on_a_terminal(clean, "dumb").replace("\r\n", "\n")
    assert "[ 1/1] plain " in shown and not re.search(r"[\r\x1b]", shown)


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
def cache(monkeypatch, tmp_path):
    """A folder for what tools/npm.py keeps."""
    monkeypatch.setattr(npm, "CACHE", tmp_path / "npm")
    return npm.CACHE


def test_npm_that_hangs_is_ended_and_the_page_goes_to_the_cdn(cache, monkeypatch, tmp_path):
    program = tmp_path / "npm-bin/npm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(npm, "NPM_SECONDS", 0.5)
    with pytest.raises(npm.NoPackages, match="0.5 s"):
        npm.package("pyodide")


def test_an_altered_file_of_the_runtime_is_made_again(cache, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(runtime, "make_script", lambda pyodide, numpy: b"runtime")
    name, script = runtime.runtime({}, {})
    assert script == b"runtime" and runtime.runtime({}, {}) == (name, script)
    assert capsys.readouterr().out == ""
    path = cache / Path(name).stem
    for damage in (b"", b"runtime;alert(1)", path.read_bytes() + b";alert(1)"):
        path.write_bytes(damage)
        assert runtime.runtime({}, {}) == (name, b"runtime")
        assert "is not what was written" in capsys.readouterr().out


def test_an_altered_package_is_downloaded_again(cache, monkeypatch, tmp_path, capsys):
    good = base64.b64encode(hashlib.sha512(b"good\n").digest()).decode()
    program = tmp_path / "npm-bin/npm"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho good > "$4/toy-1.0.tgz"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(npm, "PINS", {"toy": ("1.0", good)})
    path = npm.package("toy")
    path.write_bytes(b"bad\n")
    assert (
        npm.package("toy").read_bytes() == b"good\n"
        and "downloaded again" in capsys.readouterr().out
    )
    monkeypatch.setattr(npm, "PINS", {"toy": ("1.0", "other")})
    with pytest.raises(RuntimeError, match="pinned is other"):
        npm.package("toy")


def test_the_whole_book_is_printed_with_links_that_work_and_only_when_it_changed(clean):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("no chromium")
    clean.write(
        "book/index.md",
        "(top)=\n# Toy book\n\nHello $x^2$. See {ref}`the top <top>`, [a file](_static/a.html).\n"
        '\n<details class="hide above-output"><summary>Show</summary>'
        '<a href="https://example.org/folded">a folded table</a></details>\n',
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
    assert b"/URI (https://example.org/folded)" in data
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
    page = tmp_path / "book/reproduce.html"
    page.parent.mkdir()
    page.write_text('<p><a class="ldpbo-pdf" data-href="../ldpbo.pdf" hidden="">PDF</a></p>')
    store.seal_folder(tmp_path, "digest")
    for name in ("reproduce", "missing"):
        pdf.offer(tmp_path / f"book/{name}.html")
    assert page.read_text() == '<p><a class="ldpbo-pdf" href="../ldpbo.pdf">PDF</a></p>'
    assert not store.is_whole(tmp_path, "digest")
    store.seal_folder(tmp_path, "digest")
    assert store.is_whole(tmp_path, "digest") and not store.is_whole(tmp_path, "other")


def test_without_chromium_the_book_is_there_and_the_pdf_is_a_message(project, tmp_path):
    assert project.build() == 0, project.err
    (project.root / "_build/html/ldpbo.pdf").unlink(missing_ok=True)
    assert project.build("--pdf", env={"PATH": str(tmp_path), "CHROMIUM": ""}) == 1
    assert (
        "apt install chromium" in project.err and (project.root / "_build/html/index.html").exists()
    )


def test_stored_results_of_another_code_lock_nobody_out(clean):
    """The pages that show them mark them; tests/test_originals.py has the mark."""
    clean.write("data/originals.json", '{"code": "0123456789ab", "panels": {}}')
    assert clean.build() == 0, clean.err


def test_a_page_alone_is_run_and_rendered_and_the_book_stays(clean):
    before = clean.bytes("_build/html")
    text = notebook("m = 1", "print('alone', 6 * 7)")
    clean.write("notebooks/plain.ipynb", text.replace("A toy", "A toy of {ref}`another-page`"))
    assert clean.build("plain") == 0, clean.err
    (address,) = re.findall(r"^Open file://(\S+)$", clean.out, re.M)
    page = Path(address).read_text("utf-8")
    assert "alone 42" in page and "A toy" in page
    assert Path(address).is_relative_to(clean.root / "_build/preview")
    assert clean.bytes("_build/html") == before
    assert clean.build("plain", "toy_b") == 0, clean.err
    assert "1 of 2 pages unchanged" in clean.out or "2 of 2 pages unchanged" in clean.out
    page = (clean.root / "_build/preview/book/pages/toy_b.html").read_text("utf-8")
    assert 'id="fig-toy-b-line"' in page


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
    assert tidy.with_values(source, values) == expected


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
    assert len(clean.err.splitlines()) <= 40 and not re.search(
        r"Traceback.*:\n  File .*tools/", clean.err
    )
    assert clean.bytes("_build/html", "_build/src/book/pages") == before


@pytest.mark.parametrize(
    "text, same",
    [
        ('def f(x):\n    """Another docstring."""\n    return x + 1  # a comment\n', True),
        ("def f(\n    x,\n):\n\n    return (x + 1)\n", True),
        ("def f(x):\n    return x + 2\n", False),
        ("def f(y):\n    return y + 1\n", False),
        ("def f(x):\n    'text'; 'more'\n    return x + 1\n", False),
    ],
)
def test_comments_docstrings_and_layout_are_no_syntax(text, same):
    plain = 'def f(x):\n    """A docstring."""\n    return x + 1\n'
    syntax = [provenance.syntax(ast.parse(source)) for source in (plain, text)]
    assert (syntax[0] == syntax[1]) == same


DIGESTS = """
import dependencies, pages
known = pages.load(quick=False)
print(*(f"{name}={dependencies.digest(known[name], known)}" for name in known))
"""


def digests(project):
    """What the digest of each page is now."""
    path = os.pathsep.join([str(project.root), str(project.root / "tools")])
    out = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        cwd=project.root,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return dict(word.split("=") for word in out.split())


DRAW = """
import ldpbo_core as core

def line():
    from ldpbo import results, show
    core.simulate_batches

def nobody_calls():
    core.load
"""


@pytest.mark.parametrize(
    "name, more, pages",
    [
        ("ldpbo_core.py", "pass\n", ["toy_a", "toy_b"]),
        ("ldpbo_core.py", "# a comment\n", []),
        ("ldpbo/campaigns.py", "pass\n", ["toy_a", "toy_b"]),
        ("ldpbo/saving.py", "pass\n", []),
        ("ldpbo/bounds.py", "pass\n", []),
        ("ldpbo/checks.py", "pass\n", ["toy_a", "toy_b"]),
        ("ldpbo/labels.py", "pass\n", ["plain"]),
        ("ldpbo/words.py", "pass\n", ["plain"]),
        ("ldpbo/words.py", "# a comment\n", []),
        ("ldpbo/words.py", "FILE = 'data/others.json'\n", ["plain"]),
        ("ldpbo/words.py", "NOBODY_READS = 1\n", []),
        ("ldpbo/words.py", "def text():\n    return FILE\n", ["plain"]),
        ("ldpbo/words.py", "def nobody_calls():\n    return FILE\n", []),
        ("ldpbo/nobody.py", "pass\n", []),
        ("notebooks/toy/draw.py", "# shown as it is\n", ["toy_a", "toy_b"]),
        ("notebooks/another/label.py", "pass\n", []),
        ("requirements.lock", "\n", ["plain", "toy_a", "toy_b"]),
        ("notebooks/params/toy_b.yml", "n: 6\n", ["toy_b"]),
        ("data/stocks.csv", "\n", ["plain"]),
        ("data/sweeps/widths.csv", "\n", ["toy_b"]),
        ("data/sweeps/widths_ata.csv", "\n", ["toy_b"]),
        ("data/sweeps/width.csv", "\n", []),
        ("data/words.json", "\n", ["plain"]),
        ("book/index.md", "\n", []),
    ],
)
def test_a_page_runs_again_exactly_when_something_it_depends_on_changed(clean, name, more, pages):
    """toy plays batches in a program beside it, and saves nothing; plain has two modules."""
    for folder in ("data/sweeps", "notebooks/toy", "notebooks/another"):
        (clean.root / folder).mkdir(exist_ok=True)
    draw = "from notebooks.toy import draw\ndraw.line()"
    clean.write("notebooks/toy.ipynb", notebook("n = 3   # size\nsweep = ''   # name", draw))
    clean.write("notebooks/toy/draw.py", DRAW)
    clean.write("notebooks/another/label.py", "")
    clean.write("notebooks/params/toy_b.yml", "n: 5\nsweep: widths\n")
    cells = ("m = 1", "%matplotlib inline\nfrom ldpbo import labels", "print('stock', m)")
    clean.write("notebooks/plain.ipynb", notebook(*cells))
    clean.write("ldpbo/labels.py", "from ldpbo import words\nprint(words.text)\n")
    clean.write("ldpbo/words.py", "FILE = 'data/words.json'\n\ndef text():\n    return FILE\n")
    clean.write("ldpbo/nobody.py", "")
    before = digests(clean)
    with open(clean.root / name, "a") as file:
        file.write(more)
    after = digests(clean)
    assert sorted(page for page in before if before[page] != after[page]) == pages


def test_a_page_with_a_stored_table_of_this_code_runs_again_when_the_code_is_another(clean):
    """The page says whether this code made the table, and has to say so no longer."""
    (clean.root / "data/sweeps").mkdir(exist_ok=True)
    clean.write("data/sweeps/widths.csv", f"code\n{provenance.code_hash()}\n")
    clean.write("data/sweeps/sizes.csv", f"code\n{'0' * 12}\n")
    for page, table in (("toy", "widths"), ("plain", "sizes")):
        cell = f"from ldpbo import results\nresults.sweep('{table}')"
        clean.write(f"notebooks/{page}.ipynb", notebook("n = 3", cell))
    before = digests(clean)
    with open(clean.root / "ldpbo/bounds.py", "a") as file:
        file.write("pass\n")
    after = digests(clean)
    assert [page for page in before if before[page] != after[page]] == ["toy_a", "toy_b"]


def test_a_page_imports_the_programs_beside_it_by_its_name(clean):
    (clean.root / "notebooks/plain").mkdir(exist_ok=True)
    clean.write("notebooks/plain/words.py", "TEXT = 'beside the page'\n")
    cell = "from notebooks.plain import words\nwords.TEXT"
    clean.write("notebooks/plain.ipynb", notebook("m = 1", cell))
    assert clean.build("plain") == 0, clean.err
    assert "beside the page" in (clean.root / "_build/src/book/pages/plain.ipynb").read_text()


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
