"""Figures of the page "MoMA"."""

import matplotlib.pyplot as plt
import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["MoMA"]
GREY = "#777777"


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
    at_third = {
        "Hoeffding bound $e^{-k/72}$": np.exp(-k / 72),
        "exact: at least $k/3$ bad": third,
        "printed bound $e^{-k/24}$": np.exp(-k / 24),
    }
    for dashes, (text, tail) in zip((":", "-", "--"), at_third.items()):
        ax.plot(k, tail, color=GREY, linestyle=dashes)
        _label(ax, text, k, tail, 290, color=GREY)
    exact, bound = r"exact: at least $\lceil(k-1)/2\rceil$ bad", "bound $e^{1/2-k/8}$"
    at_half = {exact: half, bound: np.exp(0.5 - k / 8)}
    for dashes, tail in zip(("-", "--"), at_half.values()):
        ax.plot(k, tail, color="black", linestyle=dashes)
    _label(ax, exact, k, half, 112, (-12, -10), ha="right")
    _label(ax, bound, k, at_half[bound], 180)
    ax.set(xlabel="number of estimates $k$", ylabel="probability")
    ax.set(yscale="log", ylim=(1e-12, 2))
    return figure, at_third | at_half


def _label(ax, text, k, tail, start, offset=(4, 5), **style):
    """Write the name of a curve beside its point at k = start."""
    point = start, np.interp(start, k, tail)
    plots.beside(ax, text, point, offset, **style)
