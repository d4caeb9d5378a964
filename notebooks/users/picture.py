"""How many users are needed, from data/users.csv: in words, and as pictures.

    python -m notebooks.users.picture book/images/users.png

The program draws the picture of the README and of the first page.
"""

import math
import sys

import numpy as np
from scipy import optimize

from ldpbo import plots, results

SHARES = {0.5: "a half", 0.1: "a tenth", 0.01: "a hundredth"}
TITLES = {
    "se": "SE kernel (smooth)",
    "matern": "Matérn 5/2 kernel (rougher)",
    "light": "light sensors",
    "stocks": "stock prices",
}
SHORT = {"se": "SE", "matern": "Matérn", "light": "light", "stocks": "stocks"}
GREYS = {"local": "black", "aggregator": "#666666", "none": "#aaaaaa"}
STEPS = np.array([1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10])


# ---- Numbers in words ----------------------------------------------------------------------------


def rounded(x):
    """Round to a number with the digits that twelve functions support: 1, 1.5, 2, 3, ..., 9."""
    power = 10.0 ** math.floor(math.log10(x))
    return power * STEPS[np.abs(np.log(STEPS * power / x)).argmin()]


def count(x):
    """Write a number of users: '20,000', '1.5 million', 'beyond 10¹²'."""
    if not np.isfinite(x):
        return "beyond 10¹²"
    x = rounded(x)
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if x >= size:
            return f"{x / size:g}{word}"
    return f"{x:,.0f}"


def duration(users, per_day):
    """Write how long so many users take: 'within a day', '4 days', '8 weeks', '3 years'."""
    days = users / per_day
    if days < 1.25:
        return "within a day"
    unit, word = 1, "days"
    if days >= 60:
        unit, word = 7, "weeks"
    if days >= 450:
        unit, word = 365.25, "years"
    return f"{rounded(days / unit):,g} {word}" if np.isfinite(days) else "never"


# ---- The table -----------------------------------------------------------------------------------


def better(table):
    """Return the local rows of whichever proved learner needs fewer users, a row for each problem,
    level and share."""
    local = table[table.trust == "local"]
    keys = ["problem", "data", "eps", "share"]
    return local.sort_values("users", kind="stable").drop_duplicates(keys).sort_values(keys)


def value(table, **chosen):
    """Return the single row with these values."""
    for column, wanted in chosen.items():
        table = table[table[column] == wanted]
    (row,) = table.to_dict("records")
    return row


def cell(row, per_day):
    """Write users, time and learner of a row."""
    learner = {"PE": "E", "GP-UCB": "G"}[row["learner"]]
    return f"{count(row['users'])} · {duration(row['users'], per_day)} · {learner}"


def spread(row):
    """Write the interval of a row."""
    return f"{count(row['low'])} to {count(row['high'])}"


def rows(best, data, problems, write):
    """Return the rows of a table: a problem and level each, and a cell for each share."""
    found = []
    for problem in problems:
        part = best[(best.problem == problem) & (best.data == data)]
        for eps in sorted(part.eps.unique()):
            cells = [write(value(part, eps=eps, share=share)) for share in SHARES]
            found.append([SHORT[problem], f"{eps:g}", *cells])
    return found


# ---- Shuffling -----------------------------------------------------------------------------------


def shuffled(local, n, delta):
    """Return the epsilon of n shuffled reports that are `local`-LDP each (Feldman, McMillan and
    Talwar 2021, in the simplified form that the page quotes)."""
    blanket = math.sqrt(math.exp(local) * math.log(4 / delta) / n)
    return math.log1p(16 * math.tanh(local / 2) * blanket)


def local_level(eps, n, delta):
    """Return the local epsilon that n shuffled users may have for a promise of `eps`."""
    return optimize.brentq(lambda level: shuffled(level, n, delta) - eps, 1e-9, 30)


# ---- Pictures ------------------------------------------------------------------------------------


def draw_users(best, per_day, problems=("se", "matern")):
    """Draw users against privacy, a panel for each problem and a line for each share; marks show
    which learner it was."""
    figure, axes = plots.axes(1, len(problems), height=3.9, width=8.4, share=True)
    for ax, problem in zip(axes, problems):
        for share, words in SHARES.items():
            part = best[(best.problem == problem) & (best.share == share)]
            ax.fill_between(part.eps, part.low, part.high, color="#999999", **plots.BAND)
            ax.plot(part.eps, part.users, color="#999999", marker=None)
            for name, marks in part.groupby("learner"):
                style = plots.line_style(name, linestyle="none", markersize=8)
                ax.plot(marks.eps, marks.users, **style)
            first = part.iloc[0]
            place = dict(xytext=(4, 9), textcoords="offset points", fontsize=9)
            ax.annotate(words, (first.eps, first.users), **place)
        ax.set(title=TITLES[problem], xscale="log", yscale="log")
        ax.set(xlabel=r"privacy $\epsilon$ (smaller is stricter)", xlim=(0.08, 4))
        ax.set_xticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
        ax.minorticks_off()
    axes[0].set(ylabel="users", ylim=(100, 1e10))
    scale = (lambda users: users / per_day, lambda days: days * per_day)
    axes[-1].secondary_yaxis("right", functions=scale).set_ylabel(f"days at {per_day:,} a day")
    plots.legend_below(figure, 2)
    return figure


def draw_trust(table, share, problems=("se", "matern")):
    """Draw users against privacy for elimination under the three kinds of trust."""
    figure, axes = plots.axes(1, len(problems), height=3.2, width=8.4, share=True)
    words = {
        "local": "trust nobody: one bit each",
        "aggregator": "trust a sum",
        "none": "no privacy",
    }
    for ax, problem in zip(axes, problems):
        for trust, text in words.items():
            part = table[(table.trust == trust) & (table.problem == problem)]
            part = part[(part.share == share) & (part.learner == "PE")].sort_values("eps")
            if trust == "none":
                ax.axhline(part.users.iloc[0], color=GREYS[trust], linestyle=":")
                ax.text(0.09, part.users.iloc[0] * 1.3, text, fontsize=9)
                continue
            ax.fill_between(part.eps, part.low, part.high, color=GREYS[trust], **plots.BAND)
            ax.plot(part.eps, part.users, color=GREYS[trust], marker="o")
            ax.text(0.13, part.users.iloc[0] * 1.15, text, fontsize=9)
        ax.set(title=TITLES[problem], xscale="log", yscale="log", xlim=(0.08, 4))
        ax.set_xlabel(r"privacy $\epsilon$")
        ax.set_xticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
        ax.minorticks_off()
    axes[0].set_ylabel("users")
    return figure


def main(path):
    """Draw the picture of the README and of the first page."""
    figure = draw_users(better(results.stored("users")), 50_000)
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
