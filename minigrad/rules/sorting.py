"""Sorting, unique values and quantiles. The gradient follows each element; equal elements keep their order."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..device import is_device_array
from ..engine.functions import composite
from ..engine.methods import Axis, values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .about import about
from .axes import Shape, at_least_float32, axes_of, from_rows, rows_of, with_keywords
from .indexing import _along_axis, scatter_add


def order(rows: Array) -> Array:
    """Return the positions of the elements of each row in ascending order; equal elements keep their order."""
    return np.argsort(rows, axis=-1, kind="stable")


def ranks(rows: Array) -> Array:
    """Return the place of each element in the order of its row: the inverse of the permutation ``order``."""
    return np.argsort(np.argsort(rows, axis=-1, kind="stable"), axis=-1)


def _returned(g: Array, a: Array, a_shape: tuple[int, ...], axis: int | None) -> Array:
    """Return each cotangent to the place that its element had in ``a``."""
    places = ranks(values_of(rows_of(a, axis)))
    return from_rows(np.take_along_axis(rows_of(g, axis), places, axis=-1), a_shape, axis)


def _partition_rule(g: Array, a: Array, ans: Array, a_shape: tuple[int, ...], axis: int | None) -> Array:
    """Sort the cotangents first: the k-th smallest element of ``a`` is the k-th smallest of ``ans``."""
    ascending = np.take_along_axis(rows_of(g, axis), order(values_of(rows_of(ans, axis))), axis=-1)
    return _returned(from_rows(ascending, a_shape, axis), a, a_shape, axis)


sort = primitive(np.sort, with_keywords(np.sort, axis=-1, kind=None, stable=None)).vjp(a=_returned)
partition = primitive(np.partition, lambda a, /, kth, axis=-1: np.partition(a, kth, axis)).vjp(a=_partition_rule)
about(sort, partition, formulas={"a": "g, in the original order of a"})


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """Pick the values by index, the first of equal ones; the indices and counts are plain arrays."""
    find: Any = np.unique
    found = find(values_of(ar), True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    values = np.take(np.reshape(ar, (-1,)), found[1], axis=0) if axis is None else np.take(ar, found[1], axis=axis)
    rest = found[1:] if return_index else found[2:]
    return (values, *rest) if rest else values


composite(np.unique, _unique)


# Quantiles interpolate between two elements of the sorted slice.


def _over_sorted(ranks: Callable[[Any], Any], a: Array, axis: Axis, keepdims: bool, skip_nan: bool) -> Array:
    """Interpolate between two elements of each row (..., length) of which n are not NaN.

    ``ranks(n)`` returns their positions (..., 2) in the sorted row, and the share of the second.
    """
    rows, reduced = rows_of(values_of(a), axis), axes_of(a.ndim, axis)
    n = np.sum(rows == rows, axis=-1, keepdims=True)
    positions, share = ranks(n)
    places, unknown = np.take_along_axis(order(rows), positions, axis=-1), None if skip_nan else n < rows.shape[-1]
    shape = tuple([1 if i in reduced else m for i, m in enumerate(a.shape) if keepdims or i not in reduced])
    return between(a, axis=axis, places=places, share=share, unknown=unknown, shape=shape)


def _interpolated(a: Array, /, axis: Axis, places: Array, share: Any, unknown: Any, shape: Shape) -> Array:
    """Return elements between those at ``places`` (..., 2) of each row, or the first if there is no share of the second."""
    picked = np.take_along_axis(rows_of(a, axis), places, axis=-1)
    left, right = picked[..., :1], picked[..., 1:]
    if share is None:
        ans = left
    elif type(share) is float:  # the mean of infinite elements is infinite
        ans = (1 - share) * left + share * right
    else:  # as in NumPy
        ans = np.where(share < 0.5, left + (right - left) * share, right - (right - left) * (1 - share))
    return np.reshape(ans if unknown is None else np.where(unknown, np.nan, ans), shape)


def _interpolated_rule(g: Array, a_shape: Shape, axis: Axis, places: Array, share: Any, unknown: Any) -> Array:
    """Return the cotangent at both places; it is 0 for all other elements, and where the result is NaN for lack of one."""
    g = np.reshape(g, (*places.shape[:-1], 1))
    g = g if unknown is None else np.where(unknown, 0, g)
    if share is None:
        places = places[..., :1]
    else:
        g = np.concatenate([g * (1 - share), g * share], axis=-1)
    rows = (*places.shape[:-1], math.prod([a_shape[i] for i in axes_of(len(a_shape), axis)]))
    return from_rows(scatter_add(g, index=_along_axis(rows, places, -1), shape=rows), a_shape, axis)


between = primitive(_interpolated, name="between").vjp(a=_interpolated_rule)
about(between, formulas={"a": "g * share, added at the selected elements, 0 elsewhere"})


def _median(skip_nan: bool) -> Callable[..., Any]:
    def middle(n: Any) -> Any:
        return np.concatenate([(n - 1) // 2, n // 2], axis=-1), 0.5

    def median(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        if not a.size:  # the mean of nothing is NaN
            return np.mean(a, axis=axis, keepdims=keepdims)
        return _over_sorted(middle, a, axis, keepdims, skip_nan)

    return median


def _between(alpha: float, beta: float) -> Callable[[Any, Any], Any]:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


# The position of the quantile q among n sorted elements, counted from 0; a fraction interpolates between two elements.
# See R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", 1996. The last five methods are NumPy's own.
_POSITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "averaged_inverted_cdf": lambda n, q: np.where((n * q) % 1 == 0, n * q - 0.5, np.ceil(n * q - 1)),
    "closest_observation": lambda n, q: np.floor(n * q - 1.5) + ((n * q - 1.5) % 2 != 1),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "median_unbiased": _between(1 / 3.0, 1 / 3.0),
    "normal_unbiased": _between(3 / 8.0, 3 / 8.0),
    "linear": lambda n, q: (n - 1) * q,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
    "nearest": lambda n, q: np.rint((n - 1) * q),
}


def _quantile(skip_nan: bool, whole: int) -> Callable[..., Any]:
    """Return a quantile function for plain ``q`` in 0 ... ``whole``; ``q`` has no derivative."""

    def ranks(n: Any, q: Any, method: str) -> Any:
        exact = at_least_float32(q)  # a count of float16 would end at 65504
        position = _POSITIONS[method](n.astype(exact.dtype), exact)
        low = np.floor(position)
        both = np.minimum(np.maximum(np.concatenate([low, low + 1], axis=-1), 0), n - 1).astype(np.intp)
        steps = method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
        return both, None if steps else (position - low).astype(q.dtype)

    def quantile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
        if method not in _POSITIONS:
            raise ArgumentError(f"quantiles take method={', '.join(map(repr, _POSITIONS))}, got {method!r}")
        q = (q if is_device_array(q) else np.asarray(q, a.dtype if isinstance(q, (int, float)) else None)) / whole
        if not ((q >= 0) & (q <= 1)).all():
            raise ArgumentError(f"quantiles lie in 0 ... {whole}")
        if skip_nan and not a.size:  # as in NumPy, one result for all q
            return np.mean(a, axis=axis, keepdims=keepdims)
        found = [_over_sorted(partial(ranks, q=p, method=method), a, axis, keepdims, skip_nan) for p in q.reshape(-1)]
        return np.reshape(np.stack(found), q.shape + found[0].shape) if q.ndim else found[0]

    return quantile


composite(np.median, _median(skip_nan=False))
composite(np.nanmedian, _median(skip_nan=True))
composite(np.quantile, _quantile(skip_nan=False, whole=1))
composite(np.nanquantile, _quantile(skip_nan=True, whole=1))
composite(np.percentile, _quantile(skip_nan=False, whole=100))
composite(np.nanpercentile, _quantile(skip_nan=True, whole=100))
