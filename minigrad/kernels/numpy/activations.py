"""Kernels of sigmoid, silu and gelu. They work on blocks that stay in the cache between two passes."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.neural import TANH_CUBIC, TANH_SCALE, gelu, logistic, sigmoid, silu
from ...rules.special import erf, erf_of_float32
from ..threads import BLOCK, in_blocks
from .rows import Needs

# --- sigmoid and silu -----------------------------------------------------------------------------------------------


def _is_normal(x: Array) -> bool:
    """Whether no sigmoid of x is subnormal: then exp(-x) does not overflow."""
    return bool(x.size and x.min() > np.log(np.finfo(x.dtype).tiny))


def _logistic(x: Array, /) -> Array:
    """Compute ``1 / (1 + exp(-x))``."""
    known = type(x) is np.ndarray and x.ndim and x.dtype.kind == "f" and _is_normal(x)
    return 1 / (1 + np.exp(-x)) if known else NotImplemented


def _with_slope(fill: Any) -> Any:
    """Return a forward that calls ``fill(x, ans, slope)`` for each block. ``slope``, the derivative, is for the backward."""

    def forward(x: Array) -> Any:
        if not _is_normal(x):
            return NotImplemented
        ans, slope = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)
        _over_blocks(fill, x.reshape(-1), ans.reshape(-1), slope.reshape(-1))
        return ans, slope

    return forward


def _over_blocks(fill: Any, *arrays: Array) -> None:
    if arrays[0].size <= BLOCK:
        fill(*arrays)
    else:
        in_blocks(fill, *arrays)


def _times_slope(g: Array, needs: Needs, saved: Array) -> tuple[Array]:
    dx = np.empty(saved.shape, saved.dtype)
    _over_blocks(np.multiply, g.reshape(-1), saved.reshape(-1), dx.reshape(-1))
    return (dx,)


def _fill_sigmoid(x: Array, ans: Array, slope: Array) -> None:
    """With e = exp(-x), compute 1 / (1 + e), and the slope e / (1 + e)^2, without cancellation."""
    np.negative(x, out=slope)
    np.exp(slope, out=slope)
    np.add(slope, 1, out=ans)
    np.divide(1, ans, out=ans)
    slope *= ans
    slope *= ans


def _fill_silu(x: Array, ans: Array, slope: Array) -> None:
    """Compute ``x s`` and its derivative ``s + x s'`` with s = sigmoid(x)."""
    _fill_sigmoid(x, ans, slope)
    slope *= x
    slope += ans
    ans *= x


logistic.kernel(_logistic)
sigmoid.kernel(np.ndarray, _with_slope(_fill_sigmoid), _times_slope)
silu.kernel(np.ndarray, _with_slope(_fill_silu), _times_slope)


# --- gelu -----------------------------------------------------------------------------------------------------------


def gelu_forward(x: Array, approximate: str = "none") -> Any:
    if approximate not in ("none", "tanh"):
        return NotImplemented
    ans, saved = np.empty(x.shape, x.dtype), np.empty(x.shape, x.dtype)

    def exact(x: Array, cdf: Array, y: Array) -> None:
        root = math.sqrt(0.5)
        np.multiply(erf_of_float32(x, root) if x.dtype == np.float32 else erf.function(x * root), 0.5, out=cdf)
        cdf += 0.5
        np.multiply(x, cdf, out=y)

    def with_tanh(x: Array, t: Array, y: Array) -> None:
        with np.errstate(over="ignore"):  # tanh(inf) is 1
            np.multiply(x, x, out=t)
            t *= TANH_CUBIC
            t += 1
            t *= x
            t *= TANH_SCALE
        np.tanh(t, out=t)
        np.add(t, 1, out=y)
        y *= 0.5
        y *= x

    in_blocks(exact if approximate == "none" else with_tanh, x.reshape(-1), saved.reshape(-1), ans.reshape(-1))
    return ans, saved


def gelu_backward(g: Array, needs: Needs, x: Array, saved: Array, approximate: str) -> tuple[Array]:
    dx = np.empty(x.shape, x.dtype)

    def exact(x: Array, cdf: Array, g: Array, d: Array) -> None:
        """Compute g (Phi(x) + x exp(-x^2/2) / sqrt(2 pi)). ``cdf`` is Phi(x)."""
        with np.errstate(over="ignore"):  # exp(-inf) is 0
            np.multiply(x, x, out=d)
        d *= -0.5
        np.exp(d, out=d)
        d *= x
        d *= 1 / math.sqrt(2 * math.pi)
        d += cdf
        d *= g

    def with_tanh(x: Array, t: Array, g: Array, d: Array) -> None:
        """Compute g ((1 + t)/2 + x (1 - t^2)/2 * sqrt(2/pi) (1 + 3 * 0.044715 x^2))."""
        other = t * t  # the factor 1 - t^2 comes first: it is 0 for large x, where x^2 alone could overflow
        np.subtract(1, other, out=other)
        other *= x
        np.multiply(other, x, out=d)
        d *= x
        d *= 3 * TANH_CUBIC
        d += other
        d *= TANH_SCALE
        d += t
        d += 1
        d *= 0.5
        d *= g

    flat = (array.reshape(-1) for array in (x, saved, g, dx))
    in_blocks(exact if approximate == "none" else with_tanh, *flat)
    return (dx,)


gelu.kernel(np.ndarray, gelu_forward, gelu_backward)
