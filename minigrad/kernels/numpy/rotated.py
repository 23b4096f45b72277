"""The kernel of rotary positions: one complex product, where the formula makes eight passes over real numbers."""

from typing import Any

import numpy as np

from ...engine.fitting import unbroadcast
from ...engine.types import Array
from ...rules.neural import rotated
from .rows import Needs


def _as_complex(x: Array) -> Array:
    return np.ascontiguousarray(x).view(np.result_type(x, np.complex64))


def _turns(cos: Array, sin: Array, columns: int) -> Array:
    return np.tile(cos + 1j * sin, columns // cos.shape[-1])  # long rows are faster


def _forward(x: Array, cos: Array, sin: Array) -> Any:
    if not x.size or not cos.dtype == sin.dtype == x.dtype or cos.shape != sin.shape:
        return NotImplemented
    ans = _as_complex(x) * _turns(cos, sin, x.shape[-1] // 2)
    return (ans.view(x.dtype), None) if ans.shape[:-1] == x.shape[:-1] else NotImplemented


def _backward(g: Array, needs: Needs, x: Array, cos: Array, sin: Array) -> tuple[Any, ...]:
    of_ans, dx = _as_complex(g), None
    if needs[0]:
        dx = (of_ans * _turns(cos, -sin, x.shape[-1] // 2)).view(x.dtype)
    if not any(needs[1:]):
        return dx, None, None
    of_heads = (of_ans * _as_complex(x).conj()).reshape(*x.shape[:-1], -1, cos.shape[-1]).sum(axis=-2)
    of_turns = unbroadcast(of_heads, cos.shape)
    return dx, of_turns.real.copy(), of_turns.imag.copy()


rotated.kernel(np.ndarray, _forward, _backward)
