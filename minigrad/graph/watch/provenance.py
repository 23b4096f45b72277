"""``find_nan``: after the fact, the operation that made the first NaN or infinity, why, and what it reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...engine.tensor import Tensor
from ...errors import GraphError
from ...guards.nonfinite import (
    first_bad,
    is_bad,
    is_nan,
    numbers_there,
    operands_there,
    place_of,
    why_backward,
    why_forward,
    worst,
)
from ..draw.looks import in_prose, operand_in_prose
from ..drawing import Drawing
from ..record.capture import capture
from ..record.model import Edge, Graph, Node


@dataclass
class Provenance:
    """Where a NaN or an infinity came from.

    Attributes:
        graph: with ``Node.tainted`` set on everything the first one reached, which drawings shade.
        node: the operation that made it.
        edge: the operand whose derivative it is, if it was made in the backward pass; else None.
        cause: why, in words.
    """

    graph: Drawing
    node: Node
    edge: Edge | None
    cause: str

    def __str__(self) -> str:
        bad = self.node.value if self.edge is None else _of_edge(self.edge)
        what = in_prose(self.node)
        if self.edge is not None:
            what = f"in backward, the derivative of {what} by {operand_in_prose(self.edge, self.graph)}"
        lines = [f"{what} made the first {worst(bad)}: {self.cause}."]
        lines += self._there(first_bad(bad))
        if self.node.source is not None:
            lines.append(f"{self.node.source}: {self.node.source.text}")
        reached = sum(node.tainted for node in self.graph.nodes)
        lines.append(f"It reached {reached} of the {len(self.graph.nodes)} nodes of the graph.")
        return "\n".join(lines)

    def _there(self, bad: Any) -> list[str]:
        """Where the first bad number is, and what it was made from, as far as that is known."""
        operands = {edge.argument: edge for edge in self.graph.edges if edge.target == self.node.id}
        values = {name: edge.value for name, edge in operands.items()}
        if self.edge is not None and not is_bad(self.edge.raw):
            values = {}  # it was summed over broadcast axes
        there = operands_there(
            self.node.primitive,
            bad,
            values,
            lambda name: operand_in_prose(operands[name], self.graph),
            backward=self.edge is not None,
        )
        if bad.ndim:
            return [f"The first is at {list(place_of(bad))}{there}."]
        return [f"It is one number{there}."] if there else []


def find_nan(tensors: Tensor | Sequence[Tensor], params: Any = None) -> Provenance | None:
    """The first operation of a traced computation that made a NaN or an infinity, forward or else backward.

    Forward, that is the first in order of execution whose result is not finite although its operands are (a constant
    infinity, such as the ``-inf`` of a mask, may be among them); backward, the first vector-Jacobian product that is not
    finite although the cotangent that arrived is. ``print(find_nan(loss))`` says it in words, ``find_nan(loss).graph`` draws
    what it reached.

    Returns:
        None if there is nothing but finite numbers.

    Raises:
        GraphError: the computation was not traced; or nothing was found, and not all of it was traced.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([0.0, 4.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = np.sum(np.sqrt(x))
        >>> loss.backward()
        >>> print(mg.find_nan(loss))
        in backward, the derivative of 'np.sqrt(x)' by x made the first inf: the derivative of the square root...
        The first is at [0], where x is 0.0.
        ...: loss = np.sum(np.sqrt(x))
        It reached 1 of the 3 nodes of the graph.
    """
    graph = capture(tensors, params, caller="find_nan")
    if all(node.value is None for node in graph.operations()):
        raise GraphError("find_nan needs the values: compute the tensor inside 'with minigrad.trace():'")
    found = _forward(graph) or _backward(graph)
    untraced = sum(node.value is None for node in graph.operations())
    if found is None and untraced:
        raise GraphError(
            f"find_nan found nothing where it could look, but {untraced} operations were recorded without their values: "
            "compute the tensor, all of it, inside 'with minigrad.trace():'"
        )
    return found


def _forward(graph: Graph) -> Provenance | None:
    into = graph.edges_into()
    for node in graph.operations():
        operands = into[node.id]
        made_here = is_bad(node.value) and not any(
            is_bad(edge.value) and graph.nodes[edge.source].operation is not None for edge in operands
        )
        if made_here and (is_nan(node.value) or not any(is_bad(edge.value) for edge in operands)):
            node.culprit = f"made the first {worst(node.value).replace('inf', '∞')}"
            _spread(graph, node)
            return Provenance(Drawing.of(graph), node, None, _why(graph, node, operands))
    return None


def _why(graph: Graph, node: Node, operands: Sequence[Edge]) -> str:
    bad = first_bad(node.value)
    numbers = numbers_there(node.primitive, bad, {edge.argument: edge.value for edge in operands})
    for edge in operands:
        if is_bad(numbers.get(edge.argument, edge.value)):
            label = graph.nodes[edge.source].label
            what = "a NaN" if is_nan(edge.value) else "an infinity"
            return f"its operand '{label}' already held {what} when this computation began"
    return why_forward(node.operation, numbers, bad)


def _spread(graph: Graph, start: Node) -> None:
    """Mark ``start`` and all operations it leads to whose values are not finite."""
    start.tainted = True
    for edge in sorted(graph.edges, key=lambda edge: edge.target):
        target = graph.nodes[edge.target]
        if graph.nodes[edge.source].tainted and is_bad(target.value):
            target.tainted = True


def _backward(graph: Graph) -> Provenance | None:
    found: Provenance | None = None
    into = graph.edges_into()
    for edge in graph.contributions():
        node, source = graph.nodes[edge.target], graph.nodes[edge.source]
        if not is_bad(edge.contribution):
            continue
        if found is None:
            bad = first_bad(_of_edge(edge))
            values = {e.argument: e.value for e in into[node.id]} | {"ans": node.value, "g": node.cotangent}
            why = why_backward(node.operation, edge.argument, numbers_there(node.primitive, bad, values), bad)
            if not is_bad(edge.raw):
                why = f"its numbers are finite, and their sum over the broadcast axes is too large for {bad.dtype}"
            if is_bad(node.cotangent):
                why = "the gradient that arrived there was not finite already"
            found = Provenance(Drawing.of(graph), node, edge, why)
            node.culprit = f"derivative by {edge.argument}: the first {worst(bad).replace('inf', '∞')}"
        source.tainted = True
    return found


def _of_edge(edge: Edge) -> Any:
    """The derivative as its rule gave it, or else what is not finite once it is summed over broadcast axes."""
    return edge.raw if is_bad(edge.raw) else edge.contribution
