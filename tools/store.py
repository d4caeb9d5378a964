"""The programs write files here: each appears whole or not at all, and is trusted while unchanged.

`write` replaces a file atomically. `seal` writes bytes under their own hash, and `unseal` returns
them only if they still have it. `seal_folder` and `is_whole` do the same for a folder of files.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from terminal import say

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ".built"  # in a sealed folder: what it was made from, and the hash of each file


def sha(*parts):
    """Hash bytes, or values that JSON can hold, to the hexadecimal digits of a sha256."""
    whole = hashlib.sha256()
    for part in parts:
        if not isinstance(part, bytes):
            part = json.dumps(part, sort_keys=True).encode()
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def shared(out):
    """Return the folder of what all builds share: _build, or `out` if that may not be written."""
    folder = ROOT / "_build"
    there = folder if folder.exists() else ROOT
    return folder if os.access(there, os.W_OK) else out


def write(path, data):
    """Write bytes so that the file is there whole or not at all; leave alone one that has them."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # whole also after a power cut
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        error.filename = error.filename or str(path)
        raise


def remove(path):
    """Remove a file or a folder; of a symbolic link only the link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def seal(path, data):
    """Write bytes under their hash."""
    write(path, sha(data).encode() + b"\n" + data)


def unseal(path):
    """Return the bytes that `seal` wrote, or None if they are missing or changed (and say so)."""
    if not path.is_file():
        return None
    stated, _, data = path.read_bytes().partition(b"\n")
    if stated == sha(data).encode():
        return data
    say(f"{path.name} is not what was written; it is made again")
    return None


def hashes(folder):
    """Hash each file below `folder` -> {path there: hash}."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p != folder / MANIFEST]
    return {p.relative_to(folder).as_posix(): sha(p.read_bytes()) for p in files}


def seal_folder(folder, source):
    """Record the digest of what the folder was made from, and the hash of each of its files."""
    manifest = {"from": source, "files": hashes(folder)}
    write(folder / MANIFEST, json.dumps(manifest, indent=0).encode())


def is_whole(folder, source):
    """Tell whether the folder was made from `source` and is unchanged; name a changed file."""
    if not folder.exists():
        return False
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = manifest["files"]
        if manifest["from"] != source:
            return False
    except (OSError, ValueError, KeyError):
        files = {MANIFEST: "unreadable"}
    found = hashes(folder)
    changed = [name for name, wanted in files.items() if found.get(name) != wanted]
    if changed:
        say(f"{folder.name}/{changed[0]} is not what was written; it is made again")
    return not changed
