"""Reductions: ``sum``, ``mean`` and their kin, over any axes, with or without ``keepdims``."""

from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import Axis, values_of
from ..engine.primitive import primitive
from ..engine.sums import sum_over
from ..engine.types import Array
from ..errors import ArgumentError
from .axes import Shape, axes_of, count, expand, taking
from .elementwise import ratio


def _logsumexp(a: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """``log(sum(exp(a)))`` over ``axis``, stable for large inputs: the maximum is subtracted first.

    Its derivative is ``softmax(a)``; a sum of -inf or inf is shared by the inputs that are. Shapes as of ``np.sum``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> round(float(mg.logsumexp(np.array([1000.0, 1000.0]))), 4)  # np.exp(1000) is infinite
        1000.6931
    """
    top = np.max(a, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):  # log(0) is the right answer where all inputs are -inf
        ans = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
    return ans if keepdims else np.squeeze(ans, axes_of(a.ndim, axis))


def _spread(g: Array, a_shape: Shape, axis: Axis, where: Any) -> Array:
    """Hand the cotangent of each result to all elements that went into it."""
    spread = np.broadcast_to(expand(g, a_shape, axis), a_shape)
    return spread if where is True else np.where(where, spread, 0)


def _mean_rule(g: Array, a_shape: Shape, axis: Axis, where: Any) -> Array:
    return _spread(expand(g, a_shape, axis) / count(a_shape, axis, where), a_shape, axis, where)


def _var_rule(g: Array, a: Array, a_shape: Shape, axis: Axis, ddof: float, where: Any) -> Array:
    """``2 g conj(a - mean(a)) / (n - ddof)``"""
    n = count(a_shape, axis, where)
    known = a if where is True else np.where(where, a, 0)
    centred = known - np.sum(known, axis=axis, keepdims=True) / n
    freedom = (n - ddof) * (n > ddof)
    return _spread(2 * expand(g, a_shape, axis) / freedom, a_shape, axis, where) * np.conjugate(centred)


def _freedom(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, **rest: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """NumPy calls what is subtracted from n ``ddof``, or, as the array API does, ``correction``."""
    if "correction" in rest and ddof:
        raise ArgumentError(f"ddof={ddof} and correction={rest['correction']} mean the same: give one of them")
    keywords = {"ddof": rest.pop("correction", ddof), "axis": axis, "keepdims": keepdims, **rest}
    return (a,), keywords | {key: value for key, value in (("dtype", dtype), ("out", out)) if value is not None}


def _std_rule(g: Array, ans: Array, a: Array, a_shape: Shape, axis: Axis, ddof: float, where: Any) -> Array:
    """d std = d var / (2 std); 0 where the standard deviation is 0, as for abs at 0."""
    return _var_rule(0.5 * ratio(g, ans), a, a_shape, axis, ddof, where)


def _extreme_rule(g: Array, ans: Array, a: Array, a_shape: Shape, axis: Axis, where: Any, initial: Any) -> Array:
    """1 where ``a`` is the extreme of its slice, divided by how many are (ties share the gradient)."""
    top = expand(ans, a_shape, axis)
    hit = (a == top if where is True else (a == top) & where).astype(a.dtype)
    ties = sum_over(hit, axes_of(a.ndim, axis))
    return expand(g, a_shape, axis) / (ties if initial is None else ties + (top == initial)) * hit


def _logsumexp_rule(g: Array, a: Array, a_shape: Shape, axis: Axis) -> Array:
    """``g softmax(a)``. (``exp(a - ans)`` would keep few digits where ans is large.)"""
    top = np.max(values_of(a), axis=axis, keepdims=True)
    e = np.exp(np.where(np.isinf(top), np.where(a == top, 0, -np.inf), a - top))
    return expand(g, a_shape, axis) * (e / np.sum(e, axis=axis, keepdims=True))


_OF_EXTREMES: dict[str, Any] = {"axis": None, "keepdims": False, "initial": None, "where": True}
_OF_VARIANCES: dict[str, Any] = {"axis": None, "dtype": None, "ddof": 0, "keepdims": False, "where": True}

sum = primitive(np.sum, taking(np.sum, axis=None, dtype=None, keepdims=False, initial=0, where=True)).vjp(a=_spread)
mean = primitive(np.mean, taking(np.mean, axis=None, dtype=None, keepdims=False, where=True)).vjp(a=_mean_rule)
var = primitive(np.var, taking(np.var, **_OF_VARIANCES), bind=_freedom).vjp(a=_var_rule)
std = primitive(np.std, taking(np.std, **_OF_VARIANCES), bind=_freedom).vjp(a=_std_rule)
max = primitive(np.max, taking(np.max, **_OF_EXTREMES), also=[np.amax]).vjp(a=_extreme_rule)
min = primitive(np.min, taking(np.min, **_OF_EXTREMES), also=[np.amin]).vjp(a=_extreme_rule)
logsumexp = primitive(_logsumexp, name="logsumexp").vjp(a=_logsumexp_rule)
composite(
    np.ptp, lambda a, axis=None, *, keepdims=False: np.max(a, axis, None, keepdims) - np.min(a, axis, None, keepdims)
)

# What is NaN does not count.
nansum = primitive(np.nansum, taking(np.nansum, axis=None, dtype=None, keepdims=False, initial=0, where=True)).vjp(
    a=lambda g, a, a_shape, axis, where: _spread(g, a_shape, axis, ~np.isnan(a) & where)
)
nanmean = primitive(np.nanmean, taking(np.nanmean, axis=None, dtype=None, keepdims=False, where=True)).vjp(
    a=lambda g, a, a_shape, axis, where: _mean_rule(g, a_shape, axis, ~np.isnan(a) & where)
)
nanvar = primitive(np.nanvar, taking(np.nanvar, **_OF_VARIANCES), bind=_freedom).vjp(
    a=lambda g, a, a_shape, axis, ddof, where: _var_rule(g, a, a_shape, axis, ddof, ~np.isnan(a) & where)
)
nanstd = primitive(np.nanstd, taking(np.nanstd, **_OF_VARIANCES), bind=_freedom).vjp(
    a=lambda g, ans, a, a_shape, axis, ddof, where: _std_rule(g, ans, a, a_shape, axis, ddof, ~np.isnan(a) & where)
)
nanmax = primitive(np.nanmax, taking(np.nanmax, **_OF_EXTREMES)).vjp(a=_extreme_rule)
nanmin = primitive(np.nanmin, taking(np.nanmin, **_OF_EXTREMES)).vjp(a=_extreme_rule)
