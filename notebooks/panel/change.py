"""One parameter of a panel changed: what a reader sees who does it, computed at a small size."""

import ldpbo_core as core
from ldpbo import panels

ROUNDS = 1000
TRIALS = 2
TIMES = 4  # the factor on what is changed


def shares(source, names, T, options):
    """Simulate and return each algorithm's regret over that of uniform play, mean over trials."""
    run = core.simulate(source, names, T, **options)
    uniform = T * run.records["uniform"]
    found = (run.regret[:, :, -1] / uniform).mean(axis=1)
    return dict(zip(names, found.tolist()))


def compare(source, names, T, options):
    """Return the shares of a small run, and those with four times the ε, or four times the rounds
    if nothing is private."""
    before = shares(source, names, T, options)
    if options["eps"] is None:
        return before, shares(source, names, TIMES * T, options)
    more = options | {"eps": TIMES * options["eps"]}
    return before, shares(source, names, T, more)


def text(before, after, T, trials, eps, setting):
    """Say what `compare` has found, and why one would expect it."""
    size = f"`-p trials {trials}`"
    if eps is None:
        pair = f"with `-p T {T}` and once with `-p T {TIMES * T}`"
    else:
        size = f"`-p T {T} -p trials {trials}`"
        pair = f"as it is and once with `-p eps {TIMES * eps:g}`"
    moves = [f"{who} from {x:.2f} to {after[who]:.2f}" for who, x in before.items()]
    fallen = [who for who, x in before.items() if after[who] < x]
    others = [who for who in before if who not in fallen]
    who = panels.listed(fallen) if fallen else "nobody"
    if fallen and others:
        who += f", not for {panels.listed(others)}"
    return (
        f"Run the line below with {size}, once {pair}. On the data of this build regret over that "
        f"of uniform play goes, {panels.at(setting)}: {panels.listed(moves)}. It falls for {who}. "
        f"{_reason(eps)} So few trials show a direction and no more."
    )


def _reason(eps):
    """Say why the regret should fall."""
    times = panels.word(TIMES)
    if eps is None:
        return (
            "Uniform play's regret grows in proportion to $T$; that of a learner that has found "
            "good arms grows more slowly, and then the ratio falls."
        )
    return (
        f"The noise of a Laplace report has the scale $2(B+R)/\\epsilon$: at {times} times the "
        "$\\epsilon$ it is that much smaller, and narrower bands suffice."
    )
