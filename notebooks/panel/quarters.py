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
    trials, T = next(iter(runs.values())).regret.shape[1:]
    tasks = [source if fixed else source(core.streams(seed, i)[0]) for i in range(trials)]
    parts = _quarters(tasks[0], lam * tasks[0].n / T)
    f = np.stack([task.f for task in tasks])
    gap = f.max(axis=1, keepdims=True) - f
    columns = {
        "quarter": [1, 2, 3, 4],
        "arms": [len(part) for part in parts],
        "loss": _relative_means(gap, parts),
        "reward": _relative_means(f, parts) if fixed else [np.nan] * 4,
    }
    options = dict(trials=1, seed=seed, eps=1.0, lam=lam, beta_scale=1e9)
    alone = core.simulate(source, "GP-UCB", T, **options)
    columns["sigma alone"] = _shares(alone.records["pulls"][0], parts)
    for setting, run in runs.items():
        for name, pulls in zip(run.records["names"], run.records["pulls"]):
            columns[f"{name} (beta x {setting:g})"] = _shares(pulls, parts)
    relative = alone.regret[0, 0, -1] / (T * alone.records["uniform"][0])
    return pd.DataFrame(columns).assign(**{"sigma alone, relative regret": relative})


def _quarters(problem, ridge):
    """Split the arms into four parts by their σ after one play of each with this ridge."""
    arms = np.arange(problem.n)
    sigma = core.posterior(problem.K, arms, np.zeros(problem.n), ridge)[1]
    return np.array_split(np.argsort(-sigma, kind="stable"), 4)


def _relative_means(values, parts):
    """Average `values` (trials, n) over each part, in units of the average over all arms."""
    whole = values.mean(axis=1)
    return [float(np.mean(values[:, part].mean(axis=1) / whole)) for part in parts]


def _shares(pulls, parts):
    """Return the share of the plays `pulls` (trials, n) that went to each part."""
    return [float(pulls[:, part].sum() / pulls.sum()) for part in parts]
