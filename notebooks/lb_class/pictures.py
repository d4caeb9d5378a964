"""Figures of the page "A class in which no point serves two functions"."""

import itertools

import numpy as np

from ldpbo import plots

GREY = "#888888"


def bumps(ax, x, functions, level):
    """Draw the functions of the class on the line, and the level above which a point is optimal."""
    shades = itertools.cycle(["black", GREY])
    for f, color in zip(functions, shades):
        ax.plot(x, f, color=color, linewidth=1.2)
    ax.axhline(level, color="black", linestyle=":", linewidth=1)
    title = f"$d=1$, $M={len(functions)}$"
    ax.set(xlabel="point $x$", ylabel="reward $f_m(x)$", title=title)


def peaks(ax, n, bump, level):
    """Draw the largest of n x n functions at each point of the square.

    bump: the values of a bump at the distances 0, 1/500, ..., 1 from its centre, in cells.
    """
    axis = np.linspace(0, 1, 161)
    cell = np.floor(axis * n).clip(max=n - 1)  # the nearest centre, on each axis
    away = np.abs(axis - (cell + 0.5) / n)
    distance = n * np.hypot(away, away[:, None])
    peak = np.interp(distance, np.linspace(0, 1, 501), bump)
    shading = {"cmap": "Greys", "shading": "gouraud", "rasterized": True}
    image = ax.pcolormesh(axis, axis, peak, **shading)
    dots = {"colors": ["black"], "linewidths": 1, "linestyles": ":"}
    ax.contour(axis, axis, peak, levels=[level], **dots)
    ax.set(xlabel="$x_1$", ylabel="$x_2$", title=f"$d=2$, $M={n**2}$", aspect="equal")
    ax.grid(False)
    return image


def served(cells, old, new):
    """Draw for how many functions each point is optimal, with w and with w/2."""
    figure, ax = plots.axes(height=2.2)
    ax.plot(cells, old, color=GREY, linestyle="--")
    ax.plot(cells, new, color="black")
    earlier = r"$g<\Delta$ beyond $w$ (earlier papers)"
    ax.annotate(earlier, (3, 2.12), ha="center", color="#555555")
    ax.annotate(r"$g<\Delta$ beyond $w/2$ (this paper)", (3, 1.12), ha="center")
    ax.set(xlabel="position in cells, $x/w$", ylabel="functions served")
    ax.set(ylim=(0, 2.6), yticks=(0, 1, 2))
    return figure


def row_sums(v, rows, limit):
    """Draw the matrix v as shades of its logarithm, and its row sums under their limit."""
    figure, (left, right) = plots.axes(1, 2, height=3.0)
    figure.get_layout_engine().set(wspace=0.1)
    image = _shades(left, v)
    figure.colorbar(image, ax=left)
    left.set_title(r"$\log_{10}\,v_m^j/\Delta$")
    _sums(right, rows, limit)
    return figure


def _shades(ax, v):
    """Draw the logarithm of v, with regions and functions counted from 1."""
    ends = (0.5, len(v) + 0.5)
    style = {"cmap": "Greys", "vmin": -6, "origin": "lower"}
    image = ax.imshow(np.log10(v), extent=ends + ends, **style)
    ax.set(xlabel="region $j$", ylabel="function $m$")
    ax.grid(False)
    return image


def _sums(ax, rows, limit):
    """Draw the row sums, and the limit above them."""
    n = len(rows)
    ax.plot(np.arange(1, n + 1), rows, "o", color="black")
    ax.axhline(limit, color=GREY)
    ax.annotate("$c$, the sum over all offsets", (n / 2, limit + 0.2), ha="center")
    ax.annotate(r"row sums $\sum_j v_m^j/\Delta$", (n / 2, limit - 0.75), ha="center")
    ax.set(xlabel="function $m$", ylabel=r"sum over regions, in $\Delta$", ylim=(0, 5))
