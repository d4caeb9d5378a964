"""The live page needs Python for the browser, and the core it runs: here both become scripts.

    python tools/live_assets.py            # -> _build/live/, which render.py copies into the book

Nothing here is committed. Everything is a <script>: a page opened from file:// may not fetch.

    *.js, live.css         the page's own programs and its style, copied from book/live/
    live-data.js           text and sha256 of ldpbo_core.py, the bridge and worker programs, the
                           stand-in data, the figures' colours and markers, the result shown
                           at first
    widgets-data.js        the users that the small pictures in the pages show
    runtime-<digest>.js    Pyodide and NumPy, compressed and base64-encoded, as pinned below
    licences/              licences of all that is shipped with it

The packages come from the npm registry, pinned by version and SHA-512. Without npm the page is told
to load the same files from a CDN instead (`mode: "cdn"`), each with the hash it must have, and says
so to the reader.
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
sys.path.insert(0, str(ROOT))
import store
from ldpbo.plots import COLORS, LABELS, MARKERS

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
CDN_PINS = {  # what the page loads from there if npm was missing: address, hash it must have
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
    r"/(tests|f2py|distutils|include|_pyinstaller|typing|testing)/"
    r"|_rational_tests|\.(pyi|pxd|pyx|h|a|pyc)$"
)
# What the core needs in the browser.
PARTS = ("__init__", "checks", "posterior", "design", "datasets", "campaigns", "experiments")
BESIDE = [f"ldpbo/{name}.py" for name in PARTS]
SITE = "lib/python3.12/site-packages/"  # in the archive of NumPy


class NoPackages(RuntimeError):
    """npm is missing or cannot reach a registry: the page will use the CDN."""


def build(out_dir: str | Path = ROOT / "_build" / "live") -> str:
    """Fill `out_dir` -> one line that says with what; raise if a checksum or hash is wrong."""
    out = Path(out_dir)
    try:
        files, where, line = local_runtime()
    except NoPackages as reason:
        where = {"mode": "cdn", "url": CDN, "pins": CDN_PINS}
        line = f"live page: loads Pyodide {PYODIDE} from a CDN, because {reason}"
        note = f"The page loads Pyodide {PYODIDE} and NumPy from {CDN}; nothing of them is shipped."
        files = {"licences/README.txt": f"{note}\n".encode()}
    files["licences/stand-in-data.txt"] = (ROOT / "data/LICENSES.txt").read_bytes()
    files |= {path.name: path.read_bytes() for path in SOURCES.glob("*.[jc]s*")}
    del files["worker.js"]  # it travels inside live-data.js
    data = payload(where)
    # "<\\/" keeps the text valid inside a <script> element, too.
    text = json.dumps(data, ensure_ascii=True).replace("</", "<\\/")
    files["live-data.js"] = f"window.LDPBO_LIVE = {text};\n".encode()
    users = json.dumps(samples() | {name: data[name] for name in ("colors", "markers", "labels")})
    files["widgets-data.js"] = f"window.LDPBO_WIDGETS = {users};\n".encode()
    for name, content in files.items():
        store.write(out / name, content)
    for name in set(store.hashes(out)) - set(files):
        if not Path(name).name.startswith("."):  # another build is writing it
            (out / name).unlink(missing_ok=True)
    check(out)
    return f"{line}; core {data['sha256'][:12]}"


def payload(runtime: dict) -> dict:
    """Collect what live-data.js carries."""
    core = read("ldpbo_core.py")
    return {
        "sha256": sha256(core),
        "core": core,
        "beside": {name: read(name) for name in BESIDE},
        "bridge": read("book/live/bridge.py"),
        "worker": read("book/live/worker.js"),
        "data": {name: read(name) for name in ("data/light.csv", "data/stocks.csv")},
        "colors": COLORS,
        "markers": MARKERS,
        "labels": LABELS,
        "pyodide": PYODIDE,
        "runtime": runtime,
        "precomputed": precomputed(),
    }


def read(name: str) -> str:
    """Read a text of this checkout, with the ends of lines that it has."""
    return (ROOT / name).read_bytes().decode()


def sha256(text: str) -> str:
    """Hash a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def embedded(out_dir: str | Path) -> dict:
    """Read what live-data.js in `out_dir` carries."""
    text = (Path(out_dir) / "live-data.js").read_text(encoding="utf-8")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def check(out_dir: str | Path) -> None:
    """Raise unless the embedded core and the modules beside it are those of the book."""
    carried = embedded(out_dir)
    want = sha256(read("ldpbo_core.py"))
    for what, got in (("stated", carried["sha256"]), ("actual", sha256(carried["core"]))):
        if got != want:
            raise RuntimeError(
                f"the live page carries another core than ldpbo_core.py: {what} sha256 {got},"
                f" expected {want}; run tools/live_assets.py again"
            )
    for name, text in carried["beside"].items():
        if text != read(name):
            raise RuntimeError(
                f"the live page carries another {name} than the core's;"
                " run tools/live_assets.py again"
            )


# ---- Packages of npm -----------------------------------------------------------------------------


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


# ---- The runtime ---------------------------------------------------------------------------------


def local_runtime() -> tuple[dict[str, bytes], dict, str]:
    """Make Pyodide and NumPy one script -> files, where the page finds it, what to print."""
    packages = {name: members(package(name).read_bytes()) for name in PINS}
    (inner,) = [d for n, d in packages["@emscripten-forge/numpy"].items() if n.endswith(".tar.gz")]
    numpy = members(inner)
    name, script = runtime(packages["pyodide"], numpy)
    files = {name: script} | licences(packages["spdx-license-list"], numpy)
    size = f"{len(script) / 1e6:.1f} MB"
    line = f"live page: Pyodide {PYODIDE} and NumPy in {name} ({size})"
    return files, {"mode": "local", "file": name}, line


def runtime(pyodide: dict[str, bytes], numpy: dict[str, bytes]) -> tuple[str, bytes]:
    """Find the script in the cache, by a digest of what goes into it -> its name and content."""
    recipe = repr(PINS) + UNUSED.pattern + inspect.getsource(make_script)
    name = f"runtime-{sha256(recipe)[:12]}"
    return f"{name}.js", cached(CACHE / name, lambda: make_script(pyodide, numpy))


def make_script(pyodide: dict[str, bytes], numpy: dict[str, bytes]) -> bytes:
    """Write one script with Pyodide and NumPy in it."""
    files = {
        name.removeprefix(SITE): data
        for name, data in sorted(numpy.items())
        if name.startswith(SITE) and not UNUSED.search("/" + name)
    }
    index = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    parts = {
        "asm": pyodide["package/pyodide.asm.js"],
        "loader": pyodide["package/pyodide.js"],
        "wasm": pyodide["package/pyodide.asm.wasm"],
        "numpy": struct.pack("<I", len(index)) + index + b"".join(files.values()),
    }
    packed = {name: gzip.compress(data, 6, mtime=0) for name, data in parts.items()}
    packed["stdlib"] = pyodide["package/python_stdlib.zip"]  # compressed already
    coded = {name: base64.b64encode(data).decode() for name, data in packed.items()}
    return f"window.LDPBO_RUNTIME = {json.dumps(coded)};\n".encode()


def licences(spdx: dict[str, bytes], numpy: dict[str, bytes]) -> dict[str, bytes]:
    """Collect the licences, and list what they belong to and where the source is (MPL-2.0)."""
    own = numpy["info/licenses/LICENSE.txt"]
    random = numpy[f"{SITE}numpy/random/LICENSE.md"]
    files = {"licences/NumPy.txt": own + b"\n\nnumpy.random:\n\n" + random}
    lines = [
        "Software inside the runtime of the live page. Nothing was changed, except that files of"
        " NumPy that are never imported are left out.",
        "",
    ]
    for name, version, licence, owner, source in SHIPPED:
        file = "NumPy.txt" if name == "NumPy" else f"{licence}.txt"
        if name != "NumPy":
            text = json.loads(spdx[f"package/licenses/{licence}.json"])["licenseText"]
            files[f"licences/{file}"] = f"{text}\n".encode()
        lines += [
            f"{name} {version}",
            f"    copyright: {owner}",
            f"    licence: {licence}, text in {file}",
            f"    source: {source}",
            "",
        ]
    lines.append("The stand-in data that the page carries: stand-in-data.txt.\n")
    return files | {"licences/README.txt": "\n".join(lines).encode()}


# ---- What is shown at first ----------------------------------------------------------------------


def precomputed() -> dict:
    """Find what the page shows before its Python is ready: the bridge's own result, cached."""
    return computed("bridge", "precomputed")


def samples() -> dict:
    """Find the users that the small pictures in the pages show, cached."""
    return computed("samples", "samples")


def computed(module: str, function: str) -> dict:
    """Call a function of a program in book/live/ here, or find what it gave for the same core."""
    names = ["ldpbo_core.py", *BESIDE, f"book/live/{module}.py"]
    digest = store.sha([read(name) for name in names])[:16]
    result = cached(CACHE / f"{function}-{digest}", lambda: run_module(module, function))
    return json.loads(result)


def run_module(module: str, function: str) -> bytes:
    """Compute what a function of a program in book/live/ gives, as JSON."""
    code = f"import json, {module}; print(json.dumps({module}.{function}()))"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(SOURCES)])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env)
    if done.returncode:
        reason = done.stderr.decode()
        raise RuntimeError(f"{module}.{function} of the live page could not be computed:\n{reason}")
    return done.stdout


if __name__ == "__main__":
    print(build(*sys.argv[1:2]))
