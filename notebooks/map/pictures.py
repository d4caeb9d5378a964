"""Figures of the page "The map of constants"."""

import matplotlib.pyplot as plt
import numpy as np

from ldpbo import plots, results
from ldpbo.show import typeset


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
    ax.set_title(title, fontsize=9)
    return wide


def _write_numbers(ax, wide, mesh):
    """Write each value into its cell, light on dark cells."""
    values = wide.to_numpy()
    for y, x in zip(*np.nonzero(np.isfinite(values))):
        red, green, blue, _ = mesh.to_rgba(values[y, x])
        dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5
        text = typeset(f"{values[y, x]:.2f}").replace("-", "−")
        number = ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=7)
        number.set(color="white" if dark else ".15", in_layout=False)  # hundreds slow the layout


def _frame_smallest(ax, values):
    """Put a frame on the smallest value of each row."""
    for y, row in enumerate(values):
        if np.isfinite(row).any():
            corner = np.nanargmin(row) + 0.06, y + 0.06
            style = {"fill": False, "edgecolor": plots.COLORS["ATA"], "linewidth": 1.6}
            ax.add_patch(plt.Rectangle(corner, 0.88, 0.88, **style))


def _label_axes(ax, wide, names=None, rotation=0):
    """Label rows and columns. names: {row or column: label}; rotation: of the columns' labels."""

    def text(value):
        known = (names or {}).get(value)
        return known or (f"{value:g}" if isinstance(value, float) else value)

    columns, rows = (list(map(text, labels)) for labels in (wide.columns, wide.index))
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, rotation=rotation, fontsize=7.5)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=7.5)


def paired(rows, clear, settings=("tuned", "order"), cut=1.2):
    """Draw MoMA's regret minus each rival's, a setting in each of the axes; one bit is dotted.

    rows: (setting, panel, curator, rival, mean, low, high, p); clear: whether the difference of a
    row is clear (filled).
    """
    figure, grid = plots.axes(1, len(settings), width=7.6, height=6.2, share=True)
    for ax, setting in zip(grid, settings):
        ax.axvline(0, color="black", linewidth=0.8)
        for y, panel in enumerate(results.PANELS):
            here = [(row, c) for row, c in zip(rows, clear) if row[:2] == (setting, panel)]
            for i, (row, filled) in enumerate(here):
                _difference(ax, y + 0.8 * ((i + 0.5) / len(here) - 0.5), row, filled)
            ax.axhline(y + 0.5, color="#e3e3e3", linewidth=0.6)
        ends = (len(results.PANELS) - 0.5, -0.5)
        xlabel = "MoMA's regret minus the rival's"
        ax.set(title=setting, xlabel=xlabel, ylim=ends, xlim=(-cut, cut))
        ax.grid(axis="y", visible=False)
    grid[0].set_yticks(range(len(results.PANELS)), results.PANELS.values(), fontsize=8)
    for rival in dict.fromkeys(row[3] for row in rows):
        style = plots.line_style(rival, private=False, linestyle="-")
        grid[-1].plot([], [], **style)
    for text, dashes in (("Laplace, or not private", "-"), ("one bit", ":")):
        grid[-1].plot([], [], color="black", linewidth=1.2, linestyle=dashes, label=text)
    plots.legend_below(figure, 3)
    return figure


def _difference(ax, y, row, filled):
    """Draw one paired difference: interval and mean."""
    _, _, curator, rival, mean, low, high, _ = row
    color = plots.COLORS[rival]
    dashes = ":" if curator == "one bit" else "-"
    ax.plot([low, high], [y, y], color=color, linewidth=1.2, linestyle=dashes)
    face = color if filled else "white"
    ax.plot(mean, y, marker=plots.MARKERS[rival], color=color, mfc=face, linestyle="none")


def nine(tables, columns, *, height, edge_labels=False, **style):
    """Draw a heat map of learners for each panel from {panel: table}, the private panels first.

    edge_labels: only the lowest row has labels of its columns. Returns (figure, axes).
    """
    figure, grid = plots.axes(3, 3, width=7.6, height=height)
    panels = sorted(tables, key=lambda panel: not results.is_private(panel))
    for ax, panel in zip(grid.flat, panels):
        learners = sorted(tables[panel]["learner"].unique())
        title = results.PANELS[panel]
        heatmap(ax, tables[panel], "learner", columns, title=title, order=learners, **style)
        left, bottom = ax in grid[:, 0], ax in grid[-1] or not edge_labels
        ax.tick_params(labelleft=left, left=left, labelbottom=bottom, bottom=bottom)
    return figure, grid
