"""Adds the check of each derivative to the data of a page, and the origin of a NaN or an infinity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import MinigradError
from ...guards.nonfinite import is_bad
from ..record.culprits import forward_marks, overflowing_sums
from ..record.derivatives import comparisons
from ..record.model import Graph
from .causes import backward_cause, forward_cause, given, sum_cause

MOST_CHECKED = 200  # operations of a graph whose derivatives are checked by default

Data = dict[str, Any]


def add_checks(graph: Graph, edges: Sequence[Data]) -> None:
    """Set ``check`` of each edge to its comparison with a finite difference."""
    numbers = {id(edge): number for number, edge in enumerate(graph.edges)}
    # An operation that cannot run again near its operands has no check. The page says how many there are.
    for edge, comparison in comparisons(graph, skipped=(MinigradError, ArithmeticError, ValueError, TypeError)):
        if math.isfinite(comparison.exact) and math.isfinite(comparison.numeric):
            edges[numbers[id(edge)]]["check"] = comparison._asdict()
        elif comparison.reason in ("left out", "unsteady"):
            edges[numbers[id(edge)]]["unchecked"] = True


# --- NaN and infinity ---


def add_causes(graph: Graph, nodes: Sequence[Data]) -> None:
    """Set ``bad`` and ``badGradient`` of culprits, which made a NaN or infinity, and of victims, and ``why`` of culprits."""
    into = graph.edges_into()
    labels = [about["name"] for about in nodes]
    for number, mark in forward_marks(graph).items():
        node, about = graph.nodes[number], nodes[number]
        about["bad"] = mark
        if mark == "culprit":
            about["why"] = given() if node.operation is None else forward_cause(node, into[number], labels)
    if any(is_bad(edge.contribution) for edge in graph.edges) or any(is_bad(node.cotangent) for node in graph.nodes):
        _backward(graph, nodes, labels)


def _backward(graph: Graph, nodes: Sequence[Data], labels: Sequence[str]) -> None:
    into = graph.edges_into()
    reached: set[int] = set()
    for edge in graph.contributions():
        node = graph.nodes[edge.target]
        if not is_bad(edge.contribution):
            continue
        reached.add(edge.source)
        about = nodes[node.id]
        marked = about["bad"] is not None or any(nodes[e.source]["bad"] is not None for e in into[node.id])
        before = marked or is_bad(node.cotangent)
        if not before and about["badGradient"] is None:
            about["badGradient"] = "culprit"
            about["why"] = about["why"] or backward_cause(node, into[node.id], edge, labels)
    sums = {edge.source for edge in overflowing_sums(graph)}
    for node in graph.nodes:
        about = nodes[node.id]
        if about["badGradient"] is None and (node.id in reached or is_bad(node.cotangent)):
            about["badGradient"] = "culprit" if node.id in sums else "victim"
            if node.id in sums:
                about["why"] = about["why"] or sum_cause(node)
