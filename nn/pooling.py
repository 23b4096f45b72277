"""One vector for a whole sequence."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor

from ._checks import check_real
from .masks import combined_mask


def pool(x: Any, key_mask: Any = None, how: str = "mean") -> Tensor:
    """The tokens of each sequence in one vector: (batch, length, d_model) -> (batch, d_model).

    Args:
        x: floating.
        key_mask: (batch, length), True (or 1) for tokens and False (or 0) for padding; None if nothing is padding.
        how: "mean" or "sum" of the tokens that are not padding, or the "first" of them (BERT's [CLS]).

    A sequence that is all padding gives zeros. What stands in padding has no influence as long as it is finite.

    Raises:
        ArgumentError: another ``how``.
        ShapeError: x has no three axes or no tokens, or the mask does not fit.
        DTypeError, OutOfRangeError: the mask is neither boolean nor 0/1; x is not floating.

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
    weights = combined_mask((batch, 1, length), x.data, key_mask=key_mask)  # as if one query looked at all tokens
    if how == "mean":
        weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    elif how == "first":
        weights = weights & (np.cumsum(weights, axis=-1) == 1)
    pooled: Tensor = weights.astype(x.dtype) @ x  # one product, instead of a masked copy and its sum
    return pooled.reshape(batch, x.shape[2])
