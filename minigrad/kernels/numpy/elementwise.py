"""Faster forms of ufuncs that NumPy computes one number at a time, and of rules that provide for rare numbers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...device import is_device_array
from ...engine.methods import values_of
from ...engine.observers import reference_mode
from ...engine.primitive import Primitive
from ...engine.registry import when_declared
from ...engine.types import Array
from ...rules.elementwise import (
    deg2rad,
    fabs,
    gap_between,
    hypot,
    inverted,
    larger,
    logaddexp,
    logaddexp2,
    rad2deg,
    ratio,
)

LEAST = 1 << 8  # elements of the largest array; for fewer the ufunc is faster


def compute_by(primitive: Primitive, computed: Callable[..., Any]) -> None:
    """Compute the values of a primitive by a function that takes all its calls, also those in reference mode."""
    primitive.compute = computed
    for callback in when_declared:
        callback(primitive)


def large_by(primitive: Primitive, form: Callable[..., Any]) -> None:
    """Compute a ufunc by ``form`` for large NumPy arrays of float32 and float64. Other arguments may be Python numbers."""
    ufunc = primitive.function

    def computed(*arrays: Any, **keywords: Any) -> Any:
        plain = all(type(a) in (int, float) or (type(a) is np.ndarray and a.dtype.char in "fd") for a in arrays)
        large = plain and not keywords and max(getattr(a, "size", 0) for a in arrays) >= LEAST
        if large and not reference_mode.active():
            return form(*arrays)
        return ufunc(*arrays, **keywords)

    compute_by(primitive, computed)


# --- sums of squares ------------------------------------------------------------------------------------------------


def _sum_of_squares(x: Array, y: Array) -> Array | None:
    """Return ``x^2 + y^2``, or None if a sum may have overflowed, or lost digits by underflow."""
    if any(np.result_type(array).kind != "f" for array in (x, y)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        squares = x * x + y * y
    values = values_of(squares)
    if is_device_array(values) or not values.size:
        return None
    limits = np.finfo(values.dtype)
    return squares if values.min() > limits.tiny / limits.eps and values.max() < limits.max else None


def _hypot(x: Array, y: Array) -> Array:
    """Return the root of the sum of squares, which errs by 1.1 units at most. NumPy's hypot takes ten times as long."""
    return np.hypot(x, y) if (squares := _sum_of_squares(x, y)) is None else np.sqrt(squares)


def _inverted(x: Array, y: Array) -> Array:
    """Divide by the sum of squares. The formula, which never overflows, takes up to seven times as long."""
    return NotImplemented if (squares := _sum_of_squares(x, y)) is None else x / squares


large_by(hypot, _hypot)
inverted.kernel(_inverted)


# --- what is rare: ties, lengths of 0, and equal infinities ---------------------------------------------------------


def _larger(g: Array, x: Array, y: Array) -> Array:
    """Leave out the halves if there is no tie."""
    tied = x == y
    return NotImplemented if is_device_array(tied) or tied.any() else g * (x > y)


def _ratio(x: Array, length: Array) -> Array:
    """Only divide if no length is 0."""
    zero = length == 0
    return NotImplemented if is_device_array(zero) or zero.any() else x / length


def _gap(x: Array, y: Array) -> Array:
    """Only subtract if that gives no NaN."""
    with np.errstate(invalid="ignore"):
        found = y - x
    return NotImplemented if is_device_array(unknown := np.isnan(found)) or unknown.any() else found


larger.kernel(_larger)
ratio.kernel(_ratio)
gap_between.kernel(_gap)


# --- the others -----------------------------------------------------------------------------------------------------


def _log_of_sum(x: Array, y: Array, exp: Any, unit: float) -> Array:
    """Return ``max(x, y) + log(1 + exp(-|x - y|))``. NumPy's logaddexp takes ten times as long."""
    rest = np.log1p(exp(-np.abs(gap_between(x, y))))
    x, y = (y, x) if isinstance(x, (int, float)) else (x, y)
    larger = np.clip(x, y, math.inf) if isinstance(y, (int, float)) else np.maximum(x, y)  # slow for a number
    return larger + (rest if unit == 1 else rest * unit)


large_by(logaddexp, lambda x, y: _log_of_sum(x, y, np.exp, 1))
large_by(logaddexp2, lambda x, y: _log_of_sum(x, y, np.exp2, 1 / math.log(2)))
large_by(deg2rad, lambda x: x * (math.pi / 180))
large_by(rad2deg, lambda x: x * (180 / math.pi))
large_by(fabs, np.absolute)
