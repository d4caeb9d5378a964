"""The steps of elimination as a figure."""

import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["PE"]


def steps(problem, states):
    """Draw each batch: the band on the arms that were active in it, how it spread its plays, and
    the arms that survive.

    states: a dict with counts, active, mu and half (the half width of the band) for each batch.
    """
    figure, grid = plots.axes(2, 3, height=2.3, width=7.6, share=True)
    before = np.ones(problem.n, dtype=bool)
    for i, (ax, state) in enumerate(zip(grid.flat, states), 1):
        _batch(ax, problem, state, before)
        ax.set(title=f"batch {i}: {state['counts'].sum():,} users", xlabel="arm $x$")
        ax.tick_params(labelbottom=i + 3 > len(states))
        before = state["active"]
    for ax in grid[:, 0]:
        ax.set_ylabel("reward")
    for ax in grid.flat[len(states) :]:
        ax.set_visible(False)
    return figure


def _batch(ax, problem, state, before):
    """Draw one batch; `before` marks the arms that were active when it began."""
    x, f = (np.arange(problem.n) + 1) / problem.n, problem.f
    mu, half = state["mu"], state["half"]
    style = {"color": COLOR, "alpha": 0.25, "linewidth": 0}
    ax.fill_between(x, mu - half, mu + half, where=before, **style)
    ax.plot(x, f, color="black", linewidth=1.2)
    low = 1.15 * f.min()
    survivors = x[state["active"]]
    ax.plot(survivors, np.full(len(survivors), low), "s", color=COLOR, markersize=3)
    heights = 0.4 * np.ptp(f) * state["counts"] / state["counts"].max()
    ax.vlines(x, low, low + heights, color="#999999", linewidth=1)
    ax.set_ylim(1.2 * f.min(), 1.6 * f.max())
