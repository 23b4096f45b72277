"""Multi-head attention: each token looks at the others in several ways at once."""

from typing import Any, Unpack

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, scaled_dot_product_attention
from minigrad.internal import attention_weights, split_heads

from ._checks import as_input, check_counts, check_positive
from .affine import Affine
from .cache import KeyValueCache
from .masks import Masks, mask_and_bias
from .module import Module
from .rotary import RotaryPositions


class MultiHeadAttention(Module):
    """``concatenate(head_1, ..., head_H) W_o + b_o`` with ``head_i = softmax(q_i k_i^T / sqrt(key_dim)) v_i``.

    The queries, keys and values are affine images of the inputs: ``q = query W_q + b_q`` and so on, of which each of the
    H heads has its stretch of columns. Vaswani et al. 2017, arXiv:1706.03762, section 3.2.

    Args:
        d_model: the width of the query inputs.
        num_heads: H, a divisor of out_dim unless key_dim or ``strict=False`` is given.
        rng: draws the four weights, ``query.weight``, ``key.weight``, ``value.weight`` and ``output.weight``.
        key_dim: the width of each head's queries and keys; by default out_dim / H. With out_dim every head has the full
            width, and ``W_o`` maps H * out_dim to out_dim.
        value_dim: the width of each head's values; by default key_dim.
        num_kv_heads: how many heads the keys and values have, each shared by a group of H / num_kv_heads heads of queries;
            by default H. Ainslie et al. 2023, arXiv:2305.13245; with 1, multi-query attention.
        context_dim: the width of the key and value inputs, for cross-attention; by default d_model.
        out_dim: the width of the result; by default d_model.
        rotary: whether the queries and keys are turned by their positions, :class:`RotaryPositions` (self-attention only).
        strict: if false, H need not divide out_dim: each head has the width out_dim // H, rounded down.
        bias: whether the four maps have one.
        scale: what the scores are multiplied by; by default 1 / sqrt(key_dim), and 1.0 is attention without a scale.

    Calling it:
        query: (batch, query, d_model).
        key, value: (batch, key, context_dim); by default the same as query, and as key: self-attention.
        key_mask, mask, bias, causal: :class:`nn.masks.Masks`, of scores (batch, heads, query, key). ALiBi, for one, is two
            lines (Press et al. 2021, arXiv:2108.12409, section 3; for a number of heads that is a power of 2)::

                slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
                y = attention(x, causal=True, bias=slopes[:, None, None] * np.arange(length))

        cache: under ``no_grad``, the keys and values of the earlier calls, to which this one adds its own; masks then
            speak of all of them, and so does bias.

        The result is (batch, query, out_dim). A query with no key to attend to gets zeros from every head (so the result
        is ``output.bias``), not NaN.

    Raises:
        ArgumentError: the numbers of heads and columns do not fit together.
        ShapeError: inputs or masks do not fit together.
        DTypeError, OutOfRangeError: as in :class:`GlobalAttention`.
        UnsupportedError: there is no option of this name.
        GraphError: a cache is given while gradients are recorded.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> attention = nn.MultiHeadAttention(8, 2, rng=np.random.default_rng(0))
        >>> x = np.ones((1, 3, 8))
        >>> weights = attention.attention_weights(x, key_mask=[[True, True, False]])
        >>> attention(x).shape, weights.shape
        ((1, 3, 8), (1, 2, 3, 3))
        >>> weights.numpy()[0, 0, 0].round(2)  # padding gets nothing
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
        rotary: bool = False,
        strict: bool = True,
        bias: bool = True,
        scale: float | None = None,
        dtype: Any = np.float32,
    ) -> None:
        out_name, out_dim = ("d_model", d_model) if out_dim is None else ("out_dim", out_dim)
        check_positive(d_model=d_model, num_heads=num_heads, out_dim=out_dim)
        key_dim = _head_dim(out_name, out_dim, num_heads, strict) if key_dim is None else key_dim
        value_dim = key_dim if value_dim is None else value_dim
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        context_dim = d_model if context_dim is None else context_dim
        check_positive(key_dim=key_dim, value_dim=value_dim, num_kv_heads=num_kv_heads, context_dim=context_dim)
        if num_heads % num_kv_heads:
            raise ArgumentError(
                f"num_kv_heads={num_kv_heads} does not divide num_heads={num_heads}: each head of keys and values serves "
                "as many heads of queries"
            )
        if rotary and context_dim != d_model:
            raise ArgumentError(
                f"rotary positions are for self-attention, and context_dim={context_dim} is not d_model={d_model}"
            )
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.d_model, self.context_dim = d_model, context_dim
        self.scale = None if scale is None else float(scale)
        self._make_inputs((num_heads * key_dim, num_kv_heads * key_dim, num_kv_heads * value_dim), rng, bias, dtype)
        self.output = Affine(num_heads * value_dim, out_dim, rng=rng, bias=bias, dtype=dtype)
        self.rotary = RotaryPositions(key_dim) if rotary else None

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        *,
        cache: KeyValueCache | None = None,
        **masks: Unpack[Masks],
    ) -> Tensor:
        q, k, v, mask, bias = self._operands(query, key, value, cache, masks)
        context = scaled_dot_product_attention(q, k, v, mask, bias, scale=self.scale, num_heads=self.num_heads)
        return self._joined(context)

    def with_weights(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        *,
        cache: KeyValueCache | None = None,
        **masks: Unpack[Masks],
    ) -> tuple[Tensor, Tensor]:
        """What the call gives and :meth:`attention_weights`, from one pass; the weights are kept, as the call need not."""
        q, k, v, mask, bias = self._operands(query, key, value, cache, masks)
        weights = self._weights(q, k, mask, bias)
        heads: Any = np.swapaxes(weights @ split_heads(v, self.num_heads), 1, 2)  # (batch, query, heads, value_dim)
        return self._joined(heads.reshape(*heads.shape[:2], -1)), weights

    def attention_weights(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        *,
        cache: KeyValueCache | None = None,
        **masks: Unpack[Masks],
    ) -> Tensor:
        """What each query attends to, to look at: (batch, heads, query, key), rows that sum to 1 (or 0 if all is masked).

        A cache is only read: look before the call that adds the same tokens to it.
        """
        q, k, _, mask, bias = self._operands(query, key, value, cache, masks, grow=False)
        return self._weights(q, k, mask, bias)

    def _operands(
        self, query: Any, key: Any, value: Any, cache: KeyValueCache | None, masks: Masks, grow: bool = True
    ) -> tuple[Tensor, Tensor, Tensor, Any, Any]:
        """Queries, and all keys and values so far, each (batch, length, heads * width); mask and bias of their scores."""
        query, key, value = self._inputs(query, key, value)  # (batch, query or key, d_model or context_dim)
        past = 0 if cache is None else cache.length
        (batch, queries, _), keys = query.shape, key.shape[1]
        mask, bias = self._masks((batch, self.num_heads, queries, past + keys), query, masks)
        if self.rotary is not None and queries != keys:
            raise ShapeError(
                f"rotary positions are for self-attention, and there are {queries} queries and {keys} keys"
            )

        q, k, v = self._mapped(query, key, value)  # (batch, query or key, heads or kv_heads * width)
        if self.rotary is not None:
            q, k = self.rotary(q, start=past), self.rotary(k, start=past)
        if cache is not None:
            k, v = cache.append(k, v) if grow else cache.joined(k, v)  # (batch, all keys so far, kv_heads * width)
        if self.num_kv_heads != self.num_heads:
            k, v = self._shared(k), self._shared(v)  # (batch, all keys so far, heads * width)
        return q, k, v, mask, bias

    def _weights(self, q: Tensor, k: Tensor, mask: Any, bias: Any) -> Tensor:
        """(batch, heads, query, key)"""
        q, k = split_heads(q, self.num_heads), split_heads(k, self.num_heads)  # (batch, heads, length, key_dim)
        return attention_weights(q, k, mask, bias, self.scale)

    def _masks(self, scores: tuple[int, ...], query: Tensor, masks: Masks) -> tuple[Any, Any]:
        """Mask and bias of scores of this shape, (batch, heads, query, key)."""
        return mask_and_bias(scores, query, masks)

    def _mapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(query), self.key(key), self.value(value)

    def _shared(self, x: Tensor) -> Tensor:
        """(batch, key, kv_heads * width) -> (batch, key, heads * width): each head once for every query head of its group."""
        heads = x.reshape(*x.shape[:2], self.num_kv_heads, x.shape[2] // self.num_kv_heads)
        repeated: Any = np.repeat(heads, self.num_heads // self.num_kv_heads, axis=2)
        return repeated.reshape(*x.shape[:2], self.num_heads * heads.shape[3])

    def _make_inputs(self, widths: tuple[int, int, int], rng: np.random.Generator, bias: bool, dtype: Any) -> None:
        """The maps to the queries, keys and values, which together have these widths."""
        self.query = Affine(self.d_model, widths[0], rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(self.context_dim, widths[1], rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(self.context_dim, widths[2], rng=rng, bias=bias, dtype=dtype)

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        """By default key is query, and value is key; in the dtype of the weights, and of shapes that fit together."""
        name, dtype = type(self).__name__, self._dtype()
        key = query if key is None else key
        value = key if value is None else value
        q = as_input(query, dtype, name)
        k = q if key is query else as_input(key, dtype, name)
        v = k if value is key else as_input(value, dtype, name)
        shapes = q.shape, k.shape, v.shape
        widths = self.d_model, self.context_dim, self.context_dim
        for part, shape, width in zip(("query", "key", "value"), shapes, widths):
            if len(shape) != 3 or shape[2] != width:
                raise ShapeError(f"{name} needs {part} of shape (batch, length, {width}), got {shape}")
        check_counts(name, *shapes)
        return q, k, v

    def _joined(self, context: Tensor) -> Tensor:
        """(batch, query, heads * value_dim) -> (batch, query, out_dim)"""
        return self.output(context)

    def _dtype(self) -> np.dtype[Any]:
        """In which it computes."""
        return self.output.weight.dtype

    def extra_repr(self) -> str:
        shared = f", num_kv_heads={self.num_kv_heads}" if self.num_kv_heads != self.num_heads else ""
        context = f", context_dim={self.context_dim}" if self.context_dim != self.d_model else ""
        out_dim = self.output.weight.shape[1]
        out = f", out_dim={out_dim}" if out_dim != self.d_model else ""
        return f"{self.d_model}, num_heads={self.num_heads}{shared}{context}{out}"


def _head_dim(name: str, width: int, num_heads: int, strict: bool) -> int:
    """How much of a width, called ``name``, each head gets."""
    if strict and width % num_heads:
        raise ArgumentError(
            f"num_heads={num_heads} does not divide {name}={width}: the heads share it evenly, unless strict=False "
            f"rounds their width down or key_dim= gives it"
        )
    if num_heads > width:
        raise ArgumentError(f"num_heads={num_heads} leaves no column of {name}={width} to a head: give key_dim=")
    return width // num_heads
