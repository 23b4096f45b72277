"""Prepare arrays for the loops that numba compiles, and divide the work among threads."""

from typing import Any

import numpy as np

from ...engine.types import Array as Array
from ..threads import in_parts
from .arithmetic import CompiledLoop

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))  # for which there are loops
BLOCK = 4096  # elements; parts start at multiples of this, so that their bounds do not change the processor's vectors
PASSES = 2  # the time of one of these loops in passes of NumPy over an array, as an estimate of the work


def plain(array: Array, dtype: Any) -> Array:
    """Return the array as a contiguous, aligned array of ``dtype``. Copy it only if necessary."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype == dtype:
        return array
    return np.array(array, dtype, order="C")


def over_elements(loop: CompiledLoop, *arrays: Array, numbers: tuple[float, ...] = ()) -> None:
    """Run a loop over the elements of arrays of one shape. ``numbers`` are its arguments after the arrays."""
    run, size = loop[arrays[0].dtype], arrays[0].size
    flat = [array.reshape(-1) for array in arrays]

    def some(start: int, stop: int) -> None:
        run(*[array[start * BLOCK : stop * BLOCK] for array in flat], *numbers)

    in_parts(some, -(-size // BLOCK), PASSES * size)
