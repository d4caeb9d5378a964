"""The program for one's own table that the page prints, and runs as it is printed."""

import contextlib
import io
import math

TEMPLATE = """\
import numpy as np
import ldpbo_core as core

low, high = {low:g}, {high:g}  # the range of a reward, known beforehand
middle = (low + high) / 2
table = core.read_table({table!r}{missing})
seen = np.clip(table.values, low, high)  # public data, for the kernel
B = {B:.6g}  # at least the norm of the means to come; more costs users
known = core.table_problem(seen, low=low, high=high, B=B)
problem = core.Problem(K=known.K, B=known.B, F=known.F, R=known.R, Y=known.Y)  # no f
learner = core.make(
    {learner!r}, problem, {users}, eps={eps:g}, rng=0, curator=core.OneBit,
    {options}
)
device = np.random.default_rng()  # of real users: notebooks/deploy/client.py

def ask_users(arm, count):  # replace: rewards of `count` new users
    return device.choice(table.values[:, arm], count)

while learner.t < {users}:  # or one by one: learner.tell(report, arm)
    plays = learner.plan()  # users for each arm, all out at once
    sums = np.zeros(problem.n)
    for arm in np.flatnonzero(plays):
        rewards = np.clip(ask_users(arm, plays[arm]), low, high) - middle
        sums[arm] = learner.curator(arm).privatise(rewards, device).sum()
    learner.tell_sums(plays, sums)
arm, lower, upper = learner.best()
if upper - lower > problem.F:  # more than half of the range
    print("best: no arm can be named yet, there were too few users")
else:
    rivals = np.where(getattr(learner, "active", True), learner.upper, lower)
    rivals[arm] = lower
    bounds = f"[{{lower + middle:.4g}}, {{upper + middle:.4g}}]"
    more = f"another arm may have up to {{rivals.max() - lower:.4g}} more"
    print(f"best: {{table.names[arm]}}, mean in {{bounds}}; {{more}}")
"""


def write(problem, options, **given):
    """Write the program for a problem; options: those of the learner, as keywords of `make`."""
    words = ", ".join(f"{key}={value!r}" for key, value in options.items())
    return TEMPLATE.format(B=rounded_up(problem.B), options=words, **given)


def rounded_up(x):
    """Return a positive number with six digits, not below x, since it bounds a norm."""
    unit = 10.0 ** (math.floor(math.log10(x)) - 5)
    return math.ceil(x / unit) * unit


def run(text):
    """Run the program and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(text, {})
    return printed.getvalue()
