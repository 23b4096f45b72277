"""Find the first NaN or infinity of a step that was not traced, from what its tape has kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._source import SourceLine
from ..engine.observers import attach
from ..engine.tape import Entry, Leaf, sweep, wengert_list
from ..guards.anomaly import argument_names, backward_message, forward_message
from ..guards.nonfinite import first_bad, is_bad


@dataclass
class BadOrigin:
    """The operation that made the first NaN or infinity.

    Attributes:
        step: the number of the step, counted from 0.
        operation: the name of the operation; empty if it is not known.
        what: a description in words, with the operands.
        source: the line, if it is known.
        backward: whether its derivative made it.
        before: the line of the operation that computed its first operand, if one did.
        made: the array that holds it.
    """

    step: int
    operation: str
    what: str
    source: SourceLine | None
    backward: bool
    made: Any = None
    before: SourceLine | None = None


@np.errstate(all="ignore")
def forward_origin(
    step: int, entries: Sequence[Entry], inputs: Mapping[Any, Any], lines: Sequence[SourceLine | None]
) -> BadOrigin:
    """Return the first operation whose result is not finite. Results are computed again from what the tape has kept."""
    answers: dict[Any, Any] = {}
    made = _first_made(step, entries, inputs, lines, answers, is_bad)
    if made is not None:
        return made
    bad = next((e for e in entries if is_bad(answers.get(e))), None)
    line = lines[entries.index(bad)] if bad is not None else lines[-1]
    name = "" if bad is None else bad.primitive.name
    what = "the loss is not finite" if bad is None else f"'{name}' already got a NaN or an infinity"
    return BadOrigin(step, name, what, line, False)


def _first_made(
    step: int,
    entries: Sequence[Entry],
    inputs: Mapping[Any, Any],
    lines: Sequence[SourceLine | None],
    answers: dict[Any, Any],
    bad: Callable[[Any], bool],
) -> BadOrigin | None:
    """Return the first operation with a bad result and no bad operand; ``answers`` gets the results that are known."""
    for entry, line in zip(entries, lines):
        operands = _operands(entry, answers, inputs)
        answer = _answer(entry, operands)
        if answer is None:
            continue
        answers[entry] = answer
        known = {name: value for name, value in operands.items() if value is not None}
        if bad(answer) and not any(bad(value) for value in known.values()):
            message = forward_message(entry, known, first_bad(answer)).replace("\n", " ")
            own = dict(zip(entries, lines))
            before = next((own[parent] for parent in entry.parents if type(parent) is Entry and parent in own), None)
            return BadOrigin(step, entry.primitive.name, message, line, False, first_bad(answer), before)
    return None


def _overflowed(value: Any) -> bool:
    """Return whether a value holds a NaN or an infinity above zero. One below zero may be a mask."""
    real = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"
    return real and bool((np.isposinf(value) | np.isnan(value)).any())


def _operands(entry: Entry, answers: Mapping[Any, Any], inputs: Mapping[Any, Any]) -> dict[str, Any]:
    """Return each argument by name: what is kept, or the parent's value; None if it is not known."""
    kept = dict(zip(getattr(entry.plan, "names", ()), entry.kept or ()))
    found: dict[str, Any] = {}
    for name, parent in zip(argument_names(entry), entry.parents):
        value = kept.get(name)
        if value is None and type(parent) is Leaf:
            tensor = parent.tensor
            value = inputs.get(parent) if tensor is None else tensor._array
        elif value is None and type(parent) is Entry:
            value = answers.get(parent)
        found[name] = value
    return found


def _answer(entry: Entry, operands: Mapping[str, Any]) -> Any:
    kept = dict(zip(getattr(entry.plan, "names", ()), entry.kept or ()))
    if kept.get("ans") is not None:
        return kept["ans"]
    compute = getattr(entry.primitive, "compute", None)
    if compute is None or any(value is None for value in operands.values()):
        return None
    try:
        answer = compute(*operands.values(), **entry.keywords)
    except Exception:  # the operands of this operation are not what the call had; it stays unknown
        return None
    return answer if isinstance(answer, (np.ndarray, np.generic)) else None


class _FirstBadRule:
    """A note of each entry of a second sweep. It finds the first derivative that makes a NaN or an infinity."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: tuple[Entry, str, str, Any] | None = None

    def backward(self, entry: Entry, cotangent: Any, contributions: Sequence[Any], seconds: float) -> None:
        if self.found is not None or is_bad(cotangent):
            return
        for name, parent, contribution in zip(argument_names(entry), entry.parents, contributions):
            if parent is not None and is_bad(contribution):
                message = backward_message(entry, name, cotangent, contribution)
                self.found = entry, name, message.replace("\n", " "), contribution
                return


@np.errstate(all="ignore")
def backward_origin(
    step: int, entries: Sequence[Entry], kept: Sequence[Any], lines: Sequence[SourceLine | None]
) -> BadOrigin:
    """Return the first derivative that is not finite. The backward pass runs a second time on what the tape had kept."""
    note, notes, now = _FirstBadRule(), [entry.notes for entry in entries], [entry.kept for entry in entries]
    for entry, value in zip(entries, kept):
        entry.kept, entry.notes = value, ()
        attach(entry, note)
    try:
        end = entries[-1]
        sweep({end: np.ones(end.shape, end.dtype)}, retain_graph=True)
        if note.found is not None and any(map(_overflowed, note.found[0].kept or ())):
            of, led_here = dict(zip(entries, lines)), wengert_list([note.found[0]])
            made = _first_made(step, led_here, {}, [of.get(entry) for entry in led_here], {}, _overflowed)
            if made is not None:  # an earlier operation, whose result the loss has not shown
                return made
    finally:
        for entry, value, before in zip(entries, now, notes):
            entry.kept, entry.notes = value, before
    if note.found is None:
        return BadOrigin(step, "", "a gradient is not finite", lines[-1], True)
    entry, _, message, contribution = note.found
    return BadOrigin(step, entry.primitive.name, message, lines[entries.index(entry)], True, first_bad(contribution))
