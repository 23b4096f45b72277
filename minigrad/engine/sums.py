"""Un-broadcasting, and the sums that it and ``np.sum`` need: those of large arrays are products with ones.

That is several times as fast as NumPy's sums. It is also more exact, as no more than a few hundred numbers are added up one
after the other: the error of a sum of n numbers does not grow with n, but with its root.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .types import Array

Shape = tuple[int, ...]

# Numbers in a product. Of more OpenBLAS divides it among its threads, which then take the cores from ours (kernels/blas.py).
_PIECE = 1 << 18
LARGE = 1 << 13  # numbers in all; fewer NumPy sums in the time that the product takes to begin
_FEWEST = 16  # rows that a product must have room for: of longer rows NumPy's sum takes no more time
_SHORT, _LONG = 8, 1 << 12  # numbers in a row: of shorter or longer ones NumPy sums pairs of pairs, which is more exact
_EXACT = 1 << 9  # numbers that are added up one after the other; of more the rounding would be seen
_FEW = 1 << 8  # numbers in a product over a middle axis: of fewer NumPy's sum takes no more time
_KEPT = 1 << 15  # numbers in the longest vector of ones that is kept, 128 KiB in float32


def unbroadcast(array: Array, shape: Shape) -> Array:
    """Sum ``array`` over the axes along which an input of ``shape`` was broadcast."""
    extra = array.ndim - len(shape)
    if axes := _broadcast_axes(array.shape, shape):
        array = sum_over(array, axes)
    return array.reshape(array.shape[extra:]) if extra > 0 else array


@lru_cache
def _broadcast_axes(wide: Shape, shape: Shape) -> tuple[int, ...]:
    extra = len(wide) - len(shape)
    stretched = [extra + i for i, n in enumerate(shape) if n == 1 and wide[extra + i] != 1] if extra >= 0 else []
    return (*range(extra), *stretched)


def sum_over(array: Array, axes: tuple[int, ...]) -> Array:
    """``array.sum(axes, keepdims=True)``; ``axes`` count from 0."""
    if type(array) is not np.ndarray or array.dtype.char not in "fd" or not array.dtype.isnative:
        return array.sum(axis=axes, keepdims=True)
    if (array.size >= LARGE or _tall(array.shape, axes)) and array.flags.c_contiguous:
        if later := _later_run(array.ndim, axes):
            return sum_over(sum_over(array, later), tuple(axis for axis in axes if axis not in later))
        summed, rows, sums = _by_products(array.shape, axes)
        if summed is not None:
            return summed(array.reshape(rows)).reshape(sums)
    return np.add.reduce(array, axes, keepdims=True)


def _tall(shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether NumPy would add up many numbers of a small array one after the other."""
    return len(axes) == 1 and axes[0] != len(shape) - 1 and shape[axes[0]] > _EXACT


@lru_cache
def _later_run(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The last axes that lie side by side, if there are others before; none where NumPy sums along rows, pairs of pairs."""
    axes = tuple(sorted(axes))
    start = next((i for i in range(len(axes) - 1, 0, -1) if axes[i] != axes[i - 1] + 1), 0)
    return axes[start:] if start and axes[-1] < ndim - 1 else ()


@lru_cache
def _by_products(shape: Shape, axes: tuple[int, ...]) -> tuple[Callable[[Array], Array] | None, Shape, Shape]:
    """What sums the rows of an array of ``shape``, the shape of these, and that of the sums; None where NumPy is to sum."""
    axes = tuple(sorted(axes))
    size, first = math.prod(shape), math.prod(shape[: len(axes)])
    sums = tuple(1 if i in axes else n for i, n in enumerate(shape))
    if axes and axes[-1] == len(axes) - 1 and 1 < size // max(first, 1) <= _PIECE // _FEWEST:
        return _over_rows, (first, size // first), sums
    if axes == (len(shape) - 1,) and _SHORT <= shape[-1] <= _LONG:
        return _over_columns, (size // shape[-1], shape[-1]), sums
    if (
        len(axes) > 0
        and axes == tuple(range(axes[0], axes[-1] + 1))
        and axes[0] > 0
        and axes[-1] < len(shape) - 1
        and size
    ):
        between = (
            math.prod(shape[: axes[0]]),
            math.prod(shape[axes[0] : axes[-1] + 1]),
            math.prod(shape[axes[-1] + 1 :]),
        )
        fits = _FEW <= between[1] * between[2] <= _PIECE or (between[1] > _EXACT and between[2] <= _PIECE // _FEWEST)
        if between[2] > 1 and fits:
            return _between, between, sums
    return None, shape, sums


def _over_rows(rows: Array) -> Array:
    count = min(max(_PIECE // rows.shape[1], 1), len(rows))
    total = _of_a_piece(rows[:count])
    for start in range(count, len(rows), count):
        total += _of_a_piece(rows[start : start + count])
    return total


def _of_a_piece(rows: Array) -> Array:
    """The sum of n rows. From ``_EXACT`` on as many sums as the root of n, and their sum: of n numbers in a row the last ones
    would be rounded to what the total can hold."""
    n, width = rows.shape
    if n <= _EXACT:
        return ones(n, rows.dtype).dot(rows)
    sums = 1 << n.bit_length() // 2
    each = n // sums
    total = ones(sums, rows.dtype).dot(
        ones(each, rows.dtype).dot(rows[: each * sums].reshape(each, sums * width)).reshape(sums, width)
    )
    if rest := n - each * sums:
        total += ones(rest, rows.dtype).dot(rows[n - rest :])
    return total


def _between(arrays: Array) -> Array:
    """The sums over the middle one of three axes."""
    if arrays.shape[1] <= _EXACT:
        return np.matmul(ones(arrays.shape[1], arrays.dtype), arrays)
    return np.stack([_over_rows(rows) for rows in arrays])


def _over_columns(rows: Array) -> Array:
    count, weights = max(_PIECE // rows.shape[1], 1), ones(rows.shape[1], rows.dtype)
    if len(rows) <= count:
        return rows.dot(weights)
    sums = np.empty(len(rows), rows.dtype)
    for start in range(0, len(rows), count):
        rows[start : start + count].dot(weights, sums[start : start + count])
    return sums


def ones(n: int, dtype: Any, value: float = 1.0) -> Array:
    """A vector that turns sums (or means) into products. It is not to be written to."""
    return filled(n, dtype, value) if n <= _KEPT else np.full(n, value, dtype)


@lru_cache(maxsize=64)
def filled(n: int, dtype: Any, value: float) -> Array:
    vector = np.full(n, value, dtype)
    vector.flags.writeable = False
    return vector
