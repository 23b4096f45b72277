"""``FirstBad``: a trace of a program of many steps that remembers the first whose numbers are not finite."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from ...engine import observers
from ...engine.observers import active, sweeps_under_way
from ...engine.tape import Entry, Leaf, Output
from ...engine.tensor import Tensor, make_tensor
from ...guards.nonfinite import is_bad
from ..record.trace import note_of, trace


class Stopped(BaseException):
    """The program has used numbers that are not finite, and need not run any longer; no ``except Exception`` takes this."""


class FirstBad(trace):
    """A trace in which each sweep that the program begins is a step, and the first bad one is kept.

    A step is bad if its loss, or a gradient that arrives at a leaf, holds a NaN or an infinity. A step does not count if the
    program has thrown its gradients away, as a loss scaler does. Once a tensor has taken them, the program is stopped. The
    tapes of two steps are kept at most, besides those that the program itself keeps.

    Attributes:
        steps: how many have begun.
        step: which one is bad, counted from 0; None as long as none is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.step: int | None = None
        self._end: Entry | None = None  # of the bad step
        self._spoilt: list[Leaf] = []  # where its gradients arrived that are not finite
        self._swept: Sequence[Entry] = ()  # the last step, which has not been looked at yet
        self._unswept: Entry | None = None  # made something that is not finite since

    def __enter__(self) -> Self:
        observers.before_sweep.append(self._before_sweep)
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        observers.before_sweep.remove(self._before_sweep)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Called by the engine for each entry."""
        super().record(entry, arrays, answer, seconds)
        if not sweeps_under_way() and is_bad(answer if not isinstance(answer, list) else tuple(answer)):
            self._unswept = entry

    def tensor(self, failed: bool = False) -> Tensor | None:
        """The loss of the bad step; None if there is none.

        Args:
            failed: the program has raised, so that a step may have been bad which it did not sweep.
        """
        self._look_back()
        if self._end is None and failed and self._unswept is not None:
            self.step, self._end = self.steps, self._unswept
        if self._end is None:
            return None
        note = note_of(self._end)
        assert note is not None
        if not isinstance(note.answer, tuple):
            return make_tensor(note.answer, self._end)
        index = next((i for i, part in enumerate(note.answer) if is_bad(part)), 0)
        part = note.answer[index]
        return make_tensor(part, Output(self._end, index, part.shape, part.dtype))

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        if self not in active.contexts or sweeps_under_way():  # another thread's, or part of a rule
            return
        self._look_back()
        if self._end is not None and self._was_taken():
            raise Stopped
        self._swept, self._unswept = entries, None
        self.steps += 1

    def _look_back(self) -> None:
        """Look at the last step, once its sweep is over, and at what has become of the bad one."""
        swept, self._swept = self._swept, ()
        if self._end is not None and self._was_thrown_away():
            self.step, self._end, self._spoilt = None, None, []
        if self._end is not None or not swept:
            return
        end, spoilt = swept[-1], []
        for entry in swept:
            note = note_of(entry)
            for parent, contribution in zip(entry.parents, note.contributions if note else ()):
                if type(parent) is Leaf and is_bad(contribution):
                    spoilt.append(parent)
        note = note_of(end)
        if spoilt or (note is not None and is_bad(note.answer)):
            self.step, self._end, self._spoilt = self.steps - 1, end, spoilt
            if self._was_thrown_away():
                self.step, self._end, self._spoilt = None, None, []

    def _was_taken(self) -> bool:
        """Whether a tensor holds what its gradient made of it; the loss alone needs no taker."""
        tensors = [leaf.tensor for leaf in self._spoilt]
        return not tensors or any(tensor is not None and is_bad(tensor) for tensor in tensors)

    def _was_thrown_away(self) -> bool:
        """Whether all tensors that the gradients arrived at are finite, and these gradients are gone."""
        tensors = [leaf.tensor for leaf in self._spoilt]
        return bool(tensors) and all(t is not None and not is_bad(t) and not is_bad(t.grad) for t in tensors)
