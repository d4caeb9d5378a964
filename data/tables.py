"""The programs of this folder compute on the real-data tables that are here: stand-ins always, the
paper's own where `make data` or LDPBO_DATA has brought them."""

from ldpbo import datasets

READERS = {"light": datasets.light_problem, "stocks": datasets.stock_problem}


def tables_here():
    """Return {(table, "stand-in" or "original"): problem}, the stand-ins first."""
    found = {}
    for stand_in in (True, False):
        for name, read in READERS.items():
            problem = read(stand_in=stand_in)
            found[name, problem.provenance.split()[0]] = problem
    return found
