"""Sentences of a panel's page that are no result: its data, its sizes, what the curator clipped."""

import math

from ldpbo import panels, results, show


def data_text(data, both):
    """Say on which data the results of a page were made, and in which order they stand."""
    if both:
        return (
            "The data of this panel may not be shipped, but results on it may: the figures and "
            "tables show the paper's own data first (stored in `data/originals.json`), then this "
            f"build's run on the {data}. The answer above is about the paper's own data."
        )
    if data.startswith("original"):
        return "This build ran on the paper's own data."
    return f"Data of this run: {data}."


def caption(data):
    """Name the data of a table in full, as the beginning of its caption."""
    kind, _, name = data.partition(" ")
    if kind in ("original", "stand-in"):
        return f"{results.data_label(data).capitalize()} ({name})"
    return f"{data[0].upper()}{data[1:]}, {results.data_label(data)}"


def estimate(mean, low, high):
    """Write a mean with its interval; an end near 0 has the digits that show its side."""
    digits = 2
    while digits < 5 and any(0 < abs(end) < 0.5 * 10**-digits for end in (low, high)):
        digits += 1
    if digits == 2 or not math.isfinite(low):
        return show.estimate(mean, low, high)
    ends = f"[{low:.{digits}f}, {high:.{digits}f}]"
    return show.typeset(f"{mean:.2f} {ends}").replace("-", "−")


def sure_text(trials, T, settings):
    """Say what the answer rests on: how many trials, how long, and at which settings."""
    several = f"{panels.word(trials)} trial" + ("" if trials == 1 else "s")
    where = panels.listed([panels.at(scale) for scale in settings])
    return (
        f"Measured in {several} of {T:,} rounds, {where}. A difference is called clear if its 95 % "
        "interval excludes 0; differences are taken trial by trial"
    )


def curves_text(found):
    """Say whose curve ends below that of uniform play; found: {setting: rows of final_rows}."""
    parts = []
    for scale, rows in found.items():
        below = [name for name in panels.ranked(rows) if rows[name][0] < 1]
        parts.append(f"{panels.at(scale)}: {panels.listed(below) if below else 'nobody'}")
    answer = panels.sentence("; ".join(parts))
    return f"Whose curve ends below the dotted line, that of uniform play? {answer}"


def plays_text(plays, names, setting):
    """Say what exploring costs: the quarter of the arms with the largest σ, and who plays there
    most; plays: a table of `quarters.table` on one kind of data."""
    shares = {name: plays[f"{name} (beta x {setting:g})"].iloc[0] for name in names}
    most = max(shares, key=shares.get)
    arms = plays["arms"].iloc[0] / plays["arms"].sum()
    loss = plays["loss"].iloc[0]
    cost = "more" if loss > 1 else "no more"
    return (
        "Who plays most in the quarter of the arms with the largest σ, and what does it cost? "
        f"{panels.sentence(panels.at(setting))[:-1]}: {most}, with {shares[most]:.0%} of its "
        f"rounds (uniform play: {arms:.0%}). A play there loses {loss:.2f} times the "
        f"average of all arms: it costs {cost} than a play at random."
    ).replace("%", "\u00a0%")


def clipped_text(runs, eps):
    """Say what the learner saw, and where B comes from; runs: {setting: result of `simulate`}."""
    if eps is None:
        return (
            "No curator is at work here: the learner sees the rewards themselves, and $B$, $v$ and "
            "$c$ are computed from the function and its rewards, as in the paper."
        )
    clipped = sum(int(run.records["clipped"].sum()) for run in runs.values())
    return (
        f"In all runs of this page together the curator clipped {panels.word(clipped)} rewards. "
        "$B$ and $R$ are computed from the very function and rewards that are to be protected, as "
        "in the paper."
    )
