"""`make` and its .venv, on a project that locks two small packages: nobody is left without one."""

import argparse
import ast
import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.xdist_group("build")


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
    """A lock file of two packages: `toy` has a program; `uv` is a shell script, or the real one."""
    uv = uv or f'exec "{importlib.import_module("uv").find_uv_bin()}" "$@"'
    script = {"uv-1.0.data/scripts/uv": f"#!/bin/sh\n{uv}\n"}
    first = wheel(folder, "uv", script, with_hash="uv" in hashed)
    program = {"toy.py": "def main(): print('toy runs')\n"}
    entry = "[console_scripts]\ntoy = toy:main\n"
    return first + wheel(folder, "toy", program, entry, with_hash="toy" in hashed)


def makefile(folder, uv=None):
    """`make` on such a project: function (words) -> finished process; .root is the project."""
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
    """`makefile` where an environment was made; .said is what `make` wrote.

    .venv was a symbolic link to .other before. The path is too long for a program's first line.
    """
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
    done = made.said
    assert done.returncode == 0 and done.stdout.count("\n") == 1 and done.stderr == "", done
    assert installed(made) == ("toy runs\n", "uv")
    for name in ("toy", "activate"):
        assert ".venv.new" not in (made.root / ".venv/bin" / name).read_text()
    assert not list(made.root.glob(".venv.[nou]*"))


def paths_of(make, **env):
    """What .venv's Python has on its path."""
    python = make.root / ".venv/bin/python"
    program = "import sys; print(ascii(sys.path))"
    done = subprocess.run(
        [python, "-c", program], env=os.environ | env, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


def test_the_environment_is_made_again_when_its_content_changed_and_the_old_one_stays_until_then(
    made,
):
    assert made.said.returncode == 0 and "Installing" in made.said.stdout, made.said.stderr
    assert str(made.root) in paths_of(made)
    os.utime(made.root / "requirements.lock", (2**32, 2**32))
    assert made("venv").stdout == ""
    for hashed in (["uv"], []):  # nobody vouches for toy; nor for uv
        (made.root / "requirements.lock").write_text(locked(made.root, hashed=hashed))
        done = made("venv")
        assert "--require-hashes" in done.stderr and "Installing" in done.stdout, done
        assert done.returncode != 0 and "is as it was" in done.stderr
        assert "Traceback" not in done.stderr
        assert (made.root / ".venv/.ready").exists() and installed(made) == ("toy runs\n", "uv")
        assert not list(made.root.glob(".venv.[nou]*"))


def test_any_path_will_do_in_any_locale(tmp_path):
    """Python reads .pth files in the encoding of the locale, and stops at what it cannot decode."""
    folder = tmp_path / "Größe und Maß ε"
    folder.mkdir()
    make = makefile(folder)
    assert make("venv").returncode == 0
    assert str(folder) in paths_of(make, LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")


def test_a_folder_that_may_not_be_written_is_a_message_and_enough_where_all_is_there(make, made):
    (make.root / ".venv.lock").mkdir()  # stands for a folder that is read-only
    done = make("venv")
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "make needs to write .venv" in done.stderr
    (made.root / "requirements.lock").write_text(locked(made.root))
    assert made("venv").returncode == 0
    (made.root / ".venv.lock").unlink()
    (made.root / ".venv.lock").mkdir()
    assert made("venv").returncode == 0


def test_an_environment_whose_interpreter_may_not_be_run_is_made_again_or_said(make):
    """As where another user made it with a Python in a folder of their own."""
    assert make("venv").returncode == 0
    link = make.root / ".venv/bin/python"
    link.unlink()
    link.write_text("")  # there, and nobody may run it
    (make.root / ".venv.lock").unlink()
    (make.root / ".venv.lock").mkdir()  # stands for a folder that is read-only
    done = make("venv")
    assert done.returncode != 0 and "make needs to write .venv" in done.stderr


def test_in_a_checkout_that_may_not_be_written_the_programs_work_elsewhere(tmp_path, monkeypatch):
    """What builds share goes where --out says; a status is read without a lock."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    store = importlib.import_module("store")
    sweep = importlib.import_module("sweep")
    for folder in ("_build", "."):
        monkeypatch.setattr(store, "ROOT", tmp_path)
        (tmp_path / folder).mkdir(exist_ok=True)
    assert store.shared(tmp_path / "out") == tmp_path / "_build"
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert store.shared(tmp_path / "out") == tmp_path / "out"
    monkeypatch.setattr(sweep, "ROOT", tmp_path / "nowhere")
    args = argparse.Namespace(out=None, status=True, stand_ins=False)
    assert sweep.sweep("judge", args, None) == 0
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """`makefile` where uv fails; .held are the files it had open, .said is what `make` wrote."""
    folder = tmp_path_factory.mktemp("failed")
    uv = f"ls -l /proc/self/fd > '{folder}/held'; echo 'error: no such index' >&2; exit 2"
    make = makefile(folder, uv)
    make.said = make("venv")
    make.held = folder / "held"
    return make


def test_where_uv_fails_it_says_why_and_nothing_is_left(failed):
    assert failed.said.returncode != 0
    for words in ("error: no such index", "could not be installed", "UV_DEFAULT_INDEX"):
        assert words in failed.said.stderr
    assert not list(failed.root.glob(".venv")) and not list(failed.root.glob(".venv.[nou]*"))


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
    assert environment_of(ROOT).locked_uv() == block


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_an_installation_that_outlives_a_killed_make_holds_the_lock(make, failed, monkeypatch):
    """Else the next `make` would meet it in .venv.new."""
    assert ".venv.lock" in failed.held.read_text()
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
    assert done.returncode != 0 and "/nowhere/python3.12" in done.stderr
    assert not (make.root / ".venv").exists()
    done = make("-o", "venv", "picture")
    assert done.returncode != 0 and "run make book first" in done.stderr
    assert "Traceback" not in done.stderr


def test_lab_starts_as_root_and_as_anybody_else(make):
    words = make("-n", "-o", "venv", "lab").stdout.split()
    assert words[-1] == "notebooks" and ("--allow-root" in words) == (os.getuid() == 0)
