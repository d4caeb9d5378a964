"""Figures of the page "What ε means"."""

import matplotlib.pyplot as plt
import numpy as np

from ldpbo import plots
from notebooks.epsilon import attack, odds

DARK = "#222222"
GREY = "#777777"
LIGHT = "#dddddd"
SCALE = 4.0  # 2(B + R)/ε where B, R and ε are 1


def beliefs(levels):
    """Draw what belief a report can lead to, up or down, against the belief before it.

    Returns (figure, data).
    """
    figure, ax = plots.axes(width=5.6, height=3.9)
    before = np.linspace(0, 1, 201)
    data = {"before": before}
    shades = plt.get_cmap("Greys")(np.linspace(0.15, 0.42, len(levels)))
    for eps, shade in zip(sorted(levels, reverse=True), shades):
        high = odds.belief(before, eps)
        low = odds.belief(before, -eps)
        ax.fill_between(100 * before, 100 * low, 100 * high, color=shade, linewidth=0)
        data[f"most, eps {eps:g}"] = high
        data[f"least, eps {eps:g}"] = low
        top = 50, 100 * odds.belief(0.5, eps)
        plots.beside(ax, f"ε = {eps:g}", top, (-4, -1), ha="right", va="top", color=DARK)
    _no_news(ax)
    ax.axvline(50, color=DARK, linewidth=0.6)
    ax.set(xlim=(0, 100), ylim=(0, 100), xlabel="belief before the report, %")
    ax.set_ylabel("belief after it, %")
    return figure, data


def _no_news(ax):
    """Draw the diagonal, where the belief stays what it was."""
    ax.plot([0, 100], [0, 100], color=DARK, linewidth=1, linestyle=":")
    along = {"rotation": 31, "rotation_mode": "anchor"}
    ax.text(66, 62, "the report says nothing", fontsize=8, color=DARK, **along)


def several(levels, most):
    """Draw how often a spy is right after k reports of one user: at most, and with one bit each.

    Returns (figure, data).
    """
    figure, axes = plots.axes(1, len(levels), share=True, height=2.6)
    k = np.arange(1, most + 1)
    data = {"k": k}
    for ax, eps in zip(axes, levels):
        bound = odds.belief(0.5, k * eps)
        spy = odds.vote(eps, k)
        ax.plot(k, 100 * bound, "--", color=DARK, label="at most: the promise $k\\epsilon$")
        ax.plot(k, 100 * spy, "o-", color=GREY, label="the best spy, one-bit reports")
        ax.set(title=f"ε = {eps:g} each", xlabel="reports of one user $k$", ylim=(50, 101))
        data[f"at most, eps {eps:g}"] = bound
        data[f"one bit, eps {eps:g}"] = spy
    axes[0].set_ylabel("right, in % of cases")
    axes[0].legend(loc="upper left")
    return figure, data


def low_bits(pair, start, count, shares):
    """Draw which of some neighbouring floating-point numbers either reward can lead to, and the
    share of reports that give the reward away, {eps: share}.

    Returns (figure, data).
    """
    size = {"height": 2.0, "width": 7.6, "width_ratios": [2.2, 1]}
    figure, (left, right) = plots.axes(1, 2, **size)
    figure.get_layout_engine().set(wspace=0.08)
    data = combs(left, pair, start, count)
    places = range(len(shares))
    percent = [100 * share for share in shares.values()]
    right.bar(places, percent, 0.6, color=GREY)
    right.set_xticks(places, [f"{eps:g}" for eps in shares])
    right.set(ylim=(0, 100), xlabel="promised ε", ylabel="reports that tell, %")
    return figure, data


def combs(ax, pair, start, count):
    """Draw a row of columns for each reward, dark where it can lead; mark what only one can."""
    reports = attack.neighbours(start, count)
    fits = np.stack([attack.possible(reports, reward, SCALE) for reward in pair])
    for row, found in enumerate(fits):
        colors = np.where(found, DARK, LIGHT)
        ax.bar(np.arange(count), 0.8, bottom=row + 0.1, width=0.82, color=colors)
    certain = np.flatnonzero(fits.sum(axis=0) == 1)
    above = np.full(len(certain), 2.25)
    ax.plot(certain, above, "v", color=DARK, markersize=4)
    rows = [f"from {reward:.7g}" for reward in pair]
    ax.set_yticks([0.5, 1.5, 2.25], [*rows, "certain"])
    ax.set(xlim=(-0.7, count - 0.3), ylim=(0, 2.6), xticks=[])
    ax.set_xlabel(f"{count} possible reports in a row, from {start:g} on")
    ax.grid(False)
    data = {"report": [repr(report) for report in reports.tolist()]}
    for reward, found in zip(pair, fits):
        data[f"possible from {reward!r}"] = found.astype(int)
    return data
