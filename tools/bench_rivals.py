"""TGP is timed beside exact refits of other libraries, ATA beside the slow oracle of the tests."""

import csv
import importlib.util
import math
import time
import warnings

import numpy as np

import ldpbo_core as core
from bench_domains import cloud
from bench_runs import ROOT, best, clock, drive, report, write_table


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
