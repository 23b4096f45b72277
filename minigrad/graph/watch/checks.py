"""``check_edges``: is each edge's own derivative right? A numeric check of every rule, on the numbers it ran on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tensor import Tensor
from ...guards.differences import FIRST
from ..drawing import Drawing
from ..record.capture import capture
from ..record.derivatives import check_derivatives
from ..record.model import Edge, Graph


def check_edges(
    tensors: Tensor | Sequence[Tensor], params: Any = None, *, step: float = FIRST, seed: int = 0
) -> Drawing:
    """Compare the derivative of each operation by each of its operands with a finite difference, and draw the result.

    Every operation is run again by itself, in double precision, on the operands that the trace wrote down. For a random
    direction ``v`` of one operand, in proportion to its numbers, central differences ``(f(x + h v) - f(x - h v)) / 2h`` give
    the derivative of each number of the output, and what it may be off by. With weights ``u``, in which large and small
    numbers count alike, the rule's ``<vjp(u), v>`` is compared with ``<u, differences>``. Where they differ, other steps are
    tried. Neither ``backward()`` nor the rest of the graph matters: a wrong rule turns its own edges red, and no others.

    Args:
        step: the first ``h``, relative to each number.

    Returns:
        The graph, in which ``Edge.verdict`` is "agrees"; "wrong", if rule and differences are apart by more than five times
        what the differences may be off by (``Edge.uncertainty``) and more than 1e-5; or "unclear" where differences cannot
        tell, as at a kink (relu at 0): ``Edge.reason`` says why. ``Edge.error`` is the relative error. In drawings an edge
        is green, red with its error, or grey.

    Raises:
        GraphError: the computation was not traced.
        ArgumentError: ``tensors`` or ``params`` is something else.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True)
        >>> with mg.trace():
        ...     loss = (x * x).sum()
        >>> graph = mg.check_edges(loss)
        >>> [(edge.argument, edge.verdict) for edge in graph.edges]
        [('x', 'agrees'), ('y', 'agrees'), ('a', 'agrees')]
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
    return [edge for edge in graph.edges if edge.verdict == "wrong"]
