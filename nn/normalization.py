"""Normalization of activations."""

import numpy as np

from minigrad import Tensor, layer_norm
from minigrad.internal import TensorLike

from ._checks import check_interval, check_positive, with_columns
from .functional import rms_norm
from .module import DType, Module, Parameter


class LayerNorm(Module):
    """Layer normalization, ``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis.

    Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4. The variance is biased, ``weight`` starts at 1 and ``bias`` at 0.

    Args:
        d_model: the length of the last axis.
        eps: a small number that keeps the division finite.
        eps_outside: divide by ``std + eps`` instead, as some texts do; eps then affects rows of small variance much less.
        dtype: the dtype of the parameters; the layer casts a real x to it.

    Shapes: x (..., d_model) -> the same shape; ``weight``, ``bias`` (d_model,).

    Raises:
        ArgumentError: d_model is not a positive integer, or eps is not a finite number >= 0.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> norm = nn.LayerNorm(4, dtype=np.float64)
        >>> y = norm([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])
        >>> y.numpy().round(2)  # the rows differ only in mean and scale
        array([[-1.34, -0.45,  0.45,  1.34],
               [-1.34, -0.45,  0.45,  1.34]])
    """

    def __init__(
        self, d_model: int, *, eps: float = 1e-5, eps_outside: bool = False, dtype: "DType" = np.float32
    ) -> None:
        check_positive(d_model=d_model)
        self.eps = float(eps)
        check_interval(0, np.inf, eps=self.eps)
        self.eps_outside = eps_outside
        self.weight = Parameter(np.ones(d_model, dtype))
        self.bias = Parameter(np.zeros(d_model, dtype))

    def forward(self, x: "TensorLike") -> Tensor:
        x = with_columns(x, self.weight, "LayerNorm")
        if not self.eps_outside:
            return layer_norm(x, self.weight, self.bias, eps=self.eps)
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / (x.std(axis=-1, keepdims=True) + self.eps) * self.weight + self.bias

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}" + (", eps_outside=True" if self.eps_outside else "")


class RMSNorm(Module):
    """RMS normalization, ``x / sqrt(mean(x^2) + eps) * weight`` over the last axis. There is no centring and no bias.

    Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4. ``weight`` starts at 1.

    Shapes: x (..., d_model) -> the same shape; ``weight`` (d_model,).

    Raises:
        ArgumentError: d_model is not a positive integer, or eps is not a finite number >= 0.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> y = nn.RMSNorm(2, dtype=np.float64)([[3.0, 4.0], [30.0, 40.0]])
        >>> y.numpy().round(2)  # scaled, but not centred
        array([[0.85, 1.13],
               [0.85, 1.13]])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6, dtype: "DType" = np.float32) -> None:
        check_positive(d_model=d_model)
        self.eps = float(eps)
        check_interval(0, np.inf, eps=self.eps)
        self.weight = Parameter(np.ones(d_model, dtype))

    def forward(self, x: "TensorLike") -> Tensor:
        return rms_norm(with_columns(x, self.weight, "RMSNorm"), self.weight, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}"
