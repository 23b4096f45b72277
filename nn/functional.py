"""The stateless functions: arrays or Tensors in, and no parameters of their own.

Most are minigrad's, which give an array when all they get is arrays.

Example:
    >>> import numpy as np
    >>> import nn.functional as F
    >>> F.softmax(np.zeros((1, 4)))
    array([[0.25, 0.25, 0.25, 0.25]])
    >>> F.one_hot([2, 0], 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
"""

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

import minigrad
from minigrad import (
    ShapeError,
    gelu,
    layer_norm,
    log_softmax,
    logsumexp,
    relu,
    sigmoid,
    silu,
    softmax,
)
from minigrad.internal import attention_weights as weights_of

from ._checks import as_ids, check_positive, plain
from .losses import cross_entropy
from .masks import Masks, for_heads, mask_and_bias

__all__ = [
    "attention_weights",
    "cross_entropy",
    "gelu",
    "layer_norm",
    "log_softmax",
    "logsumexp",
    "one_hot",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
]


def rms_norm(x: Any, weight: Any, *, eps: float = 1e-6) -> Any:
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last axis; x (..., d), weight (d,).

    Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4.

    Raises:
        ShapeError: the weight is not a number for each column of x.
    """
    x, weight = _arrays(x, weight)
    if not x.ndim or weight.shape != x.shape[-1:]:
        raise ShapeError(f"rms_norm needs x of shape (..., d) and weight (d,), got {x.shape} and {weight.shape}")
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def scaled_dot_product_attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    *,
    key_mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    causal: bool = False,
) -> Any:
    """``softmax(q k^T * scale + bias) v``. Vaswani et al. 2017, arXiv:1706.03762, eq. 1.

    Args:
        q: (query, d), (batch, query, d) or (batch, heads, query, d).
        k: (..., key, d), with the same axes before.
        v: (..., key, e), with the same axes before.
        mask: booleans (query, key), or with the axes of q, to which they broadcast; True = attend. A query with no key to
            attend to gives zeros.
        key_mask: which keys are tokens: (batch, key) booleans, or integers 0 and 1; the batch is 1 where q has none.
        bias: added to the scaled scores: numbers that broadcast to (..., query, key), taken in the dtype of q. As in
            :class:`nn.GlobalAttention`.
        scale: ``1 / sqrt(d)`` by default; 1.0 for dot-product attention without a scale.
        causal: query i sees the keys up to its own place. With more keys than queries, the queries are the last ones.

    Returns:
        (..., query, e)

    Raises:
        ShapeError: they do not fit together.
        DTypeError, OutOfRangeError: mask is not boolean, key_mask neither boolean nor 0/1, or bias is boolean.
    """
    q, k, v = _arrays(q, k, v)
    _check_attention("k (..., key, d) and v (..., key, e)", q, k, v)
    masks = _masks(q, k, key_mask=key_mask, mask=mask, bias=bias, causal=causal)
    # minigrad's has an axis of heads before the queries
    return minigrad.scaled_dot_product_attention(q, k, v, *map(for_heads, masks), scale=scale)


def attention_weights(
    q: Any,
    k: Any,
    mask: Any = None,
    *,
    key_mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
    causal: bool = False,
) -> Any:
    """``softmax(q k^T * scale + bias)``: how much each query of :func:`scaled_dot_product_attention` takes of each value.

    Arguments and what is raised as there.

    Returns:
        (..., query, key), rows that sum to 1, or to 0 where every key is masked.
    """
    q, k = _arrays(q, k)
    _check_attention("k (..., key, d)", q, k)
    allowed, added = _masks(q, k, key_mask=key_mask, mask=mask, bias=bias, causal=causal)
    return weights_of(q, k, allowed, added, scale)


def _arrays(*values: Any) -> list[Any]:
    return [value if hasattr(value, "dtype") else np.asarray(value) for value in values]


def _check_attention(others: str, q: Any, *kv: Any) -> None:
    k = kv[0]
    fit = 2 <= q.ndim <= 4 and all(t.shape[:-2] == q.shape[:-2] and t.ndim == q.ndim for t in kv)
    if not fit or q.shape[-1] != k.shape[-1] or kv[-1].shape[-2] != k.shape[-2]:
        got = ", ".join(str(t.shape) for t in (q, *kv))
        raise ShapeError(f"attention needs q (..., query, d), {others}, the same axes before in all, got {got}")


def _masks(q: Any, k: Any, **masks: Unpack[Masks]) -> list[Any]:
    """Mask and bias of the scores, which have a batch of 1 where q has none."""
    found = mask_and_bias((*(q.shape[:-2] or (1,)), q.shape[-2], k.shape[-2]), q, masks)
    return [one[0] if one is not None and one.ndim > q.ndim else one for one in found]


def one_hot(ids: Any, num_classes: int, *, dtype: Any = np.float32) -> Any:
    """For each id a row of zeros with a one at its place: integers (...) -> (..., num_classes).

    Raises:
        DTypeError: ids are no integers.
        OutOfRangeError: an id is not in [0, num_classes).
    """
    check_positive(num_classes=num_classes)
    ids = plain(as_ids(ids, num_classes, "one_hot"))
    return (ids[..., None] == np.arange(num_classes, like=ids)).astype(dtype)


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> object:
        from minigrad.internal import missing

        raise missing(__name__, name)
