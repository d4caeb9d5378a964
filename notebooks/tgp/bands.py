"""Four bands over the same data: order, printed and proved constants, and one-bit reports."""

from dataclasses import replace

import numpy as np

import ldpbo_core as core
from ldpbo import plots

ALGORITHM = {"proved": "TGP", "printed": "TGP", "order": "TGP", "one bit, proved": "GP-UCB"}
SHADES = {"proved": 0.15, "printed": 0.3, "order": 0.5, "one bit, proved": 0.5}
LINEAR = 5.0  # up to here the logarithmic axis is linear


def with_norm(problem):
    """Give the learner the RKHS norm of f as its B, and the curator the largest |f| as before."""
    inverse = np.linalg.pinv(problem.K, rcond=1e-12, hermitian=True)
    norm = np.sqrt(problem.f @ inverse @ problem.f)
    return replace(problem, B=float(norm), F=problem.B)


def believe(problem, users, eps, seed):
    """Ask users about random arms -> {band: (estimate, half-width)}, all from the same rewards."""
    rng = np.random.default_rng(seed)
    arms = rng.integers(problem.n, size=users)
    rewards = problem.reward(arms, problem.draw(rng, users))
    options = {"T": users, "eps": eps}
    laplace = core.make("TGP", problem, **options)
    tell(laplace, arms, rewards, seed)
    found = {}
    for constants in ("proved", "printed", "order"):
        other = core.make("TGP", problem, constants=constants, **options)
        found[constants] = laplace.mu, width(other, users) * laplace.sigma
    options |= {"curator": core.OneBit, "constants": "proved"}
    one_bit = core.make("GP-UCB", problem, **options)
    tell(one_bit, arms, rewards, seed)
    found["one bit, proved"] = one_bit.mu, one_bit.beta * one_bit.sigma
    return found


def tell(learner, arms, rewards, seed):
    """Tell a learner its curator's reports of these rewards."""
    noise = np.random.default_rng([seed, 1])
    reports = learner.settings.curator.privatise(rewards, noise)
    for arm, report in zip(arms, reports):
        learner.tell(report, arm=arm)


def width(learner, t):
    """beta after t rounds: with the same reports it is all that constants change."""
    learner.b = learner.threshold(t)
    return learner.B + learner.width(t) + learner.missed(t)


def draw(problem, beliefs):
    """Draw the bands inside each other, and again on the scale of f -> (figure, data)."""
    size = {"width": 9.4, "height": 3.7, "width_ratios": [1.25, 1]}
    figure, (left, right) = plots.axes(1, 2, **size)
    x = (np.arange(problem.n) + 1) / problem.n
    data = {"x": x, "f": problem.f}
    for name, (mu, half) in beliefs.items():
        data[f"mu {name}"] = mu
        data[f"half-width {name}"] = half
        for ax in (left, right):
            _band(ax, x, mu, half, name)
        _label(left, mu, half, name)
    for ax in (left, right):
        ax.plot(x, problem.f, "k--", linewidth=1.4)
        ax.set(xlabel="$x$", xlim=(0, 1))
    left.set_yscale("symlog", linthresh=LINEAR)
    left.set_yticks([-100, -10, 0, 10, 100], ["−100", "−10", "0", "10", "100"])
    left.set(title="four bands (± median half-width)", ylabel="reward")
    right.set(title="the same, on the scale of $f$")
    margin = 1.3 * np.ptp(problem.f)
    right.set_ylim(problem.f.min() - margin, problem.f.max() + margin)
    return figure, data


def _band(ax, x, mu, half, name):
    """Draw one band with its edges, and the estimate in it where it is a new one."""
    color = plots.COLORS[ALGORITHM[name]]
    plots.band(ax, x, mu, half, color="white")
    plots.band(ax, x, mu, half, color=color, alpha=SHADES[name])
    for edge in (mu - half, mu + half):
        ax.plot(x, edge, color=color, linewidth=0.8)
    if name in ("order", "one bit, proved"):
        ax.plot(x, mu, color=color, linewidth=1.8)


def _label(ax, mu, half, name):
    """Write the name of a band and its half-width to the right of its upper edge."""
    text = f"{name}, ± {np.median(half):.0f}"
    rise = {"proved": 4, "printed": -10}.get(name, -3)
    end = 1, np.median(mu + half)
    color = plots.COLORS[ALGORITHM[name]]
    plots.beside(ax, text, end, (5, rise), color=color, annotation_clip=False)
