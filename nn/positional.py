"""Where a token stands, added to what it is."""

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor

from ._checks import beside, check_positive, check_real
from .module import Module


def sinusoids(length: int, d_model: int) -> np.ndarray[Any, Any]:
    """The position codes, (length, d_model) float64: one row a position, from 0.

    ``p[t, 2i] = sin(t / 10000**(2i / d_model))`` and ``p[t, 2i + 1] = cos(t / 10000**(2i / d_model))``.
    Vaswani et al. 2017, arXiv:1706.03762, section 3.5.
    """
    column = np.arange(d_model)
    angle = np.arange(length)[:, None] / 10000.0 ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


class PositionalEncoding(Module):
    """``x + sinusoids``: the fixed position codes, without parameters and for sequences of any length.

    Shapes: x (..., length, d_model) -> the same, in the dtype of x.

    Raises:
        ShapeError: the last axis of x is not d_model.
    """

    def __init__(self, d_model: int) -> None:
        check_positive(d_model=d_model)
        self.d_model = d_model
        self._table = sinusoids(0, d_model)  # grows with the longest sequence seen

    def forward(self, x: Any) -> Tensor:
        x = check_real(x, "PositionalEncoding")
        if x.ndim < 2 or x.shape[-1] != self.d_model:
            raise ShapeError(
                f"PositionalEncoding({self.d_model}) needs x of shape (..., length, {self.d_model}), got {x.shape}"
            )
        length = x.shape[-2]
        table = self._table
        if type(table) is not type(x.data) or table.dtype != x.dtype or len(table) < length:
            longest = max(len(table), 1 << length.bit_length())  # a power of 2: few new tables while sequences grow
            self._table = table = beside(sinusoids(longest, self.d_model).astype(x.dtype), x.data)
        return x + table[:length]

    def extra_repr(self) -> str:
        return str(self.d_model)
