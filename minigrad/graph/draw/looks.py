"""Chooses the colours of a drawing: the heat of a node, the verdict on an edge, and the legend that explains them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..record.model import Node
from ..record.numerals import number_text
from .drawn import DrawnEdge, DrawnGraph, DrawnNode

RAMP = ("#fdf3e7", "#fbdcbd", "#f8bd8d", "#f19a63", "#e67845")  # the heat, in colours light enough for black letters
# The colour of a line, and the colour of a fill
VERDICTS = {"agrees": ("#2f7d32", "#cfead0"), "wrong": ("#c62828", "#f7d0d0"), "unclear": ("#8a8a8a", "#e6e6e6")}
TAINTED = "#f6c3c8"


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


def heat(graph: DrawnGraph) -> tuple[dict[int, str], list[float]]:
    """Return the colour of each node, which is that of the norm of its gradient, and the limits between the colours.

    There is a colour for each power of ten, with the median in the middle. The outer ones show what vanishes or explodes. There
    are none if no gradient is known, and none in a checked graph.
    """
    gradients = {node.id: node.spread[1] if node.spread else node.gradient for node in graph.nodes}
    norms = {number: norm for number, norm in gradients.items() if norm and math.isfinite(norm)}
    if not norms or graph.checked:
        return {}, []
    middle = math.floor(math.log10(statistics.median_low(norms.values())))
    limits = [10.0 ** (middle + i) for i in (-1, 0, 1, 2)]
    return {number: RAMP[sum(norm >= limit for limit in limits)] for number, norm in norms.items()}, limits


def worst(edges: Iterable[DrawnEdge]) -> DrawnEdge | None:
    """Return the edge with the largest error. Wrong edges come before right ones, and right ones before unclear ones."""
    ranks = {"wrong": 2, "agrees": 1, "unclear": 0}
    checked = [edge for edge in edges if edge.verdict is not None]
    return max(checked, key=lambda edge: (ranks[edge.verdict or ""], edge.error or 0.0), default=None)


def legend(graph: DrawnGraph, limits: Sequence[float]) -> list[list[tuple[str, str | None]]]:
    """Return rows of texts with their background colours (or None)."""
    rows: list[list[tuple[str, str | None]]] = []
    if limits:
        texts = [f"{limit:g}" for limit in limits]
        bins = [f"below {texts[0]}", *(f"{low} to {high}" for low, high in pairwise(texts)), f"{texts[-1]} or more"]
        rows.append([("norm of the gradient", None), *zip(bins, RAMP)])
    if graph.checked:
        words = {"unclear": "unclear: differences cannot tell"}
        rows.append([("derivative", None), *((words.get(word, word), fill) for word, (_, fill) in VERDICTS.items())])
    if any(node.tainted for node in graph.nodes):
        rows.append([("reached by the first NaN or infinity", TAINTED)])
    return rows
