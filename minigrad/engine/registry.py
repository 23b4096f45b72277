"""Who stands in for a NumPy function where an argument is a Tensor."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

registry: dict[Any, Any] = {}
"""NumPy function, or ``(ufunc, method)``, -> the Primitive, Composite or PlainFunction."""

operators: dict[Callable[..., Any], Callable[..., Any]] = {}
"""ufunc of one or two arguments -> its primitive, specialised for speed (operators.py)."""

primitives: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""By name, the first of each."""

when_declared: list[Callable[[Any], None]] = []
"""Told each primitive that has got its rules."""


def is_elementwise(primitive: Any) -> bool:
    """Whether each number of the result is made of one number of each operand: a ufunc that is no matrix product."""
    function = getattr(primitive, "function", None)
    return isinstance(function, np.ufunc) and function.signature is None
