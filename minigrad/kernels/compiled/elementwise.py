"""The compiled loops over elements: activations and Adam.

``arithmetic.py`` explains how they are compiled. ``over_elements`` calls each loop with parts of the arrays.
"""

import math

from ...engine.types import Array
from ...rules.neural import FLAT, TANH_CUBIC, TANH_SCALE
from .arithmetic import compiled, logistic, logistic_and_slope, normal

# --- elementwise ----------------------------------------------------------------------------------------------------


@compiled("r1 w1")
def gelu(x: Array, ans: Array) -> None:
    for i in range(x.size):
        ans[i] = x[i] * normal(x[i])[0]


@compiled("r1 r1 w1")
def gelu_backward(g: Array, x: Array, dx: Array) -> None:
    for i in range(g.size):
        share, density = normal(x[i])
        dx[i] = g[i] * (share + x[i] * density)


# The loops below use (1 + tanh(u)) / 2 = logistic(2 u) with 2 u = x (_LINEAR + _CUBIC x^2).
_LINEAR = 2 * TANH_SCALE
_CUBIC = _LINEAR * TANH_CUBIC


@compiled("r1 w1")
def gelu_tanh(x: Array, ans: Array) -> None:
    real = x.dtype.type
    for i in range(x.size):
        ans[i] = x[i] * logistic(x[i] * (real(_LINEAR) + real(_CUBIC) * x[i] * x[i]))


@compiled("r1 r1 w1")
def gelu_tanh_backward(g: Array, x: Array, dx: Array) -> None:
    real = g.dtype.type
    flat = real(FLAT)
    for i in range(g.size):
        near = flat if x[i] > flat else x[i]
        near = -flat if near < -flat else near
        square = near * near
        share, slope = logistic_and_slope(near * (real(_LINEAR) + real(_CUBIC) * square))
        dx[i] = g[i] * (share + slope * x[i] * (real(_LINEAR) + real(3 * _CUBIC) * square))


# --- Adam -----------------------------------------------------------------------------------------------------------


@compiled("w1 w1 w1 r1 x x x x x")
def adam(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    step: float,
    beta_1: float,
    beta_2: float,
    root: float,
    eps: float,
) -> None:
    """Update the means ``m`` and ``v`` with ``g``, then compute ``p -= step * m / (root * sqrt(v) + eps)``."""
    real = p.dtype.type
    rest_1, rest_2 = real(1 - beta_1), real(1 - beta_2)
    for i in range(p.size):
        mean = real(beta_1) * m[i] + rest_1 * g[i]
        square = real(beta_2) * v[i] + rest_2 * g[i] * g[i]
        m[i] = mean
        v[i] = square
        p[i] -= real(step) * mean / (real(root) * math.sqrt(square) + real(eps))
