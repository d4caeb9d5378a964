"""What ATA's truncation removes: lines 8 to 12 of Algorithm 1 written out, and their picture."""

import numpy as np

import ldpbo_core as core
from ldpbo import plots


def removed(problem, state, arms, reports):
    """Form the matrix of all products, which the core never does -> what its truncation removes.

    state: the learner after these plays.
    """
    lam = state.settings.lam
    Phi = core.nystrom_features(problem.K, state.dictionary)  # (m, n), line 8
    played = Phi[:, arms]
    size, Q = np.linalg.eigh(played @ played.T + lam * np.eye(len(Phi)))
    root = (Q / np.sqrt(size)) @ Q.T  # V^{-1/2}
    products = (root @ played) * reports  # line 9
    large = np.abs(products) > state.b
    mu = Phi.T @ root @ np.where(large, 0, products).sum(axis=1)  # lines 10 to 12
    moved = np.abs(Phi.T @ root @ products.sum(axis=1) - mu)
    return {
        "t": len(reports),
        "reports above b": int((np.abs(reports) > state.b).sum()),
        "reports cut": int(large.any(axis=0).sum()),
        "percent of products": 100 * large.mean(),
        "change of mu": moved.max(),
        "change / half-band": (moved / (state.beta * state.sigma)).max(),
        "error": np.abs(mu - state.mu).max(),
    }


def draw(found, spread):
    """Draw how many reports are large and how many are cut, and how far that moves the mean.

    found: a table with the columns of `removed`; spread: the range of f.
    """
    figure, (left, right) = plots.axes(1, 2, height=2.8)
    style = plots.line_style("ATA", markevery=3, label=None)
    left.plot(found["t"], found["reports above b"], color="#666666", linestyle="--")
    left.plot(found["t"], found["reports cut"], **style)
    left.set(yscale="symlog", ylabel="number of reports")
    right.plot(found["t"], found["change of mu"], **style)
    right.axhline(spread, color="black", linestyle=":")
    right.set(ylabel=r"largest change of $\tilde\mu_t$")
    late = found.iloc[-8]
    _label(left, "lose a product", (1, 1), (0, -12), "left")
    _label(left, "larger than $b_t$", (late["t"], late["reports above b"]), (-6, 4))
    _label(right, "range of $f$", (found["t"].iloc[-1], spread), (0, 4))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="round $t$", ylim=(0, None))
    return figure


def _label(ax, text, point, offset, side="right"):
    """Write beside a line what it is; the offset is in points."""
    ax.annotate(text, point, offset, textcoords="offset points", fontsize=9, ha=side)
