"""The program for one's own table that the page prints, and runs as it is printed."""

import contextlib
import io

TEMPLATE = """\
import numpy as np
import ldpbo_core as core

table = core.read_table({table!r})
rewards = np.clip(table.values, {bottom:g}, {ceiling:g}) - {middle:g}
problem = core.Problem(K=core.empirical_kernel(rewards), B={B:g}, R={R:g},
                       v={v:g}, c={c:g})   # f is not known
learner = core.make({learner!r}, problem, {users}, eps={eps:g}, curator=core.OneBit)
curator = core.OneBit({eps:g}, problem.B, problem.R)   # runs on the user's device

def ask_user(arm):              # replace: a new user's reward of this arm
    return np.random.default_rng().choice(rewards[:, arm])

for t in range(100):            # {users} in earnest
    arm = learner.ask()
    learner.tell(curator.privatise(ask_user(arm)))
print("best so far:", table.names[int(learner.mu.argmax())])
"""


def write(problem, **given):
    """Write the program for a problem."""
    return TEMPLATE.format(B=problem.B, R=problem.R, v=problem.v, c=problem.c, **given)


def run(text):
    """Run the program and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(text, {})
    return printed.getvalue()
