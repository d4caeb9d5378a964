"""The figures of the page *Elimination*."""

import numpy as np

from ldpbo import plots

COLOR = plots.COLORS["PE"]
UCB = plots.COLORS["GP-UCB"]
CURVES = {
    "uniform": plots.line_style("uniform", label="uniform play"),
    "PE": plots.line_style("PE", marker=None, label="elimination, proved widths"),
    "GP-UCB": plots.line_style("GP-UCB", marker=None, label="GP-UCB, seldom switching, proved"),
    "useful": {"color": COLOR, "linestyle": "--", "label": "proved bound of elimination"},
    "useful GP-UCB": {"color": UCB, "linestyle": "--", "label": "proved bound of GP-UCB"},
    "lower": {"color": "black", "linestyle": "-.", "label": "lower bound for these arms"},
}
PEOPLE = 8.2e9  # on Earth
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


def chosen(states):
    """Return the batches that are drawn: the first, one at a third of them, and the last."""
    last = len(states) - 1
    return np.unique([0, last // 3, last])


def steps(problem, states):
    """Draw some of the batches: what is known of each arm in play after it, and how it spread its
    users; the later ones show only the arms that are still in play.

    states: a dict with counts, before, active, lower and upper for each batch.
    """
    drawn = chosen(states)
    figure, grid = plots.axes(
        2, len(drawn), height=2.1, width=7.6, gridspec_kw={"height_ratios": (3, 1)}
    )
    for (above, below), i in zip(grid.T, drawn):
        state = states[i]
        users = state["counts"].sum()
        kept = f"{state['before'].sum()} arms in play, {state['active'].sum()} kept"
        above.set_title(f"batch {i + 1}: {users:,} users\n{kept}", fontsize=9.5)
        _known(above, problem, state)
        _spread(below, problem, state)
        below.sharex(above)
        above.tick_params(labelbottom=False)
        below.set_xlabel("arm $x$")
    grid[0, 0].set_ylabel("reward")
    grid[1, 0].set_ylabel("% of users")
    return figure


def places(problem):
    """Return where the arms lie in [0, 1]."""
    return (np.arange(problem.n) + 1) / problem.n


def _known(ax, problem, state):
    """Draw f, what is known of the arms in play, and which of them are kept."""
    x = places(problem)
    before = state["before"]
    if before.mean() < 0.5:
        margin = 2 / problem.n
        ax.set_xlim(x[before].min() - margin, x[before].max() + margin)
    known = np.where(before, state["upper"], np.nan), np.where(before, state["lower"], np.nan)
    near = before if before.mean() < 0.5 else np.ones(problem.n, bool)
    low = min(np.nanmin(known[1]), problem.f[near].min())
    high = max(np.nanmax(known[0]), problem.f[near].max())
    room = 0.12 * (high - low)
    ax.set_ylim(low - 1.6 * room, high + room)
    ax.errorbar(
        x,
        (known[0] + known[1]) / 2,
        (known[0] - known[1]) / 2,
        fmt="none",
        ecolor=COLOR,
        elinewidth=1.2,
        alpha=0.7,
        label="what is known",
    )
    ax.plot(x, problem.f, color="black", linewidth=1.2, label="mean reward $f$")
    best = problem.f.argmax()
    ax.axvline(x[best], color="black", linestyle=":", linewidth=0.9, label="best arm")
    kept = x[state["active"]]
    style = {"color": COLOR, "markersize": 3.5, "label": "kept"}
    ax.plot(kept, np.full(len(kept), low - 0.8 * room), "s", **style)


def _spread(ax, problem, state):
    """Draw how the batch spread its users over the arms."""
    share = 100 * state["counts"] / state["counts"].sum()
    ax.bar(places(problem), share, 0.8 / problem.n, color="#777777")
    ax.set_ylim(bottom=0)
    ax.grid(visible=False, axis="x")


def regret(panels):
    """Draw regret against users, a panel for each kernel: learners, uniform play and bounds.

    panels: {title: table by users}; its curves are those of CURVES.
    """
    figure, panes = plots.axes(1, len(panels), height=3.9, width=7.6, share=True)
    for ax, (title, curves) in zip(panes, panels.items()):
        for name, style in CURVES.items():
            ax.plot(curves[name], **style)
        ax.axvspan(PEOPLE, curves.index.max(), color="#eeeeee", zorder=0)
        ax.set(title=title, xlabel="users $T$", xscale="log", yscale="log")
    panes[0].set_ylabel("regret $R_T$")
    return figure
