"""The softmax, a block of rows at a time."""

from typing import Any

import numpy as np

from ...engine.sums import ones
from ...engine.types import Array
from ...rules.neural import LOWEST, softmax
from ..threads import in_blocks
from .rows import Needs, as_rows, row_sums

_MODERATE = 30.0  # exp of nothing larger can make a sum overflow: no largest score need be subtracted


def _softmax_forward(x: Array, axis: int = -1) -> Any:
    if axis not in (-1, x.ndim - 1):
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)

    def some(x: Array, result: Array) -> None:
        np.copyto(result, x)
        softmax_in_place(result)

    in_blocks(some, as_rows(x), as_rows(ans))
    return ans, None


def softmax_in_place(scores: Array, allowed: Any = None) -> None:
    """The softmax along the last axis, over what is allowed (booleans that broadcast); zeros for the rest."""
    if not scores.size:
        return
    inverse = exp_in_place(scores, allowed)
    scores *= inverse
    if allowed is not None and np.isnan(inverse).any():
        np.copyto(scores, 0, where=~allowed)  # in a row with NaN, too


def exp_in_place(scores: Array, allowed: Any = None) -> Array:
    """The numerators of that softmax, and what they are to be multiplied by, (..., 1): 0 for a row that is allowed nothing."""
    moderate = scores.max() <= _MODERATE and scores.min() >= -_MODERATE
    if not moderate:  # the largest of each row takes far longer to find
        if allowed is not None:
            np.copyto(scores, LOWEST, where=~allowed)
        scores -= np.max(scores, axis=-1, keepdims=True)
        normal = np.log(np.finfo(scores.dtype).tiny)
        if scores.min() < normal:  # numbers too small to be normal make a product 200 times slower: let them be 0
            np.copyto(scores, -np.inf, where=scores < normal)
    np.exp(scores, out=scores)
    if allowed is not None:
        scores *= allowed
    total = row_sums(as_rows(scores), ones(scores.shape[-1], scores.dtype))  # several times faster than np.sum
    np.reciprocal(total, out=total, where=True if allowed is None else total != 0)
    return total.reshape(scores.shape[:-1] + (1,))


def _softmax_backward(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
    dx = np.empty(ans.shape, ans.dtype)

    def some(g: Array, ans: Array, d: Array) -> None:
        np.multiply(g, ans, out=d)
        d -= ans * row_sums(d, ones(d.shape[-1], d.dtype))[:, None]

    in_blocks(some, as_rows(g), as_rows(ans), as_rows(dx))
    return (dx,)


softmax.kernel(np.ndarray, _softmax_forward, _softmax_backward)
