"""A notebook takes the parameters that it has, in any form a command line may give them.

Papermill adds a cell with the parameters it was told; one that the notebook lacks is refused.
"""

import ast
import difflib
import itertools
import sys
from collections.abc import Sequence
from typing import Any


def checked(cells: Sequence[str] | None = None) -> dict[str, Any]:
    """Refuse a parameter that papermill was told and the notebook does not have.

    Papermill only warns of it, and the run goes on with the default. cells: the code that has run,
    IPython's `In` where left out; papermill adds its cell after the one tagged `parameters`.
    -> the parameters that were told, each in the form of the notebook's own, see `settled`.
    """
    if cells is None:
        cells = getattr(sys.modules["__main__"], "In", [])
    told = {}
    for own, added in itertools.pairwise(cells):
        if not added.startswith("# Parameters\n"):
            continue
        known = _assigned(own)
        for name, value in _assigned(added).items():
            if name not in known:
                close = difflib.get_close_matches(name, known, 1, 0.5)
                advice = f"; do you mean {close[0]}?" if close else ""
                raise ValueError(
                    f"unknown parameter {name}: this notebook has {', '.join(known)}{advice}"
                )
            told[name] = settled(name, value, known[name])
    return told


def _assigned(cell):
    """Return the literals that a cell assigns to names, in its order."""
    statements = [s for s in ast.parse(cell).body if isinstance(s, ast.Assign)]
    targets = [(t, s.value) for s in statements for t in s.targets]
    return {t.id: ast.literal_eval(value) for t, value in targets if isinstance(t, ast.Name)}


def settled(name: str, value: Any, default: Any) -> Any:
    """Bring a parameter as a command line gives it into the form of the notebook's default.

    A list may be told as one value, as "TGP,PE" or as '["TGP", "PE"]', a whole number as 1e6.
    """
    if isinstance(default, list) and not isinstance(value, bool):
        items = value if isinstance(value, list) else _items(value)
        like = default[0] if default else None
        return [settled(name, item, like) for item in items]
    if type(default) is int and value is not None:
        return _whole(name, value)
    return value


def _items(value):
    """List the values of a text such as "1, 0.5" or "[1, 0.5]"; anything else is the one value."""
    if not isinstance(value, str):
        return [value]
    text = value.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    words = [word.strip().strip("'\"") for word in text.split(",")]
    return [_number(word) for word in words if word]


def _number(word):
    """Return the number that a word stands for, or the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _whole(name, value):
    """Return the whole number that a value or a text stands for."""
    number = _number(value) if isinstance(value, str) else value
    if isinstance(number, (int, float)) and number == number // 1:
        return int(number)
    raise ValueError(f"{name} = {value!r}: must be a whole number, such as 1000 or 1e3")
