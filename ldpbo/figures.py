"""Drawing for the book: one style, one colour and marker per algorithm, and figures that carry their own data.

    figure, axes = fig.axes(1, 2, share=True)
    fig.regret(axes[0], result, private=True)
    fig.show(figure, "fig-name", data={"t": t, "mean": mean}, note="T = 20000, order constants")

`show` prints the figure with links to its SVG and CSV inside the notebook, so an executed notebook needs no other file.
The same table is a data output of the cell (MIME type TABLE), which `load` reads back on another page. Private algorithms are solid, non-private ones dashed.
"""

import ast
import base64
import csv
import dataclasses
import html
import io
import itertools
import json
import os
import platform
import re
import shlex
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython import get_ipython
from IPython.display import HTML, clear_output, display
from matplotlib.ticker import EngFormatter
from scipy.special import betaincinv, stdtrit
from threadpoolctl import threadpool_limits

import ldpbo_core
from ldpbo import provenance

# Okabe & Ito's colours, the same everywhere in the book.
COLORS = {
    "TGP": "#0072B2",
    "ATA": "#D55E00",
    "MoMA": "#009E73",
    "GP-UCB": "#CC79A7",
    "PE": "#E69F00",
    "TS": "#56B4E9",
    "MoM": "#8A6D00",
    "MoMA-avg": "#000000",
    "uniform": "#666666",
}
MARKERS = {
    "TGP": "o",
    "ATA": "s",
    "MoMA": "^",
    "GP-UCB": "D",
    "PE": "*",
    "TS": "v",
    "MoM": "P",
    "MoMA-avg": "X",
    "uniform": None,
}
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
sns.set_theme(
    context="paper",
    style="whitegrid",
    palette=PALETTE,
    font="DejaVu Sans",
    rc={
        "figure.constrained_layout.use": True,
        "font.size": 9.5,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "axes.labelsize": 9.5,
        "legend.fontsize": 8.5,
        "xtick.labelsize": 9.5,
        "ytick.labelsize": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **dict.fromkeys(
            ["axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"],
            "black",
        ),
        "xtick.bottom": True,
        "ytick.left": True,
        "grid.color": "#e3e3e3",
        "grid.linewidth": 0.6,
        "axes.linewidth": 0.8,
        "xtick.major.width": 0.8,
        "ytick.major.width": 0.8,
        "legend.frameon": False,
        "lines.linewidth": 1.6,
        "lines.markersize": 4.5,
        "axes.formatter.limits": (-3, 5),
        "axes.formatter.use_mathtext": True,
        "svg.hashsalt": "ldpbo",
        "svg.fonttype": "path",
        "path.simplify_threshold": 0.3,
    },
)
CODE = provenance.code_hash()
TABLE = "application/vnd.ldpbo.table+json"  # {"name": figure, "columns": {column: values}}


def axes(rows=1, columns=1, *, width=7.2, height=2.9, share=False, **options):
    """A figure of `rows` x `columns` axes; `height` is that of one row, in inches. share: compared panels share both axes."""
    return plt.subplots(
        rows, columns, figsize=(width, height * rows), sharex=share, sharey=share, **options
    )


def line(name, private=True, **more):
    """Keyword arguments of `plot` for algorithm `name`."""
    style = ":" if name == "uniform" else "-" if private else "--"
    return {
        "color": COLORS[name],
        "marker": MARKERS[name],
        "linestyle": style,
        "label": label(name, private),
    } | more


def label(name, private=True):
    """What the paper calls the algorithm."""
    long = {
        "TGP": "TGP-UCB",
        "ATA": "ATA-GP-UCB",
        "MoMA": "MoMA-GP-UCB",
        "GP-UCB": "GP-UCB",
        "PE": "elimination",
        "TS": "Thompson sampling",
        "MoM": "mean of medians",
        "MoMA-avg": "MoMA, averaged",
        "uniform": "uniform play",
    }[name]
    return "LDP-" + long if private and name in ("TGP", "ATA", "MoMA") else long


def interval(samples, axis=0, level=0.95):
    """Mean and Student-t confidence interval of the mean over `axis` -> (mean, low, high); one sample has no interval."""
    samples = np.asarray(samples, dtype=float)
    n = samples.shape[axis]
    mean = samples.mean(axis)
    half = (
        stdtrit(n - 1, (1 + level) / 2) * samples.std(axis, ddof=1) / np.sqrt(n)
        if n > 1
        else np.full_like(mean, np.nan)
    )
    return mean, mean - half, mean + half


def thin(T, points=80):
    """Indices of about `points` rounds out of T, the first and the last among them, for drawing and for CSV files."""
    return np.unique(np.linspace(0, T - 1, min(points, T)).astype(int))


def curves(results, points=25):
    """Tidy table of {setting: `simulate` result}: setting, algorithm, trial, t, regret, relative; uniform play (expected) is one more algorithm."""
    parts = []
    for setting, result in results.items():
        frame = result.frame(points)
        uniform = frame[frame.algorithm == frame.algorithm.iloc[-1]]
        expected = uniform.t * np.asarray(result.records["uniform"])[uniform.trial]
        parts += [
            part.assign(setting=setting)
            for part in (
                uniform.assign(algorithm="uniform", regret=expected, relative=1.0),
                frame[frame.algorithm != "uniform"],
            )
        ]
    return pd.concat(parts)[["setting", "algorithm", "trial", "t", "regret", "relative"]]


def means(frame):
    """Mean and 95 % interval over the trials of `curves`, one row per curve and t."""
    keys = ["setting", "algorithm", "t"]
    parts = frame.groupby(keys, sort=False).regret
    return pd.DataFrame(
        [[*key, *interval(values)] for key, values in parts], columns=[*keys, "mean", "low", "high"]
    )


def _tidy(frame, keys):
    """Three rows for each mean of `frame` and the ends of its band, whose median is the mean again: how seaborn takes an interval that is known."""
    return frame.melt(keys, ["low", "mean", "high"], value_name="value")


KNOWN = {
    "estimator": "median",
    "errorbar": lambda three: (three.min(), three.max()),
}  # for `_tidy` tables


def regret(ax, frame, *, private, title=""):
    """Mean cumulative regret with its band, and uniform play: from one setting of `means`, or a `simulate` result."""
    frame = frame if isinstance(frame, pd.DataFrame) else means(curves({"": frame}))
    for name in [n for n in COLORS if n in set(frame.algorithm)]:
        part, band = (
            _tidy(frame[frame.algorithm == name], "t"),
            KNOWN | ({"errorbar": None} if name == "uniform" else {}),
        )
        sns.lineplot(
            part,
            x="t",
            y="value",
            ax=ax,
            legend=False,
            **band,
            err_kws={"alpha": 0.18, "linewidth": 0},
            markeredgecolor=COLORS[name],
            markevery=max(1, len(part) // 18),
            **line(name, private),
        )
    top = 1.1 * frame["mean"].max()  # the means set the scale, not the bands
    ax.set(
        title=title,
        xlabel="round $t$",
        ylabel="",
        xlim=(0, frame.t.max()),
        ylim=(0, top if ax.get_autoscaley_on() else max(top, ax.get_ylim()[1])),
    )
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))


PANELS = {
    "2a": "2a synthetic, Matérn, ε = 1",
    "2b": "2b light, ε = 0.5",
    "2c": "2c stock, ε = 1",
    "2d": "2d synthetic, SE, non-private",
    "2e": "2e light, non-private",
    "2f": "2f stock, non-private",
    "3a": "3a synthetic, SE, ε = 1",
    "3b": "3b light, ε = 1",
    "3c": "3c stock, ε = 0.5",
}


def panels(tables, which, settings):
    """The paper's figure, from {panel: regret table of `beside`, of one data set}: three panels in a row, for each row of panels one row of axes
    per setting; a column's pair shares its axes. Each title names the data."""
    rows = len(which) // 3 * len(settings)
    figure, grid = axes(rows, 3, height=2.1, width=7.6, squeeze=False)
    for i, panel in enumerate(which):
        column = [grid[i // 3 * len(settings) + j, i % 3] for j in range(len(settings))]
        for ax, s in zip(column, settings):
            if ax is not column[0]:
                ax.sharey(column[0])
            frame = tables[panel]
            regret(ax, frame[frame.setting == s], private="non-private" not in PANELS[panel])
            ax.annotate(
                "order" if s == 1 else f"β × {s:g}",
                (0.03, 0.9),
                xycoords="axes fraction",
                fontsize=8,
            )
            ax.set_xlabel("round $t$" if ax is column[-1] else "")
            ax.tick_params(labelsize=7.5)
        column[0].set_title(
            f"{PANELS[panel]}\n{data_label(tables[panel].data.iloc[0])}", fontsize=8.5
        )
    for ax in grid[:, 0]:
        ax.set_ylabel("regret $R_t$")
    entries = {h.get_label(): h for ax in grid.flat for h in ax.get_legend_handles_labels()[0]}
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def readme_picture(path):
    """The nine panels at order constants: six on the paper's own data, as stored, and the three synthetic ones of the last full build."""
    Path(path).parent.mkdir(exist_ok=True)
    panels({p: foremost(p, "regret") for p in PANELS}, list(PANELS), [1.0]).savefig(
        path, dpi=130, metadata={"Software": None}
    )


# ---- Results on the paper's own data: data/originals.json, written by `make originals` -----------------------------

OPTIONS = dict(
    lam=1.0, delta=0.1, acc=0.1, constants="order", k=None
)  # of the panels, beside problem, kernel and eps
SAID = {
    "2": 'of all six plots of Figure 2 that MoMA-GP-UCB "tends to empirically outperform the other two algorithms", private or not',
    "2d": "; of plot (d), that its high error bar comes from a new $f$ in each trial",
    "3": 'of all three plots of Figure 3 that LDP-MoMA-GP-UCB has "better or competitive performance"',
}


def panel_of(problem, kernel, eps, **options):
    """The paper's panel with these parameters, "" if there is none; options other than OPTIONS make a panel of one's own."""
    where = (
        "synthetic, " + {"matern": "Matérn", "se": "SE"}.get(kernel, "")
        if problem == "synthetic"
        else problem
    )
    text = f"{where}, " + ("non-private" if eps is None else f"ε = {eps:g}")
    return (
        next((p for p, title in PANELS.items() if title == f"{p} {text}"), "")
        if options == OPTIONS
        else ""
    )


def said(panel):
    """What the paper's text says of a panel, as the end of a sentence."""
    return (
        SAID[panel[0]] + SAID.get(panel, "")
        if panel
        else "nothing: these are parameters of your own"
    )


def data_label(data):
    """The data of a table of `beside` in two words or so."""
    return {"original": "original data", "stand-in": "stand-in data"}.get(
        data.split()[0], "new f in each trial"
    )


def which_data(data, both):
    """A sentence for the head of a panel's page: on which data its results were made, and in which order they stand."""
    if both:
        return (
            f"The data of this panel may not be shipped, but results on it may: each figure and table first shows the paper's own data (stored, "
            f"`data/originals.json`), then this build's run on the {data}."
        )
    return (
        "This build ran on the originals."
        if data.startswith("original")
        else f"Data of this run: {data}."
    )


@cache
def _kept():
    """data/originals.json: {"code": hash, "panels": {panel: {"parameters", "data", "regret", "final", "plays"}}}."""
    path = Path(ldpbo_core.__file__).parent / "data/originals.json"
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name}: the results on the paper's own data are missing; `make data`, then `make originals`"
        )
    return json.loads(path.read_text("utf-8"))


def originals(panel, part):
    """Part "regret", "final" or "plays" of a panel on the paper's own data, as `beside` makes it; None for the synthetic panels."""
    if "synthetic" in PANELS.get(panel, "synthetic"):
        return None
    kept = _kept()["panels"][panel]
    return pd.DataFrame({"data": kept["data"]} | kept[part])


def originals_note():
    """Where the stored results come from, for the note of a figure."""
    kept = _kept()
    p = next(iter(kept["panels"].values()))["parameters"]
    stale = "" if kept["code"] == CODE else ", NOT this code: `make originals`"
    return f"original data: data/originals.json, T = {p['T']}, {p['trials']} trials, seed {p['seed']}, code {kept['code']}{stale}"


def beside(panel, part, frame, data):
    """`frame` with its data named, under the stored table of the same panel on the paper's own data if this run is on a stand-in."""
    own = pd.concat(
        [pd.DataFrame({"data": [data] * len(frame)}), frame.reset_index(drop=True)], axis=1
    )
    first = None if data.startswith("original") else originals(panel, part)
    return own if first is None else pd.concat([first, own], ignore_index=True)


def foremost(panel, part, last=False):
    """Table `part` of a panel's executed page on the data to show first: the paper's own, stored or of this build. last: of this build."""
    frame = pd.DataFrame(load(f"panel_{panel}", f"fig-panel-{panel}-{part}"))
    return frame[frame.data == frame.data.iloc[-1 if last else 0]]


def stacked(tables, which):
    """The tables of the panels `which`, from {panel: table}, as one with the panel named."""
    return pd.concat([tables[p].assign(panel=p) for p in which])


def ranking(tables, settings):
    """Who is first, from {panel: table of `finals`, of one data set}: a row per panel and setting with each algorithm's (mean, low, high), the
    winner, those clearly behind it (the paired difference excludes 0), and whether the second is among them."""
    rows = []
    for (panel, table), s in itertools.product(tables.items(), settings):
        found = shares(table, s)
        names = sorted((n for n in found if " − " not in n), key=lambda n: found[n][0])
        pairs = {
            frozenset(row.split(" − ")): low * high > 0 for row, (_, low, high) in found.items()
        }
        behind = [n for n in names[1:] if pairs[frozenset((names[0], n))]]
        rows.append(
            {
                "panel": panel,
                "setting": s,
                "data": table.data.iloc[0],
                "private": "non-private" not in PANELS[panel],
                "winner": names[0],
                "clear": names[1] in behind,
                "behind": behind,
            }
            | {n: found[n] for n in names}
        )
    return pd.DataFrame(rows)


def ranking_tables(ranks, names, caption):
    """A table per setting of `ranking`: panel with its data, each algorithm, and who is first (a star: clearly)."""
    kind = {"original data": " (original)", "stand-in data": " (stand-in)"}
    for s, part in ranks.groupby("setting", sort=False):
        rows = [
            [
                PANELS[r["panel"]] + kind.get(data_label(r["data"]), ""),
                *(estimate(*r[n]) for n in names),
                r["winner"] + "*" * r["clear"],
            ]
            for _, r in part.iterrows()
        ]
        table(
            ["panel (data)", *names, "first"],
            rows,
            f"{caption}, order constants" + ("" if s == 1 else f", β × {s:g}"),
        )


def quarters(source, results, *, seed, lam):
    """Where the plays went: the arms in four parts by σ after equal play of all, largest first, and each part's share of the plays.

    loss: mean gap to the best arm over that of all arms; reward: mean reward likewise (NaN where f is new in each trial). "sigma alone": GP-UCB
    with β × 1e9, which looks at nothing else. results: {setting: `simulate` result}."""
    trials, T = next(iter(results.values())).regret.shape[1:]
    tasks = [
        source if isinstance(source, ldpbo_core.Problem) else source(ldpbo_core.streams(seed, i)[0])
        for i in range(trials)
    ]
    n, f = tasks[0].n, np.stack([p.f for p in tasks])
    gap = f.max(axis=1, keepdims=True) - f
    sigma = ldpbo_core.posterior(tasks[0].K, np.arange(n), np.zeros(n), lam * n / T)[1]
    parts = np.array_split(np.argsort(-sigma, kind="stable"), 4)
    over = lambda values: [
        float(np.mean(values[:, p].mean(axis=1) / values.mean(axis=1))) for p in parts
    ]
    share = lambda pulls: [float(pulls[:, p].sum() / pulls.sum()) for p in parts]
    columns = {
        "quarter": [1, 2, 3, 4],
        "arms": [len(p) for p in parts],
        "loss": over(gap),
        "reward": over(f) if source is tasks[0] else [np.nan] * 4,
    }
    alone = ldpbo_core.simulate(
        source, "GP-UCB", T, trials=1, seed=seed, eps=1.0, lam=lam, beta_scale=1e9
    )
    columns["sigma alone"] = share(alone.records["pulls"][0])
    for s, result in results.items():
        columns |= {
            f"{name} (beta x {s:g})": share(pulls)
            for name, pulls in zip(result.records["names"], result.records["pulls"])
        }
    return pd.DataFrame(
        columns
        | {
            "sigma alone, relative regret": [
                alone.regret[0, 0, -1] / (T * alone.records["uniform"][0])
            ]
            * 4
        }
    )


def plays(tables, settings):
    """Shares of the plays by quarter of the arms, from one table of `quarters` per row: what a play there loses, then each setting."""
    groups = [part for _, part in tables.groupby("data", sort=False)]
    figure, grid = axes(len(groups), 1 + len(settings), height=2.3, width=7.6, squeeze=False)
    for row, part in zip(grid, groups):
        row[0].bar(part.quarter, part.loss, 0.6, color="#999999")
        row[0].axhline(1, color=COLORS["uniform"], linestyle=":")
        row[0].set(ylabel="loss of a play / average", title=data_label(part.data.iloc[0]))
        for ax, s in zip(row[1:], settings):
            share = {
                n: part[column]
                for n in COLORS
                if (column := f"{n} (beta x {s:g})") in part and part[column].notna().any()
            }
            for i, name in enumerate(share):
                ax.bar(
                    part.quarter + 0.8 * ((i + 0.5) / len(share) - 0.5),
                    share[name],
                    0.8 / len(share),
                    color=COLORS[name],
                    label=name,
                )
            ax.plot(part.quarter, part["sigma alone"], "k_", markersize=22, label="σ alone")
            ax.plot(
                part.quarter,
                part.arms / part.arms.sum(),
                ":",
                color=COLORS["uniform"],
                label="uniform play",
            )
            ax.set(
                ylabel="share of the plays" if ax is row[1] else "",
                title="order constants" if s == 1 else f"β × {s:g}",
                ylim=(0, 1),
            )
    for ax in grid.flat:
        ax.set(
            xlabel="quarter of the arms by σ" if ax in grid[-1] else "",
            xticks=[1, 2, 3, 4],
            xticklabels=["largest", "2nd", "3rd", "least"],
        )
    handles = dict(zip(*reversed(grid[0, -1].get_legend_handles_labels())))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=5, fontsize=8)
    return figure


def final(result):
    """Final regret over that of uniform play in the same trial, and paired differences between the algorithms.

    -> {name or "A − B": (mean, low, high)} with 95 % Student-t intervals over trials."""
    names, T = list(result.records["names"]), result.regret.shape[2]
    share = result.regret[:, :, -1] / (T * np.asarray(result.records["uniform"]))
    out = {name: interval(s) for name, s in zip(names, share)}
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return out | {f"{names[i]} − {names[j]}": interval(share[i] - share[j]) for i, j in pairs}


def finals(results):
    """`final` of {setting: `simulate` result} as a table: row, and mean, low, high at each setting."""
    rows = {s: final(r) for s, r in results.items()}
    columns = {
        f"{part} (beta x {s:g})": [v[i] for v in f.values()]
        for s, f in rows.items()
        for i, part in enumerate(("mean", "low", "high"))
    }
    return pd.DataFrame({"row": list(next(iter(rows.values())))} | columns)


def shares(table, setting):
    """One setting of a table of `finals`, as `final` gives it: {row: (mean, low, high)}."""
    columns = [table[f"{part} (beta x {setting:g})"] for part in ("mean", "low", "high")]
    return dict(zip(table["row"], zip(*columns)))


def forest(ax, groups, title=""):
    """Final regret over that of uniform play (dotted), mean and band per algorithm, from {group: `shares`}."""
    rows = pd.DataFrame(
        [[group, name, *band] for group, found in groups.items() for name, band in found.items()],
        columns=["group", "algorithm", "mean", "low", "high"],
    )
    names = [n for n in COLORS if n in set(rows.algorithm)]
    ax.axvline(1, color=COLORS["uniform"], linestyle=":")
    sns.pointplot(
        _tidy(rows, ["group", "algorithm"]),
        x="value",
        y="group",
        hue="algorithm",
        hue_order=names,
        palette=COLORS,
        markers=[MARKERS[n] for n in names],
        dodge=0.22 * (len(names) - 1),
        linestyle="none",
        markersize=4.5,
        err_kws={"linewidth": 1.6},
        ax=ax,
        **KNOWN,
    )
    ax.get_legend().remove()
    ax.set(title=title, xlabel="final regret / regret of uniform play", ylabel="")
    ax.grid(axis="y", visible=False)


def step(ax, problem, learner, *, name, title="", x=None):
    """Where a learner stands: mean reward f, its mean and confidence band, and the arm it asks for next."""
    x = (np.arange(problem.n) + 1) / problem.n if x is None else x
    ax.fill_between(
        x,
        learner.mu - learner.beta * learner.sigma,
        learner.mu + learner.beta * learner.sigma,
        color=COLORS[name],
        alpha=0.2,
        linewidth=0,
        label=r"$\mu\pm\beta\sigma$",
    )
    ax.plot(x, learner.mu, color=COLORS[name], label=r"$\mu$")
    ax.plot(x, problem.f, color="black", linestyle="--", linewidth=1.2, label="$f$")
    ax.axvline(x[learner.ask()], color="#999999", linestyle=":", linewidth=1.3, label="next arm")
    ax.set_title(title)


def rounds(problem, name, T, *, seed, trial=0, **options):
    """A trial of `simulate`, round by round: yields (learner, arm, report) after each of its T rounds."""
    _, env, privacy, sketch = ldpbo_core.streams(seed, trial)
    learner = ldpbo_core.make(name, problem, T, rng=np.random.default_rng(sketch), **options)
    curator = learner.s.curator or ldpbo_core.Identity()
    for user, noise in zip(problem.draw(env, T).tolist(), curator.draw(privacy, T).tolist()):
        arm = learner.ask()
        learner.tell(report := curator.report(problem.reward(arm, user), noise))
        yield learner, arm, report


def coverage(problem, name, T, **options):
    """Largest |f - mu|/(beta sigma) over the arms after each round, (trials, T): a trial where it never exceeds 1 is covered. Arguments: those of `ldpbo_core.simulate`."""
    records = ldpbo_core.simulate(problem, name, T, bands=True, **options).records
    return records["needed"][0] / records["beta"][0]


@threadpool_limits.wrap(limits=1)
def batch_coverage(problem, T, *, trials, seed, **options):
    """`coverage` for elimination on sums of reports: the largest |f - mu|/(beta sigma) over arms and batches, (trials,). problem: seed -> Problem."""
    use = np.empty(trials)
    for trial in range(trials):
        new, env, privacy, _ = ldpbo_core.streams(seed, trial)
        task = problem(new)
        learner = ldpbo_core.make("PE", task, T, rng=trial, **options)
        use[trial] = max(
            (np.abs(task.f - learner.mu) / (learner.beta * learner.sigma)).max()
            for _ in ldpbo_core.play_batches(learner, env, privacy)
        )
    return use


def proportion(hits, n, level=0.95):
    """hits/n with its Clopper-Pearson interval -> (share, low, high)."""
    tail = (1 - level) / 2
    low = betaincinv(hits, n - hits + 1, tail) if hits else 0.0
    return (
        hits / n,
        float(low),
        float(betaincinv(hits + 1, n - hits, 1 - tail) if hits < n else 1.0),
    )


def band_use(ax, uses, name, *, private=True, title=""):
    """How much of its band an algorithm uses, by round, from {label: `coverage`}: median over trials, and the largest as a thin line."""
    t = np.arange(1, next(iter(uses.values())).shape[1] + 1)
    shades = plt.get_cmap("Greys")(np.linspace(0.85, 0.45, len(uses)))
    for (text, use), marker, shade in zip(uses.items(), "osD^vx", [COLORS[name], *shades[:-1]]):
        ax.plot(
            t,
            np.median(use, axis=0),
            color=shade,
            marker=marker,
            markevery=max(1, len(t) // 6),
            label=text,
        )
        ax.plot(t, use.max(axis=0), color=shade, linewidth=0.7)
    ax.axhline(1, color="black", linewidth=1, linestyle=":")
    ax.set(
        title=title,
        xlabel="round $t$",
        ylabel=r"largest $|f-\mu|\,/\,\beta\sigma$ over the arms",
        yscale="log",
    )


def sweep(name):
    """Table data/sweeps/NAME.csv (see sweep.py) as a DataFrame with `share` = regret over that of uniform play and `learner` = name and curator."""
    import pandas as pd

    path = Path(ldpbo_core.__file__).parent / f"data/sweeps/{name}.csv"
    frame = pd.read_csv(path, dtype={"panel": str, "code": str, "name": str})
    frame["share"] = frame["regret"] / frame["uniform"]
    frame["learner"] = frame["name"] + frame["curator"].map(
        {"laplace": ", Laplace", "one bit": ", one bit"}
    ).fillna("")
    return frame


def preliminary(name):
    """A warning on the page as long as the stored table has shorter runs than the grid that declares it."""
    import yaml

    declared = yaml.safe_load(
        (Path(ldpbo_core.__file__).parent / f"notebooks/params/sweeps/{name}.yml").read_text(
            "utf-8"
        )
    )["base"]["T"]
    stored = int(sweep(name)["T"].min())
    if stored < declared:
        display(
            HTML(
                f'<div class="admonition warning"><p class="admonition-title">No result yet</p><p>The stored table <code>data/sweeps/{name}.csv</code> '
                f"is a trial of the machinery with {stored:,} rounds a run; the grid declares {declared:,}. Every number and every sentence below describes "
                "that trial. <code>make sweeps</code> computes the table.</p></div>"
            )
        )


def sweep_note(frame):
    """What made these rows, for `show`'s note."""
    some = lambda column: ", ".join(str(x) for x in sorted(frame[column].unique()))
    constants = (
        some("constants")
        if "constants" in frame and frame["constants"].notna().all()
        else "order constants"
    )
    return f"T = {some('T')}, seeds {some('seed')}, {constants}; data: {some('data')}; table computed by code {some('code')}"


def heat(
    ax,
    frame,
    rows,
    columns,
    *,
    value="share",
    center=None,
    top=1.25,
    best=True,
    numbers=True,
    title="",
    bar=False,
    order=None,
    names=None,
    turn=0,
):
    """Mean of `value` over the seeds as a heat map; columns: numbers first, then names. best: a frame on the smallest of each row, among the numbers
    if there are any. names: {column: what stands under it}; turn: angle of those names."""
    wide = frame.pivot_table(index=rows, columns=columns, values=value, sort=False)
    wide = wide.reindex(
        index=order or wide.index,
        columns=sorted(wide.columns, key=lambda x: (isinstance(x, str), x)),
    )
    low, colours = (-top, "vlag") if center is not None else (0.0, "viridis")
    with mock.patch(
        "seaborn.matrix._draw_figure"
    ):  # seaborn draws the whole figure at each call, to see whether labels overlap
        sns.heatmap(
            wide,
            ax=ax,
            vmin=low,
            vmax=top,
            center=center,
            cmap=colours,
            cbar=bar,
            linewidths=0.4,
            annot=numbers,
            fmt=".2f",
            annot_kws={"size": 7},
        )
    ax.grid(False)  # would show where a cell is empty
    for number in ax.texts:
        number.set(
            text=written(number.get_text()).replace("-", "−"), in_layout=False
        )  # hundreds of them would slow the layout down
    numeric = sum(not isinstance(x, str) for x in wide.columns)
    for y, row in enumerate(wide.to_numpy()[:, : numeric or None]):
        if best and np.isfinite(row).any():
            ax.add_patch(
                plt.Rectangle(
                    (np.nanargmin(row) + 0.06, y + 0.06),
                    0.88,
                    0.88,
                    fill=False,
                    edgecolor=COLORS["ATA"],
                    linewidth=1.6,
                )
            )
    if 0 < numeric < wide.shape[1]:
        ax.axvline(numeric, color="white", linewidth=4)
    text = lambda labels: [
        (names or {}).get(x) or (f"{x:g}" if isinstance(x, float) else x) for x in labels
    ]
    ax.set_xticks(np.arange(wide.shape[1]) + 0.5, text(wide.columns), rotation=turn, fontsize=7.5)
    ax.set_yticks(np.arange(len(wide)) + 0.5, text(wide.index), rotation=0, fontsize=7.5)
    ax.set(title=title, xlabel="", ylabel="")
    ax.title.set_fontsize(9)
    return wide


def paired(frame, first, second, column="learner", key=("panel", "T", "seed")):
    """Share of `first` minus that of `second` on the same users -> (mean, low, high, p) of a Student t test, a row per panel and T."""
    from scipy.stats import ttest_1samp

    wide = frame.pivot_table(index=list(key), columns=column, values="share")
    rows = {}
    for where, part in (
        (wide[first] - wide[second]).dropna().groupby(level=list(range(len(key) - 1)))
        if {first, second} <= set(wide)
        else ()
    ):
        rows[where] = (
            *interval(part.to_numpy()),
            float(ttest_1samp(part, 0.0).pvalue) if part.std() > 0 else 1.0,
        )
    return rows


def best_of(frame):
    """From the rows of one panel, horizon and setting: the learner with the least mean share, that mean, and p of its paired difference to the second."""
    first, second = frame.groupby("learner")["share"].mean().nsmallest(2).items()
    return *first, next(iter(paired(frame, first[0], second[0]).values()))[-1]


def paired_picture(rows, clear, settings=("tuned", "order"), cut=1.2):
    """MoMA against each rival, from rows (setting, panel, curator, rival, mean, low, high, p) and whether each is clear (filled). One bit is dotted."""
    figure, grid = axes(1, len(settings), width=7.6, height=6.2, share=True)
    rivals, panels = list(dict.fromkeys(row[3] for row in rows)), list(PANELS)
    for ax, setting in zip(grid, settings):
        ax.axvline(0, color="black", linewidth=0.8)
        for y, panel in enumerate(panels):
            here = [(row, c) for row, c in zip(rows, clear) if row[:2] == (setting, panel)]
            for i, ((_, _, curator, rival, mean, low, high, _), c) in enumerate(here):
                at, colour = y + 0.8 * ((i + 0.5) / len(here) - 0.5), COLORS[rival]
                ax.plot(
                    [low, high],
                    [at, at],
                    color=colour,
                    linewidth=1.2,
                    linestyle=":" if curator == "one bit" else "-",
                )
                ax.plot(
                    mean,
                    at,
                    marker=MARKERS[rival],
                    color=colour,
                    mfc=colour if c else "white",
                    linestyle="none",
                )
            ax.axhline(y + 0.5, color="#e3e3e3", linewidth=0.6)
        ax.set(
            title=setting,
            xlabel="MoMA's regret minus the rival's",
            ylim=(len(panels) - 0.5, -0.5),
            xlim=(-cut, cut),
        )
        ax.grid(axis="y", visible=False)
    grid[0].set_yticks(range(len(panels)), [PANELS[p] for p in panels], fontsize=8)
    for rival in rivals:
        grid[1].plot(
            [], [], marker=MARKERS[rival], color=COLORS[rival], label=label(rival, private=False)
        )
    for text, style in (("Laplace, or not private", "-"), ("one bit", ":")):
        grid[1].plot([], [], color="black", linewidth=1.2, linestyle=style, label=text)
    figure.legend(
        *grid[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    return figure


def holm(p):
    """Holm's adjusted p-values: all comparisons with one below alpha hold together, with probability 1 - alpha."""
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    adjusted = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)[np.argsort(order)]


def table(head, rows, caption=""):
    """A small HTML table; numbers right-aligned, cells are plain text."""
    cell = lambda tag, x, scope="": f"<{tag}{scope}>{html.escape(written(str(x)))}</{tag}>"
    caption = written(caption)
    body = "".join(
        "<tr>" + cell("th", r[0], ' scope="row"') + "".join(cell("td", x) for x in r[1:]) + "</tr>"
        for r in rows
    )
    display(
        HTML(
            '<div class="ldpbo-table" tabindex="0" role="region" aria-label="'
            + html.escape(caption or head[0])
            + '"><table class="table">'
            f"<caption>{html.escape(caption)}</caption><thead><tr>"
            + "".join(cell("th", h, ' scope="col"') for h in head)
            + f"</tr></thead><tbody>{body}</tbody></table></div>"
        )
    )


def estimate(mean, low, high):
    """'0.52 [0.48, 0.56]', without the interval where there is none."""
    return written(
        f"{mean:.2f}" + (f" [{low:.2f}, {high:.2f}]" if np.isfinite(low) else "")
    ).replace("-", "−")


def written(text: str) -> str:
    """A text with its numbers as prose has them: 3·10⁻¹⁶ for 3e-16, 0.00 for -0.00."""
    text = re.sub(r"(?<![\w.])-(0(?:\.0+)?)(?![\w.])", r"\1", text)
    return re.sub(
        r"(?<![\w.])(\d)(?:\.(\d+))?e[+-]?\d{1,3}(?![\w.])",
        lambda m: power(float(m[0]), len(m[2] or "")),
        text,
    )


def power(x: float, digits: int = 1) -> str:
    """A number for prose, '1.4·10¹⁰'; '10⁸' for a power itself, '0' for 0."""
    mantissa, exponent = f"{x:.{digits}e}".split("e")
    ten = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return "0" if not x else ten if mantissa == "1" else f"{mantissa}·{ten}"


def say(text):
    """Prose with computed numbers that is readable in a notebook run by papermill too, where {glue:text} would stand as it is written."""
    display({"text/markdown": written(text), "text/plain": text}, raw=True)


def show(figure, name, data=None, note="", alt="", legend=None):
    """Print `figure` once with a line under it: note, hash of the core, links to its SVG and (from `data`: column -> values) CSV.

    One output, so that the cell's caption, label and alt text apply to it; the build copies the alt text from the cell.
    legend: number of columns of one legend for all axes, under them."""
    plt.close(figure)
    if legend:
        entries = {
            text: handle
            for ax in figure.axes
            for handle, text in zip(*ax.get_legend_handles_labels())
        }
        figure.legend(
            entries.values(), entries, loc="outside lower center", ncols=legend, fontsize=8
        )
    figure.savefig(buffer := io.BytesIO(), format="svg", metadata={"Date": None, "Creator": None})
    size = figure.get_size_inches() * 96
    uri = lambda kind, body: f"data:{kind};base64," + base64.b64encode(body).decode()
    anchor = name.replace("_", "-")
    links = [
        f'<a download="{name}.svg" href="#{anchor}" onclick="this.href=this.closest(\'.ldpbo-figure\').querySelector(\'img\').src">SVG</a>'
    ]
    bundle = {}
    if data is not None:
        links.append(
            f'<a download="{name}.csv" href="{uri("text/csv;charset=utf-8", _csv(data))}">CSV</a>'
        )
        bundle[TABLE] = {"name": anchor, "columns": _columns(data)}
    parts = [html.escape(p) for p in (note, f"code {CODE}") if p] + links
    bundle["text/html"] = (
        f'<div class="ldpbo-figure"><img class="dark-light" alt="{html.escape(alt)}" width="{size[0]:.0f}" height="{size[1]:.0f}" '
        f'src="{uri("image/svg+xml", buffer.getvalue())}"><p class="ldpbo-note">{" · ".join(parts)}</p></div>'
    )
    display(bundle, raw=True)


def _columns(data):
    """{column: list} of the columns of a dict or DataFrame, of numbers and texts that JSON knows; floats with seven digits, NaN as None."""
    tidy = lambda x: (
        x if not isinstance(x, float) else float(f"{x:.7g}") if np.isfinite(x) else None
    )
    return {
        str(name): [tidy(x) for x in np.atleast_1d(values).tolist()]
        for name, values in data.items()
    }


def _csv(data):
    out = csv.writer(stream := io.StringIO(), lineterminator="\n")
    columns = _columns(data)
    out.writerows([columns, *itertools.zip_longest(*columns.values(), fillvalue="")])
    return stream.getvalue().encode()


def load(page, name):
    """The data of figure `name` of the executed page `page` -> {column: array}; text columns stay text."""
    path = (
        Path(
            os.environ.get(
                "LDPBO_PAGES", Path(ldpbo_core.__file__).parent / "_build/src/book/pages"
            )
        )
        / f"{page}.ipynb"
    )
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name} has not been executed yet: run `make book` (or `make quick`) first"
        )
    cells = json.loads(path.read_text("utf-8"))[
        "cells"
    ]  # nbformat would take 2 s of each page to import
    for table in (
        o["data"][TABLE]
        for cell in cells
        for o in cell.get("outputs", ())
        if TABLE in o.get("data", {})
    ):
        if table["name"] == name.replace("_", "-"):
            return {
                k: np.array(v, dtype=None if v and isinstance(v[0], str) else float)
                for k, v in table["columns"].items()
            }
    raise KeyError(f"{path.name} has no figure {name} with data")


def glue(name, value):
    """Keep `value` under `name` for {glue:text} in the prose; as myst_nb.glue(..., display=False), without importing Sphinx (1 s a page)."""
    prefix, value = (
        "application/papermill.record/",
        value.item() if isinstance(value, np.generic) else value,
    )
    display(
        {prefix + "text/plain": repr(value)},
        raw=True,
        metadata={"scrapbook": {"name": name, "mime_prefix": prefix}},
    )


def glue_all(prefix, values):
    """`glue` for a dict of values, each under `prefix` and its key."""
    for name, value in values.items():
        glue(prefix + name, value)


def progress(what="", every=2.0):
    """For `simulate`: a line such as "7 of 30 runs, 12 s", replaced as it goes and gone at the end."""
    start, last = time.time(), 0.0

    def report(done, total):
        nonlocal last
        if done == total:
            clear_output()
        elif time.time() - last >= every:
            last = time.time()
            clear_output(wait=True)
            print(f"{what}{done} of {total} runs, {last - start:.0f} s", flush=True)

    return report


def panel_problem(problem, kernel, lengthscale, eps):
    """The problem of a panel as `simulate` takes it: a new function in each trial if synthetic, else the data set."""
    if problem == "synthetic":
        noise = "t3" if eps is None else "uniform"
        return lambda seed: ldpbo_core.synthetic_problem(
            kernel, noise, seed, lengthscale=lengthscale
        )
    known = {"light": ldpbo_core.light_problem, "stock": ldpbo_core.stock_problem}
    if problem not in known:
        raise ValueError(f"problem = {problem!r}: must be synthetic, light or stock")
    return known[problem]()


def chosen(names):
    """Algorithms as a list, also from the text "TGP" or "TGP, ATA" that papermill's -p gives."""
    names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
    if unknown := [n for n in names if n not in COLORS or n == "uniform"]:
        raise ValueError(
            f"names = {', '.join(map(str, unknown))}: must be among {', '.join(n for n in COLORS if n != 'uniform')}"
        )
    return names


def verdict(rows):
    """Who has the smallest mean in `final`'s rows, and whether the paired difference to the second excludes 0."""
    first, *others = sorted((n for n in rows if " − " not in n), key=lambda n: rows[n][0])
    text = f"{first} has the smallest mean ({rows[first][0]:.2f})"
    if not others:
        return f"{first} has mean {rows[first][0]:.2f}"
    _, low, high = next(v for row, v in rows.items() if set(row.split(" − ")) == {first, others[0]})
    return text + (
        ", clearly" if low * high > 0 else ", not separated from the second by these trials"
    )


def verdicts(table, settings):
    """`verdict` of every data set and setting of a table of `finals`, as prose."""
    parts = []
    for data, rows in table.groupby("data", sort=False):
        found = [
            f"at {'order constants' if s == 1 else f'β × {s:g}'} {verdict(shares(rows, s))}"
            for s in settings
        ]
        parts.append(f"**{data_label(data)}** ({data}): " + "; ".join(found))
    return ". ".join(parts)


def rerun(notebook):
    """Show the papermill command that runs this page again: the parameters that are not the notebook's own, ready to be changed."""
    shell = get_ipython()
    written = {
        t.id: ast.literal_eval(s.value)
        for s in ast.parse(shell.user_ns["In"][1]).body
        if isinstance(s, ast.Assign)
        for t in s.targets
    }
    changed = {
        name: shell.user_ns[name] for name, value in written.items() if shell.user_ns[name] != value
    }
    words = [
        f"-y {shlex.quote(f'{n}: {json.dumps(v)}')}"
        if isinstance(v, (list, dict))
        else f"-p {n} {shlex.quote(str(v))}"
        for n, v in changed.items()
    ]
    command = " ".join(
        ["papermill", f"notebooks/{notebook}.ipynb", "out.ipynb", *words, "--log-output"]
    )
    display({"text/markdown": f"```bash\n{command}\n```"}, raw=True)


def source(path):
    """Show a Python file of the repository."""
    text = (Path(ldpbo_core.__file__).parent / path).read_text("utf-8")
    display({"text/markdown": f"```python\n{text}```"}, raw=True)


def controls(
    *,
    problem,
    kernel,
    lengthscale,
    eps,
    T,
    trials,
    seed,
    names,
    lam,
    constants,
    beta_scale,
    k,
    **fixed,
):
    """Widgets over a panel's parameters for a person in Jupyter: change, press Run, see the curves. Anywhere else, None.

    A notebook front end says which cell it runs; papermill and the build do not. Sizes start small, so that an answer takes seconds."""
    kernel_app = getattr(get_ipython(), "kernel", None)
    if kernel_app is None or "cellId" not in kernel_app.get_parent("shell").get("metadata", {}):
        return None
    import ipywidgets as w

    log = lambda value, low, high: w.FloatLogSlider(
        value=value,
        min=np.log10(low),
        max=np.log10(high),
        step=0.02,
        readout_format=".3g",
        continuous_update=False,
    )
    parts = {
        "problem": w.Dropdown(options=["synthetic", "light", "stock"], value=problem),
        "kernel": w.Dropdown(options=["matern", "se"], value=kernel),
        "lengthscale": log(lengthscale, 0.02, 2),
        "private": w.Checkbox(value=eps is not None),
        "eps": log(eps or 1.0, 0.05, 50),
        "T": w.BoundedIntText(value=min(T, 2000), min=20, max=100_000),
        "trials": w.BoundedIntText(value=min(trials, 4), min=1, max=50),
        "seed": w.BoundedIntText(value=seed, min=0, max=2**31 - 1),
        "names": w.SelectMultiple(
            options=[n for n in COLORS if n != "uniform"], value=names, rows=4
        ),
        "lam": log(lam, 0.01, 100),
        "constants": w.Dropdown(options=["order", "theorem", "repaired"], value=constants),
        "beta_scale": log(beta_scale, 0.001, 10),
        "k": w.BoundedIntText(value=k or 0, min=0, max=10_000),
    }
    for name, part in parts.items():
        part.description, part.style.description_width = (
            {"k": "k (0: from T)"}.get(name, name),
            "7em",
        )
    button, out = w.Button(description="Run", button_style="primary"), w.Output()

    @out.capture(clear_output=True, wait=True)
    def go(_):
        s = {name: part.value for name, part in parts.items()}
        level = s["eps"] if s["private"] else None
        source = panel_problem(s["problem"], s["kernel"], s["lengthscale"], level)
        result = ldpbo_core.simulate(
            source,
            s["names"],
            s["T"],
            trials=s["trials"],
            seed=s["seed"],
            eps=level,
            lam=s["lam"],
            constants=s["constants"],
            beta_scale=s["beta_scale"],
            k=s["k"] or None,
            **fixed,
        )
        figure, ax = axes()
        regret(ax, result, private=s["private"])
        ax.legend(loc="upper left")
        show(
            figure,
            "panel",
            data=curves({"": result}),
            note=f"{s['trials']} trials, {s['constants']} constants, seed {s['seed']}",
        )

    button.on_click(go)
    return w.VBox(
        [
            w.GridBox(
                list(parts.values()),
                layout=w.Layout(grid_template_columns="repeat(auto-fill, minmax(22em, 1fr))"),
            ),
            button,
            out,
        ]
    )


def provenance():
    """What made this page: parameters as used, hash of the core, versions. The parameters are those of the first code cell."""
    shell = get_ipython()
    first = shell.user_ns["In"][1] if shell else ""
    names = [t.id for s in ast.parse(first).body if isinstance(s, ast.Assign) for t in s.targets]
    used = ", ".join(f"{n} = {shell.user_ns[n]!r}" for n in names) or "none"
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "matplotlib"))
    display(
        HTML(
            f'<p class="ldpbo-note">Parameters: {html.escape(used)}. Code {CODE} (sha256 of ldpbo_core, _linear, _simulate, _bounds); '
            f"Python {platform.python_version()}, {packages}.</p>"
        )
    )


# ---- Beyond the paper: elimination and the number of users ---------------------------------------------------


def rkhs_norm(problem):
    """RKHS norm of f on the arms, from the eigenvalues that are not rounding."""
    values, vectors = np.linalg.eigh(problem.K)
    kept = values > 1e-12 * values[-1]
    return float(np.linalg.norm((vectors[:, kept].T @ problem.f) / np.sqrt(values[kept])))


def normed(kernel, noise="uniform"):
    """seed -> synthetic problem whose B is the RKHS norm of f, as the theorems require; the paper's experiments take max|f|."""

    def problem(seed):
        p = ldpbo_core.synthetic_problem(kernel, noise, seed)
        return dataclasses.replace(p, B=rkhs_norm(p))

    return problem


def relative_regret(campaign):
    """Mean over trials of a Campaign's last regret over that of uniform play."""
    return float(np.mean(campaign.regret[:, -1] / (campaign.t[-1] * campaign.uniform)))


def users_needed(exponents, relative, share):
    """Horizon at which the relative regret at 10^exponents falls below `share`, by interpolation in logarithms; nan: beyond."""
    relative = np.asarray(relative)
    if not (relative < share).any():
        return np.nan
    i = int((relative < share).argmax())
    if i == 0:
        return 10.0 ** exponents[0]
    return 10 ** float(
        np.interp(-np.log(share), -np.log(relative[i - 1 : i + 1]), exponents[i - 1 : i + 1])
    )


def users_picture(levels, needed, shares, kept=None, path=None):
    """Users against privacy: elimination's `needed` {eps: [T for each share]}, and the runs `kept` of the others. path: save a PNG."""
    figure, ax = axes(height=4.2, width=6.4)
    for i, share in enumerate(shares):
        ax.plot(
            levels,
            [needed[e][i] for e in levels],
            **line("PE", marker="os^D"[i], label=f"elimination, proved: regret below {share:g}"),
        )
    for name, part in kept.groupby("name") if kept is not None else ():
        below = part[part["mean"] < shares[0]].groupby("eps").t.min()
        if len(below):
            proved = "one bit, proved" if name == "GP-UCB" else "order constants"
            ax.plot(
                below.index,
                below,
                **line(
                    name, linestyle="none", label=f"{label(name)}, {proved}: below {shares[0]:g}"
                ),
            )
    ax.set(
        xscale="log", yscale="log", xlabel=r"privacy $\epsilon$ of one report", ylabel="users $T$"
    )
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    if path:
        figure.savefig(path, dpi=130, metadata={"Software": None})
    return figure


def users_image(path):
    """The small picture of the first page and the README, from the users page of the last full build."""
    import pandas

    data = load("users", "fig-users")
    shares = sorted(
        (float(c.split()[-1]) for c in data if c.startswith("elimination below")), reverse=True
    )
    needed = {
        e: [data[f"elimination below {s:g}"][i] for s in shares] for i, e in enumerate(data["eps"])
    }
    kept = pandas.read_csv(Path(ldpbo_core.__file__).parent / "data/campaigns.csv")
    return users_picture(list(data["eps"]), needed, shares, kept[kept["T"] == 50_000], path)


# ---- What several pages draw ---------------------------------------------------------------------------------


def lines(ax, x, series, looks=None, log="", legend=None, **settings):
    """Draw {label: y} against x. looks: {label: keywords of `plot`, or a line style}; log: "x", "y" or "xy"; legend: where; the rest is for `Axes.set`."""
    for text, y in series.items():
        look = (looks or {}).get(text, "-")
        ax.plot(x, y, **({"linestyle": look} if isinstance(look, str) else look) | {"label": text})
    ax.set(**{f"{axis}scale": "log" for axis in log}, **settings)
    if legend:
        ax.legend(loc=legend)


def against(ax, x, shares, looks, **settings):
    """Relative regret against a parameter x on a logarithmic axis: {label: samples (len(x), trials)} with 95 % intervals, and uniform play -> columns."""
    ax.axhline(1, color=COLORS["uniform"], linestyle=":")
    columns = {}
    for text, samples in shares.items():
        mean, low, high = interval(samples, axis=1)
        ax.errorbar(
            x, mean, [mean - low, high - mean], **{"label": text, "elinewidth": 0.8} | looks[text]
        )
        columns |= {
            f"{text} {part}": values
            for part, values in (("mean", mean), ("low", low), ("high", high))
        }
    ax.set(
        **{
            "xscale": "log",
            "ylim": (0, 1.2),
            "xticks": x,
            "xticklabels": [f"{value:.3g}" for value in x],
        }
        | settings
    )
    ax.minorticks_off()
    return columns


def steps(problem, rows, *, name, height=2.3, x=None):
    """`step` for every learner of `rows`, a list of {title: learner} -> (figure, axes, data)."""
    figure, grid = axes(len(rows), len(rows[0]), height=height, share="row", squeeze=False)
    x = (np.arange(problem.n) + 1) / problem.n if x is None else x
    data = {"x": x, "f": problem.f}
    for cells, row in zip(grid, rows):
        for ax, (title, learner) in zip(cells, row.items()):
            step(ax, problem, learner, name=name, title=title, x=x)
            ax.title.set_fontsize(9)
            ax.tick_params(labelsize=8)
            data |= {f"mu {title}": learner.mu, f"half-width {title}": learner.beta * learner.sigma}
    for ax in grid[-1]:
        ax.set_xlabel("$x$")
    return figure, grid, data


SETTINGS = {
    "theorem": dict(constants="theorem"),
    "repaired": dict(constants="repaired"),
    "order": dict(),
    "order, β × 0.1": dict(beta_scale=0.1),
}


def coverages(kernel, name, T, settings, **options):
    """`coverage` of new synthetic functions under each of `settings` -> {(setting, what B is): shares}; B is max|f| as in the experiments, or the norm."""
    tasks = {
        "max|f|": cache(lambda seed: ldpbo_core.synthetic_problem(kernel, seed=seed)),
        "‖f‖": cache(normed(kernel)),
    }
    return {
        (s, size): coverage(task, name, T, **options, **SETTINGS[s])
        for size, task in tasks.items()
        for s in settings
    }


def coverage_table(uses, delta, prefix, first=None, more=None):
    """Table and glued numbers of `coverages`. first: {setting: round from which bands count}; more: (heading, {setting: cell}) of a further column."""
    rows, settings = [], list(dict.fromkeys(s for s, _ in uses))
    for s, key in zip(settings, [{"order, β × 0.1": "tenth"}.get(s, s) for s in settings]):
        use = {
            size: uses[s, size][:, (first or {}).get(s, 0) :].max(axis=1)
            for size in ("max|f|", "‖f‖")
        }
        covered = {
            size: estimate(*proportion(int((uses[s, size].max(axis=1) <= 1).sum()), len(x)))
            for size, x in use.items()
        }
        rows.append(
            [
                s,
                *([more[1][s]] if more else []),
                *(cell for size, x in use.items() for cell in (covered[size], f"{x.max():.2f}")),
            ]
        )
        glue_all(
            prefix, {f"-covered-{key}": covered["max|f|"], f"-use-{key}": float(use["‖f‖"].max())}
        )
    table(
        [
            "constants",
            *([more[0]] if more else []),
            "B = max|f|: covered",
            "ratio",
            "B = ‖f‖: covered",
            "ratio",
        ],
        rows,
        f"Share of trials covered with 95 % Clopper–Pearson interval; promised: {1 - delta:g}",
    )


def coverage_figure(uses, name):
    """`band_use` of `coverages` with B the norm -> (figure, data)."""
    norm = {s: use for (s, size), use in uses.items() if size == "‖f‖"}
    figure, ax = axes(height=3.1)
    band_use(ax, norm, name)
    at = thin(next(iter(norm.values())).shape[1])
    return figure, {"t": at + 1} | {
        f"{part} {s}": getattr(np, part)(use, axis=0)[at]
        for s, use in norm.items()
        for part in ("median", "max")
    }


# ---- Bigger domains: test functions on boxes, maps of a plane, stored timings --------------------------------


def branin(x):
    """Branin's function of a point of [-5, 10] x [0, 15], negated and scaled to [-1, 1]: three tops, the worst corner at (-5, 0)."""
    a, b = x
    value = (
        (b - 5.1 / (4 * np.pi**2) * a * a + 5 / np.pi * a - 6) ** 2
        + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a)
        + 10
    )
    return 1 - 2 * (value - 0.397887) / (308.129096 - 0.397887)


HARTMANN = {  # dimension: A, 10^4 P, size of the minimum
    3: (
        [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]],
        [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
        3.862780,
    ),
    6: (
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ],
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ],
        3.322368,
    ),
}


def hartmann(x):
    """Hartmann's function of a point of [0, 1]^3 or [0, 1]^6, sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2), scaled from [0, top] to [-1, 1]."""
    A, P, top = HARTMANN[len(x)]
    return (
        2
        * float(
            np.array([1.0, 1.2, 3.0, 3.2]) @ np.exp(-(A * (x - np.array(P) / 1e4) ** 2).sum(axis=1))
        )
        / top
        - 1
    )


BOXES = {
    "Branin": (branin, [(-5, 10), (0, 15)], 4.0),
    "Hartmann-3": (hartmann, [(0, 1)] * 3, 0.5),
    "Hartmann-6": (hartmann, [(0, 1)] * 6, 0.8),
}


def box_problem(name, n, seed, **options):
    """One of BOXES on n scrambled Sobol points, SE kernel with the lengthscale given there, noise uniform on [-1, 1]."""
    function, bounds, lengthscale = BOXES[name]
    return ldpbo_core.function_problem(
        function, bounds, n, lengthscale=lengthscale, seed=seed, **options
    )


def plane(ax, points, values, *, low, high, plays=(), title="", cmap="viridis"):
    """Values at points of a plane as filled contours between `low` and `high`; `plays`: arms marked by dots. Returns the contours, for a colour bar."""
    filled = ax.tricontourf(
        *points.T, values, levels=np.linspace(low, high, 15), cmap=cmap, extend="both"
    )
    ax.plot(
        *points[np.unique(plays).astype(int)].T,
        ".",
        color="white",
        markersize=2.5,
        mec="black",
        mew=0.3,
    )
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    return filled


def looks(problem, name, T, marks, look, *, seed, **options):
    """Play T rounds as trial 0 of `simulate` does, and `look(learner, arms so far)` after each of the rounds in `marks` -> list of what it returned."""
    arms, seen = [], []
    with threadpool_limits(1):
        for t, (learner, arm, _) in enumerate(rounds(problem, name, T, seed=seed, **options), 1):
            arms.append(arm)
            if t in marks:
                seen.append(look(learner, list(arms)))
    return seen


def missed(problem, dictionary=None):
    """The most that a dictionary's span misses of any k(x, x); without one, that after each pivot of the problem's features, (r,)."""
    if dictionary is None:
        return (problem.diagonal - np.cumsum(problem.Z**2, axis=0)).max(axis=1)
    return float(
        (
            problem.diagonal - (ldpbo_core.nystrom_features(problem, dictionary) ** 2).sum(axis=0)
        ).max()
    )


def stored(name):
    """Table data/NAME.csv as a DataFrame."""
    return pd.read_csv(Path(ldpbo_core.__file__).parent / f"data/{name}.csv")


def span_picture(rounds, drawn, problems, fine):
    """ATA's dictionaries {problem: (arms, missed, ...) at each of `rounds`} beside the number of features, and beside the pivots of `fine` problems with more of them."""
    figure, (size, gap) = axes(1, 2)
    for (name, part), colour, mark in zip(drawn.items(), PALETTE, "os^"):
        size.plot(rounds, part[:, 0], color=colour, marker=mark, label=f"{name}: arms drawn")
        size.axhline(
            len(problems[name].Z), color=colour, linestyle="--", label=f"{name}: features $r$"
        )
        gap.plot(
            part[:, 0],
            part[:, 1],
            color=colour,
            marker=mark,
            linestyle="none",
            label=f"{name}: dictionary",
        )
        gap.plot(
            1 + np.arange(len(fine[name].Z)),
            missed(fine[name]),
            color=colour,
            linestyle="--",
            label=f"{name}: pivots",
        )
    size.set(xscale="log", xlabel="round $t$", ylabel="arms or features")
    gap.set(
        xscale="log",
        yscale="log",
        xlabel="arms in the dictionary, or pivots",
        ylabel="most of $k(x,x)$ missed",
    )
    for ax in (size, gap):
        ax.legend(fontsize=7.5)
    return figure


def cost_picture(bench):
    """Milliseconds a round against n, r and the rounds played, from the table of `make bench`; dotted: one read of Z."""
    figure, grid = axes(1, 3, width=7.6, height=2.7)
    parts = {
        "n": bench.query("axis == 'n' and kernel == 'SE' and d == 2"),
        "r": bench.query("axis == 'r'"),
        "t": bench.query("axis == 't'"),
    }
    for ax, (axis, part) in zip(grid, parts.items()):
        for name, one in part.groupby("learner", sort=False):
            ax.plot(one[axis], 1000 * one.seconds, **line(name))
        reads = part.groupby(axis).read.min()
        ax.plot(reads.index, 1000 * reads, color="black", linestyle=":", label="one read of $Z$")
        ax.set(
            xscale="linear" if axis == "t" else "log",
            yscale="log",
            xlabel={"n": "candidates $n$", "r": "features $r$", "t": "rounds played before"}[axis],
        )
    grid[1].set_xticks(ranks := sorted(parts["r"].r.unique()), [str(r) for r in ranks])
    grid[1].minorticks_off()
    grid[0].set_ylabel("ms a round")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
