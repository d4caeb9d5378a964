"""Who is first in the nine panels: tables of the panels' executed pages, one under another."""

import numpy as np
import pandas as pd

import ldpbo_core as core
from ldpbo import originals, panels, plots, results, show

NAMES = ["TGP", "ATA", "MoMA"]
SIX = [panel for panel, title in results.PANELS.items() if "synthetic" not in title]
NOT_PRIVATE = {  # how the problem of a panel without privacy is made
    "2d": lambda: core.synthetic_problem("se", noise="t3", seed=0),
    "2e": core.light_problem,
    "2f": core.stock_problem,
}


def panel_table(panel, part, of_this_build=False):
    """Return the table `part` of a panel's executed page on the data to show first.

    That is the paper's own, stored or of this build; of_this_build: what this build ran on.
    """
    frame = pd.DataFrame(results.load(f"panel_{panel}", f"fig-panel-{panel}-{part}"))
    return frame[frame.data == frame.data.iloc[-1 if of_this_build else 0]]


def stack(tables):
    """Put the tables {panel: table} under each other, with the panel named."""
    return pd.concat([table.assign(panel=panel) for panel, table in tables.items()])


def by_setting(table, settings):
    """Return {setting: `results.final_rows`} of a panel's final table."""
    return {setting: results.final_rows(table, setting) for setting in settings}


def ranking(tables, settings):
    """Rank the algorithms in {panel: `results.final_table` of one data set}.

    A row, for each panel and setting, has every algorithm's (mean, low, high), the winner, those
    clearly behind it (the paired difference excludes 0), and whether the second is one of them.
    """
    rows = []
    for panel, table in tables.items():
        for setting, found in by_setting(table, settings).items():
            first, *others = panels.ranked(found)
            behind = panels.behind(found)
            row = {"panel": panel, "setting": setting, "private": results.is_private(panel)}
            row |= {"winner": first, "clear": others[0] in behind, "behind": behind}
            rows.append(row | {name: found[name] for name in (first, *others)})
    return pd.DataFrame(rows)


def show_panel(table, settings):
    """Show the small table of a panel: every algorithm at each setting, and those in front that
    these trials do not tell apart."""
    found = by_setting(table, settings)
    rows = [[name, *(show.estimate(*f[name]) for f in found.values())] for name in NAMES]
    rows.append(["in front", *(panels.listed(panels.leaders(f)) for f in found.values())])
    show.table(["", *map(plots.setting_title, settings)], rows, "Regret over that of uniform play")


def texts(panel, table, settings):
    """Write the sentences of a panel's section: headline, verdict, and in a word for each
    setting whether the paper's sentence comes out."""
    found = by_setting(table, settings)
    made = {f"headline-{panel}": panels.headline(found)}
    made[f"verdict-{panel}"] = panels.verdict(panel, found)
    for i, rows in enumerate(found.values()):
        made[f"agrees-{panel}-{i}"] = panels.agreement(panel, rows)
    return made


def answer(tables, settings):
    """Answer whether the panels {panel: final table} come out as the paper says: "Yes", "No" or
    "In part", and in how many at the first setting and at the second."""
    agree = []
    for setting in settings:
        rows = {panel: results.final_rows(table, setting) for panel, table in tables.items()}
        agree.append([panels.agreement(*pair) == "yes" for pair in rows.items()])
    head = "Yes" if np.all(agree) else "In part" if np.any(agree) else "No"
    order, narrow = (panels.some_of(sum(found), len(found)) for found in agree)
    return {"answer": head, "agree-order": order, "agree-narrow": narrow}


def idle_text(tables, setting):
    """Name the panels that come out as the paper says at a setting at which nobody learns much, as
    the middle of a sentence; "" if there is none."""
    found = []
    for panel, table in tables.items():
        rows = results.final_rows(table, setting)
        if panels.agreement(panel, rows) == "yes" and panels.clause(rows) in panels.LITTLE:
            found.append(f"{panel}, where {panels.clause(rows)}")
    return f" (among them {panels.listed(found)})" if found else ""


def similar_text(tables, settings):
    """Say in how many panels of Figure 3 MoMA outperforms, which is what is said of Figure 2."""
    said = []
    third = {panel: table for panel, table in tables.items() if panel.startswith("3")}
    for setting in settings:
        rows = [results.final_rows(table, setting) for table in third.values()]
        alone = sum(panels.leaders(found) == ["MoMA"] for found in rows)
        said.append(panels.some_of(alone, len(third)))
    if len(set(said)) == 1:
        return f"{said[0]} would come out at either setting"
    parts = [f"{n} {panels.at(setting)}" for n, setting in zip(said, settings)]
    parts[0] = f"{said[0]} would come out {panels.at(settings[0])}"
    return panels.listed(parts)


def counts(ranks):
    """Count over a `ranking` how often each algorithm is first, and clearly; the means as well."""
    found = {}
    for name in NAMES:
        first = ranks.winner == name
        found[f"{name}-first"] = int(first.sum())
        found[f"{name}-clear"] = int((first & ranks.clear).sum())
        found[f"{name}-mean"] = show.estimate(*overall(ranks[name]))
    return found


def overall(bands):
    """Average (mean, low, high) over panels. Panels share seeds, so the ends are averaged as well:
    an interval for the luck of the trials that holds however panels depend on each other."""
    return tuple(np.mean(bands.tolist(), axis=0).tolist())


def passed(first, second):
    """Name the panels in which another algorithm has the smallest mean at the second setting than
    at the first, and those of them where the difference of the two is clear at both.

    first, second: the rows of a `ranking` at either setting.
    """
    both = first.merge(second, on="panel")
    moved = both[both.winner_x != both.winner_y]
    clear = [
        row.panel
        for row in moved.itertuples()
        if row.winner_y in row.behind_x and row.winner_x in row.behind_y
    ]
    return list(moved.panel), clear


def depends(moved):
    """Say whether the ranking depends on the width; moved: the first panels of `passed`."""
    if moved:
        return "The ranking depends on a constant that the paper does not give."
    return "The same algorithms are first at both settings."


def named(found, total):
    """Say in how many panels something is so, and in which: "two of the nine (2c, 2e)"."""
    words = panels.some_of(len(found), total)
    return f"{words} ({', '.join(found)})" if found else words


def clear_words(ranks, name):
    """Say in which panels an algorithm is clearly first: "three of the nine panels, those without
    privacy", or "two of the nine panels (2c, 2e)"."""
    found = ranks.panel[(ranks.winner == name) & ranks.clear].tolist()
    words = f"{panels.some_of(len(found), len(ranks))} panels"
    if found == ranks.panel[~ranks.private].tolist():
        return f"{words}, those without privacy"
    return f"{words} ({', '.join(found)})" if found else words


def moma_counts(ranks):
    """Count in how many panels MoMA is first: without and with privacy, on real data, in Figure 3;
    and in how many of Figure 3 it is clearly behind."""
    moma = ranks[ranks.winner == "MoMA"]
    real = moma[moma.panel.isin(SIX)]
    appendix = ranks[ranks.panel.str.startswith("3")]
    return {
        "moma-public": int((~moma.private).sum()),
        "moma-private": int(moma.private.sum()),
        "original-public": int((~real.private).sum()),
        "original-private": int(real.private.sum()),
        "moma-appendix": int((appendix.winner == "MoMA").sum()),
        "moma-behind": int(appendix.behind.map(lambda names: "MoMA" in names).sum()),
    }


def first_words(ranks):
    """Say in how many of these panels MoMA is first: "clearly first in all three panels"."""
    first = ranks.winner == "MoMA"
    clear = int((first & ranks.clear).sum())
    total = len(ranks)
    if clear == first.sum():
        return f"clearly first in {panels.some_of(clear, total)} panels"
    few = "none" if clear == 0 else panels.word(clear)
    return f"first in {panels.some_of(int(first.sum()), total)} panels, clearly in {few}"


def lead_words(found, total):
    """Say in how many panels MoMA is clearly first, or that it is first in none."""
    kind = "clearly first" if found["MoMA-first"] else "first"
    return f"{kind} in {panels.some_of(found['MoMA-clear'], total)}"


def in_words(first, second):
    """Write the `moma_counts` of two settings: "none of the six panels at either setting"."""
    totals = {"moma-public": 3, "moma-private": 6, "original-public": 2, "original-private": 4}
    totals |= {"moma-appendix": 3, "moma-behind": 3}
    found = {}
    for key, total in totals.items():
        before, after = (panels.some_of(part[key], total) for part in (first, second))
        same = f"{before} at either setting"
        other = f"{before} at order constants and in {after} with narrower bands"
        found[f"{key}-order"], found[f"{key}-narrow"] = before, after
        found[f"{key}-both"] = same if before == after else other
    return found


def stand_in_text(ranks, ranks_own):
    """Say what the runs on stand-ins are worth, and where another algorithm is first on them."""
    both = ranks.merge(ranks_own, on=["panel", "setting"])
    other = both[both.winner_x != both.winner_y].groupby("setting").panel.agg(list)
    places = [
        f"in {panels.listed(other.get(setting, ['no panel']))} {panels.at(setting)}"
        for setting in ranks.setting.unique()
    ]
    return (
        "Stand-ins are data of the same kind and of similar size, and not the paper's: what "
        "follows says how the algorithms behave on other data, nothing about the paper's plots. "
        f"The first algorithm differs from that on the paper's data {', and '.join(places)}. "
        "`make data` fetches the originals, and `make book` then runs on them."
    )


FILES = (
    "By that we mean two files in the public repository of {cite:t}`chowdhury2019bayesian`, whose "
    "settings the paper follows; they fit its description."
)


def data_text(here):
    """Say whose data the numbers come from; here: this run had the paper's own."""
    if here:
        return (
            "The numbers of the six real-data panels were computed here from the paper's own data. "
            f"{FILES}"
        )
    return (
        "The numbers of the six real-data panels are from the paper's own data, run once and "
        f"stored. {FILES} The data may not be distributed; whoever rebuilds the book gets "
        "{term}`stand-ins <stand-in>`, shown {ref}`at the very end <sec-stand-ins>`."
    )


def half_width(name, problem, T, **options):
    """Play once and return the median half-width β σ over the arms, over the range of f."""
    rng = np.random.default_rng(0)
    learner = core.make(name, problem, T, rng=rng, **options)
    for _ in range(T):
        learner.tell(problem.sample(learner.ask(), rng))
    return float(np.median(learner.beta * learner.sigma) / np.ptp(problem.f))


def width_texts(T, ranks, here):
    """Say of MoMA's half-band in the panels without privacy how narrow it is, and where that does
    not make MoMA the first.

    ranks: a `ranking` of this build's data at order constants; here: these are the paper's own.
    """
    found = {}
    for panel, make in NOT_PRIVATE.items():
        found[panel] = {name: half_width(name, make(), T) for name in NAMES}
    narrow = [panel for panel, widths in found.items() if min(widths, key=widths.get) == "MoMA"]
    short = f"the narrowest of the three in {panels.some_of(len(narrow), len(found))} panels"
    moma = panels.listed([f"{w['MoMA']:.2f}" for w in found.values()])
    others = panels.listed([f"{min(w['TGP'], w['ATA']):.2f}" for w in found.values()])
    stand_ins = "2e and 2f on the stand-in data"
    data = "" if here else f"; {stand_ins}"
    text = (
        f"{short}: in {panels.listed(list(found))} it is {moma} times the range of $f$, where the "
        f"narrower of the other two is {others} (median arm after {T:,} rounds, one run of each "
        f"learner{data})"
    )
    first = set(ranks[ranks.winner == "MoMA"].panel)
    behind = [panel for panel in narrow if panel in SIX and panel not in first]
    limit = ""
    if behind and not here:
        limit = (
            f"It cannot be the whole reason: on the stand-in data of {panels.listed(behind)} its "
            "band is the narrowest as well, and MoMA is not first."
        )
    short += "" if here else f" (measured in {stand_ins})"
    return {"widths-short": short, "widths": text, "widths-limit": limit}


def stocks_text(T):
    """Say why little is learned of the private stocks at order constants."""
    problem = core.stock_problem()
    widths = [half_width(name, problem, T, eps=1.0) for name in NAMES]
    plays = panel_table("2c", "plays")
    data = results.data_label(problem.provenance)
    hint = ", for the paper's data no more than a hint" if data.startswith("stand-in") else ""
    return (
        f"After {T:,} rounds at order constants the half-width $\\beta\\sigma$ of the median arm "
        f"is still {min(widths):.1f} to {max(widths):.1f} times the whole range of $f$ (one run of "
        f"each learner on the {data}{hint}), so that the plays follow $\\sigma$; and on the "
        f"{results.data_label(plays.data.iloc[0])} a learner that looks at $\\sigma$ alone loses "
        f"{plays['sigma alone, relative regret'].iloc[0]:.2f} times what uniform play loses."
    )


def sizes_text(real, made):
    """Say how many trials of how many rounds a panel had, on real data and on synthetic ones, from
    the columns "T" and "trials" that the panels' pages keep."""
    said = []
    for size in (real, made):
        trials, T = (int(size[name][0]) for name in ("trials", "T"))
        said.append(f"{panels.word(trials)} trial{'s' * (trials != 1)} of {T:,} rounds")
    if said[0] == said[1]:
        return f"{said[0]} a panel"
    return f"{said[0]} in each panel on real data and {said[1]} in each synthetic one"


def note(panel, table):
    """Say where the result of a panel comes from, for the line under its figure."""
    data = table.data.iloc[0]
    if panel in SIX and data.startswith("original"):
        return originals.note()
    return f"this build, T = {int(table.t.max())}; data: {data}"
