"""``find_nan`` finds the operation that made the first NaN or infinity, the reason, and the nodes it reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...engine.tensor import Tensor
from ...errors import GraphError
from ...guards import nonfinite
from ...guards.nonfinite import first_bad, is_bad, is_nan, numbers_there, worst
from ..draw.looks import in_prose, operand_in_prose
from ..drawing import Drawing
from ..record.capture import capture
from ..record.culprits import forward_marks, overflowing_sums
from ..record.model import Edge, Graph, Node


@dataclass
class Provenance:
    """The origin of the first NaN or infinity. ``str()`` describes it in words.

    Attributes:
        graph: the graph. ``Node.tainted`` is True for every node that the first one reached; drawings shade these nodes.
        node: the operation that made the first one.
        edge: the operand whose derivative was the first one, if the backward pass made it; None if the forward pass did.
        cause: the reason, in words.
        made: the first array that holds a NaN or an infinity.
    """

    graph: Drawing
    node: Node
    edge: Edge | None
    cause: str
    made: Any = field(repr=False)

    def __str__(self) -> str:
        what = in_prose(self.node)
        if self.edge is not None:
            to = operand_in_prose(self.edge, self.graph)
            what = f"in the backward pass, the derivative of {what} with respect to {to}"
        lines = [f"{what} made the first {worst(self.made)}: {self.cause}."]
        lines += self._there(self.made)
        if self.node.source is not None:
            lines.append(f"{self.node.source}: {self.node.source.text}")
        reached = sum(node.tainted for node in self.graph.nodes)
        lines.append(f"It reached {reached} of the {len(self.graph.nodes)} nodes of the graph.")
        return "\n".join(lines)

    def _there(self, bad: Any) -> list[str]:
        """Return where the first bad element is, and the operands' elements there, as far as they are known."""
        operands = {edge.argument: edge for edge in self.graph.edges if edge.target == self.node.id}
        values = {name: edge.value for name, edge in operands.items()}
        if self.edge is not None and not is_bad(self.edge.raw):
            values = {}  # it was summed over broadcast axes
        backward, named = self.edge is not None, lambda name: operand_in_prose(operands[name], self.graph)
        there = nonfinite.operands_there(self.node.primitive, bad, values, named, backward=backward)
        if bad.ndim:
            return [f"The first is at {list(nonfinite.place_of(bad))}{there}."]
        return [f"It is a single number{there}."] if there else []


def find_nan(tensors: Tensor | Sequence[Tensor], params: Any = None) -> Provenance | None:
    """Return the first operation of a traced computation that made a NaN or an infinity.

    The forward pass is searched first, in order of execution. The operation is the first one whose result is not finite
    although its operands are finite. (A constant may hold an infinity, such as the ``-inf`` of a mask.) If the forward pass
    is finite, the backward pass is searched. There the operation is the first one whose vector-Jacobian product is NaN or
    infinite although the incoming cotangent is finite, or makes the sum of the contributions to a gradient overflow.
    ``print(find_nan(loss))`` describes it in words, and ``find_nan(loss).graph`` draws the nodes that the NaN or infinity
    reached. ``params`` has names for tensors, as in :func:`draw_dot`.

    Returns:
        None if all numbers are finite.

    Raises:
        GraphError: the computation was not traced, or was traced only in part and that part is finite.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> x = mg.Tensor([0.0, 4.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = np.sum(np.sqrt(x))
        >>> loss.backward()
        >>> print(mg.find_nan(loss))
        in the backward pass, the derivative of 'np.sqrt(x)' with respect to x made the first inf: the...
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
            f"find_nan found only finite numbers, but {untraced} operations were recorded without their values: "
            "run the whole computation inside 'with minigrad.trace():'"
        )
    return found


def _forward(graph: Graph) -> Provenance | None:
    marks, into = forward_marks(graph), graph.edges_into()

    def came_from_before(edge: Edge) -> bool:
        source = graph.nodes[edge.source]
        made_bad = source.id in marks or source.value is None  # None: it was not traced
        return is_bad(edge.value) and source.operation is not None and made_bad

    marked = (node for node in graph.operations() if node.id in marks)
    node = next((node for node in marked if not any(map(came_from_before, into[node.id]))), None)
    if node is None:
        return None
    node.culprit = f"made the first {worst(node.value).replace('inf', '∞')}"
    _spread(graph, node)
    why = _why(graph, node, into[node.id])
    return Provenance(Drawing.of(graph), node, None, why, first_bad(node.value))


def _why(graph: Graph, node: Node, operands: Sequence[Edge]) -> str:
    bad = first_bad(node.value)
    numbers = numbers_there(node.primitive, bad, {edge.argument: edge.value for edge in operands})
    for edge in operands:
        if is_bad(numbers.get(edge.argument, edge.value)):
            source, what = graph.nodes[edge.source], "a NaN" if is_nan(edge.value) else "an infinity"
            given = source.operation is None
            held = f"already held {what} when this computation began" if given else f"holds {what}"
            return f"its operand '{source.label}' {held}"
    return nonfinite.why_forward(node.primitive, numbers, bad)


def _spread(graph: Graph, start: Node) -> None:
    """Mark ``start`` and all operations after it that it reaches and whose values are not finite."""
    start.tainted = True
    for edge in sorted(graph.edges, key=lambda edge: edge.target):
        target = graph.nodes[edge.target]
        if graph.nodes[edge.source].tainted and is_bad(target.value):
            target.tainted = True


def _backward(graph: Graph) -> Provenance | None:
    found: Provenance | None = None
    sums = overflowing_sums(graph)
    for edge in graph.contributions():
        summed = sums.get(edge)
        if summed is None and not is_bad(edge.contribution):
            continue
        node, source = graph.nodes[edge.target], graph.nodes[edge.source]
        if found is None:
            made = first_bad(next(array for array in (summed, edge.raw, edge.contribution) if is_bad(array)))
            found = Provenance(Drawing.of(graph), node, edge, _why_backward(graph, edge, made), made)
            text = f"the first {worst(made).replace('inf', '∞')}"
            if summed is None:
                node.culprit = f"derivative for {edge.argument}: {text}"
            else:
                source.culprit = f"sum of its gradient: {text}"
        source.tainted = True
    return found


def _why_backward(graph: Graph, edge: Edge, made: Any) -> str:
    node = graph.nodes[edge.target]
    if not is_bad(edge.contribution):
        others = f"the other contributions to the gradient of '{graph.nodes[edge.source].label}'"
        return f"its numbers are finite, and their sum with {others} is too large for {made.dtype}"
    if is_bad(node.cotangent):
        return "the gradient that arrived there was already not finite"
    if not is_bad(edge.raw):
        return f"its numbers are finite, and their sum over the broadcast axes is too large for {made.dtype}"
    values = {e.argument: e.value for e in graph.edges_into()[node.id]} | {"ans": node.value, "g": node.cotangent}
    return nonfinite.why_backward(node.primitive, edge.argument, numbers_there(node.primitive, made, values), made)
