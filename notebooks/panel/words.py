"""Sentences of a panel's page: what the paper says of it, what the data is, and who is first."""

from ldpbo import plots, results

FIGURE_2 = (
    'of all six plots of Figure 2 that MoMA-GP-UCB "tends to empirically outperform the other two '
    'algorithms", private or not'
)
FIGURE_3 = (
    'of all three plots of Figure 3 that LDP-MoMA-GP-UCB has "better or competitive performance"'
)
PANEL_2D = "; of plot (d), that its high error bar comes from a new $f$ in each trial"


def paper_text(panel):
    """Quote what the paper's text says of a panel, as the end of a sentence."""
    if not panel:
        return "nothing: these are parameters of your own"
    figure = FIGURE_2 if panel[0] == "2" else FIGURE_3
    return figure + (PANEL_2D if panel == "2d" else "")


def data_text(data, both):
    """Say on which data the results of a page were made, and in which order they stand."""
    if both:
        return (
            "The data of this panel may not be shipped, but results on it may: each figure and "
            "table first shows the paper's own data (stored, `data/originals.json`), then this "
            f"build's run on the {data}."
        )
    if data.startswith("original"):
        return "This build ran on the originals."
    return f"Data of this run: {data}."


def clipped_text(runs, eps):
    """Say how many rewards the curator clipped in all runs, {setting: result of `simulate`}."""
    if eps is None:
        return "No curator is at work here; the learner sees the rewards themselves"
    clipped = sum(int(run.records["clipped"].sum()) for run in runs.values())
    return f"The curator clipped {clipped} rewards in all runs of this page"


def verdict(rows):
    """Say who has the smallest mean in `results.final_rows`, and whether the paired difference to
    the second excludes 0."""
    first, *others = sorted((n for n in rows if " − " not in n), key=lambda n: rows[n][0])
    if not others:
        return f"{first} has mean {rows[first][0]:.2f}"
    pair = {first, others[0]}
    _, low, high = next(band for row, band in rows.items() if set(row.split(" − ")) == pair)
    clear = "clearly" if low * high > 0 else "not separated from the second by these trials"
    return f"{first} has the smallest mean ({rows[first][0]:.2f}), {clear}"


def verdicts(table, settings):
    """Give the `verdict` of every data set and setting of a `results.final_table`, as prose."""
    parts = []
    for data, rows in table.groupby("data", sort=False):
        found = [
            f"at {plots.setting_title(s)} {verdict(results.final_rows(rows, s))}" for s in settings
        ]
        parts.append(f"**{results.data_label(data)}** ({data}): " + "; ".join(found))
    return ". ".join(parts)
