"""Describe a NaN or an infinity: its kind, its position, the operands at that position, and its cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..device import to_host
from ..engine.primitive import Primitive
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..rules.about import Cause, depends_elementwise, known


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


def operands_there(primitive: Primitive, bad: Array, values: Mapping[str, Any], called: Callable[[str], str]) -> str:
    """Return the end of a sentence that gives the operands at the first NaN or infinity, or "" if they are several."""
    numbers = numbers_there(primitive, bad, values)
    return (
        ", where " + " and ".join(f"{called(name)} is {number!r}" for name, number in numbers.items())
        if numbers
        else ""
    )


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
