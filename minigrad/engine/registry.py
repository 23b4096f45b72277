"""The registry maps a NumPy function to the object that handles its calls with Tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

registry: dict[Any, Any] = {}
"""The keys are NumPy functions or ``(ufunc, method)``, the values are of the type Primitive, Composite or PlainFunction."""

operators: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Maps ufuncs of one or two arguments, and ``np.sum``, to a faster form of their primitive (operators.py)."""

primitives: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""All primitives by name. If several have the same name, the first one is here."""

when_declared: list[Callable[[Any], None]] = []
"""Functions that are called with each primitive whose rules or kernel have just been declared."""


def is_elementwise(primitive: Any) -> bool:
    """Whether each element of the result depends on one element of each operand: true for ufuncs without a signature."""
    function = getattr(primitive, "function", None)
    return isinstance(function, np.ufunc) and function.signature is None
