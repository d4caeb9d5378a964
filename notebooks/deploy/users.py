"""Simulated users visit a server, many at once: for the page, the tests and the load test.

    python users.py URL VISITS [--clients 1] [--seed SEED] [--seconds 600] [--json]

They stop by themselves, after so many visits or seconds, and visit this machine only. With a seed
their rewards and bits are repeatable; a deployed client has none. What became of them is said in a
sentence, or with --json in full, see `crowd`.
"""

import argparse
import collections
import json
import math
import random
import statistics
import sys
import threading
import time
import urllib.parse

import client

EPS = 2.0  # what these users were promised
MOST = 1000  # clients at once
PEAK = (0.75, 0.4)
DIP = (0.25, 0.8)


def bump(point, centre):
    """Compute the experiment's kernel at two points."""
    return math.exp(-(math.dist(point, centre) ** 2) / (2 * 0.4**2))


def mean_reward(point):
    """Compute f, which nobody but this simulation knows; its norm is 0.986."""
    return bump(point, PEAK) - 0.5 * bump(point, DIP)


def measure(point, rng):
    """Draw what the user experiences at a setting of the dials."""
    return mean_reward(point) + rng.uniform(-0.5, 0.5)


def source(seed, ticket):
    """Return the source of randomness of a ticket's user: the system's, if there is no seed."""
    if seed is None:
        return random.SystemRandom()
    number = ticket.partition("-")[0]
    return random.Random(f"{seed}/{number}")


class Crowd:
    """A crowd of clients shares a number of visits, and notes what became of them."""

    def __init__(self, url, visits, seed, seconds):
        self.url = url
        self.seed = seed
        self.start = time.monotonic()
        self.end = self.start + seconds
        self.turns = iter(range(visits))
        self.lock = threading.Lock()
        self.outcomes = collections.Counter()
        self.reports = collections.Counter()  # (arm, report): how often it was counted
        self.seconds = {"ask": [], "tell": []}
        self.done = []  # seconds from the start until a report was counted
        self.bytes = 0  # of the messages of counted reports
        self.error = None

    def run(self):
        """Make visit after visit, as one client."""
        try:
            while self.more():
                self.visit()
        except Exception as error:
            self.error = error  # the others stop, too

    def more(self):
        with self.lock:
            turn = next(self.turns, None)
        return turn is not None and self.error is None and time.monotonic() < self.end

    def visit(self):
        """Make one visit, as `client.visit` does, with a watch."""
        start = time.monotonic()
        asked = client.ask(self.url)
        asked_for = time.monotonic() - start
        if asked is None:
            return self.note("over")
        client.check_curator(asked["curator"], EPS)
        rng = source(self.seed, asked["ticket"])
        reward = measure(asked["point"], rng)
        told = client.report(reward, asked["curator"], rng.getrandbits(64))
        start = time.monotonic()
        outcome = client.tell(self.url, asked["ticket"], told)
        told_for = time.monotonic() - start
        with self.lock:
            self.seconds["ask"].append(asked_for)
            self.seconds["tell"].append(told_for)
            if outcome == "counted":
                self.reports[asked["arm"], told] += 1
                self.done.append(time.monotonic() - self.start)
                self.bytes += message_bytes(asked, told)
        self.note(outcome)

    def note(self, outcome):
        with self.lock:
            self.outcomes[outcome] += 1


def message_bytes(asked, told):
    """Count the bytes that a counted visit sends and gets, without the headers of HTTP."""
    sent = {"ticket": asked["ticket"], "report": told}
    return sum(len(json.dumps(message)) for message in (asked, sent, {"counted": True}))


def crowd(url, visits, clients=1, seed=None, seconds=600.0):
    """Let so many clients at once make so many visits together -> dict.

    counted, late, over: visits with that outcome. reports: [arm, report, how many were counted].
    seconds, rate: how long it took, and counted reports a second. bytes: of a counted visit's
    messages. done: seconds after which each hundredth of the reports was counted. ask, tell:
    seconds that each hundredth of the calls took at most, until the answer was there; asking
    includes waiting for a plan whose plays are all out.
    """
    host = urllib.parse.urlsplit(url).hostname
    if host != "127.0.0.1" or not 1 <= clients <= MOST:
        raise ValueError(
            f"url = {url!r}, clients = {clients!r}: must be a server on 127.0.0.1, and from 1 to "
            f"{MOST} clients; this is a load test for a server of one's own"
        )
    people = Crowd(url, visits, seed, seconds)
    threads = [threading.Thread(target=people.run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if people.error:
        raise people.error
    taken = time.monotonic() - people.start
    counted = people.outcomes["counted"]
    outcomes = {name: people.outcomes[name] for name in ("counted", "late", "over")}
    return {
        **outcomes,
        "reports": [[arm, told, n] for (arm, told), n in sorted(people.reports.items())],
        "seconds": taken,
        "rate": counted / taken,
        "bytes": people.bytes / max(counted, 1),
        "done": percentiles(people.done),
        **{name: percentiles(times) for name, times in people.seconds.items()},
    }


def percentiles(times):
    """Compute the 1st to the 99th percentile; None where there are too few."""
    return statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else None


def summary(found):
    """Say in a sentence what became of the visits."""
    reports = f"{found['counted']} reports counted in {found['seconds']:.1f} s"
    late = f"{found['late']} came too late"
    over = f"{found['over']} found the experiment over"
    return f"{reports} ({found['rate']:.0f} a second); {late}, {over}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("visits", type=int)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--json", action="store_true", help="for programs")
    options = vars(parser.parse_args())
    in_full = options.pop("json")
    try:
        found = crowd(**options)
    except (client.Refused, OSError, ValueError) as error:
        sys.exit(f"Stopped. {error}")
    print(json.dumps(found) if in_full else summary(found))


if __name__ == "__main__":
    main()
