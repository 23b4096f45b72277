"""``t.at[index].set(v)`` makes a new tensor with some elements replaced, because a tensor on the tape must not be changed."""

from __future__ import annotations

import operator
from typing import Any, Generic, TypeVar

from .registry import registry
from .types import TensorLike

R = TypeVar("R")  # the result of an operation: Tensor


class At(Generic[R]):
    """The value of ``t.at``. Index it to pick elements."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> Places[R]:
        return Places(self._tensor, index)


class Places(Generic[R]):
    """The elements of a tensor that an index picks.

    Each method returns a new tensor, which can be differentiated with respect to the old one and to ``values``. ``values`` are
    broadcast to the shape of the picked elements and converted to the dtype of the tensor.

    The index and ``values`` follow NumPy's ``a[index] = v``, ``+= v`` and ``*= v``, and raise the same errors. There is one
    exception: floats for a tensor of integers raise ``DTypeError``, because an assignment would truncate them.
    """

    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Any, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def set(self, values: TensorLike) -> R:
        """Replace the picked elements by ``values``. If the index repeats an element, the last value counts."""
        return registry[operator.setitem, "set"](self._tensor, values, self._index)

    def add(self, values: TensorLike) -> R:
        """Add ``values`` to the picked elements. If the index repeats an element, all of its values are added."""
        return registry[operator.setitem, "add"](self._tensor, values, self._index)

    def multiply(self, values: TensorLike) -> R:
        """Multiply the picked elements by ``values``. If the index repeats an element, all of its values are multiplied."""
        return registry[operator.setitem, "multiply"](self._tensor, values, self._index)
