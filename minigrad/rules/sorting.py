"""Sorting, and what is found by it: an element's gradient goes where the element went. Equal elements keep their order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import Axis, values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .axes import axes_of, from_last, rows_of, taking, to_last


def _rearranged(g: Array, a: Array, ans: Array, a_shape: tuple[int, ...], axis: int | None) -> Array:
    """The cotangents in the order of ``a``: its k-th smallest element and that of ``ans`` are the same one."""
    g, a, ans = to_last(g, axis), to_last(a, axis), to_last(ans, axis)
    ascending = np.take_along_axis(g, np.argsort(ans, axis=-1, kind="stable"), axis=-1)
    rank = np.argsort(np.argsort(a, axis=-1, kind="stable"), axis=-1)
    return from_last(np.take_along_axis(ascending, rank, axis=-1), a_shape, axis)


sort = primitive(np.sort, taking(np.sort, axis=-1, kind=None, stable=None)).vjp(a=_rearranged)
partition = primitive(np.partition, lambda a, /, kth, axis=-1: np.partition(a, kth, axis)).vjp(a=_rearranged)


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """The values are picked by index, the first of equal ones; indices and counts are plain."""
    find: Any = np.unique
    found = find(values_of(ar), True, return_inverse, return_counts, axis, equal_nan=equal_nan)
    values = np.take(np.reshape(ar, (-1,)), found[1], axis=0) if axis is None else np.take(ar, found[1], axis=axis)
    rest = found[1:] if return_index else found[2:]
    return (values, *rest) if rest else values


composite(np.unique, _unique)


# Quantiles: the elements at two places of the sorted slice, and a point between them


def _over_sorted(between: Callable[[Any, Any], Any], a: Array, axis: Axis, keepdims: bool, skip_nan: bool) -> Array:
    """``between(rows, n)`` of the sorted slices (..., length), n of whose elements are not NaN: (..., 1)."""
    rows = np.sort(rows_of(a, axis), axis=-1)
    unknown = np.isnan(rows)
    n = np.sum(~unknown, axis=-1, keepdims=True)
    result = between(rows, n)
    if not skip_nan:
        result = np.where(unknown[..., -1:], np.nan, result)
    reduced = axes_of(a.ndim, axis)
    return np.reshape(result, [1 if i in reduced else m for i, m in enumerate(a.shape) if keepdims or i not in reduced])


def _pick(rows: Array, index: Any) -> Array:
    return np.take_along_axis(rows, index, axis=-1)


def _median(skip_nan: bool) -> Callable[..., Any]:
    def middle(rows: Array, n: Any) -> Array:
        return 0.5 * _pick(rows, (n - 1) // 2) + 0.5 * _pick(rows, n // 2)

    return lambda a, axis=None, *, keepdims=False: _over_sorted(middle, a, axis, keepdims, skip_nan)


def _between(alpha: float, beta: float) -> Callable[[Any, Any], Any]:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


# Where the quantile q of n sorted numbers lies, counted from 0 (R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
# packages", 1996; the last five are NumPy's own): at one of them, or as far between two as the fraction says.
_PLACES: dict[str, Callable[[Any, Any], Any]] = {
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
    """``q`` in 0 ... ``whole``: plain numbers, without a derivative."""

    def one(rows: Array, n: Any, q: Any, method: str) -> Array:
        place = _PLACES[method](n.astype(q.dtype), q)
        low = np.floor(place)
        indices = [np.clip(i, 0, n - 1).astype(np.intp) for i in (low, low + 1)]
        left, right, t = _pick(rows, indices[0]), _pick(rows, indices[1]), place - low
        if method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest"):
            return left
        return np.where(t < 0.5, left + (right - left) * t, right - (right - left) * (1 - t))

    def quantile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
        if method not in _PLACES:
            raise ArgumentError(f"quantiles take method={', '.join(map(repr, _PLACES))}, got {method!r}")
        q = np.asarray(q, a.dtype if isinstance(q, (int, float)) else None) / whole
        if not ((q >= 0) & (q <= 1)).all():
            raise ArgumentError(f"quantiles lie in 0 ... {whole}")
        found = [_over_sorted(partial(one, q=p, method=method), a, axis, keepdims, skip_nan) for p in q.reshape(-1)]
        return np.reshape(np.stack(found), q.shape + found[0].shape) if q.ndim else found[0]

    return quantile


composite(np.median, _median(skip_nan=False))
composite(np.nanmedian, _median(skip_nan=True))
composite(np.quantile, _quantile(skip_nan=False, whole=1))
composite(np.nanquantile, _quantile(skip_nan=True, whole=1))
composite(np.percentile, _quantile(skip_nan=False, whole=100))
composite(np.nanpercentile, _quantile(skip_nan=True, whole=100))
