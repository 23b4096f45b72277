"""The kernel of ``np.einsum``. A sum of products of two arrays is a product of two stacks of matrices, which BLAS computes."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine.observers import reference_mode
from ...engine.types import Array
from ...rules.einsum import LETTERS, contracted, einsum, explicit
from ...rules.linalg import matmul
from .elementwise import compute_by

LEAST = 1 << 13  # multiplications; NumPy's einsum is faster for fewer


@lru_cache(maxsize=256)
def _as_product(subscripts: str, ndims: tuple[int, int]) -> tuple[list[int], list[int], list[int], int, int] | None:
    """Return how an einsum is a product of two stacks of matrices, or None if it is not or its subscripts may be wrong.

    These are the axes of the first operand as (batch, rows, summed), those of the second as (batch, summed, columns), the
    places of the output's axes among (batch, rows, columns), and the numbers of batch and of summed axes.
    """
    terms, output = explicit(subscripts, ndims)
    lengths = [len(part) for part in (*terms, output)]
    if [len(set(part) & set(LETTERS)) for part in (*terms, output)] != lengths or lengths[:-1] != [*ndims]:
        return None
    a, b = terms
    batch, summed = [c for c in output if c in a and c in b], [c for c in a if c in b and c not in output]
    rows, columns = [c for c in output if c in a and c not in b], [c for c in output if c in b and c not in a]
    found = batch + rows + columns
    if len(found) != len(output) or {*found, *summed} != {*a, *b} or not summed or (batch and found == batch):
        return None
    first, second = [a.index(c) for c in batch + rows + summed], [b.index(c) for c in batch + summed + columns]
    return first, second, [found.index(c) for c in output], len(batch), len(summed)


def _einsum(*operands: Array, subscripts: str, optimize: Any = False) -> Any:
    product = None
    if len(operands) == 2 and type(operands[0]) is type(operands[1]) is np.ndarray and not reference_mode.active():
        product = _by_matmul(*operands, subscripts)
    return contracted(*operands, subscripts=subscripts, optimize=optimize) if product is None else product


def _by_matmul(a: Array, b: Array, subscripts: str) -> Any:
    """Return the product, or None if NumPy's einsum must compute it or is as fast."""
    how = _as_product(subscripts, (a.ndim, b.ndim))
    if how is None:
        return None
    a, b = a.transpose(how[0]), b.transpose(how[1])
    n, m = how[3], a.ndim - how[4]
    summed, columns = a.shape[m:], b.shape[n + how[4] :]
    large = a.size * math.prod(columns) >= LEAST
    if not large or b.shape != a.shape[:n] + summed + columns or not {a.dtype.char, b.dtype.char} <= {*"fdFD"}:
        return None
    rows, size = math.prod(a.shape[n:m]), math.prod(summed)
    stacks = a.reshape(*a.shape[:n], rows, size), b.reshape(*a.shape[:n], size, math.prod(columns))
    # NumPy multiplies without BLAS, slowly, if neither rows nor columns are contiguous.
    pair = [z if min(z.strides[-2:]) == z.itemsize else z.copy() for z in stacks]
    with np.errstate(all="ignore"):  # NumPy's einsum gives no warnings
        return matmul(*pair).reshape(a.shape[:m] + columns).transpose(how[2])[()]


compute_by(einsum, _einsum)
