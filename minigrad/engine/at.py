"""``t.at[index].set(v)``: a new tensor that differs from ``t`` at some places, where NumPy would write into it."""

from __future__ import annotations

import operator
from typing import Any, Generic, TypeVar

from .registry import registry

R = TypeVar("R")  # what an operation gives: Tensor


class At(Generic[R]):
    """``t.at``, which waits for an index."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> Places[R]:
        return Places(self._tensor, index)


class Places(Generic[R]):
    """The places of a tensor that an index picks. Each method gives a new tensor, with a derivative in the old one and in
    ``values``, which are broadcast to the places and take the tensor's dtype.

    The values are those of NumPy's ``a[index] = v``, ``+= v`` and ``*= v``, and what these raise is raised here. Values of a
    wider kind (floats among integers) are a ``DTypeError``: an assignment would cut them off."""

    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Any, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def set(self, values: Any) -> R:
        """``values`` in these places. Where a place is picked several times, the last value stays."""
        return registry[operator.setitem, "set"](self._tensor, values, self._index)

    def add(self, values: Any) -> R:
        """``values`` added in these places, all of them where a place is picked several times."""
        return registry[operator.setitem, "add"](self._tensor, values, self._index)

    def multiply(self, values: Any) -> R:
        """These places multiplied by ``values``, by all of them where a place is picked several times."""
        return registry[operator.setitem, "multiply"](self._tensor, values, self._index)
