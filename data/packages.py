"""Audit mechanisms of other people's packages: the table data/packages.csv.

    .venv/bin/python data/packages.py                 # all rows, about four minutes on one core
    .venv/bin/python data/packages.py opendp-0.16.0   # those of one environment

Each file of data/pins names an environment: one release of one package, and all that it needs. uv
makes it, runs this program in it (`--here SEED ...` prints rows as JSON), and throws it away: none
of the packages enters requirements.lock. The page "Is it private?" shows the table; the adapters
stand in notebooks/private/packages.py. `code` is the hash of adapters and audit, without comments.
"""

import argparse
import ast
import csv
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from ldpbo import provenance
from ldpbo.audit import audit
from notebooks.private import packages

TABLE = ROOT / "data/packages.csv"
ENVIRONMENTS = sorted(path.stem for path in (ROOT / "data/pins").glob("*.txt"))
GAMES = 400_000
UNSEEDED = 60_000  # games of OpenDP, which takes 0.1 ms a report
CONFIDENCE = 0.9999  # a row that is recomputed with other noise is a false alarm once in 10,000
SEEDS = range(2021, 2026)
COMPUTES = ("ldpbo/audit.py", "notebooks/private/packages.py")


def code_hash():
    """Hash what computes a row."""
    trees = [ast.parse((ROOT / name).read_text("utf-8")) for name in COMPUTES]
    text = "".join(provenance.syntax(tree) for tree in trees)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def row(name, seed):
    """Audit one adapter with one seed, in the environment that runs this."""
    curator = packages.CURATORS[name]()
    packages.seed_globals(seed)
    games = GAMES if curator.seeded else UNSEEDED
    found = audit(curator, *curator.pair, games, CONFIDENCE, rng=seed)
    return {
        "name": name,
        "package": curator.package,
        "version": packages.version(name),
        "mechanism": curator.mechanism,
        "seed": seed,
        "promised": found.promised,
        "eps_low": found.eps_low,
        "flagged": int(found.flagged),
        "event": found.event,
        "right": found.right,
        "guesses": found.guesses,
        "y": curator.pair[0],
        "y_prime": curator.pair[1],
        "games": games,
        "confidence": CONFIDENCE,
        "seeded": int(curator.seeded),
        "code": code_hash(),
    }


def rows_here(seeds):
    """Yield the rows of every adapter whose package is installed here."""
    installed = [name for name in packages.CURATORS if packages.version(name)]
    for name in installed:
        for seed in seeds:
            yield row(name, seed)


def rows_of(environment, seeds):
    """Make the rows in an environment that uv makes for them."""
    pins = ROOT / f"data/pins/{environment}.txt"
    isolated = ["--no-project", "--isolated", "--python", sys.executable]
    command = [sys.executable, "-m", "uv", "run", "-q", *isolated]
    command += ["--with-requirements", str(pins), "python", __file__]
    command += ["--here", *map(str, seeds)]
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=alone)
    if done.returncode:
        raise RuntimeError(f"{environment}: {done.stderr.strip()[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def load():
    """Read the stored rows, as text."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def store(rows):
    """Put rows into the table in place of earlier ones of the same package and version."""
    import pandas as pd  # the environments of the packages have neither this nor what `write` needs

    from data import write

    new = {(one["package"], one["version"]) for one in rows}
    kept = load() if TABLE.exists() else []
    kept = [one for one in kept if (one["package"], one["version"]) not in new]
    rows = sorted(
        [*rows, *kept],
        key=lambda one: (one["name"], one["version"], int(one["seed"])),
    )
    write.whole(pd.DataFrame(rows, dtype=object), TABLE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("environments", nargs="*", help=f"some of: {', '.join(ENVIRONMENTS)}")
    parser.add_argument("--here", type=int, nargs="+", metavar="SEED")
    given = parser.parse_args()
    if given.here:
        for found in rows_here(given.here):
            print(json.dumps(found), flush=True)
        return
    for environment in given.environments or ENVIRONMENTS:
        found = rows_of(environment, SEEDS)
        store(found)
        print(f"{environment}: {len(found)} rows", flush=True)


if __name__ == "__main__":
    main()
