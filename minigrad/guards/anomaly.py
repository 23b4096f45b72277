"""``with detect_anomaly():`` raises at the first operation that makes a NaN or an infinity, forward or backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .._source import Place, SourceLine, user_place
from ..engine import observers
from ..engine.observers import active, attach
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..errors import AnomalyError
from .inplace import Seal
from .nonfinite import first_bad, numbers_there, operands_there, place_of, why_backward, why_forward, worst


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
        minigrad.errors.AnomalyError: in the backward pass, the derivative of 'sqrt' with respect to x made nan: the square...
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
        origin = _Origin(user_place())
        for out in answer if isinstance(answer, (tuple, list)) else [answer]:
            if not _finite(out) and not active.sweeps:  # in a sweep, only the rule's result counts
                operands = dict(zip(argument_names(entry), arrays))
                if np.isnan(out).any() or not _may_pass(entry, operands):
                    raise AnomalyError(forward_message(entry, operands, out) + str(origin))
        attach(entry, Seal(entry, range(len(entry.plan.names)), whole=True))
        attach(entry, origin)

    def _before_sweep(self, entries: Sequence[Entry]) -> None:
        """Check operations that were recorded before the block, too."""
        if self in active.contexts:  # the contexts of this thread
            for entry in entries:
                if not any(isinstance(note, _Origin) for note in entry.notes):
                    attach(entry, _Origin(None))


class _Origin:
    """A note with the place where an operation was called; checks the results of its derivative rules."""

    __slots__ = ("called",)

    def __init__(self, place: Place | None) -> None:
        self.called: tuple[SourceLine, Sequence[str], str] | None = None
        if place is not None:
            module = f", in the module '{active.scopes[-1][1]}'" if active.scopes else ""
            self.called = place.source, place.program, module

    def __str__(self) -> str:
        if self.called is None:
            return "\nIt was recorded outside of detect_anomaly(): put the forward pass inside to see where"
        source, program, module = self.called
        text = (
            f'\nCalled{module} by\n  File "{source.file}", line {source.line}, in {source.function}\n    {source.text}'
        )
        if source.column is None or source.end_column is None or source.end_line != source.line:
            return text
        line = program[source.line - 1]
        before = source.column - (len(line) - len(line.lstrip()))
        width = source.end_column - source.column
        return text if width == len(source.text) else f"{text}\n    {' ' * before}{'^' * width}"

    def backward(self, entry: Entry, cotangent: Array, contributions: Sequence[Any], seconds: float) -> None:
        for name, parent, contribution in zip(argument_names(entry), entry.parents, contributions):
            if parent is not None and contribution is not None and not _finite(contribution):
                if len(active.sweeps) == 1:  # in a sweep inside a rule, only that rule's result counts
                    raise AnomalyError(backward_message(entry, name, cotangent, _array(contribution)) + str(self))
                return


# --- Messages ---


def _array(value: Any) -> Any:
    return value._array if isinstance(value, Tensor) else value


def _finite(value: Any) -> bool:
    array = _array(value)
    if isinstance(array, dict):  # the cotangents of several outputs
        return all(map(_finite, array.values()))
    if isinstance(array, (float, complex)):
        return bool(np.isfinite(array))
    return _kind(array) not in ("f", "c") or bool(np.isfinite(array).all())


def _kind(value: Any) -> str:
    """Return the kind of an array's dtype, or "" for other values."""
    return getattr(getattr(value, "dtype", None), "kind", "")


def _may_pass(entry: Entry, operands: Mapping[str, Any]) -> bool:
    """Return whether an infinite result comes from an infinite constant, such as the ``-inf`` of a mask."""
    infinite = [parent for parent, value in zip(entry.parents, operands.values()) if not _finite(value)]
    return bool(infinite) and not any(isinstance(parent, Leaf) for parent in infinite)


def argument_names(entry: Entry) -> Sequence[str]:
    return entry.primitive.arguments or [f"argument {i}" for i in range(len(entry.parents))]


def forward_message(entry: Entry, operands: Mapping[str, Any], out: Array) -> str:
    bad, operation = first_bad(out), entry.primitive.name
    tainted = [name for name, value in operands.items() if not _finite(value)]
    if tainted:
        cause = f"{_called(entry, tainted[0])} already holds {_made(first_bad(operands[tainted[0]]))}"
    else:
        cause = why_forward(entry.primitive, numbers_there(entry.primitive, bad, operands), bad)
    there = operands_there(entry.primitive, bad, operands, lambda name: _called(entry, name), backward=False)
    return f"'{operation}' made {_made(bad)}: {cause}.\n{_where(bad)}{there}"


def backward_message(entry: Entry, name: str, cotangent: Array, contribution: Array) -> str:
    assert entry.kept is not None
    bad, operation = first_bad(contribution), entry.primitive.name
    names = ("ans", *argument_names(entry))
    kept = {n: value for n, value in zip(entry.plan.names, entry.kept) if n in names}
    if not _finite(cotangent):
        cause = "the gradient that arrived there was already not finite"
    else:
        cause = why_backward(entry.primitive, name, numbers_there(entry.primitive, bad, kept | {"g": cotangent}), bad)
    there = operands_there(entry.primitive, bad, kept, lambda n: _called(entry, n), backward=True)
    what = f"in the backward pass, the derivative of '{operation}' with respect to {_called(entry, name)}"
    return f"{what} made {_made(bad)}: {cause}.\n{_where(bad)}{there}"


def _where(bad: Array) -> str:
    """Describe the position of the first NaN or infinity of an array."""
    count = int((~np.isfinite(bad)).sum())
    return f"{count} of {bad.size} elements, the first at {list(place_of(bad))}" if bad.ndim else "One number"


def _made(bad: Array) -> str:
    """Return "nan", "inf" or "-inf" for the first one in an array."""
    return worst(bad[place_of(bad)])


def _called(entry: Entry, name: str) -> str:
    """Return the name of an argument, and that of its tensor if the tensor has one."""
    names = list(argument_names(entry))
    leaf = entry.parents[names.index(name)] if name in names else None
    tensor = leaf.tensor if isinstance(leaf, Leaf) else None
    label = "its result" if name == "ans" else name
    return f"{label} (the tensor '{tensor.name}')" if tensor is not None and tensor.name else label
