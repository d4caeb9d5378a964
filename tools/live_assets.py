"""The live page needs Python for the browser, and the core it runs: here both become scripts.

    python tools/live_assets.py            # -> _build/live/, which render.py copies into the book

Nothing here is committed. Everything is a <script>: a page opened from file:// may not fetch.

    *.js, live.css         the page's own programs and its style, copied from book/live/
    live-data.js           text and sha256 of ldpbo_core.py, the bridge and worker programs, the
                           stand-in data, the figures' colours and markers, the result shown
                           at first
    widgets-data.js        the users that the small pictures in the pages show
    runtime-<digest>.js    Pyodide and NumPy, compressed and base64-encoded (runtime.py)
    licences/              licences of all that is shipped with it

The packages come from the npm registry (npm.py). Without npm the page is told to load the same
files from a CDN instead (`mode: "cdn"`), each with the hash it must have, and tells its reader.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import npm
import runtime
import store
from npm import PYODIDE

SOURCES = ROOT / "book" / "live"
# What the core needs in the browser.
PARTS = (
    "__init__",
    "checks",
    "posterior",
    "design",
    "datasets",
    "tables",
    "campaigns",
    "experiments",
)
BESIDE = [f"ldpbo/{name}.py" for name in PARTS]


def build(out_dir: str | Path = ROOT / "_build" / "live") -> str:
    """Fill `out_dir` -> one line that says with what; raise if a checksum or hash is wrong."""
    out = Path(out_dir)
    try:
        files, where, line = runtime.local_runtime()
    except npm.NoPackages as reason:
        where = {"mode": "cdn", "url": runtime.CDN, "pins": runtime.CDN_PINS}
        line = f"live page: loads Pyodide {PYODIDE} from a CDN, because {reason}"
        note = f"The page loads Pyodide {PYODIDE} and NumPy from {runtime.CDN}; "
        files = {"licences/README.txt": f"{note}nothing of them is shipped.\n".encode()}
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
    from ldpbo.plots import COLORS, LABELS, MARKERS  # slow to import: it loads Matplotlib

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
    result = npm.cached(npm.CACHE / f"{function}-{digest}", lambda: run_module(module, function))
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
