"""Problems are made here: from a random function, from a function on a box, and from tables.

>>> import ldpbo_core as core
>>> valley = lambda x: -abs(x[0] - 0.3) - x[1]**2
>>> core.function_problem(valley, [(0, 1), (-1, 1)], 1000, lengthscale=0.5, seed=0).n
1000
>>> table = core.read_table("data/stocks.csv")
>>> table
Table(823 rows, 20 arms: AAPL, AMD, BAC, ...; left out: date)
>>> core.table_problem(table.values, low=0, high=300)  # the range makes the curators
Problem('table', 20 arms, B=1775.99, F=150, R=300, Y=150, table noise)
"""

from __future__ import annotations

import csv
import functools
import hashlib
import itertools
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

MISSING = {"", "na", "n/a", "nan", "null", "none"}  # cells that say that there is no value


# ---- Functions -----------------------------------------------------------------------------------


def _stationary(kernel, lengthscale, nu):
    """Return the kernel of that name, or the user's own, as a function of two sets of points."""
    if callable(kernel):
        return kernel
    check.choice("kernel", kernel, "se", "matern", "a function of two sets of points")
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


class Columns(dict):
    """This dictionary of cells by the name of their column prints only the first of each."""

    def __repr__(self):
        told = [f"{name!r}: [{len(cells)} cells, {cells[0]!r} ...]" for name, cells in self.items()]
        return f"{{{', '.join(told)}}}"


class Table(NamedTuple):
    """A table has the numbers of a file; `left_out` has the cells of columns that are not arms."""

    values: np.ndarray  # (rows, arms)
    names: list[str]  # of the arms
    left_out: dict[str, list[str]]  # by the column's name; one cell a row

    def __repr__(self):
        shown = ", ".join(self.names[:3]) + (", ..." if len(self.names) > 3 else "")
        left_out = ", ".join(self.left_out) or "nothing"
        rows, arms = self.values.shape
        return f"Table({rows} rows, {arms} arms: {shown}; left out: {left_out})"


def read_table(
    path: str | os.PathLike,
    *,
    delimiter: str = "",
    decimal: str = "",
    header: bool | None = None,
    missing: str = "error",
    long: tuple[str, str, str] | bool | None = None,
) -> Table:
    """Read a CSV file as a table with a row for each observation and a column for each arm.

    Delimiter, decimal sign and header (a first row without a number) are found out where they are
    not given. A first column of row numbers is left out, and so is every column without a number:
    dates, labels. The file is UTF-8, or UTF-16 with its byte order mark.

    missing: "error" refuses a cell that is empty, NA, nan, null or None; "drop" leaves out its row;
    "mean" puts the mean of its column there, which takes a little from every correlation.
    long: ("user", "item", "value"), the columns of a file with one value a row; users become rows,
    items arms. A file that looks like that is refused unless long says so; long=False: it is not.
    """
    if not isinstance(delimiter, str) or len(delimiter) > 1:
        raise ValueError(
            f"delimiter = {delimiter!r:.80}: must be one character, or '' to find it out"
        )
    check.choice("decimal", decimal, "", ".", ",")
    check.choice("missing", missing, "error", "drop", "mean")
    if not (header is None or isinstance(header, bool)):
        raise ValueError(f"header = {header!r:.80}: must be True, False, or None to find it out")
    three = isinstance(long, (tuple, list)) and len(long) == 3
    if not (three or long is None or long is False):
        raise ValueError(
            f"long = {long!r:.80}: must be the names of three columns (user, item, value), "
            "False, or None to find out"
        )
    text = _decode(Path(path).read_bytes())
    lines = {i: line.strip(" ") for i, line in enumerate(text.splitlines(), 1) if line.strip()}
    if not lines:
        raise ValueError(f"{path}: is empty; must have rows of numbers")
    delimiter = delimiter or _sniff_delimiter(lines.values(), decimal)
    decimal = decimal or _sniff_decimal(text, delimiter)
    try:
        sheet = _Sheet(_split(lines, delimiter), decimal, header)
        if long:
            sheet = _Pivoted(sheet, long)
        elif long is None:
            sheet.refuse_long()
        return sheet.table(missing)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error} (the delimiter was taken to be {delimiter!r}, "
            f"the decimal sign {decimal!r})"
        ) from None


def _decode(data):
    """Decode UTF-8, or UTF-16 with its byte order mark; other bytes become question marks."""
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    return data.decode("utf-16" if marked else "utf-8-sig", "replace")


def _sniff_delimiter(lines, decimal):
    """Find the delimiter: the first candidate that is in every line, else the usual one."""
    for candidate in "\t;,| ":
        if candidate != decimal and all(candidate in line for line in lines):
            return candidate
    return ";" if decimal == "," else ","


def _sniff_decimal(text, delimiter):
    """Find the decimal sign: a comma if one is between digits, none delimits, and no 1.5 occurs."""
    if delimiter == "," or not re.search(r"\d,\d", text):
        return "."
    number_with_point = re.search(r"(?<![\d.])\d*\.\d+(?![\d.])", text)  # not 31.12.2020
    return "." if number_with_point else ","


def _split(lines, delimiter):
    """Split lines {number: text} into rows {number: cells}; a row is known by its last line."""
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
    """Read a cell as a float; NaN if it is not a number."""
    if decimal == ",":
        cell = cell.translate(str.maketrans(".,", ",."))
    try:
        return float(cell)
    except ValueError:
        return math.nan


def _split_header(rows, decimal, header):
    """Split off the first row if it has no number, or if the caller says so -> names, rows."""
    (_, first), *others = rows.items()
    if header is None:
        header = all(math.isnan(_number(cell, decimal)) for cell in first)
    if header:
        return first, dict(others)
    return [f"column {j}" for j in range(1, len(first) + 1)], rows


class _Sheet:
    """A sheet has the cells of a file, their numbers (NaN for none), and which are missing."""

    def __init__(self, rows, decimal, header):
        top = next(iter(rows))
        self.names, rows = _split_header(rows, decimal, header)
        if not rows:
            raise ValueError("must have a row of numbers")
        for line, row in rows.items():
            if len(row) != len(self.names):
                raise ValueError(
                    f"line {line} has {len(row)} cells: must have {len(self.names)}, as line {top}"
                )
        self.lines = list(rows)
        self.cells = list(rows.values())
        self.values = np.array([[_number(cell, decimal) for cell in row] for row in self.cells])
        self.missing = np.zeros(self.values.shape, dtype=bool)
        for i, j in np.argwhere(np.isnan(self.values)).tolist():
            self.missing[i, j] = self.cells[i][j].lower() in MISSING
        other = "," if decimal == "." else "."
        empty = np.flatnonzero(np.isnan(self.values).all(axis=0)).tolist()
        self.words = {  # columns without a number, with neither decimal sign
            j for j in empty if all(math.isnan(_number(cell, other)) for cell in self.column(j))
        }

    def column(self, j):
        return [row[j] if j < len(row) else "" for row in self.cells]

    def labels(self):
        """Find columns that are not arms: row numbers in the first, and words. One arm is left."""
        rows, columns = self.values.shape
        labels = set()
        if columns > 1 and rows > 2 and (np.diff(self.values[:, 0]) == 1).all():
            labels = {0}
        both = labels | self.words
        return both if len(both) < columns else labels

    def table(self, missing):
        """Return the table; cells of arms must be finite numbers, or gaps that `missing` allows."""
        labels = sorted(self.labels())
        arms = [j for j in range(len(self.names)) if j not in labels]
        gaps = self.missing & (missing != "error")
        bad = np.argwhere(~np.isfinite(self.values[:, arms]) & ~gaps[:, arms])
        if len(bad):
            self.refuse(bad[0, 0], arms[bad[0, 1]])
        values = self.values[:, arms]
        kept = np.ones(len(values), dtype=bool)
        if missing == "drop":
            kept = ~gaps[:, arms].any(axis=1)
        elif missing == "mean":
            values = np.where(gaps[:, arms], np.nanmean(values, axis=0), values)
        if not kept.any():
            raise ValueError("missing = 'drop' leaves no row, as all have a gap; take 'mean'")
        left_out = Columns()
        for j in labels:
            cells = self.column(j)
            left_out[self.names[j]] = [cells[i] for i in np.flatnonzero(kept)]
        return Table(values[kept], [self.names[j] for j in arms], left_out)

    def refuse(self, i, j):
        """Name the cell that is not a number, and say what can be done about it."""
        where = f"line {self.lines[i]}, column {j + 1} ({self.names[j]}) is {self.cells[i][j]!r}"
        advice = self.advice() if self.missing[i, j] else ""
        raise ValueError(f"{where}: must be a finite number{advice}")

    def advice(self):
        arms = [j for j in range(len(self.names)) if j not in self.labels()]
        rows = int(self.missing[:, arms].any(axis=1).sum())
        return (
            f"; missing='drop' leaves out the {rows} of {len(self.cells)} rows with such a cell, "
            "missing='mean' puts the mean of its column there"
        )

    def refuse_long(self):
        """Refuse a file like (user, item, value): two columns of repeated names, no pair twice."""
        rows, columns = self.values.shape
        if columns not in (3, 4):
            return
        few = [j for j in range(columns) if len(set(self.column(j))) <= rows / 2]
        for user, item in itertools.combinations(few, 2):
            named = self.words & {user, item}
            values = [j for j in range(columns) if j not in self.words | {user, item}]
            pairs = set(zip(self.column(user), self.column(item)))
            if values and len(pairs) == rows and (named or rows >= 30):
                names = tuple(self.names[j] for j in (user, item, values[0]))
                raise ValueError(
                    f"looks like one value a row: read it with long={names!r}, that is (user, "
                    "item, value); or with long=False if every column of numbers is an arm"
                )


class _Pivoted(_Sheet):
    """This sheet has a row for each user and a column for each item, from one value a row."""

    def __init__(self, sheet, long):
        for name in long:
            if name not in sheet.names:
                raise ValueError(
                    f"long = {tuple(long)}: there is no column {name!r}; the columns are "
                    f"{', '.join(sheet.names)}"
                )
        user, item, value = (sheet.names.index(name) for name in long)
        users = {name: i for i, name in enumerate(dict.fromkeys(sheet.column(user)))}
        items = {name: j for j, name in enumerate(dict.fromkeys(sheet.column(item)), 1)}
        self.names = [long[0], *items]
        self.cells = [[name] for name in users]
        self.values = np.full((len(users), len(self.names)), math.nan)
        told = np.zeros(self.values.shape, dtype=bool)
        for row, line in enumerate(sheet.lines):
            i = users[sheet.cells[row][user]]
            j = items[sheet.cells[row][item]]
            if told[i, j]:
                raise ValueError(
                    f"line {line} has a second value of {self.names[j]!r} for "
                    f"{self.cells[i][0]!r}: must be one a user and item"
                )
            if not (np.isfinite(sheet.values[row, value]) or sheet.missing[row, value]):
                sheet.refuse(row, value)
            told[i, j] = True
            self.values[i, j] = sheet.values[row, value]
        self.missing = np.isnan(self.values)
        self.words = set(np.flatnonzero(self.missing.all(axis=0)).tolist())
        self.missing[:, 0] = False

    def refuse(self, i, j):
        raise ValueError(
            f"there is no value of {self.names[j]!r} for {self.cells[i][0]!r}: "
            f"must be one{self.advice()}"
        )


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
