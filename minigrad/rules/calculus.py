"""Differences, integrals, weighted means and interpolation, as compositions of other functions."""

import operator
from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import Axis, values_of
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError, ShapeError
from .about import reads
from .axes import array_of, axes_of
from .elementwise import gap_between


def _cut(a: Array, axis: int, start: int | None, stop: int | None) -> Array:
    """Return ``a[start:stop]`` along ``axis``."""
    return a[(slice(None),) * axis + (slice(start, stop),)]


def along(a: Array, ndim: int, axis: int) -> Array:
    """Reshape a 1-D array to ``ndim`` axes, all of length 1 except ``axis``."""
    return np.reshape(a, (1,) * axis + (-1,) + (1,) * (ndim - axis - 1)) if a.ndim else a


def with_axis(a: Any, axis: int, name: str) -> tuple[Array, int]:
    """Return an array, and one of its axes as a number that is not negative."""
    a = array_of(a)
    if not a.ndim:
        raise ShapeError(f"{name} needs an array of at least one axis, got a 0-d one")
    return a, axes_of(a.ndim, axis)[0]


# Differences


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n < 0:
        raise ArgumentError(f"diff takes n >= 0, got {n}")
    a, axis = with_axis(a, axis, "diff")
    if n == 0:
        return a
    shape = tuple(1 if i == axis else length for i, length in enumerate(a.shape))
    ends = [None if end is None else array_of(end) for end in (prepend, append)]
    before, after = (end if end is None or end.ndim else np.broadcast_to(end, shape) for end in ends)
    if before is not None or after is not None:
        a = np.concatenate([part for part in (before, a, after) if part is not None], axis=axis)
    for _ in range(n):
        a = _cut(a, axis, 1, None) - _cut(a, axis, None, -1)
    return a


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = np.reshape(array_of(ary), (-1,))
    parts = [None if to_begin is None else np.reshape(array_of(to_begin), (-1,)), flat[1:] - flat[:-1],
             None if to_end is None else np.reshape(array_of(to_end), (-1,))]  # fmt: skip
    return np.concatenate([part for part in parts if part is not None])


def _gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """Return differences of second order inside and of ``edge_order`` at the edges, differentiable in the coordinates too."""
    f = array_of(f)
    if edge_order not in (1, 2):
        raise ArgumentError(f"gradient takes edge_order 1 or 2, got {edge_order}")
    axes = axes_of(f.ndim, axis)
    spacings = [array_of(s) for s in varargs] or [np.reshape(np.ones_like(values_of(f).real, shape=(1,)), ())]
    if len(spacings) == 1 and not spacings[0].ndim:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise ArgumentError(f"gradient takes a spacing for each of the {len(axes)} axes, got {len(varargs)}")
    dtype = f.dtype if f.dtype.kind in "fc" else np.dtype(float)
    slopes = [_slope(f, s, i, edge_order) for s, i in zip(spacings, axes)]
    slopes = [slope if slope.dtype == dtype else slope.astype(dtype) for slope in slopes]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(f: Array, spacing: Any, axis: int, edge_order: int) -> Array:
    """Return df/dx along one axis; ``spacing`` is the step or the coordinates."""
    n = f.shape[axis]
    if n < edge_order + 1:
        raise ShapeError(f"gradient needs {edge_order + 1} points along each axis, got {n}")
    if spacing.ndim > 1 or (spacing.ndim and spacing.shape != (n,)):
        raise ShapeError(f"gradient takes 1-D coordinates, {n} for axis {axis}, got shape {spacing.shape}")
    h = spacing
    if spacing.ndim:
        h = spacing[1:] - spacing[:-1]
        if isinstance(spacing, np.ndarray) and (h == h[0]).all():
            h = h[0]  # even steps; a Tensor's gradient depends on every coordinate, and a device is not asked
    if not h.ndim and edge_order == 1:  # one difference for all points: at an end, its neighbour is itself
        right = np.concatenate([_cut(f, axis, 1, None), _cut(f, axis, -1, None)], axis=axis)
        left = np.concatenate([_cut(f, axis, None, 1), _cut(f, axis, None, -1)], axis=axis)
        steps = np.full_like(values_of(f).real, 2, shape=(n,))
        steps[0] = steps[-1] = 1
        return (right - left) / along(steps * (1.0 * h), f.ndim, axis)
    inner = _inner_slope(f, h, axis)
    return np.concatenate([_edge(f, h, axis, edge_order, 0), inner, _edge(f, h, axis, edge_order, -1)], axis=axis)


def _inner_slope(f: Array, h: Any, axis: int) -> Array:
    left, middle, right = _cut(f, axis, None, -2), _cut(f, axis, 1, -1), _cut(f, axis, 2, None)
    if not h.ndim:
        return (right - left) / (2.0 * h)
    p, q = along(h[:-1], f.ndim, axis), along(h[1:], f.ndim, axis)
    return -q / (p * (p + q)) * left + (q - p) / (p * q) * middle + p / (q * (p + q)) * right


def _edge(f: Array, h: Any, axis: int, order: int, end: int) -> Array:
    """Return the one-sided slope at the first (0) or last (-1) point; from the last point, all steps are negative."""
    points = range(3) if end == 0 else range(-1, -4, -1)
    y = [_cut(f, axis, i, i + 1 or None) for i in points[: order + 1]]
    sign = 1 if end == 0 else -1
    p = sign * (h[end] if h.ndim else h)
    if order == 1:
        return (y[1] - y[0]) / p
    q = sign * (h[points[1]] if h.ndim else h)
    terms = -(2.0 * p + q) / (p * (p + q)) * y[0], (p + q) / (p * q) * y[1], -p / (q * (p + q)) * y[2]
    first, second, third = terms if end == 0 else terms[::-1]  # in the order in which NumPy adds them
    return first + second + third


composite(np.diff, _diff)
composite(np.ediff1d, _ediff1d)
composite(np.gradient, _gradient)

# Integrals and means


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Weigh the mean of each pair of neighbours by the step between them."""
    y, axis = with_axis(y, axis, "trapezoid")
    if x is not None:
        x = array_of(x)
        dx = along(np.diff(x), y.ndim, axis) if x.ndim == 1 else np.diff(x, axis=axis)
    return np.sum(dx * (_cut(y, axis, 1, None) + _cut(y, axis, None, -1)) * 0.5, axis=axis)


def _average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    a = array_of(a)
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        return (mean, np.full_like(mean, a.size / max(mean.size, 1))) if returned else mean
    weights = _fitting(array_of(weights), a, axis)
    total = np.sum(weights, axis=axis, keepdims=keepdims)
    if (total == 0).any():
        raise ArgumentError("average got weights that sum to zero")
    mean = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (mean, np.broadcast_to(total, mean.shape)) if returned else mean


def _fitting(weights: Array, a: Array, axis: Axis) -> Array:
    """Reshape weights of the shape of ``a``, or of its axes ``axis``, so that they broadcast against ``a``."""
    if weights.shape == a.shape:
        return weights
    axes = () if axis is None else axes_of(a.ndim, axis)
    if weights.shape != tuple(a.shape[i] for i in axes):
        raise ShapeError(
            f"average takes weights of the shape of a, {a.shape}, or of its axes {axis}, got shape {weights.shape}"
        )
    ordered = np.transpose(weights, tuple(np.argsort(axes).tolist()))
    return np.reshape(ordered, tuple(n if i in axes else 1 for i, n in enumerate(a.shape)))


composite(np.trapezoid, _trapezoid)
composite(np.average, _average)

# Interpolation


def _double(value: Any) -> Array:
    """Convert to double precision, in which NumPy interpolates."""
    value = array_of(value)
    return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """Interpolate, differentiably in x, xp and fp. The slope at a knot is the one to its right; outside the knots it is 0."""
    x, xp, fp = _double(x), _double(xp), _double(fp)
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise ShapeError(f"interp takes xp and fp of one length, at least 1, got shapes {xp.shape} and {fp.shape}")
    if period is not None:
        x, xp, left, right = np.remainder(x, abs(period)), np.remainder(xp, abs(period)), None, None
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate([xp[-1:] - abs(period), xp, xp[:1] + abs(period)])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    first, last = fp[0], fp[-1]
    within = (x >= xp[0]) & (x < xp[-1])  # only these points lie in an interval, whose length is not 0
    i = np.where(within, np.searchsorted(xp, x, side="right") - 1, 0)
    j = np.minimum(i + 1, xp.shape[0] - 1)
    ends = [np.where(within, end, other) for end, other in ((xp[i], 0), (xp[j], 1), (fp[i], 0), (fp[j], 0))]
    ans = np.where(within, _on_line(np.where(within, x, 0), *ends), last)
    ans = np.where(x > xp[-1], last if right is None else right, ans)
    ans = np.where(np.isnan(x), x, ans) if xp.shape[0] > 1 else ans  # as in NumPy
    return np.where(x < xp[0], first if left is None else left, ans)


def _line(x: Array, x0: Array, x1: Array, y0: Array, y1: Array, /) -> Array:
    """Return the value at x in [x0, x1) of the line through (x0, y0) and (x1, y1), as NumPy does where ends are infinite."""
    with np.errstate(all="ignore"):
        slope = _rise(x0, x1, y0, y1)
        ans = slope * (x - x0) + y0
        ans = np.where(np.isnan(ans), slope * (x - x1) + y1, ans)
    return np.where((x == x0) | (np.isnan(ans) & (y0 == y1)), y0, ans)


@reads("(y1 - y0) / (x1 - x0)")
def _rise(x0: Array, x1: Array, y0: Array, y1: Array) -> Array:
    return gap_between(y0, y1) / (x1 - x0)


@reads("(x - x0) / (x1 - x0)")
def _share(x: Array, x0: Array, x1: Array) -> Array:
    """Return how far x is on its way from x0 to x1. On the way from minus infinity, it has arrived."""
    return np.where(np.isinf(x0), x > x0, (x - x0) / (x1 - x0))


@reads("g * slope * share")
def _steepness(g: Array, slope: Array, share: Array) -> Array:
    """Return ``g slope share``; an infinite slope takes no part where the share is 0."""
    none = (share == 0) & np.isinf(slope)
    return g * np.where(none, 0, slope * share)


_on_line: Primitive = primitive(_line, name="interp").vjp(
    x=lambda g, x0, x1, y0, y1: g * _rise(x0, x1, y0, y1),
    x0=lambda g, x, x0, x1, y0, y1: -_steepness(g, _rise(x0, x1, y0, y1), 1 - _share(x, x0, x1)),
    x1=lambda g, x, x0, x1, y0, y1: -_steepness(g, _rise(x0, x1, y0, y1), _share(x, x0, x1)),
    y0=lambda g, x, x0, x1: g * (1 - _share(x, x0, x1)),
    y1=lambda g, x, x0, x1: g * _share(x, x0, x1),
)


composite(np.interp, _interp)


# Equal steps


def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    if operator.index(num) < 0:
        raise ArgumentError(f"linspace takes num >= 0, got {num}")
    width = stop - start
    step = width / max(num - endpoint, 1)
    like = values_of(width)
    k = np.arange(num, dtype=np.result_type(step, 1.0), like=like).reshape((-1,) + (1,) * width.ndim)
    points = k * step + start
    if endpoint and num > 1:  # the last point is exactly stop
        points = np.concatenate([points[:-1], np.expand_dims(np.broadcast_to(array_of(stop), width.shape), 0)])
    points = np.moveaxis(points, 0, axis)
    if dtype is not None:
        points = (np.floor(points) if np.dtype(dtype).kind in "iu" else points).astype(dtype)
    return (points, step) if retstep else points


composite(np.linspace, _linspace)
composite(
    np.logspace,
    lambda start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0: np.power(
        base, np.linspace(start, stop, num, endpoint, axis=axis)
    ),
)
