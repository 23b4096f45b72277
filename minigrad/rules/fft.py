"""Fourier transforms. They are linear, so each rule is the transposed transform, without conjugation.

The matrix of ``fft``, F_jk = exp(-2 pi i j k / n), is symmetric, so it is its own transpose for every ``norm``. The real
transforms omit the mirrored half of the spectrum. The n-dimensional transforms go axis by axis.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..engine.functions import composite
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError
from .about import about
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


def _along_one_axis(function: Any, rule: Callable[..., Any]) -> Primitive:
    return primitive(function, lambda a, /, n=None, axis=-1, norm=None: function(a, n, axis, norm)).vjp(a=rule)


fft = _along_one_axis(
    np.fft.fft, lambda g, a_shape, axis, norm: _resize(np.fft.fft(g, None, axis, norm), a_shape[axis], axis)
)
ifft = _along_one_axis(
    np.fft.ifft, lambda g, a_shape, axis, norm: _resize(np.fft.ifft(g, None, axis, norm), a_shape[axis], axis)
)
rfft = _along_one_axis(
    np.fft.rfft,
    lambda g, a_shape, n, axis, norm: _resize(np.fft.fft(g, n or a_shape[axis], axis, norm), a_shape[axis], axis),
)
irfft = _along_one_axis(np.fft.irfft, _irfft_rule)
fftshift = primitive(np.fft.fftshift, lambda x, /, axes=None: np.fft.fftshift(x, axes)).vjp(
    x=lambda g, axes: np.fft.ifftshift(g, axes)
)
ifftshift = primitive(np.fft.ifftshift, lambda x, /, axes=None: np.fft.ifftshift(x, axes)).vjp(
    x=lambda g, axes: np.fft.fftshift(g, axes)
)
about(fft, ifft, rfft, irfft, fftshift, ifftshift, linear=True)
about(fft, formulas={"a": "fft(g), in the original length"})
about(ifft, formulas={"a": "ifft(g), in the original length"})
about(rfft, formulas={"a": "fft(g), the real part, in the original length"})
about(irfft, formulas={"a": "conj(rfft(g)), with mirrored frequencies counted twice"})
about(fftshift, ifftshift, formulas={"x": "g, shifted back"})


# --- several axes, and spectra that are real ------------------------------------------------------------------------


def _steps(a: Array, s: Any, axes: Any) -> list[tuple[int | None, int]]:
    """Return (length, axis) per transformed axis. None and, in ``s``, -1 mean the length of the input along this axis."""
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(np.ndim(a))
    if s is not None and len(s) != len(axes):
        raise ArgumentError(f"s={s} and the axes {tuple(axes)} must have the same number of items")
    lengths = [None] * len(axes) if s is None else [np.shape(a)[i] if n == -1 else n for n, i in zip(s, axes)]
    return list(zip(lengths, axes))


def _axis_by_axis(last: Any, others: Any, default: Any) -> Callable[..., Any]:
    """Return a transform of several axes. It starts with the last one, whose spectrum may be half; ``irfft`` ends with it."""

    def transformed(a: Any, s: Any = None, axes: Any = default, norm: Norm = None) -> Any:
        steps = _steps(a, s, axes)
        calls = [(others, step) for step in steps]
        if last is not others:
            calls[-1] = (last, steps[-1])  # a half spectrum needs an axis, as in NumPy
        for transform, (n, axis) in calls if last is np.fft.irfft else calls[::-1]:
            a = transform(a, n, axis, norm)
        return a

    return transformed


for _several, _default in (("n", None), ("2", (-2, -1))):
    for _last, _others in (("fft", "fft"), ("ifft", "ifft"), ("rfft", "fft"), ("irfft", "ifft")):
        composite(
            getattr(np.fft, _last + _several),
            _axis_by_axis(getattr(np.fft, _last), getattr(np.fft, _others), _default),
        )
composite(np.fft.hfft, lambda a, n=None, axis=-1, norm=None: np.fft.irfft(np.conjugate(a), n, axis, _SWAPPED[norm]))
composite(np.fft.ihfft, lambda a, n=None, axis=-1, norm=None: np.conjugate(np.fft.rfft(a, n, axis, _SWAPPED[norm])))
