"""Figures of the page on a million users."""

import numpy as np

from ldpbo import plots

DARK = "#222222"


def survivors(f, users, active):
    """Draw the mean rewards f, and below them which arms each batch leaves.

    users: of each batch; active (batches, arms).
    """
    given = {"height_ratios": [1, 1.6]}
    figure, (top, bottom) = plots.axes(2, 1, height=1.9, gridspec_kw=given)
    arms = 1 + np.arange(len(f))
    best = arms[np.argmax(f)]
    top.plot(arms, f, color=DARK)
    top.plot(best, f.max(), "o", color=DARK)
    place = {"xytext": (7, 3), "textcoords": "offset points", "fontsize": 8.5}
    top.annotate("best arm", (best, f.max()), **place)
    top.set(ylabel="mean reward $f$", xlim=(0, len(f) + 1), xticks=[])
    top.margins(y=0.2)
    for row, kept in enumerate(active):
        colors = np.where(kept, "#555555", "#e4e4e4")
        bottom.barh(np.full(len(f), row), 0.9, 0.8, left=arms - 0.45, color=colors, linewidth=0)
    labels = [f"{total:,}" for total in np.cumsum(users)]
    bottom.set_yticks(range(len(active)), labels, fontsize=8)
    bottom.set(ylim=(len(active) - 0.5, -0.5), xlim=(0, len(f) + 1))
    bottom.set(xlabel="arm", ylabel="after so many users")
    bottom.axvline(best, color=DARK, linewidth=0.8, linestyle=":")
    bottom.grid(False)
    return figure
