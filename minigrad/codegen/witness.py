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

_TRIES = 64  # other data that a program is run on
_WAYS = ("near", "mixed", "signed", "spread", "special")  # how the numbers of other data differ from those of the example


def compare(
    f: Callable[..., Any], program: WrittenProgram, versions: Sequence[Arguments], chosen: Sequence[int]
) -> None:
    """Run ``f`` and the program on the examples and on other data of the same shapes.

    Raises:
        UnsupportedError: they differ, or none of the other data could be compared.
    """
    compared = len(versions) - 1
    for arguments in versions:
        for i, data in enumerate(_data(arguments.examples)):
            given = map_leaves(_copied, data)  # f and the program may change what they get
            try:
                with np.errstate(all="ignore"):
                    found = program(*given)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, IndexError):
                if i == 0:
                    raise
                continue  # a check of the program, which says that it was written for another way
            expected = on_the_tape(f, map_leaves(_copied, data), chosen)
            if expected is None:
                continue
            compared += i > 0
            # FFT and matmul spread infinite numbers as the layout has it: then only finite results are compared
            finite = all(np.isfinite(leaf).all() for leaf in leaves(data) if is_floating(leaf))
            right = all(_close(a, b, not finite) for a, b in zip(leaves(found), leaves(expected)))
            if not right or not _apart(leaves(found), leaves(given), leaves(data)):
                where = "on the example itself" if i == 0 else "on other data of the same shapes"
                raise UnsupportedError(
                    f"the program that was written computes something else than the function {where}. The function draws "
                    "random numbers, counts its calls, changes what it reads, or asks for the type of an array: make what "
                    "changes an argument"
                )
    if not compared:
        raise UnsupportedError(
            "the program could be compared with the function on the example only: for all data that were made from it, the "
            "function raises or goes another way. Give a second example: sizes=[second], which may have the same sizes"
        )


def _data(example: Any) -> Iterator[Any]:
    """Yield the example, then other data: all numbers are changed in the first ones, and some of them in the others."""
    random = np.random.default_rng(7)
    yield example
    count = sum(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves(example))
    for i in range(_TRIES):
        way, some = _WAYS[i % len(_WAYS)], i >= 2 * len(_WAYS)
        chosen = iter((random.random(count) < 0.5) | (np.arange(count) == random.integers(count)) | (not some))
        yield map_leaves(lambda leaf, way=way, some=some, c=chosen: _changed(leaf, way, some, c, random), example)


def _changed(leaf: Any, way: str, some: bool, chosen: Iterator[bool], random: np.random.Generator) -> Any:
    """Return an array whose elements are changed in one of the ways, or ``some`` of them, if the array is chosen."""
    if not isinstance(leaf, (np.ndarray, np.generic)) or not next(chosen):
        return leaf
    flat = np.asarray(leaf).reshape(-1)
    other = random.permutation(flat)
    if is_floating(leaf):
        if way == "near":
            other = flat * (1 + 0.001 * random.normal(size=flat.size))
        elif way == "special":
            other = random.choice([0.0, 1.0, np.nan, np.inf, *flat[:1]], flat.size)
        elif way == "spread" or flat.size == 1:
            other = other * np.exp(random.normal(size=flat.size)) * random.choice([-1, 1], flat.size)
        else:
            other = other * np.where(random.random(flat.size) < 0.5 * (way == "signed"), -0.9937, 0.9937)
    elif (way in ("spread", "special") or flat.size == 1) and flat.size:
        ends = (0, 2) if leaf.dtype.kind == "b" else (int(flat.min()) - 1, int(flat.max()) + 2)
        other = random.integers(*ends, flat.size)
    changed = random.random(flat.size) < random.choice([1.0, 0.5, 1.5 / max(flat.size, 1)]) if some else True
    return np.where(changed, other, flat).astype(leaf.dtype).reshape(leaf.shape)


def _apart(results: Sequence[Any], given: Sequence[Any], before: Sequence[Any]) -> bool:
    """Whether the results share no memory with the arguments or each other, and the arguments are as before."""
    arrays = [array for array in results if isinstance(array, np.ndarray)]
    others = [array for array in given if isinstance(array, np.ndarray)]
    if any(np.may_share_memory(array, other) for i, array in enumerate(arrays) for other in [*arrays[:i], *others]):
        return False
    return all(
        not isinstance(was, np.ndarray) or now.tobytes() == was.tobytes() for now, was in zip(given, before)
    )


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


def _close(found: Any, expected: Any, only_finite: bool) -> bool:
    found, expected = np.asarray(found), np.asarray(getattr(expected, "_array", expected))
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    tolerance = 1e-4 if expected.dtype.char in "feF" else 1e-8
    with np.errstate(all="ignore"):
        finite = np.isfinite(expected)
        size = float(np.max(np.abs(expected), initial=0.0, where=finite)) if expected.size else 0.0
        near = np.isclose(found, expected, rtol=tolerance, atol=tolerance * size, equal_nan=True)
        return bool((near | ~(finite & np.isfinite(found))).all() if only_finite else near.all())
