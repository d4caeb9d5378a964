"""A curator may be honest between the ends of its range and leak between two rewards inside it."""

import math

import numpy as np

import ldpbo_core as core


class LeaksInside(core.OneBit):
    """A one-bit curator that gives away 1.3 eps between ±(B+R)/2, and less than eps elsewhere."""

    def chance(self, y):
        """Return the chance of the positive bit."""
        near = np.abs(np.abs(y) - self.bound / 2) < 0.01 * self.bound
        log_odds = np.where(near, 1.3, 0.1) * self.eps * np.sign(y)
        return 1 / (1 + np.exp(-log_odds))

    def report(self, y, draw):
        positive = draw < self.chance(np.asarray(y))
        return self.scale * np.where(positive, 1.0, -1.0)[()]

    def loss(self, y, y_prime):
        """Return the exact privacy loss between two rewards."""
        p, q = self.chance(np.array([y, y_prime]))
        positive = math.log(p / q)
        negative = math.log((1 - p) / (1 - q))
        return max(abs(positive), abs(negative))
