"""The kernel of the sums for un-broadcasting and ``np.sum``, and running sums. Large sums are matrix products with ones.

Such a product is several times as fast as NumPy's sum. It is also more exact, because it adds at most a few hundred elements
one after the other. The rounding error of a sum of n elements then grows with the square root of n instead of n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine.fitting import sum_over
from ...engine.types import Array

Shape = tuple[int, ...]

# The most elements in a product. OpenBLAS divides a larger product among its threads, which then take the cores from ours
# (kernels/blas.py).
_PIECE = 1 << 18
LEAST = 1 << 13  # the fewest elements for a product; NumPy sums fewer in the time that the product takes to start
_FEWEST = 16  # the fewest rows in a product; if rows are so long that fewer fit, NumPy's sum is as fast
_SHORT, _LONG = 8, 1 << 12  # the shortest and longest rows for a product; NumPy's pairwise sum of others is more exact
_WIDE = 1 << 8  # the most elements of a row in one product; longer rows are divided into equal parts, if there are any
_EXACT = 1 << 9  # the most elements that are added one after the other; more would make the rounding error visible
_FEW = 1 << 8  # the fewest elements in a product over a middle axis; for fewer NumPy's sum is as fast
_ROW = 1 << 7  # the fewest elements of a row that is accumulated in one call; for shorter ones NumPy is as fast
_KEPT = 1 << 15  # elements in the longest vector of ones that is cached, 128 KiB in float32


def _sum_over(array: Array, axes: tuple[int, ...]) -> Array:
    """Compute ``array.sum(axes, keepdims=True)``. ``axes`` must not be negative."""
    if type(array) is not np.ndarray or array.dtype.char not in "fd" or not array.dtype.isnative:
        return NotImplemented
    if len(axes) == 1 and 1 < array.shape[axes[0]] < _SHORT and array.size >= LEAST:
        return _by_terms(array, axes[0])
    if (array.size >= LEAST or _tall(array.shape, axes)) and array.flags.c_contiguous:
        if later := _later_run(array.ndim, axes):
            return _sum_over(_sum_over(array, later), tuple(axis for axis in axes if axis not in later))
        summed, rows, sums = _by_products(array.shape, axes)
        if summed is not None:
            return summed(array.reshape(rows)).reshape(sums)
    return np.add.reduce(array, axes, keepdims=True)


def _by_terms(array: Array, axis: int) -> Array:
    """Add the few parts along ``axis`` in NumPy's order, with one call for each part instead of a short loop for each sum."""
    here = (slice(None),) * axis
    total: Array = array[(*here, slice(0, 1))] + array[(*here, slice(1, 2))]
    for i in range(2, array.shape[axis]):
        total += array[(*here, slice(i, i + 1))]
    return total


def _tall(shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether NumPy would add many elements one after the other."""
    return len(axes) == 1 and axes[0] != len(shape) - 1 and shape[axes[0]] > _EXACT


@lru_cache
def _later_run(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the last group of adjacent axes if ``axes`` has several groups. Return none if it includes the last axis.

    NumPy's pairwise sum handles the last axis.
    """
    axes = tuple(sorted(axes))
    start = next((i for i in range(len(axes) - 1, 0, -1) if axes[i] != axes[i - 1] + 1), 0)
    return axes[start:] if start and axes[-1] < ndim - 1 else ()


@lru_cache
def _by_products(shape: Shape, axes: tuple[int, ...]) -> tuple[Callable[[Array], Array] | None, Shape, Shape]:
    """Return a function that sums by products, the shape that the array must get for it, and the shape of the sums.

    The function is None if NumPy's sum is better.
    """
    axes = tuple(sorted(axes))
    size, first = math.prod(shape), math.prod(shape[: len(axes)])
    sums = tuple(1 if i in axes else n for i, n in enumerate(shape))
    if axes and axes[-1] == len(axes) - 1 and 1 < size // max(first, 1) <= _PIECE // _FEWEST:
        return _over_rows, (first, size // first), sums
    if axes == (len(shape) - 1,) and _SHORT <= shape[-1] <= _LONG and shape[-1] % -(-shape[-1] // _WIDE) == 0:
        return _over_columns, (size // shape[-1], shape[-1]), sums
    start, end = (axes[0], axes[-1] + 1) if axes else (0, 0)
    if start > 0 and end < len(shape) and axes == tuple(range(start, end)) and size:
        between = (math.prod(shape[:start]), math.prod(shape[start:end]), math.prod(shape[end:]))
        fits = _FEW <= between[1] * between[2] <= _PIECE or (between[1] > _EXACT and between[2] <= _PIECE // _FEWEST)
        if between[2] > 1 and fits:
            return _between, between, sums
    return None, shape, sums


def _over_rows(rows: Array) -> Array:
    count = min(max(_PIECE // rows.shape[1], 1), len(rows))
    total = _sum_piece(rows[:count])
    for start in range(count, len(rows), count):
        total += _sum_piece(rows[start : start + count])
    return total


def _sum_piece(rows: Array) -> Array:
    """Sum n rows. If there are more than ``_EXACT``, sum about sqrt(n) groups and then the group sums.

    A large running total would round away the low digits of every further element.
    """
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
    """Sum over the middle one of three axes."""
    if arrays.shape[1] <= _EXACT:
        return np.matmul(ones(arrays.shape[1], arrays.dtype), arrays)
    return np.stack([_over_rows(rows) for rows in arrays])


def _over_columns(rows: Array) -> Array:
    if (parts := -(-rows.shape[1] // _WIDE)) > 1:
        return _over_columns(rows.reshape(-1, rows.shape[1] // parts)).reshape(-1, parts).dot(ones(parts, rows.dtype))
    count, weights = max(_PIECE // rows.shape[1], 1), ones(rows.shape[1], rows.dtype)
    if len(rows) <= count:
        return rows.dot(weights)
    sums = np.empty(len(rows), rows.dtype)
    for start in range(0, len(rows), count):
        rows[start : start + count].dot(weights, sums[start : start + count])
    return sums


def accumulated(ufunc: Any, a: Array, axis: int, out: Array) -> Array:
    """Compute ``ufunc.accumulate(a, axis, out=out)``. NumPy follows single columns; whole rows are five times as fast."""
    if a.ndim > 1 and a.size >= LEAST:
        rows, ans = np.moveaxis(a, axis, 0), np.moveaxis(out, axis, 0)
        if rows.shape[-1] >= _ROW and rows.strides[-1] == ans.strides[-1] == a.itemsize:
            ans[:1] = rows[:1]
            for before, row, after in zip(ans, rows[1:], ans[1:]):
                ufunc(before, row, after)
            return out
    ufunc.accumulate(a, axis, None, out)
    return out


def sums_from_each(a: Array, axis: int) -> Array:
    """Return for each element the sum of itself and those after it along ``axis``."""
    ans, back = np.empty_like(a), (slice(None),) * (axis % a.ndim) + (slice(None, None, -1),)
    accumulated(np.add, a[back], axis, ans[back])
    return ans


def ones(n: int, dtype: Any, value: float = 1.0) -> Array:
    """Return a vector of ``value``, with which a product computes sums or means. Do not write to it."""
    return filled(n, dtype, value) if n <= _KEPT else np.full(n, value, dtype)


@lru_cache(maxsize=64)
def filled(n: int, dtype: Any, value: float) -> Array:
    vector = np.full(n, value, dtype)
    vector.flags.writeable = False
    return vector


sum_over.kernel(_sum_over)
