"""What a promise of ε lets somebody learn from reports, and what it costs in users."""

import math

import numpy as np
from scipy.stats import binom


def belief(before, eps):
    """Compute the largest belief that a report can lead to, from the belief before it."""
    weight = before * np.exp(eps)
    return weight / (1 - before + weight)


def vote(eps, reports):
    """Compute how often the majority of one-bit reports names the right one of two rewards.

    The rewards are the two ends of the range, each report is an honest bit with probability
    e^eps/(1 + e^eps), and a draw is decided by a coin. No other rule is right more often.
    """
    k = np.asarray(reports)
    honest = 1 / (1 + math.exp(-eps))
    tie = np.where(k % 2 == 0, binom.pmf(k // 2, k, honest), 0.0)
    return binom.sf(k // 2, k, honest) + tie / 2


def cheapest(table, eps, share):
    """Find the row of the better proved learner: one bit from each user, synthetic SE kernel."""
    part = table[(table.problem == "se") & (table.trust == "local") & (table.eps == eps)]
    return min(part[part.share == share].to_dict("records"), key=lambda row: row["users"])


def reach(row):
    """Compute by which factor the interval of a row reaches below or above its number of users."""
    return max(row["high"] / row["users"], row["users"] / row["low"])
