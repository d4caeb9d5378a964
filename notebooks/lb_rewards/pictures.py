"""The links of the chain of bounds, as a figure."""

import numpy as np

from ldpbo import plots

STYLES = [(0, "-"), (2, "-"), (5, "-"), (4, "--"), (3, "-."), (1, "-"), (6, ":")]


def chains(deltas, by_delta, budgets, by_eps):
    """Draw the links of the chain {link: values} against the gap (left) and against ε (right)."""
    figure, (left, right) = plots.axes(1, 2, height=4.0)
    for name, (color, dashes) in zip(by_delta, STYLES):
        style = {"color": plots.PALETTE[color], "linestyle": dashes}
        left.plot(deltas, by_delta[name], label=name, **style)
        right.plot(budgets, by_eps[name], **style)
    cross = np.log1p(1 / np.sqrt(8))
    right.axvline(cross, color="#999999", linestyle=":", linewidth=1)
    left.set(xlabel=r"gap $\Delta$", ylabel="divergence of one report")
    right.set(xlabel=r"privacy $\epsilon$")
    for ax in (left, right):
        ax.set(xscale="log", yscale="log")
    plots.legend_below(figure, 3, fontsize=None)
    return figure
