"""The answer of GET /best narrows as users come in: the page's figure of that."""

import experiment
import ledger
import numpy as np
import users

import ldpbo_core as core
from ldpbo import plots

GREY = "#666666"  # of the legend: each panel has the colour of its learner
MEANS = [users.mean_reward(point) for point in experiment.POINTS.tolist()]


def standings(name, T, seed):
    """Play T simulated users, with sums in their exact law -> what `/best` says after each plan."""
    problem = experiment.PROBLEM.replace(f=MEANS)
    options = experiment.LEARNERS[name] | {"curator": core.OneBit, "constants": "proved"}
    learner = core.make(name, problem, T, eps=experiment.EPS, rng=0, **options)
    environment = np.random.default_rng([seed, 1])
    privacy = np.random.default_rng([seed, 2])
    return [ledger.standing(learner) for _ in core.play_batches(learner, environment, privacy)]


def overtaken(found):
    """Find from how many users on elimination's bound stays below GP-UCB's, and by what factor.

    The number is NaN where it does not; the factor is that at the end.
    """
    starts = [rows[0]["users"] for rows in found.values()]
    times = np.unique([row["users"] for rows in found.values() for row in rows])
    times = times[times >= max(starts)]
    known = {name: [_latest(rows, t)["regret"] for t in times] for name, rows in found.items()}
    factors = np.divide(known["GP-UCB"], known["PE"])
    behind = np.flatnonzero(factors <= 1)
    ahead = times[behind[-1] + 1 :] if len(behind) else times
    return (ahead[0] if len(ahead) else np.nan), factors[-1]


def _latest(rows, time):
    """Return what `/best` says after so many users."""
    return [row for row in rows if row["users"] <= time][-1]


def draw(found):
    """Draw the interval of the named arm and the bound on its regret -> (figure, data)."""
    figure, axes = plots.axes(1, len(found), share=True)
    data = {}
    for ax, (name, rows) in zip(axes, found.items()):
        columns = {}
        for key in ("users", "lower", "upper", "regret"):
            columns[key] = [row[key] for row in rows]
            data[f"{name} {key}"] = columns[key]
        _narrowing(ax, **columns, color=plots.COLORS[name])
        ax.axhline(max(MEANS), color="black", linestyle="--", linewidth=1, label="largest mean")
        ax.set(xscale="log", xlabel="users", title=plots.LABELS[name], ylim=(-1.2, 2.2))
    axes[0].set_ylabel("reward")
    axes[0].fill_between([], [], color=GREY, label="mean of the named arm", **plots.BAND)
    axes[0].plot([], [], color=GREY, label="regret at most")
    plots.legend_below(figure, 3)
    return figure, data


def _narrowing(ax, users, lower, upper, regret, color):
    """Draw the interval of the named arm's mean by users, and the bound on its regret."""
    ax.fill_between(users, lower, upper, color=color, **plots.BAND)
    ax.plot(users, regret, color=color)
