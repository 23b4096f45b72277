"""The compiled loops over rows: layer norm, whose loops go from ``start`` to ``stop``, and the sums of a softmax."""

import math

import numpy as np

from ...engine.types import Array
from .arithmetic import compiled, exp, plus

BLOCK = 128  # rows in a block, which has its own sums: the order of additions must not depend on the threads


@compiled("r2 r1 r1 w2 w2 x n n")
def layer_norm(
    x: Array, gamma: Array, beta: Array, ans: Array, saved: Array, eps: float, start: int, stop: int
) -> None:
    """Normalise each row. ``saved`` gets its mean, the rounding error of the mean, and 1 / its standard deviation."""
    width = np.float32(x.shape[1])
    for i in range(start, stop):
        row, out = x[i], ans[i]
        total, left, squares = np.float32(0), np.float32(0), np.float32(0)
        for j in range(row.size):
            total = plus(total, row[j])
        mean = total / width
        for j in range(row.size):
            left = plus(left, row[j] - mean)
        left /= width  # the rounding error of the mean, which matters if a row is almost constant
        for j in range(row.size):
            squares = plus(squares, (row[j] - mean - left) * (row[j] - mean - left))
        inverse = np.float32(1) / math.sqrt(squares / width + np.float32(eps))
        for j in range(row.size):
            out[j] = (row[j] - mean - left) * inverse * gamma[j] + beta[j]
        saved[i, 0], saved[i, 1], saved[i, 2] = mean, left, inverse


@compiled("r2 r2 r1 r2 w2 w2 w2 n n")
def layer_norm_backward(
    g: Array, x: Array, gamma: Array, saved: Array, dx: Array, d_gamma: Array, d_beta: Array, start: int, stop: int
) -> None:
    """Compute the gradients. ``start`` and ``stop`` count blocks; ``d_gamma`` and ``d_beta`` get one sum per block."""
    width = np.float32(x.shape[1])
    for block in range(start, stop):
        gammas, betas = d_gamma[block], d_beta[block]
        gammas[:] = np.float32(0)
        betas[:] = np.float32(0)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, x.shape[0])):
            d, row, out = g[i], x[i], dx[i]
            mean, left, inverse = saved[i, 0], saved[i, 1], saved[i, 2]
            total, along = np.float32(0), np.float32(0)
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


@compiled("r2 r2 w2 w2")
def exp_and_sum(x: Array, top: Array, e: Array, total: Array) -> None:
    """Compute ``e = exp(x - top)``, where ``top`` has the maximum of each row, and the sum of each row."""
    for i in range(x.shape[0]):
        row, out, most, sum_of_row = x[i], e[i], top[i, 0], np.float32(0)
        for j in range(row.size):
            out[j] = exp(row[j] - most)
        for j in range(row.size):
            sum_of_row = plus(sum_of_row, out[j])
        total[i, 0] = sum_of_row
