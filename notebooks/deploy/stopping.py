"""How the answer of GET /best narrows as users come in, for the page's figure."""

import dataclasses

import experiment
import ledger
import numpy as np
import users

import ldpbo_core as core
from ldpbo import plots

MEANS = [users.mean_reward(point) for point in experiment.POINTS.tolist()]


def standings(name, T, seed):
    """Play T simulated users, with sums in their exact law -> what `/best` says after each plan."""
    problem = dataclasses.replace(experiment.PROBLEM, K=None, f=MEANS)
    options = experiment.LEARNERS[name] | {"curator": core.OneBit, "constants": "proved"}
    learner = core.make(name, problem, T, eps=experiment.EPS, rng=0, **options)
    environment = np.random.default_rng([seed, 1])
    privacy = np.random.default_rng([seed, 2])
    return [ledger.standing(learner) for _ in core.play_batches(learner, environment, privacy)]


def draw(found):
    """Draw the interval of the named arm and the bound on its regret -> (figure, data)."""
    figure, axes = plots.axes(1, len(found), share=True)
    data = {}
    for ax, (name, rows) in zip(axes, found.items()):
        columns = {key: [row[key] for row in rows] for key in ("users", "lower", "upper", "regret")}
        color = plots.COLORS[name]
        band = plots.BAND | {"label": "mean of the named arm"}
        ax.fill_between(columns["users"], columns["lower"], columns["upper"], color=color, **band)
        ax.plot(columns["users"], columns["regret"], color=color, label="regret at most")
        ax.axhline(max(MEANS), color="black", linestyle="--", linewidth=1, label="largest mean")
        ax.set(xscale="log", xlabel="users", title=plots.LABELS[name], ylim=(-1.2, 2.2))
        ax.legend(loc="lower left")
        data |= {f"{name} {key}": values for key, values in columns.items()}
    return figure, data
