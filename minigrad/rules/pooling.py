"""Max pooling as a primitive, and the two maps between an image and the largest elements of its windows.

``form`` is (stride, padding), with a number per axis. At a tie the first element of a window gets the gradient, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..device import zeros
from ..engine.methods import values_of
from ..engine.primitive import primitive
from ..engine.types import Array
from .convolution import Form, Shape, cropped, padded, picked_by, steps_of

PoolForm = tuple[Shape, Shape]


def _dense(form: PoolForm, kernel: Shape) -> Form:
    return (*form, (1,) * len(kernel), 1)


def _of_windows(x: Array, kernel: Shape, form: PoolForm, border: float = -np.inf) -> list[Array]:
    """Return views of x, one for each position in the window, each with an element per window."""
    dense = _dense(form, kernel)
    steps, x = steps_of(x.shape[-len(kernel) :], kernel, dense), padded(x, form[1], border)
    return [x[picked_by(at, steps, dense)] for at in np.ndindex(kernel)]


def _winners(keys: Array, kernel: Shape, form: PoolForm) -> Array:
    """Return the position of the first largest key of each window; NaN is larger than all numbers, -inf than the border."""
    best, *others = _of_windows(keys, kernel, form)
    outside = zeros(keys.shape[-len(kernel) :], keys)
    lower, *borders = [where == 1 for where in _of_windows(outside, kernel, form, 1)]  # of best, and of the others
    found = np.zeros_like(best, dtype=np.int32)
    for i, (key, border) in enumerate(zip(others, borders), 1):
        better = (key > best) | (np.isnan(key) & ~np.isnan(best)) | (lower & ~border)
        lower = lower & border
        best, found = np.where(better, key, best), np.where(better, np.int32(i), found)
    return found


def _picked(values: Array, keys: Array, /, *, kernel: Shape, form: PoolForm) -> Array:
    """Return, for each window, the value where the key is largest."""
    winners = _winners(keys, kernel, form)
    found, *others = _of_windows(values, kernel, form)
    for i, value in enumerate(others, 1):
        found = np.where(winners == i, value, found)
    return found


def _unpicked(values: Array, keys: Array, /, *, kernel: Shape, form: PoolForm) -> Array:
    """Return zeros of the shape of the keys, with each value added where the key of its window is largest."""
    winners, size, dense = _winners(keys, kernel, form), keys.shape[-len(kernel) :], _dense(form, kernel)
    x = zeros((*keys.shape[: -len(kernel)], *[n + 2 * p for n, p in zip(size, form[1])]), values)
    for i, at in enumerate(np.ndindex(kernel)):
        x[picked_by(at, values.shape[-len(kernel) :], dense)] += np.where(winners == i, values, 0)
    return cropped(x, size, form[1])


def _max_pool(x: Array, /, *, kernel: Shape, form: PoolForm) -> Array:
    """Return the largest element of each window along the last axes."""
    found, *others = _of_windows(x, kernel, form)
    for value in others:
        found = np.maximum(found, value)
    return found if others else found.copy()


# The choice of an element has no derivative, so the rules read only the values of the keys.
picked: Any = primitive(_picked, name="picked")
unpicked: Any = primitive(_unpicked, name="unpicked")
picked.vjp(values=lambda g, keys, kernel, form: unpicked(g, values_of(keys), kernel=kernel, form=form))
unpicked.vjp(values=lambda g, keys, kernel, form: picked(g, values_of(keys), kernel=kernel, form=form))
max_pool: Any = primitive(_max_pool, name="max_pool").vjp(
    x=lambda g, x, kernel, form: unpicked(g, values_of(x), kernel=kernel, form=form)
)
