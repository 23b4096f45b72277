"""Writes out the derivatives of rules that cannot become trees: compositions, and rules that work in several steps.

``replay.py`` makes trees of these functions for the page and does not run them. A test compares each one with its rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...device import is_device_array
from ...engine.fitting import unbroadcast
from ...rules.attention import attention_weights, scale_of, split_heads
from ...rules.axes import expand, from_rows, rows_of
from ...rules.elementwise import ratio
from ...rules.linalg import contraction_a, contraction_b, dot_axes, inner_axes
from ...rules.neural import softmax
from ...rules.ranges import all_finite, squares_fit
from ...rules.special import check_not_complex, erf

contract: Any = None  # a function of the page: a sum of products with lists of labels
einsum_labels: Any = None


def transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def places(shape: tuple[int, ...]) -> Any:
    """Return the number of each element. After an operation that moves elements, it shows where each one came from."""
    return np.arange(math.prod(shape)).reshape(shape)


def added_at(g: Any, numbers: Any, shape: tuple[int, ...]) -> Any:
    """Return zeros of ``shape`` with each element of ``g`` added at the element with its number in ``numbers``."""
    summed = np.bincount(np.ravel(numbers), np.ravel(g), math.prod(shape))
    return summed[: math.prod(shape)].reshape(shape)


def others(rows: Any) -> Any:
    """Return an array (..., n, n). Its row i is ``rows`` with the i-th element replaced by 1."""
    return np.where(np.eye(rows.shape[-1], dtype=bool), 1, rows[..., None, :])


def gelu_slope(x: Any, approximate: str) -> Any:
    """Return ``Phi(x) + x phi(x)``, or the slope of ``x (1 + tanh(u)) / 2``, ``u = sqrt(2 / pi) (x + 0.044715 x^3)``."""
    if approximate == "none":
        return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)


def normed(x: Any, eps: float) -> Any:
    return (x - np.mean(x, axis=-1, keepdims=True)) / deviation(x, eps)


def deviation(x: Any, eps: float) -> Any:
    return np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


def centred(g: Any, z: Any) -> Any:
    """Return ``g`` without its mean and without its component along ``z``."""
    return g - np.mean(g, axis=-1, keepdims=True) - z * np.mean(g * z, axis=-1, keepdims=True)


def joined(x: Any, shape: tuple[int, ...]) -> Any:
    """Return (..., heads, length, d) as (..., length, heads * d), summed over a batch that ``shape`` does not have."""
    x = np.swapaxes(x, -3, -2)
    return unbroadcast(x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]), shape)


def weights(query: Any, key: Any, mask: Any, bias: Any, scale: float | None, heads: int) -> Any:
    return attention_weights(split_heads(query, heads), split_heads(key, heads), mask, bias, scale)


def scores_gradient(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: float | None, heads: int
) -> Any:
    """Return the cotangent of the scaled and biased scores: ``w * (h - sum(h * w))`` with ``h = g @ value^T``."""
    w, h = weights(query, key, mask, bias, scale, heads), split_heads(g, heads) @ transposed(split_heads(value, heads))
    return w * (h - np.sum(h * w, axis=-1, keepdims=True))


def _cumprod(g: Any, a: Any, a_shape: Any, axis: Any) -> Any:
    """Return ``g prod(others)``, summed from each position to the end."""
    products = np.triu(np.cumprod(others(rows_of(a, axis)), axis=-1))
    return from_rows(np.sum(products * rows_of(g, axis)[..., None, :], axis=-1), a_shape, axis)


def _concatenate(g: Any, i: int, args: Any, axis: Any) -> Any:
    if axis is None:
        return np.split(g, np.cumsum([np.size(a) for a in args])[:-1])[i].reshape(np.shape(args[i]))
    return np.split(g, np.cumsum([np.shape(a)[axis] for a in args])[:-1], axis=axis)[i]


def _sort(g: Any, a: Any, a_shape: Any, axis: Any) -> Any:
    """Return each cotangent to the position of its element: the k-th smallest element is the k-th of the result."""
    rank = np.argsort(np.argsort(rows_of(a, axis), axis=-1, kind="stable"), axis=-1)
    return from_rows(np.take_along_axis(rows_of(g, axis), rank, axis=-1), a_shape, axis)


def _cross_entropy(g: Any, logits: Any, labels: Any, reduction: str) -> Any:
    each = g * np.ones(labels.shape) / (labels.size if reduction == "mean" else 1)
    return each[..., None] * (softmax(logits) - (np.arange(logits.shape[-1]) == labels[..., None]))


def _query(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, query_shape: Any
) -> Any:
    s = scores_gradient(g, query, key, value, mask, bias, scale, num_heads)
    return joined(s * scale_of(query.shape[-1] // num_heads, scale) @ split_heads(key, num_heads), query_shape)


def _key(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, key_shape: Any
) -> Any:
    s = transposed(scores_gradient(g, query, key, value, mask, bias, scale, num_heads))
    return joined(s * scale_of(query.shape[-1] // num_heads, scale) @ split_heads(query, num_heads), key_shape)


def _value(g: Any, query: Any, key: Any, mask: Any, bias: Any, scale: Any, num_heads: int, value_shape: Any) -> Any:
    w = weights(query, key, mask, bias, scale, num_heads)
    return joined(transposed(w) @ split_heads(g, num_heads), value_shape)


def _bias(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: Any, num_heads: int, bias_shape: Any
) -> Any:
    return unbroadcast(scores_gradient(g, query, key, value, mask, bias, scale, num_heads), bias_shape)


def _power(g: Any, x: Any, y: Any) -> Any:
    return g * np.where(y == 0, 0, y * np.power(x, y - 1.0))


def _einsum(g: Any, i: int, args: Any, subscripts: str) -> Any:
    """Return the einsum of ``g`` and the other operands."""
    labels = einsum_labels(subscripts, args)
    known = [labels[-1], *labels[:i], *labels[i + 1 : -1]]
    return contract([g, *args[:i], *args[i + 1 :]], known, labels[i], args, labels[:-1])


# The keys are operation.argument, or the operation alone if its number of arguments varies.
STAND_INS: dict[str, Callable[..., Any]] = {
    "gelu.x": lambda g, x, approximate: g * gelu_slope(x, approximate),
    "power.x": _power,
    "float_power.x": _power,
    "logaddexp.x": lambda g, x, y: g / (1 + np.exp(y - x)),
    "logaddexp.y": lambda g, x, y: g / (1 + np.exp(x - y)),
    "logaddexp2.x": lambda g, x, y: g / (1 + np.exp2(y - x)),
    "logaddexp2.y": lambda g, x, y: g / (1 + np.exp2(x - y)),
    "maximum.x": lambda g, x, y: g * (x > y) + 0.5 * g * (x == y),
    "maximum.y": lambda g, x, y: g * (y > x) + 0.5 * g * (x == y),
    "minimum.x": lambda g, x, y: g * (y > x) + 0.5 * g * (x == y),
    "minimum.y": lambda g, x, y: g * (x > y) + 0.5 * g * (x == y),
    "absolute.x": lambda g, x: g * np.sign(np.conjugate(x)),
    "hypot.x": lambda g, ans, x: g * ratio(x, ans),
    "hypot.y": lambda g, ans, y: g * ratio(y, ans),
    "norm.x": lambda g, ans, x, x_shape, axis: expand(g, x_shape, axis) * ratio(x, expand(ans, x_shape, axis)),
    "cumprod.a": _cumprod,
    "concatenate": _concatenate,
    "stack": lambda g, i, axis: np.take(g, i, axis=axis),
    "sort.a": _sort,
    "take.a": lambda g, a_shape, indices, axis: added_at(g, np.take(places(a_shape), indices, axis=axis), a_shape),
    "take_along_axis.arr": lambda g, arr_shape, indices, axis: added_at(
        g, np.take_along_axis(places(arr_shape), indices, axis=axis), arr_shape
    ),
    "repeat.a": lambda g, a_shape, repeats, axis: added_at(g, np.repeat(places(a_shape), repeats, axis), a_shape),
    "diagonal.a": lambda g, a_shape, offset, axis1, axis2: added_at(
        g, np.diagonal(places(a_shape), offset, axis1, axis2), a_shape
    ),
    "transpose.a": lambda g, axes: np.transpose(
        g, None if axes is None else np.argsort([axis % g.ndim for axis in axes]).tolist()
    ),
    "roll.a": lambda g, shift, axis: np.roll(g, np.negative(shift), axis),
    "tensordot.a": lambda g, a_shape, b, axes: contraction_a(g, a_shape, b, axes),
    "tensordot.b": lambda g, a, b_shape, axes: contraction_b(g, a, b_shape, axes),
    "dot.a": lambda g, a_shape, b: contraction_a(g, a_shape, b, dot_axes(len(a_shape), np.ndim(b))),
    "dot.b": lambda g, a, b_shape: contraction_b(g, a, b_shape, dot_axes(np.ndim(a), len(b_shape))),
    "inner.a": lambda g, a_shape, b: contraction_a(g, a_shape, b, inner_axes(len(a_shape), np.ndim(b))),
    "inner.b": lambda g, a, b_shape: contraction_b(g, a, b_shape, inner_axes(np.ndim(a), len(b_shape))),
    "affine.x": lambda g, weight, x_shape: unbroadcast(np.matmul(g, transposed(weight)), x_shape),
    "affine.weight": lambda g, x, weight_shape: (
        np.outer(x, g) if x.ndim == 1 else unbroadcast(np.matmul(transposed(x), g), weight_shape)
    ),
    "affine.bias": lambda g, bias_shape: unbroadcast(g, g.shape[-1:] if len(bias_shape) == 1 < g.ndim else bias_shape),
    "layer_norm.x": lambda g, x, gamma, eps, x_shape: unbroadcast(
        centred(g * gamma, normed(x, eps)) / deviation(x, eps), x_shape
    ),
    "layer_norm.gamma": lambda g, x, eps, gamma_shape: unbroadcast(g * normed(x, eps), gamma_shape),
    "layer_norm.beta": lambda g, beta_shape: unbroadcast(g, beta_shape),
    "cross_entropy.logits": _cross_entropy,
    "attention.query": _query,
    "attention.key": _key,
    "attention.value": _value,
    "attention.bias": _bias,
    "einsum": _einsum,
}


# What a rule asks before it takes a faster way, and the answer with which the page takes the general one.
ANSWERS: dict[Callable[..., Any], Any] = {
    is_device_array: True,
    check_not_complex: None,
    squares_fit: True,
    all_finite: True,
}
