"""The compiled kernels of gelu and layer_norm, an alternative to ``kernels/numpy``.

This file prepares the arrays. The loops are in ``rows.py`` and ``elementwise.py``.
"""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules import neural
from ...rules.ranges import variances_fit
from ..numpy.activations import gelu_backward, gelu_forward
from ..numpy.rows import Needs
from . import elementwise, rows as by_rows
from .arithmetic import CompiledLoop
from .arrays import fits, matrix, over_elements, over_rows, plain

# --- gelu -----------------------------------------------------------------------------------------------------------


def _elementwise(loop: CompiledLoop, x: Array) -> Array:
    x = plain(x, x.dtype)
    ans = np.empty(x.shape, x.dtype)
    over_elements(loop, x, ans)
    return ans


def _elementwise_backward(loop: CompiledLoop, g: Array, kept: Array) -> tuple[Array]:
    dx = np.empty(kept.shape, kept.dtype)
    over_elements(loop, plain(g, kept.dtype), plain(kept, kept.dtype), dx)
    return (dx,)


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
