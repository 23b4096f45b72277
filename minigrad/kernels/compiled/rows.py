"""The kernels that go over rows: sums, softmax, cross-entropy, layer norm, and the inner part of attention.

They are compiled as ``arithmetic.py`` says; ``start`` and ``stop`` are the rows that a thread takes.
"""

import math

import numpy as np

from ...engine.types import Array
from .arithmetic import compiled, exp, largest, plus, share_out

# --- softmax, log_softmax, cross_entropy ----------------------------------------------------------------------------


@compiled("r2 w2 x n n")
def softmax(x: Array, ans: Array, smallest: float, start: int, stop: int) -> None:
    """What would be below ``smallest`` is 0."""
    real = x.dtype.type
    for i in range(start, stop):
        row, out = x[i], ans[i]
        most = largest(row)
        for j in range(row.size):
            out[j] = exp(row[j] - most)
        share_out(out, real(smallest))


@compiled("r2 r2 w2 n n")
def softmax_backward(g: Array, ans: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    for i in range(start, stop):
        d, share, out = g[i], ans[i], dx[i]
        along = real(0)
        for j in range(d.size):
            along = plus(along, d[j] * share[j])
        for j in range(d.size):
            out[j] = share[j] * (d[j] - along)


@compiled("r2 w2 n n")
def log_softmax(x: Array, ans: Array, start: int, stop: int) -> None:
    real = x.dtype.type
    for i in range(start, stop):
        row, out = x[i], ans[i]
        most = largest(row)
        total = real(0)
        for j in range(row.size):
            total = plus(total, exp(row[j] - most))
        log_total = math.log(total)
        for j in range(row.size):
            out[j] = (row[j] - most) - log_total


@compiled("r2 r2 w2 n n")
def log_softmax_backward(g: Array, ans: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    for i in range(start, stop):
        d, log_share, out = g[i], ans[i], dx[i]
        total = real(0)
        for j in range(d.size):
            total = plus(total, d[j])
        for j in range(d.size):
            out[j] = d[j] - exp(log_share[j]) * total


@compiled("i1 n n")
def within(numbers: Array, lowest: int, end: int) -> bool:
    """Whether all are at least ``lowest`` and below ``end``."""
    outside = 0
    for i in range(numbers.size):
        outside += (numbers[i] < lowest) | (numbers[i] >= end)
    return outside == 0


@compiled("r2 i1 w1 w2 n n")
def cross_entropy(logits: Array, labels: Array, losses: Array, saved: Array, start: int, stop: int) -> None:
    """``saved`` takes of each row what makes a probability of a logit: the maximum, and 1 / the sum of exp."""
    real = logits.dtype.type
    for i in range(start, stop):
        row = logits[i]
        most = largest(row)
        total = real(0)
        for j in range(row.size):
            total = plus(total, exp(row[j] - most))
        losses[i] = math.log(total) - (row[labels[i]] - most)
        saved[i, 0] = most
        saved[i, 1] = real(1) / total


@compiled("r2 r1 i1 r2 w2 n n")
def cross_entropy_backward(
    logits: Array, g: Array, labels: Array, saved: Array, dx: Array, start: int, stop: int
) -> None:
    """``g`` is one number for each row."""
    for i in range(start, stop):
        row, out = logits[i], dx[i]
        most, scale = saved[i, 0], g[i] * saved[i, 1]
        for j in range(row.size):
            out[j] = exp(row[j] - most) * scale
        out[labels[i]] -= g[i]


# --- layer_norm ------------------------------------------------------------------------------------------------------

BLOCK = 128  # rows that are summed by themselves: the order of a sum must not depend on the number of threads


@compiled("r2 r1 r1 w2 w2 x n n")
def layer_norm(
    x: Array, gamma: Array, beta: Array, ans: Array, saved: Array, eps: float, start: int, stop: int
) -> None:
    """``saved`` takes of each row its mean, what rounding left of it, and 1 / its standard deviation."""
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
        left /= width  # all that there is of a row of almost equal numbers
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
    """By blocks of rows, as ``d_gamma`` and ``d_beta`` get a sum for each."""
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


_TOGETHER = 32  # what the processor computes at a time, about: of a row of 33 the last takes as long as the others


@compiled("b4")
def spans(mask: Array) -> Array:
    """Of each row of a mask: an end behind which all is False, and how many are True."""
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


_LOWEST = -1e30  # of a masked score, as in rules/neural.py: a row of nothing but -inf and masked scores gives zeros
# A weight of less becomes 0: what the backward pass multiplies it with is small too.
_NEGLIGIBLE, _NEGLIGIBLE_DOUBLE = 1e-30, 1e-290


@compiled("w4 b4 i4 x")
def attention_weights(scores: Array, mask: Array, ends: Array, scale: float) -> None:
    """Softmax of the scaled scores (sequences, heads, queries, keys), in place; ``ends`` are the ``spans`` of the mask.

    An axis of the mask is as long as that of the scores, or 1; ``scale`` is positive.
    """
    real = scores.dtype.type
    for n in range(scores.shape[0]):
        for h in range(scores.shape[1]):
            for q in range(scores.shape[2]):
                row = scores[n, h, q]
                a, b, c = n if len(ends) > 1 else 0, h if ends.shape[1] > 1 else 0, q if ends.shape[2] > 1 else 0
                end, count = ends[a, b, c]
                keys = row[:end]  # a causal mask leaves half of it
                if count < end:
                    allowed = mask[a, b, c]
                    for j in range(keys.size):
                        keys[j] = keys[j] if allowed[j] else real(_LOWEST)
                most = largest(keys)
                if count < row.size and most < real(_LOWEST):
                    most = real(_LOWEST)
                for j in range(keys.size):
                    keys[j] = exp((keys[j] - most) * real(scale))
                if count < end:  # a masked score need not be so low any more, now that it is scaled
                    allowed = mask[a, b, c]
                    for j in range(keys.size):
                        keys[j] = keys[j] if allowed[j] else real(0)
                share_out(keys, real(_NEGLIGIBLE) if scores.itemsize == 4 else real(_NEGLIGIBLE_DOUBLE))
                for j in range(end, row.size):
                    row[j] = real(0)


@compiled("r4 w4 i4 x")
def attention_weights_backward(weights: Array, d: Array, ends: Array, scale: float) -> None:
    """From the gradient ``d`` of the weights that of the scores, in place."""
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
