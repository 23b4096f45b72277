"""The compiled loops over rows: layer norm, and the softmax of attention.

``arithmetic.py`` explains how they are compiled. A thread runs a loop on the rows from ``start`` to ``stop``.
"""

import math

import numpy as np

from ...engine.types import Array
from .arithmetic import compiled, exp, largest, plus, share_out

# --- layer_norm ------------------------------------------------------------------------------------------------------

BLOCK = (
    128  # rows in a block, which has its own sums; so the order of additions does not depend on the number of threads
)


@compiled("r2 r1 r1 w2 w2 x n n")
def layer_norm(
    x: Array, gamma: Array, beta: Array, ans: Array, saved: Array, eps: float, start: int, stop: int
) -> None:
    """Normalise each row. ``saved`` gets its mean, the rounding error of the mean, and 1 / its standard deviation."""
    real = x.dtype.type
    width = real(x.shape[1])
    for i in range(start, stop):
        row, out = x[i], ans[i]
        total, left, squares = real(0), real(0), real(0)
        for j in range(row.size):
            total = plus(total, row[j])
        mean = total / width
        for j in range(row.size):
            left = plus(left, row[j] - mean)
        left /= width  # the rounding error of the mean, which matters if a row is almost constant
        for j in range(row.size):
            squares = plus(squares, (row[j] - mean - left) * (row[j] - mean - left))
        inverse = real(1) / math.sqrt(squares / width + real(eps))
        for j in range(row.size):
            out[j] = (row[j] - mean - left) * inverse * gamma[j] + beta[j]
        saved[i, 0] = mean
        saved[i, 1] = left
        saved[i, 2] = inverse


@compiled("r2 r2 r1 r2 w2 w2 w2 n n")
def layer_norm_backward(
    g: Array, x: Array, gamma: Array, saved: Array, dx: Array, d_gamma: Array, d_beta: Array, start: int, stop: int
) -> None:
    """Compute the gradients. ``start`` and ``stop`` count blocks; ``d_gamma`` and ``d_beta`` get one sum per block."""
    real = x.dtype.type
    width = real(x.shape[1])
    for block in range(start, stop):
        gammas, betas = d_gamma[block], d_beta[block]
        gammas[:] = real(0)
        betas[:] = real(0)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, x.shape[0])):
            d, row, out = g[i], x[i], dx[i]
            mean, left, inverse = saved[i, 0], saved[i, 1], saved[i, 2]
            total, along = real(0), real(0)
            for j in range(d.size):
                normed = (row[j] - mean - left) * inverse
                gammas[j] += d[j] * normed
                betas[j] += d[j]
                total = plus(total, d[j] * gamma[j])
                along = plus(along, d[j] * gamma[j] * normed)
            total /= width
            along /= width
            for j in range(d.size):
                out[j] = (d[j] * gamma[j] - total - (row[j] - mean - left) * inverse * along) * inverse


# --- attention ------------------------------------------------------------------------------------------------------


_TOGETHER = 32  # about as many elements as the processor computes at a time; ends are rounded up to a multiple of this


@compiled("b4")
def spans(mask: Array) -> Array:
    """Return two numbers for each row of a mask: an end from which on all elements are False, and the count of True."""
    ends = np.empty((*mask.shape[:3], 2), np.int64)
    for i, j, k in np.ndindex(mask.shape[:3]):
        row = mask[i, j, k]
        end = row.size
        while end > 0 and not row[end - 1]:
            end -= 1
        end = min(-(-end // _TOGETHER) * _TOGETHER, row.size)
        count = 0
        for key in range(end):
            count += row[key]
        ends[i, j, k, 0] = end
        ends[i, j, k, 1] = count
    return ends


_LOWEST = -1e30  # a masked score, as in rules/neural.py; a row with only -inf and masked scores gives zeros
# Smaller weights become 0 in float32 and in float64. They would not change the gradient noticeably.
_NEGLIGIBLE, _NEGLIGIBLE_DOUBLE = 1e-30, 1e-290


@compiled("w4 b4 i4 x")
def attention_weights(scores: Array, mask: Array, ends: Array, scale: float) -> None:
    """Replace the scores (sequences, heads, queries, keys) by the softmax of the scaled scores, in place.

    ``ends`` are the ``spans`` of the mask. Each axis of the mask is as long as that of the scores, or 1. ``scale`` must be
    positive.
    """
    real = scores.dtype.type
    for n in range(scores.shape[0]):
        for h in range(scores.shape[1]):
            for q in range(scores.shape[2]):
                row = scores[n, h, q]
                a, b, c = n if len(ends) > 1 else 0, h if ends.shape[1] > 1 else 0, q if ends.shape[2] > 1 else 0
                end, count = ends[a, b, c]
                keys = row[:end]  # with a causal mask, this is half of the row on average
                if count < end:
                    allowed = mask[a, b, c]
                    for j in range(keys.size):
                        keys[j] = keys[j] if allowed[j] else real(_LOWEST)
                most = largest(keys)
                if count < row.size and most < real(_LOWEST):
                    most = real(_LOWEST)
                for j in range(keys.size):
                    keys[j] = exp((keys[j] - most) * real(scale))
                if count < end:  # a small scale may have given masked scores a weight
                    allowed = mask[a, b, c]
                    for j in range(keys.size):
                        keys[j] = keys[j] if allowed[j] else real(0)
                share_out(keys, real(_NEGLIGIBLE) if scores.itemsize == 4 else real(_NEGLIGIBLE_DOUBLE))
                for j in range(end, row.size):
                    row[j] = real(0)


@compiled("r4 w4 i4 x")
def attention_weights_backward(weights: Array, d: Array, ends: Array, scale: float) -> None:
    """Replace ``d``, the gradient of the weights, by the gradient of the scores, in place."""
    real = d.dtype.type
    for n in range(d.shape[0]):
        for h in range(d.shape[1]):
            for q in range(d.shape[2]):
                a, b, c = n if len(ends) > 1 else 0, h if ends.shape[1] > 1 else 0, q if ends.shape[2] > 1 else 0
                end = ends[a, b, c, 0]
                row, share = d[n, h, q], weights[n, h, q]
                keys = row[:end]
                along = real(0)
                for j in range(keys.size):
                    along = plus(along, keys[j] * share[j])
                for j in range(keys.size):
                    keys[j] = (keys[j] - along) * share[j] * real(scale)
                for j in range(end, row.size):
                    row[j] = real(0)
