"""The live page runs this on top of the unchanged core: settings go in, pieces of results come out.

`simulate` cannot be interrupted from outside, and a browser's worker has one thread. So the same
loop is written here as a generator over the core's public ask/tell: the worker runs it for a
moment, looks whether the reader has changed something, and goes on. tests/test_live.py holds it to
the numbers of `simulate`.
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
CAMPAIGN = DEFAULTS | {  # what the second view opens with
    "view": "users",
    "curator": "onebit",
    "constants": "proved",
    "beta_scale": 1.0,
}
CAMPAIGN_EPS = [0.1, 0.3, 1.0, 3.0, 10.0]  # computed with the book; the reader's own joins them
USERS = [10**e for e in range(3, 10)]
SIDE = 20  # the 2-d problem has SIDE x SIDE arms
POINTS = 500  # rounds of a regret curve that are sent to the page
SNAPSHOTS = 48  # times at which the posterior of the shown trial is kept


# ---- Settings of the page in the core's terms ----------------------------------------------------


def problem_of(settings, samples=None):
    """The settings name a Problem, or a function seed -> Problem for a new f in each trial."""
    which = settings["problem"]
    heavy_tails = settings["eps"] is None and settings["view"] == "rounds"  # as in the paper
    noise = "t3" if heavy_tails else "uniform"
    if which in ("se", "matern"):
        shape = dict(kernel=which, noise=noise, lengthscale=settings["lengthscale"])
        return lambda seed: core.synthetic_problem(**shape, seed=seed)
    if which == "branin":
        return branin_problem(noise, settings["lengthscale"])
    if which == "table":
        return core.table_problem(samples)
    return _data_problem(which)


def branin_problem(noise, lengthscale):
    """Branin's function on a grid over [-5, 10] x [0, 15], negated and scaled to [-1, 1].

    Arm i is column i % SIDE, row i // SIDE; the SE kernel is that of the unit square.
    """
    x = (np.arange(SIDE) + 0.5) / SIDE
    points = np.stack([np.tile(x, SIDE), np.repeat(x, SIDE)], axis=1)
    a = 15 * points[:, 0] - 5
    b = 15 * points[:, 1]
    valley = (b - 5.1 * a**2 / (4 * np.pi**2) + 5 * a / np.pi - 6) ** 2
    f = -(valley + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)
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
def _data_problem(which):
    """A data set is read once."""
    return core.light_problem() if which == "light" else core.stock_problem()


def options_of(settings):
    """The settings stand for these keyword arguments of `make` and of `simulate`."""
    options = {name: settings[name] for name in ("eps", "constants", "beta_scale", "k")}
    if settings["lam"] is not None:  # None: each algorithm's own
        options["lam"] = settings["lam"]
    if settings["eps"] is not None and settings["curator"] == "onebit":
        options["curator"] = core.OneBit
    return options


# ---- Regret by rounds ----------------------------------------------------------------------------


def play(settings, samples=None, only=None):
    """Each algorithm plays each trial, or trial `only` -> (rounds done, in all, piece or None).

    A piece is what the page draws of one algorithm in one trial.
    """
    T = settings["T"]
    names = settings["names"]
    trials = range(settings["trials"]) if only is None else [only]
    total = len(trials) * len(names) * T
    done = 0
    source = problem_of(settings, samples)
    for trial in trials:
        problem = source
        if not isinstance(source, core.Problem):
            problem = source(core.streams(settings["seed"], trial).problem)
        for name in names:
            for rounds, piece in _play_one(name, trial, problem, settings):
                yield done + rounds, total, piece
            done += T


def _play_one(name, trial, problem, settings):
    """One algorithm plays one trial: yields (rounds done, None), and at the end its piece."""
    T = settings["T"]
    _, env, privacy, sketch = core.streams(settings["seed"], trial)
    begun = time.perf_counter()
    try:
        rng = np.random.default_rng(sketch)
        learner = core.make(name, problem, T, rng=rng, **options_of(settings))
    except ValueError as error:
        yield T, {"name": name, "trial": trial, "error": str(error)}
        return
    curator = learner.settings.curator
    users = problem.draw(env, T)
    noise = None if curator is None else curator.draw(privacy, T)
    arms = np.empty(T, dtype=int)
    reports = np.empty(T)
    shown = trial == settings["shown"]
    moments = _snapshot_rounds(T) if shown else ()
    inside = []
    spent = time.perf_counter() - begun
    for t in range(T):
        begun = time.perf_counter()
        if t in moments:
            inside.append(_snapshot(t, learner))
        arms[t] = learner.ask()
        reports[t] = problem.reward(arms[t], users[t])
        if curator is not None:
            reports[t] = curator.report(reports[t], noise[t])
        learner.tell(reports[t])
        spent += time.perf_counter() - begun
        if t + 1 < T:
            yield t + 1, None
    piece = {"name": name, "trial": trial, **_summary(problem, learner, arms), "seconds": spent}
    if shown:
        inside.append(_snapshot(T, learner))
        piece |= _details(problem, curator, arms, reports) | {"inside": inside}
    yield T, piece


def _snapshot_rounds(T):
    """Snapshots are denser at the beginning, where more changes."""
    return set(np.unique((T * np.linspace(0, 1, SNAPSHOTS) ** 1.5).round().astype(int)).tolist())


def _snapshot(t, learner):
    """The page draws the posterior after t rounds from this."""
    return {
        "t": t,
        "mu": np.round(learner.mu, 6).tolist(),
        "sigma": np.round(learner.sigma, 6).tolist(),
        "beta": float(learner.beta),
    }


def _summary(problem, learner, arms):
    """Curve and table of a run; the curve is thinned to POINTS rounds."""
    T = len(arms)
    kept = np.unique(np.linspace(1, T, min(T, POINTS)).round().astype(int))
    gaps = problem.f.max() - problem.f
    curator = learner.settings.curator
    return {
        "t": kept.tolist(),
        "regret": np.cumsum(gaps[arms])[kept - 1].tolist(),
        "uniform": float(gaps.mean()),
        "pulls": np.bincount(arms, minlength=problem.n).tolist(),
        "clipped": 0 if curator is None else int(curator.clipped),
        "best": int(problem.f.argmax()),
        "k": getattr(learner, "k", None),
    }


def _details(problem, curator, arms, reports):
    """The lower figures show these of the one trial that the reader looks into."""
    return {
        "f": problem.f.tolist(),
        "B": problem.B,
        "R": problem.R,
        "scale": None if curator is None else curator.scale,
        "provenance": problem.provenance,
        "arms": arms.tolist(),
        "reports": np.round(reports, 6).tolist(),
    }


# ---- Users needed --------------------------------------------------------------------------------


def campaign(settings, samples=None, only=None):
    """Elimination meets 10^3 to 10^9 users: yields as `play` does, a piece for each horizon.

    `only` is an index of USERS.
    """
    source = problem_of(settings, samples)
    horizons = USERS if only is None else [USERS[only]]
    shape = dict(trials=settings["trials"], seed=settings["seed"], **options_of(settings))
    for done, T in enumerate(horizons, 1):
        begun = time.perf_counter()
        try:
            found = core.simulate_batches(source, T, **shape)
        except ValueError as error:
            yield done, len(horizons), {"T": T, "error": str(error)}
            continue
        piece = {
            "T": T,
            "share": (found.regret[:, -1] / (T * found.uniform)).tolist(),
            "active": found.active[:, -1].tolist(),
            "batches": len(found.t),
            "seconds": time.perf_counter() - begun,
        }
        yield done, len(horizons), piece


# ---- What the worker and the build call ----------------------------------------------------------


def pieces_of(settings, samples=None, only=None):
    """The view decides what is run."""
    view = campaign if settings["view"] == "users" else play
    return view(settings, samples, only)


def everything(settings, samples=None):
    """All pieces at once are the result that the page shows before its own Python is ready."""
    pieces = [piece for _, _, piece in pieces_of(settings, samples) if piece]
    return {"settings": settings, "pieces": pieces}


def precomputed():
    """The book is built with the default run, and with the second view at a few eps."""
    campaigns = [everything(CAMPAIGN | {"eps": eps}) for eps in CAMPAIGN_EPS]
    return everything(DEFAULTS) | {"campaigns": campaigns}


class Run:
    """A run is done in portions: `step` works for about `seconds` and says how far it got."""

    def __init__(self, settings, samples=None, only=None):
        self.work = pieces_of(settings, samples, only)
        self.done = 0
        self.total = 1

    def step(self, seconds):
        """{"done", "total", "pieces", "finished"} after about `seconds` of work."""
        end = time.perf_counter() + seconds
        pieces = []
        finished = True
        for self.done, self.total, piece in self.work:
            if piece:
                pieces.append(piece)
            if time.perf_counter() >= end:
                finished = False
                break
        return {"done": self.done, "total": self.total, "pieces": pieces, "finished": finished}
