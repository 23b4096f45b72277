"""Pooling of a sequence into one vector, and of the windows of images and sequences."""

import math

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import TensorLike

from ._checks import Size, check_real, per_axis
from ._convolution import convolution
from ._max_pooling import max_pool
from .convolution import check_channels, short
from .masks import as_key_mask, without_padding
from .module import Module


def pool(x: "TensorLike", key_mask: "TensorLike | None" = None, how: str = "mean") -> Tensor:
    """Combine the tokens of each sequence into one vector: (batch, length, d_model) -> (batch, d_model).

    Args:
        x: a floating array or Tensor.
        key_mask: (batch, length), True (or 1) for tokens and False (or 0) for padding; None if there is no padding.
        how: "mean" or "sum" of the tokens that are not padding, or the "first" of them (BERT's [CLS]).

    The result is 0 for a sequence of padding only. Padding is not read, forward or backward: it may be NaN.

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
    if how not in ("mean", "sum", "first"):
        raise ArgumentError(f"how must be 'mean', 'sum' or 'first', got {how!r}")
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
    ) -> None:
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
        if any(n + 2 * p < k for n, p, k in zip(x.shape[2:], self.padding, self.kernel_size)):
            raise ShapeError(
                f"{type(self).__name__}({self.extra_repr()}) got x of shape {x.shape}, which is smaller than a window"
            )
        return self._pooled(x)

    def _pooled(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def extra_repr(self) -> str:
        stride = f", stride={short(self.stride)}" if self.stride != self.kernel_size else ""
        padding = f", padding={short(self.padding)}" if any(self.padding) else ""
        return short(self.kernel_size) + stride + padding


class MaxPool2d(_Pool):
    """The largest element of each window of an image, for each channel.

    Args:
        kernel_size: the size of a window, an integer or (height, width).
        stride: the distance of the windows, by default ``kernel_size``. Rows and columns that fill no window are left out.
        padding: the width of a border of -inf, at most half of ``kernel_size``.

    Shapes: x (batch, channels, height, width) -> (batch, channels, ...), each size being
    ``(size + 2 p - kernel) // stride + 1``. At a tie the first of the largest elements gets the gradient, as in PyTorch.

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

    def _pooled(self, x: Tensor) -> Tensor:
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

    Args, shapes and errors are those of :class:`MaxPool2d`, with a border of zeros.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> nn.AvgPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4)).tolist()
        [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    def _pooled(self, x: Tensor) -> Tensor:
        size, count = x.shape[2:], math.prod(self.kernel_size)
        weight = np.asarray(np.full((1, 1, *self.kernel_size), 1 / count, x.dtype), like=x.data)
        form = (self.stride, self.padding, (1,) * self.axes, 1)
        found: Tensor = convolution(x.reshape(-1, 1, *size), weight, form=form)  # each channel is an image
        return found.reshape(*x.shape[:2], *found.shape[2:])


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
        x = x if isinstance(x, Tensor) else Tensor(x, copy=False)
        if not x.ndim:
            raise ShapeError("Flatten needs x of shape (batch, ...), got a number")
        return x.reshape(len(x), math.prod(x.shape[1:]))
