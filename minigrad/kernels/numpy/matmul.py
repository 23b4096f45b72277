"""The kernel of ``x @ y``. A stack times one matrix becomes a single product. Minigrad's threads share large products."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.linalg import matmul
from .affine import LARGE_PRODUCT, affine_backward, divided_product, divides
from .rows import Needs, as_rows


def _forward(x: Array, y: Array, **keywords: Any) -> Any:
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


def _backward(g: Array, needs: Needs, x: Array, y: Array) -> tuple[Any, ...]:
    if y.ndim == 2:
        return affine_backward(g, (*needs, False), x, y)[:2]
    return divided_product(g, y.swapaxes(-1, -2)), divided_product(x.swapaxes(-1, -2), g)


matmul.kernel(np.ndarray, _forward, _backward, least=LARGE_PRODUCT, jointly=True)
