"""The convolution of NumPy arrays in blocks of images, whose columns fit into a cache.

With stride 1, a position of the kernel meets a run of a flat image: the rows keep the width of the image, and the last elements
of each row, which wrap around to the next, are left out of the result. Copying long runs is faster than copying rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.convolution import Form, Shape, convolution, steps_of
from ..threads import BLOCK, in_parts

_WASTE = 1.5  # the most that the width of an image may exceed that of its result; beyond it, rows are copied


class _ConvolutionSizes:
    """The sizes of one convolution of images (batch, channels, height, width)."""

    def __init__(self, shape: Shape, weight: Shape, form: Form) -> None:
        self.stride, self.padding, self.dilation, self.groups = form
        self.batch, self.channels, *self.size = shape
        self.filters, self.kernel = weight[0], weight[2:]
        self.steps = steps_of(tuple(self.size), self.kernel, form)
        self.height, self.width = (n + 2 * p for n, p in zip(self.size, self.padding))
        self.flat = set(self.stride) == {1} and self.width <= _WASTE * self.steps[1]
        # The number of elements that each position of the kernel meets.
        self.run = self.steps[0] * (self.width if self.flat else self.steps[1])
        self.columns = self.channels * math.prod(self.kernel)
        self.images = max(1, min(self.batch, BLOCK // max(1, self.columns * self.run)))  # in a block

    def in_blocks(self, function: Callable[..., Any], products: int) -> list[Any]:
        """Return what ``function(images, buffers)`` returns for each block of images; ``buffers`` belong to one thread."""
        starts = range(0, self.batch, self.images)
        results: list[Any] = [None] * len(starts)

        def some(first: int, last: int) -> None:
            buffers: dict[str, Any] = {}
            for i in range(first, last):
                results[i] = function(slice(starts[i], min(starts[i] + self.images, self.batch)), buffers)

        in_parts(some, len(starts), self.batch * self.columns * self.run * products)
        return results

    def canvas(self, buffers: dict[str, Any], name: str, count: int, dtype: Any) -> tuple[Array, Array]:
        """Return a flat buffer (count, channels, ...) for padded images, and the view of it without the padding."""
        if name not in buffers:
            length = self.height * self.width + self.dilation[1] * (self.kernel[1] - 1)
            buffers[name] = np.zeros((self.images, self.channels, length), dtype)
        flat = buffers[name][:count]
        images = flat[..., : self.height * self.width].reshape(count, self.channels, self.height, self.width)
        (top, left), (high, wide) = self.padding, self.size
        return flat, images[:, :, top : top + high, left : left + wide]

    def windows(self, flat: Array) -> Array:
        """Return the view (count, channels, *kernel, ...) of a canvas: what each position of the kernel meets."""
        outer, inner = flat.strides[:2], flat.strides[2]
        down, right = inner * self.width, inner
        positions = (self.dilation[0] * down, self.dilation[1] * right)
        steps = (inner,) if self.flat else (self.stride[0] * down, self.stride[1] * right)
        shape = (*flat.shape[:2], *self.kernel, *((self.run,) if self.flat else self.steps))
        return np.lib.stride_tricks.as_strided(flat, shape, (*outer, *positions, *steps))

    def matrices(self, x: Array, buffers: dict[str, Any]) -> Array:
        """Return the columns of some images: (count, groups, columns / groups, run)."""
        flat, inside = self.canvas(buffers, "x", len(x), x.dtype)
        inside[...] = x
        windows = self.windows(flat)
        if "columns" not in buffers:
            buffers["columns"] = np.empty((self.images, *windows.shape[1:]), x.dtype)
        columns = buffers["columns"][: len(x)]
        columns[...] = windows
        return columns.reshape(len(x), self.groups, self.columns // self.groups, self.run)

    def rows(self, buffers: dict[str, Any], count: int, dtype: Any) -> tuple[Array, Array]:
        """Return a buffer for results (count, groups, filters / groups, run), and the view (count, filters, *steps) of it."""
        wide = self.width if self.flat else self.steps[1]
        if "rows" not in buffers:
            buffers["rows"] = np.zeros((self.images, self.filters, self.steps[0], wide), dtype)
        rows = buffers["rows"][:count]
        return rows.reshape(count, self.groups, self.filters // self.groups, self.run), rows[..., : self.steps[1]]

    def matrix(self, weight: Array) -> Array:
        return weight.reshape(self.groups, self.filters // self.groups, self.columns // self.groups)


def _as_images(x: Array) -> Array:
    return x if x.ndim == 4 else x[:, :, None]


def _plan(x: Array, weight: Array, form: Form) -> _ConvolutionSizes:
    """Return the plan; a sequence is an image of one row."""
    if x.ndim == 3:
        form = ((1, *form[0]), (0, *form[1]), (1, *form[2]), form[3])
    return _ConvolutionSizes(_as_images(x).shape, _as_images(weight).shape, form)


def _forward(x: Array, weight: Array, bias: Array | None = None, *, form: Form) -> Any:
    if x.ndim not in (3, 4) or not x.size:
        return NotImplemented
    plan, images = _plan(x, weight, form), _as_images(x)
    y = np.empty((plan.batch, plan.filters, *plan.steps), x.dtype)
    matrix = plan.matrix(weight)

    def block(chosen: slice, buffers: dict[str, Any]) -> None:
        columns = plan.matrices(images[chosen], buffers)
        rows, inside = plan.rows(buffers, len(columns), x.dtype)
        np.matmul(matrix, columns, out=rows)
        if bias is None:
            y[chosen] = inside
        else:
            np.add(inside, bias[:, None, None], out=y[chosen])

    plan.in_blocks(block, 2)
    return y.reshape(plan.batch, plan.filters, *plan.steps[4 - x.ndim :]), None


def _backward(g: Array, needs: Sequence[bool], x: Array, weight: Array, form: Form) -> tuple[Any, ...]:
    plan, images, of_images = _plan(x, weight, form), _as_images(x), _as_images(g)
    dx, turned = np.empty_like(images, order="C") if needs[0] else None, plan.matrix(weight).swapaxes(1, 2)

    def block(chosen: slice, buffers: dict[str, Any]) -> Any:
        count = len(of_images[chosen])
        rows, inside = plan.rows(buffers, count, x.dtype)
        inside[...] = of_images[chosen]
        dw = np.matmul(rows, plan.matrices(images[chosen], buffers).swapaxes(2, 3)).sum(axis=0) if needs[1] else None
        if dx is not None:
            flat, inside = plan.canvas(buffers, "dx", count, x.dtype)
            flat[...] = 0
            windows, parts = plan.windows(flat), np.matmul(turned, rows)
            parts = parts.reshape(windows.shape)
            for i, j in np.ndindex(plan.kernel):
                windows[:, :, i, j] += parts[:, :, i, j]
            dx[chosen] = inside
        return dw

    found = plan.in_blocks(block, 4)
    return (
        None if dx is None else dx.reshape(x.shape),
        sum(found[1:], found[0]).reshape(weight.shape) if needs[1] else None,
        of_images.reshape(*of_images.shape[:2], -1).sum(axis=(0, 2)) if needs[2] else None,
    )


convolution.kernel(np.ndarray, _forward, _backward)
