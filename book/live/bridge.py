"""What the live page runs on top of the unchanged core: one setting in, results piece by piece out.

`simulate` cannot be interrupted from outside, and a browser's worker has one thread. So the same loop is written here as a
generator over the core's public ask/tell: the worker runs it for a moment, looks whether the reader has changed something,
and goes on. tests/test_live.py holds it to the numbers of `simulate`.
"""

import functools
import time

import numpy as np

import ldpbo_core as core

DEFAULTS = {
    "view": "rounds",
    "problem": "se",
    "eps": 1.0,
    "curator": "laplace",
    "T": 1000,
    "trials": 4,
    "lengthscale": 0.2,
    "lam": None,
    "constants": "order",
    "beta_scale": 0.1,
    "k": None,
    "names": ["TGP", "ATA", "MoMA"],
    "seed": 0,
    "shown": 0,
}
CAMPAIGN = DEFAULTS | {
    "view": "users",
    "curator": "onebit",
    "constants": "theorem",
    "beta_scale": 1.0,
}  # what the second view opens with
CAMPAIGN_EPS = [
    0.1,
    0.3,
    1.0,
    3.0,
    10.0,
]  # computed with the book, so that the reader's own joins them
USERS = [10**e for e in range(3, 10)]
SIDE = 20  # the 2-d problem has SIDE x SIDE arms
POINTS = 500  # rounds of a regret curve that are sent to the page
SNAPSHOTS = 48  # times at which the posterior of the shown trial is kept


def problem_of(settings, samples=None):
    """A Problem, or a callable seed -> Problem for a new f in each trial, as `simulate` takes it."""
    which = settings["problem"]
    noise = (
        "t3" if settings["eps"] is None and settings["view"] == "rounds" else "uniform"
    )  # as in the paper's experiments
    if which in ("se", "matern"):
        return lambda seed: core.synthetic_problem(
            kernel=which, noise=noise, lengthscale=settings["lengthscale"], seed=seed
        )
    if which == "branin":
        return branin_problem(noise, settings["lengthscale"])
    if which == "table":
        return core.table_problem(samples)
    return _data(which)


def branin_problem(noise, lengthscale):
    """Branin's function on a grid over [-5, 10] x [0, 15], negated and scaled to [-1, 1]; SE kernel on the unit square."""
    x = (np.arange(SIDE) + 0.5) / SIDE
    points = np.stack(
        [np.tile(x, SIDE), np.repeat(x, SIDE)], axis=1
    )  # arm i is column i % SIDE, row i // SIDE
    a, b = 15 * points[:, 0] - 5, 15 * points[:, 1]
    f = -(
        (b - 5.1 * a**2 / (4 * np.pi**2) + 5 * a / np.pi - 6) ** 2
        + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a)
        + 10
    )
    f = 2 * (f - f.min()) / np.ptp(f) - 1
    moment = 3.0 if noise == "t3" else 1 / 3
    return core.Problem(
        points=points,
        kernel=functools.partial(core.se_kernel, lengthscale=lengthscale),
        f=f,
        B=1.0,
        R=1.0,
        v=1 + moment,
        c=moment,
        noise=noise,
        name="branin",
        provenance=f"Branin's function on {SIDE} x {SIDE} points, negated, scaled to [-1, 1]",
    )


@functools.cache
def _data(which):
    return {"light": core.light_problem, "stock": core.stock_problem}[which]()


def options_of(settings):
    """The keyword arguments of `make`, and of `simulate`, that the settings stand for."""
    options = {name: settings[name] for name in ("eps", "constants", "beta_scale", "k")}
    options |= (
        {} if settings["lam"] is None else {"lam": settings["lam"]}
    )  # None: each algorithm's own
    return options | (
        {"curator": core.OneBit}
        if settings["eps"] is not None and settings["curator"] == "onebit"
        else {}
    )


def play(settings, samples=None, only=None):
    """Yield (rounds done, rounds in all, piece or None); `only` restricts to one trial. A piece is one algorithm in one trial."""
    T, names = settings["T"], settings["names"]
    trials = range(settings["trials"]) if only is None else [only]
    total, done = len(trials) * len(names) * T, 0
    source = problem_of(settings, samples)
    kept = np.unique(np.linspace(1, T, min(T, POINTS)).round().astype(int))
    moments = set(np.unique((T * np.linspace(0, 1, SNAPSHOTS) ** 1.5).round().astype(int)).tolist())
    for trial in trials:
        problem = (
            source
            if isinstance(source, core.Problem)
            else source(core.streams(settings["seed"], trial)[0])
        )
        gaps = problem.f.max() - problem.f
        shown = trial == settings["shown"]
        for name in names:
            _, env, privacy, sketch = core.streams(settings["seed"], trial)
            begun = time.perf_counter()
            try:
                learner = core.make(
                    name, problem, T, rng=np.random.default_rng(sketch), **options_of(settings)
                )
            except ValueError as error:
                done += T
                yield done, total, {"name": name, "trial": trial, "error": str(error)}
                continue
            curator, users = learner.s.curator, problem.draw(env, T)
            noise = None if curator is None else curator.draw(privacy, T)
            arms, reports, inside, spent = (
                np.empty(T, dtype=int),
                np.empty(T),
                [],
                time.perf_counter() - begun,
            )
            for t in range(T):
                begun = time.perf_counter()
                if shown and t in moments:
                    inside.append(_snapshot(t, learner))
                arms[t] = arm = learner.ask()
                y = problem.reward(arm, users[t])
                reports[t] = y = y if curator is None else curator.report(y, noise[t])
                learner.tell(y)
                done += 1
                spent += time.perf_counter() - begun
                if t + 1 < T:
                    yield done, total, None
            piece = {
                "name": name,
                "trial": trial,
                "t": kept.tolist(),
                "regret": np.cumsum(gaps[arms])[kept - 1].tolist(),
                "uniform": float(gaps.mean()),
                "pulls": np.bincount(arms, minlength=problem.n).tolist(),
                "clipped": 0 if curator is None else int(curator.clipped),
                "best": int(problem.f.argmax()),
                "k": getattr(learner, "k", None),
                "seconds": spent,
            }
            if shown:
                piece |= {
                    "f": problem.f.tolist(),
                    "B": problem.B,
                    "R": problem.R,
                    "scale": None if curator is None else curator.scale,
                    "provenance": problem.provenance,
                    "arms": arms.tolist(),
                    "reports": np.round(reports, 6).tolist(),
                    "inside": inside + [_snapshot(T, learner)],
                }
            yield done, total, piece


def _snapshot(t, learner):
    return {
        "t": t,
        "mu": np.round(learner.mu, 6).tolist(),
        "sigma": np.round(learner.sigma, 6).tolist(),
        "beta": float(learner.beta),
    }


def campaign(settings, samples=None, only=None):
    """Elimination for 10^3 to 10^9 users: yields as `play` does, a piece for each horizon; `only` is an index of USERS."""
    source, horizons = problem_of(settings, samples), USERS if only is None else [USERS[only]]
    for done, T in enumerate(horizons):
        begun = time.perf_counter()
        try:
            got = core.simulate_batches(
                source, T, trials=settings["trials"], seed=settings["seed"], **options_of(settings)
            )
            piece = {
                "T": T,
                "share": (got.regret[:, -1] / (T * got.uniform)).tolist(),
                "active": got.active[:, -1].tolist(),
                "batches": len(got.t),
                "seconds": time.perf_counter() - begun,
            }
        except ValueError as error:
            piece = {"T": T, "error": str(error)}
        yield done + 1, len(horizons), piece


def everything(settings, samples=None):
    """All pieces at once: the result that the page shows before its own Python is ready."""
    work = (campaign if settings["view"] == "users" else play)(settings, samples)
    return {"settings": settings, "pieces": [piece for _, _, piece in work if piece]}


def precomputed():
    """What the book is built with: the default run, and the second view at a few eps."""
    return everything(DEFAULTS) | {
        "campaigns": [everything(CAMPAIGN | {"eps": eps}) for eps in CAMPAIGN_EPS]
    }


class Run:
    """The generator in portions: `step` works for about `seconds` and says how far it got."""

    def __init__(self, settings, samples=None, only=None):
        self.work, self.done, self.total = (
            (campaign if settings["view"] == "users" else play)(settings, samples, only),
            0,
            1,
        )

    def step(self, seconds):
        """{"done", "total", "pieces", "finished"} after about `seconds` of work."""
        end, pieces = time.perf_counter() + seconds, []
        for self.done, self.total, piece in self.work:
            if piece:
                pieces.append(piece)
            if time.perf_counter() >= end:
                return {"done": self.done, "total": self.total, "pieces": pieces, "finished": False}
        return {"done": self.done, "total": self.total, "pieces": pieces, "finished": True}
