"""Functions that rearrange an array without computing: their rules put the cotangent back in place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._primitive import primitive

Shape = tuple[int, ...]


def _inverse_transpose(g: Any, axes: Sequence[int] | None) -> Any:
    if axes is None:
        return np.transpose(g)
    order = [axis % g.ndim for axis in axes]
    return np.transpose(g, sorted(range(g.ndim), key=order.__getitem__))


def _concatenate_rule(g: Any, i: int, args: list[Any], axis: int | None) -> Any:
    """The i-th stretch of the cotangent along ``axis``."""
    if axis is None:
        start = builtin_sum(np.size(a) for a in args[:i])
        return g[start : start + np.size(args[i])].reshape(np.shape(args[i]))
    start = builtin_sum(np.shape(a)[axis] for a in args[:i])
    here: list[Any] = [slice(None)] * g.ndim
    here[axis] = slice(start, start + np.shape(args[i])[axis])
    return g[tuple(here)]


def _split_rule(g: dict[int, Any], ans: Sequence[Any], axis: int) -> Any:
    """One concatenation of the parts' cotangents; a part that was not used counts as zeros."""
    return np.concatenate([g[i] if i in g else np.zeros_like(part) for i, part in enumerate(ans)], axis=axis)


def _of_sequence(arrays: Sequence[Any], axis: Any = 0, **keywords: Any) -> tuple[Sequence[Any], dict[str, Any]]:
    """NumPy passes the arrays as one sequence; a primitive takes them one by one."""
    return arrays, {"axis": axis, **keywords}


builtin_sum = sum

# The forwards pass metadata by position, which is all that CuPy understands.
reshape = primitive(np.reshape, lambda a, /, shape: np.reshape(a, shape)).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
transpose = primitive(np.transpose, lambda a, /, axes=None: np.transpose(a, axes)).vjp(
    a=lambda g, axes: _inverse_transpose(g, axes)
)
swapaxes = primitive(np.swapaxes, lambda a, /, axis1, axis2: np.swapaxes(a, axis1, axis2)).vjp(
    a=lambda g, axis1, axis2: np.swapaxes(g, axis1, axis2)
)
squeeze = primitive(np.squeeze, lambda a, /, axis=None: np.squeeze(a, axis)).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
expand_dims = primitive(np.expand_dims, lambda a, /, axis: np.expand_dims(a, axis)).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
broadcast_to = primitive(np.broadcast_to, lambda array, /, shape: np.broadcast_to(array, shape)).vjp(array=lambda g: g)
astype = primitive(np.astype, lambda x, /, dtype: x.astype(dtype)).vjp(x=lambda g: g)
concatenate = primitive(
    np.concatenate, lambda *arrays, axis=0: np.concatenate(arrays, axis=axis), bind=_of_sequence
).vjp_each(_concatenate_rule)
stack = primitive(np.stack, lambda *arrays, axis=0: np.stack(arrays, axis=axis), bind=_of_sequence).vjp_each(
    lambda g, i, axis: np.take(g, i, axis=axis)
)
split = primitive(np.split, lambda ary, /, indices_or_sections, axis=0: np.split(ary, indices_or_sections, axis)).vjp(
    ary=_split_rule
)
