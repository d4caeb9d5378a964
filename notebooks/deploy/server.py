"""A learner is served over HTTP to many users at once.

    python server.py STATE [--learner PE] [--T 1000] [--port 0] [--lease 60] [--origin URL]

GET /ask -> {"ticket", "arm", "point", "lease",
    "curator": {"kind", "eps", "centre", "bound", "scale"}}
POST /tell {"ticket", "report"} -> {"counted": true}
GET /best -> {"arm", "lower", "upper", "regret", "users", "constants", "delta"}

A report is on disk before it is acknowledged, so a server killed at any moment and started again
goes on where it was, and a client that got no answer sends the same report again: it is counted
once. A client that got no ticket asks again with the same word, /ask?visit=WORD, and gets the same.

400: a report that the curator cannot have made, or no report at all. 409: no ticket of ours. 410:
the lease had ended, or the experiment is over. 503: all plays of this plan are out; ask again.

What is logged: round, arm and report, whatever else a client sends. No name, no address, no time,
and no reward, which never comes here.
"""

import argparse
import json
import os
import signal
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import experiment
import ledger

LONGEST = 1000  # bytes of a request's body, and characters of the word for a visit
EXPECTED = 'GET /ask, GET /best or POST /tell {"ticket": text, "report": a number}'


class Server(ThreadingHTTPServer):
    """The server has the ledger, which threads share."""

    daemon_threads = True
    request_queue_size = 1024  # connections that wait to be accepted

    def __init__(self, port, book, origin=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.ledger = book
        self.origin = origin

    def handle_error(self, *_):
        """Print an error, unless a client went away; the standard method writes its address."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            traceback.print_exc()


class Handler(BaseHTTPRequestHandler):
    """One connection is served, request by request."""

    protocol_version = "HTTP/1.1"
    timeout = 5.0  # seconds that a client may hang
    wbufsize = -1  # header and body leave together
    disable_nagle_algorithm = True

    def do_GET(self):
        path, _, query = self.path.partition("?")
        visit = parse_qs(query).get("visit", [None])[0]
        if path == "/ask":
            self.meet(self.server.ledger.ask, visit and visit[:LONGEST])
        elif path == "/best":
            self.meet(self.server.ledger.best)
        else:
            self.answer(404, error=f"must be {EXPECTED}")

    def do_POST(self):
        ticket, report = self.told()
        if self.path != "/tell" or not isinstance(ticket, str):
            self.answer(400, error=f"must be {EXPECTED}")
        else:
            self.meet(self.count, ticket, report)

    def count(self, ticket, report):
        self.server.ledger.tell(ticket, report)
        return {"counted": True}

    def told(self):
        """Read ticket and report from the body of the request; (None, None) where it has none."""
        try:
            length = int(self.headers["Content-Length"])
            if not 0 <= length <= LONGEST:
                raise ValueError
            body = json.loads(self.rfile.read(length))
            return body["ticket"], body["report"]
        except (ValueError, TypeError, KeyError, RecursionError):
            self.close_connection = True  # the rest may not be a request
            return None, None

    def meet(self, request, *arguments):
        """Meet the request, or refuse it in words; a server that cannot save ends at once."""
        try:
            body = request(*arguments)
        except ledger.Refused as refused:
            self.answer(refused.status, error=str(refused))
        except Exception:  # what is on disk is whole, what is in memory may be ahead of it
            traceback.print_exc()
            os._exit(1)
        else:
            self.answer(200, **body)

    def answer(self, status, **body):
        data = json.dumps(body).encode()
        self.send_response_only(status)  # without the server's name and the time
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if self.server.origin:
            self.send_header("Access-Control-Allow-Origin", self.server.origin)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):  # the standard one writes addresses and times
        pass


def log(row):
    print(json.dumps(row), flush=True)  # a server killed here logs the round again


def stop(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("state", type=Path, help="file of the learner; made where there is none")
    parser.add_argument("--learner", choices=experiment.LEARNERS, help="PE where not saved")
    parser.add_argument("--T", type=int, help="users; left out: as saved, or until it is stopped")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--lease", type=float, default=60.0, help="seconds for a user to report")
    parser.add_argument("--snapshot", type=int, default=1000, help="journal lines between saves")
    parser.add_argument("--origin", help="of web pages that may ask and tell, https://example.org")
    options = parser.parse_args()
    limits = {"lease": options.lease, "snapshot": options.snapshot}
    try:
        book = ledger.Ledger(options.state, options.T, options.learner, **limits, log=log)
        server = Server(options.port, book, options.origin)
    except ValueError as error:
        sys.exit(f"Stopped. {error}")
    except OSError as error:  # a folder that may not be written, a port that is taken
        where = error.filename or f"port {options.port}"
        sys.exit(f"Stopped. {where}: {error.strerror}")
    for number in (signal.SIGTERM, signal.SIGINT):  # SIGINT is ignored where a script says "&"
        signal.signal(number, stop)
    try:
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
    except KeyboardInterrupt:
        book.close()


if __name__ == "__main__":
    main()
