"""The compiled kernel of scaled dot-product attention. BLAS computes the products, and one loop computes the softmax."""

import functools
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.attention import scale_of, scaled_dot_product_attention
from ..numpy.attention import (
    LONG,
    BiasGradient,
    attention_backward,
    attention_forward,
    masks_of,
    passes_of,
    reads_excluded,
    scores_shape,
    sequences,
    shared_or_divided,
)
from ..numpy.rows import Needs
from ..threads import in_blocks
from . import rows as by_rows
from .arrays import fits, plain


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not fits(query, key, value) or not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    if reads_excluded(query, key, value, mask, bias):
        return NotImplemented
    if bias is None and query.shape[-2] * key.shape[-2] >= LONG:  # strips save more time than compiled loops
        return attention_forward(query, key, value, mask, bias, scale, num_heads)
    together = masks_of(mask, bias, scores_shape(query, key, num_heads))
    if together is None:
        return NotImplemented
    q, k, v = (sequences(t, num_heads) for t in (query, key, value))
    weights = np.empty((*q.shape[:-1], k.shape[-2]), query.dtype)
    allowed, ends = _spans(together[0], weights)
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    context, softmax = sequences(ans, num_heads), by_rows.attention_weights[query.dtype]
    factor = scale_of(q.shape[-1], scale)
    divided, all_of = shared_or_divided(allowed, ends, together[1])

    def some(w: Array, q: Array, k: Array, v: Array, context: Array, *parts: Array) -> None:
        allowed, ends, added = all_of(parts)
        np.matmul(q, k.swapaxes(-1, -2), out=w)
        # The softmax loop can scale the scores itself if the factor is positive, which keeps the maximum, and without a bias.
        scaled = factor <= 0 or added is not None
        if scaled:
            w *= factor
        if added is not None:
            w += added
        softmax(w, allowed, ends, 1.0 if scaled else factor)
        np.matmul(w, v, out=context)

    in_blocks(some, weights, q, k, v, context, *divided, passes=passes_of(query, weights))
    return ans, (weights, ends)


@functools.lru_cache(maxsize=64)
def _no_mask(keys: int) -> tuple[Array, Array]:
    return np.empty((0, 0, 0, 0), bool), np.full((1, 1, 1, 2), keys)


def _spans(mask: Any, weights: Array) -> tuple[Array, Array]:
    """Return the mask with the last axis of ``weights`` (other axes may be 1), and the ``spans`` of its rows."""
    if mask is None:
        return _no_mask(weights.shape[-1])
    if mask.shape[-1] != weights.shape[-1]:
        mask = np.repeat(mask, weights.shape[-1], axis=-1)
    mask = plain(mask, np.bool)
    return mask, by_rows.spans[weights.dtype](mask)


def _attention_backward(
    g: Any,
    needs: Needs,
    query: Any,
    key: Any,
    value: Any,
    bias: Any,
    ans: Any,
    saved: Any,
    scale: float | None,
    num_heads: int,
) -> tuple[Any, ...]:
    if bias is None and query.shape[-2] * key.shape[-2] >= LONG:
        return attention_backward(g, needs, query, key, value, bias, ans, saved, scale, num_heads)
    weights, ends = saved
    q, k, v, do = (sequences(t, num_heads) for t in (query, key, value, g))
    results = [np.empty(t.shape, t.dtype) for t in (query, key, value)]
    dq, dk, dv = (sequences(t, num_heads) for t in results)
    factor = scale_of(q.shape[-1], scale)
    inner, outer = (1.0, factor) if needs[4] else (factor, 1.0)  # d_bias needs the gradient of the scaled scores
    softmax_backward = by_rows.attention_weights_backward[weights.dtype]
    d_bias = BiasGradient(bias, query, key, num_heads, weights.dtype) if needs[4] else None
    divided, all_of = shared_or_divided(ends, *(d_bias.divided if d_bias else ()))

    def some(w: Array, q: Array, k: Array, v: Array, do: Array, dq: Array, dk: Array, dv: Array, *parts: Array) -> Any:
        ends, *target = all_of(parts)
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do, v.swapaxes(-1, -2), dtype=w.dtype, order="C")
        softmax_backward(w, ds, ends, inner)
        if outer != 1:
            q, k = q * outer, k * outer
        np.matmul(ds, k, out=dq)
        np.matmul(ds.swapaxes(-1, -2), q, out=dk)
        return d_bias and d_bias.add(ds, *target)

    sums = in_blocks(some, weights, q, k, v, do, dq, dk, dv, *divided, passes=passes_of(query, weights))
    return *results, None, d_bias and d_bias.result(sums)


scaled_dot_product_attention.kernel("compiled", _attention_forward, _attention_backward)
