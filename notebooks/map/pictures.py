"""Figures of the page "The map of constants"."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects

from ldpbo import plots, results
from ldpbo.show import typeset
from notebooks.map import tables

WIDE = 9.4  # inches: wider than the column
TWO_LINES = {name: label.replace(" ", "\n", 1) for name, label in plots.LABELS.items()}


def heatmap(
    ax,
    frame,
    rows,
    columns,
    *,
    value="share",
    top=1.25,
    signed=False,
    order=None,
    numbers=True,
    best=True,
    names=None,
    rotation=0,
    title="",
):
    """Draw the mean of `value` over the seeds as coloured cells; columns with numbers come first.

    top: end of the colour scale, which begins at 0, or at -top if `signed`; order: of the rows;
    numbers: write the values into the cells; best: put a frame on the smallest of each row, among
    the numeric columns if there are any; names, rotation: see `_label_axes`.
    Returns the table that is drawn.
    """
    wide = frame.pivot_table(index=rows, columns=columns, values=value, sort=False)
    ordered = sorted(wide.columns, key=lambda x: (isinstance(x, str), x))
    wide = wide.reindex(index=order or wide.index, columns=ordered)
    low, colors = (-top, "RdBu_r") if signed else (0.0, "viridis")
    mesh = ax.pcolormesh(
        wide.to_numpy(), vmin=low, vmax=top, cmap=colors, edgecolors="white", linewidth=0.4
    )
    ax.invert_yaxis()
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if numbers:
        _write_numbers(ax, wide, mesh)
    numeric = sum(not isinstance(x, str) for x in wide.columns)
    if best:
        _frame_smallest(ax, wide.to_numpy()[:, : numeric or None])
    if 0 < numeric < wide.shape[1]:
        ax.axvline(numeric, color="white", linewidth=4)
    _label_axes(ax, wide, names, rotation)
    ax.set_title(title, fontsize=10)
    return wide


def _write_numbers(ax, wide, mesh):
    """Write each value into its cell, light on dark cells."""
    values = wide.to_numpy()
    for y, x in zip(*np.nonzero(np.isfinite(values))):
        red, green, blue, _ = mesh.to_rgba(values[y, x])
        dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5
        text = typeset(f"{values[y, x]:.2f}").replace("-", "−")
        number = ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=8)
        number.set(color="white" if dark else ".15", in_layout=False)  # hundreds slow the layout


def _frame_smallest(ax, values):
    """Put a frame on the smallest value of each row."""
    for y, row in enumerate(values):
        if np.isfinite(row).any():
            corner = np.nanargmin(row) + 0.06, y + 0.06
            style = {"fill": False, "edgecolor": "black", "linewidth": 1.4}
            ring = plt.Rectangle(corner, 0.88, 0.88, **style)
            ring.set_path_effects([patheffects.withStroke(linewidth=3.2, foreground="white")])
            ax.add_patch(ring)


def _label_axes(ax, wide, names=None, rotation=0):
    """Label rows and columns. names: {row or column: label}; rotation: of the columns' labels."""

    def text(value):
        known = (names or {}).get(value)
        return known or (f"{value:g}" if isinstance(value, float) else value)

    columns, rows = (list(map(text, labels)) for labels in (wide.columns, wide.index))
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=rotation, fontsize=9)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=9)


def region(gap):
    """Draw `tables.gaps`: a heat map for each kind of report, of panels and factors."""
    kinds = {kind: gap[gap["kind"] == kind] for kind in tables.KINDS.values()}
    sizes = [part["panel"].nunique() for part in kinds.values()]
    figure, grid = plots.axes(3, 1, width=WIDE, height=2.1, height_ratios=sizes)
    names = results.PANELS | {1.0: "1, order"}
    for ax, (kind, part) in zip(grid, kinds.items()):
        style = dict(value="gap", signed=True, top=0.6, best=False, title=kind, names=names)
        heatmap(ax, part, "panel", "beta_scale", **style)
    grid[-1].set_xlabel("factor on β")
    return figure


def paired(found, settings=("tuned", "order"), cut=1.2):
    """Draw MoMA's regret minus each rival's (`tables.differences`), a setting in each of the axes;
    one bit is dotted, and a clear difference filled."""
    figure, grid = plots.axes(1, len(settings), width=WIDE, height=6.6, share=True)
    for ax, setting in zip(grid, settings):
        ax.axvline(0, color="black", linewidth=0.8)
        for y, panel in enumerate(results.PANELS):
            here = found[(found["setting"] == setting) & (found["panel"] == panel)]
            places = y + 0.8 * ((np.arange(len(here)) + 0.5) / len(here) - 0.5)
            for place, row in zip(places, here.itertuples()):
                _difference(ax, place, row)
            ax.axhline(y + 0.5, color="#e3e3e3", linewidth=0.6)
        ends = (len(results.PANELS) - 0.5, -0.5)
        xlabel = "MoMA's regret minus the rival's"
        ax.set(title=setting, xlabel=xlabel, ylim=ends, xlim=(-cut, cut))
        ax.grid(axis="y", visible=False)
    grid[0].set_yticks(range(len(results.PANELS)), results.PANELS.values(), fontsize=9)
    for rival in found["rival"].unique():
        style = plots.line_style(rival, private=False, linestyle="-")
        grid[-1].plot([], [], **style)
    for text, dashes in (("Laplace, or not private", "-"), ("one bit", ":")):
        grid[-1].plot([], [], color="black", linewidth=1.2, linestyle=dashes, label=text)
    plots.legend_below(figure, 6)
    return figure


def _difference(ax, y, row):
    """Draw one paired difference: interval and mean."""
    color = plots.COLORS[row.rival]
    dashes = ":" if row.curator == "one bit" else "-"
    ax.plot([row.low, row.high], [y, y], color=color, linewidth=1.2, linestyle=dashes)
    face = color if row.clear else "white"
    ax.plot(row.mean, y, marker=plots.MARKERS[row.rival], color=color, mfc=face, linestyle="none")


def named(frame):
    """Write "elimination" for PE in the names of the learners."""
    return frame.assign(learner=frame["learner"].str.replace("PE", "elimination"))


def learners(frame, columns, *, side, height, bar=False, **style):
    """Draw a heat map of learners for each panel, `side` of them beside each other.

    bar: a colour bar for all of them, under them.
    """
    panels = [panel for panel in results.PANELS if panel in set(frame["panel"])]
    rows = -(-len(panels) // side)
    figure, grid = plots.axes(rows, side, width=WIDE, height=height, squeeze=False)
    for ax, panel in zip(grid.flat, panels):
        part = named(frame[frame["panel"] == panel])
        order = sorted(part["learner"].unique())
        heatmap(ax, part, "learner", columns, title=results.PANELS[panel], order=order, **style)
        left = ax in grid[:, 0]
        ax.tick_params(labelleft=left, left=left)
    if bar:
        where = dict(location="bottom", shrink=0.5, aspect=40, ax=grid)
        label = "regret / that of uniform play"
        figure.colorbar(grid[0, 0].collections[0], label=label, **where)
    return figure


def ridge(frame):
    """Draw regret over that of uniform play against the ridge: a panel in each column, a factor on
    β in each row, a line for the mean of each learner and a dot for every function."""
    panels, scales = (list(frame[column].unique()) for column in ("panel", "beta_scale"))
    size = {"width": WIDE, "height": 2.7, "share": True, "squeeze": False}
    figure, grid = plots.axes(len(scales), len(panels), **size)
    for (scale, panel), part in frame.groupby(["beta_scale", "panel"]):
        ax = grid[scales.index(scale), panels.index(panel)]
        ax.axhline(1, color=plots.COLORS["uniform"], linestyle=":")
        for name, rows in part.groupby("name"):
            mean = rows.groupby("lam")["share"].mean()
            style = plots.line_style(name, linestyle="-", label=plots.LABELS[name])
            ax.plot(mean.index, mean, **style)
            ax.plot(rows["lam"], rows["share"], ".", color=style["color"], markersize=3, alpha=0.5)
        title = f"{results.PANELS[panel]}\n{plots.setting_title(scale)}"
        ax.set(xscale="log", ylim=(0, 1.6))
        ax.set_title(title, fontsize=9.5)
    for ax in grid[-1]:
        ax.set_xlabel("ridge λ")
    for ax in grid[:, 0]:
        ax.set_ylabel("regret / uniform play's")
    plots.legend_below(figure, 5, fontsize=None)
    return figure
