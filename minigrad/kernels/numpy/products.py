"""The kernels of ``x W + b`` and ``x @ y``. They divide large products among minigrad's threads."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.linalg import matmul
from ...rules.neural import affine
from ..threads import PARTS, for_each
from .rows import Needs, as_rows
from .sums import ones

# The fewest elements, both of x and of the result, of a product that is divided among minigrad's threads. For smaller ones
# OpenBLAS may use its own threads (see blas.py).
LARGE_PRODUCT = 1 << 17
# Multiplications, about 0.3 ms on one core. A product of a large x with fewer, such as the logits of a small vocabulary, is
# divided even if its result is small. OpenBLAS's threads would gain little from it and then hold a core for the whole step.
CHEAP_PRODUCT = 1 << 24
_CLEARED = 1 << 15  # elements of a result; ndarray.dot starts faster than np.matmul, but clears its result needlessly


def product(x: Array, y: Array) -> Array:
    """Compute ``x @ y`` of two matrices."""
    return x.dot(y) if len(x) * y.shape[1] < _CLEARED else np.matmul(x, y)


def part_of_rows(n: int, i: int) -> slice:
    return slice(n * i // PARTS, n * (i + 1) // PARTS)


def divides(x: Array, columns: int) -> bool:
    """Whether ``x @ y``, with this number of columns, is divided among minigrad's threads. It depends on the shapes only."""
    if x.size < LARGE_PRODUCT:
        return False
    return x.size // x.shape[-1] * columns >= LARGE_PRODUCT or x.size * columns < CHEAP_PRODUCT


def divided_product(x: Array, y: Array, bias: Array | None = None) -> Array:
    """Compute ``x @ y + bias`` in parts of the first axis: the rows of a matrix, or the matrices of two stacks."""
    ans = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype)

    def one(i: int) -> None:
        part = part_of_rows(len(x), i)
        np.matmul(x[part], y if y.ndim == 2 else y[part], out=ans[part])
        if bias is not None:
            ans[part] += bias

    for_each(one, range(PARTS), x.size * y.shape[-1])
    return ans


def _affine_forward(x: Array, weight: Array, bias: Array) -> Any:
    if x.ndim < 2 or weight.ndim != 2 or bias.ndim != 1 or x.shape[-1] != weight.shape[0]:
        return NotImplemented
    if not weight.dtype == bias.dtype == x.dtype:  # some are integers
        return NotImplemented
    rows = as_rows(x)
    if divides(rows, weight.shape[1]):
        ans = divided_product(rows, weight, bias)
    else:
        ans = product(rows, weight)
        ans += bias
    return ans.reshape(x.shape[:-1] + weight.shape[1:]), None


def _affine_backward(g: Array, needs: Needs, x: Array, weight: Array, bias: Any = None) -> tuple[Any, ...]:
    rows, g2 = as_rows(x), as_rows(g)
    sums = ones(len(g2), g.dtype)
    if not divides(rows, weight.shape[1]):
        return (
            product(g2, weight.T).reshape(x.shape) if needs[0] else None,
            product(rows.T, g2) if needs[1] else None,
            sums.dot(g2) if needs[2] else None,
        )
    dx, db = np.empty(rows.shape, x.dtype), np.empty((PARTS, weight.shape[1]), x.dtype)
    by_columns = PARTS * weight.size > rows.size  # if true, one weight gradient per part would take more memory than x
    dw = np.empty(weight.shape if by_columns else (PARTS, *weight.shape), x.dtype)

    def one(i: int) -> None:
        part, columns = (part_of_rows(n, i) for n in g2.shape)
        if needs[0]:
            np.matmul(g2[part], weight.T, out=dx[part])
        if needs[1] and by_columns:
            np.matmul(rows.T, g2[:, columns], out=dw[:, columns])
        elif needs[1]:
            np.matmul(rows[part].T, g2[part], out=dw[i])
        if needs[2]:
            np.matmul(sums[part], g2[part], out=db[i])

    for_each(one, range(PARTS), x.size * weight.shape[1])
    if needs[1] and not by_columns:
        dw = dw.sum(axis=0)
    return dx.reshape(x.shape) if needs[0] else None, dw if needs[1] else None, db.sum(axis=0) if needs[2] else None


def _matmul_forward(x: Array, y: Array, **keywords: Any) -> Any:
    """Compute ``x @ y``. A stack times one matrix becomes a single product."""
    if keywords or x.dtype != y.dtype or x.ndim < 2 or y.ndim not in (2, x.ndim):
        return NotImplemented
    large = divides(x, y.shape[-1])
    if y.ndim > 2:
        return (divided_product(x, y), None) if large and x.shape[:-2] == y.shape[:-2] else NotImplemented
    if x.ndim > 2 and not x.flags.c_contiguous:  # as_rows would copy x
        return NotImplemented
    if x.ndim == 2 and not large:
        return NotImplemented
    ans = divided_product(as_rows(x), y) if large else np.matmul(as_rows(x), y)
    return ans.reshape(x.shape[:-1] + y.shape[1:]), None


def _matmul_backward(g: Array, needs: Needs, x: Array, y: Array) -> tuple[Any, ...]:
    if y.ndim == 2:
        return _affine_backward(g, (*needs, False), x, y)[:2]
    return divided_product(g, y.swapaxes(-1, -2)), divided_product(x.swapaxes(-1, -2), g)


affine.kernel(np.ndarray, _affine_forward, _affine_backward)
matmul.kernel(np.ndarray, _matmul_forward, _matmul_backward, least=LARGE_PRODUCT, jointly=True)
