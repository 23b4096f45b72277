"""What a page says about each step besides its numbers: is the derivative right, and where did a NaN or an infinity begin?"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import MinigradError
from ...guards.nonfinite import is_bad, is_nan
from ..record.derivatives import can_be_compared, compared
from ..record.model import Graph
from .causes import backward_cause, forward_cause, given, sum_cause

MOST_CHECKED = 200  # operations, where nobody asks for more

Data = dict[str, Any]


def add_checks(graph: Graph, edges: Sequence[Data]) -> float:
    """Fill in ``check`` of each edge: both derivatives, and the verdict. Returns the seconds it took."""
    begin = time.perf_counter()
    numbers = {id(edge): number for number, edge in enumerate(graph.edges)}
    into = graph.edges_into()
    rng = np.random.default_rng(0)
    for node in graph.operations():
        if not can_be_compared(node, into[node.id]):
            continue
        try:
            found = compared(node, into[node.id], graph, rng)
        except (MinigradError, ArithmeticError, ValueError, TypeError):
            continue  # what cannot be carried out again near its operands has no check, and still has its page
        for edge, comparison in found:
            if math.isfinite(comparison.exact) and math.isfinite(comparison.numeric):
                edges[numbers[id(edge)]]["check"] = {
                    "analytic": comparison.exact,
                    "numeric": comparison.numeric,
                    "error": comparison.error,
                    "verdict": comparison.verdict,
                    "reason": comparison.reason,
                }
    return time.perf_counter() - begin


# --- NaN and infinity ---


def add_causes(graph: Graph, nodes: Sequence[Data]) -> None:
    """Fill in ``bad``, ``badGradient`` and ``why``: the culprits, which made what is not finite of what is, and the victims."""
    bad = [is_bad(node.value) for node in graph.nodes]
    labels = [about["name"] for about in nodes]
    if any(bad):
        _forward(graph, nodes, bad, labels)
    if any(is_bad(edge.contribution) for edge in graph.edges) or any(is_bad(node.cotangent) for node in graph.nodes):
        _backward(graph, nodes, labels)


def _forward(graph: Graph, nodes: Sequence[Data], bad: Sequence[bool], labels: Sequence[str]) -> None:
    into = graph.edges_into()
    meant: set[int] = set()  # where an infinity is, as in a mask, because a constant has it
    for node in graph.nodes:
        if not bad[node.id]:
            continue
        operands = into.get(node.id, ())
        about = nodes[node.id]
        infinite = {edge.source for edge in operands if is_bad(edge.value)}
        if node.kind == "constant" and not is_nan(node.value):
            meant.add(node.id)
        elif node.operation is None:
            about["bad"], about["why"] = "culprit", given()
        elif infinite - meant:
            about["bad"] = "victim"
        elif infinite and not is_nan(node.value):
            meant.add(node.id)
        else:
            about["bad"], about["why"] = "culprit", forward_cause(node, operands, labels)


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
    sources = {edge.source for edge in graph.contributions()}
    for node in graph.nodes:
        about = nodes[node.id]
        if about["badGradient"] is None and (node.id in reached or is_bad(node.cotangent)):
            from_sum = node.id in sources and node.id not in reached
            about["badGradient"] = "culprit" if from_sum else "victim"
            if from_sum:
                about["why"] = about["why"] or sum_cause(node)
