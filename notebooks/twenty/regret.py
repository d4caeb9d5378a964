"""The price of privacy on the running example: regret against visitors, three kinds of reports."""

import numpy as np

import ldpbo_core as core
from ldpbo import experiments, plots
from notebooks.twenty import example

KEYS = {"none": "no privacy", "bit": "one bit", "laplace": "Laplace"}
BESIDE = {  # a label to the right of a line's end
    "textcoords": "offset points",
    "xytext": (5, -3),
    "fontsize": 9,
    "annotation_clip": False,
}
DASHES = {"no privacy": "--", "one bit": "-", "Laplace": "-."}


def measure(T, eps, trials, seed):
    """Play GP-UCB at proved widths -> {reports: (visitors, mean relative regret)}."""
    private = {"one bit": core.OneBit, "Laplace": core.CTL}
    found = {}
    for name in KEYS.values():
        given = {"trials": trials, "seed": seed, "name": "GP-UCB", "switch": 0.1, "lam": None}
        if name in private:
            given |= {"eps": eps, "curator": private[name]}
        run = core.simulate_batches(example.PROBLEM, T, constants="proved", **given)
        share = run.regret / (run.t * run.uniform[0])
        found[name] = run.t, share.mean(axis=0)
    return found


def users(curve, share):
    """Write after how many visitors the relative regret stays below a share."""
    first = experiments.users_until(*curve, share)
    if first == np.inf:
        return f"more than {curve[0][-1]:,}"
    return f"{first:,.0f}" if first < 1000 else f"about {round(first, -2):,.0f}"


def part_of(*curves, share):
    """Compare the visitors of two curves in words: "about 8 % of the visitors"."""
    few, many = (experiments.users_until(*curve, share) for curve in curves)
    if np.inf in (many, few):
        return "fewer visitors"
    return f"about {100 * few / many:.0f}\u00a0% of the visitors"


def draw(curves):
    """Draw relative regret against visitors, with labels at the lines -> (figure, data)."""
    figure, ax = plots.axes(height=3.2)
    data = {}
    ax.axhline(1, **plots.line_style("uniform"))
    for name, (t, values) in curves.items():
        ax.plot(t, values, color=plots.COLORS["GP-UCB"], linestyle=DASHES[name], label=name)
        ax.annotate(name, (t[-1], values[-1]), **BESIDE)
        data |= {f"visitors, {name}": t, name: values}
    ax.set(xscale="log", xlabel="visitors", ylabel="regret / regret of uniform play")
    ax.set(xlim=(10, t[-1]), ylim=(0, 1.15))
    ax.annotate("uniform play", (t[-1], 1), **BESIDE)
    return figure, data
