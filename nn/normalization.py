"""Normalization of activations."""

from typing import Any

import numpy as np

from minigrad import Tensor, layer_norm

from ._checks import check_interval, check_positive, with_columns
from .functional import rms_norm
from .module import Module, Parameter


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis, with the biased variance.

    Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4, where ``weight`` is the gain. It starts at 1 and ``bias`` at 0.

    Args:
        d_model: the length of the last axis.
        eps: keeps the division finite. Inside the root it acts as a variance, outside as a standard deviation, so the
            same number is much larger outside for rows that hardly vary.
        eps_outside: ``(x - mean) / (std + eps) * weight + bias`` instead, as some texts write it.

    Shapes: x (..., d_model) -> the same; ``weight``, ``bias`` (d_model,).

    Raises:
        ArgumentError: d_model is no positive integer.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> norm = nn.LayerNorm(4, dtype=np.float64)
        >>> y = norm([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])
        >>> y.numpy().round(2)  # of mean and scale nothing is left
        array([[-1.34, -0.45,  0.45,  1.34],
               [-1.34, -0.45,  0.45,  1.34]])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, eps_outside: bool = False, dtype: Any = np.float32) -> None:
        check_positive(d_model=d_model)
        self.eps = float(eps)
        check_interval(0, np.inf, eps=self.eps)
        self.eps_outside = eps_outside
        self.weight = Parameter(np.ones(d_model, dtype))
        self.bias = Parameter(np.zeros(d_model, dtype))

    def forward(self, x: Any) -> Tensor:
        x = with_columns(x, self.weight, "LayerNorm")
        if not self.eps_outside:
            return layer_norm(x, self.weight, self.bias, eps=self.eps)
        return _eps_outside(x, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}" + (", eps_outside=True" if self.eps_outside else "")


def _eps_outside(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / (x.std(axis=-1, keepdims=True) + eps) * weight + bias


class RMSNorm(Module):
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last axis: LayerNorm without centring and bias.

    Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4. ``weight`` starts at 1.

    Shapes: x (..., d_model) -> the same; ``weight`` (d_model,).

    Raises:
        ArgumentError: d_model is no positive integer.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> y = nn.RMSNorm(2, dtype=np.float64)([[3.0, 4.0], [30.0, 40.0]])
        >>> y.numpy().round(2)  # scaled, but not centred
        array([[0.85, 1.13],
               [0.85, 1.13]])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6, dtype: Any = np.float32) -> None:
        check_positive(d_model=d_model)
        self.eps = float(eps)
        check_interval(0, np.inf, eps=self.eps)
        self.weight = Parameter(np.ones(d_model, dtype))

    def forward(self, x: Any) -> Tensor:
        return rms_norm(with_columns(x, self.weight, "RMSNorm"), self.weight, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}"
