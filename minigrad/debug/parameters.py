"""Rules about parameters: those without a gradient, those that never change, and steps that are undone."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import numpy as np

from ..engine.tape import Entry, Leaf, wengert_list
from ..engine.tensor import Tensor
from ..graph.record.trace import note_of
from .case import Case, Seen, line_of, norm
from .finding import Finding
from .source import Source, called, number
from .watcher import Look

CUTS = ("detach", "numpy", "argmax", "argmin", "astype", "item", "array", "asarray", "round")
ACTIVATIONS = {"relu", "maximum", "tanh", "sigmoid", "softmax"}
NEGLIGIBLE = 1e-4  # a gradient below this share of the largest one may change nothing
UNDONE = 0.02  # the share of a parameter that each step takes away
SHARES = 2  # looks that must agree


def find_parameters(case: Case) -> list[Finding]:
    """Return the findings about parameters."""
    if not case.seen:
        return []
    found = _stale(case)
    moved = _changes(case)
    if len(case.seen) >= SHARES and not any(moved.values()):
        return found + _nothing_moves(case)
    found += _without_gradient(case) + _zero_gradients(case)
    found += [] if not moved else _not_optimized(case, moved) + _given_twice(case) + _undone(case)
    return found + _equal(case) + _tied_copies(case)


def _pairs(case: Case) -> list[tuple[Seen, Seen]]:
    """Return the looks at two steps in a row."""
    return [(a, b) for a, b in zip(case.seen, case.seen[1:]) if b.step == a.step + 1]


def values_of(seen: Seen) -> dict[Any, tuple[Any, Any, Any]]:
    """Return the value, the gradient and the node of each parameter, by its key."""
    found = {}
    for key, node, tensor in seen.look.leaves:
        value = next((edge.value for edge in seen.out[node.id] if edge.value is not None), None)
        if isinstance(value, np.ndarray) or np.isscalar(value):
            found[key] = np.asarray(value), node.cotangent, node
    return found


def _changes(case: Case) -> dict[Any, bool]:
    """Return for each parameter whether it has ever changed between looks."""
    moved: dict[Any, bool] = {}
    first: dict[Any, Any] = {}
    for seen in case.seen:
        for key, (value, _, _) in values_of(seen).items():
            if key not in first:
                first[key] = value
            else:
                same = value.shape == first[key].shape and np.array_equal(value, first[key], equal_nan=True)
                moved[key] = moved.get(key, False) or not same
    return moved


def _name(case: Case, seen: Seen, node: Any) -> tuple[str, int]:
    path = case.leaf_path(seen, node)
    return path or node.label, case.of_path(path)


def _stale(case: Case) -> list[Finding]:
    """Gradients that were left over when the next sweep began, although the parameters had changed between."""
    stale = case.watcher.stale
    steps = [i for i, left in enumerate(stale) if left]
    if len(steps) < 3 or len(steps) < 0.5 * (len(stale) - 1):
        return []
    what = (
        f"gradients of the step before were still there in {len(steps)} of {len(stale) - 1} steps, and the new ones were added."
    )
    remedy = "clear them in each step: optimizer.zero_grad(), or p.zero_grad()."
    return [Finding("stale gradients", steps[0], what, remedy, [case.backward_line], certain=True).at(case.source())]


def _nothing_moves(case: Case) -> list[Finding]:
    """No parameter changes at all: a step that comes too early, or an update of something else."""
    source, step = case.source(), case.seen[1].step
    if source is None:
        return []
    what = f"no parameter has changed between step {case.seen[0].step} and step {case.seen[-1].step}."
    steps = [call for call in source.calls("step") if isinstance(call.func, ast.Attribute)]
    if steps:
        remedy = "optimizer.step() finds no gradients: call it after backward(), and clear the gradients after it."
        return [Finding("step before backward", step, what, remedy, [steps[0].lineno], certain=True).at(source)]
    for assign in source.find(ast.Assign, lambda n: isinstance(n.targets[0], ast.Name) and ".grad" in ast.unparse(n.value)):
        remedy = f"this line gives the name '{assign.targets[0].id}' to a new tensor: write p.data -= ... instead."
        return [Finding("no update", step, what, remedy, [assign.lineno], certain=True).at(source)]
    remedy = "no line changes the parameters: call optimizer.step(), or write p.data -= lr * p.grad."
    return [Finding("no update", step, what, remedy, [case.backward_line]).at(source)]


# --- Gradients that do not arrive ---


def _tensors(look: Look) -> dict[int, tuple[str, Tensor]]:
    """Return the tensors of the program that require a gradient and were not computed, with their paths."""
    found: dict[int, tuple[str, Tensor]] = {}
    for path, value in look.values.items():
        if isinstance(value, Tensor) and type(value._node) is Leaf:
            found.setdefault(id(value), (path, value))
    return found


def _without_gradient(case: Case) -> list[Finding]:
    """Parameters that are on no tape, although other ones are, and that the program does not change otherwise."""
    reached = {id(t) for seen in case.seen for _, _, t in seen.look.leaves if t is not None}
    last = case.seen[-1]
    tensors = _tensors(last.look)
    missing = {key: item for key, item in tensors.items() if key not in reached}
    earlier = _tensors(case.seen[0].look)
    if not reached or not missing or len(case.seen) < SHARES:
        return []
    before = {id(t): np.array(t._array) for _, t in earlier.values()}
    missing = {k: v for k, v in missing.items() if k in before and k not in _used_for_others(case)}
    if not missing:
        return []
    cut = _cut(case, last, missing)
    names = ", ".join(path for path, _ in list(missing.values())[:3])
    if cut is not None:
        line, how = cut
        what = f"{names} ({len(missing)} tensors) got no gradient in {len(case.seen)} looks: {how}."
        remedy = "compute with the Tensor itself, without .data, detach(), numpy() or integers between."
        return [Finding("cut", last.step, what, remedy, [line], certain=True).at(case.source())]
    line = case.of_path(next(iter(missing.values()))[0])
    used = _first_use(case)
    what = f"{names} got no gradient in {len(case.seen)} looks: the loss does not depend on it."
    remedy = "use it in the forward pass, or leave it out."
    return [Finding("no gradient", last.step, what, remedy, [line, used]).at(case.source())]


def _used_for_others(case: Case) -> set[int]:
    """Return the tensors that change although no gradient reaches them: copies that the program itself keeps up to date."""
    values: dict[int, set[int]] = defaultdict(set)
    for seen in case.seen:
        for key, array in seen.look.copies.items():
            values[key].add(array)
    return {key for key, found in values.items() if len(found) > 1}


def _first_use(case: Case) -> int:
    """Return the line of the forward pass that reads the first parameter."""
    seen = case.seen[-1]
    node = next((n for n in seen.graph.operations() if n.source is not None and not n.lane), None)
    return line_of(node) if node is not None else 0


def _cut(case: Case, seen: Seen, missing: dict[int, tuple[str, Tensor]]) -> tuple[int, str] | None:
    """Return the line at which the tape from these parameters to the loss was cut, and how."""
    window, tape = seen.look.window, set(seen.look.entries)
    leaves = {t._node for _, t in missing.values()}
    depends: set[Any] = set(leaves)
    last_line = 0
    for entry, _, _ in window.made:
        if any(parent in depends for parent in map(_entry, entry.parents)) and entry not in tape:
            depends.add(entry)
    made = [entry for entry in depends if type(entry) is Entry]
    source = case.source()
    if source is None:
        return None
    for node, place in window.handed:
        if _entry(node) in depends and (type(_entry(node)) is Entry or "numpy" in place.text):
            if not _is_update(source, place.line):
                return place.line, f"line {place.line} takes the plain array of a value that depends on it"
    if not made:
        return None
    for line, text in enumerate(source.lines, 1):
        for call in source.find(ast.Call, lambda c: c.lineno == line):
            if called(call) in CUTS[:1] + CUTS[2:5] and "print" not in text and ".numpy()" not in text:
                how = "whole numbers have no derivative" if called(call) != "detach" else "detach() ends the tape"
                if last_line or _inside(source, line, made):
                    return line, f"in line {line}, {how}"
    return None


def _inside(source: Source, line: int, made: list[Any]) -> bool:
    """Return whether a line is near the operations: in the same function, or in the file's own lines."""
    notes = [note_of(entry) for entry in made]
    lines = {n.source.line for n in notes if n is not None and n.source is not None}
    functions = [f for f in source.find(ast.FunctionDef, lambda f: True) if f.lineno <= line <= (f.end_lineno or 0)]
    if functions:
        first, last = functions[-1].lineno, functions[-1].end_lineno or 0
        if any(first <= other <= last for other in lines):
            return True
        return any(call.lineno in lines for call in source.calls(functions[-1].name))
    return bool(lines)


def _is_update(source: Source, line: int) -> bool:
    text = source.text(line)
    return ".data" in text and "=" in text and not text.startswith("return") and text.split("=")[0].rstrip("+-*/ ").endswith(
        ".data"
    )


def _entry(node: Any) -> Any:
    return getattr(node, "entry", node)


def find_recurrent(case: Case) -> list[Finding]:
    """A value that each turn of a loop computes enters the next as a plain array, or a step begins with the last one's."""
    for seen in case.seen[:1]:
        made: dict[int, int] = {}
        for entry, arrays, answer in seen.look.window.made:
            note = note_of(entry)
            line = note.source.line if note is not None and note.source is not None else 0
            for parent, array in zip(entry.parents, arrays):
                if parent is None and isinstance(array, np.ndarray) and made.get(id(_whole(array))) == line and line:
                    what = f"the value that line {line} computed in one turn of the loop enters the next as a plain array."
                    remedy = "pass the Tensor on: after .data or detach() no gradient flows back through the loop."
                    return [Finding("cut", seen.step, what, remedy, [line]).at(case.source(note.source if note else None))]
            if isinstance(answer, np.ndarray):
                made[id(answer)] = line
    return _carried(case)


def _carried(case: Case) -> list[Finding]:
    """A value of the last step's tape enters a step whose rows were drawn anew."""
    source = case.source()
    if source is None or not source.calls("permutation", "shuffle", "Batches", "choice"):
        return []
    for before, after in _pairs(case):
        made = {id(answer): answer for _, _, answer in before.look.window.made if isinstance(answer, np.ndarray)}
        for entry, arrays, _ in after.look.window.made:
            if entry not in set(after.look.entries):
                continue
            for parent, array in zip(entry.parents, arrays):
                if parent is None and isinstance(array, np.ndarray) and id(_whole(array)) in made and array.ndim > 1:
                    note = note_of(entry)
                    places = [note.source, *[c for c, _ in note.callers]] if note is not None and note.source else []
                    what = f"step {after.step} begins with an array of shape {array.shape} that step {before.step} computed."
                    remedy = "if the rows of a batch do not continue those of the last one, begin with zeros in each step."
                    lines = [place.line for place in reversed(places) if place is not None]
                    return [Finding("carried state", after.step, what, remedy, lines).at(source)]
    return []


def _whole(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _zero_gradients(case: Case) -> list[Finding]:
    """Parameters whose gradient is exactly zero in every look, and the operation that makes it zero."""
    zero: dict[Any, bool] = {}
    for seen in case.seen:
        for key, (_, gradient, _) in values_of(seen).items():
            zero[key] = zero.get(key, True) and gradient is not None and not np.any(gradient)
    keys = {key for key, always in zero.items() if always}
    if not keys or len(case.seen) < SHARES or len(keys) == len(zero) == 0:
        return []
    seen = case.seen[-1]
    for key, node, _ in seen.look.leaves:
        if key not in keys:
            continue
        blocked = _blocker(seen, node)
        if blocked is None or blocked.operation in ACTIVATIONS:  # units.py says how many units are dead or flat
            continue
        if any(isinstance(e.value, np.ndarray) and not e.value.any() for e in seen.into[blocked.id]):
            continue  # a product with zeros, whose origin is elsewhere
        name, line = _name(case, seen, node)
        what = f"the gradient of {name} is exactly 0 in {len(case.seen)} looks: '{blocked.operation}' passes none."
        remedy = f"the derivative of '{blocked.operation}' is 0 for these values: replace it, or begin elsewhere."
        place = case.source(blocked.source)
        return [Finding("zero gradient", case.seen[0].step, what, remedy, [line_of(blocked), line], True).at(place)]
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


# --- Updates ---


def _not_optimized(case: Case, moved: dict[Any, bool]) -> list[Finding]:
    """Parameters with a gradient that never change, although others do."""
    active: dict[Any, bool] = {}
    for seen in case.seen:
        norms = {key: norm(gradient) for key, (_, gradient, _) in values_of(seen).items()}
        for key, size in norms.items():  # a step by a tiny gradient may be lost in rounding
            active[key] = active.get(key, True) and size > NEGLIGIBLE * max(norms.values())
    still = [key for key, changed in moved.items() if not changed and active.get(key)]
    if not still or not any(moved.values()) or len(case.seen) < 3:
        return []
    seen = case.seen[-1]
    nodes = [node for key, node, tensor in seen.look.leaves if key in still and tensor is not None]
    if not nodes:
        return []
    names = [_name(case, seen, node)[0] for node in nodes]
    what = f"{', '.join(names[:3])} gets a gradient and has not changed in {case.watcher.steps} steps, while others have."
    remedy = "give it to the optimizer, or to the loop that updates."
    line = _collection_line(case, names)
    found = Finding("not optimized", case.seen[1].step, what, remedy, [line], certain=True)
    return [found.at(case.source())] if line else []


def _collection_line(case: Case, names: list[str]) -> int:
    """Return the line that makes the optimizer, or else the list of parameters that leaves these names out."""
    source = case.source()
    if source is None:
        return 0
    calls = source.find(ast.Call, lambda c: any(k.arg == "lr" for k in c.keywords) and bool(c.args))
    if calls:
        return int(calls[0].lineno)
    lists = source.find((ast.List, ast.Tuple), lambda n: isinstance(n.ctx, ast.Load) and len(n.elts) > 1)
    words = {name.rpartition(".")[2] for name in names}
    for node in lists:
        found = {getattr(e, "id", getattr(e, "attr", None)) for e in node.elts}
        if None not in found and not found & words and all(isinstance(e, (ast.Name, ast.Attribute)) for e in node.elts):
            return int(node.lineno)
    return case.backward_line


def _given_twice(case: Case) -> list[Finding]:
    """Parameters in a list, or in several optimizers, more than once, whose step is that many times as long."""
    seen = case.seen[-1]
    counts: dict[int, int] = defaultdict(int)
    holders: dict[str, list[int]] = defaultdict(list)
    for path, value in seen.look.every:
        if isinstance(value, Tensor) and type(value._node) is Leaf:
            holders[_container(path)].append(id(value))
    for found in holders.values():
        for key in set(found):
            counts[key] = max(counts[key], found.count(key))
    for before, after in _pairs(case)[:1]:
        ratios = _step_ratios(before, after)
        usual = min(ratios.values(), default=0.0)
        for key, node, tensor in before.look.leaves:
            times = ratios.get(key, 0.0) / usual if usual else 0.0
            if tensor is not None and counts[id(tensor)] > 1 and times > 1.5 and abs(times - round(times)) < 0.05 * times:
                name, _ = _name(case, before, node)
                what = f"{name} is held {counts[id(tensor)]} times, and its step is {times:.3g} times as long as that of others."
                remedy = "give each parameter to one optimizer once: list({id(p): p for p in parameters}.values())."
                lines = [_holder_line(case, seen, id(tensor), holders)]
                return [Finding("given twice", before.step, what, remedy, lines, certain=True).at(case.source())]
    return []


def _container(path: str) -> str:
    """Return the path of the list that holds a tensor, with all optimizers of a list as one."""
    head, _, _ = path.rpartition("[")
    return head.split("[")[0] if ".parameters" in head else head


def _holder_line(case: Case, seen: Seen, key: int, holders: dict[str, list[int]]) -> int:
    path = max((p for p in holders if holders[p].count(key) > 1), key=lambda p: holders[p].count(key), default="")
    return case.of_path(path.split(".")[0]) if path else 0


def _step_ratios(before: Seen, after: Seen) -> dict[Any, float]:
    """Return the length of each parameter's step divided by that of its gradient, where both have one direction."""
    old, new = values_of(before), values_of(after)
    found = {}
    for key, (value, gradient, _) in old.items():
        if key in new and gradient is not None and new[key][0].shape == value.shape and np.any(gradient):
            step = np.ravel(new[key][0] - value).astype(float)
            g = np.ravel(gradient).astype(float)
            lengths = norm(step) * norm(g)
            if lengths and abs(step @ g) > 0.999 * lengths:
                found[key] = norm(step) / norm(g)
    return found


def _undone(case: Case) -> list[Finding]:
    """Weight decay that takes away what the gradient adds, and clipping that leaves nothing."""
    source = case.source()
    pairs = _pairs(case)
    if source is None or not pairs:
        return []
    shares, ends = [], []
    for before, after in pairs:
        old, new = values_of(before), values_of(after)
        for key, (value, gradient, _) in old.items():
            if key not in new or gradient is None or value.size < 8 or new[key][0].shape != value.shape:
                continue
            p, g = np.ravel(value).astype(float), np.ravel(gradient).astype(float)
            step = np.ravel(new[key][0]).astype(float) - p
            table = np.stack([p, g], axis=1)
            weights, *_ = np.linalg.lstsq(table, step, rcond=None)
            error = norm(table @ weights - step)
            if norm(p) and error < 0.3 * norm(step):
                shares.append(-float(weights[0]))
            largest = np.abs(new[key][0]).max()
            ends.append(float((np.abs(np.abs(new[key][0]) - largest) <= 1e-6 * largest).mean()) if largest else 0.0)
    found = []
    decay = source.keyword("weight_decay")
    share = float(np.median(shares)) if shares else 0.0
    shrinks = source.find(ast.AugAssign, lambda n: isinstance(n.op, ast.Mult) and ".data" in ast.unparse(n.target))
    if share > UNDONE and (decay is not None or shrinks):
        line = decay.lineno if decay is not None else shrinks[0].lineno
        what = f"each step takes {share:.1%} of every weight away, besides what the gradient does."
        remedy = "make the decay smaller: 0.0001 to 0.01 of a weight per step is usual at most."
        found.append(Finding("decay", pairs[0][0].step, what, remedy, [line], certain=share > 2 * UNDONE).at(source))
    clips = [c for c in source.calls("clip", "minimum", "maximum") if ".data" in source.text(c.lineno)]
    if ends and np.median(ends) > 0.3 and clips:
        what = f"{np.median(ends):.0%} of the weights lie at the end of the interval to which they are clipped."
        remedy = "the clipping undoes the steps: make the interval wider."
        found.append(Finding("clipping", pairs[0][0].step, what, remedy, [clips[0].lineno], certain=True).at(source))
    return found + _clipped_gradients(case, source)


def _clipped_gradients(case: Case, source: Source) -> list[Finding]:
    """A norm to which the gradients are clipped that is a small part of all of them."""
    limits = [source.keyword("clip_norm")] + [c.args[1] for c in source.calls("clip_grad_norm") if len(c.args) > 1]
    norms = [value for value in case.watcher.norms if np.isfinite(value)]
    for limit in limits:
        value = number(limit) if limit is not None else None
        if value and norms and np.median(norms) > 50 * value:
            what = f"the gradients have norm {np.median(norms):.3g} (median), and are clipped to {value:g} in each step."
            remedy = "clip at a few times the usual norm."
            return [Finding("clipping", 0, what, remedy, [limit.lineno], certain=True).at(source)]
    return []


# --- Equal weights ---


def _equal(case: Case) -> list[Finding]:
    """Units of a layer, or whole tensors, that begin equal, get equal gradients and stay equal."""
    last, source = case.seen[-1], case.source()
    if last.step < 2:
        return []
    values = values_of(last)
    for value, gradient, node in values.values():
        if value.ndim == 2 and min(value.shape) > 1 and gradient is not None and np.any(gradient):
            same = (np.ptp(value, axis=1) == 0).all() and (np.ptp(gradient, axis=1) <= 1e-9 * np.abs(gradient).max()).all()
            if same and np.any(value):
                name, line = _name(case, last, node)
                what = f"all {value.shape[1]} columns of {name} are equal after {last.step} steps, and so are their gradients."
                remedy = "draw the weights at random: equal units stay one unit."
                return [Finding("equal weights", last.step, what, remedy, [line], certain=True).at(source)]
    items = list(values.values())
    for i, (value, gradient, node) in enumerate(items):
        twins = [o for o in items[i + 1 :] if _twins(value, gradient, o)]
        if twins and source is not None:
            if not generator_line(source):
                continue
            name = _name(case, last, node)[0]
            what = f"{name} and {len(twins)} other tensors of its shape are equal after {last.step} steps."
            remedy = "draw each from its own random numbers: make the generator once."
            return [Finding("equal weights", last.step, what, remedy, [generator_line(source)], certain=True).at(source)]
    return []


def _twins(value: Any, gradient: Any, other: Any) -> bool:
    """Return whether two tensors are equal, and their gradients, up to rounding."""
    if value.size < 4 or value.shape != other[0].shape or gradient is None or other[1] is None:
        return False
    spread = norm(value - value.mean())
    near = spread > 0 and norm(value - other[0]) <= 1e-3 * spread
    return bool(near and norm(gradient) > 0 and norm(gradient - other[1]) <= 1e-2 * norm(gradient))


def generator_line(source: Source) -> int:
    """Return the line that makes a random generator inside a loop, a comprehension or a function; 0 if there is none."""
    made = [c for c in source.calls("default_rng", "seed", "RandomState") if source.in_loop(c) and c.args]
    return int(made[0].lineno) if made else 0


def _tied_copies(case: Case) -> list[Finding]:
    """A plain array, or a second parameter, that began as a copy of a parameter."""
    first, last, source = case.seen[0], case.seen[-1], case.source()
    if first.step > 0 or source is None:
        return []
    items = [(value, node, key) for key, (value, _, node) in values_of(first).items() if value.size > 8 and np.ptp(value) > 0]
    now = values_of(last)
    for edge in first.graph.edges:
        given = edge.value
        if first.graph.nodes[edge.source].kind != "constant" or not isinstance(given, np.ndarray) or given.ndim != 2:
            continue
        for value, node, key in items:
            if value.ndim == 2 and (np.array_equal(given, value) or np.array_equal(given, value.T)) and key in now:
                if not np.array_equal(now[key][0], value):
                    return [_tied(case, source, first, node, edge)]
    for i, (value, node, key) in enumerate(items):
        for other, twin, its in items[i + 1 :]:
            if value.shape == other.shape and np.array_equal(value, other) and key in now and its in now:
                if not np.allclose(now[key][0], now[its][0], rtol=1e-3):
                    line = next((c.lineno for c in source.calls("copy", "array", "deepcopy") if ".data" in source.text(c.lineno) or ".numpy" in source.text(c.lineno)), 0)  # fmt: skip
                    name, of = _name(case, first, twin)[0], _name(case, first, node)[0]
                    what = f"{name} began equal to {of}, and after {last.step} steps they differ."
                    remedy = "use one tensor in both places if they are to be tied."
                    return [Finding("tied copy", 0, what, remedy, [line]).at(source)] if line else []
    return []


def _tied(case: Case, source: Source, seen: Seen, node: Any, edge: Any) -> Finding:
    name = _name(case, seen, node)[0]
    what = f"a plain array has the values that {name} had at the beginning, and does not follow it."
    line = case.origin(seen, edge) or line_of(seen.graph.nodes[edge.target])
    return Finding("tied copy", 0, what, "use the Tensor itself, W.T, without a copy.", [line], certain=True).at(source)
