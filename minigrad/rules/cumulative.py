"""Products over an axis, and running sums and products."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import Axis
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .axes import Shape, expand, from_last, from_rows, rows_of, taking, to_last


def _delayed(products: Array) -> Array:
    """1 in front of ``products``, whose last one falls off."""
    return np.concatenate([np.ones_like(products[..., :1]), products[..., :-1]], axis=-1)


def _prod_rule(g: Array, a: Array, a_shape: Shape, axis: Axis, where: Any, initial: Any) -> Array:
    """g times the product of all others: of those before and of those after. A division would fail at zeros."""
    rows = rows_of(a if where is True else np.where(where, a, 1), axis)
    others = _delayed(np.cumprod(rows, axis=-1)) * _delayed(np.cumprod(rows[..., ::-1], axis=-1))[..., ::-1]
    product = expand(g * initial, a_shape, axis) * from_rows(others, a_shape, axis)
    return product if where is True else np.where(where, product, 0)


def _cumsum_rule(g: Array, a_shape: Shape, axis: int | None) -> Array:
    return from_last(np.cumsum(to_last(g, axis)[..., ::-1], axis=-1)[..., ::-1], a_shape, axis)


def _cumprod_rule(g: Array, a: Array, ans: Array, a_shape: Shape, axis: int | None) -> Array:
    """The i-th is ``a[0] ... a[i-1] s[i]`` with ``s[i] = g[i] + a[i+1] s[i+1]``, without a division, in log n steps.

    Before a step ``s[i]`` reaches over ``step`` terms and ``factors[i]`` is ``a[i+1] ... a[i+step]``; each step doubles that.
    """
    s, factors = to_last(g, axis), to_last(a, axis)[..., 1:]
    step = 1
    while step < s.shape[-1]:
        s = np.concatenate([s[..., :-step] + factors * s[..., step:], s[..., -step:]], axis=-1)
        factors = factors[..., :-step] * factors[..., step:]
        step *= 2
    return from_last(_delayed(to_last(ans, axis)) * s, a_shape, axis)


prod = primitive(np.prod, taking(np.prod, axis=None, dtype=None, keepdims=False, initial=1, where=True)).vjp(
    a=_prod_rule
)
cumsum = primitive(np.cumsum, taking(np.cumsum, axis=None, dtype=None)).vjp(a=_cumsum_rule)
cumprod = primitive(np.cumprod, taking(np.cumprod, axis=None, dtype=None)).vjp(a=_cumprod_rule)
nanprod = primitive(np.nanprod, taking(np.nanprod, axis=None, dtype=None, keepdims=False, initial=1, where=True)).vjp(
    a=lambda g, a, a_shape, axis, where, initial: _prod_rule(g, a, a_shape, axis, ~np.isnan(a) & where, initial)
)
composite(np.nancumsum, lambda a, axis=None, dtype=None: np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype))
composite(
    np.nancumprod, lambda a, axis=None, dtype=None: np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype)
)


def _with_initial(running: Callable[..., Any], first: int) -> Callable[..., Any]:
    """The array API's form: along one axis, with what stands before the first element if that is asked for."""

    def cumulative(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        x = np.atleast_1d(x)
        if axis is None and x.ndim > 1:
            raise ArgumentError(f"an array of shape {x.shape} has several axes: say along which one, axis=...")
        result = running(x, axis=axis or 0, dtype=dtype)
        if not include_initial:
            return result
        shape = [1 if i == (axis or 0) % x.ndim else n for i, n in enumerate(x.shape)]
        return np.concatenate([np.full_like(result, first, shape=shape), result], axis=axis or 0)

    return cumulative


composite(np.cumulative_sum, _with_initial(np.cumsum, 0))
composite(np.cumulative_prod, _with_initial(np.cumprod, 1))
