"""The part of a Transformer layer that treats each token by itself."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor, gelu, relu

from .affine import Affine
from .dropout import Dropout
from .module import Module

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": partial(gelu, approximate="tanh"),
}


class FeedForward(Module):
    """``activation(x W_1 + b_1) W_2 + b_2``, with dropout on what the activation gives.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 2.

    Args:
        d_model, hidden: the widths of x and of the layer inside.
        activation: "relu", "gelu" (with erf) or "gelu_tanh" (its approximation).
        dropout: the probability to drop.

    Shapes: x (..., d_model) -> the same; the two maps are ``hidden`` and ``output``.
    """

    def __init__(
        self,
        d_model: int,
        hidden: int,
        *,
        rng: np.random.Generator,
        activation: str = "relu",
        dropout: float = 0.0,
        dtype: Any = np.float32,
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ArgumentError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {activation!r}")
        self.activation = activation
        self.hidden = Affine(d_model, hidden, rng=rng, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)
        self.output = Affine(hidden, d_model, rng=rng, dtype=dtype)

    def forward(self, x: Any) -> Tensor:
        h = ACTIVATIONS[self.activation](self.hidden(x))
        return self.output(self.dropout(h))

    def extra_repr(self) -> str:
        return f"activation={self.activation!r}"
