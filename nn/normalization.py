"""Normalization of activations."""

import math
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor, layer_norm
from minigrad.internal import (
    TensorLike,
    array_of,
    check_not_complex,
    power_of_two,
    replayed,
    rms_norm_of,
    squares_fit,
    zeros,
)

from ._checks import (
    as_given,
    as_input,
    as_number,
    check_dtype,
    check_interval,
    check_kind,
    check_positive,
    plain,
    with_columns,
)  # fmt: skip
from .module import Buffer, DType, Module, Parameter


def rms_norm(x: "TensorLike", weight: "TensorLike", *, eps: float = 1e-6) -> Any:
    """Return ``x / sqrt(mean(x^2) + eps) * weight``, with the mean over the last axis; x (..., d), weight (d,).

    Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4.

    Raises:
        ShapeError: the shape of the weight is not (d,).
        DTypeError: x or the weight is complex.
    """
    if eps.__class__ is not float or not 0 <= eps < np.inf:  # faster than the check itself
        check_interval(0, np.inf, eps=eps)
    x, weight = as_given(x, "x"), as_given(weight, "weight")
    if not x.ndim or weight.shape != x.shape[-1:]:
        raise ShapeError(f"rms_norm needs x of shape (..., d) and weight (d,), got {x.shape} and {weight.shape}")
    return rms_norm_of(x, weight, eps=eps)


class LayerNorm(Module):
    """Layer normalization, ``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis.

    Ba, Kiros and Hinton 2016, arXiv:1607.06450, eq. 4. The variance is biased, ``weight`` starts at 1 and ``bias`` at 0.

    Args:
        d_model: the length of the last axis.
        eps: a small number that keeps the division finite.
        eps_outside: divide by ``std + eps`` instead, as some texts do; eps then affects rows of small variance much less.
        dtype: the dtype of the parameters; the layer casts a real x to it.

    Shapes: x (..., d_model) -> the same shape; ``weight``, ``bias`` (d_model,).

    Raises:
        ArgumentError: d_model is not a positive integer, or eps is not a finite number >= 0.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> norm = nn.LayerNorm(4, dtype=np.float64)
        >>> y = norm([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])
        >>> y.numpy().round(2)  # the rows differ only in mean and scale
        array([[-1.34, -0.45,  0.45,  1.34],
               [-1.34, -0.45,  0.45,  1.34]])
    """

    def __init__(
        self, d_model: int, *, eps: float = 1e-5, eps_outside: bool = False, dtype: "DType" = np.float32
    ) -> None:
        check_positive(d_model=d_model)
        check_kind("True or False", eps_outside=eps_outside)
        check_dtype(dtype)
        self.eps = as_number(0, np.inf, eps=eps)
        self.eps_outside = eps_outside
        self.weight = Parameter(np.ones(d_model, dtype))
        self.bias = Parameter(np.zeros(d_model, dtype))

    def forward(self, x: "TensorLike") -> Tensor:
        x = with_columns(x, self.weight, "LayerNorm")
        check_not_complex("LayerNorm", x)
        if not self.eps_outside:
            return layer_norm(x, self.weight, self.bias, eps=self.eps)
        eps = max(self.eps, float(np.finfo(x.dtype).smallest_subnormal)) if self.eps else 0.0  # 1e-8 is 0 in float16
        scale = 1.0 if squares_fit(x, 0.0) else power_of_two(x)  # a small deviation counts in the gradients
        x = x / scale
        centred = x - x.mean(axis=-1, keepdims=True)
        centred = centred - centred.mean(axis=-1, keepdims=True)  # removes the rounding error of the mean
        return centred / (x.std(axis=-1, keepdims=True) + eps / scale) * self.weight + self.bias

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}" + (", eps_outside=True" if self.eps_outside else "")


class RMSNorm(Module):
    """RMS normalization, ``x / sqrt(mean(x^2) + eps) * weight`` over the last axis. There is no centring and no bias.

    Zhang and Sennrich 2019, arXiv:1910.07467, eq. 4. ``weight`` starts at 1.

    Shapes: x (..., d_model) -> the same shape; ``weight`` (d_model,).

    Raises:
        ArgumentError: d_model is not a positive integer, or eps is not a finite number >= 0.
        ShapeError: the last axis of x is not d_model.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> y = nn.RMSNorm(2, dtype=np.float64)([[3.0, 4.0], [30.0, 40.0]])
        >>> y.numpy().round(2)  # scaled, but not centred
        array([[0.85, 1.13],
               [0.85, 1.13]])
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6, dtype: "DType" = np.float32) -> None:
        check_positive(d_model=d_model)
        check_dtype(dtype)
        self.eps = as_number(0, np.inf, eps=eps)
        self.weight = Parameter(np.ones(d_model, dtype))

    def forward(self, x: "TensorLike") -> Tensor:
        found: Tensor = rms_norm(with_columns(x, self.weight, "RMSNorm"), self.weight, eps=self.eps)
        return found

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}"


def batch_norm(x: "TensorLike", weight: "TensorLike", bias: "TensorLike", *, eps: float = 1e-5) -> Any:
    """Return ``(x - mean) / sqrt(var + eps) * weight + bias``, by the mean and the variance of the batch, for each channel.

    Ioffe and Szegedy 2015, arXiv:1502.03167, algorithm 1. :class:`nn.BatchNorm` also keeps averages for the evaluation.
    Shapes: x (batch, channels, ...), weight and bias (channels,).

    Raises:
        ShapeError: weight or bias has another shape, or x has only one value for each channel, whose variance would be 0.
        DTypeError: x, weight or bias is complex.
    """
    check_interval(0, np.inf, eps=eps)
    given, w, b = _of_channels("batch_norm", x, weight, bias)
    if given.size < 2 * given.shape[1]:
        raise ShapeError(
            "batch normalization needs more than one value for each channel in training, got x of shape "
            f"{given.shape}: use a larger batch or nn.GroupNorm, or call model.eval() before predictions"
        )
    other = given.swapaxes(0, 1)  # (channels, batch, ...)
    rows = _normalized(other.reshape(len(other), given.size // len(other)), eps)
    return _scaled(rows.reshape(other.shape).swapaxes(0, 1), w, b)


def group_norm(x: "TensorLike", num_groups: int, weight: "TensorLike", bias: "TensorLike", *, eps: float = 1e-5) -> Any:
    """Return ``(x - mean) / sqrt(var + eps) * weight + bias``, by the mean and the variance of a group of channels.

    Wu and He 2018, arXiv:1803.08494, eq. 1. Shapes: x (batch, channels, ...), weight and bias (channels,).

    Raises:
        ArgumentError: ``num_groups`` does not divide the number of channels.
        ShapeError: weight or bias has another shape.
        DTypeError: x, weight or bias is complex.
    """
    check_positive(num_groups=num_groups)
    check_interval(0, np.inf, eps=eps)
    given, w, b = _of_channels("group_norm", x, weight, bias)
    batch, channels = given.shape[:2]
    if num_groups < 1 or channels % num_groups:
        raise ArgumentError(f"group_norm: num_groups={num_groups} must divide {channels} channels")
    rows = _normalized(given.reshape(batch, num_groups, math.prod(given.shape[1:]) // num_groups), eps)
    return _scaled(rows.reshape(given.shape), w, b)


def _of_channels(name: str, *given: "TensorLike") -> list[Any]:
    """Return x, weight and bias as arrays or Tensors; raise a ShapeError unless the last two have an element per channel."""
    found: list[Any] = [as_given(each, called) for called, each in zip(("x", "weight", "bias"), given)]
    check_not_complex(name, *found)
    shape, *others = [each.shape for each in found]
    if len(shape) < 2 or set(others) != {shape[1:2]}:
        raise ShapeError(
            f"{name} needs weight and bias of shape {shape[1:2]}, got {others[0]} and {others[1]} for x of {shape}"
        )
    return found


def _normalized(rows: Any, eps: float) -> Any:
    """Return rows of mean 0 and variance 1."""
    nothing = zeros(rows.shape[-1:], plain(rows, "x"))
    return layer_norm(rows, nothing + 1, nothing, eps=eps)


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    shape = (-1, *[1] * (x.ndim - 2))
    return x * weight.reshape(shape) + bias.reshape(shape)


class _OfChannels(Module):
    """What BatchNorm and GroupNorm share: a weight and a bias for each channel, which is the second axis."""

    def __init__(self, channels: int, eps: float, dtype: "DType") -> None:
        check_dtype(dtype)
        self.eps = as_number(0, np.inf, eps=eps)
        self.weight = Parameter(np.ones(channels, dtype))
        self.bias = Parameter(np.zeros(channels, dtype))

    def _input(self, x: "TensorLike") -> Tensor:
        name, channels = type(self).__name__, self.weight.size
        x = as_input(x, self.weight.dtype, name)
        check_not_complex(name, x)
        if x.ndim < 2 or x.shape[1] != channels:
            raise ShapeError(f"{name}({self.extra_repr()}) needs x of shape (batch, {channels}, ...), got {x.shape}")
        return x


class BatchNorm(_OfChannels):
    """Batch normalization, ``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel, over the batch and all positions.

    Ioffe and Szegedy 2015, arXiv:1502.03167, algorithms 1 and 2. In training, the mean and the biased variance are those of the
    batch; the layer keeps averages of them, and uses the averages in evaluation. As in PyTorch, ``running_var`` averages the
    unbiased variance, and each batch moves the averages by ``momentum`` of the difference.

    Args:
        num_features: the number of channels, the second axis of x.
        eps: a small number that keeps the division finite.
        momentum: the weight of a batch in the averages, in [0, 1].
        dtype: the dtype of the parameters; the layer casts a real x to it.

    Shapes: x (batch, num_features) or (batch, num_features, ...) -> the same; ``weight``, ``bias`` and the buffers
    ``running_mean`` and ``running_var`` (num_features,).

    Raises:
        ArgumentError: num_features is not a positive integer, or eps or momentum is out of its range.
        ShapeError: x has other channels, or in training only one value for each channel, whose variance would be 0.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> norm = nn.BatchNorm(2, dtype=np.float64)
        >>> norm([[1.0, 10.0], [3.0, 30.0]]).numpy().round(2)  # each channel by itself
        array([[-1., -1.],
               [ 1.,  1.]])
        >>> norm.running_mean.tolist()  # a tenth of the means of the batch
        [0.2, 2.0]
    """

    def __init__(
        self, num_features: int, *, eps: float = 1e-5, momentum: float = 0.1, dtype: "DType" = np.float32
    ) -> None:
        check_positive(num_features=num_features)
        self.momentum = as_number(0, 1, momentum=momentum)
        super().__init__(num_features, eps, dtype)
        self.running_mean = Buffer(np.zeros(num_features, dtype))
        self.running_var = Buffer(np.ones(num_features, dtype))

    def forward(self, x: "TensorLike") -> Tensor:
        x = self._input(x)
        if not self.training:
            scale = self.weight / np.sqrt(self.running_var + self.eps)
            found: Tensor = _scaled(x, scale, self.bias - self.running_mean * scale)
            return found
        normalized: Tensor = batch_norm(x, self.weight, self.bias, eps=self.eps)
        replayed(lambda: self._remember(x))  # mg.checkpoint does not average twice when it recomputes this forward pass
        return normalized

    def _remember(self, x: Tensor) -> None:
        array, axes = array_of(x), (0, *range(2, x.ndim))
        if type(array) is not type(array_of(self.running_mean)):  # nothing is kept of the arrays of write_numpy
            return
        # The sums are in float64: NumPy adds a column of float32 numbers one after the other, which loses digits.
        mean = array.mean(axis=axes, dtype=np.float64)
        shape = (-1, *[1] * (array.ndim - 2))
        near = mean.astype(array.dtype)
        centred = array - near.reshape(shape)
        centred *= centred
        squares, rest = centred.mean(axis=axes, dtype=np.float64), mean - near
        count = array.size // array.shape[1]
        for buffer, found in (
            (self.running_mean, mean),
            (self.running_var, (squares - rest * rest) * (count / (count - 1))),
        ):
            kept = (1 - self.momentum) * buffer.data + self.momentum * found
            buffer.data = kept.astype(buffer.dtype)

    def extra_repr(self) -> str:
        return f"{self.weight.size}, eps={self.eps:g}, momentum={self.momentum:g}"


class GroupNorm(_OfChannels):
    """Group normalization, ``(x - mean) / sqrt(var + eps) * weight + bias`` over the channels of a group and all positions.

    Wu and He 2018, arXiv:1803.08494, eq. 1. It does not depend on the batch, so training and evaluation are the same. One group
    is a layer normalization of the whole image; as many groups as channels are an instance normalization.

    Args:
        num_groups, num_channels: the channels, the second axis of x, are divided into so many groups.
        eps, dtype: as in :class:`BatchNorm`.

    Shapes: x (batch, num_channels, ...) -> the same; ``weight``, ``bias`` (num_channels,).

    Raises:
        ArgumentError: a number is not a positive integer, or ``num_groups`` does not divide ``num_channels``.
        ShapeError: x has other channels.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> norm = nn.GroupNorm(2, 4, dtype=np.float64)
        >>> norm([[1.0, 3.0, 10.0, 30.0]]).numpy().round(2)  # two groups of two channels
        array([[-1.,  1., -1.,  1.]])
    """

    def __init__(self, num_groups: int, num_channels: int, *, eps: float = 1e-5, dtype: "DType" = np.float32) -> None:
        check_positive(num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ArgumentError(f"num_groups={num_groups} must divide num_channels={num_channels}")
        super().__init__(num_channels, eps, dtype)
        self.num_groups = num_groups

    def forward(self, x: "TensorLike") -> Tensor:
        found: Tensor = group_norm(self._input(x), self.num_groups, self.weight, self.bias, eps=self.eps)
        return found

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.weight.size}, eps={self.eps:g}"
