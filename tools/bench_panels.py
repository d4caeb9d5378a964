"""Rounds are timed on the panels of the paper, early and late ones, and learners are weighed."""

import functools
import pickle
import resource
from pathlib import Path

import numpy as np

from bench_runs import (
    CASES,
    LEARNERS,
    PANELS,
    bare,
    child,
    clock,
    drive,
    panel_problem,
    player,
    report,
    synthetic,
)


def nine_panels(T=20_000, slices=40):
    """Run the panels at both settings, one trial: three learners and the bare update in turns."""
    problems = {which: panel_problem(which) for _, which, _ in PANELS}
    total = np.zeros(4)
    hundred = np.zeros(4)
    for scale in (1.0, 0.1):
        for panel, which, eps in PANELS:
            problem = problems[which]
            plays = [player(name, problem, T, eps, beta_scale=scale) for name in LEARNERS]
            plays.append(bare(problem))
            spent = np.zeros(4)
            for _ in range(slices):
                spent += [clock(functools.partial(play, T // slices)) for play in plays]
            total += spent
            hundred += spent * (problem.n == 100)
            what = f"ATA / TGP, panel {panel}, beta x {scale:g}, n = {problem.n}, T = {T:,}"
            report(what, spent[1], spent[0], most=4)
    what = "TGP / bare rank-one update, the panels with n = 100"
    report(what, hundred[0], hundred[3], most=2)
    what = "nine panels at both settings, a round of the three learners / bare update"
    report(what, total[:3].sum() / 3, total[3], most=4)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = "peak memory of this process after the nine panels / 333 MB (of 1,000 for three)"
    report(what, peak, 333.0, most=1, unit="MB")


def times_of_panels(T=4000):
    """Time the panels, in a child -> {"panel setting learner": microseconds a round}."""
    found = {}
    for panel, which, eps in PANELS:
        problem = panel_problem(which)
        for scale in (1.0, 0.1):
            for name in LEARNERS:
                play = player(name, problem, T, eps, beta_scale=scale)
                seconds = clock(functools.partial(play, T))
                found[f"{panel} {scale:g} {name}"] = seconds / T * 1e6
    return found


def against(folder, repeats=3):
    """Compare the panels with those of another checkout, in turns."""
    ours = []
    theirs = []
    for _ in range(repeats):
        ours.append(child("times_of_panels"))
        theirs.append(child("times_of_panels", root=Path(folder).resolve()))
    limits = {"TGP": 1.1, "ATA": 2.0, "MoMA": 1.3}
    for key in ours[0]:
        fast, slow = (min(times[key] for times in runs) for runs in (ours, theirs))
        what = f"{key}: microseconds a round, this checkout / {folder}"
        report(what, fast, slow, most=limits[key.split()[-1]], unit="us")


def late_against_early():
    """See whether a round costs more when many were played: six problems a learner.

    When the random dictionary comes to rest, and how long rewards are truncated, differs from one f
    to the next, and so do the ratios of single problems, which are printed below.
    """
    marks = {2000, 4000, 18_000}
    for label, (eps, kernel, noise) in CASES.items():
        for name in LEARNERS:
            late = []
            early = []
            for seed in range(6):
                problem = synthetic(kernel, noise, seed)
                stamps = drive(name, problem, 20_000, eps=eps, marks=marks)[3]
                late.append(stamps[20_000] - stamps[18_000])
                early.append(stamps[4000] - stamps[2000])
            what = f"rounds 18,001-20,000 / 2,001-4,000, {name}, n = 100, {label}, six f"
            report(what, sum(late), sum(early), most=1.3)
            print("    each f:", *(f"{a / b:.2f}" for a, b in zip(late, early)))


def memory_of_a_learner():
    """See whether memory grows with the rounds played: a learner's largest pickled state.

    It is looked at every 1,000 rounds and includes the features of recent dictionaries.
    """
    for label, (eps, kernel, noise) in CASES.items():
        problem = synthetic(kernel, noise)
        for name in LEARNERS:
            size = drive(
                name,
                problem,
                20_000,
                eps=eps,
                marks=range(0, 20_000, 1000),
                look=lambda learner: len(pickle.dumps(learner)) / 1e6,
            )[3]
            what = f"largest state in 20,000 rounds, {name}, n = 100, {label} (limit 50 MB)"
            report(what, max(size.values()), 50.0, most=1, unit="MB")
