"""Problems are made here: from a random function, from a function on a box, and from tables.

>>> import ldpbo_core as core
>>> valley = lambda x: -abs(x[0] - 0.3) - x[1]**2
>>> core.function_problem(valley, [(0, 1), (-1, 1)], 1000, lengthscale=0.5, seed=0).n
1000
>>> table = core.read_table("data/stocks.csv")
>>> core.table_problem(table.values, low=0, high=300)  # the range makes the curators
Problem('table', 20 arms, B=1775.99, F=150, R=300, Y=150, table noise)
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
from ldpbo.tables import read_table
from ldpbo_core import (
    ArrayLike,
    Problem,
    empirical_kernel,
    linear_kernel,
    matern_kernel,
    rkhs_norm,
    se_kernel,
    standardised,
)

DATA = Path(__file__).resolve().parent.parent / "data"
LIGHT = ("iw_data_all.mat", "light.csv")  # the original, and the stand-in
STOCKS = ("fin.csv", "stocks.csv")
ORIGINALS = {  # the paper's data: sha256
    "iw_data_all.mat": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    "fin.csv": "e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
}


# ---- Functions -----------------------------------------------------------------------------------


def _stationary(kernel, lengthscale, nu):
    """Return the kernel of that name, or the user's own, as a function of two sets of points."""
    if callable(kernel):
        return kernel
    if kernel not in ("se", "matern"):
        raise ValueError(
            f"kernel = {kernel!r:.80}: must be 'se', 'matern', or a function of two sets of points"
        )
    if kernel == "se":
        return functools.partial(se_kernel, lengthscale=lengthscale)
    return functools.partial(matern_kernel, lengthscale=lengthscale, nu=nu)


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
    """Draw the paper's synthetic data: f = sum_i a_i k(., x_i), a_i ~ U[-1, 1], on the arms i/n.

    The p support points x_i are drawn uniformly from the arms. B = max |f| is the paper's choice:
    it bounds |f|, not the RKHS norm of the theorems (Erratum A12).
    """
    x = np.arange(1, check.integer("n", n) + 1) / n
    check.choice("noise", noise, "uniform", "t3")
    K = _stationary(kernel, lengthscale, nu)(x, x)
    rng = check.seeded(seed, "seed")
    support = rng.integers(n, size=check.integer("p", p))
    f = K[:, support] @ rng.uniform(-1.0, 1.0, size=p)
    B = np.abs(f).max()
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
    kernel: str | Callable = "se",
    lengthscale: ArrayLike = 0.2,
    nu: float = 2.5,
    noise: str = "uniform",
    R: float = 1.0,
    seed: int | None = None,
    points: ArrayLike | None = None,
    **options: Any,
) -> Problem:
    """Make a problem from a function of a point (d,), on n scrambled Sobol points or those given.

    bounds: the box, [(low, high), ...]. kernel: "se", "matern", or a function of two sets of points
    (n, d) and (n', d). lengthscale of the first two, in the units of the box: a number, or one for
    each dimension. B = max |f| over the points; noise and R are those of Problem, options its name,
    rank, tol, B, F, Y.
    """
    bounds = check.array("bounds", bounds, 2)
    check.function("function", function, "a point (d,)")
    if bounds.shape[1:] != (2,) or not (bounds[:, 0] < bounds[:, 1]).all():
        raise ValueError(
            f"bounds = {bounds.tolist()}: "
            "must be one (low, high) with low < high for each dimension"
        )
    if points is None:
        points = _sobol_points(bounds, n, seed)
    points = check.points(points, bounds.T)[0]
    if n not in (None, len(points)):
        raise ValueError(f"n = {n!r}: must be {len(points)}, the number of points, or left out")
    if not ((bounds[:, 0] <= points) & (points <= bounds[:, 1])).all():
        raise ValueError(f"points: must be inside the bounds {bounds.tolist()}")
    check.choice("noise", noise, "uniform", "t3")
    k = _stationary(kernel, lengthscale, nu)
    f = check.array("function", [function(x) for x in points], 1)
    B = np.abs(f).max()
    c = 3.0 if noise == "t3" else check.nonnegative("R", R) ** 2 / 3
    given = dict(
        points=points,
        kernel=k,
        f=f,
        B=B,
        R=R,
        v=B * B + c,
        c=c,
        noise=noise,
        name=_name(function),
        provenance=f"{len(f)} points, {_name(kernel)} kernel, seed {seed}; B = max|f|",
    )
    return Problem(**given | options)


def _name(thing):
    return thing if isinstance(thing, str) else getattr(thing, "__name__", "own")


def _sobol_points(bounds, n, seed):
    """Draw n scrambled Sobol points, which fill the box evenly, (n, d)."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(len(bounds), rng=check.seeded(seed, "seed"))
    doublings = math.ceil(math.log2(check.integer("n", n)))
    return qmc.scale(sobol.random_base2(doublings)[:n], *bounds.T)


# ---- Tables --------------------------------------------------------------------------------------


def table_problem(
    samples: ArrayLike,
    train: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    *,
    B: float | None = None,
    R: float | None = None,
    name: str = "table",
    source: str = "user's table",
) -> Problem:
    """Make a problem from a table with a row for each observation and a column for each arm.

    A reward is the arm's entry in a random row. K is the correlation of `train` (of `samples` where
    there is none), f the column means. Without `low` and `high` B, R, v and c are the smallest
    bounds that hold on `samples`, as in the paper's experiments. `low` and `high` are the range of
    the rewards, known before anybody reports. With them:

    - range -> curator. Rewards are centred at the middle, (low + high)/2: subtract it on the user's
      device. |y| <= Y and |f| <= F with F = Y = (high - low)/2, and curators clip to Y: nothing is
      lost, and no range is taken from private rewards.
    - noise -> windows. R >= |y - f| bounds how far a reward lies from its arm's mean. high - low
      always holds; PE's windows (`schedule="double"`) then stay as wide as the range. A smaller R
      that is known lets them shrink.
    - norm -> learner. B >= |f|_H makes the widths. Left out, it is the norm of the table's own f
      (`rkhs_norm`), public if the table is. If it is not known guess high: with `schedule="double"`
      B ten times too large costs 1.5 to 2 times the users, B too small costs the proof. `lam=None`
      fits the ridge to B.
    """
    samples = check.table("samples", samples)
    domain = _table_domain(samples, train)
    if low is None and high is None:
        bounds = _least_bounds(samples)
        said = (
            f"{'K, ' if train is None else ''}B, R, v, c taken from the private rewards themselves"
        )
    else:
        middle, half = _middle(low, high)
        samples = _centred(samples, middle, half)
        bounds = dict(B=half, F=half, R=2 * half, Y=half)
        said = f"rewards centred at {middle:g}, at most {half:g} from it"
    bounds |= {key: value for key, value in (("B", B), ("R", R)) if value is not None}
    problem = Problem(
        **domain,
        **bounds,
        f=samples.mean(axis=0),
        noise="table",
        samples=samples,
        name=name,
        provenance=f"{source}; {said}",
    )
    if problem.Y is None or B is not None:
        return problem
    return problem.replace(B=_table_norm(problem))


def _table_domain(samples, train):
    """Return the arguments of a Problem that say which arms are alike: K, or points and kernel."""
    rows = samples if train is None else check.table("train", train)
    if rows.shape[1] != samples.shape[1]:
        raise ValueError(
            f"train has {rows.shape[1]} columns: must have {samples.shape[1]}, as samples"
        )
    if samples.shape[1] > len(rows):  # the table's own columns are the features
        return dict(points=standardised(rows).T, kernel=linear_kernel)
    return dict(K=empirical_kernel(rows))


def _least_bounds(samples):
    """Find the smallest bounds that hold on a table, as in the paper's experiments."""
    f = samples.mean(axis=0)
    noise = samples - f
    return dict(
        B=np.abs(f).max(),
        R=np.abs(noise).max(),
        v=(samples**2).mean(),
        c=(noise**2).mean(),
    )


def _middle(low, high):
    """Return the middle and the half-width of the range [low, high]."""
    if low is None or high is None:
        raise ValueError(f"low = {low}, high = {high}: must be given together, or not at all")
    low = check.number("low", low, "a number below 1e49 in size", -1e49, 1e49)
    high = check.number("high", high, "a number below 1e49 in size", -1e49, 1e49)
    if not low < high:
        raise ValueError(f"low = {low:g}, high = {high:g}: must be low < high")
    return (low + high) / 2, (high - low) / 2


def _centred(samples, middle, half):
    """Subtract the middle of the range from rewards, none of which may lie outside it."""
    away = samples - middle
    outside = np.argwhere(np.abs(away) > half * (1 + 1e-9))
    if len(outside):
        i, j = outside[0].tolist()
        raise ValueError(
            f"samples[{i}, {j}] = {samples[i, j]:g}: must be from low = {middle - half:g} to "
            f"high = {middle + half:g}; widen the range, or clip the table to it"
        )
    return np.clip(away, -half, half)


def _table_norm(problem):
    """Compute the norm of a table's f, for B."""
    norm = rkhs_norm(problem)
    if norm == math.inf:
        raise ValueError(
            f"B: must be given, as f has no norm in the kernel of this table ({problem.n} arms, "
            f"{len(problem.samples)} rows); 10 (high - low) is a guess of which nothing is proved"
        )
    return norm or problem.F


# ---- The paper's two data sets -------------------------------------------------------------------


def _data_file(original, stand_in):
    """Find a data set, the original where that is here, else the stand-in -> path, provenance."""
    path = _original(original)
    return (path, f"original {original}") if path else _stand_in(original, stand_in)


def _original(name):
    """Find an original in LDPBO_DATA or in data/original/; None if it is not here."""
    named = os.environ.get("LDPBO_DATA")
    if named and not Path(named).is_dir():
        raise ValueError(
            f"LDPBO_DATA = {named!r}: must be an existing folder; unset it to use the stand-in data"
        )
    for folder in ([named] if named else []) + [DATA / "original"]:
        path = Path(folder) / name
        if path.exists():
            _check_original(path)
            return path
    return None


def _check_original(path):
    """Refuse an original with another checksum."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = ORIGINALS[path.name]
    if found != expected:
        raise ValueError(f"{path}: sha256 is {found}, must be {expected}; replace the file")


def _stand_in(original, name):
    """Find a stand-in -> path, provenance.

    It lies in data/ of a checkout, or in share/ldpbo of the environment into which pip installed.
    """
    for folder in (DATA, Path(sys.prefix) / "share" / "ldpbo"):
        path = folder / name
        if path.exists():
            return path, f"stand-in {name}"
    raise ValueError(
        f"no data: put {original} into a folder and name it in LDPBO_DATA, or run `make data`"
    )


def light_problem() -> Problem:
    """Return the paper's 41 light sensors: K from the 601 train rows, rewards from 192 test rows.

    Without the original the stand-in of that shape is read.
    """
    return _light(*_data_file(*LIGHT))


def stock_problem() -> Problem:
    """Return the paper's 29 stocks: K and rewards from the adjusted closes of 823 trading days.

    Without the original the stand-in's 20 stocks are read.
    """
    return _stocks(*_data_file(*STOCKS))


def stand_ins() -> dict[str, Problem]:
    """Make the problems "light" and "stocks" of the stand-ins, though the originals may be here."""
    return {"light": _light(*_stand_in(*LIGHT)), "stocks": _stocks(*_stand_in(*STOCKS))}


def _light(path, source):
    if path.suffix == ".mat":
        from scipy.io import loadmat

        data = loadmat(path, mat_dtype=True, squeeze_me=True, struct_as_record=False)["data"]
        test = data.test.sensordata
        train = data.train.sensordata
    else:
        table = read_table(path)
        part = np.array(table.left_out["split"])
        test = table.values[part == "test"]
        train = table.values[part == "train"]
    return table_problem(test, train, name="light", source=source)


def _stocks(path, source):
    with path.open(encoding="utf-8") as file:
        columns = len(file.readline().split(","))
    prices = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, columns))
    return table_problem(prices, name="stock", source=source)
