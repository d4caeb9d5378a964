"""Time the core, and weigh it, as ratios measured in one run (`make bench`).

    python tools/bench.py [PART ...] [--against FOLDER]     parts: those of PARTS; default: all

Not a test: timings of a busy machine prove nothing about correctness. Each line says what is
compared, the two figures, their ratio, the target, met or missed; the misses are listed again at
the end, and the exit status says so. Times are processor seconds, and what is compared is timed in
turns, so that other load on the machine matters little. `--against` compares the panels with
another checkout of this repository.

The costs of large domains go to data/bench.csv with the machine's description, for the book.
BoTorch is optional: where it is installed its part is timed and kept in data/botorch.csv, elsewhere
the kept figures are printed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import functools
import importlib.util
import json
import math
import pickle
import platform
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = os.environ.get("LDPBO_BENCH_CORE", str(ROOT))  # the checkout whose core is timed
sys.path[:0] = [CORE, str(ROOT / "tests")]
import numpy as np

import ldpbo_core as core

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


# ---- The panels ----------------------------------------------------------------------------------


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


def child(what, *words, root=ROOT):
    """Call a function of this file in a process of its own, on the core of a checkout."""
    command = [sys.executable, __file__, "--child", what, *map(str, words)]
    env = os.environ | {"LDPBO_BENCH_CORE": str(root)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


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


# ---- Large domains: each kernel and dimension in a process of its own, for its peak memory -------

KERNELS = {
    "SE": functools.partial(core.se_kernel, lengthscale=0.2),
    "Matern 5/2": functools.partial(core.matern_kernel, lengthscale=0.2, nu=2.5),
}
SIZES = [1000, 3000, 10_000, 30_000, 100_000]
CLAIMS = {
    "TGP": "one estimate and one comparison a round",
    "ATA": "m x t comparisons and a new dictionary a round",
    "MoMA": "one dictionary and k estimates an epoch",
}


def cloud(n, d, kernel, **options):
    """Make a problem on n random points of the d-dimensional cube."""
    X = np.random.default_rng(d).random((n, d))
    f = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
    bounds = dict(B=1.0, R=1.0, v=2.0, c=1.0)
    return core.Problem(points=X, kernel=KERNELS[kernel], f=f, **bounds, **options)


def cost(name, problem, T, seconds, after=0):
    """Time rounds and reads of Z, in turns, for `seconds`, when `after` rounds have been played.

    -> seconds a round, seconds a read, rounds, and the dearest ten rounds (or epoch) in reads.
    """
    Z = problem.Z
    x = np.ones(len(Z))
    play = player(name, problem, T, 1.0)
    play(after)
    step = getattr(play.learner, "k", None) or 10  # whole epochs of MoMA
    spent = []
    while np.sum(spent) < seconds and after + (len(spent) + 1) * step <= T:
        rounds = clock(lambda: play(step))
        reads = clock(lambda: [x @ Z for _ in range(step)])
        spent.append((rounds, reads))
    count = len(spent) * step
    a_round, a_read = np.sum(spent, axis=0) / count
    return float(a_round), float(a_read), count, max(a / b for a, b in spent)


def row(axis, name, problem, kernel, t, T, seconds):
    """Measure a learner's `cost` -> a row of data/bench.csv."""
    a_round, a_read, rounds, dearest = cost(name, problem, T, seconds, after=t)
    where = dict(axis=axis, learner=name, kernel=kernel, d=problem.points.shape[1])
    sizes = dict(n=problem.n, r=len(problem.Z), t=t, T=T, rounds=rounds)
    return where | sizes | dict(seconds=a_round, read=a_read, dearest=dearest)


def one_domain(kernel, d):
    """Measure, in a child, rounds at all sizes and the peak memory."""
    rows = []
    for n in SIZES:
        problem = cloud(n, int(d), kernel)
        short = 3.0 if n == SIZES[-1] else 0.5
        for name in LEARNERS:
            seconds = math.inf if name == "ATA" else short  # ATA's rounds differ: its whole run
            rows.append(row("n", name, problem, kernel, 0, 1000, seconds))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rows": rows, "Z": problem.Z.nbytes / 2**20, "peak": peak}


def report_domain(kernel, d, found):
    """Report what `one_domain` has found."""
    where = f"{kernel} in [0,1]^{d}"
    for r in found["rows"]:
        if r["n"] == SIZES[-1]:
            what = f"{r['learner']} a round / one read of Z, n = {r['n']:,}, {where}, rank {r['r']}"
            played = f"{r['rounds']} of {r['T']:,} rounds (dearest ten: {r['dearest']:.1f})"
            most = 20 if r["learner"] == "ATA" else 5
            report(f"{what}, {played}", r["seconds"], r["read"], most=most)
    what = f"peak memory / (3 Z + 300 MB), n = {SIZES[-1]:,}, {where}"
    report(what, found["peak"], 3 * found["Z"] + 300, most=1, unit="MB")
    for name in LEARNERS:
        mine = [r for r in found["rows"] if r["learner"] == name]
        n = np.log([r["n"] for r in mine])
        seconds = np.log([r["seconds"] for r in mine])
        exponent = float(np.polyfit(n, seconds, 1)[0])
        what = f"{name}, {where}: exponent of n in a round's cost (paper: {CLAIMS[name]})"
        report(what, exponent, 1.0, most=1.1, unit="")


def large_domains():
    """Measure rounds on large domains; first, because a child's memory begins with its parent's."""
    rows = []
    for d in (2, 3):
        for kernel in KERNELS:
            found = child("one_domain", kernel, d)
            report_domain(kernel, d, found)
            rows += found["rows"]
    for rank in (25, 50, 100, 200, 400):
        problem = cloud(10_000, 2, "Matern 5/2", rank=rank)
        for name in LEARNERS:
            rows.append(row("r", name, problem, "Matern 5/2", 0, 1000, 1.0))
    problem = cloud(1000, 2, "SE")
    for t in (0, 300, 1000, 3000):
        for name in LEARNERS:
            rows.append(row("t", name, problem, "SE", t, 5000, 0.5))
    write_table("bench", rows)


# ---- Side by side with other programs ------------------------------------------------------------


def against_the_oracle():
    """Feed the same actions and rewards to the literal program of the tests."""
    import oracle

    problem, T = core.light_problem(), 2000
    learner, arms, y, _ = drive("ATA", problem, T)
    bounds = dict(B=problem.B, R=problem.R, v=problem.v, c=problem.c)
    slow = oracle.oracle("ATA", problem.K, T, **bounds, rng=np.random.default_rng(0))

    def literal():
        for t in range(T):
            slow.ask()
            slow.feed(int(arms[t]), y[t])

    seconds = clock(literal)
    (fast,) = best(lambda: drive("ATA", problem, T))
    assert np.allclose(slow.mu, learner.mu, atol=1e-6 * problem.B), "oracle and core disagree"
    data = problem.provenance.split(";")[0]
    what = f"literal ATA / ATA, {problem.n} sensors ({data}), T = 2,000, same actions"
    report(what, seconds, fast, least=50)


def by_refits(problem, T, predict):
    """Play TGP's rule on a model that is fitted afresh each round -> the arms.

    predict(points, rewards) -> mean and width at all arms.
    """
    users = problem.draw(np.random.default_rng(1), T)
    mu = np.zeros(problem.n)
    sigma = np.ones(problem.n)
    beta = problem.B
    arms = []
    y = []
    for t in range(1, T + 1):
        arms.append(core.first_max(mu + beta * sigma))
        reward = problem.reward(arms[-1], users[t - 1])
        b = math.sqrt(problem.v) * t**0.25
        y.append(reward if abs(reward) <= b else 0.0)
        mu, sigma = predict(problem.points[arms], np.array(y))
        beta = problem.B + b * math.sqrt(math.log(t + 1))
    return arms


def side_by_side(label, predict, n=10_000, T=200, least=1):
    """Time the refits and TGP, and count the rounds in which both play the same arm -> a row."""
    problem = cloud(n, 2, "SE")
    assert len(problem.Z)  # computed here, at nobody's cost
    start = time.process_time()
    theirs = by_refits(problem, T, predict(problem.points))
    slow = time.process_time() - start
    (fast,) = best(lambda: drive("TGP", problem, T))
    same = int(np.sum(drive("TGP", problem, T)[1] == theirs))
    what = f"{label} / TGP, n = {n:,}, T = {T}, SE in [0,1]^2, {same} of {T} actions the same"
    report(what, slow, fast, least=least)
    return dict(library=label, n=n, T=T, kernel="SE", d=2, seconds=slow, tgp=fast, same=same)


def refit_scikit_learn(X):
    """Make `predict` for `by_refits`, on scikit-learn."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    def predict(x, y):
        model = GaussianProcessRegressor(RBF(0.2), alpha=1.0, optimizer=None)
        return model.fit(x, y).predict(X, return_std=True)

    return predict


def refit_botorch(X):
    """Make `predict` for `by_refits`, on BoTorch."""
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean

    torch.set_num_threads(1)
    candidates = torch.tensor(X)[:, None, :]  # a batch of single ones, as acquisition functions ask

    def predict(x, y):
        kernel = RBFKernel()
        kernel.lengthscale = 0.2
        y = torch.tensor(y)[:, None]
        model = SingleTaskGP(
            torch.tensor(x),
            y,
            torch.ones_like(y),
            covar_module=kernel,
            mean_module=ZeroMean(),
            outcome_transform=None,
        )
        with torch.no_grad():
            found = model.posterior(candidates)
            return found.mean.ravel().numpy(), found.variance.ravel().sqrt().numpy()

    return predict


def against_scikit_learn():
    """Compare with scikit-learn, refitted each round, on a small and on a large domain."""
    side_by_side("scikit-learn refitted each round", refit_scikit_learn, 100, 1000, least=300)
    side_by_side("scikit-learn refitted each round", refit_scikit_learn)


def against_botorch():
    """Compare with BoTorch where it is installed; elsewhere print what was kept."""
    path = ROOT / "data/botorch.csv"
    if importlib.util.find_spec("botorch"):
        import botorch

        warnings.filterwarnings("ignore")  # of unscaled rewards, which are meant
        found = side_by_side("BoTorch refitted each round", refit_botorch)
        write_table("botorch", [found | {"version": botorch.__version__}])
    elif path.exists():
        with open(path, encoding="utf-8") as file:
            for r in csv.DictReader(file):
                where = f"n = {r['n']}, T = {r['T']}, {r['same']} actions the same"
                what = f"kept, not measured now: {r['library']} ({r['version']}) / TGP, {where}"
                report(what, float(r["seconds"]), float(r["tgp"]))
                print(f"    measured on {r['machine']}, code {r['code']}")


# ---- The program ---------------------------------------------------------------------------------

PARTS = {
    "domains": large_domains,
    "panels": nine_panels,
    "sklearn": against_scikit_learn,
    "botorch": against_botorch,
    "oracle": against_the_oracle,
    "late": late_against_early,
    "memory": memory_of_a_learner,
}
CHILDREN = {"one_domain": one_domain, "times_of_panels": times_of_panels}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    options.add_argument("--against", metavar="FOLDER", help="another checkout to compare with")
    args = options.parse_args()
    unknown = sorted(set(args.parts) - set(PARTS))
    if unknown:
        sys.exit(f"{', '.join(unknown)}: must be among {', '.join(PARTS)}")
    begun = time.time()
    print(machine(), flush=True)
    if args.against:
        against(args.against)
    for name in args.parts or ([] if args.against else PARTS):
        PARTS[name]()
    judged = [line for line in lines if line[2]]
    missed = [line for line in judged if not line[3]]
    seconds = f"in {time.time() - begun:.0f} s by the clock, load {os.getloadavg()[0]:.1f}"
    print(f"\n{len(judged) - len(missed)} of {len(judged)} targets met, {seconds}")
    for what, ratio, target, _ in missed:
        print(f"  MISSED {what}: {ratio:.3g}, target {target}")
    return bool(missed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](*sys.argv[3:])))
    else:
        sys.exit(main())
