"""Checks of single operations: derivatives of one's own, axes, masks, and the last operation before a loss."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .finding import LIKELY, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue, Use
from .program import At, address, names_of_target
from .run import WatchedRun, names_read

ELEMENTWISE = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "where", "squared_error"}
HIDES = -1e4  # a score below this is hidden by a softmax
TINY = -1e-2  # a number between this and 0 hides no score
BENDS = {"power", "square", "squared_error", "absolute", "log", "multiply", "sqrt", "exp"}
REDUCTIONS = ("mean", "sum")
PASSES = ("getitem", "reshape", "transpose", "swapaxes", "squeeze", "expand_dims")  # operations that compute nothing
ENTROPIES = ("softmax", "log_softmax", "cross_entropy")
PADDED = 0.3  # the share of rows that end with one repeated number from which an array counts as padded
FLOOR = 0.2  # the least loss that bounded logits allow, as a share of that of a guess, from which it counts


@check("own rule", "tape arrays")
def own_rules(run: WatchedRun) -> Iterator[DebugFinding]:
    """Derivatives that the program itself declares, compared with finite differences on the operands of this batch."""
    for look in run.looks[:1]:
        declared: dict[Any, TapeValue] = {}
        for node in look.operations:
            line = _declared_at(node.primitive, set(run.program.files))
            if line:
                declared.setdefault((node.operation, line), node)
        if not declared:
            return
        from ..graph.record.derivatives import comparisons  # few programs need it

        chosen = {node.id: at for (_, at), node in declared.items()}
        every = list(look.graph.operations())
        own = {graph.id: node for graph, node in zip(every, look.operations) if node.id in chosen}
        for edge, found in comparisons(look.graph, [g for g in every if g.id in own]):
            if found.verdict == "wrong" and found.numeric != 0:  # 0: a staircase, whose rule may be meant so
                node = own[edge.target]
                facts: dict[str, Any] = {
                    "operation": node.operation,
                    "said": found.said(4),
                    "error": f"{found.error:.2g}",
                }
                facts["factor"] = f"{found.exact / found.numeric:.3g}"
                yield run.finding(SHOWN, look.step, chosen[node.id], node.at, **facts)
                return


def _declared_at(primitive: Any, files: set[str]) -> At | None:
    """Return the line of a rule that the program declares; None for operations of the library."""
    for rule in [*getattr(primitive, "rules", {}).values(), getattr(primitive, "backward", None)]:
        code = getattr(rule, "__code__", None)
        if code is not None and code.co_filename in files:
            lines = [line for _, _, line in code.co_lines() if line is not None]
            return code.co_filename, max(lines, default=code.co_firstlineno)
    return None


# --- Broadcasting and means ---


@check("broadcast", "tape")
def broadcasts(run: WatchedRun) -> Iterator[DebugFinding]:
    """(n, 1) with (n,): one operand comes from the parameters, the other is given, and all of the table is reduced."""
    for look in run.looks[:1]:
        for node in look.operations:
            pair = look.operands(node)
            for (a, one), (b, other) in (pair, pair[::-1]) if node.operation in ELEMENTWISE and len(pair) == 2 else ():
                n = b.shape[0] if len(b.shape) == 1 else 0
                table = n > 1 and a.shape == (n, 1) and (node.shape == (n, n) or not node.shape)
                given = (one.operation is None) != (other.operation is None)
                meant = one.operation in ("reshape", "expand_dims") or _adds_axis(one)
                if table and given and not meant and _only_reduced(look, node):
                    yield run.finding(SHOWN, look.step, node.at, a=a.shape, b=b.shape, n=n)


def _adds_axis(node: TapeValue) -> bool:
    index = node.keywords.get("index", node.keywords.get("key")) if node.operation == "getitem" else ()
    return any(part is None for part in (index if isinstance(index, tuple) else (index,)))


def _only_reduced(look: FullLook, node: TapeValue) -> bool:
    """Return whether all that follows works on each element alone, until everything is summed."""
    while node.shape:
        readers = look.readers(node)
        if not readers:
            return True
        node = readers[0]
        if node.operation in ("matmul", "einsum") or node.keywords.get("axis") is not None:
            return False
    return True


@check("mean first", "tape")
def means_first(run: WatchedRun) -> Iterator[DebugFinding]:
    """The loss bends a mean over the rows, and depends on the rows in no other way."""
    for look in run.looks:
        for node in look.operations if not run.first.step else ():
            operands = look.operands(node)
            if node.operation != "mean" or not operands or not operands[0][0].shape:
                continue
            use, source = operands[0]
            rows, axis, value = use.shape[0], node.keywords.get("axis"), use.value
            over_rows = rows > 1 and ((axis is None and np.prod(use.shape[1:]) == 1) or axis == 0)
            after, partners = _bend(look, node)
            bent = after is not None and over_rows and isinstance(value, np.ndarray)
            if not bent or _reaches_rows(look, rows, node):
                continue
            assert after is not None
            signed = value.min() < 0 < value.max() or (source.operation == "softmax" and after.operation == "log")
            each = any(np.shape(partner)[:1] == (rows,) for partner in partners)
            target = any(s.kind == "constant" and u.shape[:1] == (rows,) for u, s in look.operands(source))
            if signed and (each or target or _is_of_table(run, look)):
                facts: dict[str, Any] = {"rows": rows, "operation": after.operation}
                yield run.finding(SHOWN if each else LIKELY, look.step, node.at, after.at, **facts)
                return


def _is_of_table(run: WatchedRun, look: FullLook) -> bool:
    """Return whether the inputs of a step are rows of an array that the program keeps, and not drawn for the step."""
    tables = [v for v in look.values.values() if isinstance(v, np.ndarray) and v.ndim > 1]
    arrays = [x.array for x in run.inputs(look) if x.array.dtype.kind == "f"]
    return (
        any(
            len(t) >= len(a) and t.shape[1:] == a.shape[1:] and np.isin(a[:8], t).all()
            for a in arrays
            for t in tables
            if not np.shares_memory(a, t) or len(t) > len(a) or t is a
        )
        and len(run.looks) > 1
        and all(
            address(look.values.get(p)) == address(run.last.values.get(p)) for p in [look.path(a) for a in arrays] if p
        )
    )


def _bend(look: FullLook, node: TapeValue) -> tuple[TapeValue | None, list[Any]]:
    """Return the first operation after a node that is not linear, if each one between is, and what they compare it with."""
    for target in look.readers(node):
        others = [use.value for use, source in look.operands(target) if source is not node]
        if target.operation in BENDS:
            if target.operation != "multiply" or not others:
                return target, others
        elif target.operation in ("add", "subtract"):
            found, partners = _bend(look, target)
            if found is not None:
                return found, others + partners
    return None, []


def _reaches_rows(look: FullLook, rows: int, around: TapeValue) -> bool:
    """Return whether the loss depends on a value with one item per row, on a way to a parameter that avoids ``around``."""
    free = {node.id for node in look.leaves}
    for node in look.operations:
        if node is not around and any(source.id in free for _, source in look.operands(node)):
            free.add(node.id)
    end = look.operations[-1]
    waiting, met = [end], {around.id}
    for node in waiting:
        if node.id not in met:
            met.add(node.id)
            if node.id in free and node.shape[:1] == (rows,) and node is not end:
                return True
            waiting += [source for _, source in look.operands(node)]
    return False


# --- Softmax ---


@check("softmax axis", "tape arrays")
def softmax_axes(run: WatchedRun) -> Iterator[DebugFinding]:
    """The weights sum to one along an axis, and a product or an index runs along another one."""
    for look in run.looks[:1]:
        for node in look.operations:
            axis, value = _normalised(look, node), node.value
            if axis is None or not isinstance(value, np.ndarray) or value.ndim < 2:
                continue
            axis %= value.ndim
            for use in look.out[node.id]:
                used = _used_axis(look, use, value.ndim)
                if used in (None, axis) or value.shape[used] < 2:
                    continue
                sums = value.sum(axis=used)
                if not np.allclose(sums, 1, atol=1e-3):
                    facts: dict[str, Any] = {"axis": axis, "ndim": value.ndim, "used": used, "right": used - value.ndim}
                    facts |= {"low": f"{sums.min():.3g}", "high": f"{sums.max():.3g}"}
                    yield run.finding(SHOWN, look.step, node.at, look.nodes[use.target].at, **facts)


def _normalised(look: FullLook, node: TapeValue) -> int | None:
    """Return the axis along which a softmax, or ``e / e.sum(axis)`` with ``e`` = exp, sums to one; None for others."""
    axis = node.keywords.get("axis", -1) if node.operation == "softmax" else None
    if node.operation == "divide":
        operands = look.operands(node)
        if len(operands) == 2 and operands[0][1].operation == "exp" and operands[1][1].operation == "sum":
            axis = operands[1][1].keywords.get("axis")
    return axis if isinstance(axis, int) else None


def _used_axis(look: FullLook, use: Use, ndim: int) -> int | None:
    """Return the axis that a matrix product or a weighted sum runs over, or from which an index picks one item per row."""
    target = look.nodes[use.target]
    if target.operation == "matmul":
        return ndim - 1 if use.argument == look.edges_into()[target.id][0].argument else ndim - 2
    if target.operation == "getitem" and ndim == 2:
        index = target.keywords.get("index", target.keywords.get("key"))
        if isinstance(index, tuple) and len(index) == 2 and all(np.ndim(i) == 1 for i in index):
            rows = np.asarray(index[0])
            return 1 if np.array_equal(rows, np.arange(len(rows))) else None
    logs, node = False, target  # a cross-entropy by hand: (targets * log(p)).sum(axis)
    while node.operation in ("add", "log", "multiply", "negative") and len(look.out[node.id]) == 1:
        logs = logs or node.operation == "log"
        node = look.readers(node)[0]
    axis = node.keywords.get("axis")
    if logs and node.operation == "sum" and isinstance(axis, int):
        return axis % ndim
    if target.operation in PASSES and len(target.shape) > ndim and set(target.shape[ndim:]) == {1}:
        for product in look.readers(target):  # (weights[..., None] * values).sum(axis)
            for total in look.readers(product) if product.operation == "multiply" else ():
                axis = total.keywords.get("axis")
                if total.operation == "sum" and isinstance(axis, int) and len(product.shape) == len(target.shape):
                    return axis % len(target.shape) if axis % len(target.shape) < ndim else None
    return None


@check("softmax twice", "tape arrays")
def softmax_twice(run: WatchedRun) -> Iterator[DebugFinding]:
    """The scores of a softmax are already the result of a softmax, or those of a sigmoid that of a sigmoid."""
    for look in run.looks[:1]:
        for node in look.operations:
            pairs = {"binary_cross_entropy_with_logits": ("sigmoid",)} | dict.fromkeys(ENTROPIES, ("softmax", "divide"))
            use, before = _first_computed(look, node) if node.operation in pairs else (None, None)
            if use is None or before is None or before.operation not in pairs[str(node.operation)]:
                continue
            value = np.asarray(use.value)
            sums = value.ndim and np.allclose(value.sum(axis=-1), 1, atol=1e-4) and value.min() >= 0
            if value.size > 1 and (before.operation == "sigmoid" or (sums and value.shape[-1] > 1)):
                facts: dict[str, Any] = {"operation": node.operation, "before": before.operation, "n": value.shape[-1]}
                facts |= {"low": f"{value.min():.3g}", "high": f"{value.max():.3g}"}
                yield run.finding(SHOWN, look.step, before.at, node.at, **facts)


def _first_computed(look: FullLook, node: TapeValue) -> tuple[Use | None, TapeValue | None]:
    """Return the first operand of an operation, and the operation that computed its numbers."""
    use, before = look.operands(node)[0]
    source: TapeValue | None = before
    while source is not None and source.operation in PASSES:
        source = look.operands(source)[0][1]
    return use, source


@check("bounded logits", "tape arrays")
def bounded_logits(run: WatchedRun) -> Iterator[DebugFinding]:
    """A saturating function or a norm bounds the scores of a cross-entropy, so the loss cannot fall far."""
    for look in run.looks[-1:]:
        for node in look.operations:
            use, before = (
                _first_computed(look, node) if node.operation in ("cross_entropy", "log_softmax") else (None, None)
            )
            value = None if use is None else np.asarray(use.value)
            if value is None or before is None or value.ndim < 2 or value.shape[-1] < 3:
                continue
            bounded = before.operation in ("tanh", "sigmoid", "sin", "cos")
            lengths = np.sqrt((value.astype(float) ** 2).sum(axis=-1))
            unit = before.operation == "divide" and bool(np.allclose(lengths, 1, atol=1e-3))
            unit = unit or (before.operation == "matmul" and _of_unit_length(look, before))
            n, width = value.shape[-1], 1.0 if before.operation == "sigmoid" else 2.0
            floor = math.log(1 + (n - 1) * math.exp(-width))
            if (bounded or unit) and floor > FLOOR * math.log(n):
                facts: dict[str, Any] = {
                    "operation": before.operation,
                    "n": n,
                    "floor": f"{floor:.3g}",
                    "guess": f"{math.log(n):.3g}",
                }
                facts |= {"low": f"{value.min():.3g}", "high": f"{value.max():.3g}"}
                yield run.finding(SHOWN if bounded else LIKELY, look.step, before.at, node.at, **facts)


def _of_unit_length(look: FullLook, node: TapeValue) -> bool:
    """Return whether the rows and the columns that a matrix product multiplies have length 1."""
    (a, _), (b, _) = look.operands(node)
    pairs = ((a.value, -1), (b.value, -2 if np.ndim(b.value) > 1 else 0))
    return all(np.allclose(np.sqrt((np.asarray(v, float) ** 2).sum(axis=axis)), 1, atol=1e-3) for v, axis in pairs)


@check("one class", "tape")
def one_class(run: WatchedRun) -> Iterator[DebugFinding]:
    """A softmax over one score, which is always 1."""
    for look in run.looks[:1]:
        for node in look.operations:
            axis = node.keywords.get("axis", -1)
            shape = look.operands(node)[0][0].shape if node.operation in ENTROPIES else ()
            if shape and isinstance(axis, int) and shape[axis] == 1:
                yield run.finding(SHOWN, look.step, node.at, operation=node.operation, shape=shape)


# --- Masks ---


def masks_of(look: FullLook, node: TapeValue) -> list[tuple[Use, Any]]:
    """Return the masks of an attention, of a ``where`` that writes a large negative number, and of an added -inf."""
    found = []
    for use, source in look.operands(node):
        value = use.value
        if not isinstance(value, np.ndarray) or value.ndim < 2:
            continue
        if node.operation == "add" and source.kind == "constant" and value.dtype.kind == "f":
            if np.isneginf(value).any():
                found.append((use, ~np.isneginf(value)))
            elif _is_too_small(look, node, value):
                found.append((use, np.ones(value.shape, bool)))
            continue
        if node.operation == "where":
            others = [e.value for e, _ in look.operands(node) if e is not use and np.size(e.value) == 1]
            if not any(float(np.ravel(other)[0]) < HIDES for other in others):
                continue
        elif node.operation not in ("attention", "masked_softmax", "multiply"):
            continue
        if value.dtype == bool:
            found.append((use, value))
        elif node.operation == "matmul":
            found.append((use, value > 0))
    return found


def _is_too_small(look: FullLook, node: TapeValue, added: Any) -> bool:
    """Return whether 0 and one tiny negative number are added to the scores of a softmax, as in ``padding * -1e-9``."""
    least = float(added.min())
    softmax = any(reader.operation == "softmax" for reader in look.readers(node))
    return softmax and TINY < least < 0 and bool(((added == 0) | (added == least)).all())


def pads(array: Any) -> float:
    """Return the share of places of (batch, length) whose rows end with two or more of one number; 0 if few rows do."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] < 3:
        return 0.0
    same = np.logical_and.accumulate(
        array[:, ::-1] == array[0, -1]
        if np.ptp(array[:, -1]) == 0
        else array[:, ::-1] == np.bincount(array[:, -1] - array.min()).argmax() + array.min(),
        axis=1,
    )
    ends = same.sum(axis=1)
    return float(ends.sum() / array.size) if (ends >= 2).mean() >= PADDED and np.ptp(ends) else 0.0


@check("mask", "tape arrays")
def masks(run: WatchedRun) -> Iterator[DebugFinding]:
    """A mask hides every key of a query, or hides nothing in any look although there is something to hide."""
    nothing: dict[Any, tuple[FullLook, TapeValue, Use]] = {}
    something: set[Any] = set()
    for look in run.looks:
        for node in look.operations:
            for use, mask in masks_of(look, node):
                rows = ~mask.any(axis=-1)
                if rows.any() and node.operation != "multiply" and node.at not in something:
                    made = _mask_line(run, look, use, node)
                    facts: dict[str, Any] = {"hidden": int(rows.sum()), "rows": rows.size}
                    yield run.finding(SHOWN, look.step, made, _behind(run, made) or node.at, say="all", **facts)
                    return
                square = mask.shape[-1] == mask.shape[-2] or np.size(use.value[use.value != 0]) != use.value.size
                padded = any(pads(x.array) and x.array.shape[0] == mask.shape[0] for x in run.inputs(look))
                padded = padded or _has_lengths(look, mask.shape)
                if mask.all() and min(mask.shape[-2:]) > 1 and (square or padded):
                    nothing.setdefault(node.at, (look, node, use))
                elif not mask.all():
                    something.add(node.at)
            for use in look.edges_into()[node.id] if node.operation == "matmul" else ():
                even = _pools_evenly(look, use)
                if even and any(pads(x.array) for x in run.inputs(look)):
                    nothing.setdefault(node.at, (look, node, use))
                elif even is False:
                    something.add(node.at)
    for at, (look, node, use) in nothing.items():
        if at not in something and len(run.looks) > 1:
            least = float(np.min(use.value))
            say = "tiny" if TINY < least < 0 else "nothing"
            facts = {"least": f"{least:.3g}", "looks": len(run.looks)}
            yield run.finding(LIKELY, look.step, _mask_line(run, look, use, node), at, say=say, **facts)


def _has_lengths(look: FullLook, shape: Sequence[int]) -> bool:
    """Return whether a variable holds a length for each row of a batch: whole numbers from 1 to the number of places."""
    arrays = [
        v for v in look.values.values() if isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.shape == (shape[0],)
    ]
    return any(v.min() >= 1 and v.max() <= shape[-1] and np.ptp(v) > 0 and v.min() < shape[-1] for v in arrays)


def _pools_evenly(look: FullLook, use: Use) -> bool | None:
    """Return whether given weights of a mean over tokens, (batch, 1, length), are all equal; None if they are none."""
    value = use.value
    given = look.nodes[use.source].kind == "constant" and isinstance(value, np.ndarray) and value.ndim == 3
    if not given or value.shape[1] != 1 or value.shape[2] < 2 or not np.allclose(value.sum(axis=-1), 1, atol=1e-4):
        return None
    return bool(np.ptp(value) == 0)


def _mask_line(run: WatchedRun, look: FullLook, use: Use, node: TapeValue) -> At | None:
    """Return the line at which a mask was made: that of the variable which the call, or its callers, name."""
    exact = run.made_use(look, use)
    for place in node.places if exact is None else ():
        index = run.program.index(place.file)
        read = {name.id for name in index.on_line(ast.Name, place.line)}
        for assign in index.find(ast.Assign, lambda n: _looks_boolean(n.value)):
            if assign.lineno < place.line and read & {
                name for target in assign.targets for name in names_of_target(target)
            }:
                return place.file, assign.lineno
    return exact


def _behind(run: WatchedRun, made: At | None) -> At | None:
    """Return the line of the array of booleans from which ``np.where(visible, 0, -inf)`` made a mask."""
    if made is None:
        return None
    index = run.program.index(made[0])
    for assign in index.on_line(ast.Assign, made[1]):
        for name in sorted(names_read(assign.value)):
            lines = [at for at, value, _ in run.program.assigned(index, name) if at < made[1] and _looks_boolean(value)]
            if lines:
                return made[0], lines[-1]
    return None


def _looks_boolean(value: Any) -> bool:
    logic = (ast.Compare, ast.BitAnd, ast.BitOr, ast.Invert)
    words = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)} | names_read(value)
    return any(isinstance(n, logic) for n in ast.walk(value)) or bool(words & {"tril", "triu", "bool"})


@check("future", "tape arrays")
def future(run: WatchedRun) -> Iterator[DebugFinding]:
    """Weights above the diagonal, although no token may depend on a later one."""
    ahead = {x.node.id for x in run.ahead}
    for look in run.looks[:1] if run.by_user or ahead else ():
        others = {x.node.id for x in run.inputs(look) if x.array.dtype.kind in "iu"} - ahead
        for node in look.operations:
            weights, use = _square_weights(look, node)
            reads = _upstream(look, node) if weights is not None else set()
            if weights is None or not (run.by_user or (reads & ahead and not reads & others)):
                continue
            size = weights.shape[-1]
            later = np.broadcast_to(np.triu(np.ones((size, size), bool), 1), weights.shape)
            share = float((np.abs(weights[later].astype(float)) > 1e-6).mean())
            if share:
                made = _mask_line(run, look, use, node) if use is not None else None
                for _, source in look.operands(node):
                    if node.operation == "softmax" and source.operation == "where":
                        made = next((_mask_line(run, look, e, source) for e, _ in masks_of(look, source)), made)
                say = "" if run.by_user else "seen"
                yield run.finding(SHOWN, look.step, made, node.at, say=say, share=f"{share:.0%}")


def _upstream(look: FullLook, node: TapeValue) -> set[int]:
    """Return the operations on which an operation depends."""
    waiting, met = [node], set()
    for value in waiting:
        if value.id not in met:
            met.add(value.id)
            waiting += [source for _, source in look.operands(value)]
    return met


def _square_weights(look: FullLook, node: TapeValue) -> tuple[Any, Use | None]:
    """Return the weights of a self-attention, or its mask; None for other operations."""
    use: Use | None = None
    weights = node.value if node.operation in ("softmax", "masked_softmax") else None
    if node.operation == "attention":
        query, key = (use.shape[-2] for use in look.edges_into()[node.id][:2])
        found = masks_of(look, node)
        if query != key or query < 2:
            return None, None
        use, weights = found[0] if found else (None, np.ones((query, key), bool))
    if not isinstance(weights, np.ndarray) or weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
        return None, None
    if weights.shape[-1] < 2 or (
        node.operation == "softmax" and all(r.operation != "matmul" for r in look.readers(node))
    ):
        return None, None
    return weights, use
