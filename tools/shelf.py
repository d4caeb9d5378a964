"""What the book offers besides its pages: highlighted sources, the API page, the ledger's badges, one archive.

build.py copies what `build` writes into the renderer's sources, then applies `substitute` and `part_heads` to them.
"""

import ast
import functools
import html
import inspect
import io
import json
import math
import re
import zipfile
from pathlib import Path

import yaml
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import ldpbo_core
from ldpbo import bounds, checks, datasets, posterior, saving, secure, simulation

ROOT = Path(__file__).resolve().parent.parent
MODULES = (ldpbo_core, datasets, simulation, secure, saving, bounds, posterior, checks)
BADGES = {
    "holds": "yes",
    "holds with a fix": "fix",
    "does not hold as stated": "no",
    "unproved": "open",
    "not reproduced": "no",
    "cannot be tested": "open",
}
NEEDS = {
    "The paper": "probability and linear algebra; nothing about bandits or privacy",
    "Experiments": "the idea of the three algorithms, from *The paper*",
    "Lower bounds": "Fourier transforms, Kullback–Leibler divergence",
    "Upper bounds": "martingales, the algorithms' pages",
    "Beyond the paper": "the posterior from *The paper*; the proofs also want martingales",
    "Use it": "nothing but Python",
    "Privacy": "the curator's page",
    "Verdict": "the paper, or its five pages here",
}
WORDS_A_MINUTE = 180  # of prose with formulas
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>
<style>body {{ margin: 1rem; background: #fff; font-size: 0.85rem }} pre {{ line-height: 1.35; white-space: pre-wrap }}
.linenos {{ color: #666; padding-right: 1em; user-select: none }} :target {{ background: #fff3bf }}
{light}
@media (prefers-color-scheme: dark) {{ body {{ background: #14181e; color: #ced6dd }} .linenos {{ color: #9ca4af }}
:target {{ background: #4a3f00 }}
{dark} }}</style></head><body><main><h1>{name}</h1>{code}</main></body></html>
"""


@functools.cache
def lines(source: str) -> dict[str, int]:
    """Line of every class, function and method of a module, methods as Class.method."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node.lineno
            found |= {
                f"{node.name}.{part.name}": part.lineno
                for part in getattr(node, "body", ())
                if isinstance(node, ast.ClassDef) and isinstance(part, ast.FunctionDef)
            }
    return found


def source_page(path: Path) -> str:
    """A highlighted source; line 12 has the anchor L-12."""
    style = {
        mode: HtmlFormatter(style=name).get_style_defs(".highlight")
        for mode, name in (("light", "default"), ("dark", "monokai"))
    }
    formatter = HtmlFormatter(linenos="inline", linespans="L")
    code = highlight(path.read_text("utf-8"), PythonLexer(), formatter)
    return PAGE.format(name=path.relative_to(ROOT), code=code, **style)


def source_link(path: str, name: str, text: str, up: str = "../") -> str:
    """HTML link to the line of the highlighted source at which `name` is defined."""
    line = lines((ROOT / path).read_text("utf-8"))[name]
    target = f"{up}_static/source/{Path(path).stem}.html#L-{line}"
    return f'<a class="source" href="{target}" title="{html.escape(path)}: {html.escape(name)}">{text}</a>'


def ledger(text: str) -> str:
    """The claims page with an anchor per claim, verdicts as badges, tests as links to their source."""

    def row(line: str) -> str:
        line = re.sub(
            r"(?<![\w*`-])C-[a-zA-Z][\w-]*", r'<a href="#\g<0>">\g<0></a>', line
        )  # another claim, named as evidence
        line = re.sub(
            r"\*\*(C-[\w-]+)\*\*", r'<a class="claim" id="\1" href="#\1">\1</a>', line, count=1
        )
        verdict = line.split(" | ")[1].strip()
        line = line.replace(
            f"| {verdict} |", f'| <span class="verdict {BADGES[verdict]}">{verdict}</span> |', 1
        )
        return line

    return (
        "\n".join(row(line) if line.startswith("| **C-") else line for line in text.splitlines())
        + "\n"
    )


def link_tests(text: str) -> str:
    """`tests/test_x.py::test_y` becomes a small link to that test's source."""
    return re.sub(r"`(tests/\w+\.py)::(\w+)`", lambda m: source_link(m[1], m[2], "test"), text)


def api() -> str:
    """The API page: every public name in the order of its module, signature, docstring, link to the source."""
    parts = [
        "# API",
        "Every public name of the modules, in the order of the source: signature and docstring as they stand there.",
    ]
    for module in MODULES:
        head, _, rest = inspect.getdoc(module).partition("\n")
        parts += [f"## `{module.__name__}`", f"{head}\n\n```text\n{flowing(rest.strip())}\n```"]
        for name in lines(inspect.getsource(module)):
            if name.startswith("_") or "._" in name:
                continue
            thing = module
            for step in name.split("."):
                thing = inspect.getattr_static(thing, step)
            value = isinstance(thing, property | functools.cached_property)
            thing = getattr(
                thing, "func", getattr(thing, "fget", getattr(thing, "__func__", thing))
            )
            if not (text := inspect.getdoc(thing)) or "." in name and thing.__doc__ is None:
                continue
            link = source_link(module.__name__.replace(".", "/") + ".py", name, "source")
            parts += [
                f"###{'#' * ('.' in name)} `{name}`",
                link,
                f"```python\n{name}{'' if value else signature(thing)}\n```",
                f"```text\n{flowing(text)}\n```",
            ]
    return "\n\n".join(parts) + "\n"


def flowing(text: str, full: int = 80) -> str:
    """A docstring whose prose lines, broken only because they were full, run on: the page breaks them where its column ends."""
    kept: list[str] = []
    for line in text.splitlines():
        line = re.sub(r"(?<=\S) {3,}(?=# )", "  ", line)  # comments need no common column here
        runs_on = (
            kept
            and len(kept[-1]) >= full
            and line.strip()
            and not re.match(r"\s|>>>|\.\.\.", kept[-1])
            and not re.match(r"\s|>>>|\w+: ", line)
        )
        kept[-1:] = [f"{kept[-1]} {line}"] if runs_on else [*kept[-1:], line]
    return "\n".join(kept)


def signature(thing) -> str:
    """The signature without the quotes around annotations; a long one with a line for each argument."""
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    text = (
        re.sub(r"(: |-> )'([^']*)'", r"\1\2", text).replace("(self, ", "(").replace("(self)", "()")
    )
    if len(text) < 76:
        return text
    depth, parts = 0, [""]
    inside, _, result = text[1:].rpartition(")")
    for letter in inside:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return "(\n" + "".join(f"    {part.strip()},\n" for part in parts) + ")" + result


def archive() -> bytes:
    """Modules, notebooks, data, tests and build files as one zip; the same files give the same bytes."""
    wanted = [
        "*.py",
        "ldpbo/*.py",
        "tools/*.py",
        "*.md",
        "*.yml",
        "*.toml",
        "*.lock",
        "Makefile",
        "LICENSE",
        "CITATION.cff",
        "notebooks/**/*",
        "data/*",
        "data/sweeps/*",
        "tests/*.py",
        "book/*.*",
        "book/live/*",
        "book/_static/*.*",
        "book/images/*",
    ]
    files = sorted(
        {
            p
            for pattern in wanted
            for p in ROOT.glob(pattern)
            if p.is_file()
            and p.suffix not in (".pyc", ".zip")
            and not p.name.startswith(".")
            and ".ipynb_checkpoints" not in p.parts
        }
    )
    with zipfile.ZipFile(whole := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as target:
        for path in files:
            entry = zipfile.ZipInfo(f"ldpbo/{path.relative_to(ROOT)}", (2021, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            target.writestr(entry, path.read_bytes())
    return whole.getvalue()


def number(value, spec: str = "") -> str:
    """A number as prose wants it: 3·10⁻¹⁶ for 3e-16, 20,000 for 20000, a true minus sign, never -0.00."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return str(value)
    text = format(value, spec or ("," if isinstance(value, int) and abs(value) > 9999 else ""))
    if not float(text.replace(",", "")):
        text = "0" if "e" in text else text.lstrip("-")
    text, _, power = text.partition("e")
    if power:
        raised = "10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        text = raised if text == "1" else f"{text}·{raised}"
    text = text.replace("-", "−")
    return text


def glued(path: Path) -> dict:
    """What an executed notebook has glued: name -> value."""
    found, prefix = {}, "application/papermill.record/text/plain"
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            if prefix in output.get("data", {}):
                found[output["metadata"]["scrapbook"]["name"]] = ast.literal_eval(
                    "".join(output["data"][prefix])
                )
    return found


def substitute(source: Path) -> dict[Path, bytes]:
    """Pages with {glue:text}`name:format` and {glue:text}`page::name:format` replaced by the number itself."""
    values, made = {p.stem: glued(p) for p in source.glob("book/pages/*.ipynb")}, {}

    def put(page: str):
        def found(match):
            known, name = values.get(match["page"] or page, {}), match["name"]
            return (
                number(known[name], match["spec"] or "") if name in known else match[0]
            )  # Sphinx warns of the rest

        return found

    role = r"\{glue:(?:text|any)\}`(?:(?:pages/)?(?P<page>\w+)(?:\.ipynb)?::)?(?P<name>[^`]+?)(?::(?P<spec>[.,]?\d*[defg]))?`"
    for path in [*source.glob("book/*.md"), *source.glob("book/pages/*.ipynb")]:
        text = path.read_text("utf-8")
        if path.suffix == ".md":
            new = re.sub(role, put(path.stem), text)
        else:
            notebook = json.loads(text)
            for cell in notebook["cells"]:
                if cell["cell_type"] == "markdown":
                    cell["source"] = re.sub(role, put(path.stem), "".join(cell["source"]))
            new = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        if new != text:
            made[path] = new.encode()
    return made


def prose(path: Path) -> str:
    """The text of a page: a Markdown file, or the Markdown cells of a notebook."""
    if path.suffix == ".md":
        return path.read_text("utf-8")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def part_heads(source: Path) -> dict[Path, bytes]:
    """The first page of each part with a line under its title: pages, time to read, what the reader should know."""
    made = {}
    for part in yaml.safe_load((source / "_toc.yml").read_text("utf-8"))["parts"]:
        if part["caption"] not in NEEDS:
            continue
        names = [
            page["file"]
            for chapter in part["chapters"]
            for page in [chapter, *chapter.get("sections", ())]
        ]
        files = [
            next(p for p in (source / f"{n}.ipynb", source / f"{n}.md") if p.exists())
            for n in names
        ]
        minutes = max(5, 5 * round(sum(len(prose(f).split()) for f in files) / WORDS_A_MINUTE / 5))
        line = (
            f"*{part['caption']}: {len(files)} page{'s' * (len(files) > 1)}, about {minutes} minutes to read. "
            f"Good to know before: {NEEDS[part['caption']].replace('*', '')}.*"
        )
        if files[0].suffix == ".md":
            title, _, rest = files[0].read_text("utf-8").partition("\n")
            made[files[0]] = f"{title}\n\n{line}\n{rest}".encode()
        else:
            notebook = json.loads(files[0].read_text("utf-8"))
            title, _, rest = "".join(notebook["cells"][0]["source"]).partition("\n")
            notebook["cells"][0]["source"] = f"{title}\n\n{line}\n{rest}"
            made[files[0]] = (
                json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
            ).encode()
    return made


def build(folder: Path) -> dict[Path, Path]:
    """Write everything below `folder` -> {where it belongs in the renderer's sources: file}."""
    sources = [Path(m.__file__) for m in MODULES] + sorted((ROOT / "tests").glob("test_*.py"))
    made = {f"book/_static/source/{path.stem}.html": source_page(path).encode() for path in sources}
    made |= {
        "book/api.md": api().encode(),
        "book/_static/ldpbo.zip": archive(),
        "book/claims.md": link_tests(ledger((ROOT / "book/claims.md").read_text("utf-8"))).encode(),
        "book/notation.md": link_tests((ROOT / "book/notation.md").read_text("utf-8")).encode(),
    }
    for name, content in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return {Path(name): folder / name for name in made}
