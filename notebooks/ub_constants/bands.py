"""Four bands over the same users: order, printed and proved on Laplace reports, and one bit."""

import math

import numpy as np

import ldpbo_core as core
from ldpbo import plots

TITLES = {
    "order": "order (TGP)",
    "printed": "printed (TGP)",
    "proved": "proved (TGP)",
    "one bit": "proved, one bit (GP-UCB)",
}


def asked(problem, T, eps, seed):
    """Ask T users about arms at random -> (arms, their Laplace reports, their one-bit reports)."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(problem.n, size=T)
    rewards = problem.f[arms] + rng.uniform(-problem.R, problem.R, T)
    laplace = core.CTL(eps, problem.F, problem.R)
    one_bit = core.OneBit(eps, problem.F, problem.R)
    reports = laplace.report(rewards, laplace.draw(rng, T))
    bits = one_bit.report(rewards, one_bit.draw(rng, T))
    return arms, reports, bits


def four_bands(problem, T, eps, seed, delta=0.1):
    """Compute the bands after T users -> {name: (mu, half the width of the band)}.

    The first three are those of TGP, with its truncated reports; all have the ridge 1.
    """
    arms, laplace, bits = asked(problem, T, eps, seed)
    given = dict(eps=eps, lam=1.0, delta=delta)
    found = {}
    for constants in ("order", "printed", "proved"):
        learner = core.make("TGP", problem, T, constants=constants, **given)
        found[constants] = truncated_band(learner, problem, arms, laplace)
    mu, sigma = core.posterior(problem, arms, bits, 1.0)
    beta = one_bit_beta(problem, arms, eps, delta)
    found["one bit"] = mu, beta * sigma
    return found


def truncated_band(learner, problem, arms, reports):
    """Compute the band of a TGP after these plays, with the ridge 1 -> (mu, half its width)."""
    T = len(reports)
    thresholds = np.array([learner.threshold(t) for t in range(1, T + 1)])
    small = np.abs(reports) <= thresholds
    kept = np.where(small, reports, 0.0)
    mu, sigma = core.posterior(problem, arms, kept, 1.0)
    learner.b = thresholds[-1]
    beta = problem.B + learner.width(T)
    return mu, beta * sigma


def one_bit_beta(problem, arms, eps, delta):
    """Compute beta of one-bit GP-UCB after these plays, with the ridge 1."""
    plays = np.bincount(arms, minlength=problem.n)
    V = np.eye(len(problem.Z)) + (problem.Z * plays) @ problem.Z.T
    _, log_det = np.linalg.slogdet(V)
    size = core.OneBit(eps, problem.F, problem.R).scale
    return problem.B + size * math.sqrt(log_det + 2 * math.log(1 / delta))


def draw(problem, found):
    """Draw the four bands twice: at full size, and enlarged to the range of f."""
    figure, grid = plots.axes(2, len(found), height=2.1, width=8.4, share="row")
    x = (np.arange(problem.n) + 1) / problem.n
    for column, name in zip(grid.T, found):
        mu, half = found[name]
        learner = "GP-UCB" if name == "one bit" else "TGP"
        color = plots.COLORS[learner]
        for ax in column:
            plots.band(ax, x, mu, half, color=color, alpha=0.25)
            ax.plot(x, mu, color=color, label=r"$\mu$")
            ax.plot(x, problem.f, **plots.TRUTH)
        column[0].set_title(TITLES[name], fontsize=9)
        column[1].set_xlabel("arm $x$")
    margin = 0.7 * np.ptp(problem.f)
    grid[1, 0].set_ylim(problem.f.min() - margin, problem.f.max() + margin)
    grid[0, 0].set_ylabel("reward")
    grid[1, 0].set_ylabel("enlarged")
    return figure
