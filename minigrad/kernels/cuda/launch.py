"""Compiling and launching CUDA kernels through CuPy, on its current device and stream, with arrays of its memory pool.

Nothing here waits for the device. It has not yet run on a real GPU: the sources have been compiled for several of them,
and run on a CPU by ``tests/cuda_emulator.py``.
"""

import functools
import math
from typing import Any

import numpy as np

from ...engine.types import Array
from . import source

WIDE = {"float16": np.float32}  # the type ``A`` of a type ``T``, where they differ: see source.py
_LONG_ROW = 512  # columns
_THREADS = 256  # in a block: so few may have as many registers as a thread can, whatever the kernel


@functools.cache
def _module(dtype: str) -> Any:
    import cupy

    return cupy.RawModule(code=source.PRELUDES[dtype] + source.SOURCE)


@functools.cache
def function(name: str, dtype: str) -> Any:
    """The kernel ``name`` for arrays of ``dtype``: compiled at its first call, by CuPy, which keeps it on disk."""
    return _module(dtype).get_function(name)


def takes(*arrays: Array) -> bool:
    """Whether there are kernels for the dtype of the first, and all lie, not empty, on the device that is current.

    On another one a kernel would meet addresses that mean nothing to it; CuPy's own functions say so.
    """
    import cupy

    device = cupy.cuda.runtime.getDevice()
    return arrays[0].dtype.name in source.PRELUDES and all(a.size and a.data.device_id == device for a in arrays)


def empty(shape: Any, dtype: Any) -> Array:
    """An array of CuPy's, not yet written."""
    import cupy

    return cupy.empty(shape, dtype)


def contiguous(array: Array, dtype: Any = None) -> Array:
    """``array`` itself, or a contiguous copy."""
    import cupy

    return cupy.ascontiguousarray(array, dtype)


def over_rows(name: str, dtype: Any, rows: int, columns: int, *arguments: Any) -> None:
    """Launch a kernel that treats each row by itself: a warp for a short one, a block for a long one."""
    if columns <= _LONG_ROW:
        grid, block = -(-rows // 4), (32, 4)
    else:
        grid, block = rows, (_THREADS, 1)
    function(name, dtype.name)((grid,), block, arguments)


def over_elements(name: str, dtype: Any, count: int, *arguments: Any) -> None:
    """Launch a kernel that treats each element (or each group of them) by itself."""
    function(name, dtype.name)((min(-(-count // _THREADS), 65535),), (_THREADS,), arguments)


def total(values: Array, ans: Array, factor: float) -> None:
    """Write ``factor * sum(values)`` to the 0-d ``ans``, in one launch of one block."""
    function("total", ans.dtype.name)((1,), (_THREADS,), (values, ans, values.size, factor))


def sums_of_columns(g: Array, normed: tuple[Array, Array] | None = None) -> Array:
    """The sums over all axes of ``g`` but the last, (1, columns); with ``normed``, what layer norm needs of it, (2, columns).

    ``normed`` is x and what ``layer_norm_forward`` kept. The sums of g come first. They are added up in an order that
    depends on the shape alone.
    """
    (rows, columns), dtype, count = rows_and_columns(g), g.dtype, 2 if normed else 1
    stretch = max(64, -(-rows // 128))
    stretches = -(-rows // stretch)
    x, kept = normed or (g, g)  # g stands in for what the kernel does not read
    partial = empty((count, stretches, columns), WIDE.get(dtype.name, dtype))
    function("sums_of_columns", dtype.name)(
        (-(-columns // 32), stretches), (32, 8), (g, x, kept, count - 1, partial, rows, columns, stretch)
    )
    ans = empty((count, columns), dtype)
    over_elements("sums_of_stretches", dtype, ans.size, partial, ans, stretches, columns, ans.size)
    return ans


def rows_and_columns(x: Array) -> tuple[int, int]:
    """``x`` as a matrix: all axes but the last in one."""
    return math.prod(x.shape[:-1]), x.shape[-1]
