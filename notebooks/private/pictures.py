"""Figures of the page "Is it private?"."""

from ldpbo import plots, show

DARK = "#222222"


def verdicts(names, low, flagged, eps):
    """Draw the audit's lower bounds on the ε that each curator gives; those caught are filled."""
    figure, ax = plots.axes(height=3.4)
    ax.axvline(eps, color="#444444", linewidth=1)
    top = {"xycoords": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    ax.annotate("promised", (eps, 1.01), fontsize=8.5, **top)
    for y, (bound, caught) in enumerate(zip(low, flagged)):
        face = DARK if caught else "white"
        ax.plot(bound, y, "o", color=DARK, markerfacecolor=face, markersize=7)
        _write_outside(ax, bound, y, eps)
    least = min(low.min(), eps)
    ax.set(xscale="log", xlim=(0.7 * least, 2 * low.max()))
    ax.set_xlabel("lower confidence bound on ε (logarithmic)")
    ax.set_ylim(len(low) - 0.5, -0.5)
    ax.set_yticks(range(len(low)), names)
    ax.set_xticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    ax.minorticks_off()
    return figure


def _write_outside(ax, x, y, eps):
    """Write x beside its point, on the side that is away from the line at eps."""
    text = show.at_least(x, 2)
    style = {"va": "center", "fontsize": 8}
    if x < eps:
        plots.beside(ax, text, (x, y), (-8, 0), ha="right", **style)
    else:
        plots.beside(ax, text, (x, y), (8, 0), ha="left", **style)


def reports(k, promise, spent):
    """Draw the audit of k reports of one user, {curator: bounds}, against the promise."""
    figure, ax = plots.axes(width=5.0, height=2.5)
    ax.plot(k, promise, color=DARK, linewidth=1, label="promise $k\\epsilon$")
    for name, marker, color in zip(spent, "xo", [DARK, "#777777"]):
        style = {"color": color, "markerfacecolor": "none"}
        ax.plot(k, spent[name], marker, label=f"{name}, audited", **style)
    ax.set(xlabel="reports of one user $k$", ylabel="$\\epsilon$ in total", ylim=(0, None))
    ax.legend()
    return figure


def price(levels, found, factors):
    """Draw relative regret against ε for each learner and report, {(factor, label): samples}.

    Returns (figure, data).
    """
    figure, axes = plots.axes(1, 2, share=True, height=3.0)
    data = {"eps": levels}
    for ax, factor in zip(axes, factors):
        samples = {label: values for (f, label), values in found.items() if f == factor}
        styles = {label: style(label) for label in samples}
        columns = plots.regret_against(ax, levels, samples, styles)
        changed = "" if factor == 1 else f", β × {factor:g}"
        ax.set_title(f"order constants{changed}")
        ax.set_xlabel("privacy $\\epsilon$ per report")
        for name, values in columns.items():
            data[f"{name} (beta x {factor:g})"] = values
    axes[0].set_ylabel("final regret / uniform play")
    return figure, data


def style(label):
    """Choose the learner's colour; full markers for Laplace reports, open ones for one bit."""
    name, kind = label.split(", ")
    full = {"linestyle": "-", "markerfacecolor": plots.COLORS[name]}
    hollow = {"linestyle": "-.", "markerfacecolor": "white"}
    given = full if kind == "Laplace" else hollow
    return plots.line_style(name, label=label, linewidth=1.3, **given)
