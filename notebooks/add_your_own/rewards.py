"""A reader's rewards."""

import ldpbo_core as core


class Clicks(core.Problem):
    """A reward is +1 with probability (1 + f)/2, else -1; a user is a random number."""

    def draw(self, rng, size=None):
        return rng.random(size)

    def reward(self, arm, draw):
        return 1.0 if draw < (1 + self.f[arm]) / 2 else -1.0
