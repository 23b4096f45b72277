"""The kernels of losses. The forward of the binary cross-entropy also computes the derivative, which shares ``exp(-|z|)``."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.losses import REDUCTIONS, binary_cross_entropy_with_logits, of_each, times
from ...rules.ranges import all_finite


def _of_finite(t: Array, y: Array) -> Any:
    return (t * y, None) if all_finite(y) else NotImplemented


times.kernel(np.ndarray, _of_finite)


def _with_slope(z: Array, t: Array, reduction: str = "none") -> Any:
    """Compute the loss and its derivative with respect to z, which share ``exp(-|z|)``."""
    if z.shape != t.shape or z.dtype != t.dtype:
        return NotImplemented
    if not all_finite(z):  # 0 times inf
        return NotImplemented
    size, slope = np.abs(z), (z >= 0) - t
    e = np.exp(-size)
    ans = np.abs(slope)
    ans *= size
    ans += np.log1p(e)
    np.divide(e, e + 1, out=e)
    slope -= np.copysign(e, np.add(z, 0.0, out=size), out=e)
    return REDUCTIONS[reduction](ans), slope


def _by_slope(g: Array, needs: Any, z: Array, saved: Array, reduction: str) -> Any:
    g = of_each(g, z.size, reduction)
    return g * saved, -g * z if needs[1] else None


binary_cross_entropy_with_logits.kernel(np.ndarray, _with_slope, _by_slope)
