"""``check_edges``: is each edge's own derivative right? A numeric check of every rule, on the numbers it ran on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checking import compare, double
from ...engine.primitive import Primitive
from ...engine.tensor import Tensor
from ...errors import GraphError
from ..record.capture import capture
from ..record.model import Edge, Graph, Node

TOLERANCE = 1e-5  # of the relative error


def check_edges(tensors: Tensor | Sequence[Tensor], params: Any = None, *, step: float = 1e-4, seed: int = 0) -> Graph:
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
    """
    graph = capture(tensors, params, caller="check_edges")
    into = graph.edges_into()
    rng = np.random.default_rng(seed)
    checked = False
    for node in graph.operations():
        operands = into[node.id]
        if isinstance(node.primitive, Primitive) and operands and all(edge.value is not None for edge in operands):
            _check(node, operands, graph, step, rng)
            checked = True
    if not checked:
        raise GraphError(
            "check_edges needs the operands of the operations: compute the tensor inside 'with minigrad.trace():'"
        )
    return graph


def _check(node: Node, operands: list[Edge], graph: Graph, step: float, rng: np.random.Generator) -> None:
    """Fill in the errors of the edges into one operation."""
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
        _, comparisons = compare(run, tuple(double(edge.value) for edge in differentiated), step, rng)
    for edge, found in zip(differentiated, comparisons):
        edge.error = math.nan if found.kink and found.error > TOLERANCE else found.error


def wrong_edges(graph: Graph) -> list[Edge]:
    """The edges of a graph from :func:`check_edges` whose derivative is wrong."""
    return [edge for edge in graph.edges if edge.error is not None and edge.error > TOLERANCE]
