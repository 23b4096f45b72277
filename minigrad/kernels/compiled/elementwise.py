"""The compiled loops over elements: gelu and Adam.

``arithmetic.py`` explains how they are compiled. ``over_elements`` calls each loop with parts of the arrays.
"""

import math

import numpy as np

from ...engine.types import Array
from ...rules.neural import FLAT, TANH_CUBIC, TANH_SCALE
from .arithmetic import compiled, logistic_and_slope, normal

# The loops of gelu_tanh use (1 + tanh(u)) / 2 = logistic(2 u) with 2 u = x (_LINEAR + _CUBIC x^2).
_LINEAR, _CUBIC = np.float32(2 * TANH_SCALE), np.float32(2 * TANH_SCALE * TANH_CUBIC)
_SLOPE, _FLAT = np.float32(3 * 2 * TANH_SCALE * TANH_CUBIC), np.float32(FLAT)


@compiled("r1 w1")
def gelu(x: Array, ans: Array) -> None:
    for i in range(x.size):
        ans[i] = x[i] * normal(x[i])[0]


@compiled("r1 r1 w1")
def gelu_backward(g: Array, x: Array, dx: Array) -> None:
    for i in range(g.size):
        share, density = normal(x[i])
        dx[i] = g[i] * (share + x[i] * density)


@compiled("r1 w1")
def gelu_tanh(x: Array, ans: Array) -> None:
    for i in range(x.size):
        ans[i] = x[i] * logistic_and_slope(x[i] * (_LINEAR + _CUBIC * x[i] * x[i]))[0]


@compiled("r1 r1 w1")
def gelu_tanh_backward(g: Array, x: Array, dx: Array) -> None:
    for i in range(g.size):
        near = _FLAT if x[i] > _FLAT else x[i]
        near = -_FLAT if near < -_FLAT else near
        square = near * near
        share, slope = logistic_and_slope(near * (_LINEAR + _CUBIC * square))
        dx[i] = g[i] * (share + slope * x[i] * (_LINEAR + _SLOPE * square))


@compiled("w1 w1 w1 r1 x x x x x")
def adam(
    p: Array, m: Array, v: Array, g: Array, step: float, beta_1: float, beta_2: float, root: float, eps: float
) -> None:
    """Update the means ``m`` and ``v`` with ``g``, then compute ``p -= step * m / (root * sqrt(v) + eps)``."""
    first, second, rest_1, rest_2 = (
        np.float32(beta_1),
        np.float32(beta_2),
        np.float32(1 - beta_1),
        np.float32(1 - beta_2),
    )
    for i in range(p.size):
        m[i] = mean = first * m[i] + rest_1 * g[i]
        v[i] = square = second * v[i] + rest_2 * g[i] * g[i]
        p[i] -= np.float32(step) * mean / (np.float32(root) * math.sqrt(square) + np.float32(eps))
