"""Fourier transforms. They are linear, so each rule is the transposed transform, without conjugation.

The matrix of ``fft``, F_jk = exp(-2 pi i j k / n), is symmetric, so it is its own transpose for every ``norm``. The real
transforms omit the mirrored half of the spectrum. The n-dimensional transforms go axis by axis.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..engine.functions import composite
from ..engine.primitive import primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .indexing import scatter_add

Norm = Literal["backward", "ortho", "forward"] | None
_SWAPPED: dict[Norm, Norm] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _resize(g: Array, length: int, axis: int) -> Array:
    """Undo the truncation or zero padding of the transform: pad or truncate ``g`` to ``length`` along ``axis``."""
    axis %= g.ndim
    here = (*[slice(None)] * axis, slice(min(length, g.shape[axis])))
    if g.shape[axis] >= length:
        return g[here]
    return scatter_add(g, index=here, shape=(*g.shape[:axis], length, *g.shape[axis + 1 :]))


def _irfft_rule(g: Array, a_shape: tuple[int, ...], axis: int, norm: Norm) -> Array:
    """Return the gradient of ``irfft``: a frequency counts twice if it has a mirror image (not 0, and not n / 2)."""
    n, axis = g.shape[axis], axis % g.ndim
    half = np.conjugate(np.fft.rfft(g, None, axis, _SWAPPED[norm]))
    paired = slice(1, (n + 1) // 2)
    first, twice, last = [half[(*[slice(None)] * axis, part)] for part in (slice(1), paired, slice(paired.stop, None))]
    return _resize(np.concatenate([first, 2 * twice, last], axis=axis), a_shape[axis], axis)


def _rfft_rule(g: Array, a_shape: tuple[int, ...], n: int | None, axis: int, norm: Norm) -> Array:
    return _resize(np.fft.fft(g, a_shape[axis] if n is None else n, axis, norm), a_shape[axis], axis)


fft = primitive(np.fft.fft, lambda a, /, n=None, axis=-1, norm=None: np.fft.fft(a, n, axis, norm)).vjp(
    a=lambda g, a_shape, axis, norm: _resize(np.fft.fft(g, None, axis, norm), a_shape[axis], axis)
)
ifft = primitive(np.fft.ifft, lambda a, /, n=None, axis=-1, norm=None: np.fft.ifft(a, n, axis, norm)).vjp(
    a=lambda g, a_shape, axis, norm: _resize(np.fft.ifft(g, None, axis, norm), a_shape[axis], axis)
)
rfft = primitive(np.fft.rfft, lambda a, /, n=None, axis=-1, norm=None: np.fft.rfft(a, n, axis, norm)).vjp(a=_rfft_rule)
irfft = primitive(np.fft.irfft, lambda a, /, n=None, axis=-1, norm=None: np.fft.irfft(a, n, axis, norm)).vjp(
    a=_irfft_rule
)
fftshift = primitive(np.fft.fftshift, lambda x, /, axes=None: np.fft.fftshift(x, axes)).vjp(
    x=lambda g, axes: np.fft.ifftshift(g, axes)
)
ifftshift = primitive(np.fft.ifftshift, lambda x, /, axes=None: np.fft.ifftshift(x, axes)).vjp(
    x=lambda g, axes: np.fft.fftshift(g, axes)
)


# --- several axes, and spectra that are real ------------------------------------------------------------------------


def _steps(a: Array, s: Any, axes: Any) -> list[tuple[int | None, int]]:
    """Return (length, axis) per transformed axis. None and, in ``s``, -1 mean the length of the input along this axis."""
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(np.ndim(a))
    if s is not None and len(s) != len(axes):
        raise ArgumentError(f"s={s} and the axes {tuple(axes)} must have the same number of items")
    lengths = [None] * len(axes) if s is None else [np.shape(a)[i] if n == -1 else n for n, i in zip(s, axes)]
    return list(zip(lengths, axes))


def _axis_by_axis(last: Callable[..., Any], others: Callable[..., Any], default: Any = None) -> Callable[..., Any]:
    """Return a transform of several axes that starts with the last one."""

    def transformed(a: Any, s: Any = None, axes: Any = default, norm: Norm = None) -> Any:
        for i, (n, axis) in enumerate(reversed(_steps(a, s, axes))):
            a = (others if i else last)(a, n, axis, norm)
        return a

    return transformed


def _irfftn(a: Any, s: Any = None, axes: Any = None, norm: Norm = None) -> Any:
    *others, (last_n, last_axis) = _steps(a, s, axes)
    for n, axis in others:
        a = np.fft.ifft(a, n, axis, norm)
    return np.fft.irfft(a, last_n, last_axis, norm)


composite(np.fft.fftn, _axis_by_axis(np.fft.fft, np.fft.fft))
composite(np.fft.ifftn, _axis_by_axis(np.fft.ifft, np.fft.ifft))
composite(np.fft.rfftn, _axis_by_axis(np.fft.rfft, np.fft.fft))
composite(np.fft.irfftn, _irfftn)
composite(np.fft.fft2, _axis_by_axis(np.fft.fft, np.fft.fft, (-2, -1)))
composite(np.fft.ifft2, _axis_by_axis(np.fft.ifft, np.fft.ifft, (-2, -1)))
composite(np.fft.rfft2, _axis_by_axis(np.fft.rfft, np.fft.fft, (-2, -1)))
composite(np.fft.irfft2, lambda a, s=None, axes=(-2, -1), norm=None: _irfftn(a, s, axes, norm))
composite(np.fft.hfft, lambda a, n=None, axis=-1, norm=None: np.fft.irfft(np.conjugate(a), n, axis, _SWAPPED[norm]))
composite(np.fft.ihfft, lambda a, n=None, axis=-1, norm=None: np.conjugate(np.fft.rfft(a, n, axis, _SWAPPED[norm])))
