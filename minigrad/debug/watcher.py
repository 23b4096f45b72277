"""Watch each backward pass of a program: a cheap look at every step, and a full look at a few."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from .._source import SourceLine, of_library, user_place
from ..engine import observers
from ..engine.observers import active, attach, sweeps_under_way
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor, make_tensor
from ..errors import MARK
from ..graph.record.capture import capture
from ..graph.record.model import Graph, Node
from ..graph.record.trace import note_of, trace
from ..graph.watch.first_bad import Stopped
from .origin import Origin, backward_origin, forward_origin

DEEPEST = 6  # nested containers that are searched for tensors and arrays
MOST_VALUES = 4000  # values that are searched
FRAMES = 10  # frames between the sweep and the call that asked for it


def is_looked_at(step: int) -> bool:
    """Return whether a step gets a full look: 0 to 5, then pairs that begin at the powers of two."""
    return step < 6 or step & (step - 1) == 0 or (step - 1) & (step - 2) == 0


class Window(trace):
    """A trace of one step. It also keeps the raw arrays of its operations, to see which arrays come from the tape.

    Attributes:
        made: the entries in the order of execution, each with its arguments and its result.
        handed: the tensors whose arrays the program took, each with the line that did so.
    """

    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Entry, list[Any], Any]] = []
        self.handed: list[tuple[Any, SourceLine]] = []

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        super().record(entry, arrays, answer, seconds)
        if not sweeps_under_way():
            self.made.append((entry, arrays[: len(entry.parents)], answer))

    def hand_out(self, tensor: Any) -> None:
        place = user_place()
        if place is not None and tensor._node is not None:
            self.handed.append((tensor._node, place.source))


class Look:
    """What a full look at a step has seen. The graph has values, gradients and lines.

    Attributes:
        leaves: the nodes of the tensors or inputs that got a gradient, each with a key that is the same in each step.
        paths: the path of each variable of the program by the address of its array.
        values: the variables of the program that hold arrays or tensors, by path.
    """

    def __init__(self, step: int, place: SourceLine | None, window: Window, frames: Mapping[str, Any]) -> None:
        self.step, self.place, self.window = step, place, window
        self.every = list(reachable(frames))
        self.values = dict(self.every)
        self.prints = {p: hash(v.tobytes()) for p, v in self.every if isinstance(v, np.ndarray) and v.nbytes < 1 << 22}
        self.copies = {id(v): hash(v._array.tobytes()) for v in self.values.values() if isinstance(v, Tensor)}
        self.paths: dict[int, str] = {}
        for path, value in self.values.items():
            self.paths.setdefault(address(value), path)
        self.graph = Graph()
        self.entries: Sequence[Entry] = ()
        self.leaves: list[tuple[Any, Node, Any]] = []  # (key, node, the Tensor if there is one)

    def finish(self, loss: Tensor, entries: Sequence[Entry]) -> None:
        """Copy the tape of the step, after its sweep."""
        self.entries, self.loss = entries, loss
        self.graph = capture(loss, None, caller="debug")
        for node in self.graph.nodes:
            node.source = outside_models(node)
        places = {}
        for entry in entries:
            for parent in entry.parents:
                if type(parent) is Leaf:
                    places.setdefault(parent, None)
        nodes = [node for node in self.graph.nodes if node.kind in ("parameter", "input")]
        for position, (leaf, node) in enumerate(zip(_in_order(self.graph, entries, places), nodes)):
            tensor = leaf.tensor
            self.leaves.append((("tensor", id(tensor)) if tensor is not None else position, node, tensor))

    def path(self, array: Any) -> str | None:
        """Return the path of the variable whose array this is."""
        return self.paths.get(address(array))

    def name(self, node: Node, tensor: Any) -> str:
        return (self.path(tensor) if tensor is not None else None) or node.label


def outside_models(node: Node) -> SourceLine | None:
    """Return the program's line that led to an operation. For a network of ``models`` it is the line of the call."""
    models = sys.modules.get("models")
    folder = os.path.dirname(getattr(models, "__file__", None) or "") if hasattr(models, MARK) else ""
    places = [place for place in (node.source, *node.callers) if place is not None]
    own = [place for place in places if not folder or os.path.dirname(place.file) != folder]
    return own[0] if own else node.source


def _in_order(graph: Graph, entries: Sequence[Entry], leaves: Mapping[Any, Any]) -> list[Any]:
    return list(leaves)  # capture numbers the leaves at their first use, which is the order of the entries' parents


class _End:
    """A note of the first entry of a tape. A sweep reaches it last, when all gradients have arrived."""

    __slots__ = ("watcher",)

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        running = sweeps_under_way()
        if len(running) == 1:
            self.watcher.swept(running[0], entry, contributions)


class Watcher:
    """A context that watches the backward passes of a thread.

    Attributes:
        steps: the number of backward passes.
        losses: the loss of each step, its mean if it has several elements.
        norms: the Euclidean norm of the gradient of each step.
        stale: for each step, whether a gradient was left over from before and parameters have changed since.
        places: the line of the call that began each looked-at step.
        looks: the full looks.
        origin: the first NaN or infinity; None if there is none.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.stale: list[bool] = []
        self.names: list[tuple[int, frozenset[str]]] = []  # the operations of the step from which they were different
        self.looks: list[Look] = []
        self.unused_dropout: list[SourceLine] = []
        self.origin: Origin | None = None
        self.place: SourceLine | None = None
        self.files: dict[str, Sequence[str]] = {}
        self._window: Window | None = None
        self._pending: tuple[Look, Tensor, Sequence[Entry]] | None = None
        self._known: list[tuple[weakref.ref[Tensor], int]] = []
        self._samples: list[Any] = []  # an element of each known tensor, at the last sweep
        self._added: set[int] = set()  # the known tensors whose last gradient was added to an earlier one
        self._swept: tuple[Sequence[Entry], list[Any]] | None = None
        self._thread = 0
        self._length = -1
        self._dropped: list[SourceLine] = []  # the calls of dropout since the last sweep

    def __enter__(self) -> Watcher:
        self._thread = threading.get_ident()
        observers.before_sweep.append(self._before_sweep)
        observers.plan_made.append(self._watch_dropout)
        self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self._close_window()
        if self._before_sweep in observers.before_sweep:
            observers.before_sweep.remove(self._before_sweep)
            observers.plan_made.remove(self._watch_dropout)
        self.unused_dropout += self._dropped
        self._dropped = []
        self._finish_look()

    # --- Each step ---

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        if threading.get_ident() != self._thread or sweeps_under_way() or not entries:
            return
        frame = sys._getframe(1)
        loss = loss_of(frame, entries[-1])
        if loss is None:
            return
        self._finish_look()
        if self.origin is not None and self._was_taken(loss):
            raise Stopped
        window = self._close_window()
        step, self.steps = self.steps, self.steps + 1
        value = float(np.mean(loss._array)) if loss._array.dtype.kind in "fc" else 0.0
        self.losses.append(value)
        self.norms.append(0.0)
        self.stale.append(self._is_stale())
        self._note_structure(entries)
        self._note_unused(entries)
        if window is not None:
            self._begin_look(step, window, frame, loss, entries)
        if not np.isfinite(loss._array).all() and self.origin is None:
            inputs = {t._node: t._array for t in _inputs(frame)}
            self.origin = forward_origin(step, entries, inputs, self._lines(entries, window))
        self._swept = entries, [entry.kept for entry in entries]
        attach(entries[0], _End(self))

    def swept(self, running: Any, last: Entry, contributions: Sequence[Any]) -> None:
        """Note the gradients at the end of a sweep. ``contributions`` are those of ``last``, which are not yet added."""
        total, bad = 0.0, False
        found = [g for node, g in running.arrived.items() if type(node) is Leaf]
        found += [c for parent, c in zip(last.parents, contributions) if type(parent) is Leaf and c is not None]
        for g in found:
            array = g._array if isinstance(g, Tensor) else g
            flat = np.ravel(array)
            square = float(np.vdot(flat, flat).real)
            if not np.isfinite(square):
                bad = bad or not np.isfinite(array).all()
            total += square
        self.norms[-1] = total**0.5
        if bad and self.origin is None and self._swept is not None:
            entries, kept = self._swept
            self.origin = backward_origin(self.steps - 1, entries, kept, self._lines(entries, None))
        self._swept = None
        if is_looked_at(self.steps):
            self._open()

    def _watch_dropout(self, plan: Any) -> None:
        """Make a new plan of dropout note each call, because an evaluation with dropout may come between any two looks."""
        if plan.primitive.name != "dropout":
            return
        keep = plan.keep

        def keep_and_note(values: Sequence[Any]) -> Sequence[Any]:
            place = user_place()
            if self._thread and place is not None:
                self._dropped.append(place.callers[-1][0] if place.callers else place.source)
            kept: Sequence[Any] = keep(values)
            return kept

        plan.keep = keep_and_note

    def _note_unused(self, entries: Sequence[Entry]) -> None:
        if self._dropped:
            used = sum(entry.primitive.name == "dropout" for entry in entries)
            self.unused_dropout += self._dropped[: len(self._dropped) - used]
            self._dropped = []

    def _is_stale(self) -> bool:
        """Return whether a parameter was changed by a gradient that was added to the one of an earlier step."""
        stale, samples, added = False, [], set()
        for (reference, number), before in zip(self._known, self._samples):
            tensor = reference()
            if tensor is None:
                samples.append(before)
                continue
            array = tensor._array
            now = array.flat[array.size // 2] if array.size else 0.0
            if now != before:
                stale = stale or number in self._added
                if tensor._grad is not None:
                    added.add(number)
            samples.append(now)
        self._samples, self._added = samples, added
        return stale

    def _note_structure(self, entries: Sequence[Entry]) -> None:
        if len(entries) != self._length:
            self._length = len(entries)
            names = frozenset(entry.primitive.name for entry in entries)
            if not self.names or self.names[-1][1] != names:
                self.names.append((self.steps - 1, names))

    def _was_taken(self, loss: Tensor) -> bool:
        """Return whether the bad numbers were used: a parameter or the next loss holds one."""
        tensors = [reference() for reference, _ in self._known]
        bad = any(t is not None and not np.isfinite(t._array).all() for t in tensors)
        if bad or not np.isfinite(loss._array).all() or self.origin is None:
            return True
        if self.origin.backward:
            self.origin = None  # the gradients were thrown away, as a loss scaler does
            return False
        return True

    # --- Full looks ---

    def _open(self) -> None:
        if self._window is None:
            self._window = Window()
            self._window.__enter__()
            observers.handed_out.append(self._window.hand_out)

    def _close_window(self) -> Window | None:
        window, self._window = self._window, None
        if window is not None:
            observers.handed_out.remove(window.hand_out)
            if window in active.contexts:
                window.__exit__()
        return window

    def _begin_look(
        self, step: int, window: Window, frame: FrameType, loss: Tensor, entries: Sequence[Entry]
    ) -> None:
        place = user_place()
        if place is not None:
            self.place = place.source
            self.files.setdefault(place.source.file, place.program)
        look = Look(step, None if place is None else place.source, window, _variables(frame))
        for entry, _, _ in window.made:
            note = note_of(entry)
            if note is not None and note.source is not None:
                self.files.setdefault(note.source.file, note.program)
        self._pending = look, loss, entries

    def _finish_look(self) -> None:
        pending, self._pending = self._pending, None
        if pending is None:
            return
        look, loss, entries = pending
        if any(note_of(entry) is None for entry in entries):
            return  # a part of the graph is older than the look
        note = note_of(entries[-1])
        assert note is not None
        if not isinstance(note.answer, tuple):
            loss = make_tensor(note.answer, entries[-1])
        with np.errstate(all="ignore"):
            look.finish(loss, entries)
        self.looks.append(look)
        leaves = [tensor for _, _, tensor in look.leaves if tensor is not None]
        known = {id(t): t for t in [r() for r, _ in self._known] if t is not None} | {id(t): t for t in leaves}
        if len(known) != len(self._known):
            self._known = [(weakref.ref(t), id(t)) for t in known.values()]
            self._samples = [t._array.flat[t._array.size // 2] if t._array.size else 0.0 for t in known.values()]
        if len(self.looks) > 8:  # keep the arrays of the first looks and of the last ones
            del self.looks[4]

    def _lines(self, entries: Sequence[Entry], window: Window | None) -> list[SourceLine | None]:
        """Return the line of each entry: its own if it was traced, else that of the same operation in the last look."""
        own = [note_of(entry) for entry in entries]
        if all(own):
            return [note.source if note else None for note in own]
        if not self.looks:
            return [None] * len(entries)
        old = self.looks[-1].entries
        names = [(e.primitive.name, len(e.shape)) for e in entries]
        before = [(e.primitive.name, len(e.shape)) for e in old]
        lines: list[SourceLine | None] = [None] * len(entries)
        same = len(names) == len(before)
        for i, name in enumerate(names):
            if i < len(before) and before[i] == name:
                note = note_of(old[i])
                lines[i] = note.source if note else None
            elif not same:
                break
        return lines


def loss_of(frame: FrameType | None, end: Entry) -> Tensor | None:
    """Return the tensor from which a sweep begins; None if the sweep itself is recorded, as for second derivatives."""
    for _ in range(FRAMES):
        if frame is None:
            return None
        variables = frame.f_locals
        if variables.get("create_graph") is True:
            return None
        for name in ("self", "output", "tensor"):
            value = variables.get(name)
            if isinstance(value, Tensor) and value._node is end:
                return value
        frame = frame.f_back
    return None


def _inputs(frame: FrameType | None) -> list[Tensor]:
    """Return the fresh inputs of a transform that runs the sweep."""
    for _ in range(FRAMES):
        if frame is None:
            return []
        given = getattr(frame.f_locals.get("self"), "inputs", None)
        if isinstance(given, tuple):
            return [value for _, value in reachable({"inputs": given}) if isinstance(value, Tensor)]
        frame = frame.f_back
    return []


def _variables(frame: FrameType | None) -> dict[str, Any]:
    """Return the variables of the program's running functions and of its file, the innermost first."""
    found: dict[str, Any] = {}
    while frame is not None:
        if not of_library(str(frame.f_globals.get("__name__", ""))):
            for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
                if not name.startswith("__"):
                    found.setdefault(name, value)
        frame = frame.f_back
    return found


def reachable(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors and arrays that variables hold, directly or in lists, dicts and objects, each with its path."""
    waiting: list[tuple[str, Any, int]] = [(name, value, 0) for name, value in variables.items()]
    seen: set[int] = set()
    for path, value, depth in waiting:
        if len(waiting) > MOST_VALUES:
            return
        if isinstance(value, (Tensor, np.ndarray)):
            yield path, value
            continue
        if id(value) in seen or depth >= DEEPEST:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            waiting += [(f"{path}[{key!r}]", item, depth + 1) for key, item in value.items() if isinstance(key, (str, int))]
        elif isinstance(value, (list, tuple)) and len(value) <= 200:
            waiting += [(f"{path}[{i}]", item, depth + 1) for i, item in enumerate(value)]
        elif _is_plain_object(value):
            waiting += [(f"{path}.{name}", item, depth + 1) for name, item in vars(value).items()]


def _is_plain_object(value: Any) -> bool:
    kind = type(value)
    module = str(getattr(kind, "__module__", "")).partition(".")[0]
    known = module in ("numpy", "builtins", "types", "minigrad", "collections", "functools")
    return hasattr(value, "__dict__") and not isinstance(value, type) and not known and not callable_only(value)


def callable_only(value: Any) -> bool:
    return type(value).__name__ in ("function", "module", "method", "builtin_function_or_method")


def address(value: Any) -> int:
    """Return the address of the first element of an array; 0 for other values."""
    array = value._array if isinstance(value, Tensor) else value
    return int(array.__array_interface__["data"][0]) if isinstance(array, np.ndarray) else 0
