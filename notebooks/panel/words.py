"""Sentences of a panel's page that are no result: its data, its sizes, what the curator clipped."""

from ldpbo import panels, results, show

NOISE = {
    "uniform": "uniform on $[-{R:g},{R:g}]$",
    "t3": "Student's $t$ with three degrees of freedom",
}
WHY = {  # what a panel's data and its result ask for
    ("light", "everybody loses to chance"): (
        "See {ref}`why learning can be worse than chance <sec-light>`."
    ),
    ("stock", "nobody learns much"): (
        "See {ref}`why so little is learned about the stocks <sec-panel-2c>`."
    ),
}


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
    """Write a mean with its interval, with the digits that show the sign of either end; one that
    only just excludes 0 is called borderline."""
    nearest, excluded = min(abs(low), abs(high)), low * high > 0
    if not 0 < nearest < 0.005:
        return show.estimate(mean, low, high)
    digits = next((n for n in (3, 4) if nearest >= 0.5 * 10**-n), 5)
    mean, low, high = (f"{round(x, digits) + 0.0:.{digits}f}" for x in (mean, low, high))
    text = f"{mean} [{low}, {high}]" + (", borderline" if excluded else "")
    return show.typeset(text).replace("-", "−")


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
        parts.append(f"{panels.at(scale)}: {_below(rows)}")
    answer = panels.sentence("; ".join(parts))
    return f"Whose curve ends below the dotted line, that of uniform play? {answer}"


def why_text(panel, found):
    """Point to the explanation if little or nothing is learned at the first setting of a panel; ""
    for any other result, and where the run is none of the paper's panels.

    found: {setting: rows of final_rows}.
    """
    data = results.PANELS[panel].split()[1].rstrip(",") if panel else ""
    return WHY.get((data, panels.clause(next(iter(found.values())))), "")


def _below(rows):
    """Name those whose mean is below chance, and say of whom the interval is not."""
    below = [name for name in panels.ranked(rows) if rows[name][0] < 1]
    reach = [name for name in below if not rows[name][2] < 1]
    if not below:
        return "nobody"
    if not reach:
        return panels.listed(below)
    one = len(reach) == 1
    if reach == below:
        by = "its mean; its interval reaches" if one else "their means; their intervals reach"
        return f"{panels.listed(below)}, by {by} the line"
    several = f"the intervals of {panels.listed(reach)} reach"
    whose = f"{reach[0]}'s interval reaches" if one else several
    return f"{panels.listed(below)} ({whose} the line)"


def plays_text(plays, names, setting):
    """Say what exploring costs: the quarter of the arms with the largest σ, and who plays there
    most; plays: a table of `quarters.table` on one kind of data."""
    shares = {name: plays[f"{name} (beta x {setting:g})"].iloc[0] for name in names}
    most = max(shares, key=shares.get)
    arms = plays["arms"].iloc[0] / plays["arms"].sum()
    loss = plays["loss"].iloc[0]
    cost = f"The average arm there loses {loss:.2f} times the average of all arms"
    more = f"a play costs {'more' if loss > 1 else 'no more'} than one at random"
    if shares[most] > arms:
        who = f"{most}, with {shares[most]:.0%} of its rounds (uniform play: {arms:.0%}). "
        who += f"{cost}: {more}" + (
            ", unless the learner keeps to the better arms." if loss > 1 else "."
        )
    else:
        who = (
            f"nobody more than uniform play ({arms:.0%}): the most is {most}'s {shares[most]:.0%}. "
        )
        who += f"{cost}, and the learners have seen it." if loss > 1 else f"{cost}: {more}."
    return (
        "Who plays most in the quarter of the arms with the largest σ, and what does it cost? "
        f"{panels.sentence(panels.at(setting))[:-1]}: {who}"
    ).replace("%", "\u00a0%")


def alone_text(plays):
    """Say what a learner loses that looks at σ alone, on each kind of data in `quarters.table`."""
    found = plays.groupby("data", sort=False)["sigma alone, relative regret"].first()
    shares = [f"{share:.2f}" for share in found]
    who = "a learner that looks at $\\sigma$ alone, and never at a reward, has"
    if set(shares) == {"1.00"}:
        return f"{panels.sentence(who)[:-1]} 1.00 here, too."
    parts = [f"{x} on the {results.data_label(data)}" for x, data in zip(shares, found.index)]
    has = panels.listed(parts) if len(set(shares)) > 1 else f"{shares[0]} here"
    return f"It is not the level of learning nothing: {who} {has}."


def clipped_text(runs, eps):
    """Say what the learner saw; runs: {setting: result of `simulate`}."""
    if eps is None:
        return "No curator is at work here: the learner sees the rewards themselves."
    clipped = sum(int(run.records["clipped"].sum()) for run in runs.values())
    return f"In all runs of this page together the curator clipped {panels.word(clipped)} rewards."


def told_text(eps, source=None):
    """Say where the bounds come from that the learners and the curator are told.

    source: what `parameters.make_problem` made; a function makes a synthetic problem, whose noise
    is known.
    """
    if callable(source):
        return _told_synthetic(eps, source(0))
    if eps is None:
        return "$B$, $v$ and $c$ are computed from the function and its rewards, as in the paper."
    return (
        "$B$ and $R$ are computed from the very function and rewards that are to be protected, as "
        "in the paper."
    )


def _told_synthetic(eps, problem):
    """Say it of a synthetic problem: only B is computed from f."""
    noise = NOISE[problem.noise].format(R=problem.R)
    if eps is None:
        return (
            "$B$ is computed from the function, as in the paper. The noise is "
            f"{noise}, and bounds on second moments follow from it: $c={problem.c:g}$ for the "
            f"noise, $v=B^2+{problem.c:g}$ for the reward."
        )
    return (
        "$B$ is computed from the very function that is to be protected, as in the paper; "
        f"$R={problem.R:g}$ is known from the noise, which is {noise}."
    )
