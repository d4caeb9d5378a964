"""Speed and memory of the core, as ratios measured in one run (`make bench`). Not a test: timings of a busy machine prove nothing about correctness.

    python tools/bench.py [part ...]            parts: those of PARTS below; all of them where none is named

Each line: what is compared, the two figures, their ratio, the target, met or missed; the misses are listed again at the end, and the exit status says so. Times are
processor seconds, and what is compared is timed in turns, so that other load on the machine matters little. The costs of large domains go to data/bench.csv with
the machine's description, for the book. BoTorch is optional: where it is installed its part is timed and kept in data/botorch.csv, elsewhere the kept figures are printed.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import csv
import functools
import importlib.util
import json
import math
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
import numpy as np

import ldpbo_core as ldpbo
from ldpbo import provenance

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
lines = []


def report(what, one, other, target="", ok=lambda ratio: True, unit="s"):
    """Print and keep a line; without a target it is neither met nor missed."""
    ratio = one / other
    lines.append((what, ratio, target, ok(ratio)))
    print(
        f"{what:<88} {one:9.3g} {unit:2} {other:9.3g} {unit:2} {ratio:8.3g} x   {target:8} {'' if not target else 'met' if ok(ratio) else 'MISSED'}",
        flush=True,
    )


def at_most(limit):
    return dict(target=f"<= {limit:g}", ok=lambda ratio: ratio <= limit)


def at_least(limit):
    return dict(target=f">= {limit:g}", ok=lambda ratio: ratio >= limit)


def machine():
    """What the figures of a file were measured on."""
    info = Path("/proc/cpuinfo")
    model = next(
        (
            line.split(":")[1].strip()
            for line in (info.read_text() if info.exists() else "").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{model}, {os.cpu_count()} processors, one BLAS thread; Python {platform.python_version()}, numpy {np.__version__}; load {os.getloadavg()[0]:.0f}"


def keep(name, rows):
    """Write rows (dicts) to data/NAME.csv, each with machine and code."""
    rows = [
        {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()}
        | {"machine": machine(), "code": provenance.code_hash()}
        for row in rows
    ]
    with open(ROOT / f"data/{name}.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0], lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def clock(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def best(*calls, repeats=3):
    """Best time of each call, taken in turns."""
    return [min(times) for times in zip(*[[clock(call) for call in calls] for _ in range(repeats)])]


def drive(
    name, problem, T, eps=None, marks=(), look=lambda learner: time.process_time(), **settings
):
    """A run of T rounds; with `marks`, the clock before these rounds (or `look` at the learner there)."""
    learner = ldpbo.make(name, problem, T, eps=eps, rng=np.random.default_rng(0), **settings)
    rng = np.random.default_rng(1)
    noise = problem.draw(rng, T)
    lap = rng.laplace(size=T) * (0 if eps is None else 2 * (problem.B + problem.R) / eps)
    arms, y, stamps = np.empty(T, int), np.empty(T), {}
    for t in range(T):
        if t in marks:
            stamps[t] = look(learner)
        arms[t] = arm = learner.ask()
        y[t] = problem.reward(arm, noise[t]) + lap[t]
        learner.tell(y[t])
    stamps[T] = look(learner)
    return learner, arms, y, stamps


def matern_uniform(seed):
    return ldpbo.synthetic_problem(kernel="matern", noise="uniform", seed=seed)


def se_uniform(seed):
    return ldpbo.synthetic_problem(kernel="se", noise="uniform", seed=seed)


def se_t3(seed):
    return ldpbo.synthetic_problem(kernel="se", noise="t3", seed=seed)


LABEL = {1.0: "eps = 1, Matern", None: "non-private, SE"}


def against_scikit_learn():
    """Same actions, same rewards: fit and predict mean and width over all arms after every round."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern

    problem, T = ldpbo.synthetic_problem(kernel="matern", noise="t3", seed=0), 1000
    X = np.arange(1, 101)[:, None] / 100
    learner, arms, y, _ = drive("TGP", problem, T)
    cut = np.where(np.abs(y) <= np.sqrt(problem.v) * np.arange(1, T + 1) ** 0.25, y, 0.0)

    def refit():
        for t in range(1, T + 1):
            model = GaussianProcessRegressor(
                Matern(length_scale=0.2, nu=2.5), alpha=1.0, optimizer=None
            ).fit(X[arms[:t]], cut[:t])
            refit.mu, refit.sigma = model.predict(X, return_std=True)

    slow = clock(refit)
    (fast,) = best(lambda: drive("TGP", problem, T))
    assert np.allclose(refit.mu, learner.mu, atol=1e-8) and np.allclose(
        refit.sigma, learner.sigma, atol=1e-8
    ), "scikit-learn and the core disagree"
    report(
        "scikit-learn refitted each round / TGP, n = 100, T = 1,000, same actions",
        slow,
        fast,
        **at_least(300),
    )


def against_the_oracle():
    import oracle

    problem, T = ldpbo.light_problem(), 2000
    learner, arms, y, _ = drive("ATA", problem, T)

    def literal():
        slow = oracle.oracle(
            "ATA",
            problem.K,
            T,
            B=problem.B,
            R=problem.R,
            v=problem.v,
            c=problem.c,
            rng=np.random.default_rng(0),
        )
        for t in range(T):
            slow.ask()
            slow.feed(int(arms[t]), y[t])
        literal.mu = slow.mu

    slow = clock(literal)
    (fast,) = best(lambda: drive("ATA", problem, T))
    assert np.allclose(literal.mu, learner.mu, atol=1e-6 * problem.B), (
        "the oracle and the core disagree"
    )
    report(
        f"literal ATA / ATA, {problem.n} sensors ({problem.provenance.split(';')[0]}), T = 2,000, same actions",
        slow,
        fast,
        **at_least(50),
    )


def late_against_early():
    """No cost grows with t. Private and not: truncation is at work in the second. Sums over six problems: when the random dictionary comes to rest, and how long
    rewards are truncated, differs from one f to the next, and so do the ratios of single problems, which are printed beside."""
    for eps, make in ((1.0, matern_uniform), (None, se_t3)):
        for name in ("TGP", "ATA", "MoMA"):
            stamps = [
                drive(name, make(seed), 20_000, eps=eps, marks={2000, 4000, 18_000})[3]
                for seed in range(6)
            ]
            late, early = (
                np.array([s[end] - s[start] for s in stamps])
                for start, end in ((18_000, 20_000), (2000, 4000))
            )
            report(
                f"rounds 18,001-20,000 / 2,001-4,000, {name}, n = 100, {LABEL[eps]}, six f",
                late.sum(),
                early.sum(),
                **at_most(1.3),
            )
            print("    each f:", *(f"{r:.2f}" for r in late / early))


def bare(problem, lam=1.0):
    """The rank-one update of mean and width over all arms, and nothing else: no checks, no schedule, no choice of an arm. -> function that plays k rounds."""
    Z, P, M, leverage = (
        problem.Z,
        np.eye(len(problem.Z)) / lam,
        np.zeros(problem.n),
        problem.diagonal / lam,
    )
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


def player(name, problem, T, eps, **settings):
    """A learner of horizon T -> function that plays its next k rounds."""
    learner, rng = (
        ldpbo.make(name, problem, T, eps=eps, rng=np.random.default_rng(0), **settings),
        np.random.default_rng(1),
    )
    draws = zip(
        problem.draw(rng, T).tolist(),
        (rng.laplace(size=T) * (0 if eps is None else learner.s.curator.scale)).tolist(),
    )

    def play(k):
        for _, (user, noise) in zip(range(k), draws):
            learner.tell(problem.reward(learner.ask(), user) + noise)

    play.learner = learner
    return play


def nine_panels(T=20_000, slices=40):
    """The panels at both settings, one trial: three learners and the bare update in turns, a slice of the rounds each."""
    problems = {
        "matern uniform": matern_uniform(0),
        "se uniform": se_uniform(0),
        "se t3": se_t3(0),
        "light": ldpbo.light_problem(),
        "stock": ldpbo.stock_problem(),
    }
    total, hundred = np.zeros(4), np.zeros(4)
    for scale in (1.0, 0.1):
        for panel, which, eps in PANELS:
            problem = problems[which]
            plays = [
                *(
                    player(name, problem, T, eps, beta_scale=scale)
                    for name in ("ATA", "TGP", "MoMA")
                ),
                bare(problem),
            ]
            spent = np.sum(
                [
                    [clock(lambda play=play: play(T // slices)) for play in plays]
                    for _ in range(slices)
                ],
                axis=0,
            )
            total, hundred = total + spent, hundred + spent * (problem.n == 100)
            report(
                f"ATA / TGP, panel {panel}, beta x {scale:g}, n = {problem.n}, T = {T:,}",
                *spent[:2],
                **at_most(4),
            )
    report(
        "TGP / bare rank-one update, the panels with n = 100", hundred[1], hundred[3], **at_most(2)
    )
    # 2 (TGP) + 4 x 2 (ATA) + 2 (MoMA) over 3, if the targets above are met. The limit of 180 s for ten trials that stood here was about 5 on the machine it was set on.
    report(
        "nine panels at both settings, a round of the three learners / bare update",
        total[:3].sum() / 3,
        total[3],
        **at_most(4),
    )
    for panel, which, eps in PANELS[:3]:
        run = functools.partial(ldpbo.simulate, problems[which], "TGP", T // 10, eps=eps)
        alone, together = np.sum(
            [
                (
                    clock(lambda i=i: run(trials=1, seed=i)),
                    clock(lambda: run(trials=10, seed=0)) / 10,
                )
                for i in range(10)
            ],
            axis=0,
        )
        report(
            f"TGP in simulate, panel {panel}: ten runs of one trial / one run of ten",
            alone,
            together,
            **at_least(1.2),
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report(
        "peak memory of this process after the nine panels / 333 MB (a third of 1,000 for three processes)",
        peak,
        333.0,
        **at_most(1),
        unit="MB",
    )


# ---- Large domains: each kernel and dimension in a process of its own, for its peak memory ---------------------------------------------------------------------

KERNELS = {
    "SE": functools.partial(ldpbo.se_kernel, lengthscale=0.2),
    "Matern 5/2": functools.partial(ldpbo.matern_kernel, lengthscale=0.2, nu=2.5),
}
SIZES = [1000, 3000, 10_000, 30_000, 100_000]
CLAIMS = {
    "TGP": "one estimate and one comparison a round",
    "ATA": "m x t comparisons and a new dictionary a round",
    "MoMA": "one dictionary and k estimates an epoch",
}


def cloud(n, d, kernel, **options):
    X = np.random.default_rng(d).random((n, d))
    return ldpbo.Problem(
        points=X,
        kernel=KERNELS[kernel],
        f=np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1]),
        B=1.0,
        R=1.0,
        v=2.0,
        c=1.0,
        **options,
    )


def cost(name, problem, T, seconds, after=0):
    """Seconds of a round and of one read of Z, timed in turns over as many of the T rounds as fit into `seconds`, their number, and the dearest ten rounds (or epoch)
    in reads; `after` rounds are played first."""
    play, Z, x = player(name, problem, T, 1.0), problem.Z, np.ones(len(problem.Z))
    play(after)
    step, spent = getattr(play.learner, "k", None) or 10, []  # whole epochs of MoMA
    while sum(map(sum, spent)) < seconds and after + (len(spent) + 1) * step <= T:
        spent.append((clock(lambda: play(step)), clock(lambda: [x @ Z for _ in range(step)])))
    rounds = len(spent) * step
    return *(float(s) / rounds for s in np.sum(spent, axis=0)), rounds, max(a / b for a, b in spent)


def row(axis, name, problem, kernel, t, T, found):
    seconds, read, rounds, dearest = found
    return dict(
        axis=axis,
        learner=name,
        kernel=kernel,
        d=problem.points.shape[1],
        n=problem.n,
        r=len(problem.Z),
        t=t,
        T=T,
        rounds=rounds,
        seconds=seconds,
        read=read,
        dearest=dearest,
    )


def one_domain(kernel, d):
    """In a child: cost of a round at all sizes and the peak memory, as JSON."""
    rows = []
    for n in SIZES:
        problem = cloud(n, int(d), kernel)
        for name in ("TGP", "MoMA", "ATA"):
            seconds = (
                math.inf if name == "ATA" else 3.0 if n == SIZES[-1] else 0.5
            )  # ATA's rounds differ: its whole run
            rows.append(
                row("n", name, problem, kernel, 0, 1000, cost(name, problem, 1000, seconds))
            )
    print(
        json.dumps(
            {
                "rows": rows,
                "Z": problem.Z.nbytes / 2**20,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


def large_domains():
    """Runs first: ru_maxrss of a child begins with what its parent held."""
    rows = []
    for d in (2, 3):
        for kernel in KERNELS:
            child = subprocess.run(
                [sys.executable, __file__, "--child", kernel, str(d)],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(child.stdout)
            rows += found["rows"]
            for r in (r for r in found["rows"] if r["n"] == SIZES[-1]):
                what = f"{r['learner']} a round / one read of Z, n = {r['n']:,}, {kernel} in [0,1]^{d}, rank {r['r']}, {r['rounds']} of {r['T']:,} rounds (dearest ten: {r['dearest']:.1f})"
                report(what, r["seconds"], r["read"], **at_most(20 if r["learner"] == "ATA" else 5))
            report(
                f"peak memory / (3 Z + 300 MB), n = {SIZES[-1]:,}, {kernel} in [0,1]^{d}",
                found["peak"],
                3 * found["Z"] + 300,
                **at_most(1),
                unit="MB",
            )
            for name in ("TGP", "MoMA", "ATA"):
                points = [
                    (math.log(r["n"]), math.log(r["seconds"]))
                    for r in found["rows"]
                    if r["learner"] == name
                ]
                exponent = float(np.polyfit(*zip(*points), 1)[0])
                report(
                    f"{name}, {kernel} in [0,1]^{d}: exponent of n in a round's cost, 10^3 to 10^5 (paper: {CLAIMS[name]})",
                    exponent,
                    1.0,
                    **at_most(1.1),
                    unit="",
                )
    for rank in (25, 50, 100, 200, 400):
        problem = cloud(10_000, 2, "Matern 5/2", rank=rank)
        rows += [
            row("r", name, problem, "Matern 5/2", 0, 1000, cost(name, problem, 1000, 1.0))
            for name in ("TGP", "MoMA", "ATA")
        ]
    problem = cloud(1000, 2, "SE")
    rows += [
        row("t", name, problem, "SE", t, 5000, cost(name, problem, 5000, 0.5, after=t))
        for t in (0, 300, 1000, 3000)
        for name in ("TGP", "MoMA", "ATA")
    ]
    keep("bench", rows)


# ---- Side by side with exact refits ----------------------------------------------------------------------------------------------------------------------------


def by_refits(problem, T, predict):
    """TGP's rule on a model that is fitted afresh each round: predict(points, rewards) -> mean and width at all arms. Returns the arms."""
    users, mu, sigma, beta, arms, y = (
        problem.draw(np.random.default_rng(1), T),
        np.zeros(problem.n),
        np.ones(problem.n),
        problem.B,
        [],
        [],
    )
    for t in range(1, T + 1):
        arms.append(ldpbo.first_max(mu + beta * sigma))
        reward, b = problem.reward(arms[-1], users[t - 1]), math.sqrt(problem.v) * t**0.25
        y.append(reward if abs(reward) <= b else 0.0)
        mu, sigma = predict(problem.points[arms], np.array(y))
        beta = problem.B + b * math.sqrt(math.log(t + 1))
    return arms


def side_by_side(label, predict, n=10_000, T=200):
    """-> seconds of the refits and of TGP, and in how many of T rounds both play the same arm."""
    problem = cloud(n, 2, "SE")
    problem.Z  # no learner's own
    start = time.process_time()
    theirs = by_refits(problem, T, predict(problem.points))
    slow = time.process_time() - start
    (fast,) = best(lambda: drive("TGP", problem, T))
    ours = drive("TGP", problem, T)[1]
    same = int(np.sum(ours == theirs))
    report(
        f"{label} / TGP, n = {n:,}, T = {T}, SE in [0,1]^2, {same} of {T} actions the same",
        slow,
        fast,
        **at_least(1),
    )
    return dict(library=label, n=n, T=T, kernel="SE", d=2, seconds=slow, tgp=fast, same=same)


def refit_scikit_learn(X):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    return lambda x, y: (
        GaussianProcessRegressor(RBF(0.2), alpha=1.0, optimizer=None)
        .fit(x, y)
        .predict(X, return_std=True)
    )


def refit_botorch(X):
    import torch
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.means import ZeroMean

    torch.set_num_threads(1)
    everywhere = torch.tensor(X)

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
            found = model.posterior(
                everywhere[:, None, :]
            )  # a batch of single candidates, as an acquisition function asks
            return found.mean.ravel().numpy(), found.variance.ravel().sqrt().numpy()

    return predict


def refits():
    side_by_side("scikit-learn refitted each round", refit_scikit_learn)


def botorch():
    path = ROOT / "data/botorch.csv"
    if importlib.util.find_spec("botorch"):
        import warnings

        import botorch

        warnings.filterwarnings("ignore")  # of unscaled rewards, which are meant
        keep(
            "botorch",
            [
                side_by_side("BoTorch refitted each round", refit_botorch)
                | {"version": botorch.__version__}
            ],
        )
    elif path.exists():
        with open(path, encoding="utf-8") as file:
            for r in csv.DictReader(file):
                report(
                    f"kept, not measured now: {r['library']} ({r['version']}) / TGP, n = {r['n']}, T = {r['T']}, {r['same']} actions the same",
                    float(r["seconds"]),
                    float(r["tgp"]),
                )
                print(f"    measured on {r['machine']}, code {r['code']}")


def memory_of_a_learner():
    """Beyond the recorded regret, memory does not grow with the rounds played: the largest pickled state of a learner, looked at every 1,000 rounds. It includes
    the features of recent dictionaries, at most 32 MB."""
    import pickle

    for eps, problem in ((1.0, matern_uniform(0)), (None, se_t3(0))):
        for name in ("TGP", "ATA", "MoMA"):
            size = drive(
                name,
                problem,
                20_000,
                eps=eps,
                marks=range(0, 20_000, 1000),
                look=lambda learner: len(pickle.dumps(learner)) / 1e6,
            )[3]
            report(
                f"largest state in 20,000 rounds, {name}, n = 100, {LABEL[eps]} (limit 50 MB)",
                max(size.values()),
                50.0,
                **at_most(1),
                unit="MB",
            )


PARTS = {
    "domains": large_domains,
    "panels": nine_panels,
    "sklearn": against_scikit_learn,
    "refits": refits,
    "botorch": botorch,
    "oracle": against_the_oracle,
    "late": late_against_early,
    "memory": memory_of_a_learner,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(one_domain(*sys.argv[2:]))
    if unknown := set(sys.argv[1:]) - set(PARTS):
        sys.exit(f"{', '.join(unknown)}: must be among {', '.join(PARTS)}")
    begun = time.time()
    print(machine(), flush=True)
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
    judged = [line for line in lines if line[2]]
    missed = [line for line in judged if not line[3]]
    print(
        f"\n{len(judged) - len(missed)} of {len(judged)} targets met, in {time.time() - begun:.0f} s by the clock, load {os.getloadavg()[0]:.1f}"
    )
    for what, ratio, target, _ in missed:
        print(f"  MISSED {what}: {ratio:.3g}, target {target}")
    sys.exit(bool(missed))
