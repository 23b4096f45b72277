"""Layers that add to each token vector a code for the token's position."""

from typing import Any

import numpy as np

from minigrad import ShapeError, Tensor
from minigrad.internal import Array, TensorLike

from . import init
from ._checks import as_input, beside, check_interval, check_not_negative, check_positive, check_real
from .masks import positions_of
from .module import DType, Module, Parameter


def sinusoids(length: int, d_model: int, *, base: float = 10000.0) -> np.ndarray[Any, Any]:
    """Return the sinusoidal position codes (length, d_model), float64: row t is the code of position t.

    ``p[t, 2i] = sin(t / base**(2i / d_model))`` and ``p[t, 2i + 1] = cos(t / base**(2i / d_model))``.
    Vaswani et al. 2017, arXiv:1706.03762, section 3.5.

    Raises:
        ArgumentError: length is not an integer >= 0, d_model is not an integer >= 1, or base is less than 1.

    Example:
        >>> import nn
        >>> nn.sinusoids(3, 4).round(2)  # the first two columns change fast, the last two slowly
        array([[ 0.  ,  1.  ,  0.  ,  1.  ],
               [ 0.84,  0.54,  0.01,  1.  ],
               [ 0.91, -0.42,  0.02,  1.  ]])
    """
    check_not_negative(length=length)
    check_positive(d_model=d_model)
    check_interval(1, np.inf, base=base)
    column = np.arange(d_model)
    angle = np.arange(length)[:, None] / base ** (2 * (column // 2) / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))


class PositionalEncoding(Module):
    """Fixed position codes, ``scale * x + sinusoids``, for sequences of any length. There are no parameters.

    Vaswani et al. 2017, arXiv:1706.03762, section 3.5; see :func:`sinusoids`.

    Args:
        d_model: the width of x.
        scale: the factor of the embeddings x. The paper takes ``math.sqrt(d_model)`` (section 3.4). Without a factor,
            embeddings with small initial values would be small compared with the codes, whose norm is ``sqrt(d_model / 2)``.
        base: that of :func:`sinusoids`.

    Calling it: x (..., length, d_model) -> the same shape, in the dtype of x. ``start`` is the position of the first token, for
    decoding with a cache. With ``key_mask`` (batch, start + length), positions count the tokens of each row only
    (:class:`nn.masks.Masks`); x is then (batch, length, d_model).

    Raises:
        ShapeError: the last axis of x is not d_model, or ``key_mask`` does not fit.
        ArgumentError: start is negative.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> encoding = nn.PositionalEncoding(4)
        >>> encoding(np.zeros((3, 4))).shape
        (3, 4)
        >>> encoding(np.zeros((1, 4)), start=2).numpy().round(2)  # the code of position 2
        array([[ 0.91, -0.42,  0.02,  1.  ]])
    """

    def __init__(self, d_model: int, *, scale: float = 1.0, base: float = 10000.0) -> None:
        check_positive(d_model=d_model)
        check_interval(-np.inf, np.inf, scale=scale)
        self.d_model, self.base = d_model, base
        self.scale = float(scale)
        self._table = sinusoids(0, d_model, base=base)  # codes() replaces it by a longer one when a sequence needs it

    def forward(self, x: "TensorLike", *, start: int = 0, key_mask: "TensorLike | None" = None) -> Tensor:
        x = check_real(x, "PositionalEncoding")
        _stop(x, self.d_model, start, f"PositionalEncoding({self.d_model})")
        return (x if self.scale == 1 else self.scale * x) + self.codes_of(x, start, key_mask)

    def codes_of(self, x: Tensor, start: int, key_mask: "TensorLike | None") -> Any:
        """Return the codes of the tokens of x: (length, d_model), or with a ``key_mask`` (batch, length, d_model)."""
        stop = start + x.shape[-2]
        if key_mask is None:
            return self.codes(start, stop, x.data)
        return self.codes(0, stop, x.data)[positions_of(x, start, key_mask)]

    def codes(self, start: int, stop: int, like: Array) -> Any:
        """Return the codes of positions [start, stop), (stop - start, d_model), in the dtype and on the device of ``like``."""
        table = self._table  # on the host, because an array of another kind may belong to one call only
        if table.dtype != like.dtype or len(table) < stop:
            longest = max(len(table), 1 << stop.bit_length())  # a power of 2, so that few new tables are needed
            self._table = table = sinusoids(longest, self.d_model, base=self.base).astype(like.dtype)
        return beside(table[start:stop], like)

    def extra_repr(self) -> str:
        return str(self.d_model) + (f", scale={self.scale:g}" if self.scale != 1 else "")


class LearnedPositions(Module):
    """Learned position codes, ``scale * x + weight[start : start + length]``.

    Gehring et al. 2017, arXiv:1705.03122, section 3.1.

    Args:
        max_length: the number of positions.
        d_model: the width of x.
        rng: the generator that draws ``weight`` from a normal distribution with standard deviation ``std``.
        scale: the factor of x.

    Calling it: x (..., length, d_model) -> the same shape. The parameter ``weight`` has shape (max_length, d_model).
    ``start`` and ``key_mask`` are those of :class:`PositionalEncoding`.

    Raises:
        ShapeError: the last axis of x is not d_model, start + length is more than max_length, or ``key_mask`` does not fit.
        ArgumentError: start is negative.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> positions = nn.LearnedPositions(16, 8, rng=np.random.default_rng(0))
        >>> positions(np.zeros((2, 5, 8))).shape
        (2, 5, 8)
        >>> y = positions(np.zeros((1, 8)), start=4)
        >>> (y.numpy() == positions.weight.numpy()[4]).all().item()
        True
    """

    def __init__(
        self,
        max_length: int,
        d_model: int,
        *,
        rng: np.random.Generator,
        std: float = 0.02,
        scale: float = 1.0,
        dtype: "DType" = np.float32,
    ) -> None:
        check_positive(max_length=max_length, d_model=d_model)
        check_interval(-np.inf, np.inf, scale=scale)
        self.scale = float(scale)
        self.weight = Parameter(init.normal((max_length, d_model), std, rng=rng, dtype=dtype))

    def forward(self, x: "TensorLike", *, start: int = 0, key_mask: "TensorLike | None" = None) -> Tensor:
        x = as_input(x, self.weight.dtype, "LearnedPositions")
        max_length, d_model = self.weight.shape
        stop = _stop(x, d_model, start, f"LearnedPositions({max_length}, {d_model})")
        if stop > max_length:
            raise ShapeError(
                f"LearnedPositions has {max_length} positions, and x of shape {x.shape} ends at {stop}: make it with "
                f"max_length={stop} or more, or give fewer tokens"
            )
        places = slice(start, stop) if key_mask is None else positions_of(x, start, key_mask)
        return (x if self.scale == 1 else self.scale * x) + self.weight[places]

    def extra_repr(self) -> str:
        return "{}, {}".format(*self.weight.shape) + (f", scale={self.scale:g}" if self.scale != 1 else "")


def _stop(x: Tensor, d_model: int, start: int, layer: str) -> int:
    """Return ``start + length``, the position one past the last token of x, or raise an error that names ``layer``."""
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ShapeError(f"{layer} needs x of shape (..., length, {d_model}), got {x.shape}")
    if start.__class__ is not int or start < 0:  # faster than the check itself
        check_not_negative(start=start)
    return start + x.shape[-2]
