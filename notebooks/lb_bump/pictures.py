"""Figures of the page "The bump"."""

import numpy as np

from ldpbo import bounds, bumps, plots, show

BLACK = {"color": "black"}
LIGHT = "#b5b5b5"
DASHED = {"color": "#888888", "linestyle": "--"}


def places(classes, curves, free):
    """Draw where the optimum can hide, and what it costs.

    classes: {kernel: (regret, Delta, M)} of the best bound; curves: {kernel: {M: regret}}; free:
    the same if no norm limited the bumps. Returns (figure, data).
    """
    figure, (left, middle, right) = plots.axes(1, 3, width=7.6, height=2.9)
    data = {}
    for ax, (title, (_, Delta, M)) in zip((left, middle), classes.items()):
        data |= _hidden(ax, title, Delta, M)
    top = 2.3 * max(Delta for _, Delta, _ in classes.values())
    for ax in (left, middle):
        ax.set(ylim=(-top / 8, top), xlabel="point $x$")
    left.set_ylabel("mean reward")
    return figure, data | _costs(right, classes, curves, free)


def _hidden(ax, title, Delta, M):
    """Draw M bumps of the height 2 Delta, one of them in black -> the black one as data."""
    x = np.linspace(0, 1, 1501)
    real = M // 3
    for m in range(M):
        f = Delta * bumps.profile(M * x - m - 0.5, 1)
        ax.plot(x, f, color=LIGHT, linewidth=1)
    f = Delta * bumps.profile(M * x - real - 0.5, 1)
    ax.plot(x, f, color="black")
    ax.set(title=f"{title}: {M} places", xlim=(0, 1))
    ax.grid(False)
    return {"x": x, f"f {title}": f}


def _costs(ax, classes, curves, free):
    """Draw the bound against the number of places, with a name at each peak -> data."""
    ax.plot(list(free), list(free.values()), ":", color="#555555")
    data = {"M": list(free), "reports alone": list(free.values())}
    for (title, curve), color in zip(curves.items(), ("black", "#767676")):
        regret, _, M = classes[title]
        seen = [n for n in curve if curve[n] > regret / 100]
        ax.plot(seen, [curve[n] for n in seen], "o", color=color, markersize=3.5)
        text = f"{title}: {show.at_least(regret, 0)}"
        plots.beside(ax, text, (M, regret), (9, 6), color=color)
        data[f"bound {title}"] = list(curve.values())
    height = 1.45 * max(regret for regret, _, _ in classes.values())
    ax.set(xscale="log", ylim=(0, height), title="regret at least", xlabel="places $M$")
    ticks = [3, 6, 16, 32, 64]
    ax.set_xticks(ticks, [str(M) for M in ticks])
    ax.minorticks_off()
    return data


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
