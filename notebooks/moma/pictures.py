"""Figures of the page "MoMA"."""

import matplotlib.pyplot as plt
import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["MoMA"]


def epochs(reports, arms, spread, chosen):
    """Draw the reports (epochs, k) as a grid under the arm of each epoch, and the spread of each
    copy's estimate as a bar; `chosen` is the copy that is used."""
    figure, (grid, bars) = plots.axes(1, 2, height=3.5, width_ratios=[3, 1.1])
    N, k = reports.shape
    _report_grid(grid, reports, arms)
    row = plt.Rectangle((0.5, chosen + 0.5), N, 1, fill=False, edgecolor=COLOR, linewidth=2.5)
    grid.add_patch(row)
    copies = np.arange(1, k + 1)
    colors = np.where(copies - 1 == chosen, COLOR, "#bbbbbb")
    bars.barh(copies, spread, color=colors, height=0.7)
    offset = {"xytext": (4, 0), "textcoords": "offset points"}
    bars.annotate("$k^*$", (spread[chosen], chosen + 1), va="center", **offset)
    bars.set_yticks(copies, [rf"$\rightarrow\tilde\theta_{{{j}}}$" for j in copies])
    bars.set(xlabel="median distance $r_j$", xlim=(0, 1.15 * spread.max()))
    bars.tick_params(axis="y", length=0, pad=6)
    grid.set(ylabel="report $j$ of the epoch", yticks=copies)
    for ax in (grid, bars):
        ax.set_ylim(k + 0.5, 0.5)
        ax.grid(False)
    return figure


def _report_grid(ax, reports, arms):
    """Draw reports as coloured cells, an epoch a column with the point of its arm above it."""
    N, k = reports.shape
    size = np.abs(reports).max()
    edges = np.arange(N + 1) + 0.5, np.arange(k + 1) + 0.5
    style = {"cmap": "RdBu_r", "edgecolors": "white", "linewidth": 2}
    ax.pcolormesh(*edges, reports.T, vmin=-size, vmax=size, **style)
    for n, x in enumerate(arms, 1):
        place = {"ha": "center", "va": "bottom", "annotation_clip": False}
        ax.annotate(f"{x:.2f}", (n, 0.35), fontsize=7.5, **place)
    ax.set(xlabel="epoch $n$", xticks=np.arange(1, N + 1))
    ax.set_title("arm of the epoch", fontsize=9, fontweight="normal", pad=16)


def estimates(axes, x, estimates_of):
    """Draw the k estimates of each of `estimates_of`, a list of (k, n), in grey behind a band."""
    for ax, each in zip(axes, estimates_of):
        curves = ax.plot(x, np.array(each).T, color="#aaaaaa", linewidth=0.7, zorder=1.5)
    curves[0].set_label("the $k$ estimates")


def tails(k, third, half):
    """Draw the exact tails at a third and at half of k bad estimates with their bounds.

    Returns (figure, the curves).
    """
    figure, ax = plots.axes(height=3.2)
    grey, black = "#777777", "#000000"
    curves = {  # text: tail, color, dashes, where its text begins
        "Hoeffding bound $e^{-k/72}$": (np.exp(-k / 72), grey, ":", 290),
        "exact: at least $k/3$ bad": (third, grey, "-", 290),
        "printed bound $e^{-k/24}$": (np.exp(-k / 24), grey, "--", 290),
        "bound $e^{1/2-k/8}$": (np.exp(0.5 - k / 8), black, "--", 180),
        r"exact: at least $\lceil(k-1)/2\rceil$ bad": (half, black, "-", None),
    }
    for text, (tail, color, dashes, start) in curves.items():
        ax.plot(k, tail, color=color, linestyle=dashes)
        if start:
            plots.beside(ax, text, (start, np.interp(start, k, tail)), (4, 5), color=color)
    below = 112, np.interp(112, k, half)
    plots.beside(ax, text, below, (-12, -10), ha="right", color=black)
    labels = {"xlabel": "number of estimates $k$", "ylabel": "probability"}
    ax.set(yscale="log", ylim=(1e-12, 2), **labels)
    return figure, {text: tail for text, (tail, *_) in curves.items()}
