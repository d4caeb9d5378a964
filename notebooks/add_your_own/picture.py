"""The figure that compares a reader's algorithm with those of the book."""

from ldpbo import plots

OWN = {"color": "#7F3C8D", "marker": "h", "label": "UCB1 (your own)"}


def draw(runs, T):
    """Draw mean regret by user, one panel for each curator -> (figure, data)."""
    figure, axes = plots.axes(1, len(runs), share=True)
    shown = plots.thin(T)
    data = {"t": shown + 1}
    for ax, (curator, run) in zip(axes, runs.items()):
        uniform = run.records["uniform"].mean()  # regret of a round of uniform play
        ax.plot([0, T], [0, T * uniform], **plots.line_style("uniform"))
        for name, regret in zip(run.records["names"], run.regret.mean(axis=1)):
            style = OWN if name == "UCB1" else plots.line_style(name)
            ax.plot(shown + 1, regret[shown], **style, markevery=max(1, len(shown) // 6))
            data[f"{name}, {curator}"] = regret[shown]
        ax.set(title=curator, xlabel="users", xlim=(0, T), ylim=(0, None))
    axes[0].set_ylabel("cumulative regret")
    axes[0].legend()
    return figure, data
