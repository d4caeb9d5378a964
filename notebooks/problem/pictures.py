"""Figures of the page "The problem"."""

import numpy as np

from ldpbo import plots

NAMES = {"matern": "Matérn", "se": "SE", "linear": "linear"}


def kernels(s, x, kernel_of, functions):
    """Draw kernels against the distance s, and random functions of each on the points x."""
    figure, (left, right) = plots.axes(1, 2, height=2.7)
    for (name, k), color, style in zip(kernel_of.items(), plots.PALETTE, ("-", "--")):
        left.plot(s, k, color=color, label=name, linestyle=style)
        right.plot(x, functions[name].T, color=color, linestyle=style)
    left.set(xlabel="distance $s$", ylabel="$k(x, x')$")
    left.legend()
    right.set(xlabel="$x$", ylabel="$f(x)$")
    return figure


def posteriors(problem, x, told, fits):
    """Draw the posteriors `fits` from what the learner was told, {title: (arms, rewards)}."""
    figure, axes = plots.axes(1, 2, share=True, height=2.9)
    color = plots.PALETTE[0]
    for ax, (title, (arms, y)), (mu, sigma) in zip(axes, told.items(), fits):
        ax.plot(x[arms], y, ".", color="#888888", markersize=4)
        ax.fill_between(x, mu - 3 * sigma, mu + 3 * sigma, color=color, alpha=0.25, linewidth=0)
        ax.plot(x, mu, color=color, label=r"$\mu_t \pm 3\sigma_t$")
        ax.plot(x, problem.f, "k--", linewidth=1.2, label="$f$")
        ax.set(title=title, xlabel="$x$", ylim=(-2.5 * problem.B, 2.5 * problem.B))
    axes[0].legend(loc="lower left", ncols=2)
    return figure


def information_gain(horizons, low, high, greedy, powers):
    """Draw the bounds {kernel: gain at each horizon} and the greedy value {kernel: gain by round}.

    The Matérn kernel is drawn on logarithmic axes, with a line for each of `powers` of T through
    the last point; the others are drawn against ln T.
    """
    figure, (left, right) = plots.axes(1, 2, height=3.1)
    few = plots.thin(10000, 60)[2:] + 1
    for key, color in zip(NAMES, plots.PALETTE):
        ax = left if key == "matern" else right
        x, x_few = (t if key == "matern" else np.log(t) for t in (horizons, few))
        style = {"color": color, "linestyle": "none"}
        ax.plot(x_few, greedy[key][few], color=color, linewidth=3, alpha=0.35)
        ax.plot(x, high[key], marker="v", label=NAMES[key], **style)
        ax.plot(x, low[key], marker="^", markerfacecolor="none", **style)
    for (text, power), dashes in zip(powers.items(), ("--", "-")):
        line = high["matern"][-1] * (horizons / horizons[-1]) ** power
        text = f"{text}: {power:.3f}"
        left.plot(horizons, line, color="black", linewidth=0.9, linestyle=dashes, label=text)
    log_T = np.log(horizons)
    rise = log_T / log_T[-1]
    right.plot(log_T, high["se"][-1] * rise**2, "k--", linewidth=0.9, label=r"$\propto(\ln T)^2$")
    right.plot(log_T, high["linear"][-1] * rise, "k:", linewidth=1.2, label=r"$\propto\ln T$")
    left.set(xlabel="horizon $T$", xscale="log", yscale="log")
    right.set(xlabel=r"$\ln T$")
    for ax in (left, right):
        ax.set_ylabel(r"information gain $\gamma_T$")
        ax.legend(loc="upper left", fontsize=8)
    return figure
