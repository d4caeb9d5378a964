"""Make .venv from requirements.lock, beside the one that is there, and swap it in when it is whole.

`make` runs this with the interpreter to use (Python 3.11 or newer, standard library only). It does
nothing where .venv was made from the same files, compared by content, and with the interpreter that
PYTHON names, if it names one. Pip installs uv, by its hashes in the lock file; uv does the rest.
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
VENV, NEW, OLD, UV = (ROOT / f".venv{end}" for end in ("", ".new", ".old", ".uv"))
QUESTION = (
    "Is there a network, and space on the disk? uv asks PyPI, or what UV_DEFAULT_INDEX names."
)


def origin():
    """Say what .venv would be made from now: a hash of the files, and the interpreter."""
    files = LOCK, ROOT / "pyproject.toml", Path(__file__)
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    return [digest, f"{sys.version_info[:3]} {sys.base_prefix}"]


def is_ready():
    """Tell whether .venv was made from the same, and with the interpreter that PYTHON names."""
    stamp = VENV / ".ready"
    if not (stamp.is_file() and os.access(VENV / "bin/python", os.X_OK)):
        return False
    made = stamp.read_text("utf-8").splitlines()
    return made == origin() if os.environ.get("PYTHON") else made[:1] == origin()[:1]


def remove(*paths):
    """Remove folders; of a symbolic link only the link, never what it leads to."""
    for path in paths:
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)


def locked_uv():
    """Find the lines of the lock file for uv: its version and hashes, up to one without \\."""
    return re.search(r"^uv *(==|@).*?[^\\]\n", LOCK.read_text("utf-8"), re.M | re.S)[0]


def install(run):
    """Install the locked packages into .venv.new, which may be moved."""
    run([sys.executable, "-m", "venv", UV])
    (UV / "uv.txt").write_text(locked_uv(), "utf-8")
    pip = [UV / "bin/python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    run([*pip, "--require-hashes", "-r", UV / "uv.txt"])
    uv = UV / "bin/uv"
    run([uv, "venv", "-q", "--relocatable", "--python", sys.executable, "--prompt", ".venv", NEW])
    run([uv, "pip", "install", "-q", "--python", NEW, "--require-hashes", "-r", LOCK])
    (site,) = NEW.glob("lib/python*/site-packages")
    path = ascii(str(ROOT))  # Python reads the file in the encoding of the locale
    (site / "ldpbo.pth").write_text(f"import sys; sys.path.append({path})\n", "ascii")
    (NEW / ".ready").write_text("\n".join(origin()), "utf-8")


def update(lock):
    """Make a new .venv; if that fails, the old one stays."""
    if OLD.exists() and not VENV.exists():  # killed between the two renames
        OLD.rename(VENV)
    if is_ready():
        return
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Installing the locked packages into .venv with Python {version} (once)", flush=True)
    remove(NEW, OLD, UV)
    try:  # what is started holds the lock as well: it may outlive this run, if that is killed
        install(functools.partial(subprocess.run, check=True, pass_fds=[lock.fileno()]))
    except (subprocess.CalledProcessError, OSError) as error:
        kept = "; the .venv that was there is as it was" if VENV.exists() else ""
        remove(NEW)
        sys.exit(f"The locked packages could not be installed ({error}){kept}.\n{QUESTION}")
    finally:
        remove(UV)
    if VENV.exists() or VENV.is_symlink():
        VENV.rename(OLD)
    NEW.rename(VENV)
    remove(OLD)


def main():
    if is_ready():  # also where nothing may be written
        return
    try:
        with open(ROOT / ".venv.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            update(lock)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}. make needs to write .venv into this folder.")


if __name__ == "__main__":
    main()
