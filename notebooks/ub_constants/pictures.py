"""Figures of the page "Upper bounds: the constants"."""

import math

from ldpbo import plots, results

NAMES = {
    "ATA": "Theorem 2 (ATA), m = arms",
    "Lemma 8": "Theorem 2, m from Lemma 8",
    "TGP": "Theorem 3 (TGP)",
    "MoMA": "Corollary (MoMA)",
    "proved": "MoMA, proved",
    "cut": "GP-UCB, Laplace reports",
    "one bit": "GP-UCB, one-bit reports",
}
LEARNERS = {"Lemma 8": "ATA", "proved": "MoMA", "cut": "GP-UCB", "one bit": "GP-UCB"}
DASHES = {"Lemma 8": "-.", "proved": "--", "one bit": "--"}
HOLLOW = {"markerfacecolor": "white", "markersize": 7}
MARKS = {  # of the bounds, where every panel has a row
    "TGP": HOLLOW | {"marker": plots.MARKERS["TGP"]},
    "ATA": HOLLOW | {"marker": plots.MARKERS["ATA"]},
    "MoMA": HOLLOW | {"marker": plots.MARKERS["MoMA"]},
    "proved": HOLLOW | {"marker": "P"},
    "cut": {"marker": "x"},
    "one bit": {"marker": "1", "markersize": 8},
}


def color_of(name):
    """Return the colour of the learner that a bound is for."""
    return plots.COLORS[LEARNERS.get(name, name)]


def horizons(grid, share, measured):
    """Draw the bounds {name: regret over that of uniform play, at each of `grid`}, and the measured
    regret {(algorithm, constants): curve by round}."""
    figure, ax = plots.axes(height=3.6)
    ax.axhline(1, **plots.line_style("uniform"))
    for name, label in NAMES.items():
        style = {"color": color_of(name), "linestyle": DASHES.get(name, "-")}
        ax.plot(grid, share[name], label=label, linewidth=2, **style)
    for (name, constants), curve in measured.items():
        if constants != "proved":
            ax.plot(curve, color=plots.COLORS[name], linewidth=0.9)
    plots.beside(ax, "measured", (12, 1), (0, 6))
    ax.set(xscale="log", yscale="log", xlim=(10, grid[-1]))
    ax.set(xlabel="horizon $T$", ylabel="regret / regret of uniform play")
    ax.legend(fontsize=8, ncols=2)
    return figure


def panels(found):
    """Draw bounds (hollow) and measured regret (filled) of {panel: {name: regret over that of
    uniform play}}."""
    figure, ax = plots.axes(height=4.0)
    ax.axvline(1, **plots.line_style("uniform", label=None))
    labels = NAMES | {"one bit": "GP-UCB, one bit"}
    for y, row in enumerate(found.values()):
        _panel(ax, y, row, labels if y == 0 else {})
    ax.plot([], [], "o", color="#666666", label="filled: measured")
    ax.set(xscale="log", xlabel="regret / regret of uniform play", ylim=(len(found) - 0.5, -0.5))
    ax.set_yticks(range(len(found)), [results.PANELS[panel] for panel in found])
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 3}
    ax.legend(fontsize=8, handlelength=1, **place)
    return figure


def _panel(ax, y, row, labels):
    """Draw the regret and the bounds of one panel at height y; the labels are for the legend."""
    for name in ("TGP", "ATA", "MoMA"):
        filled = plots.line_style(name, linestyle="none", label=None)
        ax.plot(row[name], y, **filled)
    for name, mark in MARKS.items():
        bound = row.get(f"bound {name}", math.nan)
        style = mark | {"color": color_of(name), "linestyle": "none"}
        ax.plot(bound, y, label=labels.get(name), **style)


def moma(curves):
    """Draw MoMA's regret over that of uniform play, {constants: curve by round}."""
    figure, ax = plots.axes(height=2.7)
    ax.axhline(1, **plots.line_style("uniform"))
    for constants, dashes in zip(curves, ("-", "--", "-.")):
        style = plots.line_style("MoMA", marker=None, linestyle=dashes, label=constants)
        ax.plot(curves[constants], **style)
    ax.set(xlabel="round $t$", ylabel="regret / uniform play", ylim=(0, None), xlim=(0, None))
    ax.legend()
    return figure
