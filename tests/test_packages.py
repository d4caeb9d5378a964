"""Stored audits of other people's packages: consistent, and the same when they are made again."""

import importlib.util
import math
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import beta

from notebooks.private import evidence, packages

ROOT = Path(__file__).resolve().parent.parent
spec = importlib.util.spec_from_file_location("stored_audits", ROOT / "data/packages.py")
spec.loader.exec_module(stored := importlib.util.module_from_spec(spec))

ROWS = stored.load()
SEEDS = [str(seed) for seed in stored.SEEDS]
LOW_BITS = ("lowest bit", "trailing zeros")
LEAKS = {("pure-ldp-sue", "1.1.2"), ("pure-ldp-oue", "1.1.2"), ("diffprivlib-laplace", "0.6.6")}
PASSES = {
    ("pure-ldp-sue", "1.2.0"),
    ("pure-ldp-oue", "1.2.0"),
    ("diffprivlib-snapping", "0.6.6"),
    ("opendp-laplace", "0.16.0"),
}


def test_every_mechanism_was_audited_with_each_of_five_seeds_by_one_code():
    found = sorted((row["name"], row["version"], row["seed"]) for row in ROWS)
    assert found == sorted((*mechanism, seed) for mechanism in LEAKS | PASSES for seed in SEEDS)
    assert len(SEEDS) == 5 and len({row["code"] for row in ROWS}) == 1


def test_every_audited_release_has_its_environment_and_only_opendp_is_in_the_lock():
    releases = {(row["package"], row["version"]) for row in ROWS}
    assert {"-".join(release) for release in releases} == set(stored.ENVIRONMENTS)
    locked = (ROOT / "requirements.lock").read_text("utf-8")
    for package, version in releases:
        pins = (ROOT / f"data/pins/{package}-{version}.txt").read_text("utf-8").splitlines()
        assert f"{package}=={version}" in pins and all("==" in pin for pin in pins)
        assert (f"\n{package}==" in locked) == (package == "opendp")


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row['name']} {row['version']} {row['seed']}"
)
def test_a_stored_bound_is_the_clopper_pearson_bound_of_its_counts(row):
    right, guesses = int(row["right"]), int(row["guesses"])
    confidence = float(row["confidence"])
    low = beta.ppf(1 - confidence, right, guesses - right + 1)
    assert float(row["eps_low"]) == pytest.approx(math.log(low / (1 - low)), rel=1e-9)
    assert confidence == stored.CONFIDENCE and float(row["promised"]) == packages.EPS
    flagged = float(row["eps_low"]) > packages.EPS
    assert flagged == bool(int(row["flagged"])) == ((row["name"], row["version"]) in LEAKS)


def exact_loss(name, version):
    """Unary encoding loses this: 1.1.2 leaves the user's own bit to chance q where p fails."""
    if name == "pure-ldp-oue":
        p, q = 0.5, 1 / (math.exp(packages.EPS) + 1)
    else:
        p = 1 / (1 + math.exp(-packages.EPS / 2))
        q = 1 - p
    if version == "1.1.2":
        p += (1 - p) * q
    return math.log(p / q) + math.log((1 - q) / (1 - p))


def test_unary_encoding_gives_away_168_or_155_before_its_repair_and_1_after():
    assert exact_loss("pure-ldp-sue", "1.1.2") == pytest.approx(1.680, abs=1e-3)
    assert exact_loss("pure-ldp-oue", "1.1.2") == pytest.approx(1.551, abs=1e-3)
    assert exact_loss("pure-ldp-sue", "1.2.0") == pytest.approx(1)
    assert exact_loss("pure-ldp-oue", "1.2.0") == pytest.approx(1)


def test_stored_bounds_on_unary_encoding_are_just_below_the_exact_loss():
    rows = [row for row in ROWS if row["package"] == "pure-ldp"]
    excess = [float(row["eps_low"]) - exact_loss(row["name"], row["version"]) for row in rows]
    assert len(rows) == 20 and max(excess) <= 0 and min(excess) > -0.15


def test_the_leak_of_floating_point_laplace_is_in_its_low_bits():
    rows = [row for row in ROWS if row["name"] == "diffprivlib-laplace"]
    assert all(row["event"].startswith(LOW_BITS) and float(row["eps_low"]) > 4.9 for row in rows)


def test_the_page_shows_the_stored_rows_and_rounds_bounds_down():
    table = pd.read_csv(stored.TABLE, dtype={"code": str})
    shown = evidence.rows(table, stored.SEEDS[0])
    assert len(shown) == 7 and all(len(row) == len(evidence.HEAD) for row in shown)
    told = [(row[0], row[3], row[4]) for row in shown]
    assert told == [
        ("pure-ldp 1.1.2", "its value", "5 of 5"),
        ("pure-ldp 1.1.2", "its value", "5 of 5"),
        ("pure-ldp 1.2.0", "its value", "0 of 5"),
        ("pure-ldp 1.2.0", "its value", "0 of 5"),
        ("diffprivlib 0.6.6", "its lowest bits", "5 of 5"),
        ("diffprivlib 0.6.6", "its value", "0 of 5"),
        ("OpenDP 0.16.0", "its value", "0 of 5"),
    ]
    assert evidence.shown(0.9999, True) == "0.99" and evidence.shown(0.9999, False) == "0.9"
    numbers = evidence.numbers(table, stored.SEEDS[0])
    assert (numbers["caught"], numbers["count"], numbers["repaired"]) == (3, 5, "two")
    assert numbers["safe"] == "0 of 10"
    assert numbers["exact-sue"] == pytest.approx(exact_loss("pure-ldp-sue", "1.1.2"))
    assert numbers["exact-oue"] == pytest.approx(exact_loss("pure-ldp-oue", "1.1.2"))


def audited_again(environment):
    """One seed's rows, made anew; skipped, with the reason, where uv cannot install the package."""
    try:
        return stored.rows_of(environment, stored.SEEDS[:1])
    except RuntimeError as error:
        if "Traceback" in str(error):  # it is installed, and fails
            raise
        pytest.skip(f"the package cannot be installed here: {error}")


@pytest.mark.build
@pytest.mark.parametrize("environment", stored.ENVIRONMENTS)
def test_stored_rows_are_found_again_where_the_package_installs(environment):
    """Bit for bit where noise is seeded and no logarithm's last bit matters."""
    rows = audited_again(environment)
    assert len(rows) == sum(
        row["seed"] == SEEDS[0] and environment == f"{row['package']}-{row['version']}"
        for row in ROWS
    )
    for again in rows:
        key = (again["name"], again["version"], SEEDS[0])
        kept = next(row for row in ROWS if (row["name"], row["version"], row["seed"]) == key)
        assert again["flagged"] == int(kept["flagged"])
        if again["name"] == "opendp-laplace":  # fresh noise: a false alarm has a chance of 1e-4
            assert again["eps_low"] > 0.8
        elif again["name"] == "diffprivlib-laplace":  # log and cos differ between processors
            assert again["event"].startswith(LOW_BITS) and again["eps_low"] > 4.9
        else:
            columns = ("event", "right", "guesses", "eps_low", "promised", "games")
            assert [str(again[c]) for c in columns] == [kept[c] for c in columns]
