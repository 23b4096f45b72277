"""Checks of gradients that do not arrive: unused parameters, a tape that was cut, and derivatives of exactly zero."""

from __future__ import annotations

import ast
import difflib
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..graph.record.trace import note_of
from ..rules.about import known
from ..rules.neural import softmax
from ..source.index import Index, callee
from .finding import DebugFinding
from .look import FullLook, address
from .source import in_loop
from .watched import Seen, WatchedRun, line_of, name_of, pairs, values_of

SHUFFLES = ("permutation", "shuffle", "Batches", "choice")
DRAWS = ("integers", "uniform", "normal", "random", "standard_normal")
SHARES = 2  # looks that must agree
TURNS = 4  # turns of a loop of which the last alone may reach the loss
ALIKE = 0.6  # from this likeness on, one name may have been written for the other
CUTS = ("detach", "argmax", "argmin", "astype")  # calls that end the tape, besides .data and numpy()
CARRIED = "if the rows of a batch do not continue those of the last one, begin with zeros in each step."


def _tensors(look: FullLook) -> dict[int, tuple[str, Tensor]]:
    """Return the tensors of the program that require a gradient and were not computed, with their paths."""
    found: dict[int, tuple[str, Tensor]] = {}
    for path, value in look.values.items():
        if isinstance(value, Tensor) and type(value._node) is Leaf:
            found.setdefault(id(value), (path, value))
    return found


def without_gradient(watched: WatchedRun) -> list[DebugFinding]:
    """Parameters that are on no tape, although other ones are, and that the program does not change otherwise."""
    reached = {id(t) for seen in watched.seen for _, _, t in seen.look.leaves if t is not None}
    last = watched.seen[-1]
    tensors = _tensors(last.look)
    missing = {key: item for key, item in tensors.items() if key not in reached}
    earlier = _tensors(watched.seen[0].look)
    if not reached or not missing or len(watched.seen) < SHARES:
        return []
    before = {id(t): np.array(t._array) for _, t in earlier.values()}
    missing = {k: v for k, v in missing.items() if k in before and k not in _used_for_others(watched)}
    if not missing or _left_out_on_purpose(last.look, missing):
        return []
    cut = _cut(watched, last, missing)
    names = ", ".join(path for path, _ in list(missing.values())[:3])
    if cut is not None:
        line, how, used = cut
        what = f"{names} ({len(missing)} tensors) got no gradient in {len(watched.seen)} looks: {how}."
        remedy = "compute with the Tensor itself, without .data, detach(), numpy() or integers between."
        return [
            DebugFinding("cut", watched.seen[0].step, what, remedy, [line, used], certain=True).at(watched.source())
        ]
    path = next(iter(missing.values()))[0]
    line = watched.of_path(path)
    used = _used_instead(watched, path) or _first_use(watched)
    it = "it" if len(missing) == 1 else "them"
    what = f"{names} got no gradient in {len(watched.seen)} looks: the loss does not depend on {it}."
    remedy = f"use {it} in the forward pass, or leave {it} out."
    return [DebugFinding("no gradient", watched.seen[0].step, what, remedy, [line, used]).at(watched.source())]


def _left_out_on_purpose(look: FullLook, missing: Mapping[int, Any]) -> bool:
    """Return whether the program has an optimizer, and no optimizer holds any of these tensors."""
    held = {id(value) for path, value in look.every if ".parameters[" in path}
    return bool(held) and not held & set(missing)


def _used_for_others(watched: WatchedRun) -> set[int]:
    """Return the tensors that change although no gradient reaches them: copies that the program itself keeps up to date."""
    values: dict[int, set[int]] = defaultdict(set)
    for seen in watched.seen:
        for key, array in seen.look.copies.items():
            values[key].add(array)
    return {key for key, found in values.items() if len(found) > 1}


def _used_instead(watched: WatchedRun, path: str) -> int:
    """Return the line of the forward pass that reads a name a second time which is like an unused one; 0 if none does.

    ``h @ W2 + b1``, where ``b2`` was meant, reads ``b1`` a second time.
    """
    source = watched.source()
    words = [word for word in re.findall(r"[^\W\d]\w*", path) if word not in ("weight", "bias")]
    if source is None or not words:
        return 0
    name, forward = words[-1], {line_of(node) for node in watched.seen[-1].graph.operations()}
    kind: Any = ast.Constant if f"['{name}']" in path else ast.Attribute if f".{name}" in path else ast.Name
    lines: dict[str, list[int]] = defaultdict(list)
    for node in source.find(kind, lambda n: n.lineno in forward and not isinstance(getattr(n, "ctx", None), ast.Store)):
        lines[str(getattr(node, "attr", getattr(node, "id", getattr(node, "value", ""))))].append(int(node.lineno))
    alike = [
        other for other, read in lines.items() if len(read) > 1 and _likeness(name, other) >= ALIKE and other != name
    ]
    return lines[max(alike, key=lambda other: _likeness(name, other))][-1] if alike else 0


def _likeness(name: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1, up to their digits."""
    one, two = (re.sub(r"\d+", "#", each) for each in (name, other))
    return difflib.SequenceMatcher(None, one, two).ratio()


def _first_use(watched: WatchedRun) -> int:
    """Return the line of the forward pass that reads the first parameter."""
    seen = watched.seen[-1]
    node = next((n for n in seen.graph.operations() if n.source is not None and not n.lane), None)
    return line_of(node) if node is not None else 0


def _cut(watched: WatchedRun, seen: Seen, missing: dict[int, tuple[str, Tensor]]) -> tuple[int, str, int] | None:
    """Return the line at which the tape from these parameters to the loss was cut, how, and the line that reads the array."""
    window, tape = seen.look.window, set(seen.look.entries)
    leaves = {t._node for _, t in missing.values()}
    depends: set[Any] = set(leaves)
    for entry, _, _ in window.made:
        if any(parent in depends for parent in map(_entry, entry.parents)) and entry not in tape:
            depends.add(entry)
    made = [entry for entry in depends if type(entry) is Entry]
    source = watched.source()
    if source is None:
        return None
    taken = [
        (place.line, *_reader(seen, _entry(node), place.line))
        for node, place in window.handed
        if _entry(node) in depends
        and (type(_entry(node)) is Entry or "numpy" in place.text)
        and not _is_update(source, place.line)
    ]
    if taken:
        line, reader, _ = max(taken, key=lambda one: one[2])  # the first that leads to the reader, or else the first
        return line, f"line {line} takes the plain array of a value that depends on it", reader
    if not made:
        return None
    for call in source.calls(*CUTS):
        line, text = call.lineno, source.text(call.lineno)
        whole = callee(call) != "astype" or any("int" in ast.unparse(a) or "bool" in ast.unparse(a) for a in call.args)
        if whole and "print" not in text and ".numpy()" not in text:
            how = "whole numbers have no derivative" if callee(call) != "detach" else "detach() ends the tape"
            if _inside(source, line, made):
                return line, f"in line {line}, {how}", 0
    return None


def _reader(seen: Seen, cut: Any, line: int) -> tuple[int, bool]:
    """Return the line of the first operation that reads the plain array of another one, and whether ``line`` led to it."""
    answer = next((answer for entry, _, answer in seen.look.window.made if entry is cut), None)
    for entry, arrays, _ in seen.look.window.made:
        note = note_of(entry)
        if any(address(a) == address(answer) != 0 for a in arrays) and note is not None and note.source is not None:
            return note.source.line, line in {place.line for place in (note.source, *[c for c, _ in note.callers])}
    return 0, False


def _inside(source: Index, line: int, made: list[Any]) -> bool:
    """Return whether a line is near the operations: in the same function, or in the file's own lines."""
    notes = [note_of(entry) for entry in made]
    lines = {n.source.line for n in notes if n is not None and n.source is not None}
    function = source.function_at(line)
    if function is None or any(function.lineno <= other <= (function.end_lineno or 0) for other in lines):
        return bool(lines)
    return any(call.lineno in lines for call in source.calls(function.name))


def _is_update(source: Index, line: int) -> bool:
    text = source.text(line)
    return (
        ".data" in text
        and "=" in text
        and not text.startswith("return")
        and text.split("=")[0].rstrip("+-*/ ").endswith(".data")
    )


def _entry(node: Any) -> Any:
    return getattr(node, "entry", node)


def find_recurrent(watched: WatchedRun) -> list[DebugFinding]:
    """A value that each turn of a loop computes enters the next as a plain array, or a step begins with the last one's."""
    for seen in watched.seen[:1]:
        made: dict[int, int] = {}
        ran: set[Any] = set()  # the places that have run
        within: set[Any] = set()  # the places that read a value of their own turn, because they had not run before it
        for entry, arrays, answer in seen.look.window.made:
            note = note_of(entry)
            place = None if note is None else note.source
            line = 0 if place is None else place.line
            given = [a for parent, a in zip(entry.parents, arrays) if parent is None and isinstance(a, np.ndarray)]
            if line and any(made.get(id(_whole(array))) == line for array in given):
                if place not in ran:
                    within.add(place)
                if place not in within:
                    what = (
                        f"the value that line {line} computed in one turn of the loop enters the next as a plain array."
                    )
                    remedy = "pass the Tensor on: after .data or detach() no gradient flows back through the loop."
                    return [DebugFinding("cut", seen.step, what, remedy, [line]).at(watched.source(place))]
            ran.add(place)
            if isinstance(answer, np.ndarray):
                made[id(answer)] = line
    return _forgotten(watched) or _carried(watched)


def _forgotten(watched: WatchedRun) -> list[DebugFinding]:
    """A loop of which only the last turn reaches the loss, in a function that detaches a value."""
    for seen in watched.seen[:1]:
        turns: dict[Any, list[bool]] = defaultdict(list)
        tape = set(seen.look.entries)
        for entry, _, _ in seen.look.window.made:
            note = note_of(entry)
            if note is not None and note.source is not None:
                turns[note.source].append(entry in tape)
        for place, reaching in turns.items():
            source = watched.source(place)
            if source is None or len(reaching) < TURNS or sum(reaching) != 1 or not reaching[-1]:
                continue
            for call in source.calls("detach"):
                if source.function_at(call.lineno) is source.function_at(place.line):
                    what = f"of {len(reaching)} turns of line {place.line}, only the last reaches the loss."
                    remedy = "pass the Tensor on: after detach() no gradient flows back through the loop."
                    return [DebugFinding("cut", seen.step, what, remedy, [call.lineno, place.line]).at(source)]
    return []


def _carried(watched: WatchedRun) -> list[DebugFinding]:
    """A value of the last step's tape enters a step whose rows were drawn anew."""
    source = watched.source()
    drawn = source.calls(*SHUFFLES, *DRAWS) if source is not None else []
    if source is None or not any(callee(call) in SHUFFLES or in_loop(source, call) for call in drawn):
        return []
    for before, after in pairs(watched):
        made = {id(answer): answer for _, _, answer in before.look.window.made if isinstance(answer, np.ndarray)}
        for entry, arrays, _ in after.look.window.made:
            if entry not in set(after.look.entries):
                continue
            for parent, array in zip(entry.parents, arrays):
                if parent is None and isinstance(array, np.ndarray) and id(_whole(array)) in made and array.ndim > 1:
                    note = note_of(entry)
                    places = [note.source, *[c for c, _ in note.callers]] if note is not None and note.source else []
                    what = f"step {after.step} begins with an array of shape {array.shape} that step {before.step} computed."
                    lines = [place.line for place in reversed(places) if place is not None]
                    return [DebugFinding("carried state", after.step, what, CARRIED, lines).at(source)]
    return _written_state(watched, source)


def _written_state(watched: WatchedRun, source: Index) -> list[DebugFinding]:
    """An array of the program into which a step writes its result, and with which the next one begins."""
    writes = source.find(ast.Assign, lambda n: isinstance(n.targets[0], ast.Subscript) and in_loop(source, n))
    lines = [write.lineno for write in writes if ".grad" not in ast.unparse(write.value)]
    for before, after in pairs(watched) if lines else ():
        made = [node.value for node in before.graph.operations() if np.ndim(node.value) > 1 and np.ptp(node.value)]
        for edge in filter(after.is_constant, after.graph.edges):
            if any(np.shape(edge.value) == value.shape and np.array_equal(edge.value, value) for value in made):
                what = (
                    f"step {after.step} begins with a result of step {before.step}, which line {lines[0]} has written."
                )
                where = [lines[0], line_of(after.graph.nodes[edge.target])]
                return [DebugFinding("changed data", after.step, what, CARRIED, where).at(source)]
    return []


def _whole(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _can_be_flat(primitive: Any) -> bool:
    """Return whether an operation is an activation whose units can be dead or saturated."""
    facts = known(primitive)
    return facts.dies or facts.flat is not None or primitive is softmax


def zero_gradients(watched: WatchedRun) -> list[DebugFinding]:
    """Parameters whose gradient is exactly zero in every look, and the operation that makes it zero."""
    zero: dict[Any, bool] = {}
    for seen in watched.seen:
        for key, (_, gradient, _) in values_of(seen).items():
            zero[key] = zero.get(key, True) and (gradient is None or not np.any(gradient))
    keys = {key for key, always in zero.items() if always}
    if not keys or len(watched.seen) < SHARES or len(keys) == len(zero) == 0:
        return []
    seen = watched.seen[-1]
    for key, node, _ in seen.look.leaves:
        if key not in keys:
            continue
        blocked = _blocker(seen, node)
        if blocked is None or _can_be_flat(blocked.primitive):  # units.py says how many units are dead or flat
            continue
        operands = seen.into[blocked.id]
        if len(operands) > 1 and any(isinstance(e.value, np.ndarray) and not e.value.any() for e in operands):
            continue  # a product with zeros, whose origin is elsewhere
        name, line = name_of(watched, seen, node)
        what = f"the gradient of {name} is exactly 0 in {len(watched.seen)} looks: '{blocked.operation}' passes none."
        remedy = f"the derivative of '{blocked.operation}' is 0 for these values: replace it, or begin elsewhere."
        place = watched.source(blocked.source)
        return [
            DebugFinding("zero gradient", watched.seen[0].step, what, remedy, [line_of(blocked), line], True).at(place)
        ]
    return []


def _blocker(seen: Seen, node: Any) -> Any:
    """Return the operation that gets a gradient other than zero and passes zero on to this value."""
    waiting, met = [node], set()
    for value in waiting:
        for edge in seen.out[value.id]:
            target = seen.graph.nodes[edge.target]
            if target.id in met:
                continue
            met.add(target.id)
            if edge.contribution is not None and np.any(edge.contribution):
                continue
            if target.cotangent is not None and not isinstance(target.cotangent, dict) and np.any(target.cotangent):
                return target
            waiting.append(target)
    return None
