"""Norms of vectors and of matrices.

At 0, where a norm has no derivative, its gradient is 0. Elements that tie for a maximum share the gradient.
"""

from typing import Any

import numpy as np

from ..engine.functions import composite
from ..engine.methods import Axis
from ..engine.primitive import primitive
from ..engine.types import Array
from .about import about
from .axes import axes_of, expand
from .elementwise import ratio


def _norm(x: Array, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    axes = axes_of(np.ndim(x), axis)
    if ord is None or ord in ("fro", "f") or (ord == 2 and len(axes) == 1):
        squares = np.real(x * np.conjugate(x)) if np.iscomplexobj(x) else x * x  # |x|^2, smooth at 0
        return _root(np.sum(squares, axis=axes, keepdims=keepdims), 2)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _root(total: Array, p: float) -> Array:
    """Return ``total ** (1/p)``, with the derivative 0 at 0."""
    zero = total == 0
    return np.where(zero, 0 if p > 0 else np.inf, np.where(zero, 1, total) ** (1 / p))


def _largest(size: Array, axis: Axis, keepdims: bool = False) -> Array:
    """Return the largest of numbers that are not negative: 0 if there are none (CuPy's max has no ``initial``)."""
    return (np.max if size.size else np.sum)(size, axis=axis, keepdims=keepdims)


def _vector_norm(x: Array, ord: float, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return ``sum(|x|^p)^(1/p)`` and its limits; order 0 counts the nonzero elements."""
    size = np.abs(x)
    if ord == np.inf:
        return _largest(size, axes, keepdims)
    if ord == -np.inf:
        return np.min(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.sign(size), axis=axes, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axes, keepdims=keepdims)
    zero = size == 0
    powers = np.where(zero, 0 if ord > 0 else np.inf, np.where(zero, 1, size) ** ord)
    return _root(np.sum(powers, axis=axes, keepdims=keepdims), ord)


def _matrix_norm(x: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return the largest column sum (1), row sum (inf) or singular value (2), or the sum of the singular values ("nuc")."""
    if ord in ("nuc", 2, -2):
        s = np.abs(np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), compute_uv=False))
        ans = np.sum(s, axis=-1) if ord == "nuc" else _largest(s, -1) if ord == 2 else np.min(s, axis=-1)
    else:
        summed, other = axes if ord in (1, -1) else axes[::-1]
        sums = np.sum(np.abs(x), axis=summed)
        extreme = _largest if ord in (1, np.inf) else np.min
        ans = extreme(sums, axis=other - (other > summed))
    return np.expand_dims(ans, axes) if keepdims else ans


norm = primitive(
    np.linalg.norm,
    lambda x, /, ord=None, axis=None, keepdims=False: np.linalg.norm(x, ord, axis, keepdims),
).reference(_norm)
about(
    norm,
    formulas={"x": "g * x / y, for the 2-norm; other norms have their own derivatives"},
    written={"x": lambda g, ans, x, x_shape, axis: expand(g, x_shape, axis) * ratio(x, expand(ans, x_shape, axis))},
)


def _norm_over_axes(x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return the norm of the elements along the axes, taken as one vector."""
    axes = axes_of(np.ndim(x), axis)
    rest = tuple(i for i in range(np.ndim(x)) if i not in axes)
    shape = [np.shape(x)[i] for i in rest]
    if axis is None or len(axes) != 1:
        x, along = np.reshape(np.transpose(x, axes + rest), (int(np.prod([np.shape(x)[i] for i in axes])), *shape)), 0
    else:
        (along,) = axes
    ans = np.linalg.norm(x, ord, along)
    return np.expand_dims(ans, axes) if keepdims else ans


def _cond(x: Any, p: Any = None) -> Any:
    """Return ``norm(x) norm(x^-1)``; for the orders 2 and None, the ratio of the largest to the smallest singular value."""
    if p is None or p in (2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return np.linalg.norm(x, p, (-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, (-2, -1))


composite(np.linalg.vector_norm, _norm_over_axes)
composite(np.linalg.matrix_norm, lambda x, /, *, keepdims=False, ord="fro": np.linalg.norm(x, ord, (-2, -1), keepdims))
composite(np.linalg.cond, _cond)
