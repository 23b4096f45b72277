"""Judges the derivative along each edge by finite differences, at the operands of the traced run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """Compare the derivatives of operations. The verdict is "unclear" for those that cannot run again.

    Args:
        nodes: the operations; by default all of the graph.
        skipped: for an operation that raises one of these exceptions, the verdict is "unclear", too. Other exceptions are
            raised. A Function runs the user's code, so any of its exceptions counts.
    """
    into = graph.edges_into
    rng = np.random.default_rng(seed)
    found = []
    for node in graph.operations if nodes is None else nodes:
        if can_be_compared(node, into[node.id]):
            try:
                found += compared(node, into[node.id], graph, rng)
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
    node: Node, operands: Sequence[Edge], graph: Graph, rng: np.random.Generator
) -> list[tuple[Edge, Comparison]]:
    """Compare the derivative of one operation with respect to each of its operands."""
    differentiated = _differentiated(graph, operands)
    again = Again(node, operands, differentiated)
    if node.again is not None and again.is_unsteady():
        return [(edge, unclear("unsteady")) for edge in differentiated]
    return list(zip(differentiated, judge_all(again, rng)))


class Again(AtPoint):
    """An operation as a function of its differentiated operands, in double precision, at and near those of the trace."""

    def __init__(self, node: Node, operands: Sequence[Edge], differentiated: Sequence[Edge]) -> None:
        self._node = node
        self._names = getattr(node.primitive, "arguments", None) or [edge.argument for edge in operands]
        self._constants = {edge.argument: edge.value for edge in operands}
        self._moved = [edge.argument for edge in differentiated]
        super().__init__(self._run, [double(edge.value) for edge in differentiated])

    def _run(self, *values: Any) -> Any:
        given = dict(zip(self._moved, values))
        if self._node.again is not None:  # a Function
            outputs = self._node.again(self._constants | given)
        else:
            arguments = [given.get(name, self._constants.get(name)) for name in self._names]
            outputs = self._node.primitive(*arguments, **self._node.keywords)
        if isinstance(outputs, (tuple, list)):  # integer outputs (a sign, an index) have no derivative
            return [output for output in outputs if output.dtype.kind in "fc"]
        return outputs

    def is_unsteady(self) -> bool:
        """Return whether it gives another result for the same operands, as a Function that draws random numbers does."""
        return not np.array_equal(self.at([None] * len(self.values)), self.here, True)
