"""Figures of the page "The problem"."""

import numpy as np

from ldpbo import plots

NAMES = {"matern": "Matérn", "se": "SE", "linear": "linear"}
GREYS = {"matern": "#444444", "se": "#444444", "linear": "#999999"}
THIN = {"color": "black", "linewidth": 0.9}


def kernels(s, x, kernel_of, functions):
    """Draw kernels against the distance s, and random functions of each on the points x."""
    figure, (left, right) = plots.axes(1, 2, height=2.7)
    styles = [
        {"color": "#888888", "linestyle": "-"},
        {"color": "#000000", "linestyle": "--"},
    ]
    for name, style in zip(kernel_of, styles):
        left.plot(s, kernel_of[name], label=name, **style)
        right.plot(x, functions[name].T, **style)
    left.set(xlabel="distance $s$", ylabel="$k(x, x')$")
    left.legend()
    right.set(xlabel="$x$", ylabel="$f(x)$")
    return figure


def posteriors(problem, x, told, fits):
    """Draw the posteriors `fits` from what the learner was told, {title: (arms, rewards)}."""
    figure, axes = plots.axes(1, 2, share=True, height=2.9)
    top = 2.5 * problem.B
    for ax, title, fit in zip(axes, told, fits):
        arms, rewards = told[title]
        ax.plot(x[arms], rewards, ".", color="#888888", markersize=4)
        _posterior(ax, x, *fit)
        ax.plot(x, problem.f, **plots.TRUTH)
        ax.set(title=title, xlabel="$x$", ylim=(-top, top))
    axes[0].legend(loc="lower left", ncols=2)
    return figure


def _posterior(ax, x, mu, sigma):
    """Draw the posterior mean in a band of three deviations."""
    plots.band(ax, x, mu, 3 * sigma, color="#cccccc")
    label = r"$\mu_t \pm 3\sigma_t$"
    ax.plot(x, mu, color="#555555", linewidth=2.2, label=label)


def information_gain(horizons, low, high, greedy, powers):
    """Draw the bounds {kernel: gain at each horizon} and the greedy value {kernel: gain by round}.

    The Matérn kernel is drawn on logarithmic axes, with a line for each of `powers` of T through
    the last point; the others are drawn against ln T.
    """
    figure, (left, right) = plots.axes(1, 2, height=3.1)
    rounds = plots.thin(10000, 60)[2:] + 1
    for key in NAMES:
        ax = left if key == "matern" else right
        scale = np.asarray if key == "matern" else np.log
        gain = greedy[key][rounds]
        ax.plot(scale(rounds), gain, color=GREYS[key], linewidth=3, alpha=0.35)
        _triangles(ax, scale(horizons), low[key], high[key], key)
    last = {key: bounds[-1] for key, bounds in high.items()}
    _powers_of_T(left, horizons, last["matern"], powers)
    _powers_of_log(right, np.log(horizons), last["se"], last["linear"])
    left.set(xlabel="horizon $T$", xscale="log", yscale="log")
    right.set(xlabel=r"$\ln T$")
    for ax in (left, right):
        ax.set_ylabel(r"information gain $\gamma_T$")
        ax.legend(loc="upper left", fontsize=8)
    return figure


def _triangles(ax, x, low, high, key):
    """Mark the upper bounds of a kernel by full triangles and the lower ones by hollow ones."""
    style = {"color": GREYS[key], "linestyle": "none"}
    ax.plot(x, high, marker="v", label=NAMES[key], **style)
    ax.plot(x, low, marker="^", markerfacecolor="none", **style)


def _powers_of_T(ax, horizons, last, powers):
    """Draw powers of T, {text: exponent}, through the last point."""
    rise = horizons / horizons[-1]
    for text, dashes in zip(powers, ("--", "-")):
        power = powers[text]
        style = THIN | {"linestyle": dashes, "label": f"{text}: {power:.3f}"}
        ax.plot(horizons, last * rise**power, **style)


def _powers_of_log(ax, log_T, last_se, last_linear):
    """Draw (ln T)^2 and ln T through the last points."""
    rise = log_T / log_T[-1]
    square = {"linestyle": "--", "label": r"$\propto(\ln T)^2$"}
    simple = {"linestyle": ":", "label": r"$\propto\ln T$", "linewidth": 1.2}
    ax.plot(log_T, last_se * rise**2, **THIN | square)
    ax.plot(log_T, last_linear * rise, **THIN | simple)
