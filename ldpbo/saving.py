"""Learners are saved to files and loaded again, by `learner.save` and `core.load`, in this format.

A saved learner is an npz archive without pickle: `header` is JSON as bytes (format, version, what
identifies the problem, the learner's attributes as a tree), the other members are the arrays that
the tree names. Inside are sums of reports, and single ones, as the learner saw them; a problem's f
and samples are not.

A learner or curator of somebody's own is named by module and class. Nothing is imported or run
because a file says so: `load` takes the class from its caller, or from a module that is imported.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import ldpbo_core as core
from ldpbo import posterior

FORMAT = 7  # version of saved learners: one more whenever they keep something else
CLASSES = {
    name: value
    for module in (core, posterior)
    for name, value in vars(module).items()
    if isinstance(value, type) and value.__module__ == module.__name__
}


def save(learner: core.Learner, path: str | os.PathLike) -> None:
    """Write `learner` to `path`. After a crash the file is the old one or the new one, whole."""
    path = os.fspath(path)
    packer = _Packer(learner.problem)
    header = dict(
        format="ldpbo learner",
        version=FORMAT,
        problem={name: packer.pack(x) for name, x in _identity(learner.problem).items()},
        learner=packer.pack(learner),
    )
    text = json.dumps(header).encode()
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            np.savez(file, header=np.frombuffer(text, np.uint8), **packer.written)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)


def load(
    path: str | os.PathLike,
    problem: core.Problem,
    *,
    algorithm: type[core.Learner] | None = None,
    curator: type[core.CTL] | None = None,
) -> core.Learner:
    """Load the learner that `learner.save` wrote, on the same problem: it goes on bit for bit.

    algorithm, curator: classes of your own that it was made with, unless their module is imported.
    """
    if not isinstance(problem, core.Problem):
        raise ValueError(
            f"problem = {type(problem).__name__}: must be the Problem that the learner was "
            "saved with"
        )
    own = _own_classes(algorithm=algorithm, curator=curator)
    no_file = ValueError(f"{path}: must be a whole file that learner.save wrote")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].tobytes())
        found = header["format"], header["version"]
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise no_file from None
    if found != ("ldpbo learner", FORMAT):
        raise ValueError(
            f"{path} is {found[0]!r} of version {found[1]!r}: must be of version {FORMAT}; "
            "load it with the core that wrote it"
        )
    unpacker = _Unpacker(problem, arrays, own)
    try:
        learner = unpacker.unpack(header["learner"])
        told = {name: unpacker.unpack(header["problem"][name]) for name in _identity(problem)}
    except _Unknown as error:
        raise ValueError(f"{path}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError):  # a header written by hand
        raise no_file from None
    if not isinstance(learner, core.Learner):
        raise no_file
    _compare(told, problem, path)
    if algorithm is not None and type(learner) is not algorithm:
        raise ValueError(
            f"algorithm = {algorithm.__name__}: must be left out, as {path} has a "
            f"{type(learner).__name__}"
        )
    return learner


def _own_classes(**given):
    """Collect the classes that the caller of `load` vouches for."""
    bases = {"algorithm": core.Learner, "curator": core.CTL}
    classes = {name: kind for name, kind in given.items() if kind is not None}
    for name, kind in classes.items():
        if not (isinstance(kind, type) and issubclass(kind, bases[name])):
            raise ValueError(
                f"{name} = {kind!r:.80}: must be a subclass of {bases[name].__name__}, or None"
            )
    return list(classes.values())


def _identity(problem):
    """Collect what a learner is told of a problem; the kernel as K times a fixed vector."""
    names = ("n", "B", "F", "R", "bound", "v", "c", "alpha")
    told = {name: getattr(problem, name) for name in names}
    return {**told, "kernel": problem.Z.T @ (problem.Z @ np.cos(np.arange(problem.n)))}


def _compare(told, problem, path):
    """Refuse a problem that is not the one a learner was told of."""
    for name, here in _identity(problem).items():
        there = told[name]
        same = np.shape(here) == np.shape(there)
        if not same or not np.allclose(here, there, rtol=1e-9, atol=1e-9 * problem.n):
            numbers = "" if name == "kernel" else f": {there!r} there, {here!r} here"
            raise ValueError(
                f"problem: must be the one that {path} was saved with; its {name} differs{numbers}"
            )


def _find(name):
    """Find the imported class module:name; return None unless it is a learner or a curator."""
    module, _, path = name.partition(":")
    try:
        found = functools.reduce(getattr, path.split("."), sys.modules[module])
    except (KeyError, AttributeError):
        return None
    own = isinstance(found, type) and issubclass(found, (core.Learner, core.CTL))
    return found if own else None


class _Unknown(Exception):
    """The class of something saved is not at hand."""


class _Packer:
    """A packer turns a learner into a tree for JSON, and collects the arrays written beside it."""

    def __init__(self, problem):
        self.written = {}
        self.names: dict[int, str] = {}  # by the id of an array
        for part in (problem, problem.domain):  # their own arrays are not written
            arrays = {k: x for k, x in vars(part).items() if isinstance(x, np.ndarray)}
            self.names |= {id(x): name for name, x in arrays.items()}

    def pack(self, x: Any, where: str = "learner") -> Any:
        """Turn x into what JSON knows; in errors, `where` says which attribute x is."""
        if x is None or type(x) in (bool, int, float, str):
            return x
        if isinstance(x, np.generic):
            return x.item()
        if isinstance(x, np.ndarray):
            return self.pack_array(x, where)
        if type(x) is list:
            return [self.pack(y, where) for y in x]
        if type(x) in (tuple, set):
            return {type(x).__name__: [self.pack(y, where) for y in x]}
        if type(x) is dict:
            return {"dict": [[self.pack(k, where), self.pack(y, where)] for k, y in x.items()]}
        if isinstance(x, np.random.Generator):
            return {"Generator": self.pack(x.bit_generator.state, where)}
        return self.pack_object(x, where)

    def pack_array(self, x, where):
        if x.dtype == object:  # exact sums
            if not all(isinstance(y, (int, Fraction)) for y in x.flat):
                raise ValueError(
                    f"save: {where} is an array of Python objects: must be one of numbers"
                )
            ratios = [y.as_integer_ratio() for y in x.flat]
            return {"fractions": ratios, "shape": list(x.shape)}
        if id(x) not in self.names:
            self.names[id(x)] = f"array{len(self.names)}"
            self.written[self.names[id(x)]] = x
        return {"array": self.names[id(x)]}

    def pack_object(self, x, where):
        if isinstance(x, core.Problem):  # told again
            return {"class": "Problem"}
        if isinstance(x, posterior.Domain):
            return {"class": "Domain"}
        name = type(x).__name__
        known = self.class_name(type(x), where)
        parts = x.__getstate__().items()
        return {"class": known, "state": {k: self.pack(y, f"{name}.{k}") for k, y in parts}}

    def class_name(self, kind: type, where: str) -> str:
        """Return the name under which `load` finds a class: the core's own, or module:name."""
        if CLASSES.get(kind.__name__) is kind:
            return kind.__name__
        if not issubclass(kind, (core.Learner, core.CTL)):
            raise ValueError(
                f"save: {where} is a {kind.__name__}, which cannot be saved: keep numbers, texts, "
                "lists, tuples, sets, dicts, arrays or generators, or return such from __getstate__"
            )
        name = f"{kind.__module__}:{kind.__qualname__}"
        if _find(name) is not kind:
            raise ValueError(
                f"save: a learner with a {kind.__name__} cannot be saved, as nobody would find "
                f"{name} again: define the class at the top of a module"
            )
        return name


class _Unpacker:
    """An unpacker does the inverse of `_Packer`."""

    def __init__(self, problem, arrays, own):
        self.problem = problem
        self.arrays = arrays
        self.own = own

    def unpack(self, x: Any) -> Any:
        if isinstance(x, list):
            return [self.unpack(y) for y in x]
        if not isinstance(x, dict):
            return x
        if "class" in x:
            return self.instance(x)
        if "array" in x:
            name = x["array"]
            return self.arrays[name] if name in self.arrays else getattr(self.problem, name)
        if "fractions" in x:
            exact = np.array([Fraction(*ratio) for ratio in x["fractions"]], dtype=object)
            return exact.reshape(x["shape"])
        if "Generator" in x:
            return self.generator(self.unpack(x["Generator"]))
        ((kind, content),) = x.items()
        return {"dict": dict, "tuple": tuple, "set": set}[kind](self.unpack(content))

    def generator(self, state):
        kind = getattr(np.random, state["bit_generator"])
        if not issubclass(kind, np.random.BitGenerator):
            raise TypeError(f"{kind} is no bit generator")
        rng = np.random.Generator(kind())
        rng.bit_generator.state = state
        return rng

    def instance(self, x):
        kind = self.class_of(x["class"])
        if kind is core.Problem:
            return self.problem
        if kind is posterior.Domain:
            return self.problem.domain
        made = object.__new__(kind)
        state = {name: self.unpack(part) for name, part in x["state"].items()}
        if hasattr(kind, "__setstate__"):
            made.__setstate__(state)
        else:
            made.__dict__.update(state)
        return made

    def class_of(self, name):
        """Find the class of that name: the core's own, one the caller gave, or one imported."""
        if ":" not in name:
            return CLASSES[name]
        for kind in self.own:
            if name.partition(":")[2] == kind.__qualname__:
                return kind
        found = _find(name)
        if found is None:
            module, _, wanted = name.partition(":")
            raise _Unknown(
                f"needs the class {wanted} of the module {module}: import it first, or give it "
                f"as load(path, problem, algorithm={wanted}), a curator as curator={wanted}"
            )
        return found
