"""Find the first NaN or infinity of a step that was not traced, from what its tape has kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from .._source import SourceLine
from ..engine.tape import Entry, Leaf, sweep
from ..engine.tensor import make_tensor
from ..graph.record.capture import capture
from ..graph.record.trace import TraceNote
from ..guards.origin import argument_names, first_nonfinite
from .finding import DebugFinding


@np.errstate(all="ignore")
def origin_of_step(
    step: int,
    entries: Sequence[Entry],
    kept: Sequence[Any],
    lines: Sequence[SourceLine | None],
    inputs: Mapping[Any, Any] | None = None,
) -> tuple[DebugFinding, SourceLine | None]:
    """Return the finding about the first bad number of a step, and its line.

    The step is traced afterwards, and its sweep runs a second time.

    Args:
        kept: what each entry had kept when the sweep began.
        lines: the line of each entry, if it is known.
        inputs: the arrays of leaves that have no tensor, if the sweep has not yet run.
    """
    state, answers = [(entry.kept, entry.notes) for entry in entries], dict[Any, Any]()
    try:
        for entry, values in zip(entries, kept):
            entry.kept = values
            known = dict(zip(getattr(entry.plan, "names", ()), values or ()))
            operands = [
                _operand(*pair, known, answers, inputs or {}) for pair in zip(argument_names(entry), entry.parents)
            ]
            answers[entry] = known["ans"] if known.get("ans") is not None else _computed(entry, operands)
            note = TraceNote(entry, [0.0 if value is None else value for value in operands], answers[entry], 0.0)
            note.arguments, note.answer = operands, answers[entry]
            entry.notes = (note,)
        end = entries[-1]
        if inputs is None:
            sweep({end: np.ones(end.shape, end.dtype)}, retain_graph=True)
        graph = capture(make_tensor(np.zeros(end.shape, end.dtype), end), None, caller="debug")
    finally:
        for entry, (values, notes) in zip(entries, state):
            entry.kept, entry.notes = values, notes
    found = first_nonfinite(graph)
    place, operation = lines[-1], ""
    before: SourceLine | None = None  # the line of the operation that computed its first operand, if one did
    what = f"{'a gradient' if inputs is None else 'the loss'} is not finite"
    if found is not None:
        own, operation = dict(zip(entries, lines)), found.node.operation
        what = " ".join(
            found._replace(naming=attrgetter("name")).sentences()
        )  # the graph has no lines to make labels of
        entry = entries[[node.id for node in graph.operations()].index(found.node.id)]
        place = own[entry]
        before = next((own[parent] for parent in entry.parents if type(parent) is Entry and parent in own), None)
    certain = bool(operation and place)
    remedy = "keep its operands where it is defined and finite; `minigrad explain` steps through it."
    if not certain:
        remedy = "unclear which operation made it: no full look has seen the same operations; try `minigrad nan`."
    numbers = [0 if line is None else line.line for line in (place, before)]
    return DebugFinding("nonfinite", step, what, remedy, numbers, certain), place


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
