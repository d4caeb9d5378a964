"""The figure of the page "Privacy: the Laplace curator"."""

import numpy as np

from ldpbo import plots


def densities(ax, curator, z):
    """Draw the density of the report z for the two extreme rewards and for 0 -> data."""
    bound, data = curator.bound, {}
    styles = {
        "$y=-(B+R)$": (-bound, plots.PALETTE[0], "-"),
        "$y=0$": (0.0, plots.PALETTE[6], "--"),
        "$y=B+R$": (bound, plots.PALETTE[1], "-."),
    }
    for text, (y, color, dashes) in styles.items():
        density = np.exp(curator.log_density(z, y))
        ax.plot(z, density, color=color, linestyle=dashes, label=text)
        data[f"density y={y:g}"] = density
    ax.set(xlabel=r"report $\bar y$", ylabel="density", ylim=(0, 0.75 / curator.scale))
    ax.legend(loc="upper left")
    return data


def log_ratios(ax, curator, z, outside):
    """Draw the log-ratio of two densities at the report z for four pairs of rewards -> data."""
    bound, eps = curator.bound, curator.eps

    def clipped(y):
        return curator.log_density(z, y)

    def noise_alone(y):
        return -np.abs(z - y) / curator.scale

    far = f"${outside:g}(B+R)$ against $-(B+R)$"
    ratios = {
        "$B+R$ against $-(B+R)$": clipped(bound) - clipped(-bound),
        "$B+R$ against $0$": clipped(bound) - clipped(0.0),
        f"{far}, not clipped": noise_alone(outside * bound) - noise_alone(-bound),
        f"{far}, clipped": clipped(outside * bound) - clipped(-bound),
    }
    styles = [(0, "-", 1.6), (2, "--", 1.6), (1, ":", 1.6), (3, (0, (1, 3)), 2.4)]
    for (text, ratio), (color, dashes, width) in zip(ratios.items(), styles):
        style = {"color": plots.PALETTE[color], "linestyle": dashes, "linewidth": width}
        ax.plot(z, ratio, label=text, **style)
    for level in (-eps, eps):
        ax.axhline(level, color="black", linewidth=1, linestyle=":")
    limits = (-2.1 * eps, 2.9 * eps)
    ax.set(xlabel=r"report $\bar y$", ylabel="log density ratio", ylim=limits)
    ax.legend(loc="upper left", fontsize=7.5)
    return {f"log ratio {text}".replace("$", ""): ratio for text, ratio in ratios.items()}
