"""Convolutions, whose layers take PyTorch's weights as they are: the channels are the second axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import ConvolutionForm, TensorLike, convolution, cropped, spread, steps_of

from . import init
from ._checks import Size, as_given, as_input, as_parameter, check_kind, check_positive, per_axis, shown
from .masks import as_key_mask
from .module import DType, Module, Parameter

SIZES = {1: "length", 2: "height, width"}  # the names of the axes after the channels


def check_channels(x: Tensor, channels: int | None, axes: int, layer: str) -> None:
    """Raise a ShapeError unless x is (batch, channels, ...) with this number of further axes."""
    if x.ndim == axes + 2 and channels in (None, x.shape[1]):
        return
    remedy = ""
    if x.ndim == axes + 2 and x.shape[-1] == channels:
        remedy = ": np.moveaxis(x, -1, 1) puts the channels, which are last, behind the batch"
    elif x.ndim == axes + 1 and channels == x.shape[0]:
        remedy = ": x[None] makes a batch of one"
    elif x.ndim == axes + 1 and channels in (None, 1):
        remedy = ": x[:, None] gives each item one channel"
    needed = f"(batch, {'channels' if channels is None else channels}, {SIZES[axes]})"
    raise ShapeError(f"{layer} needs x of shape {needed}, got {x.shape}{remedy}")


def _form(
    kernel: tuple[int, ...], stride: Size, padding: Size | str, dilation: Size, groups: int, transposed: bool = False
) -> ConvolutionForm:
    """Return the numbers for each axis; ``padding`` may be "same" or "valid" unless ``transposed``."""
    axes = len(kernel)
    stride, dilation = per_axis(axes, 1, stride=stride), per_axis(axes, 1, dilation=dilation)
    if isinstance(padding, str) and padding == "valid" and not transposed:
        padding = 0
    if not isinstance(padding, str):
        return stride, per_axis(axes, 0, padding=padding), dilation, groups
    if padding != "same" or transposed:
        also = "" if transposed else ", 'same' or 'valid'"
        raise ArgumentError(f"padding must be an integer{also}, got {shown(padding)}")
    if set(stride) != {1}:
        raise ArgumentError(f"padding='same' keeps the size, which stride={stride} divides: pass a number of zeros")
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    if any(n % 2 for n in total):
        raise ArgumentError(
            f"padding='same' needs as many zeros before as after, got kernel_size={kernel}, which is even: "
            "use an odd size, or padding=0 and np.pad(x, ...) with one zero more on one side"
        )
    return stride, tuple([n // 2 for n in total]), dilation, groups


def _convolved(x: TensorLike, weight: Any, bias: Any, form: ConvolutionForm, layer: str) -> Tensor:
    """Return the convolution. ``layer`` names it in messages."""
    x = as_input(x, weight.dtype, layer.partition("(")[0])
    check_channels(x, weight.shape[1] * form[3], weight.ndim - 2, layer)
    if min(steps_of(x.shape[2:], weight.shape[2:], form)) < 1:
        raise ShapeError(
            f"{layer} got x of shape {x.shape}, which is smaller than the kernel: pass padding=, or larger x"
        )
    found: Tensor = convolution(x, weight, bias, form=form)
    return found


def _transposed(
    x: TensorLike, weight: Any, bias: Any, form: ConvolutionForm, more: tuple[int, ...], layer: str
) -> Tensor:
    """Return the transposed convolution, enlarged at the end by ``more`` rows that no element of x reaches."""
    x = as_input(x, weight.dtype, layer.partition("(")[0])
    check_channels(x, weight.shape[0], weight.ndim - 2, layer)
    _check_output_padding(more, form)
    stride, padding, dilation, groups = form
    reached = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(x.shape[2:], stride, dilation, weight.shape[2:])]
    size = tuple([r + n - 2 * p for r, n, p in zip(reached, more, padding)])
    if min(*size, *x.shape[2:]) < 1:
        raise ShapeError(f"{layer} turns x of shape {x.shape} into nothing: padding is too large")
    found: Any
    if steps_of(size, weight.shape[2:], form) == x.shape[2:]:
        found = spread(x, weight, size=size, form=form)
    else:  # a convolution of this size makes more steps than x has, so it is not the adjoint: add and cut separately
        found = spread(x, weight, size=tuple(reached), form=(stride, (0,) * len(stride), dilation, groups))
        found = cropped(np.pad(found, [(0, 0), (0, 0), *[(0, n) for n in more]]), size, padding)
    return found if bias is None else found + bias.reshape(-1, 1, 1)


def _check_output_padding(more: tuple[int, ...], form: ConvolutionForm) -> None:
    stride, _, dilation, _ = form
    if any(n >= max(s, d) for n, s, d in zip(more, stride, dilation)):
        raise ArgumentError(
            f"output_padding={short(more)} must be smaller than stride={short(stride)} or dilation={short(dilation)}"
        )


def _checked(
    name: str,
    axes: int,
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    groups: int,
    transposed: bool = False,
) -> tuple[Any, Any]:
    """Return weight and bias as arrays or Tensors; raise an error that begins with ``name`` if they do not fit."""
    check_positive(groups=groups)
    w, b = as_parameter(weight, x), None if bias is None else as_given(bias, "bias")
    if w.ndim != axes + 2:
        raise ShapeError(f"{name} needs a weight with {axes + 2} axes, got {w.shape}")
    if w.shape[0] % groups:
        raise ArgumentError(f"{name}: groups={groups} must divide the first axis of the weight {w.shape}")
    filters = w.shape[1] * groups if transposed else w.shape[0]
    if b is not None and b.shape != (filters,):
        raise ShapeError(f"{name} needs a bias of shape ({filters},), got {b.shape}")
    return w, b


def conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of sequences (batch, channels, length) with the weight and bias of a :class:`nn.Conv1d`."""
    w, b = _checked("conv1d", 1, x, weight, bias, groups)
    return _convolved(x, w, b, _form(w.shape[2:], stride, padding, dilation, groups), "conv1d")


def conv2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution of images (batch, channels, height, width) with the weight and bias of a :class:`nn.Conv2d`."""
    w, b = _checked("conv2d", 2, x, weight, bias, groups)
    return _convolved(x, w, b, _form(w.shape[2:], stride, padding, dilation, groups), "conv2d")


def conv_transpose2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Return the transposed convolution of images with the weight and bias of a :class:`nn.ConvTranspose2d`."""
    w, b = _checked("conv_transpose2d", 2, x, weight, bias, groups, transposed=True)
    form = _form(w.shape[2:], stride, padding, dilation, groups, transposed=True)
    return _transposed(x, w, b, form, per_axis(2, 0, output_padding=output_padding), "conv_transpose2d")


class _Convolution(Module):
    axes = 2
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        *,
        rng: np.random.Generator,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        check_positive(in_channels=in_channels, out_channels=out_channels, groups=groups)
        check_kind("True or False", bias=bias)
        if in_channels % groups or out_channels % groups:
            raise ArgumentError(
                f"groups={groups} must divide in_channels={in_channels} and out_channels={out_channels}"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = per_axis(self.axes, 1, kernel_size=kernel_size)
        self.form = _form(self.kernel_size, stride, padding, dilation, groups, self.transposed)
        outer, inner = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (outer, inner // groups, *self.kernel_size)
        fan_in = in_channels // groups * math.prod(self.kernel_size)
        self.weight = Parameter(init.normal(shape, math.sqrt(2 / fan_in), rng=rng, dtype=dtype))
        self.bias = Parameter(np.zeros(out_channels, dtype)) if bias else None

    def forward(self, x: TensorLike) -> Tensor:
        return _convolved(x, self.weight, self.bias, self.form, repr(self).partition("  ")[0])

    def extra_repr(self) -> str:
        names = ("stride", "padding", "dilation", "groups")
        parts = [f"{self.in_channels}, {self.out_channels}, {short(self.kernel_size)}"]
        parts += [
            f"{name}={short(v)}" for name, v, usual in zip(names, self.form, (1, 0, 1, 1)) if short(v) != str(usual)
        ]
        return ", ".join(parts + ["bias=False"] * (self.bias is None))


def short(value: Any) -> str:
    """Return equal numbers as one."""
    return str(value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value)


class Conv2d(_Convolution):
    """A convolution of images: each filter is moved over the image, and gives one number at each place.

    ``y[n, f, i, j] = sum over c, k, l of x[n, c, s i + d k - p, s j + d l - p] * weight[f, c, k, l] + bias[f]`` with stride s,
    dilation d and padding p. LeCun et al. 1989, "Backpropagation applied to handwritten zip code recognition".

    Args:
        in_channels, out_channels: the numbers of channels of x and of the result, which is the number of filters.
        kernel_size, stride, dilation: an integer, or one for the height and one for the width.
        rng: the generator that draws the weight, normal with variance ``2 / fan_in`` (He et al. 2015). The bias starts at zero.
        padding: the number of zeros on each side; "same" keeps the size, and "valid" is 0. Use ``np.pad`` for other values.
        groups: the channels are divided into so many groups, and each filter reads one of them.
        bias: whether to add a bias to each channel.
        dtype: the dtype of the parameters; the layer casts a real x to it.

    Shapes: x (batch, in_channels, height, width) -> (batch, out_channels, ...), each size being
    ``(size + 2 p - d (kernel - 1) - 1) // s + 1``; the weight is ``(out_channels, in_channels / groups, *kernel_size)`` and the
    bias (out_channels,). These are PyTorch's shapes.

    Raises:
        ArgumentError: a size is not a positive integer, ``groups`` does not divide the channels, or "same" is used with a
            stride or an even kernel.
        ShapeError: x has another number of axes or channels, or the kernel is larger than x.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.Conv2d(1, 6, 5, rng=np.random.default_rng(0), padding="same")
        >>> layer(np.ones((4, 1, 28, 28))).shape
        (4, 6, 28, 28)
        >>> layer
        Conv2d(1, 6, 5, padding=2)  156 parameters
    """


class Conv1d(_Convolution):
    """A convolution of sequences (batch, in_channels, length); see :class:`Conv2d`, which has one axis more.

    ``y[n, f, i] = sum over c, k of x[n, c, s i + d k - p] * weight[f, c, k] + bias[f]``. The channels are the second axis, as
    in PyTorch: ``np.swapaxes(x, 1, 2)`` turns (batch, length, d_model) into it.

    Args:
        in_channels, out_channels, kernel_size, rng, stride, padding, dilation, groups, bias, dtype: as in :class:`Conv2d`.

    The call takes a ``key_mask`` (batch, length), see :class:`nn.masks.Masks`, and reads zeros at padding. With a stride of 1
    and ``padding="same"``, a token thus gets what it gets alone.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.Conv1d(3, 8, 5, rng=np.random.default_rng(0), stride=2)
        >>> layer(np.ones((4, 3, 21))).shape
        (4, 8, 9)
    """

    axes = 1

    def forward(self, x: TensorLike, *, key_mask: TensorLike | None = None) -> Tensor:
        if key_mask is not None:
            x = as_input(x, self.weight.dtype, "Conv1d")
            check_channels(x, self.in_channels, 1, f"Conv1d({self.extra_repr()})")
            is_token = as_key_mask(key_mask, (len(x), x.shape[2]), x.data)
            x = np.where(is_token[:, None], x, 0.0)
        return super().forward(x)


class ConvTranspose2d(_Convolution):
    """The transposed convolution, which enlarges images: each element of x, times the kernel, is added to the result.

    It is the gradient of a :class:`Conv2d` of the same stride, padding and dilation with respect to its input. Dumoulin and
    Visin 2016, arXiv:1603.07285, section 4.

    Args:
        in_channels, out_channels, kernel_size, rng, stride, dilation, groups, bias, dtype: as in :class:`Conv2d`.
        padding: the number of rows and columns that are cut off on each side of the result.
        output_padding: rows and columns to add at the end of the result, because a stride gives several sizes of x the same
            result; smaller than the stride or the dilation.

    Shapes: x (batch, in_channels, height, width) -> (batch, out_channels, ...), each size being
    ``(size - 1) s - 2 p + d (kernel - 1) + output_padding + 1``; the weight is
    ``(in_channels, out_channels / groups, *kernel_size)``.

    Raises:
        ArgumentError, ShapeError: as in :class:`Conv2d`, or ``output_padding`` is too large, or nothing is left of the result.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> layer = nn.ConvTranspose2d(8, 3, 2, rng=np.random.default_rng(0), stride=2)
        >>> layer(np.ones((4, 8, 7, 7))).shape
        (4, 3, 14, 14)
    """

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        *,
        rng: np.random.Generator,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: DType = np.float32,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, rng=rng, stride=stride, padding=padding, dilation=dilation,
            groups=groups, bias=bias, dtype=dtype,
        )  # fmt: skip
        self.output_padding = per_axis(self.axes, 0, output_padding=output_padding)
        _check_output_padding(self.output_padding, self.form)

    def forward(self, x: TensorLike) -> Tensor:
        layer = repr(self).partition("  ")[0]
        return _transposed(x, self.weight, self.bias, self.form, self.output_padding, layer)

    def extra_repr(self) -> str:
        more = f", output_padding={short(self.output_padding)}" if any(self.output_padding) else ""
        return super().extra_repr() + more
