"""Figures of the page "Upper bounds: the constants"."""

import math

from ldpbo import plots, results

COLORS = plots.COLORS
BOUNDS = {  # name: label, style of its line
    "ATA": ("Theorem 2 (ATA), m = arms", {"color": COLORS["ATA"]}),
    "Lemma 8": ("Theorem 2, m from Lemma 8", {"color": COLORS["ATA"], "linestyle": "-."}),
    "TGP": ("Theorem 3 (TGP)", {"color": COLORS["TGP"]}),
    "MoMA": ("Corollary (MoMA)", {"color": COLORS["MoMA"]}),
    "proved": ("MoMA, proved", {"color": COLORS["MoMA"], "linestyle": "--"}),
    "cut": ("GP-UCB, Laplace reports", {"color": COLORS["GP-UCB"]}),
    "one bit": ("GP-UCB, one-bit reports", {"color": COLORS["GP-UCB"], "linestyle": "--"}),
}
NAMES = {name: label for name, (label, _) in BOUNDS.items()}


def horizons(grid, share, measured):
    """Draw the bounds {name: regret over that of uniform play, at each of `grid`}, and the measured
    regret {(algorithm, constants): curve by round}."""
    figure, ax = plots.axes(height=3.6)
    ax.axhline(1, color=COLORS["uniform"], linestyle=":", label="uniform play")
    for name, (label, style) in BOUNDS.items():
        ax.plot(grid, share[name], label=label, linewidth=2, **style)
    for (name, constants), curve in measured.items():
        if constants != "proved":
            ax.plot(curve, color=COLORS[name], linewidth=0.9)
    ax.set(xscale="log", yscale="log", xlim=(10, grid[-1]))
    ax.set(xlabel="horizon $T$", ylabel="regret / regret of uniform play")
    ax.legend(fontsize=8, ncols=2)
    return figure


def panels(found):
    """Draw bounds (hollow) and measured regret (filled) of {panel: {name: regret over that of
    uniform play}}."""
    figure, ax = plots.axes(height=4.0)
    ax.axvline(1, color=COLORS["uniform"], linestyle=":")
    marks = {}
    for name in ("TGP", "ATA", "MoMA"):
        hollow = {"marker": plots.MARKERS[name], "markerfacecolor": "white", "markersize": 7}
        marks[name] = (NAMES[name], name, hollow)
    marks["proved"] = ("MoMA, proved", "MoMA", {"marker": "P"})
    marks["cut"] = ("GP-UCB, Laplace reports", "GP-UCB", {"marker": "x"})
    marks["one bit"] = ("GP-UCB, one bit", "GP-UCB", {"marker": "1", "markersize": 8})
    for y, row in enumerate(found.values()):
        for name in ("TGP", "ATA", "MoMA"):
            ax.plot(row[name], y, **plots.line_style(name, linestyle="none", label=None))
        for name, (label, algorithm, style) in marks.items():
            style = {"color": COLORS[algorithm], "linestyle": "none"} | style
            bound = row.get(f"bound {name}", math.nan)
            ax.plot(bound, y, label=label if y == 0 else None, **style)
    ax.set(xscale="log", xlabel="regret / regret of uniform play", ylim=(len(found) - 0.5, -0.5))
    ax.set_yticks(range(len(found)), [results.PANELS[panel] for panel in found])
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 3}
    ax.legend(fontsize=8, handlelength=1, **place)
    return figure


def moma(curves):
    """Draw MoMA's regret over that of uniform play, {constants: curve by round}."""
    figure, ax = plots.axes(height=2.7)
    ax.axhline(1, color=COLORS["uniform"], linestyle=":", label="uniform play")
    for (constants, curve), dashes in zip(curves.items(), ("-", "--", "-.")):
        ax.plot(curve, color=COLORS["MoMA"], linestyle=dashes, label=constants)
    ax.set(xlabel="round $t$", ylabel="regret / uniform play", ylim=(0, None), xlim=(0, None))
    ax.legend()
    return figure
