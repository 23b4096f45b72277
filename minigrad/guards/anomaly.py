"""``with detect_anomaly():`` raises at the first operation that makes a NaN or an infinity, forward or backward."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from .._source import Place, SourceLine, user_place
from ..engine import observers
from ..engine.observers import active, attach
from ..engine.tape import Entry
from ..engine.types import Array
from ..errors import AnomalyError
from .inplace import Seal
from .origin import EntryRun, Origin, argument_names, first_backward, first_forward, is_bad


class detect_anomaly:
    """Raise at the first operation, or derivative rule, inside the block that makes a NaN or an infinity.

    The error names the operation, the file and line of the call, the operand and, if it is known, the cause. An infinity
    from a constant, such as the ``-inf`` of a mask, is allowed; a NaN is not. Operations recorded inside the block are also
    checked by a ``backward()`` after the block. Every array that the tape keeps is sealed, so that any in-place change of it
    is found (docs/in-place.md). The block runs several times slower; outside it there is no overhead.

    Operations that are not recorded, under ``no_grad()`` or on tensors that need no gradient, are not checked.

    Raises:
        AnomalyError: (from the operation or from ``backward()``) the result or a derivative is NaN or infinite.
        GraphError: (from ``backward()``) a kept array was changed in place.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([0.0, 4.0], requires_grad=True)
        >>> with mg.detect_anomaly():
        ...     np.where(x > 0, np.sqrt(x), 0.0).sum().backward()  # computes the root of 0 too
        Traceback (most recent call last):
            ...
        minigrad.errors.AnomalyError: in the backward pass, the derivative of 'sqrt' with respect to x made the first nan: ...
    """

    def __enter__(self) -> detect_anomaly:
        active.enter(self)
        observers.before_sweep.append(self._before_sweep)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        observers.before_sweep.remove(self._before_sweep)
        active.leave(self)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Check and seal a new entry, whose arguments come first in ``arrays``. The engine calls this for each entry."""
        called = _Called(user_place())
        if is_bad(answer) and not active.sweeps:  # in a sweep, only the rule's result counts
            origin = first_forward(EntryRun(entry, dict(zip(argument_names(entry), arrays)) | {"ans": answer}))
            if origin is not None:
                raise AnomalyError(called.message(origin))
        attach(entry, Seal(entry, range(len(entry.plan.names)), whole=True))
        attach(entry, called)

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        """Check operations that were recorded before the block, too."""
        if self in active.contexts:  # the contexts of this thread
            for entry in entries:
                if not any(isinstance(note, _Called) for note in entry.notes):
                    attach(entry, _Called(None))


class _Called:
    """A note with the place where an operation was called; checks the results of its derivative rules."""

    __slots__ = ("called",)

    def __init__(self, place: Place | None) -> None:
        self.called: tuple[SourceLine, Sequence[str], str] | None = None
        if place is not None:
            module = f", in the module '{active.scopes[-1][1]}'" if active.scopes else ""
            self.called = place.source, place.program, module

    def message(self, origin: Origin) -> str:
        """Return the text of the error."""
        return "\n".join([*origin.sentences(), *self._lines()])

    def _lines(self) -> list[str]:
        if self.called is None:
            return ["It was recorded outside of detect_anomaly(): put the forward pass inside to see where"]
        source, program, module = self.called
        place = f'  File "{source.file}", line {source.line}, in {source.function}'
        lines = [f"Called{module} by", place, f"    {source.text}"]
        if source.column is None or source.end_column is None or source.end_line != source.line:
            return lines
        line = program[source.line - 1]
        before = source.column - (len(line) - len(line.lstrip()))
        width = source.end_column - source.column
        return lines if width == len(source.text) else [*lines, f"    {' ' * before}{'^' * width}"]

    def backward(self, entry: Entry, cotangent: Array, contributions: Sequence[Any], seconds: float) -> None:
        if len(active.sweeps) == 1:  # in a sweep inside a rule, only that rule's result counts
            origin = first_backward(
                EntryRun(entry, dict(zip(entry.plan.names, entry.kept or ())), cotangent, contributions)
            )
            if origin is not None:
                raise AnomalyError(self.message(origin))
