"""What comes from files and goes into them: tables of rewards, saved learners.

>>> import ldpbo_core as core
>>> table = core.read_table("data/stocks.csv")
>>> table.values.shape, table.names[:2], list(table.left_out)
((823, 20), ['AAPL', 'AMD'], ['date'])

Used through `ldpbo_core`: `core.read_table(path)`, `learner.save(path)`, `core.load(path,
problem)`. A saved learner is an npz archive without pickle: `header` is JSON as bytes (format, version, what identifies
the problem, the learner's attributes as a tree), the other members are the arrays that the tree names. Inside are sums
of reports, and single ones, as the learner saw them; a problem's f and samples are not.
"""

import contextlib
import csv
import json
import math
import os
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ldpbo_core as core
from ldpbo import checks as check

FORMAT = 4  # version of saved learners: one more whenever they keep something else


class Table(NamedTuple):
    """values (rows, arms), the arms' names, and the cells of the columns that were left out, by their names."""

    values: np.ndarray
    names: list[str]
    left_out: dict[str, list[str]]


def read_table(
    path: str | os.PathLike, *, delimiter: str = "", decimal: str = "", header: bool | None = None
) -> Table:
    """A CSV file, rows = observations, columns = arms -> named tuple (values, names, left_out).

    Delimiter, decimal sign and header (a first row without a number) are found out where they are not given. A first
    column of row numbers is left out, and so is one of dates or labels, alone or after it. UTF-8; UTF-16 with its mark.
    """
    if not isinstance(delimiter, str) or len(delimiter) > 1:
        raise ValueError(
            f"delimiter = {delimiter!r:.80}: must be one character, or '' to find it out"
        )
    check.choice("decimal", decimal, "", ".", ",")
    if not (header is None or isinstance(header, bool)):
        raise ValueError(f"header = {header!r:.80}: must be True, False, or None to find it out")
    data = Path(path).read_bytes()
    text = data.decode(
        "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace"
    )
    lines = {
        i: line.strip(" ") for i, line in enumerate(text.splitlines(), 1) if line.strip()
    }  # number: text
    if not lines:
        raise ValueError(f"{path}: is empty; must have rows of numbers")
    signs = [d for d in "\t;,| " if d != decimal]
    delimiter = delimiter or next(
        (d for d in signs if all(d in line for line in lines.values())), signs[-3]
    )
    point = re.search(r"(?<![\d.])\d*\.\d+(?![\d.])", text)  # a number such as 1.5, not 31.12.2020
    decimal = decimal or (
        "," if delimiter != "," and re.search(r"\d,\d", text) and not point else "."
    )
    taken = f"(the delimiter was taken to be {delimiter!r}, the decimal sign {decimal!r})"

    def number(cell):
        with contextlib.suppress(ValueError):
            return float(cell.translate({44: 46, 46: 44}) if decimal == "," else cell)
        return math.nan

    reader, where = (
        csv.reader(lines.values(), delimiter=delimiter, skipinitialspace=True),
        list(lines),
    )
    cells = {}
    try:
        for row in reader:
            cells[where[reader.line_num - 1]] = [
                cell.strip() for cell in row
            ]  # by the line it ends on
    except csv.Error as error:
        raise ValueError(f"{path}: line {where[reader.line_num - 1]}: {error} {taken}") from None
    top = next(iter(cells))
    names = cells[top]
    if header or (header is None and np.isnan([number(cell) for cell in names]).all()):
        del cells[top]
    else:
        names = [f"column {j}" for j in range(1, len(names) + 1)]
    if not cells:
        raise ValueError(f"{path}: must have a row of numbers {taken}")
    for i, row in cells.items():
        if len(row) != len(names):
            raise ValueError(
                f"{path}: line {i} has {len(row)} cells: must have {len(names)}, as line {top} {taken}"
            )
    values = np.array([[number(cell) for cell in row] for row in cells.values()])
    skip = int(
        len(names) > 1 and len(values) > 2 and (np.diff(values[:, 0]) == 1).all()
    )  # row numbers,
    skip += int(len(names) > 1 + skip and np.isnan(values[:, skip]).all())  # dates or labels
    bad = np.argwhere(~np.isfinite(values[:, skip:]))
    if len(bad):
        i, j = list(cells)[bad[0, 0]], bad[0, 1] + skip
        raise ValueError(
            f"{path}: line {i}, column {j + 1} ({names[j]}) is {cells[i][j]!r}: must be a finite number "
            + taken
        )
    return Table(
        values[:, skip:],
        names[skip:],
        {names[j]: [row[j] for row in cells.values()] for j in range(skip)},
    )


def _identity(problem):
    """What a learner is told of a problem; the kernel as K times a fixed vector."""
    told = {name: getattr(problem, name) for name in ("n", "B", "R", "v", "c", "alpha")}
    return {**told, "kernel": problem.Z.T @ (problem.Z @ np.cos(np.arange(problem.n)))}


def save(learner: core._Bandit, path: str | os.PathLike) -> None:
    """Write `learner` to `path`. After a crash the file is the old one or the new one, whole."""
    path = os.fspath(path)
    own = {
        id(x): (name, x) for name, x in vars(learner.problem).items() if isinstance(x, np.ndarray)
    }
    arrays = dict(own)  # the problem's own are not written

    def pack(x):
        """What JSON does not know, as a dict."""
        if isinstance(x, np.ndarray) and x.dtype == object:
            return {"integers": x.tolist()}  # exact sums, beyond 64 bits
        if isinstance(x, np.ndarray):
            return {"array": arrays.setdefault(id(x), (f"array{len(arrays)}", x))[0]}
        if isinstance(x, np.generic):
            return x.item()
        if isinstance(x, bytes):
            return {"bytes": x.hex()}
        if isinstance(x, np.random.Generator):
            return {"Generator": x.bit_generator.state}
        if getattr(core, type(x).__name__, None) is not type(x):
            raise ValueError(
                f"save: a learner with a {type(x).__name__} cannot be saved, only what ldpbo_core defines"
            )
        return {
            "class": type(x).__name__,
            "state": None if isinstance(x, core.Problem) else x.__getstate__(),
        }

    header = dict(
        format="ldpbo learner", version=FORMAT, problem=_identity(learner.problem), learner=learner
    )
    text, part = json.dumps(header, default=pack).encode(), f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            np.savez(
                file,
                header=np.frombuffer(text, np.uint8),
                **dict(arrays[i] for i in arrays if i not in own),
            )
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)


def load(path: str | os.PathLike, problem: core.Problem) -> core._Bandit:
    """The learner that `learner.save` wrote, on the same problem: it asks for the same arms, bit for bit."""
    if not isinstance(problem, core.Problem):
        raise ValueError(
            f"problem = {type(problem).__name__}: must be the Problem that the learner was saved with"
        )
    no_file = f"{path}: must be a whole file that learner.save wrote"
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].tobytes())
        found = header["format"], header["version"]
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise ValueError(no_file) from None
    if found != ("ldpbo learner", FORMAT):
        raise ValueError(
            f"{path} is {found[0]!r} of version {found[1]!r}: must be of version {FORMAT}; load it with "
            "the core that wrote it"
        )

    def unpack(x):
        """The inverse of pack."""
        if "array" in x:
            return arrays[x["array"]] if x["array"] in arrays else getattr(problem, x["array"])
        if "integers" in x:
            return np.array(x["integers"], dtype=object)
        if "bytes" in x:
            return bytes.fromhex(x["bytes"])
        if "Generator" in x:
            rng = np.random.Generator(getattr(np.random, x["Generator"]["bit_generator"])())
            rng.bit_generator.state = x["Generator"]
            return rng
        if x.get("class") == "Problem":
            return problem
        if "class" not in x:
            return x
        made = object.__new__(getattr(core, x["class"]))
        made.__dict__.update(x["state"])
        return made

    try:
        header = json.loads(arrays["header"].tobytes(), object_hook=unpack)
        told, learner = (
            {name: header["problem"][name] for name in _identity(problem)},
            header["learner"],
        )
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # a header that somebody wrote by hand
        raise ValueError(no_file) from None
    if type(learner) not in core.ALGORITHMS.values():
        raise ValueError(no_file)
    for name, here in _identity(problem).items():
        there = told[name]
        if np.shape(here) != np.shape(there) or not np.allclose(
            here, there, rtol=1e-9, atol=1e-9 * problem.n
        ):
            raise ValueError(
                f"problem: must be the one that {path} was saved with; its {name} differs"
                + ("" if name == "kernel" else f": {there!r} there, {here!r} here")
            )
    return learner
