"""One rating, as a private report: paste it, and go on from there."""

import numpy as np

import ldpbo_core as core

points = np.linspace(0, 1, 100)[:, None]
K = core.se_kernel(points, points, lengthscale=0.2)
problem = core.Problem(K=K, Y=2.0, R=4.0, B=20.0)  # rating - 3: at most 2 in size
proved = dict(eps=1.0, curator=core.OneBit, constants="proved")
learner = core.make("GP-UCB", problem, None, lam=None, switch=0.1, **proved)
arm = learner.ask()
report = learner.curator(arm).privatise(4.5 - 3)  # on the user's device
learner.tell(report)
