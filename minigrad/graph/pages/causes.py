"""Marks what made the first NaN or infinity, and says why, with the operand and the element that caused it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...guards.origin import bad_contributions, cause, first_bad, forward_marks, is_bad, numbers_there
from ...rules.about import Cause, known
from ..record.model import Edge, Graph, Node
from .html import asset

Sentences = dict[str, str]  # by language
WORDS: dict[str, dict[str, str]] = json.loads(asset("causes_words.json"))


def causes_of(graph: Graph) -> list[dict[str, Any]]:
    """Return for each node ``bad`` and ``badGradient``, "culprit" or "victim" of a NaN or infinity, and ``why`` of culprits."""
    labels = [node.label for node in graph.nodes]
    found: list[dict[str, Any]] = [{"bad": None, "badGradient": None, "why": None} for _ in labels]
    into, marks, contributions = graph.edges_into, forward_marks(graph), list(bad_contributions(graph))
    for number, mark in marks.items():
        node, about = graph.nodes[number], found[number]
        about["bad"] = mark
        if mark == "culprit":
            about["why"] = sentences("given") if node.operation is None else _forward_cause(node, into[number], labels)
    reached: dict[int, str] = {}  # the nodes whose gradient is not finite, as culprits or victims
    for edge, total in contributions:
        reached.setdefault(edge.source, "victim" if total is None else "culprit")
        node, about = graph.nodes[edge.target], found[edge.target]
        marked = about["bad"] is not None or any(found[e.source]["bad"] is not None for e in into[node.id])
        if total is None and not (marked or is_bad(node.cotangent)) and about["badGradient"] is None:
            about["badGradient"] = "culprit"
            about["why"] = about["why"] or _backward_cause(node, into[node.id], edge, labels)
    for node, about in zip(graph.nodes, found):
        if about["badGradient"] is None and (node.id in reached or is_bad(node.cotangent)):
            about["badGradient"] = reached.get(node.id, "victim")
            if about["badGradient"] == "culprit":  # all its contributions are finite
                about["why"] = about["why"] or sentences("sum", **_limits(np.dtype(node.dtype)))
    return found


def _forward_cause(node: Node, operands: Sequence[Edge], labels: Sequence[str]) -> Sentences:
    """Return why a result is not finite although its operands are finite, or hold only intended infinities."""
    bad = first_bad(node.value)
    values = {edge.argument: edge.value for edge in operands}
    numbers = numbers_there(node.primitive, bad, values)
    found = cause(known(node.primitive).undefined, numbers)
    about = _about(node, operands, labels, bad)
    if found is not None and found.key != "overflow":
        return _of_operand(found, numbers, about)
    if any(is_bad(numbers.get(name, value)) for name, value in values.items()):
        return sentences("infinities", **about)
    return sentences("unknown" if np.isnan(bad).any() else "overflow", **about)


def _backward_cause(node: Node, operands: Sequence[Edge], edge: Edge, labels: Sequence[str]) -> Sentences:
    """Return why a derivative is not finite although the gradient that arrived is finite."""
    if not is_bad(edge.raw):  # the sum over broadcast axes overflowed
        return sentences("sum", **_limits(first_bad(edge.contribution).dtype))
    bad = first_bad(edge.raw)
    values = {operand.argument: operand.value for operand in operands} | {"ans": node.value, "g": node.cotangent}
    numbers = numbers_there(node.primitive, bad, values)
    found = cause(known(node.primitive).steep, {**numbers, "by": edge.argument})
    about = _about(node, operands, labels, bad)
    return sentences("slope_overflow", **about) if found is None else _of_operand(found, numbers, about)


def _about(node: Node, operands: Sequence[Edge], labels: Sequence[str], result: Any) -> dict[str, str]:
    called = {edge.argument: labels[edge.source] for edge in operands}
    return {**called, "operation": node.operation or "", **_limits(result.dtype)}


def _limits(dtype: Any) -> dict[str, str]:
    limit = f"{np.finfo(dtype).max:.3g}" if dtype.kind in "fc" else ""
    return {"dtype": str(dtype), "limit": limit}


def _of_operand(found: Cause, numbers: Mapping[str, Any], about: Mapping[str, str]) -> Sentences:
    value = f"{numbers[found.operand]:.4g}".replace("-", "−")
    words = found.words[:1].upper() + found.words[1:]
    told = {"y": about.get("y", ""), "x": about[found.operand], "value": value, "words": words}
    return sentences(found.key, **{**about, **told})


def sentences(key: str, /, **about: object) -> Sentences:
    """Return a sentence of ``causes_words.json`` in all languages, with its values."""
    return {language: words[key].format(**about) for language, words in WORDS.items()}
