"""The build program, on a toy book in a temporary folder: nothing is lost or half-written whatever happens to it."""
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIGURE = {"mystnb": {"figure": {"caption": "A line.", "name": "fig-toy-line"}, "image": {"alt": "A straight line."}}}
pytestmark = pytest.mark.xdist_group("build")


def notebook(*sources, metadata=None, tags=("parameters",)):
    code = lambda i, s: {"cell_type": "code", "id": f"cell-{i}", "metadata": {"tags": list(tags)} if i == 0 else (metadata or {}).get(i, {}),
                         "source": s, "outputs": [], "execution_count": None}
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A toy"}
    return json.dumps({"cells": [title, *(code(i, s) for i, s in enumerate(sources))], "nbformat": 4, "nbformat_minor": 5,
                       "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}})


TOY = ("n = 3   # size", "import time\nimport ldpbo_figures as fig", "time.sleep(0.5)",
       "figure, ax = fig.axes()\nax.plot(range(n))\nfig.show(figure, 'fig-toy-line', data={'y': range(n)})")


class Project:
    """A folder with the real build program, core and configuration, and three toy pages from two notebooks."""

    def __init__(self, root):
        self.root = root
        (root / "notebooks/params").mkdir(parents=True)
        (root / "data").mkdir()
        for name in ("build.py", "ldpbo_core.py", "ldpbo_figures.py", "requirements.lock", "_config.yml"):
            shutil.copy(ROOT / name, root / name)
        for name in ("custom.css", "references.bib"):
            target = root / ("book/_static" if name.endswith("css") else "book") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "book" / target.relative_to(root / "book"), target)
        self.write("book/index.md", "# Toy book\n\nHello.\n")
        self.write("_toc.yml", "format: jb-book\nroot: book/index\nchapters:\n" + "".join(f"- file: book/pages/{p}\n" for p in ("toy_a", "toy_b", "plain")))
        self.write("notebooks/toy.ipynb", notebook(*TOY, metadata={3: FIGURE}))
        self.write("notebooks/plain.ipynb", notebook("m = 1   # a number", "print('stock', m)"))
        self.write("notebooks/params/toy_b.yml", "n: 5\n")
        self.write("notebooks/params/quick.yml", "toy: {n: 2}\n")

    def write(self, name, text):
        (self.root / name).write_text(text, "utf-8")

    def start(self, *args):
        return subprocess.Popen([sys.executable, "build.py", *args], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def build(self, *args):
        process = self.start(*args)
        self.out, self.err = process.communicate(timeout=300)
        return process.returncode

    def bytes(self, *folders):
        files = [p for f in folders or ("_build/src", "_build/html") for p in sorted((self.root / f).rglob("*")) if p.is_file()]
        return {str(p.relative_to(self.root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files if p.suffix not in {".pickle", ".inv"}}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = Project(tmp_path_factory.mktemp("project"))
    assert project.build() == 0, project.err
    return project


@pytest.fixture
def clean(project):
    """The project, put back as it was afterwards."""
    kept = {p: p.read_bytes() for p in project.root.rglob("*") if p.is_file() and "_build" not in p.parts}
    yield project
    for path in [p for p in project.root.rglob("*") if p.is_file() and "_build" not in p.parts and p not in kept]:
        path.unlink()
    for path, content in kept.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def test_killed_at_random_moments_it_ends_in_the_same_bytes_as_an_undisturbed_build(project):
    whole = project.bytes()
    assert "_build/src/book/pages/toy_a.ipynb" in whole and "_build/html/book/pages/toy_b.html" in whole
    shutil.rmtree(project.root / "_build")
    moments = random.Random(7)
    for _ in range(4):
        process = project.start()
        time.sleep(moments.uniform(0.3, 9))
        process.kill()
        process.communicate()
    assert project.build() == 0, project.err
    assert project.bytes() == whole
    assert not list((project.root / "_build").glob("*rendering*")) and not list((project.root / "_build/running").glob("*"))


def test_a_second_run_runs_nothing_and_changes_nothing(project):
    assert project.build() == 0, project.err
    before, start = project.bytes("_build"), time.time()
    assert project.build() == 0 and time.time() - start < 10
    assert "3 of 3 pages unchanged" in project.out and "(unchanged)" in project.out
    assert project.bytes("_build") == before


def test_interrupted_it_says_so_and_the_next_run_goes_on(project):
    for cached in (project.root / "_build/cache").glob("toy_*"):
        cached.unlink()
    process, until = project.start(), time.time() + 60
    while not list((project.root / "_build/running").glob("toy_*")) and time.time() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert "next run goes on" in process.communicate(timeout=20)[1] and process.returncode == 130
    assert project.build() == 0, project.err


def test_quick_and_full_builds_keep_apart(clean):
    before = clean.bytes()
    assert clean.build("--quick", "toy_a", "toy_b") == 0, clean.err
    assert '"n": 2' in (clean.root / "_build/quick/src/book/pages/toy_a.ipynb").read_text() and clean.bytes() == before


@pytest.mark.parametrize("name, text, said", [
    ("notebooks/params/toy_b.yml", "n: 5\nsize: 7\n", ["unknown parameter size", "notebooks/toy.ipynb", "cell-0", "It has: n"]),
    ("notebooks/plain.ipynb", notebook("m = 1", tags=()), ["notebooks/plain.ipynb", "0 cells tagged `parameters`"]),
    ("notebooks/plain.ipynb", notebook("m = 1", "x = 2\nx / 0"), ["notebooks/plain.ipynb", "cell-1", "x / 0", "ZeroDivisionError", "failed/plain.ipynb"]),
    ("notebooks/plain.ipynb", notebook("m = 1", "import os\nos.kill(os.getpid(), 9)"), ["notebooks/plain.ipynb", "cell-1", "os.kill", "Kernel died"]),
    ("notebooks/toy.ipynb", notebook(*TOY), ["notebooks/toy.ipynb", "cell-3", "caption"]),
    ("_toc.yml", "format: jb-book\nroot: book/index\nchapters:\n- file: book/pages/nowhere\n", ["book/pages/nowhere", "no notebooks/nowhere.ipynb"]),
    ("book/index.md", "# Toy book\n\nSee {prf:ref}`no-such-label`.\n", ["book/index", "no-such-label"]),
], ids=["unknown parameter", "no parameters cell", "failing cell", "killed kernel", "figure without caption", "page without notebook", "warning"])
def test_a_fault_stops_the_build_in_one_screen_and_the_last_good_book_stays(clean, name, text, said):
    assert clean.build() == 0, clean.err
    before = clean.bytes("_build/html", "_build/src/book/pages")
    clean.write(name, text)
    assert clean.build() == 1
    assert all(words in clean.err for words in said), clean.err
    assert len(clean.err.splitlines()) <= 40 and "Traceback (most recent call last):\n  File \"build.py\"" not in clean.err
    assert clean.bytes("_build/html", "_build/src/book/pages") == before


@pytest.mark.parametrize("name, pages", [("ldpbo_core.py", ["plain", "toy_a", "toy_b"]), ("requirements.lock", ["plain", "toy_a", "toy_b"]),
                                         ("notebooks/params/toy_b.yml", ["toy_b"]), ("data/stocks.csv", ["plain"]), ("book/index.md", [])])
def test_a_page_runs_again_exactly_when_something_it_depends_on_changed(clean, name, pages):
    sys.path.insert(0, str(clean.root))
    digest = ("import build; pages = {p: build.Page(p, None, False) for p in ('toy_a', 'toy_b', 'plain')}; "
              "print(*(pages[p].digest(pages) for p in pages))")
    ask = lambda: subprocess.run([sys.executable, "-c", digest], cwd=clean.root, capture_output=True, text=True, check=True).stdout.split()
    before = ask()
    with open(clean.root / name, "a") as file:
        file.write("n: 6\n" if name.endswith("yml") else "\n")
    assert sorted(p for p, a, b in zip(("toy_a", "toy_b", "plain"), before, ask()) if a != b) == pages


def test_the_page_that_needs_others_runs_after_them_and_again_when_they_change(clean):
    reader = json.loads(notebook("m = 1", "import ldpbo_figures as fig\nprint(fig.load('toy_b', 'fig-toy-b-line')['y'])"))
    reader["metadata"]["needs"] = ["toy_*"]
    clean.write("notebooks/reader.ipynb", json.dumps(reader))
    clean.write("_toc.yml", "format: jb-book\nroot: book/index\nchapters:\n" + "".join(f"- file: book/pages/{p}\n" for p in ("reader", "toy_a", "toy_b")))
    clean.write("notebooks/params/toy_b.yml", "n: 4\n")
    assert clean.build("reader") == 0, clean.err
    assert "[0. 1. 2. 3.]" in (clean.root / "_build/src/book/pages/reader.ipynb").read_text()
    clean.write("notebooks/params/toy_b.yml", "n: 2\n")
    assert clean.build("reader") == 0, clean.err
    assert "[0. 1.]" in (clean.root / "_build/src/book/pages/reader.ipynb").read_text()
