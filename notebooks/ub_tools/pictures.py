"""The figure of the page "Upper bounds: tools"."""

import numpy as np
from matplotlib.collections import LineCollection

from ldpbo import plots


def game(used):
    """Draw the noise over its bound along every outcome, (rounds, outcomes); those that ever cross
    the bound in black."""
    figure, ax = plots.axes(height=2.8)
    rounds = np.arange(1, len(used) + 1)
    paths = np.unique(used.T.round(6), axis=0)  # signs that are all turned give the same path
    failed = paths.max(axis=1) >= 1
    for part, style in ((paths[~failed], _GREY), (paths[failed], _BLACK)):
        lines = [np.column_stack([rounds, path]) for path in part]
        ax.add_collection(LineCollection(lines, **style))
    ax.axhline(1, **plots.line_style("uniform", label=None, marker=None))
    plots.beside(ax, "the bound", (1, 1), (0, 4))
    ax.set(xlabel="round $t$", ylabel="noise / its bound", xlim=(1, len(used)), ylim=(0, None))
    return figure


_GREY = {"color": "#999999", "linewidth": 0.6, "alpha": 0.35}
_BLACK = {"color": "black", "linewidth": 1.0}
