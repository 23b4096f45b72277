"""Chooses the colours of a drawing: the heat of a node, the verdict on an edge, and the legend that explains them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..record.model import Node
from ..record.numerals import number_text
from .drawn import DrawnEdge, DrawnGraph, DrawnNode

RAMP = ("#fdf3e7", "#fbdcbd", "#f8bd8d", "#f19a63", "#e67845")  # the heat, in colours light enough for black letters
# The colour of a line, and the colour of a fill
VERDICTS = {"agrees": ("#2f7d32", "#cfead0"), "wrong": ("#c62828", "#f7d0d0"), "unclear": ("#8a8a8a", "#e6e6e6")}
TAINTED = "#f6c3c8"


@dataclass
class Heat:
    """Colours the nodes by one number each, in five bins.

    Attributes:
        limits: the lower ends of the bins, except the first.
        texts: the descriptions of the bins.
        numbers: the number of each node, by its id. A node without a number is missing.
    """

    limits: list[float]
    texts: list[str]
    numbers: Mapping[int, float]

    def color(self, number: int) -> str | None:
        """Return the colour of a node by its id; None if it has no number."""
        value = self.numbers.get(number)
        return None if value is None else RAMP[sum(value >= limit for limit in self.limits)]


def titles(node: Node) -> tuple[str, str]:
    """Return a node's name, and its operation for the small text next to it (empty if the name contains it)."""
    operation = node.operation or ""
    if node.boxed:
        return node.label, operation
    if not node.stem:
        return operation or node.kind, ""  # a drawing does not need the number of a value without a name
    said = re.search(rf"(?<!\w){re.escape(operation)}(?!\w)", node.stem)
    return node.label, "" if said else operation


def in_prose(node: Node) -> str:
    """Return an operation for a sentence: ``'h' (tanh)``."""
    name, operation = titles(node)
    return f"'{name}'" + (f" ({operation})" if operation and operation != name else "")


def gradient_text(node: DrawnNode) -> str:
    """Return the gradient of a node as text: a single number, or the norm of an array, marked as a norm.

    "grad" is the gradient of the last backward pass, and ".grad" is that of the tensor, which sums over passes.
    """
    least, most = (number_text(norm, 3) for norm in node.spread or (0, 0))
    if least != most:
        return f"|grad| {least} … {most}"
    if node.gradient is None:
        return "grad -"
    text = _named("grad", node.gradient, node.signed)
    if node.held is None:
        return text
    held = _named(".grad", *node.held)
    return held if held.replace(".grad", "grad") == text else f"{text}, {held}"


def _named(word: str, size: float, signed: complex | None) -> str:
    return f"|{word}| {number_text(size, 3)}" if signed is None else f"{word} {number_text(signed, 3)}"


def is_checked(graph: DrawnGraph) -> bool:
    """Return whether the graph is that of ``check_edges``, whose colours show the verdicts."""
    return any(edge.verdict for edge in graph.edges) or any(node.verdict for node in graph.nodes)


def heat(graph: DrawnGraph) -> Heat | None:
    """Return the heat of the nodes, the norms of their gradients: one bin per power of ten, with the median in the middle.

    The outer bins show what vanishes or explodes. There is no heat if no gradient is known, and none in a checked graph.
    """
    gradients = {node.id: node.spread[1] if node.spread else node.gradient for node in graph.nodes}
    norms = {number: norm for number, norm in gradients.items() if norm and math.isfinite(norm)}
    if not norms or is_checked(graph):
        return None
    middle = math.floor(math.log10(statistics.median_low(norms.values())))
    limits = [10.0 ** (middle + i) for i in (-1, 0, 1, 2)]
    return Heat(limits, [f"{limit:g}" for limit in limits], norms)


def worst(edges: Iterable[DrawnEdge]) -> DrawnEdge | None:
    """Return the edge with the largest error. Wrong edges come before right ones, and right ones before unclear ones."""
    ranks = {"wrong": 2, "agrees": 1, "unclear": 0}
    checked = [edge for edge in edges if edge.verdict is not None]
    return max(checked, key=lambda edge: (ranks[edge.verdict or ""], edge.error or 0.0), default=None)


def not_finite(value: Any) -> str:
    """Return "has nan", "has ∞" or "has nan and ∞" for the value of an operation; an empty text if all numbers are finite."""
    arrays = [np.asarray(part) for part in (value if isinstance(value, tuple) else (value,))]
    arrays = [array for array in arrays if array.dtype.kind in "fc"]
    words = [word for word, test in (("nan", np.isnan), ("∞", np.isinf)) if any(test(array).any() for array in arrays)]
    return f"has {' and '.join(words)}" if words else ""


def legend(graph: DrawnGraph, shown: Heat | None) -> list[list[tuple[str, str | None]]]:
    """Return rows of texts with their background colours (or None)."""
    rows: list[list[tuple[str, str | None]]] = []
    if shown is not None:
        texts = shown.texts
        bins = [f"below {texts[0]}", *(f"{low} to {high}" for low, high in pairwise(texts)), f"{texts[-1]} or more"]
        rows.append([("norm of the gradient", None), *zip(bins, RAMP)])
    if is_checked(graph):
        words = {"unclear": "unclear: differences cannot tell"}
        rows.append([("derivative", None), *((words.get(word, word), fill) for word, (_, fill) in VERDICTS.items())])
    if any(node.tainted for node in graph.nodes):
        rows.append([("reached by the first NaN or infinity", TAINTED)])
    return rows
