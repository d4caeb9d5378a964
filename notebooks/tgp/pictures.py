"""The figure of dropped reports of the page "TGP"."""

from ldpbo import plots


def dropped(t, size, b, low, high, mean):
    """Draw the sizes of the reports with the threshold b, and how many are dropped by round t.

    low, high: bounds of the expected number in the private case; mean: {name: number by round}.
    """
    figure, (left, right) = plots.axes(1, 2, height=3.0)
    color = plots.COLORS["TGP"]
    left.plot(t, size, ".", color="#999999", markersize=2.5)
    left.plot(t[size > b], size[size > b], "x", color="#000000", markersize=7, label="dropped")
    left.plot(t, b, color=color, label="$b_t$")
    left.set(ylabel=r"size of the report $|\bar y_t|$")
    right.fill_between(t, low, high, color=color, alpha=0.25, linewidth=0)
    styles = {
        "private": {"color": color},
        "non-private": {"color": color, "linestyle": "--"},
        "Markov bound": {"color": "black", "linestyle": ":"},
    }
    for name, style in styles.items():
        right.plot(t, mean[name], label=name, **style)
    top = 3 * sum(1 / t)
    right.set(ylabel="reports dropped so far", ylim=(0, top))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="round $t$")
        ax.legend(loc="upper left")
    return figure
