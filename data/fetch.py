"""Download the paper's two real data sets into data/original/ (`make data`).

The files belong to the code of Chowdhury & Gopalan (NeurIPS 2019). That repository states no
licence, so this one does not carry them; both are pinned by commit and sha256. README.md in this
folder says more.
"""

import hashlib
import os
import sys
from pathlib import Path

from ldpbo.datasets import ORIGINALS as FILES  # name: sha256

REPOSITORY = "sayakrc/Bayesian-Optimization-under-Heavy-tailed-Payoffs"
COMMIT = "673ce5ce40cabd95f0319e0a1b338044f160143e"
BASE = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}/"
ORIGINAL = Path(__file__).resolve().parent / "original"


def present(name, sha256, folders):
    """Find the first copy of `name` in `folders`, or None; refuse a wrong checksum."""
    for folder in folders:
        path = Path(folder) / name
        if not path.is_file():
            continue
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != sha256:
            raise ValueError(
                f"{path}: sha256 is {found}, expected {sha256}; remove that file and try again"
            )
        return path
    return None


def fetch(base=BASE, files=FILES, folder=ORIGINAL):
    """Download files {name: sha256} that are nowhere yet into `folder` -> the paths of all."""
    import pooch

    pooch.get_logger().setLevel("WARNING")
    named = os.environ.get("LDPBO_DATA")
    folders = [named, folder] if named else [folder]
    paths = []
    for name, sha256 in files.items():
        path = present(name, sha256, folders)
        if path is None:
            path = Path(pooch.retrieve(base + name, known_hash=sha256, fname=name, path=folder))
            print(f"{name}: downloaded to {path}, checksum good")
        else:
            print(f"{name}: already at {path}, checksum good; nothing to do")
        paths.append(path)
    return paths


def main(**where):
    try:
        fetch(**where)
    except ValueError as error:  # a wrong checksum; the message has both hashes
        sys.exit(f"Refused: {error}")
    except OSError as error:  # requests' errors are OSErrors
        names = " and ".join(FILES)
        sys.exit(
            f"Download failed: {error}\n\n"
            f"Is there a network? The files are at\n  {BASE}\n"
            f"Or put {names} into a folder and set LDPBO_DATA to it, or into\n  {ORIGINAL}\n"
            "Until then the stand-ins in data/ are used, and everything runs."
        )


if __name__ == "__main__":
    main()
