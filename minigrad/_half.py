"""float16: what would leave its range, or lose its digits, is computed in float32.

Its largest number is 65504 and it has 11 bits. Sums of squares soon pass the one, and sums of many numbers need more than
the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_NONE = np.dtype(object)


def widened(value: Any) -> Any:
    """A float16 array or Tensor in float32; anything else as it is."""
    return value.astype(np.float32) if getattr(value, "dtype", None) == np.float16 else value


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays or Tensors that computes with float16 in float32. Of float16 alone the result is float16 again."""

    @functools.wraps(function)
    def wide(*arrays: Any, **keywords: Any) -> Any:
        floating = {dtype for a in arrays if (dtype := getattr(a, "dtype", _NONE)).kind == "f"}
        if np.dtype(np.float16) not in floating:
            return function(*arrays, **keywords)
        result = function(*map(widened, arrays), **keywords)
        return result.astype(np.float16) if len(floating) == 1 else result

    return wide
