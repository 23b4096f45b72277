"""The compiled kernel of gelu, an alternative to ``kernels/numpy``. The loops are in ``elementwise.py``."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules import neural
from ..numpy.activations import gelu_backward, gelu_forward
from ..numpy.rows import Needs
from . import elementwise
from .arithmetic import CompiledLoop
from .arrays import FLOATS, over_elements, plain


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
    if x.dtype not in FLOATS or approximate not in ("none", "tanh"):
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
