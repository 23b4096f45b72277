"""``FirstBad`` traces a program of many steps and keeps the first step whose numbers are not finite."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..engine import observers
from ..engine.fitting import fit
from ..engine.observers import active
from ..engine.tape import Entry, Leaf, Output
from ..engine.tensor import Tensor, make_tensor
from ..errors import GraphError
from ..graph.record.trace import note_of, trace
from ..guards.nonfinite import Stopped, is_bad


class FirstBad(trace):
    """A trace that keeps the first bad step. Each sweep that the program begins is a step.

    A step is bad if its loss, or a gradient that arrives at a leaf, holds a NaN or an infinity. A step does not count if the
    program discards its gradients, as a loss scaler does. The program is stopped once a parameter holds a NaN or an infinity
    from these gradients. At most two tapes are kept, in addition to those that the program keeps.

    Attributes:
        steps: the number of steps that have begun.
        step: the number of the bad step, counted from 0; None if there is none.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0
        self.step: int | None = None
        self._end: Entry | None = None  # of the bad step
        self._spoilt: list[Leaf] = []  # the leaves with gradients that are not finite
        self._swept: Sequence[Entry] = ()  # the entries of the last step, before it was examined
        self._unswept: Entry | None = None  # the last entry since then whose result is not finite

    def __enter__(self) -> Self:
        observers.before_sweep.append(self._before_sweep)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        observers.before_sweep.remove(self._before_sweep)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Note an entry. The engine calls this for each one."""
        super().record(entry, arrays, answer, seconds)
        if not active.sweeps and is_bad(answer if not isinstance(answer, list) else tuple(answer)):
            self._unswept = entry

    def tensor(self, failed: bool = False) -> Tensor | None:
        """Return the loss of the bad step; None if there is none.

        Args:
            failed: whether the program has raised. Then the bad step may be one that was never swept.
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
        if self not in active.contexts or active.sweeps:  # a sweep of another thread, or one inside a rule
            return
        self._look_back()
        if self._end is not None and self._was_taken():
            raise Stopped
        self._swept, self._unswept = entries, None
        self.steps += 1

    def _look_back(self) -> None:
        """Examine the last step once its sweep is over. Forget the bad step if its gradients were discarded."""
        swept, self._swept = self._swept, ()
        if self._end is not None and _were_thrown_away(self._spoilt):
            self.step, self._end = None, None
        if self._end is not None or not swept:
            return
        end, spoilt = swept[-1], [leaf for leaf, g in _arrived(swept).items() if is_bad(g)]
        note = note_of(end)
        bad = spoilt or (note is not None and is_bad(note.answer))
        if bad and not _were_thrown_away(spoilt):
            self.step, self._end, self._spoilt = self.steps - 1, end, spoilt

    def _was_taken(self) -> bool:
        """Return whether a parameter is bad, so that it was updated. If no gradient is bad, the bad loss is enough."""
        tensors = [leaf.tensor for leaf in self._spoilt]
        return not tensors or any(tensor is not None and is_bad(tensor) for tensor in tensors)


def _were_thrown_away(spoilt: Sequence[Leaf]) -> bool:
    """Return whether the tensors of these leaves are all finite and their bad gradients are gone."""
    tensors = [leaf.tensor for leaf in spoilt]
    return bool(tensors) and all(t is not None and not is_bad(t) and not is_bad(t.grad) for t in tensors)


@np.errstate(all="ignore")
def _arrived(swept: Sequence[Entry]) -> dict[Leaf, Any]:
    """Return the gradient that a sweep computed for each leaf."""
    sums: dict[Leaf, Any] = {}
    with contextlib.suppress(GraphError):  # a rule returned a wrong shape, which has ended the sweep
        for entry in reversed(swept):
            note = note_of(entry)
            for parent, raw in zip(entry.parents, note.contributions if note else ()):
                if type(parent) is Leaf and raw is not None:
                    contribution = fit(raw, parent, entry)
                    sums[parent] = sums[parent] + contribution if parent in sums else contribution
    return sums
