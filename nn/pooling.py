"""Pooling of a sequence into one vector."""

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike

from ._checks import check_real
from .masks import as_key_mask


def pool(x: "TensorLike", key_mask: "TensorLike | None" = None, how: str = "mean") -> Tensor:
    """Combine the tokens of each sequence into one vector: (batch, length, d_model) -> (batch, d_model).

    Args:
        x: a floating array or Tensor.
        key_mask: (batch, length), True (or 1) for tokens and False (or 0) for padding; None if there is no padding.
        how: "mean" or "sum" of the tokens that are not padding, or the "first" of them (BERT's [CLS]).

    The result is 0 for a sequence of padding only. Finite values at padding do not change the result.

    Raises:
        ArgumentError: ``how`` is none of these.
        ShapeError: x does not have three axes, its length is 0, or the mask does not fit.
        DTypeError, OutOfRangeError: the mask is neither boolean nor 0/1, or x is not floating.

    Example:
        >>> import nn
        >>> x = [[[1.0], [3.0], [100.0]]]  # one sequence, and its last token is padding
        >>> nn.pool(x, [[True, True, False]]).tolist()
        [[2.0]]
    """
    x = check_real(x, "pool")
    if how not in ("mean", "sum", "first"):
        raise ArgumentError(f"how must be 'mean', 'sum' or 'first', got {how!r}")
    if x.ndim != 3:
        raise ShapeError(f"pool needs x of shape (batch, length, d_model), got {x.shape}")
    if not x.shape[1]:
        raise ShapeError(f"pool got sequences with no tokens, x of shape {x.shape}")
    if key_mask is None:
        return x[:, 0] if how == "first" else x.mean(axis=1) if how == "mean" else x.sum(axis=1)
    batch, length, _ = x.shape
    weights = as_key_mask(key_mask, (batch, length), x.data)[:, None]  # (batch, 1, length): one row per sequence
    if how == "mean":
        weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    elif how == "first":
        weights = weights & (np.cumsum(weights, axis=-1) == 1)
    pooled: Tensor = weights.astype(x.dtype) @ x  # one product costs less than a masked copy and its sum
    return pooled.reshape(batch, x.shape[2])
