"""Figures of the page "Upper bounds: coverage and dictionaries"."""

import numpy as np

from ldpbo import plots, results


def title(name, constants, scale, eps):
    """Name a setting of the coverage runs."""
    noise = "" if eps else ", Student noise"
    factor = "" if scale == 1 else f", β × {scale:g}"
    return f"{name}{noise}, {constants}{factor}"


def coverage(table, promised):
    """Draw the share of runs covered with its interval; the table has a row for each setting."""
    figure, ax = plots.axes(height=4.9)
    ax.axvline(promised, color=plots.COLORS["uniform"], linestyle=":")
    for y, row in enumerate(table.itertuples()):
        color = plots.COLORS[row.algorithm]
        dashes = "-" if row.private else "--"
        ax.plot([row.low, row.high], [y, y], color=color, linewidth=2, linestyle=dashes)
        marker = plots.MARKERS[row.algorithm]
        ax.plot(row.covered / row.trials, y, color=color, marker=marker)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of runs covered", ylim=(len(table) - 0.5, -0.5))
    ax.set_yticks(range(len(table)), table.setting, fontsize=8)
    return figure


def accuracy(ridges, accurate, draws, promised):
    """Draw the share of accurate dictionaries against the ridge, {(ridge, form): share}, with exact
    intervals."""
    figure, ax = plots.axes(height=2.6)
    styles = {
        "with 1/λ": ("min(qσ²/λ, 1)", {"color": plots.PALETTE[0], "marker": "o"}),
        "as printed": (
            "min(qσ², 1)",
            {"color": plots.PALETTE[1], "marker": "s", "linestyle": "--"},
        ),
    }
    for form, (formula, style) in styles.items():
        share = np.array([accurate[ridge, form] for ridge in ridges])
        bands = [results.proportion(round(x * draws), draws) for x in share]
        _, low, high = np.transpose(bands)
        ax.plot(ridges, share, label=f"{formula}, {form}", **style)
        ax.vlines(ridges, low, high, color=style["color"])
    ax.axhline(promised, color=plots.COLORS["uniform"], linestyle=":")
    ax.set(xscale="log", xlabel="ridge $\\lambda$", ylabel="share accurate", ylim=(-0.05, 1.05))
    ax.legend(loc="center right")
    return figure


def tail(levels, bound, adversary, measured):
    """Draw the probability that a copy is ever bad at each level: the bound, an adversary, and what
    was measured, {algorithm: share of copies}."""
    figure, ax = plots.axes(height=3.0)
    ax.plot(levels, bound, color="#888888", label="bound 1/s")
    ax.plot(levels, adversary, color="black", linestyle="-.", label="adversary, exact")
    for name, x in measured.items():
        style = plots.line_style(name, label=f"{plots.label(name)}, measured", markevery=4)
        ax.plot(levels[x > 0], x[x > 0], **style)
    ax.axvline(8, color="#888888", linestyle="--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="level $s$", ylabel="P(ever bad)", ylim=(1e-3, 1.5))
    ax.legend(loc="lower left")
    return figure
