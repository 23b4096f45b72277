"""Convolution and its two adjoints, as three primitives whose derivatives are one another.

    convolution(x, weight)[n, f, o] = sum of x[n, c, stride * o + dilation * k - padding] * weight[f, c, k] over c and k

Shapes: x (batch, channels, *size), weight (filters, channels / groups, *kernel) and the result (batch, filters, *steps), with
any number of axes in ``size``. The result is linear in x and in the weight, so each derivative is one of the two adjoints:
``spread`` gives the cotangent of x (it is also called transposed convolution), and ``correlation`` gives that of the weight. A
derivative of an adjoint is again one of the three. ``form`` is ``(stride, padding, dilation, groups)``; the first three have a
number per axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..device import zeros
from ..engine.primitive import primitive
from ..engine.types import Array

Shape = tuple[int, ...]
Form = tuple[Shape, Shape, Shape, int]


def steps_of(size: Shape, kernel: Shape, form: Form) -> Shape:
    """Return how many steps the kernel makes along each axis; it is 0 or less if the kernel does not fit."""
    stride, padding, dilation, _ = form
    return tuple(
        [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, stride, padding, dilation)]
    )


def picked_by(at: Shape, steps: Shape, form: Form) -> tuple[Any, ...]:
    """Return the index of the elements of a padded x that the position ``at`` of the kernel meets, one for each step."""
    stride, _, dilation, _ = form
    starts = [d * i for d, i in zip(dilation, at)]
    return (..., *[slice(b, b + s * (n - 1) + 1, s) for b, n, s in zip(starts, steps, stride)])


def padded(x: Array, padding: Shape, value: float = 0) -> Array:
    """Return x with ``value`` around its last axes."""
    if not any(padding):
        return x
    widths = [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding]
    return np.pad(x, widths, constant_values=value)


def cropped(x: Array, size: Shape, padding: Shape) -> Array:
    """Undo :func:`padded`."""
    return x[(..., *[slice(p, p + n) for n, p in zip(size, padding)])]


def _columns(x: Array, kernel: Shape, form: Form) -> Array:
    """Return what the kernel meets in each step: (batch, groups, channels / groups * positions, steps)."""
    stride, padding, dilation, groups = form
    axes = len(kernel)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    windows: Any = np.lib.stride_tricks.sliding_window_view(padded(x, padding), reach, tuple(range(2, 2 + axes)))
    windows = windows[(..., *[slice(None, None, s) for s in stride], *[slice(None, None, d) for d in dilation])]
    windows = windows.transpose(0, 1, *range(2 + axes, 2 + 2 * axes), *range(2, 2 + axes))
    steps = math.prod(windows.shape[-axes:])
    return windows.reshape(x.shape[0], groups, x.shape[1] // groups * math.prod(kernel), steps)


def _filters(weight: Array, groups: int) -> Array:
    """Return the weight as matrices (groups, filters / groups, channels / groups * positions)."""
    return weight.reshape(groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))


def _rows(y: Array, groups: int) -> Array:
    """Return y as matrices (batch, groups, filters / groups, steps)."""
    return y.reshape(y.shape[0], groups, y.shape[1] // groups, math.prod(y.shape[2:]))


def _convolution(x: Array, weight: Array, bias: Array | None = None, /, *, form: Form) -> Array:
    kernel = weight.shape[2:]
    y = np.matmul(_filters(weight, form[3]), _columns(x, kernel, form))
    y = y.reshape(x.shape[0], weight.shape[0], *steps_of(x.shape[2:], kernel, form))
    return y if bias is None else y + bias.reshape(-1, *[1] * len(kernel))


def _spread(y: Array, weight: Array, /, *, size: Shape, form: Form) -> Array:
    """Add each element of y, times the kernel, to the elements of x that it was computed from."""
    _, padding, _, groups = form
    kernel, steps = weight.shape[2:], y.shape[2:]
    parts = np.matmul(_filters(weight, groups).swapaxes(1, 2), _rows(y, groups))
    parts = parts.reshape(y.shape[0], groups * weight.shape[1], *kernel, *steps)
    x = zeros((*parts.shape[:2], *[n + 2 * p for n, p in zip(size, padding)]), parts)
    for at in np.ndindex(kernel):
        x[picked_by(at, steps, form)] += parts[(slice(None), slice(None), *at)]
    return cropped(x, size, padding)


def _correlation(x: Array, y: Array, /, *, kernel: Shape, form: Form) -> Array:
    """Sum the products of y and what each position of the kernel meets, over the batch and the steps."""
    groups, (rows, columns) = form[3], (_rows(y, form[3]), _columns(x, kernel, form))
    rows, columns = (t.transpose(1, 2, 0, 3).reshape(*t.shape[1:3], -1) for t in (rows, columns))
    return np.matmul(rows, columns.swapaxes(1, 2)).reshape(y.shape[1], x.shape[1] // groups, *kernel)


convolution: Any = primitive(_convolution, name="convolution")
spread: Any = primitive(_spread, name="spread")
correlation: Any = primitive(_correlation, name="correlation")

convolution.vjp(
    x=lambda g, weight, x_shape, form: spread(g, weight, size=x_shape[2:], form=form),
    weight=lambda g, x, weight_shape, form: correlation(x, g, kernel=weight_shape[2:], form=form),
    bias=lambda g: np.sum(g, axis=(0, *range(2, g.ndim))),
)
spread.vjp(
    y=lambda g, weight, form: convolution(g, weight, form=form),
    weight=lambda g, y, weight_shape, form: correlation(g, y, kernel=weight_shape[2:], form=form),
)
correlation.vjp(
    x=lambda g, y, x_shape, form: spread(y, g, size=x_shape[2:], form=form),
    y=lambda g, x, form: convolution(x, g, form=form),
)
