"""The paper's figures, three panels in a row; as a program, the picture of the README.

    python -m notebooks.experiments.picture book/images/panels.png

The program draws the nine panels at order constants: six on the paper's own data, as stored, and
the three synthetic ones of the last full build.
"""

import sys
from pathlib import Path

from ldpbo import plots, results
from notebooks.experiments import ranking


def panels(tables, which, settings):
    """Draw the panels `which` from {panel: regret table of one data set}, three in a row.

    Each row of panels has a row of axes for every setting, and the axes of a panel share a scale.
    The titles name the data.
    """
    rows = len(which) // 3 * len(settings)
    figure, grid = plots.axes(rows, 3, height=2.1, width=7.6, squeeze=False)
    for i, panel in enumerate(which):
        top = i // 3 * len(settings)
        _panel(grid[top : top + len(settings), i % 3], panel, tables[panel], settings)
    for ax in grid[:, 0]:
        ax.set_ylabel("regret $R_t$")
    plots.legend_below(figure, 4)
    return figure


def _panel(column, panel, table, settings):
    """Draw one panel, a setting in each of the axes of `column`."""
    for ax, setting in zip(column, settings):
        if ax is not column[0]:
            ax.sharey(column[0])
        means = table[table.setting == setting]
        plots.regret_curves(ax, means, private=results.is_private(panel))
        text = "order" if setting == 1 else plots.setting_title(setting)
        ax.annotate(text, (0.03, 0.9), xycoords="axes fraction", fontsize=8)
        ax.set_xlabel("round $t$" if ax is column[-1] else "")
        ax.tick_params(labelsize=7.5)
    data = results.data_label(table.data.iloc[0])
    column[0].set_title(f"{results.PANELS[panel]}\n{data}", fontsize=8.5)


def main(path):
    """Draw the picture of the README."""
    tables = {panel: ranking.panel_table(panel, "regret") for panel in results.PANELS}
    figure = panels(tables, list(tables), [1.0])
    Path(path).parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1])
