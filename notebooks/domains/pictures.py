"""Figures of the page "Bigger domains"."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from ldpbo import plots
from notebooks.domains import boxes

DOT = {"color": "white", "markersize": 2.6, "mec": "black", "mew": 0.6}


def called(name):
    """Return the label of an algorithm in the words of the page: TGP, ATA, MoMA and GP-UCB."""
    return plots.LABELS[name] if name == "uniform" else name


def contours(ax, points, values, *, low, high, plays=(), title="", cmap="viridis"):
    """Draw values at points of a plane as filled contours between `low` and `high`; arms that were
    played are dots. Returns the contours, for a colour bar."""
    levels = np.linspace(low, high, 24)
    filled = ax.tricontourf(*points.T, values, levels=levels, cmap=cmap, extend="both")
    played = points[np.unique(plays).astype(int)]
    ax.plot(*played.T, "o", **DOT)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    return filled


def users(found, data):
    """Draw relative regret against users, {function: (users, shares (trials, ...))}: single runs
    thin, their mean thick. The columns go into `data`."""
    figure, panels = plots.axes(1, len(found), share=True, height=2.5)
    style = plots.line_style("GP-UCB", marker=None, label=None)
    for ax, (name, (so_far, runs)) in zip(panels, found.items()):
        mean = runs.mean(axis=0)
        ax.plot(so_far, runs.T, linewidth=0.6, **style)
        ax.plot(so_far, mean, **style)
        ax.axhline(1, **plots.line_style("uniform", label=None))
        ax.set(title=name, xscale="log", xlabel="users", ylim=(0, None))
        data |= {"users": so_far, f"{name}, mean": mean}
    panels[0].set_ylabel("regret / uniform play")
    return figure


def few_users(curves, keys, levels):
    """Draw relative regret against rounds, a column of axes for each function, {(function, eps):
    table of single runs}: the runs thin, their mean thick."""
    functions = len(keys) // len(levels)
    figure, grid = plots.axes(len(levels), functions, share=True, height=2.1)
    for ax, key in zip(grid.T.flat, keys):
        function, eps = key
        table = curves[key]
        _runs(ax, table[table.t >= table.t.max() / 10])
        ax.set(title=f"{function}, ε = {eps:g}", ylim=(0, None), xlim=0)
    for ax in grid[-1]:
        ax.set_xlabel("round $t$")
    for ax in grid[:, 0]:
        ax.set_ylabel("regret / uniform play")
    plots.legend_below(figure, 3, fontsize=None)
    return figure


def _runs(ax, table):
    """Draw the mean of each algorithm with its markers, and thin lines for its single runs."""
    for name, part in table.groupby("algorithm", sort=False):
        runs = part.pivot(index="t", columns="trial", values="relative")
        style = plots.line_style(name, markevery=6, label=called(name))
        ax.plot(runs.index, runs.mean(axis=1), **style)
        if name != "uniform":
            ax.plot(runs.index, runs, color=style["color"], linewidth=0.5)


def maps(problem, marks, seen):
    """Draw the truth, and mean and half width of the band after the rounds in `marks`; the best
    candidate is a star.

    seen: (mean, half width, arms so far) at each of them.
    """
    size = {"height": 2.1, "width": 7.6, "squeeze": False}
    figure, grid = plots.axes(2, 1 + len(marks), **size)
    points = problem.points
    widest = max(half.max() for _, half, _ in seen)
    means = {"low": -1, "high": problem.f.max()}
    halves = {"low": 0, "high": widest, "cmap": "magma"}
    contours(grid[0, 0], points, problem.f, title="truth $f$", **means)
    star = {"marker": "*", "color": "red", "markersize": 8, "mec": "black", "mew": 0.5}
    grid[0, 0].plot(*points[problem.f.argmax()], **star)
    grid[1, 0].set_axis_off()
    for ax in (grid[0, 0], grid[1, 1]):
        ax.set_ylabel("$x_2$")
    for ax in (grid[0, 0], *grid[1, 1:]):
        ax.set_xlabel("$x_1$")
    for column, t, (mu, half, arms) in zip(grid[:, 1:].T, marks, seen):
        top, bottom = column
        means |= {"plays": arms, "title": rf"$\mu$ after {t} rounds"}
        halves |= {"plays": arms, "title": rf"$\beta\sigma$ after {t}"}
        upper = contours(top, points, mu, **means)
        lower = contours(bottom, points, half, **halves)
    _color_bar(upper, grid[0], ticks=[-1, 0, 1])
    _color_bar(lower, grid[1], ticks=MaxNLocator(4))
    return figure


def _color_bar(filled, row, **options):
    """Draw the colour bar of a row of contours, with small numbers."""
    bar = row[0].figure.colorbar(filled, ax=row, **options)
    bar.ax.tick_params(labelsize=8)


def spans(rounds, drawn, problems, fine):
    """Draw the size of ATA's dictionaries and what their spans miss.

    drawn: {problem: (arms, missed, ...) at each of `rounds`}; problems: their features are drawn as
    a line; fine: problems with more features, whose pivots are drawn.
    """
    figure, (size, gap) = plots.axes(1, 2)
    for name, color, marker in zip(drawn, ("#222222", "#888888"), "o^"):
        arms, missed, *_ = drawn[name].T
        missed_by_pivots = boxes.missed(fine[name])
        pivots = 1 + np.arange(len(missed_by_pivots))
        features = len(problems[name].Z)
        marked = {"color": color, "marker": marker}
        dashed = {"color": color, "linestyle": "--"}
        size.plot(rounds, arms, label=f"{name}: arms drawn", **marked)
        size.axhline(features, label=f"{name}: features $r$", **dashed)
        gap.plot(arms, missed, linestyle="none", label=f"{name}: dictionary", **marked)
        gap.plot(pivots, missed_by_pivots, label=f"{name}: pivots", **dashed)
    size.set(xscale="log", xlabel="round $t$", ylabel="arms or features")
    gap.set(xscale="log", yscale="log", ylabel="most of $k(x,x)$ missed")
    gap.set(xlabel="arms in the dictionary, or pivots")
    for ax in (size, gap):
        ax.legend(fontsize=7.5)
    return figure


def costs(bench):
    """Draw the milliseconds of a round against n, r and the rounds played, from the table of
    `make bench`; dotted: one product with the features Z."""
    figure, (arms, features, rounds) = plots.axes(1, 3, width=7.6, height=2.7)
    by_rank = bench.query("axis == 'r'")
    _cost(arms, bench.query("axis == 'n' and kernel == 'SE' and d == 2"), "n")
    _cost(features, by_rank, "r")
    _cost(rounds, bench.query("axis == 't'"), "t")
    arms.set(xscale="log", xlabel="candidates $n$", ylabel="ms a round")
    features.set(xscale="log", xlabel="features $r$")
    rounds.set(xlabel="rounds played before")
    ranks = sorted(by_rank.r.unique())
    features.set_xticks(ranks, [str(rank) for rank in ranks])
    features.minorticks_off()
    plots.legend_below(figure, 4, fontsize=None)
    return figure


def _cost(ax, table, axis):
    """Draw the milliseconds of a round of each learner against one column of the table."""
    for name, part in table.groupby("learner", sort=False):
        milliseconds = 1000 * part.seconds
        ax.plot(part[axis], milliseconds, **plots.line_style(name, label=called(name)))
    reads = table.groupby(axis).read.min()
    style = {"color": "black", "linestyle": ":", "label": "one product with $Z$"}
    ax.plot(reads.index, 1000 * reads, **style)
    ax.set_yscale("log")
