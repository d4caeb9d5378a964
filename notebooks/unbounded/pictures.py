"""Figures of the page "Unbounded noise"."""

from ldpbo import plots

COLORS = ["#aaaaaa", "#666666", "#000000", "#888888", "#444444"]
MARKERS = "o^sDv"


def radius(horizons, radii, quantiles, B):
    """Draw R and the Laplace scale that follows against the horizon.

    radii: {theta: R at each horizon}; quantiles: the same, measured.
    """
    figure, (left, right) = plots.axes(1, 2, height=2.7)
    for theta, color, marker in zip(radii, COLORS, MARKERS):
        left.plot(horizons, radii[theta], color=color, label=f"θ = {theta:g}")
        left.plot(horizons, quantiles[theta], marker, color=color, markerfacecolor="none")
        right.plot(horizons, 2 * (B + radii[theta]) / B, color=color)
    for ax in (left, right):
        ax.set(xscale="log", yscale="log", xlabel="horizon $T$")
    left.set_ylabel("radius $R$")
    right.set_ylabel("Laplace scale, in $B/\\epsilon$")
    left.legend(loc="best")
    return figure


def needed_delta(distance, formula, some, checks, delta):
    """Draw the δ that Definition 1 needs for two rewards at a distance, by formula and (at `some`
    distances) by integration."""
    figure, ax = plots.axes(width=5.6, height=2.6)
    hollow = {"color": "#777777", "markerfacecolor": "none"}
    ax.plot(distance, formula, color="#777777", label="noise only (formula)")
    ax.plot(some, checks["not clipped"], "o", label="noise only (integration)", **hollow)
    label = "clipped first (integration)"
    ax.plot(some, checks["clipped"], "x", color="#000000", label=label)
    ax.axhline(delta, color="#666666", linestyle="--", linewidth=1, label="δ as claimed")
    ax.set(xlabel="distance of two rewards, in $B+R$", ylabel="δ needed")
    ax.legend()
    return figure


def bias(R, exact, measured, prescribed):
    """Draw the bias of a clipped reward against R: {theta: bias}, {theta: (R, bias) measured}, and
    {theta: (R, bias)} at the R of the formula."""
    figure, ax = plots.axes(width=6.2, height=2.9)
    for theta, color, marker in zip(exact, COLORS, MARKERS):
        ax.plot(R, exact[theta], color=color, label=f"θ = {theta:g}")
        hollow = {"color": color, "markersize": 3.5, "markerfacecolor": "none"}
        ax.plot(*measured[theta], marker, **hollow)
        ax.plot(*prescribed[theta], marker, color=color, markersize=9)
    ax.set(xscale="log", yscale="log", ylim=(1e-7, 2))
    ax.set(xlabel="radius $R$", ylabel="bias at $f=B$, over $B$")
    ax.legend()
    return figure
