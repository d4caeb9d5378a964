"""Pyodide and NumPy, Python for the browser, become one script; beside it lie their licences."""

from __future__ import annotations

import base64
import gzip
import hashlib
import inspect
import json
import re
import struct

import npm
from npm import PYODIDE

CDN = "https://cdn.jsdelivr.net/npm/"  # serves the files of npm packages as they are
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
SITE = "lib/python3.12/site-packages/"  # in the archive of NumPy


def local_runtime() -> tuple[dict[str, bytes], dict, str]:
    """Make Pyodide and NumPy one script -> files, where the page finds it, what to print."""
    packages = {name: npm.members(npm.package(name).read_bytes()) for name in npm.PINS}
    (inner,) = [d for n, d in packages["@emscripten-forge/numpy"].items() if n.endswith(".tar.gz")]
    numpy = npm.members(inner)
    name, script = runtime(packages["pyodide"], numpy)
    files = {name: script} | licences(packages["spdx-license-list"], numpy)
    size = f"{len(script) / 1e6:.1f} MB"
    line = f"live page: Pyodide {PYODIDE} and NumPy in {name} ({size})"
    return files, {"mode": "local", "file": name}, line


def runtime(pyodide: dict[str, bytes], numpy: dict[str, bytes]) -> tuple[str, bytes]:
    """Find the script in the cache, by a digest of what goes into it -> its name and content."""
    recipe = repr(npm.PINS) + UNUSED.pattern + inspect.getsource(make_script)
    name = f"runtime-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    return f"{name}.js", npm.cached(npm.CACHE / name, lambda: make_script(pyodide, numpy))


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
