"""The learner is served over HTTP.

    python server.py STATE [--T 1000] [--port 0] [--lease 60]

    GET /ask                         -> {"round", "arm"}
    POST /tell {"round", "report"}   -> {"counted": true}

A report is saved before it is acknowledged, so a server killed at
any moment and started again goes on where it was, and a client that got no answer sends
the same report again: it is counted once. One user is out at a time; others wait (503).
After T rounds nothing is counted any more (410). What is logged: round, arm and report,
whatever else a client sends. No name, no address, no time, and no reward, which never
comes here.
"""

import argparse
import json
import time
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import experiment

import ldpbo_core as core


class Server(HTTPServer):
    """The server has the learner, the file of its state, and the end of a lease."""

    def __init__(self, port, state, T, lease):
        super().__init__(("127.0.0.1", port), Handler)
        self.state = state
        self.lease = lease  # seconds
        self.lease_ends = 0.0
        if state.exists():
            self.learner = core.load(state, experiment.PROBLEM)
        else:
            self.learner = experiment.learner(T)

    def handle_error(self, *_):  # the standard one writes the client's address
        traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One request is answered."""

    timeout = 5.0  # seconds; a client that hangs keeps others out no longer

    def answer(self, status, **body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        """A user asks for an arm."""
        server = self.server
        learner = server.learner
        if self.path != "/ask":
            self.answer(404, error="GET /ask or POST /tell")
        elif learner.t >= learner.settings.T:
            self.answer(410, error="the experiment is over")
        elif time.monotonic() < server.lease_ends:
            self.answer(503, error="another user is out: ask again")
        else:
            server.lease_ends = time.monotonic() + server.lease
            self.answer(200, round=learner.t, arm=learner.ask())

    def do_POST(self):
        """A user tells a report."""
        learner = self.server.learner
        number, report = self.told()
        if self.path != "/tell" or type(number) is not int:
            expected = 'POST /tell {"round": a whole number, "report": a number}'
            self.answer(400, error=f"must be {expected}")
        elif number < learner.t:  # counted before; the answer was lost
            self.answer(200, counted=True)
        elif learner.t >= learner.settings.T:
            self.answer(410, error="the experiment is over")
        elif number > learner.t:
            self.answer(409, error=f"round {number}: must be {learner.t}")
        else:
            self.count(number, report)

    def told(self):
        """The body of the request holds a round and a report, or (None, None)."""
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return body["round"], body["report"]
        except (ValueError, TypeError, KeyError):
            return None, None

    def count(self, number, report):
        """The learner is told, the line logged, the state saved, the user answered."""
        server = self.server
        arm = server.learner.ask()
        try:
            server.learner.tell(report)
        except ValueError as error:  # not a number: nothing has changed
            return self.answer(400, error=str(error))
        line = json.dumps({"round": number, "arm": arm, "report": report})
        print(line, flush=True)  # a server killed here logs it twice
        server.learner.save(server.state)
        server.lease_ends = 0.0
        self.answer(200, counted=True)

    def log_message(self, *_):  # the standard one writes addresses and times
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("state", type=Path)
    parser.add_argument("--T", type=int, default=1000)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--lease", type=float, default=60.0)
    options = parser.parse_args()
    server = Server(options.port, options.state, options.T, options.lease)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
