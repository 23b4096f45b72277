"""``check_edges`` compares each edge's derivative with a finite difference, at the operands of the traced run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.tensor import Tensor
from ...errors import GraphError
from ...guards.checking import REASONS
from ..draw.drawn import DrawnEdge, DrawnGraph
from ..drawing import Drawing
from ..record.capture import capture
from ..record.derivatives import comparisons


def check_edges(tensors: Tensor | Sequence[Tensor], params: Any = None, *, seed: int = 0) -> Drawing:
    """Compare every operation's derivative with respect to each operand with finite differences, and draw the verdicts.

    Every operation runs again on its own, in double precision, on the operands that the trace has recorded. ``v`` is a random
    direction of one operand, in proportion to its elements. Central differences ``(f(x + h v) - f(x - h v)) / 2h`` estimate
    the derivative of each element of the output, and the error of this estimate. The cotangent ``u`` gives large and small
    elements the same influence. ``<vjp(u), v>`` from the rule is compared with ``<u, differences>``. Where they differ, other
    steps are tried. ``backward()`` is not needed. A wrong rule turns only its own edges red.

    Args:
        tensors, params: a Tensor or a list of Tensors, and names for tensors, as in :func:`draw_dot`.
        seed: the seed of the random directions and weights.

    Returns:
        The graph, with a verdict for each edge in ``Edge.verdict``, and the relative error in ``Edge.error``. "agrees" is
        drawn in green. "wrong" is drawn in red with its error: rule and differences differ by more than 1e-5, and by more
        than five times the possible error of the differences (``Edge.uncertainty``). "unclear" is drawn in grey: differences
        cannot decide, for example at a kink (relu at 0), and ``Edge.reason`` gives the reason.

    Raises:
        GraphError: the computation was not traced.
        ArgumentError: ``tensors`` or ``params`` has a wrong type.

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
    found = comparisons(graph, seed=seed)
    if all(comparison.reason == "left out" for _, comparison in found):
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    said = {
        edge: {
            "error": comparison.error,
            "uncertainty": comparison.uncertainty,
            "verdict": comparison.verdict,
            "reason": REASONS.get(comparison.reason, ""),
        }
        for edge, comparison in found
    }
    return Drawing.of(graph, edges=said)


def wrong_edges(graph: DrawnGraph) -> list[DrawnEdge]:
    """Return the edges with a wrong derivative, in a graph from :func:`check_edges`.

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
