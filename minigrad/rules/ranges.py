"""Questions about the range of the numbers in an array. They take Tensors, too, and record nothing."""

from math import isfinite
from typing import Any

import numpy as np

from ..engine.tensor import Tensor
from ..engine.types import Array


def all_finite(*arrays: Any) -> bool:
    """Return whether Tensors or NumPy arrays have no NaN and no infinite number. Other arrays are not asked: it would wait."""
    for array in arrays:
        array = array._array if isinstance(array, Tensor) else array
        if type(array) is not np.ndarray or array.dtype.kind not in "fc":
            continue
        # A product of BLAS is the fastest sum. It is infinite for large numbers, too, and does not warn.
        if not (array.dtype.char in "fdFD" and isfinite(np.vdot(array, array).real)) and not np.isfinite(array).all():
            return False
    return True


def squares_fit(x: Array, eps: float) -> bool:
    """Return whether squares stay in the range of their dtype, and small ones do not count beside eps. Only NumPy is asked."""
    x = x._array if isinstance(x, Tensor) else x
    if type(x) is not np.ndarray or x.dtype.kind != "f" or not x.size:
        return True
    info = np.finfo(x.dtype)
    bound = (float(info.max) / (4 * x.shape[-1])) ** 0.5
    return eps >= info.tiny / info.eps and bool(max(x.max(), -x.min()) < bound)


def variances_fit(inverse: Array, eps: float) -> bool:
    """Return whether no inverse of ``sqrt(variance + eps)`` tells of squares that have left the range of their dtype."""
    if not inverse.size:
        return True
    info = np.finfo(inverse.dtype)
    return bool(inverse.min() > 0) and (eps >= info.tiny / info.eps or bool(inverse.max() ** 2 <= info.eps / info.tiny))


def power_of_two(x: Array, least: Any = 0.0) -> Array:
    """Return the power of two below the largest number of each row or ``least``; to divide by it is exact. It is a constant."""
    x = x._array if isinstance(x, Tensor) else x
    size = np.abs(x)
    size = size.max(axis=-1, keepdims=True) if x.size else size.sum(axis=-1, keepdims=True)
    size = np.maximum(size, np.asarray(least, x.dtype, like=x))
    return np.ldexp(np.ones_like(size), np.frexp(size)[1] - 1)
