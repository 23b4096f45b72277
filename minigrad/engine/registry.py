"""Who stands in for a NumPy function where an argument is a Tensor."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

registry: dict[Any, Any] = {}
"""NumPy function, or ``(ufunc, method)``, -> the Primitive, Composite or PlainFunction."""

operators: dict[Callable[..., Any], Callable[..., Any]] = {}
"""ufunc of one or two arguments -> its primitive, specialised for speed (operators.py)."""

primitives: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""By name, the first of each."""

when_declared: list[Callable[[Any], None]] = []
"""Told each primitive that has got its rules."""
