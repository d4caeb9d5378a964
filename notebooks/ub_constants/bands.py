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
    kinds = [kind(eps, problem.F, problem.R) for kind in (core.CTL, core.OneBit)]
    return arms, *(kind.report(rewards, kind.draw(rng, T)) for kind in kinds)


def four_bands(problem, T, eps, seed, delta=0.1):
    """Compute the bands after T users -> {name: (mu, half the width of the band)}.

    The first three are those of TGP, with its truncated reports; all have the ridge 1.
    """
    arms, laplace, bits = asked(problem, T, eps, seed)
    given = dict(eps=eps, lam=1.0, delta=delta)
    found = {}
    for constants in ("order", "printed", "proved"):
        learner = core.make("TGP", problem, T, constants=constants, **given)
        thresholds = np.array([learner.threshold(t) for t in range(1, T + 1)])
        kept = np.where(np.abs(laplace) <= thresholds, laplace, 0.0)
        mu, sigma = core.posterior(problem, arms, kept, 1.0)
        learner.b = thresholds[-1]
        beta = problem.B + learner.width(T)
        found[constants] = mu, beta * sigma
    mu, sigma = core.posterior(problem, arms, bits, 1.0)
    beta = one_bit_beta(problem, arms, eps, delta)
    return found | {"one bit": (mu, beta * sigma)}


def one_bit_beta(problem, arms, eps, delta):
    """Compute beta of one-bit GP-UCB after these plays, with the ridge 1."""
    plays = np.bincount(arms, minlength=problem.n)
    V = np.eye(len(problem.Z)) + (problem.Z * plays) @ problem.Z.T
    log_det = np.linalg.slogdet(V)[1]
    size = core.OneBit(eps, problem.F, problem.R).scale
    return problem.B + size * math.sqrt(log_det + 2 * math.log(1 / delta))


def draw(problem, found):
    """Draw the four bands twice: at full size, and enlarged to the range of f."""
    figure, grid = plots.axes(2, len(found), height=2.1, width=8.4, share="row")
    x = (np.arange(problem.n) + 1) / problem.n
    for column, (name, (mu, half)) in zip(grid.T, found.items()):
        color = plots.COLORS["GP-UCB" if name == "one bit" else "TGP"]
        for ax in column:
            ax.fill_between(x, mu - half, mu + half, color=color, alpha=0.25, linewidth=0)
            ax.plot(x, mu, color=color, label=r"$\mu$")
            ax.plot(x, problem.f, color="black", linestyle="--", linewidth=1.2, label="$f$")
        column[0].set_title(TITLES[name], fontsize=9)
        column[1].set_xlabel("arm $x$")
    span = np.ptp(problem.f)
    grid[1, 0].set_ylim(problem.f.min() - 0.7 * span, problem.f.max() + 0.7 * span)
    grid[0, 0].set_ylabel("reward")
    grid[1, 0].set_ylabel("enlarged")
    return figure
