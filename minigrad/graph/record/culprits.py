"""Finds the nodes where NaNs and infinities began, for ``find_nan`` and ``explain``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...guards.nonfinite import is_bad, is_nan
from .model import Edge, Graph


def forward_marks(graph: Graph) -> dict[int, str]:
    """Return "culprit" or "victim" for the id of each node whose value is not finite.

    A culprit is an operation that made a NaN or an infinity from finite operands, or a leaf that already held one. A victim
    has a marked operand. A constant infinity (the ``-inf`` of a mask) is intended: it and operations that pass it on have no
    mark.
    """
    into = graph.edges_into()
    marks: dict[int, str] = {}
    meant: set[int] = set()
    for node in graph.nodes:
        if not is_bad(node.value):
            continue
        bad = {edge.source for edge in into.get(node.id, ()) if is_bad(edge.value)}
        if bad - meant:
            marks[node.id] = "victim"
        elif (bad or node.kind == "constant") and not is_nan(node.value):
            meant.add(node.id)
        else:
            marks[node.id] = "culprit"
    return marks


@np.errstate(all="ignore")
def overflowing_sums(graph: Graph) -> dict[Edge, Any]:
    """Return the sums of finite contributions to a gradient that overflowed, by the edge whose contribution did it."""
    sums: dict[tuple[int, int | None], Any] = {}
    found: dict[Edge, Any] = {}
    for edge in graph.contributions():
        place = edge.source, edge.output
        before = sums.get(place)
        sums[place] = edge.contribution if before is None else before + edge.contribution
        if is_bad(sums[place]) and not is_bad(before) and not is_bad(edge.contribution):
            found[edge] = sums[place]
    return found
