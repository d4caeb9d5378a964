"""The figure of the page "Lower bounds in ten lines"."""

import numpy as np

from ldpbo import bumps, plots

LIGHT = "#b5b5b5"
DARK = "#555555"


def hidden(M, m, reach):
    """Draw M bumps on the line, the m-th in black, and under it the most that it pays in each cell.

    reach: V_0, V_1, ... in units of the gap. Returns (figure, data).
    """
    figure, (top, bottom) = plots.axes(2, 1, height=2.15, height_ratios=(3, 2))
    data = _functions(top, M, m)
    _name_the_parts(top, m)
    _pays_at_most(bottom, M, m, reach)
    for ax in (top, bottom):
        ax.set_xlim(0, M)
    return figure, data


def _functions(ax, M, m):
    """Draw the functions; returns them as columns."""
    x = np.linspace(0, M, 80 * M + 1)
    data = {"x/w": x}
    for j in range(M):
        f = bumps.profile(x - j - 0.5, 1)
        data[f"f{j + 1}"] = f
        if j == m:
            ax.plot(x, f, color="black", linewidth=2, zorder=3)
        else:
            ax.plot(x, f, color=LIGHT, linewidth=1)
        ax.axvline(j + 1, color="#e3e3e3", linewidth=0.8)
    return data


def _name_the_parts(ax, m):
    """Write height, level and width beside the bumps."""
    ax.axhline(1, color="black", linestyle=":", linewidth=1)
    ax.annotate("$f_m$", (m + 0.8, 1.8), fontsize=11)
    ends = {"arrowstyle": "<->", "color": "black", "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (m, -0.42), (m + 1, -0.42), arrowprops=ends)
    ax.annotate("$w$", (m + 0.5, -0.72), ha="center", va="center")
    ax.set(ylim=(-0.9, 2.25), ylabel="mean reward")
    ax.set_xticks([])
    ax.set_yticks([0, 1, 2], ["$0$", r"$\Delta$", r"$2\Delta$"])
    ax.grid(False)


def _pays_at_most(ax, M, m, reach):
    """Draw V_k as bars over the cells, with numbers near the peak."""
    centres = np.arange(M) + 0.5
    for j, x in enumerate(centres):
        k = abs(j - m)
        ax.bar(x, reach[k], 0.94, color=DARK if k == 0 else LIGHT)
        if k <= 2:
            place = (x, reach[k] + 0.08)
            ax.annotate(f"$V_{k}={reach[k]:.3g}$", place, ha="center", fontsize=8.5)
    cells = [rf"$\mathcal{{R}}_{{{j + 1}}}$" for j in range(M)]
    ax.set_xticks(centres, cells)
    ax.set(ylim=(0, 2.6), yticks=(0, 1, 2), xlabel="cells of width $w$")
    ax.set_ylabel("pays at most\n(in units of $\\Delta$)")
