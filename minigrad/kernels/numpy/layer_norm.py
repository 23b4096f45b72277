"""The kernels of layer norm and RMS norm. They work on one block of rows at a time."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.neural import layer_norm, rms_norm
from ...rules.ranges import variances_fit
from ..threads import in_blocks
from .rows import Needs, as_rows, row_sums
from .sums import ones


def layer_norm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
    return _forward(x, gamma, beta, float(eps)) if gamma.shape == beta.shape else NotImplemented


def _rms_norm_forward(x: Array, weight: Array, eps: float = 1e-6) -> Any:
    return _forward(x, weight, None, float(eps))


def _forward(x: Array, gamma: Array, beta: Array | None, eps: float) -> Any:
    """Compute the layer norm, or, without ``beta``, the RMS norm, which subtracts no mean."""
    d = x.shape[-1]
    if not d or gamma.shape != (d,):
        return NotImplemented
    ans, inverse = np.empty(x.shape, x.dtype), np.empty((x.size // d, 1), x.dtype)
    normed, share = np.empty((x.size // d, d), x.dtype), ones(d, x.dtype, 1 / d)

    def some(x: Array, y: Array, scale: Array, result: Array) -> None:
        # Squares of large or small numbers leave the range of the dtype; the plain rule then scales them.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if beta is not None:
                x = np.subtract(x, row_sums(x, share)[:, None], out=y)
                # The rounding error of the mean matters for almost constant rows.
                y -= row_sums(y, share)[:, None]
            np.vecdot(x, x, out=scale[:, 0])
            scale *= 1 / d
            scale += eps
            np.reciprocal(np.sqrt(scale, out=scale), out=scale)
            np.multiply(x, scale, out=y)
        np.multiply(y, gamma, out=result)
        if beta is not None:
            result += beta

    in_blocks(some, as_rows(x), normed, inverse, as_rows(ans), passes=12)
    return (ans, (normed, inverse)) if variances_fit(inverse, eps) else NotImplemented


def _rms_norm_backward(g: Array, needs: Needs, saved: Any, x_shape: Any, weight: Array) -> tuple[Any, ...]:
    return layer_norm_backward(g, needs, saved, x_shape, weight)[:2]


def layer_norm_backward(g: Array, needs: Needs, saved: Any, x_shape: Any, gamma: Array) -> tuple[Any, ...]:
    """Compute the gradients of layer norm, or of RMS norm, which has two arguments and so two ``needs``."""
    normed, inverse = saved
    dx, shares = np.empty(normed.shape, normed.dtype), gamma * (1 / len(gamma))
    centred = len(needs) > 2

    def some(y: Array, g: Array, scale: Array, result: Array) -> tuple[Any, Any]:
        """Compute dx = (g' - mean(g') - normed * mean(g' * normed)) / std with g' = g * gamma; RMS norm has no mean(g')."""
        np.multiply(g, y, out=result)
        sums = ones(len(g), g.dtype)
        d_gamma, d_beta = sums.dot(result), sums.dot(g) if centred else 0
        if needs[0]:
            np.multiply(y, row_sums(result, shares)[:, None], out=result)
            if centred:
                result += row_sums(g, shares)[:, None]
            np.subtract(g * gamma, result, out=result)
            result *= scale
        return d_gamma, d_beta

    sums = in_blocks(some, normed, as_rows(g), inverse, dx)
    d_gamma, d_beta = sums[0] if len(sums) == 1 else (sum(parts[1:], start=parts[0]) for parts in zip(*sums))
    return dx.reshape(x_shape) if needs[0] else None, d_gamma if needs[1] else None, d_beta if needs[-1] else None


layer_norm.kernel(np.ndarray, layer_norm_forward, layer_norm_backward)
rms_norm.kernel(np.ndarray, _rms_norm_forward, _rms_norm_backward)
