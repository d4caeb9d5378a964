"""CSV files are read as tables: rows are observations, columns are arms, and words are left out.

>>> import ldpbo_core as core
>>> core.read_table("data/stocks.csv")
Table(823 rows, 20 arms: AAPL, AMD, BAC, ...; left out: date)
"""

from __future__ import annotations

import csv
import itertools
import math
import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ldpbo import checks as check

MISSING = {"", "na", "n/a", "nan", "null", "none"}  # cells that say that there is no value


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
