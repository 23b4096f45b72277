"""One head of attention: each token looks at the others and takes a weighted mean of what they offer."""

from typing import Any, Unpack

import numpy as np

from minigrad import Tensor

from ._checks import check_positive
from .masks import Masks, for_heads, known, mask_and_bias
from .multi_head import MultiHeadAttention


class AttentionHead(MultiHeadAttention):
    """One head: ``softmax(q k^T / sqrt(key_dim)) v``, where ``q = query W_q + b_q``, and k and v are made alike.

    Vaswani et al. 2017, arXiv:1706.03762, eq. 1. :class:`MultiHeadAttention` computes several at once;
    this is one of its heads, without the map behind them.

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
        self.num_heads = self.num_kv_heads = 1
        self.d_model, self.context_dim, self.rotary = d_model, context_dim, None
        self.scale = None if scale is None else float(scale)
        self._make_inputs((key_dim, key_dim, value_dim), rng, bias, dtype)

    def forward(  # type: ignore[override]  # there is no cache
        self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]
    ) -> Tensor:
        return super().forward(query, key, value, **known(masks))

    def with_weights(  # type: ignore[override]
        self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]
    ) -> tuple[Tensor, Tensor]:
        """What the call gives and :meth:`attention_weights`, from one pass; the weights are kept, as the call need not."""
        context, weights = super().with_weights(query, key, value, **known(masks))
        return context, weights[:, 0]

    def attention_weights(  # type: ignore[override]
        self, query: Any, key: Any = None, value: Any = None, **masks: Unpack[Masks]
    ) -> Tensor:
        """What each query attends to, to look at: (batch, query, key), rows that sum to 1 (or 0 if all is masked)."""
        return super().attention_weights(query, key, value, **known(masks))[:, 0]

    def _masks(self, scores: tuple[int, ...], query: Tensor, masks: Masks) -> tuple[Any, Any]:
        """Masks here have no axis of heads; it is put in, for scores (batch, 1, query, key)."""
        batch, _, queries, keys = scores
        mask, bias = mask_and_bias((batch, queries, keys), query, masks)
        return for_heads(mask), for_heads(bias)

    def _joined(self, context: Tensor) -> Tensor:
        return context

    def _dtype(self) -> np.dtype[Any]:
        return self.query.weight.dtype

    def extra_repr(self) -> str:
        (d_model, key_dim), value_dim = self.query.weight.shape, self.value.weight.shape[1]
        return f"{d_model}, {key_dim}" + (f", {value_dim}" if value_dim != key_dim else "")
