"""What the median costs: the error of MoMA's estimate against the plays per epoch."""

from dataclasses import replace

import numpy as np

import ldpbo_core as core
from ldpbo import plots, results

LABELS = {"private": "private reports", "Student": "raw rewards, Student noise"}
OFFSETS = {"private": -14, "Student": 8}  # of the labels, in points


def measure(problem, lengths, T, runs, *, eps, seed, **options):
    """Play all arms in turn, k times each -> {(reports, k): errors of the estimate, (runs,)}.

    The error is the root of its mean square over the arms; nothing but the estimator differs.
    """
    heavy = replace(problem, noise="t3", v=problem.B**2 + 3, c=3.0)
    curator = core.CTL(eps, problem.B, problem.R)
    errors = {}
    for k in lengths:
        for name, task, level in (("private", problem, eps), ("Student", heavy, None)):
            make = {"eps": level, "k": k, "rng": 0} | options
            hide = curator.privatise if level else None
            errors[name, k] = [error(task, T, k, hide, seed, run, make) for run in range(runs)]
    return errors


def error(problem, T, k, hide, seed, run, make):
    """Tell one MoMA of T plays, all arms in turn -> the error of its estimate."""
    _, users, privacy, _ = core.streams(seed, run)
    learner = core.make("MoMA", problem, T, **make)
    for t in range(T // k * k):
        arm = (37 * (t // k)) % problem.n  # every arm in turn
        y = problem.sample(arm, users)
        learner.tell(hide(y, privacy) if hide else y, arm=arm)
    return float(np.sqrt(np.mean((learner.mu - problem.f) ** 2)))


def draw(errors, lengths, nothing):
    """Draw the errors against k; `nothing` is the error of an estimate of 0 -> (figure, data)."""
    figure, ax = plots.axes(height=3.0)
    data = {"k": lengths}
    x = np.arange(len(lengths))
    for name, dashes in (("private", "-"), ("Student", "--")):
        found = np.array([results.interval(errors[name, k]) for k in lengths])
        mean, low, high = found.T
        style = plots.line_style("MoMA", linestyle=dashes, label=None, elinewidth=1)
        ax.errorbar(x, mean, [mean - low, high - mean], **style)
        data |= {f"{name} mean": mean, f"{name} low": low, f"{name} high": high}
        place = {"xytext": (8, OFFSETS[name]), "textcoords": "offset points", "fontsize": 9}
        ax.annotate(LABELS[name], (x[1], mean[1]), color=plots.COLORS["MoMA"], **place)
    ax.axhline(nothing, color="#666666", linestyle=":")
    ax.annotate("estimate 0 everywhere", (x[0], nothing), xytext=(0, nothing + 0.05), fontsize=9)
    ax.set_xticks(x, [str(k) for k in lengths])
    ax.set(xlabel="plays per epoch, $k$", ylabel="error of the estimate", ylim=(0, None))
    return figure, data
