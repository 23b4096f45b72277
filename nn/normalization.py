"""Normalization of activations."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, layer_norm

from ._checks import as_input, check_positive
from .module import Module, Parameter


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis, with the biased variance.

    Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4, where ``weight`` is the gain. It starts at 1 and ``bias`` at 0.

    Shapes: x (..., d_model) -> the same; ``weight``, ``bias`` (d_model,).

    Raises:
        ShapeError: the last axis of x is not d_model.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, dtype: Any = np.float32) -> None:
        check_positive(d_model=d_model)
        if not eps >= 0:
            raise ArgumentError(f"eps must be a number >= 0, got {eps!r}")
        self.eps = eps
        self.weight = Parameter(np.ones(d_model, dtype))
        self.bias = Parameter(np.zeros(d_model, dtype))

    def forward(self, x: Any) -> Tensor:
        x = as_input(x, self.weight.dtype, "LayerNorm")
        (d_model,) = self.weight.shape
        if not x.ndim or x.shape[-1] != d_model:
            raise ShapeError(f"LayerNorm({d_model}) needs x of shape (..., {d_model}), got {x.shape}")
        return layer_norm(x, self.weight, self.bias, eps=self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}"
