"""Where problems come from: the paper's synthetic functions, a function on a box, a table, the paper's two data sets.

>>> import ldpbo_core as core
>>> core.function_problem(lambda x: -abs(x[0] - 0.3) - x[1]**2, [(0, 1), (-1, 1)], 1000, lengthscale=0.5, seed=0).n
1000
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ldpbo import checks as check
from ldpbo_core import (
    LEFT_OUT,
    ArrayLike,
    Problem,
    _standard,
    empirical_kernel,
    linear_kernel,
    matern_kernel,
    se_kernel,
)

ORIGINALS = {
    "iw_data_all.mat": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    "fin.csv": "e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
}  # the paper's data: sha256


def _stationary(kernel, lengthscale, nu):
    """The kernel of that name, a function of two sets of points."""
    check.choice("kernel", kernel, "se", "matern")
    return (
        functools.partial(se_kernel, lengthscale=lengthscale)
        if kernel == "se"
        else functools.partial(matern_kernel, lengthscale=lengthscale, nu=nu)
    )


def synthetic_problem(
    kernel: str = "matern",
    noise: str = "uniform",
    seed: int | None = None,
    *,
    lengthscale: float = 0.2,
    nu: float = 2.5,
    n: int = 100,
    p: int = 100,
) -> Problem:
    """The paper's synthetic data: f = sum_i a_i k(., x_i), a_i ~ U[-1, 1], p support points uniform on the arms i/n."""
    x = np.arange(1, check.integer("n", n) + 1) / n
    check.choice("noise", noise, "uniform", "t3")
    K, rng = _stationary(kernel, lengthscale, nu)(x, x), check.seeded(seed, "seed")
    support = rng.integers(n, size=check.integer("p", p))
    f = K[:, support] @ rng.uniform(-1.0, 1.0, size=p)
    B = np.abs(
        f
    ).max()  # the paper's choice; bounds |f|, not the RKHS norm of the theorems (Erratum A12)
    c = 3.0 if noise == "t3" else 1 / 3
    return Problem(
        K=K,
        f=f,
        B=B,
        R=1.0,
        v=B * B + c,
        c=c,
        noise=noise,
        name=f"synthetic-{kernel}",
        provenance=f"synthetic, {kernel} kernel, seed {seed}; B = max|f|",
    )


def function_problem(
    function: Callable[[np.ndarray], float],
    bounds: ArrayLike,
    n: int | None = None,
    *,
    kernel: str = "se",
    lengthscale: ArrayLike = 0.2,
    nu: float = 2.5,
    noise: str = "uniform",
    R: float = 1.0,
    seed: int | None = None,
    points: ArrayLike = LEFT_OUT,
    **options: Any,
) -> Problem:
    """A function of a point (d,) of the box `bounds` = [(low, high), ...], on n scrambled Sobol points or those given.

    lengthscale, in the units of the box: a number, or one for each dimension. B = max |f| over the points; noise and R
    are those of Problem, options its name, rank, tol.
    """
    bounds, function = (
        check.array("bounds", bounds, 2),
        check.function("function", function, "a point (d,)"),
    )
    if bounds.shape[1:] != (2,) or not (bounds[:, 0] < bounds[:, 1]).all():
        raise ValueError(
            f"bounds = {bounds.tolist()}: must be one (low, high) with low < high for each dimension"
        )
    if points is None:
        from scipy.stats import qmc

        sobol = qmc.Sobol(len(bounds), rng=check.seeded(seed, "seed"))
        points = qmc.scale(
            sobol.random_base2(math.ceil(math.log2(check.integer("n", n))))[:n], *bounds.T
        )
    points = check.points(points, bounds.T)[0]
    if not ((bounds[:, 0] <= points) & (points <= bounds[:, 1])).all():
        raise ValueError(f"points: must be inside the bounds {bounds.tolist()}")
    check.choice("noise", noise, "uniform", "t3")
    k = _stationary(kernel, lengthscale, nu)
    f = check.array("function", [function(x) for x in points], 1)
    B, c = np.abs(f).max(), 3.0 if noise == "t3" else check.nonnegative("R", R) ** 2 / 3
    given = dict(
        points=points,
        kernel=k,
        f=f,
        B=B,
        R=R,
        v=B * B + c,
        c=c,
        noise=noise,
        name=getattr(function, "__name__", "function"),
        provenance=f"{len(f)} points, {kernel} kernel, seed {seed}; B = max|f|",
    )
    return Problem(**given | options)


def table_problem(
    samples: ArrayLike,
    train: ArrayLike | None = None,
    *,
    name: str = "table",
    source: str = "user's table",
) -> Problem:
    """A problem from a table: rows = observations, columns = arms; a reward is the arm's entry in a random row.

    K is the correlation of `train` (of `samples` where there is none), f the column means; B, R, v and c are the
    smallest bounds that hold on `samples`, as in the paper's experiments.
    """
    samples = check.table("samples", samples)
    rows = samples if train is None else check.table("train", train)
    if rows.shape[1] != samples.shape[1]:
        raise ValueError(
            f"train has {rows.shape[1]} columns: must have {samples.shape[1]}, as samples"
        )
    wide = samples.shape[1] > len(rows)  # the table's own columns are the features
    K = (
        dict(points=_standard(rows).T, kernel=linear_kernel)
        if wide
        else dict(K=empirical_kernel(rows))
    )
    f = samples.mean(axis=0)
    noise = samples - f
    told = f"{source}; {'K, ' if train is None else ''}B, R, v, c taken from the private rewards themselves"
    return Problem(
        **K,
        f=f,
        B=np.abs(f).max(),
        R=np.abs(noise).max(),
        v=(samples**2).mean(),
        c=(noise**2).mean(),
        noise="table",
        samples=samples,
        name=name,
        provenance=told,
    )


def _data_file(original, stand_in):
    """Path and provenance of a data set: LDPBO_DATA, then data/original/, then the stand-in shipped with the code."""
    here, named = Path(__file__).resolve().parent.parent / "data", os.environ.get("LDPBO_DATA")
    if named and not Path(named).is_dir():
        raise ValueError(
            f"LDPBO_DATA = {named!r}: must be an existing folder; unset it to use the stand-in data"
        )
    for path in (Path(named or here / "original") / original, here / "original" / original):
        if path.exists():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != ORIGINALS[original]:
                raise ValueError(
                    f"{path}: sha256 is {found}, must be {ORIGINALS[original]}; replace the file"
                )
            return path, f"original {original}"
    for path in (here / stand_in, Path(sys.prefix) / "share" / "ldpbo" / stand_in):
        if path.exists():
            return path, f"stand-in {stand_in}"
    raise ValueError(
        f"no data: put {original} into a folder and name it in LDPBO_DATA, or run `make data`"
    )


def light_problem() -> Problem:
    """41 light sensors: K from the 601 train rows, rewards from the 192 test rows (or the stand-in of that shape)."""
    path, source = _data_file("iw_data_all.mat", "light.csv")
    if path.suffix == ".mat":
        from scipy.io import loadmat

        data = loadmat(path, mat_dtype=True, squeeze_me=True, struct_as_record=False)["data"]
        return table_problem(
            data.test.sensordata, data.train.sensordata, name="light", source=source
        )
    rows = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
    test, train = (rows[rows[:, 0] == part, 1:].astype(float) for part in ("test", "train"))
    return table_problem(test, train, name="light", source=source)


def stock_problem() -> Problem:
    """29 stocks over 823 trading days: K and rewards from the same adjusted closes (or the stand-in's 20 stocks)."""
    path, source = _data_file("fin.csv", "stocks.csv")
    columns = len(path.read_text().split("\n", 1)[0].split(","))
    prices = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, columns))
    return table_problem(prices, name="stock", source=source)
