"""The figure of the page "Privacy: the Laplace curator"."""

import numpy as np

GREYS = ("#000000", "#999999", "#555555")


def densities(ax, curator, z):
    """Draw the density of the report z for the two extreme rewards and for 0 -> data."""
    bound, data = curator.bound, {}
    styles = {
        "$y=-(B+R)$": (-bound, GREYS[0], "-"),
        "$y=0$": (0.0, GREYS[1], "--"),
        "$y=B+R$": (bound, GREYS[2], "-."),
    }
    for text, (y, color, dashes) in styles.items():
        density = np.exp(curator.log_density(z, y))
        ax.plot(z, density, color=color, linestyle=dashes, label=text)
        data[f"density y={y:g}"] = density
    ax.set(xlabel=r"report $\bar y$", ylabel="density", ylim=(0, 0.75 / curator.scale))
    ax.legend(loc="upper left")
    return data


def odds(ax, curator, z, outside):
    """Draw what the report z does to the odds of two rewards, for three pairs of them -> data."""

    def noise_alone(y):
        return -np.abs(z - y) / curator.scale

    bound = curator.bound
    low = curator.log_density(z, -bound)
    far = f"${outside:g}(B+R)$ against $-(B+R)$"
    logs = {
        "$B+R$ against $-(B+R)$": curator.log_density(z, bound) - low,
        "$B+R$ against $0$": curator.log_density(z, bound) - curator.log_density(z, 0.0),
        f"{far}, not clipped": noise_alone(outside * bound) - noise_alone(-bound),
    }
    for (text, log), color, dashes in zip(logs.items(), GREYS, ("-", "--", ":")):
        ax.plot(z, np.exp(log), label=text, color=color, linestyle=dashes)
    _axis_of_odds(ax, curator.eps)
    return {f"log odds {text}".replace("$", ""): log for text, log in logs.items()}


def _axis_of_odds(ax, eps):
    """Write odds as people do, 2.72 : 1, at the two levels that the curator promises."""
    most = np.exp(eps)
    for level in (1 / most, most):
        ax.axhline(level, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel=r"report $\bar y$", ylabel="odds after the report", yscale="log")
    ax.set_ylim(np.exp(-2.1 * eps), np.exp(2.9 * eps))
    ax.set_yticks([1 / most, 1, most], [f"1 : {most:.2f}", "1 : 1", f"{most:.2f} : 1"])
    ax.minorticks_off()
    ax.legend(loc="upper left", fontsize=7.5)
