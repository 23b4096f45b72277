"""``find_nan`` finds the operation that made the first NaN or infinity, the reason, and the nodes it reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...engine.tensor import Tensor
from ...errors import GraphError
from ...guards.origin import Origin, bad_contributions, first_nonfinite, is_bad
from ..draw.looks import in_prose
from ..drawing import Drawing
from ..record.capture import capture
from ..record.model import Edge, Graph, Node


@dataclass
class Provenance:
    """The origin of the first NaN or infinity. ``str()`` describes it in words.

    Attributes:
        graph: the graph. ``tainted`` is True for every node that the first one reached; drawings shade these nodes.
        node: the operation that made the first one.
        edge: the operand whose derivative was the first one, if the backward pass made it; None if the forward pass did.
        cause: the reason, in words.
        origin: the result of the search.
    """

    graph: Drawing
    node: Node
    edge: Edge | None
    cause: str
    origin: Origin = field(repr=False)

    def __str__(self) -> str:
        lines = self.origin.sentences(in_prose(self.node))
        if self.node.source is not None:
            lines.append(f"{self.node.source}: {self.node.source.text}")
        reached = sum(node.tainted for node in self.graph.nodes)
        lines.append(f"It reached {reached} of the {len(self.graph.nodes)} nodes of the graph.")
        return "\n".join(lines)


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
        1 of 2 elements is not finite, at [0], where x is 0.0.
        ...: loss = np.sum(np.sqrt(x))
        It reached 1 of the 3 nodes of the graph.
    """
    graph = capture(tensors, params, caller="find_nan")
    origin = first_nonfinite(graph)
    if origin is not None:
        return _provenance(graph, origin)
    untraced = sum(node.value is None for node in graph.operations)
    if untraced:
        have = "1 operation has" if untraced == 1 else f"{untraced} operations have"
        raise GraphError(
            f"find_nan found no NaN or infinity in the recorded values, but {have} none: compute the tensor inside "
            "'with minigrad.trace():'"
        )
    return None


def _provenance(graph: Graph, origin: Origin) -> Provenance:
    """Return the origin, and a drawing that marks it and the nodes that it reached."""
    node, edge = origin.node, origin.edge
    made = f"the first {origin.number.replace('inf', '∞')}"
    said: dict[int, dict[str, Any]] = defaultdict(dict)
    for number in _reached(graph, node.id) if edge is None else {each.source for each, _ in bad_contributions(graph)}:
        said[number]["tainted"] = True
    if edge is None:
        said[node.id]["culprit"] = f"made {made}"
    elif origin.summed:
        said[edge.source]["culprit"] = f"sum of its gradient: {made}"
    else:
        said[edge.target]["culprit"] = f"derivative for {edge.argument}: {made}"
    drawing = Drawing.of(graph, said)
    drawn = None if edge is None else drawing.edges[[*graph.edges].index(edge)]
    return Provenance(drawing, drawing.nodes[node.id], drawn, origin.cause, origin)


def _reached(graph: Graph, start: int) -> set[int]:
    """Return ``start`` and all operations after it that it reaches and whose values are not finite."""
    reached = {start}
    for edge in sorted(graph.edges, key=lambda edge: edge.target):
        if edge.source in reached and is_bad(graph.nodes[edge.target].value):
            reached.add(edge.target)
    return reached
