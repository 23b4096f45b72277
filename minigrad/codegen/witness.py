"""Compare a written program with the tape, on the example and on other data, before anyone gets it.

A witness is evidence, not proof. It finds what was frozen without a trace: random numbers, counters, values that another
library has read, and tests of an array's exact type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..engine.kernels import reference_mode
from ..errors import UnsupportedError
from ..transforms.grad import value_and_grad
from .arguments import Arguments, is_floating
from .program import WrittenProgram

_WITNESSES = 8  # other data that a program is compared on; fewer missed one in fifty planted mistakes


def compare(f: Callable[..., Any], program: WrittenProgram, arguments: Arguments, chosen: Sequence[int]) -> None:
    """Run ``f`` and the program on the example and on other data of the same shapes.

    Raises:
        UnsupportedError: they differ.
    """
    for i, data in enumerate(_data(arguments.examples)):
        expected = on_the_tape(f, data, chosen)
        if expected is None:
            continue
        try:
            with np.errstate(all="ignore"):
                found = program(*data)
        except (ValueError, np.linalg.LinAlgError, IndexError):
            if i == 0:
                raise
            continue  # a check of the program, which says that it was written for another way
        if not all(map(close, leaves(found), leaves(expected))):
            where = "on the example itself" if i == 0 else "on other data of the same shapes"
            raise UnsupportedError(
                f"the program that was written computes something else than the function {where}. The function draws random "
                "numbers, counts its calls, changes what it reads, or asks for the type of an array: make what changes an "
                "argument"
            )


def _data(example: Any) -> Iterator[Any]:
    """Yield the example, values that differ from it a little, and its values in other orders, then with other signs too."""
    random = np.random.default_rng(7)

    def changed(array: Any, moved: bool, signs: bool) -> Any:
        if not isinstance(array, (np.ndarray, np.generic)):
            return array
        if moved:
            return (
                array * (1 + 0.001 * random.normal(size=array.shape)).astype(array.dtype)
                if is_floating(array)
                else array
            )
        mixed = random.permutation(np.asarray(array).reshape(-1)).reshape(array.shape).astype(array.dtype)
        if not is_floating(array):
            return mixed
        factor = random.uniform(0.8, 1.2, array.shape) if array.size == 1 else np.full(array.shape, 0.9937)
        return mixed * np.where(random.random(array.shape) < 0.5 * signs, -factor, factor).astype(array.dtype)

    yield map_leaves(_copied, example)
    for i in range(_WITNESSES):
        yield map_leaves(lambda array, i=i: changed(array, i == 0, i > _WITNESSES // 2), example)


def _copied(leaf: Any) -> Any:
    return leaf.copy() if isinstance(leaf, (np.ndarray, np.generic)) else leaf


def on_the_tape(f: Callable[..., Any], data: Any, chosen: Sequence[int]) -> Any:
    """Return the value and the gradients; None if the function cannot be computed for these values."""

    def of_chosen(parts: Any) -> Any:
        complete = list(data)
        for i, part in zip(chosen, parts):
            complete[i] = _merged(data[i], iter(leaves(part)))
        return f(*complete)

    floating = [[leaf for leaf in leaves(data[i]) if is_floating(leaf)] for i in chosen]
    try:
        with reference_mode(), np.errstate(all="ignore"):
            value, gradients = value_and_grad(of_chosen)(floating)
    except Exception:
        return None
    return [value, gradients]


def _merged(tree: Any, parts: Iterator[Any]) -> Any:
    return map_leaves(lambda leaf: next(parts) if is_floating(leaf) else leaf, tree)


def close(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found), np.asarray(getattr(expected, "_array", expected))
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    tolerance = 1e-4 if expected.dtype.char in "feF" else 1e-8
    with np.errstate(all="ignore"):
        size = float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))) if expected.size else 0.0
        return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance * size, equal_nan=True))
