"""The compiled kernels of the fused functions, an alternative to ``kernels/numpy``.

This file prepares the arrays. The loops are in ``rows.py`` and ``elementwise.py``.
"""

from typing import Any

import numpy as np

from ...engine.primitive import Primitive
from ...engine.types import Array
from ...rules import neural
from ...rules.ranges import variances_fit
from ..numpy.activations import gelu_backward, gelu_forward
from ..numpy.rows import Needs
from . import elementwise, rows as by_rows
from .arithmetic import CompiledLoop
from .arrays import TINY, fits, flat_labels, matrix, over_elements, over_rows, plain

# --- softmax and log_softmax ----------------------------------------------------------------------------------------


def _attach_rows(primitive: Primitive, loop: CompiledLoop, backward_loop: CompiledLoop, *by_dtype: Any) -> None:
    """Attach a kernel for a row-wise function whose derivative is computed from its result.

    ``by_dtype`` are dicts from a dtype to a number, which ``loop`` gets after its arrays.
    """

    def forward(x: Array, axis: int = -1) -> Any:
        if not fits(x) or axis not in (-1, x.ndim - 1):
            return NotImplemented
        ans = np.empty(x.shape, x.dtype)
        over_rows(loop, matrix(x, x.dtype), matrix(ans, x.dtype), *[table[x.dtype] for table in by_dtype])
        return ans, None

    def backward(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
        dx = np.empty(ans.shape, ans.dtype)
        over_rows(backward_loop, matrix(g, ans.dtype), matrix(ans, ans.dtype), matrix(dx, ans.dtype))
        return (dx,)

    primitive.kernel("compiled", forward, backward)


_attach_rows(neural.softmax, by_rows.softmax, by_rows.softmax_backward, TINY)
_attach_rows(neural.log_softmax, by_rows.log_softmax, by_rows.log_softmax_backward)


# --- relu, sigmoid, silu and gelu -----------------------------------------------------------------------------------


def _elementwise(loop: CompiledLoop, x: Array) -> Array:
    x = plain(x, x.dtype)
    ans = np.empty(x.shape, x.dtype)
    over_elements(loop, x, ans)
    return ans


def _elementwise_backward(loop: CompiledLoop, g: Array, kept: Array) -> tuple[Array]:
    dx = np.empty(kept.shape, kept.dtype)
    over_elements(loop, plain(g, kept.dtype), plain(kept, kept.dtype), dx)
    return (dx,)


def _attach_elementwise(
    primitive: Primitive, loop: CompiledLoop, backward_loop: CompiledLoop, keeps_x: bool = False
) -> None:
    """Attach a kernel for an elementwise function whose derivative is computed from its result or from ``x``."""

    def forward(x: Array) -> Any:
        return (_elementwise(loop, x), None) if fits(x) else NotImplemented

    def from_answer(g: Array, needs: Needs, ans: Array) -> tuple[Array]:
        return _elementwise_backward(backward_loop, g, ans)

    def from_x(g: Array, needs: Needs, x: Array) -> tuple[Array]:
        return _elementwise_backward(backward_loop, g, x)

    primitive.kernel("compiled", forward, from_x if keeps_x else from_answer)


_attach_elementwise(neural.relu, elementwise.relu, elementwise.relu_backward)
_attach_elementwise(neural.sigmoid, elementwise.sigmoid, elementwise.sigmoid_backward, keeps_x=True)
_attach_elementwise(neural.silu, elementwise.silu, elementwise.silu_backward, keeps_x=True)


def _gelu_forward(x: Array, approximate: str = "none") -> Any:
    if not fits(x) or approximate not in ("none", "tanh"):
        return NotImplemented
    if approximate == "tanh":
        return _elementwise(elementwise.gelu_tanh, x), None
    if x.dtype == np.float64:  # compiling does not make a 16-digit error function faster
        return gelu_forward(x, approximate)
    return _elementwise(elementwise.gelu, x), None


def _gelu_backward(g: Array, needs: Needs, x: Array, saved: Any, approximate: str) -> tuple[Array]:
    if saved is not None:
        return gelu_backward(g, needs, x, saved, approximate)
    return _elementwise_backward(
        elementwise.gelu_backward if approximate == "none" else elementwise.gelu_tanh_backward, g, x
    )


neural.gelu.kernel("compiled", _gelu_forward, _gelu_backward)


# --- layer_norm -----------------------------------------------------------------------------------------------------


def _layer_norm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
    if not fits(x, gamma, beta) or not gamma.shape == beta.shape == x.shape[-1:]:
        return NotImplemented
    dtype, ans = x.dtype, np.empty(x.shape, x.dtype)
    rows = matrix(x, dtype)
    saved = np.empty((len(rows), 3), dtype)
    arguments = (plain(gamma, dtype), plain(beta, dtype), matrix(ans, dtype), saved, eps)
    over_rows(by_rows.layer_norm, rows, *arguments)
    return (ans, saved) if variances_fit(saved[:, 2], eps) else NotImplemented


def _layer_norm_backward(g: Array, needs: Needs, x: Array, gamma: Array, saved: Array) -> tuple[Any, ...]:
    dtype, dx = x.dtype, np.empty(x.shape, x.dtype)
    rows = matrix(g, dtype)
    blocks = -(-len(rows) // by_rows.BLOCK)  # each block has its own sums
    d_gamma, d_beta = np.empty((2, blocks, rows.shape[1]), dtype)
    arguments = (matrix(x, dtype), plain(gamma, dtype), saved, matrix(dx, dtype), d_gamma, d_beta)
    over_rows(by_rows.layer_norm_backward, rows, *arguments, blocks=blocks)
    return dx, d_gamma.sum(axis=0), d_beta.sum(axis=0)


neural.layer_norm.kernel("compiled", _layer_norm_forward, _layer_norm_backward)


# --- cross_entropy --------------------------------------------------------------------------------------------------


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> Any:
    if not fits(logits):
        return NotImplemented
    numbers = flat_labels(labels) if getattr(labels, "dtype", np.dtype(bool)).kind in "iu" else None
    if (
        numbers is None
        or reduction not in neural.REDUCTIONS
        or logits.shape[:-1] != labels.shape
        or not by_rows.within[logits.dtype](numbers, 0, logits.shape[-1])
    ):
        neural.check_labels(logits, labels, reduction)  # raises an error in all of these cases
    rows = matrix(logits, logits.dtype)
    losses, saved = np.empty(len(rows), logits.dtype), np.empty((len(rows), 2), logits.dtype)
    over_rows(by_rows.cross_entropy, rows, numbers, losses, saved)
    return neural.REDUCTIONS[reduction](losses.reshape(labels.shape)), saved


def _cross_entropy_backward(
    g: Array, needs: Needs, saved: Array, logits: Array, labels: Array, reduction: str
) -> tuple[Array, None]:
    dtype, dx = logits.dtype, np.empty(logits.shape, logits.dtype)
    rows = matrix(logits, dtype)
    count = max(len(rows), 1) if reduction == "mean" else 1
    each = plain(g, dtype).reshape(-1) if reduction == "none" else np.full(len(rows), g / count, dtype)
    over_rows(by_rows.cross_entropy_backward, rows, each, flat_labels(labels), saved, matrix(dx, dtype))
    return dx, None


neural.cross_entropy.kernel("compiled", _cross_entropy_forward, _cross_entropy_backward)
