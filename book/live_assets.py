"""Makes what the live page needs: Python for the browser, and the core it runs, as plain scripts.

    python book/live_assets.py            # -> _build/live/, which build.py copies into the book

Nothing here is committed. Everything is a <script>, because a page opened from file:// may not fetch:

    live.js, live.css      the page's own program and style, copied from book/live/
    live-data.js           text and sha256 of ldpbo_core.py, the bridge and worker programs, the stand-in data, the result shown before Python is ready
    runtime-<digest>.js    Pyodide and NumPy, compressed and base64-encoded; depends only on the pins below
    licences/              licences of all that is shipped with it

The packages come from the npm registry, pinned by version and SHA-512. Without npm the page is told to load the official
Pyodide from its CDN instead (`mode: "cdn"`), and says so to the reader.
"""
from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "book" / "live"
PYODIDE = "0.27.8"
CDN = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
PINS = {  # npm package -> (version, SHA-512 of the archive as npm writes it)
    "pyodide": (PYODIDE, "XDy8yQAloO0fSaJ6F5aQad0IqcBKvU4MgGjN3LrjOPW6J4xHT5PBiBzCnApxjuerWl33BiyuPQG1uIHHAQnkkg=="),
    "@emscripten-forge/numpy": ("2.0.1-py312h4e66579-0", "64iP3tolNhBnKJBHs2b5Mg9s17BL8Bp9Ev2+U0fSCO3/zQlWQRCrExw2MgmfwjhNz+mwbKPG2eBsBcpBWV2xbA=="),
    "spdx-license-list": ("6.12.0", "+nUYqm3aZMSHbjsthK+i/HHI2okTElCvqwUd4k8QcSk+FTGgjq+fsdFj2wZOaX6XmR2JdWhf/NeflNnvKOjcnQ=="),
}
SHIPPED = [  # what is inside the runtime: name, version, licence (SPDX), source
    ("Pyodide", PYODIDE, "MPL-2.0", f"https://github.com/pyodide/pyodide/tree/{PYODIDE}"),
    ("CPython, with its standard library", "3.12.7", "Python-2.0.1", "https://github.com/python/cpython/tree/v3.12.7"),
    ("Emscripten runtime", "3.1.58", "NCSA", "https://github.com/emscripten-core/emscripten/tree/3.1.58"),
    ("libffi", "as in Pyodide", "MIT", "https://github.com/libffi/libffi"),
    ("zlib", "as in Pyodide", "Zlib", "https://zlib.net"),
    ("bzip2", "as in Pyodide", "bzip2-1.0.6", "https://sourceware.org/bzip2"),
    ("NumPy", "2.0.1", "BSD-3-Clause", "https://github.com/numpy/numpy/tree/v2.0.1"),
]
# Parts of NumPy that an import never reads: tests, build tools, type stubs, C headers.
UNUSED = re.compile(r"/(tests|f2py|distutils|include|_pyinstaller|typing|testing)/|_rational_tests|\.(pyi|pxd|pyx|h|a|pyc)$")


class NoPackages(RuntimeError):
    """npm is missing or cannot reach a registry: the page will use the CDN."""


def build(out_dir: str | Path = ROOT / "_build" / "live") -> str:
    """Fill `out_dir`; returns one line that says what was built. Raises if a checksum or the core's hash is wrong."""
    out = Path(out_dir)
    shutil.rmtree(out, ignore_errors=True)
    (out / "licences").mkdir(parents=True)
    try:
        packages = {name: _package(name) for name in PINS}
        runtime = _runtime(packages)
        shutil.copy(runtime, out / runtime.name)
        _licences(packages, out / "licences")
        where = {"mode": "local", "file": runtime.name}
        line = f"live page: Pyodide {PYODIDE} and NumPy in {runtime.name} ({runtime.stat().st_size / 1e6:.1f} MB)"
    except NoPackages as reason:
        where = {"mode": "cdn", "url": CDN}
        line = f"live page: loads Pyodide {PYODIDE} from its CDN, because {reason}"
    shutil.copy(ROOT / "data" / "LICENSES.txt", out / "licences" / "stand-in-data.txt")
    for name in ("live.js", "live.css"):
        shutil.copy(SOURCES / name, out / name)
    core = (ROOT / "ldpbo_core.py").read_bytes()
    payload = {
        "sha256": hashlib.sha256(core).hexdigest(),
        "core": core.decode(),
        "bridge": (SOURCES / "bridge.py").read_text(encoding="utf-8"),
        "worker": (SOURCES / "worker.js").read_text(encoding="utf-8"),
        "data": {f"data/{name}": (ROOT / "data" / name).read_text(encoding="utf-8") for name in ("light.csv", "stocks.csv")},
        "pyodide": PYODIDE,
        "runtime": where,
        "precomputed": _precomputed(),
    }
    # "<\/" keeps the text valid inside a <script> element, too.
    text = "window.LDPBO_LIVE = " + json.dumps(payload, ensure_ascii=True).replace("</", "<\\/") + ";\n"
    (out / "live-data.js").write_text(text, encoding="utf-8")
    check(out)
    return f"{line}; core {payload['sha256'][:12]}"


def embedded(out_dir: str | Path) -> dict:
    """What live-data.js in `out_dir` carries."""
    text = (Path(out_dir) / "live-data.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def check(out_dir: str | Path) -> None:
    """Raise unless the embedded core is, byte for byte, ldpbo_core.py."""
    payload, core = embedded(out_dir), (ROOT / "ldpbo_core.py").read_bytes()
    want = hashlib.sha256(core).hexdigest()
    for what, got in (("stated", payload["sha256"]), ("actual", hashlib.sha256(payload["core"].encode()).hexdigest())):
        if got != want:
            raise RuntimeError(f"the live page carries another core than ldpbo_core.py: {what} sha256 {got}, expected {want}; run book/live_assets.py again")


def _package(name: str) -> Path:
    """The pinned npm archive of `name`, from the cache or from npm; its SHA-512 is checked every time."""
    version, digest = PINS[name]
    cache = ROOT / "_build" / "npm"
    path = cache / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is None:
            raise NoPackages("npm is not installed")
        done = subprocess.run([npm, "pack", f"{name}@{version}", "--pack-destination", str(cache), "--silent"], capture_output=True, text=True, cwd=cache)
        if done.returncode or not path.exists():
            raise NoPackages(f"npm could not download {name}@{version}")
    got = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    if got != digest:
        raise RuntimeError(f"{path.name}: SHA-512 is {got}, pinned is {digest}; delete the file and build again, and do not change the pin unless you know why it differs")
    return path


def _members(archive: bytes | Path) -> dict[str, bytes]:
    data = archive if isinstance(archive, bytes) else archive.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}


def _numpy(package: Path) -> dict[str, bytes]:
    (inner,) = [data for name, data in _members(package).items() if name.endswith(".tar.gz")]
    return _members(inner)


def _runtime(packages: dict[str, Path]) -> Path:
    """One script with Pyodide and NumPy in it, kept under _build/ by a digest of pins and of this file."""
    digest = hashlib.sha256(repr(PINS).encode() + Path(__file__).read_bytes()).hexdigest()[:12]
    path = ROOT / "_build" / "npm" / f"runtime-{digest}.js"
    if path.exists():
        return path
    py = {name.removeprefix("package/"): data for name, data in _members(packages["pyodide"]).items()}
    prefix = "lib/python3.12/site-packages/"
    files = {n.removeprefix(prefix): d for n, d in sorted(_numpy(packages["@emscripten-forge/numpy"]).items()) if n.startswith(prefix) and not UNUSED.search("/" + n)}
    index = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    pack = struct.pack("<I", len(index)) + index + b"".join(files.values())  # length, index, contents
    parts = {"asm": py["pyodide.asm.js"], "loader": py["pyodide.js"], "wasm": py["pyodide.asm.wasm"], "numpy": pack}
    coded = {name: base64.b64encode(gzip.compress(data, 9, mtime=0)).decode() for name, data in parts.items()}
    coded["stdlib"] = base64.b64encode(py["python_stdlib.zip"]).decode()  # a zip already
    path.with_suffix(".part").write_text("window.LDPBO_RUNTIME = " + json.dumps(coded) + ";\n", encoding="utf-8")
    path.with_suffix(".part").replace(path)
    return path


def _licences(packages: dict[str, Path], out: Path) -> None:
    texts = _members(packages["spdx-license-list"])
    lines = ["Software inside the runtime of the live page. Nothing was changed except that unused files of NumPy are left out.", ""]
    for name, version, spdx, source in SHIPPED:
        file = f"{spdx}.txt"
        if name == "NumPy":
            file = "NumPy.txt"
            numpy = _numpy(packages["@emscripten-forge/numpy"])
            (out / file).write_bytes(numpy["info/licenses/LICENSE.txt"])
        else:
            (out / file).write_text(json.loads(texts[f"package/licenses/{spdx}.json"])["licenseText"] + "\n", encoding="utf-8")
        lines.append(f"{name} {version}: {spdx}, text in {file}; source: {source}")
    lines += ["", "The stand-in data that the page carries: stand-in-data.txt."]
    (out / "README.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _precomputed() -> dict:
    """The result at the page's default settings, computed natively by the same bridge program."""
    sys.path[:0] = [str(ROOT), str(SOURCES)]
    try:
        import bridge
        return bridge.everything(bridge.DEFAULTS)
    finally:
        del sys.path[:2]


if __name__ == "__main__":
    print(build(*sys.argv[1:2]))
