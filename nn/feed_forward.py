"""The part of a Transformer layer that treats each token by itself."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor, gelu, relu, silu

from .affine import Affine
from .dropout import Dropout
from .module import Module

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
    "swiglu": silu,  # of one map, times another
}


class FeedForward(Module):
    """``activation(x W_1 + b_1) W_2 + b_2``, with dropout on what the activation gives.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2. With ``activation="swiglu"`` a second map, ``gate``, multiplies it:
    ``(silu(x W_1) * (x V)) W_2``, in the paper without biases. Shazeer 2020, arXiv:2002.05202, eq. 6. It has half as many
    parameters again; two thirds of ``hidden`` make up for that.

    Args:
        d_model, hidden: the widths of x and of the layer inside.
        activation: "relu", "gelu" (with erf), "gelu_tanh" (its approximation) or "swiglu".
        dropout: the probability to drop.
        bias: whether the maps have one.

    Shapes: x (..., d_model) -> the same; the maps are ``hidden``, ``output`` and, of "swiglu", ``gate``.

    Raises:
        ArgumentError: the activation is unknown, or a width no positive integer.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> feed_forward = nn.FeedForward(8, 32, rng=np.random.default_rng(0))
        >>> x = np.random.default_rng(1).normal(size=(2, 5, 8))
        >>> y = feed_forward(x)  # each token by itself
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
        dtype: Any = np.float32,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ArgumentError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
        self.activation = activation
        self.hidden = Affine(d_model, hidden, rng=rng, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)
        self.output = Affine(hidden, d_model, rng=rng, bias=bias, dtype=dtype)
        self.gate = Affine(d_model, hidden, rng=rng, bias=bias, dtype=dtype) if activation == "swiglu" else None

    def forward(self, x: Any) -> Tensor:
        h = ACTIVATIONS[self.activation](self.hidden(x))
        if self.gate is not None:
            h = h * self.gate(x)
        return self.output(self.dropout(h))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"
