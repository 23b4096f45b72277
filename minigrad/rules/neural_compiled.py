"""The kernels of the fused functions for NumPy arrays that numba compiles, beside those of neural.py and attention.py.

Here is what prepares the arrays and divides the work; the loops stand in ``_compiled_rows.py`` and
``_compiled_elementwise.py``. :func:`minigrad.compiled_kernels` imports this module and switches between the two kinds.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._threads import PARTS, in_blocks, in_parts
from ..engine.primitive import Primitive
from . import _compiled_elementwise as elementwise, _compiled_rows as by_rows, attention, neural
from ._compiled_math import Kernel
from .indexing import scatter_add

Array = Any
Needs = Sequence[bool]
_TINY = {np.dtype(t): float(np.finfo(t).tiny) for t in (np.float32, np.float64)}  # subnormals are below
_BLOCK = 4096  # elements: where a part begins must not change which of them the processor takes together
_PASSES = 2  # of NumPy over an array, which take about as long as one of these loops


def _fits(*arrays: Array) -> bool:
    """Whether there is a kernel for them: float32 or float64, all the same."""
    return arrays[0].dtype in _TINY and all(array.dtype == arrays[0].dtype for array in arrays)


def _plain(array: Array, dtype: Any) -> Array:
    """The array as a kernel reads it, contiguous and of that dtype: itself where it is so already."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype == dtype:
        return array
    return np.array(array, dtype, order="C")


def _rows(array: Array, dtype: Any) -> Array:
    array = _plain(array, dtype)
    return array if array.ndim == 2 else array.reshape(math.prod(array.shape[:-1]), array.shape[-1])


def _over_rows(kernel: Kernel, x: Array, *arguments: Any) -> None:
    """Run a kernel over the rows of ``x``, which is its first argument."""
    run = kernel[x.dtype]
    in_parts(lambda start, stop: run(x, *arguments, start, stop), len(x), _PASSES * x.size)


def _over_blocks(kernel: Kernel, x: Array, *arguments: Any) -> None:
    """Run a kernel over blocks of rows of ``x``, each of which has its own sum."""
    run = kernel[x.dtype]
    in_parts(lambda start, stop: run(x, *arguments, start, stop), _block_count(x), _PASSES * x.size)


def _block_count(x: Array) -> int:
    return -(-len(x) // by_rows.BLOCK)


def _over_elements(kernel: Kernel, *arrays: Array) -> None:
    """Run a kernel over the elements of arrays of one shape, the last of which it writes."""
    run, size = kernel[arrays[0].dtype], arrays[0].size
    flat = [array.reshape(-1) for array in arrays]
    in_parts(
        lambda start, stop: run(*flat, start * _BLOCK, min(stop * _BLOCK, size)), -(-size // _BLOCK), _PASSES * size
    )


def _elementwise(kernel: Kernel, x: Array) -> Array:
    x = _plain(x, x.dtype)
    ans = np.empty(x.shape, x.dtype)
    _over_elements(kernel, x, ans)
    return ans


def _elementwise_backward(kernel: Kernel, g: Array, kept: Array) -> tuple[Array]:
    dx = np.empty(kept.shape, kept.dtype)
    _over_elements(kernel, _plain(g, kept.dtype), _plain(kept, kept.dtype), dx)
    return (dx,)


# --- softmax and log_softmax ----------------------------------------------------------------------------------------


def _softmax_forward(x: Any, axis: int = -1) -> Any:
    if not _fits(x) or axis not in (-1, x.ndim - 1):
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)
    _over_rows(by_rows.softmax, _rows(x, x.dtype), _rows(ans, x.dtype), _TINY[x.dtype])
    return ans, None


def _softmax_backward(g: Any, needs: Needs, ans: Any) -> tuple[Any]:
    dx = np.empty(ans.shape, ans.dtype)
    _over_rows(by_rows.softmax_backward, _rows(g, ans.dtype), _rows(ans, ans.dtype), _rows(dx, ans.dtype))
    return (dx,)


neural.softmax.kernel("compiled", _softmax_forward, _softmax_backward)


def _log_softmax_forward(x: Any, axis: int = -1) -> Any:
    if not _fits(x) or axis not in (-1, x.ndim - 1):
        return NotImplemented
    ans = np.empty(x.shape, x.dtype)
    _over_rows(by_rows.log_softmax, _rows(x, x.dtype), _rows(ans, x.dtype))
    return ans, None


def _log_softmax_backward(g: Any, needs: Needs, ans: Any) -> tuple[Any]:
    dx = np.empty(ans.shape, ans.dtype)
    _over_rows(by_rows.log_softmax_backward, _rows(g, ans.dtype), _rows(ans, ans.dtype), _rows(dx, ans.dtype))
    return (dx,)


neural.log_softmax.kernel("compiled", _log_softmax_forward, _log_softmax_backward)


# --- relu, sigmoid, silu and gelu -----------------------------------------------------------------------------------


def _hang_elementwise(primitive: Primitive, kernel: Kernel, backward_kernel: Kernel, keeps_x: bool = False) -> None:
    """A kernel for a function of each element, whose derivative is made from the answer or from ``x``."""

    def forward(x: Any) -> Any:
        return (_elementwise(kernel, x), None) if _fits(x) else NotImplemented

    def from_answer(g: Any, needs: Needs, ans: Any) -> tuple[Any]:
        return _elementwise_backward(backward_kernel, g, ans)

    def from_x(g: Any, needs: Needs, x: Any) -> tuple[Any]:
        return _elementwise_backward(backward_kernel, g, x)

    primitive.kernel("compiled", forward, from_x if keeps_x else from_answer)


_hang_elementwise(neural.relu, elementwise.relu, elementwise.relu_backward)
_hang_elementwise(neural.sigmoid, elementwise.sigmoid, elementwise.sigmoid_backward)
_hang_elementwise(neural.silu, elementwise.silu, elementwise.silu_backward, keeps_x=True)


def _gelu_forward(x: Any, approximate: str = "none") -> Any:
    if not _fits(x) or approximate not in ("none", "tanh"):
        return NotImplemented
    if approximate == "tanh":
        return _elementwise(elementwise.gelu_tanh, x), None
    if x.dtype == np.float64:  # the error function to 16 digits takes as long compiled as in NumPy
        return neural._gelu_forward(x, approximate)
    return _elementwise(elementwise.gelu, x), None


def _gelu_backward(g: Any, needs: Needs, x: Any, saved: Any, approximate: str) -> tuple[Any]:
    if saved is not None:
        return neural._gelu_backward(g, needs, x, saved, approximate)
    return _elementwise_backward(
        elementwise.gelu_backward if approximate == "none" else elementwise.gelu_tanh_backward, g, x
    )


neural.gelu.kernel("compiled", _gelu_forward, _gelu_backward)


# --- affine and layer_norm ------------------------------------------------------------------------------------------


def _affine_forward(x: Any, weight: Any, bias: Any) -> Any:
    if not _fits(x, weight, bias) or x.ndim < 2 or weight.ndim != 2 or x.shape[-1] != weight.shape[0]:
        return NotImplemented
    if bias.shape != weight.shape[1:]:
        return NotImplemented
    rows, b = _rows(x, x.dtype), _plain(bias, x.dtype)
    n, run = len(rows), elementwise.add_bias[x.dtype]
    ans = np.empty((n, len(b)), x.dtype)

    def some(start: int, stop: int) -> None:
        for i in range(start, stop):  # not all at once: BLAS rounds by the number of rows it is given
            part = neural.part_of_rows(n, i)
            np.matmul(rows[part], weight, out=ans[part])
            run(ans, b, part.start, part.stop)

    if not neural.divides(rows, len(b)):  # its rows are not divided: NumPy's library has threads of its own
        np.matmul(rows, weight, out=ans)
        run(ans, b, 0, n)
    else:
        in_parts(some, PARTS, x.size * len(b))
    return ans.reshape(*x.shape[:-1], len(b)), None


neural.affine.kernel("compiled", _affine_forward, neural._affine_backward)


def _layer_norm_forward(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Any:
    if not _fits(x, gamma, beta) or not gamma.shape == beta.shape == x.shape[-1:]:
        return NotImplemented
    dtype, ans = x.dtype, np.empty(x.shape, x.dtype)
    rows = _rows(x, dtype)
    saved = np.empty((len(rows), 3), dtype)
    arguments = (_plain(gamma, dtype), _plain(beta, dtype), _rows(ans, dtype), saved, eps)
    _over_rows(by_rows.layer_norm, rows, *arguments)
    return ans, saved


def _layer_norm_backward(g: Any, needs: Needs, x: Any, gamma: Any, saved: Any) -> tuple[Any, ...]:
    dtype, dx = x.dtype, np.empty(x.shape, x.dtype)
    rows = _rows(g, dtype)
    d_gamma, d_beta = np.empty((2, _block_count(rows), rows.shape[1]), dtype)
    arguments = (_rows(x, dtype), _plain(gamma, dtype), saved, _rows(dx, dtype), d_gamma, d_beta)
    _over_blocks(by_rows.layer_norm_backward, rows, *arguments)
    return dx, d_gamma.sum(axis=0), d_beta.sum(axis=0)


neural.layer_norm.kernel("compiled", _layer_norm_forward, _layer_norm_backward)


# --- cross_entropy --------------------------------------------------------------------------------------------------


def _cross_entropy_forward(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    if not _fits(logits):
        return NotImplemented
    numbers = _labels(labels) if getattr(labels, "dtype", np.dtype(bool)).kind in "iu" else None
    if (
        numbers is None
        or reduction not in neural._REDUCTIONS
        or logits.shape[:-1] != labels.shape
        or not by_rows.within[logits.dtype](numbers, 0, logits.shape[-1])
    ):
        neural.check_labels(logits, labels, reduction)  # raises
    rows = _rows(logits, logits.dtype)
    losses, saved = np.empty(len(rows), logits.dtype), np.empty((len(rows), 2), logits.dtype)
    _over_rows(by_rows.cross_entropy, rows, numbers, losses, saved)
    return neural._REDUCTIONS[reduction](losses.reshape(labels.shape)), saved


def _labels(labels: Any) -> Array:
    return _plain(labels, np.int64).reshape(-1)


def _cross_entropy_backward(
    g: Any, needs: Needs, saved: Any, logits: Any, labels: Any, reduction: str
) -> tuple[Any, None]:
    dtype, dx = logits.dtype, np.empty(logits.shape, logits.dtype)
    rows = _rows(logits, dtype)
    count = max(len(rows), 1) if reduction == "mean" else 1
    each = _plain(g, dtype).reshape(-1) if reduction == "none" else np.full(len(rows), g / count, dtype)
    _over_rows(by_rows.cross_entropy_backward, rows, each, _labels(labels), saved, _rows(dx, dtype))
    return dx, None


neural.cross_entropy.kernel("compiled", _cross_entropy_forward, _cross_entropy_backward)


# --- scaled_dot_product_attention -----------------------------------------------------------------------------------


def _attention_forward(
    query: Any, key: Any, value: Any, mask: Any = None, bias: Any = None, scale: float | None = None, num_heads: int = 1
) -> Any:
    if not _fits(query, key, value) or not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return NotImplemented
    together = attention.masks_of(mask, bias, attention.scores_shape(query, key, num_heads))
    if together is None:
        return NotImplemented
    q, k, v = (attention._sequences(t, num_heads) for t in (query, key, value))
    weights = np.empty((*q.shape[:-1], k.shape[-2]), query.dtype)
    allowed, ends = _spans(together[0], weights)
    ans = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    context, softmax = attention._sequences(ans, num_heads), by_rows.attention_weights[query.dtype]
    factor = attention.scale_of(q.shape[-1], scale)
    divided, all_of = attention.shared_or_divided(allowed, ends, together[1])

    def some(w: Array, q: Array, k: Array, v: Array, context: Array, *parts: Array) -> None:
        allowed, ends, added = all_of(parts)
        np.matmul(q, k.swapaxes(-1, -2), out=w)
        scaled = factor <= 0 or added is not None  # else in softmax; there the largest product is the largest score
        if scaled:
            w *= factor
        if added is not None:
            w += added
        softmax(w, allowed, ends, 1.0 if scaled else factor)
        np.matmul(w, v, out=context)

    in_blocks(some, weights, q, k, v, context, *divided, passes=attention.passes_of(query, weights))
    return ans, (weights, ends)


@functools.lru_cache(maxsize=64)
def _no_mask(keys: int) -> tuple[Array, Array]:
    return np.empty((0, 0, 0, 0), bool), np.full((1, 1, 1, 2), keys)


def _spans(mask: Any, weights: Array) -> tuple[Array, Array]:
    """The mask as the kernel reads it, each axis but the last as in ``weights`` or 1, and the spans of its rows."""
    if mask is None:
        return _no_mask(weights.shape[-1])
    if mask.shape[-1] != weights.shape[-1]:
        mask = np.repeat(mask, weights.shape[-1], axis=-1)
    mask = _plain(mask, np.bool)
    return mask, by_rows.spans[weights.dtype](mask)


def _attention_backward(
    g: Any, needs: Needs, query: Any, key: Any, value: Any, bias: Any, saved: Any, scale: float | None, num_heads: int
) -> tuple[Any, ...]:
    weights, ends = saved
    q, k, v, do = (attention._sequences(t, num_heads) for t in (query, key, value, g))
    results = [np.empty(t.shape, t.dtype) for t in (query, key, value)]
    dq, dk, dv = (attention._sequences(t, num_heads) for t in results)
    factor = attention.scale_of(q.shape[-1], scale)
    inner, outer = (1.0, factor) if needs[4] else (factor, 1.0)  # the bias takes the gradient of the scaled scores
    softmax_backward = by_rows.attention_weights_backward[weights.dtype]
    d_bias = attention.BiasGradient(bias, query, key, num_heads, weights.dtype) if needs[4] else None
    divided, all_of = attention.shared_or_divided(ends, *(d_bias.divided if d_bias else ()))

    def some(w: Array, q: Array, k: Array, v: Array, do: Array, dq: Array, dk: Array, dv: Array, *parts: Array) -> Any:
        ends, *stretch = all_of(parts)
        np.matmul(w.swapaxes(-1, -2), do, out=dv)
        ds = np.matmul(do, v.swapaxes(-1, -2), dtype=w.dtype, order="C")
        softmax_backward(w, ds, ends, inner)
        if outer != 1:
            q, k = q * outer, k * outer
        np.matmul(ds, k, out=dq)
        np.matmul(ds.swapaxes(-1, -2), q, out=dk)
        return d_bias and d_bias.add(ds, *stretch)

    sums = in_blocks(some, weights, q, k, v, do, dq, dk, dv, *divided, passes=attention.passes_of(query, weights))
    return *results, None, d_bias and d_bias.result(sums)


attention.scaled_dot_product_attention.kernel("compiled", _attention_forward, _attention_backward)


# --- scatter_add and Adam -------------------------------------------------------------------------------------------

_COLUMNS = 16  # that a thread takes at least


def _scatter_add_forward(updates: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Whole rows, as for the gradient of an embedding; all else is left to NumPy."""
    if isinstance(index, tuple) and len(index) == 1:
        (index,) = index
    if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or not _fits(updates):
        return NotImplemented
    numbers, run = _labels(index), elementwise.scatter_add[updates.dtype]
    if updates.shape != (*index.shape, *shape[1:]) or not by_rows.within[updates.dtype](numbers, -shape[0], shape[0]):
        return NotImplemented
    width = math.prod(shape[1:])
    ans = np.zeros(shape, updates.dtype)
    rows, out = _plain(updates, updates.dtype).reshape(index.size, width), ans.reshape(shape[0], width)
    in_parts(
        lambda start, stop: run(rows, numbers, out, start * _COLUMNS, min(stop * _COLUMNS, width)),
        -(-width // _COLUMNS),
        _PASSES * updates.size,
    )
    return ans, None


scatter_add.kernel("compiled", _scatter_add_forward, lambda g, needs, index: (g[index],))


def adam_step(
    p: Array,
    g: Array,
    m: Array,
    v: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    correction1: float,
    correction2: float,
) -> None:
    """One step of Adam: ``p``, and its means ``m`` and ``v``, are changed in place by the gradient ``g``.

    ``correction1`` is ``1 - beta1**t`` in step t, and ``correction2`` likewise. What is not contiguous or not of the dtype of
    ``p`` is copied and written back; what is neither float32 nor float64 is computed in float64.
    """
    dtype = p.dtype if p.dtype in _TINY else np.dtype(np.float64)
    written = [a if a.flags.carray and a.dtype == dtype else np.array(a, dtype, order="C") for a in (p, m, v)]
    flat_p, flat_m, flat_v, flat_g = (a.reshape(-1) for a in (*written, _plain(g, dtype)))
    numbers = (lr / correction1, beta1, beta2, 1 / math.sqrt(correction2), eps)
    run = elementwise.adam[dtype]
    in_parts(
        lambda start, stop: run(
            flat_p, flat_g, flat_m, flat_v, *numbers, start * _BLOCK, min(stop * _BLOCK, flat_p.size)
        ),
        -(-p.size // _BLOCK),
        _PASSES * p.size,
    )
    for array, changed in zip((p, m, v), written):
        if array is not changed:
            array[...] = changed
