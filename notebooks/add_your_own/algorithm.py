"""A reader's algorithm."""

import numpy as np

import ldpbo_core as core


class UCB1(core.Learner):
    """Means of the reports of each arm, and a width that falls with their number."""

    def start(self):
        self.counts = np.full(self.problem.n, 1e-9)  # nothing is known: sigma is huge
        self.sums = np.zeros(self.problem.n)
        self.sigma = 1 / np.sqrt(self.counts)

    def update(self, arm, y):
        self.counts[arm] += 1
        self.sums[arm] += y
        self.mu = self.sums / self.counts
        self.sigma = 1 / np.sqrt(self.counts)
        # c is the variance of a report
        self.beta = np.sqrt(2 * self.settings.c * np.log(self.t + 2))
