"""float16 is NumPy's own, but for the functions below: they compute with it in float32, and round.

Its largest number is 65504 and it has 11 bits: sums of squares soon pass the one, and sums of many numbers need more than the
other. The rules are mathematics and say nothing of it; the functions that sum inside themselves get their wider form here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .engine.arrays import FLOAT16, widened
from .rules import attention, dropout, neural

_NONE = np.dtype(object)


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays or Tensors that computes with float16 in float32. Of float16 alone the result is float16 again."""

    @functools.wraps(function)
    def wide(*arrays: Any, **keywords: Any) -> Any:
        for array in arrays:  # half the time of any(...)
            if getattr(array, "dtype", None) == FLOAT16:
                break
        else:
            return function(*arrays, **keywords)
        result = function(*map(widened, arrays), **keywords)
        floating = {dtype for array in arrays if (dtype := getattr(array, "dtype", _NONE)).kind == "f"}
        return result.astype(FLOAT16) if len(floating) == 1 else result

    return wide


for _fused in (
    neural.affine,  # NumPy takes a hundred times as long for a product in float16
    neural.softmax,
    neural.log_softmax,
    neural.gelu,
    neural.layer_norm,
    neural.cross_entropy,
    attention.scaled_dot_product_attention,
    dropout.dropout,  # whose scale, rounded, would not keep the mean
):
    _fused.function = in_float32(_fused.function)
    _fused.composition = _fused.composition and in_float32(_fused.composition)
    _fused.rules = {name: in_float32(rule) for name, rule in _fused.rules.items()}

attention_weights = in_float32(attention.attention_weights)
masked_softmax = in_float32(attention.masked_softmax)
