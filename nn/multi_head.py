"""Multi-head attention: each token looks at the others in several ways at once."""

from typing import Any, Unpack

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, scaled_dot_product_attention
from minigrad.internal import attention_weights, split_heads

from ._checks import check_positive
from .affine import Affine
from .attention_head import attention_inputs
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
        q, k, v, allowed = self._operands(query, key, value, cache, masks)
        context = scaled_dot_product_attention(q, k, v, *allowed, scale=self.scale, num_heads=self.num_heads)
        return self.output(context)  # (batch, query, heads * value_dim) -> (batch, query, out_dim)

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
        *operands, allowed = self._operands(query, key, value, cache, masks)
        q, k, v = (split_heads(t, self.num_heads) for t in operands)  # (batch, heads, length, width)
        weights: Tensor = attention_weights(q, k, *allowed, self.scale)
        context: Any = np.swapaxes(weights @ v, 1, 2)  # (batch, query, heads, value_dim)
        return self.output(context.reshape(*context.shape[:2], -1)), weights

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
        query, key, value = self._inputs(query, key, value)
        allowed = self._masks(query, key, cache, masks)
        q, k, _ = self._projected(query, key, value, cache)
        if cache is not None and cache.length:
            joined: Any = np.concatenate([cache.keys, k], axis=1)
            k = joined
        q, k = (split_heads(t, self.num_heads) for t in (q, self._shared(k)))  # (batch, heads, length, key_dim)
        return attention_weights(q, k, *allowed, self.scale)

    def _make_inputs(self, widths: tuple[int, int, int], rng: np.random.Generator, bias: bool, dtype: Any) -> None:
        """The maps to the queries, keys and values, which together have these widths."""
        self.query = Affine(self.d_model, widths[0], rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(self.context_dim, widths[1], rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(self.context_dim, widths[2], rng=rng, bias=bias, dtype=dtype)

    def _operands(
        self, query: Any, key: Any, value: Any, cache: KeyValueCache | None, masks: Masks
    ) -> tuple[Tensor, Tensor, Tensor, tuple[Any, Any]]:
        """Queries, and all keys and values so far, each (batch, length, heads * width); mask and bias of their scores."""
        query, key, value = self._inputs(query, key, value)
        allowed = self._masks(query, key, cache, masks)
        q, k, v = self._projected(query, key, value, cache)
        if cache is not None:
            k, v = cache.append(k, v)  # (batch, all keys so far, kv_heads * width)
        return q, self._shared(k), self._shared(v), allowed

    def _mapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(query), self.key(key), self.value(value)

    def _projected(
        self, query: Tensor, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The queries (batch, query, heads * key_dim) and the keys and values (batch, key, kv_heads * width) of the inputs."""
        q, k, v = self._mapped(query, key, value)
        if self.rotary is not None:
            if q.shape[1] != k.shape[1]:
                raise ShapeError(
                    f"rotary positions are for self-attention, and there are {q.shape[1]} queries and {k.shape[1]} keys"
                )
            past = 0 if cache is None else cache.length
            q, k = self.rotary(q, start=past), self.rotary(k, start=past)
        return q, k, v

    def _shared(self, x: Tensor) -> Tensor:
        """(batch, key, kv_heads * width) -> (batch, key, heads * width): each head once for every query head of its group."""
        if self.num_kv_heads == self.num_heads:
            return x
        heads = x.reshape(*x.shape[:2], self.num_kv_heads, x.shape[2] // self.num_kv_heads)
        repeated: Any = np.repeat(heads, self.num_heads // self.num_kv_heads, axis=2)
        return repeated.reshape(*x.shape[:2], self.num_heads * heads.shape[3])

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        dtype = self.output.weight.dtype
        return attention_inputs(type(self).__name__, self.d_model, self.context_dim, dtype, query, key, value)

    def _masks(self, query: Tensor, key: Tensor, cache: KeyValueCache | None, masks: Masks) -> tuple[Any, Any]:
        """Mask and bias of scores (batch, heads, query, all keys so far)."""
        past = 0 if cache is None else cache.length
        return mask_and_bias((query.shape[0], self.num_heads, query.shape[1], past + key.shape[1]), query, masks)

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
