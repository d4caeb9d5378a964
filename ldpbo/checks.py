"""Arguments are checked here: an error names the argument, its value and what is allowed.

>>> from ldpbo import checks as check
>>> check.fraction("delta", 1.5)
Traceback (most recent call last):
ValueError: delta = 1.5: must be in (0, 1), and above 1e-100
"""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Turn NumPy's numbers into Python's, so that messages say 0 and not np.int64(0)."""
    return value.item() if isinstance(value, np.generic) else value


def real(value: Any) -> np.ndarray | None:
    """Turn `value` into an array of floats; None if an entry is not a real number.

    Masked and complex entries, dates, words and numbers beyond floats are not.
    """
    if type(value) is np.ndarray and value.dtype == float:  # the usual case; masks take time
        return value.view()
    with contextlib.suppress(TypeError, ValueError, OverflowError), np.errstate(over="ignore"):
        x = np.ma.asarray(value)  # ValueError: a ragged list
        if np.ma.is_masked(x):
            return None
        if x.dtype.kind in "biuf" or (x.dtype.kind == "O" and all(map(_is_real, x.flat))):
            return np.asarray(x, dtype=float)  # OverflowError: 10**400
    return None


def _is_real(x):
    """Tell whether x is a real number; a time span is not, although NumPy registers it as one."""
    return isinstance(x, numbers.Real) and not isinstance(x, np.timedelta64)


def number(
    name: str,
    value: Any,
    allowed: str = "a finite number",
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """Return `value` as a float; refuse it unless low < value < high."""
    if isinstance(value, float):
        x = value = float(value)
    else:
        array_of_one = real(value)
        x = math.nan if array_of_one is None or array_of_one.ndim else float(array_of_one)
    if not low < x < high:
        raise ValueError(f"{name} = {plain(value)!r:.80}: must be {allowed}")
    return x


# Settings keep away from the ends of floating point, so that squares, products and ratios of them
# are finite. A ridge below 1e-10 drowns in the rounding of K: the posterior mean would be off by
# 1e-5 and more.
positive = functools.partial(
    number, allowed="a number > 0, between 1e-100 and 1e100", low=1e-100, high=1e100
)
nonnegative = functools.partial(
    number, allowed="a number >= 0 and below 1e100", low=-5e-324, high=1e100
)
fraction = functools.partial(number, allowed="in (0, 1), and above 1e-100", low=1e-100, high=1.0)
order = functools.partial(
    number, allowed="in (0, 1], and above 1e-100", low=1e-100, high=math.nextafter(1.0, 2.0)
)
ridge = functools.partial(
    number, "lam", allowed="a number > 0, from 1e-10 to 1e100", low=0.999e-10, high=1e100
)


def choice(name: str, value: Any, *allowed: str) -> None:
    """Refuse `value` unless it is one of the words `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        *words, last = map(repr, allowed)
        raise ValueError(f"{name} = {plain(value)!r:.80}: must be {', '.join(words)} or {last}")


def integer(name: str, value: Any, low: int = 1, high: float = 10**15, allowed: str = "") -> int:
    """Return `value` as an int; refuse it unless low <= value <= high."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))
    if not (whole and low <= value <= high):
        allowed = allowed or f">= {low} and at most 10**15"
        advice = f"; write {value:.0f}" if _is_whole(value) and low <= value <= high else ""
        raise ValueError(f"{name} = {plain(value)!r:.80}: must be an integer {allowed}{advice}")
    return int(value)


def _is_whole(value):
    return isinstance(value, float) and value.is_integer()


def array(name: str, value: Any, ndim: int | None, limit: float = math.inf) -> np.ndarray:
    """Return `value` as a finite array of floats with `ndim` dimensions (None: any number).

    Entries must be below `limit` in size.
    """
    x = real(value)
    if x is None:
        raise ValueError(
            f"{name}: must be an array of real numbers; "
            "no masked entry, complex number, date or word"
        )
    if ndim is not None and x.ndim != ndim:
        raise ValueError(f"{name} has {x.ndim} dimensions: must have {ndim}")
    good = np.abs(x) < limit
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        size = f" and below {limit:g} in size; rescale it" if limit < math.inf else ""
        raise ValueError(f"{name}{list(where)} = {x[where]}: every entry must be finite{size}")
    return x


def together(name: str, value: Any, other: str, second: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of numbers whose shapes go together."""
    x = array(name, value, None)
    y = array(other, second, None)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise ValueError(
            f"{name} has shape {x.shape} and {other} has shape {y.shape}: must go together"
        ) from None
    return x, y


def instance(name: str, value: Any, kind: type) -> None:
    """Refuse a value of another class."""
    if not isinstance(value, kind):
        raise ValueError(f"{name} = {type(value).__name__}: must be a {kind.__name__}")


def generator(
    rng: Any,
    allowed: str = "or None; a seed would give each call the same noise",
    name: str = "rng",
) -> np.random.Generator:
    """Return a NumPy generator: `rng` itself, or a fresh one for None."""
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    raise ValueError(f"{name} = {rng!r:.80}: must be a numpy Generator {allowed}")


def seeded(rng: Any, name: str = "rng") -> np.random.Generator:
    """Return a NumPy generator: `rng` itself, or one made from a seed."""
    if not isinstance(rng, np.ndarray) or rng.ndim == 1:  # a np.matrix would crash the interpreter
        with contextlib.suppress(TypeError, ValueError):
            rng = np.random.default_rng(rng)
    return generator(rng, "or a seed >= 0, or None", name)


def function(name: str, value: Any, of: str) -> Any:
    """Return `value`; refuse it unless it is a function."""
    if not callable(value):
        raise ValueError(f"{name} = {value!r:.80}: must be a function of {of}")
    return value


def arm(value: Any, n: int, name: str = "arm") -> int:
    """Return `value` as the index of one of n arms."""
    if type(value) is int and 0 <= value < n:  # the usual case, each round of a run
        return value
    return integer(name, value, 0, n - 1, f"from 0 to {n - 1}")


def arms(name: str, values: Iterable, n: int) -> np.ndarray:
    """Return a list of arms as an array of indices."""
    if not np.iterable(values):
        raise ValueError(f"{name} = {values!r:.80}: must be a list of arms")
    return np.array([arm(a, n, f"{name}[{i}]") for i, a in enumerate(values)], dtype=int)


def points(X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets of points as (n, d) and (n', d) arrays; a vector is n points of the line."""
    X = array("X", X, None)
    Y = array("Y", Y, None)
    X, Y = (A[:, None] if A.ndim == 1 else A for A in (X, Y))
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1] or not X.shape[1]:
        raise ValueError(
            f"X has shape {X.shape} and Y has shape {Y.shape}: must have the same dimension d >= 1"
        )
    return X, Y


def kernel_matrix(K: Any) -> np.ndarray:
    """Return K as a symmetric (n, n) array; refuse a diagonal above 1 (see `semidefinite`)."""
    K = array("K", K, 2)
    n = len(K)
    if n == 0 or K.shape != (n, n):
        raise ValueError(f"K has shape {K.shape}: must be square (n, n) with n >= 1")
    if not np.allclose(K, K.T, rtol=0.0, atol=1e-9):
        raise ValueError(
            f"K differs from its transpose by {np.abs(K - K.T).max():.3g}: must be symmetric"
        )
    if np.diag(K).max() > 1 + 1e-9:
        raise ValueError(
            f"K has a diagonal entry {np.diag(K).max():.6g}: must be at most 1; divide K by it"
        )
    return (K + K.T) / 2


def semidefinite(w: np.ndarray) -> None:
    """Refuse ascending eigenvalues w of K, unless K is positive semi-definite."""
    if w[0] < -1e-8 * len(w):
        raise ValueError(f"K has an eigenvalue {w[0]:.3g}: must be positive semi-definite")


def table(name: str, samples: Any) -> np.ndarray:
    """Return a table (observations, arms) as an array; refuse columns that do not vary."""
    samples = array(name, samples, 2, limit=1e49)  # squares of it are below 1e100
    if len(samples) < 2 or not samples.shape[1]:
        raise ValueError(
            f"{name} has shape {samples.shape}: must have at least 2 rows and 1 column"
        )
    constant = np.ptp(samples, axis=0) <= np.maximum(1e-14 * np.abs(samples).max(axis=0), 1e-100)
    if constant.any():
        raise ValueError(
            f"{name} column {int(constant.argmax())} is constant: columns must vary; remove it"
        )
    return samples
