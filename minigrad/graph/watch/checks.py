"""``check_edges``: is each edge's own derivative right? A numeric check of every rule, on the numbers it ran on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tensor import Tensor
from ..drawing import Drawing
from ..record.capture import capture
from ..record.derivatives import TOLERANCE, check_derivatives
from ..record.model import Edge, Graph


def check_edges(
    tensors: Tensor | Sequence[Tensor], params: Any = None, *, step: float = 1e-4, seed: int = 0
) -> Drawing:
    """Compare the derivative of each operation by each of its operands with a finite difference, and draw the result.

    Every operation is run again by itself, in double precision, on the operands that the trace wrote down. For a random
    direction ``u`` of its output and a random direction ``v`` of one operand the rule's ``<vjp(u), v>`` is compared with the
    central difference of ``<u, f(operand + t v)>`` at t = 0. Neither ``backward()`` nor the rest of the graph matters: a wrong
    rule turns its own edges red, and no others.

    Returns:
        The graph, in which ``Edge.error`` is the relative error, or NaN where the operation has a kink (relu at 0) and there
        is no derivative to compare with. In drawings an edge is green up to 1e-5, red beyond, with its error.

    Raises:
        GraphError: the computation was not traced.
        ArgumentError: ``tensors`` or ``params`` is something else.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.trace():
        ...     loss = (x * x).sum()
        >>> graph = mg.check_edges(loss)
        >>> [(edge.argument, edge.error < 1e-5) for edge in graph.edges]
        [('x', True), ('y', True), ('a', True)]
    """
    graph = capture(tensors, params, caller="check_edges")
    check_derivatives(graph, step=step, seed=seed)
    return Drawing.of(graph)


def wrong_edges(graph: Graph) -> list[Edge]:
    """The edges of a graph from :func:`check_edges` whose derivative is wrong.

    Example:
        >>> import minigrad as mg
        >>> square = mg.primitive(lambda x: x * x, name="square").vjp(x=lambda g, x: g * x)  # the 2 is missing
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.trace():
        ...     loss = square(x).sum()
        >>> graph = mg.check_edges(loss)
        >>> [graph.nodes[edge.target].label for edge in mg.wrong_edges(graph)]
        ['square(x)']
    """
    return [edge for edge in graph.edges if edge.error is not None and edge.error > TOLERANCE]
