"""Use it for real: server and client as two processes over HTTP, killed and started again.

They ask for the same arms as an undisturbed learner.
"""

import json
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

import ldpbo_core as core

ROOT = Path(core.__file__).resolve().parent
DEPLOY = ROOT / "notebooks/deploy"
sys.path.insert(0, str(DEPLOY))
import campaign
import client
import experiment

T = 120
SEED = 5


@pytest.fixture
def server(tmp_path):
    server = campaign.Server(tmp_path / "learner.npz", T, lease=1.0)
    server.state = tmp_path / "learner.npz"
    yield server
    if server.process.poll() is None:
        server.kill()


def undisturbed():
    """The same users, in this process, with no server in between -> [(arm, report)], learner."""
    learner = experiment.learner(T)
    curator = core.OneBit(experiment.EPS, experiment.PROBLEM.B, experiment.PROBLEM.R)
    rows = []
    for t in range(T):
        rng = default_rng([SEED, t])
        arm = learner.ask()
        reward = client.measure(experiment.POINTS[arm], rng)
        rows.append((arm, float(curator.privatise(reward, rng))))
        learner.tell(rows[-1][1])
    return rows, learner


def test_a_server_killed_five_times_asks_for_the_same_arms(tmp_path):
    log = campaign.run(tmp_path / "learner.npz", T, SEED, kills=(7, 8, 30, 61, 100))
    rows, learner = undisturbed()
    assert [row["round"] for row in log] == list(range(T))
    assert [(row["arm"], row["report"]) for row in log] == rows
    saved = core.load(tmp_path / "learner.npz", experiment.PROBLEM)
    assert saved.t == T
    assert (saved.mu == learner.mu).all()
    assert (saved.sigma == learner.sigma).all()
    assert len({arm for arm, _ in rows}) > 5


def test_a_client_killed_and_another_in_its_place_asks_for_the_same_arms(server):
    first = campaign.visits(server.url, T, SEED)
    server.wait_for(20)
    first.kill()
    assert campaign.visits(server.url, T, SEED).wait(120) == 0
    server.kill()
    assert [(row["arm"], row["report"]) for row in server.log] == undisturbed()[0]


def answer(url, body=None):
    """Status and JSON of the answer."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(url, data, timeout=10) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_one_user_is_out_at_a_time_and_no_report_counts_twice(server):
    assert answer(server.url + "/ask") == (200, {"round": 0, "arm": 0})
    assert answer(server.url + "/ask")[0] == 503
    assert answer(server.url + "/tell", {"round": 1, "report": 1.0})[0] == 409
    status, reply = answer(server.url + "/tell", {"round": 0, "report": "much"})
    assert status == 400
    assert "reward = 'much'" in reply["error"]
    for _ in range(3):
        assert answer(server.url + "/tell", {"round": 0, "report": 1.0}) == (200, {"counted": True})
    assert answer(server.url + "/ask")[1]["round"] == 1
    server.kill()
    assert server.log == [{"round": 0, "report": 1.0, "arm": 0}]


def raw(url, body):
    """Status of the answer to these bytes."""
    try:
        with urllib.request.urlopen(url, body, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


NONSENSE = [
    b"nonsense",
    b"[]",
    b"{}",
    b"\xff",
    b'{"round": 0}',
    b'{"round": "0", "report": 1}',
    b'{"round": true, "report": 1}',
    b'{"round": 0.0, "report": 1}',
    b'{"round": 0, "report": [1]}',
    b'{"round": 0, "report": NaN}',
]


def test_whatever_a_client_sends_is_answered_and_only_round_arm_and_report_are_logged(
    server, capfd
):
    """No traceback, no address of the client, and nothing of what else it sends."""
    for body in NONSENSE:
        assert raw(server.url + "/tell", body) == 400, body
    assert raw(server.url + "/other", b'{"round": 0, "report": 1}') == 400
    assert raw(server.url + "/other", None) == 404
    talkative = b'{"round": 0, "report": 1.0, "name": "Eve", "reward": 0.123}'
    assert raw(server.url + "/tell", talkative) == 200
    server.kill()
    assert server.log == [{"round": 0, "arm": 0, "report": 1.0}]
    assert capfd.readouterr().err == ""


def test_after_the_horizon_nothing_is_counted(tmp_path):
    server = campaign.Server(tmp_path / "learner.npz", 2)
    try:
        for t, status in enumerate([200, 200, 410, 410]):
            assert answer(server.url + "/tell", {"round": t, "report": 1.0})[0] == status
        assert answer(server.url + "/tell", {"round": 1, "report": 1.0})[0] == 200
        assert answer(server.url + "/ask")[0] == 410
    finally:
        server.kill()
    assert core.load(tmp_path / "learner.npz", experiment.PROBLEM).t == 2


def test_a_client_that_hangs_in_the_middle_of_a_request_keeps_others_out_for_seconds_only(server):
    with socket.create_connection(("127.0.0.1", server.port)) as hanging:
        hanging.sendall(b"POST /tell HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
        assert answer(server.url + "/ask")[0] == 200  # within the 10 s that `answer` waits


def test_neither_the_log_nor_the_state_holds_a_reward(server):
    assert campaign.visits(server.url, 30, SEED).wait(120) == 0
    server.kill()
    assert len(server.log) == 30
    blob = server.state.read_bytes() + json.dumps(server.log).encode()
    for row in server.log:
        point = experiment.POINTS[row["arm"]]
        reward = client.measure(point, default_rng([SEED, row["round"]]))
        assert np.float64(reward).tobytes() not in blob
        assert repr(float(reward)).encode() not in blob
    scale = core.OneBit(experiment.EPS, 1.0, 1.0).scale
    assert {row["report"] for row in server.log} == {-scale, scale}
