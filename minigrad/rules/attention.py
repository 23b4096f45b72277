"""Scaled dot-product attention: ``softmax(q k^T * scale) v``, as one primitive.

As in neural.py: the plain form first, then a kernel for NumPy arrays, which the tests hold to it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._half import in_float32
from .._threads import in_blocks
from ..engine.primitive import primitive
from ..engine.tape import unbroadcast
from ..errors import DTypeError, ShapeError
from .neural import LOWEST, as_rows, ones, row_sums, softmax, softmax_in_place

Needs = Sequence[bool]
Shape = tuple[int, ...]


def _attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    bias: Any = None,
    /,
    scale: float | None = None,
    num_heads: int = 1,
) -> Any:
    """``softmax(q k^T * scale + bias) v`` (Vaswani et al. 2017, arXiv:1706.03762, eq. 1), ``num_heads`` heads side by side.

    query: (..., query, heads * d), key: (..., key, heads * d), value: (..., key, heads * e) -> (..., query, heads * e).
    mask: booleans, True = attend, (query, key), or with all axes of the scores, (..., heads, query, key), to which they
    broadcast; a query with no key to attend to gives zeros. bias: numbers of any shape that broadcasts to that of the scores,
    differentiable; -1e30 and less, such as -inf, excludes a key as a mask does. scale: 1 / sqrt(d) by default.
    """
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))  # (..., heads, length, d)
    weights = attention_weights(q, k, mask, bias, scale)  # (..., heads, query, key)
    context = np.matmul(weights, v).swapaxes(-3, -2)  # (..., query, heads, e)
    return context.reshape(*context.shape[:-2], context.shape[-2] * context.shape[-1])


def split_heads(x: Any, num_heads: int) -> Any:
    """(..., length, heads * d) -> (..., heads, length, d)"""
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-3, -2)


def scale_of(width: int, scale: float | None) -> float:
    """What the scores of heads of this width are multiplied by: a float of Python's, as NumPy's would make float32 float64."""
    return 1 / math.sqrt(width) if scale is None else float(scale)


@in_float32
def attention_weights(q: Any, k: Any, mask: Any = None, bias: Any = None, scale: float | None = None) -> Any:
    """``softmax(q k^T * scale + bias)`` over the keys the mask allows; (..., query, d), (..., key, d) -> (..., query, key)."""
    scores = np.matmul(q, k.swapaxes(-1, -2)) * scale_of(q.shape[-1], scale)
    if mask is not None:
        mask = as_mask(mask, scores.shape)
    if bias is not None:
        bias = as_bias(bias, scores.shape, scores.dtype)
    return masked_softmax(scores, mask, bias)


@in_float32
def masked_softmax(scores: Any, mask: Any = None, bias: Any = None) -> Any:
    """The softmax of ``scores + bias`` over the last axis, the keys: those that ``mask`` allows (True = attend), 0 for others.

    A row without any allowed key is all zeros. What is ``LOWEST`` or less in the bias is not allowed either: in a row of
    nothing but -inf a softmax would be NaN, and beside a masked score a number as low as that means nothing.
    """
    if bias is not None:
        seen = np.logical_not(bias <= LOWEST)
        scores = scores + np.where(
            seen, bias, 0.0
        )  # no -inf gets into the scores, where it would look like an overflow
        mask = seen if mask is None else mask & seen
    if mask is None:
        return softmax(scores)
    return np.where(mask, softmax(np.where(mask, scores, LOWEST)), 0.0)


def as_mask(
    mask: Any,
    shape: Shape,
    axes: str = "(..., heads, query, key)",
    *,
    name: str = "mask",
    key_mask: str = "nn's key_mask",
    bias: str = "bias",
) -> Any:
    """``mask`` if it is one of scores of this ``shape``: the rule for every attention. No dtype and no size is guessed from.

    Args:
        axes: what the axes of the scores are.
        name, key_mask, bias: what the caller calls its arguments.

    Raises:
        DTypeError: it is not boolean: numbers may mean "attend", "add this" or "a token".
        ShapeError: it is neither (query, key) nor has it the axes of the scores, or is of another length along one.
    """
    mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
    if mask.dtype != bool:
        raise DTypeError(
            f"{name} must be boolean, True = attend, got dtype {mask.dtype}: pass {name}.astype(bool) for zeros and ones, "
            f"{key_mask}= if they say which keys are tokens, or {bias}= for numbers that are added to the scores"
        )
    if not is_mask(mask, len(shape)) or not _broadcasts(mask.shape, shape):
        count = {3: "three", 4: "four"}.get(len(shape), str(len(shape)))
        raise ShapeError(
            f"{name} must have the shape (query, key) = {shape[-2:]}, or {count} axes that broadcast to {axes} = {shape}, got "
            f"{mask.shape}: put axes of length 1 with {name}[:, None] where it has none, and pass {key_mask}= to say which "
            "keys are tokens, (batch, key)"
        )
    return mask


def as_bias(
    bias: Any,
    shape: Shape,
    dtype: Any,
    axes: str = "(..., heads, query, key)",
    *,
    name: str = "bias",
    mask: str = "mask",
) -> Any:
    """``bias`` if it can be added to scores of this ``shape``; integers in their ``dtype``.

    Args: as of :func:`as_mask`.

    Raises:
        DTypeError: it is boolean, which is a mask, or holds no real numbers.
        ShapeError: it does not broadcast to the shape.
    """
    bias = bias if hasattr(bias, "dtype") else np.asarray(bias, None if isinstance(bias, bool) else dtype)
    if bias.dtype.kind not in "fiu":
        raise DTypeError(
            f"{name} must hold real numbers, which are added to the scores, got dtype {bias.dtype}"
            + (f": pass {mask}= for booleans, True = attend" if bias.dtype == bool else "")
        )
    if not _broadcasts(bias.shape, shape):
        raise ShapeError(f"{name} must have a shape that broadcasts to {axes} = {shape}, got {bias.shape}")
    return bias if bias.dtype.kind == "f" else bias.astype(dtype)


def is_mask(mask: Any, axes: int) -> bool:
    """Whether the dtype and the number of axes are those of a mask of scores with so many."""
    return mask.dtype == bool and mask.ndim in (2, axes)


def _broadcasts(own: Shape, shape: Shape) -> bool:
    """Whether an array broadcasts to a shape, which stays what it is."""
    return own == shape[-len(own) :] or (
        len(own) <= len(shape) and all(n in (1, m) for n, m in zip(own[::-1], shape[::-1]))
    )


# The kernel takes a few sequences at a time, so that their scores are still in the cache when the next pass comes.


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    together = masks_of(mask, bias, scores_shape(query, key, num_heads))
    if together is None:
        return NotImplemented
    q, k, v = (_sequences(t, num_heads) for t in (query, key, value))
    factor = scale_of(q.shape[-1], scale)
    weights = np.empty((*q.shape[:-1], k.shape[-2]), query.dtype)
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    context = _sequences(ans, num_heads)
    divided, all_of = shared_or_divided(*together)

    def some(w: Any, q: Any, k: Any, v: Any, context: Any, *parts: Any) -> None:
        allowed, added = all_of(parts)
        np.matmul(q, _transposed(k, factor), out=w)
        if added is not None:
            w += added
        softmax_in_place(w, allowed)
        np.matmul(w, v, out=context)

    in_blocks(some, weights, q, k, v, context, *divided, passes=passes_of(query, weights))
    return ans, weights


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
    q, k, v, do, o = (_sequences(t, num_heads) for t in (query, key, value, g, ans))
    results = [np.empty(t.shape, t.dtype) for t in (query, key, value)]
    dq, dk, dv = (_sequences(t, num_heads) for t in results)
    factor = scale_of(q.shape[-1], scale)
    inner, outer = (1.0, factor) if needs[4] else (factor, 1.0)  # the bias takes the gradient of the scaled scores
    d_bias = BiasGradient(bias, query, key, num_heads, saved.dtype) if needs[4] else None

    def some(w: Any, q: Any, k: Any, v: Any, do: Any, o: Any, dq: Any, dk: Any, dv: Any, *stretch: Any) -> Any:
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do, _transposed(v, inner))
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

    def add(self, scores: Any, stretch: Any = None) -> Any:
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


def scores_shape(query: Any, key: Any, num_heads: int) -> Shape:
    """(..., heads, query, key), where both have the same batch."""
    return (*query.shape[:-2], num_heads, query.shape[-2], key.shape[-2])


def masks_of(mask: Any, bias: Any, shape: Shape) -> tuple[Any, Any] | None:
    """Mask and bias as they broadcast to what ``_sequences`` makes of scores of this shape; what the bias excludes is masked.

    None for what the plain form refuses, or knows better.
    """
    if mask is None and bias is None:
        return None, None
    if mask is not None and not (is_mask(mask, len(shape)) and _broadcasts(mask.shape, shape)):
        return None
    if bias is not None and (bias.dtype.kind != "f" or not _broadcasts(bias.shape, shape)):
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
    if not places:
        return [], lambda parts: arrays

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


def _of_sequences(array: Any, shape: Shape) -> Any:
    """What broadcasts to scores of this shape as what broadcasts to those of ``_sequences``."""
    layout, whole = _layout(array.shape, shape)
    array = array.reshape(layout) if math.prod(layout) == array.size else np.broadcast_to(array, whole).reshape(layout)
    return array.swapaxes(0, 1) if math.prod(shape[:-3]) == 1 else array


scaled_dot_product_attention = primitive(_attention, name="attention").reference(_attention)
scaled_dot_product_attention.kernel(np.ndarray, _attention_forward, _attention_backward)
