"""Judges the derivative along each edge by finite differences, at the operands of the traced run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...engine.primitive import Primitive
from ...guards.checking import Comparison, judge_all, unclear
from ...guards.differences import AtPoint, double
from .model import Edge, Graph, Node


def comparisons(
    graph: Graph,
    nodes: Iterable[Node] | None = None,
    *,
    seed: int = 0,
    skipped: tuple[type[Exception], ...] = (),
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivative along each edge. The verdict is "unclear" for operations that cannot run again.

    Args:
        nodes: the operations; by default all of the graph.
        skipped: for an operation that raises one of these exceptions, the verdict is "unclear", too. Other exceptions are
            raised. A Function runs the user's code, so any of its exceptions counts.
    """
    rng = np.random.default_rng(seed)
    found = []
    for node in graph.operations if nodes is None else nodes:
        operands = graph.edges_into[node.id]
        if can_be_compared(node, operands):
            try:
                found += compared(node, graph, rng)
                continue
            except Exception as error:
                if node.again is None and not isinstance(error, skipped):
                    raise
        found += [(edge, unclear("left out")) for edge in operands if graph.nodes[edge.source].kind != "constant"]
    return found


def can_be_compared(node: Node, operands: Sequence[Edge]) -> bool:
    """Return whether the operation can run again."""
    again = isinstance(node.primitive, Primitive) or node.again is not None
    return again and bool(operands) and all(e.value is not None for e in operands)


@np.errstate(all="ignore")
def compared(node: Node, graph: Graph, rng: np.random.Generator) -> list[tuple[Edge, Comparison]]:
    """Compare the derivative of one operation with respect to each of its operands, in double precision."""
    operands = graph.edges_into[node.id]
    moved = [edge for edge in operands if graph.nodes[edge.source].kind != "constant"]
    point = AtPoint(run_again(node, operands, moved), [[double(edge.value)] for edge in moved])
    # A Function that draws random numbers, for example, gives another result for the same operands.
    if node.again is not None and not np.array_equal(point.at([None] * len(moved)), point.here, True):
        return [(edge, unclear("unsteady")) for edge in moved]
    return list(zip(moved, judge_all(point, rng)))


def run_again(node: Node, operands: Sequence[Edge], moved: Sequence[Edge]) -> Callable[..., list[Any]]:
    """Return a function that runs an operation again with Tensors in place of its ``moved`` operands. The others stay."""
    names = getattr(node.primitive, "arguments", None) or [edge.argument for edge in operands]
    constants, moving = {edge.argument: edge.value for edge in operands}, [edge.argument for edge in moved]

    def run(*tensors: Any) -> list[Any]:
        given = constants | dict(zip(moving, tensors))
        again = node.again  # of a Function
        outputs = again(given) if again else node.primitive(*map(given.get, names), **node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return [outputs]

    return run
