"""Problems are made here: from a random function, from a function on a box, and from tables.

>>> import ldpbo_core as core
>>> valley = lambda x: -abs(x[0] - 0.3) - x[1]**2
>>> core.function_problem(valley, [(0, 1), (-1, 1)], 1000, lengthscale=0.5, seed=0).n
1000
>>> table = core.read_table("data/stocks.csv")
>>> table.values.shape, table.names[:2], list(table.left_out)
((823, 20), ['AAPL', 'AMD'], ['date'])
"""

from __future__ import annotations

import csv
import functools
import hashlib
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ldpbo import checks as check
from ldpbo_core import (
    ArrayLike,
    Problem,
    empirical_kernel,
    linear_kernel,
    matern_kernel,
    se_kernel,
    standardised,
)

ORIGINALS = {  # the paper's data: sha256
    "iw_data_all.mat": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
    "fin.csv": "e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199",
}


# ---- Functions -----------------------------------------------------------------------------------


def _stationary(kernel, lengthscale, nu):
    """The kernel of that name is a function of two sets of points."""
    check.choice("kernel", kernel, "se", "matern")
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
    """The paper's synthetic data have f = sum_i a_i k(., x_i), a_i ~ U[-1, 1], on the arms i/n.

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
    kernel: str = "se",
    lengthscale: ArrayLike = 0.2,
    nu: float = 2.5,
    noise: str = "uniform",
    R: float = 1.0,
    seed: int | None = None,
    points: ArrayLike | None = None,
    **options: Any,
) -> Problem:
    """A function of a point (d,) of a box is played on n scrambled Sobol points, or on those given.

    bounds: the box, [(low, high), ...]. lengthscale, in the units of the box: a number, or one for
    each dimension. B = max |f| over the points; noise and R are those of Problem, options its name,
    rank, tol.
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
        name=getattr(function, "__name__", "function"),
        provenance=f"{len(f)} points, {kernel} kernel, seed {seed}; B = max|f|",
    )
    return Problem(**given | options)


def _sobol_points(bounds, n, seed):
    """n scrambled Sobol points fill the box evenly: (n, d)."""
    from scipy.stats import qmc

    sobol = qmc.Sobol(len(bounds), rng=check.seeded(seed, "seed"))
    doublings = math.ceil(math.log2(check.integer("n", n)))
    return qmc.scale(sobol.random_base2(doublings)[:n], *bounds.T)


# ---- Tables --------------------------------------------------------------------------------------


def table_problem(
    samples: ArrayLike,
    train: ArrayLike | None = None,
    *,
    name: str = "table",
    source: str = "user's table",
) -> Problem:
    """A table is a problem: rows are observations, columns arms, a reward an entry of a random row.

    K is the correlation of `train` (of `samples` where there is none), f the column means; B, R, v
    and c are the smallest bounds that hold on `samples`, as in the paper's experiments.
    """
    samples = check.table("samples", samples)
    rows = samples if train is None else check.table("train", train)
    if rows.shape[1] != samples.shape[1]:
        raise ValueError(
            f"train has {rows.shape[1]} columns: must have {samples.shape[1]}, as samples"
        )
    domain: dict[str, Any]
    if samples.shape[1] > len(rows):  # the table's own columns are the features
        domain = dict(points=standardised(rows).T, kernel=linear_kernel)
    else:
        domain = dict(K=empirical_kernel(rows))
    f = samples.mean(axis=0)
    noise = samples - f
    taken = "K, B, R, v, c" if train is None else "B, R, v, c"
    return Problem(
        **domain,
        f=f,
        B=np.abs(f).max(),
        R=np.abs(noise).max(),
        v=(samples**2).mean(),
        c=(noise**2).mean(),
        noise="table",
        samples=samples,
        name=name,
        provenance=f"{source}; {taken} taken from the private rewards themselves",
    )


class Table(NamedTuple):
    """A table that was read from a file; `left_out` has the cells of columns that are no arms."""

    values: np.ndarray  # (rows, arms)
    names: list[str]  # of the arms
    left_out: dict[str, list[str]]  # by the column's name


def read_table(
    path: str | os.PathLike, *, delimiter: str = "", decimal: str = "", header: bool | None = None
) -> Table:
    """A CSV file is read as a table whose rows are observations and whose columns are arms.

    Delimiter, decimal sign and header (a first row without a number) are found out where they are
    not given. A first column of row numbers is left out, and so is one of dates or labels, alone or
    after it. The file is UTF-8, or UTF-16 with its byte order mark.
    """
    if not isinstance(delimiter, str) or len(delimiter) > 1:
        raise ValueError(
            f"delimiter = {delimiter!r:.80}: must be one character, or '' to find it out"
        )
    check.choice("decimal", decimal, "", ".", ",")
    if not (header is None or isinstance(header, bool)):
        raise ValueError(f"header = {header!r:.80}: must be True, False, or None to find it out")
    text = _decode(Path(path).read_bytes())
    lines = {i: line.strip(" ") for i, line in enumerate(text.splitlines(), 1) if line.strip()}
    if not lines:
        raise ValueError(f"{path}: is empty; must have rows of numbers")
    delimiter = delimiter or _sniff_delimiter(lines.values(), decimal)
    decimal = decimal or _sniff_decimal(text, delimiter)
    try:
        return _parse(_split(lines, delimiter), decimal, header)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error} (the delimiter was taken to be {delimiter!r}, "
            f"the decimal sign {decimal!r})"
        ) from None


def _decode(data):
    """A byte order mark tells UTF-16 from UTF-8; bytes that are neither become question marks."""
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    return data.decode("utf-16" if marked else "utf-8-sig", "replace")


def _sniff_delimiter(lines, decimal):
    """The delimiter is the first candidate that is in every line; else the usual one."""
    for candidate in "\t;,| ":
        if candidate != decimal and all(candidate in line for line in lines):
            return candidate
    return ";" if decimal == "," else ","


def _sniff_decimal(text, delimiter):
    """The decimal sign is a comma if digits stand around one, none delimits, and no 1.5 occurs."""
    if delimiter == "," or not re.search(r"\d,\d", text):
        return "."
    number_with_point = re.search(r"(?<![\d.])\d*\.\d+(?![\d.])", text)  # not 31.12.2020
    return "." if number_with_point else ","


def _split(lines, delimiter):
    """Lines {number: text} are split into rows {number: cells}; a row is known by its last line."""
    numbers = list(lines)
    reader = csv.reader(lines.values(), delimiter=delimiter, skipinitialspace=True)
    rows = {}
    try:
        for row in reader:
            rows[numbers[reader.line_num - 1]] = [cell.strip() for cell in row]
    except csv.Error as error:
        raise ValueError(f"line {numbers[reader.line_num - 1]}: {error}") from None
    return rows


def _number(cell, decimal):
    """A cell is read as a float; NaN where it is none."""
    if decimal == ",":
        cell = cell.translate(str.maketrans(".,", ",."))
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _parse(rows, decimal, header):
    """Rows {line: cells} become a Table; every cell of an arm must be a finite number."""
    top = next(iter(rows))
    names, rows = _split_header(rows, decimal, header)
    if not rows:
        raise ValueError("must have a row of numbers")
    for line, row in rows.items():
        if len(row) != len(names):
            raise ValueError(
                f"line {line} has {len(row)} cells: must have {len(names)}, as line {top}"
            )
    values = np.array([[_number(cell, decimal) for cell in row] for row in rows.values()])
    labels = _label_columns(values)
    bad = np.argwhere(~np.isfinite(values[:, labels:]))
    if len(bad):
        line = list(rows)[bad[0, 0]]
        j = bad[0, 1] + labels
        raise ValueError(
            f"line {line}, column {j + 1} ({names[j]}) is {rows[line][j]!r}: "
            "must be a finite number"
        )
    left_out = {names[j]: [row[j] for row in rows.values()] for j in range(labels)}
    return Table(values[:, labels:], names[labels:], left_out)


def _split_header(rows, decimal, header):
    """The first row is the header if it has no number, or if the caller says so -> names, rows."""
    (_, first), *others = rows.items()
    if header is None:
        header = all(math.isnan(_number(cell, decimal)) for cell in first)
    if header:
        return first, dict(others)
    return [f"column {j}" for j in range(1, len(first) + 1)], rows


def _label_columns(values):
    """So many first columns are no arms: row numbers, then dates or labels. One arm is left."""
    columns = values.shape[1]
    labels = 0
    if columns > 1 and len(values) > 2 and (np.diff(values[:, 0]) == 1).all():
        labels = 1
    if columns > labels + 1 and np.isnan(values[:, labels]).all():
        labels += 1
    return labels


# ---- The paper's two data sets -------------------------------------------------------------------


def _data_file(original, stand_in):
    """A data set is found in LDPBO_DATA, in data/original/, or as the stand-in that is shipped.

    Returns path and provenance. The stand-in lies in data/ of a checkout, or in share/ldpbo of the
    environment into which pip installed the code.
    """
    data = Path(__file__).resolve().parent.parent / "data"
    named = os.environ.get("LDPBO_DATA")
    if named and not Path(named).is_dir():
        raise ValueError(
            f"LDPBO_DATA = {named!r}: must be an existing folder; unset it to use the stand-in data"
        )
    for folder in ([named] if named else []) + [data / "original"]:
        path = Path(folder) / original
        if path.exists():
            _check_original(path)
            return path, f"original {original}"
    for folder in (data, Path(sys.prefix) / "share" / "ldpbo"):
        path = folder / stand_in
        if path.exists():
            return path, f"stand-in {stand_in}"
    raise ValueError(
        f"no data: put {original} into a folder and name it in LDPBO_DATA, or run `make data`"
    )


def _check_original(path):
    """An original with another checksum is refused."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    expected = ORIGINALS[path.name]
    if found != expected:
        raise ValueError(f"{path}: sha256 is {found}, must be {expected}; replace the file")


def light_problem() -> Problem:
    """41 light sensors are the arms: K from the 601 train rows, rewards from the 192 test rows.

    Without the original the stand-in of that shape is read.
    """
    path, source = _data_file("iw_data_all.mat", "light.csv")
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


def stock_problem() -> Problem:
    """29 stocks are the arms: K and rewards from the same adjusted closes of 823 trading days.

    Without the original the stand-in's 20 stocks are read.
    """
    path, source = _data_file("fin.csv", "stocks.csv")
    with path.open(encoding="utf-8") as file:
        columns = len(file.readline().split(","))
    prices = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, columns))
    return table_problem(prices, name="stock", source=source)
