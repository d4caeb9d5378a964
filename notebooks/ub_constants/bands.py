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
    """Draw the four bands one inside the other, and the one-bit band alone, enlarged."""
    figure, (left, right) = plots.axes(1, 2, height=3.2)
    x = (np.arange(problem.n) + 1) / problem.n
    for name in ("proved", "printed", "order"):
        mu, half = found[name]
        plots.band(left, x, mu, half, color=plots.COLORS["TGP"], alpha=0.25)
        _name(left, name, x, mu + half, half)
    mu, half = found["one bit"]
    color = plots.COLORS["GP-UCB"]
    plots.band(left, x, mu, half, color=color, alpha=0.9)
    plots.band(right, x, mu, half, color=color, alpha=0.25)
    right.plot(x, mu, color=color, label=r"$\mu$")
    for ax in (left, right):
        ax.plot(x, problem.f, **plots.TRUTH)
        ax.set(xlabel="arm $x$", xlim=(0, 1))
    left.set_title("all four", fontsize=9)
    right.set_title(f"{TITLES['one bit']}, ±{half[len(x) // 2]:.0f}", fontsize=9)
    left.set_ylabel("reward")
    return figure


def _name(ax, name, x, top, half):
    """Write the name of a band and half its width at its upper edge, in the middle."""
    i = len(x) // 2
    inside = {"va": "top"} if name == "printed" else {}
    place = (0, -2 if inside else 2)
    text = f"{TITLES[name]}, ±{half[i]:.0f}"
    plots.beside(ax, text, (x[i], top[i]), place, ha="center", **inside)
