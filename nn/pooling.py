"""Pooling of a sequence into one vector, and of the windows of images and sequences."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike, convolution, max_pool

from ._checks import Size, as_tensor, check_choice, check_kind, check_real, per_axis
from .convolution import check_channels, short
from .masks import as_key_mask, without_padding
from .module import Module


def pool(x: "TensorLike", key_mask: "TensorLike | None" = None, how: str = "mean") -> Tensor:
    """Combine the tokens of each sequence into one vector: (batch, length, d_model) -> (batch, d_model).

    Args:
        x: a floating array or Tensor.
        key_mask: (batch, length), see :class:`nn.masks.Masks`.
        how: "mean" or "sum" of the tokens that are not padding, or the "first" of them (BERT's [CLS]).

    The result is 0 for a sequence of padding only.

    Raises:
        ArgumentError: ``how`` is none of these.
        ShapeError: x does not have three axes, its length is 0, or the mask does not fit.
        DTypeError, OutOfRangeError: the mask is neither boolean nor 0/1, or x is not floating.

    Example:
        >>> import nn
        >>> x = [[[1.0], [3.0], [100.0]]]  # one sequence, and its last token is padding
        >>> nn.pool(x, [[True, True, False]]).tolist()
        [[2.0]]
    """
    x = check_real(x, "pool")
    check_choice(("mean", "sum", "first"), how=how)
    if x.ndim != 3:
        raise ShapeError(f"pool needs x of shape (batch, length, d_model), got {x.shape}")
    if not x.shape[1]:
        raise ShapeError(f"pool got sequences with no tokens, x of shape {x.shape}")
    if key_mask is None:
        return x[:, 0] if how == "first" else x.mean(axis=1) if how == "mean" else x.sum(axis=1)
    batch, length, _ = x.shape
    weights = as_key_mask(key_mask, (batch, length), x.data)[:, None]  # (batch, 1, length): one row per sequence
    if how == "first":
        weights = weights & (np.cumsum(weights, axis=-1) == 1)
    x = without_padding(x, weights[:, 0])
    if how == "mean":
        weights = weights / np.maximum(weights.sum(axis=-1, keepdims=True), 1)
    pooled: Tensor = weights.astype(x.dtype) @ x  # one product costs less than a masked copy and its sum
    return pooled.reshape(batch, x.shape[2])


class _Pool(Module):
    axes = 2

    def __init__(
        self,
        kernel_size: Size,
        *,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
    ) -> None:
        check_kind("True or False", ceil_mode=ceil_mode)
        self.ceil_mode = ceil_mode
        self.kernel_size = per_axis(self.axes, 1, kernel_size=kernel_size)
        self.stride = self.kernel_size if stride is None else per_axis(self.axes, 1, stride=stride)
        self.padding = per_axis(self.axes, 0, padding=padding)
        if any(2 * p > k for p, k in zip(self.padding, self.kernel_size)):
            raise ArgumentError(
                f"padding={padding} is more than half of kernel_size={kernel_size}: a window lies in it"
            )

    def forward(self, x: "TensorLike") -> Tensor:
        x = check_real(x, type(self).__name__)
        check_channels(x, None, self.axes, f"{type(self).__name__}({self.extra_repr()})")
        more = [self._more(*sizes) for sizes in zip(x.shape[2:], self.kernel_size, self.stride, self.padding)]
        if any(n + 2 * p + m < k for n, p, m, k in zip(x.shape[2:], self.padding, more, self.kernel_size)):
            raise ShapeError(
                f"{type(self).__name__}({self.extra_repr()}) got x of shape {x.shape}, which is smaller than a window"
            )
        return self._pooled(x, more)

    def _more(self, n: int, k: int, s: int, p: int) -> int:
        """Return the width of a border that completes the last window, which must begin inside x or the padding before it."""
        rest = (n + 2 * p - k) % s
        if not self.ceil_mode or not rest or (n + 2 * p - k) // s * s + s >= n + p:
            return 0
        return s - rest

    def _pooled(self, x: Tensor, more: list[int]) -> Tensor:
        raise NotImplementedError

    def extra_repr(self) -> str:
        stride = f", stride={short(self.stride)}" if self.stride != self.kernel_size else ""
        padding = f", padding={short(self.padding)}" if any(self.padding) else ""
        return short(self.kernel_size) + stride + padding + ", ceil_mode=True" * self.ceil_mode


def _completed(x: Tensor, more: list[int], value: float) -> Tensor:
    """Return x with a border behind it that completes the last windows."""
    found: Any = np.pad(x, [(0, 0), (0, 0), *((0, m) for m in more)], constant_values=value)
    return found


class MaxPool2d(_Pool):
    """The largest element of each window of an image, for each channel.

    Args:
        kernel_size: the size of a window, an integer or (height, width).
        stride: the distance of the windows, by default ``kernel_size``. Rows and columns that fill no window are left out.
        padding: the width of a border of -inf, at most half of ``kernel_size``.
        ceil_mode: whether rows and columns that fill a part of a window make a window, too.

    Shapes: x (batch, channels, height, width) -> (batch, channels, ...), each size being
    ``(size + 2 p - kernel) // stride + 1``, rounded up with ``ceil_mode`` unless the last window would begin in the border
    behind x. At a tie the first of the largest elements gets the gradient, as in PyTorch.

    Raises:
        ArgumentError: a size is not a positive integer, or padding is more than half of ``kernel_size``.
        ShapeError: x does not have four axes, or is smaller than a window.
        DTypeError: x is not floating.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> nn.MaxPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4)).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    def _pooled(self, x: Tensor, more: list[int]) -> Tensor:
        if any(more):
            x = _completed(x, more, -np.inf)
        found: Tensor = max_pool(x, kernel=self.kernel_size, form=(self.stride, self.padding))
        return found


class MaxPool1d(MaxPool2d):
    """The largest element of each window of a sequence (batch, channels, length); see :class:`MaxPool2d`.

    Example:
        >>> import nn
        >>> nn.MaxPool1d(2)([[[1.0, 3.0, 2.0, 0.0]]]).tolist()
        [[[3.0, 2.0]]]
    """

    axes = 1


class AvgPool2d(_Pool):
    """The mean of each window of an image, for each channel. The zeros of the padding count, as in PyTorch.

    Args, shapes and errors are those of :class:`MaxPool2d`, with a border of zeros. ``count_include_pad=False`` divides the sum
    of a window by its number of elements outside the border. What ``ceil_mode`` adds to a window never counts.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> nn.AvgPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4)).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    def __init__(
        self,
        kernel_size: Size,
        *,
        stride: Size | None = None,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride=stride, padding=padding, ceil_mode=ceil_mode)
        check_kind("True or False", count_include_pad=count_include_pad)
        self.count_include_pad = count_include_pad

    def _pooled(self, x: Tensor, more: list[int]) -> Tensor:
        size, count = x.shape[2:], math.prod(self.kernel_size)
        whole = not any(more) and (self.count_include_pad or not any(self.padding))
        if any(more):
            x = _completed(x, more, 0.0)
        weight = np.asarray(np.full((1, 1, *self.kernel_size), 1 / count if whole else 1, x.dtype), like=x.data)
        form = (self.stride, self.padding, (1,) * self.axes, 1)
        found: Tensor = convolution(x.reshape(-1, 1, *x.shape[2:]), weight, form=form)  # each channel is an image
        if not whole:
            found = found / np.asarray(self._counts(size, found.shape[2:]).astype(x.dtype), like=x.data)
        return found.reshape(*x.shape[:2], *found.shape[2:])

    def _counts(self, size: Sequence[int], windows: Sequence[int]) -> np.ndarray[Any, Any]:
        """Return the number of elements of each window that count."""
        counts = np.ones((), int)
        for n, k, s, p, number in zip(size, self.kernel_size, self.stride, self.padding, windows):
            starts, border = np.arange(number) * s - p, p if self.count_include_pad else 0
            inside = np.minimum(starts + k, n + border) - np.maximum(starts, -border)
            counts = counts[..., None] * np.maximum(inside, 1)
        return counts

    def extra_repr(self) -> str:
        return super().extra_repr() + ", count_include_pad=False" * (not self.count_include_pad)


class AvgPool1d(AvgPool2d):
    """The mean of each window of a sequence (batch, channels, length); see :class:`AvgPool2d`.

    Example:
        >>> import nn
        >>> nn.AvgPool1d(2)([[[1.0, 3.0, 2.0, 0.0]]]).tolist()
        [[[2.0, 1.0]]]
    """

    axes = 1


class GlobalAvgPool(Module):
    """The mean of each channel: (batch, channels, ...) -> (batch, channels). :func:`pool` does it for (batch, length, d_model).

    It is PyTorch's ``AdaptiveAvgPool2d(1)`` and ``Flatten``. Lin, Chen and Yan 2013, arXiv:1312.4400, section 3.2.

    Raises:
        ShapeError: x has fewer than three axes, or a channel has no elements.
        DTypeError: x is not floating.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> nn.GlobalAvgPool()(np.arange(8.0).reshape(1, 2, 2, 2)).tolist()
        [[1.5, 5.5]]
    """

    def forward(self, x: "TensorLike") -> Tensor:
        x = check_real(x, "GlobalAvgPool")
        if x.ndim < 3 or 0 in x.shape[2:]:
            raise ShapeError(f"GlobalAvgPool needs x of shape (batch, channels, height, width), got {x.shape}")
        return x.mean(axis=tuple(range(2, x.ndim)))


class Flatten(Module):
    """Join all axes except the first: (batch, ...) -> (batch, features), for an :class:`Affine` after a convolution.

    Raises:
        ShapeError: x has no axes.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> nn.Flatten()(np.ones((2, 16, 5, 5))).shape
        (2, 400)
    """

    def forward(self, x: "TensorLike") -> Tensor:
        x = as_tensor(x, "Flatten")
        if not x.ndim:
            raise ShapeError("Flatten needs x of shape (batch, ...), got a number")
        return x.reshape(len(x), math.prod(x.shape[1:]))
