"""Several pages run these experiments, on problems whose B is the norm of f.

There are single rounds, the coverage of bands, and the number of users that a campaign needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

import ldpbo_core

SETTINGS: dict[str, dict[str, Any]] = {
    "printed": dict(constants="printed"),
    "proved": dict(constants="proved"),
    "order": dict(),
    "order, β × 0.1": dict(beta_scale=0.1),
}


def told_norm(problem: ldpbo_core.Problem, F: float = ldpbo_core.LEFT_OUT) -> ldpbo_core.Problem:
    """Return a problem whose B is the RKHS norm of f, as the theorems require.

    The paper's experiments take max|f|. F: the range that the curator is told, the norm where left
    out.
    """
    return problem.replace(B=ldpbo_core.rkhs_norm(problem), F=F)


def problem_with_norm(kernel: str, noise: str = "uniform") -> Callable[[int], ldpbo_core.Problem]:
    """Return a function from a seed to a synthetic problem that is told the norm and max|f|."""

    def problem(seed):
        synthetic = ldpbo_core.synthetic_problem(kernel, noise, seed)
        return told_norm(synthetic, F=synthetic.F)

    return problem


def rounds(
    problem: ldpbo_core.Problem, name: str, T: int, *, seed: int, trial: int = 0, **options: Any
) -> Iterator[tuple[Any, int, float]]:
    """Play a trial of `simulate` and yield (learner, arm, report) after each of its T rounds."""
    _, users, privacy, sketch = ldpbo_core.streams(seed, trial)
    learner = ldpbo_core.make(name, problem, T, rng=np.random.default_rng(sketch), **options)
    for arm, report, _ in ldpbo_core.play_rounds(learner, problem, T, users, privacy):
        yield learner, arm, report


def shares(run: ldpbo_core.Campaign, users: np.ndarray) -> np.ndarray:
    """Return regret over that of uniform play after each number of users, (trials, users).

    Between two marks of a campaign regret grows evenly.
    """
    marks = np.append(0, run.t)
    regret = [np.interp(users, marks, np.append(0, lost)) for lost in run.regret]
    uniform_regret = users * run.uniform[:, None]
    return np.array(regret) / uniform_regret


def users_until(users: np.ndarray, share: np.ndarray, target: float) -> float:
    """Find the number of users from which on a share stays below `target`; inf: it does not."""
    above = np.append(True, share >= target)
    first = np.flatnonzero(above)[-1]  # one after the last above
    return float(np.append(users, np.inf)[first])


def coverage(
    kernel: str, name: str, T: int, settings: Iterable[str], **options: Any
) -> dict[tuple[str, str], np.ndarray]:
    """Run an algorithm on new synthetic functions under each of `settings`, with two values of B.

    -> {(setting, "max|f|" or "‖f‖"): (trials, T)}: the largest |f - mu|/(beta sigma) over the arms
    after each round. A trial in which it never exceeds 1 is covered. B is max|f| as in the
    experiments, or the norm as in the theorems. The options are those of `simulate`.
    """
    sources = {
        "max|f|": cache(lambda seed: ldpbo_core.synthetic_problem(kernel, seed=seed)),
        "‖f‖": cache(problem_with_norm(kernel)),
    }
    found = {}
    for size, source in sources.items():
        for setting in settings:
            chosen = options | SETTINGS[setting]
            records = ldpbo_core.simulate(source, name, T, bands=True, **chosen).records
            found[setting, size] = records["needed"][0] / records["beta"][0]
    return found
