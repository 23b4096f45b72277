"""``x @ y``: rows times a matrix as one product, as an affine map without a bias; large stacks on minigrad's own threads."""

from typing import Any

import numpy as np

from ...engine.registry import operators
from ...engine.tensor import Tensor
from ...engine.types import Array
from ...rules.linalg import matmul
from ..threads import PARTS, for_each
from . import affine
from .rows import Needs


def _forward(x: Array, y: Array) -> Any:
    if y.ndim == 2:
        small = x.ndim == 2 and not affine.divides(x, y.shape[1])
        return NotImplemented if small else affine.affine_forward(x, y)
    stacks = x.ndim == y.ndim > 2 and x.shape[:-2] == y.shape[:-2]
    if not stacks or x.dtype != y.dtype or not affine.divides(x, y.shape[-1]):
        return NotImplemented
    return _stack(x, y), None


def _backward(g: Array, needs: Needs, x: Array, y: Array) -> tuple[Any, ...]:
    if y.ndim == 2:
        return affine.affine_backward(g, (*needs, False), x, y)[:2]
    return (
        _stack(g, y.swapaxes(-1, -2)) if needs[0] else None,
        _stack(x.swapaxes(-1, -2), g) if needs[1] else None,
    )


def _stack(x: Array, y: Array) -> Array:
    ans = np.empty((*x.shape[:-1], y.shape[-1]), x.dtype)

    def one(i: int) -> None:
        part = affine.part_of_rows(len(x), i)
        np.matmul(x[part], y[part], out=ans[part])

    for_each(one, range(PARTS), x.size * y.shape[-1])
    return ans


_short_way = operators[np.matmul]


def _operate(x: Any, y: Any) -> Any:
    """Where the kernel has nothing to do, the short way, which does not ask it."""
    array = x._array if isinstance(x, Tensor) else x
    if type(array) is np.ndarray and (array.size >= affine.LARGE_PRODUCT or array.ndim > 2 == getattr(y, "ndim", 0)):
        return matmul(x, y)
    return _short_way(x, y)


matmul.kernel(np.ndarray, _forward, _backward)
operators[np.matmul] = _operate
