"""Figures of the page "Bigger domains"."""

import numpy as np

from ldpbo import plots
from notebooks.domains import boxes


def contours(ax, points, values, *, low, high, plays=(), title="", cmap="viridis"):
    """Draw values at points of a plane as filled contours between `low` and `high`; arms that were
    played are dots. Returns the contours, for a colour bar."""
    levels = np.linspace(low, high, 15)
    filled = ax.tricontourf(*points.T, values, levels=levels, cmap=cmap, extend="both")
    played = points[np.unique(plays).astype(int)]
    ax.plot(*played.T, ".", color="white", markersize=2.5, mec="black", mew=0.3)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    return filled


def users(found, data):
    """Draw relative regret against users for each function, {name: (users, shares (trials, ...))}:
    single runs thin, their mean thick. The columns go into `data`."""
    figure, ax = plots.axes(height=2.9)
    style = plots.line_style("GP-UCB", marker=None, label=None)
    for (name, (so_far, runs)), dashes in zip(found.items(), ("-", "--", "-.")):
        mean = runs.mean(axis=0)
        ax.plot(so_far, runs.T, **style | {"linewidth": 0.6, "linestyle": dashes})
        ax.plot(so_far, mean, **style | {"linestyle": dashes, "label": f"GP-UCB, {name}"})
        data |= {"users": so_far, f"{name}, mean": mean}
    grey = {"color": plots.COLORS["uniform"]}
    ax.axhline(1, linestyle=":", **grey)
    ax.annotate("uniform play", (so_far[-1], 1.03), ha="right", fontsize=8.5, **grey)
    ax.set(xscale="log", xlabel="users", ylabel="regret / uniform play", ylim=(0, 1.6))
    ax.legend(loc="lower left")
    return figure


def few_users(curves, keys, levels):
    """Draw relative regret against rounds, a column of axes for each function, {(function, eps):
    table of single runs}: the runs thin, their mean thick."""
    figure, grid = plots.axes(len(levels), len(keys) // len(levels), share=True, height=2.1)
    for ax, key in zip(grid.T.flat, keys):
        for name, part in curves[key].groupby("algorithm", sort=False):
            wide = part.pivot(index="t", columns="trial", values="relative")
            style = plots.line_style(name, markevery=6)
            ax.plot(wide.index, wide.mean(axis=1), **style)
            if name != "uniform":
                ax.plot(wide.index, wide, color=style["color"], linewidth=0.5)
        ax.set(title=f"{key[0]}, ε = {key[1]:g}", ylim=(0, 2))
    for ax in grid[-1]:
        ax.set_xlabel("round $t$")
    for ax in grid[:, 0]:
        ax.set_ylabel("regret / uniform play")
    plots.legend_below(figure, 3, fontsize=None)
    return figure


def maps(problem, marks, seen):
    """Draw the truth, and mean and half width of the band after the rounds in `marks`.

    seen: (mean, half width, arms so far) at each of them.
    """
    figure, grid = plots.axes(2, 1 + len(marks), height=2.1, width=7.6, squeeze=False)
    points, widest = problem.points, max(width.max() for _, width, _ in seen)
    contours(grid[0, 0], points, problem.f, low=-1, high=1, title="truth $f$")
    grid[1, 0].set_axis_off()
    for (top, bottom), t, (mu, width, arms) in zip(grid[:, 1:].T, marks, seen):
        title = rf"$\mu$ after {t} rounds"
        mean = contours(top, points, mu, low=-1, high=1, plays=arms, title=title)
        style = {"title": rf"$\beta\sigma$ after {t}", "cmap": "magma"}
        half = contours(bottom, points, width, low=0, high=widest, plays=arms, **style)
    bars = [
        figure.colorbar(mean, ax=grid[0], ticks=[-1, 0, 1]),
        figure.colorbar(half, ax=grid[1], format="%.1f"),
    ]
    for bar in bars:
        bar.ax.tick_params(labelsize=8)
    return figure


def spans(rounds, drawn, problems, fine):
    """Draw the size of ATA's dictionaries and what their spans miss.

    drawn: {problem: (arms, missed, ...) at each of `rounds`}; problems: their features are drawn as
    a line; fine: problems with more features, whose pivots are drawn.
    """
    figure, (size, gap) = plots.axes(1, 2)
    for (name, part), color, marker in zip(drawn.items(), ("#222222", "#888888"), "o^"):
        style = {"color": color, "marker": marker}
        dashed = {"color": color, "linestyle": "--"}
        size.plot(rounds, part[:, 0], label=f"{name}: arms drawn", **style)
        size.axhline(len(problems[name].Z), label=f"{name}: features $r$", **dashed)
        label = f"{name}: dictionary"
        gap.plot(part[:, 0], part[:, 1], linestyle="none", label=label, **style)
        pivots = 1 + np.arange(len(fine[name].Z))
        gap.plot(pivots, boxes.missed(fine[name]), label=f"{name}: pivots", **dashed)
    size.set(xscale="log", xlabel="round $t$", ylabel="arms or features")
    gap.set(xscale="log", yscale="log", ylabel="most of $k(x,x)$ missed")
    gap.set(xlabel="arms in the dictionary, or pivots")
    for ax in (size, gap):
        ax.legend(fontsize=7.5)
    return figure


def costs(bench):
    """Draw the milliseconds of a round against n, r and the rounds played, from the table of
    `make bench`; dotted: one product with the features Z."""
    figure, grid = plots.axes(1, 3, width=7.6, height=2.7)
    parts = {
        "candidates $n$": ("n", bench.query("axis == 'n' and kernel == 'SE' and d == 2")),
        "features $r$": ("r", bench.query("axis == 'r'")),
        "rounds played before": ("t", bench.query("axis == 't'")),
    }
    for ax, (xlabel, (axis, part)) in zip(grid, parts.items()):
        for name, one in part.groupby("learner", sort=False):
            ax.plot(one[axis], 1000 * one.seconds, **plots.line_style(name))
        reads = part.groupby(axis).read.min()
        style = {"color": "black", "linestyle": ":", "label": "reading the features once"}
        ax.plot(reads.index, 1000 * reads, **style)
        ax.set(xscale="linear" if axis == "t" else "log", yscale="log", xlabel=xlabel)
    ranks = sorted(parts["features $r$"][1].r.unique())
    grid[1].set_xticks(ranks, [str(rank) for rank in ranks])
    grid[1].minorticks_off()
    grid[0].set_ylabel("ms a round")
    plots.legend_below(figure, 4, fontsize=None)
    return figure
