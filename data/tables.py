"""The programs of this folder compute on the real-data tables that are here.

These are the stand-ins always, the paper's own where `make data` or LDPBO_DATA has brought them.
"""

import ldpbo_core as core
from ldpbo import datasets


def tables_here():
    """Return {(table, "stand-in" or "original"): problem}, the stand-ins first."""
    here = {"light": core.light_problem(), "stocks": core.stock_problem()}
    found = {(name, "stand-in"): problem for name, problem in datasets.stand_ins().items()}
    return found | {(name, p.provenance.split()[0]): p for name, p in here.items()}
