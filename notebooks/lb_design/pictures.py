"""Figures of the page *A lower bound for the domain that is played*."""

from ldpbo import plots

GREY = "#888888"
SHADES = ["black", "#777777", "#b0b0b0"]
BOUNDS = [
    {"label": "these arms, in numbers", "color": "black", "linestyle": "-."},
    {"label": "these arms, formula (ii)", "color": "black", "linewidth": 1.0},
    {"label": "the interval [0, 1]", "color": GREY, "linestyle": "--"},
]


def over_users(users, panels):
    """Draw the bounds against users, a panel for each kernel.

    panels: {title: (explicit, closed, interval, too_many)}, each (users,); the bound for the
    interval is marked where it has more bumps than there are arms.
    """
    figure, panes = plots.axes(1, len(panels), height=3.7, width=7.6, share=True)
    for ax, (title, values) in zip(panes, panels.items()):
        _bounds(ax, users, *values)
        ax.set_title(title)
    panes[0].set_ylabel("every learner's regret is at least")
    return figure


def _bounds(ax, users, explicit, closed, interval, too_many):
    """Draw the three bounds of one kernel, and a cross where there are too many bumps."""
    for values, style in zip((explicit, closed, interval), BOUNDS):
        ax.plot(users, values, **style)
    crosses = {"marker": "x", "linestyle": "none", "color": GREY}
    ax.plot(users[too_many], interval[too_many], label="more bumps than arms", **crosses)
    ax.set(xlabel="users $T$", xscale="log", yscale="log")


def hard_functions(x, panels, shown):
    """Draw some hard functions and, as bars, the roots of the design's weights, a panel a kernel.

    panels: {title: (weights (n,), functions (n, n))}; shown: numbers of the functions.
    """
    figure, panes = plots.axes(1, len(panels), height=2.8, width=7.6)
    for ax, (title, (weights, functions)) in zip(panes, panels.items()):
        for i, color in zip(shown, SHADES):
            ax.plot(x, functions[i], color=color)
        size = functions.max()
        share = weights / weights.max()
        heights = 0.6 * size * share**0.5
        ax.bar(x, heights, 0.008, bottom=-size, color="#999999", linewidth=0)
        ax.set(title=title, xlabel="arm $x$", ylim=(-size, 1.15 * size))
    panes[0].set_ylabel("mean reward")
    return figure
