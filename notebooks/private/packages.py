"""Mechanisms of other people's packages, each behind the interface of our curators.

>>> from notebooks.private import packages
>>> curator = packages.CURATORS["diffprivlib-laplace"]()     # wants diffprivlib
>>> report = curator.privatise(0.3, rng)

An adapter has `eps`, which the package promises for it, and `privatise`, which calls the package's
own public function once for each reward. It adds no noise and takes none away. data/pins has the
environments in which they were audited.
"""

import functools
import random
from importlib import metadata

import numpy as np

EPS = 1.0
BOUND = 2.0  # rewards are in [-2, 2], as in the rest of the book: B = R = 1
ITEMS = 4  # pure-ldp reports one of the items 1, 2, 3, 4: the example of its README


class Adapter:
    """An adapter reports a number, or each number of an array, by the package's own mechanism."""

    package = ""
    mechanism = ""
    seeded = True  # does the same seed give the same reports?
    pair = (BOUND, -BOUND)  # the two inputs that are audited
    eps = EPS

    def privatise(self, y, rng=None):
        """Report y, a number or an array."""
        rng = np.random.default_rng(rng)
        if np.ndim(y):
            return [self.report(float(x), rng) for x in y]
        return self.report(float(y), rng)


class UnaryEncoding(Adapter):
    """pure-ldp's UEClient reports an item as 4 bits: here the number that they spell.

    The package draws from the global generators of NumPy and Python; `seed_globals` seeds them.
    """

    package = "pure-ldp"
    mechanism = "unary encoding (SUE)"
    optimised = False
    pair = (1.0, float(ITEMS))

    def __init__(self):
        from pure_ldp.frequency_oracles import UEClient

        self.client = UEClient(epsilon=EPS, d=ITEMS, use_oue=self.optimised)

    def report(self, y, rng):
        bits = self.client.privatise(int(y))
        return float(bits @ 2.0 ** np.arange(ITEMS))


class OptimisedUnaryEncoding(UnaryEncoding):
    """pure-ldp's UEClient with use_oue=True."""

    mechanism = "the same, optimised (OUE)"
    optimised = True


class DiffprivlibLaplace(Adapter):
    """diffprivlib's Laplace mechanism adds noise to a reward.

    Its default generator is the operating system's; for a result that can be repeated it is given
    the audit's, which has the same 53 bits.
    """

    package = "diffprivlib"
    mechanism = "Laplace"

    def make(self, noise):
        from diffprivlib.mechanisms import Laplace

        return Laplace(epsilon=EPS, sensitivity=2 * BOUND, random_state=noise)

    def report(self, y, rng):
        noise = np.random.RandomState(rng.bit_generator)
        return float(self.make(noise).randomise(y))


class DiffprivlibSnapping(DiffprivlibLaplace):
    """diffprivlib's Snapping mechanism (Mironov 2012) rounds the noisy reward to a coarse grid."""

    mechanism = "Snapping"

    def make(self, noise):
        from diffprivlib.mechanisms import Snapping

        given = dict(lower=-BOUND, upper=BOUND, random_state=noise)
        return Snapping(epsilon=EPS, sensitivity=2 * BOUND, **given)


class OpenDPLaplace(Adapter):
    """OpenDP's make_laplace adds noise that is exact in floating point; it cannot be seeded."""

    package = "opendp"
    mechanism = "make_laplace, floats"
    seeded = False

    def __init__(self):
        self.eps = _opendp_laplace().map(2 * BOUND)  # what OpenDP itself certifies

    def report(self, y, rng):
        return _opendp_laplace()(y)


@functools.lru_cache
def _opendp_laplace():
    """OpenDP's measurement is kept here, as it cannot be copied."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    numbers = dp.atom_domain(T=float, nan=False)
    return dp.m.make_laplace(numbers, dp.absolute_distance(T=float), scale=2 * BOUND / EPS)


CURATORS = {
    "pure-ldp-sue": UnaryEncoding,
    "pure-ldp-oue": OptimisedUnaryEncoding,
    "diffprivlib-laplace": DiffprivlibLaplace,
    "diffprivlib-snapping": DiffprivlibSnapping,
    "opendp-laplace": OpenDPLaplace,
}


def version(name):
    """Find the version of the adapter's package that is installed here, or None."""
    try:
        return metadata.version(CURATORS[name].package)
    except metadata.PackageNotFoundError:
        return None


def seed_globals(seed):
    """Seed the generators from which pure-ldp draws."""
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
