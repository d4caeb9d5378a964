"""Make .venv from requirements.lock, beside the one that is there, and swap it in when it is whole.

Run by `make` with the interpreter to use (Python 3.11 or newer, standard library only). It does nothing where .venv
was made from the same lock file and pyproject.toml, compared by content; if PYTHON names an interpreter, it must also
be the one that .venv was made with.

The packages are installed by uv, which is one of them and comes first, by pip; where uv fails, pip installs them all.
"""

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
VENV, NEW, OLD = ROOT / ".venv", ROOT / ".venv.new", ROOT / ".venv.old"
PYTHON = NEW / "bin/python"
PIP = [
    PYTHON,
    "-m",
    "pip",
    "install",
    "-qq",
    "--disable-pip-version-check",
    "--require-hashes",
]  # errors only
UV = [NEW / "bin/uv", "pip", "install", "-q", "--python", PYTHON, "--require-hashes"]


def digest():
    """Of what .venv is made from."""
    files = LOCK, ROOT / "pyproject.toml"
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def identity(python):
    """Version and home of an interpreter: the same for a virtual environment and for what it was made from."""
    done = subprocess.run(
        [python, "-c", "import sys; print(sys.version, sys.base_prefix)"], capture_output=True
    )
    return done.stdout if done.returncode == 0 else None


def ready():
    stamp, python = VENV / ".ready", VENV / "bin/python"
    if not (stamp.is_file() and stamp.read_text() == digest() and python.exists()):
        return False
    return not os.environ.get("PYTHON") or identity(python) == identity(sys.executable)


def remove(path):
    """Remove a folder; of a symbolic link only the link, never what it leads to."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def locked(package):
    """The lines of the lock file for one package: what `package==version` continues to, up to a line without \\."""
    found = re.search(rf"^{package} *(==|@).*?[^\\]$", LOCK.read_text("utf-8"), re.M | re.S)
    return found[0] + "\n" if found else ""


def install(run):
    """The locked packages into .venv.new."""

    def empty():
        remove(NEW)
        run([sys.executable, "-m", "venv", "--prompt", VENV.name, NEW])

    empty()
    try:
        first = NEW / "first.txt"
        first.write_text(locked("uv"), "utf-8")
        for command in ([*PIP, "-r", first], [*UV, "-r", LOCK]):
            run(command, capture_output=True, text=True, errors="replace")
    except (
        subprocess.CalledProcessError,
        OSError,
    ) as error:  # e.g. an index that only pip is told of
        reason = (getattr(error, "stderr", None) or "").strip() or str(error)
        print(
            f"uv could not install them ({reason.splitlines()[0]}); pip does, which takes longer",
            flush=True,
        )
        empty()
        run([*PIP, "-r", LOCK])


def make(lock):
    """A complete environment in .venv.new that believes to be in .venv.

    What is started here holds the lock as well: if this run is killed, it cannot meet the next one in .venv.new.
    """
    install(functools.partial(subprocess.run, check=True, pass_fds=[lock.fileno()]))
    (site,) = NEW.glob("lib/python*/site-packages")
    (site / "ldpbo.pth").write_text(f"{ROOT}\n")  # the modules of this checkout can be imported
    for path in [p for p in (NEW / "bin").iterdir() if p.is_file() and not p.is_symlink()]:
        text = path.read_bytes()
        if os.fsencode(NEW) in text:
            path.write_bytes(text.replace(os.fsencode(NEW), os.fsencode(VENV)))
    (NEW / ".ready").write_text(digest())


def swap():
    remove(OLD)
    if VENV.exists() or VENV.is_symlink():
        os.rename(VENV, OLD)
    os.rename(NEW, VENV)
    remove(OLD)


def main():
    with open(ROOT / ".venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if OLD.exists() and not VENV.exists():  # killed between the two renames
            os.rename(OLD, VENV)
        if ready():
            return
        version = ".".join(map(str, sys.version_info[:3]))
        print(f"Installing the locked packages into .venv with Python {version} (once)", flush=True)
        try:
            make(lock)
        except (subprocess.CalledProcessError, OSError) as error:
            remove(NEW)
            kept = "; the .venv that was there is as it was" if VENV.exists() else ""
            sys.exit(
                f"The locked packages could not be installed ({error}){kept}.\n"
                "Is there a network, and space on the disk?"
            )
        swap()


if __name__ == "__main__":
    main()
