"""How much a learner's function does: calls of a function that it was given, and multiplications on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


class Calls:
    """A function that counts how often it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.count = 0

    def __call__(self, *args: Any) -> Any:
        self.count += 1
        return self.function(*args)


class Counted(np.ndarray):
    """An array whose operations are counted: one for each element, and for a matrix product each multiplication."""

    work = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        plain = [_plain(x) for x in inputs]
        if "out" in keywords:
            keywords["out"] = tuple(_plain(x) for x in keywords["out"])
        result = getattr(ufunc, method)(*plain, **keywords)
        sizes = [np.size(x) for x in (*plain, result)]
        Counted.work += np.size(result) * plain[0].shape[-1] if ufunc is np.matmul else max(sizes)
        return _counted(result)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if function not in (np.dot, np.inner, np.outer, np.einsum, np.tensordot):
            return super().__array_function__(function, types, args, keywords)
        plain = [_plain(x) for x in args]
        result = function(*plain, **{name: _plain(x) for name, x in keywords.items()})
        sizes = [x.size for x in plain if isinstance(x, np.ndarray)]
        # Each pair of elements that meets is one multiplication: sqrt(n k * k m * n m) for (n, k) by (k, m).
        Counted.work += math.isqrt(math.prod(sizes) * np.size(result))
        return _counted(result)


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Counted) else value


def _counted(value: Any) -> Any:
    return value.view(Counted) if isinstance(value, np.ndarray) else value


def work(function: Callable[..., Any], *args: Any) -> int:
    """The multiplications of a call, where the arguments are arrays or lists or tuples of arrays."""
    Counted.work = 0
    function(*[_all_counted(x) for x in args])
    return int(Counted.work)


def _all_counted(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_all_counted(item) for item in value)
    return _counted(value)
