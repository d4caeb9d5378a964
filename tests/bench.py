"""Speed of the core, as ratios measured in one run (`make bench`). Not a test: timings of a busy machine prove nothing about correctness.

Each line: what is compared, the two times, their ratio, the target. Times are processor seconds of this process, and pairs that are compared are timed in
turns with the best of a few repeats counting, so that other load on the machine matters little; for the nine panels both clocks are printed. `--quick` leaves those out.
"""
import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import platform
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import numpy as np
import oracle

import ldpbo_core as ldpbo

PANELS = [  # id, problem, eps
    ("2a", "matern uniform", 1.0), ("2b", "light", 0.5), ("2c", "stock", 1.0),
    ("2d", "se t3", None), ("2e", "light", None), ("2f", "stock", None),
    ("3a", "se uniform", 1.0), ("3b", "light", 1.0), ("3c", "stock", 0.5),
]
missed = []


def report(what, one, other, target, ok, unit="s"):
    ratio = one / other
    print(f"{what:<78} {one:9.3g} {unit} {other:9.3g} {unit} {ratio:8.3g} x   {target} {'ok' if ok(ratio) else 'MISSED'}", flush=True)
    if not ok(ratio):
        missed.append(what)


def clock(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def best(*calls, repeats=3):
    """Best time of each call, taken in turns."""
    return [min(times) for times in zip(*[[clock(call) for call in calls] for _ in range(repeats)])]


def drive(name, problem, T, eps=None, marks=(), look=lambda learner: time.process_time(), **settings):
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
            model = GaussianProcessRegressor(Matern(length_scale=0.2, nu=2.5), alpha=1.0, optimizer=None).fit(X[arms[:t]], cut[:t])
            refit.mu, refit.sigma = model.predict(X, return_std=True)
    slow = clock(refit)
    fast, = best(lambda: drive("TGP", problem, T))
    assert np.allclose(refit.mu, learner.mu, atol=1e-8) and np.allclose(refit.sigma, learner.sigma, atol=1e-8), "scikit-learn and the core disagree"
    report("scikit-learn refitted each round / TGP, n = 100, T = 1,000, same actions", slow, fast, ">= 300", lambda r: r >= 300)


def against_the_oracle():
    problem, T = ldpbo.light_problem(), 2000
    learner, arms, y, _ = drive("ATA", problem, T)

    def literal():
        slow = oracle.oracle("ATA", problem.K, T, B=problem.B, R=problem.R, v=problem.v, c=problem.c, rng=np.random.default_rng(0))
        for t in range(T):
            slow.ask()
            slow.feed(int(arms[t]), y[t])
        literal.mu = slow.mu
    slow = clock(literal)
    fast, = best(lambda: drive("ATA", problem, T))
    assert np.allclose(literal.mu, learner.mu, atol=1e-6 * problem.B), "the oracle and the core disagree"
    report(f"literal ATA / ATA, {problem.n} sensors ({problem.provenance.split(';')[0]}), T = 2,000, same actions", slow, fast, ">= 50", lambda r: r >= 50)


def late_against_early():
    """No cost grows with t. Private and not: truncation is at work in the second. Sums over six problems: when the random dictionary comes to rest, and how long
    rewards are truncated, differs from one f to the next, and so do the ratios of single problems, which are printed beside."""
    for eps, make in ((1.0, matern_uniform), (None, se_t3)):
        for name in ("TGP", "ATA", "MoMA"):
            stamps = [[drive(name, make(seed), 20_000, eps=eps, marks={2000, 4000, 18_000})[3] for _ in range(2)] for seed in range(6)]
            late, early = (np.array([min(s[end] - s[start] for s in runs) for runs in stamps]) for start, end in ((18_000, 20_000), (2000, 4000)))
            report(f"rounds 18,001-20,000 / 2,001-4,000, {name}, n = 100, {LABEL[eps]}, six f", late.sum(), early.sum(), "<= 1.3", lambda r: r <= 1.3)
            print("    each f:", *(f"{r:.2f}" for r in late / early))


def ata_against_tgp():
    for eps, problem in ((1.0, matern_uniform(0)), (None, se_t3(0))):
        ata, tgp = best(lambda: drive("ATA", problem, 20_000, eps=eps), lambda: drive("TGP", problem, 20_000, eps=eps), repeats=2)
        report(f"ATA / TGP, n = 100, T = 20,000, {LABEL[eps]}", ata, tgp, "<= 10", lambda r: r <= 10)


def nine_panels():
    problems = {"matern uniform": matern_uniform, "se uniform": se_uniform, "se t3": se_t3, "light": ldpbo.light_problem(), "stock": ldpbo.stock_problem()}
    total, used = 0.0, resource.getrusage(resource.RUSAGE_CHILDREN)
    for panel, which, eps in PANELS:
        start = time.perf_counter()
        ldpbo.simulate(problems[which], ["TGP", "ATA", "MoMA"], 20_000, trials=10, seed=0, eps=eps, workers=2)
        seconds = time.perf_counter() - start
        total += seconds
        print(f"  panel {panel}: {seconds:6.1f} s", flush=True)
    # peak of this process plus twice the largest child (two workers), in MB
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 2 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(f"nine panels: {total:.0f} s by the clock at load {os.getloadavg()[0]:.1f}; {processor:.0f} processor seconds in the workers, {processor / 2:.0f} s on two idle processors")
    report("nine panels, 3 algorithms x 10 trials x T = 20,000, two processors (limit 180 s)", processor / 2, 180.0, "<= 1", lambda r: r <= 1)
    report("peak memory of the nine panels, all processes (limit 1,000 MB)", peak, 1000.0, "<= 1", lambda r: r <= 1, unit="MB")


def memory_of_a_learner():
    """Beyond the recorded regret, memory does not grow with the rounds played: the largest pickled state of a learner, looked at every 1,000 rounds. It includes
    the features of recent dictionaries, at most 32 MB."""
    import pickle
    for eps, problem in ((1.0, matern_uniform(0)), (None, se_t3(0))):
        for name in ("TGP", "ATA", "MoMA"):
            size = drive(name, problem, 20_000, eps=eps, marks=range(0, 20_000, 1000), look=lambda learner: len(pickle.dumps(learner)) / 1e6)[3]
            report(f"largest state in 20,000 rounds, {name}, n = 100, {LABEL[eps]} (limit 50 MB)", max(size.values()), 50.0, "<= 1", lambda r: r <= 1, unit="MB")


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} processors, one BLAS thread each, load {os.getloadavg()[0]:.1f}")
    against_scikit_learn()
    against_the_oracle()
    late_against_early()
    ata_against_tgp()
    memory_of_a_learner()
    if "--quick" not in sys.argv:
        nine_panels()
    print(f"missed: {', '.join(missed)}" if missed else "every target met")
    sys.exit(bool(missed))
