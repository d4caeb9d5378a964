"""Figures of the page "The map of constants"."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects

from ldpbo import plots, results
from ldpbo.show import typeset
from notebooks.map import tables

WIDE = 9.4  # inches: wider than the column
TWO_LINES = {name: label.replace(" ", "\n", 1) for name, label in plots.LABELS.items()}
SHORT_PANELS = {panel: title.replace(", ", ",\n") for panel, title in results.PANELS.items()}
TITLES = {
    "not private": "without privacy",
    "Laplace": "with privacy, Laplace reports",
    "one bit": "with privacy, one-bit reports",
}
HALO = patheffects.withStroke(linewidth=3.2, foreground="white")


# ---- Heat maps -----------------------------------------------------------------------------------


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
    """Draw the mean of `value` for each row and column of a table as a heat map.

    top: end of the colour scale, which starts at 0, or at -top if `signed`; order: of the rows;
    numbers: write the values into the cells; best: put a frame on the smallest of each row, among
    the numeric columns if there are any; names, rotation: see `_label_axes`.
    Returns the table that is drawn.
    """
    wide = _pivoted(frame, rows, columns, value, order)
    values = wide.to_numpy()
    low, colors = (-top, "RdBu_r") if signed else (0.0, "viridis")
    cells = {"edgecolors": "white", "linewidth": 0.4}
    mesh = ax.pcolormesh(values, vmin=low, vmax=top, cmap=colors, **cells)
    ax.invert_yaxis()
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if numbers:
        _write_numbers(ax, values, mesh, signed)
    numeric = sum(not isinstance(name, str) for name in wide.columns)
    if best:
        _frame_smallest(ax, values[:, : numeric or None])
    if 0 < numeric < wide.shape[1]:
        ax.axvline(numeric, color="white", linewidth=4)
    _label_axes(ax, wide, names or {}, rotation)
    ax.set_title(title, fontsize=10)
    return wide


def _pivoted(frame, rows, columns, value, order):
    """Average `value` for each row and column; columns with a number come before those with a
    name."""
    wide = frame.pivot_table(index=rows, columns=columns, values=value, sort=False)
    ordered = sorted(wide.columns, key=lambda name: (isinstance(name, str), name))
    return wide.reindex(index=order or wide.index, columns=ordered)


def _write_numbers(ax, values, mesh, signed):
    """Write each value into its cell, light on dark cells.

    signed: a value that two decimals would make 0.00 is written with its first digit and its sign.
    """
    middle = {"ha": "center", "va": "center", "fontsize": 8}
    for y, x in zip(*np.nonzero(np.isfinite(values))):
        value = values[y, x]
        form = ".1g" if signed and 0 < abs(value) < 0.005 else ".2f"
        text = typeset(f"{value:{form}}").replace("-", "−")
        number = ax.text(x + 0.5, y + 0.5, text, **middle)
        color = "white" if _is_dark(mesh.to_rgba(value)) else ".15"
        number.set(color=color, in_layout=False)  # hundreds slow the layout


def _is_dark(rgba):
    """Ask whether white is the better colour on this one, by its luminance."""
    weights = 0.2126, 0.7152, 0.0722
    return np.dot(weights, rgba[:3]) < 0.5


def _frame_smallest(ax, values):
    """Put a frame on the smallest value of each row."""
    for y, row in enumerate(values):
        if np.isfinite(row).any():
            _frame(ax, np.nanargmin(row), y)


def _frame(ax, x, y):
    """Put a frame on one cell."""
    style = {"fill": False, "edgecolor": "black", "linewidth": 1.4}
    ring = plt.Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, **style)
    ring.set_path_effects([HALO])
    ax.add_patch(ring)


def _label_axes(ax, wide, names, rotation):
    """Label rows and columns. names: {row or column: label}; rotation: of columns with a name."""

    def text(value):
        plain = f"{value:g}" if isinstance(value, float) else value
        return names.get(value, plain)

    columns = [text(value) for value in wide.columns]
    rows = [text(value) for value in wide.index]
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, fontsize=8.5)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, fontsize=9)
    turned = {"rotation": rotation, "rotation_mode": "anchor", "ha": "right"}
    for value, label in zip(wide.columns, ax.get_xticklabels()):
        if rotation and isinstance(value, str):
            label.set(**turned)


def region(gap, framed=None):
    """Draw `tables.gaps`: a heat map for each kind of report in it, of panels and factors.

    framed: the (kind, panel, factor) of one cell that gets a frame.
    """
    kinds = [kind for kind in reversed(tables.KINDS.values()) if kind in set(gap["kind"])]
    parts = {kind: gap[gap["kind"] == kind] for kind in kinds}
    sizes = [part["panel"].nunique() for part in parts.values()]
    height = (0.3 * sum(sizes) + 0.5 + 0.5 * len(kinds)) / len(kinds)
    size = {"width": WIDE, "height": height, "height_ratios": sizes, "squeeze": False}
    figure, grid = plots.axes(len(kinds), 1, **size)
    figure.get_layout_engine().set(h_pad=0.1)
    names = results.PANELS | {1.0: "1, order"}
    style = {"value": "gap", "signed": True, "top": 0.6, "best": False, "names": names}
    for ax, (kind, part) in zip(grid.flat, parts.items()):
        wide = heatmap(ax, part, "panel", "beta_scale", title=TITLES[kind], **style)
        if framed and framed[0] == kind:
            _frame(ax, wide.columns.get_loc(framed[2]), wide.index.get_loc(framed[1]))
    grid[-1, 0].set_xlabel("factor on the width")
    return figure


def named(frame):
    """Write "elimination" for PE in the names of the learners."""
    learner = frame["learner"].str.replace("PE", "elimination")
    return frame.assign(learner=learner)


def learners(frame, columns, *, side, height, bar=False, xlabel="", **style):
    """Draw a heat map of learners for each panel, `side` of them beside each other.

    bar: a colour bar for all of them, under them; xlabel: of the lowest row.
    """
    present = set(frame["panel"])
    panels = [panel for panel in results.PANELS if panel in present]
    rows = -(-len(panels) // side)
    figure, grid = plots.axes(rows, side, width=WIDE, height=height, squeeze=False)
    for ax, panel in zip(grid.flat, panels):
        part = named(frame[frame["panel"] == panel])
        order = sorted(part["learner"].unique())
        heatmap(ax, part, "learner", columns, title=results.PANELS[panel], order=order, **style)
        left = ax in grid[:, 0]
        ax.tick_params(labelleft=left, left=left)
    for ax in grid[-1]:
        ax.set_xlabel(xlabel)
    if bar:
        colors = grid[0, 0].collections[0]
        label = "regret / that of uniform play"
        where = {"location": "bottom", "shrink": 0.5, "aspect": 40}
        figure.colorbar(colors, ax=grid, label=label, **where)
    return figure


def second(frame, top):
    """Draw MoMA's regret over its plays per epoch, and over its ridge, for each factor on β."""
    present = set(frame["panel"])
    panels = [panel for panel in results.PANELS if panel in present]
    labels = {"k": "plays per epoch $k$", "lam": "ridge λ"}
    figure, grid = plots.axes(4, 3, width=WIDE, height=2.0)
    places = iter(grid.flat)
    for column, label in labels.items():
        varied = frame[frame[column].notna()]
        for panel in panels:
            ax = next(places)
            part = varied[varied["panel"] == panel]
            title = results.PANELS[panel]
            heatmap(ax, part, "beta_scale", column, top=top, title=title)
            ax.set_xlabel(label)
    for ax in grid[:, 0]:
        ax.set_ylabel("factor on β")
    return figure


# ---- Differences and curves ----------------------------------------------------------------------


def idea(curves):
    """Draw `tables.by_privacy`: regret against the factor on the width, without privacy and with
    it; a line for each learner's mean, and a thin bar from seed to seed."""
    titles = {"not private": "without privacy", "Laplace": "with privacy"}
    figure, grid = plots.axes(1, 2, height=3.4, share=True)
    for ax, (kind, title) in zip(grid, titles.items()):
        ax.axhline(1, color=plots.COLORS["uniform"], linestyle=":", label="uniform play")
        for name in (*tables.PAPER, tables.PLAIN):
            _with_seeds(ax, name, curves[(curves["kind"] == kind) & (curves["name"] == name)])
        ax.set(xscale="log", ylim=(0, 1.15), title=title, xlabel="factor on the width (1: order)")
        ax.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    grid[0].set_ylabel("regret / that of uniform play")
    plots.legend_below(figure, 5)
    return figure


def _with_seeds(ax, name, rows):
    """Draw one learner's mean over the factors, and at each factor a thin bar over its seeds."""
    seeds = rows.groupby("beta_scale")["share"].agg(["mean", "min", "max"])
    x = seeds.index * (0.93 + 0.05 * [*tables.PAPER, tables.PLAIN].index(name))  # side by side
    style = plots.line_style(name, label=name)
    ax.vlines(x, seeds["min"], seeds["max"], color=style["color"], linewidth=0.9, alpha=0.7)
    ax.plot(x, seeds["mean"], **style)


def paired(found, settings=("order", "tuned"), cut=1.2):
    """Draw MoMA's regret minus each rival's (`tables.differences`): a setting in each column, a
    kind of report in each row; a clear difference is filled."""
    curators = {"": "not private", "Laplace": "Laplace", "one bit": "one bit"}
    sizes = [found[found["curator"] == curator]["panel"].nunique() for curator in curators]
    figure, grid = plots.axes(3, len(settings), width=WIDE, height=3.2, height_ratios=sizes)
    figure.get_layout_engine().set(h_pad=0.1)
    for row, (curator, kind) in zip(grid, curators.items()):
        for ax, setting in zip(row, settings):
            here = (found["setting"] == setting) & (found["curator"] == curator)
            _forest(ax, found[here])
            ax.set_title(f"{setting} constants, {TITLES[kind].split(', ')[-1]}", fontsize=10)
            ax.set_xlim(-cut, cut)
    for ax in grid[-1]:
        ax.set_xlabel("MoMA's regret minus the rival's\n← MoMA better · MoMA worse →")
    _keys(grid[0, -1], found["rival"].unique())
    plots.legend_below(figure, 4)
    return figure


def _forest(ax, part):
    """Draw the differences of one setting and kind of report, a panel under the other."""
    ax.axvline(0, color="black", linewidth=0.8)
    names = [panel for panel in results.PANELS if panel in set(part["panel"])]
    for y, panel in enumerate(names):
        here = part[part["panel"] == panel]
        places = y + np.linspace(-0.3, 0.3, len(here))
        for place, row in zip(places, here.itertuples()):
            _difference(ax, place, row)
        ax.axhline(y + 0.5, color="#e3e3e3", linewidth=0.6)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), [results.PANELS[panel] for panel in names], fontsize=9)
    first = ax.get_subplotspec().is_first_col()
    ax.tick_params(labelleft=first, left=first)
    ax.grid(axis="y", visible=False)


def _difference(ax, y, row):
    """Draw one paired difference: interval and mean."""
    color = plots.COLORS[row.rival]
    face = color if row.clear else "white"
    size = plt.rcParams["lines.markersize"] * (1.5 if row.rival == "PE" else 1)  # a star is thin
    ax.plot([row.low, row.high], [y, y], color=color, linewidth=1.2)
    ax.plot(row.mean, y, plots.MARKERS[row.rival], color=color, mfc=face, markersize=size)


def _keys(ax, rivals):
    """Add the rivals to the legend by colour and marker."""
    for rival in rivals:
        ax.plot([], [], **plots.line_style(rival, private=False, linestyle="-"))


def ridge(frame):
    """Draw regret over that of uniform play against the ridge: a panel in each column, a factor on
    β in each row, a line for the mean of each learner and a dot for every function."""
    panels = list(frame["panel"].unique())
    scales = list(frame["beta_scale"].unique())
    size = {"width": WIDE, "height": 2.7, "share": True, "squeeze": False}
    figure, grid = plots.axes(len(scales), len(panels), **size)
    for (scale, panel), part in frame.groupby(["beta_scale", "panel"]):
        ax = grid[scales.index(scale), panels.index(panel)]
        ax.axhline(1, color=plots.COLORS["uniform"], linestyle=":")
        for name, rows in part.groupby("name"):
            _over_ridge(ax, name, rows)
        title = f"{results.PANELS[panel]}\n{plots.setting_title(scale)}"
        ax.set(xscale="log", ylim=(0, 1.6))
        ax.set_title(title, fontsize=9.5)
    for ax in grid[-1]:
        ax.set_xlabel("ridge λ")
    for ax in grid[:, 0]:
        ax.set_ylabel("regret / uniform play's")
    plots.legend_below(figure, 5, fontsize=None)
    return figure


def _over_ridge(ax, name, rows):
    """Draw one learner's regret over the ridge: the mean as a line, single functions as dots."""
    mean = rows.groupby("lam")["share"].mean()
    style = plots.line_style(name, linestyle="-", label=plots.LABELS[name])
    dots = {"color": style["color"], "markersize": 3, "alpha": 0.5}
    ax.plot(mean.index, mean, **style)
    ax.plot(rows["lam"], rows["share"], ".", **dots)
