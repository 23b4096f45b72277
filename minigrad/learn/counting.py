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
    """An array whose operations are counted: one for each element, and for a product of arrays each multiplication."""

    work = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return _run(getattr(ufunc, method), inputs, keywords, ufunc is np.matmul)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if function not in (np.dot, np.inner, np.outer, np.einsum, np.tensordot):
            return super().__array_function__(function, types, args, keywords)
        return _run(function, args, keywords, True)


def _run(function: Callable[..., Any], args: Any, keywords: dict[str, Any], product: bool) -> Any:
    plain = _each(args, np.asarray)
    result = function(*plain, **{name: _each(value, np.asarray) for name, value in keywords.items()})
    sizes = [np.size(x) for x in (*plain, result)]
    # Each pair of elements that meets is one multiplication: sqrt(n k * k m * n m) for (n, k) by (k, m).
    Counted.work += math.isqrt(math.prod(sizes)) if product else max(sizes)
    return _each(result, _counted)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change each array of a value, also in lists and tuples."""
    if isinstance(value, list | tuple):
        return type(value)(_each(item, change) for item in value)
    return change(value) if isinstance(value, np.ndarray) else value


def _counted(array: Any) -> Any:
    return array.view(Counted)


def work(function: Callable[..., Any], *args: Any) -> int:
    """The multiplications of a call, where the arguments are arrays or lists or tuples of arrays."""
    Counted.work = 0
    function(*_each(args, _counted))
    return int(Counted.work)
