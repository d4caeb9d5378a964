"""Time the core, and weigh it, as ratios measured in one run (`make bench`).

    python tools/bench.py [PART ...] [--against FOLDER]     parts: those of PARTS; default: all

Not a test: timings of a busy machine prove nothing about correctness. Each line says what is
compared, the two figures, their ratio, the target, met or missed; the misses are listed again at
the end, and the exit status says so. Times are processor seconds, and what is compared is timed in
turns, so that other load on the machine matters little. `--against` compares the panels with
another checkout of this repository.

The costs of large domains go to data/bench.csv with the machine's description, for the book.
BoTorch is optional: where it is installed its part is timed and kept in data/botorch.csv, elsewhere
the kept figures are printed.

    bench_domains.py   large domains
    bench_panels.py    the panels of the paper
    bench_rivals.py    other programs
    bench_runs.py      what these share
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = os.environ.get("LDPBO_BENCH_CORE", str(ROOT))  # the checkout whose core is timed
sys.path[:0] = [CORE, str(ROOT / "tests")]
from bench_domains import large_domains, one_domain
from bench_panels import (
    against,
    late_against_early,
    memory_of_a_learner,
    nine_panels,
    times_of_panels,
)
from bench_rivals import against_botorch, against_scikit_learn, against_the_oracle
from bench_runs import lines, machine

PARTS = {
    "domains": large_domains,
    "panels": nine_panels,
    "sklearn": against_scikit_learn,
    "botorch": against_botorch,
    "oracle": against_the_oracle,
    "late": late_against_early,
    "memory": memory_of_a_learner,
}
CHILDREN = {"one_domain": one_domain, "times_of_panels": times_of_panels}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    options.add_argument("--against", metavar="FOLDER", help="another checkout to compare with")
    args = options.parse_args()
    unknown = sorted(set(args.parts) - set(PARTS))
    if unknown:
        sys.exit(f"{', '.join(unknown)}: must be among {', '.join(PARTS)}")
    begun = time.time()
    print(machine(), flush=True)
    if args.against:
        against(args.against)
    for name in args.parts or ([] if args.against else PARTS):
        PARTS[name]()
    judged = [line for line in lines if line[2]]
    missed = [line for line in judged if not line[3]]
    seconds = f"in {time.time() - begun:.0f} s by the clock, load {os.getloadavg()[0]:.1f}"
    print(f"\n{len(judged) - len(missed)} of {len(judged)} targets met, {seconds}")
    for what, ratio, target, _ in missed:
        print(f"  MISSED {what}: {ratio:.3g}, target {target}")
    return bool(missed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](*sys.argv[3:])))
    else:
        sys.exit(main())
