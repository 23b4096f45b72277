"""Watch each backward pass of a program: a cheap look at every step, and a full look at a few."""

from __future__ import annotations

import functools
import math
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from .._source import SourceLine, user_place
from ..engine import observers
from ..engine.fitting import fit
from ..engine.observers import active, attach
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor, make_tensor
from ..graph.record.trace import note_of
from ..guards.gradients import sum_of_squares
from ..guards.nonfinite import Stopped
from ..rules.dropout import dropout
from .finding import DebugFinding
from .look import FullLook, Window, frames_of, inputs_of, is_writing, leaves_of, loss_of, scalar, variables_of
from .origin import origin_of_step
from .river import NOTHING, GradientRiver


def is_looked_at(step: int) -> bool:
    """Return whether a step gets a full look: 0 to 5, then pairs that begin at the powers of two."""
    return step < 6 or step & (step - 1) == 0 or (step - 1) & (step - 2) == 0


class _End:
    """A note of the first entry of a tape. A sweep reaches it last, when all gradients have arrived."""

    __slots__ = ("watcher",)

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        running = active.sweeps
        if len(running) == 1:
            self.watcher.swept(running[0], entry, contributions)


class Watcher:
    """A context that watches the backward passes of a thread.

    Attributes:
        steps: the number of backward passes.
        losses: the loss of each step, its mean if it has several elements.
        norms: the Euclidean norm of the gradient of each step.
        river: the size of the gradients of each step, by parameters.
        stale: for each step, whether a gradient was left over from before and parameters have changed since.
        places: the line of the call that began each looked-at step.
        looks: the full looks.
        origin: the finding about the first NaN or infinity, and its line; None if there is none.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []
        self.norms: list[float] = []
        self.river = GradientRiver()
        self.stale: list[bool] = []
        self.names: list[tuple[int, frozenset[str]]] = []  # the operations of the step from which they were different
        self.looks: list[FullLook] = []
        # The calls of what acts otherwise in an evaluation, by its name and by the lines that led there, the innermost first
        self.switched: Counter[tuple[str, tuple[SourceLine, ...]]] = Counter()
        self.scalars: dict[str, list[tuple[int, float]]] = {}
        self.origin: tuple[DebugFinding, SourceLine | None] | None = None
        self.place: SourceLine | None = None
        self.files: dict[str, Sequence[str]] = {}
        self._window: Window | None = None
        self._pending: tuple[FullLook, Tensor, Sequence[Entry]] | None = None
        self.globals: dict[str, Any] = {}
        self._known: list[tuple[weakref.ref[Tensor], int]] = []
        self._samples: list[Any] = []  # an element of each known tensor, at the last sweep
        self._added: set[int] = set()  # the known tensors whose last gradient was added to an earlier one
        self._swept: tuple[Sequence[Entry], list[Any]] | None = None
        self._thread = 0
        self._length = -1
        self._replaced: list[tuple[Any, str, Any]] = []  # the watched functions, each with its owner and its name

    def __enter__(self) -> Watcher:
        self._thread = threading.get_ident()
        observers.before_sweep.append(self._before_sweep)
        self._watch("dropout", dropout, "compute")
        for kernel in dropout.kernels.values():
            self._watch("dropout", kernel, "forward")
        self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self._close_window()
        if self._before_sweep in observers.before_sweep:
            observers.before_sweep.remove(self._before_sweep)
            for owner, name, function in self._replaced:
                setattr(owner, name, function)
        self._note_scalars(self.globals)
        self._finish_look()

    # --- Each step ---

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        if threading.get_ident() != self._thread or active.sweeps or not entries:
            return
        frame = sys._getframe(2).f_back  # the caller of Sweep, which called entries_between
        loss = loss_of(frame, entries[-1])
        if loss is None or is_writing(frame):
            return
        self._finish_look()
        if self.origin is not None and self._was_taken(loss):
            raise Stopped
        if not self.steps and "nn.normalization" in sys.modules:  # a program may import nn after it is watched
            self._watch("batch normalisation", sys.modules["nn.normalization"].BatchNorm, "_remember")
        window = self._close_window()
        step, self.steps = self.steps, self.steps + 1
        value = loss._array.item() if loss.size == 1 else complex(np.mean(loss._array))
        value = value.real
        self.losses.append(value)
        self.norms.append(0.0)
        self.river.steps.append(NOTHING)
        self.stale.append(self._is_stale())
        self._note_structure(entries)
        if window is not None:
            self._begin_look(step, window, frame, loss, entries)
        self._swept = entries, [entry.kept for entry in entries]
        if not math.isfinite(value) and self.origin is None:
            inputs = {t._node: t._array for t in inputs_of(frame)}
            self.origin = origin_of_step(step, *self._swept, self._lines(entries, window), inputs)
        attach(entries[0], _End(self))

    def swept(self, running: Any, last: Entry, contributions: Sequence[Any]) -> None:
        """Note the gradients at the end of a sweep. ``contributions`` are those of ``last``, which are not yet added."""
        bad, squares = False, []
        found = {node: _array(g) for node, g in running.arrived.items() if type(node) is Leaf}
        for parent, c in zip(last.parents, contributions):
            if type(parent) is Leaf and c is not None:
                term = fit(_array(c), parent, last)
                found[parent] = found[parent] + term if parent in found else term
        for leaf, array in found.items():
            square = sum_of_squares(array)
            if not math.isfinite(square):
                bad = bad or not np.isfinite(array).all()
            squares.append((id(leaf.tensor), square, array.size))
        self.norms[-1] = sum(square for _, square, _ in squares) ** 0.5
        self.river.steps.pop()
        self.river.add(squares)
        if bad and self.origin is None and self._swept is not None:
            self.origin = origin_of_step(self.steps - 1, *self._swept, self._lines(self._swept[0], None))
        self._swept = None
        if is_looked_at(self.steps):
            self._open()

    def _watch(self, what: str, owner: Any, name: str) -> None:
        """Note each call of a function, also without a tape, because an evaluation may come between any two looks."""
        function = getattr(owner, name)
        self._replaced.append((owner, name, function))

        @functools.wraps(function)
        def noted(*arguments: Any, **keywords: Any) -> Any:
            answer = function(*arguments, **keywords)
            ours = threading.get_ident() == self._thread and not active.sweeps
            place = user_place() if ours and answer is not NotImplemented else None
            if place is not None:
                self.switched[what, (place.source, *(caller for caller, _ in place.callers))] += 1
            return answer

        setattr(owner, name, noted)

    def _is_stale(self) -> bool:
        """Return whether a parameter was changed by a gradient that was added to the one of an earlier step."""
        stale, samples, added = False, [], set()
        for (reference, number), before in zip(self._known, self._samples):
            tensor = reference()
            if tensor is None:
                samples.append(before)
                continue
            array = tensor._array
            now = array.item(array.size // 2) if array.size else 0.0
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
        self.origin = None  # the gradients were thrown away, as a loss scaler does
        return False

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
        self, step: int, window: Window, frame: FrameType | None, loss: Tensor, entries: Sequence[Entry]
    ) -> None:
        place = user_place()
        self.globals = next((f.f_globals for f in frames_of(frame)), {})
        if place is not None:
            self.place = place.source
            self.files.setdefault(place.source.file, place.program)
        variables = variables_of(frame)
        self._note_scalars(variables)
        look = FullLook(step, None if place is None else place.source, window, variables)
        for entry, _, _ in window.made:
            note = note_of(entry)
            for source, lines in [(note.source, note.program), *note.callers] if note is not None else ():
                if source is not None:
                    self.files.setdefault(source.file, lines)
        self._pending = look, loss, entries

    def _note_scalars(self, variables: Mapping[str, Any]) -> None:
        """Note the numbers of the program, such as a loss on validation data."""
        for name, value in variables.items():
            number = scalar(value)
            if number is not None:
                self.scalars.setdefault(name, []).append((self.steps, number))

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
        look.finish(loss, entries)
        self.looks.append(look)
        leaves = [tensor for tensor in (leaf.tensor for leaf in leaves_of(entries)) if tensor is not None]
        known = {id(t): t for t in [r() for r, _ in self._known] if t is not None} | {id(t): t for t in leaves}
        if len(known) != len(self._known):
            self._known = [(weakref.ref(t), id(t)) for t in known.values()]
            self._samples = [t._array.item(t._array.size // 2) if t._array.size else 0.0 for t in known.values()]
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


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value
