"""Each edge's own derivative beside a finite difference, on the numbers that its operation ran on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...checking import compare, double
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
