"""How many users are needed: by interpolation, and as a picture; as a program, that of the README.

    python -m notebooks.users.picture book/images/users.png

The program draws the picture from the users page of the last full build.
"""

import sys

import numpy as np

from ldpbo import plots, results

OTHERS_T = 50_000  # horizon of the stored runs of the other learners


def users_needed(exponents, relative, share):
    """Find the horizon at which the relative regret at 10^exponents falls below `share`, by
    interpolation in logarithms; NaN if it lies beyond."""
    relative = np.asarray(relative)
    below = relative < share
    if not below.any():
        return np.nan
    i = int(below.argmax())
    if i == 0:
        return 10.0 ** exponents[0]
    ends = slice(i - 1, i + 1)
    return 10 ** float(np.interp(-np.log(share), -np.log(relative[ends]), exponents[ends]))


def stored_runs():
    """Read the stored runs of the other learners, in the order of the rounds."""
    runs = results.stored("campaigns")
    return runs[runs["T"] == OTHERS_T].sort_values("t")


def draw(levels, needed, shares, others):
    """Draw users against privacy: elimination's `needed`, {eps: [T for each share]}, and where the
    runs of `others` fall below the first share."""
    figure, ax = plots.axes(height=4.2, width=6.4)
    for i, (share, marker) in enumerate(zip(shares, "os^D")):
        text = f"elimination, proved: regret below {share:g}"
        style = plots.line_style("PE", marker=marker, label=text)
        ax.plot(levels, [needed[eps][i] for eps in levels], **style)
    for name, part in others.groupby("name"):
        below = part[part["mean"] < shares[0]].groupby("eps").t.min()
        if len(below):
            constants = "one bit, proved" if name == "GP-UCB" else "order constants"
            text = f"{plots.label(name)}, {constants}: below {shares[0]:g}"
            style = plots.line_style(name, linestyle="none", label=text)
            ax.plot(below.index, below, **style)
    ax.set(xscale="log", yscale="log")
    ax.set(xlabel=r"privacy $\epsilon$ of one report", ylabel="users $T$")
    plots.legend_below(figure, 2)
    return figure


def main(path):
    """Draw the picture of the README and of the first page."""
    data = results.load("users", "fig-users")
    start = "elimination below "
    columns = {float(c.removeprefix(start)): c for c in data if c.startswith(start)}
    shares = sorted(columns, reverse=True)
    levels = list(data["eps"])
    needed = {eps: [data[columns[s]][i] for s in shares] for i, eps in enumerate(levels)}
    figure = draw(levels, needed, shares, stored_runs())
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
