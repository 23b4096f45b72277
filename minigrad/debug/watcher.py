"""Watch each backward pass of a program: a cheap look at every step, and a full look at a few."""

from __future__ import annotations

import functools
import math
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from .._source import SourceLine, user_place
from ..engine import observers
from ..engine.fitting import fit
from ..engine.observers import active, attach
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..graph.record.trace import note_of
from ..guards.gradients import sum_of_squares
from ..guards.origin import Stopped
from ..rules.dropout import dropout
from .look import FullLook, Window, answer_of, histories_of, inputs_of, is_writing, leaves_of, loss_of, place_of
from .origin import BadNumber, origin_of_step
from .program import At
from .river import GradientRiver
from .variables import frames_of, variables_of

FIRST = 4  # steps at the beginning that get a full look
KEPT = 8  # full looks that are kept: the first ones, and the last ones


def is_looked_at(step: int) -> bool:
    """Return whether a step gets a full look: the first ones, then pairs that begin at 8, 32, 128 ..."""
    power = 2 * ((step | 1).bit_length() // 2) - 1
    return step < FIRST or (step >= 8 and step & ~1 == 1 << power)


class _End:
    """A note of the first entry of a tape. A sweep reaches it last, when all gradients have arrived."""

    __slots__ = ("watcher",)

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        running = active.sweeps
        if len(running) == 1:
            self.watcher.swept(running[0], entry, contributions)


class Update(NamedTuple):
    """A call of an optimizer's ``step``: after how many sweeps, its rate, and how many of its tensors had a gradient."""

    sweeps: int
    optimizer: Any
    rate: float
    ready: int


class _Known:
    """A tensor that got a gradient, and what has become of it.

    Attributes:
        sample: an element at the last sweep; ``changed`` says whether another one stood there before, ``moves`` whether ever.
        added: whether it was changed and still holds its gradient, to which the next one is then added.
        since: the line of the sweep that began its gradient, if another tensor has changed since then and this one has not.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.reference = weakref.ref(tensor)
        self.sample = self.element(tensor)
        self.changed = self.added = self.moves = False
        self.since: At | None = None
        self.mixed: At | None = None

    @staticmethod
    def element(tensor: Tensor) -> Any:
        array = tensor._array
        return array.item(array.size // 2) if array.size else 0.0


class Watcher:
    """A context that watches the backward passes of a thread.

    Attributes:
        steps: the number of backward passes.
        losses: the loss of each step, its mean if it has several elements; ``norms``: the norm of its gradient.
        places: the line that began each step.
        stale: for each step, whether a parameter was changed by a gradient that was added to that of an earlier change.
        added: for each step, whether its gradients are added to others, between which no parameter has changed.
        mixed: the steps before which a parameter was changed by a gradient to which that of an older, other loss was added,
            each with the line of that loss.
        moved: for each step, whether a parameter has changed since the one before.
        histories: the history of a running ``nn.fit``, which holds what ``validate`` has returned.
        looks: the full looks.
        numbers: the different numbers that each variable of the program has held, each after how many steps; most steps
            were not asked.
        globals: the variables of the program's file.
        updates: the calls of ``step`` of the optimizers.
        switched: the calls of what acts otherwise in an evaluation, by its name and by the lines that led there, the
            innermost first, with their number and the steps of the first and of the last.
        origin: the first NaN or infinity; None if there is none.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []
        self.norms: list[float] = []
        self._squares: list[list[tuple[int, float, int]]] = []  # of each step: the parts of its river
        self.places: list[At | None] = []
        self.stale: list[bool] = []
        self.moved: list[bool] = []
        self.mixed: list[tuple[int, At]] = []
        self.added: list[bool] = []
        self.looks: list[FullLook] = []
        self.histories: list[Any] = []
        self.numbers: dict[str, list[tuple[int, float]]] = {}
        self.updates: list[Update] = []
        self.switched: Counter[tuple[str, tuple[SourceLine, ...]]] = Counter()
        self.switched_at: dict[tuple[str, tuple[SourceLine, ...]], int] = {}
        self.switched_last: dict[tuple[str, tuple[SourceLine, ...]], int] = {}
        self.origin: BadNumber | None = None
        self.files: dict[str, Sequence[str]] = {}
        self.globals: dict[str, Any] = {}
        self._window: Window | None = None
        self._pending: tuple[FullLook, Tensor, Sequence[Entry]] | None = None
        self._known: dict[int, _Known] = {}
        self._swept: tuple[Sequence[Entry], list[Any]] | None = None
        self._thread = 0
        self._replaced: list[tuple[Any, str, Any]] = []  # the watched functions, each with its owner and its name
        self._watches_nn = False

    def __enter__(self) -> Watcher:
        self._thread = threading.get_ident()
        observers.before_sweep.append(self._before_sweep)
        switched = functools.partial(self._switch, "dropout")
        self._watch(dropout, "compute", switched)
        for kernel in dropout.kernels.values():
            self._watch(kernel, "forward", switched)
        for name in ("detach", "astype", "argmax", "argmin"):
            owner = next(kind for kind in Tensor.__mro__ if name in vars(kind))
            self._watch(owner, name, self._took)
        self._open()
        return self

    def __exit__(self, *error: object) -> None:
        self._close_window()
        if self._before_sweep in observers.before_sweep:
            observers.before_sweep.remove(self._before_sweep)
            for owner, name, function in self._replaced:
                setattr(owner, name, function)
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
        self._watch_nn()
        window = self._close_window()
        step, self.steps = self.steps, self.steps + 1
        value = loss._array.item() if loss.size == 1 else complex(np.mean(loss._array))
        value = value.real
        self.losses.append(value)
        self.norms.append(0.0)
        self._squares.append([])
        self.places.append(place_of(frame))
        self._compare(step, self.places[-1])
        if step % max(1, 1 << max(0, step.bit_length() - 4)) == 0:  # eight times while the number of steps doubles
            self._note_numbers(frame)
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
        self._squares[-1] = squares
        if bad and self.origin is None and self._swept is not None:
            self.origin = origin_of_step(self.steps - 1, *self._swept, self._lines(self._swept[0], None))
        self._swept = None
        if is_looked_at(self.steps):
            self._open()

    @functools.cached_property
    def _river(self) -> GradientRiver:
        return GradientRiver()

    @property
    def river(self) -> GradientRiver:
        """The size of the gradients of each step, by parameters. Only its readers wait for it."""
        for squares in self._squares[len(self._river.steps) :]:
            self._river.add(squares)
        return self._river

    def _compare(self, step: int, place: At | None) -> None:
        """Note which tensors have changed since the last sweep, and which gradients were left over."""
        stale, changed, held = False, False, False
        for known in self._known.values():
            tensor = known.reference()
            if tensor is not None:
                now = known.element(tensor)
                known.changed, known.sample = now != known.sample, now
                changed = changed or known.changed
        for known in self._known.values():
            tensor = known.reference()
            if tensor is None:
                continue
            left = tensor._grad is not None
            known.moves = known.moves or known.changed
            held = held or (left and known.moves)
            if known.changed:
                stale = stale or known.added
                known.added = True
                if known.mixed is not None:
                    self.mixed.append((step, known.mixed))
                known.mixed = None
            elif left and changed and known.since not in (None, place) and known.mixed is None:
                known.mixed = known.since
            if not left:
                known.added, known.mixed = False, None
            if known.changed or not left:
                known.since = place
        self.stale.append(stale)
        self.moved.append(changed)
        self.added.append(held and not changed)

    def _note_numbers(self, frame: FrameType | None) -> None:
        """Note the numbers that the program's variables hold, such as a loss on other data."""
        for name, value in (pair for own in frames_of(frame) for pair in own.f_locals.items()):
            array = value._array if isinstance(value, Tensor) else value
            single = type(array) is float or (isinstance(array, (np.ndarray, np.floating)) and array.shape == ())
            if single:
                self._note_number(name, float(np.real(array)))

    def _was_taken(self, loss: Tensor) -> bool:
        """Return whether the bad numbers were used: a parameter or the next loss holds one."""
        tensors = [known.reference() for known in self._known.values()]
        bad = any(t is not None and not np.isfinite(t._array).all() for t in tensors)
        if bad or not np.isfinite(loss._array).all() or self.origin is None:
            return True
        self.origin = None  # the gradients were thrown away, as a loss scaler does
        return False

    # --- Calls of the library ---

    def _watch(self, owner: Any, name: str, note: Callable[..., None]) -> None:
        """Call ``note(answer, *arguments)`` after each call of a function, also without a tape."""
        function = vars(owner)[name] if isinstance(owner, type) else getattr(owner, name)
        self._replaced.append((owner, name, function))

        @functools.wraps(function)
        def noted(*arguments: Any, **keywords: Any) -> Any:
            answer = function(*arguments, **keywords)
            if answer is not NotImplemented and threading.get_ident() == self._thread and not active.sweeps:
                note(answer, *arguments)
            return answer

        setattr(owner, name, noted)

    def _watch_nn(self) -> None:
        """Watch the optimizers and the batch normalisation, once the program has imported them."""
        if self._watches_nn or "nn.normalization" not in sys.modules:
            return
        self._watches_nn = True
        switched = functools.partial(self._switch, "batch normalisation")
        self._watch(sys.modules["nn.normalization"].BatchNorm, "_remember", switched)
        self._watch(sys.modules["nn.optimizer"].Optimizer, "step", self._step)

    def _switch(self, what: str, answer: Any, *arguments: Any) -> None:
        place = user_place()
        if place is not None:
            key = what, (place.source, *(caller for caller, _ in place.callers))
            self.switched[key] += 1
            self.switched_at.setdefault(key, self.steps)
            self.switched_last[key] = self.steps

    def _step(self, answer: Any, optimizer: Any, *arguments: Any) -> None:
        ready = sum(p._grad is not None for p in optimizer.parameters)
        self.updates.append(Update(self.steps, optimizer, optimizer.lr, ready))

    def _note_number(self, name: str, number: float) -> None:
        known = self.numbers.setdefault(name, [])
        if not known or known[-1][1] != number:
            known.append((self.steps, number))

    def _took(self, answer: Any, tensor: Any, *arguments: Any) -> None:
        if self._window is not None and isinstance(tensor, Tensor):
            plain = not isinstance(answer, Tensor) or answer._node is None
            if plain:
                self._window.take(tensor, answer)

    # --- Full looks ---

    def _open(self) -> None:
        if self._window is None:
            self._window = Window()
            self._window.__enter__()
            observers.handed_out.append(self._window.take)
            observers.numbers_read.append(self._window.take)

    def _close_window(self) -> Window | None:
        window, self._window = self._window, None
        if window is not None:
            observers.handed_out.remove(window.take)
            observers.numbers_read.remove(window.take)
            if window in active.contexts:
                window.__exit__()
        return window

    def _begin_look(
        self, step: int, window: Window, frame: FrameType | None, loss: Tensor, entries: Sequence[Entry]
    ) -> None:
        place = user_place()
        self.globals = next((own.f_globals for own in frames_of(frame)), {})
        if place is not None:
            for source, lines in [(place.source, place.program), *place.callers]:
                self.files.setdefault(source.file, lines)
        for entry, _, _ in window.made:
            note = note_of(entry)
            if note is not None and note.source is not None:
                for source, lines in [(note.source, note.program), *note.callers]:
                    self.files.setdefault(source.file, lines)
        inputs = {tensor._node for tensor in inputs_of(frame)}
        fresh = {leaf for leaf in leaves_of(entries) if leaf.tensor is None and leaf not in inputs}
        self.histories += histories_of(frame) if not self.histories else []
        self._pending = FullLook(step, window, variables_of(frame), fresh), loss, entries

    def _finish_look(self) -> None:
        pending, self._pending = self._pending, None
        if pending is None:
            return
        look, loss, entries = pending
        if any(note_of(entry) is None for entry in entries):
            return  # a part of the graph is older than the look
        answer = answer_of(entries[-1])
        look.finish(loss if answer is None else answer, entries)
        self.looks.append(look)
        for leaf in leaves_of(entries):
            tensor = leaf.tensor
            if tensor is not None and (id(tensor) not in self._known or self._known[id(tensor)].reference() is None):
                self._known[id(tensor)] = _Known(tensor)
        if len(self.looks) > KEPT:
            del self.looks[FIRST]

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
