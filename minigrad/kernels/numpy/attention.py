"""Scaled dot-product attention, a few sequences at a time: their scores are still in the cache when the next pass comes.

Of long ones it is a strip of queries at a time, against the keys that one of them sees. Where the weights are many, the
backward computes them again: memory grows with the length, not with its square (Dao et al. 2022, arXiv:2205.14135).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engine.sums import ones, unbroadcast
from ...engine.types import Array
from ...rules.attention import broadcasts, is_mask, scale_of, scaled_dot_product_attention
from ...rules.neural import LOWEST
from ..threads import for_each, in_blocks
from .rows import Needs, as_rows, row_sums
from .softmax import exp_in_place, softmax_in_place

Shape = tuple[int, ...]
LONG = 1 << 18  # scores of a head, 512 queries and as many keys: from so many on, strips
# So many of them at a time, but of no fewer queries: of shorter strips threads wait for one another (kernels/threads.py).
# Of no more where each query has a mask of its own: in longer strips a causal one leaves less to skip.
_STRIP, _FEWEST, _MOST = 1 << 18, 64, 256
_KEPT = 1 << 24  # weights in all, 64 MiB in float32: more are computed again


def attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    together = masks_of(mask, bias, scores_shape(query, key, num_heads))
    if together is None:
        return NotImplemented
    q, k, v = (sequences(t, num_heads) for t in (query, key, value))
    factor = scale_of(q.shape[-1], scale)
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    context = sequences(ans, num_heads)
    if q.shape[-2] * k.shape[-2] >= LONG:
        return ans, _long_forward(q, k, v, context, factor, together)
    weights = np.empty((*q.shape[:-1], k.shape[-2]), query.dtype)
    divided, all_of = shared_or_divided(*together)

    def some(w: Array, q: Array, k: Array, v: Array, context: Array, *parts: Array) -> None:
        np.matmul(_weights(w, q, k, factor, *all_of(parts)), v, out=context)

    in_blocks(some, weights, q, k, v, context, *divided, passes=passes_of(query, weights))
    return ans, weights


def attention_backward(
    g: Array,
    needs: Needs,
    query: Array,
    key: Array,
    value: Array,
    bias: Any,
    ans: Array,
    saved: Array,
    scale: float | None,
    num_heads: int,
) -> tuple[Any, ...]:
    q, k, v, do, o = (sequences(t, num_heads) for t in (query, key, value, g, ans))
    results = [np.empty(t.shape, t.dtype) for t in (query, key, value)]
    dq, dk, dv = (sequences(t, num_heads) for t in results)
    factor = scale_of(q.shape[-1], scale)
    if isinstance(saved, tuple) and not needs[4]:
        _long_backward(saved, factor, q, k, v, do, o, dq, dk, dv)
        return *results, None, None
    if isinstance(saved, tuple):  # the gradient of a bias may be as large as the weights
        saved = _weights(None, q, k, factor, *saved[1:])
    inner, outer = (1.0, factor) if needs[4] else (factor, 1.0)  # the bias takes the gradient of the scaled scores
    d_bias = BiasGradient(bias, query, key, num_heads, saved.dtype) if needs[4] else None

    def some(w: Any, q: Any, k: Any, v: Any, do: Any, o: Any, dq: Any, dk: Any, dv: Any, *stretch: Any) -> Any:
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do * inner, v.swapaxes(-1, -2))
        terms = do.swapaxes(1, 2) * o.swapaxes(1, 2)  # sum_j w_j dw_j = do . o: shorter than over keys
        along = row_sums(as_rows(terms), ones(terms.shape[-1], terms.dtype)).reshape(terms.shape[:-1])
        along *= inner
        ds -= along.swapaxes(1, 2)[..., None]
        ds *= w
        if outer != 1:
            q, k = q * outer, k * outer
        np.matmul(ds, k, out=dq)
        np.matmul(ds.swapaxes(-1, -2), q, out=dk)
        return d_bias and d_bias.add(ds, *stretch)

    divided = d_bias.divided if d_bias else ()
    sums = in_blocks(some, saved, q, k, v, do, o, dq, dk, dv, *divided, passes=passes_of(query, saved))
    return *results, None, d_bias and d_bias.result(sums)


def _long_forward(q: Array, k: Array, v: Array, context: Array, factor: float, masks: Sequence[Any]) -> tuple[Any, ...]:
    """Writes the context; gives for each head the strips that are kept, then mask and bias."""
    keys = k.shape[-2]
    masks = [None if a is None else np.broadcast_to(a, (*q.shape[:2], a.shape[2], keys)) for a in masks]
    keep = math.prod(q.shape[:-1]) * keys <= _KEPT

    def one(_: int, q: Array, k: Array, v: Array, context: Array, *masks: Any) -> list[Any]:
        kept = []
        for strip, seen, weights, inverse in _strips(q, k, factor, *masks):
            np.multiply(np.matmul(weights, v[seen]), inverse, out=context[strip])
            if keep:
                kept.append((strip, seen, weights, inverse))
        return kept

    return _for_each_head(one, q, k, v, context, *masks), *masks


def _long_backward(saved: Any, factor: float, *arrays: Array) -> None:
    kept, *masks = saved

    def one(n: int, q: Any, k: Any, v: Any, do: Any, o: Any, dq: Any, dk: Any, dv: Any, *masks: Any) -> None:
        of_keys, of_values = np.zeros(k.shape, k.dtype), np.zeros(v.shape, v.dtype)
        v = np.concatenate([v, np.ones((len(v), 1), v.dtype)], axis=1)  # with which the product takes `along` away
        for strip, seen, weights, inverse in kept[n] or _strips(q, k, factor, *masks):
            g = do[strip] * inverse
            of_values[seen] += np.matmul(weights.T, g)
            along = np.vecdot(g, o[strip])[:, None]  # sum_j w_j dw_j = do . o
            ds = np.matmul(factor * np.concatenate([g, -along], axis=1), v[seen].T)
            ds *= weights
            np.matmul(ds, k[seen], out=dq[strip])
            of_keys[seen] += np.matmul(ds.T, q[strip])
        dk[...], dv[...] = of_keys, of_values

    _for_each_head(one, *arrays, *masks)


def _for_each_head(function: Callable[..., Any], q: Array, *arrays: Any) -> list[Any]:
    """``function(n, *parts)`` for the n-th head: its part of each array (None stays None), all (sequences, heads, ...)."""

    def one(n: int) -> Any:
        place = divmod(n, q.shape[1])
        return function(n, q[place], *[array if array is None else array[place] for array in arrays])

    count = math.prod(q.shape[:2])
    return for_each(one, range(count), count * LONG * 8)


def _strips(q: Array, k: Array, factor: float, allowed: Any, added: Any) -> Iterator[tuple[slice, slice, Array, Array]]:
    """Of one head, for each strip of queries: the keys that one of them sees, and their softmax as ``exp_in_place`` has it."""
    rows, seen, mask = max(_STRIP // len(k), _FEWEST), slice(0, len(k)), None
    if allowed is not None and len(allowed) > 1:
        rows = min(rows, _MOST)
    for strip in (slice(start, start + rows) for start in range(0, len(q), rows)):
        if allowed is not None:
            mask = allowed if len(allowed) == 1 else allowed[strip]
            places = np.flatnonzero(mask.any(axis=0))
            seen = slice(places[0], places[-1] + 1) if places.size else slice(0, 1)
            mask = None if mask[:, seen].all() else mask[:, seen]
        scores = np.matmul(q[strip] * factor, k[seen].T)
        if added is not None:
            scores += (added if len(added) == 1 else added[strip])[:, seen]
        yield strip, seen, scores, exp_in_place(scores, mask)


def _weights(out: Any, q: Array, k: Array, factor: float, allowed: Any, added: Any) -> Array:
    weights = np.matmul(q * factor, k.swapaxes(-1, -2), out=out)
    if added is not None:
        weights += added
    softmax_in_place(weights, allowed)
    return weights


class BiasGradient:
    """The gradient of a bias from that of the scores, a block of sequences at a time: what is broadcast is added up at once.

    ``divided`` holds what the blocks write to, each its own stretch; it is empty if all sequences share a bias.
    """

    def __init__(self, bias: Any, query: Any, key: Any, num_heads: int, dtype: Any) -> None:
        shape = scores_shape(query, key, num_heads)
        layout, whole = _layout(bias.shape, shape)
        self.shape = bias.shape if math.prod(whole) == bias.size else whole  # the sweep sums over what is too many
        self.swapped = math.prod(shape[:-3]) == 1
        self.layout = (layout[1], layout[0], *layout[2:]) if self.swapped else layout
        self.divided = [np.empty(self.layout, dtype)] if self.layout[0] != 1 else []

    def add(self, scores: Array, stretch: Any = None) -> Any:
        """What the scores of one block give: written to ``stretch``, or returned where there is none."""
        part = unbroadcast(scores, (1 if stretch is None else len(scores), *self.layout[1:]))
        if stretch is None:
            return part
        stretch[...] = part
        return None

    def result(self, sums: Sequence[Any]) -> Any:
        """From what ``add`` gave for each block, in their order."""
        d_bias = self.divided[0] if self.divided else sum(sums[1:], start=sums[0])
        return (d_bias.swapaxes(0, 1) if self.swapped else d_bias).reshape(self.shape)


def passes_of(query: Array, weights: Array) -> float:
    """For ``in_blocks``: at short sequences its products, which are of the queries' size, take longer than all the rest."""
    return 8 + 32 * query.size / max(weights.size, 1)


def sequences(x: Array, num_heads: int) -> Array:
    """(..., length, heads * d) -> (sequences, heads, length, d), or (heads, 1, length, d) of one; a view where possible."""
    shape = x.shape
    split = x.reshape(math.prod(shape[:-2]), shape[-2], num_heads, shape[-1] // num_heads)
    return _divisible(split.swapaxes(1, 2))


def _divisible(x: Array) -> Array:
    """(sequences, heads, ...) -> (heads, 1, ...) of one sequence: the first axis is the one that is divided."""
    return x.swapaxes(0, 1) if len(x) == 1 else x


def scores_shape(query: Array, key: Array, num_heads: int) -> Shape:
    """(..., heads, query, key), where both have the same batch."""
    return (*query.shape[:-2], num_heads, query.shape[-2], key.shape[-2])


def masks_of(mask: Any, bias: Any, shape: Shape) -> tuple[Any, Any] | None:
    """Mask and bias as they broadcast to what ``sequences`` makes of scores of this shape; what the bias excludes is masked.

    None for what the plain form refuses, or knows better.
    """
    if mask is not None and not (is_mask(mask, len(shape)) and broadcasts(mask.shape, shape)):
        return None
    if bias is not None and (bias.dtype.kind != "f" or not broadcasts(bias.shape, shape)):
        return None
    allowed = None if mask is None else _of_sequences(mask, shape)
    added = None if bias is None else _of_sequences(bias, shape)
    if added is not None and (excluded := added <= LOWEST).any():
        allowed = ~excluded if allowed is None else allowed & ~excluded
        added = np.where(excluded, 0, added)  # so low a score would make all of them wait for a search for the largest
    return allowed, added


def shared_or_divided(*arrays: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Sequence[Any]]]:
    """Those of the arrays (or Nones) that are divided as the sequences are, and what makes all of their parts.

    An array of length 1 is for all sequences.
    """
    places = [i for i, array in enumerate(arrays) if array is not None and len(array) > 1]

    def all_of(parts: Sequence[Any]) -> list[Any]:
        together = list(arrays)
        for i, part in zip(places, parts):
            together[i] = part
        return together

    return [arrays[i] for i in places], all_of


def _layout(own: Shape, shape: Shape) -> tuple[Shape, Shape]:
    """For what broadcasts to the scores: (sequences or 1, heads or 1, ...), and its shape before the batch is one axis."""
    own = (1,) * (len(shape) - len(own)) + own
    whole = own if math.prod(own[:-3]) == 1 else (*shape[:-3], *own[-3:])
    return (math.prod(whole[:-3]), *whole[-3:]), whole


def _of_sequences(array: Array, shape: Shape) -> Array:
    """What broadcasts to scores of this shape as what broadcasts to those of ``sequences``."""
    layout, whole = _layout(array.shape, shape)
    array = array.reshape(layout) if math.prod(layout) == array.size else np.broadcast_to(array, whole).reshape(layout)
    return array.swapaxes(0, 1) if math.prod(shape[:-3]) == 1 else array


scaled_dot_product_attention.kernel(np.ndarray, attention_forward, attention_backward)
