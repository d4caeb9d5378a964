"""Figures of the page "Is it private?"."""

from ldpbo import plots

CAUGHT = "#E69F00"


def privacy_loss(report, curves, bits, bit_loss, eps):
    """Draw the log-ratio of densities against the report, {pair of rewards: curve}; the two reports
    of the one-bit curator are crosses, ±eps are grey lines."""
    figure, ax = plots.axes(height=2.8)
    styles = [
        {"color": "#56B4E9"},
        {"color": "#000000"},
        {"color": "#000000", "linestyle": ":"},
        {"color": "#E69F00", "linestyle": "--"},
    ]
    plots.lines(ax, report, curves, dict(zip(curves, styles)))
    ax.plot(bits, bit_loss, "kx", markersize=7, label="one bit, rewards ±(B+R)")
    for level in (-eps, eps):
        ax.axhline(level, color="#888888", linewidth=0.8)
    ax.set(xlabel="report $r$", ylabel="log-ratio of densities")
    ax.legend(loc="upper left")
    return figure


def verdicts(names, low, flagged, eps):
    """Draw the audit's lower bounds on the ε that each curator gives; those caught are filled."""
    figure, ax = plots.axes(height=3.4)
    ax.axvline(eps, color="#444444", linewidth=1)
    top = {"xycoords": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    ax.annotate("promised", (eps, 1.01), fontsize=8.5, **top)
    for y, (x, caught) in enumerate(zip(low, flagged)):
        face = CAUGHT if caught else "white"
        ax.plot(x, y, "o", color="#000000", markerfacecolor=face, markersize=7)
        side, end = (-8, "right") if x < eps else (8, "left")
        place = {"xytext": (side, 0), "textcoords": "offset points", "va": "center", "ha": end}
        ax.annotate(f"{x:.2f}", (x, y), fontsize=8, **place)
    ax.set(xscale="log", xlim=(0.7 * min(low.min(), eps), 2 * low.max()))
    ax.set(ylim=(len(low) - 0.5, -0.5), xlabel="lower confidence bound on ε (logarithmic)")
    ax.set_yticks(range(len(low)), names)
    ax.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    ax.minorticks_off()
    return figure


def price(levels, outcomes, names):
    """Draw relative regret against ε for each curator, {factor on beta: {label: samples}}.

    Returns (figure, data).
    """
    figure, axes = plots.axes(1, 2, share=True, height=3.0)
    styles, data = {}, {"eps": levels}
    for name in names:
        laplace = {"linestyle": "-", "markerfacecolor": plots.COLORS[name]}
        one_bit = {"linestyle": "-.", "markerfacecolor": "white"}
        for kind, style in (("Laplace", laplace), ("one bit", one_bit)):
            label = f"{name}, {kind}"
            styles[label] = plots.line_style(name, label=label, linewidth=1.3, **style)
    for ax, (factor, samples) in zip(axes, outcomes.items()):
        labels = {"xlabel": "privacy $\\epsilon$ per report", "title": order_title(factor)}
        found = plots.regret_against(ax, levels, samples, styles, **labels)
        data |= {f"{k} (beta x {factor:g})": x for k, x in found.items()}
    axes[0].set_ylabel("final regret / uniform play")
    return figure, data


def order_title(factor):
    """Name order constants with a factor on beta."""
    return "order constants" + ("" if factor == 1 else f", β × {factor:g}")
