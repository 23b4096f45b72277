"""The kernels that go over elements: activations and Adam.

They are compiled as ``arithmetic.py`` says; ``start`` and ``stop`` are the elements that a thread takes.
"""

import math

from ...engine.types import Array
from .arithmetic import compiled, logistic, normal

# --- elementwise ----------------------------------------------------------------------------------------------------


@compiled("r1 w1 n n")
def relu(x: Array, ans: Array, start: int, stop: int) -> None:
    real = x.dtype.type
    x, ans = x[start:stop], ans[start:stop]
    for i in range(x.size):
        ans[i] = real(0) if x[i] < 0 else x[i]


@compiled("r1 r1 w1 n n")
def relu_backward(g: Array, ans: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    g, ans, dx = g[start:stop], ans[start:stop], dx[start:stop]
    for i in range(g.size):
        dx[i] = g[i] * (real(1) if ans[i] > 0 else real(0))


@compiled("r1 w1 n n")
def sigmoid(x: Array, ans: Array, start: int, stop: int) -> None:
    x, ans = x[start:stop], ans[start:stop]
    for i in range(x.size):
        ans[i] = logistic(x[i])


@compiled("r1 r1 w1 n n")
def sigmoid_backward(g: Array, ans: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    g, ans, dx = g[start:stop], ans[start:stop], dx[start:stop]
    for i in range(g.size):
        dx[i] = g[i] * ans[i] * (real(1) - ans[i])


@compiled("r1 w1 n n")
def silu(x: Array, ans: Array, start: int, stop: int) -> None:
    x, ans = x[start:stop], ans[start:stop]
    for i in range(x.size):
        ans[i] = x[i] * logistic(x[i])


@compiled("r1 r1 w1 n n")
def silu_backward(g: Array, x: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    g, x, dx = g[start:stop], x[start:stop], dx[start:stop]
    for i in range(g.size):
        share = logistic(x[i])
        dx[i] = g[i] * (share + x[i] * share * (real(1) - share))


@compiled("r1 w1 n n")
def gelu(x: Array, ans: Array, start: int, stop: int) -> None:
    x, ans = x[start:stop], ans[start:stop]
    for i in range(x.size):
        ans[i] = x[i] * normal(x[i])[0]


@compiled("r1 r1 w1 n n")
def gelu_backward(g: Array, x: Array, dx: Array, start: int, stop: int) -> None:
    g, x, dx = g[start:stop], x[start:stop], dx[start:stop]
    for i in range(g.size):
        share, density = normal(x[i])
        dx[i] = g[i] * (share + x[i] * density)


# (1 + tanh(u)) / 2 is logistic(2 u); here 2 u = x (_LINEAR + _CUBIC x^2).
_LINEAR = 2 * math.sqrt(2 / math.pi)
_CUBIC = _LINEAR * 0.044715


@compiled("r1 w1 n n")
def gelu_tanh(x: Array, ans: Array, start: int, stop: int) -> None:
    real = x.dtype.type
    x, ans = x[start:stop], ans[start:stop]
    for i in range(x.size):
        ans[i] = x[i] * logistic(x[i] * (real(_LINEAR) + real(_CUBIC) * x[i] * x[i]))


@compiled("r1 r1 w1 n n")
def gelu_tanh_backward(g: Array, x: Array, dx: Array, start: int, stop: int) -> None:
    real = g.dtype.type
    g, x, dx = g[start:stop], x[start:stop], dx[start:stop]
    for i in range(g.size):
        square = x[i] * x[i]
        share = logistic(x[i] * (real(_LINEAR) + real(_CUBIC) * square))
        slope = x[i] * (real(_LINEAR) + real(3 * _CUBIC) * square)
        dx[i] = g[i] * (share + share * (real(1) - share) * slope)


# --- Adam -----------------------------------------------------------------------------------------------------------


@compiled("w1 r1 w1 w1 x x x x x n n")
def adam(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    step: float,
    beta_1: float,
    beta_2: float,
    root: float,
    eps: float,
    start: int,
    stop: int,
) -> None:
    """``p -= step * m / (root * sqrt(v) + eps)``, after the means ``m`` and ``v`` took in ``g``."""
    real = p.dtype.type
    p, g, m, v = p[start:stop], g[start:stop], m[start:stop], v[start:stop]
    rest_1, rest_2 = real(1 - beta_1), real(1 - beta_2)
    for i in range(p.size):
        mean = real(beta_1) * m[i] + rest_1 * g[i]
        square = real(beta_2) * v[i] + rest_2 * g[i] * g[i]
        m[i] = mean
        v[i] = square
        p[i] -= real(step) * mean / (real(root) * math.sqrt(square) + real(eps))
