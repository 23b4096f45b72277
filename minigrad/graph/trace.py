"""``with trace():`` writes down, beside each operation, what a drawing wants to show and training does not need."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .._tape import Entry, active, attach
from ..tensor import Tensor


class trace:
    """Inside ``with minigrad.trace():`` each recorded operation notes its module and, once swept, its gradient's norm.

    The notes belong to the operations: they outlive the block and ``backward()`` (which may come after the block), and
    are freed with the graph. They hold no arrays. Operations outside a trace are not slowed down.

    Example:
        >>> with minigrad.trace():
        ...     loss = model.loss(batch)
        >>> loss.backward()
        >>> minigrad.draw_dot(loss).render("model.svg")
    """

    def __enter__(self) -> trace:
        active.enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        active.leave(self)

    def record(self, entry: Entry, arrays: list[Any], answer: Any) -> None:
        """Called by the engine for each entry; ``arrays`` begins with the arguments of the operation."""
        attach(entry, Note(entry, arrays))


class Scope:
    """A module whose call was under way: its name, the name of its class, and a number that tells it from others."""

    __slots__ = ("identity", "kind", "name")

    def __init__(self, owner: object, name: str) -> None:
        self.name = name
        self.kind = type(owner).__name__
        self.identity = id(owner)


class Constant:
    """An argument of an operation that needs no gradient, so that the tape itself does not know it."""

    __slots__ = ("array", "dtype", "position", "shape", "value")

    def __init__(self, position: int, value: Any) -> None:
        self.position = position
        self.shape: tuple[int, ...] = np.shape(value)
        self.dtype = str(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)
        self.value = value if isinstance(value, (int, float, complex, np.number)) else None
        self.array: weakref.ref[Any] | None = None
        with contextlib.suppress(TypeError):  # a Python number takes no weak reference
            self.array = weakref.ref(value)


class Note:
    """What a trace knows about one operation.

    Attributes:
        scopes: the modules it ran in, outermost first.
        constants: the arguments that need no gradient.
        gradients: for each output that a sweep has reached the Euclidean norm of its cotangent; the last sweep's.
    """

    __slots__ = ("constants", "gradients", "next", "scopes")

    next: Any

    def __init__(self, entry: Entry, arrays: list[Any]) -> None:
        self.scopes = tuple(Scope(owner, name) for owner, name in active.scopes)
        arguments = enumerate(zip(entry.parents, arrays))
        self.constants = [Constant(i, a) for i, (parent, a) in arguments if parent is None and a is not None]
        self.gradients: dict[int, float] = {}

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any]) -> None:
        cotangents = cotangent if isinstance(cotangent, dict) else {0: cotangent}
        self.gradients = {output: norm(g) for output, g in cotangents.items()}


def norm(array: Any) -> float:
    """The Euclidean norm over all elements, in double precision: in float32 a square overflows from 1.8e19 on."""
    values = array.data if isinstance(array, Tensor) else array
    return float(np.linalg.norm(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)))
