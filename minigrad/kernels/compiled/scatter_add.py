"""The compiled kernel of scatter_add: the gradient of an embedding."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.indexing import scatter_add
from ..threads import in_parts
from . import elementwise, rows as by_rows
from .arrays import PASSES, fits, flat_labels, plain

_COLUMNS = 16  # that a thread takes at least


def _scatter_add_forward(updates: Array, index: Any, shape: tuple[int, ...]) -> Any:
    """Whole rows, as for the gradient of an embedding; all else is left to NumPy."""
    if isinstance(index, tuple) and len(index) == 1:
        (index,) = index
    if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or not fits(updates):
        return NotImplemented
    numbers, run = flat_labels(index), elementwise.scatter_add[updates.dtype]
    if updates.shape != (*index.shape, *shape[1:]) or not by_rows.within[updates.dtype](numbers, -shape[0], shape[0]):
        return NotImplemented
    width = math.prod(shape[1:])
    ans = np.zeros(shape, updates.dtype)
    rows, out = plain(updates, updates.dtype).reshape(index.size, width), ans.reshape(shape[0], width)
    in_parts(
        lambda start, stop: run(rows, numbers, out, start * _COLUMNS, min(stop * _COLUMNS, width)),
        -(-width // _COLUMNS),
        PASSES * updates.size,
    )
    return ans, None


scatter_add.kernel("compiled", _scatter_add_forward, lambda g, needs, index: (g[index],))
