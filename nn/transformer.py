"""The encoder layer and the decoder layer of Transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack, cast

import numpy as np

from minigrad import ShapeError, Tensor
from minigrad.internal import TensorLike, array_of, make_tensor

from . import one_token
from ._checks import as_input, check_choice, check_kind, check_positive, check_probability, given
from .cache import KeyValueCache, growing
from .dropout import Dropout
from .feed_forward import FeedForward
from .masks import DecoderMasks, Masks, known, mask_and_bias, may_read, without_unseen
from .module import DType, Module
from .multi_head import MultiHeadAttention
from .normalization import LayerNorm, RMSNorm


class TransformerEncoderLayer(Module):
    """A layer of self-attention and a feed-forward network, each with a residual connection.

    ``norm="post"`` is the layer of Vaswani et al. 2017, arXiv:1706.03762, section 3.1::

        x = LayerNorm(x + dropout(attention(x)))
        x = LayerNorm(x + dropout(feed_forward(x)))

    ``norm="pre"`` is easier to train without warm-up (Xiong et al. 2020, arXiv:2002.04745). It does not normalize its result,
    so a stack of these layers needs one more LayerNorm at the end::

        x = x + dropout(attention(LayerNorm(x)))
        x = x + dropout(feed_forward(LayerNorm(x)))

    With ``causal=True`` it is the layer of a decoder-only network.

    Args:
        d_model, num_heads, rng, rotary, key_dim, num_kv_heads: as in :class:`MultiHeadAttention`.
        hidden: the width inside the feed-forward network.
        norm: "pre" or "post".
        rms_norm: whether :class:`RMSNorm` stands in place of LayerNorm.
        bias: whether the maps of the attention and of the feed-forward network have biases.
        activation: as in :class:`FeedForward`.
        dropout: the probability with which an element is dropped, after each part and inside the feed-forward network.
        attention_dropout: the ``dropout`` of :class:`MultiHeadAttention`, for attention weights.
        eps: the ``eps`` of the norms (1e-12 in BERT).

    Calling it: x (batch, length, d_model) -> the same shape, with ``key_mask`` (batch, length), ``mask``, ``bias``, ``causal``
    and ``cache`` as in :class:`MultiHeadAttention`.

    Raises:
        ArgumentError: the norm or the activation is unknown, num_heads does not divide d_model, or num_kv_heads not num_heads.
        ShapeError, DTypeError, OutOfRangeError: x or a mask does not fit, as in :class:`MultiHeadAttention`.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.TransformerEncoderLayer(8, 2, 32, rng=np.random.default_rng(0))
        >>> x = np.random.default_rng(1).normal(size=(1, 3, 8))
        >>> y = layer(x, key_mask=[[True, True, False]])  # padding does not change the tokens
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
        attention_dropout: float = 0.0,
        eps: float = 1e-5,
        rotary: bool | float = False,
        key_dim: int | None = None,
        num_kv_heads: int | None = None,
        rms_norm: bool = False,
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        made = _checked(d_model, num_heads, hidden, norm, rms_norm, dropout, attention_dropout)
        self.norm = norm
        self.attention_norm = made(d_model, eps=eps, dtype=dtype)
        self.attention = MultiHeadAttention(
            d_model, num_heads, rng=rng, rotary=rotary, key_dim=key_dim, num_kv_heads=num_kv_heads, bias=bias,
            dropout=attention_dropout, dtype=dtype,
        )  # fmt: skip
        self.attention_dropout = Dropout(dropout, rng=rng)
        self.feed_forward_norm = made(d_model, eps=eps, dtype=dtype)
        self.feed_forward = FeedForward(
            d_model, hidden, rng=rng, activation=activation, dropout=dropout, bias=bias, dtype=dtype
        )
        self.feed_forward_dropout = Dropout(dropout, rng=rng)

    def forward(self, x: TensorLike, *, cache: KeyValueCache | None = None, **masks: Unpack[Masks]) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, cache=cache, **known(masks))

        if cache is not None:
            check_kind("a KeyValueCache", KeyValueCache, cache=cache)
        x = self._input(x, 0 if cache is None else cache.length, masks)
        # The last token sees all tokens in the cache, so causal makes no difference.
        if cache is not None and not masks.keys() - {"causal"} and one_token.applies(self, array_of(x)):
            return make_tensor(one_token.step(self, array_of(x), cache), None)
        x = _residual(x, attend, self.attention_norm, self.attention_dropout, self.norm)
        return _residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.norm)

    def attention_weights(self, x: TensorLike, **masks: Unpack[Masks]) -> Tensor:
        """Return the weights of the attention: (batch, heads, query, key)."""
        x = self._input(x, 0, masks)
        seen = self.attention_norm(x) if self.norm == "pre" else x
        return self.attention.attention_weights(seen, **known(masks))

    def _input(self, x: TensorLike, cached: int, masks: Masks) -> Tensor:
        """Return x as a Tensor, with 0 in place of a NaN that no query may see."""
        x = as_input(x, self.attention_norm.weight.dtype, "TransformerEncoderLayer")
        d_model = self.attention_norm.weight.size
        if x.ndim != 3 or x.shape[-1] != d_model:
            raise ShapeError(f"TransformerEncoderLayer needs x of shape (batch, length, {d_model}), got {x.shape}")
        return _without_unseen_tokens(x, self.attention, cached, masks)

    def extra_repr(self) -> str:
        return f"norm={self.norm!r}"


class TransformerDecoderLayer(Module):
    """A layer of self-attention, attention to an encoder and a feed-forward network, each with a residual connection.

    ``norm="post"`` is the layer of Vaswani et al. 2017, arXiv:1706.03762, section 3.1::

        x = LayerNorm(x + dropout(attention(x)))                    # causal by default
        x = LayerNorm(x + dropout(cross_attention(x, memory)))      # queries from x, keys and values from memory
        x = LayerNorm(x + dropout(feed_forward(x)))

    ``norm="pre"`` computes ``x = x + dropout(part(LayerNorm(x)))`` for each part, and the last layer needs one more LayerNorm
    after it. The layer does not normalize the memory, because the encoder has done so.

    The arguments are those of :class:`TransformerEncoderLayer`, without rotary and key_dim. ``num_kv_heads``, ``bias`` and
    ``attention_dropout`` are those of both attentions.

    Calling it:
        x: (batch, target, d_model). The result has the same shape.
        memory: (batch, source, d_model), the result of the encoder.
        key_mask, mask, bias: see :class:`nn.masks.Masks`; the scores of the self-attention are (batch, heads, target, target).
        causal: whether each token of x sees only itself and the tokens before it; True by default.
        memory_key_mask, memory_mask, memory_bias: those of the cross-attention, with scores (batch, heads, target, source).
        cache: under ``no_grad``, the :class:`KeyValueCache` of the self-attention, which grows with every call.
        memory_cache: under ``no_grad``, a cache. The first call fills it from the memory, and later calls read it.

    Raises:
        ArgumentError: the norm or the activation is unknown, num_heads does not divide d_model, or num_kv_heads not num_heads.
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
        attention_dropout: float = 0.0,
        eps: float = 1e-5,
        num_kv_heads: int | None = None,
        rms_norm: bool = False,
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        made = _checked(d_model, num_heads, hidden, norm, rms_norm, dropout, attention_dropout)
        self.norm = norm
        settings: dict[str, Any] = {"rng": rng, "bias": bias, "dtype": dtype}
        heads = {"num_kv_heads": num_kv_heads, "dropout": attention_dropout} | settings
        self.attention_norm = made(d_model, eps=eps, dtype=dtype)
        self.attention = MultiHeadAttention(d_model, num_heads, **heads)
        self.attention_dropout = Dropout(dropout, rng=rng)
        self.cross_attention_norm = made(d_model, eps=eps, dtype=dtype)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, **heads)
        self.cross_attention_dropout = Dropout(dropout, rng=rng)
        self.feed_forward_norm = made(d_model, eps=eps, dtype=dtype)
        self.feed_forward = FeedForward(d_model, hidden, activation=activation, dropout=dropout, **settings)
        self.feed_forward_dropout = Dropout(dropout, rng=rng)

    def forward(
        self,
        x: TensorLike,
        memory: Any,
        *,
        cache: KeyValueCache | None = None,
        memory_cache: KeyValueCache | None = None,
        **masks: Unpack[DecoderMasks],
    ) -> Tensor:
        def look(x: Tensor) -> Tensor:
            cached = memory_cache is not None and memory_cache.length > 0
            new = memory[:, :0] if cached else memory
            return self.cross_attention(x, new, mask=mask, bias=bias, cache=memory_cache)

        if cache is not None or memory_cache is not None:
            check_kind("a KeyValueCache", KeyValueCache, **given(cache=cache, memory_cache=memory_cache))
        x, memory = self._inputs(x, memory)
        own, of_memory = _divided(masks)
        x = _without_unseen_tokens(x, self.attention, 0 if cache is None else cache.length, own)
        source = memory.shape[1] if memory_cache is None else memory_cache.length or memory.shape[1]
        mask, bias = self._memory_masks(x, source, of_memory)
        with growing(() if cache is None else (cache,)):  # an error in the cross-attention leaves it unchanged
            x = self._self_attention(x, **own, cache=cache)
            x = _residual(x, look, self.cross_attention_norm, self.cross_attention_dropout, self.norm)
        return _residual(x, self.feed_forward, self.feed_forward_norm, self.feed_forward_dropout, self.norm)

    def attention_weights(self, x: TensorLike, **masks: Unpack[Masks]) -> Tensor:
        """Return the weights of the self-attention: (batch, heads, target, target)."""
        x = as_input(x, self.attention_norm.weight.dtype, "TransformerDecoderLayer")
        own, _ = _divided(known(masks))
        x = _without_unseen_tokens(x, self.attention, 0, own)
        seen = self.attention_norm(x) if self.norm == "pre" else x
        return self.attention.attention_weights(seen, **own)

    def cross_attention_weights(self, x: TensorLike, memory: TensorLike, **masks: Unpack[DecoderMasks]) -> Tensor:
        """Return the weights of the attention to the memory: (batch, heads, target, source)."""
        x, memory = self._inputs(x, memory)
        own, of_memory = _divided(masks)
        x = _without_unseen_tokens(x, self.attention, 0, own)
        mask, bias = self._memory_masks(x, memory.shape[1], of_memory)
        x = self._self_attention(x, **own)
        seen = self.cross_attention_norm(x) if self.norm == "pre" else x
        return self.cross_attention.attention_weights(seen, memory, mask=mask, bias=bias)

    def _memory_masks(self, x: Tensor, source: int, masks: Masks) -> tuple[Any, Any]:
        """Return the mask and the bias of the cross-attention, whose scores are (batch, heads, target, source)."""
        scores = (x.shape[0], self.cross_attention.num_heads, x.shape[1], source)
        return mask_and_bias(scores, x, masks, ("memory_key_mask", "memory_mask", "memory_bias"))

    def _self_attention(self, x: Tensor, **options: Any) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.attention(x, **options)

        return _residual(x, attend, self.attention_norm, self.attention_dropout, self.norm)

    def _inputs(self, x: TensorLike, memory: TensorLike) -> tuple[Tensor, Tensor]:
        dtype = self.attention_norm.weight.dtype
        x, memory = (as_input(t, dtype, "TransformerDecoderLayer", name) for name, t in (("x", x), ("memory", memory)))
        d_model = self.attention_norm.weight.size
        if x.ndim != 3 or memory.ndim != 3 or memory.shape != (x.shape[0], memory.shape[1], d_model):
            raise ShapeError(
                f"TransformerDecoderLayer needs x (batch, target, {d_model}) and memory (batch, source, {d_model}) with "
                f"the same batch size, got {x.shape} and {memory.shape}"
            )
        return x, memory

    def extra_repr(self) -> str:
        return f"norm={self.norm!r}"


def _checked(
    d_model: int, num_heads: int, hidden: int, norm: str, rms_norm: bool, dropout: float, attention_dropout: float
) -> type[LayerNorm | RMSNorm]:
    """Check arguments that both layers have, and return the class of their norms."""
    check_positive(d_model=d_model, num_heads=num_heads, hidden=hidden)
    check_kind("True or False", rms_norm=rms_norm)
    check_probability(dropout=dropout, attention_dropout=attention_dropout)
    check_choice(("pre", "post"), norm=norm)
    return RMSNorm if rms_norm else LayerNorm


def _divided(masks: Mapping[str, Any]) -> tuple[Masks, Masks]:
    """Return the masks of the self-attention, which is causal by default, and those of the attention to the memory."""
    own: dict[str, Any] = {"causal": True, **masks}
    of_memory = {name: own.pop(f"memory_{name}", None) for name in ("key_mask", "mask", "bias")}
    return known(cast(Masks, own)), cast(Masks, of_memory)


def _without_unseen_tokens(x: Tensor, attention: MultiHeadAttention, cached: int, masks: Masks) -> Tensor:
    """Return x, with 0 in place of a NaN at the positions that no query of the self-attention may see."""
    if x.ndim != 3 or not masks or may_read(x):
        return x
    shape = (x.shape[0], attention.num_heads, x.shape[1], x.shape[1] + cached)
    return without_unseen((x, x, x), 4, *mask_and_bias(shape, x, masks))[0]


def attention_by_layer(
    layers: Iterable[TransformerEncoderLayer], x: Tensor, **masks: Unpack[Masks]
) -> tuple[list[Tensor], Tensor]:
    """Run the layers in order. Return the weights of each, (batch, heads, query, key), and the result of the last layer."""
    weights = []
    for layer in layers:
        weights.append(layer.attention_weights(x, **masks))
        x = layer(x, **masks)
    return weights, x


def _residual(
    x: Tensor, part: Callable[[Tensor], Tensor], norm: LayerNorm | RMSNorm, dropout: Dropout, where: str
) -> Tensor:
    """Apply ``part`` with a residual connection, and the norm before ("pre") or after ("post") it."""
    if where == "pre":
        return x + dropout(part(norm(x)))
    return norm(x + dropout(part(x)))
