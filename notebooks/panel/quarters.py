"""Where the plays of a panel went: the arms in four parts by their posterior width."""

import numpy as np
import pandas as pd

import ldpbo_core as core


def table(source, runs, *, seed, lam):
    """Split the arms into quarters by σ after equal play of all, largest first, and tabulate each
    quarter's share of the plays.

    source: a Problem, or a function from a seed to one; runs: {setting: result of `simulate`}.
    loss: mean gap to the best arm over that of all arms; reward: mean reward likewise (NaN where f
    is new in each trial). "sigma alone": GP-UCB with β × 1e9, which looks at nothing else.
    """
    fixed = isinstance(source, core.Problem)
    _, trials, T = next(iter(runs.values())).regret.shape
    tasks = [source] * trials if fixed else _drawn(source, seed, trials)
    first = tasks[0]
    parts = _quarters(first, lam * first.n / T)
    f = np.stack([task.f for task in tasks])
    gap = f.max(axis=1, keepdims=True) - f
    options = dict(trials=1, seed=seed, eps=1.0, lam=lam, beta_scale=1e9)
    alone = core.simulate(source, "GP-UCB", T, **options)
    columns = {
        "quarter": [1, 2, 3, 4],
        "arms": [len(part) for part in parts],
        "loss": _relative_means(gap, parts),
        "reward": _relative_means(f, parts) if fixed else [np.nan] * 4,
        "sigma alone": _shares(alone.records["pulls"][0], parts),
    }
    for setting, run in runs.items():
        for name, pulls in zip(run.records["names"], run.records["pulls"]):
            columns[f"{name} (beta x {setting:g})"] = _shares(pulls, parts)
    uniform = T * alone.records["uniform"][0]
    found = pd.DataFrame(columns)
    found["sigma alone, relative regret"] = alone.regret[0, 0, -1] / uniform
    return found


def _drawn(source, seed, trials):
    """List the problems of the trials, each drawn from its own stream."""
    problems = []
    for trial in range(trials):
        environment, *_ = core.streams(seed, trial)
        problems.append(source(environment))
    return problems


def _quarters(problem, ridge):
    """Split the arms into four parts by their σ after one play of each with this ridge."""
    arms = np.arange(problem.n)
    _, sigma = core.posterior(problem.K, arms, np.zeros(problem.n), ridge)
    widest_first = np.argsort(-sigma, kind="stable")
    return np.array_split(widest_first, 4)


def _relative_means(values, parts):
    """Average `values` (trials, n) over each part, in units of the average over all arms."""
    whole = values.mean(axis=1)
    means = []
    for part in parts:
        relative = values[:, part].mean(axis=1) / whole
        means.append(float(relative.mean()))
    return means


def _shares(pulls, parts):
    """Return the share of the plays `pulls` (trials, n) that went to each part."""
    total = pulls.sum()
    return [float(pulls[:, part].sum() / total) for part in parts]
