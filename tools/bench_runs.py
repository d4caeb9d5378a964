"""The parts of bench.py share what is here: reports of ratios, clocks, and learners that play."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import ldpbo_core as core

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "tools/bench.py"

PANELS = [  # id, problem, eps
    ("2a", "matern uniform", 1.0),
    ("2b", "light", 0.5),
    ("2c", "stock", 1.0),
    ("2d", "se t3", None),
    ("2e", "light", None),
    ("2f", "stock", None),
    ("3a", "se uniform", 1.0),
    ("3b", "light", 1.0),
    ("3c", "stock", 0.5),
]
LEARNERS = ("TGP", "ATA", "MoMA")
CASES = {  # two synthetic problems: private; and not, where truncation is at work
    "eps = 1, Matern": (1.0, "matern", "uniform"),
    "non-private, SE": (None, "se", "t3"),
}
lines = []


# ---- Reports -------------------------------------------------------------------------------------


def report(what, one, other, most=None, least=None, unit="s"):
    """Print and keep a line; without a target it is neither met nor missed."""
    ratio = one / other
    target, met = "", True
    if most is not None:
        target, met = f"<= {most:g}", ratio <= most
    if least is not None:
        target, met = f">= {least:g}", ratio >= least
    lines.append((what, ratio, target, met))
    verdict = {True: "met", False: "MISSED"}[met] if target else ""
    figures = f"{one:9.3g} {unit:2} {other:9.3g} {unit:2} {ratio:8.3g} x"
    print(f"{what:<88} {figures}   {target:8} {verdict}", flush=True)


def machine():
    """Describe what the figures were measured on."""
    info = Path("/proc/cpuinfo")
    named = [line for line in info.open() if line.startswith("model name")] if info.exists() else []
    model = named[0].split(":")[1].strip() if named else platform.machine()
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    load = f"load {os.getloadavg()[0]:.0f}"
    return f"{model}, {os.cpu_count()} processors, one BLAS thread; {python}; {load}"


def write_table(name, rows):
    """Write rows (dictionaries) to data/NAME.csv, each with machine and code."""
    import pandas as pd

    import store
    from ldpbo import provenance

    frame = pd.DataFrame(rows).assign(machine=machine(), code=provenance.code_hash())
    text = frame.to_csv(index=False, lineterminator="\n", float_format="%.4g")
    store.write(ROOT / f"data/{name}.csv", text.encode())


def clock(call):
    """Measure the processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def best(*calls, repeats=3):
    """Measure the best time of each call, taken in turns."""
    times = [[clock(call) for call in calls] for _ in range(repeats)]
    return [min(column) for column in zip(*times)]


def child(what, *words, root=ROOT):
    """Call a function of bench.CHILDREN in a process of its own, on the core of a checkout."""
    command = [sys.executable, str(BENCH), "--child", what, *map(str, words)]
    env = os.environ | {"LDPBO_BENCH_CORE": str(root)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


# ---- Runs ----------------------------------------------------------------------------------------


def synthetic(kernel, noise, seed=0):
    """Make a problem of the synthetic panels."""
    return core.synthetic_problem(kernel=kernel, noise=noise, seed=seed)


def panel_problem(name):
    """Make the problem of a panel from its name in PANELS."""
    if name in ("light", "stock"):
        return getattr(core, f"{name}_problem")()
    return synthetic(*name.split())


def reports(problem, T, eps):
    """Draw T users, and the noise that the Laplace curator adds to their rewards."""
    rng = np.random.default_rng(1)
    users = problem.draw(rng, T)
    scale = 0.0 if eps is None else 2 * (problem.B + problem.R) / eps
    return users, rng.laplace(size=T) * scale


def drive(name, problem, T, eps=None, marks=(), look=None, **settings):
    """Run T rounds -> learner, arms (T,), reports (T,), {round: the clock before it} at `marks`.

    With `look`, what that function finds in the learner stands in the place of the clock.
    """
    look = look or (lambda learner: time.process_time())
    learner = core.make(name, problem, T, eps=eps, rng=np.random.default_rng(0), **settings)
    users, noise = reports(problem, T, eps)
    arms = np.empty(T, int)
    y = np.empty(T)
    stamps = {}
    for t in range(T):
        if t in marks:
            stamps[t] = look(learner)
        arms[t] = learner.ask()
        y[t] = problem.reward(arms[t], users[t]) + noise[t]
        learner.tell(y[t])
    stamps[T] = look(learner)
    return learner, arms, y, stamps


def player(name, problem, T, eps, **settings):
    """Make a learner of horizon T -> a function that plays its next k rounds."""
    learner = core.make(name, problem, T, eps=eps, rng=np.random.default_rng(0), **settings)
    users, noise = reports(problem, T, eps)
    draws = zip(users.tolist(), noise.tolist())

    def play(k):
        for _, (user, lap) in zip(range(k), draws):
            learner.tell(problem.reward(learner.ask(), user) + lap)

    play.learner = learner
    return play


def bare(problem, lam=1.0):
    """Make a function that plays k rounds of the rank-one update of mean and width over all arms.

    That is all it does: no checks, no schedule, no choice of an arm.
    """
    Z = problem.Z
    P = np.eye(len(Z)) / lam
    M = np.zeros(problem.n)
    leverage = problem.diagonal / lam
    arms = iter(np.random.default_rng(0).integers(problem.n, size=10**6).tolist())

    def play(k):
        for _, arm in zip(range(k), arms):
            v = P @ Z[:, arm]
            c = v @ Z
            g = c / (1 + c[arm])
            M[...] += g * (1.0 - M[arm])
            leverage[...] -= g * c
            P[...] -= np.outer(v, v / (1 + c[arm]))
            np.sqrt(np.maximum(leverage, 0.0))

    play.M, play.leverage = M, leverage
    return play
