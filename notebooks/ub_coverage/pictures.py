"""Figures of the page "Upper bounds: coverage and dictionaries"."""

import numpy as np

from ldpbo import plots, results

FORMS = {
    "with 1/λ": {
        "label": "min(qσ²/λ, 1), with 1/λ",
        "color": "black",
        "marker": "o",
    },
    "as printed": {
        "label": "min(qσ², 1), as printed",
        "color": "#999999",
        "marker": "s",
        "linestyle": "--",
    },
}


def title(row):
    """Name a setting of the coverage runs."""
    name = row["learner"]
    if row["reports"] != "Laplace":
        name += f", {row['reports']}"
    factor = "" if row["scale"] == 1 else f" × {row['scale']:g}"
    return f"{name}, {row['constants']}{factor}"


def coverage(cover, uses, least=2e-3):
    """Draw the share of its band that each run used, a strip for each setting.

    Runs that used nothing stand at `least`, named 0, with their number.
    """
    figure, ax = plots.axes(height=5.2)
    rng = np.random.default_rng(0)
    ax.axvline(1, color="black", linewidth=1)
    for y, (row, use) in enumerate(zip(cover.itertuples(), uses)):
        color = plots.COLORS[row.learner]
        face = "white" if row.reports == "Student" else color
        shown = np.maximum(use, least)
        height = y + rng.uniform(-0.25, 0.25, len(use))
        ax.plot(shown, height, ".", color=color, markersize=3, alpha=0.45)
        mark = dict(marker=plots.MARKERS[row.learner], color=color, markerfacecolor=face)
        ax.plot(np.median(shown), y, markersize=8, markeredgecolor="black", **mark)
        if (use == 0).any():
            plots.beside(ax, f"{(use == 0).sum()} runs", (least, y), (10, -3), color=color)
    ax.set(xscale="log", xlabel="share of the band that a run used", ylim=(len(uses) - 0.5, -0.5))
    ax.set_xticks([least, 0.01, 0.1, 1, 10], ["0", "0.01", "0.1", "1", "10"])
    ax.tick_params("x", which="minor", bottom=False)
    ax.set_yticks(range(len(uses)), cover.setting)
    ax.text(1.1, -0.3, "band fails", fontsize=8.5, verticalalignment="center")
    return figure


def accuracy(ridges, accurate, draws, promised):
    """Draw the share of accurate dictionaries against the ridge, {(ridge, form): share}, with exact
    intervals."""
    figure, ax = plots.axes(height=2.6)
    for form, style in FORMS.items():
        share = np.array([accurate[ridge, form] for ridge in ridges])
        bands = [results.proportion(round(x * draws), draws) for x in share]
        _, low, high = np.transpose(bands)
        ax.plot(ridges, share, **style)
        ax.vlines(ridges, low, high, color=style["color"])
    ax.axhline(promised, color=plots.COLORS["uniform"], linestyle=":")
    ax.set(xscale="log", xlabel="ridge $\\lambda$", ylabel="share accurate", ylim=(-0.05, 1.05))
    ax.legend(loc="center right")
    return figure


def tail(levels, bound, adversary, measured):
    """Draw the probability that a copy is ever bad at each level: the bound, an adversary, and what
    was measured, {algorithm: share of copies}."""
    figure, ax = plots.axes(height=3.0)
    ax.plot(levels, bound, color="#888888", label="bound 1/ω")
    ax.plot(levels, adversary, color="black", linestyle="-.", label="adversary, exact")
    for name, x in measured.items():
        style = plots.line_style(name, label=f"{plots.label(name)}, measured", markevery=4)
        ax.plot(levels[x > 0], x[x > 0], **style)
    ax.axvline(8, color="#888888", linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 1.5))
    ax.set(xlabel=r"level $\omega$", ylabel="P(ever bad)")
    ax.legend(loc="lower left")
    return figure
