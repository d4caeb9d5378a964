"""Results on the paper's own data, which cannot be shipped, are stored in data/originals.json.

`make originals` writes the file on a machine that has the data. A book built elsewhere shows these
results first, then its own runs on the stand-ins.
"""

import json
from functools import cache

import pandas as pd

from ldpbo import results


@cache
def _stored():
    """Read {"code": hash, "panels": {panel: {"parameters", "data", and the three tables}}}."""
    path = results.ROOT / "data/originals.json"
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name}: the results on the paper's own data are missing; `make data`, then "
            "`make originals`"
        )
    return json.loads(path.read_text("utf-8"))


def table(panel, part):
    """Return a panel's table "regret", "final" or "plays" on the paper's data, or None."""
    if "synthetic" in results.PANELS.get(panel, "synthetic"):
        return None
    known = _stored()["panels"][panel]
    return pd.DataFrame({"data": known["data"]} | known[part])


def parameters(panel):
    """Return the parameters with which a panel was run on the paper's own data."""
    return _stored()["panels"][panel]["parameters"]


def note():
    """Say where these results come from, for the line under a figure."""
    known = _stored()
    p = parameters(next(iter(known["panels"])))
    sizes = f"T = {p['T']}, {p['trials']} trials, seed {p['seed']}"
    source = f"original data: data/originals.json, {sizes}"
    return results.joined(source, results.code_note([known["code"]], results.ORIGINALS_TEST))


def prepended(panel, part, frame, data):
    """Name the data of a table; a run on a stand-in is put under the stored table of its panel."""
    own = frame.reset_index(drop=True)
    own.insert(0, "data", data)
    paper = None if data.startswith("original") else table(panel, part)
    return own if paper is None else pd.concat([paper, own], ignore_index=True)
