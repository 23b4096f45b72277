"""Prepare arrays for the loops that numba compiles, and divide the work among threads."""

from typing import Any

import numpy as np

from ...engine.types import Array as Array
from ..numpy.rows import as_rows
from ..threads import in_parts
from .arithmetic import CompiledLoop

TINY = {np.dtype(t): float(np.finfo(t).tiny) for t in (np.float32, np.float64)}  # the smallest normal numbers
BLOCK = 4096  # elements; parts start at multiples of this, so that their bounds do not change the processor's vectors
PASSES = 2  # the time of one of these loops in passes of NumPy over an array, as an estimate of the work


def fits(*arrays: Array) -> bool:
    """Whether there is a loop for the arrays: all are float32, or all are float64."""
    return arrays[0].dtype in TINY and all(array.dtype == arrays[0].dtype for array in arrays)


def plain(array: Array, dtype: Any) -> Array:
    """Return the array as a contiguous, aligned array of ``dtype``. Copy it only if necessary."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype == dtype:
        return array
    return np.array(array, dtype, order="C")


def matrix(array: Array, dtype: Any) -> Array:
    return as_rows(plain(array, dtype))


def over_rows(loop: CompiledLoop, x: Array, *arguments: Any, blocks: int | None = None) -> None:
    """Run a loop over the rows of ``x``, its first argument, or over ``blocks``, the number of blocks of rows."""
    run, count = loop[x.dtype], len(x) if blocks is None else blocks
    in_parts(lambda start, stop: run(x, *arguments, start, stop), count, PASSES * x.size)


def over_elements(loop: CompiledLoop, *arrays: Array, numbers: tuple[float, ...] = ()) -> None:
    """Run a loop over the elements of arrays of one shape. ``numbers`` are its arguments after the arrays."""
    run, size = loop[arrays[0].dtype], arrays[0].size
    flat = [array.reshape(-1) for array in arrays]

    def some(start: int, stop: int) -> None:
        run(*[array[start * BLOCK : stop * BLOCK] for array in flat], *numbers)

    in_parts(some, -(-size // BLOCK), PASSES * size)
