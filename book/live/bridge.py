"""What the live page runs on top of the unchanged core: one setting in, results piece by piece out.

`simulate` cannot be interrupted from outside, and a browser's worker has one thread. So the same loop is written here as a
generator over the core's public ask/tell: the worker runs it for a moment, looks whether the reader has changed something,
and goes on. tests/test_live.py holds it to the numbers of `simulate`.
"""
import functools
import time

import numpy as np

import ldpbo_core as core

DEFAULTS = {"problem": "se", "eps": 1.0, "T": 300, "trials": 4, "lengthscale": 0.2, "lam": 1.0, "constants": "order",
            "beta_scale": 1.0, "k": None, "names": ["TGP", "ATA", "MoMA"], "seed": 0, "shown": 0}
POINTS = 500      # rounds of a regret curve that are sent to the page
SNAPSHOTS = 48    # times at which the posterior of the shown trial is kept


def problem_of(settings, samples=None):
    """A Problem, or a callable seed -> Problem for a new f in each trial, as `simulate` takes it."""
    which = settings["problem"]
    if which in ("se", "matern"):
        noise = "t3" if settings["eps"] is None else "uniform"          # as in the paper's experiments
        return lambda seed: core.synthetic_problem(kernel=which, noise=noise, lengthscale=settings["lengthscale"], seed=seed)
    if which == "table":
        return core.table_problem(samples)
    return _data(which)


@functools.cache
def _data(which):
    return {"light": core.light_problem, "stock": core.stock_problem}[which]()


def options_of(settings):
    """The keyword arguments of `make`, and of `simulate`, that the settings stand for."""
    return {name: settings[name] for name in ("eps", "lam", "constants", "beta_scale", "k")}


def play(settings, samples=None, only=None):
    """Yield (rounds done, rounds in all, piece or None); `only` restricts to one trial. A piece is one algorithm in one trial."""
    T, names = settings["T"], settings["names"]
    trials = range(settings["trials"]) if only is None else [only]
    total, done = len(trials) * len(names) * T, 0
    source = problem_of(settings, samples)
    kept = np.unique(np.linspace(1, T, min(T, POINTS)).round().astype(int))
    moments = set(np.unique((T * np.linspace(0, 1, SNAPSHOTS) ** 1.5).round().astype(int)).tolist())
    for trial in trials:
        seed, env, privacy, _ = core.streams(settings["seed"], trial)
        problem = source if isinstance(source, core.Problem) else source(seed)
        users, unit = problem.draw(env, T), core.CTL(1.0, problem.B, problem.R).draw(privacy, T)
        gaps = problem.f.max() - problem.f
        shown = trial == settings["shown"]
        for name in names:
            curator = None if settings["eps"] is None else core.CTL(settings["eps"], problem.B, problem.R)
            try:
                learner = core.make(name, problem, T, rng=np.random.default_rng(core.streams(settings["seed"], trial)[3]), **options_of(settings))
            except ValueError as error:
                done += T
                yield done, total, {"name": name, "trial": trial, "error": str(error)}
                continue
            arms, reports, inside = np.empty(T, dtype=int), np.empty(T), []
            for t in range(T):
                if shown and t in moments:
                    inside.append(_snapshot(t, learner))
                arms[t] = arm = learner.ask()
                y = problem.reward(arm, users[t])
                reports[t] = y = y if curator is None else curator.report(y, unit[t])
                learner.tell(y)
                done += 1
                if t + 1 < T:
                    yield done, total, None
            piece = {"name": name, "trial": trial, "t": kept.tolist(), "regret": np.cumsum(gaps[arms])[kept - 1].tolist(),
                     "uniform": float(gaps.mean()), "pulls": np.bincount(arms, minlength=problem.n).tolist(),
                     "clipped": 0 if curator is None else int(curator.clipped), "best": int(problem.f.argmax()),
                     "k": getattr(learner, "k", None)}
            if shown:
                piece |= {"f": problem.f.tolist(), "B": problem.B, "R": problem.R, "scale": None if curator is None else curator.scale,
                          "provenance": problem.provenance, "arms": arms.tolist(), "reports": np.round(reports, 6).tolist(),
                          "inside": inside + [_snapshot(T, learner)]}
            yield done, total, piece


def _snapshot(t, learner):
    return {"t": t, "mu": np.round(learner.mu, 6).tolist(), "sigma": np.round(learner.sigma, 6).tolist(), "beta": float(learner.beta)}


def everything(settings, samples=None):
    """All pieces at once: the result that the page shows before its own Python is ready."""
    return {"settings": settings, "pieces": [piece for _, _, piece in play(settings, samples) if piece]}


class Run:
    """The generator in portions: `step` works for about `seconds` and says how far it got."""

    def __init__(self, settings, samples=None, only=None):
        self.work, self.done, self.total = play(settings, samples, only), 0, 1

    def step(self, seconds):
        """{"done", "total", "pieces", "finished"} after about `seconds` of work."""
        end, pieces = time.perf_counter() + seconds, []
        for self.done, self.total, piece in self.work:
            if piece:
                pieces.append(piece)
            if time.perf_counter() >= end:
                return {"done": self.done, "total": self.total, "pieces": pieces, "finished": False}
        return {"done": self.done, "total": self.total, "pieces": pieces, "finished": True}
