"""Values as JSON and back: what goes to a learner's program, and what comes back from it. Never pickles: those run code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST = 200_000  # elements of an array that comes back, and entries of a list


class Code(str):
    """A function given to the learner's, as the text of a lambda."""

    __slots__ = ()


class Unknown(str):
    """What came back and is no data: the name of its type."""

    __slots__ = ()


def encode(value: Any, depth: int = 0) -> Any:
    """The value as what ``json`` can write; of what is no data only the name of its type."""
    if isinstance(value, Code):
        return {"code": str(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf" and value.size <= MOST:
        array = np.asarray(value)
        return {"array": [array.dtype.str, list(array.shape), array.ravel().tolist()]}
    if depth < 8 and type(value) in (tuple, list) and len(value) <= MOST:
        return {type(value).__name__: [encode(item, depth + 1) for item in value]}
    if depth < 8 and type(value) is dict and len(value) <= MOST:
        return {"dict": [[encode(key, depth + 1), encode(item, depth + 1)] for key, item in value.items()]}
    return {"unknown": type(value).__name__}


def decode(data: Any, run: Callable[[str], Any] = Code) -> Any:
    """The value again. ``run`` makes a function of code: only the learner's process does, with what we sent."""
    if not isinstance(data, dict):
        return data
    (kind, content), *_ = data.items()
    if kind == "array":
        dtype, shape, values = content
        return np.array(values, dtype).reshape(shape)
    if kind == "dict":
        return {decode(key, run): decode(item, run) for key, item in content}
    if kind in ("list", "tuple"):
        items = [decode(item, run) for item in content]
        return items if kind == "list" else tuple(items)
    return run(content) if kind == "code" else Unknown(content)


def part_of(value: Any, places: list[int]) -> Any:
    """What stands in a list or tuple, and in what stands there, at these places."""
    for i in places:
        value = value[i]
    return value
