"""Pages use this to show figures that carry their data, tables, and numbers for the prose.

    show.figure(figure, "fig-name", data={"t": t, "mean": mean}, note="T = 20000, order constants")
    show.table(["ε", "users"], rows, caption="Users needed")
    show.glue("users-half", 8161)                # {glue:text}`users-half` in the prose

A figure is one output with links to its SVG and CSV, so that an executed notebook needs no other
file. The same table is a data output of the cell, which `results.load` reads back on another page.
"""

import ast
import base64
import html
import io
import json
import math
import platform
import re
import shlex
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from importlib.metadata import version

import matplotlib.pyplot as plt
import numpy as np
import yaml
from IPython import get_ipython
from IPython.display import HTML, clear_output, display
from tqdm import tqdm

from ldpbo import formats, lab, parameters, plots, results

BROAD = 8.0  # inches from which on a figure uses the margin of the page as well
STEPS = np.array([1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10])  # what a few trials tell apart
SVG_LINK = (
    '<a download="{name}.svg" href="#{anchor}" onclick="this.href='
    "this.closest('.ldpbo-figure').querySelector('img').src\">SVG</a>"
)

# Every notebook imports this module after its parameters: they are checked, and put into form.
vars(sys.modules["__main__"]).update(parameters.checked())


# ---- Numbers as text -----------------------------------------------------------------------------


def scientific(x: float, digits: int = 1) -> str:
    """Write a number as prose does: '1.4·10¹⁰', '10⁸' for a power itself, '0' for 0."""
    if not x:
        return "0"
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    return formats.times_power(mantissa, exponent)


def typeset(text: str) -> str:
    """Write the numbers in a text as prose does: 3·10⁻¹⁶ for 3e-16, 0.00 for -0.00."""
    text = re.sub(r"(?<![\w.])-(0(?:\.0+)?)(?![\w.])", r"\1", text)
    number = r"(?<![\w.])(\d)(?:\.(\d+))?e[+-]?\d{1,3}(?![\w.])"
    return re.sub(number, lambda m: scientific(float(m[0]), len(m[2] or "")), text)


def unbroken(text: str) -> str:
    """Keep formulas such as "T = 200" on one line, by spaces that do not break."""
    return re.sub(" ([=≈≤≥−×]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", text)


def estimate(mean: float, low: float, high: float) -> str:
    """Write a mean with its interval: '0.52 [0.48, 0.56]', or '0.52' where there is none."""
    text = f"{mean:.2f}"
    if np.isfinite(low):
        text += f" [{low:.2f}, {high:.2f}]"
    return typeset(text).replace("-", "−")


def rounded(x: float) -> float:
    """Round a number of users to the digits that a few trials support: 1, 1.5, 2, 3, ..., 9."""
    power = 10.0 ** math.floor(math.log10(x))
    return power * STEPS[np.abs(np.log(STEPS * power / x)).argmin()]


def in_words(x: float) -> str:
    """Write a number in words where it is large: '20,000', '270 million'."""
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if x >= size:
            return f"{x / size:g}{word}"
    return f"{x:,.0f}"


def count(users: float, farthest: float = 1e12) -> str:
    """Write about how many users: '20,000', '1.5 million', 'beyond 10¹²' where there is no end."""
    return in_words(rounded(users)) if np.isfinite(users) else f"beyond {scientific(farthest, 0)}"


def duration(users: float, per_day: float) -> str:
    """Write how long so many users take: 'within a day', 'about a day', '4 days', '3 years'."""
    days = users / per_day
    if days <= 1:
        return "within a day"
    if rounded(min(days, 2)) == 1:
        return "about a day"
    unit, word = 1, "days"
    if days >= 60:
        unit, word = 7, "weeks"
    if days >= 450:
        unit, word = 365.25, "years"
    return f"{rounded(days / unit):,g} {word}" if np.isfinite(days) else "never"


def at_least(x: float, digits: int = 1) -> str:
    """Write a number after "at least": rounded down, '6.0' for 6.07, so that the words hold."""
    return _decimals(x, digits, ROUND_FLOOR)


def at_most(x: float, digits: int = 1) -> str:
    """Write a number after "at most": rounded up, '1.7' for 1.64, so that the words hold."""
    return _decimals(x, digits, ROUND_CEILING)


def _decimals(x, digits, direction):
    """Round the shortest decimal that names x; digits = -3 rounds to thousands, '8,000'."""
    if not np.isfinite(x):
        return str(x)
    step = Decimal(1).scaleb(-digits)
    rounded = Decimal(repr(float(x))).quantize(step, direction) + 0  # never -0
    return f"{rounded:,f}".replace("-", "−")


def figures_down(x: float, figures: int = 3) -> str:
    """Write a positive lower bound with this many figures, rounded down: '3.6·10⁶' for 3.68e6."""
    return _figures(x, figures, ROUND_FLOOR)


def figures_up(x: float, figures: int = 3) -> str:
    """Write a positive upper bound with this many figures, rounded up: '7·10⁻⁵' for 6.3e-5."""
    return _figures(x, figures, ROUND_CEILING)


def _figures(x, figures, direction):
    """Round a positive number; it is written with a power of ten below 0.001 and from 10,000 on."""
    exact = Decimal(repr(float(x)))
    step = Decimal(1).scaleb(exact.adjusted() - figures + 1)
    rounded = float(exact.quantize(step, direction))
    if 1e-3 <= rounded < 1e4:
        return f"{Decimal(repr(rounded)).quantize(min(step, Decimal(1))):f}"
    return scientific(rounded, figures - 1)


# ---- Outputs -------------------------------------------------------------------------------------


def figure(drawing, name, data=None, note="", legend=None):
    """Show a figure once, with a line under it: note, links to its SVG and CSV.

    data: {column: values} or a DataFrame; legend: columns of one legend for all axes, under them.
    It is one output, so that the cell's caption, label and alt text apply to it; the build copies
    the alt text from the cell.
    """
    plt.close(drawing)
    if legend:
        plots.legend_below(drawing, legend)
    anchor = name.replace("_", "-")
    links, bundle = [SVG_LINK.format(name=name, anchor=anchor)], {}
    if data is not None:
        table = _data_uri("text/csv;charset=utf-8", results.csv(data).encode())
        links.append(f'<a download="{name}.csv" href="{table}">CSV</a>')
        bundle[formats.TABLE] = {"name": anchor, "columns": results.columns(data)}
    line = " · ".join([html.escape(unbroken(note)), *links] if note else links)
    kind = "ldpbo-figure full-width" if drawing.get_figwidth() > BROAD else "ldpbo-figure"
    bundle["text/html"] = (
        f'<div class="{kind}">{_image(drawing)}<p class="ldpbo-note">{line}</p></div>'
    )
    display(bundle, raw=True)


def keep(name, data):
    """Keep a table for `results.load` on another page; nothing is shown."""
    table = {"name": name, "columns": results.columns(data)}
    display({formats.TABLE: table}, raw=True)


def _image(drawing):
    """Return an <img> that holds a figure as SVG."""
    drawing.savefig(svg := io.BytesIO(), format="svg", metadata={"Date": None, "Creator": None})
    width, height = drawing.get_size_inches() * 96
    source = _data_uri("image/svg+xml", svg.getvalue())
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return f'<img class="dark-light" alt="" {size} src="{source}">'


def _data_uri(kind, body):
    return f"data:{kind};base64,{base64.b64encode(body).decode()}"


def table(head, rows, caption="", note=""):
    """Show a small table of plain text; the first cell of a row is its heading.

    note: a line under it, such as where its numbers come from.
    """
    caption = html.escape(unbroken(typeset(caption.replace("'", "’"))))
    header = "".join(_cell("th", text, ' scope="col"') for text in head)
    body = ""
    for first, *others in rows:
        cells = [_cell("th", first, ' scope="row"'), *(_cell("td", x) for x in others)]
        body += f"<tr>{''.join(cells)}</tr>"
    under = f'<p class="ldpbo-note">{html.escape(note)}</p>' if note else ""
    region = f'class="ldpbo-table" tabindex="0" role="region" aria-label="{caption or head[0]}"'
    display(
        HTML(
            f'<div {region}><table class="table"><caption>{caption}</caption>'
            f"<thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>{under}</div>"
        )
    )


def _cell(tag, text, scope=""):
    return f"<{tag}{scope}>{html.escape(typeset(str(text)))}</{tag}>"


def glue(name, value):
    """Keep a value under a name for {glue:text} in the prose.

    This is myst_nb.glue(..., display=False) without importing Sphinx, which takes a second a page.
    """
    value = value.item() if isinstance(value, np.generic) else value
    scrapbook = {"name": name, "mime_prefix": formats.RECORD}
    display({formats.GLUED: repr(value)}, raw=True, metadata={"scrapbook": scrapbook})
    lab.tell(name, value)


def glue_all(prefix, values):
    """Keep a dict of values, each under `prefix` and its key."""
    for name, value in values.items():
        glue(prefix + name, value)


def markdown(text):
    """Show prose with computed numbers.

    It reads well in a notebook run by papermill, too, where {glue:text} would stand as written.
    """
    display({"text/markdown": typeset(text), "text/plain": text}, raw=True)


def source(path):
    """Show a file of Python or JavaScript of the repository."""
    text = (results.ROOT / path).read_text("utf-8")
    language = "python" if path.endswith(".py") else "javascript"
    display({"text/markdown": f"```{language}\n{text}```"}, raw=True)


def coverage_table(uses, delta, prefix, first=None, more=None):
    """Show the table of `experiments.coverage`, and glue its numbers under `prefix`.

    first: {setting: round from which bands count}; more: (heading, {setting: cell}) of a further
    column.
    """
    heading, cells = more or (None, {})
    rows = []
    for setting in dict.fromkeys(s for s, _ in uses):
        start = (first or {}).get(setting, 0)
        row = [setting, cells[setting]] if more else [setting]
        for size in ("max|f|", "‖f‖"):
            use = uses[setting, size]
            covered = int((use.max(axis=1) <= 1).sum())
            most = use[:, start:].max()
            row += [estimate(*results.proportion(covered, len(use))), f"{most:.2f}"]
        key = {"order, β × 0.1": "tenth"}.get(setting, setting)
        glue_all(prefix, {f"-covered-{key}": row[-4], f"-use-{key}": float(most)})
        rows.append(row)
    head = ["constants", *([heading] if more else [])]
    head += ["B = max|f|: covered", "ratio", "B = ‖f‖: covered", "ratio"]
    promised = f"promised: {1 - delta:g}"
    table(head, rows, f"Share of trials covered with 95 % Clopper–Pearson interval; {promised}")


def warn_if_preliminary(name):
    """Warn on the page while a stored sweep has shorter runs than the grid that declares it."""
    grid = (results.ROOT / f"notebooks/params/sweeps/{name}.yml").read_text("utf-8")
    declared = yaml.safe_load(grid)["base"]["T"]
    stored = int(results.sweep(name)["T"].min())
    if stored < declared:
        display(
            HTML(
                '<div class="admonition warning"><p class="admonition-title">No result yet</p>'
                f"<p>The stored table <code>data/sweeps/{name}.csv</code> is a trial of the "
                f"machinery with {stored:,} rounds a run; the grid declares {declared:,}. Every "
                "number and every sentence below describes that trial. <code>make sweeps</code> "
                "computes the table.</p></div>"
            )
        )


# ---- How far a run is, and what made a page ------------------------------------------------------


def progress(description=""):
    """Return a callback for `simulate` that shows "7 of 30 runs, 12 s" while it runs.

    The line is replaced as it goes and cleared at the end.
    """
    form = "{desc}{n} of {total} runs, {elapsed_s:.0f} s"
    bar = None

    def report(done, total):
        nonlocal bar
        if bar is None:
            options = {"mininterval": 2.0, "bar_format": form, "file": sys.stdout}
            bar = tqdm(total=total, desc=description, leave=False, **options)
        bar.update(done - bar.n)
        if done == total:
            bar.close()
            clear_output()

    return report


def _parameters():
    """Return (as written in the notebook, as used): the parameters of the first code cell."""
    shell = get_ipython()
    first = ast.parse(shell.user_ns["In"][1]) if shell else ast.parse("")
    written = {}
    for statement in first.body:
        if isinstance(statement, ast.Assign):
            written |= {t.id: ast.literal_eval(statement.value) for t in statement.targets}
    return written, {name: shell.user_ns[name] for name in written}


def rerun(notebook):
    """Show the papermill command that runs this page again.

    It names the parameters that are not the notebook's own, ready to be changed.
    """
    written, used = _parameters()
    words = ["papermill", f"notebooks/{notebook}.ipynb", "out.ipynb"]
    for name, value in used.items():
        if value == written[name]:
            continue
        if isinstance(value, (list, dict)):
            words += ["-y", shlex.quote(f"{name}: {json.dumps(value)}")]
        else:
            words += ["-p", name, shlex.quote(str(value))]
    command = " ".join([*words, "--log-output"])
    display({"text/markdown": f"```bash\n{command}\n```"}, raw=True)


def provenance():
    """Show in one line what made this page: its seed, the hash of the code, and versions.

    A page that does not run again gets the hash of the new code from the build (tools/wording.py).
    """
    _, used = _parameters()
    parameters = "Parameters: first cell of this page"
    if "seed" in used:
        parameters += f" (seed {used['seed']})"
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "matplotlib"))
    python = f"Python {platform.python_version()}"
    line = f"{parameters}. Code: {results.CODE}; {python}, {packages}."
    display(HTML(f'<p class="ldpbo-note">{html.escape(line)}</p>'))
