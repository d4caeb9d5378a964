"""Server and users run as processes of their own, for the page and for the tests.

The server can be killed as by a power cut.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import client

HERE = Path(__file__).resolve().parent
ENV = os.environ | {"PYTHONPATH": str(HERE.parent.parent), "OPENBLAS_NUM_THREADS": "1"}


class Server:
    """Server starts a server process, again after each kill; `log` holds what all its lives logged.

    options: of server.py, as keywords.
    """

    def __init__(self, state, **options):
        given = {name: value for name, value in options.items() if value is not None}
        self.options = [str(state), *(f"--{name}={value}" for name, value in given.items())]
        self.port = 0
        self.log = []
        self.lives = 0
        self.start()

    def start(self):
        """Start the process, at the port of its former life."""
        command = [sys.executable, str(HERE / "server.py"), *self.options, f"--port={self.port}"]
        pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.process = subprocess.Popen(command, env=ENV, **pipes)
        first = self.process.stdout.readline()
        if not first:
            _, why = self.process.communicate()
            raise RuntimeError(why.strip())
        self.url = first.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.lives += 1
        self.errors = []
        self.readers = [
            threading.Thread(target=self._read_log, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self.errors.extend, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self.readers:
            reader.start()

    def _read_log(self, out):
        self.log.extend(map(json.loads, out))

    def kill(self):
        """End the process at once, and read what it logged until then."""
        self.process.kill()
        self._wait()

    def stop(self):
        """Let the process save the learner and end."""
        self.process.terminate()
        self._wait()

    def _wait(self):
        self.process.wait()
        for reader in self.readers:
            reader.join()

    def rounds(self):
        """Return what was logged, each round once: as the last life has it."""
        return list({row["round"]: row for row in self.log}.values())

    def wait_for(self, rounds, patience=120.0):
        """Wait until so many rounds have been logged."""
        end = time.monotonic() + patience
        while len(self.log) < rounds:
            if time.monotonic() > end or self.process.poll() is not None:
                raise TimeoutError(f"{len(self.log)} of {rounds} rounds; {''.join(self.errors)}")
            time.sleep(0.002)


def visits(url, users, **options):
    """Start a process that brings so many users; options: of users.py."""
    given = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, str(HERE / "users.py"), url, str(users), "--json", *given]
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return subprocess.Popen(command, env=ENV, **pipes)


def result(process):
    """Wait for a process of users, and return what became of its visits, see `users.crowd`."""
    said, _ = process.communicate(timeout=600)
    if process.returncode:
        raise RuntimeError(said)
    return json.loads(said)


def run(state, T, seed, kills=(), learner="GP-UCB"):
    """Let T users come one after the other, and return the server's log, each round once.

    The server is killed and started again after each number of rounds in `kills`.
    """
    server = Server(state, T=T, learner=learner)
    users = visits(server.url, T, seed=seed)
    try:
        for rounds in kills:
            server.wait_for(rounds)
            server.kill()
            server.start()
        result(users)
    finally:
        server.kill()
        users.kill()
    return server.rounds()


def load(state, users, clients, kills=(), seconds=60.0):
    """Let so many clients at once make so many visits; it ends by itself after so many seconds.

    -> what became of them, see `users.crowd`, and as the server saw it: rounds, its log, each round
    once; best, its answer in the end; lives, how often it was started.
    """
    server = Server(state, learner="PE")
    process = visits(server.url, users, clients=clients, seconds=seconds)
    try:
        for rounds in kills:
            server.wait_for(rounds)
            server.kill()
            server.start()
        found = result(process)
        found["best"] = client.call(f"{server.url}/best")
        server.stop()
    finally:
        server.kill()
        process.kill()
    return found | {"rounds": server.rounds(), "lives": server.lives}
