"""What prepares arrays for the loops that numba compiles, and divides the work among threads."""

from typing import Any

import numpy as np

from ...engine.types import Array as Array
from ..numpy.rows import as_rows
from ..threads import in_parts
from .arithmetic import CompiledLoop

TINY = {np.dtype(t): float(np.finfo(t).tiny) for t in (np.float32, np.float64)}  # subnormals are below
BLOCK = 4096  # elements: where a part begins must not change which of them the processor takes together
PASSES = 2  # of NumPy over an array, which take about as long as one of these loops


def fits(*arrays: Array) -> bool:
    """Whether there is a loop for them: float32 or float64, all the same."""
    return arrays[0].dtype in TINY and all(array.dtype == arrays[0].dtype for array in arrays)


def plain(array: Array, dtype: Any) -> Array:
    """The array as a loop reads it, contiguous and of that dtype: itself where it is so already."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype == dtype:
        return array
    return np.array(array, dtype, order="C")


def matrix(array: Array, dtype: Any) -> Array:
    return as_rows(plain(array, dtype))


def over_rows(loop: CompiledLoop, x: Array, *arguments: Any, blocks: int | None = None) -> None:
    """Run a loop over the rows of ``x``, which is its first argument, or over so many ``blocks`` of them."""
    run, count = loop[x.dtype], len(x) if blocks is None else blocks
    in_parts(lambda start, stop: run(x, *arguments, start, stop), count, PASSES * x.size)


def over_elements(loop: CompiledLoop, *arrays: Array, numbers: tuple[float, ...] = ()) -> None:
    """Run a loop over the elements of arrays of one shape, behind which it takes ``numbers``."""
    run, size = loop[arrays[0].dtype], arrays[0].size
    flat = [array.reshape(-1) for array in arrays]

    def some(start: int, stop: int) -> None:
        run(*[array[start * BLOCK : stop * BLOCK] for array in flat], *numbers)

    in_parts(some, -(-size // BLOCK), PASSES * size)


def flat_labels(labels: Array) -> Array:
    return plain(labels, np.int64).reshape(-1)
