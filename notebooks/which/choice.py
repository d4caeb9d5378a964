"""The best learner of each panel of the sweeps, and the cells of the tables that name it."""

import pandas as pd

from ldpbo import results

NOTHING = "–"
BOTH = "TGP or GP-UCB on one-bit reports"


def best_learner(frame):
    """Find the learner with the least mean regret in the rows of one panel, horizon and setting.

    -> (learner, its mean over that of uniform play, p of its paired difference to the second)
    """
    first, second = frame.groupby("learner")["share"].mean().nsmallest(2).items()
    comparison = results.paired_differences(frame, first[0], second[0])
    return *first, next(iter(comparison.values()))[-1]


class Choice:
    """The best learner of every panel, horizon and setting of the rows of a sweep.

    A star marks one that is clearly better than the second after Holm's correction.
    """

    def __init__(self, runs: pd.DataFrame, level: float = 0.05):
        groups = runs.groupby(["panel", "T", "setting"])
        self.best = {key: best_learner(part) for key, part in groups}
        adjusted = results.holm([p for _, _, p in self.best.values()])
        self.clear = dict(zip(self.best, adjusted < level))

    def cell(self, *key):
        """Write the best learner of a panel, horizon and setting, and its regret."""
        if key not in self.best:
            return NOTHING
        learner, share, _ = self.best[key]
        return f"{learner}: {share:.2f}" + "*" * int(self.clear[key])

    def summary(self, panels, T):
        """Count how often a learner is the best of these panels at order constants.

        TGP and GP-UCB on one-bit reports count as one: they differ by the truncation alone.
        """
        alike = ("TGP, one bit", "GP-UCB, one bit")
        found = [self.best[p, T, "order"] for p in panels if (p, T, "order") in self.best]
        learners = [BOTH if name in alike else name for name, *_ in found]
        shares = [share for _, share, _ in found]
        often = max(learners, key=learners.count)
        return {
            "first": often,
            "count": learners.count(often),
            "of": len(found),
            "range": f"{min(shares):.2f} to {max(shares):.2f}",
        }
