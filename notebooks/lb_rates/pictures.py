"""Figures of the page "The rates, and what they are worth at finite T"."""

import numpy as np
from matplotlib.ticker import NullFormatter

from ldpbo import plots, results

TITLES = {"se": "SE", "matern": "Matérn"}


def rates(horizons, curves, B):
    """Draw {(kernel, eps): rate at each horizon}, without privacy (None) dashed, with linear
    regret as a thin line."""
    figure, panels = plots.axes(1, 2, height=2.9, share=True)
    axes = dict(zip(TITLES, panels))
    for (kernel, eps), rate in curves.items():
        text = "not private" if eps is None else rf"$\epsilon={eps:g}$"
        dashes = "--" if eps is None else "-"
        color = "#888888" if eps == 1 else "black"
        axes[kernel].plot(horizons, rate, color=color, linestyle=dashes, label=text)
    for kernel, ax in axes.items():
        ax.plot(horizons, B * horizons, color="#cccccc", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlabel="horizon $T$", title=TITLES[kernel])
    panels[0].set_ylabel("rate, constant 1")
    panels[0].legend()
    return figure


def regret(grid, bounds, horizons, measured, names):
    """Draw measured regret over three lower bounds.

    bounds: {kernel: three curves on `grid`}; measured: {(kernel, T): {name: regret by trial}}. The
    marks of the algorithms are shifted sideways to be told apart. Returns (figure, columns).
    """
    figure, panels = plots.axes(1, 2, width=7.6, height=3.4, share=True)
    styles = {
        "explicit bound": {"color": "black"},
        "the paper's proof": {"color": "black", "linestyle": "-."},
        "the same without privacy": {"color": "#777777", "linestyle": "--"},
    }
    columns = {}
    for ax, (kernel, curves) in zip(panels, bounds.items()):
        labels = {"title": TITLES[kernel], "xlabel": "horizon $T$"}
        plots.lines(ax, grid, dict(zip(styles, curves)), styles, "xy", **labels)
        ax.xaxis.set_minor_formatter(NullFormatter())
        for shift, name in zip((0.85, 0.95, 1.06, 1), [*names, "uniform"]):
            samples = [measured[kernel, t][name] for t in horizons]
            mean, low, high = results.interval(samples, axis=1)
            columns[f"{kernel} {name}"] = mean
            _marks(ax, np.array(horizons) * shift, mean, low, high, name)
    panels[0].set_ylabel("regret $R_T$")
    plots.legend_below(figure, 4)
    return figure, columns


def _marks(ax, x, mean, low, high, name):
    """Draw means with their intervals; uniform play is a line without any."""
    if name == "uniform":
        ax.plot(x, mean, **plots.line_style(name))
    else:
        ax.plot(x, mean, **plots.line_style(name, linestyle="none"))
        ax.vlines(x, low, high, color=plots.COLORS[name], linewidth=1.2)
