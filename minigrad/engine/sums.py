"""Sums over axes of large arrays as products with ones: several times as fast as NumPy's, over many rows ten times as exact."""

from __future__ import annotations

import math

import numpy as np

from .arrays import widened
from .types import Array

# Numbers in a product. Of more OpenBLAS divides it among its threads, which then take the cores from ours (kernels/blas.py).
_PIECE = 1 << 18
_LARGE = 1 << 13  # numbers in all; fewer NumPy sums in the time that the product takes to begin
_SHORT, _LONG = 8, 1 << 12  # numbers in a row: of shorter or longer ones NumPy sums pairs of pairs, which is more exact


def sum_over(array: Array, axes: tuple[int, ...]) -> Array:
    """``array.sum(axes, keepdims=True)`` of what is wide enough to be summed (:func:`widened`); ``axes`` rise."""
    array = widened(array)
    if type(array) is np.ndarray and array.size >= _LARGE and array.dtype.char in "fd" and array.flags.c_contiguous:
        first, row = math.prod(array.shape[: len(axes)]), array.shape[-1]
        shape = tuple(1 if i in axes else n for i, n in enumerate(array.shape))
        if axes[-1] == len(axes) - 1 and array.size >= _SHORT * first:
            return _over_rows(array.reshape(first, -1)).reshape(shape)
        if axes == (array.ndim - 1,) and _SHORT <= row <= _LONG:
            return _over_columns(array.reshape(-1, row)).reshape(shape)
    return array.sum(axis=axes, keepdims=True)


def _over_rows(rows: Array) -> Array:
    count = min(max(_PIECE // rows.shape[1], 1), len(rows))
    ones = np.ones(count, rows.dtype)
    total = ones.dot(rows[:count])
    for start in range(count, len(rows), count):
        piece = rows[start : start + count]
        total += ones[: len(piece)].dot(piece)
    return total


def _over_columns(rows: Array) -> Array:
    count, ones = max(_PIECE // rows.shape[1], 1), np.ones(rows.shape[1], rows.dtype)
    sums = np.empty(len(rows), rows.dtype)
    for start in range(0, len(rows), count):
        rows[start : start + count].dot(ones, sums[start : start + count])
    return sums
