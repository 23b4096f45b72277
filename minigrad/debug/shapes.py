"""Checks of single operations: derivatives of one's own, axes, masks, and the last operation before a loss."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..rules import attention, einsum, elementwise, indexing, linalg, losses, neural, reductions, shaping
from ..rules.about import depends_elementwise, known
from .finding import LIKELY, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue, Use
from .program import At
from .run import WatchedRun, bends
from .variables import address

HIDES = -1e4  # a score below this is hidden by a softmax
WEAK = -5.0  # a score above this, or what is added to one, hides nothing
ADDS = (elementwise.add, elementwise.subtract)
LINEAR = (*ADDS, elementwise.negative, elementwise.multiply, elementwise.divide)
PASSES = (
    indexing.getitem,
    shaping.reshape,
    shaping.transpose,
    shaping.swapaxes,
    shaping.squeeze,
    shaping.expand_dims,
)  # operations that compute nothing
RESHAPES = (indexing.getitem, shaping.reshape, shaping.squeeze, shaping.expand_dims)  # these keep the order of axes
ENTROPIES = (neural.softmax, neural.log_softmax, neural.cross_entropy)
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
        every = look.graph.operations
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
    for look, node in run.begun:
        pair = look.operands(node)
        pointwise = depends_elementwise(node.primitive) or node.primitive is losses.squared_error
        for (a, one), (b, other) in (pair, pair[::-1]) if len(pair) == 2 and pointwise else ():
            n = b.shape[0] if len(b.shape) == 1 else 0
            table = n > 1 and a.shape == (n, 1) and (node.shape == (n, n) or not node.shape)
            given = (one.operation is None) != (other.operation is None)
            meant = one.primitive in (shaping.reshape, shaping.expand_dims) or _adds_axis(one)
            if table and given and not meant and _only_reduced(look, node):
                yield run.finding(SHOWN, look.step, node.at, a=a.shape, b=b.shape, n=n)


def _adds_axis(node: TapeValue) -> bool:
    index = node.keywords.get("index", node.keywords.get("key")) if node.primitive is indexing.getitem else ()
    return any(part is None for part in (index if isinstance(index, tuple) else (index,)))


def _only_reduced(look: FullLook, node: TapeValue) -> bool:
    """Return whether all that follows works on each element alone, until everything is summed."""
    while node.shape:
        readers = look.readers(node)
        if not readers:
            return True
        node = readers[0]
        if node.primitive in (linalg.matmul, einsum.einsum) or node.keywords.get("axis") is not None:
            return False
    return True


@check("mean first", "tape")
def means_first(run: WatchedRun) -> Iterator[DebugFinding]:
    """The loss bends a mean over the rows, and depends on the rows in no other way."""
    for look in run.looks:
        for node in look.operations if not run.first.step else ():
            operands = look.operands(node)
            if node.primitive is not reductions.mean or not operands or not operands[0][0].shape:
                continue
            use, source = operands[0]
            rows, axis, value = use.shape[0], node.keywords.get("axis"), use.value
            over_rows = rows > 1 and ((axis is None and np.prod(use.shape[1:]) == 1) or axis == 0)
            after, partners = _bend(look, node)
            bent = after is not None and over_rows and isinstance(value, np.ndarray)
            if not bent or _reaches_rows(look, rows, node):
                continue
            assert after is not None
            signed = value.min() < 0 < value.max() or (
                source.primitive is neural.softmax and after.primitive is elementwise.log
            )
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
        if bends(look, target, node):
            return target, others
        if target.primitive in (elementwise.add, elementwise.subtract):
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
    """The weights sum to one along an axis, and what is multiplied by them is summed along another one."""
    for look, node in run.begun:
        axis, value = _normalised(look, node), node.value
        if axis is None or not isinstance(value, np.ndarray) or value.ndim < 2:
            continue
        axis %= value.ndim
        value = np.exp(value) if node.primitive in (neural.log_softmax, elementwise.subtract) else value
        products, plain = _summed_axes(look, node)
        if axis in products:
            continue
        for used, reader in products.items():
            sums = value.sum(axis=used)
            if used not in plain and value.shape[used] > 1 and not np.allclose(sums, 1, atol=1e-3):
                facts: dict[str, Any] = {"axis": axis, "ndim": value.ndim, "used": used, "right": used - value.ndim}
                facts |= {"low": f"{sums.min():.3g}", "high": f"{sums.max():.3g}"}
                rows = axis == 0 or reader.primitive in (
                    linalg.matmul,
                    indexing.getitem,
                )  # else rows may be put into groups
                yield run.finding(SHOWN if rows else LIKELY, look.step, node.at, reader.at, **facts)
                break


def _normalised(look: FullLook, node: TapeValue) -> int | None:
    """Return the axis along which a softmax, ``e / e.sum(axis)`` or ``z - logsumexp(z, axis)`` is one; None for others."""
    axis = node.keywords.get("axis", -1) if node.primitive in (neural.softmax, neural.log_softmax) else None
    operands = look.operands(node)
    if node.primitive in (elementwise.divide, elementwise.subtract) and len(operands) == 2:
        (_, above), (_, total) = operands
        total, logs = computed(look, total), node.primitive is elementwise.subtract
        if total.primitive is (reductions.logsumexp if logs else reductions.sum):
            summed = look.operands(total)[0][1]
            if summed is above or (not logs and above.primitive is summed.primitive is elementwise.exp):
                axis = total.keywords.get("axis") if logs or above.primitive is elementwise.exp else None
    return axis if isinstance(axis, int) else None


def _summed_axes(look: FullLook, node: TapeValue) -> tuple[dict[int, TapeValue], set[int]]:
    """Return the axes of a value along which products with it are summed, each with the operation, and those of plain sums.

    An index that picks one item per row counts as a product; if it also picks one per column, both axes are right. A product
    whose every element is summed has no axis, unless the other factor sums to one along an axis, as targets do.
    """
    products: dict[int, TapeValue] = {}
    plain: set[int] = set()
    waiting: list[tuple[TapeValue, list[int], Any]] = [(node, [*range(len(node.shape))], None)]
    for value, axes, factor in waiting:  # axes: of the first value, for each axis of this one, or -1
        for use in look.out[value.id]:
            reader, n = look.nodes[use.target], len(axes)
            given = look.operands(reader)
            first = use.argument == given[0][0].argument
            partner = next((u.value for u, _ in given if u is not use), None)
            if reader.primitive is linalg.matmul:
                products.setdefault(axes[n - 1 if first else n - 2], reader)
            elif reader.primitive is einsum.einsum:
                terms, out = einsum.explicit(reader.keywords["subscripts"], tuple(len(u.shape) for u, _ in given))
                term = next(t for t, (u, _) in zip(terms, given) if u is use)
                for axis in (a for a, letter in zip(axes, term) if letter not in out):
                    products.setdefault(axis, reader)
            elif reader.primitive is elementwise.multiply and partner is not None and np.ndim(partner):
                grown = len(reader.shape) - n
                waiting.append((reader, [-1] * grown + axes, partner))
            elif reader.primitive in (reductions.sum, reductions.mean):
                along = reader.keywords.get("axis")
                if not isinstance(along, int):
                    continue
                place = along % n
                if factor is None:
                    plain.add(axes[place])
                elif not _is_summed(look, reader) or _sums_to_one(factor, value.shape, place):
                    for fits in range(n):  # one target in each row and each column, as of pairs, fits both axes
                        if fits == place or _sums_to_one(factor, value.shape, fits):
                            products.setdefault(axes[fits], reader)
            elif _picks(reader) and n == 2:
                products.setdefault(axes[1], reader)
                if _is_order(reader.keywords["index"][1], value.shape[1]):  # one of each column, too
                    products.setdefault(axes[0], reader)
            elif reader.primitive in RESHAPES and (moved := _same_axes(axes, value.shape, reader.shape)):
                waiting.append((reader, moved, factor))
            elif reader.primitive in (elementwise.add, elementwise.log, elementwise.negative, elementwise.multiply):
                waiting += [(reader, axes, factor)] if reader.shape == value.shape else []
    products.pop(-1, None)
    return products, plain


def _picks(node: TapeValue) -> bool:
    """Return whether an index picks one item of each row."""
    index = node.keywords.get("index") if node.primitive is indexing.getitem else None
    pair = isinstance(index, tuple) and len(index) == 2 and all(np.ndim(i) == 1 for i in index)
    return pair and np.array_equal(index[0], np.arange(len(index[0])))  # type: ignore[index]


def _is_order(places: Any, size: int) -> bool:
    """Return whether an index takes each of the places once."""
    return np.array_equal(np.sort(places), np.arange(size))


def _same_axes(axes: list[int], shape: Sequence[int], after: Sequence[int]) -> list[int] | None:
    """Return the axes of a reshaped value, if only axes of size 1 came or went."""
    old = [(size, axis) for size, axis in zip(shape, axes) if size != 1]
    if [size for size, _ in old] != [size for size in after if size != 1]:
        return None
    kept = iter(old)
    return [next(kept)[1] if size != 1 else -1 for size in after]


def _is_summed(look: FullLook, node: TapeValue) -> bool:
    """Return whether all that follows sums every element, with factors at most."""
    while node.shape:
        readers = look.readers(node)
        if len(readers) != 1 or readers[0].primitive not in (*LINEAR, reductions.sum, reductions.mean):
            return False
        node = readers[0]
    return True


def _sums_to_one(factor: Any, shape: Sequence[int], place: int) -> bool:
    sums = np.broadcast_to(factor, shape).sum(axis=place)
    return bool(np.allclose(sums, 1, atol=1e-3))


def _scores(run: WatchedRun, *entropies: Any) -> Iterator[tuple[FullLook, TapeValue, TapeValue, Any]]:
    """Yield the first look at each of these operations, what computed its first operand, and the operand."""
    for look, node in run.begun:
        if node.primitive in entropies:
            use, before = look.operands(node)[0]
            yield look, node, computed(look, before), np.asarray(use.value)


@check("softmax twice", "tape arrays")
def softmax_twice(run: WatchedRun) -> Iterator[DebugFinding]:
    """The scores of a softmax are already the result of a softmax, or those of a sigmoid that of a sigmoid."""
    for look, node, before, value in _scores(run, *ENTROPIES, losses.binary_cross_entropy_with_logits):
        twice = node.primitive is losses.binary_cross_entropy_with_logits and before.primitive is neural.sigmoid
        if node.primitive in ENTROPIES and before.primitive in (neural.softmax, elementwise.divide):
            sums = value.ndim and np.allclose(value.sum(axis=-1), 1, atol=1e-4) and value.min() >= 0
            twice = bool(sums and value.shape[-1] > 1)
        if twice and value.size > 1:
            facts: dict[str, Any] = {"operation": node.operation, "before": before.operation, "n": value.shape[-1]}
            facts |= {"low": f"{value.min():.3g}", "high": f"{value.max():.3g}"}
            yield run.finding(SHOWN, look.step, before.at, node.at, **facts)


def computed(look: FullLook, node: TapeValue) -> TapeValue:
    """Return the operation that computed the numbers of a value."""
    while node.primitive in PASSES:
        node = look.operands(node)[0][1]
    return node


@check("bounded logits", "tape arrays")
def bounded_logits(run: WatchedRun) -> Iterator[DebugFinding]:
    """A saturating function or a norm bounds the scores of a cross-entropy, so the loss cannot fall far."""
    for look, node, before, value in _scores(run, neural.cross_entropy, neural.log_softmax):
        if value.ndim < 2 or value.shape[-1] < 3 or before.primitive is neural.softmax:
            continue
        low, high = known(before.primitive).bounds or (0, np.inf)
        lengths = np.sqrt((value.astype(float) ** 2).sum(axis=-1))
        unit = before.primitive is elementwise.divide and bool(np.allclose(lengths, 1, atol=1e-3))
        unit = unit or (before.primitive is linalg.matmul and _of_unit_length(look, before))
        n, width = value.shape[-1], 2.0 if unit else high - low
        floor = math.log(1 + (n - 1) * math.exp(-width))
        if floor > FLOOR * math.log(n):
            facts: dict[str, Any] = {"operation": before.operation, "n": n, "floor": f"{floor:.3g}"}
            facts |= {"guess": f"{math.log(n):.3g}", "low": f"{value.min():.3g}", "high": f"{value.max():.3g}"}
            yield run.finding(LIKELY if unit else SHOWN, look.step, before.at, node.at, **facts)


def _of_unit_length(look: FullLook, node: TapeValue) -> bool:
    """Return whether the rows and the columns that a matrix product multiplies have length 1."""
    (a, _), (b, _) = look.operands(node)
    pairs = ((a.value, -1), (b.value, -2 if np.ndim(b.value) > 1 else 0))
    return all(np.allclose(np.sqrt((np.asarray(v, float) ** 2).sum(axis=axis)), 1, atol=1e-3) for v, axis in pairs)


# --- Masks ---


def masks_of(look: FullLook, node: TapeValue) -> list[tuple[Use, Any, float | None]]:
    """Return the masks of an attention, and of the scores of a softmax, each with the score of what it hides if that is weak.

    A mask of scores chooses them by ``where``, is added to them, or multiplies them. It hides a place only if the score there
    becomes large and negative; otherwise it is True everywhere here.
    """
    found: list[tuple[Use, Any, float | None]] = []
    attends = node.primitive is attention.scaled_dot_product_attention
    scores = attends or any(reader.primitive is neural.softmax for reader in _readers_behind(look, node))
    for place, (use, source) in enumerate(look.operands(node)):
        value, others = use.value, [e.value for e, _ in look.operands(node) if e is not use]
        if not isinstance(value, np.ndarray) or not value.ndim or value.size < 2:
            continue
        shape = value.shape if attends else node.shape
        if (attends or node.primitive is elementwise.multiply) and value.dtype == bool and value.ndim > 1:
            weak = 0.0 if scores and not attends and not value.all() else None  # a score of 0 is not hidden
            found.append((use, value if weak is None else np.ones(shape, bool), weak))
        elif node.primitive is indexing.where and value.dtype == bool:
            low = min((float(np.ravel(other)[0]) for other in others if np.size(other) == 1), default=np.inf)
            if low < HIDES:
                found.append((use, np.broadcast_to(value, shape), None))
            elif scores and WEAK < low <= 0:
                found.append((use, np.ones(shape, bool), low))
        elif node.primitive is elementwise.multiply and source.kind == "constant" and not scores:
            if value.ndim > 1 and np.all(value == 1):
                found.append(
                    (use, np.ones([n for n in shape if n > 1] if value.shape[-1] > 1 else shape[:-1], bool), None)
                )
        elif (
            source.kind == "constant"
            and (scores or np.isinf(value).any())
            and (place > 2 if attends else node.primitive in (*ADDS, elementwise.multiply))
        ):
            given = -value.astype(float) if node.primitive is elementwise.subtract else value.astype(float)
            other = given.ravel()[given.ravel() != 0][:1].sum()  # than 0
            two = bool(((given == 0) | (given == other)).all())
            if node.primitive is elementwise.multiply:
                if two and other == 1 and not given.all():
                    found.append((use, np.ones(shape, bool), 0.0))
            elif np.isneginf(given).any():
                found.append((use, np.broadcast_to(~np.isneginf(given), shape), None))
            elif two and abs(other) < -WEAK:
                found.append((use, np.ones(shape, bool), float(other) or None))
    return found


def _readers_behind(look: FullLook, node: TapeValue) -> list[TapeValue]:
    """Return what reads a value, through operations that compute nothing, scale it, or add an array to it."""
    waiting = look.readers(node)
    for reader in waiting:
        alone = sum(source.operation is not None for _, source in look.operands(reader)) == 1
        if reader.primitive in PASSES or (
            alone and reader.primitive in (*ADDS, elementwise.multiply, elementwise.divide)
        ):
            waiting += look.readers(reader)
    return waiting


def pads(array: Any) -> float:
    """Return the share of places of (batch, length) whose rows end with two or more of one number that is rare elsewhere.

    It is 0 if few rows end so.
    """
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu" or array.shape[1] < 3:
        return 0.0
    filled = array == np.bincount(array[:, -1] - array.min()).argmax() + array.min()
    ends = np.logical_and.accumulate(filled[:, ::-1], axis=1).sum(axis=1)
    padded = (ends >= 2).mean() >= PADDED and np.ptp(ends) and filled.sum() < 1.1 * ends.sum()
    return float(ends.sum() / array.size) if padded else 0.0


@check("mask", "tape arrays")
def masks(run: WatchedRun) -> Iterator[DebugFinding]:
    """A mask hides every key of a query, or hides nothing in any look although there is something to hide."""
    nothing: dict[Any, tuple[FullLook, TapeValue, Use, float | None]] = {}
    something: set[Any] = set()
    for look in run.looks:
        for node in look.operations:
            for use, mask, weak in masks_of(look, node):
                rows = ~mask.any(axis=-1)
                if rows.any() and node.primitive is not elementwise.multiply and node.at not in something:
                    made = _mask_line(run, look, use)
                    facts: dict[str, Any] = {"hidden": int(rows.sum()), "rows": rows.size}
                    yield run.finding(SHOWN, look.step, made, _behind(run, made) or node.at, say="all", **facts)
                    return
                if not mask.all():
                    something.add(node.at)
                elif mask.ndim > 1 and (
                    mask.shape[-1] == mask.shape[-2] or weak is not None or _may_hide(run, look, mask.shape)
                ):
                    nothing.setdefault(node.at, (look, node, use, weak))
            for use in look.edges_into[node.id] if node.primitive is linalg.matmul else ():
                even = _pools_evenly(look, use)
                if even and any(pads(x.array) for x in run.inputs(look)):
                    nothing.setdefault(node.at, (look, node, use, None))
                elif even is False:
                    something.add(node.at)
    for at, (look, _, use, weak) in nothing.items():
        if at not in something and len(run.looks) > 1:
            facts = {"least": f"{weak or 0:.3g}", "looks": len(run.looks)}
            say = "nothing" if weak is None else "tiny"
            yield run.finding(LIKELY, look.step, _mask_line(run, look, use), at, say=say, **facts)


def _may_hide(run: WatchedRun, look: FullLook, shape: tuple[int, ...]) -> bool:
    """Return whether there are places to hide: rows that end with padding, lengths of rows, or NaN."""
    ends = any(pads(x.array) and x.array.shape[0] == shape[0] for x in run.inputs(look))
    return ends or _has_lengths(look, shape) or _has_gaps(look, shape)


def _has_lengths(look: FullLook, shape: Sequence[int]) -> bool:
    """Return whether a variable holds a length for each row of a table, or a batch: whole numbers from 1 to the places."""
    tables = [v for v in look.values.values() if isinstance(v, np.ndarray)]
    rows = {shape[0], *(len(v) for v in tables if v.shape[1:2] == shape[-1:])}
    arrays = [v for v in tables if v.dtype.kind in "iu" and v.ndim == 1 and len(v) in rows]
    return any(v.min() >= 1 and v.max() <= shape[-1] and np.ptp(v) > 0 and v.min() < shape[-1] for v in arrays)


def _has_gaps(look: FullLook, shape: Sequence[int]) -> bool:
    """Return whether a variable of the shape of a mask holds NaN, which the mask should hide."""
    tables = [v for v in look.values.values() if isinstance(v, np.ndarray) and v.shape == shape and v.dtype.kind == "f"]
    return any(np.isnan(v).any() for v in tables)


def _pools_evenly(look: FullLook, use: Use) -> bool | None:
    """Return whether given weights of a mean over tokens, (batch, 1, length), are all equal; None if they are none."""
    value = use.value
    given = look.nodes[use.source].kind == "constant" and isinstance(value, np.ndarray) and value.ndim == 3
    if not given or value.shape[1] != 1 or value.shape[2] < 2 or not np.allclose(value.sum(axis=-1), 1, atol=1e-4):
        return None
    return bool(np.ptp(value) == 0)


def _mask_line(run: WatchedRun, look: FullLook, use: Use) -> At | None:
    """Return the line at which a mask was made."""
    return run.made_use(look, use, last=True)


def _behind(run: WatchedRun, made: At | None) -> At | None:
    """Return the line of the array of booleans from which ``np.where(visible, 0, -inf)`` made a mask."""
    if made is None:
        return None
    index = run.program.index(made[0])
    for assign in index.on_line(ast.Assign, made[1]):
        for call in (n for n in ast.walk(assign.value) if isinstance(n, ast.Call) and n.args):
            if run.program.is_one(call.func, np.where) and isinstance(call.args[0], ast.Name):
                return run.program.source_line(index, call.args[0])
    return None


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
                made = _mask_line(run, look, use) if use is not None else None
                for _, source in look.operands(node):
                    if node.primitive is neural.softmax and source.primitive is indexing.where:
                        made = next((_mask_line(run, look, e) for e, _, _ in masks_of(look, source)), made)
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
    weights = node.value if node.primitive is neural.softmax else None
    if node.primitive is attention.scaled_dot_product_attention:
        query, key = (use.shape[-2] for use in look.edges_into[node.id][:2])
        found = masks_of(look, node)
        if query != key or query < 2:
            return None, None
        use, weights = found[0][:2] if found else (None, np.ones((query, key), bool))
    if not isinstance(weights, np.ndarray) or weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
        return None, None
    if weights.shape[-1] < 2 or (
        node.primitive is neural.softmax and all(r.primitive is not linalg.matmul for r in look.readers(node))
    ):
        return None, None
    return weights, use
