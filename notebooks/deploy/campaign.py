"""Server and client run as two processes, for the page and for the tests.

The server can be killed as by a power cut.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENV = os.environ | {"PYTHONPATH": str(HERE.parent.parent), "OPENBLAS_NUM_THREADS": "1"}


class Server:
    """A server process, started again after each kill; `log` has all its lives."""

    def __init__(self, state, T, lease=60.0):
        self.options = [str(state), f"--T={T}", f"--lease={lease}"]
        self.port = 0
        self.log = []
        self.lives = 0
        self.start()

    def start(self):
        """The process is started, at the port of its former life."""
        program = [sys.executable, str(HERE / "server.py")]
        command = [*program, *self.options, f"--port={self.port}"]
        pipes = {"stdout": subprocess.PIPE, "text": True, "env": ENV}
        self.process = subprocess.Popen(command, **pipes)
        self.url = self.process.stdout.readline().split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])
        self.lives += 1
        self.reader = threading.Thread(target=self._read, args=(self.process.stdout,))
        self.reader.start()

    def _read(self, out):
        self.log.extend(map(json.loads, out))

    def kill(self):
        """The process ends at once; what it logged until then is read."""
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def wait_for(self, rounds, patience=120.0):
        """Returns when so many rounds have been logged."""
        end = time.monotonic() + patience
        while len(self.log) < rounds:
            if time.monotonic() > end:
                raise TimeoutError(f"{len(self.log)} of {rounds} rounds")
            time.sleep(0.002)


def visits(url, users, seed):
    """A client process brings so many users."""
    program = [sys.executable, str(HERE / "client.py")]
    command = [*program, url, str(users), f"--seed={seed}"]
    out = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return subprocess.Popen(command, env=ENV, **out)


def run(state, T, seed, kills=()):
    """T users come; returns the server's log, each round once.

    The server is killed and started again after each number of rounds in `kills`.
    """
    server = Server(state, T)
    users = visits(server.url, T, seed)
    for rounds in kills:
        server.wait_for(rounds)
        server.kill()
        server.start()
    said, _ = users.communicate(timeout=600)
    server.kill()
    if users.returncode:
        raise RuntimeError(said)
    return list({row["round"]: row for row in server.log}.values())
