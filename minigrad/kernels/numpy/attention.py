"""The kernel of scaled dot-product attention. It works on a few sequences at a time, whose scores stay in the cache.

For long sequences it works on one *strip* of queries at a time, together with the keys that any of these queries may see. If
there are many weights, the backward computes them again instead of keeping them. Memory then grows with the length of a
sequence, not with the square of the length (Dao et al. 2022, arXiv:2205.14135).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engine.fitting import unbroadcast
from ...engine.types import Array
from ...rules.attention import broadcasts, is_mask, scale_of, scaled_dot_product_attention
from ...rules.neural import LOWEST
from ...rules.ranges import all_finite
from ..threads import for_each, in_blocks
from .rows import Needs, as_rows, row_sums
from .softmax import exp_into, softmax_in_place
from .sums import ones

Shape = tuple[int, ...]
LONG = 1 << 18  # scores of a head, such as 512 queries times 512 keys; from this number on, strips are used
_STRIP = 1 << 18  # scores in a strip, within the limits below
_FEWEST = 64  # the fewest queries in a strip; with shorter strips threads wait for one another (kernels/threads.py)
_MOST = 256  # the most queries in a strip if the mask differs between queries; shorter strips of a causal mask see fewer keys
_KEPT = 1 << 24  # the most weights to keep, 64 MiB in float32; if there are more, the backward computes them again


def attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2] or reads_excluded(query, key, value, mask, bias):
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
    if isinstance(saved, tuple):  # the gradient of a bias may be as large as the weights, so strips save no memory
        saved = _weights(None, q, k, factor, *saved[1:])
    inner, outer = (1.0, factor) if needs[4] else (factor, 1.0)  # d_bias needs the gradient of the scaled scores
    of_scores = [np.empty_like(saved)] if needs[4] else []

    def some(w: Any, q: Any, k: Any, v: Any, do: Any, o: Any, dq: Any, dk: Any, dv: Any, *kept: Any) -> None:
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do * inner, v.swapaxes(-1, -2), out=kept[0] if kept else None)
        terms = do.swapaxes(1, 2) * o.swapaxes(1, 2)  # sum_j w_j dw_j = do . o, which has fewer terms than keys
        along = row_sums(as_rows(terms), ones(terms.shape[-1], terms.dtype)).reshape(terms.shape[:-1])
        along *= inner
        ds -= along.swapaxes(1, 2)[..., None]
        ds *= w
        if outer != 1:
            q, k = q * outer, k * outer
        np.matmul(ds, k, out=dq)
        np.matmul(ds.swapaxes(-1, -2), q, out=dk)

    in_blocks(some, saved, q, k, v, do, o, dq, dk, dv, *of_scores, passes=passes_of(query, saved))
    if not needs[4]:
        return *results, None, None
    whole = of_scores[0].swapaxes(0, 1) if math.prod(query.shape[:-2]) == 1 else of_scores[0]
    return *results, None, unbroadcast(whole.reshape(scores_shape(query, key, num_heads)), bias.shape)


def _long_forward(q: Array, k: Array, v: Array, context: Array, factor: float, masks: Sequence[Any]) -> tuple[Any, ...]:
    """Write the context. Return the kept strips of each head, then the mask and the bias."""
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
        v = np.concatenate([v, np.ones((len(v), 1), v.dtype)], axis=1)  # multiplies `along` in the product below
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
    """Call ``function(n, *parts)`` for the n-th head, with its part of each array (sequences, heads, ...) or None."""

    def one(n: int) -> Any:
        index = divmod(n, q.shape[1])
        return function(n, q[index], *[array if array is None else array[index] for array in arrays])

    count = math.prod(q.shape[:2])
    return for_each(one, range(count), count * LONG * 8)


def _strips(q: Array, k: Array, factor: float, allowed: Any, added: Any) -> Iterator[tuple[slice, slice, Array, Array]]:
    """Yield each strip of queries of one head, the keys that any of these queries sees, and the results of ``exp_into``."""
    rows, seen, mask = max(_STRIP // len(k), _FEWEST), slice(0, len(k)), None
    if allowed is not None and len(allowed) > 1:
        rows = min(rows, _MOST)
    for strip in (slice(start, start + rows) for start in range(0, len(q), rows)):
        if allowed is not None:
            mask = allowed if len(allowed) == 1 else allowed[strip]
            keys = np.flatnonzero(mask.any(axis=0))
            seen = slice(keys[0], keys[-1] + 1) if keys.size else slice(0, 1)
            mask = None if mask[:, seen].all() else mask[:, seen]
        scores = np.matmul(q[strip] * factor, k[seen].T)
        if added is not None:
            scores += (added if len(added) == 1 else added[strip])[:, seen]
        yield strip, seen, scores, exp_into(scores, scores, mask)


def _weights(out: Any, q: Array, k: Array, factor: float, allowed: Any, added: Any) -> Array:
    weights = np.matmul(q * factor, k.swapaxes(-1, -2), out=out)
    if added is not None:
        weights += added
    softmax_in_place(weights, allowed)
    return weights


def reads_excluded(query: Array, key: Array, value: Array, mask: Any, bias: Any) -> bool:
    """Return whether the products would read an excluded key and make NaN of it: the plain rules skip weights of 0."""
    return not (mask is bias is None or all_finite(query, key, value))


def passes_of(query: Array, weights: Array) -> float:
    """Return ``passes`` for ``in_blocks``. For short sequences the matrix products take most of the time."""
    return 8 + 32 * query.size / max(weights.size, 1)


def sequences(x: Array, num_heads: int) -> Array:
    """Reshape (..., length, heads * d) to (sequences, heads, length, d), or a single sequence to (heads, 1, length, d)."""
    shape = x.shape
    split = x.reshape(math.prod(shape[:-2]), shape[-2], num_heads, shape[-1] // num_heads)
    return _divisible(split.swapaxes(1, 2))


def _divisible(x: Array) -> Array:
    """Swap the first two axes of (sequences, heads, ...) if there is one sequence: threads divide the first axis."""
    return x.swapaxes(0, 1) if len(x) == 1 else x


def scores_shape(query: Array, key: Array, num_heads: int) -> Shape:
    """Return the shape (..., heads, queries, keys) of the scores. ``query`` and ``key`` have the same batch shape."""
    return (*query.shape[:-2], num_heads, query.shape[-2], key.shape[-2])


def masks_of(mask: Any, bias: Any, shape: Shape) -> tuple[Any, Any] | None:
    """Return mask and bias so that they broadcast to scores of ``shape`` after ``sequences``.

    Scores that the bias makes very low are masked instead. The result is None if the plain rules must handle this case or
    raise an error.
    """
    if mask is not None and not (is_mask(mask, len(shape)) and broadcasts(mask.shape, shape)):
        return None
    if bias is not None and (bias.dtype.kind != "f" or not broadcasts(bias.shape, shape)):
        return None
    allowed = None if mask is None else _of_sequences(mask, shape)
    added = None if bias is None else _of_sequences(bias, shape)
    if added is not None and (excluded := added <= LOWEST).any():
        allowed = ~excluded if allowed is None else allowed & ~excluded
        added = np.where(excluded, 0, added)  # with very low scores exp_into would need the maximum of each row
    return allowed, added


def shared_or_divided(*arrays: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Sequence[Any]]]:
    """Return the arrays to divide like the sequences, and a function from their parts to all arrays.

    The function inserts the arrays that are not divided: None, and arrays of length 1, which all sequences share.
    """
    positions = [i for i, array in enumerate(arrays) if array is not None and len(array) > 1]

    def all_of(parts: Sequence[Any]) -> list[Any]:
        together = list(arrays)
        for i, part in zip(positions, parts):
            together[i] = part
        return together

    return [arrays[i] for i in positions], all_of


def _of_sequences(array: Array, shape: Shape) -> Array:
    """Reshape an array that broadcasts to scores of ``shape`` so that it broadcasts to them after ``sequences``."""
    own = (1,) * (len(shape) - array.ndim) + array.shape
    whole = own if math.prod(own[:-3]) == 1 else (*shape[:-3], *own[-3:])
    array = np.broadcast_to(array, whole).reshape(math.prod(whole[:-3]), *whole[-3:])
    return array.swapaxes(0, 1) if math.prod(shape[:-3]) == 1 else array


scaled_dot_product_attention.kernel(np.ndarray, attention_forward, attention_backward)
