"""A user asks a server for an arm, tries it, hides the reward in a bit, and tells that.

    python client.py URL --eps 2    # prints the arm, reads the reward, sends one bit

One file, Python's standard library only: copy it into your program and call

    visit(url, measure, eps=2.0)    # measure({"arm", "point", ...}) -> a user's reward

The reward never leaves this process. A report is made once: a client that gets no
answer sends the same report again, since a second one of the same reward would spend
eps twice. What the server says of the curator is not trusted: a curator that would
reveal more than eps is refused.

client.mjs is the same for browsers and Node; vectors.json has inputs and reports.
"""

import argparse
import http.client
import json
import math
import random
import secrets
import sys
import time
import urllib.error
import urllib.request

AWAY = (502, 503, 504)  # statuses of a server that is busy or being started: try again
GONE = 410
ROUNDING = 2.0**-51  # of what the curator reveals


class Refused(Exception):
    """The server refuses, or is refused, with a status (0: by this client), and why."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


def chance(reward, curator):
    """Return the probability of the higher report; it is right to 2^-53."""
    away = min(max(reward - curator["centre"], -curator["bound"]), curator["bound"])
    return (1 + away / curator["scale"]) / 2


def report(reward, curator, draw=None):
    """Return the one-bit report of a reward: centre + scale or centre - scale.

    draw: 64 random bits as an integer; left out, they come from the system. An integer
    is compared with a double exactly, so the probability moves by less than 2^-64.
    """
    if (
        isinstance(reward, bool)
        or not isinstance(reward, (int, float))
        or not math.isfinite(reward)
    ):
        raise ValueError(f"reward = {reward!r:.80}: must be a finite number")
    if draw is None:
        draw = secrets.randbits(64)
    if draw < chance(reward, curator) * 2.0**64:
        return curator["centre"] + curator["scale"]
    return curator["centre"] - curator["scale"]


def check_curator(curator, eps):
    """Refuse a curator whose report would reveal more than eps."""
    numbers = [curator.get(name) for name in ("centre", "bound", "scale")]
    if all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers):
        _, bound, scale = numbers
        most = scale * (math.tanh(eps / 2) + ROUNDING)  # then odds are within e^{+-eps}
        if 0 < bound <= most:
            return
    wanted = f"must be a one-bit curator of eps <= {eps!r}"
    raise Refused(0, f"curator = {curator!r:.200}: {wanted}")


def call(url, body=None, patience=60.0):
    """Return the server's answer, a dict; call again while it is away or busy."""
    data = None if body is None else json.dumps(body).encode()
    end = time.monotonic() + patience
    wait = 0.02
    while True:
        try:
            with urllib.request.urlopen(url, data, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in AWAY or time.monotonic() > end:
                why = error.read(1000).decode(errors="replace")
                raise Refused(error.code, why) from None
        except (OSError, http.client.HTTPException):  # away, or gone in mid-answer
            if time.monotonic() > end:
                raise
        time.sleep(wait * random.uniform(0.5, 1.5))  # not all at once
        wait = min(2 * wait, 1.0)


def ask(url, patience=60.0):
    """Ask for a ticket, an arm and its curator; None when the experiment is over."""
    word = secrets.token_hex(16)  # the server knows a repeated question by it
    try:
        return call(f"{url}/ask?visit={word}", patience=patience)
    except Refused as refused:
        if refused.status == GONE:
            return None
        raise


def tell(url, ticket, told, patience=60.0):
    """Send a report, again if need be; it counts once -> "counted", or "late"."""
    try:
        call(f"{url}/tell", {"ticket": ticket, "report": told}, patience)
    except Refused as refused:
        if refused.status == GONE:
            return "late"
        raise
    return "counted"


def visit(url, measure, eps, patience=60.0):
    """Let one user come and go -> "counted", "late" (after the lease), or "over".

    measure: what the user's device does, from the server's answer to a reward.
    eps: what the user was promised.
    """
    asked = ask(url, patience)
    if asked is None:
        return "over"
    check_curator(asked["curator"], eps)
    told = report(measure(asked), asked["curator"])
    return tell(url, asked["ticket"], told, patience)


def read_reward(asked):
    told = input(f"arm {asked['arm']} at {asked['point']}: your reward? ")
    try:
        return float(told)
    except ValueError:
        raise ValueError(f"reward = {told!r:.80}: must be a number") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    more = "refuse to reveal more"
    parser.add_argument("--eps", type=float, required=True, help=more)
    options = parser.parse_args()
    try:
        print(visit(options.url, read_reward, options.eps))
    except EOFError:
        sys.exit("Stopped. No reward was given, and nothing was sent")
    except (Refused, OSError, ValueError) as error:
        sys.exit(f"Stopped. {error}")


if __name__ == "__main__":
    main()
