"""Scaled dot-product attention: ``softmax(q k^T * scale) v``, as one primitive.

As in neural.py: the plain form first, then a kernel for NumPy arrays, which the tests hold to it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._half import in_float32
from .._primitive import primitive
from .._threads import in_blocks
from .neural import LOWEST, as_rows, ones, row_sums, softmax, softmax_in_place

Needs = Sequence[bool]


def _attention(
    query: Any, key: Any, value: Any, mask: Any = None, /, scale: float | None = None, num_heads: int = 1
) -> Any:
    """``softmax(q k^T * scale) v`` (Vaswani et al. 2017, arXiv:1706.03762, eq. 1), with ``num_heads`` heads side by side.

    query: (..., query, heads * d), key: (..., key, heads * d), value: (..., key, heads * e) -> (..., query, heads * e).
    mask: booleans, True = attend, that broadcast to (..., heads, query, key); a query with no key to attend to gives
    zeros. scale: 1 / sqrt(d) by default.
    """
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))  # (..., heads, length, d)
    weights = attention_weights(q, k, mask, scale)  # (..., heads, query, key)
    context = np.matmul(weights, v).swapaxes(-3, -2)  # (..., query, heads, e)
    return context.reshape(*context.shape[:-2], context.shape[-2] * context.shape[-1])


def split_heads(x: Any, num_heads: int) -> Any:
    """(..., length, heads * d) -> (..., heads, length, d)"""
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-3, -2)


def scale_of(width: int, scale: float | None) -> float:
    """What the scores of heads of this width are multiplied by: a float of Python's, as NumPy's would make float32 float64."""
    return 1 / math.sqrt(width) if scale is None else float(scale)


@in_float32
def attention_weights(q: Any, k: Any, mask: Any = None, scale: float | None = None) -> Any:
    """``softmax(q k^T * scale)`` over the keys the mask allows; (..., query, d), (..., key, d) -> (..., query, key)."""
    scores = np.matmul(q, k.swapaxes(-1, -2)) * scale_of(q.shape[-1], scale)
    if mask is None:
        return softmax(scores)
    return np.where(mask, softmax(np.where(mask, scores, LOWEST)), 0.0)


# The kernel takes a few sequences at a time, so that their scores are still in the cache when the next pass comes.


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    allowed = None
    if mask is not None:
        allowed = _mask_of_sequences(mask.astype(bool, copy=False), query.shape[:-2], num_heads)
        if allowed is None or allowed.shape[-2] not in (1, query.shape[-2]):
            return NotImplemented
    q, k, v = (_sequences(t, num_heads) for t in (query, key, value))
    factor = scale_of(q.shape[-1], scale)
    weights = np.empty((*q.shape[:-1], k.shape[-2]), query.dtype)
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    context = _sequences(ans, num_heads)
    one_for_all = allowed is None or len(allowed) == 1

    def some(w: Any, q: Any, k: Any, v: Any, context: Any, allowed: Any = allowed) -> None:
        np.matmul(q, _transposed(k, factor), out=w)
        softmax_in_place(w, allowed)
        np.matmul(w, v, out=context)

    in_blocks(some, weights, q, k, v, context, *(() if one_for_all else (allowed,)), passes=passes_of(query, weights))
    return ans, weights


def _attention_backward(
    g: Any,
    needs: Needs,
    query: Any,
    key: Any,
    value: Any,
    ans: Any,
    saved: Any,
    scale: float | None,
    num_heads: int,
) -> tuple[Any, ...]:
    q, k, v, do, o = (_sequences(t, num_heads) for t in (query, key, value, g, ans))
    results = [np.empty(t.shape, t.dtype) for t in (query, key, value)]
    dq, dk, dv = (_sequences(t, num_heads) for t in results)
    factor = scale_of(q.shape[-1], scale)

    def some(w: Any, q: Any, k: Any, v: Any, do: Any, o: Any, dq: Any, dk: Any, dv: Any) -> None:
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do, _transposed(v, factor))
        terms = do.swapaxes(1, 2) * o.swapaxes(1, 2)  # sum_j w_j dw_j = do . o: shorter than over keys
        along = row_sums(as_rows(terms), ones(terms.shape[-1], terms.dtype)).reshape(terms.shape[:-1])
        along *= factor
        ds -= along.swapaxes(1, 2)[..., None]
        ds *= w
        np.matmul(ds, k, out=dq)
        np.matmul(ds.swapaxes(-1, -2), q, out=dk)

    in_blocks(some, saved, q, k, v, do, o, dq, dk, dv, passes=passes_of(query, saved))
    return *results, None


def passes_of(query: Any, weights: Any) -> float:
    """For ``in_blocks``: at short sequences its products, which are of the queries' size, take longer than all the rest."""
    return 8 + 32 * query.size / max(weights.size, 1)


def _sequences(x: Any, num_heads: int) -> Any:
    """(..., length, heads * d) -> (sequences, heads, length, d), or (heads, 1, length, d) of one; a view where possible."""
    shape = x.shape
    split = x.reshape(math.prod(shape[:-2]), shape[-2], num_heads, shape[-1] // num_heads)
    return _divisible(split.swapaxes(1, 2))


def _divisible(x: Any) -> Any:
    """(sequences, heads, ...) -> (heads, 1, ...) of one sequence: the first axis is the one that is divided."""
    return x.swapaxes(0, 1) if len(x) == 1 else x


def _transposed(x: Any, factor: float) -> Any:
    """``factor * x`` with the last two axes swapped, in order in memory: small products with it then take half as long."""
    return np.multiply(x.swapaxes(-1, -2), factor, order="C")


def _mask_of_sequences(mask: Any, batch: tuple[int, ...], num_heads: int) -> Any:
    """A mask that broadcasts to (*batch, heads, query, key) as one that broadcasts to what ``_sequences`` makes of queries.

    None if it would make the batch larger, or has other heads.
    """
    shape = (1,) * (len(batch) + 3 - mask.ndim) + mask.shape
    own, rest = shape[:-3], shape[-3:]
    if len(own) != len(batch) or any(n not in (1, m) for n, m in zip((*own, rest[0]), (*batch, num_heads))):
        return None
    if own != batch and math.prod(own) != 1:
        mask, own = np.broadcast_to(mask.reshape(shape), batch + rest), batch
    mask = mask.reshape(math.prod(own), *rest)
    return _divisible(mask) if math.prod(batch) == 1 else mask


scaled_dot_product_attention = primitive(_attention, name="attention").reference(_attention)
scaled_dot_product_attention.kernel(np.ndarray, _attention_forward, _attention_backward)
