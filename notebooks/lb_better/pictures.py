"""Figures of the page "Better bounds"."""

import numpy as np

from ldpbo import plots

SHADES = ("black", "#777777", "#b0b0b0")
STYLES = {
    "explicit": {"color": "black"},
    "A1": {"color": "#888888"},
    "bounded": {"color": "black", "linestyle": "--"},
    "without privacy": {"color": "#888888", "linestyle": ":"},
    "the paper's proof": {"color": "black", "linestyle": "-."},
}


def channels(ax, eps, ratio):
    """Draw the divergence of random channels over its bound, against the ε of each."""
    ax.plot(eps, ratio, ".", color="#777777", markersize=2, rasterized=True)
    ax.axhline(1, color="black", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-5, 3))
    ax.set(xlabel=r"the channel's own $\epsilon$", ylabel=r"$D\,/\,z^2\mathrm{TV}^2$")


def best_channel(ax, budgets, bound, curves):
    """Draw the exact maximum over p², {p: values at each of `budgets`}, under its bound; the limit
    without privacy is dotted."""
    ax.plot(budgets, bound, "--", color="black", label="$z^2$")
    for (p, values), color in zip(curves.items(), SHADES):
        ax.plot(budgets, values, color=color, label=f"$D^\\star/p^2$, $p={p}$")
        limit = -np.log1p(-p) / p**2
        ax.axhline(limit, color=color, linestyle=":", linewidth=1)
    ax.set(xscale="log", yscale="log", ylim=(1e-3, 3e3))
    ax.set(xlabel=r"privacy $\epsilon$", ylabel="divergence over $p^2$")
    ax.legend(loc="lower right")


def comparison(curves):
    """Draw {title: (label of x, x, list of {bound: value})}; returns (figure, data)."""
    figure, panels = plots.axes(1, 3, width=7.6, height=3.4)
    data = {}
    for ax, (title, (xlabel, x, values)) in zip(panels, curves.items()):
        series = {name: np.array([value[name] for value in values]) for name in STYLES}
        plots.lines(ax, x, series, STYLES, "xy", title=title, xlabel=xlabel)
        data |= {f"{title} {name}": y for name, y in series.items()}
    panels[0].set_ylabel("regret nobody can avoid")
    return figure, data
