"""Kernels of the fused functions for CuPy's arrays, which ``minigrad.cuda_kernels()`` switches on.

Each stands for the plain form of the same name in ``minigrad/rules``, to rounding: float16 is computed in float32. None
waits for the device, except to check labels. Sums are added up in an order that depends on shapes alone, with one exception:
an embedding's gradient, in ``scatter_add``, may differ in its last bits from run to run.

**Not yet run on a real GPU**: the tests compile the sources and run them on a CPU. They need compute capability 6.0.
"""

import math
from typing import Any

import numpy as np

from ...engine.primitive import Primitive
from ...engine.types import Array
from ...rules import attention, dropout, indexing, neural
from ...rules.attention import split_heads
from ..numpy.rows import Needs
from .launch import (
    WIDE,
    contiguous,
    empty,
    over_elements,
    over_rows,
    rows_and_columns,
    sums_of_columns,
    takes,
    total,
)

# --- softmax and log_softmax ----------------------------------------------------------------------------------------


def _hang_rows(primitive: Primitive, name: str) -> None:
    """A kernel for a function of each row, whose derivative is made from the answer."""

    def forward(x: Array, axis: int = -1) -> Any:
        if axis not in (-1, x.ndim - 1) or not takes(x):
            return NotImplemented
        x = contiguous(x)
        rows, columns = rows_and_columns(x)
        ans = empty(x.shape, x.dtype)
        over_rows(f"{name}_forward", x.dtype, rows, columns, x, ans, rows, columns)
        return ans, None

    def backward(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
        g, (rows, columns) = contiguous(g, ans.dtype), rows_and_columns(ans)
        d = empty(ans.shape, ans.dtype)
        over_rows(f"{name}_backward", ans.dtype, rows, columns, g, ans, d, rows, columns)
        return (d,)

    primitive.kernel("cuda", forward, backward)


_hang_rows(neural.softmax, "softmax")
_hang_rows(neural.log_softmax, "log_softmax")

# --- relu, sigmoid, silu and gelu -----------------------------------------------------------------------------------


def _elementwise(name: str, x: Array) -> Any:
    if not takes(x):
        return NotImplemented
    x = contiguous(x)
    ans = empty(x.shape, x.dtype)
    over_elements(name, x.dtype, x.size, x, ans, x.size)
    return ans, None


def _elementwise_backward(name: str, g: Array, kept: Array) -> tuple[Array]:
    """``kept`` is x or ans, as the rule asks."""
    g, kept = contiguous(g, kept.dtype), contiguous(kept)
    d = empty(kept.shape, kept.dtype)
    over_elements(name, kept.dtype, kept.size, g, kept, d, kept.size)
    return (d,)


def _relu_forward(x: Array) -> Any:
    return (contiguous(np.maximum(x, 0)), None) if takes(x) else NotImplemented


def _relu_backward(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
    return _elementwise_backward("relu_backward", g, ans)


def _sigmoid_forward(x: Array) -> Any:
    return _elementwise("sigmoid_forward", x)


def _sigmoid_backward(g: Array, needs: Needs, x: Array) -> tuple[Array]:
    return _elementwise_backward("sigmoid_backward", g, x)


def _silu_forward(x: Array) -> Any:
    return _elementwise("silu_forward", x)


def _silu_backward(g: Array, needs: Needs, x: Array) -> tuple[Array]:
    return _elementwise_backward("silu_backward", g, x)


_GELUS = {"none": "gelu", "tanh": "gelu_tanh"}


def _gelu_forward(x: Array, approximate: str = "none") -> Any:
    return _elementwise(f"{_GELUS[approximate]}_forward", x) if approximate in _GELUS else NotImplemented


def _gelu_backward(g: Array, needs: Needs, x: Array, approximate: str) -> tuple[Array]:
    return _elementwise_backward(f"{_GELUS[approximate]}_backward", g, x)


neural.relu.kernel("cuda", _relu_forward, _relu_backward)
neural.sigmoid.kernel("cuda", _sigmoid_forward, _sigmoid_backward)
neural.silu.kernel("cuda", _silu_forward, _silu_backward)
neural.gelu.kernel("cuda", _gelu_forward, _gelu_backward)

# --- affine: the products are cuBLAS's ------------------------------------------------------------------------------


def _matrix(x: Array) -> Array:
    return x.reshape(rows_and_columns(x))


def _affine_forward(x: Array, weight: Array, bias: Array) -> Any:
    fits = x.ndim >= 2 and weight.ndim == 2 and x.shape[-1] == weight.shape[0] and bias.shape == weight.shape[1:]
    if not fits or not takes(x, weight, bias):
        return NotImplemented
    ans = np.matmul(_matrix(x), weight)
    ans += bias
    return ans.reshape(*x.shape[:-1], weight.shape[1]), None


def _affine_backward(g: Array, needs: Needs, x: Array, weight: Array) -> tuple[Any, ...]:
    g = contiguous(g, x.dtype)
    rows = _matrix(g)
    return (
        np.matmul(rows, weight.T).reshape(x.shape) if needs[0] else None,
        np.matmul(_matrix(x).T, rows) if needs[1] else None,
        sums_of_columns(g)[0] if needs[2] else None,
    )


neural.affine.kernel("cuda", _affine_forward, _affine_backward)

# --- layer_norm -----------------------------------------------------------------------------------------------------


def _layer_norm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
    if not gamma.shape == beta.shape == x.shape[-1:] or not takes(x, gamma, beta):
        return NotImplemented
    x = contiguous(x)
    rows, columns = rows_and_columns(x)
    ans, kept = empty(x.shape, x.dtype), empty((rows, 3), WIDE.get(x.dtype.name, x.dtype))
    arrays = x, contiguous(gamma), contiguous(beta), ans, kept
    over_rows("layer_norm_forward", x.dtype, rows, columns, *arrays, rows, columns, float(eps))
    return ans, kept


def _layer_norm_backward(g: Array, needs: Needs, x: Array, gamma: Array, saved: Array) -> tuple[Any, ...]:
    g, x = contiguous(g, x.dtype), contiguous(x)
    rows, columns = rows_and_columns(x)
    dx = d_gamma = d_beta = None
    if needs[0]:
        dx = empty(x.shape, x.dtype)
        over_rows("layer_norm_backward", x.dtype, rows, columns, g, x, contiguous(gamma), saved, dx, rows, columns)
    if needs[1] or needs[2]:
        sums = sums_of_columns(g, (x, saved) if needs[1] else None)
        d_beta, d_gamma = sums[0] if needs[2] else None, sums[1] if needs[1] else None
    return dx, d_gamma, d_beta


neural.layer_norm.kernel("cuda", _layer_norm_forward, _layer_norm_backward)

# --- cross_entropy --------------------------------------------------------------------------------------------------


def _factor(reduction: str, rows: int) -> float:
    return 1 / rows if reduction == "mean" else 1.0


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> Any:
    neural.check_labels(logits, labels, reduction)
    if not takes(logits, labels):
        return NotImplemented
    dtype, x, (rows, columns) = logits.dtype, contiguous(logits), rows_and_columns(logits)
    wide = WIDE.get(dtype.name, dtype)
    losses, kept = empty(labels.shape, wide), empty((rows, 2), wide)
    ids = contiguous(labels, np.int64)
    over_rows("cross_entropy_forward", dtype, rows, columns, x, ids, losses, kept, rows, columns)
    if reduction == "none":
        return losses.astype(dtype, copy=False), kept
    ans = empty((), dtype)
    total(losses, ans, _factor(reduction, rows))
    return ans, kept


def _cross_entropy_backward(
    g: Array, needs: Needs, logits: Array, labels: Array, saved: Array, reduction: str
) -> tuple[Any, None]:
    x, (rows, columns) = contiguous(logits), rows_and_columns(logits)
    d = empty(x.shape, x.dtype)
    arrays = contiguous(g, x.dtype), x, contiguous(labels, np.int64), saved, d
    how = int(reduction == "none"), _factor(reduction, rows)
    over_rows("cross_entropy_backward", x.dtype, rows, columns, *arrays, rows, columns, *how)
    return d, None


neural.cross_entropy.kernel("cuda", _cross_entropy_forward, _cross_entropy_backward)

# --- attention (rules/attention.py): the products are cuBLAS's, what lies between them is one kernel -----------------


def _merged(x: Array) -> Array:
    """(..., heads, length, d) -> (..., length, heads * d)"""
    x = x.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def _scaling(query: Array, scale: float | None, num_heads: int) -> float:
    return attention.scale_of(query.shape[-1] // num_heads, scale)


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    alike = query.shape[:-2] == key.shape[:-2] == value.shape[:-2] and takes(query, key, value)
    if not alike or bias is not None:  # the plain rule adds it
        return NotImplemented
    if mask is not None and not (
        attention.is_mask(mask, query.ndim + 1) and mask.data.device_id == query.data.device_id
    ):
        return NotImplemented
    q, k, v = (split_heads(t, num_heads) for t in (query, key, value))
    wide = WIDE.get(query.dtype.name, query.dtype)  # float16 holds no large scores; CuPy multiplies in float32 anyway
    q, k = q.astype(wide, copy=False), k.astype(wide, copy=False)
    weights = contiguous(np.matmul(q, k.swapaxes(-1, -2)))  # (..., heads, query, key)
    heads, queries, keys = weights.shape[-3:]
    rows = weights.size // keys
    steps: tuple[int, ...] = (0, 0, 0, 0)
    allowed = weights  # which stands in for a mask, and is not read as one
    if mask is not None:
        allowed = np.broadcast_to(mask, weights.shape).reshape(-1, heads, queries, keys)  # a copy at worst
        steps = allowed.strides  # in bytes, of which a boolean takes one
    sizes = int(mask is not None), rows, keys, queries, heads
    factor = _scaling(query, scale, num_heads)
    over_rows("attention_forward", weights.dtype, rows, keys, weights, allowed, *sizes, *steps, factor)
    weights = weights.astype(query.dtype, copy=False)
    return _merged(np.matmul(weights, v)), weights


def _attention_backward(
    g: Array, needs: Needs, query: Array, key: Array, value: Array, saved: Array, scale: float | None, num_heads: int
) -> tuple[Any, ...]:
    """The transposes are taken of what is as long as a head is wide: of the weights they would cost a copy of them."""
    q, k, v, do = (split_heads(t, num_heads) for t in (query, key, value, g))
    dq = dk = dv = None
    if needs[2]:
        dv = _merged(np.matmul(do.swapaxes(-1, -2), saved).swapaxes(-1, -2))
    if needs[0] or needs[1]:
        ds = contiguous(np.matmul(do, v.swapaxes(-1, -2)), query.dtype)
        rows, keys = ds.size // ds.shape[-1], ds.shape[-1]
        over_rows("attention_backward", ds.dtype, rows, keys, ds, saved, rows, keys, _scaling(query, scale, num_heads))
        dq = _merged(np.matmul(ds, k)) if needs[0] else None
        dk = _merged(np.matmul(q.swapaxes(-1, -2), ds).swapaxes(-1, -2)) if needs[1] else None
    return dq, dk, dv, None, None


attention.scaled_dot_product_attention.kernel("cuda", _attention_forward, _attention_backward)

# --- scatter_add: the gradient of an embedding ----------------------------------------------------------------------


def _scatter_add_forward(updates: Array, index: Any, shape: tuple[int, ...]) -> Any:
    rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if type(rows) is not type(updates) or rows.dtype.kind not in "iu" or not takes(updates, rows):
        return NotImplemented
    if updates.shape != rows.shape + shape[1:]:
        return NotImplemented
    updates = contiguous(updates)
    ans = np.zeros_like(updates, dtype=WIDE.get(updates.dtype.name, updates.dtype), order="C", shape=shape)
    sizes = shape[0], math.prod(shape[1:]), updates.size
    over_elements("scatter_rows", updates.dtype, updates.size, updates, contiguous(rows, np.int64), ans, *sizes)
    return ans.astype(updates.dtype, copy=False), None


def _scatter_add_backward(g: Array, needs: Needs, index: Any) -> tuple[Array]:
    return (g[index],)


indexing.scatter_add.kernel("cuda", _scatter_add_forward, _scatter_add_backward)

# --- dropout --------------------------------------------------------------------------------------------------------


def _dropout_forward(x: Array, key: int, step: int, threshold: int) -> Any:
    """With the host's mask, made where it is used."""
    if not takes(x):
        return NotImplemented
    x = contiguous(x)
    ans = empty(x.shape, x.dtype)
    numbers = key, step, threshold, dropout.scale_of(threshold)
    over_elements("dropout", x.dtype, -(-x.size // 16), x, ans, x.size, *numbers)
    return ans, None


def _dropout_backward(g: Array, needs: Needs, key: int, step: int, threshold: int) -> tuple[Array]:
    return (_dropout_forward(g, key, step, threshold)[0],)


dropout.dropout.kernel("cuda", _dropout_forward, _dropout_backward)
