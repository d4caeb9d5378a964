"""Figures of the page "The bump"."""

import numpy as np

from ldpbo import bounds, bumps, plots

BLACK = {"color": "black"}
DASHED = {"color": "#888888", "linestyle": "--"}


def bump(widths):
    """Draw H, its transform on the line and in the plane, and g at the widths {kernel: w}.

    Returns (figure, data).
    """
    figure, (left, middle, right) = plots.axes(1, 3, width=7.6, height=2.7)
    u = np.linspace(0, 0.999, 300)
    left.plot(u, bumps.H(u), color="black")
    left.set(xlabel="radius $|u|$", title="$H$", ylim=(0, None))
    return figure, _transforms(middle) | _scaled(right, widths)


def _transforms(ax):
    """Draw h over its peak on the line and in the plane, with a dot at zeta -> data."""
    r = np.linspace(0, 3, 301)
    data = {"r": r}
    for d, style in {1: BLACK, 2: DASHED}.items():
        h = bumps.transform(r, d)
        constants = bounds.bump(d)
        ax.plot(r, h / constants.peak, label=f"$d={d}$", **style)
        ax.plot(constants.zeta, 0.5, "o", color=style["color"])
        data[f"h{d}"] = h
    ax.axhline(0.5, color="#cccccc", linewidth=0.8)
    ax.set(xlabel="radius $|x|$", title="$h/h(0)$")
    ax.legend()
    return data


def _scaled(ax, widths):
    """Draw g/Delta for each kernel; both have the same height and the same norm -> data."""
    x = np.linspace(-0.25, 0.25, 1001)
    data = {"x": x}
    for (name, w), color in zip(widths.items(), ("#888888", "black")):
        g = bumps.profile(x / w, 1)
        ax.plot(x, g, color=color, label=name)
        data[f"g {name}"] = g
    ax.axhline(1, color="black", linestyle=":", linewidth=1)
    ax.set_yticks([0, 1, 2], ["$0$", r"$\Delta$", r"$2\Delta$"])
    ax.set(xlabel="point $x$", title="$g$ with norm $B$")
    ax.set(xlim=(-0.25, 0.25), ylim=(-0.3, 2.65))
    ax.legend(loc="upper center", ncols=2)
    return data


def cells(ratio, curves):
    """Draw 1/w against B/Delta for both kernels: {kernel: {"exact": ..., "printed": ...}}."""
    figure, panels = plots.axes(1, 2, height=2.8)
    styles = {"exact": BLACK, "printed": DASHED}
    for ax, (title, series) in zip(panels, curves.items()):
        plots.lines(ax, ratio, series, styles, "x", title=title)
        ax.set(xlabel=r"norm over gap $B/\Delta$", ylabel="cells per side $1/w$")
    panels[0].set_ylim(0, None)
    panels[1].set_yscale("log")
    panels[0].legend()
    return figure
