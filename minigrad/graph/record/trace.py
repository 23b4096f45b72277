"""``with trace():`` writes down, beside each operation, what a view wants to show and training does not need."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..._source import SourceLine, user_place
from ...device import is_device_array, to_host
from ...engine.observers import active, attach
from ...engine.tape import Entry, Leaf, entry_of
from ...engine.tensor import Tensor
from ...guards.inplace import _arrays


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
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([3.0, 4.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = np.sum(x * x)
        >>> print(mg.draw_dot(loss).to_text(colour=False), end="")  # with the names and expressions of the program
        loss: sum  () float64  grad -
        └─ x * x: multiply  (2,) float64  grad -
           ├─ x  (2,) float64  grad -
           └─ x  (2,) float64  grad -
    """

    def __init__(self, values: bool = True) -> None:
        self.values = values
        self._pins: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._depth = 0
        self._last: tuple[SourceLine, int, int] | None = (
            None  # where the last operation was, and how far what it called
        )
        self._calls = 0

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
            self._last = None

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Called by the engine for each entry; ``arrays`` begins with the arguments of the operation."""
        note = TraceNote(entry, arrays, answer, seconds)
        self.locate(note)
        if self.values:
            note.arguments = [self.pin(array) for array in arrays[: len(entry.parents)]]
            several = isinstance(answer, (tuple, list))
            note.answer = tuple(map(self.pin, answer)) if several else self.pin(answer)
        attach(entry, note)

    def locate(self, note: TraceNote) -> None:
        """Note where the program is, and which call of the program's is under way.

        Of a module that is the call itself. Another function, of which nothing is kept, is taken to be the same call as long
        as it goes on from one of its instructions to a later one.
        """
        place = user_place()
        if place is None or place.callee is None:
            return
        note.source, note.program, note.callers = place.source, place.program, place.callers
        for number, scope in enumerate(active.scopes):
            if scope.frame is place.callee:
                note.depth, note.call = number, scope.notes.setdefault(self, self._calls + 1)
                self._calls = max(self._calls, note.call)
                return
        now = place.source, id(place.callee), place.callee.f_lasti
        if not (self._last is not None and self._last[:2] == now[:2] and self._last[2] < now[2]):
            self._calls += 1
        self._last = now
        note.call = self._calls

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
        source: the place in the user's program that called it.
        program: the lines of the file that it is in.
        callers: the calls of the program's functions around it, innermost first, each with its file's lines.
        call: a number that it shares with the operations that the same call, or operator, of the program gave rise to.
        constants: the arguments that need no gradient.
        depth: which of ``modules`` it is that the program called; None if it called something else.
        names: of the tensors among the arguments that were given, not computed, by position.
        paths: of those that have no name, and are attributes of a module that is running, the paths to them.
        kept: the arrays it keeps for its backward, each as a number that tells it from others, and its bytes.
        seconds, backward_seconds: how long the operation took, and its rules (None before a sweep).
        lane: 0 in a forward pass, 1 for operations that a backward pass recorded, 2 for the backward pass of that ...
        origin: in a backward pass the entry whose rules it is part of.
        signed: of the last sweep the cotangent itself, if the operation's only output is a single number.
        gradients: for each output that a sweep has reached the Euclidean norm of its cotangent; the last sweep's.
        arguments, answer: copies of the operands and of the result (a tuple of several); None without values.
        cotangents, contributions: of the last sweep, copies of the cotangent of each output it has reached, and of what the
            rules made of them for each operand, before un-broadcasting; empty without values.
    """

    __slots__ = (
        "answer", "arguments", "backward_seconds", "call", "callers", "constants", "contributions", "cotangents",
        "depth", "gradients", "kept", "lane", "modules", "names", "origin", "paths", "program", "seconds", "signed",
        "source",
    )  # fmt: skip

    def __init__(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        self.modules = tuple(ModuleCall(owner, name) for owner, name in active.scopes)
        self.source: SourceLine | None = None
        self.program: Sequence[str] = ()
        self.callers: tuple[tuple[SourceLine, Sequence[str]], ...] = ()
        self.call = 0
        self.depth: int | None = None
        operands = enumerate(zip(entry.parents, arrays))
        self.constants = [Constant(i, a) for i, (parent, a) in operands if parent is None and a is not None]
        leaves = [(i, node.tensor) for i, node in enumerate(entry.parents) if type(node) is Leaf]
        self.names = {i: tensor.name for i, tensor in leaves if tensor is not None and tensor.name}
        nameless = [(i, tensor) for i, tensor in leaves if tensor is not None and not tensor.name]
        found = [(i, _path(tensor)) for i, tensor in nameless] if active.scopes else []
        self.paths = {i: path for i, path in found if path is not None}
        self.kept = {number: array.nbytes for number, array in _kept_arrays(entry)}
        self.seconds = seconds
        self.backward_seconds: float | None = None
        pulling = active.pulling
        self.origin: Entry | None = pulling[0] if pulling else None
        seeds: Iterable[Any] = pulling[1] if pulling else ()
        before = max((_lane(node) for node in entry.parents), default=0)
        self.lane: int = max([before, *[1 + _lane(node) for node in seeds]])
        self.gradients: dict[int, float] = {}
        self.signed: complex | None = None
        self.arguments: list[Any] | None = None
        self.answer: Any = None
        self.cotangents: dict[int, Any] = {}
        self.contributions: list[Any] = []

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        cotangents = cotangent if isinstance(cotangent, dict) else {0: cotangent}
        self.gradients = {output: norm(g) for output, g in cotangents.items()}
        self.signed = None if isinstance(cotangent, dict) else single(cotangent)
        self.backward_seconds = seconds
        if self.arguments is not None:
            self.cotangents = {output: frozen_copy(g) for output, g in cotangents.items()}
            pairs = zip(entry.parents, contributions)
            self.contributions = [None if node is None or c is None else frozen_copy(c) for node, c in pairs]


def note_of(entry: Entry) -> TraceNote | None:
    """What the latest trace wrote down about an entry; None if it was recorded outside of one."""
    return next((note for note in entry.notes if isinstance(note, TraceNote)), None)


def _path(tensor: Any) -> str | None:
    """The path to a tensor that is an attribute of a module that is running, as far as the outermost knows it."""
    for number, (owner, name) in reversed(list(enumerate(active.scopes))):
        for attribute, value in getattr(owner, "__dict__", {}).items():
            if value is tensor:
                return f"{name}.{attribute}" if number else attribute
    return None


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


def single(array: Any) -> complex | None:
    """The number that an array consists of; None if there are several."""
    values = array.data if isinstance(array, Tensor) else array
    number: complex | None = to_host(values).item() if values.size == 1 else None
    return number
