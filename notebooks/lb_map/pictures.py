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
    x = np.linspace(0, M, 80 * M + 1)
    functions = {j: bumps.profile(x - j - 0.5, 1) for j in range(M)}
    for j, f in functions.items():
        if j != m:
            top.plot(x, f, color=LIGHT, linewidth=1)
    top.plot(x, functions[m], color="black", linewidth=2)
    _name_the_parts(top, m, M)
    most = [reach[abs(j - m)] for j in range(M)]
    bottom.bar(np.arange(M) + 0.5, most, 0.94, color=[DARK if j == m else LIGHT for j in range(M)])
    for j in range(max(0, m - 2), min(M, m + 3)):
        text = f"$V_{{{abs(j - m)}}}={reach[abs(j - m)]:.3g}$"
        bottom.annotate(text, (j + 0.5, most[j] + 0.08), ha="center", fontsize=8.5)
    labels = [f"$\\mathcal{{R}}_{{{j + 1}}}$" for j in range(M)]
    bottom.set_xticks(np.arange(M) + 0.5, labels)
    bottom.set(ylim=(0, 2.6), yticks=(0, 1, 2), ylabel="pays at most\n(in units of $\\Delta$)")
    bottom.set(xlim=(0, M), xlabel="cells of width $w$")
    data = {"x/w": x} | {f"f{j + 1}": f for j, f in functions.items()}
    return figure, data


def _name_the_parts(ax, m, M):
    """Write height, level and width beside the bumps."""
    ax.axhline(1, color="black", linestyle=":", linewidth=1)
    ax.annotate("$f_m$", (m + 0.8, 1.8), fontsize=11)
    ax.set_xticks([])
    ends = {"arrowstyle": "<->", "color": "black", "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (m, -0.42), (m + 1, -0.42), arrowprops=ends)
    ax.annotate("$w$", (m + 0.5, -0.72), ha="center", va="center")
    ax.set(xlim=(0, M), ylim=(-0.9, 2.25), ylabel="mean reward")
    ax.set_yticks([0, 1, 2], ["$0$", r"$\Delta$", r"$2\Delta$"])
    for edge in range(1, M):
        ax.axvline(edge, color="#e3e3e3", linewidth=0.8)
    ax.grid(False)
