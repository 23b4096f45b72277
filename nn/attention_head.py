"""One head of attention: each token looks at the others and takes a weighted mean of what they offer."""

from typing import Any, Unpack

import numpy as np

from minigrad import ShapeError, Tensor, scaled_dot_product_attention
from minigrad.internal import attention_weights

from ._checks import as_input, check_counts, check_positive
from .affine import Affine
from .masks import Masks, for_heads, mask_and_bias
from .module import Module


class AttentionHead(Module):
    """One head: ``softmax(q k^T / sqrt(key_dim)) v``, where ``q = query W_q + b_q``, and k and v are made alike.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. :class:`MultiHeadAttention` computes several at once.

    Args:
        d_model: the width of the query inputs.
        key_dim: the width of the head's queries and keys.
        value_dim: the width of its values; by default key_dim.
        context_dim: the width of the key and value inputs; by default d_model.
        bias: whether the three maps have one.
        scale: what the scores are multiplied by; by default 1 / sqrt(key_dim), and 1.0 is attention without a scale.

    Calling it: as :class:`MultiHeadAttention`, but the scores are (batch, query, key), the result is (batch, query,
    value_dim), and there is no cache. It raises what that does, too.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> head = nn.AttentionHead(8, 4, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 2, 8))
        >>> head(x).shape
        (1, 2, 4)
        >>> head.attention_weights(x, causal=True).numpy().round(2)  # the first token sees itself alone
        array([[[1. , 0. ],
                [0.5, 0.5]]], dtype=float32)
    """

    def __init__(
        self,
        d_model: int,
        key_dim: int,
        value_dim: int | None = None,
        *,
        rng: np.random.Generator,
        context_dim: int | None = None,
        bias: bool = True,
        scale: float | None = None,
        dtype: Any = np.float32,
    ) -> None:
        context_dim = d_model if context_dim is None else context_dim
        value_dim = key_dim if value_dim is None else value_dim
        check_positive(d_model=d_model, key_dim=key_dim, value_dim=value_dim, context_dim=context_dim)
        self.scale = None if scale is None else float(scale)
        self.query = Affine(d_model, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(context_dim, key_dim, rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(context_dim, value_dim, rng=rng, bias=bias, dtype=dtype)

    def forward(self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]) -> Tensor:
        query, key, value = self._inputs(query, key, value)
        allowed = self._masks(query, key, masks)
        q, k, v = self.query(query), self.key(key), self.value(value)  # (batch, query or key, key_dim or value_dim)
        return scaled_dot_product_attention(q, k, v, *map(for_heads, allowed), scale=self.scale)

    def attention_weights(self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]) -> Tensor:
        """What each query attends to, to look at: (batch, query, key), rows that sum to 1 (or 0 if all is masked)."""
        query, key, _ = self._inputs(query, key, value)
        return attention_weights(self.query(query), self.key(key), *self._masks(query, key, masks), self.scale)

    def with_weights(
        self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """What the call gives and :meth:`attention_weights`, from one pass; the weights are kept, as the call need not."""
        query, key, value = self._inputs(query, key, value)
        weights = self.attention_weights(query, key, **masks)
        return weights @ self.value(value), weights

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        d_model, context_dim = self.query.weight.shape[0], self.key.weight.shape[0]
        return attention_inputs("AttentionHead", d_model, context_dim, self.query.weight.dtype, query, key, value)

    def _masks(self, query: Tensor, key: Tensor, masks: Masks) -> tuple[Any, Any]:
        """Mask and bias of scores (batch, query, key)."""
        return mask_and_bias((query.shape[0], query.shape[1], key.shape[1]), query, masks)

    def extra_repr(self) -> str:
        (d_model, key_dim), value_dim = self.query.weight.shape, self.value.weight.shape[1]
        return f"{d_model}, {key_dim}" + (f", {value_dim}" if value_dim != key_dim else "")


def attention_inputs(
    layer: str, d_model: int, context_dim: int, dtype: np.dtype[Any], query: Any, key: Any, value: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """(batch, query, d_model), (batch, key, context_dim) and the like, in ``dtype``: by default key is query, value is key.

    Raises:
        ShapeError: they do not fit.
    """
    key = query if key is None else key
    value = key if value is None else value
    q = as_input(query, dtype, layer)
    k = q if key is query else as_input(key, dtype, layer)
    v = k if value is key else as_input(value, dtype, layer)
    for name, x, width in (("query", q, d_model), ("key", k, context_dim), ("value", v, context_dim)):
        if x.ndim != 3 or x.shape[-1] != width:
            raise ShapeError(f"{layer} needs {name} of shape (batch, length, {width}), got {x.shape}")
    check_counts(layer, q, k, v)
    return q, k, v
