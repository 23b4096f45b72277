"""Checks of the data and the objective: arrays of the program that meet on the tape, compared without their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from .finding import LIKELY, LOOK, SHOWN, DebugFinding, check
from .look import FullLook, TapeValue
from .program import At, floor_divisions
from .run import Given, WatchedRun, index_arrays, names_read, next_token
from .shapes import pads

FEWEST = 16  # rows from which an equality is no chance
SAME = 1 - 1e-9  # the correlation from which a target is a feature in another unit
BETTER = 0.3  # the share of a target's variance by which another pairing of the rows explains more
SHARE_AGREED = 0.1  # the share of rows with the target of another row up to which two tables agree
MOSTLY = 0.8  # the share of zeros from which a division by // has cut most fractions off
SMALL = (1, 2)  # bytes of the whole numbers that wrap around
LIKE = (np.zeros_like, np.empty_like, np.full_like, np.ones_like)  # their results have the dtype of the argument


def _tables(run: WatchedRun) -> dict[str, Any]:
    """Return the arrays of the program with several rows, at the first look."""
    arrays = {p: v for p, v in run.first.values.items() if isinstance(v, np.ndarray)} if run.looks else {}
    return {p: v for p, v in arrays.items() if v.ndim and len(v) >= FEWEST and v.dtype.kind in "iuf"}


def _columns(array: Any) -> Any:
    return array.reshape(len(array), -1).astype(float)


def _pairs(run: WatchedRun, look: FullLook) -> Iterator[tuple[Given, Given]]:
    """Yield the inputs and the targets of a step that have the same number of rows."""
    for y in run.targets(look):
        for x in run.inputs(look):
            if len(x.array) == len(y.array) >= FEWEST and not np.may_share_memory(x.array, y.array):
                yield x, y


@check("leak", "arrays tape")
def leaks(run: WatchedRun) -> Iterator[DebugFinding]:
    """The target is a column of the inputs, or a column in another unit."""
    for look in run.looks[:1]:
        for x, y in _pairs(run, look):
            if x.array.ndim != 2 or x.array.shape[1] < 2 or x.array.dtype.kind != "f" or y.array.dtype.kind == "b":
                continue
            target, inside = _columns(y.array), _columns(x.array)
            if target.shape[1] >= inside.shape[1] or np.ptp(target) == 0:
                continue
            found = [_column_of(inside, column) for column in target.T]
            if y.array.dtype.kind in "iu" and not all(found):  # labels: one column for each class
                found = [_column_of(inside, (target[:, 0] == c).astype(float)) for c in np.unique(target)]
            if found and all(found):
                columns = sorted({column for column, _ in found if column is not None})  # type: ignore[misc]
                exact = all(equal for _, equal in found)  # type: ignore[misc]
                more = len(columns) < inside.shape[1] and not _is_sliced(look, x) and not _derived(run, look, x, y)
                if more and (exact or inside.shape[1] >= 4):
                    facts: dict[str, Any] = {
                        "columns": ", ".join(map(str, columns)),
                        "of": inside.shape[1],
                        "rows": len(target),
                    }
                    made = run.made_use(look, x.use)
                    yield run.finding(
                        LIKELY, look.step, made or x.node.at, y.node.at, say="" if exact else "scaled", **facts
                    )
                    return


def _is_sliced(look: FullLook, given: Given) -> bool:
    """Return whether the same line reads several given arrays, as a loop over time does."""
    others = [node for node in look.operations if node.at == given.node.at and node.operation == given.node.operation]
    return len(others) > 1 and any(
        source.kind == "constant" for node in others[1:] for _, source in look.operands(node)
    )


def _derived(run: WatchedRun, look: FullLook, x: Given, y: Given) -> bool:
    """Return whether the program computes the target from the inputs: the task is then to find that out."""
    inputs, targets = (run.path_of(look, g.use, g.node) or _table_of(run, g.array) for g in (x, y))
    index = run.program.index(run.file)
    made = run.program.assigned(index, targets) if targets and inputs else []
    return any(inputs in names_read(value) for _, value, _ in made)


def _table_of(run: WatchedRun, batch: Any) -> str | None:
    """Return the array of the program of whose rows a batch consists."""
    return next((path for path, table in _tables(run).items() if _is_of(table, batch)), None)


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


@check("shift", "arrays tape")
def shifts(run: WatchedRun) -> Iterator[DebugFinding]:
    """Targets that are their own inputs, or run ahead of them by another number than one; or rows moved against each other."""
    for look in run.looks[:1]:
        for x in run.inputs(look):
            for y in run.targets(look):
                shift = next_token(x.array, y.array)
                ids = [each for each in run.inputs(look) if each.array.dtype.kind in "iu" and each.array.ndim == 2]
                if shift is not None and shift != 1 and len({each.array.tobytes() for each in ids}) == 1:
                    facts: dict[str, Any] = {"k": shift, "shape": x.array.shape}
                    made = run.made_use(look, y.use) or y.node.at
                    yield run.finding(
                        LIKELY, look.step, made, y.node.at, say="copy" if shift == 0 else "tokens", **facts
                    )
                    return
    tables = _tables(run)
    used = _used(run, tables)
    for a, b in used:
        x, y = _columns(tables[a]), _columns(tables[b])
        if len(x) < 50 or x.shape[1] * 4 > len(x) or np.ptp(y) == 0 or x.shape[1] > 200:
            continue
        here = _explained(x, y)
        for k in (1, -1, 2, -2):
            inputs, targets = (x[k:], y[:-k]) if k > 0 else (x[:k], y[-k:])
            window = any(_column_of(inputs, column) for column in targets.T)  # of a series: its rows overlap
            moved = 0.0 if window else _explained(inputs, targets)
            if moved > here + BETTER and moved > 0.6:
                facts = {
                    "k": k,
                    "here": f"{here:.0%}",
                    "moved": f"{moved:.0%}",
                    "limit": f"{BETTER:.0%}",
                }
                yield run.finding(LIKELY, 0, run.made(b), run.made(a), say="rows", **facts)
                return


def _explained(x: Any, y: Any) -> float:
    """Return the share of the variance of y that a linear function of x explains."""
    table = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    weights, *_ = np.linalg.lstsq(table, y, rcond=None)
    total = float(((y - y.mean(axis=0)) ** 2).sum())
    return 1 - float(((table @ weights - y) ** 2).sum()) / total if total else 0.0


def _used(run: WatchedRun, tables: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the pairs of tables whose rows are the inputs and the targets of the first look."""
    found = []
    for x, y in _pairs(run, run.first) if run.looks else ():
        for a, large in tables.items():
            if large.shape[1:] != x.array.shape[1:] or large.ndim < 2:
                continue
            rows = _places(large, x.array)
            if rows is None:
                continue
            for b, other in tables.items():
                if len(other) == len(large) and a != b and _is_of(other, y.array):
                    found.append((a, b))
    return list(dict.fromkeys(found))


def _is_of(table: Any, batch: Any) -> bool:
    """Return whether each row of a batch is a row of a table."""
    one, other = _columns(table), _columns(batch)
    return one.shape[1] == other.shape[1] and _places(table, batch) is not None


def _places(table: Any, batch: Any) -> Any:
    """Return the first row of a table that equals each row of a batch; None if one has no such row."""
    if table.dtype.kind != batch.dtype.kind or _columns(table).shape[1] != _columns(batch).shape[1]:
        return None
    whole = np.ascontiguousarray(_columns(table).astype(np.float32))
    known: dict[bytes, int] = {}
    for i, row in enumerate(whole):
        known.setdefault(row.tobytes(), i)
    rows = [known.get(row.tobytes()) for row in np.ascontiguousarray(_columns(batch).astype(np.float32))]
    return None if any(row is None for row in rows) else np.array(rows)


@check("pairs", "arrays tape")
def pairs(run: WatchedRun) -> Iterator[DebugFinding]:
    """Rows of a batch whose targets belong to other rows, as two permutations that do not agree make them."""
    tables = _tables(run)
    for look in run.looks[:2]:
        for x, y in _pairs(run, look):
            waiting, met = [(x.array, y.array)], set()
            for inputs, targets in waiting:  # the tables of a batch may be permuted rows of others
                found = [pair for pair in _origins(tables, inputs, targets) if pair[1:] not in met]
                met |= {pair[1:] for pair in found}
                waiting += [(tables[a], tables[b]) for share, a, b in found if share < SHARE_AGREED]
                share, a, b = min(found, default=(0.0, "", ""))
                if share > 0.3:
                    facts: dict[str, Any] = {"share": f"{share:.0%}", "x": a, "y": b, "rows": len(inputs)}
                    line = _indexed(run, y, b) or next((at for at in _reads(run, a, b)), None) or run.made(b)
                    yield run.finding(LIKELY, look.step, line, y.node.at, **facts)
                    return


def _origins(tables: dict[str, Any], inputs: Any, targets: Any) -> list[tuple[float, str, str]]:
    """Return the pairs of tables of whose rows inputs and targets consist, with the share of targets of another row."""
    found = []
    for a, large in tables.items():
        fits = large.ndim > 1 and large.shape[1:] == inputs.shape[1:] and not np.shares_memory(large[:1], inputs)
        rows = _places(large, inputs) if fits and large is not inputs else None
        if rows is None or len(np.unique(rows)) < len(rows) / 2 or np.array_equal(rows, np.arange(len(rows))):
            continue
        for b, other in tables.items():
            if a == b or len(other) != len(large) or other.dtype.kind != targets.dtype.kind or other is targets:
                continue
            mine, theirs = _columns(other)[rows], _columns(targets)
            if mine.shape != theirs.shape or np.ptp(theirs) == 0 or not _is_of(other, targets):
                continue
            share = float((np.abs(mine - theirs).max(axis=1) > 1e-6).mean())
            few = len(np.unique(theirs)) <= len(theirs) / 2
            if share < SHARE_AGREED or not few or _drawn_apart(mine, theirs, share):  # or they are other labels
                found.append((share, a, b))
    return found


def _reads(run: WatchedRun, *paths: str) -> Iterator[At]:
    """Yield the lines that take rows out of all of these tables at once, or out of the last one."""
    index = run.program.index(run.file)
    for assign in index.find(ast.Assign):
        parts = [n for n in ast.walk(assign.value) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)]
        if paths[-1] in [part.value.id for part in parts] and not isinstance(parts[0].slice, ast.Slice):  # type: ignore[attr-defined]
            yield index.file, assign.lineno


def _drawn_apart(mine: Any, theirs: Any, share: float) -> bool:
    """Return whether labels have the numbers of other rows: as many of each, which agree no more often than by chance."""
    classes = np.unique([*mine.ravel(), *theirs.ravel()])
    a, b = (np.array([(labels == c).mean() for c in classes]) for labels in (mine, theirs))
    return bool(np.abs(a - b).max() < 0.25 and share > 0.7 * (1 - (a * b).sum()))


def _indexed(run: WatchedRun, given: Given, path: str) -> At | None:
    """Return the line at which a batch was taken out of a table: the one that reads the table with an index."""
    for place in given.node.places:
        for name in run.program.index(place.file).on_line(ast.Name, place.line):
            if name.id == path:
                return place.file, place.line
    return None


@check("constant target", "arrays tape")
def constant_targets(run: WatchedRun) -> Iterator[DebugFinding]:
    """All targets are one number, in each look, although the program holds them as data."""
    values, first = set(), None
    for look in run.looks:
        for x, y in _pairs(run, look):
            if y.array.ndim <= 2 and x.use is not None and look.nodes[y.meets.id].shape[:1] == (len(y.array),):
                values |= {float(v) for v in np.unique(y.array)[:3]}
                first = first or (look, y)
        if len(values) > 1:
            return
    if first is None or len(run.looks) < 2 or len(set(run.watcher.places)) > 1:
        return
    look, y = first
    path = look.path(y.array) or run._by_columns(look, y.node, y.use)
    if path is not None or run.made_use(look, y.use):
        facts: dict[str, Any] = {"value": f"{values.pop():g}", "rows": len(y.array), "looks": len(run.looks)}
        yield run.finding(LIKELY, look.step, run.made(path) or run.made_use(look, y.use), y.node.at, **facts)


@check("class weight", "arrays tape")
def class_weights(run: WatchedRun) -> Iterator[DebugFinding]:
    """Losses of rows are multiplied by one number for each class, which is larger for the more frequent class."""
    for look in run.looks[-1:]:
        labels = [
            y.array for y in run.targets(look) if y.array.dtype.kind in "iu" or set(np.unique(y.array)) <= {0.0, 1.0}
        ]
        for node in look.operations:
            for use, source in look.operands(node) if node.operation == "multiply" else ():
                given = np.ravel(use.value) if source.kind == "constant" and np.ndim(use.value) else np.zeros(0)
                for y in labels:
                    own = np.ravel(y)
                    if len(given) != len(own) or len(given) < FEWEST or not 2 <= len(np.unique(given)) <= 20:
                        continue
                    classes, counts = np.unique(own, return_counts=True)
                    weights = [np.unique(given[own == c]) for c in classes]
                    if any(len(w) != 1 for w in weights) or len(classes) < 2 or given.min() <= 0:
                        continue
                    numbers = np.array([float(w[0]) for w in weights])
                    if counts.max() >= 2 * counts.min() and np.corrcoef(counts, numbers)[0, 1] > 0.9:
                        most, least = int(counts.argmax()), int(counts.argmin())
                        facts: dict[str, Any] = {
                            "most": f"{classes[most]:g}",
                            "n_most": int(counts[most]),
                            "w_most": f"{numbers[most]:.3g}",
                        }
                        facts |= {"least": f"{classes[least]:g}", "n_least": int(counts[least])}
                        facts["w_least"] = f"{numbers[least]:.3g}"
                        yield run.finding(LIKELY, look.step, run.made_use(look, use), node.at, **facts)
                        return


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
                mean = node.operation == "mean" or node.keywords.get("reduction") == "mean"
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
            if source.kind == "constant" and zeros and value.operation in ("multiply", "where", "divide", "getitem"):
                return True
            if source.id not in met and source.operation is not None:
                met.add(source.id)
                waiting.append(source)
    return any(
        len(part) < tokens for each in look.operations for part in index_arrays(each)[:1] if part.ndim == 1
    ) and any(each.operation == "getitem" for each in look.operations if each.shape[:1] and each.shape[0] < tokens)


@check("statistics", "arrays")
def statistics(run: WatchedRun) -> Iterator[DebugFinding]:
    """Rows that are trained on and rows that are not have mean 0 and deviation 1 together, but not each alone."""
    tables = {p: v for p, v in _tables(run).items() if v.ndim == 2 and v.dtype.kind == "f" and v.shape[1] > 1}
    read = [x.array for x in run.inputs(run.first)] if run.looks else []
    for a, train in tables.items():
        for b, test in tables.items():
            if train is test or train.shape[1] != test.shape[1] or np.may_share_memory(train, test):
                continue
            both = np.concatenate([train, test]).astype(float)
            used = any(_places(train, x) is not None for x in read if x.shape[1:] == train.shape[1:])
            seen = any(_places(test, x) is not None for x in read if x.shape[1:] == test.shape[1:])
            if used and not seen and _is_standard(both) and not _is_standard(train.astype(float)):
                mean = f"{np.abs(train.mean(axis=0)).max():.2g}"
                yield run.finding(LOOK, 0, run.made(a), run.made(b), x=a, y=b, mean=mean)
                return


def _is_standard(table: Any) -> bool:
    return bool(np.abs(table.mean(axis=0)).max() < 1e-5 and np.abs(table.std(axis=0) - 1).max() < 1e-3)


# --- Numbers that a dtype cannot hold ---


@check("wrap", "arrays calls")
def wraps(run: WatchedRun) -> Iterator[DebugFinding]:
    """Whole numbers of one or two bytes whose sum, difference or product is too large for them."""
    operations = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply}
    for file in run.program.files:
        index = run.program.index(file)
        for node in index.find(ast.BinOp, lambda n: type(n.op) in operations):
            sides = [run.program.value(side) for side in (node.left, node.right)]
            small = [
                v for v in sides if isinstance(v, np.ndarray) and v.dtype.kind in "iu" and v.dtype.itemsize in SMALL
            ]
            others = [
                v
                for v in sides
                if isinstance(v, (int, np.integer)) or (isinstance(v, np.ndarray) and v.dtype.kind in "iu")
            ]
            if not small or len(others) < 2:
                continue
            try:
                kind = np.result_type(*(v if isinstance(v, np.ndarray) else type(small[0].flat[0])(0) for v in sides))
                wide = operations[type(node.op)](*(np.asarray(v, np.int64) for v in sides))
            except (ValueError, OverflowError):
                continue
            limits = np.iinfo(kind)
            bad = int(((wide < limits.min) | (wide > limits.max)).sum())
            if bad and kind.itemsize in SMALL:
                yield run.finding(
                    SHOWN, 0, (file, node.lineno), n=bad, size=wide.size, dtype=str(kind), high=int(wide.max())
                )
                return
    tables = list(_tables(run).items())
    for a, wide in tables:
        for b, narrow in tables:
            if narrow.dtype.kind not in "iu" or wide.shape != narrow.shape or narrow.dtype.itemsize not in SMALL:
                continue
            if wide.dtype.kind in "iu" and wide.dtype.itemsize > narrow.dtype.itemsize:
                differ = wide != narrow
                if differ.any() and np.array_equal(wide.astype(narrow.dtype), narrow):
                    facts: dict[str, Any] = {
                        "n": int(differ.sum()),
                        "size": wide.size,
                        "dtype": str(narrow.dtype),
                        "high": int(wide.max()),
                    }
                    yield run.finding(SHOWN, 0, run.made(b), run.made(a), **facts)
                    return


@check("integers", "arrays tape calls")
def cut_fractions(run: WatchedRun) -> Iterator[DebugFinding]:
    """Inputs that are all 0, or nearly all, because // or an array of whole numbers has cut their fractions off."""
    for look in run.looks[:1]:
        for name, value in _tables(run).items():
            zero = float((value == 0).mean())
            if (
                value.size < 20
                or zero < MOSTLY
                or (value != np.floor(value)).any()
                or (value.ndim < 2 and value.dtype.kind != "f")
            ):
                continue
            index = run.program.index(run.file)
            for line, expression, _ in run.program.assigned(index, name):
                if floor_divisions(expression):
                    yield run.finding(LIKELY, 0, (index.file, line), say="division", share=f"{zero:.0%}", name=name)
                    return
        every = [x.array for x in run.inputs(look)]
        empty = bool(every) and not any(array.any() for array in every)  # not the first state of a loop
        for x in run.inputs(look):
            if x.array.size < 20 or x.array.dtype.kind not in "iuf" or x.node.operation not in ("matmul", "affine"):
                continue
            zero = float((x.array == 0).mean())
            buffer = _buffer(run)
            whole = x.array.dtype.kind in "iu" and x.array.min() < 0 and np.abs(x.array).max() < 10 and zero > 0.3
            if empty or whole or (buffer is not None and 0.3 < zero < 1 and (x.array == np.rint(x.array)).all()):
                facts: dict[str, Any] = {"share": f"{zero:.0%}", "dtype": str(x.array.dtype), "size": x.array.size}
                made = buffer or run.made_use(look, x.use)
                yield run.finding(SHOWN if empty and buffer else LIKELY, look.step, made, x.node.at, **facts)
                return
        for y in run.targets(look):
            buffer = _buffer(run)
            if buffer is not None and y.array.size > 20 and not y.array.any():
                facts = {"share": "100%", "dtype": str(y.array.dtype), "size": y.array.size}
                yield run.finding(LIKELY, look.step, buffer, y.node.at, say="targets", **facts)
                return
    lossy = _lossy(run)
    if lossy is not None:
        yield lossy


def _buffer(run: WatchedRun) -> At | None:
    """Return the line that makes an array like one of whole numbers, into which the program writes."""
    for index, call in run.program.calls(*LIKE):
        given = run.program.value(call.args[0]) if call.args and not call.keywords else None
        for function in index.find(ast.FunctionDef) if given is None and call.args else ():
            names = [a.arg for a in function.args.args]
            name = getattr(call.args[0], "id", "")
            if name in names and function in index.around(call):
                place = names.index(name)
                values = [run.program.value(c.args[place]) for c in index.calls(function.name) if len(c.args) > place]
                given = next((v for v in values if isinstance(v, np.ndarray)), None)
        if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
            return index.file, call.lineno
    return None


def _lossy(run: WatchedRun) -> DebugFinding | None:
    """Return the finding about an array that was cast from fractions to whole numbers and enters the tape."""
    tables = _tables(run)
    for x in run.inputs(run.first) + run.targets(run.first) if run.looks else ():
        for b, cast in tables.items():
            if (
                cast.dtype.kind not in "iu"
                or cast.size != x.array.size
                or not (np.ravel(cast) == np.ravel(x.array)).all()
            ):
                continue
            for a, wide in tables.items():
                if wide.dtype.kind == "f" and wide.size == cast.size and np.isfinite(wide).all():
                    wide, cast = np.ravel(wide), np.ravel(cast)
                    differ = wide != cast
                    inside = np.abs(wide).max() < 2 and len(np.unique(cast)) <= 2 and len(np.unique(wide)) > FEWEST
                    if differ.mean() > 0.5 and np.array_equal(np.trunc(wide), cast) and inside:
                        facts: dict[str, Any] = {
                            "share": f"{differ.mean():.0%}",
                            "dtype": str(cast.dtype),
                            "size": cast.size,
                        }
                        return run.finding(LIKELY, 0, run.made(b), run.made(a), say="cast", **facts)
    return None


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
