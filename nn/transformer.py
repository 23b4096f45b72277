"""The layers that Transformers are stacked from."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor

from ._checks import as_input
from .attention import MultiHeadAttention
from .dropout import Dropout
from .feed_forward import FeedForward
from .module import Module
from .normalization import LayerNorm


class TransformerEncoderLayer(Module):
    """Self-attention, then a feed-forward network, each with a residual connection around it.

    ``norm="post"``, as in Vaswani et al. 2017, arXiv:1706.03762, section 3.1::

        x = LayerNorm(x + dropout(attention(x)))
        x = LayerNorm(x + dropout(feed_forward(x)))

    ``norm="pre"``, easier to train without warm-up (Xiong et al. 2020, arXiv:2002.04745). A stack of these leaves x
    unnormalized, so put one more LayerNorm behind the last::

        x = x + dropout(attention(LayerNorm(x)))
        x = x + dropout(feed_forward(LayerNorm(x)))

    Args:
        d_model, num_heads: of the attention.
        hidden: the width inside the feed-forward network.
        norm: "pre" or "post".
        activation: "relu", "gelu" or "gelu_tanh".
        dropout: the probability to drop, after each part and inside the feed-forward network.

    Calling it: x (batch, length, d_model) -> the same, with ``key_mask`` (batch, length) and ``mask`` as in
    :class:`MultiHeadAttention`.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        hidden: int,
        *,
        rng: np.random.Generator,
        norm: str = "pre",
        activation: str = "relu",
        dropout: float = 0.0,
        dtype: Any = np.float32,
    ) -> None:
        if norm not in ("pre", "post"):
            raise ArgumentError(f"norm must be 'pre' or 'post', got {norm!r}")
        self.norm = norm
        self.attention_norm = LayerNorm(d_model, dtype=dtype)
        self.attention = MultiHeadAttention(d_model, num_heads, rng=rng, dtype=dtype)
        self.attention_dropout = Dropout(dropout, rng=rng)
        self.feed_forward_norm = LayerNorm(d_model, dtype=dtype)
        self.feed_forward = FeedForward(d_model, hidden, rng=rng, activation=activation, dropout=dropout, dtype=dtype)
        self.feed_forward_dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Any, *, key_mask: Any = None, mask: Any = None) -> Tensor:
        x = as_input(x, self.attention_norm.weight.dtype, "TransformerEncoderLayer")
        if self.norm == "pre":
            x = x + self.attention_dropout(self.attention(self.attention_norm(x), key_mask=key_mask, mask=mask))
            return x + self.feed_forward_dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.attention_dropout(self.attention(x, key_mask=key_mask, mask=mask)))
        return self.feed_forward_norm(x + self.feed_forward_dropout(self.feed_forward(x)))

    def extra_repr(self) -> str:
        return f"norm={self.norm!r}"
