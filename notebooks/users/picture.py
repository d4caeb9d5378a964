"""How many users are needed, from data/users.csv: as tables, and as pictures.

    python -m notebooks.users.picture book/images/users.png

The program draws the picture of the README and of the first page.
"""

import math
import sys

import numpy as np
from scipy import optimize

import ldpbo_core as core
from ldpbo import experiments, plots, results, show

SHARES = {0.5: "a half", 0.1: "a tenth", 0.01: "a hundredth"}
TITLES = {
    "se": "SE kernel (smooth)",
    "matern": "Matérn 5/2 kernel (rougher)",
    "light": "light sensors",
    "stocks": "stock prices",
}
SHORT = {"se": "SE", "matern": "Matérn", "light": "light", "stocks": "stocks"}
GREYS = {"local": "black", "aggregator": "#666666", "none": "#aaaaaa"}
SHORT_INTERVAL = 1.2  # a factor from which on an interval is written as two numbers
ENOUGH = 10**6  # users of a run without privacy
GP_UCB = {  # with the functions and the settings of data/users.csv
    "name": "GP-UCB",
    "seed": 4242,
    "constants": "proved",
    "delta": 0.1,
    "switch": 0.1,
    "lam": None,
}


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


def cell(row, per_day, usual=""):
    """Write users, time and the letter of a learner other than the usual one; a line does not end
    within '4 days · G'."""
    letter = {"PE": "E", "GP-UCB": "G"}[row["learner"]]
    time = show.duration(row["users"], per_day)
    if time[0].isdigit():
        time = time.replace(" ", "\u00a0")
    end = "" if row["learner"] == usual else f"\u00a0·\u00a0{letter}"
    return f"{show.count(row['users'])} · {time}{end}"


def spread(row):
    """Write the interval of a row: '5 to 20 million', or '270 million ± 4 %' if it is short."""
    if factor(row) < SHORT_INTERVAL:
        number = show.in_words(float(f"{row['users']:.2g}"))
        return f"{number} ± {math.ceil(100 * (factor(row) - 1))} %"
    low, high = show.count(row["low"]), show.count(row["high"])
    number, _, unit = low.partition(" ")
    return f"{number if unit and high.endswith(unit) else low} to {high}"


def factor(row):
    """Return by which factor the interval of a row reaches below or above its number."""
    return max(row["high"] / row["users"], row["users"] / row["low"])


def rows(best, data, problems, write):
    """Return the rows of a table: a problem and level each, and a cell for each share."""
    found = []
    for problem in problems:
        part = best[(best.problem == problem) & (best.data == data)]
        for eps in sorted(part.eps.unique()):
            cells = [write(value(part, eps=eps, share=share)) for share in SHARES]
            found.append([SHORT[problem], f"{eps:g}", *cells])
    return found


# ---- Without privacy -----------------------------------------------------------------------------


def least_without_privacy(table, share, kernel):
    """Return the users of the better proved learner where rewards are sent as they are.

    Those of elimination are stored; GP-UCB plays the same functions here.
    """
    chosen = dict(trust="none", share=share, problem=kernel)
    elimination = value(table, **chosen)
    problem = experiments.problem_with_norm(kernel)
    run = core.simulate_batches(problem, ENOUGH, trials=elimination["runs"], **GP_UCB)
    users = np.geomspace(100, ENOUGH, 1001)
    relative = experiments.shares(run, users).mean(axis=0)
    return min(elimination["users"], experiments.users_until(users, relative, share))


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


def draw_trust(best, table, share, plain):
    """Draw users against privacy under the three kinds of trust, a panel for each problem.

    best, table: the rows of `better`, and all; plain: {problem: users without privacy}.
    """
    figure, axes = plots.axes(1, len(plain), height=3.4, width=8.4, share=True)
    words = {"local": "trust nobody: one bit each", "aggregator": "trust a sum"}
    rows = {"local": best, "aggregator": table[table.trust == "aggregator"]}
    for ax, problem in zip(axes, plain):
        for trust, text in words.items():
            part = rows[trust][(rows[trust].problem == problem) & (rows[trust].share == share)]
            ax.fill_between(part.eps, part.low, part.high, color=GREYS[trust], **plots.BAND)
            ax.plot(part.eps, part.users, color=GREYS[trust], marker="o")
            place = dict(xytext=(14, 8), textcoords="offset points", fontsize=9)
            ax.annotate(text, (part.eps.iloc[0], part.users.iloc[0]), **place)
        ax.axhline(plain[problem], color=GREYS["none"], linestyle=":")
        ax.text(0.1, plain[problem] * 1.3, "no privacy", fontsize=9)
        ax.set(title=TITLES[problem], xscale="log", yscale="log", xlim=(0.08, 4))
        ax.set_xlabel(r"privacy $\epsilon$ (smaller is stricter)")
        ax.set_xticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
        ax.minorticks_off()
    axes[0].set(ylabel="users for a tenth", ylim=(300, 2e8))
    return figure


def main(path):
    """Draw the picture of the README and of the first page."""
    figure = draw_users(better(results.stored("users")), 50_000)
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
