"""Checks of what is done with the gradients: by an optimizer, or by the program's own update."""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..engine.tape import Leaf
from ..engine.tensor import Tensor
from ..rules import elementwise
from .finding import LIKELY, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue
from .program import At
from .run import WatchedRun, median, norm

NEGLIGIBLE = 1e-3  # a gradient below this share of the largest one may change nothing
ROUNDING = 1e-6  # a gradient below this share of its parameter may change nothing
UNDONE = 0.02  # the share of a parameter that each step takes away
ENDS = 0.3  # the share of weights at the ends of an interval
FADED = 0.1  # the share of their size that is left of weights that shrink together
OPTIMIZERS = ".parameters"  # a part of the path of each list that an optimizer holds
HUGE = 1e15  # a number of the data from which the square of a gradient may be too large for float32
SWEEPS = 8  # backward passes for one update, of whose losses the sum is far from their mean
DIED = 1e-3  # the share of the largest rate below which nothing is learned any more
ZERO = 0.3  # the share of the steps of an optimizer with a rate of 0


def _still(run: WatchedRun) -> bool:
    """Return whether no parameter has changed between any two looks."""
    return len(run.looks) > 1 and bool(run.moved) and not any(run.moved.values()) and not any(run.watcher.moved)


@check("stale gradients", "optimizer")
def stale(run: WatchedRun) -> Iterator[DebugFinding]:
    """Gradients that were left over when the next sweep began, although the parameters had changed between."""
    steps = [i for i, left in enumerate(run.watcher.stale) if left]
    others = len(run.watcher.stale) - 1
    if len(steps) >= 3 and len(steps) >= 0.5 * others:
        yield run.finding(SHOWN, steps[0], run.backward, _update_line(run), n=len(steps), steps=others)


def _update_line(run: WatchedRun) -> At | None:
    """Return the line of the last update: the call of an optimizer's step, or a statement that reads gradients."""
    found = [call for optimizer in run.optimizers for call in _step_calls(run, optimizer)] or run.updates()
    return (found[-1][0].file, found[-1][1].lineno) if found else None


def _step_calls(run: WatchedRun, optimizer: Any) -> list[tuple[Any, Any]]:
    """Return the calls of an optimizer's ``step`` in the program, each with the index of its file."""
    return run.program.calls(type(optimizer).step, sys.modules["nn.optimizer"].Optimizer.step)


@check("undivided", "optimizer tape")
def undivided(run: WatchedRun) -> Iterator[DebugFinding]:
    """Updates by the sum of the gradients of several sweeps, whose losses are not divided by their number."""
    first = next((i for i, moved in enumerate(run.watcher.moved) if moved), 0)
    added, steps = run.watcher.added[first:], run.watcher.steps
    starts = [i for i, each in enumerate(added) if not each]
    sums = np.diff(starts)
    n = int(median(sums)) if len(sums) else 0
    adaptive = any(map(_is_adaptive, run.optimizers))
    if n < SWEEPS or sums.min() < 2 or len(set(run.watcher.places)) > 1 or adaptive or not run.looks:
        return
    divided = any(isinstance(part, ast.Div) for _, node in run.updates() for part in ast.walk(node))
    if not divided and (not run.optimizers or not run.updates()) and _scale(run.last) > 2 / n:
        facts: dict[str, Any] = {"n": n, "updates": len(starts), "steps": steps}
        yield run.finding(LIKELY, first, run.backward, run.last.operations[-1].at, **facts)


def _is_adaptive(optimizer: Any) -> bool:
    """Return whether an optimizer divides by the sizes of its gradients: one part of its state is never negative."""
    slots = {name for state in optimizer.state for name, array in state.items() if np.ndim(array)}
    return any(all((np.asarray(s[name]) >= 0).all() for s in optimizer.state if name in s) for name in slots)


def _scale(look: FullLook) -> float:
    """Return the number by which the last operations of a loss multiply it."""
    node, scale = look.operations[-1], 1.0
    while node.primitive in (elementwise.multiply, elementwise.divide):
        operands = look.operands(node)
        numbers = [float(np.ravel(u.value)[0]) for u, s in operands if s.kind == "constant" and np.size(u.value) == 1]
        if not numbers:
            break
        scale = scale / numbers[0] if node.primitive is elementwise.divide else scale * numbers[0]
        node = next((s for _, s in operands if s.operation is not None), look.operations[0])
    return scale


@check("mixed gradients", "optimizer")
def mixed(run: WatchedRun) -> Iterator[DebugFinding]:
    """An update by the sum of two losses' gradients, between which other parameters were updated by the first one."""
    found = Counter(place for _, place in run.watcher.mixed)
    for place, count in found.most_common(1):
        if count >= 3:
            step = next(step for step, other in run.watcher.mixed if other == place)
            others = [p for p in run.watcher.places if p != place]
            yield run.finding(SHOWN, step, place, others[-1] if others else None, n=count, line=place[1])


@check("mixed gradients", "optimizer")
def sometimes_mixed(run: WatchedRun) -> Iterator[DebugFinding]:
    """Updates to whose gradients those of another sweep were added: in some steps only, or of a sweep for another gradient."""
    groups: dict[tuple[Any, ...], int] = Counter()
    current: list[Any] = []
    for place, moved, added in zip(run.watcher.places, run.watcher.moved, run.watcher.added):
        if moved and current:
            groups[tuple(current)] += 1
            current = []
        current = [*current, place] if added or not current else [place]
    pairs = Counter({g: n for g, n in groups.items() if len(set(g)) == len(g) == 2}).most_common(1)
    if not pairs or pairs[0][1] < 3:
        return
    (place, last), n = pairs[0]
    alone = groups[(last,)]
    looks = [look for look in run.looks if run.watcher.places[look.step] == place]
    asked = [
        leaf for look in looks[:1] for leaf in look.leaves if leaf.key not in run.moved and leaf.key[-1] not in run.held
    ]
    if alone >= 3 or (asked and len(looks[0].leaves) > len(asked)):
        step = run.watcher.places.index(place)
        yield run.finding(SHOWN, step, place, last, say="some", n=n, line=place[1], others=alone)


@check("step before backward", "optimizer calls")
def early_steps(run: WatchedRun) -> Iterator[DebugFinding]:
    """An optimizer that finds no gradient in any of its steps, although its tensors are on the tape of each sweep."""
    reached = {id(t) for look in run.looks for t in look.tensors if t is not None}
    for optimizer in run.optimizers if _still(run) else ():
        calls = [update for update in run.watcher.updates if update.optimizer is optimizer]
        mine = {id(p) for p in optimizer.parameters}
        if len(calls) > 1 and mine & reached and not any(update.ready for update in calls):
            lines = _step_calls(run, optimizer)
            at = (lines[0][0].file, lines[0][1].lineno) if lines else None
            yield run.finding(SHOWN, calls[0].sweeps, at, run.backward, calls=len(calls), tensors=len(mine))


@check("no update", "arrays calls")
def no_update(run: WatchedRun) -> Iterator[DebugFinding]:
    """No parameter changes at all, although gradients arrive, and no optimizer makes steps."""
    if not _still(run) or run.watcher.updates or max(run.watcher.norms, default=0) == 0:
        return
    facts: dict[str, Any] = {"first": run.first.step, "last": run.last.step}
    for index, node in run.updates():
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and not isinstance(node.value, (ast.DictComp, ast.ListComp)):
            yield run.finding(SHOWN, run.looks[1].step, (index.file, node.lineno), say="name", name=target.id, **facts)
            return
    if not run.updates():
        yield run.finding(LIKELY, run.looks[1].step, run.backward, **facts)
    elif run.rate() is not None:
        yield run.finding(LIKELY, 0, run.rate(), kind="rate zero", say="hand", **facts)


@check("rate zero", "optimizer")
def rate_zero(run: WatchedRun) -> Iterator[DebugFinding]:
    """A learning rate of 0, or of next to nothing beside its largest, in many steps of an optimizer, from early on."""
    for optimizer in run.optimizers:
        rates = np.array([update.rate for update in run.watcher.updates if update.optimizer is optimizer])
        zero = np.flatnonzero(rates == 0)
        gone = np.flatnonzero(rates <= DIED * rates.max(initial=0))
        gone = gone[gone > rates.argmax()] if len(rates) else gone  # a warmup begins with small ones
        if len(rates) >= 5 and len(zero) > ZERO * len(rates):
            yield run.finding(SHOWN, int(zero[0]), *run.schedule(), n=len(zero), steps=len(rates), first=int(zero[0]))
        elif len(rates) >= 5 and len(gone) > ZERO * len(rates):
            facts: dict[str, Any] = {"n": len(gone), "steps": len(rates), "first": int(gone[0])}
            facts |= {"most": f"{rates.max():.3g}", "last": f"{rates[-1]:.3g}"}
            yield run.finding(LIKELY, int(gone[0]), *run.schedule(), say="died", **facts)


@check("rate zero", "arrays")
def stands_still(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters that an update of the program changes at first, and not at all later, although gradients arrive."""
    norms, steps, sizes = run.watcher.norms, run.watcher.steps, run.relative_steps
    moving = [step for step, size in sizes if size > 0]
    still = [step for step, _ in sizes if moving and step > moving[-1]]
    if run.optimizers or not still or steps - still[0] < ZERO * steps or len(set(run.watcher.places)) > 1:
        return
    per_gradient = max((size / norms[step] for step, size in sizes if norms[step] > 0 and size > 0), default=0.0)
    would_move = per_gradient * min(norms[still[0] :]) > ROUNDING  # at the rate of the steps that moved
    if run.updates() and would_move and np.isfinite(run.watcher.losses).all():
        facts: dict[str, Any] = {"n": len(still), "first": still[0], "last": still[-1]}
        yield run.finding(SHOWN, still[0], *run.schedule(), _update_line(run), say="still", **facts)


@check("learning rate", "arrays tape")
def uphill(run: WatchedRun) -> Iterator[DebugFinding]:
    """Steps that go along the gradient, and not against it, while an error grows."""
    losses = run.watcher.losses
    grows = losses and losses[0] > 0 and not losses[-1] < 1.5 * losses[0]
    if run.climbs and grows and any(run.is_error(run.first, y) for y in run.targets(run.first)):
        facts: dict[str, Any] = {"n": run.climbs, "start": f"{losses[0]:.4g}", "end": f"{losses[-1]:.4g}"}
        yield run.finding(SHOWN, run.first.step, _update_line(run) or run.backward, say="uphill", **facts)


@check("state inf", "optimizer arrays")
def state_inf(run: WatchedRun) -> Iterator[DebugFinding]:
    """The state of an optimizer, also of one in the program, holds an infinity: its elements never change again."""
    for slot, name, array in _states(run):
        bad = int(np.isinf(array).sum())
        if bad:
            worst = int(np.nanargmax(run.watcher.norms))
            facts: dict[str, Any] = {"bad": bad, "size": array.size, "slot": slot, "name": name}
            facts["norm"] = f"{run.watcher.norms[worst]:.3g}"
            yield run.finding(SHOWN, worst, *_outlier(run), _loss_line(run), run.backward, **facts)
            return


def _states(run: WatchedRun) -> Iterator[tuple[str, str, Any]]:
    """Yield the arrays that hold a number for each element of a finite parameter, each with its name and the parameter's."""
    for optimizer in run.optimizers:
        for parameter, state in zip(optimizer.parameters, optimizer.state):
            if np.isfinite(parameter._array).all():
                path = next((p for p, v in run.last.every if v is parameter), "?")
                yield from ((slot, path, a) for slot, a in state.items() if isinstance(a, np.ndarray))
    params = [node for node in run.last.leaves if np.isfinite(node.value).all()] if run.looks else []
    shapes = {node.shape: run.name(run.last, node) for node in params}
    for path, value in run.last.every if run.looks and not run.optimizers else ():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.shape in shapes:
            yield path, shapes[value.shape], value


def _outlier(run: WatchedRun) -> list[At | None]:
    """Return the lines that filter, and make, the array of the program with a number whose gradients overflow when squared."""
    arrays = [
        (p, v) for p, v in run.last.values.items() if isinstance(v, np.ndarray) and v.dtype.kind == "f" and v.size
    ]
    large = [p for p, array in arrays if p.isidentifier() and HUGE < np.abs(array).max() < np.inf]
    if not large:
        return []
    made, trail = run.made(large[-1]), list(run.program.trail)
    rows = [run.program.kept_rows(large[-1], run.file)]
    for _, use in run.last.given if not rows[0] else ():
        if large[-1] in run.tables_of(use.raw):
            rows.append(run.selection(run.last, use))
    return [*rows, *trail[:1], made]


def _loss_line(run: WatchedRun) -> At | None:
    return run.last.operations[-1].at if run.looks else None


@check("not optimized", "optimizer arrays")
def not_optimized(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters with a gradient that never change, although others do."""
    active: dict[Any, bool] = {}
    for look in run.looks:
        params = run.params(look)
        largest = max((norm(param.gradient) for param in params.values()), default=0.0)
        for key, (value, gradient, _) in params.items():  # a step by a tiny gradient may be lost in rounding
            enough = norm(gradient) > max(NEGLIGIBLE * largest, ROUNDING * norm(value))
            active[key] = active.get(key, True) and enough
    still = [key for key, changed in run.moved.items() if not changed and active.get(key)]
    inputs = len(set(run.watcher.places)) == 1  # of one transform, whose places mean the same in each step
    nodes = [node for node in run.last.leaves if node.key in still] if still else []
    nodes = [n for n in nodes if (n.key[1] not in run.held if isinstance(n.key, tuple) else inputs)]
    if not nodes or not any(run.moved.values()) or len(run.looks) < 3:
        return
    names = [run.name(run.last, node) for node in nodes]
    first = next(look.step for look in run.looks if nodes[0].key in run.params(look))
    made = run.constructor(after=first)
    line = (made[0].file, made[1].lineno) if made is not None else _collection(run, names)
    facts: dict[str, Any] = {"names": ", ".join(names[:3]), "n": len(names), "steps": run.watcher.steps}
    loops = [(i.file, loop.lineno) for i, n in run.updates() for loop in i.around(n) if isinstance(loop, ast.For)]
    where = [line] if line else [*loops[:1], _update_line(run) or run.backward]
    yield run.finding(LIKELY, run.looks[1].step, *where, **facts)


def _collection(run: WatchedRun, names: list[str]) -> At | None:
    """Return the line of the list of parameters over which the update runs, if the program writes one out."""
    words = {name.rpartition(".")[2] for name in names}
    for file in run.program.files:
        index = run.program.index(file)
        for node in index.find((ast.List, ast.Tuple), lambda n: isinstance(n.ctx, ast.Load) and len(n.elts) > 1):
            values = [run.program.value(each) for each in node.elts]
            tensors = all(isinstance(value, Tensor) and type(value._node) is Leaf for value in values)
            found = {getattr(e, "id", getattr(e, "attr", None)) for e in node.elts}
            if tensors and not found & words:
                return file, node.lineno
    return None


@check("off tape", "optimizer tape")
def replaced(run: WatchedRun) -> Iterator[DebugFinding]:
    """An optimizer that found gradients at first, and none in its later steps, while tensors that none holds have them."""
    for optimizer in run.optimizers:
        calls = [update for update in run.watcher.updates if update.optimizer is optimizer]
        used = [i for i, update in enumerate(calls) if update.ready]
        mine = {id(p) for p in optimizer.parameters}
        alive = {id(t) for t in run.last.tensors if t is not None} if run.looks else set()
        if used and len(calls) - used[-1] > max(5, 0.2 * len(calls)) and alive and not alive & (mine | run.held):
            since = calls[used[-1] + 1].sweeps
            made, leaf = run.constructor(), run.made_leaf(run.last, run.last.leaves[0])
            at = (made[0].file, made[1].lineno) if made is not None else None
            facts: dict[str, Any] = {"tensors": len(mine), "calls": len(calls) - used[-1] - 1}
            yield run.finding(SHOWN, since, at, leaf, say="replaced", **facts)
            return


@check("given twice", "optimizer arrays")
def given_twice(run: WatchedRun) -> Iterator[DebugFinding]:
    """Parameters in a list, or in several optimizers, more than once, whose step is that many times as long."""
    counts: dict[int, int] = defaultdict(int)
    holders: dict[str, list[int]] = defaultdict(list)
    for path, value in run.last.every if run.looks else ():
        if isinstance(value, Tensor) and type(value._node) is Leaf and "[" in path:  # two names of a tensor are no list
            holders[_container(path)].append(id(value))
    for found in holders.values():
        for key in set(found):
            counts[key] = max(counts[key], found.count(key))
    for before, after in run.pairs[:1]:
        ratios = {key: abs(ratio) for key, ratio in run.along(before, after).items()}
        usual = min(ratios.values(), default=0.0)
        for node in before.leaves:
            key = node.key[1] if isinstance(node.key, tuple) else 0
            times = ratios.get(node.key, 0.0) / usual if usual else 0.0
            whole = abs(times - round(times)) < 0.05 * times
            if counts[key] > 1 and 1.5 < times < counts[key] + 1.5 and whole:  # a loop variable may hide one of them
                line = _holder(run, key, holders)
                facts: dict[str, Any] = {"name": run.name(before, node), "held": counts[key], "times": f"{times:.3g}"}
                yield run.finding(SHOWN, before.step, line, **facts)
                return


def _container(path: str) -> str:
    """Return the path of the list that holds a tensor, with all optimizers as one."""
    head, _, _ = path.rpartition("[")
    return OPTIMIZERS if OPTIMIZERS in head else head


def _holder(run: WatchedRun, key: int, holders: dict[str, list[int]]) -> At | None:
    path = max((p for p in holders if holders[p].count(key) > 1), key=lambda p: holders[p].count(key), default="")
    if path == OPTIMIZERS:
        path = [p for p, value in run.last.every if id(value) == key and OPTIMIZERS in p][-1].split("[")[0]
    return run.made(path.split(".")[0]) if path else None


@check("decay", "arrays optimizer")
def decays(run: WatchedRun) -> Iterator[DebugFinding]:
    """Weight decay, or a factor by hand, that takes away a part of each weight in each step."""
    shares = []
    for before, after in run.pairs:
        old, new = run.params(before), run.params(after)
        for key, (value, gradient, _) in old.items():
            if key not in new or gradient is None or value.size < 8 or new[key].value.shape != value.shape:
                continue
            p, g = np.ravel(value).astype(float), np.ravel(gradient).astype(float)
            step = np.ravel(new[key].value).astype(float) - p
            table = np.stack([p, g], axis=1)
            if not np.isfinite(table).all() or not np.isfinite(step).all():
                continue
            weights, *_ = np.linalg.lstsq(table, step, rcond=None)
            if norm(p) and norm(table @ weights - step) < 0.3 * norm(step):
                shares.append(-float(weights[0]))
    share = median(shares) if shares else 0.0
    exact = max((o.lr * o.weight_decay for o in run.optimizers), default=0.0)
    share = max(share, exact) if exact > UNDONE else share
    lines = _decay_lines(run)
    if share > UNDONE and any(lines) and share < 1.5:
        yield run.finding(
            LIKELY, run.pairs[0][0].step if run.pairs else 0, *lines, share=f"{share:.1%}", limit=f"{UNDONE:.0%}"
        )
        return
    sizes = _sizes(run)
    if sizes and max(sizes) < 0.5 and median(sizes) < FADED and run.watcher.losses[-1] > 0:
        penalty = _penalty(run)
        if any(lines) or penalty:
            facts: dict[str, Any] = {"left": f"{median(sizes):.1%}", "step": run.last.step, "limit": f"{FADED:.0%}"}
            yield run.finding(LIKELY, run.last.step, *(penalty or lines), say="shrink", **facts)


def _sizes(run: WatchedRun) -> list[float]:
    """Return what is left of the size of each matrix of weights, at the last look."""
    if len(run.looks) < 3:
        return []
    old, new = run.params(run.first), run.params(run.last)
    pairs = [(old[k].value, new[k].value) for k in old if k in new and old[k].value.ndim > 1 and norm(old[k].value)]
    return [norm(b) / norm(a) for a, b in pairs if a.shape == b.shape]


def _penalty(run: WatchedRun) -> list[At | None]:
    """Return the line of the factor of a penalty, and the line that squares a parameter, or takes its size."""
    for node in run.last.operations:
        operands = run.last.operands(node)
        if (
            node.primitive not in (elementwise.square, elementwise.power, elementwise.multiply, elementwise.absolute)
            or len(operands[0][0].shape) < 2
        ):
            continue
        alone = len(operands) == 1 or operands[1][1] is operands[0][1] or np.size(operands[1][0].value) == 1
        if operands[0][1].kind == "leaf" and alone:
            return [_factor(run, node), node.at]
    return []


def _factor(run: WatchedRun, node: TapeValue) -> At | None:
    """Return the line that made the number by which a term of the loss is multiplied; if it has none, of the product."""
    waiting = [node]
    for value in waiting:
        for reader in run.last.readers(value):
            numbers = [u for u, s in run.last.operands(reader) if s.kind == "constant" and np.size(u.value) == 1]
            if numbers and reader.primitive in (elementwise.multiply, elementwise.divide):
                return run.made_use(run.last, numbers[0]) or reader.at
            waiting.append(reader)
    return None


def _decay_lines(run: WatchedRun) -> list[At | None]:
    """Return the line that takes a part of the weights away, and the line in the loop that calls it."""
    made = run.constructor()
    if made is not None:
        value = run.program.argument(made[1], "weight_decay")
        return [run.program.source_line(made[0], value)] if value is not None else []
    for file in run.program.files:
        index = run.program.index(file)
        for node in index.find(ast.AugAssign, lambda n: isinstance(n.op, ast.Mult)):
            if any(isinstance(part, ast.Attribute) and part.attr == "data" for part in ast.walk(node.target)):
                return [(file, node.lineno)]
    leaf = next((node for node in run.last.leaves if not isinstance(node.key, tuple)), None) if run.looks else None
    found = run.in_loop(run.leaf_path(run.last, leaf)) if leaf is not None else None
    updates = [(index.file, node.lineno) for index, node in run.updates()]
    return [found] if found in updates else [*updates[-1:], found]  # the loop may only call what updates


@check("clipping", "arrays calls")
def clipped_weights(run: WatchedRun) -> Iterator[DebugFinding]:
    """Weights that lie at the ends of an interval to which the program clips them."""
    rows = [_at_ends(run, look) for look in run.looks if look.step]
    shares, bounds = [share for share, _ in rows], {bound for _, found in rows for bound in found}
    if len(rows) < 3 or median(shares) <= ENDS or len(set(run.watcher.places)) > 1:
        return  # or one of two networks in turn is clipped, as a critic must be
    for index, call in run.program.calls(np.clip, np.minimum, np.maximum):
        numbers = [
            run.program.value(n) for n in ast.walk(call) if isinstance(n, (ast.Constant, ast.Name, ast.Attribute))
        ]
        own = any(type(n) in (int, float) and np.isclose(abs(n), [*bounds], rtol=1e-5).any() for n in numbers)
        data = [n for n in ast.walk(call) if isinstance(n, ast.Attribute) and n.attr == "data"]
        updates = [node for i, node in run.updates() if i is index and any(part is call for part in ast.walk(node))]
        if own or data or updates:
            facts: dict[str, Any] = {"share": f"{median(shares):.0%}", "limit": f"{ENDS:.0%}"}
            yield run.finding(LIKELY, run.looks[1].step, (index.file, call.lineno), **facts)
            return


def _at_ends(run: WatchedRun, look: FullLook) -> tuple[float, list[float]]:
    """Return the share of the weights that have the largest size of their tensor, if several do, and these sizes."""
    count, size = 0, 0
    bounds: list[float] = []
    for value, _, _ in run.params(look).values():
        largest = float(np.abs(value).max(initial=0.0))
        ends = int((np.abs(np.abs(value) - largest) <= 1e-6 * largest).sum()) if largest else 0
        size += value.size if largest else 0
        if ends > 1:
            count, bounds = count + ends, [*bounds, largest]
    return count / max(size, 1), bounds


@check("equal weights", "arrays")
def equal(run: WatchedRun) -> Iterator[DebugFinding]:
    """Units of a layer, or whole tensors, that were not drawn apart, get equal gradients and stay equal."""
    if not run.looks or run.last.step < 2:
        return
    items, before = list(run.params(run.last).values()), run.params(run.first)
    for value, gradient, node in items:
        if value.ndim == 1 and value.size > 1 and not np.ptp(value) and gradient is not None and np.any(gradient):
            moved = node.key in before and before[node.key].value[0] != value[0]
            if moved and np.ptp(gradient) <= 1e-9 * np.abs(gradient).max():
                facts: dict[str, Any] = {"n": value.size, "name": run.name(run.last, node), "step": run.last.step}
                yield run.finding(SHOWN, run.last.step, *run.made_by(run.last, node), say="vector", **facts)
                return
        if value.ndim == 2 and min(value.shape) > 1 and gradient is not None and np.any(gradient) and np.any(value):
            alike = (np.ptp(gradient, axis=1) <= 1e-9 * np.abs(gradient).max()).all()
            if (np.ptp(value, axis=1) == 0).all() and alike:
                facts = {"n": value.shape[1], "name": run.name(run.last, node), "step": run.last.step}
                yield run.finding(SHOWN, run.last.step, *run.made_by(run.last, node), **facts)
                return
    still = [n for v, g, n in items if v.ndim == 2 and v.size > 1 and g is not None and not np.any(v) and not np.any(g)]
    for node in still:
        if node.key in before and not np.any(before[node.key].value):
            facts = {"name": run.name(run.last, node), "n": len(still), "step": run.last.step}
            yield run.finding(SHOWN, run.first.step, *run.made_by(run.last, node), say="zero", **facts)
            return
