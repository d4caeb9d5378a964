"""The figures of the page *Elimination*."""

import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["PE"]
UCB = plots.COLORS["GP-UCB"]
BAND = {"color": COLOR, "alpha": 0.3, "linewidth": 0}
CURVES = {
    "uniform": plots.line_style("uniform", label="uniform play"),
    "PE": plots.line_style("PE", marker=None, label="elimination, proved widths"),
    "GP-UCB": plots.line_style("GP-UCB", marker=None, label="GP-UCB, seldom switching, proved"),
    "useful": {"color": COLOR, "linestyle": "--", "label": "proved bound of elimination"},
    "useful GP-UCB": {"color": UCB, "linestyle": "--", "label": "proved bound of GP-UCB"},
    "lower": {"color": "black", "linestyle": "-.", "label": "lower bound for these arms"},
}
PARTS = ("centre", "reach", "size", "mu", "active")  # what is drawn of an arm in the example


def by_hand(states, arms):
    """Draw the batches of the example: windows, the two values of a report, estimates, widths.

    states: the dicts of `example.play`.
    """
    figure, panes = plots.axes(1, len(states), height=2.9, width=7.2, share=True)
    for number, (ax, state) in enumerate(zip(panes, states), 1):
        for x in np.flatnonzero(state["before"]):
            _arm(ax, x, **{key: state[key][x] for key in PARTS}, W=state["W"])
        users = state["plays"].sum()
        ax.set_title(f"batch {number}: {users:,} users")
        ax.set_xticks(range(len(arms)), list(arms))
        ax.set(xlim=(-0.6, len(arms) - 0.4), ylim=(-2.75, 2.3))
        ax.grid(visible=False, axis="x")
    panes[0].set_ylabel("reward")
    return figure


def _arm(ax, x, centre, reach, size, mu, W, active):
    """Draw one arm in a batch, and say what becomes of it."""
    ax.bar(x, 2 * reach, 0.5, centre - reach, color="#cccccc", label="window of the bit")
    reports = centre + size * np.array([-1, 1])
    label = "the two values of a report"
    ax.plot([x, x], reports, "D", color="#555555", markersize=4, label=label)
    bar = {"color": COLOR, "markersize": 5, "capsize": 5, "elinewidth": 2.5}
    ax.errorbar(x, mu, W, fmt="o", label="estimate ± width", **bar)
    word = "kept" if active else "dropped"
    ax.text(x, -2.55, word, ha="center", fontsize=9, weight="normal" if active else "bold")


def chosen(states, panels=6):
    """Return the batches that are drawn: evenly spread, the first and the last among them."""
    places = np.linspace(0, len(states) - 1, panels)
    return np.unique(places.round().astype(int))


def steps(problem, states):
    """Draw some of the batches: what is known of each arm after it, how it spread its plays, and
    the arms that survive.

    states: a dict with counts, before, active, lower and upper for each batch.
    """
    figure, grid = plots.axes(2, 3, height=2.7, width=7.6, share=True)
    drawn = chosen(states)
    for ax, i in zip(grid.flat, drawn):
        _batch(ax, problem, **states[i])
        users = states[i]["counts"].sum()
        left = states[i]["active"].sum()
        arms = "1 arm" if left == 1 else f"{left} arms"
        ax.set_title(f"batch {i + 1}: {users:,} users\n{arms} left", fontsize=9.5)
    for ax in grid[:, 0]:
        ax.set_ylabel("reward")
    for ax in grid[-1]:
        ax.set_xlabel("arm $x$")
    for ax in grid.flat[len(drawn) :]:
        ax.set_visible(False)
    return figure


def _batch(ax, problem, *, counts, before, active, lower, upper):
    """Draw one batch, and an inset where the band is too narrow to be seen."""
    x = (np.arange(problem.n) + 1) / problem.n
    f = problem.f
    span = np.ptp(f)
    foot = f.min() - 0.15 * span
    top = f.max() + 1.1 * span
    _band(ax, x, f, before, lower, upper)
    on_foot = np.full(active.sum(), foot)
    ax.plot(x[active], on_foot, "s", color=COLOR, markersize=3)
    heights = 0.35 * span * counts / counts.max()
    ax.vlines(x, foot, foot + heights, color="#999999", linewidth=1)
    ax.set_ylim(foot - 0.05 * span, top)
    widths = upper - lower
    if widths[before].max() < 0.35 * span:
        _inset(ax, x, f, before, lower, upper)


def _band(ax, x, f, before, lower, upper):
    """Draw f, and the band of the arms that were active before the batch."""
    ax.fill_between(x, lower, upper, where=before, **BAND)
    ax.plot(x, f, color="black", linewidth=1.2)


def _inset(ax, x, f, before, lower, upper):
    """Enlarge the arms that were active before the batch."""
    zoom = ax.inset_axes([0.44, 0.66, 0.54, 0.32])
    _band(zoom, x, f, before, lower, upper)
    low = lower[before]
    high = upper[before]
    middle = (high + low) / 2
    half = (high - low) / 2
    places = x[before]
    zoom.errorbar(places, middle, half, fmt="none", ecolor=COLOR, elinewidth=0.8)
    step = x[1] - x[0]
    zoom.set_xlim(places[0] - step, places[-1] + step)
    zoom.set_ylim(low.min(), high.max())
    zoom.tick_params(labelsize=6.5, length=2, pad=1)
    zoom.locator_params(nbins=3)


def regret(panels):
    """Draw regret against users, a panel for each kernel: learners, uniform play and bounds.

    panels: {title: table by users}; its curves are those of CURVES.
    """
    figure, panes = plots.axes(1, len(panels), height=3.9, width=7.6, share=True)
    for ax, (title, curves) in zip(panes, panels.items()):
        for name, style in CURVES.items():
            ax.plot(curves[name], **style)
        ax.set(title=title, xlabel="users $T$", xscale="log", yscale="log")
    panes[0].set_ylabel("regret $R_T$")
    return figure
