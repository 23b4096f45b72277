"""Judges the derivative along each edge by finite differences, at the operands of the traced run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...engine.primitive import Primitive
from ...errors import GraphError
from ...guards.differences import FIRST
from ...guards.judging import REASONS, Comparison, judge_all, unclear
from .again import Again
from .model import Edge, Graph, Node


def check_derivatives(graph: Graph, *, step: float = FIRST, seed: int = 0) -> dict[Edge, dict[str, Any]]:
    """Return ``error``, ``uncertainty``, ``verdict`` and ``reason`` of each edge, as ``check_edges`` describes them.

    Raises:
        GraphError: the computation was not traced.
    """
    found = comparisons(graph, step=step, seed=seed)
    if all(comparison.reason == "left out" for _, comparison in found):
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    return {
        edge: {
            "error": comparison.error,
            "uncertainty": comparison.uncertainty,
            "verdict": comparison.verdict,
            "reason": REASONS.get(comparison.reason, ""),
        }
        for edge, comparison in found
    }


def comparisons(
    graph: Graph,
    nodes: Iterable[Node] | None = None,
    *,
    step: float = FIRST,
    seed: int = 0,
    skipped: tuple[type[Exception], ...] = (),
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivatives of operations. The verdict is "unclear" for those that cannot run again.

    Args:
        nodes: the operations; by default all of the graph.
        skipped: for an operation that raises one of these exceptions, the verdict is "unclear", too. Other exceptions are
            raised. A Function runs the user's code, so any of its exceptions counts.
    """
    into = graph.edges_into()
    rng = np.random.default_rng(seed)
    found = []
    for node in graph.operations() if nodes is None else nodes:
        if can_be_compared(node, into[node.id]):
            try:
                found += compared(node, into[node.id], graph, rng, step)
                continue
            except Exception as error:
                if node.again is None and not isinstance(error, skipped):
                    raise
        found += [(edge, unclear("left out")) for edge in _differentiated(graph, into[node.id])]
    return found


def can_be_compared(node: Node, operands: Sequence[Edge]) -> bool:
    """Return whether the operation can run again."""
    again = isinstance(node.primitive, Primitive) or node.again is not None
    return again and bool(operands) and all(e.value is not None for e in operands)


def _differentiated(graph: Graph, operands: Sequence[Edge]) -> list[Edge]:
    return [edge for edge in operands if graph.nodes[edge.source].kind != "constant"]


@np.errstate(all="ignore")
def compared(
    node: Node, operands: list[Edge], graph: Graph, rng: np.random.Generator, step: float = FIRST
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivative of one operation with respect to each of its operands."""
    differentiated = _differentiated(graph, operands)
    again = Again(node, operands, differentiated)
    if again.is_unsteady():
        return [(edge, unclear("unsteady")) for edge in differentiated]
    return list(zip(differentiated, judge_all(again, rng, step=step)))
