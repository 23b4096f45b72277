"""Reductions, such as ``sum`` and ``mean``, over any axes, with or without ``keepdims``; running sums and products."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.fitting import sum_over
from ..engine.functions import composite
from ..engine.methods import Axis, values_of
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .about import about
from .axes import Shape, at_least_float32, axes_of, count, expand, from_rows, rows_of, with_keywords
from .elementwise import ratio


def _logsumexp(a: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return ``log(sum(exp(a)))`` over ``axis``; subtracting the maximum first keeps large inputs stable.

    The shapes are those of ``np.sum``. The derivative is ``softmax(a)``. If the result is infinite, the inputs that
    equal it share the derivative equally.

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
    """Broadcast the cotangent of each result to all elements that went into it."""
    spread = np.broadcast_to(g if axis is None else expand(g, a_shape, axis), a_shape)
    return spread if where is True else np.where(where, spread, 0)


def _known(a: Array, where: Any) -> Array:
    """Return where ``a`` is not NaN; NumPy's ``& True`` of a large array takes ten times as long as the comparison."""
    return a == a if where is True else (a == a) & where


def _mean_rule(g: Array, a_shape: Shape, axis: Axis, where: Any) -> Array:
    return _spread(expand(at_least_float32(g), a_shape, axis) / count(a_shape, axis, where), a_shape, axis, where)


def _var_rule(g: Array, a: Array, a_shape: Shape, axis: Axis, ddof: float, where: Any) -> Array:
    """Return ``2 g conj(a - mean(a)) / (n - ddof)``."""
    n, a, g = count(a_shape, axis, where), at_least_float32(a), at_least_float32(g)
    known = a if where is True else np.where(where, a, 0)
    centred = known - np.sum(known, axis=axis, keepdims=True) / n
    freedom = (n - ddof) * (n > ddof)  # not below 0, as in NumPy
    product = 2 * expand(g, a_shape, axis) / freedom * (np.conjugate(centred) if np.iscomplexobj(a) else centred)
    return product if where is True else np.where(where, product, 0)


def _with_ddof(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, **rest: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Accept both names of the number subtracted from n: ``ddof``, and ``correction`` of the array API."""
    if "correction" in rest and ddof:
        raise ArgumentError(f"ddof={ddof} and correction={rest['correction']} mean the same: pass only one of them")
    keywords = {"ddof": rest.pop("correction", ddof), "axis": axis, "keepdims": keepdims, **rest}
    return (a,), keywords | {key: value for key, value in (("dtype", dtype), ("out", out)) if value is not None}


def _std_rule(g: Array, ans: Array, a: Array, a_shape: Shape, axis: Axis, ddof: float, where: Any) -> Array:
    """Apply d std = d var / (2 std); where the standard deviation is 0, the result is 0, as for abs at 0."""
    return _var_rule(0.5 * ratio(g, ans), a, a_shape, axis, ddof, where)


def _extreme_rule(g: Array, ans: Array, a: Array, a_shape: Shape, axis: Axis, where: Any, initial: Any) -> Array:
    """Return ``g`` where ``a`` is the extreme of its slice and 0 elsewhere; ties share ``g`` equally."""
    top = expand(ans, a_shape, axis)
    hit = at_least_float32((a == top if where is True else (a == top) & where).astype(a.dtype))
    ties = sum_over(hit, axes_of(a.ndim, axis))
    return expand(g, a_shape, axis) / (ties if initial is None else ties + (top == initial)) * hit


def _logsumexp_rule(g: Array, a: Array, a_shape: Shape, axis: Axis) -> Array:
    """Return ``g softmax(a)``; ``exp(a - ans)`` would keep few digits where ``ans`` is large."""
    top = np.max(values_of(a), axis=axis, keepdims=True)
    e = np.exp(np.where(np.isinf(top), np.where(a == top, 0, -np.inf), a - top))
    return expand(g, a_shape, axis) * (e / np.sum(e, axis=axis, keepdims=True))


_EXTREME_KEYWORDS: dict[str, Any] = {"axis": None, "keepdims": False, "initial": None, "where": True}
_VARIANCE_KEYWORDS: dict[str, Any] = {"axis": None, "dtype": None, "ddof": 0, "keepdims": False, "where": True}

sum = primitive(np.sum, with_keywords(np.sum, axis=None, dtype=None, keepdims=False, initial=0, where=True)).vjp(
    a=_spread
)
mean = primitive(np.mean, with_keywords(np.mean, axis=None, dtype=None, keepdims=False, where=True)).vjp(a=_mean_rule)
var = primitive(np.var, with_keywords(np.var, **_VARIANCE_KEYWORDS), bind=_with_ddof).vjp(a=_var_rule)
std = primitive(np.std, with_keywords(np.std, **_VARIANCE_KEYWORDS), bind=_with_ddof).vjp(a=_std_rule)
max = primitive(np.max, with_keywords(np.max, **_EXTREME_KEYWORDS), also=[np.amax]).vjp(a=_extreme_rule)
min = primitive(np.min, with_keywords(np.min, **_EXTREME_KEYWORDS), also=[np.amin]).vjp(a=_extreme_rule)
logsumexp = primitive(_logsumexp, name="logsumexp").vjp(a=_logsumexp_rule)
about(logsumexp, formulas={"a": "g * softmax(a)"})
composite(
    np.ptp, lambda a, axis=None, *, keepdims=False: np.max(a, axis, None, keepdims) - np.min(a, axis, None, keepdims)
)

# These ignore elements that are NaN.
nansum = primitive(
    np.nansum, with_keywords(np.nansum, axis=None, dtype=None, keepdims=False, initial=0, where=True)
).vjp(a=lambda g, a, a_shape, axis, where: _spread(g, a_shape, axis, _known(a, where)))
nanmean = primitive(np.nanmean, with_keywords(np.nanmean, axis=None, dtype=None, keepdims=False, where=True)).vjp(
    a=lambda g, a, a_shape, axis, where: _mean_rule(g, a_shape, axis, _known(a, where))
)
nanvar = primitive(np.nanvar, with_keywords(np.nanvar, **_VARIANCE_KEYWORDS), bind=_with_ddof).vjp(
    a=lambda g, a, a_shape, axis, ddof, where: _var_rule(g, a, a_shape, axis, ddof, _known(a, where))
)
nanstd = primitive(np.nanstd, with_keywords(np.nanstd, **_VARIANCE_KEYWORDS), bind=_with_ddof).vjp(
    a=lambda g, ans, a, a_shape, axis, ddof, where: _std_rule(g, ans, a, a_shape, axis, ddof, _known(a, where))
)
nanmax = primitive(np.nanmax, with_keywords(np.nanmax, **_EXTREME_KEYWORDS)).vjp(a=_extreme_rule)
nanmin = primitive(np.nanmin, with_keywords(np.nanmin, **_EXTREME_KEYWORDS)).vjp(a=_extreme_rule)

about(sum, word="total", linear=True, only_overflows=True)
about(mean, word="average", linear=True, only_overflows=True)
about(max, word="top")
about(sum, nansum, formulas={"a": "g, broadcast over the summed axes"})
about(mean, nanmean, formulas={"a": "g / n, broadcast over the averaged axes"})
about(var, nanvar, formulas={"a": "2 * g * (a - mean(a)) / (n - ddof)"})
about(std, nanstd, formulas={"a": "g * (a - mean(a)) / ((n - ddof) * y)"})
for _extreme in (max, min, nanmax, nanmin):
    about(_extreme, formulas={"a": f"where(a == {_extreme.name}(a), g, 0), divided equally among ties"})


# --- products, and running sums and products ---


def _delayed(products: Array) -> Array:
    """Shift ``products`` by one position: insert 1 in front and drop the last one."""
    return np.concatenate([np.ones_like(products[..., :1]), products[..., :-1]], axis=-1)


def _prod_rule(g: Array, a: Array, a_shape: Shape, axis: Axis, where: Any, initial: Any) -> Array:
    """Multiply g by the product of the elements before and of those after each one; a division would fail at zeros."""
    rows = rows_of(a if where is True else np.where(where, a, 1), axis)
    others = _delayed(cumprod(rows, axis=-1)) * _delayed(cumprod(rows[..., ::-1], axis=-1))[..., ::-1]
    product = expand(g * initial, a_shape, axis) * from_rows(others, a_shape, axis)
    return product if where is True else np.where(where, product, 0)


def _cumsum_rule(g: Array, a_shape: Shape, axis: int | None) -> Array:
    return from_rows(cumsum(rows_of(g, axis)[..., ::-1], axis=-1)[..., ::-1], a_shape, axis)


def _cumprod_rule(g: Array, a: Array, ans: Array, a_shape: Shape, axis: int | None) -> Array:
    """Return ``a[0] * ... * a[i-1] * s[i]`` for each i, in log n steps without a division.

    Here ``s[i] = g[i] + a[i+1] * g[i+1] + a[i+1] * a[i+2] * g[i+2] + ...``. At the start of an iteration ``s[i]`` holds the
    first ``step`` of these terms, and ``factors[i]`` is ``a[i+1] * ... * a[i+step]``.
    """
    s, factors = rows_of(g, axis), rows_of(a, axis)[..., 1:]
    step = 1
    while step < s.shape[-1]:
        s = np.concatenate([s[..., :-step] + factors * s[..., step:], s[..., -step:]], axis=-1)
        factors = factors[..., :-step] * factors[..., step:]
        step *= 2
    return from_rows(_delayed(rows_of(ans, axis)) * s, a_shape, axis)


prod = primitive(np.prod, with_keywords(np.prod, axis=None, dtype=None, keepdims=False, initial=1, where=True)).vjp(
    a=_prod_rule
)
cumsum: Primitive = primitive(np.cumsum, with_keywords(np.cumsum, axis=None, dtype=None)).vjp(a=_cumsum_rule)
cumprod: Primitive = primitive(np.cumprod, with_keywords(np.cumprod, axis=None, dtype=None)).vjp(a=_cumprod_rule)
nanprod = primitive(
    np.nanprod, with_keywords(np.nanprod, axis=None, dtype=None, keepdims=False, initial=1, where=True)
).vjp(a=lambda g, a, a_shape, axis, where, initial: _prod_rule(g, a, a_shape, axis, _known(a, where), initial))
composite(np.nancumsum, lambda a, axis=None, dtype=None: np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype))
composite(
    np.nancumprod, lambda a, axis=None, dtype=None: np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype)
)
about(prod, only_overflows=True)
about(prod, nanprod, formulas={"a": "g * prod(others)"})
about(cumsum, linear=True, formulas={"a": "g, summed from each position to the end"})


def _products_of_others(g: Array, a: Array, a_shape: Shape, axis: int | None) -> Array:
    """Return ``g prod(others)``, summed from each position to the end."""
    rows = rows_of(a, axis)
    others = np.where(np.eye(rows.shape[-1], dtype=bool), 1, rows[..., None, :])  # row i has 1 instead of element i
    products = np.triu(np.cumprod(others, axis=-1))
    return from_rows(np.sum(products * rows_of(g, axis)[..., None, :], axis=-1), a_shape, axis)


about(
    cumprod,
    formulas={"a": "g * prod(others), summed from each position to the end"},
    written={"a": _products_of_others},
)


def _with_initial(running: Callable[..., Any], first: int) -> Callable[..., Any]:
    """Return the array API's form: along one axis, with ``first`` in front for ``include_initial=True``."""

    def cumulative(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        x = np.atleast_1d(x)
        if axis is None and x.ndim > 1:
            raise ArgumentError(f"an array of shape {x.shape} has several axes: pass axis=...")
        result = running(x, axis=axis or 0, dtype=dtype)
        if not include_initial:
            return result
        shape = [1 if i == (axis or 0) % x.ndim else n for i, n in enumerate(x.shape)]
        return np.concatenate([np.full_like(result, first, shape=shape), result], axis=axis or 0)

    return cumulative


composite(np.cumulative_sum, _with_initial(np.cumsum, 0))
composite(np.cumulative_prod, _with_initial(np.cumprod, 1))
