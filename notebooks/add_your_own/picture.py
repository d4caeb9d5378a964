"""The figure that compares a reader's algorithm with those of the book."""

import seaborn as sns

from ldpbo import plots, results

COLORS = plots.COLORS | {"UCB1": "#7F3C8D"}
NAMES = plots.LABELS | {"UCB1": "UCB1 (your own)"}


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
    """Draw raw trials: seaborn averages them and makes the bands by the bootstrap."""
    dashes = {name: (1, 1) if name == "uniform" else "" for name in trials.algorithm.unique()}
    shown = trials.replace({"algorithm": NAMES})
    colors = {NAMES[name]: COLORS[name] for name in dashes}
    dashes = {NAMES[name]: pattern for name, pattern in dashes.items()}
    columns = {"x": "t", "y": "regret", "hue": "algorithm", "style": "algorithm"}
    sns.lineplot(shown, **columns, palette=colors, dashes=dashes, seed=0, legend="full", ax=ax)
    ax.legend_.remove()
