"""Use it for real: many users at once, servers that are killed, clients that are not trusted.

Server and users are processes of their own that talk over HTTP on this machine.
"""

import ast
import collections
import contextlib
import functools
import http.server
import json
import math
import os
import random
import re
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from fractions import Fraction
from pathlib import Path

import browsers
import numpy as np
import pytest

import ldpbo_core as core

ROOT = Path(core.__file__).resolve().parent
DEPLOY = ROOT / "notebooks/deploy"
sys.path.insert(0, str(DEPLOY))
import campaign
import client
import experiment
import ledger

import users

T, SEED = 120, 5
VECTORS = json.loads((DEPLOY / "vectors.json").read_text(encoding="utf-8"))
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    not NODE, reason="NO NODE: the JavaScript client is not tried in it"
)


@contextlib.contextmanager
def running(*arguments, **options):
    server = campaign.Server(*arguments, **options)
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def server(tmp_path):
    with running(tmp_path / "learner.npz") as server:
        yield server


@pytest.fixture
def book(tmp_path):
    """A ledger in this process."""
    book = ledger.Ledger(tmp_path / "learner.npz")
    yield book
    book.lock_file.close()


@pytest.fixture
def quick_disk(monkeypatch):
    """Nothing waits for the disk, which only a power cut would notice."""
    monkeypatch.setattr(ledger.os, "fsync", lambda handle: None)


def answer(url, body=None):
    """Status and JSON of the server's answer to a dict, to bytes, or to a GET."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body
    try:
        with urllib.request.urlopen(url, data, timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def high(asked):
    """The higher of a ticket's two reports."""
    return asked["curator"]["centre"] + asked["curator"]["scale"]


def state(learner):
    """All that decides what a learner does next, bit for bit."""
    arrays = (learner.mu, learner.sigma, learner.lower, learner.upper, learner.plan())
    return learner.t, learner.beta, *(array.tobytes() for array in arrays)


def simulated(asked):
    """The report of the simulated user of a ticket."""
    rng = users.source(SEED, asked["ticket"])
    reward = users.measure(asked["point"], rng)
    return client.report(reward, asked["curator"], rng.getrandbits(64))


def replay(rows, name="PE", horizon=None):
    """A learner that is told the logged reports in sums, a plan at a time, and no server."""
    learner = experiment.learner(horizon, name)
    rows = iter(rows)
    while left := int(learner.plan().sum()):
        counts = np.zeros(experiment.PROBLEM.n, dtype=np.int64)
        sums = np.zeros(experiment.PROBLEM.n)
        for row in (next(rows, None) for _ in range(left)):
            if row is None:
                break
            counts[row["arm"]] += 1
            sums[row["arm"]] += row["report"]
        learner.tell_sums(counts, sums)
        if counts.sum() < left:
            break
    return learner


# ---- Killed at any moment ------------------------------------------------------------------------


def test_a_server_killed_five_times_asks_for_the_same_arms(tmp_path):
    log = campaign.run(tmp_path / "learner.npz", T, SEED, kills=(7, 8, 30, 61, 100))
    undisturbed = ledger.Ledger(tmp_path / "other.npz", T, "GP-UCB")
    rows = []
    for t in range(T):
        asked = undisturbed.ask()
        told = simulated(asked)
        undisturbed.tell(asked["ticket"], told)
        rows.append({"round": t, "arm": asked["arm"], "report": told})
    assert log == rows
    assert len({row["arm"] for row in rows}) > 5
    saved = core.load(tmp_path / "learner.npz", experiment.PROBLEM)
    assert saved.t == T
    assert state(saved) == state(undisturbed.learner)


def test_users_killed_and_others_in_their_place_finish_the_plan(tmp_path):
    """Whoever is killed loses one play at most, which the lease gives to somebody else."""
    with running(tmp_path / "learner.npz", T=T, learner="GP-UCB", lease=1.0) as server:
        first = campaign.visits(server.url, T, seed=SEED)
        server.wait_for(20)
        first.kill()
        first.wait()
        rest = campaign.result(campaign.visits(server.url, T, seed=SEED))
        server.stop()
        assert len(server.log) == T
        assert 20 <= T - rest["counted"] < T
        saved = core.load(tmp_path / "learner.npz", experiment.PROBLEM)
        assert state(saved) == state(replay(server.log, "GP-UCB", T))


class Disk:
    """Copies of the ledger's folder after every single thing that it does to the disk."""

    def __init__(self, monkeypatch, folder, copies):
        self.folder = folder
        self.copies = copies
        self.acknowledged = []  # tickets, when the copy was taken
        self.taken = []
        for owner, name in (
            (ledger, "write_line"),
            (ledger.os, "replace"),
            (ledger.os, "fsync"),
        ):
            monkeypatch.setattr(owner, name, self.watched(getattr(owner, name)))

    def watched(self, function):
        @functools.wraps(function)
        def call(*arguments):
            done = function(*arguments)
            copy = self.copies / str(len(self.taken))
            shutil.copytree(self.folder, copy)
            self.taken.append((copy, list(self.acknowledged)))
            return done

        return call


@pytest.mark.build
def test_at_whatever_write_the_server_dies_nothing_is_lost_or_doubled(
    tmp_path, monkeypatch, quick_disk
):
    """Users repeat to the restarted server what was not acknowledged: the same state in the end."""
    folder = tmp_path / "live"
    folder.mkdir()
    rounds = 13  # of three plans, with a save at every fourth line
    with monkeypatch.context() as patch:
        disk = Disk(patch, folder, tmp_path)
        book = ledger.Ledger(folder / "learner.npz", rounds, "GP-UCB", snapshot=4)
        visits = []
        for i in range(rounds):
            asked = book.ask(f"visit {i}")
            visits.append((asked, simulated(asked)))
            book.tell(asked["ticket"], visits[-1][1])
            disk.acknowledged.append(i)
    first = next(i for i, (copy, _) in enumerate(disk.taken) if (copy / "learner.npz").exists())
    assert len(disk.taken) - first > 60
    for copy, acknowledged in disk.taken[first:]:
        restarted = ledger.Ledger(copy / "learner.npz", rounds, "GP-UCB", snapshot=4)
        assert len(acknowledged) <= restarted.learner.t <= len(acknowledged) + 1
        for i, (asked, told) in enumerate(visits):
            if i >= restarted.next:  # the server died before it answered: the user asks again
                assert restarted.ask(f"visit {i}")["arm"] == asked["arm"]
            restarted.tell(restarted.ticket(i), told)
            restarted.tell(restarted.ticket(i), told)
        assert state(restarted.learner) == state(book.learner)
        assert core.load(copy / "learner.npz", experiment.PROBLEM).t == rounds


def test_tickets_and_reports_are_on_disk_before_they_are_acknowledged(tmp_path, monkeypatch):
    """What a power cut leaves of the journal is all of it, whenever a client has its answer."""
    synced = {}  # bytes of each file that are on disk

    def fsync(handle):
        found = os.fstat(handle)
        synced[found.st_ino] = found.st_size

    monkeypatch.setattr(ledger.os, "fsync", fsync)
    book = ledger.Ledger(tmp_path / "learner.npz", snapshot=7)

    def all_of_it():
        found = os.stat(tmp_path / "learner.npz.journal")
        return synced[found.st_ino] == found.st_size

    for _ in range(20):
        asked = book.ask()
        assert all_of_it()
        book.tell(asked["ticket"], high(asked))
        assert all_of_it()
    assert all(file.stat().st_ino in synced for file in tmp_path.glob("*.npz"))


def test_threads_that_wait_for_a_slow_disk_wait_together(book, monkeypatch):
    waits = []
    monkeypatch.setattr(ledger.os, "fsync", lambda handle: waits.append(time.sleep(0.05)))
    threads = [threading.Thread(target=book.ask) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert book.next == 40
    assert len(waits) < 20


def test_a_line_that_a_power_cut_left_unfinished_was_never_answered(tmp_path):
    book = ledger.Ledger(tmp_path / "learner.npz")
    asked = book.ask()
    book.tell(asked["ticket"], high(asked))
    book.lock_file.close()
    journal = tmp_path / "learner.npz.journal"
    whole = journal.read_bytes()
    last = len(whole.splitlines()[-1]) + 1
    for cut in range(1, last + 1):
        journal.write_bytes(whole[:-cut])
        for file in tmp_path.glob("learner.npz*"):
            shutil.copy(file, tmp_path / file.name.replace("learner", f"cut{cut}"))
        again = ledger.Ledger(tmp_path / f"cut{cut}.npz")
        assert (again.learner.t, list(again.open)) == (0, [0])
        again.tell(asked["ticket"], high(asked))
        assert again.learner.t == 1


def test_a_damaged_journal_and_a_missing_learner_are_said(tmp_path, book):
    book.close()
    journal = tmp_path / "learner.npz.journal"
    begun = journal.read_bytes()
    for damage in (b"nonsense\n", b'{"in": 7, "round": 0, "report": 1}\n', b"[]\n", b"7\n"):
        journal.write_bytes(begun + damage)
        with pytest.raises(ValueError, match="learner.npz.journal: must be a whole journal"):
            ledger.Ledger(tmp_path / "learner.npz")
    ahead = b'{"out": 0, "arm": 0, "visit": null}\n{"in": 0, "round": 9, "report": 1}\n'
    journal.write_bytes(begun + ahead)
    with pytest.raises(ValueError, match="has 0 reports, and its journal goes on after 9"):
        ledger.Ledger(tmp_path / "learner.npz")
    (tmp_path / "learner.npz").unlink()
    with pytest.raises(ValueError, match="learner.npz: is missing"):
        ledger.Ledger(tmp_path / "learner.npz")


def test_a_server_that_cannot_save_acknowledges_nothing_and_ends(tmp_path):
    """As with a full disk: files may not grow beyond a few kB. Then there is room again."""
    path = tmp_path / "learner.npz"
    with running(path) as server:
        limit = (20_000, 20_000)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)
        found = []
        acknowledged = 0
        with contextlib.suppress(OSError, http.client.HTTPException):  # it ends in the middle
            for _ in range(1000):
                _, asked = answer(server.url + "/ask")
                found.append(asked)
                answer(server.url + "/tell", {"ticket": asked["ticket"], "report": high(asked)})
                acknowledged += 1
        assert server.process.wait(10) == 1
        assert 10 < len(found) < 1000
        server.kill()
        server.start()
        assert acknowledged <= answer(server.url + "/best")[1]["users"] <= len(found)
        for asked in found:  # all of them again: those that were counted are not counted twice
            body = {"ticket": asked["ticket"], "report": high(asked)}
            assert answer(server.url + "/tell", body) == (200, {"counted": True})
        assert answer(server.url + "/best")[1]["users"] == len(found)


def test_two_servers_on_one_file_are_refused(tmp_path, server):
    said = "Stopped. .*another server is at work"
    with pytest.raises(RuntimeError, match=said), running(tmp_path / "learner.npz"):
        pass


def test_a_folder_that_is_not_there_and_a_port_that_is_taken_are_said(tmp_path, server):
    with pytest.raises(RuntimeError, match="Stopped. .*nowhere.*: No such file or directory"):
        with running(tmp_path / "nowhere/learner.npz"):
            pass
    words = [sys.executable, str(campaign.HERE / "server.py"), str(tmp_path / "other.npz")]
    words.append(f"--port={server.port}")
    done = subprocess.run(words, env=campaign.ENV, capture_output=True, text=True)
    assert re.search(rf"Stopped. port {server.port}: Address already in use", done.stderr)
    assert "Traceback" not in done.stderr


# ---- Many users at once --------------------------------------------------------------------------


def test_many_users_are_out_at_once_each_with_the_curator_of_the_arm(server):
    learner = experiment.learner()
    tickets = [answer(server.url + "/ask")[1] for _ in range(200)]
    assert len({asked["ticket"] for asked in tickets}) == 200
    out = np.bincount([asked["arm"] for asked in tickets], minlength=experiment.PROBLEM.n)
    assert (out <= learner.plan()).all()
    for asked in tickets:
        curator = learner.curator(asked["arm"])
        expected = {name: getattr(curator, name) for name in ("eps", "centre", "bound", "scale")}
        assert asked["curator"] == {"kind": "one bit"} | expected
        assert asked["point"] == experiment.POINTS[asked["arm"]].tolist()
    random.Random(0).shuffle(tickets)
    for asked in tickets:
        body = {"ticket": asked["ticket"], "report": high(asked)}
        assert answer(server.url + "/tell", body) == (200, {"counted": True})
    server.stop()
    assert len(server.log) == 200


def test_a_plan_ends_when_all_its_plays_are_in_and_the_next_has_windows_of_its_own(
    book, quick_disk
):
    size = int(book.learner.plan().sum())
    tickets = [book.ask() for _ in range(size)]
    with pytest.raises(ledger.Refused, match="all plays of this plan are out") as refused:
        book.ask()
    assert refused.value.status == 503
    for asked in tickets:
        book.tell(asked["ticket"], simulated(asked))
    windows = [book.ask()["curator"] for _ in range(100)]
    assert any(window["centre"] != 0 for window in windows)
    assert all(window["bound"] <= tickets[0]["curator"]["bound"] for window in windows)
    assert min(window["bound"] for window in windows) < tickets[0]["curator"]["bound"]
    assert all(asked["curator"]["centre"] == 0 for asked in tickets)


def test_the_order_inside_a_plan_is_drawn_and_is_not_that_of_the_arms(book):
    arms = [book.ask()["arm"] for _ in range(60)]
    assert arms != sorted(arms)
    assert len(set(arms)) > 20


def test_a_restarted_server_goes_on_in_the_order_of_an_undisturbed_one(tmp_path, quick_disk):
    undisturbed = ledger.Ledger(tmp_path / "one.npz")
    arms = [undisturbed.ask()["arm"] for _ in range(40)]
    restarted = []
    for _ in range(4):
        book = ledger.Ledger(tmp_path / "other.npz")
        restarted += [book.ask()["arm"] for _ in range(10)]
        book.lock_file.close()
    assert restarted == arms


def test_a_report_counts_once_however_often_it_is_sent_also_after_its_plan_and_a_restart(server):
    asked = answer(server.url + "/ask")[1]
    told = {"ticket": asked["ticket"], "report": high(asked)}
    for _ in range(3):
        assert answer(server.url + "/tell", told) == (200, {"counted": True})
    campaign.result(campaign.visits(server.url, 1500, clients=20, seed=SEED))
    server.kill()
    server.start()
    other = {"ticket": asked["ticket"], "report": -high(asked)}
    assert answer(server.url + "/tell", told) == (200, {"counted": True})
    assert answer(server.url + "/tell", other) == (200, {"counted": True})
    assert answer(server.url + "/best")[1]["users"] == 1501
    server.kill()
    assert len(server.rounds()) == len(server.log) == 1501
    assert server.log[0] == {"round": 0, "arm": asked["arm"], "report": high(asked)}


def test_a_client_that_got_no_answer_asks_again_and_gets_the_same_ticket(server):
    first = answer(server.url + "/ask?visit=abc")[1]
    assert answer(server.url + "/ask?visit=other")[1]["ticket"] != first["ticket"]
    server.kill()
    server.start()
    assert answer(server.url + "/ask?visit=abc")[1] == first
    answer(server.url + "/tell", {"ticket": first["ticket"], "report": high(first)})
    assert answer(server.url + "/ask?visit=abc")[1]["ticket"] != first["ticket"]


def test_a_lease_that_ends_returns_the_play_and_a_late_report_is_refused(tmp_path):
    with running(tmp_path / "learner.npz", learner="GP-UCB", lease=0.5) as server:
        plan = experiment.learner(None, "GP-UCB").plan()
        lost = [answer(server.url + "/ask")[1] for _ in range(int(plan.sum()))]
        assert answer(server.url + "/ask")[0] == 503
        time.sleep(0.6)
        second = [answer(server.url + "/ask")[1] for _ in lost]
        assert [asked["arm"] for asked in second] == [asked["arm"] for asked in lost]
        body = {"ticket": lost[0]["ticket"], "report": high(lost[0])}
        status, reply = answer(server.url + "/tell", body)
        assert status == 410
        assert "lease of this ticket has ended" in reply["error"]
        for _ in range(2):  # once from the journal's lines, once from its beginning
            server.kill()
            server.start()
            assert answer(server.url + "/tell", body)[0] == 410
        assert client.tell(server.url, body["ticket"], body["report"]) == "late"
        assert answer(server.url + "/best")[1]["users"] == 0


@pytest.mark.build
def test_hundreds_of_clients_and_two_kills_lose_and_double_nothing(tmp_path):
    """3000 users, 300 of them at once, over the end of a plan; the server is killed twice."""
    path = tmp_path / "learner.npz"
    found = campaign.load(path, users=3000, clients=300, kills=(700, 1600), seconds=60.0)
    assert (found["counted"], found["late"], found["over"]) == (3000, 0, 0)
    assert [row["round"] for row in found["rounds"]] == list(range(3000))
    counted = collections.Counter((row["arm"], row["report"]) for row in found["rounds"])
    assert sorted([arm, told, n] for (arm, told), n in counted.items()) == found["reports"]
    saved = core.load(path, experiment.PROBLEM)
    assert state(saved) == state(replay(found["rounds"]))
    assert saved.batch == 2  # the second plan is under way
    assert found["best"] == ledger.standing(saved)
    assert found["lives"] == 3
    for waits in (found["tell"], found["ask"], found["done"]):
        assert len(waits) == 99 and waits[0] > 0 and waits == sorted(waits)
    assert found["tell"][-1] < 10 and found["done"][-1] <= found["seconds"]
    assert 200 < found["bytes"] < 500


def test_simulated_users_at_a_terminal_say_in_a_sentence_what_became_of_them(server):
    command = [sys.executable, str(DEPLOY / "users.py"), server.url, "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert re.match(r"7 reports counted in \d+\.\d s \(\d+ a second\); 0 came", done.stdout)
    assert len(done.stdout.splitlines()) == 1 and len(done.stdout) < 120
    command[-2] = "http://example.org"
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr.startswith("Stopped. url = ") and "Traceback" not in done.stderr


def test_a_server_started_by_a_script_in_the_background_saves_at_control_c(tmp_path):
    """A shell without job control ignores SIGINT for what it starts with `&`."""
    state = tmp_path / "learner.npz"
    script = f'"{sys.executable}" "{DEPLOY / "server.py"}" "{state}" & echo $!; wait'
    shell = subprocess.Popen(
        ["sh", "-c", script], stdout=subprocess.PIPE, text=True, env=campaign.ENV
    )
    process = int(shell.stdout.readline())
    try:
        assert "listening on" in shell.stdout.readline()
        os.kill(process, signal.SIGINT)
        shell.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.kill(process, signal.SIGKILL)
        raise


def test_the_load_test_is_for_a_server_of_ones_own_and_stops_by_itself(server):
    for url, clients in (("http://example.org", 1), (server.url, 1001), (server.url, 0)):
        with pytest.raises(ValueError, match="must be a server on 127.0.0.1, and from 1 to 1000"):
            users.crowd(url, 10, clients)
    start = time.monotonic()
    found = users.crowd(server.url, 10**9, clients=3, seconds=0.5)
    assert found["counted"] > 0
    assert time.monotonic() - start < 5


# ---- What is refused -----------------------------------------------------------------------------

IMPOSSIBLE = ("1e99", "0.1", "0", "-1e99", "true", '"much"', "null", "[1]", "NaN", "1" + "0" * 400)


def test_a_report_that_the_curator_cannot_have_made_is_refused_and_changes_nothing(server):
    asked = answer(server.url + "/ask")[1]
    for report in IMPOSSIBLE:
        body = f'{{"ticket": "{asked["ticket"]}", "report": {report}}}'.encode()
        status, reply = answer(server.url + "/tell", body)
        assert status == 400, report
        assert ": must be " in reply["error"]
    assert (
        f"{high(asked)!r}"
        in answer(server.url + "/tell", body.replace(b"0" * 400, b""))[1]["error"]
    )
    assert answer(server.url + "/best")[1]["users"] == 0
    body = {"ticket": asked["ticket"], "report": high(asked)}
    assert answer(server.url + "/tell", body) == (200, {"counted": True})
    server.kill()
    assert server.log == [{"round": 0, "arm": asked["arm"], "report": high(asked)}]


def test_low_digits_of_a_report_in_which_a_name_could_hide_are_not_kept(server):
    asked = answer(server.url + "/ask")[1]
    named = high(asked) * (1 + 3e-10)
    assert answer(server.url + "/tell", {"ticket": asked["ticket"], "report": named})[0] == 200
    server.kill()
    assert server.log[0]["report"] == high(asked) != named


def test_a_ticket_cannot_be_guessed(server):
    asked = answer(server.url + "/ask")[1]
    number, seal = asked["ticket"].split("-")
    assert number == "0"
    assert len(seal) == 24
    wrong = ["0", "1", "", "-", "0-", f"1-{seal}", f"00-{seal}", f"0-{seal[::-1]}", "\u0660-é"]
    for ticket in wrong:
        status, reply = answer(server.url + "/tell", {"ticket": ticket, "report": high(asked)})
        assert (status, "must be one that GET /ask gave" in reply["error"]) == (409, True), ticket
    assert answer(server.url + "/best")[1]["users"] == 0


def test_whatever_a_client_sends_is_answered_and_only_round_arm_and_report_are_logged(server):
    """No traceback, no address of the client, and nothing of what else it sends."""
    asked = answer(server.url + "/ask?visit=Eve")[1]
    bodies = (
        b"nonsense",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 900,
        b" " * 5000 + json.dumps({"ticket": asked["ticket"], "report": high(asked)}).encode(),
        b'{"ticket": 0, "report": 1}',
        b'{"ticket": ["0"], "report": 1}',
        b'{"report": 1}',
        b'{"ticket": "0"}',
    )
    for body in bodies:
        assert answer(server.url + "/tell", body)[0] == 400, body
    for length in (b"-1", b"1e3", b"", b"99999999999"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=4) as connection:
            connection.sendall(b"POST /tell HTTP/1.1\r\nContent-Length: " + length + b"\r\n\r\n{}")
            assert connection.recv(1000).startswith(b"HTTP/1.1 400 "), length
    told = {"ticket": asked["ticket"], "report": high(asked), "name": "Eve", "reward": 0.123}
    assert answer(server.url + "/other", told)[0] == 400
    for path in ("/other", "/", "//[", "/%", "/tell"):
        assert answer(server.url + path)[0] == 404, path
    assert answer(server.url + "/tell", told)[0] == 200
    server.kill()
    assert server.log == [{"round": 0, "arm": asked["arm"], "report": high(asked)}]
    assert server.errors == []


def test_an_answer_names_no_time_and_is_kept_by_nobody(server):
    with urllib.request.urlopen(server.url + "/ask", timeout=10) as reply:
        assert "Date" not in reply.headers
        assert reply.headers["Cache-Control"] == "no-store"


def test_a_client_that_hangs_in_the_middle_of_a_request_keeps_nobody_out(server):
    with socket.create_connection(("127.0.0.1", server.port)) as hanging:
        hanging.sendall(b"POST /tell HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
        start = time.monotonic()
        assert answer(server.url + "/ask")[0] == 200
        assert time.monotonic() - start < 2


def test_neither_the_log_nor_the_files_hold_a_reward(server):
    found = campaign.result(campaign.visits(server.url, 30, seed=SEED))
    server.kill()
    folder = Path(server.options[0]).parent
    blob = (
        b"".join(file.read_bytes() for file in folder.iterdir()) + json.dumps(server.log).encode()
    )
    points = experiment.POINTS.tolist()
    rewards = [
        users.measure(points[row["arm"]], users.source(SEED, f"{row['round']}-"))
        for row in server.log
    ]
    assert found["counted"] == len(rewards) == 30
    assert not any(
        np.float64(y).tobytes() in blob or repr(float(y)).encode() in blob for y in rewards
    )
    scale = experiment.learner().curator(0).scale
    assert {row["report"] for row in server.log} == {-scale, scale}


# ---- Horizon, options and stopping ---------------------------------------------------------------


def test_after_the_horizon_nothing_is_asked_or_counted(tmp_path):
    with running(tmp_path / "learner.npz", T=2) as server:
        tickets = [answer(server.url + "/ask")[1] for _ in range(2)]
        assert answer(server.url + "/ask")[0] == 503  # one of the two may be lost
        bodies = [{"ticket": asked["ticket"], "report": high(asked)} for asked in tickets]
        assert [answer(server.url + "/tell", body)[0] for body in bodies] == [200, 200]
        for url, body in (("/ask", None), ("/tell", {"ticket": "2-abc", "report": 1.0})):
            status, reply = answer(server.url + url, body)
            assert status == 410
            assert "the experiment is over" in reply["error"]
        assert answer(server.url + "/tell", bodies[0]) == (200, {"counted": True})
        assert client.ask(server.url) is None
        assert client.visit(server.url, lambda asked: 0.0, eps=2.0) == "over"
    assert core.load(tmp_path / "learner.npz", experiment.PROBLEM).t == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"T": 5000}, "T = 5000: .* was started with 1000; leave the option out"),
        ({"learner": "GP-UCB"}, "learner = 'GP-UCB': .* was started with 'PE'"),
        ({"lease": -1}, "lease = -1.0: must be a number > 0"),
        ({"snapshot": 0}, "snapshot = 0: must be"),
    ],
)
def test_an_option_that_disagrees_with_the_saved_state_is_said(tmp_path, options, says):
    path = tmp_path / "learner.npz"
    ledger.Ledger(path, 1000).close()
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match=f"^Stopped. {says}"), running(path, **options):
        pass
    assert path.read_bytes() == before
    with running(path, T=1000, learner="PE") as server:  # the same words again are fine
        assert answer(server.url + "/ask")[0] == 200


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"EPS": 1.0}, "eps = 1.0: .* was started with 2.0"),
        ({"F": 0.8}, "its F differs: 1.0 there, 0.8 here"),
        ({"B": 2.0}, "its B differs: 1.0 there, 2.0 here"),
        ({"R": 0.6}, "its R differs: 0.5 there, 0.6 here"),
        ({"delta": 0.01}, "delta = 0.01: .* was started with 0.1"),
    ],
)
def test_an_experiment_that_was_changed_under_a_saved_state_is_said(
    tmp_path, monkeypatch, change, says
):
    path = tmp_path / "learner.npz"
    ledger.Ledger(path).close()
    bounds = {"B": 1.0, "F": 1.0, "R": 0.5}
    if "EPS" in change:
        monkeypatch.setattr(experiment, "EPS", change["EPS"])
    elif "delta" in change:
        learners = {name: told | change for name, told in experiment.LEARNERS.items()}
        monkeypatch.setattr(experiment, "LEARNERS", learners)
    else:
        told = {"points": experiment.POINTS, "kernel": experiment.KERNEL} | bounds | change
        monkeypatch.setattr(experiment, "PROBLEM", core.Problem(**told))
    with pytest.raises(ValueError, match=says):
        ledger.Ledger(path)


def test_a_learner_that_does_not_plan_one_bit_reports_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "LEARNERS", {"PE": {}})
    monkeypatch.setattr(
        experiment, "learner", lambda T, name: core.make("TGP", experiment.PROBLEM, 9)
    )
    with pytest.raises(ValueError, match="TGP.*must be a learner that plans, on one-bit reports"):
        ledger.Ledger(tmp_path / "learner.npz")


def test_best_names_an_arm_at_any_time_without_a_horizon(tmp_path):
    with running(tmp_path / "learner.npz") as server:
        before = answer(server.url + "/best")[1]
        assert (before["users"], before["lower"], before["upper"]) == (0, -1.0, 1.0)
        assert before["regret"] == 2.0
        campaign.result(campaign.visits(server.url, 1100, clients=20, seed=SEED))
        status, after = answer(server.url + "/best")
        assert status == 200
        assert after["users"] == 1100
        assert (after["constants"], after["delta"]) == ("proved", 0.1)
        assert -1.0 < after["lower"] < after["upper"]
        assert after["regret"] < 2.0
        server.stop()
    learner = core.load(tmp_path / "learner.npz", experiment.PROBLEM)
    assert learner.settings.T is None
    assert ledger.standing(learner) == after
    assert learner.best() == (after["arm"], after["lower"], after["upper"])


def stopped(name, rng, enough):
    """A learner without a horizon, stopped when it says that its arm is good enough."""
    f = np.array([users.mean_reward(point) for point in experiment.POINTS.tolist()])
    learner = experiment.learner(None, name)
    while (found := ledger.standing(learner))["regret"] > enough:
        counts = learner.plan()
        sums = np.zeros(experiment.PROBLEM.n)
        for arm in np.flatnonzero(counts).tolist():
            curator = learner.curator(arm)
            odds = (1 + (f[arm] - curator.centre) / curator.scale) / 2
            sums[arm] = curator.total(int(counts[arm]), int(rng.binomial(counts[arm], odds)))
        learner.tell_sums(counts, sums)
    return found, f


@pytest.mark.parametrize("name", experiment.LEARNERS)
def test_what_is_said_when_the_experiment_is_stopped_for_what_it_says_is_true(name):
    """A proved band fails in a tenth of the runs at most: 13 of 40 have probability below 1e-4."""
    failures = 0
    for seed in range(40):
        found, f = stopped(name, np.random.default_rng(seed), enough=0.3)
        inside = found["lower"] <= f[found["arm"]] <= found["upper"]
        failures += not (inside and f.max() - f[found["arm"]] <= found["regret"] <= 0.3)
    assert failures < 13


def test_an_arm_that_is_left_alone_has_no_regret(book):
    learner = book.learner
    learner.active[:] = False
    learner.active[5] = True
    found = ledger.standing(learner)
    assert (found["arm"], found["regret"]) == (5, 0.0)


def test_what_a_page_shows_to_be_read_or_copied_fits_into_88_columns():
    own = ["add_your_own/algorithm.py", "add_your_own/curator.py", "add_your_own/rewards.py"]
    for name in [*own, "deploy/experiment.py", "deploy/client.py", "deploy/client.mjs"]:
        lines = (DEPLOY.parent / name).read_text("utf-8").splitlines()
        assert max(map(len, lines)) <= 88, name


# ---- Clients without dependencies ----------------------------------------------------------------


def test_the_vectors_are_those_of_exact_arithmetic_and_of_the_core():
    """The clients' probability is right to 2^-53, and the draw is compared with it exactly."""
    assert len(VECTORS) > 100
    assert {case["report"] > case["curator"]["centre"] for case in VECTORS} == {True, False}
    for case in VECTORS:
        curator = case["curator"]
        made = core.OneBit(curator["eps"], curator["bound"], 0.0, curator["centre"])
        assert math.isclose(made.scale, curator["scale"], rel_tol=1e-15)
        bound = Fraction(curator["bound"])
        away = Fraction(case["reward"] - curator["centre"])
        exact = (1 + min(max(away, -bound), bound) / Fraction(curator["scale"])) / 2
        chance = client.chance(case["reward"], curator)
        assert abs(Fraction(chance) - exact) <= Fraction(1, 2**53)
        is_high = Fraction(int(case["draw"]), 2**64) < Fraction(chance)
        assert case["report"] == curator["centre"] + (1 if is_high else -1) * curator["scale"]
        assert made.possible(case["report"])


def test_the_python_client_passes_the_vectors():
    for case in VECTORS:
        assert client.report(case["reward"], case["curator"], int(case["draw"])) == case["report"]


def in_node(code):
    """What a module prints as JSON that has imported the client."""
    imports = f'import * as client from "{(DEPLOY / "client.mjs").as_uri()}";'
    command = [NODE, "--input-type=module", "-e", imports + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


ALL_VECTORS = "cases.map((c) => client.report(c.reward, c.curator, BigInt(c.draw)))"


@needs_node
def test_the_javascript_client_passes_the_vectors_in_node():
    code = f"const cases = {json.dumps(VECTORS)}; console.log(JSON.stringify({ALL_VECTORS}));"
    assert in_node(code) == [case["report"] for case in VECTORS]


@pytest.fixture
def web(tmp_path):
    """A site of another origin than the server's, with the client on its page."""
    folder = tmp_path / "web"
    folder.mkdir()
    shutil.copy(DEPLOY / "client.mjs", folder)
    script = 'import * as client from "./client.mjs"; window.client = client;'
    page = f'<!doctype html><title>user</title><script type="module">{script}</script>'
    (folder / "index.html").write_text(page, encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


@pytest.mark.browser
@pytest.mark.parametrize("name", browsers.NAMES)
def test_the_javascript_client_passes_the_vectors_and_visits_in_a_browser(name, web, tmp_path):
    if reason := browsers.missing(name):
        pytest.skip(reason)
    with browsers.start(name) as browser, running(tmp_path / "l.npz", origin=web) as server:
        page = browser.page()
        page.goto(f"{web}/index.html")
        page.until("window.client")
        reports = page.js(f"((cases) => {ALL_VECTORS})({json.dumps(VECTORS)})")
        assert reports == [case["report"] for case in VECTORS]
        visit = f'client.visit("{server.url}", async ({{ point }}) => point[0] - 0.5, {{ eps: 2 }})'
        assert page.js(visit) == "counted"
        assert answer(server.url + "/best")[1]["users"] == 1
    with running(tmp_path / "closed.npz") as closed:
        status, _ = answer(closed.url + "/ask")  # without --origin no page may read an answer
        assert status == 200
        with urllib.request.urlopen(closed.url + "/ask", timeout=10) as reply:
            assert "Access-Control-Allow-Origin" not in reply.headers


@needs_node
def test_users_in_node_are_counted_and_wait_for_a_killed_server(server):
    code = f"""
        const measure = ({{ point }}) => point[0] - 0.5;
        const one = () => client.visit("{server.url}", measure, {{ eps: 2 }});
        const outcomes = [];
        for (let i = 0; i < 15; i++) {{
          outcomes.push(...await Promise.all([one(), one(), one(), one()]));
        }}
        console.log(JSON.stringify(outcomes));
    """
    found = []
    thread = threading.Thread(target=lambda: found.extend(in_node(code)))
    thread.start()
    server.wait_for(20)
    server.kill()
    server.start()
    thread.join()
    assert found == ["counted"] * 60
    assert answer(server.url + "/best")[1]["users"] == 60


@needs_node
def test_a_late_and_a_needless_user_in_node_learn_of_it(tmp_path):
    with running(tmp_path / "learner.npz", T=1, lease=0.3) as server:
        code = f"""
            const late = await client.ask("{server.url}");
            await new Promise((wake) => setTimeout(wake, 400));
            const {{ centre, scale }} = late.curator;
            const outcomes = [await client.tell("{server.url}", late.ticket, centre + scale)];
            for (let i = 0; i < 2; i++) {{
              outcomes.push(await client.visit("{server.url}", () => 0, {{ eps: 2 }}));
            }}
            console.log(JSON.stringify(outcomes));
        """
        assert in_node(code) == ["late", "counted", "over"]


HONEST = {"eps": 1.0, "centre": 0.25, "bound": 1.5, "scale": 1.5 / math.tanh(0.5)}
GREEDY = (
    {"scale": 1.5},
    {"scale": 1.5 / math.tanh(0.5000001)},
    {"scale": 0.1},
    {"scale": -4.0},
    {"bound": 0.0},
    {"bound": -1.0},
    {"centre": None},
    {"scale": "4"},
)


@pytest.mark.parametrize("change", GREEDY)
def test_a_curator_that_would_reveal_more_than_was_promised_is_refused(change):
    for eps in (1.0, 1.5, 20.0):
        client.check_curator(HONEST, eps)
    with pytest.raises(client.Refused, match="must be a one-bit curator of eps <= 1.0"):
        client.check_curator(HONEST | change, 1.0)
    with pytest.raises(client.Refused, match="must be a one-bit curator of eps <= 0.9"):
        client.check_curator(HONEST, 0.9)


@needs_node
def test_the_javascript_client_refuses_the_same_curators():
    cases = [[HONEST, 1.0], [HONEST, 20.0], *([HONEST | c, 1.0] for c in GREEDY), [HONEST, 0.9]]
    code = f"""
        const refused = ([curator, eps]) => {{
          try {{ client.checkCurator(curator, eps); return ""; }} catch (e) {{ return e.message; }}
        }};
        console.log(JSON.stringify({json.dumps(cases)}.map(refused)));
    """
    said = in_node(code)
    assert said[:2] == ["", ""]
    assert all("must be a one-bit curator of eps <= " in text for text in said[2:])


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.5, 1.0, math.log(3), 2.0, 5.0, 12.0, 30.0])
def test_an_honest_curator_is_never_refused_and_reveals_eps(eps):
    """The odds of the report at the two ends of the range, as integers out of 2^64."""
    rng = random.Random(1)
    for _ in range(200):
        made = core.OneBit(eps, 10 ** rng.uniform(-4, 4), rng.random(), rng.uniform(-9, 9))
        curator = {name: getattr(made, name) for name in ("centre", "bound", "scale")}
        client.check_curator(curator, eps)
        ends = [client.chance(sign * 1e300, curator) for sign in (1, -1)]
        highs = [math.ceil(Fraction(end) * 2**64) for end in ends]
        slack = 2.0**-51 * (1 + math.exp(eps)) * 2
        assert math.log(highs[0] / highs[1]) <= eps + slack
        assert math.log((2**64 - highs[1]) / max(2**64 - highs[0], 1)) <= eps + slack


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, "much", None, True, [1.0]])
def test_a_reward_that_is_no_number_is_refused(reward):
    with pytest.raises(ValueError, match="reward = .*: must be a finite number"):
        client.report(reward, HONEST)


@needs_node
def test_a_reward_that_is_no_number_is_refused_in_javascript():
    code = f"""
        const curator = {json.dumps(HONEST)};
        const refused = (reward) => {{
          try {{ client.report(reward, curator); return ""; }} catch (e) {{ return e.message; }}
        }};
        const rewards = [NaN, Infinity, "much", null, true, [1], undefined];
        console.log(JSON.stringify(rewards.map(refused)));
    """
    assert all("must be a finite number" in text for text in in_node(code))


def test_the_python_client_needs_nothing_and_takes_its_bits_from_the_system(monkeypatch):
    tree = ast.parse((DEPLOY / "client.py").read_text(encoding="utf-8"))
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    asked = []

    def randbits(bits):
        asked.append(bits)
        return 0

    monkeypatch.setattr(secrets, "randbits", randbits)
    assert client.report(0.0, HONEST) == HONEST["centre"] + HONEST["scale"]
    assert asked == [64]


def test_the_javascript_client_needs_nothing_and_takes_its_bits_from_the_system():
    code = (DEPLOY / "client.mjs").read_text(encoding="utf-8")
    lines = [line for line in code.splitlines() if not line.startswith("//")]
    assert not any("import " in line or "require(" in line for line in lines)
    assert "draw = systemBits()" in code
    assert "crypto.getRandomValues(new BigUint64Array(1))" in code
    if NODE:
        often = "Array.from({length: 4000}, () => client.report(0.5, curator) > curator.centre)"
        said = in_node(
            f"const curator = {json.dumps(HONEST)}; console.log(JSON.stringify({often}));"
        )
        p = client.chance(0.5, HONEST)
        assert abs(np.mean(said) - p) < 5 * math.sqrt(p * (1 - p) / 4000)  # false alarm: 6e-7


def test_the_python_client_asks_a_person(server):
    command = [sys.executable, "-I", str(DEPLOY / "client.py"), server.url, "--eps=2"]
    done = subprocess.run(command, input="0.7\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("arm ")
    assert done.stdout.endswith("your reward? counted\n")
    refused = {"much": "reward = 'much': must be a number", "": "No reward was given"}
    for eps, reward, why in (
        ("0.5", "0.7", "eps <= 0.5"),
        *(("2", *pair) for pair in refused.items()),
    ):
        command[-1] = f"--eps={eps}"
        done = subprocess.run(command, input=reward, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "Traceback" not in done.stderr
        assert done.stderr.startswith("Stopped. ") and why in done.stderr
    server.kill()
    assert len(server.log) == 1


def test_a_visit_refuses_a_greedy_server_before_it_looks_at_the_reward(server):
    looked = []
    with pytest.raises(client.Refused, match="must be a one-bit curator of eps <= 1.0"):
        client.visit(server.url, looked.append, eps=1.0)
    assert looked == []


def test_a_client_says_why_it_was_refused_and_gives_up_on_a_server_that_is_gone(server):
    with pytest.raises(client.Refused, match="must be one that GET /ask gave") as refused:
        client.tell(server.url, "7-abc", 1.0)
    assert refused.value.status == 409
    server.kill()
    with pytest.raises(OSError):
        client.ask(server.url, patience=0.2)


def test_the_simulated_users_are_of_the_experiment():
    """Same kernel, eps and bounds: the norm of their f is at most B, its size at most F."""
    assert users.EPS == experiment.EPS
    centres = np.array([users.PEAK, users.DIP])
    weights = np.array([1.0, -0.5])
    norm = math.sqrt(weights @ experiment.KERNEL(centres, centres) @ weights)
    assert 0.98 < norm <= experiment.PROBLEM.B
    f = experiment.KERNEL(experiment.POINTS, centres) @ weights
    told = [users.mean_reward(point) for point in experiment.POINTS.tolist()]
    assert np.allclose(f, told, atol=1e-12)
    assert abs(f).max() <= experiment.PROBLEM.F
    draws = [users.measure(users.PEAK, random.Random(i)) for i in range(100)]
    assert np.abs(np.array(draws) - users.mean_reward(users.PEAK)).max() <= experiment.PROBLEM.R
