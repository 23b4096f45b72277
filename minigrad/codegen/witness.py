"""Compare a written program with the tape, on the example and on other data, before anyone gets it.

A witness is evidence, not proof. It finds what was frozen without a trace: random numbers, counters, values that another
library has read, and tests of an array's exact type.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..engine.kernels import reference_mode
from ..errors import UnsupportedError
from ..transforms.grad import value_and_grad
from .arguments import Arguments, is_floating
from .program import WrittenProgram
from .recording import Recording, named
from .statements import Value, replaced

_TRIES = 64  # other data that a program is run on; most stop at a check, if it has checks
_COMPARED = 10  # those of them for which it is compared with the tape, and more if it is short
_EFFORT = 20_000  # characters of short programs
_WAYS = (
    "near",
    "mixed",
    "signed",
    "spread",
    "special",
)  # how the numbers of other data differ from those of the example


def compare(
    f: Callable[..., Any], program: WrittenProgram, versions: Sequence[Arguments], chosen: Sequence[int]
) -> None:
    """Run ``f`` and the program on the examples and on other data of the same shapes.

    Raises:
        UnsupportedError: they differ, or none of the other data could be compared.
    """
    compared, stopped = len(versions) - 1, ""
    lapack = re.search("linalg|roots|poly", program.source)  # it may not come back from numbers that are not finite
    special = [0.0, 1.0] if lapack else [0.0, 1.0, np.nan, np.inf]
    for arguments in versions:
        enough = compared + _COMPARED + _EFFORT // len(program.source)
        for i, data in enumerate(_data(arguments.examples, special)):
            if compared > enough:
                break
            given = map_leaves(_copied, data)  # f and the program may change what they get
            try:
                with np.errstate(all="ignore"):
                    found = program(*given)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError, IndexError) as error:
                if i == 0:
                    raise
                stopped = f" ({error})"
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
                    f"the program that was written computes something else than {described(f)} {where}. The function draws "
                    "random numbers, counts its calls, changes what it reads, or asks for the type of an array: make what "
                    "changes an argument"
                )
    if not compared:
        raise UnsupportedError(
            f"the program could be compared with {described(f)} on the example only: for all data that were made from it, "
            f"the function raises or goes another way{stopped}. Give a second example, which may have the same sizes: "
            "sizes=[second]"
        )


def compare_runs(first: Recording, second: Recording) -> None:
    """Compare two recordings of the same function for the same arguments.

    Raises:
        UnsupportedError: they differ.
    """
    pairs = zip_longest(_comparable(first), _comparable(second))
    number = next((i for i, (one, other) in enumerate(pairs) if one != other), None)
    if number is not None:
        longer = max(first.statements, second.statements, key=len)
        raise UnsupportedError(
            f"written twice, the program differs{named(longer[min(number, len(longer) - 1)].place)}: the function draws random "
            "numbers, or keeps something from call to call. Make that an argument"
        )


def _comparable(run: Recording) -> Iterator[Any]:
    """Yield what each statement of a recording does, and then the results, without the values."""
    numbers = {value: (i,) for i, value in enumerate(run.inputs)}

    def leaf(each: Any) -> Any:
        if type(each) is Value:
            return numbers.setdefault(each, (len(numbers),))
        return (each.dtype, each.shape, each.tobytes()) if isinstance(each, np.ndarray) else (type(each), repr(each))

    for statement in run.statements:
        expected = getattr(statement, "expected", None)
        yield statement.call, replaced(leaf, (statement.args, statement.keywords, statement.target, expected))
        replaced(leaf, statement.outputs)
    yield replaced(leaf, run.results)


def _data(example: Any, special: Sequence[float]) -> Iterator[Any]:
    """Yield the example, then other data: all numbers are changed in the first ones, and some of them in the others."""
    random = np.random.default_rng(7)
    yield example
    count = sum(isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves(example))
    for i in range(_TRIES):
        way, some = _WAYS[i % len(_WAYS)], i >= 2 * len(_WAYS)
        chosen = iter((random.random(count) < 0.5) | (np.arange(count) == random.integers(count)) | (not some))

        def changed(leaf: Any, way: str = way, some: bool = some, chosen: Iterator[bool] = chosen) -> Any:
            is_array = isinstance(leaf, (np.ndarray, np.generic))
            return _changed(leaf, way, some, special, random) if is_array and next(chosen) else leaf

        other = map_leaves(changed, example)
        if any(new is not old and new.tobytes() != old.tobytes() for new, old in zip(leaves(other), leaves(example))):
            yield other


def _changed(leaf: Any, way: str, some: bool, special: Sequence[float], random: np.random.Generator) -> Any:
    """Return an array whose elements are changed in one of the ways, or ``some`` of them."""
    flat = np.asarray(leaf).reshape(-1)
    other = random.permutation(flat)
    if is_floating(leaf):
        if way == "near":
            other = flat * (1 + 0.001 * random.normal(size=flat.size))
        elif way == "special":
            other = random.choice([*special, *flat[:1]], random.choice([1, flat.size]))  # all equal, or not
        else:
            factor = np.exp(random.normal(size=flat.size)) if way == "spread" or flat.size == 1 else 0.9937
            other = other * factor * (random.choice([-1, 1], flat.size) if way == "signed" else 1)
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
    return all(not isinstance(was, np.ndarray) or now.tobytes() == was.tobytes() for now, was in zip(given, before))


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


def described(f: Any) -> str:
    """Return the name of a function, and its line."""
    name = getattr(f, "__name__", type(f).__name__)
    name = "a function" if name == "<lambda>" else name
    try:
        file, line = inspect.getsourcefile(f), inspect.getsourcelines(f)[1]
    except (OSError, TypeError):
        return name
    return f"{name} ({(file or '').rpartition('/')[2]}, line {line})"
