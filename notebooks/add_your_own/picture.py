"""The figure that compares a reader's algorithm with those of the book."""

import seaborn as sns

from ldpbo import plots, results

OWN = {"color": "#7F3C8D", "linestyle": "-", "label": "UCB1 (your own)"}


def draw(runs):
    """Draw the mean regret of each curator's trials with a 95 % band -> (figure, means)."""
    table = results.curves(runs)
    figure, axes = plots.axes(1, len(runs), share=True)
    for ax, (curator, trials) in zip(axes, table.groupby("setting", sort=False)):
        draw_trials(ax, trials)
        ax.set(title=curator, xlabel="users", ylabel="cumulative regret", ylim=(0, None))
    axes[0].legend()
    return figure, results.means(table)


def draw_trials(ax, trials):
    """Draw raw trials: seaborn averages them and makes their bands by the bootstrap."""
    for name, part in trials.groupby("algorithm", sort=False):
        style = OWN if name == "UCB1" else plots.line_style(name, marker=None)
        sns.lineplot(part, x="t", y="regret", seed=0, legend=False, ax=ax, **style)
