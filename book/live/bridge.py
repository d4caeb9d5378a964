"""The live page runs this on top of the unchanged core: settings go in, pieces of results come out.

`simulate` cannot be interrupted from outside, and a browser's worker has one thread. So the same
loop is written here as a generator over the core's public ask/tell: the worker runs it for a
moment, looks whether the reader has changed something, and goes on. tests/test_live.py holds it to
the numbers of `simulate`.
"""

import dataclasses
import functools
import time

import numpy as np

import ldpbo_core as core
from ldpbo import experiments

DEFAULTS = {
    "view": "rounds",
    "problem": "se",
    "eps": 1.0,
    "curator": "both",
    "T": 400,
    "trials": 5,
    "lengthscale": 0.2,
    "lam": None,
    "constants": "proved",
    "beta_scale": 1.0,
    "k": None,
    "names": ["GP-UCB"],
    "seed": 0,
    "shown": 3,  # of the five trials the one whose regret with one bit is in the middle
}
CAMPAIGN = DEFAULTS | {"view": "users", "curator": "onebit"}  # what the second view opens with
CAMPAIGN_EPS = [0.1, 0.3, 1.0, 3.0, 10.0]  # computed with the book; the reader's own joins them
USERS = [10**e for e in range(3, 10)]
SIDE = 20  # the 2-d problem has SIDE x SIDE arms
POINTS = 500  # rounds of a regret curve that are sent to the page
SNAPSHOTS = 48  # times at which the posterior of the shown trial is kept
CURATORS = {"onebit": ("one bit", core.OneBit), "laplace": ("Laplace", core.CTL)}


# ---- Settings of the page in the core's terms ----------------------------------------------------


def problem_of(settings, samples=None):
    """The settings name a Problem, or a function seed -> Problem for a new f in each trial."""
    which = settings["problem"]
    open_rounds = settings["eps"] is None and settings["view"] == "rounds"
    heavy_tails = open_rounds and settings["constants"] != "proved"  # as in the paper
    noise = "t3" if heavy_tails else "uniform"
    if which in ("se", "matern"):
        shape = dict(kernel=which, noise=noise, lengthscale=settings["lengthscale"])
        drawn = lambda seed: core.synthetic_problem(**shape, seed=seed)
        proved = settings["constants"] == "proved"
        return (lambda seed: with_norm(drawn(seed))) if proved else drawn
    if which == "branin":
        return branin_problem(noise, settings["lengthscale"])
    if which == "table":
        return core.table_problem(samples)
    return _data_problem(which)


def with_norm(problem):
    """The proofs want the RKHS norm of f as B; the range F that the curator knows stays max|f|."""
    about = problem.provenance.replace("max|f|", "‖f‖")
    return dataclasses.replace(experiments.told_norm(problem, F=problem.B), provenance=about)


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


def lines_of(settings):
    """A curve stands for an algorithm and a curator -> [(its name, algorithm, curator)]."""
    compared = settings["curator"] == "both" and settings["eps"] is not None
    if not compared:
        return [(name, name, settings["curator"]) for name in settings["names"]]
    return [
        (f"{name} {words}", name, curator)
        for name in settings["names"]
        for curator, (words, _) in CURATORS.items()
    ]


def options_of(settings, curator=None):
    """The settings stand for these keyword arguments of `make` and of `simulate`.

    curator: that of the curve, where two are compared.
    """
    options = {name: settings[name] for name in ("eps", "constants", "beta_scale", "k")}
    if settings["lam"] is not None:  # None: each algorithm's own
        options["lam"] = settings["lam"]
    if settings["eps"] is not None:
        options["curator"] = CURATORS[curator or settings["curator"]][1]
    if settings["view"] == "users" and settings["constants"] == "proved":
        options["schedule"] = "double"  # as in the book's own numbers of users
    return options


# ---- Regret by rounds ----------------------------------------------------------------------------


def play(settings, samples=None, only=None):
    """Each curve is played in each trial, or in trial `only` -> (rounds done, in all, news).

    The news are a piece, which is what the page draws of one curve in one trial, or before its end
    a function that makes a piece of what there is. The curves of a trial grow side by side.
    """
    lines = lines_of(settings)
    trials = range(settings["trials"]) if only is None else [only]
    total = len(trials) * len(lines) * settings["T"]
    done = 0
    source = problem_of(settings, samples)
    for trial in trials:
        problem = source
        if not isinstance(source, core.Problem):
            problem = source(core.streams(settings["seed"], trial).problem)
        runs = [_play_one(line, trial, problem, settings) for line in lines]
        for rounds, news in _in_turns(runs):
            done += rounds
            yield done, total, news


def _in_turns(runs):
    """Generators give one value each in turn, until all have ended."""
    while runs:
        for run in list(runs):
            value = next(run, None)
            if value is None:
                runs.remove(run)
            else:
                yield value


def _play_one(line, trial, problem, settings):
    """One curve in one trial: yields (rounds since the last time, news) as `play` does."""
    title, name, curator = line
    about = {"line": title, "name": name, "curator": curator, "trial": trial}
    try:
        run = _Run(about, problem, settings)
    except ValueError as error:
        yield settings["T"], about | {"error": str(error)}
        return
    for t in range(1, settings["T"]):
        run.round()
        yield 1, functools.partial(run.piece, t, run.inside[:1])
    run.round()
    yield 1, run.piece(settings["T"], run.inside)


class _Run:
    """One algorithm with one curator meets the users of one trial."""

    def __init__(self, about, problem, settings):
        begun = time.perf_counter()
        self.about = about
        self.problem = problem
        self.T = T = settings["T"]
        _, env, privacy, sketch = core.streams(settings["seed"], about["trial"])
        options = options_of(settings, about["curator"])
        rng = np.random.default_rng(sketch)
        self.learner = core.make(about["name"], problem, T, rng=rng, **options)
        self.curator = self.learner.settings.curator
        self.rounds = core.play_rounds(self.learner, problem, T, env, privacy)
        self.arms = np.empty(T, dtype=int)
        self.reports = np.empty(T)
        self.t = 0
        self.shown = about["trial"] == settings["shown"]
        self.moments = _snapshot_rounds(T) if self.shown else ()
        self.inside = []
        self.spent = time.perf_counter() - begun

    def round(self):
        """Ask and tell once; what it takes is counted."""
        begun = time.perf_counter()
        t = self.t
        if t in self.moments:
            self.inside.append(_snapshot(t, self.learner))
        self.arms[t], self.reports[t], _ = next(self.rounds)
        self.t += 1
        self.spent += time.perf_counter() - begun

    def piece(self, t, inside):
        """What the page draws after t rounds; `inside` are snapshots of earlier moments."""
        arms = self.arms[:t]
        found = self.about | _summary(self.problem, self.learner, arms, self.T)
        found["seconds"] = self.spent
        if self.shown:
            found |= _details(self.problem, self.curator, arms, self.reports[:t])
            found["inside"] = [*inside, _snapshot(t, self.learner)]
        return found


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


def _summary(problem, learner, arms, T):
    """Curve and table of the rounds so far; the curve is thinned to POINTS of T rounds."""
    kept = np.unique(np.linspace(1, T, min(T, POINTS)).round().astype(int))
    kept = kept[kept <= len(arms)]
    gaps = problem.f.max() - problem.f
    by_mean = np.argsort(gaps, kind="stable")
    curator = learner.settings.curator
    return {
        "t": kept.tolist(),
        "regret": np.cumsum(gaps[arms])[kept - 1].tolist(),
        "uniform": float(gaps.mean()),
        "pulls": np.bincount(arms, minlength=problem.n).tolist(),
        "clipped": 0 if curator is None else int(curator.clipped),
        "best": int(problem.f.argmax()),
        "top": by_mean[: -(-problem.n // 10)].tolist(),  # the best tenth of the arms
        "k": getattr(learner, "k", None),
    }


def _details(problem, curator, arms, reports):
    """The lower figures show these of the one trial that the reader looks into."""
    return {
        "f": problem.f.tolist(),
        "most": problem.bound,  # no reward is larger, as the curator is told
        "scale": None if curator is None else curator.scale,
        "provenance": problem.provenance,
        "arms": arms.tolist(),
        "reports": np.round(reports, 6).tolist(),
    }


# ---- Users needed --------------------------------------------------------------------------------


def campaign(settings, samples=None, only=None):
    """Elimination meets 10^3 to 10^9 users: yields as `play` does, a piece for each horizon.

    `only` is an index of USERS. Two curators are not compared here: it is one bit then.
    """
    curator = "onebit" if settings["curator"] == "both" else settings["curator"]
    source = problem_of(settings, samples)
    horizons = USERS if only is None else [USERS[only]]
    shape = dict(trials=settings["trials"], seed=settings["seed"])
    shape |= options_of(settings, curator)
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
    news = [news for _, _, news in pieces_of(settings, samples)]
    return {"settings": settings, "pieces": [piece for piece in news if not callable(piece)]}


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
        self.due = 0.0  # when curves that grow are sent again

    def step(self, seconds):
        """{"done", "total", "pieces", "growing", "finished"} after about `seconds` of work.

        The pieces of curves that have not ended yet are `growing`; None: not now.
        """
        end = time.perf_counter() + seconds
        pieces = []
        growing = {}
        finished = True
        for self.done, self.total, news in self.work:
            if callable(news):
                growing[news.func.__self__] = news
            else:
                pieces.append(news)
            if time.perf_counter() >= end:
                finished = False
                break
        return {
            "done": self.done,
            "total": self.total,
            "pieces": pieces,
            "growing": self.drawn(growing.values(), pieces),
            "finished": finished,
        }

    def drawn(self, makers, pieces):
        """The pieces of curves that grow, unless they were sent a moment ago.

        They cost more in long runs: then they come seldom, and take a small part of the time.
        """
        begun = time.perf_counter()
        if begun < self.due:
            return None
        ended = {piece.get("line") for piece in pieces}
        growing = [piece for piece in (make() for make in makers) if piece["line"] not in ended]
        self.due = begun + max(0.1, 20 * (time.perf_counter() - begun))
        return growing
