"""Convolution and correlation of sequences: ``c[k] = sum_i a[i] v[k - i]``, all of it; the modes cut out a part."""

from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.primitive import Primitive, primitive
from ..engine.types import Array
from ..errors import ArgumentError, ShapeError
from .axes import array_of

convolve: Primitive = primitive(lambda a, v, /: np.convolve(a, v), name="convolve").vjp(
    a=lambda g, v, a_shape: convolve(g, v[::-1])[len(v) - 1 :][: a_shape[0]],
    v=lambda g, a, v_shape: convolve(g, a[::-1])[len(a) - 1 :][: v_shape[0]],
)


def _cropped(full: Array, n: int, m: int, mode: str) -> Array:
    """Of the whole convolution of n and m numbers, what ``mode`` keeps."""
    short, long = min(n, m), max(n, m)
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise ArgumentError(f"mode is 'full', 'same' or 'valid', got {mode!r}")
    length = long if mode == "same" else long - short + 1
    start = (short - 1) // 2 if mode == "same" else short - 1
    return full[start : start + length]


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = _sequences(a, v)
    return _cropped(convolve(a, v), len(a), len(v), mode)


def _correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = _sequences(a, v)
    if len(a) >= len(v):
        return _cropped(convolve(a, np.conjugate(v)[::-1]), len(a), len(v), mode)
    return _cropped(convolve(np.conjugate(v), a[::-1]), len(a), len(v), mode)[::-1]


def _sequences(a: Array, v: Array) -> tuple[Array, Array]:
    a, v = (np.reshape(x, (-1,)) if not x.ndim else x for x in (array_of(a), array_of(v)))
    if a.ndim != 1 or v.ndim != 1 or not a.shape[0] or not v.shape[0]:
        raise ShapeError(f"convolution takes two 1-D arrays that are not empty, got shapes {a.shape} and {v.shape}")
    return a, v


composite(np.convolve, _convolve)
composite(np.correlate, _correlate)
