"""The feed-forward network of a Transformer layer, which treats each token separately."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor, gelu, relu, silu
from minigrad.internal import TensorLike

from ._checks import check_positive, check_probability, shown
from .affine import Affine
from .dropout import Dropout
from .module import DType, Module

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
    "silu": silu,
    "swiglu": silu,  # FeedForward multiplies it by the gate
}


def activation_of(name: str) -> Callable[..., Any]:
    """Return the function with this name, or raise an ArgumentError."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ArgumentError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {shown(name)}")
    return ACTIVATIONS[name]


class FeedForward(Module):
    """The network ``activation(x W_1 + b_1) W_2 + b_2``, with dropout after the activation.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2. With ``activation="swiglu"`` a third map, ``gate``, multiplies the activation:
    ``(silu(x W_1) * (x V)) W_2``, Shazeer 2020, arXiv:2002.05202, eq. 6, where the maps have no biases. It has 1.5
    times as many parameters; two thirds of ``hidden`` restore the original number.

    Args:
        d_model, hidden: the widths of x and of the layer inside.
        rng: the generator that draws the weights, whose dtype is ``dtype``.
        activation: "relu", "gelu" (with erf), "gelu_tanh" (its approximation), "silu" or "swiglu".
        dropout: the probability with which an element of the activation is dropped.
        bias: whether the maps have biases.

    Shapes: x (..., d_model) -> the same shape. The maps are ``hidden``, ``output`` and, for "swiglu", ``gate``.

    Raises:
        ArgumentError: the activation is unknown, or a width is not a positive integer.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> feed_forward = nn.FeedForward(8, 32, rng=np.random.default_rng(0))
        >>> x = np.random.default_rng(1).normal(size=(2, 5, 8))
        >>> y = feed_forward(x)  # each token is treated separately
        >>> y.shape, np.allclose(y.numpy()[:, 3], feed_forward(x[:, 3]).numpy(), atol=1e-5)
        ((2, 5, 8), True)
    """

    def __init__(
        self,
        d_model: int,
        hidden: int,
        *,
        rng: np.random.Generator,
        activation: str = "relu",
        dropout: float = 0.0,
        bias: bool = True,
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(d_model=d_model, hidden=hidden)
        activation_of(activation)
        check_probability(dropout=dropout)
        self.activation = activation
        self.hidden = Affine(d_model, hidden, rng=rng, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)
        self.output = Affine(hidden, d_model, rng=rng, bias=bias, dtype=dtype)
        self.gate = Affine(d_model, hidden, rng=rng, bias=bias, dtype=dtype) if activation == "swiglu" else None

    def forward(self, x: "TensorLike") -> Tensor:
        h = activation_of(self.activation)(self.hidden(x))
        if self.gate is None and self.activation == "swiglu":
            raise ArgumentError("swiglu needs the map gate: make a new FeedForward with activation='swiglu'")
        if self.gate is not None:
            h = h * self.gate(x)
        return self.output(self.dropout(h))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"
