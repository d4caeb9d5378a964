"""Makes what the live page needs: Python for the browser, and the core it runs, as plain scripts.

    python tools/live_assets.py            # -> _build/live/, which build.py copies into the book

Nothing here is committed. Everything is a <script>, because a page opened from file:// may not fetch:

    *.js, live.css         the page's own programs and its style, copied from book/live/
    live-data.js           text and sha256 of ldpbo_core.py, the bridge and worker programs, the stand-in
                           data, the figures' colours, the result shown before Python is ready
    runtime-<digest>.js    Pyodide and NumPy, compressed and base64-encoded; depends only on the pins below
    licences/              licences of all that is shipped with it

The packages come from the npm registry, pinned by version and SHA-512. Without npm the page is told to load the same files
from a CDN instead (`mode: "cdn"`), each with the hash it must have, and says so to the reader.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import inspect
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "book" / "live"
CACHE = ROOT / "_build" / "npm"
NPM_SECONDS = float(os.environ.get("LDPBO_NPM_SECONDS", 300))  # a download that takes longer hangs
PYODIDE = "0.27.8"
CDN = "https://cdn.jsdelivr.net/npm/"  # serves the files of npm packages as they are
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
CDN_PINS = {  # what the page loads from there without npm at build time: address, and the hash the browser insists on
    "asm": (
        f"pyodide@{PYODIDE}/pyodide.asm.js",
        "sha384-4viPCz2Juqq5Xu3W1eocuXlwMawC7G0yvPGi9OYT8mYmslXXRT3ErkqWSnLg0W4+",
    ),
    "loader": (
        f"pyodide@{PYODIDE}/pyodide.js",
        "sha384-2k1KZNwTxSiRBsSIfsgk9Gw54d5N3WC+Kd9Rw0GrUWtfJb6cJMylHjWpECnK77FP",
    ),
    "wasm": (
        f"pyodide@{PYODIDE}/pyodide.asm.wasm",
        "sha384-Wk9o1+H1bZUTjcsSeYX9B6NvUr897micN43hiIOlcosbdIpj2FT3HlfTUWRhXF8Z",
    ),
    "stdlib": (
        f"pyodide@{PYODIDE}/python_stdlib.zip",
        "sha384-PD4uxZDlHIqnrRgBZ0rnmpfFgEwqYuhddonbVssLCYKiljBkBjF28dmI7lSbZNFz",
    ),
    "numpy": (
        "@emscripten-forge/numpy@2.0.1-py312h4e66579-0/pkg/numpy-2.0.1-py312h4e66579_0.tar.gz",
        "sha384-xQtaVbndPtFcFeWRlsIIE2OP+XC2kdcUg0uv9VYwuGzKXMTJfSt+LdrWrP4+7BtP",
    ),
}
SHIPPED = [  # what is inside the runtime: name, version, licence (SPDX), owners, source
    (
        "Pyodide",
        PYODIDE,
        "MPL-2.0",
        "Michael Droettboom, Mozilla and the Pyodide contributors",
        f"https://github.com/pyodide/pyodide/tree/{PYODIDE}",
    ),
    (
        "CPython with its standard library",
        "3.12.7",
        "Python-2.0.1",
        "Python Software Foundation",
        "https://github.com/python/cpython/tree/v3.12.7",
    ),
    (
        "Emscripten runtime",
        "3.1.58",
        "NCSA",
        "the Emscripten authors",
        "https://github.com/emscripten-core/emscripten/tree/3.1.58",
    ),
    (
        "libffi",
        "as in Pyodide",
        "MIT",
        "Anthony Green, Red Hat, Inc. and others",
        "https://github.com/libffi/libffi",
    ),
    ("zlib", "1.2.13", "Zlib", "Jean-loup Gailly and Mark Adler", "https://zlib.net"),
    ("bzip2", "1.0.6", "bzip2-1.0.6", "Julian Seward", "https://sourceware.org/bzip2"),
    (
        "Expat",
        "2.6.3",
        "MIT",
        "Thai Open Source Software Center Ltd, Clark Cooper and the Expat maintainers",
        "https://github.com/libexpat/libexpat",
    ),
    (
        "libmpdec",
        "as in CPython",
        "BSD-2-Clause",
        "Stefan Krah",
        "https://github.com/python/cpython/tree/v3.12.7/Modules/_decimal/libmpdec",
    ),
    (
        "HACL* hashes",
        "as in CPython",
        "MIT",
        "INRIA, CMU and Microsoft Corporation",
        "https://github.com/python/cpython/tree/v3.12.7/Modules/_hacl",
    ),
    (
        "NumPy",
        "2.0.1",
        "BSD-3-Clause",
        "NumPy Developers",
        "https://github.com/numpy/numpy/tree/v2.0.1",
    ),
]
# Parts of NumPy that an import never reads: tests, build tools, type stubs, C headers.
UNUSED = re.compile(
    r"/(tests|f2py|distutils|include|_pyinstaller|typing|testing)/|_rational_tests|\.(pyi|pxd|pyx|h|a|pyc)$"
)


BESIDE = [  # what the core needs in the browser
    f"ldpbo/{name}.py" for name in ("__init__", "checks", "posterior", "datasets", "campaigns")
]


class NoPackages(RuntimeError):
    """npm is missing or cannot reach a registry: the page will use the CDN."""


def build(out_dir: str | Path = ROOT / "_build" / "live") -> str:
    """Fill `out_dir`; returns one line that says what was built. Raises if a checksum or the core's hash is wrong."""
    out, files = Path(out_dir), {}
    try:
        packages = {name: _package(name) for name in PINS}
        runtime = _runtime(packages)
        files[runtime.name] = runtime.read_bytes()
        files |= _licences(packages)
        where = {"mode": "local", "file": runtime.name}
        line = f"live page: Pyodide {PYODIDE} and NumPy in {runtime.name} ({len(files[runtime.name]) / 1e6:.1f} MB)"
    except NoPackages as reason:
        where = {"mode": "cdn", "url": CDN, "pins": CDN_PINS}
        line = f"live page: loads Pyodide {PYODIDE} from a CDN, because {reason}"
        files["licences/README.txt"] = (
            f"The page loads Pyodide {PYODIDE} and NumPy from {CDN}; nothing of them is shipped.\n".encode()
        )
    files["licences/stand-in-data.txt"] = (ROOT / "data" / "LICENSES.txt").read_bytes()
    files |= {path.name: path.read_bytes() for path in SOURCES.glob("*.[jc]s*")}
    del files["worker.js"]  # it travels inside live-data.js
    core = (ROOT / "ldpbo_core.py").read_bytes()
    payload = {
        "sha256": hashlib.sha256(core).hexdigest(),
        "core": core.decode(),
        "beside": {name: (ROOT / name).read_text(encoding="utf-8") for name in BESIDE},
        "bridge": (SOURCES / "bridge.py").read_text(encoding="utf-8"),
        "worker": (SOURCES / "worker.js").read_text(encoding="utf-8"),
        "data": {
            f"data/{name}": (ROOT / "data" / name).read_text(encoding="utf-8")
            for name in ("light.csv", "stocks.csv")
        },
        "colors": _colors(),
        "pyodide": PYODIDE,
        "runtime": where,
        "precomputed": _precomputed(),
    }
    # "<\/" keeps the text valid inside a <script> element, too.
    text = (
        "window.LDPBO_LIVE = "
        + json.dumps(payload, ensure_ascii=True).replace("</", "<\\/")
        + ";\n"
    )
    files["live-data.js"] = text.encode()
    for name, data in files.items():
        _write(out / name, data)
    for path in [
        p
        for p in out.rglob("*")
        if p.is_file() and p.name[0] != "." and p.relative_to(out).as_posix() not in files
    ]:
        path.unlink(missing_ok=True)
    check(out)
    return f"{line}; core {payload['sha256'][:12]}"


def embedded(out_dir: str | Path) -> dict:
    """What live-data.js in `out_dir` carries."""
    text = (Path(out_dir) / "live-data.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def check(out_dir: str | Path) -> None:
    """Raise unless the embedded core and the modules beside it are those of the book, byte for byte."""
    payload, core = embedded(out_dir), (ROOT / "ldpbo_core.py").read_bytes()
    want = hashlib.sha256(core).hexdigest()
    for what, got in (
        ("stated", payload["sha256"]),
        ("actual", hashlib.sha256(payload["core"].encode()).hexdigest()),
    ):
        if got != want:
            raise RuntimeError(
                f"the live page carries another core than ldpbo_core.py: {what} sha256 {got}, expected {want}; run tools/live_assets.py again"
            )
    for name, text in payload["beside"].items():
        if text != (ROOT / name).read_text(encoding="utf-8"):
            raise RuntimeError(
                f"the live page carries another {name} than the core's; run tools/live_assets.py again"
            )


def _write(path: Path, data: bytes) -> None:
    """Atomically, and only if it changes something: two builds may run at once."""
    if not (path.is_file() and path.read_bytes() == data):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        part.write_bytes(data)
        part.replace(path)


def _kept(path: Path, make: Callable[[], bytes]) -> bytes:
    """The file of the cache, made again if it is missing or is not what was written."""
    seal = path.with_name(path.name + ".sha256")
    if path.is_file() and seal.is_file():
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() == seal.read_text():
            return data
        print(f"{path.name} is not what was written; it is made again", flush=True)
    data = make()
    _write(path, data)
    _write(seal, hashlib.sha256(data).hexdigest().encode())
    return data


def _sha512(path: Path) -> str:
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def _package(name: str) -> Path:
    """The pinned npm archive of `name`, from the cache or from npm; its SHA-512 is checked every time."""
    version, digest = PINS[name]
    path = CACHE / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if path.exists() and _sha512(path) != digest:
        print(f"{path.name} is not what was downloaded; it is downloaded again", flush=True)
        path.unlink()
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is None:
            raise NoPackages("npm is not installed")
        command = [npm, "pack", f"{name}@{version}", "--pack-destination", str(CACHE), "--silent"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=CACHE, timeout=NPM_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise NoPackages(
                f"npm gave no answer within {NPM_SECONDS:g} s (LDPBO_NPM_SECONDS)"
            ) from None
        if done.returncode or not path.exists():
            raise NoPackages(f"npm could not download {name}@{version}")
    if (got := _sha512(path)) != digest:
        raise RuntimeError(
            f"{path.name}: SHA-512 is {got}, pinned is {digest}; do not change the pin unless you know why it differs"
        )
    return path


def _members(archive: bytes | Path) -> dict[str, bytes]:
    data = archive if isinstance(archive, bytes) else archive.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}


def _numpy(package: Path) -> dict[str, bytes]:
    (inner,) = [data for name, data in _members(package).items() if name.endswith(".tar.gz")]
    return _members(inner)


def _runtime(packages: dict[str, Path]) -> Path:
    """One script with Pyodide and NumPy in it, kept in the cache by a digest of what goes into it."""
    digest = hashlib.sha256(
        (repr(PINS) + UNUSED.pattern + inspect.getsource(_script)).encode()
    ).hexdigest()[:12]
    path = CACHE / f"runtime-{digest}.js"
    _kept(path, lambda: _script(packages))
    return path


def _script(packages: dict[str, Path]) -> bytes:
    py = {
        name.removeprefix("package/"): data for name, data in _members(packages["pyodide"]).items()
    }
    prefix = "lib/python3.12/site-packages/"
    files = {
        n.removeprefix(prefix): d
        for n, d in sorted(_numpy(packages["@emscripten-forge/numpy"]).items())
        if n.startswith(prefix) and not UNUSED.search("/" + n)
    }
    index = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    pack = (
        struct.pack("<I", len(index)) + index + b"".join(files.values())
    )  # length, index, contents
    parts = {
        "asm": py["pyodide.asm.js"],
        "loader": py["pyodide.js"],
        "wasm": py["pyodide.asm.wasm"],
        "numpy": pack,
    }
    coded = {
        name: base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()
        for name, data in parts.items()
    }
    coded["stdlib"] = base64.b64encode(py["python_stdlib.zip"]).decode()  # a zip already
    return ("window.LDPBO_RUNTIME = " + json.dumps(coded) + ";\n").encode()


def _licences(packages: dict[str, Path]) -> dict[str, bytes]:
    """Licence texts, and a list that says what they belong to and where the source is (MPL-2.0 asks for that)."""
    spdx, numpy = (
        _members(packages["spdx-license-list"]),
        _numpy(packages["@emscripten-forge/numpy"]),
    )
    files = {
        "licences/NumPy.txt": numpy["info/licenses/LICENSE.txt"]
        + b"\n\nnumpy.random:\n\n"
        + numpy["lib/python3.12/site-packages/numpy/random/LICENSE.md"]
    }
    lines = [
        "Software inside the runtime of the live page. Nothing was changed, except that files of NumPy that are never imported are left out.",
        "",
    ]
    for name, version, licence, owner, source in SHIPPED:
        file = "NumPy.txt" if name == "NumPy" else f"{licence}.txt"
        if name != "NumPy":
            files[f"licences/{file}"] = (
                json.loads(spdx[f"package/licenses/{licence}.json"])["licenseText"] + "\n"
            ).encode()
        lines += [
            f"{name} {version}",
            f"    copyright: {owner}",
            f"    licence: {licence}, text in {file}",
            f"    source: {source}",
            "",
        ]
    lines.append("The stand-in data that the page carries: stand-in-data.txt.")
    return files | {"licences/README.txt": ("\n".join(lines) + "\n").encode()}


def _colors() -> dict[str, str]:
    """The colours of the book's figures, one for each algorithm."""
    from ldpbo.figures import COLORS

    return COLORS


def _precomputed() -> dict:
    """What the page shows before its own Python is ready, computed natively by the same bridge program; kept until core or bridge change."""
    digest = hashlib.sha256(
        b"".join((ROOT / name).read_bytes() for name in ("ldpbo_core.py", *BESIDE))
        + (SOURCES / "bridge.py").read_bytes()
    ).hexdigest()[:16]
    return json.loads(_kept(CACHE / f"precomputed-{digest}.json", _compute))


def _compute() -> bytes:
    code = "import json, bridge; print(json.dumps(bridge.precomputed()))"
    paths = os.pathsep.join([str(ROOT), str(SOURCES)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    if done.returncode:
        raise RuntimeError(f"the live page's default result could not be computed:\n{done.stderr}")
    return done.stdout.encode()


if __name__ == "__main__":
    print(build(*sys.argv[1:2]))
