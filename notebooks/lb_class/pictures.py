"""Figures of the page "A class of functions no point can serve"."""

import numpy as np

from ldpbo import plots


def bumps(ax, x, functions, level):
    """Draw the functions of the class on the line, and the level above which a point is optimal."""
    for m, f in enumerate(functions):
        ax.plot(x, f, color=plots.PALETTE[m % 6], linewidth=1.2)
    ax.axhline(level, color="black", linestyle=":", linewidth=1)
    title = f"$d=1$, $M={len(functions)}$"
    ax.set(xlabel="point $x$", ylabel="reward $f_m(x)$", title=title)


def peaks(ax, n, bump, level):
    """Draw the largest of n x n functions at each point of the square.

    bump: the values of a bump at the distances 0, 1/500, ..., 1 from its centre, in cells.
    """
    axis = np.linspace(0, 1, 161)
    centres = (np.floor(axis * n).clip(max=n - 1) + 0.5) / n  # the nearest, on each axis
    away = np.abs(axis - centres)
    peak = np.interp(n * np.hypot(*np.meshgrid(away, away)), np.linspace(0, 1, 501), bump)
    image = ax.pcolormesh(axis, axis, peak, cmap="Greys", rasterized=True, shading="gouraud")
    ax.contour(axis, axis, peak, levels=[level], colors=[plots.PALETTE[1]], linewidths=1)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"$d=2$, $M={n**2}$", aspect="equal")
    ax.grid(False)
    return image


def served(cells, old, new):
    """Draw for how many functions each point is optimal, with w and with w/2."""
    figure, ax = plots.axes(height=2.2)
    first, second = plots.PALETTE[:2]
    label = r"$g<\Delta$ beyond $w$ (earlier papers)"
    ax.plot(cells, old, color=second, linestyle="--", label=label)
    ax.plot(cells, new, color=first, label=r"$g<\Delta$ beyond $w/2$ (this paper)")
    ax.set(xlabel="position in cells, $x/w$", ylabel="functions served")
    ax.set(ylim=(0, 2.6), yticks=(0, 1, 2))
    ax.legend(ncols=2, loc="upper center")
    return figure


def row_sums(v, rows, limit):
    """Draw the matrix v as shades of its logarithm, and its row sums under their limit."""
    figure, (left, right) = plots.axes(1, 2, height=3.0)
    n = len(v)
    frame = (0.5, n + 0.5, 0.5, n + 0.5)
    image = left.imshow(np.log10(v), cmap="Greys", vmin=-6, origin="lower", extent=frame)
    left.set(xlabel="region $j$", ylabel="function $m$")
    left.grid(False)
    figure.colorbar(image, ax=left, label=r"$\log_{10}\,v_m^j/\Delta$")
    right.plot(np.arange(1, n + 1), rows, "o", label=r"row sums $\sum_j v_m^j/\Delta$")
    right.axhline(limit, color=plots.PALETTE[1], label="$c$, the sum over all offsets")
    right.set(xlabel="function $m$", ylabel=r"sum over regions, in $\Delta$", ylim=(0, 5))
    right.legend(loc="lower center")
    return figure
