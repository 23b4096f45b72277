"""Functions that rearrange an array without computing: their rules put the cotangent back in place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._primitive import primitive
from ..tensor import Axis

Shape = tuple[int, ...]


def _reshape(a: Any, /, shape: Any) -> Any:
    return np.reshape(a, shape)


def _transpose(a: Any, /, axes: Sequence[int] | None = None) -> Any:
    return np.transpose(a, axes)


def _swapaxes(a: Any, /, axis1: int, axis2: int) -> Any:
    return np.swapaxes(a, axis1, axis2)


def _squeeze(a: Any, /, axis: Axis = None) -> Any:
    return np.squeeze(a, axis)


def _expand_dims(a: Any, /, axis: int | tuple[int, ...]) -> Any:
    return np.expand_dims(a, axis)


def _broadcast_to(array: Any, /, shape: Any) -> Any:
    return np.broadcast_to(array, shape)


def _astype(x: Any, /, dtype: Any) -> Any:
    return x.astype(dtype)


def _concatenate(*arrays: Any, axis: int | None = 0) -> Any:
    return np.concatenate(arrays, axis=axis)


def _stack(*arrays: Any, axis: int = 0) -> Any:
    return np.stack(arrays, axis=axis)


def _split(ary: Any, /, indices_or_sections: Any, axis: int = 0) -> Any:
    return np.split(ary, indices_or_sections, axis)


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

reshape = primitive(_reshape, name="reshape", numpy=[np.reshape]).vjp(a=lambda g, a_shape: np.reshape(g, a_shape))
transpose = primitive(_transpose, name="transpose", numpy=[np.transpose]).vjp(
    a=lambda g, axes: _inverse_transpose(g, axes)
)
swapaxes = primitive(_swapaxes, name="swapaxes", numpy=[np.swapaxes]).vjp(
    a=lambda g, axis1, axis2: np.swapaxes(g, axis1, axis2)
)
squeeze = primitive(_squeeze, name="squeeze", numpy=[np.squeeze]).vjp(a=lambda g, a_shape: np.reshape(g, a_shape))
expand_dims = primitive(_expand_dims, name="expand_dims", numpy=[np.expand_dims]).vjp(
    a=lambda g, a_shape: np.reshape(g, a_shape)
)
broadcast_to = primitive(_broadcast_to, name="broadcast_to", numpy=[np.broadcast_to]).vjp(array=lambda g: g)
astype = primitive(_astype, name="astype", numpy=[np.astype]).vjp(x=lambda g: g)
concatenate = primitive(_concatenate, name="concatenate", numpy=[np.concatenate], bind=_of_sequence).vjp_each(
    _concatenate_rule
)
stack = primitive(_stack, name="stack", numpy=[np.stack], bind=_of_sequence).vjp_each(
    lambda g, i, axis: np.take(g, i, axis=axis)
)
split = primitive(_split, name="split", numpy=[np.split]).vjp(ary=_split_rule)
