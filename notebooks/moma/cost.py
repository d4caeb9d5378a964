"""What the median costs: the error of MoMA's estimate against the plays per epoch."""

from dataclasses import replace

import numpy as np

import ldpbo_core as core
from ldpbo import plots, results

LABELS = {"private": "private reports", "Student": "raw rewards, Student noise"}
PLACES = {"private": ((-8, 8), "right"), "Student": ((8, 8), "left")}  # of the labels, in points


def measure(problem, lengths, T, runs, *, eps, seed, **options):
    """Play all arms in turn, k times each -> {(reports, k): errors of the estimate, (runs,)}.

    The error is the root of its mean square over the arms; nothing but the estimator differs.
    """
    heavy = replace(problem, noise="t3", v=problem.B**2 + 3, c=3.0)
    curator = core.CTL(eps, problem.B, problem.R)
    options = {"T": T, "rng": 0} | options
    errors = {}
    for k in lengths:
        errors["private", k] = []
        errors["Student", k] = []
        for run in range(runs):
            private = core.make("MoMA", problem, k=k, eps=eps, **options)
            found = error(private, problem, curator, core.streams(seed, run))
            errors["private", k].append(found)
            plain = core.make("MoMA", heavy, k=k, **options)
            found = error(plain, heavy, core.Identity(), core.streams(seed, run))
            errors["Student", k].append(found)
    return errors


def error(learner, problem, curator, streams):
    """Tell a MoMA of whole epochs, all arms in turn -> the error of its estimate."""
    _, users, privacy, _ = streams
    for t in range(learner.N * learner.k):
        epoch = t // learner.k
        arm = arm_of(epoch, problem)
        reward = problem.sample(arm, users)
        report = curator.privatise(reward, privacy)
        learner.tell(report, arm=arm)
    square = np.mean((learner.mu - problem.f) ** 2)
    return float(np.sqrt(square))


def arm_of(epoch, problem):
    """Step through the arms by 37, so that early epochs are spread over the domain."""
    return (37 * epoch) % problem.n


def without_noise(problem, k, T, lam):
    """Compute the error of an estimate that sees f itself, once in each of T // k epochs."""
    epochs = np.arange(T // k)
    arms = arm_of(epochs, problem)
    mu, _ = core.posterior(problem.K, arms, problem.f[arms], lam)
    square = np.mean((mu - problem.f) ** 2)
    return float(np.sqrt(square))


def in_words(errors, lengths, nothing):
    """Say how the errors on private reports compare -> {key: the middle of a sentence}.

    answer: what the median is; single: how one estimate (k = 1) compares with any median; beside:
    how the median at k = 13 compares with 0.
    """
    mean = {k: np.mean(errors["private", k]) for k in lengths}
    best = min(mean, key=mean.get)
    return {
        "answer": "a safe way and an expensive one" if best == 1 else "a safe way",
        "single": "better than" if best == 1 else "not always better than",
        "beside": "better than" if mean[13] < nothing else "no better than",
    }


def draw(errors, lengths, nothing):
    """Draw the errors against k; `nothing` is the error of an estimate of 0 -> (figure, data)."""
    figure, ax = plots.axes(height=3.0)
    data = {"k": lengths}
    for name in LABELS:
        found = [results.interval(errors[name, k]) for k in lengths]
        mean, low, high = np.array(found).T
        _curve(ax, mean, low, high, name)
        data[f"{name} mean"] = mean
        data[f"{name} low"] = low
        data[f"{name} high"] = high
    ax.axhline(nothing, color="#666666", linestyle=":")
    ax.annotate("estimate 0 everywhere", (0, nothing), (0, nothing + 0.05), fontsize=9)
    ax.set_xticks(range(len(lengths)), [str(k) for k in lengths])
    ax.set(xlabel="plays per epoch, $k$", ylabel="error of the estimate", ylim=(0, None))
    return figure, data


def _curve(ax, mean, low, high, name):
    """Draw a mean with its interval at 0, 1, 2, ..., and its name beside the second point."""
    style = plots.line_style("MoMA", name == "private", label=None, elinewidth=1)
    ends = [mean - low, high - mean]
    ax.errorbar(range(len(mean)), mean, ends, **style)
    second = 1, mean[1]
    offset, side = PLACES[name]
    plots.beside(ax, LABELS[name], second, offset, fontsize=9, ha=side, color=style["color"])
