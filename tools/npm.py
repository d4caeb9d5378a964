"""Packages come from the npm registry, pinned by version and SHA-512.

A cache holds them and what is made of them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import store
from store import ROOT

CACHE = ROOT / "_build" / "npm"
NPM_SECONDS = float(os.environ.get("LDPBO_NPM_SECONDS", 300))  # a download that takes longer hangs
PYODIDE = "0.27.8"
PINS = {  # npm package -> (version, SHA-512 of the archive as npm writes it)
    "pyodide": (
        PYODIDE,
        "XDy8yQAloO0fSaJ6F5aQad0IqcBKvU4MgGjN3LrjOPW6J4xHT5PBiBzCnApxjuerWl33BiyuPQG1uIHHAQnkkg==",
    ),
    "@emscripten-forge/numpy": (
        "2.0.1-py312h4e66579-0",
        "64iP3tolNhBnKJBHs2b5Mg9s17BL8Bp9Ev2+U0fSCO3/zQlWQRCrExw2MgmfwjhNz+mwbKPG2eBsBcpBWV2xbA==",
    ),
    "spdx-license-list": (
        "6.12.0",
        "+nUYqm3aZMSHbjsthK+i/HHI2okTElCvqwUd4k8QcSk+FTGgjq+fsdFj2wZOaX6XmR2JdWhf/NeflNnvKOjcnQ==",
    ),
}


class NoPackages(RuntimeError):
    """npm is missing or cannot reach a registry: the page will use the CDN."""


def cached(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return the bytes of a sealed file of the cache; make it if it is missing or damaged."""
    data = store.unseal(path)
    if data is None:
        data = make()
        store.seal(path, data)
    return data


def sha512(path: Path) -> str:
    """Hash a file as npm does."""
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def package(name: str) -> Path:
    """Find the pinned archive of `name` in the cache, or download it; check its SHA-512."""
    version, digest = PINS[name]
    path = CACHE / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if path.exists() and sha512(path) != digest:
        print(f"{path.name} is not what was downloaded; it is downloaded again", flush=True)
        path.unlink()
    if not path.exists():
        download(name, version, path)
    got = sha512(path)
    if got != digest:
        raise RuntimeError(
            f"{path.name}: SHA-512 is {got}, pinned is {digest};"
            " do not change the pin unless you know why it differs"
        )
    return path


def download(name: str, version: str, path: Path) -> None:
    """Let npm write the archive of a package to `path`."""
    npm = shutil.which("npm")
    if npm is None:
        raise NoPackages("npm is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", f"{name}@{version}", "--pack-destination", str(CACHE), "--silent"]
    try:
        done = subprocess.run(command, capture_output=True, cwd=CACHE, timeout=NPM_SECONDS)
    except subprocess.TimeoutExpired:
        limit = f"{NPM_SECONDS:g} s (LDPBO_NPM_SECONDS)"
        raise NoPackages(f"npm gave no answer within {limit}") from None
    if done.returncode or not path.exists():
        raise NoPackages(f"npm could not download {name}@{version}")


def members(archive: bytes) -> dict[str, bytes]:
    """Unpack an archive -> {name: content}."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
