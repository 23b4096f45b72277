"""Kernels of sums at an index of integers (all first rows at once, then all second rows, and so on), and of a mask."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.indexing import add_rows, masked

LEAST = 1 << 15  # elements to add; for fewer, adding at a flat index is as fast
LEAST_WIDTH = 1 << 5  # elements of a row: narrower ones are as fast at a flat index
_LONG = 1 << 11  # elements of a row from which on rows are added one by one
LEAST_PER_ROUND = 1 << 12  # elements that a round adds on average; fewer if one row gets most of them
LEAST_MASKED = 1 << 10  # elements; np.where of fewer is as fast


def add_by_rounds(out: Array, index: Array, updates: Array) -> Any:
    """Round n adds the n-th update of each row, so that no row is met twice. Each row adds up in the order of ``index``."""
    width, count = math.prod(out.shape[1:]), len(out)
    if type(out) is not np.ndarray or width < LEAST_WIDTH:
        return NotImplemented
    if width >= _LONG:
        for i, update in zip(index.reshape(-1).tolist(), updates.reshape(-1, *out.shape[1:])):
            out[i] += update
        return None
    if updates.size < max(LEAST, 1):
        return NotImplemented
    ids = index.reshape(-1).astype(np.intp, copy=False)
    low, high = int(ids.min()), int(ids.max())
    if low < -count or high >= count:
        return NotImplemented  # np.add.at raises
    ids = ids if low >= 0 else ids % count
    order = _order_of(ids, count)
    bounds = np.flatnonzero(np.diff(ids[order], prepend=-1, append=count))
    counts = np.diff(bounds)
    rounds = int(counts.max())
    if rounds * LEAST_PER_ROUND > updates.size:
        return NotImplemented
    falling = _order_of(rounds - counts, rounds)
    first, counts = bounds[:-1][falling], counts[falling]
    rows, updates = ids[order[first]], updates.reshape(-1, *out.shape[1:])
    sums = np.take(out, rows, axis=0)
    for n in range(rounds):
        more = int(np.searchsorted(-counts, -n))  # the rows that have another update
        sums[:more] += np.take(updates, order[first[:more] + n], axis=0)
    out[rows] = sums
    return None


def _order_of(ids: Array, count: int) -> Array:
    """Return the stable order of integers below ``count``, 16 bits at a time: NumPy sorts those by radix."""
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    for shift in range(16, count.bit_length(), 16):
        order = order[np.argsort((ids[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def _masked_bits(g: Array, condition: Any) -> Array:
    """Keep all bits of an element or none, in a quarter of the time of ``np.where`` or less."""
    plain = type(g) is type(condition) is np.ndarray and g.dtype.char in "fd" and condition.dtype == bool
    if not plain or g.size < LEAST_MASKED:
        return NotImplemented
    bits = np.dtype(f"i{g.itemsize}")
    return np.bitwise_and(g.view(bits), np.negative(condition.view(np.int8), dtype=bits)).view(g.dtype)


add_rows.kernel(add_by_rounds)
masked.kernel(_masked_bits)
