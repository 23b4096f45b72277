"""The compiled loops over rows: layer norm.

``arithmetic.py`` explains how they are compiled. A thread runs a loop on the rows from ``start`` to ``stop``.
"""

import math

from ...engine.types import Array
from .arithmetic import compiled, plus

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
