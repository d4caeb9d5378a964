"""Figures of the page "What a private report reveals"."""

import numpy as np

from ldpbo import plots

STYLES = [  # the exact values, the bounds of order p^2, those of order p, the limit
    {"color": "black", "linestyle": "-"},
    {"color": "black", "linestyle": "--"},
    {"color": "#777777", "linestyle": "-"},
    {"color": "#777777", "linestyle": "--"},
    {"color": "#b0b0b0", "linestyle": "-.", "linewidth": 2.4},
    {"color": "#b0b0b0", "linestyle": "-", "linewidth": 2.4},
    {"color": "black", "linestyle": ":"},
]


def chains(deltas, by_delta, budgets, by_eps):
    """Draw the links of the chain {link: values} against the gap (left) and against ε (right)."""
    figure, (left, right) = plots.axes(1, 2, width=7.6, height=4.0)
    for name, style in zip(by_delta, STYLES):
        left.plot(deltas, by_delta[name], label=name, **style)
        right.plot(budgets, by_eps[name], **style)
    left.annotate("order $p$", (3e-5, 3e-5), color="#777777")
    left.annotate("order $p^2$", (3e-4, 1e-15))
    cross = np.log1p(1 / np.sqrt(8))
    right.axvline(cross, color="#cccccc", linewidth=1)
    left.set(xlabel=r"gap $\Delta$", ylabel="divergence of one report")
    right.set(xlabel=r"privacy $\epsilon$")
    for ax in (left, right):
        ax.set(xscale="log", yscale="log")
    plots.legend_below(figure, 3, fontsize=None)
    return figure


def ratios(report, curves):
    """Draw {label: ln(P_m/P_0)/p} against the report, in units of the reward's size."""
    figure, ax = plots.axes(height=2.6)
    shades = [{"color": "black"}, {"color": "#777777", "linestyle": "--"}, {"color": "#b0b0b0"}]
    for (label, values), style in zip(curves.items(), shades):
        ax.plot(report, values, label=label, **style)
    ax.set(xlabel="report, in units of the reward's size $a$")
    ax.set(ylabel=r"$\ln(P_m/P_0)\,/\,p$")
    ax.legend()
    return figure
