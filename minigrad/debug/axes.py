"""Checks of axes: broadcasting that makes a table, a mean that comes too early, the axis of a softmax, and masks."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ..graph.record.model import Edge, Node
from ..source.index import names_in
from .finding import DebugFinding
from .source import assignments, names_of_target
from .watched import Seen, WatchedRun, is_array, line_of

ELEMENTWISE = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "where"}
HIDES = -1e4  # a score below this is hidden by a softmax
TINY = -1e-2  # a number between this and 0 hides no score
BENDS = {"power", "square", "squared_error", "absolute", "log", "multiply", "sqrt", "exp"}


def find_axes(watched: WatchedRun) -> list[DebugFinding]:
    """Return the findings about axes, from the first look."""
    found: list[DebugFinding] = []
    for seen in watched.seen[:1]:
        for node in seen.graph.operations():
            found += _broadcast(watched, seen, node) + _softmax_axis(watched, seen, node)
            if watched.causal:
                found += _future(watched, seen, node)
    means = (_mean_first(watched, seen, node) for seen in watched.seen for node in seen.graph.operations())
    return found + next((mean for mean in means if mean), []) + find_masks(watched)


def _broadcast(watched: WatchedRun, seen: Seen, node: Node) -> list[DebugFinding]:
    """(n, 1) with (n,): one operand comes from the parameters, the other one is given, and neither axis was made on purpose."""
    operands = [(edge, source) for edge, source in seen.operands(node) if source.shape is not None]
    if node.operation not in ELEMENTWISE or len(operands) != 2:
        return []
    for (a, one), (b, other) in (operands, operands[::-1]):
        n = b.shape[0] if len(b.shape) == 1 else 0
        outer = n > 1 and a.shape == (n, 1) and node.shape == (n, n)
        given = (one.operation is None) != (other.operation is None)
        if outer and given and not _made_on_purpose(seen, one):
            what = (
                f"shapes {a.shape} and {b.shape} broadcast to {node.shape}: each of the {n} rows meets all {n} values."
            )
            remedy = "give both the same shape: predictions[:, 0], or targets[:, None]."
            line = [line_of(node)]
            return [
                DebugFinding("broadcast", seen.step, what, remedy, line, certain=True).at(watched.source(node.source))
            ]
    return []


def _made_on_purpose(seen: Seen, node: Node) -> bool:
    return node.operation in ("reshape", "expand_dims") or (node.operation == "getitem" and "None" in node.details)


def _mean_first(watched: WatchedRun, seen: Seen, node: Node) -> list[DebugFinding]:
    """The loss bends a mean over the rows, and depends on the rows in no other way."""
    operands = seen.operands(node)
    if node.operation != "mean" or not operands or not operands[0][0].shape:
        return []
    edge, source = operands[0]
    rows, axis = edge.shape[0], node.keywords.get("axis")
    over_rows = (axis is None and np.prod(edge.shape[1:]) == 1) or axis == 0
    value = edge.value
    if rows < 2 or not over_rows or not isinstance(value, np.ndarray):
        return []
    signs = value.min() < 0 < value.max()
    shares = source.operation == "softmax"
    after = _bend(seen, node)
    if after is None or not (signs or (shares and after.operation == "log")):
        return []
    if _reaches_rows(seen, rows, node):
        return []
    what = f"the mean over {rows} rows is taken before '{after.operation}', so errors of different rows cancel."
    remedy = "compare each row with its own target, and take the mean of the losses last."
    lines = [line_of(node), line_of(after)]
    return [DebugFinding("mean first", seen.step, what, remedy, lines, certain=True).at(watched.source(node.source))]


def _bend(seen: Seen, node: Node) -> Node | None:
    """Return the first operation after a node that is not linear, if each operation between is linear."""
    for edge in seen.out[node.id]:
        target = seen.graph.nodes[edge.target]
        if target.operation in BENDS:
            own = [e.source for e in seen.into[target.id]]
            if target.operation != "multiply" or own.count(node.id) == 2:
                return target
        elif target.operation in ("add", "subtract"):
            found = _bend(seen, target)
            if found is not None:
                return found
    return None


def _reaches_rows(seen: Seen, rows: int, around: Node) -> bool:
    """Return whether the loss depends on a value with one item per row, on a way to a parameter that avoids ``around``."""
    waiting, met = [seen.graph.ends[0][0]], {around.id}
    free = {node.id for _, node, _ in seen.look.leaves}
    for node in seen.graph.operations():
        if node is not around and any(edge.source in free for edge in seen.into[node.id]):
            free.add(node.id)
    for number in waiting:
        if number in met:
            continue
        met.add(number)
        node = seen.graph.nodes[number]
        if number in free and node.shape and node.shape[0] == rows and number != seen.graph.ends[0][0]:
            return True
        waiting += [edge.source for edge in seen.into.get(number, ())]
    return False


# --- Softmax ---


def _softmax_axis(watched: WatchedRun, seen: Seen, node: Node) -> list[DebugFinding]:
    """The weights sum to one along an axis, and a product or an index runs along another one."""
    axis = _normalised(seen, node)
    value = node.value
    if axis is None or not isinstance(value, np.ndarray) or value.ndim < 2:
        return []
    axis %= value.ndim
    for edge in seen.out[node.id]:
        used = _used_axis(seen, edge, value.ndim)
        if used is None or used == axis or value.shape[used] < 2:
            continue
        sums = value.sum(axis=used)
        if np.allclose(sums, 1, atol=1e-3):
            continue
        what = (
            f"the weights sum to 1 along axis {axis} of {value.ndim}, and the next operation runs along axis {used}, where "
            f"the sums are {sums.min():.3g} to {sums.max():.3g}."
        )
        line = [line_of(node), line_of(seen.graph.nodes[edge.target])]
        remedy = f"normalise along axis {used - value.ndim}."
        return [
            DebugFinding("softmax axis", seen.step, what, remedy, line, certain=True).at(watched.source(node.source))
        ]
    return []


def _normalised(seen: Seen, node: Node) -> int | None:
    """Return the axis along which a softmax, or ``e / e.sum(axis)`` with ``e`` = exp, sums to one; None for others."""
    if node.operation in ("softmax", "log_softmax"):
        axis = node.keywords.get("axis", -1)
        return axis if isinstance(axis, int) and node.operation == "softmax" else None
    if node.operation == "divide":
        operands = seen.operands(node)
        if len(operands) == 2 and operands[0][1].operation == "exp" and operands[1][1].operation == "sum":
            axis = operands[1][1].keywords.get("axis")
            return axis if isinstance(axis, int) else None
    return None


def _used_axis(seen: Seen, edge: Edge, ndim: int) -> int | None:
    """Return the axis that a matrix product sums over, or from which an index picks one item per row."""
    target = seen.graph.nodes[edge.target]
    if target.operation == "matmul":
        return ndim - 1 if edge.argument == seen.into[target.id][0].argument else ndim - 2
    if target.operation == "getitem" and ndim == 2:
        index = target.keywords.get("index", target.keywords.get("key"))
        if isinstance(index, tuple) and len(index) == 2 and all(np.ndim(i) == 1 for i in index):
            rows = np.asarray(index[0])
            if np.array_equal(rows, np.arange(len(rows))):
                return 1
    return _entropy_axis(seen, target, ndim) or _weighted_axis(seen, target, ndim)


def _entropy_axis(seen: Seen, node: Node, ndim: int) -> int | None:
    """Return the axis over which a cross-entropy by hand, ``(targets * log(p)).sum(axis)``, sums; None for others."""
    logs = False
    while node.operation in ("add", "log", "multiply", "negative") and len(seen.out[node.id]) == 1:
        logs = logs or node.operation == "log"
        node = seen.graph.nodes[seen.out[node.id][0].target]
    axis = node.keywords.get("axis")
    return axis % ndim if logs and node.operation == "sum" and isinstance(axis, int) else None


def _weighted_axis(seen: Seen, expanded: Node, ndim: int) -> int | None:
    """Return the axis of ``weights`` that ``(weights[..., None] * values).sum(axis)`` sums over."""
    shape = expanded.shape
    if expanded.operation not in ("getitem", "expand_dims", "reshape") or shape is None or len(shape) <= ndim:
        return None
    if any(length != 1 for length in shape[ndim:]):
        return None
    for edge in seen.out[expanded.id]:
        product = seen.graph.nodes[edge.target]
        for after in seen.out[product.id] if product.operation == "multiply" else ():
            total = seen.graph.nodes[after.target]
            axis = total.keywords.get("axis")
            if total.operation == "sum" and isinstance(axis, int) and len(product.shape or ()) == len(shape):
                return axis % len(shape) if axis % len(shape) < ndim else None
    return None


# --- Masks ---


def masks_of(seen: Seen, node: Node) -> list[tuple[Edge, Any]]:
    """Return the masks of an attention, of a ``where`` that writes a large negative number, and of an added -inf."""
    found = []
    for edge, origin in seen.operands(node):
        value = edge.value
        if node.operation == "add" and origin.kind == "constant" and is_array(value) and value.ndim >= 2:
            if np.isneginf(value).any():
                found.append((edge, ~np.isneginf(value)))
            elif _is_too_small(seen, node, value):
                found.append((edge, np.ones(value.shape, bool)))
            continue
        if node.operation == "where":
            others = [e.value for e in seen.into[node.id] if e is not edge and np.size(e.value) == 1]
            if not any(float(np.ravel(other)[0]) < HIDES for other in others):
                continue
        elif node.operation not in ("attention", "masked_softmax", "multiply"):
            continue
        if isinstance(value, np.ndarray) and value.dtype == bool and value.ndim >= 2:
            found.append((edge, value))
    return found


def _is_too_small(seen: Seen, node: Node, added: Any) -> bool:
    """Return whether 0 and one tiny negative number are added to the scores of a softmax, as in ``padding * -1e-9``."""
    least = float(added.min())
    softmax = any(seen.graph.nodes[edge.target].operation == "softmax" for edge in seen.out[node.id])
    return softmax and TINY < least < 0 and bool(((added == 0) | (added == least)).all())


def find_masks(watched: WatchedRun) -> list[DebugFinding]:
    """Return the masks that hide every key of a query, or that hide nothing in any look."""
    found: list[DebugFinding] = []
    nothing: dict[int, tuple[Seen, Node, Edge]] = {}
    something: set[int] = set()
    for seen in watched.seen:
        for node in seen.graph.operations():
            for edge, mask in masks_of(seen, node):
                line = line_of(node)
                rows = ~mask.any(axis=-1)
                if rows.any() and node.operation != "multiply" and line not in something:
                    what = f"the mask hides every key of {int(rows.sum())} of {rows.size} queries."
                    remedy = "True means attend: each query needs at least one key."
                    made = _mask_line(watched, seen, edge, node)
                    lines = [made, _behind(watched, node, made) or line]
                    place = watched.source(node.source)
                    found.append(DebugFinding("mask", seen.step, what, remedy, lines, certain=True).at(place))
                elif mask.all() and min(mask.shape[-2:]) > 1:
                    nothing.setdefault(line, (seen, node, edge))
                else:
                    something.add(line)
    for seen in watched.seen:
        for node in seen.graph.operations():
            for edge in seen.into[node.id] if node.operation == "matmul" else ():
                pools = _pools_evenly(seen, edge)
                if pools is None:
                    continue
                if pools:
                    nothing.setdefault(line_of(node), (seen, node, edge))
                else:
                    something.add(line_of(node))
    for line, (seen, node, edge) in nothing.items():
        if line not in something and len(watched.seen) > 1:
            least = float(np.min(edge.value)) if edge.value is not None else 1.0
            how = f"adds {least:.3g}, which no softmax notices," if TINY < least < 0 else "is True everywhere,"
            what = f"the mask {how} in each of {len(watched.seen)} looks: it hides nothing."
            remedy = "compare it with the tokens that have to be hidden, or leave it out."
            lines = [_mask_line(watched, seen, edge, node), line]
            found.append(DebugFinding("mask", seen.step, what, remedy, lines).at(watched.source(node.source)))
    return found[:2]


def _pools_evenly(seen: Seen, edge: Edge) -> bool | None:
    """Return whether given weights of a mean over tokens, (batch, 1, length), are all equal; None if they are none."""
    value = edge.value
    given = seen.graph.nodes[edge.source].kind == "constant" and isinstance(value, np.ndarray) and value.ndim == 3
    if not given or value.shape[1] != 1 or value.shape[2] < 2 or not np.allclose(value.sum(axis=-1), 1, atol=1e-4):
        return None
    return bool(np.ptp(value) == 0)


def _mask_line(watched: WatchedRun, seen: Seen, edge: Edge, node: Node) -> int:
    """Return the line at which a mask was made: that of the variable which the call, or its callers, name."""
    exact = watched.origin(seen, edge)
    source = watched.source(node.source)
    if exact or source is None:
        return exact
    for place in [node.source, *node.callers]:
        if place is None:
            continue
        for assign in source.find(ast.Assign):
            if assign.lineno >= place.line:
                break
            names = {name for target in assign.targets for name in names_of_target(target)}
            if any(_is_word(name, place.text) for name in names) and _looks_boolean(assign.value):
                return int(assign.lineno)
    return 0


def _behind(watched: WatchedRun, node: Node, line: int) -> int:
    """Return the line of the array of booleans from which ``np.where(visible, 0, -inf)`` made a mask; 0 if there is none."""
    source = watched.source(node.source)
    if source is None:
        return 0
    for assign in source.on_line(ast.Assign, line):
        for name in names_in(assign.value):
            made = [at for at, value in assignments(source, name.id) if at < line and _looks_boolean(value)]
            if made:
                return made[-1]
    return 0


def _looks_boolean(value: Any) -> bool:
    words = {n.attr for n in ast.walk(value) if isinstance(n, ast.Attribute)}
    words |= {name.id for name in names_in(value)}
    logic = (ast.Compare, ast.BitAnd, ast.BitOr, ast.Invert)
    return any(isinstance(n, logic) for n in ast.walk(value)) or bool(words & {"tril", "triu", "bool"})


def _is_word(name: str, text: str) -> bool:
    return any(word == name for word in "".join(c if c.isidentifier() or c.isdigit() else " " for c in text).split())


def _future(watched: WatchedRun, seen: Seen, node: Node) -> list[DebugFinding]:
    """Weights above the diagonal, although the user says that the data are causal."""
    weights = node.value if node.operation in ("softmax", "masked_softmax") else None
    mask: Any = None
    edge = None
    if node.operation == "attention":
        edges = seen.into[node.id]
        query, key = edges[0].shape[-2], edges[1].shape[-2]
        found = masks_of(seen, node)
        if query != key or query < 2:
            return []
        edge, mask = found[0] if found else (None, np.ones((query, key), bool))
        weights = mask
    if not isinstance(weights, np.ndarray) or weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
        return []
    size = weights.shape[-1]
    if size < 2 or (node.operation == "softmax" and not any(
        seen.graph.nodes[e.target].operation == "matmul" for e in seen.out[node.id]
    )):  # fmt: skip
        return []
    ahead = np.broadcast_to(np.triu(np.ones((size, size), bool), 1), weights.shape)
    share = float((np.abs(weights[ahead].astype(float)) > 1e-6).mean())
    if not share:
        return []
    what = f"{share:.0%} of the places after a query's own have weight, although the data are causal."
    remedy = "hide them: causal=True, or a mask np.tril(np.ones((n, n), bool))."
    line = _mask_line(watched, seen, edge, node) if edge is not None else 0
    for _, source in seen.operands(node):
        if node.operation == "softmax" and source.operation == "where":
            line = next((_mask_line(watched, seen, e, source) for e, _ in masks_of(seen, source)), line)
    lines = [line, line_of(node)]
    return [DebugFinding("future", seen.step, what, remedy, lines, certain=True).at(watched.source(node.source))]
