"""Who is first in the nine panels: tables of the panels' executed pages, one under another."""

import pandas as pd

from ldpbo import plots, results, show


def panel_table(panel, part, of_this_build=False):
    """Return the table `part` of a panel's executed page on the data to show first.

    That is the paper's own, stored or of this build; of_this_build: what this build ran on.
    """
    frame = pd.DataFrame(results.load(f"panel_{panel}", f"fig-panel-{panel}-{part}"))
    return frame[frame.data == frame.data.iloc[-1 if of_this_build else 0]]


def stack(tables, panels):
    """Put the tables of the panels, {panel: table}, under each other with the panel named."""
    return pd.concat([tables[panel].assign(panel=panel) for panel in panels])


def ranking(tables, settings):
    """Rank the algorithms in {panel: `results.final_table` of one data set}.

    A row, for each panel and setting, has every algorithm's (mean, low, high), the winner, those
    clearly behind it (the paired difference excludes 0), and whether the second is one of them.
    """
    rows = []
    for panel, table in tables.items():
        for setting in settings:
            row = {"panel": panel, "setting": setting, "data": table.data.iloc[0]}
            row["private"] = results.is_private(panel)
            rows.append(row | _order(results.final_rows(table, setting)))
    return pd.DataFrame(rows)


def _order(found):
    """Order the algorithms of {row: (mean, low, high)} by their means."""
    names = sorted((name for name in found if " − " not in name), key=lambda name: found[name][0])
    clear = {frozenset(row.split(" − ")): low * high > 0 for row, (_, low, high) in found.items()}
    behind = [name for name in names[1:] if clear[frozenset((names[0], name))]]
    order = {"winner": names[0], "clear": names[1] in behind, "behind": behind}
    return order | {name: found[name] for name in names}


def show_tables(ranks, names, caption):
    """Show a table for each setting of a `ranking`: panel with its data, each algorithm, and who is
    first (a star: clearly)."""
    kinds = {"original data": " (original)", "stand-in data": " (stand-in)"}
    for setting, part in ranks.groupby("setting", sort=False):
        rows = []
        for _, row in part.iterrows():
            panel = results.PANELS[row["panel"]] + kinds.get(results.data_label(row["data"]), "")
            estimates = [show.estimate(*row[name]) for name in names]
            rows.append([panel, *estimates, row["winner"] + "*" * row["clear"]])
        title = f"{caption}, {title_of(setting)}"
        show.table(["panel (data)", *names, "first"], rows, title)


def title_of(setting):
    """Name a setting in full, as captions do."""
    return "order constants" + ("" if setting == 1 else f", {plots.setting_title(setting)}")
