"""Find the first NaN or infinity of a step that was not traced, from what its tape has kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .._source import SourceLine
from ..engine.tape import Entry, Leaf, sweep
from ..engine.tensor import Tensor, make_tensor
from ..graph.record.capture import capture
from ..graph.record.trace import TraceNote
from ..guards.origin import argument_names, first_nonfinite


class BadNumber(NamedTuple):
    """The first NaN or infinity of a run.

    Attributes:
        places: the line of the operation that made it, and the line that computed its first operand, where they are known.
        say: whether it was made "forward" or "backward"; "unclear" if it is not known what made it.
        facts: the numbers of the sentence.
        loss: the end of the step's tape, whose operations have been traced afterwards; None if the tape does not keep enough
            to compute all of them again.
        operation: the place of the operation on the tape, from 1; 0 if it is not known.
    """

    step: int
    places: Sequence[SourceLine | None]
    say: str
    facts: dict[str, Any]
    loss: Tensor | None
    operation: int


@np.errstate(all="ignore")
def origin_of_step(
    step: int,
    entries: Sequence[Entry],
    kept: Sequence[Any],
    lines: Sequence[SourceLine | None],
    inputs: Mapping[Any, Any] | None = None,
) -> BadNumber:
    """Return the first bad number of a step.

    The step is traced afterwards, and its sweep runs a second time. Without a full look at it, its entries
    keep the notes, so that a page can show it.

    Args:
        kept: what each entry had kept when the sweep began.
        lines: the line of each entry, if it is known.
        inputs: the arrays of leaves that have no tensor, if the sweep has not yet run.
    """
    state = [(entry.kept, entry.notes) for entry in entries]
    traced = all(any(isinstance(note, TraceNote) for note in entry.notes) for entry in entries)  # by a full look
    try:
        answers = _traced(entries, kept, lines, inputs or {})
        end = entries[-1]
        loss = make_tensor(np.zeros(end.shape, end.dtype), end)
        whole = loss if all(answer is not None for answer in answers.values()) else None
        if inputs is None:
            sweep({end: np.ones(end.shape, end.dtype)}, retain_graph=True)
        graph = capture(loss, None, caller="debug")
    finally:
        for entry, (values, notes) in zip(entries, state):
            entry.kept, entry.notes = values, notes if traced else entry.notes
    found = first_nonfinite(graph)
    if found is None or lines[-1] is None:
        return BadNumber(step, [lines[-1]], "unclear", {"what": "gradient" if inputs is None else "loss"}, whole, 0)
    operation = [node.id for node in graph.operations].index(found.node.id)
    entry = entries[operation]
    own = dict(zip(entries, lines))
    before = next((own[parent] for parent in entry.parents if type(parent) is Entry and parent in own), None)
    said = found._replace(naming=attrgetter("name")).sentences()  # the graph has no lines to make labels of
    facts = {"operation": found.node.operation, "number": found.number, "said": " ".join(said)}
    facts |= {"bad": int((~np.isfinite(found.made)).sum()), "size": found.made.size}
    return BadNumber(
        step, [own[entry], before], "forward" if found.edge is None else "backward", facts, whole, operation + 1
    )


def _traced(
    entries: Sequence[Entry], kept: Sequence[Any], lines: Sequence[SourceLine | None], inputs: Mapping[Any, Any]
) -> dict[Any, Any]:
    """Give each entry a note, as a trace does, and return their results; None for one that cannot be known."""
    answers: dict[Any, Any] = {}
    for entry, values, line in zip(entries, kept, lines):
        entry.kept = values
        known = dict(zip(getattr(entry.plan, "names", ()), values or ()))
        operands = [_operand(*pair, known, answers, inputs) for pair in zip(argument_names(entry), entry.parents)]
        answers[entry] = known["ans"] if known.get("ans") is not None else _computed(entry, operands)
        note = TraceNote(entry, [0.0 if value is None else value for value in operands])
        note.arguments, note.answer, note.source = operands, answers[entry], line
        entry.notes = (note, *(other for other in entry.notes if not isinstance(other, TraceNote)))
    return answers


def _operand(
    name: str, parent: Any, known: Mapping[str, Any], answers: Mapping[Any, Any], inputs: Mapping[Any, Any]
) -> Any:
    """Return the value of an argument: what is kept, or the parent's value; None if it is not known."""
    if known.get(name) is not None:
        return known[name]
    if type(parent) is Leaf:
        return inputs.get(parent) if parent.tensor is None else parent.tensor._array
    return answers.get(parent)


def _computed(entry: Entry, operands: Sequence[Any]) -> Any:
    """Return the result of an entry, computed again; None if that is not possible."""
    compute = getattr(entry.primitive, "compute", None)
    if compute is None or any(value is None for value in operands):
        return None
    try:
        answer = compute(*operands, **entry.keywords)
    except Exception:  # the operands of this operation are not what the call had; it stays unknown
        return None
    return answer if isinstance(answer, (np.ndarray, np.generic)) else None
