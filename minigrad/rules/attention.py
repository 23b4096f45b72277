"""Scaled dot-product attention, ``softmax(q k^T * scale) v``, as one primitive.

Its derivatives are those of the composition, as in neural.py.
"""

import math
from typing import Any

import numpy as np

from ..engine.fitting import unbroadcast
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import DTypeError, ShapeError
from .about import about
from .neural import LOWEST, softmax
from .products import dot_products, weighted_sum

Shape = tuple[int, ...]


def _attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Any = None,
    bias: Any = None,
    /,
    scale: float | None = None,
    num_heads: int = 1,
) -> Array:
    """Return ``softmax(q k^T * scale + bias) v`` per head (Vaswani et al. 2017, arXiv:1706.03762, eq. 1).

    query: (..., query, heads * d), key: (..., key, heads * d), value: (..., key, heads * e) -> (..., query, heads * e).
    mask: booleans, True = attend. Its shape is (query, key), or it has all axes of the scores, (..., heads, query, key), and
    broadcasts to them. A query without any allowed key gives zeros. An excluded key is not read: it may be NaN. bias: real
    numbers of any shape that broadcasts to the scores. It is differentiable; a value of -1e30 or less, such as -inf, excludes
    a key as a mask does. scale: 1 / sqrt(d) by default.

    Raises:
        ShapeError: ``mask`` or ``bias`` does not fit the scores.
        DTypeError: ``mask`` is not boolean, or ``bias`` does not hold real numbers.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> query = key = np.zeros((2, 3))  # all scores are equal
        >>> value = np.array([[1.0], [5.0]])
        >>> mask = np.array([[True, False], [True, True]])  # the first query attends to the first key only
        >>> mg.scaled_dot_product_attention(query, key, value, mask)
        array([[1.],
               [3.]])
    """
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))  # (..., heads, length, d)
    weights = attention_weights(q, k, mask, bias, scale)  # (..., heads, query, key)
    context = weighted_sum(weights, v).swapaxes(-3, -2)  # (..., query, heads, e)
    return context.reshape(*context.shape[:-2], context.shape[-2] * context.shape[-1])


def split_heads(x: Array, num_heads: int) -> Array:
    """Reshape (..., length, heads * d) to (..., heads, length, d)."""
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads).swapaxes(-3, -2)


def scale_of(width: int, scale: float | None) -> float:
    """Return the factor of the scores for heads of this width: a Python float, because a NumPy one would promote float32."""
    return 1 / math.sqrt(width) if scale is None else float(scale)


def attention_weights(
    q: Array, k: Array, mask: Array | None = None, bias: Array | None = None, scale: float | None = None
) -> Array:
    """Return ``softmax(q k^T * scale + bias)`` over the allowed keys: (..., query, d), (..., key, d) -> (..., query, key)."""
    scores = dot_products(q, k) * scale_of(q.shape[-1], scale)
    if mask is not None:
        mask = as_mask(mask, scores.shape)
    if bias is not None:
        bias = as_bias(bias, scores.shape, scores.dtype)
    return masked_softmax(scores, mask, bias)


def masked_softmax(scores: Array, mask: Array | None = None, bias: Array | None = None) -> Array:
    """Return the softmax of ``scores + bias`` over the keys, the last axis; keys that ``mask`` excludes (False) get 0.

    A row without any allowed key is all zeros. A bias of ``LOWEST`` or less excludes its key too: the softmax of a row that
    holds only -inf would be NaN.
    """
    if bias is not None:
        seen = np.logical_not(bias <= LOWEST)
        scores = scores + np.where(seen, bias, 0.0)  # an -inf in the scores would look like an overflow
        mask = seen if mask is None else mask & seen
    if mask is None:
        return softmax(scores)
    return np.where(mask, softmax(np.where(mask, scores, LOWEST)), 0.0)


def as_mask(
    mask: Array,
    shape: Shape,
    axes: str = "(..., heads, query, key)",
    *,
    name: str = "mask",
    key_mask: str = "nn's key_mask",
    bias: str = "bias",
) -> Array:
    """Return ``mask`` if it fits scores of this ``shape``; every attention applies this check, which guesses nothing.

    Args:
        axes: the names of the axes of the scores.
        name, key_mask, bias: the names of the caller's arguments, for the message.

    Raises:
        DTypeError: the mask is not boolean. Numbers could mean "attend", "add this" or "a token".
        ShapeError: the shape is neither (query, key) nor one that has all axes of the scores and broadcasts to them.
    """
    mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
    if mask.dtype != bool:
        raise DTypeError(
            f"{name} must be boolean, True = attend, got dtype {mask.dtype}: pass {name}.astype(bool) for zeros and ones, "
            f"{key_mask}= if they say which keys are tokens, or {bias}= for numbers that are added to the scores"
        )
    if not is_mask(mask, len(shape)) or not broadcasts(mask.shape, shape):
        count = {3: "three", 4: "four"}.get(len(shape), str(len(shape)))
        raise ShapeError(
            f"{name} must have the shape (query, key) = {shape[-2:]}, or {count} axes that broadcast to {axes} = {shape}, got "
            f"{mask.shape}: put axes of length 1 with {name}[:, None] where it has none, and pass {key_mask}= to say which "
            "keys are tokens, (batch, key)"
        )
    return mask


def as_bias(
    bias: Array,
    shape: Shape,
    dtype: np.dtype[Any],
    axes: str = "(..., heads, query, key)",
    *,
    name: str = "bias",
    mask: str = "mask",
) -> Array:
    """Return ``bias`` if it can be added to scores of this ``shape``; integers are converted to ``dtype``.

    The other arguments are those of :func:`as_mask`.

    Raises:
        DTypeError: the bias is boolean, like a mask, or does not hold real numbers.
        ShapeError: the bias does not broadcast to the shape.
    """
    bias = bias if hasattr(bias, "dtype") else np.asarray(bias, None if isinstance(bias, bool) else dtype)
    if bias.dtype.kind not in "fiu":
        raise DTypeError(
            f"{name} must hold real numbers, which are added to the scores, got dtype {bias.dtype}"
            + (f": pass {mask}= for booleans, True = attend" if bias.dtype == bool else "")
        )
    if not broadcasts(bias.shape, shape):
        raise ShapeError(f"{name} must have a shape that broadcasts to {axes} = {shape}, got {bias.shape}")
    return bias if bias.dtype.kind == "f" else bias.astype(dtype)


def is_mask(mask: Any, axes: int) -> bool:
    """Return whether ``mask`` is boolean and has two axes, or as many axes as the scores."""
    return mask.dtype == bool and mask.ndim in (2, axes)


def broadcasts(own: Shape, shape: Shape) -> bool:
    """Return whether an array of shape ``own`` broadcasts to ``shape`` without changing ``shape``."""
    return own == shape[-len(own) :] or (
        len(own) <= len(shape) and all(n in (1, m) for n, m in zip(own[::-1], shape[::-1]))
    )


scaled_dot_product_attention = primitive(_attention, name="attention").reference(_attention)


def weights_of(query: Any, key: Any, mask: Any, bias: Any, scale: float | None, num_heads: int) -> Any:
    """Return the weights of all heads, (..., heads, query, key)."""
    return attention_weights(split_heads(query, num_heads), split_heads(key, num_heads), mask, bias, scale)


def _joined(x: Array, shape: Shape) -> Array:
    """Return (..., heads, length, d) as (..., length, heads * d), summed over a batch that ``shape`` does not have."""
    x = np.swapaxes(x, -3, -2)
    return unbroadcast(x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]), shape)


def _by_scores(
    g: Array, query: Array, key: Array, value: Array, mask: Any, bias: Any, scale: float | None, num_heads: int
) -> Array:
    """Return the cotangent of the scaled and biased scores: ``w * (h - sum(h * w))`` with ``h = g @ value^T``."""
    w = weights_of(query, key, mask, bias, scale, num_heads)
    h = split_heads(g, num_heads) @ np.swapaxes(split_heads(value, num_heads), -1, -2)
    return w * (h - np.sum(h * w, axis=-1, keepdims=True))


def _by_query(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, query_shape: Any
) -> Any:
    s = _by_scores(g, query, key, value, mask, bias, scale, num_heads)
    return _joined(s * scale_of(query.shape[-1] // num_heads, scale) @ split_heads(key, num_heads), query_shape)


def _by_key(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, key_shape: Any
) -> Any:
    s = np.swapaxes(_by_scores(g, query, key, value, mask, bias, scale, num_heads), -1, -2)
    return _joined(s * scale_of(query.shape[-1] // num_heads, scale) @ split_heads(query, num_heads), key_shape)


def _by_value(g: Any, query: Any, key: Any, mask: Any, bias: Any, scale: Any, num_heads: int, value_shape: Any) -> Any:
    w = weights_of(query, key, mask, bias, scale, num_heads)
    return _joined(np.swapaxes(w, -1, -2) @ split_heads(g, num_heads), value_shape)


def _by_bias(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, bias_shape: Any
) -> Any:
    return unbroadcast(_by_scores(g, query, key, value, mask, bias, scale, num_heads), bias_shape)


_SLOPE = "w * (h - sum(h * w))"
_WHERE = "h = g @ value^T, and w are the attention weights"
about(
    scaled_dot_product_attention,
    formulas={
        "query": f"s @ key, where s = scale * {_SLOPE}, {_WHERE}",
        "key": f"s^T @ query, where s = scale * {_SLOPE}, {_WHERE}",
        "value": "w^T @ g, where w are the attention weights",
        "bias": f"{_SLOPE}, where {_WHERE}",
    },
    written={"query": _by_query, "key": _by_key, "value": _by_value, "bias": _by_bias},
)
