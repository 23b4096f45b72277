"""The layers that Transformers are stacked from."""

from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import array_of, make_tensor

from . import one_token
from ._checks import as_input
from .cache import KeyValueCache
from .dropout import Dropout
from .feed_forward import FeedForward
from .masks import Masks, known, mask_and_bias
from .module import Module
from .multi_head import MultiHeadAttention
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

    With ``causal=True`` it is the layer of a decoder-only network.

    Args:
        d_model, num_heads: of the attention.
        hidden: the width inside the feed-forward network.
        norm: "pre" or "post".
        activation: as in :class:`FeedForward`.
        dropout: the probability to drop, after each part and inside the feed-forward network.
        eps: of the LayerNorms (BERT has 1e-12).
        rotary, strict: of the attention, as in :class:`MultiHeadAttention`.

    Calling it: x (batch, length, d_model) -> the same, with ``key_mask`` (batch, length), ``mask``, ``bias``, ``causal`` and
    ``cache`` as in :class:`MultiHeadAttention`.

    Raises:
        ArgumentError: the norm or the activation is unknown, or num_heads does not divide d_model.
        ShapeError, DTypeError, OutOfRangeError: x or a mask does not fit, as in :class:`MultiHeadAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.TransformerEncoderLayer(8, 2, 32, rng=np.random.default_rng(0))
        >>> x = np.random.default_rng(1).normal(size=(1, 3, 8))
        >>> y = layer(x, key_mask=[[True, True, False]])  # what stands in padding changes no token
        >>> y.shape, np.allclose(y.numpy()[:, :2], layer(x[:, :2]).numpy(), atol=1e-5)
        ((1, 3, 8), True)
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
        eps: float = 1e-5,
        rotary: bool = False,
        strict: bool = True,
        dtype: Any = np.float32,
    ) -> None:
        self.norm = _check_norm(norm)
        self.attention_norm = LayerNorm(d_model, eps=eps, dtype=dtype)
        self.attention = MultiHeadAttention(d_model, num_heads, rng=rng, rotary=rotary, strict=strict, dtype=dtype)
        self.attention_dropout = Dropout(dropout, rng=rng)
        self.feed_forward_norm = LayerNorm(d_model, eps=eps, dtype=dtype)
        self.feed_forward = FeedForward(d_model, hidden, rng=rng, activation=activation, dropout=dropout, dtype=dtype)
        self.feed_forward_dropout = Dropout(dropout, rng=rng)

    def forward(self, x: Any, *, cache: KeyValueCache | None = None, **masks: Unpack[Masks]) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, cache=cache, **known(masks))

        x = self._input(x)
        # The last token sees all that are in the cache, whether it is causal or not.
        if cache is not None and not masks.keys() - {"causal"} and one_token.holds(self, array_of(x)):
            return make_tensor(one_token.step(self, array_of(x), cache), None)
        x = _residual(x, attend, self.attention_norm, self.attention_dropout, self.norm)
        return _residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.norm)

    def attention_weights(self, x: Any, **masks: Unpack[Masks]) -> Tensor:
        """What each token attends to, to look at: (batch, heads, query, key)."""
        x = self._input(x)
        seen = self.attention_norm(x) if self.norm == "pre" else x
        return self.attention.attention_weights(seen, **known(masks))

    def _input(self, x: Any) -> Tensor:
        x = as_input(x, self.attention_norm.weight.dtype, "TransformerEncoderLayer")
        d_model = self.attention_norm.weight.size
        if x.ndim != 3 or x.shape[-1] != d_model:
            raise ShapeError(f"TransformerEncoderLayer needs x of shape (batch, length, {d_model}), got {x.shape}")
        return x

    def extra_repr(self) -> str:
        return f"norm={self.norm!r}"


class TransformerDecoderLayer(Module):
    """Masked self-attention, attention to the encoder's result, a feed-forward network; a residual connection around each.

    ``norm="post"``, as in Vaswani et al. 2017, arXiv:1706.03762, section 3.1::

        x = LayerNorm(x + dropout(attention(x)))                    # causal: nobody sees what comes after it
        x = LayerNorm(x + dropout(cross_attention(x, memory)))      # queries from x, keys and values from memory
        x = LayerNorm(x + dropout(feed_forward(x)))

    ``norm="pre"``: ``x = x + dropout(part(LayerNorm(x)))``, and one more LayerNorm behind the last layer. The memory is
    taken as it is: the encoder has normalized it.

    Args: as of :class:`TransformerEncoderLayer`, but for rotary and strict.

    Calling it:
        x: (batch, target, d_model). Result: the same.
        memory: (batch, source, d_model), what the encoder gave.
        key_mask: (batch, target), which of x are tokens and not padding; ``mask`` and ``bias`` as in
            :class:`MultiHeadAttention`.
        causal: whether each token of x sees only itself and what is before it; True by default.
        memory_key_mask: (batch, source), the same for the memory; ``memory_mask`` and ``memory_bias`` as ``mask`` and
            ``bias``, over (target, source).
        cache, memory_cache: under ``no_grad``, the key-value caches of the two attentions. The first grows with every call
            (as in :class:`MultiHeadAttention`), the second keeps the memory's keys and values from the first call on.

    Raises:
        ArgumentError: the norm or the activation is unknown, or num_heads does not divide d_model.
        ShapeError, DTypeError, OutOfRangeError: x, the memory or a mask does not fit.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.TransformerDecoderLayer(8, 2, 32, rng=np.random.default_rng(0))
        >>> x, memory = np.ones((1, 3, 8)), np.ones((1, 5, 8))
        >>> layer(x, memory).shape
        (1, 3, 8)
        >>> layer.attention_weights(x).shape, layer.cross_attention_weights(x, memory).shape
        ((1, 2, 3, 3), (1, 2, 3, 5))
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
        eps: float = 1e-5,
        dtype: Any = np.float32,
    ) -> None:
        self.norm = _check_norm(norm)
        self.attention_norm = LayerNorm(d_model, eps=eps, dtype=dtype)
        self.attention = MultiHeadAttention(d_model, num_heads, rng=rng, dtype=dtype)
        self.attention_dropout = Dropout(dropout, rng=rng)
        self.cross_attention_norm = LayerNorm(d_model, eps=eps, dtype=dtype)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, rng=rng, dtype=dtype)
        self.cross_attention_dropout = Dropout(dropout, rng=rng)
        self.feed_forward_norm = LayerNorm(d_model, eps=eps, dtype=dtype)
        self.feed_forward = FeedForward(d_model, hidden, rng=rng, activation=activation, dropout=dropout, dtype=dtype)
        self.feed_forward_dropout = Dropout(dropout, rng=rng)

    def forward(
        self,
        x: Any,
        memory: Any,
        *,
        key_mask: Any = None,
        memory_key_mask: Any = None,
        mask: Any = None,
        memory_mask: Any = None,
        bias: Any = None,
        memory_bias: Any = None,
        causal: bool = True,
        cache: KeyValueCache | None = None,
        memory_cache: KeyValueCache | None = None,
    ) -> Tensor:
        def look(x: Tensor) -> Tensor:
            cached = memory_cache is not None and memory_cache.length > 0
            new = memory[:, :0] if cached else memory
            return self.cross_attention(x, new, **masks, cache=memory_cache)

        x, memory = self._inputs(x, memory)
        source = memory.shape[1] if memory_cache is None else memory_cache.length or memory.shape[1]
        # Before the first attention: a mask that does not fit the memory is to be found before the cache has grown.
        masks = self._memory_masks(x, source, key_mask=memory_key_mask, mask=memory_mask, bias=memory_bias)
        x = self._self_attention(x, key_mask=key_mask, mask=mask, bias=bias, causal=causal, cache=cache)
        x = _residual(x, look, self.cross_attention_norm, self.cross_attention_dropout, self.norm)
        return _residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.norm)

    def attention_weights(
        self, x: Any, *, key_mask: Any = None, mask: Any = None, bias: Any = None, causal: bool = True
    ) -> Tensor:
        """Where each token of x looks among themselves: (batch, heads, target, target)."""
        x = as_input(x, self.attention_norm.weight.dtype, "TransformerDecoderLayer")
        seen = self.attention_norm(x) if self.norm == "pre" else x
        return self.attention.attention_weights(seen, key_mask=key_mask, mask=mask, bias=bias, causal=causal)

    def cross_attention_weights(
        self,
        x: Any,
        memory: Any,
        *,
        key_mask: Any = None,
        memory_key_mask: Any = None,
        mask: Any = None,
        memory_mask: Any = None,
        bias: Any = None,
        memory_bias: Any = None,
        causal: bool = True,
    ) -> Tensor:
        """Where each token of x looks in the memory: (batch, heads, target, source)."""
        x, memory = self._inputs(x, memory)
        masks = self._memory_masks(x, memory.shape[1], key_mask=memory_key_mask, mask=memory_mask, bias=memory_bias)
        x = self._self_attention(x, key_mask=key_mask, mask=mask, bias=bias, causal=causal)
        seen = self.cross_attention_norm(x) if self.norm == "pre" else x
        return self.cross_attention.attention_weights(seen, memory, **masks)

    def _memory_masks(self, x: Tensor, source: int, **masks: Unpack[Masks]) -> dict[str, Any]:
        """The mask and the bias of the cross-attention, whose scores are (batch, heads, target, source)."""
        scores = (x.shape[0], self.cross_attention.num_heads, x.shape[1], source)
        names = ("memory_key_mask", "memory_mask", "memory_bias")
        return dict(zip(("mask", "bias"), mask_and_bias(scores, x, masks, names)))

    def _self_attention(self, x: Tensor, **settings: Any) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, **settings)

        return _residual(x, attend, self.attention_norm, self.attention_dropout, self.norm)

    def _inputs(self, x: Any, memory: Any) -> tuple[Tensor, Tensor]:
        dtype = self.attention_norm.weight.dtype
        x, memory = (as_input(t, dtype, "TransformerDecoderLayer") for t in (x, memory))
        d_model = self.attention_norm.weight.size
        if x.ndim != 3 or memory.ndim != 3 or memory.shape != (x.shape[0], memory.shape[1], d_model):
            raise ShapeError(
                f"TransformerDecoderLayer needs x (batch, target, {d_model}) and memory (batch, source, {d_model}) of one "
                f"batch size, got {x.shape} and {memory.shape}"
            )
        return x, memory

    def extra_repr(self) -> str:
        return f"norm={self.norm!r}"


def attention_by_layer(
    layers: Iterable[TransformerEncoderLayer], x: Tensor, **masks: Unpack[Masks]
) -> tuple[list[Tensor], Tensor]:
    """Run layers one after the other; give what each attends to, (batch, heads, query, key), and what the last one gives."""
    weights = []
    for layer in layers:
        weights.append(layer.attention_weights(x, **masks))
        x = layer(x, **masks)
    return weights, x


def _residual(x: Tensor, part: Callable[[Tensor], Tensor], norm: LayerNorm, dropout: Dropout, place: str) -> Tensor:
    """``part`` with a connection around it, and the norm before it or after the sum."""
    if place == "pre":
        return x + dropout(part(norm(x)))
    return norm(x + dropout(part(x)))


def _check_norm(norm: str) -> str:
    if norm not in ("pre", "post"):
        raise ArgumentError(f"norm must be 'pre' or 'post', got {norm!r}")
    return norm
