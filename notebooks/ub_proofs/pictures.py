"""The four corrected proofs with their checks, and the parts of TGP's width, as figures."""

import numpy as np

from ldpbo import plots

EXACT = {"color": "black"}
STYLES = {
    "measured": EXACT,
    "printed": {"color": plots.COLORS["TGP"]},
    "corrected (i)": {"color": plots.COLORS["TGP"], "linestyle": "--"},
    "corrected (ii)": {"color": "#777777", "linestyle": "-."},
    "exact": {"color": "#777777", "linestyle": "-."},
}
TITLES = {"T1": "centred noise $\\mathcal{T}_1$", "T2": "bias of truncation $\\mathcal{T}_2$"}
WIDTHS = {  # the two parts of each width of TGP
    "measured": ("T1 measured", "T2 measured"),
    "printed": ("T1 printed", "T2 printed"),
    "corrected (i)": ("T1 corrected (i)", "T2 printed"),
    "corrected (ii)": ("T1 corrected (ii)", "T2 exact"),
}
CUT_STYLES = {
    "numerical": EXACT,
    "proved, $q/2$": {"color": plots.COLORS["GP-UCB"]},
    "Hoeffding, $q^2$": {"color": "#777777", "linestyle": "--"},
}
LOST_STYLES = {
    "removed": EXACT,
    "bound on the path": {"color": "#777777", "linestyle": "--"},
    "bound of the theorem": {"color": plots.COLORS["ATA"]},
}


def overview(t, lines, single, double, noise, lost):
    """Draw a panel for each corrected proof -> figure and its data.

    lines: of `width_parts`. single, double: pairs (bound, exact probability) for one bad copy and
    for two. noise: {"q": cuts, "numerical": squared constants}. lost: rows of the run of ATA.
    """
    widths = {name: lines[centred] + lines[bias] for name, (centred, bias) in WIDTHS.items()}
    q = noise["q"]
    constants = {"numerical": noise["numerical"], "proved, $q/2$": q / 2, "Hoeffding, $q^2$": q**2}
    removed = dict(zip(LOST_STYLES, lost[:, 6:9].T))
    figure, axes = plots.axes(2, 2, height=2.7)
    titles = {"xlabel": "round $t$", "ylabel": "width after $B$", "title": "Theorem 3: TGP"}
    plots.lines(axes[0, 0], t, widths, STYLES, "xy", **titles)
    _probabilities(axes[0, 1], single, double)
    titles = {"xlabel": "cut $q$", "ylabel": "squared constant", "title": "Plain GP-UCB"}
    plots.lines(axes[1, 0], q, constants, CUT_STYLES, "xy", **titles)
    titles = {"xlabel": "round $t$", "ylabel": "norm of what is removed", "title": "Theorem 2: ATA"}
    plots.lines(axes[1, 1], lost[:, 0], removed, LOST_STYLES, "xy", **titles)
    axes[1, 1].set_ylim(max(1e-2, 0.3 * removed["removed"].min()), None)
    for ax in axes.flat:
        ax.legend(fontsize=8)
    data = {"t": t, "q": q, "t of ATA": lost[:, 0]} | widths | constants | removed
    pairs = {"one copy": np.array(single), "two of three": np.array(double)}
    for name, (bound, exact) in ((name, pair.T) for name, pair in pairs.items()):
        data |= {f"{name}: bound": bound, f"{name}: probability": exact}
    return figure, data


def _probabilities(ax, single, double):
    """Draw exact probabilities against their bounds, and the line on which they are equal."""
    ax.plot([0, 1], [0, 1], color=plots.COLORS["MoMA"], label="bound of Step 3")
    marks = {"color": "black", "linestyle": "none"}
    ax.plot(*np.array(single).T, **marks, marker="o", label="one copy bad")
    style = marks | {"markerfacecolor": "white"}
    ax.plot(*np.array(double).T, **style, marker="s", label="two of three bad")
    ax.set(xlabel="bound on the probability", ylabel="probability", xlim=(0, 1), ylim=(0, 1))
    ax.set_title("Theorem 4: MoMA")


def width_parts(t, lines):
    """Draw {"T1 measured", "T1 printed", ...: values at each of t}: noise left, bias right."""
    figure, axes = plots.axes(1, 2, height=3.1)
    for ax, (part, title) in zip(axes, TITLES.items()):
        series = {n[3:]: np.maximum(x, 1e-6) for n, x in lines.items() if n.startswith(part)}
        plots.lines(ax, t, series, STYLES, "xy", xlabel="round $t$", title=title)
        ax.legend(fontsize=8)
        ax.set_ylim(max(0.5 * min(lines[f"{part} measured"]), 0.1), None)
    axes[0].set_ylabel("norm in $V_t^{-1}$")
    return figure
