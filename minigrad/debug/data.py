"""Checks of the data and the objective: arrays of the program that meet on the tape, compared without their names."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..rules import elementwise, indexing, linalg, losses, neural, reductions
from ..rules.dropout import dropout
from .finding import LIKELY, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue
from .objective import terms_of
from .program import At, floor_divisions, names_of_target
from .run import FEWEST, JOINS, Given, WatchedRun, index_arrays, is_of, median, names_read, next_token, rowwise
from .shapes import pads

SHIFTS = (1, -1, 2, -2, 3, -3)  # rows
MANY = 100  # rows from which a relation between columns is no chance
EXPLAINED = 0.4  # the share of the targets' variance from which inputs explain them
UNLEARNED = 0.6  # the share of its first value above which a loss has not been learned
MOSTLY = 0.8  # the share of zeros from which a division by // has cut most fractions off
FILLED = (np.zeros, np.empty, np.ones, np.full)
EXACT: dict[Any, Any] = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
LIKE = (np.zeros_like, np.empty_like, np.full_like, np.ones_like)  # their results have the dtype of the argument


def _pairs(run: WatchedRun, look: FullLook, fewest: int = FEWEST) -> Iterator[tuple[Given, Given]]:
    """Yield the inputs and the targets of a step that have the same number of rows."""
    for y in run.targets(look):
        for x in run.inputs(look):
            if len(x.array) == len(y.array) >= fewest and not np.may_share_memory(x.array, y.array):
                yield x, y


@check("leak", "arrays tape")
def leaks(run: WatchedRun) -> Iterator[DebugFinding]:
    """The target is a column of the inputs, or a column in another unit; or it is the input, shifted or not."""
    for look in run.looks[:1]:
        yield from _shifted(run, look)
        for x, y in _pairs(run, look):
            table = x.array.ndim == 2 and x.array.dtype.kind == "f" and y.array.dtype.kind != "b" and np.ptp(y.array)
            target, inside = rowwise(y.array), rowwise(x.array)
            if not table or target.shape[1] >= inside.shape[1] or _is_sliced(look, x) or _derived(run, look, x, y):
                continue
            found = [_column_of(inside, column) for column in target.T]
            if y.array.dtype.kind in "iu" and not all(found):  # labels: one column for each class
                found = [_column_of(inside, (target[:, 0] == c).astype(float)) for c in np.unique(target)]
            columns, exact = sorted({each[0] for each in found if each}), all(each and each[1] for each in found)
            if all(found) and len(columns) < inside.shape[1] and (exact or inside.shape[1] >= 4):
                facts: dict[str, Any] = {
                    "columns": ", ".join(map(str, columns)),
                    "of": inside.shape[1],
                    "rows": len(target),
                }
                places = run.made_use(look, x.use) or x.node.at, y.node.at
                yield run.finding(LIKELY, look.step, *places, say="" if exact else "scaled", **facts)
                return


@check("leak", "arrays tape")
def copies(run: WatchedRun) -> Iterator[DebugFinding]:
    """The target is the input itself, and no layer is narrower than it, so the network can copy it."""
    for look in run.looks[:1]:
        matrices = [node for node in look.leaves if len(node.shape) == 2]
        random = any(node.primitive is dropout for node in look.operations)
        terms = [term for term in terms_of(look) if term.node.operation is not None]
        for x in run.inputs(look):
            same = [y for y in run.targets(look) if np.array_equal(y.array, x.array) and run.is_error(look, y)]
            width = x.array.shape[-1]
            wide = x.array.dtype.kind == "f" and all(min(node.shape) >= width for node in matrices)
            if same and wide and len(matrices) > 1 and width > 1 and len(terms) == 1 and not random:
                facts: dict[str, Any] = {"shape": x.array.shape, "width": min(min(node.shape) for node in matrices)}
                made = run.made_use(look, same[0].use)
                yield run.finding(LIKELY, look.step, same[0].node.at, made, say="copy", **facts)
                return


def _is_sliced(look: FullLook, given: Given) -> bool:
    """Return whether the same line reads several given arrays, as a loop over time does."""
    alike = [n for n, _ in look.given if n.at == given.node.at and n.primitive is given.node.primitive]
    return len(set(alike)) > 1


def _derived(run: WatchedRun, look: FullLook, x: Given, y: Given) -> bool:
    """Return whether the program computes the target from the inputs: the task is then to find that out."""
    inputs, targets = (look.path(g.array) or next(iter(run.tables_of(g.array)), None) for g in (x, y))
    made = run.program.assigned(run.program.index(run.file), targets) if targets and inputs else []
    return any(inputs in names_read(value) for _, value in made)


def _column_of(inside: Any, column: Any) -> tuple[int, bool] | None:
    """Return which column is equal to a target, or is a linear function of it, and whether it is equal."""
    if np.ptp(column) == 0:
        return None
    for i, own in enumerate(inside.T):
        if np.array_equal(own, column):
            return i, True
    spread = inside.std(axis=0) * column.std()
    share = ((inside - inside.mean(axis=0)) * (column - column.mean())[:, None]).mean(axis=0)
    close = np.flatnonzero((spread > 0) & (np.abs(share) > (1 - 1e-6) * spread))
    return (int(close[0]), False) if len(close) else None


def _shifted(run: WatchedRun, look: FullLook) -> Iterator[DebugFinding]:
    """Yield a finding about tokens whose targets are themselves, or run ahead of them by another number than one."""
    ids = {each.array.tobytes() for each in run.inputs(look) if each.array.dtype.kind in "iu" and each.array.ndim == 2}
    for x in run.inputs(look):
        for y in run.targets(look):
            shift = next_token(x.array, y.array)
            if shift == 0 or (shift not in (None, 1) and len(ids) == 1):
                made, say = ([y.node.at, *run.cut(y)], "copy") if shift == 0 else (run.cut(y), "tokens")
                facts: dict[str, Any] = {"kind": "shift", "say": say, "k": shift, "shape": x.array.shape}
                yield run.finding(LIKELY, look.step, *made, run.made_use(look, y.use), y.node.at, **facts)
                return


@check("constant target", "arrays tape")
def constant_targets(run: WatchedRun) -> Iterator[DebugFinding]:
    """All targets of each look are one number: always the same, or one class in each batch, because rows are sorted."""
    rows = [
        (look, y)
        for look in run.looks
        for x, y in _pairs(run, look, FEWEST // 2)
        if y.meets.shape[:1] == (len(y.array),)
    ]
    rows = [(look, y) for look, y in rows if y.array.ndim <= 2]
    if len(run.looks) < 3 or not rows or len(set(run.watcher.places)) > 1 or any(np.ptp(1 * y.array) for _, y in rows):
        return
    look, y = rows[0]  # the others may be 1 - y
    values = [
        float(other.array.flat[0])
        for _, other in rows
        if other.node.source == y.node.source and other.use.argument == y.use.argument
    ]
    made, several = run.history(look, y.use), len(set(values)) > 1
    if made and (not several or np.array_equal(values, np.rint(values))):
        facts: dict[str, Any] = {"value": f"{values[0]:g}", "rows": len(y.array), "looks": len(run.looks)}
        facts["values"] = ", ".join(f"{value:g}" for value in dict.fromkeys(values))
        chosen = [at for at in run.chosen(y) if at is not None] if several else []
        first = [run.program.before(chosen[0])] if chosen else []
        yield run.finding(LIKELY, look.step, *first, *chosen, *made, say="sorted" if several else "", **facts)


@check("shift", "arrays")
def shifted_rows(run: WatchedRun) -> Iterator[DebugFinding]:
    """Targets that the inputs of other rows explain, one to three rows away, and those of their own row do not."""
    for look in run.looks[:1]:
        for x, y in _pairs(run, look):
            pairs = [(run.tables[a], b) for a in run.tables_of(x.array) for b in run.tables.values()]
            rows = next(((a, b) for a, b in pairs if len(a) == len(b) and is_of(b, y.array)), (x.array, y.array))
            inputs, targets = (rowwise(each) for each in rows)
            few = len(inputs) < max(MANY, 4 * inputs.shape[1]) or _is_sliced(look, x)
            if x.array.dtype.kind != "f" or few or not np.ptp(targets):
                continue
            if y.array.dtype.kind in "iu" and targets.shape[1] == 1 and len(np.unique(targets)) < 20:
                targets = (targets == np.unique(targets)).astype(float)
            own, shares = _explained(inputs, targets, 0), {k: _explained(inputs, targets, k) for k in SHIFTS}
            best = max(shares, key=shares.__getitem__)
            if EXPLAINED < shares[best] < 1 - 1e-9 and own < 0.25 * shares[best]:
                facts: dict[str, Any] = {"k": best, "share": f"{shares[best]:.0%}", "own": f"{max(own, 0):.0%}"}
                yield run.finding(LIKELY, look.step, *run.cut(y, inside=False), y.node.at, say="rows", **facts)
                return


def _explained(inputs: Any, targets: Any, shift: int) -> float:
    """Return the share of the targets' variance that a linear function of the inputs of other rows explains, less chance."""
    n = len(inputs) - abs(shift)
    x, y = (inputs[shift:], targets[:n]) if shift >= 0 else (inputs[:n], targets[-shift:])
    x = np.column_stack([x, x * x, np.ones(n)])
    weights, *_ = np.linalg.lstsq(x, y, rcond=None)
    spread = ((y - y.mean(axis=0)) ** 2).sum()
    return float(1 - ((x @ weights - y) ** 2).sum() / spread - x.shape[1] / n) if spread else 0.0


@check("pairs", "arrays calls")
def torn_pairs(run: WatchedRun) -> Iterator[DebugFinding]:
    """Inputs and targets whose rows were put into different orders, while the loss does not fall."""
    losses = np.array(run.watcher.losses)
    quarter = max(1, len(losses) // 4)
    if len(losses) < 20 or not median(losses[-quarter:]) > UNLEARNED * median(losses[:5]) > 0:
        return
    for look in run.looks[:1]:
        for x, y in _pairs(run, look):
            known = (
                np.ptp(1 * x.array)
                and np.ptp(1 * y.array)
                and not np.array_equal(np.ravel(y.array), np.arange(y.array.size))
            )
            one, other = (run.orders(x), run.orders(y)) if known else (None, None)
            if one is None or other is None:
                continue
            apart = [one[key] for key in one.keys() - other.keys()] + [other[key] for key in other.keys() - one.keys()]
            if apart:
                facts: dict[str, Any] = {"n": len(one), "m": len(other), "rows": len(y.array)}
                facts |= {"start": f"{median(losses[:5]):.3g}", "end": f"{median(losses[-quarter:]):.3g}"}
                yield run.finding(LIKELY, look.step, *sorted(set(apart)), y.node.at, **facts)
                return


@check("own statistics", "arrays")
def own_statistics(run: WatchedRun) -> Iterator[DebugFinding]:
    """Two tables without a common row, both with mean 0 and deviation 1: each was scaled by its own numbers."""
    found: dict[str, Any] = {}
    for path, value in {**(run.last.values if run.looks else {}), **run.watcher.globals}.items():
        if isinstance(value, np.ndarray) and value.ndim > 1 and len(value) >= FEWEST and value.dtype.kind == "f":
            table = rowwise(value)
            scaled = _is_scaled(table, 0) or _is_scaled(table, None)
            if scaled and table.shape[1] > 1 and not any(np.shares_memory(value, other) for other in found.values()):
                found[path] = value
    for x in run.inputs(run.first) if len(found) > 1 else ():
        trained = next((path for path in run.tables_of(x.array) if path in found), None)
        others = [p for p, v in found.items() if trained and v.shape[1:] == found[trained].shape[1:] and p != trained]
        for path in others:
            if not np.isin(rowwise(found[path])[:, 0], rowwise(found[trained or path])[:, 0]).any():
                made = run.made(path)
                facts: dict[str, Any] = {"name": path, "rows": len(found[path]), "of": len(found[trained or path])}
                yield run.finding(LIKELY, run.first.step, *run.program.trail[:1], made, **facts)
                return


def _is_scaled(table: Any, axis: int | None) -> bool:
    """Return whether a table, or each of its columns, has mean 0 and deviation 1, more closely than by chance."""
    mean, spread = np.asarray(table.mean(axis=axis)), np.asarray(table.std(axis=axis))
    return bool(np.abs(mean).max(initial=0) < 1e-4 and np.abs(spread - 1).max(initial=0) < 1e-3)


@check("class weight", "arrays tape")
def class_weights(run: WatchedRun) -> Iterator[DebugFinding]:
    """Losses of rows are multiplied by one number for each class, which is larger for the more frequent class."""
    for look in run.looks[-1:]:
        for y in run.targets(look):
            own = np.ravel(y.array)
            classes, counts = np.unique(own, return_counts=True)
            if len(own) < FEWEST or not 2 <= len(classes) <= 20 or not np.array_equal(own, np.rint(own)):
                continue
            factors = [
                (use, node)
                for node, use in look.given
                if node.primitive in (elementwise.multiply, losses.times)
                and use.shape == own.shape
                and not np.array_equal(use.value, y.array)
            ]
            given = sum((np.asarray(use.value, float) for use, _ in factors), np.zeros(len(own)))
            weights = np.array([given[own == c].mean() for c in classes])
            same = all(np.ptp(given[own == c]) == 0 for c in classes)
            grows = same and np.ptp(weights) > 0 and np.corrcoef(counts, weights)[0, 1] > 0.9 and weights.min() > 0
            if grows and counts.max() >= 2 * counts.min():
                most, least = int(counts.argmax()), int(counts.argmin())
                facts: dict[str, Any] = {"most": f"{classes[most]:g}", "n_most": int(counts[most])}
                facts |= {"least": f"{classes[least]:g}", "n_least": int(counts[least])}
                facts |= {"w_most": f"{weights[most]:.3g}", "w_least": f"{weights[least]:.3g}"}
                use, node = factors[0]
                yield run.finding(
                    LIKELY, look.step, _holding(run, weights) or run.made_use(look, use), node.at, **facts
                )
                return


def _holding(run: WatchedRun, weights: Any) -> At | None:
    """Return the line that made the variable with the factors of the classes, or with the one that is not 1."""
    for name, value in run.names.items():
        held = (
            np.ravel(value) if isinstance(value, (float, list, tuple, np.ndarray, np.floating)) else np.zeros(0, object)
        )
        wanted = weights if len(held) == len(weights) else weights[weights != 1]
        if held.dtype.kind == "f" and len(held) == len(wanted) and np.allclose(held, wanted, rtol=1e-5):
            return run.made(name)
    return None


@check("padding", "arrays tape")
def padding(run: WatchedRun) -> Iterator[DebugFinding]:
    """Most of what a mean is taken over is padding: rows of tokens that end with one repeated number."""
    for look in run.looks[:1]:
        ids = [x.array for x in run.inputs(look)] + [y.array for y in run.targets(look)]
        for array in ids:
            share = pads(array)
            if share < 0.5:
                continue
            for node in look.operations:
                shape = look.operands(node)[0][0].shape
                axis = node.keywords.get("axis")
                tokens = shape[:2] == array.shape and (axis in (None, 1, -2) or axis == (0, 1))
                flat = shape[:1] == (array.size,) and (axis is None or axis == 0)
                mean = node.primitive is reductions.mean or node.keywords.get("reduction") == "mean"
                if mean and (tokens or flat) and not _masked(look, node, array.size):
                    facts: dict[str, Any] = {"share": f"{share:.0%}", "shape": array.shape}
                    yield run.finding(LIKELY, look.step, node.at, **facts)
                    return


def _masked(look: FullLook, node: TapeValue, tokens: int) -> bool:
    """Return whether a given array with zeros, one number for each token, is multiplied before a mean or divides after it."""
    waiting, met = [node], set()
    for value in waiting:
        for use, source in look.operands(value):
            zeros = np.size(use.value) == tokens and not np.all(use.value)
            if (
                source.kind == "constant"
                and zeros
                and value.primitive in (elementwise.multiply, indexing.where, elementwise.divide, indexing.getitem)
            ):
                return True
            inner = value.primitive in JOINS or any(other.kind == "leaf" for _, other in look.operands(value))
            if source.id not in met and source.operation is not None and not inner:
                met.add(source.id)
                waiting.append(source)
    return any(
        len(part) < tokens for each in look.operations for part in index_arrays(each)[:1] if part.ndim == 1
    ) and any(
        each.primitive is indexing.getitem for each in look.operations if each.shape[:1] and each.shape[0] < tokens
    )


@check("integers", "arrays tape calls")
def cut_fractions(run: WatchedRun) -> Iterator[DebugFinding]:
    """Whole numbers among inputs or targets, and the division, the array of integers or the cast that cut fractions off."""
    for look in run.looks[:1]:
        for name, value in run.tables.items():
            zero = float((value == 0).mean())
            if zero >= MOSTLY and value.size >= 20 and (value.ndim > 1 or value.dtype.kind == "f"):
                at = run.made(name)
                lines = [line for line in (at, *run.program.trail) if line is not None and _divides(run, line)]
                if lines and (value == np.floor(value)).all():
                    yield run.finding(LIKELY, 0, lines[0], say="division", share=f"{zero:.0%}", name=name)
                    return
        tables = [x for x in run.inputs(look) if x.node.primitive in (linalg.matmul, neural.affine)]
        errors = [y for y in run.targets(look) if run.is_error(look, y)]
        for place, given in enumerate([*tables, *errors]):
            array, is_input = given.array, place < len(tables)
            if array.size < FEWEST or array.dtype.kind not in "iuf" or not (array == np.rint(array)).all():
                continue
            at = _buffer(run) or _cast(run, array)
            kind, zero = ("" if is_input else "targets"), float((array == 0).mean())
            if at is not None:
                facts: dict[str, Any] = {"share": f"{zero:.0%}", "dtype": str(array.dtype), "size": array.size}
                yield run.finding(LIKELY, look.step, at, given.node.at, say=kind, **facts)
                return
            negative = array.dtype.kind in "iu" and array.min() < 0 and np.abs(array).max() < 10 and zero > 0.3
            empty = (
                array.dtype.kind in "iu" and not array.any()
            )  # zeros of a floating dtype may be the first state of a loop
            if is_input and (negative or empty) and not any(x.array.any() for x in tables[:1]):
                facts = {"share": f"{zero:.0%}", "dtype": str(array.dtype), "size": array.size}
                yield run.finding(LIKELY, look.step, run.made_use(look, given.use), given.node.at, **facts)
                return


def _divides(run: WatchedRun, at: At) -> bool:
    """Return whether a line divides by //."""
    index = run.program.index(at[0])
    return any(line == at[1] for each in index.on_line(ast.stmt, at[1]) for line in floor_divisions(each))


def _buffer(run: WatchedRun) -> At | None:
    """Return the line that makes an array of whole numbers into which the program writes fractions."""
    for index, call in run.program.calls(*LIKE, *FILLED):
        if not _of_integers(run, index, call):
            continue
        names = {
            name
            for each in index.around(call)
            if isinstance(each, ast.Assign)
            for name in names_of_target(each.targets[0])
        }
        for write in index.find((ast.Assign, ast.AugAssign)):
            target = write.target if isinstance(write, ast.AugAssign) else write.targets[0]
            stores = isinstance(target, ast.Subscript) and names & set(names_of_target(target))
            if (
                stores
                and index.function_at(write.lineno) is index.function_at(call.lineno)
                and _is_fraction(run, write.value)
            ):
                return index.file, call.lineno
    return None


def _of_integers(run: WatchedRun, index: Any, call: ast.Call) -> bool:
    """Return whether a call makes an array of whole numbers: by its dtype, its number, or the array that it is like."""
    like = run.program.is_one(call.func, *LIKE)
    dtype = run.program.argument(call, "dtype", None if like else 2 if run.program.is_one(call.func, np.full) else 1)
    if dtype is not None:
        kind = run.program.value(dtype)
        return kind is int or (isinstance(kind, type) and issubclass(kind, np.integer))
    filled = run.program.is_one(call.func, np.full) and len(call.args) > 1
    if filled:
        return type(run.program.value(call.args[1])) is int
    given: list[ast.expr | None] = [call.args[0]] if like and call.args else []
    around = index.function_at(call.lineno)
    if given and around is not None and isinstance(given[0], ast.Name):
        given += [index.argument(around, given[0].id, each) for each in index.calls(around.name)]
    values = [run.program.value(each) for each in given if each is not None]
    return any(isinstance(array, np.ndarray) and array.dtype.kind in "iu" for array in values)


def _is_fraction(run: WatchedRun, value: ast.expr) -> bool:
    """Return whether an expression is a quotient by /, or computes with a number or an array that is no whole number."""
    match value:
        case ast.BinOp():
            parts = (value.left, value.right)
            return isinstance(value.op, ast.Div) or any(_is_fraction(run, part) for part in parts)
        case ast.UnaryOp():
            return _is_fraction(run, value.operand)
        case ast.IfExp():
            return _is_fraction(run, value.body) or _is_fraction(run, value.orelse)
        case ast.Subscript():
            return _is_fraction(run, value.value)
        case ast.Constant() | ast.Name() | ast.Attribute():
            held = run.program.value(value)
            fractions = isinstance(held, np.ndarray) and held.dtype.kind == "f" and bool((held != np.rint(held)).any())
            return isinstance(held, float) or fractions
    return False


def _cast(run: WatchedRun, array: Any) -> At | None:
    """Return the line that makes whole numbers of an array with fractions, if the given numbers are among them."""
    for index, call in run.program._calls:
        method = isinstance(call.func, ast.Attribute) and call.func.attr == "astype"
        makes = run.program.is_one(call.func, np.array, np.asarray) and bool(call.args)
        held = run.program.method(call)[0] if method else run.program.value(call.args[0]) if makes else None
        held = np.array(held) if makes and isinstance(held, list) and np.size(held) else held
        dtype = run.program.argument(call, "dtype", 0 if method else 1)
        if isinstance(held, np.ndarray) and held.dtype.kind == "f" and (held != np.rint(held)).mean() > 0.5:
            kind = run.program.value(dtype) if dtype is not None else None
            whole = kind is int or (isinstance(kind, type) and issubclass(kind, np.integer))
            if whole and np.isfinite(held).all() and np.isin(array, np.trunc(held)).all():
                return index.file, call.lineno
    return None


@check("integers", "arrays calls")
def wraps(run: WatchedRun) -> Iterator[DebugFinding]:
    """Sums, differences and products of small whole numbers of the program that leave the range of their dtype."""
    for index in map(run.program.index, run.program.files if run.looks else ()):
        for node in index.find(ast.BinOp, lambda n: type(n.op) in EXACT and not _is_changed(index, n)):  # noqa: B023
            pair = [run.program.array(index, side) for side in (node.left, node.right)]
            if not all(map(_is_whole, pair)) or not any(map(_is_small, pair)):
                continue
            try:
                kept = np.asarray(EXACT[type(node.op)](*pair))
                right = EXACT[type(node.op)](*(np.asarray(a, np.int64) for a in pair))
            except (ValueError, OverflowError):  # the arrays have other shapes now, or no dtype holds the number
                continue
            bad = int((kept != right).sum())
            if bad:
                facts: dict[str, Any] = {"bad": bad, "size": kept.size, "dtype": str(kept.dtype)}
                facts |= {"low": int(right.min()), "high": int(right.max())}
                yield run.finding(SHOWN, 0, (index.file, node.lineno), say="wrap", **facts)
                return


@check("integers", "arrays calls")
def narrow_casts(run: WatchedRun) -> Iterator[DebugFinding]:
    """Casts to a small integer dtype of numbers that it does not hold."""
    for index, call in run.program._calls if run.looks else ():
        method = call.func if isinstance(call.func, ast.Attribute) and call.func.attr == "astype" else None
        kind = run.program.value(call.args[0]) if method is not None and call.args else None
        if method is None or not isinstance(kind, type) or not issubclass(kind, np.integer) or _is_changed(index, call):
            continue
        held = run.program.array(index, method.value)
        if not isinstance(held, np.ndarray) or held.dtype.kind not in "iuf" or not np.isfinite(held).all():
            continue
        bounds = np.iinfo(kind)
        bad = int(((held < bounds.min - 1) | (held > bounds.max + 1)).sum())
        if bad:
            facts: dict[str, Any] = {"bad": bad, "size": held.size, "dtype": kind.__name__}
            facts |= {"low": f"{held.min():.6g}", "high": f"{held.max():.6g}"}
            yield run.finding(SHOWN, 0, (index.file, call.lineno), say="wrap", **facts)
            return


def _is_changed(index: Any, node: ast.expr) -> bool:
    """Return whether a statement gives another value to a name that an expression of it reads."""
    names = names_read(node)
    statements = (each for each in index.around(node) if isinstance(each, (ast.Assign, ast.AugAssign)))
    targets = [t for each in statements for t in getattr(each, "targets", [getattr(each, "target", None)]) if t]
    return any(names & set(names_of_target(target)) for target in targets)


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, or an array of some."""
    return type(value) is int or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iu" and value.size > 0
    )


def _is_small(value: Any) -> bool:
    """Return whether a value is an array, or a number, of whole numbers with fewer than 32 bits."""
    return isinstance(value, (np.ndarray, np.integer)) and value.dtype.itemsize < 4


@check("nonfinite", "arrays calls")
def half(run: WatchedRun) -> Iterator[DebugFinding]:
    """Rows of zeros in the inputs of a program that squares numbers in float16: they were divided by an infinite length."""
    for look in run.looks[:1]:
        for x in run.inputs(look):
            if x.array.ndim != 2 or x.array.dtype.kind != "f" or not float((x.array == 0).all(axis=1).mean()) > 0.05:
                continue
            for file in run.program.files:
                index = run.program.index(file)
                halves = index.find(ast.Attribute, lambda n: run.program.value(n) is np.float16)
                squares = index.find(ast.BinOp, _is_square) if halves else []
                if squares:
                    share = f"{(x.array == 0).all(axis=1).mean():.0%}"
                    at = (file, squares[0].lineno), (file, halves[0].lineno)
                    yield run.finding(LIKELY, look.step, *at, say="half", share=share)
                    return


def _is_square(node: ast.BinOp) -> bool:
    """Return whether a part of the program is ``x * x`` or ``x ** 2``."""
    if isinstance(node.op, ast.Mult):
        return ast.dump(node.left) == ast.dump(node.right)
    return isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value == 2
