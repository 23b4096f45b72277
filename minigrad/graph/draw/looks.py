"""Chooses the colours of a drawing: the heat of a node, the verdict on an edge, and the legend that explains them."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..record.model import Graph, Node
from ..record.numerals import number_text
from .drawn import DrawnEdge, DrawnGraph, DrawnNode

RAMP = ("#fdf3e7", "#fbdcbd", "#f8bd8d", "#f19a63", "#e67845")  # the heat, in colours light enough for black letters
# The colour of a line, and the colour of a fill
VERDICTS = {"agrees": ("#2f7d32", "#cfead0"), "wrong": ("#c62828", "#f7d0d0"), "unclear": ("#8a8a8a", "#e6e6e6")}
TAINTED = "#f6c3c8"
MEANINGS = {"grad": "norm of the gradient", "time": "time, forward and backward", "memory": "bytes kept for backward"}


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


def mode(graph: DrawnGraph, color: str | None) -> str:
    """Return the meaning of the colours: ``color``, or if it is None, what the graph was made to show."""
    if color not in (None, "grad"):
        return str(color)
    checked = any(edge.verdict for edge in graph.edges) or any(node.verdict for node in graph.nodes)
    return "check" if checked else "grad"


def heat(graph: DrawnGraph, color: str) -> Heat | None:
    """Return the heat of the nodes; None if there is nothing to show."""
    if color == "grad":
        norms = {node.id: node.spread[1] if node.spread else node.gradient for node in graph.nodes}
        return _decades({number: norm for number, norm in norms.items() if norm and math.isfinite(norm)})
    if color == "time":
        return _fifths(times(graph), seconds_text)
    return _fifths(own_bytes(graph), bytes_text) if color == "memory" else None


def _decades(norms: Mapping[int, float]) -> Heat | None:
    """Return one bin per power of ten, with the median in the middle. The outer bins show what vanishes or explodes."""
    if not norms:
        return None
    middle = math.floor(math.log10(statistics.median_low(norms.values())))
    limits = [10.0 ** (middle + i) for i in (-1, 0, 1, 2)]
    return Heat(limits, [f"{limit:g}" for limit in limits], norms)


def _fifths(numbers: Mapping[int, float], text: Callable[[float], str]) -> Heat | None:
    """Return five bins of equal width up to the largest number."""
    largest = max(numbers.values(), default=0)
    if not largest:
        return None
    limits = [largest * i / 5 for i in (1, 2, 3, 4)]
    return Heat(limits, [text(limit) for limit in limits], numbers)


def amounts(graph: Graph, color: str) -> dict[int, str]:
    """Return the time or the bytes of each operation as text."""
    if color == "time":
        return {number: seconds_text(value) for number, value in times(graph).items()}
    return {number: bytes_text(value) for number, value in own_bytes(graph).items()} if color == "memory" else {}


def times(graph: Graph) -> dict[int, float]:
    """Return the time of each operation and its rules, in seconds."""
    return {n.id: n.seconds + (n.backward_seconds or 0.0) for n in graph.nodes if n.seconds is not None}


def own_bytes(graph: Graph) -> dict[int, float]:
    """Return the bytes that each operation keeps. An array that several keep counts for the first, so the sum is right."""
    seen: set[int] = set()
    found: dict[int, float] = {}
    for node in graph.nodes:
        if node.seconds is not None:
            found[node.id] = sum(size for number, size in node.kept.items() if number not in seen)
            seen.update(node.kept)
    return found


def seconds_text(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{1e6 * seconds:.3g} µs"


def bytes_text(size: float) -> str:
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"


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


def legend(graph: DrawnGraph, color: str, shown: Heat | None) -> list[list[tuple[str, str | None]]]:
    """Return rows of texts with their background colours (or None)."""
    rows: list[list[tuple[str, str | None]]] = []
    if shown is not None:
        texts = shown.texts
        bins = [f"below {texts[0]}", *(f"{low} to {high}" for low, high in pairwise(texts)), f"{texts[-1]} or more"]
        rows.append([(MEANINGS[color], None), *zip(bins, RAMP)])
    if color == "check":
        words = {"unclear": "unclear: differences cannot tell"}
        rows.append([("derivative", None), *((words.get(word, word), fill) for word, (_, fill) in VERDICTS.items())])
    if any(node.tainted for node in graph.nodes):
        rows.append([("reached by the first NaN or infinity", TAINTED)])
    return rows
