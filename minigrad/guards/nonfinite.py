"""Describe a NaN or an infinity: its kind, its position, the operands at that position, and its cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..device import to_host
from ..engine.primitive import Primitive
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..rules.about import Cause, depends_elementwise, known

MOST_TERMS = 3  # the number of terms of a matrix product that a message lists


class Stopped(BaseException):
    """Stops a program that has used numbers that are not finite. ``except Exception`` does not catch it."""


def arrays(value: Any) -> list[Any]:
    """Return the floating arrays of an operand or a result, which is one array, a sequence or a dict."""
    values = value if isinstance(value, (tuple, list)) else value.values() if isinstance(value, Mapping) else [value]
    found = [np.asarray(to_host(v._array if isinstance(v, Tensor) else v)) for v in values]
    return [array for array in found if array.dtype.kind in "fc"]


def is_bad(value: Any) -> bool:
    """Return whether ``value`` contains a NaN or an infinity."""
    array = value._array if isinstance(value, Tensor) else value
    if hasattr(array, "dtype"):  # where it is, without a copy to the host
        return array.dtype.kind in "fc" and not bool(np.isfinite(array).all())
    return value is not None and any(not np.isfinite(array).all() for array in arrays(value))


def is_nan(value: Any) -> bool:
    return any(np.isnan(array).any() for array in arrays(value))


def worst(value: Any) -> str:
    """Return "nan", "inf" or "-inf": the first of these that ``value`` contains."""
    return "nan" if is_nan(value) else "inf" if any(np.isposinf(a.real).any() for a in arrays(value)) else "-inf"


def first_bad(value: Any) -> Any:
    """Return the first array that contains a NaN or an infinity."""
    return next(array for array in arrays(value) if not np.isfinite(array).all())


def place_of(array: Array) -> tuple[int, ...]:
    """Return the index of the first NaN or infinity of an array."""
    bad = ~np.isfinite(array)
    return tuple(map(int, np.unravel_index(np.argmax(bad), bad.shape)))


# --- The operands at that index ---


def numbers_there(primitive: Primitive, bad: Array, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return, by name, the operand elements at the first NaN or infinity, or {} if the operation is not elementwise."""
    numbers: dict[str, Any] = {}
    if not depends_elementwise(primitive):
        return numbers
    place = place_of(bad)
    for name, value in values.items():
        array = np.asarray(None if isinstance(value, Mapping) else to_host(value))
        if array.dtype.kind in "fciub" and _broadcasts(array.shape, bad.shape):
            numbers[name] = np.broadcast_to(array, bad.shape)[place].item()
    return numbers


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether ``shape`` broadcasts to the shape ``to``."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))


class Product(NamedTuple):
    """The row and the column whose product is the first NaN or infinity of a matrix product.

    Attributes:
        left, right: the names of the arguments.
        row, column: the indices of the row and of the column, as text.
        what: a description of the listed terms.
        terms: at most MOST_TERMS terms ``a * b`` of the product: those with a factor that is not finite, or else the largest.
    """

    left: str
    row: str
    right: str
    column: str
    what: str
    terms: str


def product_there(primitive: Primitive, bad: Array, values: Mapping[str, Any]) -> Product | None:
    """Return the row and the column of a matrix product if their product is not finite."""
    factors = known(primitive).multiplies
    if factors is None or not values.keys() >= set(factors):
        return None
    (left, x), (right, y) = [(name, np.asarray(to_host(values[name]))) for name in factors]
    place: list[int | slice] = list(place_of(bad))
    j = place.pop() if y.ndim > 1 else None
    i = place.pop() if x.ndim > 1 else None
    every = slice(None)
    row = (*_own(place, x.shape[:-2]), *([] if i is None else [i]), every)
    column = (*_own(place, y.shape[:-2]), every, *([] if j is None else [j]))
    pairs = list(zip(x[row].tolist(), y[column].tolist()))
    if not pairs or np.isfinite(x[row] @ y[column]):
        return None  # the bias of affine is the cause
    infinite = [pair for pair in pairs if not np.isfinite(pair).all()]
    terms = (infinite or sorted(pairs, key=lambda pair: abs(pair[0]) * abs(pair[1]), reverse=True))[:MOST_TERMS]
    what = "terms that are not finite" if infinite else "largest terms"
    return Product(left, _index(row), right, _index(column), what, ", ".join(f"{a:.4g} * {b:.4g}" for a, b in terms))


def _own(place: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Convert an index of the result into the index of an operand that was broadcast along the leading axes."""
    own = place[len(place) - len(shape) :]
    return [0 if size == 1 else index for index, size in zip(own, shape)]


def _index(place: tuple[Any, ...]) -> str:
    return f"[{', '.join(':' if isinstance(index, slice) else str(index) for index in place)}]"


def operands_there(
    primitive: Primitive, bad: Array, values: Mapping[str, Any], called: Callable[[str], str], *, backward: bool
) -> str:
    """Return the end of a sentence that gives the operands at the first NaN or infinity, or "" if unknown.

    They are unknown for the derivatives of a matrix product.
    """
    numbers = numbers_there(primitive, bad, values)
    if numbers:
        return ", where " + " and ".join(f"{called(name)} is {number!r}" for name, number in numbers.items())
    found = None if backward else product_there(primitive, bad, values)
    if found is None:
        return ""
    sides = f"row {found.row} of {called(found.left)} times column {found.column} of {called(found.right)}"
    return f", from {sides}; the {found.what} are {found.terms}"


# --- Why ---


def cause(causes: Sequence[Cause], numbers: Mapping[str, Any]) -> Cause | None:
    """Return the first cause that applies to the numbers; None for complex ones, which the tests cannot compare."""
    if any(isinstance(number, complex) for number in numbers.values()):
        return None
    for found in causes:
        names = found.test.__code__.co_varnames[: found.test.__code__.co_argcount]
        if all(name in numbers for name in names) and found.test(*[numbers[name] for name in names]):
            return found
    return None


def why_forward(primitive: Any, numbers: Mapping[str, Any], bad: Array) -> str:
    """Explain, as the end of a sentence, why an operation made a result that is not finite."""
    facts = known(primitive)
    found = cause(facts.undefined, numbers)
    if found is not None:
        return found.words
    if np.isnan(bad[place_of(bad)]):
        return "it is undefined for these operands, or overflows inside the operation"
    too_large = f"it is too large for {bad.dtype}, whose maximum is {np.finfo(bad.dtype).max:.3g}"
    return too_large if facts.only_overflows else f"{too_large}, or infinite for these operands"


def why_backward(primitive: Any, by: str, numbers: Mapping[str, Any], bad: Array) -> str:
    """Explain, as the end of a sentence, why a derivative is not finite although the incoming gradient is."""
    found = cause(known(primitive).steep, {**numbers, "by": by})
    return f"its formula is undefined or overflows {bad.dtype} for these values" if found is None else found.words
