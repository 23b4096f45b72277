"""Fit the result of a derivative rule to its input: un-broadcast it, take its real part, cast it.

One conversion holds for the rules of ``vjp`` and ``vjp_each`` and for the backward of a kernel and of a ``Function``: a Python
number stands for an array of this value, a list or another object becomes an array as an operand does, and anything else is an
error that names the operation and the argument.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..device import is_device_array
from ..errors import GraphError, MinigradError
from .arrays import SCALARS, as_array
from .observers import Replaceable
from .types import Array, Node


def fit(contribution: Any, node: Node, entry: Any) -> Array:
    """Return a contribution with the shape and dtype of ``node``.

    A rule may return a gradient for the *broadcast* input, a gradient of a promoted dtype, or a complex gradient for a real
    input. Only this function un-broadcasts, casts and takes real parts.
    """
    contribution = as_contribution(contribution, node, entry)
    if contribution.shape != node.shape:
        contribution = unbroadcast(contribution, node.shape)
        if contribution.shape != node.shape:
            raise GraphError(
                f"the derivative rule of '{entry.primitive.name}' gave a gradient of shape {contribution.shape} for an input "
                f"of shape {node.shape}{_argument(node, entry)}"
            )
    if contribution.dtype != node.dtype:
        if contribution.dtype.kind == "c" and node.dtype.kind != "c":
            contribution = contribution.real
        contribution = contribution.astype(node.dtype)
    return contribution


def as_contribution(value: Any, node: Node, entry: Any) -> Any:
    """Return the result of a rule as an array or a Tensor.

    Raises:
        DTypeError: ``value`` is no number and does not become an array of numbers.
    """
    if hasattr(value, "shape") and hasattr(value, "astype") and getattr(value.dtype, "kind", "O") in "biufc":
        return value
    if type(value) in SCALARS:
        like = next((kept for kept in entry.kept or () if is_device_array(kept)), None)
        return np.full(node.shape, value) if like is None else np.full(node.shape, value, like=like)
    try:
        return as_array(value)
    except MinigradError as error:
        told = type(error)(
            f"the derivative rule of '{entry.primitive.name}' gave a {type(value).__name__}{_argument(node, entry)}: return "
            f"an array of shape {node.shape}, or a number, which stands for an array of it ({error})"
        )
        told.names_operation = True
        raise told from error.__cause__


def _argument(node: Node, entry: Any) -> str:
    """Name the arguments at ``node``; the same array may be several of them."""
    names = entry.primitive.arguments or [f"args{i}" for i in range(len(entry.parents))]
    found = [f"'{name}'" for name, parent in zip(names, entry.parents) if parent is node]
    return f" (the argument {' or '.join(found)})" if found else ""


def unbroadcast(array: Array, shape: tuple[int, ...]) -> Array:
    """Sum ``array`` over the axes along which an input of ``shape`` was broadcast."""
    extra = array.ndim - len(shape)
    if axes := _broadcast_axes(array.shape, shape):
        array = sum_over(array, axes)
    return array.reshape(array.shape[extra:]) if extra > 0 else array


@lru_cache
def _broadcast_axes(wide: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    extra = len(wide) - len(shape)
    repeated = [extra + i for i, n in enumerate(shape) if n == 1 and wide[extra + i] != 1] if extra >= 0 else []
    return (*range(extra), *repeated)


@Replaceable
def sum_over(array: Array, axes: tuple[int, ...]) -> Array:
    """Sum over ``axes``, which are not negative, and keep them with length 1."""
    return array.sum(axis=axes, keepdims=True)
