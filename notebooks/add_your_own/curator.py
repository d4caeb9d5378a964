"""A reader's curator."""

import numpy as np

import ldpbo_core as core


class Piecewise(core.CTL):
    """Reports are unbiased; their density has two heights, at the ratio e^eps."""

    def __init__(self, eps, F, R):
        super().__init__(eps, F, R)  # checks eps, sets bound = F + R
        root = np.exp(eps / 2)
        self.C = (root + 1) / (root - 1)  # reports are at most C * bound
        self.width = self.C - 1  # of the high part
        self.low = (root - 1) / (2 * (root + 1)) / root  # the lower of the two heights
        self.scale = self.C * self.bound
        away = 1 / (root - 1)
        within = (root + 3) / (3 * (root - 1) ** 2)
        self.variance = self.bound**2 * (away + within)

    def draw(self, rng, size=None):
        return rng.random(size)

    def report(self, y, draw):
        centre = (self.C + 1) / 2 * self.clip(y) / self.bound
        left = centre - self.width / 2  # where the high part begins
        below = self.low * (left + self.C)  # chance of a report below `left`
        within = self.low * np.exp(self.eps) * self.width  # in the high part
        jump = np.clip((draw - below) / within, 0, 1)  # 0 to 1 through the high part
        rest = draw - jump * within
        return self.bound * (rest / self.low - self.C + jump * self.width)

    def reach(self, t):
        return self.scale
