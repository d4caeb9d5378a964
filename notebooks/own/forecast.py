"""The forecast for one's own table: every learner at any number of users, on sums of reports."""

import math

import numpy as np

import ldpbo_core as core
from ldpbo import experiments, plots, results, show

CANDIDATES = {  # on one-bit reports; all of them cost the same at any number of users
    "GP-UCB, proved": {"name": "GP-UCB", "constants": "proved", "switch": 0.1, "lam": None},
    "elimination, proved": {"name": "PE", "constants": "proved", "schedule": "double"},
    "GP-UCB, order": {"name": "GP-UCB", "constants": "order", "switch": 0.1},
    "elimination, order": {"name": "PE", "constants": "order"},
}
PROVED = [label for label in CANDIDATES if label.endswith("proved")]
FARTHEST = 10**10  # users up to which the number needed is looked for


def read_columns(long):
    """Return the columns user, item, value as `read_table` takes them: a list, False, or the text
    "user,item,value"."""
    if isinstance(long, str):
        long = [name.strip() for name in long.split(",") if name.strip()]
    return tuple(long) or None if long is not False else False


def clipped(table, low, high):
    """Clip the entries of a table to the range that was told; refuse one that leaves no reward."""
    rewards = np.clip(table.values, min(low, high), max(low, high))
    for name, before, after in zip(table.names, table.values.T, rewards.T):
        if low < high and np.ptp(after) == 0 < np.ptp(before):
            raise ValueError(
                f"low = {low:g}, high = {high:g}: must hold the rewards; column {name} goes from "
                f"{before.min():g} to {before.max():g}"
            )
    return rewards


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


def play(problem, label, users, **given):
    """Play a candidate -> Campaign."""
    name, options = learner_options(label)
    return core.simulate_batches(problem, users, name=name, **options, **given)


def run(problem, label, users, **given):
    """Play a candidate -> (users so far, regret over uniform play's (trials, ...))."""
    campaign = play(problem, label, users, **given)
    return campaign.t, campaign.regret / (campaign.t * campaign.uniform[:, None])


def users_needed(problem, label, shares, **given):
    """Find the users from which on the mean relative regret stays below each share."""
    campaign = play(problem, label, FARTHEST, **given)
    users = np.geomspace(campaign.t[0], campaign.t[-1], 2001)
    mean = experiments.shares(campaign, users).mean(axis=0)
    return [experiments.users_until(users, mean, share) for share in shares]


def fewest_users(problem, shares, **given):
    """Return for each share (users, learner) of the proved learner that needs fewer users."""
    each = {label: users_needed(problem, label, shares, **given) for label in PROVED}
    pairs = [[(found[i], label) for label, found in each.items()] for i in range(len(shares))]
    return [min(pair) for pair in pairs]


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
    """Pick the candidate with the least mean among those whose interval lies below 1, or None.

    Where all trials agree to the last digit no report was used yet: nothing was learned.
    """
    sure = {}
    for label, final in finals.items():
        mean, _, upper = results.interval(final)
        if upper < 1 and np.ptp(final) > 0:
            sure[label] = float(mean)
    return min(sure, key=sure.get, default=None)


def advise(finals):
    """Say in words what to use -> (candidate, sentences).

    finals: {candidate: regret over uniform play's at the end, (trials,)}. Where no interval lies
    below 1 nothing is recommended, and the candidate is the one with the least mean.
    """
    trials = len(next(iter(finals.values())))
    measured = {label: share(*results.interval(final)) for label, final in finals.items()}
    best = choose(finals)
    proved = choose({label: finals[label] for label in PROVED})
    if best is None:
        least = min(finals, key=lambda label: finals[label].mean())
        return least, f"**no recommendation**: {why_none(trials)} {all_of(measured)}"
    text = f"**use {said(proved or best)}, with one-bit reports**."
    text += f" Its regret is {measured[proved or best]} of that of uniform play."
    if proved is None:
        text += " Neither proved learner is shown to beat uniform play with so few users."
    elif measured[best] != measured[proved]:
        text += f" Without a proof, {said(best)} loses less: {measured[best]}."
    return proved or best, f"{text} (Mean and 95 % interval of {trials} trials.)"


def why_none(trials):
    """Say why nothing is recommended."""
    if trials < 2:
        return "one trial gives no interval; take `trials=3` or more."
    return "none of the four is shown to beat uniform play. It takes more users, or a larger ε."


def all_of(measured):
    """Say what each of the candidates was measured to lose."""
    each = "; ".join(f"{said(label)} {value}" for label, value in measured.items())
    return f"Regret over that of uniform play, mean and 95 % interval: {each}."


def said(label):
    """Write a candidate in words: 'GP-UCB at proved constants'."""
    return label.replace(", ", " at ") + " constants"


def say_found(label, first, arm, middle, proved):
    """Say which arm a candidate names and how sure that is; first: what `name_best` returned."""
    _, lower, upper, lost = first
    hold = "this holds with probability at least 0.9" if proved else "nothing of this is proved"
    ends = between(lower + middle, upper + middle)
    names = f"{said(label)} names **{arm}** (first trial)."
    if lost > 0:
        other = f"no other arm's mean is larger by more than {at_most(lost)}"
        bounds = f"its mean lies between {ends}, and {other}; {hold}"
        return f"{names} Not sure yet: {bounds}. More users narrow this."
    return f"{names} Its mean lies between {ends}, and no other arm's mean is larger; {hold}."


def say_right(named, f):
    """Say how many trials name the arm with the largest mean, and by how much the others err."""
    best, arms = f.argmax(), np.array([arm for arm, *_ in named])
    right = int((arms == best).sum())
    if right == len(arms):
        return f"All {right} trials name it." if right > 1 else "The trial names it."
    behind = float(np.mean(f[best] - f[arms]))
    chance = f"{right} of {len(arms)} trials name it (by chance: one in {len(f)})"
    return f"{chance}; the arms they name lie {behind:.2g} below it on average."


# ---- Numbers in words ----------------------------------------------------------------------------


def share(mean, low, high):
    """Write a share of uniform play's regret with its interval, or that it is below 0.01."""
    return show.estimate(mean, low, high) if not high < 0.01 else "less than 0.01"


def between(lower, upper):
    """Write two ends with the digits that their distance has, rounded away from each other."""
    digits = decimals(upper - lower)
    unit = 10.0**digits
    ends = math.floor(lower * unit) / unit, math.ceil(upper * unit) / unit
    return " and ".join(f"{end:.{digits}f}" for end in ends)


def at_most(x):
    """Write a bound with two digits, rounded up."""
    digits = decimals(x)
    return f"{math.ceil(x * 10.0**digits) / 10.0**digits:.{digits}f}"


def decimals(x):
    """Return how many decimals a length needs for two digits."""
    return max(0, 1 - math.floor(math.log10(x))) if x > 0 else 0


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
    ax.set(xscale="log", xlabel="users", ylabel="regret / that of uniform play", ylim=(0, 1.3))
    last = max(t[-1] for t, _ in curves.values())
    ax.set_xlim(max(1, last / 1000), last)
    ax.legend(loc="lower left")
    return figure, data
