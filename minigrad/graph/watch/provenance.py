"""``find_nan``: after the fact, the operation that made the first NaN or infinity, why, and what it reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...anomaly import BACKWARD_CAUSES, FORWARD_CAUSES, usual_cause
from ...engine.tensor import Tensor
from ...errors import GraphError
from ..draw.drawing import Drawing
from ..draw.looks import in_prose, operand_in_prose
from ..record.capture import capture
from ..record.model import Edge, Graph, Node


@dataclass
class Provenance:
    """Where a NaN or an infinity came from.

    Attributes:
        graph: with ``Node.tainted`` set on everything the first one reached, which drawings shade.
        node: the operation that made it.
        edge: the operand whose derivative it is, if it was made in the backward pass; else None.
        cause: why, in words; None if it is not one of the usual causes.
    """

    graph: Drawing
    node: Node
    edge: Edge | None
    cause: str | None

    def __str__(self) -> str:
        made = _made(self.node.value if self.edge is None else self.edge.raw)
        what = in_prose(self.node)
        if self.edge is not None:
            what = f"in backward, the derivative of {what} by {operand_in_prose(self.edge, self.graph)}"
        lines = [f"{what} made the first {made}: {self.cause or 'its operands do not say why'}."]
        lines += self._there()
        if self.node.source is not None:
            lines.append(f"{self.node.source}: {self.node.source.text}")
        reached = sum(node.tainted for node in self.graph.nodes)
        lines.append(f"It reached {reached} of the {len(self.graph.nodes)} nodes of the graph.")
        return "\n".join(lines)

    def _there(self) -> list[str]:
        """The operands of an elementwise operation where its first bad number is."""
        bad = np.asarray(self.node.value if self.edge is None else self.edge.raw)
        if not isinstance(getattr(self.node.primitive, "function", None), np.ufunc):
            return []
        where = np.unravel_index(np.argmax(~np.isfinite(bad)), bad.shape)
        parts = [
            f"{edge.argument} is {np.broadcast_to(edge.value, bad.shape)[where].item()!r}"
            for edge in self.graph.edges
            if edge.target == self.node.id and np.broadcast_shapes(np.shape(edge.value), bad.shape) == bad.shape
        ]
        return [f"The first is at {[int(i) for i in where]}, where {' and '.join(parts)}."] if parts else []


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
        made_here = _bad(node.value) and not any(
            _bad(edge.value) and graph.nodes[edge.source].operation is not None for edge in operands
        )
        if made_here and (_nan(node.value) or not any(_bad(edge.value) for edge in operands)):
            values = {edge.argument: edge.value for edge in operands}
            why = usual_cause(FORWARD_CAUSES.get(node.operation or "", ()), values)
            given = next((edge for edge in operands if _bad(edge.value)), None)
            if given is not None:
                why = f"its operand '{graph.nodes[given.source].label}' was given with one"
            node.culprit = f"made the first {_made(node.value).replace('inf', '∞')}"
            _spread(graph, node)
            return Provenance(Drawing.of(graph), node, None, why)
    return None


def _spread(graph: Graph, start: Node) -> None:
    """Mark ``start`` and all operations it leads to whose values are not finite."""
    start.tainted = True
    for edge in sorted(graph.edges, key=lambda edge: edge.target):
        target = graph.nodes[edge.target]
        if graph.nodes[edge.source].tainted and _bad(target.value):
            target.tainted = True


def _backward(graph: Graph) -> Provenance | None:
    found: Provenance | None = None
    into = graph.edges_into()
    for edge in graph.contributions():
        node, source = graph.nodes[edge.target], graph.nodes[edge.source]
        if not _bad(edge.contribution):
            continue
        if found is None:
            values: Mapping[str, Any] = {e.argument: e.value for e in into[node.id]}
            values = {**values, "ans": node.value, "g": node.cotangent}
            found = Provenance(
                Drawing.of(graph), node, edge, usual_cause(BACKWARD_CAUSES.get(node.operation or "", ()), values)
            )
            node.culprit = f"derivative by {edge.argument}: the first {_made(edge.raw).replace('inf', '∞')}"
        source.tainted = True
    return found


def _arrays(value: Any) -> list[Any]:
    values = value if isinstance(value, tuple) else value.values() if isinstance(value, dict) else [value]
    return [np.asarray(v) for v in values if getattr(np.asarray(v), "dtype", np.dtype(object)).kind in "fc"]


def _bad(value: Any) -> bool:
    return value is not None and any(not np.isfinite(array).all() for array in _arrays(value))


def _made(bad: Any) -> str:
    """Which of NaN and the infinities there is, the worst first."""
    return "nan" if _nan(bad) else "inf" if any(np.isposinf(array.real).any() for array in _arrays(bad)) else "-inf"


def _nan(value: Any) -> bool:
    return any(np.isnan(array).any() for array in _arrays(value))
