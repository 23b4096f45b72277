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

How = tuple[list[int], list[int], list[int], int, int]  # see _as_product
LEAST = 1 << 13  # multiplications; NumPy's einsum is faster for fewer


@lru_cache(maxsize=256)
def _as_product(subscripts: str, ndims: tuple[int, int]) -> How | None:
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
    """Compute the product also for a program that is written, which is recorded in reference mode, but not on NumPy arrays."""
    if len(operands) == 2 and not (type(operands[0]) is np.ndarray and reference_mode.active()):
        how = _as_product(subscripts, (np.ndim(operands[0]), np.ndim(operands[1])))
        if how is not None and _pays(*operands, how):
            return _product(*operands, how)
    return contracted(*operands, subscripts=subscripts, optimize=optimize)


def _pays(a: Array, b: Array, how: How) -> bool:
    """Whether two arrays are large, and have the shapes and dtypes of two stacks of matrices."""
    first, second = [a.shape[i] for i in how[0]], [b.shape[i] for i in how[1]]
    n, k = how[3:]
    fits = second[: n + k] == first[:n] + first[len(first) - k :] and {a.dtype.char, b.dtype.char} <= {*"fdFD"}
    return fits and a.size * math.prod(second[n + k :]) >= LEAST


def _product(a: Array, b: Array, how: How) -> Any:
    a, b = a.transpose(how[0]), b.transpose(how[1])
    n, m = how[3], a.ndim - how[4]
    summed, columns = a.shape[m:], b.shape[n + how[4] :]
    rows, size = math.prod(a.shape[n:m]), math.prod(summed)
    stacks = a.reshape(*a.shape[:n], rows, size), b.reshape(*a.shape[:n], size, math.prod(columns))
    # NumPy multiplies without BLAS, slowly, if neither rows nor columns are contiguous.
    pair = [z if min(z.strides[-2:]) == z.itemsize else z.copy() for z in stacks]
    with np.errstate(all="ignore"):  # NumPy's einsum gives no warnings
        return matmul(*pair).reshape(a.shape[:m] + columns).transpose(how[2])[()]


compute_by(einsum, _einsum)
