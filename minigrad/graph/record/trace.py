"""``with trace():`` records for each operation what the views show and training does not need."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any, NamedTuple, Self

import numpy as np

from ..._source import SourceLine, user_place
from ...device import is_device_array, to_host
from ...engine.arrays import SCALARS
from ...engine.fitting import fit
from ...engine.observers import Scope, active, attach
from ...engine.tape import Entry, Leaf, entry_of
from ...engine.tensor import Tensor
from ...guards.gradients import norm, single
from .rounds import Callee, Round, place_of

SMALL = 512  # elements of an array whose bytes are compared at once, which is faster there


class trace:
    """Record inside ``with minigrad.trace():`` what the views show about each operation.

    A trace notes an operation's operands and result, the line of the program that called it, and the modules
    around it. A sweep (a backward pass) adds the cotangent of the output and
    the results of the operation's rules. Arrays are copied to the host, because optimizers and users write in place.

    The notes belong to the operations. They outlive the block and are freed with the graph, so ``backward()`` may come
    after the block. Operations outside a trace are not slowed down.

    Args:
        values: whether arrays are copied. Without copies, drawings show only shapes and norms.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([3.0, 4.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = np.sum(x * x)
        >>> print(mg.draw_dot(loss).to_text(), end="")  # with the names and expressions of the program
        loss: sum  () float64  grad -
        └─ x * x: multiply  (2,) float64  grad -
           ├─ x  (2,) float64  grad -
           └─ x  (2,) float64  grad -
    """

    def __init__(self, values: bool = True) -> None:
        self.values = values
        self._pins: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._depth = 0
        # The place of the last operation, the call it was part of, and the position inside that call
        self._last: tuple[SourceLine, int, int] | None = None
        self._calls = 0

    def __enter__(self) -> Self:
        active.enter(self)
        self._depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        active.leave(self)
        self._depth -= 1
        if not self._depth:
            self._pins.clear()
            self._last = None

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Note an entry, whose arguments come first in ``arrays``. The engine calls this for each entry."""
        note = TraceNote(entry, arrays)
        self.locate(note)
        if self.values:
            note.arguments = [self.pin(array) for array in arrays[: len(entry.parents)]]
            several = isinstance(answer, (tuple, list))
            note.answer = tuple(map(self.pin, answer)) if several else self.pin(answer)
        attach(entry, note)

    def locate(self, note: TraceNote) -> None:
        """Note the running line of the program, and the number of the call on it that carries out the operation.

        A module's call is recognised by its frame. Frames of other functions are not kept. Two operations in a row belong to
        one call of such a function if the same line called them and the second comes later in the function.
        """
        frames: list[FrameType] = []
        place = user_place(frames)
        if place is None or place.callee is None:
            return
        note.source, note.program, note.callers = place.source, place.program, place.callers
        here = place.source, place.program
        note.rounds, note.called = zip(*[place_of(frame, *at) for frame, at in zip(frames, (here, *place.callers))])
        outer: FrameType | None = frames[-1]
        while outer is not None and outer.f_code.co_name != "<module>":
            outer, note.outside = outer.f_back, note.outside + 1
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
        """Return a read-only copy of an array on the host. It is copied again only after the array has changed."""
        if not isinstance(value, np.ndarray) and not is_device_array(value):
            return value
        host = to_host(value)
        reference, copy = self._pins.get(id(value), (None, None))
        if reference is not None and reference() is value and _same(copy, host):
            return copy
        copy = frozen_copy(host)
        with contextlib.suppress(TypeError):  # arrays of some libraries do not support weak references
            self._pins[id(value)] = weakref.ref(value), copy
        return copy


class ModuleCall(NamedTuple):
    """A call of a module that was running.

    Attributes:
        name, kind: the module's name, and the name of its class.
        identity: an object that all calls of the module share. It is a weak reference, so that no trace keeps a module; the
            ``id`` of a module that is gone may be that of another one.
        number: a number that no other call has.
    """

    name: str
    kind: str
    identity: object
    number: int

    @classmethod
    def of(cls, scope: Scope) -> ModuleCall:
        """Return the call that a scope is. The scope keeps it for the next operation of the call."""
        owner, name = scope
        known: ModuleCall | None = scope.notes.get(cls)
        if known is None:
            identity = object()
            with contextlib.suppress(TypeError):  # an object of a class with slots may have no weak references
                identity = weakref.ref(owner)
            known = scope.notes[cls] = cls(name, type(owner).__name__, identity, next(call_numbers))
        return known


call_numbers = itertools.count()  # of the calls of modules


class Constant:
    """An argument of an operation that needs no gradient. The tape does not hold it, so the trace notes it.

    Attributes:
        place: a key, equal for two arguments that are the same array or equal views of one. It outlives the view.
    """

    __slots__ = ("array", "dtype", "owner", "place", "position", "shape", "value")

    def __init__(self, position: int, value: Any) -> None:
        self.position = position
        self.shape: tuple[int, ...] = np.shape(value)
        self.dtype = str(value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype)
        self.value = value if isinstance(value, (int, float, complex, np.number)) else None
        self.array: weakref.ref[Any] | None = None
        with contextlib.suppress(TypeError):  # a Python number supports no weak reference
            self.array = weakref.ref(value)
        self.owner, self.place = self.array, object() if self.array is None else (id(self.array),)
        if isinstance(value, np.ndarray):
            base = value
            while isinstance(base.base, np.ndarray):
                base = base.base
            self.owner = weakref.ref(base)  # an array has one such reference, so its id tells arrays apart
            self.place = id(self.owner), value.__array_interface__["data"][0], value.shape, value.strides, self.dtype


class TraceNote:
    """The notes of a trace about one operation.

    A :class:`.Node` has the other facts under the same names.

    Attributes:
        modules: the calls of modules around the operation, outermost first.
        program: the lines of the file of ``source``.
        callers: the calls of the program's functions around it, innermost first, each with its file's lines.
        constants: the arguments that need no gradient.
        names: the names of the leaves among the arguments, by position.
        paths: the attribute paths of leaves without a name that belong to a running module.
        origin: in a backward pass, the entry whose rule has called this operation.
        arguments, answer: copies of the operands and of the result (a tuple of several); None without values.
        cotangents, contributions: copies of the cotangents of the outputs in the last sweep, and of the rules' result for
            each operand, before un-broadcasting; empty without values.
        terms: the contributions as terms of the operands' gradients: un-broadcast, real and cast. A term is the same array
            as the contribution if nothing had to change.
        norms: without values, the Euclidean norm of each cotangent.
    """

    __slots__ = (
        "answer", "arguments", "call", "called", "callers", "constants", "contributions", "cotangents", "depth", "lane",
        "modules", "names", "norms", "origin", "outside", "paths", "program", "rounds", "signed", "source", "terms",
    )  # fmt: skip

    def __init__(self, entry: Entry, arrays: list[Any]) -> None:
        self.modules = tuple(map(ModuleCall.of, active.scopes))
        self.source: SourceLine | None = None
        self.program: Sequence[str] = ()
        self.callers: tuple[tuple[SourceLine, Sequence[str]], ...] = ()
        self.outside = 0
        self.rounds: tuple[Round, ...] = ()
        self.called: tuple[Callee | None, ...] = ()
        self.call = 0
        self.depth: int | None = None
        self.constants: list[Constant] = []
        self.names: dict[int, str] = {}
        self.paths: dict[int, str] = {}
        self.lane = 0
        for position, (parent, array) in enumerate(zip(entry.parents, arrays)):
            if parent is None:
                if array is not None:
                    self.constants.append(Constant(position, array))
            elif type(parent) is not Leaf:
                self.lane = max(self.lane, _lane(parent))
            elif (tensor := parent.tensor) is not None:
                if tensor.name:
                    self.names[position] = tensor.name
                elif active.scopes and (path := _path(tensor)) is not None:
                    self.paths[position] = path
        self.origin: Entry | None = None
        if active.pulling is not None:
            self.origin, seeds = active.pulling
            self.lane = max(self.lane, *[1 + _lane(node) for node in seeds])
        self.norms: dict[int, float] = {}
        self.signed: complex | None = None
        self.arguments: list[Any] | None = None
        self.answer: Any = None
        self.cotangents: dict[int, Any] = {}
        self.contributions: list[Any] = []
        self.terms: list[Any] = []

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        cotangents = cotangent if isinstance(cotangent, dict) else {0: cotangent}
        self.signed = None if isinstance(cotangent, dict) else single(cotangent)
        if self.arguments is None:
            self.norms = {output: norm(g) for output, g in cotangents.items()}
            return
        self.cotangents = {output: frozen_copy(g) for output, g in cotangents.items()}
        self.contributions, self.terms = [], []
        for node, found in zip(entry.parents, contributions):
            raw = term = None
            if node is not None and found is not None:
                raw = frozen_copy(found)
                term = fit(np.broadcast_to(raw, node.shape) if type(found) in SCALARS else raw, node, entry)
            self.contributions.append(raw)
            self.terms.append(term)


def note_of(entry: Entry) -> TraceNote | None:
    """Return the notes of the latest trace about an entry; None if it was recorded outside of a trace."""
    for note in entry.notes:
        if isinstance(note, TraceNote):
            return note
    return None


def _path(tensor: Any) -> str | None:
    """Return the attribute path of a running module's tensor, as seen from the outermost module."""
    for number, (owner, name) in reversed(list(enumerate(active.scopes))):
        for attribute, value in getattr(owner, "__dict__", {}).items():
            if value is tensor:
                return f"{name}.{attribute}" if number else attribute
    return None


def _lane(node: Any) -> int:
    place = entry_of(node)
    note = note_of(place) if type(place) is Entry else None
    return note.lane if note else 0


def frozen_copy(value: Any) -> Any:
    """Return a read-only copy on the host."""
    copy = np.array(to_host(value.data if isinstance(value, Tensor) else value))
    copy.flags.writeable = False
    return copy


def _same(copy: Any, now: Any) -> bool:
    if copy.shape != now.shape or copy.dtype != now.dtype:
        return False
    if copy.size <= SMALL:
        return bool(copy.tobytes() == now.tobytes())
    if copy.dtype.kind == "f" and copy.itemsize in (2, 4, 8):  # comparing bits is faster, and tells -0.0 from 0.0
        bits = np.dtype(f"u{copy.itemsize}")
        return bool(np.array_equal(copy.view(bits), now.view(bits)))
    return bool(np.array_equal(copy, now, equal_nan=copy.dtype.kind in "fc"))
