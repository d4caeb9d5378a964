"""Figures of the page *A lower bound for the domain that is played*."""

from ldpbo import plots

GREY = "#888888"


def over_users(users, panels):
    """Draw the bounds against users, a panel for each kernel.

    panels: {title: (explicit, closed, interval, bumps)}, each (users,); the bound for the interval
    is marked where it has more bumps than there are arms.
    """
    figure, panes = plots.axes(1, len(panels), height=3.7, width=7.6, share=True)
    for ax, (title, (explicit, closed, interval, too_many)) in zip(panes, panels.items()):
        ax.plot(users, explicit, color="black", linestyle="-.", label="these arms, in numbers")
        ax.plot(users, closed, color="black", linewidth=1.0, label="these arms, formula (ii)")
        ax.plot(users, interval, color=GREY, linestyle="--", label="the interval [0, 1]")
        label = "more bumps than arms"
        ax.plot(users[too_many], interval[too_many], "x", color=GREY, label=label)
        ax.set(title=title, xlabel="users $T$", xscale="log", yscale="log")
    panes[0].set_ylabel("every learner's regret is at least")
    return figure


def hard_functions(x, panels, shown):
    """Draw some hard functions and, as bars, the roots of the design's weights, a panel a kernel.

    panels: {title: (weights (n,), functions (n, n))}; shown: numbers of the functions.
    """
    figure, panes = plots.axes(1, len(panels), height=2.8, width=7.6)
    shades = ["black", "#777777", "#b0b0b0"]
    for ax, (title, (weights, functions)) in zip(panes, panels.items()):
        for i, color in zip(shown, shades):
            ax.plot(x, functions[i], color=color)
        size = functions.max()
        foot = -size
        height = 0.6 * size * (weights / weights.max()) ** 0.5
        ax.bar(x, height, 0.008, bottom=foot, color="#999999", linewidth=0)
        ax.set(title=title, xlabel="arm $x$", ylim=(foot, 1.15 * size))
    panes[0].set_ylabel("mean reward")
    return figure
