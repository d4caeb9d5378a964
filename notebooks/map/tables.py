"""The stored tables of the map, put together, and what is counted on them."""

import numpy as np
import pandas as pd
from scipy import stats

import ldpbo_core as core
from ldpbo import experiments, originals, panels, results, show

PAPER = ("TGP", "ATA", "MoMA")
PLAIN = "GP-UCB"
RIVALS = ("TGP", "ATA", PLAIN, "PE")
CLEAR_FALL = 0.2  # of uniform play's regret: a smaller fall is not spoken of
KINDS = {"laplace": "Laplace", "one bit": "one bit", "": "not private"}


def note(frame, widths):
    """Write the line under a figure of a sweep, with the widths that are shown in it."""
    return results.sweep_note(frame.assign(constants=widths))


def gaps(frame):
    """Compare MoMA with the better of TGP and ATA at each panel, kind of report and factor.

    gap: MoMA's mean regret over the seeds minus the smaller mean of the two; always: whether MoMA
    is first on every seed.
    """
    keys = ["kind", "panel", "beta_scale"]
    part = frame[frame["name"].isin(PAPER)]
    part = part.assign(kind=part["curator"].fillna("").map(KINDS))
    single = _behind(part.pivot_table(index=[*keys, "seed"], columns="name", values="share"))
    mean = _behind(part.pivot_table(index=keys, columns="name", values="share"))
    always = single.groupby(level=keys).max() < 0
    return pd.DataFrame({"gap": mean, "always": always}).reset_index()


def _behind(wide):
    return wide["MoMA"] - wide[["TGP", "ATA"]].min(axis=1)


def by_privacy(frame):
    """Average the paper's learners and GP-UCB over the panels: a row for each kind of panel, with
    Laplace reports or without privacy, learner, factor and seed."""
    part = frame[frame["name"].isin([*PAPER, PLAIN]) & (frame["curator"] != "one bit")]
    kind = part["curator"].fillna("").map(KINDS)
    mean = part.groupby([kind.rename("kind"), "name", "beta_scale", "seed"])["share"].mean()
    return mean.reset_index()


def idea_words(curves):
    """Say where lines of `by_privacy` are the lowest, and where they end.

    MoMA is compared with the other two of the paper, GP-UCB with all three.
    """
    found = {}
    for kind, key in (("not private", "public"), ("Laplace", "private")):
        part = curves[curves["kind"] == kind]
        wide = part.pivot_table(index="beta_scale", columns="name", values="share")
        paper = part[part["name"].isin(PAPER)]
        seeds = paper.pivot_table(index=["beta_scale", "seed"], columns="name", values="share")
        always = (seeds.idxmin(axis=1) == "MoMA").groupby(level=0).all()
        found[f"idea-{key}"] = _on_every_seed(wide[list(PAPER)].idxmin(axis=1) == "MoMA", always)
        found[f"idea-plain-{key}"] = _factors(wide.idxmin(axis=1) == PLAIN)
    widest = wide.loc[wide.index.max(), list(PAPER)]
    found |= {"idea-low": float(widest.min()), "idea-high": float(widest.max())}
    return found | {"idea-widest": f"{wide.index.max():g}"}


def jumps(curves):
    """Say of GP-UCB's private line in `by_privacy` where its seeds are farthest apart, and between
    which neighbouring factors it falls most on all of them."""
    part = curves[(curves["kind"] == "Laplace") & (curves["name"] == PLAIN)]
    wide = part.pivot_table(index="beta_scale", columns="seed", values="share")
    spread = wide.max(axis=1) - wide.min(axis=1)
    text = (
        f"With privacy its {panels.word(wide.shape[1])} seeds lie {spread.max():.2f} apart at "
        f"factor {spread.idxmax():g} (thin bar)."
    )
    falls = (-wide.diff().iloc[1:]).min(axis=1)
    if falls.max() < CLEAR_FALL:
        return text
    after = falls.idxmax()
    before = wide.index[wide.index < after].max()
    seeds = {2: "both"}.get(wide.shape[1], "all")
    return (
        f"{text} On {seeds} seeds it does far worse at {before:g} than at {after:g}: at "
        f"{before:g} it gives up arms too soon. On the real data it plays fewer of them at all "
        f"than at {after:g}, and its most played arm is a worse one, in every run."
    )


def _on_every_seed(first, always):
    """Write the factors at which MoMA is first on average, and of these the ones at which it is
    first on each seed."""
    kept = first & always
    if (kept == first).all():
        return _factors(first) + (", on each seed" if first.any() else "")
    if not kept.any():
        return f"{_factors(first)}, but not on each of the seeds: that is within the noise"
    return f"{_factors(first)}, and on each seed {_factors(kept)}"


def _factors(first):
    """Write the factors at which a learner is first, as the end of a sentence."""
    factors = [f"{factor:g}" for factor in first.index[first]]
    if not factors:
        return "nowhere"
    if len(factors) == len(first):
        return "at every factor"
    return f"at the factor{'s' * (len(factors) > 1)} {panels.listed(factors)}"


def cell_words(frame, panel, scale, other):
    """Explain one cell of `gaps` of a panel without privacy, and who is first at another factor."""
    wide = _cells(frame, panel)
    here = wide.loc[scale]
    rival = here[["TGP", "ATA"]].idxmin()
    gap = here["MoMA"] - here[rival]
    sign = ("negative", "blue") if gap < 0 else ("not negative", "not blue")
    difference = f"{here['MoMA']:.3f} − {here[rival]:.3f} = {gap:.3f}".replace("-", "−")
    text = (
        f"There MoMA has {here['MoMA']:.3f} of uniform play's regret, TGP {here['TGP']:.3f} and "
        f"ATA {here['ATA']:.3f}. The better of the other two is {rival}, and {difference}. The "
        f"number is {sign[0]}, so the framed cell is {sign[1]}."
    )
    there = wide.loc[other]
    shares = panels.listed([f"{name} has {there[name]:.3f}" for name in PAPER])
    return {
        "cell-panel": results.PANELS[panel],
        "cell-text": text,
        "cell-other": f"{shares}: {there.idxmin()} has the smallest mean.",
    }


def elsewhere(panel, scale, names):
    """Read what learners have in a panel on its own page, on the paper's data with other draws."""
    rows = results.final_rows(originals.table(panel, "final"), scale)
    trials = panels.word(int(originals.parameters(panel)["trials"]))
    shares = panels.listed([f"{name} {show.estimate(*rows[name])}" for name in names])
    return {"cell-elsewhere": shares, "cell-trials": trials}


def _cells(frame, panel):
    """Average the paper's learners in a panel without privacy: a row for each factor."""
    rows = frame[(frame["panel"] == panel) & frame["name"].isin(PAPER)]
    return rows.pivot_table(index="beta_scale", columns="name", values="share").round(3)


def cell_rows(frame, panel, scales):
    """Tabulate what stands behind the cells of a panel without privacy, a column for each factor:
    the three learners, and MoMA minus the better of the others."""
    wide = _cells(frame, panel).loc[list(scales)]
    rows = [[name, *(f"{share:.3f}" for share in wide[name])] for name in PAPER]
    gap = [f"{value:.3f}".replace("-", "−") for value in _behind(wide)]
    return [*rows, ["MoMA minus the better of the two", *gap]]


def region(gap):
    """Count the points of the map at which MoMA is first of the three: on average over the seeds,
    and on every seed."""
    first = gap["gap"] < 0
    public = gap["kind"] == "not private"
    return {
        "factors": gap["beta_scale"].nunique(),
        "cells": len(gap),
        "true": int(first.sum()),
        "always": int(gap["always"].sum()),
        "cells-public": int(public.sum()),
        "true-public": int((first & public).sum()),
        "cells-private": int((~public).sum()),
        "true-private": int((first & ~public).sum()),
    }


def differences(final):
    """Compare MoMA with each rival on the same seeds: a row for each setting, panel, curator and
    rival, with mean, interval and p. The same seed is the same users, but for elimination: same f,
    other draws."""
    rows = []
    for setting in ("tuned", "order"):
        part = final[final["setting"] == setting]
        for curator in ("", ", Laplace", ", one bit"):
            for rival in RIVALS:
                pair = f"MoMA{curator}", f"{rival}{curator}"
                for (panel, _), values in results.paired_differences(part, *pair).items():
                    rows.append((setting, panel, curator.strip(", "), rival, *values))
    head = ["setting", "panel", "curator", "rival", "mean", "low", "high", "p"]
    return pd.DataFrame(rows, columns=head)


def counts(found, setting):
    """Count the clear differences of one setting: with TGP and ATA, and with all four rivals."""
    part = found[found["setting"] == setting]
    paper = part[part["rival"].isin(PAPER)]
    better = paper["clear"] & (paper["mean"] < 0)
    worse = paper["clear"] & (paper["mean"] > 0)
    worse_of_all = part["clear"] & (part["mean"] > 0)
    better_of_all = part["clear"] & (part["mean"] < 0)
    private = paper["curator"] != ""
    return {
        "pairs": len(paper),
        "pairs-private": int(private.sum()),
        "better": int(better.sum()),
        "better-private": int((better & private).sum()),
        "worse": int(worse.sum()),
        "worse-private": int((worse & private).sum()),
        "worse-all": int(worse_of_all.sum()),
        "better-all": int(better_of_all.sum()),
        "better-PE": int((better_of_all & (part["rival"] == "PE")).sum()),
        "all": len(part),
    }


def factors_of(found):
    """Say what the numbers of comparisons are products of: cases are panels and kinds of report."""
    private = found[found["curator"] != ""]
    public = found[found["curator"] == ""]
    return {
        "panels-public": public["panel"].nunique(),
        "panels-private": private["panel"].nunique(),
        "reports": private["curator"].nunique(),
        "cases": len(found[["panel", "curator"]].drop_duplicates()),
        "rivals": found["rival"].nunique(),
        "settings": found["setting"].nunique(),
    }


def errors_needed(comparisons, seeds, level):
    """Compute how many standard errors a difference must have to be clear, were it the only one
    that is (Holm's first step)."""
    return float(stats.t.ppf(1 - level / comparisons / 2, seeds - 1))


def visible(found, setting, seeds, level):
    """Compute how large a difference must be to be clear, in the median comparison of a setting."""
    part = found[found["setting"] == setting]
    error = (part["high"] - part["low"]) / 2 / stats.t.ppf(0.975, seeds - 1)
    return float(np.median(error)) * errors_needed(len(found), seeds, level)


def least_clear(found, seeds):
    """Compute how many standard errors the smallest clear difference has."""
    clear = found[found["clear"]]
    error = (clear["high"] - clear["low"]) / 2 / stats.t.ppf(0.975, seeds - 1)
    return float((clear["mean"].abs() / error).min())


def without_privacy(counts):
    """Count what is left of all comparisons with TGP and ATA without the private ones."""
    found = {}
    for setting in ("order", "tuned"):
        for kind in ("pairs", "better", "worse"):
            all_of, private = (counts[f"{kind}{part}-{setting}"] for part in ("", "-private"))
            found[f"{kind}-public-{setting}"] = all_of - private
    return found


def verdict(counts):
    """Answer whether MoMA outperforms TGP and ATA whatever the constants."""
    better = counts["better-order"] + counts["better-tuned"]
    worse = counts["worse-order"] + counts["worse-tuned"]
    if not worse:
        return "Nothing here speaks against it"
    return "No, it depends on them" if better else "No"


# ---- What the tables teach about experiments -----------------------------------------------------


def _as_in_the_paper(frame):
    """Keep the paper's learners with the paper's reports: Laplace, or none in the open panels."""
    return frame[frame["name"].isin(PAPER) & (frame["curator"] != "one bit")]


def favourites(final):
    """Count in how many panels each learner is first, by who is tuned: {who: {learner: panels}}.

    The others keep order constants; who is None (nobody), a learner, or "all".
    """
    part = _as_in_the_paper(final)
    wide = part.pivot_table(index="panel", columns=["setting", "name"], values="share")
    found = {}
    for who in (None, *PAPER, "all"):
        setting = {name: "tuned" if who in (name, "all") else "order" for name in PAPER}
        chosen = pd.DataFrame({name: wide[setting[name], name] for name in PAPER})
        first = chosen.idxmin(axis=1).value_counts()
        found[who] = {name: int(first.get(name, 0)) for name in PAPER}
    return found


def favourite_words(found):
    """Say how often a learner is first if it alone is tuned, as the end of a sentence."""
    total = sum(found[None].values())
    won = [found[name][name] for name in PAPER]
    if min(won) == max(won):
        return f"in {panels.some_of(won[0], total)} panels, whichever of the three it is"
    counts = panels.listed([f"{panels.word(n)} ({name})" for n, name in zip(won, PAPER)])
    return f"in {counts} of the {panels.word(total)} panels"


def lessons(short, final):
    """Measure what the width does, and what tuning promises.

    by-width: how far a learner's regret moves from factor 0.1 to 1, in the median learner and
    panel; by-learner: how far the three are apart at factor 1, in the median panel; either without
    privacy, with Laplace and with one-bit reports; seen, fresh: the mean regret of tuned learners
    on the seeds that chose their factor and on others.
    """
    kind = short["curator"].fillna("").map(KINDS)
    every = short[short["name"].isin(PAPER)].groupby([kind, "panel", "name", "beta_scale"])
    every = every["share"].mean().rename_axis(index={"curator": "kind"})
    by_factor = every.unstack("beta_scale")
    moves = (by_factor[1.0] - by_factor[0.1]).abs().groupby(level="kind").median()
    order = by_factor[1.0].unstack("name")
    apart = (order.max(axis=1) - order.min(axis=1)).groupby(level="kind").median()
    found = {"by-head": width_or_learner(moves, apart)}
    for key, kind in (("public", "not private"), ("private", "Laplace"), ("bit", "one bit")):
        if kind in moves:
            found |= {f"by-width-{key}": float(moves[kind])}
            found |= {f"by-learner-{key}": float(apart[kind])}
    mean = _as_in_the_paper(short).groupby(["panel", "name", "beta_scale"])["share"].mean()
    tuned = _as_in_the_paper(final[final["setting"] == "tuned"])
    fresh = tuned.groupby(["panel", "name", "beta_scale"])["share"].mean()
    seen = float(mean.loc[fresh.index].mean())
    return found | {"seen": seen, "fresh": float(fresh.mean())}


def width_or_learner(moves, apart):
    """Say which of the two matters more; "as much as" if that depends on the kind of report."""
    ratio = moves / apart
    if ratio.min() > 1.5:
        return "The width matters more than the learner."
    if ratio.max() < 1 / 1.5:
        return "The learner matters more than the width."
    return "The width matters as much as the learner."


def against(found, rival, setting):
    """Count the comparisons of MoMA with one rival in which it is clearly better, and worse."""
    part = found[(found["rival"] == rival) & (found["setting"] == setting)]
    better = part["clear"] & (part["mean"] < 0)
    worse = part["clear"] & (part["mean"] > 0)
    total = len(part)
    return {
        f"{rival}-better": panels.some_of(int(better.sum()), total),
        f"{rival}-worse": panels.some_of(int(worse.sum()), total),
    }


def narrow_cell(gap):
    """Name the cell of `gaps` in which MoMA leads by least; say whether it leads on each seed."""
    leads = gap[gap["gap"] < 0]
    row = leads.loc[leads["gap"].idxmax()]
    kind = {"not private": ""}.get(row["kind"], f", {row['kind']} reports")
    return {
        "narrow-panel": f"{results.PANELS[row['panel']]}{kind}",
        "narrow-factor": f"{row['beta_scale']:g}",
        "narrow-gap": f"{row['gap']:.1g}".replace("-", "−"),
        "narrow-always": "MoMA is first on each seed"
        if row["always"]
        else "MoMA is not first on each seed",
    }


# ---- Further maps --------------------------------------------------------------------------------


def judged_rivals(rivals):
    """Take each learner's best factor on the first three seeds and average its regret on the last
    three: a row for each problem with its noise, and each learner."""
    reports = rivals["curator"].map({"laplace": ", Laplace", "one bit": ", one bit"}).fillna("")
    problem = rivals["panel"].map(results.PANELS).fillna("contaminated, non-private")
    rivals = rivals.assign(where=problem + reports)
    keys = ["where", "name", "beta_scale"]
    tuning, judging = (
        part.groupby(keys)["share"].mean()
        for _, part in rivals.groupby(rivals["seed"] < 100, sort=False)
    )
    return judging.loc[tuning.groupby(level=[0, 1]).idxmin()].reset_index()


def median_counts(best, second, smallest):
    """Count where the median earns its price: best of `judged_rivals`, second: MoMA over k."""
    by_name = best.pivot(index="where", columns="name", values="share")
    bits = by_name.filter(like="one bit", axis=0)
    by_k = second[second["k"].notna()]
    by_k = by_k.pivot_table(index=["panel", "beta_scale"], columns="k", values="share")
    factors = best[best["name"] == "MoMA"]["beta_scale"]
    return {
        "k1": int((by_k.idxmin(axis=1) == 1).sum()),
        "k-of": len(by_k),
        "mom-bit": int((bits.idxmin(axis=1) == "MoM").sum()),
        "bits": len(bits),
        "median-wins": int((by_name["MoMA"] < by_name["MoMA-avg"]).sum()),
        "median-of": len(by_name),
        "median-edge": int((factors == smallest).sum()),
    }


def with_norm(kernel, seeds, T):
    """Run TGP at printed constants on the functions of a private synthetic panel, with B = ‖f‖ for
    max|f| -> its mean regret over that of uniform play."""
    shares = []
    for seed in seeds:
        source = experiments.problem_with_norm(kernel)
        options = dict(trials=1, seed=int(seed), eps=1.0, constants="printed")
        run = core.simulate(source, "TGP", T, **options)
        shares.append(run.regret[0, 0, -1] / (T * run.records["uniform"][0]))
    return float(np.mean(shares))


def ridge_counts(frame):
    """Say what the ridge does: where MoMA is first of the paper's three, and what the best ridge of
    the grid gains over λ = 1 in the median row (learner and panel) of each factor on β."""
    mean = frame.groupby(["panel", "beta_scale", "name", "lam"])["share"].mean()
    first = mean.unstack("name")[list(PAPER)].idxmin(axis=1) == "MoMA"
    by_ridge = mean.unstack("lam")
    gain = by_ridge.min(axis=1) / by_ridge[1.0]
    panels_of = first.index.get_level_values("panel")
    public = np.array([not results.is_private(panel) for panel in panels_of])
    found = {
        "ridge-private": panels.some_of(int(first[~public].sum()), int((~public).sum())),
        "ridge-public": panels.some_of(int(first[public].sum()), int(public.sum())),
    }
    for scale, part in gain.groupby(level="beta_scale"):
        found[f"ridge-gain-{scale:g}"] = float(part.median())
    return found
