"""Checks of parameters: what each look says about them, and those that never change or stay equal."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from ..source.index import Index, names_in
from .arriving import without_gradient, zero_gradients
from .finding import DebugFinding
from .run import rate_line
from .source import generator_line
from .updates import given_twice, not_optimized, undone
from .watched import Seen, WatchedRun, changes, line_of, name_of, norm, values_of

SHARES = 2  # looks that must agree


def find_parameters(watched: WatchedRun) -> list[DebugFinding]:
    """Return the findings about parameters."""
    if not watched.seen:
        return []
    found = _stale(watched)
    moved = changes(watched)
    if len(watched.seen) >= SHARES and not any(moved.values()):
        return found + (zero_gradients(watched) or _nothing_moves(watched))
    found += without_gradient(watched) + zero_gradients(watched)
    found += [] if not moved else not_optimized(watched, moved) + given_twice(watched) + undone(watched)
    return found + _equal(watched) + _tied_copies(watched)


def _stale(watched: WatchedRun) -> list[DebugFinding]:
    """Gradients that were left over when the next sweep began, although the parameters had changed between."""
    stale = watched.watcher.stale
    steps = [i for i, left in enumerate(stale) if left]
    if len(steps) < 3 or len(steps) < 0.5 * (len(stale) - 1):
        return []
    what = f"in {len(steps)} of {len(stale) - 1} steps the gradients were added to those of the step before."
    remedy = "clear them in each step: optimizer.zero_grad(), or p.zero_grad()."
    return [
        DebugFinding("stale gradients", steps[0], what, remedy, [watched.backward_line], certain=True).at(
            watched.source()
        )
    ]


def _nothing_moves(watched: WatchedRun) -> list[DebugFinding]:
    """No parameter changes at all: a step that comes too early, or an update of something else."""
    source, step = watched.source(), watched.seen[1].step
    if source is None:
        return []
    what = f"no parameter has changed between step {watched.seen[0].step} and step {watched.seen[-1].step}."
    steps = [call for call in source.calls("step") if isinstance(call.func, ast.Attribute)]
    rate = next(
        (o for o in watched.watcher.globals.values() if hasattr(o, "step") and getattr(o, "lr", None) == 0), None
    )
    if rate is not None:
        remedy = "the steps are multiplied by 0: print the learning rate, and mind // and whole numbers in a schedule."
        what = f"{what[:-1]}: the learning rate is 0 at the end."
        return [DebugFinding("slow", step, what, remedy, [rate_line(source)]).at(source)]
    if steps:
        remedy = "optimizer.step() finds no gradients: call it after backward(), and clear the gradients after it."
        return [DebugFinding("step before backward", step, what, remedy, [steps[0].lineno], certain=True).at(source)]
    for assign in source.find(
        ast.Assign, lambda n: isinstance(n.targets[0], ast.Name) and ".grad" in ast.unparse(n.value)
    ):
        remedy = f"this line gives the name '{assign.targets[0].id}' to a new tensor: write p.data -= ... instead."
        return [DebugFinding("no update", step, what, remedy, [assign.lineno], certain=True).at(source)]
    for loop in source.find(ast.For):  # for p, g in zip(params, gradients): p = p - rate * g
        names = {name.id for name in names_in(loop.target)}
        for assign in [n for n in loop.body if isinstance(n, ast.Assign)]:
            own = getattr(assign.targets[0], "id", None)
            if own in names and own in {name.id for name in names_in(assign.value)}:
                remedy = (
                    f"this line gives the loop's name '{own}' to a new array: build a new list, or write p[...] = ..."
                )
                return [DebugFinding("no update", step, what, remedy, [assign.lineno], certain=True).at(source)]
    remedy = "no line changes the parameters: call optimizer.step(), or write p.data -= lr * p.grad."
    return [DebugFinding("no update", step, what, remedy, [watched.backward_line]).at(source)]


# --- Equal weights ---


def _equal(watched: WatchedRun) -> list[DebugFinding]:
    """Units of a layer, or whole tensors, that begin equal, get equal gradients and stay equal."""
    last, source = watched.seen[-1], watched.source()
    if last.step < 2:
        return []
    values = values_of(last)
    for value, gradient, node in values.values():
        if value.ndim == 2 and min(value.shape) > 1 and gradient is not None and np.any(gradient):
            same = (np.ptp(value, axis=1) == 0).all() and (
                np.ptp(gradient, axis=1) <= 1e-9 * np.abs(gradient).max()
            ).all()
            if same and np.any(value):
                name, line = name_of(watched, last, node)
                what = f"all {value.shape[1]} columns of {name} are equal after {last.step} steps, and so are their gradients."
                remedy = "draw the weights at random: equal units stay one unit."
                return [DebugFinding("equal weights", last.step, what, remedy, [line], certain=True).at(source)]
    items = list(values.values())
    for i, (value, gradient, node) in enumerate(items):
        twins = [o for o in items[i + 1 :] if _twins(value, gradient, o)]
        if twins and source is not None:
            if not generator_line(source):
                continue
            name = name_of(watched, last, node)[0]
            what = f"{name} and {len(twins)} other tensors of its shape are equal after {last.step} steps."
            remedy = "draw each from its own random numbers: make the generator once."
            return [
                DebugFinding("equal weights", last.step, what, remedy, [generator_line(source)], certain=True).at(
                    source
                )
            ]
    return []


def _twins(value: Any, gradient: Any, other: Any) -> bool:
    """Return whether two tensors are equal, and their gradients, up to rounding."""
    if value.size < 4 or value.shape != other[0].shape or gradient is None or other[1] is None:
        return False
    spread = norm(value - value.mean())
    near = spread > 0 and norm(value - other[0]) <= 1e-3 * spread
    return bool(near and norm(gradient) > 0 and norm(gradient - other[1]) <= 1e-2 * norm(gradient))


def _tied_copies(watched: WatchedRun) -> list[DebugFinding]:
    """A plain array, or a second parameter, that began as a copy of a parameter."""
    first, last, source = watched.seen[0], watched.seen[-1], watched.source()
    if first.step > 0 or source is None:
        return []
    items = [
        (value, node, key) for key, (value, _, node) in values_of(first).items() if value.size > 8 and np.ptp(value) > 0
    ]
    now = values_of(last)
    for edge in first.graph.edges:
        given = edge.value
        if first.graph.nodes[edge.source].kind != "constant" or not isinstance(given, np.ndarray) or given.ndim != 2:
            continue
        for value, node, key in items:
            copied = value.ndim == 2 and (np.array_equal(given, value) or np.array_equal(given, value.T))
            if copied and key in now and not np.array_equal(now[key][0], value):
                return [_tied(watched, source, first, node, edge)]
    copies = source.calls("copy", "array", "deepcopy")
    for i, (value, node, key) in enumerate(items):
        for other, twin, its in items[i + 1 :]:
            turned = value.shape != other.shape or not np.array_equal(value, other)
            same = np.array_equal(value.T if turned else value, other) and key in now and its in now
            if not same or np.allclose(now[key][0].T if turned else now[key][0], now[its][0], rtol=1e-3):
                continue
            name, of = name_of(watched, first, twin)[0], name_of(watched, first, node)[0]
            words = {w for path in (name, of) for w in re.findall(r"\w+", path)}
            lines = [c.lineno for c in copies if _takes_array(source.text(c.lineno)) or words & set(_copied_names(c))]
            if lines:
                what = f"{name} began equal to {of}, and after {last.step} steps they differ."
                remedy = "use one tensor in both places if they are to be tied."
                return [DebugFinding("tied copy", 0, what, remedy, lines[:1]).at(source)]
    return []


def _copied_names(call: Any) -> list[str]:
    """Return the names whose copy a call makes."""
    return [getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(call)]


def _takes_array(text: str) -> bool:
    return ".data" in text or ".numpy" in text


def _tied(watched: WatchedRun, source: Index, seen: Seen, node: Any, edge: Any) -> DebugFinding:
    name = name_of(watched, seen, node)[0]
    what = f"a plain array has the values that {name} had at the beginning, and does not follow it."
    line = watched.origin(seen, edge) or line_of(seen.graph.nodes[edge.target])
    return DebugFinding("tied copy", 0, what, "use the Tensor itself, W.T, without a copy.", [line], certain=True).at(
        source
    )
