"""One bit a report: pictures of reports, of seldom switching and of the ridge."""

import math

import numpy as np

import ldpbo_core as core
from ldpbo import experiments, plots

CURATORS = {"CTL": "Laplace", "OneBit": "one bit"}
OURS = {
    "GP-UCB": "GP-UCB, λ matched, proved, one bit",
    "PE": "elimination, proved, one bit",
}
KERNELS = {"se": "SE kernel", "matern": "Matérn 5/2 kernel"}
DRAWN = 400  # reports that are shown as dots
GREY = "#999999"
LABEL = {
    "xytext": (-6, 6),
    "textcoords": "offset points",
    "fontsize": 8.5,
    "horizontalalignment": "right",
}


def problem(kernel, seed, trial):
    """Return the synthetic problem of a trial, told the RKHS norm of f as B and as F."""
    drawing, *_ = core.streams(seed, trial)
    return experiments.told_norm(core.synthetic_problem(kernel, "uniform", drawing))


def problem_in_range(kernel, seed, trial):
    """Return the problem of a trial whose curator is told the range max|f| instead of the norm."""
    found = problem(kernel, seed, trial)
    largest = float(np.abs(found.f).max())
    return found.replace(F=largest)


def name_of(row):
    """Name a stored run by its learner, its constants and its reports."""
    learner = "GP-UCB, λ = 1" if row["name"] == "GP-UCB" else row["name"]
    return f"{learner}, {row['constants']}, {CURATORS[row['curator']]}"


# ---- Two rows of dots ----------------------------------------------------------------------------


def reports(problem, eps, users, seed):
    """Ask users about arms at random -> (arms, one-bit reports, scale of a report)."""
    rng = np.random.default_rng(seed)
    curator = core.OneBit(eps, problem.F, problem.R)
    arms = rng.integers(problem.n, size=users)
    rewards = problem.f[arms] + rng.uniform(-problem.R, problem.R, users)
    bits = curator.report(rewards, curator.draw(rng, users))
    return arms, bits, curator.scale


def estimate(problem, arms, values, scale):
    """Return kernel ridge regression on these reports at all arms, with the matched ridge."""
    counts = np.bincount(arms, minlength=problem.n)
    sums = np.bincount(arms, values, minlength=problem.n)
    lam = (scale / problem.B) ** 2
    inner = problem.K * counts + lam * np.eye(problem.n)
    return problem.K @ np.linalg.solve(inner.T, sums)


def draw_dots(problem, arms, values, scale, sizes, seed):
    """Draw the first reports as two rows of dots, and the curves that come out of more of them.

    -> (figure, columns of its data)
    """
    figure, axes = plots.axes(1, len(sizes), height=3.1, width=8.4, share=True)
    x = (np.arange(problem.n) + 1) / problem.n
    places = x[arms]
    heights = _jittered(values, scale, seed)
    columns = {"x": x, "f": problem.f}
    for ax, size in zip(axes, sizes):
        dots = min(size, DRAWN)
        ax.plot(places[:dots], heights[:dots], ".", color=GREY, markersize=2.5)
        ax.plot(x, problem.f, color="black", linestyle="--", linewidth=1.2, label="$f$")
        mu = estimate(problem, arms[:size], values[:size], scale)
        ax.plot(x, mu, color=plots.COLORS["GP-UCB"], label="estimate from the bits")
        ax.set(title=f"{size:,} users", xlabel="arm $x$")
        columns[f"estimate from {size}"] = mu
    axes[0].set_yticks([-scale, 0, scale], [r"$-s$", "0", r"$+s$"])
    axes[0].set_ylabel("report")
    plots.legend_below(figure, 2)
    return figure, columns


def _jittered(values, scale, seed):
    """Move the first reports up or down a little, so that their dots can be told apart."""
    jitter = np.random.default_rng(seed).uniform(-0.12, 0.12, DRAWN) * scale
    first = values[:DRAWN]
    return first + jitter[: len(first)]


# ---- Seldom switching ----------------------------------------------------------------------------


def matched_ridge(problem, eps):
    """Return (s/B)^2, s the size of a one-bit report."""
    curator = core.OneBit(eps, problem.F, problem.R)
    return (curator.scale / problem.B) ** 2


def campaign(problem, T, seed, trial, eps, *, switch, lam):
    """Play one-bit GP-UCB at proved widths.

    -> (regret over uniform play's, choices of an arm, what the theorem allows with the own gain)
    """
    _, env, privacy, _ = core.streams(seed, trial)
    given = {"eps": eps, "curator": core.OneBit, "constants": "proved", "rng": 0}
    learner = core.make("GP-UCB", problem, T, switch=switch, lam=lam, **given)
    gap = problem.f.max() - problem.f
    lost, choices = 0.0, 0
    for counts in core.play_batches(learner, env, privacy):
        plays = counts.sum(axis=1)
        lost += float(plays @ gap)
        choices += 1
    allowed = 1 + 2 * learner.gain / math.log1p(switch)
    return lost / (T * gap.mean()), choices, allowed


def by_value(table, column="share"):
    """Arrange the campaigns of a stored table: a row for each value, a column for each function."""
    return table.pivot(index="value", columns="function", values=column)


def draw_spread(ax, found, **style):
    """Draw the mean over the functions, and in a shade from the least to the largest."""
    style = {"color": plots.COLORS["GP-UCB"]} | style
    shade = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
    ax.fill_between(found.index, found.min(axis=1), found.max(axis=1), **shade)
    ax.plot(found.index, found.mean(axis=1), **style)


def draw_switching(table):
    """Draw regret and the number of choices against C. -> (figure, columns of its data)"""
    figure, (left, right) = plots.axes(1, 2, height=3.0, width=8.4)
    columns = {}
    for kernel, dashes in zip(KERNELS, ("-", "--")):
        part = table[table.kernel == kernel]
        columns |= _draw_kernel(left, right, part, kernel, dashes)
    left.axhline(1, **plots.line_style("uniform"))
    for ax in (left, right):
        ax.set(xscale="log", yscale="log", xlabel="$C$")
    left.set(ylabel="regret / that of uniform play", ylim=(None, 1.5))
    right.set_ylabel("times an arm is chosen")
    plots.legend_below(figure, 3)
    return figure, columns


def _draw_kernel(left, right, table, kernel, dashes):
    """Draw regret and choices of one kernel, with the choices that are allowed -> their means."""
    found = {name: by_value(table, name) for name in ("share", "choices", "at most")}
    means = {name: values.mean(axis=1) for name, values in found.items()}
    style = plots.line_style("GP-UCB", linestyle=dashes, label=KERNELS[kernel])
    draw_spread(left, found["share"], **style)
    draw_spread(right, found["choices"], **style)
    wide = {"color": "#c4c4c4", "linewidth": 6, "zorder": 1}  # the curve lies on it
    right.plot(means["at most"], label="the theorem's bound", **wide)
    named = {f"{kernel} {name}": mean for name, mean in means.items()}
    return {"C": found["share"].index} | named


# ---- The ridge -----------------------------------------------------------------------------------


def draw_ridge(table):
    """Draw regret against the ridge, a panel for each kernel. -> (figure, columns of its data)"""
    figure, axes = plots.axes(1, 2, height=3.0, width=8.4, share=True)
    columns = {}
    for ax, (kernel, title) in zip(axes, KERNELS.items()):
        means = _draw_campaigns(ax, table[table.kernel == kernel])
        for T, mean in means.items():
            columns |= {"factor": mean.index, f"{kernel} {T}": mean}
        ax.axvline(1, color=GREY, linestyle="--", linewidth=1)
        ax.axhline(1, **plots.line_style("uniform", label="uniform play"))
        ax.set(title=title, xscale="log", yscale="log")
        ax.set_xlabel(r"ridge $\lambda$ over $(s/B)^2$")
    axes[0].set_ylabel("regret / that of uniform play")
    return figure, columns


def _draw_campaigns(ax, table):
    """Draw the campaigns of one kernel, labelled by their users -> {users: mean regret}."""
    means = {}
    for (T, cell), marker in zip(table.groupby("users"), "oDs"):
        found = by_value(cell)
        draw_spread(ax, found, marker=marker)
        mean = found.mean(axis=1)
        end = (mean.index[-1], mean.iloc[-1])
        ax.annotate(f"{T:,} users", end, **LABEL)
        means[T] = mean
    return means
