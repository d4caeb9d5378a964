"""A curator for real users: Laplace noise that is exact in floating point, by OpenDP.

>>> import ldpbo_core as core
>>> curator = core.SecureCTL(1.0, B=1.0, R=1.0)                     # wants OpenDP
>>> report = curator.privatise(0.3)                                 # on the user's own device
>>> (report / curator.grid).is_integer(), curator.grid
(True, 1.9073486328125e-06)
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ldpbo import checks as check
from ldpbo_core import CTL, ArrayLike


@functools.lru_cache
def _discrete_laplace(units):
    """OpenDP's discrete Laplace noise of that scale on vectors of integers: kept here, as it cannot be pickled."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ImportError(
            "SecureCTL needs OpenDP: pip install '.[secure]' in the folder of ldpbo"
        ) from None
    dp.enable_features("contrib")
    return dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=units
    )


class SecureCTL(CTL):
    """CTL with noise that is safe in floating point: integer noise by OpenDP (extra `secure`), reports on a grid.

    The clipped reward is rounded to a multiple of `grid`, a power of two (default about (B+R)/2^20, coarser for small
    eps), and exact discrete Laplace noise is added to that integer: nothing is rounded later, so no bit of a report
    says more than eps, which OpenDP's own map certifies for the rounded range. Draws are grid steps from the operating
    system's randomness: they cannot be seeded and `rng` is ignored. About 10 us a report in arrays.
    """

    def __init__(self, eps: float | None, B: float, R: float, grid: float | None = None):
        super().__init__(eps, B, R)
        least = math.ldexp(
            1.0, max(math.frexp(self.bound)[1] - 21, math.frexp(self.scale)[1] - 49, -1022)
        )
        self.grid = least if grid is None else check.positive("grid", grid)
        if grid is None and self.grid > self.bound:
            raise ValueError(
                f"eps = {eps!r}, B = {B!r}, R = {R!r}: eps must be above 2^-47 and B+R above 2^-1022, so "
                "that a grid of floating-point numbers resolves rewards and noise"
            )
        span = 2 * round(
            self.bound / self.grid
        )  # grid steps between the two most different rewards
        units = span / self.eps
        if math.frexp(self.grid)[0] != 0.5 or not 0 < units < 2**50:
            raise ValueError(
                f"grid = {grid!r}: must be a power of two, above 2^-50 scale = {self.scale / 2**50:.3g} "
                f"and at most B+R = {self.bound:.3g}"
            )
        while (
            _discrete_laplace(units).map(span) > self.eps
        ):  # OpenDP rounds the loss upwards: widen by one ulp
            units = math.nextafter(units, math.inf)
        self.scale = units * self.grid
        self.variance = self.grid**2 * 2 * math.exp(-1 / units) / math.expm1(-1 / units) ** 2
        self.promise = (
            f"{self.eps:g}-LDP for one report, as computed (OpenDP's map gives {self._noise.map(span)!r} "
            f"for {span} steps of the grid {self.grid:g}); rounding moves the mean by at most half a step"
        )

    @property
    def _noise(self):
        return _discrete_laplace(self.scale / self.grid)

    def draw(self, rng: Any = None, size: int | tuple | None = None) -> Any:
        noise = np.array(
            self._noise([0] * int(np.prod(1 if size is None else size))), dtype=np.int64
        )
        return noise[0] if size is None else noise.reshape(size)

    def report(self, y: Any, draw: Any) -> Any:
        return (np.int64(np.rint(self._clip(y) / self.grid)) + draw) * self.grid

    def log_density(self, report: ArrayLike, y: ArrayLike) -> np.ndarray:
        """Log-probability of a report: tanh(h/2) e^{-h steps}, h = grid/scale."""
        report, y = self._given(report, y)
        h, x = self.grid / self.scale, report / self.grid
        away = np.abs(x - np.rint(y / self.grid))
        return np.where(x == np.rint(x), math.log(math.tanh(h / 2)) - h * away, -math.inf)

    def reach(self, t: int) -> float:
        return super().reach(t) + self.grid
