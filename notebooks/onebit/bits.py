"""One bit a report: pictures of reports, of seldom switching and of the ridge."""

import dataclasses
import math

import numpy as np

import ldpbo_core as core
from ldpbo import experiments, plots

WORDS = {"theorem": "printed", "repaired": "proved", "CTL": "Laplace", "OneBit": "one bit"}
KERNELS = {"se": "SE kernel", "matern": "Matérn 5/2 kernel"}


def problem(kernel, seed, trial):
    """Return the synthetic problem of a trial, told the RKHS norm of f as B and as F."""
    found = core.synthetic_problem(kernel, "uniform", core.streams(seed, trial)[0])
    norm = experiments.rkhs_norm(found)
    return dataclasses.replace(found, B=norm, F=norm)


def problem_in_range(kernel, seed, trial):
    """Return the problem of a trial whose curator is told the range max|f| instead of the norm."""
    found = problem(kernel, seed, trial)
    return dataclasses.replace(found, F=float(np.abs(found.f).max()))


def name_of(row):
    """Name a stored run by its learner, its constants in the words of this book, and its reports.

    What an old table calls "theorem" is proved for GP-UCB and printed for the paper's three.
    """
    constants = "proved" if row["name"] == "GP-UCB" else row["constants"]
    words = [WORDS.get(word, word) for word in (constants, row["curator"])]
    learner = "GP-UCB, λ = 1" if row["name"] == "GP-UCB" else row["name"]
    return ", ".join([learner, *words])


# ---- Two rows of dots ----------------------------------------------------------------------------


def reports(problem, eps, users, seed):
    """Ask users about arms at random -> (arms, one-bit reports, scale of a report)."""
    rng = np.random.default_rng(seed)
    curator = core.OneBit(eps, problem.F, problem.R)
    arms = rng.integers(problem.n, size=users)
    rewards = problem.f[arms] + rng.uniform(-problem.R, problem.R, users)
    return arms, curator.report(rewards, curator.draw(rng, users)), curator.scale


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
    columns = {"x": x, "f": problem.f}
    jitter = np.random.default_rng(seed).uniform(-0.12, 0.12, 400) * scale
    for ax, size in zip(axes, sizes):
        shown = slice(0, min(size, 400))
        dots = values[shown] + jitter[: len(values[shown])]
        ax.plot(x[arms[shown]], dots, ".", color="#999999", markersize=2.5)
        mu = estimate(problem, arms[:size], values[:size], scale)
        columns[f"estimate from {size}"] = mu
        ax.plot(x, problem.f, color="black", linestyle="--", linewidth=1.2, label="$f$")
        style = dict(color=plots.COLORS["GP-UCB"], label="estimate from the bits")
        ax.plot(x, mu, **style)
        ax.set(title=f"{size:,} users", xlabel="arm $x$")
    axes[0].set_yticks([-scale, 0, scale], [r"$-s$", "0", r"$+s$"])
    axes[0].set_ylabel("report")
    plots.legend_below(figure, 2)
    return figure, columns


# ---- Seldom switching ----------------------------------------------------------------------------


def campaign(problem, T, seed, trial, eps, **options):
    """Play one-bit GP-UCB at proved widths -> (regret over uniform play's, runs, gain)."""
    _, env, privacy, _ = core.streams(seed, trial)
    given = dict(eps=eps, curator=core.OneBit, constants="proved", rng=0)
    learner = core.make("GP-UCB", problem, T, **given, **options)
    gap = problem.f.max() - problem.f
    lost, runs = 0.0, 0
    for counts in core.play_batches(learner, env, privacy):
        lost += float(counts.sum(axis=1) @ gap)
        runs += 1
    return lost / (T * gap.mean()), runs, learner.gain


def switching(kernel, T, seed, trials, eps, switches):
    """Run GP-UCB for each value of C -> regret, runs and their bound, (len(switches), trials)."""
    shape = (len(switches), trials)
    regret = np.empty(shape)
    runs = np.empty(shape)
    most = np.empty(shape)
    for j in range(trials):
        chosen = problem(kernel, seed, j)
        for i, C in enumerate(switches):
            share, count, gain = campaign(chosen, T, seed, j, eps, switch=C, lam=None)
            regret[i, j], runs[i, j] = share, count
            most[i, j] = 1 + 2 * gain / math.log1p(C)
    return regret, runs, most


def draw_switching(switches, found):
    """Draw regret and the number of runs against C, from {kernel: `switching`}."""
    figure, axes = plots.axes(1, 2, height=3.0, width=8.4)
    columns = {"C": switches}
    for (kernel, (regret, runs, most)), dashes in zip(found.items(), ("-", "--")):
        style = plots.line_style("GP-UCB", linestyle=dashes, label=KERNELS[kernel])
        axes[0].plot(switches, regret.mean(axis=1), **style)
        axes[1].plot(switches, runs.mean(axis=1), **style)
        grey = dict(color="#999999", linestyle=dashes, marker=None)
        axes[1].plot(switches, most.mean(axis=1), label=f"at most, {KERNELS[kernel]}", **grey)
        parts = {"regret": regret, "runs": runs, "at most": most}
        columns |= {f"{kernel} {name}": part.mean(axis=1) for name, part in parts.items()}
    axes[0].axhline(1, **plots.line_style("uniform"))
    axes[0].set(yscale="log", ylabel="regret / that of uniform play", ylim=(None, 1.5))
    axes[1].set(yscale="log", ylabel="times the arm is chosen")
    for ax in axes:
        ax.set(xscale="log", xlabel="$C$ (`switch`)".replace("`", ""))
    plots.legend_below(figure, 3)
    return figure, columns


# ---- The ridge -----------------------------------------------------------------------------------


def over_ridge(kernel, T, seed, trials, eps, factors):
    """Run GP-UCB with the ridge at these multiples of (s/B)^2 -> regret, (len(factors), trials)."""
    regret = np.empty((len(factors), trials))
    for j in range(trials):
        chosen = problem(kernel, seed, j)
        matched = (core.OneBit(eps, chosen.F, chosen.R).scale / chosen.B) ** 2
        for i, factor in enumerate(factors):
            options = dict(switch=0.1, lam=factor * matched)
            regret[i, j], _, _ = campaign(chosen, T, seed, j, eps, **options)
    return regret


def draw_ridge(factors, found):
    """Draw regret against the ridge, a panel for each kernel, from {(kernel, T): `over_ridge`}."""
    figure, axes = plots.axes(1, 2, height=3.0, width=8.4, share=True)
    columns = {"factor": factors}
    horizons = sorted({T for _, T in found})
    for ax, kernel in zip(axes, KERNELS):
        for T, marker in zip(horizons, "oDs"):
            regret = found[kernel, T]
            mean = regret.mean(axis=1)
            text = f"{T:,} users"
            ax.plot(factors, mean, color=plots.COLORS["GP-UCB"], marker=marker, label=text)
            ax.annotate(text, (factors[-1], mean[-1]), xytext=(-6, 6), **LABEL)
            columns[f"{kernel} {T}"] = mean
        ax.axvline(1, color="#999999", linestyle="--", linewidth=1)
        ax.axhline(1, **plots.line_style("uniform", label="uniform play"))
        ax.set(title=KERNELS[kernel], xscale="log", yscale="log")
        ax.set_xlabel(r"ridge $\lambda$ over $(s/B)^2$")
    axes[0].set_ylabel("regret / that of uniform play")
    return figure, columns


LABEL = dict(textcoords="offset points", fontsize=8.5, horizontalalignment="right")
