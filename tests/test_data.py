"""The files of data/: what is shipped, and how the originals are fetched, all without network."""

import csv
import functools
import hashlib
import http.server
import importlib.util
import re
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[1] / "data"
README = (DATA / "README.md").read_text(encoding="utf-8")


def script(name):
    spec = importlib.util.spec_from_file_location(f"data_{name}", DATA / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fetch, extract = script("fetch"), script("extract")


def table(name):
    """(header, first column, the other columns as floats) of a CSV in data/."""
    header, *rows = [line.split(",") for line in (DATA / name).read_text().splitlines()]
    return header, [row[0] for row in rows], np.array([row[1:] for row in rows], float)


def readme_row(name):
    size, sha256 = re.search(
        rf"^\| `{re.escape(name)}` \| (\d+) \| `([0-9a-f]{{64}})` \|$", README, re.M
    ).groups()
    return int(size), sha256


# ---- the stand-ins


@pytest.mark.parametrize("name", ["stocks.csv", "light.csv"])
def test_stand_in_has_the_size_and_sha256_of_the_readme(name):
    raw = (DATA / name).read_bytes()
    assert (len(raw), hashlib.sha256(raw).hexdigest()) == readme_row(name)
    assert len(raw) < 250_000


def test_stocks_are_20_columns_on_the_823_days_of_the_paper():
    header, days, prices = table("stocks.csv")
    assert header[0] == "date" and len(set(header[1:])) == 20 and prices.shape == (823, 20)
    assert (days[0], days[-1]) == ("2016-01-04", "2019-04-10")
    assert days == sorted(set(days)) and all(np.is_busday(days))
    assert np.isfinite(prices).all() and (prices > 0).all()


def test_light_is_41_bands_of_601_train_and_192_test_pixels():
    header, split, counts = table("light.csv")
    assert (
        header[0] == "split"
        and split == ["train"] * 601 + ["test"] * 192
        and counts.shape == (793, 41)
    )
    assert np.isfinite(counts).all() and (counts == counts.astype(int)).all() and (counts > 0).all()
    assert len(np.unique(counts, axis=0)) == 793


def test_light_bands_are_those_of_the_readme_and_none_is_a_water_band():
    bands = [int(name[1:]) for name in table("light.csv")[0][1:]]
    listed = re.search(r"at even steps: ([\d, ]+)\.", README)[1]
    assert bands == [int(b) for b in listed.split(",")] == sorted(set(bands))
    assert not any(first <= b <= last for b in bands for first, last in extract.WATER)


@pytest.mark.parametrize(
    "name, part", [("stocks.csv", None), ("light.csv", "train"), ("light.csv", "test")]
)
def test_no_column_is_constant_and_the_correlation_matrix_is_a_kernel(name, part):
    _, first, values = table(name)
    values = values[[part in (None, label) for label in first]]
    assert (np.ptp(values, axis=0) > 0).all()
    K = np.corrcoef(values, rowvar=False)
    assert np.abs(np.diag(K) - 1).max() < 1e-14 and np.abs(K - K.T).max() < 1e-14
    assert np.linalg.eigvalsh(K)[0] > 0


def test_no_original_is_tracked():
    listed = subprocess.run(
        ["git", "-C", DATA, "ls-files", "--full-name", ":/"], capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    assert not set(fetch.FILES) & {Path(line).name for line in listed.stdout.splitlines()}


# ---- the originals


def test_fetch_pins_are_those_of_the_readme():
    assert {name: readme_row(name)[1] for name in fetch.FILES} == fetch.FILES
    assert fetch.COMMIT in README and fetch.REPOSITORY in README and fetch.COMMIT in fetch.BASE


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server on this machine that has one file.

    -> (base address, pins, empty folder, list of requested paths)
    """
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "fin.csv").write_bytes(b"good\n")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    handler = functools.partial(Handler, directory=tmp_path / "served")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield (
            f"http://127.0.0.1:{running.server_port}/",
            {"fin.csv": hashlib.sha256(b"good\n").hexdigest()},
            tmp_path / "original",
            asked,
        )
        running.shutdown()


def test_fetch_downloads_once_and_then_does_nothing(server, capsys):
    base, pins, folder, asked = server
    for message in ("downloaded", "nothing to do"):
        assert fetch.fetch(base, pins, folder) == [folder / "fin.csv"]
        assert message in capsys.readouterr().out
    assert (folder / "fin.csv").read_bytes() == b"good\n" and asked == ["/fin.csv"]


def test_fetch_does_nothing_when_ldpbo_data_has_the_file(server, tmp_path, monkeypatch):
    base, pins, folder, asked = server
    monkeypatch.setenv("LDPBO_DATA", str(tmp_path / "served"))
    assert fetch.fetch(base, pins, folder) == [tmp_path / "served" / "fin.csv"]
    assert asked == [] and not folder.exists()


def test_fetch_refuses_a_download_with_a_wrong_checksum_and_keeps_nothing(server):
    base, pins, folder, _ = server
    with pytest.raises(SystemExit) as refusal:
        fetch.main(base=base, files={"fin.csv": "0" * 64}, folder=folder)
    assert "0" * 64 in str(refusal.value) and pins["fin.csv"] in str(refusal.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("by_variable", [True, False])
def test_fetch_refuses_a_file_with_a_wrong_checksum_that_is_already_there(
    server, monkeypatch, by_variable
):
    base, pins, folder, asked = server
    place = folder.with_name("mine") if by_variable else folder
    place.mkdir()
    (place / "fin.csv").write_bytes(b"bad\n")
    if by_variable:
        monkeypatch.setenv("LDPBO_DATA", str(place))
    with pytest.raises(SystemExit) as refusal:
        fetch.main(base=base, files=pins, folder=folder)
    for part in (hashlib.sha256(b"bad\n").hexdigest(), pins["fin.csv"], str(place / "fin.csv")):
        assert part in str(refusal.value)
    assert (place / "fin.csv").read_bytes() == b"bad\n" and asked == []


def test_fetch_without_a_network_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(SystemExit) as failure:  # port 9 (discard): nobody answers
        fetch.main(base="http://127.0.0.1:9/", folder=tmp_path / "original")
    for part in (fetch.BASE, "LDPBO_DATA", "iw_data_all.mat and fin.csv", "stand-ins"):
        assert part in str(failure.value)


# ---- stored timings


def test_stored_timings_name_their_machine_and_code_and_span_the_domain_sizes():
    with open(DATA / "bench.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {r["axis"] for r in rows} == {"n", "r", "t"} and {r["learner"] for r in rows} == {
        "TGP",
        "MoMA",
        "ATA",
    }
    assert {(r["kernel"], r["d"]) for r in rows if int(r["n"]) == 100_000} == {
        (k, d) for k in ("SE", "Matern 5/2") for d in "23"
    }
    assert {int(r["n"]) for r in rows if r["axis"] == "n"} >= {1000, 10_000, 100_000}
    with open(DATA / "botorch.csv", encoding="utf-8") as file:
        torch = list(csv.DictReader(file))
    assert torch[0]["same"] == torch[0]["T"] and torch[0]["version"]
    for r in rows + torch:
        assert (
            "processors" in r["machine"]
            and re.fullmatch("[0-9a-f]{12}", r["code"])
            and float(r["seconds"]) > 0
        )
