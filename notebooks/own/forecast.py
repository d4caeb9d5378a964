"""The forecast for one's own table: every learner at any number of users, on sums of reports."""

import numpy as np

import ldpbo_core as core
from ldpbo import plots, results, show

CANDIDATES = {  # on one-bit reports; all of them cost the same at any number of users
    "GP-UCB, proved": {"name": "GP-UCB", "constants": "proved", "switch": 0.1, "lam": None},
    "elimination, proved": {"name": "PE", "constants": "proved", "schedule": "double"},
    "GP-UCB, order": {"name": "GP-UCB", "constants": "order", "switch": 0.1},
    "elimination, order": {"name": "PE", "constants": "order"},
}
PROVED = [label for label in CANDIDATES if label.endswith("proved")]
FARTHEST = 10**10  # users up to which the number needed is looked for


def read_problem(rewards, low, high):
    """Make the problem of a table -> (problem, whether its means have a norm to prove with).

    With fewer rows than columns the table's kernel knows no function through its means.
    """
    try:
        return core.table_problem(rewards, low=low, high=high), True
    except ValueError as error:
        if "has no norm" not in str(error):
            raise
    return core.table_problem(rewards, low=low, high=high, B=10 * (high - low)), False


def learner_options(label):
    """Split a candidate's options -> (name, the others), as `make` takes them."""
    options = CANDIDATES[label] | {"curator": core.OneBit}
    return options.pop("name"), options


def run(problem, label, users, **given):
    """Play a candidate -> (users so far, regret over uniform play's (trials, ...))."""
    name, options = learner_options(label)
    campaign = core.simulate_batches(problem, users, name=name, **options, **given)
    return campaign.t, campaign.regret / (campaign.t * campaign.uniform[:, None])


def users_needed(problem, label, shares, **given):
    """Find the users from which on the mean relative regret stays below each share."""
    t, relative = run(problem, label, FARTHEST, **given)
    mean = relative.mean(axis=0)
    found = []
    for share in shares:
        above = np.flatnonzero(mean >= share)
        last = above[-1] if above.size else -1
        found.append(float(t[last + 1]) if last + 1 < len(t) else np.inf)
    return found


def name_best(problem, label, users, eps, seed):
    """Play once -> (arm named, lower and upper bound of its mean, most that is lost by it)."""
    name, options = learner_options(label)
    learner = core.make(name, problem, users, eps=eps, rng=0, **options)
    streams = [np.random.default_rng([seed, i]) for i in (1, 2)]
    for _ in core.play_batches(learner, *streams):
        pass
    arm, lower, upper = learner.best()
    rivals = getattr(learner, "active", np.ones(problem.n, dtype=bool)).copy()
    rivals[arm] = False
    return arm, lower, upper, float(learner.upper[rivals].max(initial=lower)) - lower


def choose(finals):
    """Pick the candidate with the least mean among those whose interval lies below 1, or None."""
    sure = {}
    for label, final in finals.items():
        mean, _, upper = results.interval(final)
        if upper < 1:
            sure[label] = float(mean)
    return min(sure, key=sure.get, default=None)


def advise(finals):
    """Say in words what to use -> (candidate, sentences).

    finals: {candidate: regret over uniform play's at the end, (trials,)}. Where no interval lies
    below 1 nothing is recommended, and the candidate is the one with the least mean.
    """
    trials = len(next(iter(finals.values())))
    measured = {label: show.estimate(*results.interval(final)) for label, final in finals.items()}
    all_four = "; ".join(f"{label} {value}" for label, value in measured.items())
    best = choose(finals)
    proved = choose({label: finals[label] for label in PROVED})
    if trials < 2:
        text = "**no recommendation**: one trial gives no interval; take `trials=3` or more"
    elif best is None:
        text = "**no recommendation**: none of the four is shown to beat uniform play"
    else:
        text = f"**use {proved or best} constants, with OneBit**"
    if best is None:
        least = min(finals, key=lambda label: finals[label].mean())
        return least, f"{text}. Regret over that of uniform play: {all_four}.{means_of(trials)}"
    text += f". Expected regret over that of uniform play: {measured[proved or best]}."
    if proved is None:
        text += " Neither proved learner is shown to beat uniform play with so few users."
    elif best != proved:
        text += f" Without a proof, {best} constants lose less: {measured[best]}."
    return proved or best, text + means_of(trials)


def means_of(trials):
    """Say what the numbers of a recommendation are."""
    return f" (Mean and 95 % interval of {trials} trials.)" if trials > 1 else " (One trial.)"


def count(users):
    """Write a number of users with two digits, in words where it is large."""
    if not np.isfinite(users):
        return f"beyond {show.scientific(FARTHEST, 0)}"
    users = float(f"{users:.2g}")
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if users >= size:
            return f"{users / size:g}{word}"
    return f"{users:,.0f}"


def draw(curves):
    """Draw relative regret against users for every candidate -> (figure, data)."""
    figure, ax = plots.axes(height=3.1)
    ax.axhline(1, **plots.line_style("uniform"))
    data = {}
    for label, (t, relative) in curves.items():
        name = CANDIDATES[label]["name"]
        mean, low, high = results.interval(relative)
        dashes = "-" if label in PROVED else "--"
        every = max(1, len(t) // 6)
        style = plots.line_style(name, linestyle=dashes, label=label, markevery=every)
        ax.plot(t, mean, **style)
        ax.fill_between(t, low, high, color=plots.COLORS[name], **plots.BAND)
        data |= {f"{label}, users": t, f"{label}, mean": mean}
    ax.set(xscale="log", xlabel="users", ylabel="regret / regret of uniform play", ylim=(0, 1.3))
    ax.legend()
    return figure, data
