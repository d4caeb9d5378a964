"""Tables read and learners saved: what is refused, in which words; nothing is lost or let out."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose, assert_array_equal
from pytest import mark, raises

import ldpbo_core as core
from ldpbo import saving as files

ROOT = Path(core.__file__).resolve().parent
TABLE = default_rng(0).gamma(2.0, 30.0, (80, 9))


# ---- tables -------------------------------------------------------------------------------------
VALUES = [[1.5, 2.0], [-3.25, 4e3], [0.5, 6.0]]
PLAIN = {  # a file, the names of its columns, and those of columns that are left out
    "header": ("a,b\n1.5,2\n-3.25,4e3\n.5,6\n", "ab", []),
    "no header": ("1.5,2\n-3.25,4e3\n.5,6\n", None, []),
    "semicolons": ("a;b\n1.5;2\n-3.25;4e3\n.5;6\n", "ab", []),
    "tabs, Windows line ends and a byte order mark": (
        "\ufeffa\tb\r\n1.5\t2\r\n-3.25\t4e3\r\n.5\t6\r\n",
        "ab",
        [],
    ),
    "spaces": ("1.5   2\n-3.25 4e3 \n .5   6\n", None, []),
    "decimal comma": ("a;b\n1,5;2\n-3,25;4e3\n,5;6\n", "ab", []),
    "decimal comma, tabs, no header": ("1,5\t2\n-3,25\t4e3\n,5\t6\n", None, []),
    "quotes, blank lines, blanks": (
        '"a" , "b"\n\n 1.5 , "2"\n-3.25,4e3\n\n.5,6\n\n',
        "ab",
        [],
    ),
    "dates": (
        "date,a,b\n2020-01-01,1.5,2\n2020-01-02,-3.25,4e3\n2020-01-05,.5,6\n",
        "ab",
        ["date"],
    ),
    "dates without header": (
        "2020-01-01,1.5,2\n2020-01-02,-3.25,4e3\n2020-01-05,.5,6\n",
        None,
        ["column 1"],
    ),
    "German dates with a decimal comma": (
        "Tag;a;b\n31.12.2020;1,5;2\n1.1.2021;-3,25;4e3\n2.1.2021;,5;6\n",
        "ab",
        ["Tag"],
    ),
    "row numbers as pandas writes them": (",a,b\n0,1.5,2\n1,-3.25,4e3\n2,.5,6\n", "ab", [""]),
    "years": ("year,a,b\n1999,1.5,2\n2000,-3.25,4e3\n2001,.5,6\n", "ab", ["year"]),
    "labels": ("user,a,b\nx,1.5,2\ny,-3.25,4e3\nz,.5,6\n", "ab", ["user"]),
    "row numbers and dates, as pandas writes them": (
        ",date,a,b\n0,2020-01-01,1.5,2\n1,2020-01-02,-3.25,4e3\n2,2020-01-05,.5,6\n",
        "ab",
        ["", "date"],
    ),
}


@mark.parametrize("case", PLAIN)
def test_a_table_is_read_whatever_its_dress(case, tmp_path):
    text, names, left_out = PLAIN[case]
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = core.read_table(tmp_path / "t.csv")
    assert_array_equal(table.values, VALUES)
    assert len(table.names) == 2
    assert names is None or table.names == list(names)
    assert list(table.left_out) == left_out
    if case == "labels":
        assert table.left_out["user"] == ["x", "y", "z"]


def test_no_row_is_lost_without_a_header_and_said_otherwise_a_header_of_numbers_is_one(tmp_path):
    (tmp_path / "t.csv").write_text("1999,2000\n1,2\n3,5\n")
    assert core.read_table(tmp_path / "t.csv").values.shape == (3, 2)
    table = core.read_table(str(tmp_path / "t.csv"), header=True)
    assert table.names == ["1999", "2000"]
    assert table.values.tolist() == [[1, 2], [3, 5]]


def test_what_is_said_is_taken(tmp_path):
    """A decimal comma that is named is no delimiter; UTF-16 has a mark.

    Lines are counted as an editor does, also after a name of two lines.
    """
    path = tmp_path / "t.csv"
    path.write_text("a\n1,5\n2,5\n")
    assert core.read_table(path, decimal=",").values.tolist() == [[1.5], [2.5]]
    path.write_text("a b\n1,5 2\n2,5 3\n")
    assert core.read_table(path, decimal=",").values.tolist() == [[1.5, 2], [2.5, 3]]
    path.write_bytes("a\tb\r\n1\t2\r\n".encode("utf-16"))
    assert core.read_table(path).values.tolist() == [[1, 2]]
    assert core.read_table(path).names == ["a", "b"]
    path.write_text('"a\nA",b\n1,2\n3,four\n')
    with raises(ValueError, match="line 4, column 2 .b. is 'four'"):
        core.read_table(path)


NO_TABLE_HAS = [
    ("delimiter", ",;"),
    ("delimiter", 5),
    ("decimal", ";"),
    ("decimal", None),
    ("header", "yes"),
    ("header", 3),
]


@mark.parametrize("name, value", NO_TABLE_HAS)
def test_a_setting_that_no_table_has_is_named(name, value, tmp_path):
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    with raises(ValueError, match=f"{name} = {value!r}: must be"):
        core.read_table(tmp_path / "t.csv", **{name: value})


def test_one_column_is_a_table_of_one_arm_even_if_it_counts(tmp_path):
    (tmp_path / "t.csv").write_text("1\n2\n3\n")
    table = core.read_table(tmp_path / "t.csv")
    assert table.values.shape == (3, 1)
    assert not table.left_out
    (tmp_path / "t.csv").write_text("i,a\n0,7\n1,5\n2,9\n")
    table = core.read_table(tmp_path / "t.csv")
    assert table.values.tolist() == [[7], [5], [9]]
    assert table.left_out == {"i": ["0", "1", "2"]}


BAD = {
    "an empty file": ("", ["empty", "rows of numbers"]),
    "a header alone": ("a,b\n", ["row of numbers"]),
    "a word": ("a,b\n1,2\n3,four\n5,6\n", ["line 3", "column 2 (b)", "'four'", "finite number"]),
    "an empty cell": (
        "date,a,b\n2020-01-01,1,2\n2020-01-02,,3\n",
        ["line 3", "column 2 (a)", "''"],
    ),
    "NaN": ("a,b\n1,2\nnan,3\n", ["line 3", "column 1 (a)", "'nan'"]),
    "infinity": ("a,b\n1,2\n1,inf\n", ["line 3", "column 2 (b)", "'inf'"]),
    "a short row after a blank line": ("a,b\n1,2\n\n3,\n4\n", ["line 5", "1 cells", "2"]),
    "a missing value in a first row without header": (
        "NA,1.5\n2,3\n",
        ["line 1", "column 1", "'NA'"],
    ),
    "thousands in German": ("a;b\n1.234,5;2\n3;4,5\n", ["line 2", "column 1 (a)", "'1.234,5'"]),
    "thousands": ('a,b\n"1,234",2\n3,4\n', ["line 2", "column 1 (a)", "'1,234'"]),
    "a cell longer than any number": (f"a,b\n1,{'9' * 200_000}\n", ["line 2", "field larger"]),
    "nothing but row numbers and labels": (
        "i,who\n0,x\n1,y\n2,z\n",
        ["line 2", "column 2 (who)", "'x'"],
    ),
    "two decimal signs": ("a;b\n1.5;2,5\n", ["line 2", "column 2 (b)", "'2,5'", "decimal"]),
}


@mark.parametrize("case", BAD)
def test_what_is_no_number_is_named_by_line_and_column(case, tmp_path):
    text, words = BAD[case]
    (tmp_path / "t.csv").write_text(text)
    with raises(ValueError) as error:
        core.read_table(tmp_path / "t.csv")
    for word in ["t.csv", *words]:
        assert word in str(error.value), f"{word!r} is not in: {error.value}"


def test_stand_ins_read_as_numpy_reads_them():
    for name, columns in (("stocks", 20), ("light", 41)):
        path = ROOT / f"data/{name}.csv"
        table = core.read_table(path)
        numbers = range(1, columns + 1)
        expected = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=numbers)
        assert_array_equal(table.values, expected)
    assert set(table.left_out["split"]) == {"train", "test"}
    assert table.names[0] == "b2"


# ---- saved learners -----------------------------------------------------------------------------
PROBLEMS = {
    "table": core.table_problem(TABLE),
    "no f": core.Problem(K=core.synthetic_problem(n=15, seed=0).K, B=2.0, R=1.0),
}
SETTINGS = {
    "private": dict(eps=1.0),
    "not private": dict(q=2.0),
    "one bit": dict(eps=2.0, curator=core.OneBit, beta_scale=0.3),
    "printed": dict(eps=1.0, constants="printed", k=7),
    "proved": dict(eps=1.0, constants="proved"),
    "a seeded Philox": dict(eps=1.0, q=0.5, rng=np.random.Generator(np.random.Philox(4))),
}


def compare(one, other, where):
    """Two learners are the same, bit for bit."""
    assert one.ask() == other.ask(), where
    assert (one.t, one.beta) == (other.t, other.beta), where
    assert_array_equal(one.mu, other.mu, err_msg=where)
    assert_array_equal(one.sigma, other.sigma, err_msg=where)


@mark.parametrize("settings", SETTINGS)
@mark.parametrize("name", core.ALGORITHMS)
def test_a_saved_learner_goes_on_bit_for_bit(name, settings, tmp_path):
    """Saved at three moments, right after a tell and between ask and tell.

    Rewards with outliers, so that truncation acts.
    """
    told = dict(rng=5) | copy.deepcopy(SETTINGS[settings])
    if told.get("constants") not in core.ALGORITHMS[name].presets:
        told["constants"] = "order"
    path = tmp_path / "learner.npz"
    for kind, problem in PROBLEMS.items():
        learner = core.make(name, problem, 260, **copy.deepcopy(told))
        reports = 40 * default_rng(2).standard_t(2, 260)
        if settings == "one bit":  # all that its curator reports
            reports = np.where(reports > 0, learner.settings.size, -learner.settings.size)
        for t, y in enumerate(reports):
            if t in (3, 101, 180):
                if t != 101:
                    learner.ask()
                learner.save(path)
                twin = core.load(path, problem)
                assert type(twin) is type(learner)
                assert twin.settings.T == 260
                assert twin.problem is problem
            if t >= 3:
                compare(learner, twin, f"{kind}, {t}")
                twin.tell(y)
            learner.ask()
            learner.tell(y)
        assert os.listdir(tmp_path) == ["learner.npz"]


def test_a_saved_learner_with_openDPs_curator(tmp_path):
    pytest.importorskip("opendp")
    learner = core.make("TGP", PROBLEMS["table"], 50, eps=1.0, curator=core.SecureCTL)
    learner.save(tmp_path / "learner.npz")
    curator = core.load(tmp_path / "learner.npz", PROBLEMS["table"]).settings.curator
    assert curator.promise == learner.settings.curator.promise
    assert np.isfinite(curator.privatise(1.0))


def test_a_file_has_no_pickle_and_says_what_it_is(tmp_path):
    path = tmp_path / "learner.npz"
    core.make("ATA", PROBLEMS["table"], 50, eps=1.0).save(path)
    with np.load(path, allow_pickle=False) as file:
        assert all(file[member].dtype.kind != "O" for member in file)
        header = json.loads(bytes(file["header"]))
    assert header["format"] == "ldpbo learner"
    assert header["version"] == files.FORMAT
    assert header["learner"]["class"] == "ATA"


def rewritten(path, **change):
    """The file with another header."""
    with np.load(path) as file:
        members = dict(file)
    header = json.loads(bytes(members["header"])) | change
    members["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **members)


@pytest.fixture
def saved(tmp_path):
    """The file of a fresh learner on the problem without f."""
    path = tmp_path / "learner.npz"
    core.make("MoMA", PROBLEMS["no f"], 50, eps=1.0).save(path)
    return path


K = PROBLEMS["no f"].K
OTHERS = {
    "n": core.Problem(K=np.eye(3), B=2.0, R=1.0),
    "B": core.Problem(K=K, B=2.5, R=1.0),
    "R": core.Problem(K=K, B=2.0, R=0.5),
    "kernel": core.Problem(K=np.eye(15), B=2.0, R=1.0),
    "alpha": core.Problem(K=K, B=2.0, R=1.0, v=5.0, c=1.0, alpha=0.5),
}


@mark.parametrize("name", OTHERS)
def test_another_problem_is_refused_by_what_differs(name, saved):
    other = OTHERS[name]
    words = f"problem: must be the one that .*learner.npz was saved with; its {name} differs"
    if name == "kernel":
        words += "$"
    else:
        there = getattr(PROBLEMS["no f"], name)
        words += f": {there!r} there, {getattr(other, name)!r} here"
    with raises(ValueError, match=words):
        core.load(saved, other)


def test_the_same_problem_may_have_another_machines_rounding_and_a_known_f(saved):
    there = core.load(saved, PROBLEMS["no f"])
    for t in range(30):
        there.tell(np.cos(there.ask() + t))
    there.save(saved)
    here = core.load(saved, core.Problem(K=K * (1 + 1e-15), f=np.zeros(15), B=2.0, R=1.0))
    assert here.t == there.t == 30
    assert np.abs(there.mu).max() > 0
    assert_allclose(here.mu, there.mu, rtol=1e-9, atol=1e-12)
    assert_allclose(here.sigma, there.sigma, rtol=1e-9)
    assert here.ask() == there.ask()


@mark.parametrize("version", [99, files.FORMAT - 1])
def test_another_version_is_refused(version, saved):
    rewritten(saved, version=version)
    words = f"version {version}.*version {files.FORMAT}.*core that wrote it"
    with raises(ValueError, match=words):
        core.load(saved, PROBLEMS["no f"])


NO_FILE = "learner.npz: must be a whole file that learner.save wrote"


def test_damage_and_things_of_another_kind_are_refused(saved):
    problem = PROBLEMS["no f"]
    whole = saved.read_bytes()
    pickled = pickle.dumps(core.load(saved, problem))
    rewritten(saved, version=1, format="something else")
    with raises(ValueError, match="something else"):
        core.load(saved, problem)
    for damage in (whole[: len(whole) // 2], b"", b"not a zip", pickled):
        saved.write_bytes(damage)
        with raises(ValueError, match=NO_FILE):
            core.load(saved, problem)
    np.savez(saved, header=np.array([{"a": 1}], dtype=object))  # a pickle inside
    with raises(ValueError, match=NO_FILE):
        core.load(saved, problem)
    with raises(FileNotFoundError):
        core.load(saved.parent / "nowhere.npz", problem)
    with raises(ValueError, match="problem = ndarray: must be the Problem"):
        core.load(saved, problem.K)


BY_HAND = [
    dict(learner={"class": "os", "state": {}}),
    dict(learner={"class": "nothing", "state": {}}),
    dict(learner=3),
    dict(learner={"class": "CTL", "state": {}}),
    dict(learner={"class": "TGP"}),
    dict(problem={}),
    dict(problem={"n": {"array": "no"}}),
]


@mark.parametrize("change", BY_HAND, ids=str)
def test_a_header_that_somebody_wrote_by_hand_is_refused(change, saved):
    rewritten(saved, **change)
    with raises(ValueError, match=NO_FILE):
        core.load(saved, PROBLEMS["no f"])


def test_a_learner_that_cannot_be_saved_leaves_the_old_file(saved):
    class Mine(core.CTL):
        pass

    before = saved.read_bytes()
    with raises(ValueError, match="Mine.*cannot be saved"):
        core.make("TGP", PROBLEMS["no f"], 50, eps=1.0, curator=Mine).save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == ["learner.npz"]


SAVER = """
import sys, numpy as np
sys.path.insert(0, {root!r})
import ldpbo_core as core
learner = core.make("MoMA", core.synthetic_problem(seed=0), 10**6, eps=1.0, k=40)
print("ready", flush=True)
while True:
    learner.ask(), learner.tell(1.0), learner.save({path!r})
"""


def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path):
    path = tmp_path / "learner.npz"
    problem = core.synthetic_problem(seed=0)
    core.make("MoMA", problem, 10**6, eps=1.0, k=40).save(path)
    program = SAVER.format(root=str(ROOT), path=str(path))
    for wait in (0.0, 0.013, 0.05, 0.11):
        writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(wait)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert core.load(path, problem).settings.k == 40


def contents(path):
    """Everything in an archive, unpacked."""
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(member) for member in archive.namelist())


def is_in(y, blob):
    """As a number of either byte order, or in words."""
    forms = y.tobytes(), np.array(y, ">f8").tobytes(), repr(float(y)).encode()
    return any(form in blob for form in forms)


def test_pickles_copies_and_files_of_a_private_learner_hold_no_reward_of_the_table(tmp_path):
    """Nor the means f, but for the largest, which the learner is told as B."""
    problem = PROBLEMS["table"]
    rng = default_rng(0)
    curator = core.CTL(1.0, problem.B, problem.R)
    secrets = np.append(TABLE.ravel(), np.sort(problem.f)[:-1])
    found = lambda blob: sum(is_in(y, blob) for y in secrets)
    assert found(pickle.dumps(problem)) == len(secrets)  # the search finds what is there
    assert found(repr(secrets.tolist()).encode()) == len(secrets)
    for name in core.ALGORITHMS:
        learner = core.make(name, problem, 60, curator=curator, rng=0)
        for _ in range(60):
            learner.tell(curator.privatise(problem.sample(learner.ask(), rng), rng))
        learner.ask()
        learner.save(tmp_path / "learner.npz")
        assert found(contents(tmp_path / "learner.npz")) == 0
        pickled = pickle.dumps(learner)
        assert found(pickled) == 0
        for twin in (copy.copy(learner), copy.deepcopy(learner), pickle.loads(pickled)):
            assert twin.problem.samples is None
            assert twin.problem.f is None
            assert twin.ask() == learner.ask()
            with raises(ValueError, match="f = None"):
                twin.problem.sample(0, rng)
        assert learner.problem is problem


def test_a_file_holds_nothing_of_the_memory_that_its_arrays_were_made_in(tmp_path):
    """Freed arrays of a secret lie around while ATA makes its own, those of truncation too.

    The secret is in none of those that it saves.
    """
    problem = PROBLEMS["table"]
    secret = 0.12345678901234567
    learner = core.make("ATA", problem, 200, rng=0)
    rewards = 40 * default_rng(2).standard_t(2, 60)
    arms = []
    for y in rewards:
        for size in range(1, 60_000, 97):
            np.full(size, secret)
        arms.append(learner.ask())
        learner.tell(y)
    untruncated, _ = core.posterior(problem, arms, rewards, 1.0)
    assert np.max(np.abs(learner.mu - untruncated)) > 0.1
    learner.save(tmp_path / "learner.npz")
    assert np.float64(secret).tobytes() not in contents(tmp_path / "learner.npz")
