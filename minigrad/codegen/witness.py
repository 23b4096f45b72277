"""Compare a written program with the tape, on the example and on other data, before anyone gets it.

A witness is evidence, not proof. It finds what was frozen without a trace: random numbers, counters, values that another
library has read, and tests of an array's exact type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..errors import UnsupportedError
from ..transforms.grad import value_and_grad
from .program import Arguments, WrittenProgram, agree, described, is_floating
from .record import Recording, Value, named, replaced

_TRIES = 64  # other data that a program is run on; if it has checks, most of them stop it
_COMPARED = 10  # those for which it is compared with the tape, and more for a short program:
_EFFORT = 30_000  # the characters of the program times the number of these
_STEPS = 6  # from data that stop it to the edge, where it is not stopped any more
_WAYS = ("special", "mixed", "signed", "spread")  # how the numbers differ from those of the example


def compare(
    f: Callable[..., Any], program: WrittenProgram, versions: Sequence[Arguments], chosen: Sequence[int]
) -> None:
    """Raise UnsupportedError if ``f`` and the program differ on the examples or other data, or no other data tell."""
    compared, stopped = len(versions) - 1, ""
    # Without inf, which spreads as the library has it, or hangs LAPACK.
    finite = re.search("linalg|fft|@|dot|einsum", program.source)
    special = [0.0, 0.0, 1.0] + [np.nan] * ("linalg" not in program.source) + [np.inf] * (not finite)
    for arguments in versions:
        integers = any(not is_floating(leaf.array) for leaf in arguments.leaves)  # each may choose another way
        enough = compared + _COMPARED * (1 + integers) + _EFFORT // len(program.source)
        for i, data in enumerate(_data(arguments.examples, special)):
            found, given = _run(program, data)
            if isinstance(found, Exception):
                stopped = f" ({found})"
                if i == 0:
                    raise found
                found, given, data = _at_the_edge(program, arguments.examples, data)
                if isinstance(found, Exception):
                    continue
            expected = on_the_tape(f, map_leaves(_copied, data), chosen)
            if expected is not None:
                compared += i > 0
                if not right(leaves(found), leaves(expected), leaves(given), leaves(data)):
                    raise UnsupportedError(
                        f"the program that was written computes something else than {described(f)} on "
                        f"{'other data of the same shapes' if i else 'the example itself'}. The function draws random numbers, "
                        "counts calls, changes what it reads, or asks for the type of an array: make that an argument"
                    )
            if compared > enough:
                break
    if i and not compared:  # empty arrays have no other data
        raise UnsupportedError(
            f"the program could be compared with {described(f)} on the example only: for all data made from it, the function "
            f"raises or goes another way{stopped}. Give a second example, of the same sizes or others: sizes=[second]"
        )


def compare_runs(first: Recording, second: Recording) -> None:
    """Raise UnsupportedError if two recordings of the same function for the same arguments differ."""
    longer = max(first.statements, second.statements, key=len)
    last = longer[-1] if longer else None  # its line stands for the results
    for one, other, statement in zip_longest(_comparable(first), _comparable(second), longer, fillvalue=last):
        if one != other:
            raise UnsupportedError(
                f"written twice, the program differs{named(statement.place if statement else None)}: the function draws "
                "random numbers, or keeps something from call to call. Make that an argument"
            )


def _comparable(run: Recording) -> Iterator[Any]:
    """Yield what each statement of a recording does, and then the results, without the values."""
    numbers = {value: (i,) for i, value in enumerate(run.inputs)}

    def leaf(each: Any) -> Any:
        if type(each) is Value:
            return numbers.setdefault(each, (len(numbers),))
        return (each.dtype, each.shape, each.tobytes()) if isinstance(each, np.ndarray) else (type(each), repr(each))

    for statement in run.statements:
        parts = statement.args, statement.keywords, statement.target, getattr(statement, "expected", None)
        yield statement.call, replaced(leaf, parts)
        replaced(leaf, statement.outputs)
    yield replaced(leaf, run.results)


def compare_sizes(
    f: Callable[..., Any], program: WrittenProgram, others: Iterable[tuple[str, Any]], chosen: Sequence[int]
) -> None:
    """Raise UnsupportedError if ``f`` and the program differ on data of other sizes, each with a text that names the sizes."""
    for sizes, data in others:
        found, given = _run(program, data)
        if isinstance(found, Exception):
            continue  # a check of the program, which says that it was written for other sizes
        expected = on_the_tape(f, map_leaves(_copied, data), chosen)
        if expected is not None and not right(leaves(found), leaves(expected), leaves(given), leaves(data)):
            raise UnsupportedError(
                f"for {sizes}, the program that was written computes something else than {described(f)}, which does not do the "
                "same for all sizes: write a program for some of them only, without free sizes"
            )


def _data(example: Any, special: Sequence[float]) -> Iterator[Any]:
    """Yield the example, then other data: all numbers are changed in the first ones, and some of them in the others."""
    random = np.random.default_rng(7)
    yield example
    arrays = [leaf for leaf in leaves(example) if isinstance(leaf, (np.ndarray, np.generic))]
    for i in range(_TRIES):
        way, some = _WAYS[i % len(_WAYS)] if i % 10 else "near", i >= _COMPARED
        chosen = (
            (random.random(len(arrays)) < 0.5) | (np.arange(len(arrays)) == random.integers(len(arrays))) | (not some)
        )
        others = [_changed(a, way, some, special, random) if c else a for a, c in zip(arrays, chosen)]
        if any(other.tobytes() != array.tobytes() for other, array in zip(others, arrays)):
            left = iter(others)
            yield map_leaves(
                lambda leaf, left=left: next(left) if isinstance(leaf, (np.ndarray, np.generic)) else leaf, example
            )


def _changed(array: Any, way: str, some: bool, special: Sequence[float], random: np.random.Generator) -> Any:
    """Return an array whose elements are changed in one of the ways, or ``some`` of them."""
    flat = np.asarray(array).reshape(-1)
    other, single = random.permutation(flat), flat.size == 1
    if is_floating(array):
        if way == "near":
            other = flat * (1 + 0.001 * random.normal(size=flat.size))
        elif way == "special":
            other = random.choice([*special, *flat[:1]], random.choice([1, flat.size]))  # all equal, or not
        else:  # a factor of 1 keeps a sum
            spread = (
                np.exp(random.normal(size=flat.size)) if way == "spread" or single else random.choice([1.0, 0.9937])
            )
            other = other * spread * (random.choice([-1, 1], flat.size) if way == "signed" else 1)
    elif (way in ("signed", "spread", "special") or single) and flat.size:
        low, high = int(flat.min()), int(flat.max())
        room = int(random.choice([1, 1 + high - low]))
        least, most = (0, 1) if array.dtype.kind == "b" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
        ends = max(low - room, least), min(high + room, most)
        other = random.integers(*ends, flat.size, dtype=array.dtype.type, endpoint=True)
    changed = random.random(flat.size) < random.choice([1.0, 0.5, 1.5 / max(flat.size, 1)]) if some else True
    return np.where(changed, other, flat).astype(array.dtype).reshape(array.shape)


def _run(program: WrittenProgram, data: Any) -> tuple[Any, Any]:
    """Return what the program gives, or the error of a check, and the arguments as they are then."""
    given = map_leaves(_copied, data)
    try:
        return program(*given), given
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, IndexError) as error:
        return error, given


def _at_the_edge(program: WrittenProgram, good: Any, bad: Any) -> tuple[Any, Any, Any]:
    """Return the result for data between those that stop a program and those that do not, where it is hardly not stopped."""
    reached: tuple[Any, Any, Any] = ValueError(), None, None
    for _ in range(_STEPS):
        middle = map_leaves(lambda a, b: (a + (b - a) / 2).astype(b.dtype) if is_floating(b) else b, good, bad)
        found, given = _run(program, middle)
        if isinstance(found, Exception):
            bad = middle
        else:
            good, reached = middle, (found, given, middle)
    return reached


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
        with np.errstate(all="ignore"):
            value, gradients = value_and_grad(of_chosen)(floating)
    except Exception:
        return None
    return [value, gradients]


def _merged(tree: Any, parts: Iterator[Any]) -> Any:
    return map_leaves(lambda leaf: next(parts) if is_floating(leaf) else leaf, tree)


def right(found: Sequence[Any], expected: Sequence[Any], given: Sequence[Any], before: Sequence[Any]) -> bool:
    """Whether results are those of the tape and share no memory, and the arguments are as before."""
    arrays = [array for array in (*found, *given) if isinstance(array, np.ndarray)]
    results = sum(isinstance(array, np.ndarray) for array in found)
    return (
        agree(found, expected)
        and not any(np.may_share_memory(a, b) for i, a in enumerate(arrays[:results]) for b in arrays[i + 1 :])
        and all(now.tobytes() == was.tobytes() for now, was in zip(given, before) if isinstance(was, np.ndarray))
    )
