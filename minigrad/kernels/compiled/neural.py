"""The compiled kernels of gelu, layer_norm and cross_entropy for float32. Those of ``kernels/numpy`` compute other dtypes.

This file prepares the arrays. The loops are in ``rows.py`` and ``elementwise.py``.
"""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules import neural
from ...rules.ranges import variances_fit
from ..numpy import activations, layer_norm, softmax
from ..numpy.rows import Needs
from . import elementwise, rows as by_rows
from .arrays import matrix, over_elements, over_rows, plain


def _gelu_forward(x: Array, approximate: str = "none") -> Any:
    if x.dtype != np.float32 or approximate not in ("none", "tanh"):
        return activations.gelu_forward(x, approximate)
    ans = np.empty(x.shape, x.dtype)
    over_elements(elementwise.gelu if approximate == "none" else elementwise.gelu_tanh, plain(x), ans)
    return ans, None


def _gelu_backward(g: Array, needs: Needs, x: Array, saved: Any, approximate: str) -> tuple[Array]:
    if saved is not None:
        return activations.gelu_backward(g, needs, x, saved, approximate)
    loop = elementwise.gelu_backward if approximate == "none" else elementwise.gelu_tanh_backward
    dx = np.empty(x.shape, x.dtype)
    over_elements(loop, plain(g), plain(x), dx)
    return (dx,)


def _layer_norm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
    if {x.dtype, gamma.dtype, beta.dtype} != {np.dtype(np.float32)} or not gamma.shape == beta.shape == x.shape[-1:]:
        return layer_norm.layer_norm_forward(x, gamma, beta, eps)
    rows, ans = matrix(x), np.empty(x.shape, x.dtype)
    saved = np.empty((len(rows), 3), x.dtype)
    over_rows(by_rows.layer_norm, len(rows), rows, plain(gamma), plain(beta), matrix(ans), saved, eps)
    return (ans, saved) if variances_fit(saved[:, 2], eps) else NotImplemented


def _layer_norm_backward(g: Array, needs: Needs, saved: Any, x: Array, gamma: Array) -> tuple[Any, ...]:
    if isinstance(saved, tuple):
        return layer_norm.layer_norm_backward(g, needs, saved, x.shape, gamma)
    rows, dx = matrix(g), np.empty(x.shape, x.dtype)
    blocks = -(-len(rows) // by_rows.BLOCK)
    d_gamma, d_beta = np.empty((2, blocks, rows.shape[1]), x.dtype)
    over_rows(by_rows.layer_norm_backward, blocks, rows, matrix(x), plain(gamma), saved, matrix(dx), d_gamma, d_beta)
    sums = (d.sum(axis=0) if need else None for d, need in zip((d_gamma, d_beta), needs[1:]))
    return dx if needs[0] else None, *sums


def _cross_entropy_forward(logits: Array, labels: Array, reduction: str = "mean") -> Any:
    if logits.dtype != np.float32:
        return softmax.cross_entropy_forward(logits, labels, reduction)
    run = by_rows.exp_and_sum.run
    return softmax.cross_entropy_forward(plain(logits), labels, reduction, lambda *arrays: run(*arrays[:4]))


neural.gelu.kernel("compiled", _gelu_forward, _gelu_backward)
neural.layer_norm.kernel("compiled", _layer_norm_forward, _layer_norm_backward)
neural.cross_entropy.kernel("compiled", _cross_entropy_forward, softmax.cross_entropy_backward)
