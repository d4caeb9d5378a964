"""An algorithm, curators and rewards as a reader would write them, at the top of a module."""

import collections

import numpy as np

import ldpbo_core as core


class Greedy(core.Learner):
    """Epsilon-greedy on the means of the reports, with state of every kind that a file knows."""

    def start(self):
        self.counts = np.zeros(self.problem.n)
        self.sums = np.zeros(self.problem.n)
        self.by_arm = {}
        self.last = (None, 0.0)
        self.seen = {0}
        self.array = [1, "two", None]

    def choose(self):
        if self.rng.random() < 0.1:
            return int(self.rng.integers(self.problem.n))
        return core.first_max(self.mu)

    def update(self, arm, y):
        self.counts[arm] += 1
        self.sums[arm] += y
        self.by_arm[arm] = self.by_arm.get(arm, 0) + 1
        self.last = (arm, y)
        self.seen.add(arm)
        self.mu = self.sums / np.maximum(self.counts, 1)


class Forgetful(Greedy):
    """Keeps what no file knows."""

    def start(self):
        super().start()
        self.window = collections.deque(maxlen=3)


class Careful(Forgetful):
    """Says itself how that is written and read."""

    def __getstate__(self):
        return super().__getstate__() | {"window": list(self.window)}

    def __setstate__(self, state):
        self.__dict__.update(state, window=collections.deque(state["window"], maxlen=3))


class Broken(core.Learner):
    def choose(self):
        return self.problem.n


class Endless(Greedy):
    anytime = True


class Triangular(core.CTL):
    """Laplace noise, twice as much as needed, by a draw of its own."""

    def draw(self, rng, size=None):
        return rng.laplace(size=size) * 2

    def report(self, y, draw):
        return self.clip(y) + self.scale * draw


class Unclipped(core.CTL):
    """It reports as CTL does, of rewards of any size."""

    def clip(self, y):
        return y


class LoudBit(core.OneBit):
    """One bit, of uniforms drawn in another way: the law of OneBit, and no other number of it."""

    def draw(self, rng, size=None):
        return 1 - rng.random(size)


class LoudSums(core.Sums):
    pass


class Clicks(core.Problem):
    """A reward is +1 with probability (1 + f)/2, else -1."""

    def draw(self, rng, size=None):
        return rng.random(size)

    def reward(self, arm, draw):
        return 1.0 if draw < (1 + self.f[arm]) / 2 else -1.0


class Drawn(core.Problem):
    """Noise that is always the largest."""

    def draw(self, rng, size=None):
        return np.ones(size)


class Single(core.Problem):
    """One draw, however many are asked for."""

    def draw(self, rng, size=None):
        return 0.5
