"""The figure of the page *A lower bound for the domain that is played*."""

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
