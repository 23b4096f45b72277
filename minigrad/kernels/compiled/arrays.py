"""Prepare arrays for the loops that numba compiles, and divide the work among threads."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ..numpy.rows import as_rows
from ..threads import in_parts
from .arithmetic import CompiledLoop

BLOCK = 4096  # elements; parts start at multiples of this, so that their bounds do not change the processor's vectors
PASSES = 2  # the time of one of these loops in passes of NumPy over an array, as an estimate of the work


def plain(array: Array) -> Array:
    """Return the array as a contiguous, aligned array of float32. Copy it only if necessary."""
    if array.flags.c_contiguous and array.flags.aligned and array.dtype == np.float32:
        return array
    return np.array(array, np.float32, order="C")


def matrix(array: Array) -> Array:
    return as_rows(plain(array))


def over_rows(loop: CompiledLoop, count: int, x: Array, *arguments: Any) -> None:
    """Run a loop over ``count`` rows of ``x``, its first argument, or blocks of them."""
    run = loop.run
    in_parts(lambda start, stop: run(x, *arguments, start, stop), count, PASSES * x.size)


def over_elements(loop: CompiledLoop, *arrays: Array, numbers: tuple[float, ...] = ()) -> None:
    """Run a loop over the elements of arrays of one shape. ``numbers`` are its arguments after the arrays."""
    run, size = loop.run, arrays[0].size
    flat = [array.reshape(-1) for array in arrays]

    def some(start: int, stop: int) -> None:
        run(*[array[start * BLOCK : stop * BLOCK] for array in flat], *numbers)

    in_parts(some, -(-size // BLOCK), PASSES * size)
