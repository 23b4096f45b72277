"""Multi-head attention and its packed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, scaled_dot_product_attention
from minigrad.internal import attention_weights, split_heads

from ._checks import check_counts, check_interval, check_kind, check_positive, check_probability, given
from .affine import Affine
from .attention import AttentionLayer, Read
from .cache import KeyValueCache
from .dropout import Dropout
from .masks import AttentionOptions, mask_and_bias, without_unseen
from .module import DType
from .rotary import RotaryPositions


class MultiHeadAttention(AttentionLayer):
    """Multi-head attention, ``concatenate(head_1, ..., head_H) W_o + b_o``.

    To read how it is computed, begin with ``with_weights`` and the two methods that it calls, ``_weights`` and ``_mean``: they
    are the formulas. The call computes the same with one operation, which stores no weights (minigrad/rules/attention.py).

    Each head is ``head_i = softmax(q_i k_i^T / sqrt(key_dim)) v_i``. The inputs are mapped to ``q = query W_q + b_q``,
    ``k = key W_k + b_k`` and ``v = value W_v + b_v``, and head i uses the i-th block of their columns. Vaswani et al. 2017,
    arXiv:1706.03762, section 3.2.

    Args:
        d_model: the width of the query inputs.
        num_heads: H. It must divide out_dim unless key_dim is set.
        rng: the generator that draws ``query.weight``, ``key.weight``, ``value.weight`` and ``output.weight``.
        key_dim: the width of each head's queries and keys, by default out_dim / H; ``d_model // num_heads`` if H does not
            divide d_model.
        value_dim: the width of each head's values; key_dim by default.
        num_kv_heads: the number of heads of keys and values; H by default. Each is shared by H / num_kv_heads heads of
            queries: Ainslie et al. 2023, arXiv:2305.13245. The value 1 gives multi-query attention.
        context_dim: the width of the key and value inputs, for cross-attention; d_model by default.
        out_dim: the width of the result; d_model by default.
        rotary: whether to rotate queries and keys with :class:`RotaryPositions`, or its ``base``. It needs self-attention. With
            a ``key_mask``, the positions count tokens and not padding.
        bias: whether the four maps have biases.
        scale: the factor of the scores, 1 / sqrt(key_dim) by default; 1.0 leaves the dot products unscaled.
        dropout: the probability with which :class:`Dropout` drops an attention weight in training. All weights are then
            stored. Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", section 4.1.
        dtype: the dtype of the parameters; the layer casts real inputs to it.

    Calling it:
        query: (batch, query, d_model).
        key, value: (batch, key, context_dim). By default the key is the query (self-attention) and the value is the key.
        key_mask, mask, bias, causal: see :class:`nn.masks.Masks`; the scores are (batch, heads, query, key). ALiBi is an
            example of a bias (Press et al. 2021, arXiv:2108.12409, section 3). If num_heads is a power of 2::

                slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
                y = attention(x, causal=True, bias=slopes[:, None, None] * np.arange(length))

        cache: the :class:`KeyValueCache` that earlier calls filled, under ``no_grad`` only. The call appends its keys and
            values, and masks and bias then apply to all keys in the cache.

        The result is (batch, query, out_dim). If every key of a query is masked, its result is ``output.bias``.

    Raises:
        ArgumentError: a size is not a positive integer, or the numbers of heads and columns do not fit together.
        ShapeError: inputs or masks do not fit together.
        DTypeError, OutOfRangeError: as in :class:`GlobalAttention`.
        UnsupportedError: a keyword is none of the options of :class:`nn.masks.Masks`.
        GraphError: a cache is passed while gradients are recorded.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.MultiHeadAttention(8, 2, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 3, 8))
        >>> weights = attention.attention_weights(x, key_mask=[[True, True, False]])
        >>> attention(x).shape, weights.shape
        ((1, 3, 8), (1, 2, 3, 3))
        >>> weights.numpy()[0, 0, 0].round(2)  # padding has weight 0
        array([0.5, 0.5, 0. ], dtype=float32)
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        rng: np.random.Generator,
        key_dim: int | None = None,
        value_dim: int | None = None,
        num_kv_heads: int | None = None,
        context_dim: int | None = None,
        out_dim: int | None = None,
        rotary: bool | float = False,
        bias: bool = True,
        scale: float | None = None,
        dropout: float = 0.0,
        dtype: DType = np.float32,
    ) -> None:
        check_interval(-np.inf, np.inf, **given(scale=scale))
        check_interval(1, np.inf, rotary=1 if isinstance(rotary, bool) else rotary)
        check_probability(dropout=dropout)
        out_name, out_dim = ("d_model", d_model) if out_dim is None else ("out_dim", out_dim)
        context_dim = d_model if context_dim is None else context_dim
        check_positive(d_model=d_model, num_heads=num_heads, out_dim=out_dim, context_dim=context_dim)
        if rotary and context_dim != d_model:
            raise ArgumentError(
                f"rotary positions are for self-attention, and context_dim={context_dim} is not d_model={d_model}"
            )
        key_dim, value_dim, num_kv_heads = _heads(num_heads, key_dim, value_dim, num_kv_heads, out_name, out_dim)
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.d_model, self.context_dim = d_model, context_dim
        self.scale = None if scale is None else float(scale)
        self._make_inputs((num_heads * key_dim, num_kv_heads * key_dim, num_kv_heads * value_dim), rng, bias, dtype)
        self.output = Affine(num_heads * value_dim, out_dim, rng=rng, bias=bias, dtype=dtype)
        self.rotary = RotaryPositions(key_dim, base=10000.0 if rotary is True else rotary) if rotary else None
        self.dropout = Dropout(dropout, rng=rng) if dropout else None  # else none: it would draw from rng

    def _weights(self, q: Tensor, k: Tensor, mask: Any, bias: Any) -> Tensor:
        q, k = split_heads(q, self.num_heads), split_heads(k, self.num_heads)  # (batch, heads, query or key, key_dim)
        return attention_weights(q, k, mask, bias, self.scale)  # (batch, heads, query, key)

    def _mean(self, weights: Tensor, v: Tensor) -> Tensor:
        kept = weights if self.dropout is None else self.dropout(weights)
        heads = super()._mean(kept, split_heads(v, self.num_heads))  # (batch, heads, query, value_dim)
        context = heads.swapaxes(1, 2)  # (batch, query, heads, value_dim)
        return context.reshape(*context.shape[:2], -1)  # the heads side by side

    def _context(self, q: Tensor, k: Tensor, v: Tensor, mask: Any, bias: Any) -> Tensor:
        if self.dropout is not None and self.dropout.training:
            return super()._context(q, k, v, mask, bias)
        return scaled_dot_product_attention(q, k, v, mask, bias, scale=self.scale, num_heads=self.num_heads)

    def _read(self, query: Any, key: Any, value: Any, options: AttentionOptions, grow: bool = True) -> Read:
        cache: KeyValueCache | None = options.pop("cache", None)
        past = 0
        if cache is not None:
            check_kind("a KeyValueCache", KeyValueCache, cache=cache)
            past = cache.length
        inputs = self._inputs(query, key, value)
        (batch, queries, _), (_, keys, _) = inputs[0].shape, inputs[1].shape
        mask, bias = mask_and_bias((batch, self.num_heads, queries, past + keys), inputs[0], options)
        q, k, v = self._mapped(*without_unseen(inputs, 4, mask, bias))  # (batch, query or key, [kv_]heads * width)
        if self.rotary is not None:
            q, k = (self.rotary(t, start=past, key_mask=options.get("key_mask")) for t in (q, k))
        if cache is not None:
            k, v = cache.append(k, v) if grow else cache.joined(k, v)  # (batch, all keys so far, kv_heads * width)
        if self.num_kv_heads != self.num_heads:
            k, v = self._shared(k), self._shared(v)  # (batch, all keys so far, heads * width)
        return q, k, v, mask, bias

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Return the inputs (batch, length, width) in the dtype of the weights."""
        name = type(self).__name__
        tensors = q, k, v = self._tensors(query, key, value, self.output.weight.dtype)
        shapes = q.shape, k.shape, v.shape
        widths = self.d_model, self.context_dim, self.context_dim
        for part, shape, width in zip(("query", "key", "value"), shapes, widths):
            if len(shape) != 3 or shape[2] != width:
                raise ShapeError(f"{name} needs {part} of shape (batch, length, {width}), got {shape}")
        check_counts(name, *shapes)
        queries, keys = shapes[0][1], shapes[1][1]
        if self.rotary is not None and queries != keys:
            raise ShapeError(
                f"rotary positions are for self-attention, and there are {queries} queries and {keys} keys"
            )
        return tensors

    def _shared(self, x: Tensor) -> Tensor:
        """Repeat each head for the query heads of its group: (batch, key, kv_heads * width) -> (batch, key, heads * width)."""
        heads = x.reshape(*x.shape[:2], self.num_kv_heads, x.shape[2] // self.num_kv_heads)
        repeated: Any = np.repeat(heads, self.num_heads // self.num_kv_heads, axis=2)
        return repeated.reshape(*x.shape[:2], self.num_heads * heads.shape[3])

    def _joined(self, context: Tensor, q: Tensor) -> Tensor:
        return self.output(context)

    def _shown(self, weights: Tensor, q: Tensor) -> Tensor:
        return weights

    # PackedMultiHeadAttention overrides the next two methods

    def _make_inputs(self, widths: tuple[int, int, int], rng: np.random.Generator, bias: bool, dtype: DType) -> None:
        """Make the maps to queries, keys and values; ``widths`` are the widths of their results."""
        self.query = Affine(self.d_model, widths[0], rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(self.context_dim, widths[1], rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(self.context_dim, widths[2], rng=rng, bias=bias, dtype=dtype)

    def _mapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(query), self.key(key), self.value(value)

    def extra_repr(self) -> str:
        shared = f", num_kv_heads={self.num_kv_heads}" if self.num_kv_heads != self.num_heads else ""
        context = f", context_dim={self.context_dim}" if self.context_dim != self.d_model else ""
        out_dim = self.output.weight.shape[1]
        out = f", out_dim={out_dim}" if out_dim != self.d_model else ""
        return f"{self.d_model}, num_heads={self.num_heads}{shared}{context}{out}"


class PackedMultiHeadAttention(MultiHeadAttention):
    """Multi-head self-attention that computes queries, keys and values with one product, ``q, k, v = split(x W + b)``.

    ``input.weight`` is ``[W_q, W_k, W_v]``, by default (d_model, 3 * d_model). PyTorch's ``in_proj_weight`` is its transpose.
    Arguments, call and errors are those of :class:`MultiHeadAttention`, whose parameters can be copied to this layer with
    ``from_torch_state(packed, to_torch_state(attention))``, and in the reverse direction.

    Raises:
        ArgumentError: key or value is passed and is not the query, or context_dim is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> x, rng = np.ones((1, 3, 8)), np.random.default_rng(0)
        >>> attention = nn.MultiHeadAttention(8, 2, rng=rng)
        >>> packed = nn.PackedMultiHeadAttention(8, 2, rng=rng)
        >>> nn.from_torch_state(packed, nn.to_torch_state(attention))
        >>> packed.input.weight.shape, np.allclose(packed(x).numpy(), attention(x).numpy(), atol=1e-5)
        ((8, 24), True)
    """

    def _make_inputs(self, widths: tuple[int, int, int], rng: np.random.Generator, bias: bool, dtype: DType) -> None:
        if self.context_dim != self.d_model:
            raise ArgumentError(
                f"PackedMultiHeadAttention is self-attention, and context_dim={self.context_dim} is not "
                f"d_model={self.d_model}: use MultiHeadAttention"
            )
        self.widths = widths
        self.input = Affine(self.d_model, sum(widths), rng=rng, bias=bias, dtype=dtype)

    def _mapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if key is not query or value is not query:
            raise ArgumentError(
                "PackedMultiHeadAttention is self-attention: pass only the query, or use MultiHeadAttention"
            )
        q, k, _ = self.widths
        parts: Any = np.split(self.input(query), (q, q + k), axis=-1)
        return parts[0], parts[1], parts[2]


def _heads(
    num_heads: int, key_dim: int | None, value_dim: int | None, num_kv_heads: int | None, out_name: str, out_dim: int
) -> tuple[int, int, int]:
    """Return key_dim, value_dim and num_kv_heads with their defaults; ``out_name`` is the argument that gave ``out_dim``."""
    if key_dim is None and out_dim % num_heads:
        raise ArgumentError(
            f"num_heads={num_heads} does not divide {out_name}={out_dim}: set the width of a head, such as "
            f"key_dim={max(out_dim // num_heads, 1)}"
        )
    key_dim = out_dim // num_heads if key_dim is None else key_dim
    value_dim = key_dim if value_dim is None else value_dim
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    check_positive(key_dim=key_dim, value_dim=value_dim, num_kv_heads=num_kv_heads)
    if num_heads % num_kv_heads:
        raise ArgumentError(f"num_kv_heads={num_kv_heads} does not divide num_heads={num_heads}: pass a divisor of it")
    return key_dim, value_dim, num_kv_heads
