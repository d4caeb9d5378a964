"""What ATA's truncation removes: lines 8 to 12 of Algorithm 1 written out, and their picture."""

import numpy as np

import ldpbo_core as core
from ldpbo import plots


def terms(played, reports, lam):
    """Return V and V^{-1/2}, (m, m), and the terms u_i y, (m, t), of the plays with these features.

    played: the features of the arm of each round, (m, t).
    """
    V = played @ played.T + lam * np.eye(len(played))
    size, Q = np.linalg.eigh(V)
    root = (Q / np.sqrt(size)) @ Q.T
    return V, root, (root @ played) * reports  # line 9


def formula(V, root):
    """Write V and V^{-1/2} as a formula that stands alone."""
    return rf"$$V={_matrix(V, 2)},\;V^{{-1/2}}\approx{_matrix(root, 4)}$$"


def _matrix(values, digits):
    rows = [" & ".join(f"{x:.{digits}f}" for x in row) for row in values]
    return r"\begin{pmatrix}" + r" \\ ".join(rows) + r"\end{pmatrix}"


def removed(problem, state, arms, reports):
    """Form the matrix of all terms, which the core never does -> what its truncation removes.

    state: the learner after these plays.
    """
    Phi = core.nystrom_features(problem.K, state.dictionary)  # (m, n), line 8
    _, root, products = terms(Phi[:, arms], reports, state.settings.lam)
    large = np.abs(products) > state.b
    kept = np.where(large, 0, products)
    mu = Phi.T @ root @ kept.sum(axis=1)  # lines 10 to 12
    whole = Phi.T @ root @ products.sum(axis=1)
    moved = np.abs(whole - mu)
    above = np.abs(reports) > state.b
    half_band = state.beta * state.sigma
    return {
        "t": len(reports),
        "reports above b": int(above.sum()),
        "reports cut": int(large.any(axis=0).sum()),
        "percent of products": 100 * large.mean(),
        "change of mu": moved.max(),
        "change / half-band": (moved / half_band).max(),
        "error": np.abs(mu - state.mu).max(),
    }


def answer(late):
    """Answer whether truncation helps, from rows of `removed`: hardly, if it never moves the
    estimate by a tenth of the half-band."""
    return "Hardly" if late["change / half-band"].max() < 0.1 else "It changes the estimate"


def draw(found, spread):
    """Draw how many reports are large and how many are cut, and how far that moves the mean.

    found: a table with the columns of `removed`; spread: the range of f.
    """
    figure, (left, right) = plots.axes(1, 2, height=2.8)
    style = plots.line_style("ATA", markevery=3, label=None)
    t = found["t"]
    left.plot(t, found["reports above b"], color="#666666", linestyle="--")
    left.plot(t, found["reports cut"], **style)
    left.set(yscale="symlog", ylabel="number of reports")
    right.plot(t, found["change of mu"], **style)
    right.axhline(spread, color="black", linestyle=":")
    right.set(ylabel=r"largest change of $\tilde\mu_t$")
    late = tuple(found.iloc[-8][["t", "reports above b"]])
    end = t.iloc[-1], spread
    plots.beside(left, "lose a term", (1, 1), (0, -12), fontsize=9)
    plots.beside(left, "larger than $b_t$", late, (-6, 4), ha="right", fontsize=9)
    plots.beside(right, "range of $f$", end, (0, 4), ha="right", fontsize=9)
    for ax in (left, right):
        ax.set(xscale="log", xlabel="round $t$", ylim=(0, None))
    return figure
