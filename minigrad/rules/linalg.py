"""Products of matrices."""

import math
from typing import Any

import numpy as np

from .._primitive import primitive

# A 1-D operand counts as a row (left) or a column (right); leading axes are a batch, which broadcasts. Contributions to
# a broadcast operand are summed by the engine.


def _matmul_x(g: Any, x_shape: tuple[int, ...], y: Any) -> Any:
    """``g y^T``"""
    if y.ndim == 1:
        return np.expand_dims(g, -1) * y
    if len(x_shape) == 1:
        return np.matmul(np.expand_dims(g, -2), y.swapaxes(-1, -2))[..., 0, :]
    return np.matmul(g, y.swapaxes(-1, -2))


def _matmul_y(g: Any, x: Any, y_shape: tuple[int, ...]) -> Any:
    """``x^T g``"""
    if len(y_shape) == 1:
        return np.expand_dims(g, -1) * x
    if x.ndim == 1:
        return np.expand_dims(x, -1) * np.expand_dims(g, -2)
    if len(y_shape) == 2 and x.ndim > 2:  # one product over all rows instead of a batch of products and their sum
        rows = math.prod(x.shape[:-1])
        return np.matmul(x.reshape(rows, x.shape[-1]).swapaxes(0, 1), g.reshape(rows, g.shape[-1]))
    return np.matmul(x.swapaxes(-1, -2), g)


matmul = primitive(np.matmul).vjp(x=_matmul_x, y=_matmul_y)
