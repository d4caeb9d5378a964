"""The learner behind HTTP.

    python server.py STATE [--T 1000] [--port 0] [--lease 60]

    GET /ask                          -> {"round", "arm"}
    POST /tell {"round", "report"}    -> {"counted"}

A report is saved before it is acknowledged, so a server killed at any moment and
started again goes on where it was, and a client that got no answer sends the same
report again: it is counted once. One user is out at a time; others wait (503). After T
rounds nothing is counted any more (410). What is logged: round, arm and report,
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
    """A server that does not write addresses when something fails."""

    def handle_error(self, *_):  # the standard one writes the client's address
        traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """What the server answers to one request."""

    timeout = 5.0  # seconds; a client that hangs does not keep the others out for long

    def answer(self, status, **body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        server, learner = self.server, self.server.learner
        if self.path != "/ask":
            self.answer(404, error="GET /ask or POST /tell")
        elif learner.t >= learner.s.T:
            self.answer(410, error="the experiment is over")
        elif time.monotonic() < server.lease_ends:
            self.answer(503, error="another user is out: ask again")
        else:
            server.lease_ends = time.monotonic() + server.lease
            self.answer(200, round=learner.t, arm=learner.ask())

    def do_POST(self):
        server, learner = self.server, self.server.learner
        try:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number, report = told["round"], told["report"]
        except (ValueError, TypeError, KeyError):
            number = None
        if self.path != "/tell" or type(number) is not int:
            form = '{"round": a whole number, "report": a number}'
            return self.answer(400, error=f"must be POST /tell {form}")
        if number < learner.t:  # counted before; the answer was lost
            return self.answer(200, counted=True)
        if learner.t >= learner.s.T:
            return self.answer(410, error="the experiment is over")
        if number > learner.t:
            return self.answer(409, error=f"round {number}: must be {learner.t}")
        arm = learner.ask()
        try:
            learner.tell(report)
        except ValueError as error:  # not a number: nothing has changed
            return self.answer(400, error=str(error))
        logged = {"round": number, "arm": arm, "report": report}
        print(json.dumps(logged), flush=True)  # killed here, it is logged twice
        learner.save(server.state)
        server.lease_ends = 0.0
        self.answer(200, counted=True)

    def log_message(self, *_):  # the standard one writes addresses and times
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--T", type=int, default=1000)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--lease", type=float, default=60.0)
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.state, server.lease, server.lease_ends = options.state, options.lease, 0.0
    if options.state.exists():
        server.learner = core.load(options.state, experiment.PROBLEM)
    else:
        server.learner = experiment.learner(options.T)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
