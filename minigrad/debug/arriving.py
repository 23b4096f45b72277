"""Checks of gradients that do not arrive: unused parameters, a tape that was cut, and derivatives of exactly zero."""

from __future__ import annotations

import ast
import copy as copying
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._source import SourceLine
from ..engine.tape import Entry, Leaf, entry_of
from ..engine.tensor import Tensor
from ..graph.record.trace import note_of
from ..rules.about import depends_elementwise, known
from ..rules.neural import softmax
from .finding import LIKELY, LOOK, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue, print_of, whole
from .program import At
from .run import WatchedRun
from .variables import address

TURNS = 4  # turns of a loop of which the last alone may reach the loss


def _tensors(look: FullLook) -> dict[int, tuple[str, Tensor]]:
    """Return the tensors of the program that require a gradient and were not computed, with their paths."""
    found: dict[int, tuple[str, Tensor]] = {}
    for path, value in look.every:
        if isinstance(value, Tensor) and type(value._node) is Leaf:
            found.setdefault(id(value), (path, value))
    return found


def _missing(run: WatchedRun) -> dict[int, tuple[str, Tensor]]:
    """Return the tensors that are on no tape, and that no optimizer leaves out on purpose and nothing else changes."""
    reached = {id(tensor) for look in run.looks for tensor in look.tensors if tensor is not None}
    if not reached or len(run.looks) < 2:
        return {}
    before, prints = _tensors(run.first), [look.prints for look in run.looks]
    found = {}
    for key, (path, tensor) in _tensors(run.last).items():
        kept_up = len({p[path] for p in prints if path in p}) > 1  # a copy that the program itself keeps up to date
        if key in before and key not in reached and not kept_up and (not run.held or key in run.held):
            found[key] = path, tensor
    return found


@check("off tape", "optimizer tape")
def off_tape(run: WatchedRun) -> Iterator[DebugFinding]:
    """An optimizer none of whose tensors is on any tape, while tensors that no optimizer holds are."""
    reached = {id(t): t for look in run.looks for t in look.tensors if t is not None}
    free = [node for node in run.last.leaves if node.key[-1] not in run.held] if run.optimizers and run.looks else []
    for optimizer in run.optimizers:
        mine = {id(p) for p in optimizer.parameters if p.requires_grad}
        ready = [u for u in run.watcher.updates if u.optimizer is optimizer and u.ready]
        if not mine or mine & set(reached) or ready or not free or len(run.looks) < 2:
            continue
        made = run.constructor()
        at = None if made is None else (made[0].file, made[1].lineno)
        lost = set(_lost(run, optimizer.parameters))
        made_anew = [node for node in free if node.key not in run.moved]
        readers = [reader.at for node in made_anew[:1] for reader in run.last.readers(node)]
        where = (run.made_leaf(run.last, made_anew[0]) or readers[0]) if made_anew else None
        say = "new" if lost else ""
        places = (where, at) if lost else (at, where)
        yield run.finding(
            SHOWN, run.first.step, *places, say=say, tensors=len(mine), looks=len(run.looks), free=len(free)
        )


def _lost(run: WatchedRun, parameters: Any) -> list[Any]:
    """Return what depends on parameters without leading to the loss, if the program took its numbers."""
    look = run.last
    depends = look.depending({p._node for p in parameters})
    return [node for node, _, _ in look.window.taken if entry_of(node) in depends]


@check("cut", "tape arrays")
def cuts(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters that are on no tape, because the program took the numbers of a value that depends on them."""
    missing, look = _missing(run), run.last if run.looks else None
    if not missing or look is None:
        return
    leaves = {tensor._node for _, tensor in missing.values()}
    windows = [other.window for other in run.looks[::-1] if other.step in (look.step, look.step - 1)]
    depends, tape = look.depending(leaves, windows[::-1]) - set(look.entries), set(look.entries)
    answers = {entry: answer for window in windows for entry, _, answer in window.made}
    tensors = {tensor._node: tensor for _, tensor in missing.values()}
    best: tuple[int, At, At | None] | None = None
    for node, place, copy in (taken for window in windows for taken in window.taken):
        entry = entry_of(node)
        if entry not in depends and entry not in leaves:
            continue
        taken = copy._array if isinstance(copy, Tensor) else copy
        array = tensors[entry]._array if entry in tensors else answers.get(entry)
        score, reader = _enters(look, tape, array if taken is None else taken, place)
        integers = taken is None or (isinstance(taken, np.ndarray) and taken.dtype.kind in "iub")
        score = max(score, int(type(entry) is Entry and integers and _is_alike(look, taken)))
        if not score:
            where = (place.file, place.line)
            reader = next((node.at for node, use in look.given if where in run.passed(node, use)), None)
            score = int(reader is not None)
        if score and (best is None or score > best[0]):
            best = score, (place.file, place.line), reader
    if best is not None:
        names = ", ".join(path for path, _ in list(missing.values())[:3])
        facts: dict[str, Any] = {"names": names, "n": len(missing), "looks": len(run.looks), "line": best[1][1]}
        yield run.finding(SHOWN if best[0] > 1 else LIKELY, run.first.step, best[1], best[2], **facts)


def _enters(look: FullLook, tape: set[Any], taken: Any, place: SourceLine) -> tuple[int, At | None]:
    """Return 3 if an array enters the tape (4 on a way through its place), 2 if its numbers do, and the line of the reader."""
    if not isinstance(taken, np.ndarray):
        return 0, None
    score, reader = 0, None
    here = place.file, place.line
    for entry, arrays, _ in look.window.made:
        for array in arrays if entry in tape else ():
            if isinstance(array, np.ndarray) and address(array) and np.may_share_memory(array, taken):
                note = note_of(entry)
                if note is None or note.source is None:
                    return 3, None
                lines = {(p.file, p.line) for p in (note.source, *(c for c, _ in note.callers))}
                return 3 + (here in lines), (note.source.file, note.source.line)
    for node, use in look.given:
        if isinstance(use.raw, np.ndarray) and use.raw.size > 4 and _follows(use.raw, taken):
            score, reader = 2, node.at
    for node in look.operations:
        for index in node.keywords.values():
            for part in index if isinstance(index, tuple) else (index,):
                if isinstance(part, np.ndarray) and part.shape == taken.shape and np.array_equal(part, taken):
                    score, reader = 2, node.at
    return score, reader


def _follows(value: Any, taken: Any) -> bool:
    """Return whether each column of an array is a linear function of that of another one, or holds numbers of it."""
    if value.shape == taken.shape:
        a, b = (each.reshape(-1, each.shape[-1] if each.ndim > 1 else 1).astype(float) for each in (value, taken))
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        lengths = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
        return bool(len(a) > 2 and lengths.any() and (np.abs((a * b).sum(axis=0)) >= 0.99 * lengths).all())
    whole = value.dtype.kind != "f" or bool((value == np.rint(value)).all())
    return not whole and bool(np.isin(value, taken).mean() > 0.3)


def _is_alike(look: FullLook, taken: Any) -> bool:
    """Return whether an array that was computed in the step enters the tape, and no variable holds it."""
    unknown = (use.shape for _, use in look.given if len(use.shape) > 1 and look.path(use.raw) is None)
    shape = next(unknown, None)
    return shape is not None and (taken is None or np.shape(taken)[:1] == shape[:1])


@check("no gradient", "tape")
def without_gradient(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters that are on no tape, although other ones are: the loss does not depend on them."""
    missing = _missing(run)
    if not missing or any(True for _ in cuts.__wrapped__(run)) or any(True for _ in off_tape.__wrapped__(run)):
        return
    path, tensor = next(iter(missing.values()))
    look = run.last
    made = run.made(path)
    used = _beside(look, tensor)
    names = ", ".join(path for path, _ in list(missing.values())[:3])
    yield run.finding(LIKELY, run.first.step, made, used, names=names, looks=len(run.looks), n=len(missing))


def _beside(look: FullLook, tensor: Tensor) -> At | None:
    """Return the last line that uses the nearest parameter before an unused one, or the first one of that after it."""
    used = {
        node.key[-1]: [reader.at for reader in look.readers(node)]
        for node in look.leaves
        if isinstance(node.key, tuple)
    }
    known = list(_tensors(look))
    place = known.index(id(tensor))
    before = next((used[key][-1] for key in known[:place][::-1] if key in used), None)
    return before or next((used[key][0] for key in known[place + 1 :] if key in used), None)


@check("cut", "tape arrays")
def recurrent_cuts(run: WatchedRun) -> Iterator[DebugFinding]:
    """A value that each turn of a loop computes enters the next as a plain array, or only the last turn reaches the loss."""
    for look in run.looks[:1]:
        made: dict[int, Any] = {}
        ran: set[Any] = set()  # the places that have run
        within: set[Any] = set()  # the places that read a value of their own turn, because they had not run before it
        turns: dict[Any, list[bool]] = defaultdict(list)
        ways: dict[Any, tuple[At, ...]] = {}
        tape, taken = set(look.entries), {entry_of(node) for node, _, _ in look.window.taken}
        for entry, arrays, answer in look.window.made:
            note = note_of(entry)
            lines = [] if note is None or note.source is None else [note.source, *(c for c, _ in note.callers)]
            way = tuple((each.file, each.line) for each in lines)
            given = [a for parent, a in zip(entry.parents, arrays) if parent is None and isinstance(a, np.ndarray)]
            line = way[0] if way else None
            if line and any(made.get(id(whole(array))) == way for array in given):
                if note.source not in ran:  # type: ignore[union-attr]
                    within.add(note.source)  # type: ignore[union-attr]
                if note.source not in within:  # type: ignore[union-attr]
                    yield run.finding(SHOWN, look.step, line, say="turn", line=line[1])
                    return
            ran.add(note.source if note is not None else None)
            turns[note.source if note is not None else None].append(entry in tape)
            ways[note.source if note is not None else None] = way
            if isinstance(answer, np.ndarray) and entry in taken:  # the program has asked for its numbers
                made[id(answer)] = way
        for source, reaching in turns.items():
            place = (source.file, source.line) if source is not None else None
            if place is None or len(reaching) < TURNS or sum(reaching) != 1 or not reaching[-1]:
                continue
            if not any(run.program.in_loop(at) for at in ways[source]):
                continue  # a function of the library runs it several times, such as check_grads
            index = run.program.index(place[0])
            for _, where, copy in look.window.taken:
                own = index.function_at(where.line) is index.function_at(place[1])
                if own and where.file == place[0] and isinstance(copy, Tensor):
                    facts: dict[str, Any] = {"turns": len(reaching), "line": place[1]}
                    yield run.finding(SHOWN, look.step, (where.file, where.line), place, say="last", **facts)
                    return


@check("carried state", "arrays tape calls")
def carried(run: WatchedRun) -> Iterator[DebugFinding]:
    """A value of the last step enters a step whose rows were drawn anew, as it is or in an array of the program."""
    for before, after in run.pairs if _draws(run) else ():
        made = {entry: whole(answer) for entry, _, answer in before.window.made if isinstance(answer, np.ndarray)}
        old = {id(array) for array in made.values()}
        prints = {print_of(node.value) for node in before.operations if np.ndim(node.value) > 1 and np.ptp(node.value)}
        taken = {id(made.get(entry_of(n))): (at.file, at.line) for w in (before, after) for n, at, _ in w.window.taken}
        for node, use in after.given:
            array = whole(use.raw)
            facts: dict[str, Any] = {"step": after.step, "shape": use.shape, "before": before.step}
            writes = _writes(run, after, use.value) if len(use.shape) > 1 and print_of(use.value) in prints else []
            if len(use.shape) > 1 and id(array) in old:
                near = [(p.file, p.line) for p in node.places if run.is_near(p)][:1]  # in the function of the step
                yield run.finding(LIKELY, after.step, taken.get(id(array)), *near, node.at, **facts)
                return
            if writes:
                more: dict[str, Any] = {"kind": "changed data", "say": "state", "line": writes[0][1]}
                yield run.finding(LIKELY, after.step, writes[0], node.at, **facts, **more)
                return


def _writes(run: WatchedRun, look: FullLook, value: Any) -> list[At]:
    """Return the lines that write into an array of the program that held these numbers, by an index."""
    index = run.program.index(run.file)
    names = {path for path, found in look.prints.items() if found == print_of(value)}
    writes = index.find(ast.Assign, lambda n: isinstance(n.targets[0], ast.Subscript))
    return [(index.file, write.lineno) for write in writes if ast.unparse(write.targets[0].value) in names]


@check("changed data", "arrays calls")
def changed_data(run: WatchedRun) -> Iterator[DebugFinding]:
    """An array of the program that feeds the tape and is written to, through a view, by each step."""
    prints = [look.prints for look in run.looks[:4]]
    if len(run.looks) < 3:
        return
    given = [use.raw for look in run.looks[:2] for _, use in look.given]
    for name, value in run.first.values.items():
        if not isinstance(value, np.ndarray) or any(name not in look.prints for look in run.looks):
            continue
        if len({p.get(name) for p in prints}) < 3 or len({address(look.values[name]) for look in run.looks}) > 1:
            continue  # it is the same, or the name got a new array
        if not any(_is_part(raw, value) for raw in given):
            continue
        for index in map(run.program.index, run.program.files):
            for write in index.find((ast.AugAssign, ast.Assign)):
                target = write.target if isinstance(write, ast.AugAssign) else write.targets[0]
                base = target.value if isinstance(target, ast.Subscript) else target
                stores = isinstance(write, ast.AugAssign) or isinstance(target, ast.Subscript)
                view = run.program.views(index, base, name) if stores and isinstance(base, ast.Name) else None
                if view is not None:
                    facts: dict[str, Any] = {"name": name, "written": view[1], "line": write.lineno}
                    yield run.finding(SHOWN, run.looks[1].step, (index.file, write.lineno), view, **facts)
                    return


def _is_part(raw: Any, table: Any) -> bool:
    """Return whether an array is a part of another one, or may be a part in another precision."""
    cast = (
        np.ndim(raw) > 1
        and raw.shape[1:] == table.shape[1:]
        and raw.dtype.kind == table.dtype.kind
        and raw.dtype != table.dtype
    )
    return np.may_share_memory(raw, table) or cast


def _draws(run: WatchedRun) -> bool:
    """Return whether the steps draw their rows at random, or take them from shuffled batches."""
    batches = getattr(sys.modules.get("nn.data"), "Batches", None)
    if batches is not None and run.program.calls(batches):
        return True
    calls = run.program.methods(np.random.Generator)
    repeated = [(i, c) for i, c in calls if run.backward is not None and i.file == run.file]
    return any(i.loops(c) or run.program.repeats(i, c, run.backward[1]) for i, c in repeated)  # type: ignore[index]


@check("zero gradient", "tape arrays")
def zero_gradients(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters whose gradient is exactly zero in every look, and the operation that makes it zero."""
    zero: dict[Any, bool] = {}
    for look in run.looks:
        for key, (_, gradient, _) in run.params(look).items():
            zero[key] = zero.get(key, True) and (gradient is None or not np.any(gradient))
    keys = {key for key, always in zero.items() if always}
    for node in run.last.leaves if len(run.looks) > 1 else ():
        blocked = _blocker(run.last, node) if node.key in keys else None
        if blocked is None or _can_be_flat(blocked.primitive):  # units.py says how many units are dead or flat
            continue
        operands = run.last.operands(blocked)
        if len(operands) > 1 and any(isinstance(u.value, np.ndarray) and not u.value.any() for u, _ in operands):
            continue  # a product with zeros, whose origin is elsewhere
        first = operands[0][0].value
        if not depends_elementwise(blocked.primitive) and np.size(first) > 1 and not np.ptp(first):
            continue  # equal numbers get equal gradients, which cancel: updates.py tells of equal weights
        steps = known(blocked.primitive).flat is None and _is_stepped(blocked)
        facts: dict[str, Any] = {
            "name": run.name(run.last, node),
            "looks": len(run.looks),
            "operation": blocked.operation,
        }
        yield run.finding(SHOWN if steps else LOOK, run.first.step, blocked.at, run.made_leaf(run.last, node), **facts)
        return


def _is_stepped(node: TapeValue) -> bool:
    """Return whether the result takes few values, as that of a rounding or of a sign does."""
    value = np.asarray(node.value)
    return bool((value == np.rint(value)).all()) or len(np.unique(value)) <= max(2, value.size // 4)


def _can_be_flat(primitive: Any) -> bool:
    """Return whether an operation is an activation whose units can be dead or saturated."""
    facts = known(primitive)
    return facts.dies or facts.flat is not None or primitive is softmax


def _blocker(look: FullLook, node: TapeValue) -> TapeValue | None:
    """Return the operation that gets a gradient other than zero and passes zero on to this value."""
    waiting, met = [node], set()
    for value in waiting:
        for use in look.out[value.id]:
            target = look.nodes[use.target]
            if target.id in met:
                continue
            met.add(target.id)
            if use.contribution is not None and np.any(use.contribution):
                continue
            if target.cotangent is not None and not isinstance(target.cotangent, dict) and np.any(target.cotangent):
                return target
            waiting.append(target)
    return None


@check("tied copy", "arrays tape")
def tied_copies(run: WatchedRun) -> Iterator[DebugFinding]:
    """A plain array, or a second parameter, that began as a copy of a parameter."""
    if not run.looks or run.first.step > 0 or len(run.looks) < 2:
        return
    now = run.params(run.last)
    items = [(v, node) for v, _, node in run.params(run.first).values() if v.size > 8 and np.ptp(v) > 0 and v.ndim == 2]
    for node, use in run.first.given:
        for value, leaf in items:
            copied = np.array_equal(use.value, value) or np.array_equal(use.value, value.T)
            if copied and leaf.key in now and not np.array_equal(now[leaf.key].value, value):
                made = run.made_use(run.first, use) or node.at
                yield run.finding(SHOWN, 0, made, name=run.name(run.first, leaf))
                return
    for i, (value, node) in enumerate(items):
        for other, twin in items[i + 1 :]:
            turned = not np.array_equal(value, other)
            same = np.array_equal(value.T if turned else value, other) and node.key in now and twin.key in now
            a = now[node.key].value if same else value
            if same and not np.allclose(a.T if turned else a, now[twin.key].value, rtol=1e-3):
                facts: dict[str, Any] = {
                    "name": run.name(run.first, twin),
                    "of": run.name(run.first, node),
                    "step": run.last.step,
                }
                made = run.made_leaf(run.first, twin)
                yield run.finding(LIKELY if turned else LOOK, 0, _copy_line(run) or made, made, say="two", **facts)
                return


def _copy_line(run: WatchedRun) -> At | None:
    """Return the line that copies an array or an object of the program; None if none or several do."""
    calls = run.program.calls(np.ndarray.copy, np.array, np.copy, copying.deepcopy, copying.copy)
    taken = [
        (i, c) for i, c in calls if any(isinstance(n, ast.Attribute) and n.attr in ("T", "data") for n in ast.walk(c))
    ]
    return (taken[0][0].file, taken[0][1].lineno) if len(taken) == 1 else None
