"""The parts of TGP's width, as a figure."""

import numpy as np

from ldpbo import plots

STYLES = {
    "measured": {"color": "black"},
    "printed": {"color": plots.COLORS["TGP"]},
    "corrected (i)": {"color": plots.COLORS["TGP"], "linestyle": "--"},
    "corrected (ii)": {"color": "#777777", "linestyle": "-."},
    "exact": {"color": "#777777", "linestyle": "-."},
}
TITLES = {"T1": "centred noise $\\mathcal{T}_1$", "T2": "bias of truncation $\\mathcal{T}_2$"}


def width_parts(t, lines):
    """Draw {"T1 measured", "T1 printed", ...: values at each of t}: noise left, bias right."""
    figure, axes = plots.axes(1, 2, height=3.1)
    for ax, (part, title) in zip(axes, TITLES.items()):
        series = {n[3:]: np.maximum(x, 1e-6) for n, x in lines.items() if n.startswith(part)}
        plots.lines(ax, t, series, STYLES, "xy", xlabel="round $t$", title=title)
        ax.legend(fontsize=8)
    axes[0].set(ylabel="norm in $V_t^{-1}$", ylim=(0.3 * max(lines["T1 measured"][0], 1), None))
    axes[1].set_ylim(1e-2, None)
    return figure
