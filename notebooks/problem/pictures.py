"""Figures of the page "The problem"."""

import numpy as np

from ldpbo import plots

NAMES = {"matern": "Matérn", "se": "SE", "linear": "linear"}


def kernels(s, x, kernel_of, functions):
    """Draw kernels against the distance s, and random functions of each on the points x."""
    figure, (left, right) = plots.axes(1, 2, height=2.7)
    for (name, k), color, style in zip(kernel_of.items(), ("#888888", "#000000"), ("-", "--")):
        left.plot(s, k, color=color, label=name, linestyle=style)
        right.plot(x, functions[name].T, color=color, linestyle=style)
    left.set(xlabel="distance $s$", ylabel="$k(x, x')$")
    left.legend()
    right.set(xlabel="$x$", ylabel="$f(x)$")
    return figure


def posteriors(problem, x, told, fits):
    """Draw the posteriors `fits` from what the learner was told, {title: (arms, rewards)}."""
    figure, axes = plots.axes(1, 2, share=True, height=2.9)
    for ax, (title, (arms, y)), (mu, sigma) in zip(axes, told.items(), fits):
        ax.plot(x[arms], y, ".", color="#888888", markersize=4)
        ax.fill_between(x, mu - 3 * sigma, mu + 3 * sigma, color="#cccccc", linewidth=0)
        ax.plot(x, mu, color="#555555", linewidth=2.2, label=r"$\mu_t \pm 3\sigma_t$")
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
    for key, color in zip(NAMES, ("#444444", "#444444", "#999999")):
        ax, scale = (left, np.asarray) if key == "matern" else (right, np.log)
        x = scale(horizons)
        style = {"color": color, "linestyle": "none"}
        ax.plot(scale(few), greedy[key][few], color=color, linewidth=3, alpha=0.35)
        ax.plot(x, high[key], marker="v", label=NAMES[key], **style)
        ax.plot(x, low[key], marker="^", markerfacecolor="none", **style)
    _powers_of_T(left, horizons, high["matern"][-1], powers)
    _powers_of_log(right, np.log(horizons), high["se"][-1], high["linear"][-1])
    left.set(xlabel="horizon $T$", xscale="log", yscale="log")
    right.set(xlabel=r"$\ln T$")
    for ax in (left, right):
        ax.set_ylabel(r"information gain $\gamma_T$")
        ax.legend(loc="upper left", fontsize=8)
    return figure


def _powers_of_T(ax, horizons, last, powers):
    """Draw powers of T, {text: exponent}, through the last point."""
    for (text, power), dashes in zip(powers.items(), ("--", "-")):
        line = last * (horizons / horizons[-1]) ** power
        style = {"color": "black", "linewidth": 0.9, "linestyle": dashes}
        ax.plot(horizons, line, label=f"{text}: {power:.3f}", **style)


def _powers_of_log(ax, log_T, last_se, last_linear):
    """Draw (ln T)^2 and ln T through the last points."""
    rise = log_T / log_T[-1]
    ax.plot(log_T, last_se * rise**2, "k--", linewidth=0.9, label=r"$\propto(\ln T)^2$")
    ax.plot(log_T, last_linear * rise, "k:", linewidth=1.2, label=r"$\propto\ln T$")
