"""The stateless functions: arrays or Tensors in, and no parameters of their own.

Most are minigrad's, which give an array when all they get is arrays.
"""

from typing import Any

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

from ._checks import as_ids, check_positive
from .losses import cross_entropy
from .masks import combined_mask

__all__ = [
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
    """
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def scaled_dot_product_attention(q: Any, k: Any, v: Any, mask: Any = None, *, scale: float | None = None) -> Any:
    """``softmax(q k^T * scale) v``. Vaswani et al. 2017, arXiv:1706.03762, eq. 1.

    Args:
        q: (query, d), (batch, query, d) or (batch, heads, query, d).
        k: (..., key, d), with as many axes.
        v: (..., key, e), with as many axes.
        mask: booleans (query, key), or with the axes of q, to which they broadcast; True = attend. Integers 0 and 1 of shape
            (batch, key) are a key mask. A query with no key to attend to gives zeros.
        scale: ``1 / sqrt(d)`` by default; 1.0 for dot-product attention without a scale.

    Returns:
        (..., query, e)

    Raises:
        ShapeError: they do not fit together.
        DTypeError, OutOfRangeError: the mask is neither boolean nor 0/1.
    """
    q, k, v = (t if hasattr(t, "dtype") else np.asarray(t) for t in (q, k, v))
    if not 2 <= q.ndim == k.ndim == v.ndim <= 4 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ShapeError(
            f"attention needs q (..., query, d), k (..., key, d) and v (..., key, e), got {q.shape}, {k.shape}, {v.shape}"
        )
    if mask is not None:
        batch = q.shape[:-2] or (1,)
        scores = (*batch, q.shape[-2], k.shape[-2])
        mask = combined_mask(scores, q.data if isinstance(q, minigrad.Tensor) else q, mask=mask)
        mask = mask if mask.ndim == 2 else mask[..., None, :, :]  # minigrad's has an axis of heads before the queries
    return minigrad.scaled_dot_product_attention(q, k, v, mask, scale=scale)


def one_hot(ids: Any, num_classes: int, *, dtype: Any = np.float32) -> Any:
    """For each id a row of zeros with a one at its place: integers (...) -> (..., num_classes).

    Raises:
        DTypeError: ids are no integers.
        OutOfRangeError: an id is not in [0, num_classes).
    """
    check_positive(num_classes=num_classes)
    ids = as_ids(ids, num_classes, "one_hot")
    ids = ids.data if isinstance(ids, minigrad.Tensor) else ids
    return (ids[..., None] == np.arange(num_classes, like=ids)).astype(dtype)
