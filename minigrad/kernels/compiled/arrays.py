"""What prepares arrays for the loops that numba compiles, and divides the work among threads."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array as Array
from ..threads import in_parts
from . import rows as by_rows
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
    array = plain(array, dtype)
    return array if array.ndim == 2 else array.reshape(math.prod(array.shape[:-1]), array.shape[-1])


def over_rows(loop: CompiledLoop, x: Array, *arguments: Any) -> None:
    """Run a loop over the rows of ``x``, which is its first argument."""
    run = loop[x.dtype]
    in_parts(lambda start, stop: run(x, *arguments, start, stop), len(x), PASSES * x.size)


def over_blocks(loop: CompiledLoop, x: Array, *arguments: Any) -> None:
    """Run a loop over blocks of rows of ``x``, each of which has its own sum."""
    run = loop[x.dtype]
    in_parts(lambda start, stop: run(x, *arguments, start, stop), block_count(x), PASSES * x.size)


def block_count(x: Array) -> int:
    return -(-len(x) // by_rows.BLOCK)


def over_elements(loop: CompiledLoop, *arrays: Array) -> None:
    """Run a loop over the elements of arrays of one shape, the last of which it writes."""
    run, size = loop[arrays[0].dtype], arrays[0].size
    flat = [array.reshape(-1) for array in arrays]
    in_parts(lambda start, stop: run(*flat, start * BLOCK, min(stop * BLOCK, size)), -(-size // BLOCK), PASSES * size)


def flat_labels(labels: Array) -> Array:
    return plain(labels, np.int64).reshape(-1)
