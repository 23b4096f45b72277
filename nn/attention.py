"""Attention: each token looks at the others and takes a weighted mean of what they offer."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, scaled_dot_product_attention
from minigrad.rules.neural import attention_weights, split_heads

from ._checks import as_input, beside, check_positive
from .affine import Affine
from .module import Module


class MultiHeadAttention(Module):
    """``concatenate(head_1, ..., head_H) W_o`` with ``head_i = softmax(q_i k_i^T / sqrt(d_model / H)) v_i``.

    The queries, keys and values are affine images of the inputs: ``q = query W_q + b_q`` and so on, of width d_model, of
    which each of the H heads has its stretch. Vaswani et al. 2017, arXiv:1706.03762, section 3.2.

    Args:
        d_model: the width of the inputs and of the result.
        num_heads: H, a divisor of d_model.
        rng: draws the four weights, ``query.weight``, ``key.weight``, ``value.weight`` and ``output.weight``.

    Calling it:
        query: (batch, query, d_model).
        key, value: (batch, key, d_model); by default the same as query, and as key: self-attention.
        key_mask: booleans (batch, key), True = attend: which keys are tokens and which are padding.
        mask: booleans (query, key), or four axes that broadcast to (batch, heads, query, key), True = attend. For example
            ``np.tri(length, dtype=bool)`` lets each token see itself and what is before it.

        The result is (batch, query, d_model). A query with no key to attend to gets zeros from every head (so the result
        is ``output.bias``), not NaN.

    Raises:
        ArgumentError: num_heads does not divide d_model.
        ShapeError: inputs or masks do not fit together.
        DTypeError: a mask is not boolean.
    """

    def __init__(
        self, d_model: int, num_heads: int, *, rng: np.random.Generator, bias: bool = True, dtype: Any = np.float32
    ) -> None:
        check_positive(d_model=d_model, num_heads=num_heads)
        if d_model % num_heads:
            raise ArgumentError(f"num_heads={num_heads} does not divide d_model={d_model}: the heads share it evenly")
        self.num_heads = num_heads
        self.query = Affine(d_model, d_model, rng=rng, bias=bias, dtype=dtype)
        self.key = Affine(d_model, d_model, rng=rng, bias=bias, dtype=dtype)
        self.value = Affine(d_model, d_model, rng=rng, bias=bias, dtype=dtype)
        self.output = Affine(d_model, d_model, rng=rng, bias=bias, dtype=dtype)

    def forward(
        self, query: Any, key: Any = None, value: Any = None, *, key_mask: Any = None, mask: Any = None
    ) -> Tensor:
        query, key, value = self._inputs(query, key, value)
        allowed = self._allowed(query, key, key_mask, mask)
        q, k, v = self.query(query), self.key(key), self.value(value)  # (batch, query or key, d_model)
        context = scaled_dot_product_attention(q, k, v, allowed, num_heads=self.num_heads)  # (batch, query, d_model)
        return self.output(context)

    def attention_weights(self, query: Any, key: Any = None, *, key_mask: Any = None, mask: Any = None) -> Tensor:
        """What each query attends to, to look at: (batch, heads, query, key), rows that sum to 1 (or 0 if all is masked)."""
        query, key, _ = self._inputs(query, key, None)
        allowed = self._allowed(query, key, key_mask, mask)
        q, k = (split_heads(t, self.num_heads) for t in (self.query(query), self.key(key)))  # (batch, heads, length, d)
        return attention_weights(q, k, allowed)

    def _inputs(self, query: Any, key: Any, value: Any) -> tuple[Tensor, Tensor, Tensor]:
        d_model, dtype = self.query.weight.shape[0], self.query.weight.dtype
        query = as_input(query, dtype, "MultiHeadAttention")
        key = query if key is None else as_input(key, dtype, "MultiHeadAttention")
        value = key if value is None else as_input(value, dtype, "MultiHeadAttention")
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.ndim != 3 or x.shape[-1] != d_model:
                raise ShapeError(f"MultiHeadAttention needs {name} of shape (batch, length, {d_model}), got {x.shape}")
        if key.shape[0] != query.shape[0] or value.shape != key.shape:
            raise ShapeError(
                f"MultiHeadAttention needs one batch size, and as many values as keys: got query {query.shape}, "
                f"key {key.shape}, value {value.shape}"
            )
        return query, key, value

    def _allowed(self, query: Tensor, key: Tensor, key_mask: Any, mask: Any) -> Any:
        """Both masks as one that broadcasts to (batch, heads, query, key), or None."""
        full = (query.shape[0], self.num_heads, query.shape[1], key.shape[1])
        if key_mask is not None:
            key_mask = _boolean(key_mask, "key_mask", query)
            if key_mask.shape != key.shape[:2]:
                raise ShapeError(f"key_mask must have the shape (batch, key) = {key.shape[:2]}, got {key_mask.shape}")
            key_mask = key_mask[:, None, None, :]
        if mask is None:
            return key_mask
        mask = _boolean(mask, "mask", query)
        if mask.ndim not in (2, 4) or any(n not in (1, m) for n, m in zip(mask.shape[::-1], full[::-1])):
            raise ShapeError(
                f"mask must have the shape (query, key) = {full[2:]}, or four axes that broadcast to (batch, heads, query, "
                f"key) = {full}, got {mask.shape}: put axes of length 1 with mask[:, None] where it has none"
            )
        return mask if key_mask is None else mask & key_mask

    def extra_repr(self) -> str:
        return f"{self.query.weight.shape[0]}, num_heads={self.num_heads}"


def _boolean(mask: Any, name: str, beside_this: Tensor) -> Any:
    """``mask`` as a boolean array where the inputs are."""
    mask = beside(mask, beside_this.data)
    if mask.dtype != bool:
        raise DTypeError(
            f"{name} must be boolean, True = attend, got dtype {mask.dtype}: pass {name} != 0 for a 0/1 mask"
        )
    return mask
