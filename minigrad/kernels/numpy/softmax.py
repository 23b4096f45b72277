"""The kernels of softmax, log_softmax, logsumexp and cross-entropy. They work on one block of rows at a time."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.neural import LOWEST, REDUCTIONS, check_labels, cross_entropy, log_softmax, softmax
from ...rules.reductions import logsumexp
from ..threads import in_blocks
from .rows import Needs, as_rows, row_sums
from .sums import ones

_MODERATE = 30.0  # if no absolute score is larger, sums of exp cannot overflow, and no maximum is subtracted


def _softmax_forward(x: Array, axis: int = -1) -> Any:
    if axis not in (-1, x.ndim - 1) or not x.size:
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)

    def some(x: Array, result: Array) -> None:
        result *= exp_into(result, x)

    in_blocks(some, as_rows(x), as_rows(ans))
    return ans, None


def softmax_in_place(scores: Array, allowed: Any = None) -> None:
    """Replace scores by their softmax along the last axis, over the elements where ``allowed`` is True. Others become 0."""
    if not scores.size:
        return
    inverse = exp_into(scores, scores, allowed)
    scores *= inverse
    if allowed is not None and np.isnan(inverse).any():
        np.copyto(scores, 0, where=~allowed)  # 0 * NaN is NaN, so rows with NaN are set again


def exp_into(scores: Array, x: Array, allowed: Any = None) -> Array:
    """Write the numerators of the softmax of ``x`` to ``scores``, which may be ``x`` and must be if ``allowed`` is given.

    Return the inverse denominators (..., 1), 0 for a row without True.
    """
    if not (x.max() <= _MODERATE and x.min() >= -_MODERATE):  # the maxima of rows take much longer to find
        if allowed is not None:
            np.copyto(scores, LOWEST, where=~allowed)
        x = np.subtract(x, np.max(x, axis=-1, keepdims=True), out=scores)
        normal = np.log(np.finfo(scores.dtype).tiny)
        if scores.min() < normal:  # subnormal numbers make a product 200 times slower, so they become 0
            np.copyto(scores, -np.inf, where=scores < normal)
    np.exp(x, out=scores)
    if allowed is not None:
        scores *= allowed
    total = row_sums(as_rows(scores), ones(scores.shape[-1], scores.dtype))  # several times faster than np.sum
    np.reciprocal(total, out=total, where=True if allowed is None else total != 0)
    return total.reshape(scores.shape[:-1] + (1,))


def _softmax_backward(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
    dx = np.empty(ans.shape, ans.dtype)

    def some(g: Array, ans: Array, d: Array) -> None:
        np.multiply(g, ans, out=d)
        np.subtract(g, row_sums(d, ones(d.shape[-1], d.dtype))[:, None], out=d)
        d *= ans

    in_blocks(some, as_rows(g), as_rows(ans), as_rows(dx))
    return (dx,)


def _exp_and_sum(rows: Array, top: Array, e: Array, total: Array, shifted: Array) -> None:
    np.exp(np.subtract(rows, top, out=shifted), out=e)
    row_sums(e, ones(e.shape[1], e.dtype), out=total[:, 0])


def exponentials(x: Array, shifted: Any = None, exp_and_sum: Any = _exp_and_sum) -> tuple[Array, Array, Array]:
    """Return, for the rows of ``x``, the maxima, ``exp(x - max)`` and its sums. Write ``x - max`` to ``shifted``."""
    rows = as_rows(x)
    top, e, total = (np.empty((len(rows), n), x.dtype) for n in (1, rows.shape[1], 1))

    def some(rows: Array, top: Array, e: Array, total: Array, shifted: Array) -> None:
        top[:, 0] = rows[np.arange(len(rows)), rows.argmax(-1)]  # several times as fast as np.max
        exp_and_sum(rows, top, e, total, shifted)

    in_blocks(some, rows, top, e, total, e if shifted is None else as_rows(shifted))
    return top, e, total


def _log_softmax_forward(x: Array, axis: int = -1) -> Any:
    if axis not in (-1, x.ndim - 1) or not x.size:
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)
    _, e, total = exponentials(x, ans)
    ans -= np.log(total).reshape(*x.shape[:-1], 1)
    return ans, (e, total)


def _log_softmax_backward(g: Array, needs: Needs, saved: Any) -> tuple[Array]:
    e, total = saved
    share = e * (row_sums(as_rows(g), ones(g.shape[-1], g.dtype))[:, None] / total)
    return (np.subtract(g, share.reshape(g.shape), out=share.reshape(g.shape)),)


def _logsumexp_forward(a: Array, axis: Any = None, keepdims: Any = False) -> Any:
    if axis not in (-1, a.ndim - 1) or not a.size:
        return NotImplemented
    with np.errstate(invalid="ignore"):  # inf - inf; the plain rules compute rows with an infinite maximum
        top, e, total = exponentials(a)
    if not np.isfinite(top).all():
        return NotImplemented
    return (np.log(total) + top).reshape(a.shape[:-1] + (1,) * keepdims), (e, total)


def _logsumexp_backward(g: Array, needs: Needs, saved: Any, a_shape: Any) -> tuple[Array]:
    e, total = saved
    return ((e * (g.reshape(-1, 1) / total)).reshape(a_shape),)


def cross_entropy_forward(
    logits: Array, labels: Array, reduction: str = "mean", exp_and_sum: Any = _exp_and_sum
) -> tuple[Array, Any]:
    check_labels(logits, labels, reduction)
    top, e, total = exponentials(logits, exp_and_sum=exp_and_sum)
    picked = as_rows(logits)[np.arange(len(e)), labels.reshape(-1)]
    losses = (np.log(total) - (picked[:, None] - top)).reshape(labels.shape)
    if reduction == "mean" and losses.size:
        return losses.reshape(-1).dot(ones(losses.size, losses.dtype, 1 / losses.size)), (e, total)
    return REDUCTIONS[reduction](losses), (e, total)


def cross_entropy_backward(g: Any, needs: Needs, saved: Any, logits_shape: Any, labels: Any, reduction: str) -> Any:
    """Compute softmax(logits) - one_hot(label) for each row, times the cotangent of the row."""
    e, total = saved
    of_row = g.reshape(-1, 1) if reduction == "none" else g * (1 / len(e) if reduction == "mean" and len(e) else 1)
    d = np.empty(e.shape, e.dtype)
    in_blocks(np.multiply, e, of_row / total, d)
    picked = np.arange(len(e)), labels.reshape(-1)
    d[picked] = (e[picked] / total[:, 0] - 1) * (of_row[:, 0] if reduction == "none" else of_row)
    return d.reshape(logits_shape), None


softmax.kernel(np.ndarray, _softmax_forward, _softmax_backward)
log_softmax.kernel(np.ndarray, _log_softmax_forward, _log_softmax_backward)
logsumexp.kernel(np.ndarray, _logsumexp_forward, _logsumexp_backward)
cross_entropy.kernel(np.ndarray, cross_entropy_forward, cross_entropy_backward)
