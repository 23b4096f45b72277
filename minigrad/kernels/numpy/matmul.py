"""``x @ y``: rows times a matrix as one product, as an affine map without a bias; large stacks on minigrad's own threads."""

from typing import Any

import numpy as np

from ...engine.kernels import Kernel
from ...engine.plan import Plan
from ...engine.registry import operators
from ...engine.tensor import Tensor
from ...engine.types import Array
from ...rules.linalg import matmul
from ..threads import PARTS, for_each
from . import affine
from .rows import Needs, as_rows


class _OfBothFactors(Kernel):
    """Where one gradient is asked for the plain rules follow, which keep one factor."""

    def plan(self, primitive: Any, needs: Needs) -> Plan:
        return super().plan(primitive, needs) if all(needs) else Plan(primitive, needs)


def _forward(x: Array, y: Array, **keywords: Any) -> Any:
    if keywords or x.dtype != y.dtype or x.ndim < 2 or y.ndim not in (2, x.ndim):
        return NotImplemented
    large = affine.divides(x, y.shape[-1])
    if y.ndim > 2:
        return (_stack(x, y), None) if large and x.shape[:-2] == y.shape[:-2] else NotImplemented
    if x.ndim > 2 and not x.flags.c_contiguous:  # as_rows would copy it
        return NotImplemented
    if large:
        return affine.affine_forward(x, y)
    return NotImplemented if x.ndim == 2 else (np.matmul(as_rows(x), y).reshape(x.shape[:-1] + y.shape[1:]), None)


def _backward(g: Array, needs: Needs, x: Array, y: Array) -> tuple[Any, ...]:
    if y.ndim == 2:
        return affine.affine_backward(g, (*needs, False), x, y)[:2]
    return _stack(g, y.swapaxes(-1, -2)), _stack(x.swapaxes(-1, -2), g)


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


matmul.kernels[np.ndarray] = _OfBothFactors(_forward, _backward, {})
operators[np.matmul] = _operate
