"""The nine panels in one picture; as a program, that of the README.

    python -m notebooks.experiments.picture book/images/panels.png

The program draws the nine panels at order constants: six on the paper's own data, as stored, and
the three synthetic ones of the last full build.
"""

import sys
from pathlib import Path

from ldpbo import plots, results
from notebooks.experiments import ranking


def forest(finals, settings):
    """Draw the final regret over that of uniform play, a setting in each of the axes, from {panel:
    final table of one data set}."""
    figure, axes = plots.axes(1, len(settings), width=7.6, height=0.7 + 0.52 * len(finals))
    labels = {panel: _title(panel, table) for panel, table in finals.items()}
    for ax, setting in zip(axes, settings):
        rows = {labels[p]: results.final_rows(table, setting) for p, table in finals.items()}
        plots.forest(ax, rows, _setting(setting))
        for row in range(1, len(rows), 2):
            ax.axhspan(row - 0.5, row + 0.5, color="#888888", alpha=0.1, linewidth=0, zorder=0)
    most = max(ax.get_xlim()[1] for ax in axes)
    for ax in axes:
        ax.set_xlim(0, min(most, 2.0))
        ax.tick_params(axis="y", labelsize=8, labelleft=ax is axes[0])
    for panel, label in zip(finals, axes[0].get_yticklabels()):
        label.set_fontweight("normal" if results.is_private(panel) else "bold")
    plots.legend_below(figure, 3, fontsize=None)
    return figure


def _setting(scale):
    return "order constants" if scale == 1 else f"every band narrower: {plots.setting_title(scale)}"


def _title(panel, table):
    """Name a panel and its data in two lines."""
    return f"{results.PANELS[panel]}\n{results.data_label(table.data.iloc[0])}"


def panels(tables):
    """Draw the panels {panel: regret table of one data set} at order constants, three in a row."""
    figure, grid = plots.axes(len(tables) // 3, 3, height=2.1, width=7.6, squeeze=False)
    for ax, (panel, table) in zip(grid.flat, tables.items()):
        private = results.is_private(panel)
        plots.regret_curves(ax, table[table.setting == 1], private=private)
        for line in ax.get_lines():  # solid and dashed handles of a name look alike in a legend
            line.set_label(line.get_label().removeprefix("LDP-") if private else "_")
        ax.tick_params(labelsize=7.5)
        ax.set_title(_title(panel, table), fontsize=8.5)
    grid[-1, -1].plot([], [], "--", color="black", label="dashed: not private")
    for ax in grid[:, 0]:
        ax.set_ylabel("regret $R_t$")
    plots.legend_below(figure, 5)
    return figure


def main(path):
    """Draw the picture of the README."""
    figure = panels({panel: ranking.panel_table(panel, "regret") for panel in results.PANELS})
    Path(path).parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
