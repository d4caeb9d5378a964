"""The programs of this folder use this to write their tables, each whole or not at all."""

import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
import store
from ldpbo import provenance


def whole(table, target, **form):
    """Write a table; a kill leaves the file that was there. form: options of `to_csv`."""
    text = table.to_csv(index=False, lineterminator="\n", **form)
    store.write(Path(target), text.encode())


def main(program, parts, **form):
    """Write the table beside a program, or to FILE: its parts so far, whenever one is done."""
    target = sys.argv[1] if len(sys.argv) > 1 else Path(program).with_suffix(".csv")
    code = provenance.code_hash()
    done = []
    for part in parts:
        done.append(part)
        whole(pd.concat(done).assign(code=code), target, **form)
