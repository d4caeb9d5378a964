"""Several pages use this to draw, in one style, with one colour and marker for each algorithm.

    figure, axes = plots.axes(1, 2, share=True)
    plots.regret_curves(axes[0], results.means(results.curves({"": run})), private=True)
    plots.legend_below(figure, columns=3)

Private algorithms are solid, non-private ones dashed. What a single page draws stands beside that
page, in notebooks/<page>/.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

from ldpbo import results

# Okabe and Ito's colours
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
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
LABELS = {
    "TGP": "TGP-UCB",
    "ATA": "ATA-GP-UCB",
    "MoMA": "MoMA-GP-UCB",
    "GP-UCB": "GP-UCB",
    "PE": "elimination",
    "TS": "Thompson sampling",
    "MoM": "mean of medians",
    "MoMA-avg": "MoMA, averaged",
    "uniform": "uniform play",
}
KERNELS = {"se": "SE kernel", "matern": "Matérn kernel"}
STYLE = {
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "axes.prop_cycle": plt.cycler(color=PALETTE),
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "white",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "axes.formatter.limits": (-3, 5),
    "axes.formatter.use_mathtext": True,
    "xtick.major.size": 4.8,
    "ytick.major.size": 4.8,
    "xtick.minor.size": 3.2,
    "ytick.minor.size": 3.2,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,  # dashes can be told from solid lines
    "svg.hashsalt": "ldpbo",  # the same figure has the same bytes
    "path.simplify_threshold": 0.3,
}
plt.rcParams.update(STYLE)
BAND = {"alpha": 0.18, "linewidth": 0}
TRUTH = {"color": "black", "linestyle": "--", "linewidth": 1.2, "label": "$f$"}


# ---- Axes, labels, legends -----------------------------------------------------------------------


def axes(rows=1, columns=1, *, width=7.2, height=2.9, share=False, **options):
    """Make a figure of `rows` x `columns` axes; `height` is that of one row, in inches.

    share: panels that are compared share both axes.
    """
    size = (width, height * rows)
    return plt.subplots(rows, columns, figsize=size, sharex=share, sharey=share, **options)


def label(name, private=True):
    """Return what the paper calls an algorithm."""
    prefix = "LDP-" if private and name in ("TGP", "ATA", "MoMA") else ""
    return prefix + LABELS[name]


def line_style(name, private=True, **changes):
    """Return the keyword arguments of `plot` for an algorithm: colour, marker, dashes and label."""
    dashes = "-" if private else "--"
    style = {
        "color": COLORS[name],
        "marker": MARKERS[name],
        "linestyle": ":" if name == "uniform" else dashes,
        "label": label(name, private),
    }
    return style | changes


def setting_title(scale):
    """Name a setting of the panels by its factor on beta."""
    return "order constants" if scale == 1 else f"β × {scale:g}"


def legend_below(figure, columns, fontsize=8):
    """Put one legend for all axes under them; a label that several axes have is listed once."""
    entries = {}
    for ax in figure.axes:
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles))
    where = {"loc": "outside lower center", "ncols": columns, "fontsize": fontsize}
    figure.legend(entries.values(), entries, **where)


def beside(ax, text, point, offset, **style):
    """Write a text beside a point of the axes; the offset from it is in typographic points."""
    given = {"textcoords": "offset points", "fontsize": 8.5} | style
    ax.annotate(text, point, offset, **given)


def thin(T, points=80):
    """Return the indices of about `points` rounds out of T, the first and the last among them."""
    return np.unique(np.linspace(0, T - 1, min(points, T)).astype(int))


# ---- Curves --------------------------------------------------------------------------------------


def lines(ax, x, series, styles=None, log="", legend=None, **settings):
    """Draw the curves {label: y} against x.

    styles: {label: keywords of `plot`, or a line style}; log: "x", "y" or "xy"; legend: its place;
    the settings are those of `Axes.set`.
    """
    for text, y in series.items():
        style = (styles or {}).get(text, "-")
        if isinstance(style, str):
            style = {"linestyle": style}
        ax.plot(x, y, **style | {"label": text})
    ax.set(**{f"{axis}scale": "log" for axis in log}, **settings)
    if legend:
        ax.legend(loc=legend)


def regret_curves(ax, means, *, private, title=""):
    """Draw mean cumulative regrets with bands, from one setting of `results.means`."""
    for name in [n for n in COLORS if n in set(means.algorithm)]:
        part = means[means.algorithm == name]
        marks = max(1, len(part) // 6)
        ax.plot(part.t, part["mean"], **line_style(name, private, markevery=marks))
        if name != "uniform":
            ax.fill_between(part.t, part.low, part.high, color=COLORS[name], **BAND)
    top = _top(means)
    if not ax.get_autoscaley_on():
        top = max(top, ax.get_ylim()[1])
    ax.set(title=title, xlabel="round $t$", xlim=(0, means.t.max()), ylim=(0, top))
    ax.yaxis.set_major_formatter(EngFormatter(sep=""))


def panel(table, settings, *, private):
    """Draw a panel: a setting in each column, and a row of axes with one scale for each data set.

    The table is `results.means` with the column `data`.
    """
    groups = list(table.groupby("data", sort=False))
    size = {"height": 2.7, "width": 7.6, "share": "row", "squeeze": False}
    figure, grid = axes(len(groups), len(settings), **size)
    for row, (data, part) in zip(grid, groups):
        for ax, scale in zip(row, settings):
            title = f"{results.data_label(data)}, {setting_title(scale)}"
            regret_curves(ax, part[part.setting == scale], private=private, title=title)
            ax.locator_params(axis="x", nbins=5)
        row[0].set_ylabel("cumulative regret $R_t$")
    legend_below(figure, 4, fontsize=None)
    return figure


def cut_note(table):
    """Say for the line under a `panel` that bands are cut, where they are; else ""."""
    cut = any((part.high > _top(part)).any() for _, part in table.groupby("data"))
    return "; bands are cut at the top of the plot" if cut else ""


def _top(means):
    """Return the top of the scale of regrets; the means set it, not the bands."""
    return 1.1 * means["mean"].max()


def regret_against(ax, x, samples, styles, **settings):
    """Draw relative regret against a parameter x on a logarithmic axis, with 95 % intervals.

    samples: {label: (len(x), trials)}. Returns the columns mean, low and high of every label. Lines
    are drawn a little beside each other, so that the bars can be told apart.
    """
    ax.axhline(1, color=COLORS["uniform"], linestyle=":")
    columns = {}
    shifts = 1.05 ** (np.arange(len(samples)) - (len(samples) - 1) / 2)
    for (text, values), shift in zip(samples.items(), shifts):
        mean, low, high = results.interval(values, axis=1)
        style = {"label": text, "elinewidth": 0.8} | styles[text]
        ax.errorbar(shift * np.asarray(x), mean, [mean - low, high - mean], **style)
        columns |= {f"{text} mean": mean, f"{text} low": low, f"{text} high": high}
    ax.set(**{"xscale": "log", "ylim": (0, 1.2)} | settings)
    ax.set_xticks(x, [f"{value:.3g}" for value in x])
    ax.minorticks_off()
    return columns


def forest(ax, groups, title=""):
    """Draw final regrets over that of uniform play (dotted), from {group: `results.final_rows`}."""
    names = [n for n in COLORS if any(n in found for found in groups.values())]
    offsets = 0.22 * (np.arange(len(names)) - (len(names) - 1) / 2)
    ax.axvline(1, color=COLORS["uniform"], linestyle=":")
    for name, offset in zip(names, offsets):
        bands = [found.get(name, (np.nan, np.nan, np.nan)) for found in groups.values()]
        mean, low, high = np.array(bands, dtype=float).T
        ends = np.nan_to_num([mean - low, high - mean])
        style = line_style(name, linestyle="none", label=name)
        ax.errorbar(mean, np.arange(len(groups)) + offset, xerr=ends, elinewidth=1.6, **style)
    ax.set(title=title, xlabel="final regret / regret of uniform play")
    ax.set_yticks(range(len(groups)), groups)
    ax.set_ylim(len(groups) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


# ---- Where the plays went ------------------------------------------------------------------------


def play_shares(table, settings):
    """Draw the shares of the plays by quarter of the arms, a row of axes for each data set.

    The first column shows what a play there loses, then follows each setting. The table is that of
    the panels' pages (notebooks/panel/quarters.py).
    """
    groups = [part for _, part in table.groupby("data", sort=False)]
    figure, grid = axes(len(groups), 1 + len(settings), height=2.3, width=7.6, squeeze=False)
    for row, part in zip(grid, groups):
        row[0].bar(part.quarter, part.loss, 0.6, color="#999999")
        row[0].axhline(1, color=COLORS["uniform"], linestyle=":")
        row[0].set(ylabel="loss of a play / average", title=results.data_label(part.data.iloc[0]))
        for ax, scale in zip(row[1:], settings):
            _share_bars(ax, part, scale)
        row[1].set_ylabel("share of the plays")
    for ax in grid.flat:
        ax.set_xticks([1, 2, 3, 4], ["largest", "2nd", "3rd", "least"])
    for ax in grid[-1]:
        ax.set_xlabel("quarter of the arms by σ")
    legend_below(figure, 5)
    return figure


def _share_bars(ax, part, scale):
    """Draw each algorithm's share of the plays in the four quarters of the arms."""
    columns = {name: f"{name} (beta x {scale:g})" for name in COLORS}
    names = [n for n, c in columns.items() if c in part and part[c].notna().any()]
    for i, name in enumerate(names):
        x = part.quarter + 0.8 * ((i + 0.5) / len(names) - 0.5)
        ax.bar(x, part[columns[name]], 0.8 / len(names), color=COLORS[name], label=name)
    ax.plot(part.quarter, part["sigma alone"], "k_", markersize=22, label="σ alone")
    uniform = part.arms / part.arms.sum()
    ax.plot(part.quarter, uniform, ":", color=COLORS["uniform"], label="uniform play")
    ax.set(title=setting_title(scale), ylim=(0, 1))


# ---- Bands ---------------------------------------------------------------------------------------


def band(ax, x, centre, half, **style):
    """Fill the band `centre` ± `half`, without an edge."""
    ax.fill_between(x, centre - half, centre + half, linewidth=0, **style)


def posterior_band(ax, problem, learner, *, name, title):
    """Draw the mean reward f, a learner's mean and confidence band, and the arm it plays next."""
    x = (np.arange(problem.n) + 1) / problem.n
    half = learner.beta * learner.sigma
    color = COLORS[name]
    band(ax, x, learner.mu, half, color=color, alpha=0.2, label=r"$\mu\pm\beta\sigma$")
    ax.plot(x, learner.mu, color=color, label=r"$\mu$")
    ax.plot(x, problem.f, **TRUTH)
    ax.axvline(x[learner.ask()], color="#999999", linestyle=":", linewidth=1.3, label="next arm")
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=8)


def posterior_bands(problem, rows, *, name, height=2.3, width=7.2, zoomed=()):
    """Draw `posterior_band` for every learner of `rows`, a list of {title: learner}.

    zoomed: numbers of the rows that are drawn on the scale of f.
    Returns (figure, axes, data of the figure).
    """
    size = {"height": height, "width": width}
    figure, grid = axes(len(rows), len(rows[0]), share="row", squeeze=False, **size)
    data = {"x": (np.arange(problem.n) + 1) / problem.n, "f": problem.f}
    for cells, row in zip(grid, rows):
        for ax, (title, learner) in zip(cells, row.items()):
            posterior_band(ax, problem, learner, name=name, title=title)
            data[f"mu {title}"] = learner.mu
            data[f"half-width {title}"] = learner.beta * learner.sigma
    margin = np.ptp(problem.f) / 2
    for row in zoomed:
        grid[row, 0].set_ylim(problem.f.min() - margin, problem.f.max() + margin)
    for ax in grid[-1]:
        ax.set_xlabel("$x$")
    return figure, grid, data


def band_use(uses, name):
    """Draw how much of its band an algorithm uses by round: median, and largest as a thin line.

    uses: {(setting, B): shares (trials, T)} of `experiments.coverage`, of which those where B is
    the norm are drawn. Returns (figure, data).
    """
    figure, ax = axes(height=3.1)
    uses = {setting: use for (setting, size), use in uses.items() if size == "‖f‖"}
    T = next(iter(uses.values())).shape[1]
    t, shown = np.arange(1, T + 1), thin(T)
    greys = plt.get_cmap("Greys")(np.linspace(0.85, 0.45, len(uses)))
    data = {"t": shown + 1}
    for (text, use), marker, color in zip(uses.items(), "osD^vx", [COLORS[name], *greys[:-1]]):
        median, most = np.median(use, axis=0), use.max(axis=0)
        ax.plot(t, median, color=color, marker=marker, markevery=max(1, T // 6), label=text)
        ax.plot(t, most, color=color, linewidth=0.7)
        data |= {f"median {text}": median[shown], f"max {text}": most[shown]}
    ax.axhline(1, color="black", linewidth=1, linestyle=":")
    ylabel = r"largest $|f-\mu|\,/\,\beta\sigma$ over the arms"
    ax.set(xlabel="round $t$", ylabel=ylabel, yscale="log")
    return figure, data
