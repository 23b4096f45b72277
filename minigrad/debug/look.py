"""A full look at one step: its tape with values, gradients and lines, and the variables of the program."""

from __future__ import annotations

import functools
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from .._source import SourceLine, of_library, user_place
from ..engine.observers import active
from ..engine.tape import Entry, Leaf, entry_of
from ..engine.tensor import Tensor, make_tensor
from ..errors import MARK
from ..graph.record.capture import capture
from ..graph.record.model import Graph
from ..graph.record.trace import note_of, trace
from ..guards.gradients import gradient_health
from .program import At
from .variables import address, frames_of, reachable

FRAMES = 10  # frames between the sweep and the call that asked for it
LARGE = 1 << 20  # bytes of an array; of larger ones, no change is noticed


class Window(trace):
    """A trace of one step. It also keeps the raw arrays of its operations, to see which arrays come from the tape.

    Attributes:
        made: the entries in the order of execution, each with its constant arguments (else None) and its result.
        taken: the nodes whose numbers the program took out of the tape, each with the place and the array, if it was new.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Entry, list[Any], Any]] = []
        self.taken: list[tuple[Any, SourceLine, Any]] = []

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        super().record(entry, arrays, answer, seconds)
        if not active.sweeps:
            # A reference to a parameter's array would make in-place detection compare it at each step of an optimizer.
            given = [array if parent is None else None for parent, array in zip(entry.parents, arrays)]
            self.made.append((entry, given, answer))

    def take(self, tensor: Any, copy: Any = None) -> None:
        """Note that the program takes the numbers of a tensor: its own array, or a ``copy`` of other numbers.

        What ``nn`` takes does not count: a layer may leave a gradient out on purpose, as Embedding does for its padding.
        """
        counts = tensor._node is not None and not active.sweeps and not _of_layer(sys._getframe(1))
        place = user_place() if counts else None
        if place is not None:
            self.taken.append((tensor._node, place.source, copy))


def _of_layer(frame: FrameType | None) -> bool:
    """Return whether code of ``nn`` called the function of minigrad that a frame is in."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("minigrad", "numpy"):
        frame = frame.f_back
    return frame is not None and of_library(frame.f_globals.get("__name__", ""))


class TapeValue:
    """An operation of a step, or a value that it reads. It describes what :class:`guards.origin.ObservedRun` asks for.

    Attributes:
        id: its place in the order of execution.
        kind: "operation", "leaf" (a tensor or an input that got a gradient) or "constant".
        operation, primitive, keywords: the name of the operation, itself, and its keywords; None for other values.
        places: the lines that led to the operation, the innermost first, without those of the package ``models``.
        backward: whether a backward pass recorded it.
        value, cotangent: the array and its gradient; None if unknown.
        key: for a leaf, what is the same in each step: its tensor, or its place among the inputs.
    """

    label = ""

    def __init__(self, number: int, kind: str, value: Any, entry: Entry | None = None) -> None:
        self.id, self.kind, self.value, self.entry = number, kind, value, entry
        self.operation: str | None = None
        self.primitive: Any = None
        self.keywords: Mapping[str, Any] = {}
        self.places: list[SourceLine] = []
        self.backward = False
        self.cotangent: Any = None
        self.key: Any = None
        if entry is not None:
            note = note_of(entry)
            self.operation, self.primitive = entry.primitive.name, getattr(entry.plan, "function", entry.primitive)
            self.keywords = entry.keywords
            if note is not None:
                self.backward = note.lane > 0
                places = [place for place in (note.source, *(c for c, _ in note.callers)) if place is not None]
                self.places = [place for place in places if not in_models(place)] or places[:1]
                self.cotangent = None if isinstance(note.answer, tuple) else note.cotangents.get(0)

    @property
    def source(self) -> SourceLine | None:
        return self.places[0] if self.places else None

    @property
    def at(self) -> At | None:
        return (self.places[0].file, self.places[0].line) if self.places else None

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value) if not isinstance(self.value, tuple) else ()


class Use:
    """An operand of an operation: ``source`` and ``target`` are ids, ``raw`` is the array itself if it is given."""

    def __init__(self, source: int, target: int, argument: str, value: Any, raw: Any, contribution: Any) -> None:
        self.source, self.target, self.argument, self.value = source, target, argument, value
        self.raw, self.contribution = raw, contribution

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)


class FullLook:
    """What a full look at a step has seen.

    Attributes:
        paths: the path of each variable of the program by the address of its array.
        values: the variables that hold arrays, tensors or lists of numbers, by path; ``every`` has all paths of each.
        prints: what depends on all numbers of an array, by path.
        fresh: the leaves of tensors that no variable held any more when the sweep began.
    """

    def __init__(
        self, step: int, window: Window, variables: tuple[Mapping[str, Any], Mapping[str, int]], fresh: set[Leaf]
    ) -> None:
        self.step, self.window, self.fresh = step, window, fresh
        self.names, self.scopes = variables
        every = list(reachable(self.names))  # a model's names are better than the places in an optimizer's list
        self.every = sorted(every, key=lambda item: ".parameters[" in item[0])
        self.values = dict(self.every)
        arrays = [
            (p, v._array if isinstance(v, Tensor) else v) for p, v in self.every if not isinstance(v, (list, tuple))
        ]
        self.prints = {p: print_of(a) for p, a in arrays if isinstance(a, np.ndarray) and a.nbytes < LARGE}
        self.paths: dict[int, str] = {}
        for path, value in self.every:
            self.paths.setdefault(address(value), path)
        self.entries: Sequence[Entry] = ()
        self.loss: Any = None

    def finish(self, loss: Tensor, entries: Sequence[Entry]) -> None:
        """Keep the tape of the step, after its sweep. It is read only if a check asks for it."""
        self.entries, self.loss = entries, loss
        self.tensors = [leaf.tensor for leaf in leaves_of(entries)]  # alive, so that no id is used twice

    @functools.cached_property
    def _tape(self) -> tuple[list[TapeValue], dict[int, list[Use]]]:
        values: list[TapeValue] = []
        into: dict[int, list[Use]] = {}
        numbers: dict[Any, int] = {}
        raw = {entry: arrays for entry, arrays, _ in self.window.made}
        places = {leaf: i for i, leaf in enumerate(leaves_of(self.entries))}

        def number(place: Any, kind: str, value: Any, entry: Entry | None = None) -> int:
            if place not in numbers:
                numbers[place] = len(values)
                values.append(TapeValue(len(values), kind, value, entry))
            return numbers[place]

        for entry in self.entries:
            note = note_of(entry)
            assert note is not None and note.arguments is not None  # a look without a trace is not kept
            owners = {constant.position: constant.place for constant in note.constants}
            given = raw.get(entry, note.arguments)
            rows = []
            for i, (name, parent) in enumerate(zip(arguments_of(entry), entry.parents)):
                value = note.arguments[i]
                if parent is None and value is None:
                    continue
                place = owners.get(i, (entry, i)) if parent is None else entry_of(parent)
                source = number(place, "constant" if parent is None else "leaf", value)
                if type(place) is Leaf:
                    tensor = place.tensor if place.tensor is not None else self.tensors[places[place]]
                    values[source].key = places[place] if tensor is None else ("tensor", id(tensor))
                    if place in self.fresh:
                        values[source].key = "fresh", self.step, places[place]
                term = note.terms[i] if note.terms else None
                if term is not None and type(place) is Leaf:
                    before = values[source].cotangent
                    values[source].cotangent = term if before is None else before + term
                rows.append((source, name, value, given[i] if i < len(given) else None, term))
            target = number(entry, "operation", note.answer, entry)
            into[target] = [Use(source, target, *rest) for source, *rest in rows]
        return values, into

    @property
    def nodes(self) -> list[TapeValue]:
        """The operations and the values that they read, in order of execution."""
        return self._tape[0]

    @property
    def edges_into(self) -> dict[int, list[Use]]:
        """The operands of each operation, by its id."""
        return self._tape[1]

    @functools.cached_property
    def operations(self) -> list[TapeValue]:
        return [node for node in self.nodes if node.operation is not None]

    @functools.cached_property
    def leaves(self) -> list[TapeValue]:
        return [node for node in self.nodes if node.kind == "leaf"]

    @functools.cached_property
    def out(self) -> dict[int, list[Use]]:
        """The uses of each value, by its id."""
        found: dict[int, list[Use]] = defaultdict(list)
        for uses in self.edges_into.values():
            for use in uses:
                found[use.source].append(use)
        return found

    @functools.cached_property
    def given(self) -> list[tuple[TapeValue, Use]]:
        """The arrays that the program gives to operations, each with its operation."""
        pairs = [(node, use) for node in self.operations for use in self.edges_into[node.id]]
        return [(node, use) for node, use in pairs if self.nodes[use.source].kind == "constant" and np.ndim(use.raw)]

    def after(self, ids: set[int]) -> set[int]:
        """Return the ids of some values, and of the operations that depend on them."""
        found = set(ids)
        for node in self.operations:
            if any(use.source in found for use in self.edges_into[node.id]):
                found.add(node.id)
        return found

    def operands(self, node: TapeValue) -> list[tuple[Use, TapeValue]]:
        return [(use, self.nodes[use.source]) for use in self.edges_into.get(node.id, ())]

    def readers(self, node: TapeValue) -> list[TapeValue]:
        return [self.nodes[use.target] for use in self.out[node.id]]

    @functools.cached_property
    def health(self) -> gradient_health:
        return gradient_health(self)  # type: ignore[arg-type]

    @functools.cached_property
    def graph(self) -> Graph:
        """The tape as the views know it."""
        return capture(self.loss, None, caller="debug")

    def path(self, array: Any) -> str | None:
        """Return the path of the variable whose array this is, or of whose array it is a view."""
        found = self.paths.get(address(array)) if address(array) else None
        return found or self.paths.get(address(whole(array)) or -1)

    def depending(self, leaves: set[Any], windows: Sequence[Window] = ()) -> set[Any]:
        """Return the entries of the step, also those that do not lead to the loss, that depend on some leaves."""
        found = set(leaves)
        for entry, _, _ in (made for window in windows or [self.window] for made in window.made):
            if any(entry_of(parent) in found for parent in entry.parents if parent is not None):
                found.add(entry)
        return found - leaves


def whole(array: Any) -> Any:
    """Return the array of which an array is a view."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    return array


def print_of(array: Any) -> int:
    """Return a number that depends on all numbers of an array, in single precision."""
    with np.errstate(all="ignore"):
        return hash((array.astype(np.float32) if array.dtype.kind == "f" else array).tobytes())


def leaves_of(entries: Sequence[Entry]) -> list[Leaf]:
    """Return the leaves of a tape in the order of their first use."""
    return list(dict.fromkeys(parent for entry in entries for parent in entry.parents if type(parent) is Leaf))


def arguments_of(entry: Entry) -> Sequence[str]:
    return entry.primitive.arguments or [str(i) for i in range(len(entry.parents))]


def in_models(place: SourceLine) -> bool:
    """Return whether a line is one of the package ``models``, if the program has imported it."""
    models = sys.modules.get("models")
    folder = os.path.dirname(getattr(models, "__file__", None) or "") if hasattr(models, MARK) else ""
    return bool(folder) and os.path.dirname(place.file) == folder


# --- The sweep that begins ---


def loss_of(frame: FrameType | None, end: Entry) -> Tensor | None:
    """Return the tensor from which a sweep begins; None if the sweep itself is recorded, as for second derivatives."""
    for own in _frames(frame):
        if own.f_locals.get("create_graph") is True:
            return None
        for name in ("self", "output", "tensor"):
            value = own.f_locals.get(name)
            if isinstance(value, Tensor) and value._node is end:
                return value
    return None


def inputs_of(frame: FrameType | None) -> list[Tensor]:
    """Return the fresh inputs of a transform that runs the sweep."""
    for own in _frames(frame):
        given = getattr(own.f_locals.get("self"), "inputs", None)
        if isinstance(given, tuple):
            return [value for _, value in reachable({"inputs": given}) if isinstance(value, Tensor)]
    return []


def histories_of(frame: FrameType | None) -> list[Any]:
    """Return the histories of the trainings that run, which ``nn.fit`` keeps."""
    kind = getattr(sys.modules.get("nn.history"), "History", None)
    found: list[Any] = []
    while frame is not None and kind is not None:
        for value in list(frame.f_locals.values()):
            held = getattr(value, "history", value) if of_library(type(value).__module__) else None
            found += [held] if isinstance(held, kind) and all(held is not each for each in found) else []
        frame = frame.f_back
    return found


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(FRAMES):
        if frame is not None:
            yield frame
            frame = frame.f_back


def is_writing(frame: FrameType | None) -> bool:
    """Return whether the sweep is one of :func:`write_numpy`, whose runs are no training steps."""
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith("minigrad.codegen."):
        frame = frame.f_back
    return frame is not None


def place_of(frame: FrameType | None) -> At | None:
    """Return the line of the program that runs."""
    own = next(frames_of(frame), None)
    return None if own is None else (own.f_code.co_filename, own.f_lineno)


def answer_of(entry: Entry) -> Any:
    """Return the tensor of a traced entry's result, or None if it has several."""
    note = note_of(entry)
    return None if note is None or isinstance(note.answer, tuple) else make_tensor(note.answer, entry)
