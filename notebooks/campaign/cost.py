"""What a report costs, measured, and what a billion of them would."""

import pickle
import time

from ldpbo import cluster

MANY = 10**9


def reports_a_second(problem, curator, jobs):
    """Measure how many reports one process makes in a second, for the users of these chunks."""
    start = time.perf_counter()
    for _, _, counts, seed in jobs:
        cluster.users(problem, curator, counts, seed)
    reports = sum(int(counts.sum()) for _, _, counts, _ in jobs)
    return reports / (time.perf_counter() - start)


def core_hours(rate):
    """Compute how long a billion reports keep one core busy."""
    return MANY / rate / 3600


def state_size(server):
    """Compute the bytes of a server's state, without the problem that it was told."""
    state = {name: value for name, value in vars(server).items() if name != "problem"}
    return len(pickle.dumps(state))
