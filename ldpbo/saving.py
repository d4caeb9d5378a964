"""Learners are saved to a file and loaded again: `learner.save(path)`, `core.load(path, problem)`.

A saved learner is an npz archive without pickle: `header` is JSON as bytes (format, version, what identifies
the problem, the learner's attributes as a tree), the other members are the arrays that the tree names. Inside are sums
of reports, and single ones, as the learner saw them; a problem's f and samples are not.
"""

import json
import os
import zipfile
from pathlib import Path

import numpy as np

import ldpbo_core as core

FORMAT = 4  # version of saved learners: one more whenever they keep something else


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
