"""``with trace():`` writes down, beside each operation, what a view wants to show and training does not need."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..._inplace import _arrays
from ..._source import SourceLine, user_line
from ...device import is_device_array, to_host
from ...engine.observers import active, attach
from ...engine.tape import Entry, Leaf, entry_of
from ...engine.tensor import Tensor


class trace:
    """Inside ``with minigrad.trace():`` each recorded operation notes what a view of the graph shows.

    That is its operands and its result, the line of the program that called it, the modules it ran in, what it keeps for
    its backward and how long it took; and, once a sweep comes through it, the cotangent of its output and what its rules
    made of that for each operand. Arrays are copied, to the host, because optimizers and users write in place.

    The notes belong to the operations: they outlive the block and ``backward()`` (which may come after the block), and
    are freed with the graph. Operations outside a trace are not slowed down.

    Args:
        values: whether arrays are copied. Without, the notes hold no arrays, and drawings show shapes and norms.

    Example:
        >>> with minigrad.trace():
        ...     loss = model.loss(batch)
        >>> loss.backward()
        >>> minigrad.draw_dot(loss).render("model.svg")
    """

    def __init__(self, values: bool = True) -> None:
        self.values = values
        self._pins: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._depth = 0

    def __enter__(self) -> Self:
        active.enter(self)
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        active.leave(self)
        self._depth -= 1
        if not self._depth:
            self._pins.clear()

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Called by the engine for each entry; ``arrays`` begins with the arguments of the operation."""
        note = TraceNote(entry, arrays, answer, seconds)
        if self.values:
            note.arguments = [self.pin(array) for array in arrays[: len(entry.parents)]]
            several = isinstance(answer, (tuple, list))
            note.answer = tuple(map(self.pin, answer)) if several else self.pin(answer)
        attach(entry, note)

    def pin(self, value: Any) -> Any:
        """A copy of an array on the host that nobody can change: one copy as long as the array stays as it is."""
        if not isinstance(value, np.ndarray) and not is_device_array(value):
            return value
        host = to_host(value)
        reference, copy = self._pins.get(id(value), (None, None))
        if reference is not None and reference() is value and _same(copy, host):
            return copy
        copy = frozen_copy(host)
        with contextlib.suppress(TypeError):  # not every library's arrays take a weak reference
            self._pins[id(value)] = weakref.ref(value), copy
        return copy


class ModuleCall:
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


class TraceNote:
    """What a trace knows about one operation.

    Attributes:
        modules: those it ran in, outermost first.
        source: the line of the user's program that called it.
        constants: the arguments that need no gradient.
        names: of the tensors among the arguments that were given, not computed, by position.
        kept: the arrays it keeps for its backward, each as a number that tells it from others, and its bytes.
        seconds, backward_seconds: how long the operation took, and its rules (None before a sweep).
        lane: 0 in a forward pass, 1 for operations that a backward pass recorded, 2 for the backward pass of that ...
        origin: in a backward pass the entry whose rules it is part of.
        gradients: for each output that a sweep has reached the Euclidean norm of its cotangent; the last sweep's.
        arguments, answer: copies of the operands and of the result (a tuple of several); None without values.
        cotangents, contributions: of the last sweep, copies of the cotangent of each output it has reached, and of what the
            rules made of them for each operand, before un-broadcasting; empty without values.
    """

    __slots__ = (
        "answer", "arguments", "backward_seconds", "constants", "contributions", "cotangents", "gradients", "kept", "lane",
        "modules", "names", "origin", "seconds", "source",
    )  # fmt: skip

    def __init__(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        self.modules = tuple(ModuleCall(owner, name) for owner, name in active.scopes)
        self.source: SourceLine | None = user_line()
        operands = enumerate(zip(entry.parents, arrays))
        self.constants = [Constant(i, a) for i, (parent, a) in operands if parent is None and a is not None]
        leaves = [(i, node.tensor) for i, node in enumerate(entry.parents) if type(node) is Leaf]
        self.names = {i: tensor.name for i, tensor in leaves if tensor is not None and tensor.name}
        self.kept = {number: array.nbytes for number, array in _kept_arrays(entry)}
        self.seconds = seconds
        self.backward_seconds: float | None = None
        pulling = active.pulling
        self.origin: Entry | None = pulling[0] if pulling else None
        seeds: Iterable[Any] = pulling[1] if pulling else ()
        before = max((_lane(node) for node in entry.parents), default=0)
        self.lane: int = max([before, *[1 + _lane(node) for node in seeds]])
        self.gradients: dict[int, float] = {}
        self.arguments: list[Any] | None = None
        self.answer: Any = None
        self.cotangents: dict[int, Any] = {}
        self.contributions: list[Any] = []

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        cotangents = cotangent if isinstance(cotangent, dict) else {0: cotangent}
        self.gradients = {output: norm(g) for output, g in cotangents.items()}
        self.backward_seconds = seconds
        if self.arguments is not None:
            self.cotangents = {output: frozen_copy(g) for output, g in cotangents.items()}
            pairs = zip(entry.parents, contributions)
            self.contributions = [None if node is None or c is None else frozen_copy(c) for node, c in pairs]


def note_of(entry: Entry) -> TraceNote | None:
    """What the latest trace wrote down about an entry; None if it was recorded outside of one."""
    return next((note for note in entry.notes if isinstance(note, TraceNote)), None)


def _lane(node: Any) -> int:
    place = entry_of(node)
    note = note_of(place) if type(place) is Entry else None
    return note.lane if note else 0


def _kept_arrays(entry: Entry) -> Iterator[tuple[int, Any]]:
    """The arrays in what an entry keeps, each once."""
    for value in entry.kept or ():
        for array in [value] if is_device_array(value) else _arrays(value):
            yield id(array), array


def frozen_copy(value: Any) -> Any:
    """A copy on the host that nobody can change."""
    copy = np.array(to_host(value.data if isinstance(value, Tensor) else value))
    copy.flags.writeable = False
    return copy


def _same(copy: Any, now: Any) -> bool:
    if copy.shape != now.shape or copy.dtype != now.dtype:
        return False
    return bool(np.array_equal(copy, now, equal_nan=copy.dtype.kind in "fc"))


def norm(array: Any) -> float:
    """The Euclidean norm over all elements, in double precision: in float32 a square overflows from 1.8e19 on."""
    values = array.data if isinstance(array, Tensor) else array
    return float(np.linalg.norm(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)))
