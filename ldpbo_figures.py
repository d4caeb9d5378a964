"""Drawing for the book: one style, one colour and marker per algorithm, and figures that carry their own data.

    figure, axes = fig.axes(1, 2, share=True)
    fig.regret(axes[0], result, private=True)
    fig.show(figure, "fig-name", data={"t": t, "mean": mean}, note="T = 20000, order constants")

`show` prints the figure with links to its SVG and CSV inside the notebook, so an executed notebook needs no other file;
`load` reads such a CSV back from an executed page. Private algorithms are solid, non-private ones dashed.
"""
import ast
import base64
import csv
import hashlib
import html
import io
import json
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from IPython import get_ipython
from IPython.display import HTML, display
from scipy.special import betaincinv, stdtrit
from threadpoolctl import threadpool_limits

import ldpbo_core

# Okabe & Ito's colours, the same everywhere in the book.
COLORS = {"TGP": "#0072B2", "ATA": "#D55E00", "MoMA": "#009E73", "GP-UCB": "#CC79A7", "uniform": "#666666"}
MARKERS = {"TGP": "o", "ATA": "s", "MoMA": "^", "GP-UCB": "D", "uniform": None}
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
STYLE = {
    "figure.facecolor": "white", "savefig.facecolor": "white", "figure.constrained_layout.use": True,
    "font.size": 9.5, "axes.titlesize": 10, "axes.titleweight": "bold", "axes.labelsize": 9.5, "legend.fontsize": 8.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e3e3e3", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "legend.frameon": False, "lines.linewidth": 1.6, "lines.markersize": 4.5,
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE), "axes.formatter.limits": (-3, 5), "axes.formatter.use_mathtext": True,
    "svg.hashsalt": "ldpbo", "svg.fonttype": "path", "path.simplify_threshold": 0.3,
}
plt.rcParams.update(STYLE)
CODE = hashlib.sha256(Path(ldpbo_core.__file__).read_bytes()).hexdigest()[:12]


def axes(rows=1, columns=1, *, width=7.2, height=2.9, share=False, **options):
    """A figure of `rows` x `columns` axes; `height` is that of one row, in inches. share: compared panels share both axes."""
    return plt.subplots(rows, columns, figsize=(width, height * rows), sharex=share, sharey=share, **options)


def line(name, private=True, **more):
    """Keyword arguments of `plot` for algorithm `name`."""
    style = ":" if name == "uniform" else "-" if private else "--"
    return {"color": COLORS[name], "marker": MARKERS[name], "linestyle": style, "label": label(name, private)} | more


def label(name, private=True):
    """What the paper calls the algorithm."""
    long = {"TGP": "TGP-UCB", "ATA": "ATA-GP-UCB", "MoMA": "MoMA-GP-UCB", "GP-UCB": "GP-UCB", "uniform": "uniform play"}[name]
    return "LDP-" + long if private and name in ("TGP", "ATA", "MoMA") else long


def interval(samples, axis=0, level=0.95):
    """Mean and Student-t confidence interval of the mean over `axis` -> (mean, low, high); one sample has no interval."""
    samples = np.asarray(samples, dtype=float)
    n = samples.shape[axis]
    mean = samples.mean(axis)
    half = stdtrit(n - 1, (1 + level) / 2) * samples.std(axis, ddof=1) / np.sqrt(n) if n > 1 else np.full_like(mean, np.nan)
    return mean, mean - half, mean + half


def thin(T, points=80):
    """Indices of about `points` rounds out of T, the first and the last among them, for drawing and for CSV files."""
    return np.unique(np.linspace(0, T - 1, min(points, T)).astype(int))


def regret_columns(result, points=80):
    """Curves of a `simulate` result as columns t, uniform, <name>, <name> low, <name> high (95 % interval of the mean)."""
    at = thin(result.regret.shape[2], points)
    columns = {"t": at + 1, "uniform": (at + 1) * np.mean(result.records["uniform"])}
    for name, curves in zip(result.records["names"], result.regret):
        for suffix, values in zip(("", " low", " high"), interval(curves[:, at])):
            columns[name + suffix] = values
    return columns


def regret(ax, columns, *, private, title=""):
    """Mean cumulative regret with its band and uniform play, from a `simulate` result or its `regret_columns`."""
    columns = columns if isinstance(columns, dict) else regret_columns(columns)
    t = columns["t"]
    ax.plot(t, columns["uniform"], **line("uniform"))
    for name in [n for n in COLORS if n in columns and n != "uniform"]:
        ax.plot(t, columns[name], **line(name, private, markevery=max(1, len(t) // 6)))
        ax.fill_between(t, columns[name + " low"], columns[name + " high"], color=COLORS[name], alpha=0.18, linewidth=0)
    top = 1.1 * max(np.max(columns[n]) for n in COLORS if n in columns)           # the means set the scale, not the bands
    ax.set(title=title, xlabel="round $t$", xlim=(0, t[-1]), ylim=(0, top if ax.get_autoscaley_on() else max(top, ax.get_ylim()[1])))


PANELS = {"2a": "2a synthetic, Matérn, ε = 1", "2b": "2b light, ε = 0.5", "2c": "2c stock, ε = 1", "2d": "2d synthetic, SE, non-private",
          "2e": "2e light, non-private", "2f": "2f stock, non-private", "3a": "3a synthetic, SE, ε = 1", "3b": "3b light, ε = 1", "3c": "3c stock, ε = 0.5"}


def panels(curves, which, settings):
    """The paper's figure: three panels in a row, for each row of panels one row of axes per setting; a column's pair shares its axes."""
    rows = len(which) // 3 * len(settings)
    figure, grid = axes(rows, 3, height=2.1, width=7.6)
    for i, panel in enumerate(which):
        column = [grid[i // 3 * len(settings) + j, i % 3] for j in range(len(settings))]
        for ax, s in zip(column, settings):
            suffix = f" (beta x {s:g})"
            if ax is not column[0]:
                ax.sharey(column[0])
            part = {"t": curves[panel]["t"]} | {k.removesuffix(suffix): v for k, v in curves[panel].items() if k.endswith(suffix)}
            regret(ax, part, private="non-private" not in PANELS[panel], title=PANELS[panel] if ax is column[0] else "")
            ax.annotate("order" if s == 1 else f"β × {s:g}", (0.03, 0.9), xycoords="axes fraction", fontsize=8)
            ax.set_xlabel("round $t$" if ax is column[-1] else "")
            ax.tick_params(labelsize=7.5)
            ax.title.set_fontsize(8.5)
    for ax in grid[:, 0]:
        ax.set_ylabel("regret $R_t$")
    entries = {h.get_label(): h for ax in grid.flat for h in ax.get_legend_handles_labels()[0]}
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def readme_picture(path):
    """The nine panels at order constants, from the pages of the last full build."""
    Path(path).parent.mkdir(exist_ok=True)
    curves = {p: load(f"panel_{p}", f"fig-panel-{p}-regret") for p in PANELS}
    panels(curves, list(PANELS), [1.0]).savefig(path, dpi=130, metadata={"Software": None})


def final(result):
    """Final regret over that of uniform play in the same trial, and paired differences between the algorithms.

    -> {name or "A − B": (mean, low, high)} with 95 % Student-t intervals over trials."""
    names, T = list(result.records["names"]), result.regret.shape[2]
    share = result.regret[:, :, -1] / (T * np.asarray(result.records["uniform"]))
    out = {name: interval(s) for name, s in zip(names, share)}
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return out | {f"{names[i]} − {names[j]}": interval(share[i] - share[j]) for i, j in pairs}


def forest(ax, rows, *, private=True, title=""):
    """Point and interval per algorithm, from the algorithms' part of `final`; the dotted line is uniform play."""
    names = [n for n in rows if n in COLORS]
    ax.axvline(1, color=COLORS["uniform"], linestyle=":")
    for y, name in enumerate(names):
        mean, low, high = rows[name]
        ax.plot([low, high], [y, y], color=COLORS[name], linewidth=2)
        ax.plot(mean, y, **line(name, private, linestyle="none"))
    ax.set(title=title, yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))


def step(ax, problem, learner, *, name, title="", x=None):
    """Where a learner stands: mean reward f, its mean and confidence band, and the arm it asks for next."""
    x = (np.arange(problem.n) + 1) / problem.n if x is None else x
    ax.fill_between(x, learner.mu - learner.beta * learner.sigma, learner.mu + learner.beta * learner.sigma, color=COLORS[name], alpha=0.2,
                    linewidth=0, label=r"$\mu\pm\beta\sigma$")
    ax.plot(x, learner.mu, color=COLORS[name], label=r"$\mu$")
    ax.plot(x, problem.f, color="black", linestyle="--", linewidth=1.2, label="$f$")
    ax.axvline(x[learner.ask()], color="#999999", linestyle=":", linewidth=1.3, label="next arm")
    ax.set_title(title)


@threadpool_limits.wrap(limits=1)
def coverage(problem, name, T, *, trials, seed, **options):
    """Largest |f - mu|/(beta sigma) over the arms after each round, (trials, T): a trial where it never exceeds 1 is covered.

    The draws are those of `ldpbo_core.simulate` with the same seed; problem and options as there."""
    use = np.empty((trials, T))
    for trial in range(trials):
        new, env, privacy, sketch = ldpbo_core.streams(seed, trial)
        task = problem if isinstance(problem, ldpbo_core.Problem) else problem(new)
        learner = ldpbo_core.make(name, task, T, rng=np.random.default_rng(sketch), **options)
        curator = learner.s.curator or ldpbo_core.Identity()
        users, noise = task.draw(env, T), curator.draw(privacy, T)
        for t in range(T):
            arm, before = learner.ask(), learner.mu
            learner.tell(curator.report(task.reward(arm, users[t]), noise[t]))
            if t == 0 or learner.mu is not before:                   # else inside an epoch of MoMA
                worst = (np.abs(task.f - learner.mu) / (learner.beta * learner.sigma)).max()
            use[trial, t] = worst
    return use


def proportion(hits, n, level=0.95):
    """hits/n with its Clopper-Pearson interval -> (share, low, high)."""
    tail = (1 - level) / 2
    low = betaincinv(hits, n - hits + 1, tail) if hits else 0.0
    return hits / n, float(low), float(betaincinv(hits + 1, n - hits, 1 - tail) if hits < n else 1.0)


def band_use(ax, uses, name, *, private=True, title=""):
    """How much of its band an algorithm uses, by round, from {label: `coverage`}: median over trials, and the largest as a thin line."""
    t = np.arange(1, next(iter(uses.values())).shape[1] + 1)
    shades = plt.get_cmap("Greys")(np.linspace(0.85, 0.45, len(uses)))
    for (text, use), marker, shade in zip(uses.items(), "osD^vx", [COLORS[name], *shades[:-1]]):
        ax.plot(t, np.median(use, axis=0), color=shade, marker=marker, markevery=max(1, len(t) // 6), label=text)
        ax.plot(t, use.max(axis=0), color=shade, linewidth=0.7)
    ax.axhline(1, color="black", linewidth=1, linestyle=":")
    ax.set(title=title, xlabel="round $t$", ylabel=r"largest $|f-\mu|\,/\,\beta\sigma$ over the arms", yscale="log")


def table(head, rows, caption=""):
    """A small HTML table; numbers right-aligned, cells are plain text."""
    cell = lambda tag, x, scope="": f"<{tag}{scope}>{html.escape(str(x))}</{tag}>"
    body = "".join("<tr>" + cell("th", r[0], ' scope="row"') + "".join(cell("td", x) for x in r[1:]) + "</tr>" for r in rows)
    display(HTML('<div class="ldpbo-table" tabindex="0" role="region" aria-label="' + html.escape(caption or head[0]) + '"><table class="table">'
                 f"<caption>{html.escape(caption)}</caption><thead><tr>" + "".join(cell("th", h, ' scope="col"') for h in head)
                 + f"</tr></thead><tbody>{body}</tbody></table></div>"))


def estimate(mean, low, high):
    """'0.52 [0.48, 0.56]', without the interval where there is none."""
    return f"{mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else "")


def show(figure, name, data=None, note="", alt=""):
    """Print `figure` once with a line under it: note, hash of the core, links to its SVG and (from `data`: column -> values) CSV.

    One HTML output, so that the cell's caption, label and alt text apply to it; the build copies the alt text from the cell."""
    plt.close(figure)
    figure.savefig(buffer := io.BytesIO(), format="svg", metadata={"Date": None, "Creator": None})
    size = figure.get_size_inches() * 96
    uri = lambda kind, body: f"data:{kind};base64," + base64.b64encode(body).decode()
    anchor = name.replace("_", "-")
    links = [f'<a download="{name}.svg" href="#{anchor}" onclick="this.href=this.closest(\'.ldpbo-figure\').querySelector(\'img\').src">SVG</a>']
    if data is not None:
        links.append(f'<a download="{name}.csv" href="{uri("text/csv;charset=utf-8", _csv(data))}">CSV</a>')
    parts = [html.escape(p) for p in (note, f"code {CODE}") if p] + links
    display(HTML(f'<div class="ldpbo-figure"><img class="dark-light" alt="{html.escape(alt)}" width="{size[0]:.0f}" height="{size[1]:.0f}" '
                 f'src="{uri("image/svg+xml", buffer.getvalue())}"><p class="ldpbo-note">{" · ".join(parts)}</p></div>'))


def _csv(data):
    columns = {k: np.atleast_1d(v).tolist() for k, v in data.items()}
    text = lambda x: f"{x:.7g}" if isinstance(x, float) else x
    out = csv.writer(stream := io.StringIO(), lineterminator="\n")
    out.writerow(columns)
    out.writerows([text(c[i]) if i < len(c) else "" for c in columns.values()] for i in range(max(map(len, columns.values()))))
    return stream.getvalue().encode()


def load(page, name):
    """The CSV behind figure `name` of the executed page `page` -> {column: array}; text columns stay text."""
    path = Path(os.environ.get("LDPBO_PAGES", Path(ldpbo_core.__file__).parent / "_build/src/book/pages")) / f"{page}.ipynb"
    if not path.exists():
        raise FileNotFoundError(f"{path.name} has not been executed yet: run `make book` (or `make quick`) first")
    text = "".join("".join(o.get("data", {}).get("text/html", "")) for c in json.loads(path.read_text("utf-8"))["cells"] for o in c.get("outputs", ()))
    label = re.sub("[-_]", "[-_]", name)              # panel_2a's figures are labelled fig-panel-2a-...
    found = re.search(rf'download="{label}\.csv" href="data:[^,]*,([^"]*)"', text)
    if not found:
        raise KeyError(f"{path.name} has no figure {name} with data")
    head, *rows = csv.reader(io.StringIO(base64.b64decode(found[1]).decode()))
    return {h: _numbers([r[i] for r in rows if r[i] != ""]) for i, h in enumerate(head)}


def _numbers(texts):
    try:
        return np.array(texts, dtype=float)
    except ValueError:
        return np.array(texts)


def glue(name, value):
    """Keep `value` under `name` for {glue:text} in the prose; as myst_nb.glue(..., display=False), without importing Sphinx (1 s a page)."""
    prefix, value = "application/papermill.record/", value.item() if isinstance(value, np.generic) else value
    display({prefix + "text/plain": repr(value)}, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": prefix}})


def controls(*, problem, kernel, lengthscale, eps, T, trials, seed, names, lam, constants, beta_scale, k, **fixed):
    """Widgets over a panel's parameters for a person in Jupyter: change, press Run, see the curves. Anywhere else, None.

    A notebook front end says which cell it runs; papermill and the build do not. Sizes start small, so that an answer takes seconds."""
    kernel_app = getattr(get_ipython(), "kernel", None)
    if kernel_app is None or "cellId" not in kernel_app.get_parent("shell").get("metadata", {}):
        return None
    import ipywidgets as w
    log = lambda value, low, high: w.FloatLogSlider(value=value, min=np.log10(low), max=np.log10(high), step=0.02, readout_format=".3g", continuous_update=False)
    parts = {"problem": w.Dropdown(options=["synthetic", "light", "stock"], value=problem), "kernel": w.Dropdown(options=["matern", "se"], value=kernel),
             "lengthscale": log(lengthscale, 0.02, 2), "private": w.Checkbox(value=eps is not None), "eps": log(eps or 1.0, 0.05, 50),
             "T": w.BoundedIntText(value=min(T, 2000), min=20, max=100_000), "trials": w.BoundedIntText(value=min(trials, 4), min=1, max=50),
             "seed": w.BoundedIntText(value=seed, min=0, max=2**31 - 1), "names": w.SelectMultiple(options=[n for n in COLORS if n != "uniform"], value=names, rows=4),
             "lam": log(lam, 0.01, 100), "constants": w.Dropdown(options=["order", "theorem", "repaired"], value=constants),
             "beta_scale": log(beta_scale, 0.001, 10), "k": w.BoundedIntText(value=k or 0, min=0, max=10_000)}
    for name, part in parts.items():
        part.description, part.style.description_width = {"k": "k (0: from T)"}.get(name, name), "7em"
    button, out = w.Button(description="Run", button_style="primary"), w.Output()

    @out.capture(clear_output=True, wait=True)
    def go(_):
        s = {name: part.value for name, part in parts.items()}
        level = s["eps"] if s["private"] else None
        make = lambda seed: ldpbo_core.synthetic_problem(s["kernel"], "uniform" if s["private"] else "t3", seed, lengthscale=s["lengthscale"])
        source = make if s["problem"] == "synthetic" else getattr(ldpbo_core, f"{s['problem']}_problem")()
        result = ldpbo_core.simulate(source, s["names"], s["T"], trials=s["trials"], seed=s["seed"], eps=level, lam=s["lam"], constants=s["constants"],
                                     beta_scale=s["beta_scale"], k=s["k"] or None, **fixed)
        figure, ax = axes()
        regret(ax, result, private=s["private"])
        ax.legend(loc="upper left")
        show(figure, "panel", data=regret_columns(result), note=f"{s['trials']} trials, {s['constants']} constants, seed {s['seed']}")

    button.on_click(go)
    return w.VBox([w.GridBox(list(parts.values()), layout=w.Layout(grid_template_columns="repeat(auto-fill, minmax(22em, 1fr))")), button, out])


def provenance():
    """What made this page: parameters as used, hash of the core, versions. The parameters are those of the first code cell."""
    shell = get_ipython()
    first = shell.user_ns["In"][1] if shell else ""
    names = [t.id for s in ast.parse(first).body if isinstance(s, ast.Assign) for t in s.targets]
    used = ", ".join(f"{n} = {shell.user_ns[n]!r}" for n in names) or "none"
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "matplotlib"))
    display(HTML(f'<p class="ldpbo-note">Parameters: {html.escape(used)}. Code {CODE} (sha256 of ldpbo_core.py); '
                 f"Python {platform.python_version()}, {packages}.</p>"))
