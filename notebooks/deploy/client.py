"""Users come one by one: ask for an arm, try it, hide the reward, tell the report.

    python client.py URL USERS [--seed SEED]

The reward and the privacy noise never leave this process. A report is made once: a
client that gets no answer sends the same report again, since a second one of the same
reward would spend eps twice. With a seed the users are simulated and their bits
repeatable, for tests; a deployed client leaves it out.
"""

import argparse
import http.client
import json
import time
import urllib.error
import urllib.request

import experiment
import numpy as np

import ldpbo_core as core

OVER = 410  # status: no more users are wanted
BUSY = 503


def measure(x, rng):
    """The user experiences this at the setting x: here, a simulation."""
    return np.exp(-8 * ((x - [0.75, 0.4]) ** 2).sum()) - 0.3 + rng.uniform(-0.5, 0.5)


def call(url, body=None, patience=60.0):
    """The server answers with a dict, or None when the experiment is over.

    The call is made again while the server is away or busy.
    """
    data = None if body is None else json.dumps(body).encode()
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(url, data, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == OVER:
                return None
            if error.code != BUSY or time.monotonic() > end:
                raise
        except (OSError, http.client.HTTPException):  # away, or gone during an answer
            if time.monotonic() > end:
                raise
        time.sleep(0.05)


def visit(url, seed=None):
    """One user comes and goes; False when the experiment is over."""
    asked = call(f"{url}/ask")
    if asked is None:
        return False
    rng = np.random.default_rng(None if seed is None else [seed, asked["round"]])
    reward = measure(experiment.POINTS[asked["arm"]], rng)
    curator = core.OneBit(experiment.EPS, experiment.PROBLEM.B, experiment.PROBLEM.R)
    report = float(curator.privatise(reward, rng))
    call(f"{url}/tell", {"round": asked["round"], "report": report})
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("users", type=int)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    for _ in range(options.users):
        if not visit(options.url, options.seed):
            break


if __name__ == "__main__":
    main()
