"""Un-broadcasting, and the sum for it."""

from __future__ import annotations

from functools import lru_cache

from .replaceable import Replaceable
from .types import Array

Shape = tuple[int, ...]


def unbroadcast(array: Array, shape: Shape) -> Array:
    """Sum ``array`` over the axes along which an input of ``shape`` was broadcast."""
    extra = array.ndim - len(shape)
    if axes := _broadcast_axes(array.shape, shape):
        array = sum_over(array, axes)
    return array.reshape(array.shape[extra:]) if extra > 0 else array


@lru_cache
def _broadcast_axes(wide: Shape, shape: Shape) -> tuple[int, ...]:
    extra = len(wide) - len(shape)
    repeated = [extra + i for i, n in enumerate(shape) if n == 1 and wide[extra + i] != 1] if extra >= 0 else []
    return (*range(extra), *repeated)


@Replaceable
def sum_over(array: Array, axes: tuple[int, ...]) -> Array:
    """Sum over ``axes``, which are not negative, and keep them with length 1."""
    return array.sum(axis=axes, keepdims=True)
