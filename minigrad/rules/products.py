"""Products of attention, in which a weight of 0 reads nothing: 0 times NaN, at padding, would be NaN.

:func:`weighted_sum` and :func:`dot_products` are plain matrix products while all is finite, which one fast sum finds out.
Otherwise they are two primitives, whose derivatives are one another.
"""

from typing import Any

import numpy as np

from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from .ranges import all_finite


def weighted_sum(weights: Any, values: Any) -> Any:
    """Return ``weights @ values``; where a weight is 0, the value is not read, forward or backward."""
    return np.matmul(weights, values) if all_finite(values) else weighted(weights, values)


def dot_products(x: Any, y: Any) -> Any:
    """Return ``x @ y^T``, each row of x by each of y; where a gradient is 0, the rows are not read backward."""
    return np.matmul(x, y.swapaxes(-1, -2)) if all_finite(x, y) else pairs(x, y)


def _weighted(weights: Array, values: Array, /) -> Array:
    finite = np.isfinite(values)
    ans = np.matmul(weights, np.where(finite, values, 0))
    read = np.matmul((weights != 0).astype(ans.dtype), (~finite).astype(ans.dtype)) > 0
    return np.where(read, np.asarray(np.nan, ans.dtype, like=ans), ans)


def _pairs(x: Array, y: Array, /) -> Array:
    with np.errstate(invalid="ignore"):  # inf - inf; a mask may exclude this pair
        return np.matmul(x, y.swapaxes(-1, -2))


weighted: Primitive = primitive(_weighted, name="weighted_sum").vjp(
    weights=lambda g, values: pairs(g, values), values=lambda g, weights: weighted(weights.swapaxes(-1, -2), g)
)
pairs: Primitive = primitive(_pairs, name="dot_products").vjp(
    x=lambda g, y: weighted(g, y), y=lambda g, x: weighted(g.swapaxes(-1, -2), x)
)
