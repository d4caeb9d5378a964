"""Learners saved to a file and loaded again: the format behind `learner.save` and `core.load`.

A saved learner is an npz archive without pickle: `header` is JSON as bytes (format, version, what
identifies the problem, the learner's attributes as a tree), the other members are the arrays that
the tree names. Inside are sums of reports, and single ones, as the learner saw them; a problem's f
and samples are not.
"""

from __future__ import annotations

import json
import os
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import ldpbo_core as core
from ldpbo import posterior

FORMAT = 5  # version of saved learners: one more whenever they keep something else
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
        format="ldpbo learner", version=FORMAT, problem=_identity(learner.problem), learner=learner
    )
    text = json.dumps(header, default=packer.pack).encode()
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            np.savez(file, header=np.frombuffer(text, np.uint8), **packer.written)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)


def load(path: str | os.PathLike, problem: core.Problem) -> core.Learner:
    """The learner that `learner.save` wrote, on the same problem: it asks for the same arms, bit
    for bit."""
    if not isinstance(problem, core.Problem):
        raise ValueError(
            f"problem = {type(problem).__name__}: must be the Problem that the learner was "
            "saved with"
        )
    no_file = ValueError(f"{path}: must be a whole file that learner.save wrote")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        text = arrays["header"].tobytes()
        header = json.loads(text)
        found = header["format"], header["version"]
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise no_file from None
    if found != ("ldpbo learner", FORMAT):
        raise ValueError(
            f"{path} is {found[0]!r} of version {found[1]!r}: must be of version {FORMAT}; "
            "load it with the core that wrote it"
        )
    try:
        header = json.loads(text, object_hook=_Unpacker(problem, arrays).unpack)
        learner = header["learner"]
        told = {name: header["problem"][name] for name in _identity(problem)}
    except (AttributeError, KeyError, TypeError, ValueError):  # a header written by hand
        raise no_file from None
    if not isinstance(learner, core.Learner):
        raise no_file
    _compare(told, problem, path)
    return learner


def _identity(problem):
    """What a learner is told of a problem; the kernel as K times a fixed vector."""
    told = {name: getattr(problem, name) for name in ("n", "B", "R", "v", "c", "alpha")}
    return {**told, "kernel": problem.Z.T @ (problem.Z @ np.cos(np.arange(problem.n)))}


def _compare(told, problem, path):
    """Is `problem` the one that a learner was told of?"""
    for name, here in _identity(problem).items():
        there = told[name]
        same = np.shape(here) == np.shape(there)
        if not same or not np.allclose(here, there, rtol=1e-9, atol=1e-9 * problem.n):
            numbers = "" if name == "kernel" else f": {there!r} there, {here!r} here"
            raise ValueError(
                f"problem: must be the one that {path} was saved with; its {name} differs{numbers}"
            )


class _Packer:
    """Turns what JSON does not know into dicts, and collects the arrays to write beside it."""

    def __init__(self, problem):
        self.written = {}
        self.names = {}  # id of an array: its name
        for part in (problem, problem.domain):  # their own arrays are not written
            arrays = {k: x for k, x in vars(part).items() if isinstance(x, np.ndarray)}
            self.names |= {id(x): name for name, x in arrays.items()}

    def pack(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return self.pack_array(x)
        if isinstance(x, np.generic):
            return x.item()
        if isinstance(x, np.random.Generator):
            return {"Generator": x.bit_generator.state}
        name = type(x).__name__
        if CLASSES.get(name) is not type(x):
            raise ValueError(
                f"save: a learner with a {name} cannot be saved, only what ldpbo_core defines"
            )
        told_again = isinstance(x, (core.Problem, posterior.Domain))
        return {"class": name, "state": None if told_again else x.__getstate__()}

    def pack_array(self, x):
        if x.dtype == object:  # exact sums
            ratios = [y.as_integer_ratio() for y in x.flat]
            return {"fractions": ratios, "shape": x.shape}
        if id(x) not in self.names:
            self.names[id(x)] = f"array{len(self.names)}"
            self.written[self.names[id(x)]] = x
        return {"array": self.names[id(x)]}


class _Unpacker:
    """The inverse of `_Packer`."""

    def __init__(self, problem, arrays):
        self.problem = problem
        self.arrays = arrays

    def unpack(self, x: dict) -> Any:
        if "array" in x:
            name = x["array"]
            return self.arrays[name] if name in self.arrays else getattr(self.problem, name)
        if "fractions" in x:
            exact = np.array([Fraction(*ratio) for ratio in x["fractions"]], dtype=object)
            return exact.reshape(x["shape"])
        if "Generator" in x:
            return self.generator(x["Generator"])
        if "class" not in x:
            return x
        return self.instance(CLASSES[x["class"]], x["state"])

    def generator(self, state):
        rng = np.random.Generator(getattr(np.random, state["bit_generator"])())
        rng.bit_generator.state = state
        return rng

    def instance(self, kind, state):
        if kind is core.Problem:
            return self.problem
        if kind is posterior.Domain:
            return self.problem.domain
        made = object.__new__(kind)
        made.__dict__.update(state)
        return made
