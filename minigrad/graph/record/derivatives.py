"""Each edge's own derivative beside a finite difference, on the numbers that its operation ran on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checking import Comparison, compare, double
from ...engine.primitive import Primitive
from ...errors import GraphError
from .model import Edge, Graph, Node

TOLERANCE = 1e-5  # of the relative error


def check_derivatives(graph: Graph, *, step: float = 1e-4, seed: int = 0) -> None:
    """Fill in ``Edge.error``, as ``check_edges`` describes it.

    Raises:
        GraphError: the computation was not traced.
    """
    into = graph.edges_into()
    directions = Directions(seed)
    found = []
    for node in graph.operations():
        if can_be_compared(node, into[node.id]):
            found += compared(node, into[node.id], graph, directions, step)
    if not found:
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    for edge, comparison in found:
        edge.error = math.nan if comparison.kink and comparison.error > TOLERANCE else comparison.error


def can_be_compared(node: Node, operands: Sequence[Edge]) -> bool:
    """Whether the operation can be carried out again."""
    return isinstance(node.primitive, Primitive) and bool(operands) and all(e.value is not None for e in operands)


class Directions:
    """What ``compare`` asks of a random generator. Of numbers the direction is 1: the derivative itself is compared."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def standard_normal(self, size: Any) -> Any:
        drawn = self._rng.standard_normal(size)
        return abs(drawn) if np.size(drawn) == 1 else drawn


def compared(
    node: Node, operands: list[Edge], graph: Graph, directions: Directions, step: float = 1e-4
) -> list[tuple[Edge, Comparison]]:
    """The derivative of one operation by each of its operands along a random direction, by its rule and by differences."""
    names = node.primitive.arguments or [edge.argument for edge in operands]
    by_name = {edge.argument: edge for edge in operands}
    differentiated = [edge for edge in operands if graph.nodes[edge.source].kind != "constant"]

    def run(*values: Any) -> Any:
        given = {edge.argument: value for edge, value in zip(differentiated, values)}
        arguments = [given.get(name, by_name[name].value if name in by_name else None) for name in names]
        outputs = node.primitive(*arguments, **node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return outputs

    with np.errstate(all="ignore"):
        _, comparisons = compare(run, tuple(double(edge.value) for edge in differentiated), step, directions)
    return list(zip(differentiated, comparisons))
