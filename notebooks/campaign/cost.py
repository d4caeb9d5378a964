"""What a report costs in time and in bytes, measured."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ldpbo_core as core
from ldpbo import cluster

ROOT = Path(core.__file__).resolve().parent
DEPLOY = ROOT / "notebooks/deploy"
UNITS = [("days", 86400), ("hours", 3600), ("minutes", 60)]


def reports_a_second(jobs):
    """Measure how many reports one process makes in a second, for the users of these chunks."""
    start = time.perf_counter()
    for job in jobs:
        cluster.users(*job)
    reports = sum(int(counts.sum()) for _, _, counts, _ in jobs)
    return reports / (time.perf_counter() - start)


def over_http(visits, clients):
    """Measure the server of the page "Use it for real": so many visits, so many at once.

    Returns reports a second, and the bytes of a visit's messages.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with (
            log.open("w") as out,
            _program("server.py", f"{folder}/learner.npz", out=out) as server,
        ):
            try:
                words = [_url(server, log), str(visits), "--json", f"--clients={clients}"]
                with _program("users.py", *words, out=subprocess.PIPE) as users:
                    found = json.loads(users.stdout.read())
            finally:
                server.kill()
    return found["rate"], found["bytes"]


def _program(name, *words, out):
    """Start one of the programs of that page; `out` is where it prints."""
    command = [sys.executable, str(DEPLOY / name), *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=out, text=True)


def _url(server, log):
    """Wait until the server says in its log where it listens."""
    while "\n" not in (said := log.read_text()):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with status {server.returncode}")
        time.sleep(0.02)
    first, *_ = said.splitlines()
    return first.split()[-1]


def duration(seconds):
    """Write a time in the largest unit of which it has two, with two digits."""
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds)} s"


def size(count):
    """Write a number of bytes in the largest unit of which there is one, with two digits."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 1000**power:
            return f"{_digits(count / 1000**power)} {unit}"
    return f"{_digits(count)} bytes"


def about(count):
    """Write a number with the two digits that one measurement has."""
    return f"{float(f'{count:.2g}'):,.0f}"


def _digits(x):
    """Write a number with two digits, or as a whole number where it has more."""
    return f"{x:.0f}" if x >= 10 else f"{x:.2g}"
