"""What Laplace and one-bit reports cost the paper's learners, at the same ε."""

import ldpbo_core as core
from ldpbo import results

NAMES = ["TGP", "MoMA"]
KINDS = {"Laplace": core.CTL, "one bit": core.OneBit}


def measure(levels, factors, T, trials, seed):
    """Play every learner with either report -> {(factor on beta, "TGP, one bit"): final regret over
    that of uniform play, (levels, trials)}."""
    source = lambda number: core.synthetic_problem("matern", "uniform", number)
    found = {}
    for factor in factors:
        for kind, curator in KINDS.items():
            for eps in levels:
                given = dict(eps=eps, curator=curator, beta_scale=factor)
                run = core.simulate(source, NAMES, T, trials=trials, seed=seed, **given)
                share = run.regret[:, :, -1] / T / run.records["uniform"]
                for name, values in zip(NAMES, share):
                    found.setdefault((factor, f"{name}, {kind}"), []).append(values)
    return found


def changes(found, factors):
    """Compare one bit with Laplace, same functions and users -> {(name, factor): intervals}."""
    compared = {}
    for name in NAMES:
        for factor in factors:
            pairs = zip(found[factor, f"{name}, one bit"], found[factor, f"{name}, Laplace"])
            compared[name, factor] = [results.interval(bit - laplace) for bit, laplace in pairs]
    return compared


def written(mean, low, high):
    """Write a difference with its half-width, in the digits that tell which of them is larger."""
    half, digits = (high - low) / 2, 2
    while digits < 5 and f"{abs(mean):.{digits}f}" == f"{half:.{digits}f}":
        digits += 1
    return f"{mean:.{digits}f} ± {half:.{digits}f}".replace("-", "−")


def verdict(intervals):
    """Say in words at how many levels one bit is clearly better, or worse."""
    better = sum(high < 0 for _, _, high in intervals)
    worse = sum(low > 0 for _, low, _ in intervals)
    count = lambda n: "every level" if n == len(intervals) else f"{n} of {len(intervals)} levels"
    said = [f"clearly better at {count(better)}"] * bool(better)
    said += [f"clearly worse at {count(worse)}"] * bool(worse)
    return " and ".join(said) or "not clearly different at any level"
