"""The ledger knows which plays are out and what came back; a crash neither loses nor doubles any.

A play of the learner's plan goes out as a ticket. It comes back as a report, or, when its lease has
ended, to the plan: the next user gets it. Each such event is a line of a journal, on disk before
anybody is answered. The journal is read again after a crash, on top of the learner that was saved
last; from time to time the learner is saved and the journal starts anew.

Tickets are numbered, and a number is out, lost, or else counted: nothing is kept of a user whose
report is counted, and a report that is sent twice is still answered rightly.
"""

import dataclasses
import fcntl
import hashlib
import json
import math
import os
import secrets
import threading
import time
from pathlib import Path

import experiment
import numpy as np

import ldpbo_core as core
from ldpbo import checks as check

OVER = "the experiment is over; nothing is asked or counted any more"
LATE = (
    "the lease of this ticket has ended, and its play is another user's: the report is not "
    "counted; do not make a second one, which would cost eps again"
)
DAMAGED = "must be a whole journal that the server wrote"


class Refused(Exception):
    """This request cannot be met; it has an HTTP status, and why in words."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


@dataclasses.dataclass
class Ticket:
    """A ticket is a play that is out."""

    arm: int
    visit: str | None  # what the client called its visit, so that it may ask again
    ends: float  # of the lease, on the monotonic clock


class Ledger:
    """A ledger lets many users at once play a learner's plan; threads may call every method.

    path: file of the learner; the journal stands beside it.
    T, name: of a new learner; None takes what is saved, or no horizon and elimination.
    lease: seconds that a play is out, at most. A restarted ledger gives each open ticket a new one.
    snapshot: lines of the journal after which the learner is saved.
    log: called with {"round", "arm", "report"} of each counted report.
    """

    def __init__(self, path, T=None, name=None, *, lease=60.0, snapshot=1000, log=None):
        self.path = Path(path)
        self.lease = check.positive("lease", lease)
        self.snapshot = check.integer("snapshot", snapshot)
        self.log = log
        self.lock = threading.Lock()
        self.lock_file = lock_file(self.path)
        self.journal = Journal(self.path.with_name(f"{self.path.name}.journal"))
        if self.journal.path.exists() and not self.path.exists():
            raise ValueError(f"{self.path}: is missing, and {self.journal.path} belongs to it")
        self.learner = open_learner(self.path, T, name)
        self.secret = secrets.token_hex(16)
        self.next = 0  # number of the next ticket
        self.open: dict[int, Ticket] = {}  # in the order in which leases end
        self.lost: set[int] = set()
        self.out = np.zeros(self.learner.problem.n, dtype=np.int64)
        self.visits: dict[str, int] = {}  # open tickets by what clients called their visits
        try:
            for event in self.journal.read():
                self.apply(event)
        except (KeyError, TypeError):
            raise ValueError(f"{self.journal.path}: {DAMAGED}") from None
        self.save()

    # ---- What clients call -----------------------------------------------------------------------

    def ask(self, visit=None):
        """Hand out a play -> ticket, arm, point, curator, lease.

        A client that got no answer asks again with the same word for its visit, and gets the same
        ticket.
        """
        with self.lock:
            self.expire()
            number = self.visits.get(visit)
            if number is None:
                number = self.hand_out(visit)
            answer = self.describe(number)
        self.journal.sync()
        return answer

    def tell(self, ticket, report):
        """Count a report that comes in, and return when that is on disk.

        A report that was counted before is not counted again, whatever it says.
        """
        with self.lock:
            self.expire()
            number = self.checked_number(ticket)
            if number in self.lost:
                raise Refused(410, LATE)
            if number in self.open:
                self.count(number, report)
        self.journal.sync()

    def best(self):
        """Return what is known so far, see `standing`; it changes when a plan ends."""
        with self.lock:
            return standing(self.learner)

    def close(self):
        """Save the learner for another ledger to take over; this one answers nobody any more."""
        self.lock.acquire()
        self.save()
        self.journal.close()
        self.lock_file.close()

    # ---- Tickets ---------------------------------------------------------------------------------

    def ticket(self, number):
        """Return the name of a ticket, which nobody guesses."""
        key = bytes.fromhex(self.secret)
        seal = hashlib.blake2b(str(number).encode(), key=key, digest_size=12)
        return f"{number}-{seal.hexdigest()}"

    def checked_number(self, ticket):
        """Return the number of a ticket; one that is not ours is refused."""
        number = str(ticket).partition("-")[0]
        known = number.isdecimal() and int(number) < self.next
        if known and secrets.compare_digest(self.ticket(int(number)).encode(), ticket.encode()):
            return int(number)
        if self.is_over():
            raise Refused(410, OVER)
        raise Refused(409, f"ticket = {ticket!r:.80}: must be one that GET /ask gave")

    def is_over(self):
        return not self.learner.plan().any()

    def hand_out(self, visit):
        """Draw a play that nobody is out with from the plan -> its number.

        The draw depends on the number alone: a restarted ledger draws as the first would have.
        """
        free = self.learner.plan() - self.out
        left = int(free.sum())
        if not left:
            busy = "all plays of this plan are out: ask again"
            raise Refused(410, OVER) if self.is_over() else Refused(503, busy)
        number = self.next
        draw = np.random.default_rng(number).integers(left)
        arm = int(np.searchsorted(free.cumsum(), draw, side="right"))
        self.record({"out": number, "arm": arm, "visit": visit})
        return number

    def describe(self, number):
        """Return what a client is told of its ticket; all of it is public but the ticket's name."""
        arm = self.open[number].arm
        curator = self.learner.curator(arm)
        names = ("eps", "centre", "bound", "scale")
        return {
            "ticket": self.ticket(number),
            "arm": arm,
            "point": experiment.POINTS[arm].tolist(),
            "curator": {"kind": "one bit"} | {name: getattr(curator, name) for name in names},
            "lease": self.lease,
        }

    def expire(self):
        """Give plays whose lease has ended back to the plan."""
        now = time.monotonic()
        while self.open:
            number, oldest = next(iter(self.open.items()))
            if oldest.ends > now:
                return
            self.record({"lost": number})

    def count(self, number, report):
        """Check, log and record a report of an open ticket, as one of its two values."""
        arm = self.open[number].arm
        curator = self.learner.curator(arm)
        try:
            told = check.number("report", report)
            self.learner.check_bit(arm, told)
        except ValueError as error:
            raise Refused(400, str(error)) from None
        sign = 1 if told > curator.centre else -1
        exact = curator.centre + sign * curator.scale  # low digits may hold more than a bit
        round_number = self.learner.t
        if self.log:
            self.log({"round": round_number, "arm": arm, "report": exact})
        self.record({"in": number, "round": round_number, "report": exact})
        if self.journal.lines >= self.snapshot or self.is_over():
            self.save()

    # ---- Events ----------------------------------------------------------------------------------

    def record(self, event):
        """Write an event, then let it happen."""
        self.journal.write(event)
        self.apply(event)

    def apply(self, event):
        """Let an event happen, now or when the journal is read again."""
        if "secret" in event:
            self.restore(event)
        elif "out" in event:
            self.next = event["out"] + 1
            self.take_out(event["out"], event["arm"], event["visit"])
        elif "lost" in event:
            self.lost.add(event["lost"])
            self.take_in(event["lost"])
        else:
            arm = self.take_in(event["in"])
            if event["round"] > self.learner.t:
                raise ValueError(
                    f"{self.path}: has {self.learner.t} reports, and its journal goes on after "
                    f"{event['round']}; must be the file that the journal was written beside"
                )
            if event["round"] == self.learner.t:  # earlier ones are in the saved learner
                self.learner.tell(event["report"], arm)

    def take_out(self, number, arm, visit):
        self.open[number] = Ticket(arm, visit, time.monotonic() + self.lease)
        self.out[arm] += 1
        if visit is not None:
            self.visits[visit] = number

    def take_in(self, number):
        ticket = self.open.pop(number)
        self.out[ticket.arm] -= 1
        self.visits.pop(ticket.visit, None)
        return ticket.arm

    def restore(self, event):
        """Restore the tickets as they were when the journal was begun."""
        self.secret = event["secret"]
        self.next = event["next"]
        self.lost = set(event["lost"])
        for number, arm, visit in event["open"]:
            self.take_out(number, arm, visit)

    def save(self):
        """Save the learner, then begin a new journal; a crash in between does no harm."""
        self.learner.save(self.path)
        begun = {
            "secret": self.secret,
            "next": self.next,
            "lost": sorted(self.lost),
            "open": [(number, t.arm, t.visit) for number, t in self.open.items()],
        }
        self.journal.begin(begun)


class Journal:
    """A journal is a file of events, one a line; threads that wait for the disk wait together."""

    def __init__(self, path):
        self.path = path
        self.file = None
        self.lines = 0  # since it was begun
        self.written = 0  # since the process started
        self.synced = 0
        self.sync_lock = threading.Lock()

    def read(self):
        """Read the events; a last line that a power cut left unfinished was never answered."""
        if not self.path.exists():
            return []
        whole, _, _ = self.path.read_bytes().rpartition(b"\n")
        try:
            return [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise ValueError(f"{self.path}: {DAMAGED}") from None

    def begin(self, event):
        """Replace the file by one that holds this event alone, whole or not at all."""
        part = self.path.with_name(f"{self.path.name}.part")
        sync_folder(self.path.parent)  # the learner's new name comes first
        file = open(part, "wb", buffering=0)
        write_line(file, event)
        os.fsync(file.fileno())
        os.replace(part, self.path)
        sync_folder(self.path.parent)
        with self.sync_lock:
            self.close()
            self.file = file
            self.lines = 1
            self.synced = self.written

    def write(self, event):
        write_line(self.file, event)
        self.lines += 1
        self.written += 1

    def sync(self):
        """Wait until all that was written before the call is on disk."""
        needed = self.written
        with self.sync_lock:
            if self.synced >= needed:  # by a thread that came before
                return
            reached = self.written
            os.fsync(self.file.fileno())
            self.synced = reached

    def close(self):
        if self.file:
            self.file.close()


def standing(learner):
    """Name the best arm so far of a learner that plans -> arm, lower, upper, regret, users, ...

    lower, upper: bounds of the arm's mean. regret: no arm's mean is above it by more. At proved
    constants all of them hold at all times at once, with probability 1 - delta: one may look as
    often as one likes, and stop because of what one sees.
    """
    arm, lower, upper = learner.best()
    rivals = np.ones(learner.problem.n, dtype=bool)
    if isinstance(learner, core.Elimination):
        rivals &= learner.active
    rivals[arm] = False
    highest = float(learner.upper[rivals].max(initial=lower))
    return {
        "arm": arm,
        "lower": lower,
        "upper": upper,
        "regret": highest - lower,
        "users": learner.t,
        "constants": learner.settings.constants,
        "delta": learner.settings.delta,
    }


def write_line(file, event):
    data = json.dumps(event).encode() + b"\n"
    if file.write(data) != len(data):
        raise OSError(f"{file.name}: the disk is full")


def sync_folder(folder):
    """Wait until the names in the folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock_file(path):
    """Lock a file while this process lives: two servers would count users twice."""
    file = open(path.with_name(f"{path.name}.lock"), "wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ValueError(f"{path}: another server is at work on it; end that one first") from None
    return file


def open_learner(path, T=None, name=None):
    """Load the learner saved at `path`, or make a new one.

    A saved one must be what the options and the experiment would have made: same learner, T, eps,
    bounds and kernel.
    """
    if path.exists():
        learner = core.load(path, experiment.PROBLEM)
        compare(learner, path, learner.settings.T if T is None else T, name)
    else:
        learner = experiment.learner(T, name or "PE")
    if not isinstance(learner, core.PlannedLearner) or learner.settings.kind != "one bit":
        raise ValueError(f"{learner!r}: must be a learner that plans, on one-bit reports")
    return learner


def compare(saved, path, T, name):
    """Refuse a saved learner that is not what these options would have made."""
    fresh = {known: experiment.learner(T, known) for known in experiment.LEARNERS}
    kinds = {type(learner): known for known, learner in fresh.items()}
    saved_name = kinds.get(type(saved), type(saved).__name__)
    wanted = name or saved_name
    if wanted not in fresh:
        raise ValueError(f"{path}: holds a {wanted}: must be one of {', '.join(fresh)}")
    here = told(fresh[wanted], wanted)
    for option, there in told(saved, saved_name).items():
        if not same(here[option], there):
            raise ValueError(
                f"{option} = {here[option]!r}: {path} was started with {there!r}; leave the option "
                "out or undo the change to go on with it, or name another file to start anew"
            )


def told(learner, name):
    """Return what a learner was told, by name."""
    settings = {
        f.name: getattr(learner.settings, f.name) for f in dataclasses.fields(core.Settings)
    }
    curator = settings.pop("curator")
    first = {"learner": name, "T": settings.pop("T"), "eps": curator.eps, "F + R": curator.bound}
    return first | settings


def same(here, there):
    """Tell whether two values are equal, up to the rounding of another machine."""
    if isinstance(here, float) and isinstance(there, float):
        return math.isclose(here, there, rel_tol=1e-9)
    return here == there
