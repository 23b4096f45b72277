"""Checks of units and layers: dead and saturated units, and gradients that grow or shrink from layer to layer."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ..graph.record.model import Node
from ..guards.gradients import Turns
from .finding import DebugFinding
from .run import rate_line
from .watched import Seen, WatchedRun, line_of, rms

DEAD = 0.9  # the share of units that are 0 for each row of the batch
ALIVE = 0.5  # a ReLU with a smaller share of dead units in step 0 was killed by the updates
SATURATED = 0.6  # the share of elements at which an activation is flat, in each of the first looks
ALL_ON_ONE = 0.8  # the share of one-hot rows of a softmax, in each of the first looks
REPEATS = 6  # iterations of a loop, or layers, from which growth is measured
EXPLODES, VANISHES = 1e4, 1e-4  # the ratio of the gradients at the two ends of a loop
PER_TURN = 1.3  # the growth per iteration, or 1 / shrinkage, that counts


def find_units(watched: WatchedRun) -> list[DebugFinding]:
    """Return the findings about activations."""
    found: list[DebugFinding] = []
    by_place: dict[Any, list[tuple[Seen, Node, float]]] = defaultdict(list)
    for seen in watched.seen:
        met: dict[Any, int] = defaultdict(int)
        for number, (kind, share) in seen.health.units.items():
            node = seen.graph.nodes[number]
            place = kind, node.operation, line_of(node)
            by_place[*place, met[place]].append((seen, node, share))
            met[place] += 1
    for (kind, *_), rows in by_place.items():
        found += _judge(watched, kind, rows)
    return found


def _judge(watched: WatchedRun, kind: str, rows: list[tuple[Seen, Node, float]]) -> list[DebugFinding]:
    seen, node, _ = rows[0]
    shares, operation = [share for _, _, share in rows], node.operation
    dead = kind == "dead"
    if dead:
        late = [i for i, share in enumerate(shares) if share >= DEAD]
        if not late or len(late) < min(2, len(shares)) or late[-1] != len(shares) - 1:
            return []
        first = next(i for i in late if min(shares[i:]) >= DEAD)
        seen, node, share = rows[first]
        what = f"{share:.0%} of the ReLU's units are 0 for every row of the batch, so no gradient passes them."
    else:
        early = shares[: max(1, min(4, len(shares)))]
        limit = ALL_ON_ONE if operation == "softmax" else SATURATED
        if min(early) < limit:
            return []
        share = min(early)
        flat = "rows with all weight on one place" if operation == "softmax" else "elements where it is flat"
        what = f"the {operation} is saturated: the share of {flat} is {share:.0%} from the first steps on."
    line, remedy = _why(watched, seen, node)
    if dead and shares[0] < ALIVE:
        line = rate_line(source) if (source := watched.source()) is not None else line
        remedy = (
            f"in step 0 it was {shares[0]:.0%}, so the updates killed them: a smaller learning rate, or scaled targets."
        )
    return [DebugFinding(kind, seen.step, what, remedy, [line, line_of(node)]).at(watched.source(node.source))]


def _why(watched: WatchedRun, seen: Seen, node: Node) -> tuple[int, str]:
    """Return the line of the operand that makes the argument of an activation large, and what to try."""
    before = next((source for edge, source in seen.operands(node) if source.kind != "constant"), None)
    if before is None or before.operation is None:
        return line_of(node), "its argument is too large: scale it."
    size = rms(before.value)
    if node.operation == "softmax":
        for edge, source in seen.operands(before):
            if source.operation is None and np.size(edge.value) == 1:
                line = watched.origin(seen, edge) or line_of(before)
                scale = float(np.ravel(edge.value)[0])
                return line, f"the scores have size {size:.3g} after the factor {scale:.3g}: make them smaller."
        return line_of(before), f"the scores have size {size:.3g}: divide them by the root of their width."
    product, bias = _parts(seen, before)
    if bias is not None and rms(bias.value) > 3 * rms(before.value - bias.value):
        return watched.origin(seen, bias), f"the bias has size {rms(bias.value):.3g} and decides alone: begin with 0."
    for edge, source in product:
        outside = source.operation is None and all(source is not leaf for _, leaf, _ in seen.look.leaves)
        if outside and rms(edge.value) > 5:
            remedy = f"the inputs have size {rms(edge.value):.3g}: scale them to mean 0 and deviation 1."
            return watched.origin(seen, edge), remedy
    for edge, source in product:
        if any(source is leaf for _, leaf, _ in seen.look.leaves) and rms(edge.value) * edge.shape[0] ** 0.5 > 2:
            remedy = f"the weights have size {rms(edge.value):.3g}: draw them with 1 / sqrt({edge.shape[0]})."
            return watched.origin(seen, edge), remedy
    for edge, source in product:
        if any(source is leaf for _, leaf, _ in seen.look.leaves) and (
            np.max(edge.value) <= 0 or np.min(edge.value) >= 0
        ):
            sign = "negative" if np.max(edge.value) <= 0 else "positive"
            return watched.origin(seen, edge), f"no weight has the other sign, all are {sign}: draw them around 0."
    return line_of(before), f"its argument has size {size:.3g}: scale the inputs or the weights."


def _parts(seen: Seen, node: Node) -> tuple[list[Any], Any]:
    """Return the operands of the matrix product that led to a node, and the edge of the bias that was added."""
    if node.operation == "affine":
        operands = seen.operands(node)
        return operands[:2], operands[2][0] if len(operands) > 2 else None
    if node.operation == "matmul":
        return seen.operands(node), None
    if node.operation in ("add", "subtract"):
        products: list[Any] = []
        bias = None
        for edge, source in seen.operands(node):
            if source.operation in ("matmul", "affine", "add"):
                products += _parts(seen, source)[0]
            elif source.operation is None:
                bias = edge
        return products, bias
    return seen.operands(node), None


def find_growth(watched: WatchedRun) -> list[DebugFinding]:
    """Return the loops, or stacks of layers, in which the gradient grows or shrinks by a factor in each iteration."""
    found: list[DebugFinding] = []
    for seen in watched.seen[:2]:
        for turns in seen.health.turns:
            if len(turns.nodes) >= REPEATS and not found:
                found += _growth(watched, seen, turns)
    return found


def _growth(watched: WatchedRun, seen: Seen, turns: Turns) -> list[DebugFinding]:
    ratio, factor, norms = turns.ratio, turns.factor, turns.norms
    explodes = ratio > EXPLODES and factor > PER_TURN
    if not explodes and not (ratio < VANISHES and factor < 1 / PER_TURN):
        return []
    kind = "exploding" if explodes else "vanishing"
    verb = "grows" if explodes else "shrinks"
    what = (
        f"the gradient {verb} by the factor {factor:.3g} per iteration, from {norms[-1]:.3g} at the last of {len(norms)} to "
        f"{norms[0]:.3g} at the first."
    )
    node = turns.nodes[0]
    weight = _weight(watched, seen, turns.nodes)
    remedy = (
        "scale the weights of this loop so that the factor is near 1, or use residuals, normalisation or a gated cell."
    )
    return [DebugFinding(kind, seen.step, what, remedy, [weight, line_of(node)]).at(watched.source(node.source))]


def _weight(watched: WatchedRun, seen: Seen, nodes: list[Node]) -> int:
    """Return the line at which the square matrix that the loop multiplies by was made."""
    lines = {line_of(node) for node in nodes}
    for node in seen.graph.operations():
        if node.operation in ("matmul", "affine") and line_of(node) in lines:
            for edge, source in seen.operands(node):
                square = len(edge.shape) == 2 and edge.shape[0] == edge.shape[1]
                if square and any(source is leaf for _, leaf, _ in seen.look.leaves):
                    return watched.origin(seen, edge)
    return 0
