"""The figures of the page *Elimination*."""

import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["PE"]


def chosen(states, panels=6):
    """Return the batches that are drawn: evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, len(states) - 1, panels).round().astype(int))


def steps(problem, states):
    """Draw some of the batches: what is known of each arm after it, how it spread its plays, and
    the arms that survive.

    states: a dict with counts, before, active, lower and upper for each batch.
    """
    figure, grid = plots.axes(2, 3, height=2.5, width=7.6, share=True)
    drawn = chosen(states)
    for ax, i in zip(grid.flat, drawn):
        _batch(ax, problem, states[i])
        ax.set_title(f"batch {i + 1}: {states[i]['counts'].sum():,} users")
    for ax in grid[:, 0]:
        ax.set_ylabel("reward")
    for ax in grid[-1]:
        ax.set_xlabel("arm $x$")
    for ax in grid.flat[len(drawn) :]:
        ax.set_visible(False)
    return figure


def _batch(ax, problem, state):
    """Draw one batch, and an inset where the band is too narrow to be seen."""
    x = (np.arange(problem.n) + 1) / problem.n
    f, span = problem.f, np.ptp(problem.f)
    _band(ax, x, f, state)
    low = f.min() - 0.15 * span
    survivors = x[state["active"]]
    ax.plot(survivors, np.full(len(survivors), low), "s", color=COLOR, markersize=3)
    heights = 0.35 * span * state["counts"] / state["counts"].max()
    ax.vlines(x, low, low + heights, color="#999999", linewidth=1)
    ax.set_ylim(low - 0.05 * span, f.max() + 1.1 * span)
    widest = (state["upper"] - state["lower"])[state["before"]].max()
    if widest < 0.35 * span:
        _inset(ax, x, f, state)


def _band(ax, x, f, state):
    style = {"color": COLOR, "alpha": 0.3, "linewidth": 0}
    ax.fill_between(x, state["lower"], state["upper"], where=state["before"], **style)
    ax.plot(x, f, color="black", linewidth=1.2)


def _inset(ax, x, f, state):
    """Enlarge the arms that were active in the batch."""
    arms = np.flatnonzero(state["before"])
    step = x[1] - x[0]
    low, high = state["lower"][arms].min(), state["upper"][arms].max()
    zoom = ax.inset_axes([0.44, 0.66, 0.54, 0.32])
    _band(zoom, x, f, state)
    known = state["upper"][arms] + state["lower"][arms]
    half = state["upper"][arms] - state["lower"][arms]
    zoom.errorbar(x[arms], known / 2, half / 2, fmt="none", ecolor=COLOR, elinewidth=0.8)
    zoom.set(xlim=(x[arms[0]] - step, x[arms[-1]] + step), ylim=(low, high))
    zoom.tick_params(labelsize=6.5, length=2, pad=1)
    zoom.locator_params(nbins=3)


def regret(panels):
    """Draw regret against users, a panel for each kernel: learners, uniform play and bounds.

    panels: {title: table by users}; its curves are "PE", "GP-UCB", "uniform", "useful", "lower".
    """
    styles = {
        "uniform": plots.line_style("uniform", label="uniform play"),
        "PE": plots.line_style("PE", marker=None, label="elimination, proved widths"),
        "GP-UCB": plots.line_style("GP-UCB", marker=None, label="GP-UCB, seldom switching, proved"),
        "useful": dict(color="black", linestyle="--", label="proved bound of elimination"),
        "lower": dict(color="black", linestyle="-.", label="lower bound for these arms"),
    }
    figure, panes = plots.axes(1, len(panels), height=3.9, width=7.6, share=True)
    for ax, (title, curves) in zip(panes, panels.items()):
        for name, style in styles.items():
            ax.plot(curves[name], **style)
        ax.set(title=title, xlabel="users $T$", xscale="log", yscale="log")
    panes[0].set_ylabel("regret $R_T$")
    return figure
