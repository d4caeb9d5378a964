"""The figure of the page on a million users."""

import numpy as np

from ldpbo import plots

DARK = "#222222"


def survivors(f, users, active, counted):
    """Draw the mean rewards f, and below them which arms each batch leaves, and how many.

    users: so far, after each batch; active (batches, arms); counted: batches that were played user
    by user, above the line.
    """
    height = {"height": 2.6, "height_ratios": [1, 2.6]}
    figure, (top, bottom) = plots.axes(2, 1, **height)
    arms = np.arange(len(f))
    best = arms[np.argmax(f)]
    _rewards(top, arms, f, best)
    _rows(bottom, arms, active)
    bottom.set_yticks(range(len(active)), [f"{total:,}" for total in users], fontsize=7.5)
    bottom.set(xlabel="arm (the first is 0)", ylabel="after so many users")
    bottom.axvline(best, color=DARK, linewidth=0.8, linestyle=":")
    if counted < len(active):
        bottom.axhline(counted - 0.5, color=plots.COLORS["TGP"], linewidth=1.2)
    _counts(bottom, active)
    for ax in (top, bottom):
        ax.set_xlim(-1, len(f))
    return figure


def _rewards(ax, arms, f, best):
    """Draw the mean rewards, and mark the best arm."""
    peak = best, f.max()
    ax.plot(arms, f, color=DARK)
    ax.plot(*peak, "o", color=DARK)
    plots.beside(ax, "best arm", peak, (7, 3))
    ax.set(ylabel="mean reward $f$", xticks=[])
    ax.margins(y=0.2)


def _rows(ax, arms, active):
    """Draw a row of cells for each batch, dark where an arm is still active."""
    left = arms - 0.45
    for row, kept in enumerate(active):
        colors = np.where(kept, "#555555", "#e4e4e4")
        height = np.full(len(arms), row)
        ax.barh(height, 0.9, 0.8, left=left, color=colors, linewidth=0)
    ax.set_ylim(len(active) - 0.5, -0.5)
    ax.grid(False)


def _counts(ax, active):
    """Write how many arms each batch leaves, to the right of its row."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(active)), [str(kept.sum()) for kept in active], fontsize=7.5)
    right.set_ylabel("arms left")
    right.spines["right"].set_visible(False)
    right.tick_params(length=0)
