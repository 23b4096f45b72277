"""Collects the data of the stepper's page from a graph: nodes, edges, steps, scenes and the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.registry import is_elementwise
from ...rules.indexing import clip
from ..record.keywords import keyword_data
from .equations import equation, notation
from .formulas import formula, formula_values
from .packing import collector_at_rest
from .programs import program
from .replay import replay_data
from .scenes import scenes
from .tensors import Tensors, attention_of, shown, values_of
from .truth import MOST_CHECKED, add_causes, add_checks

if TYPE_CHECKING:
    from ..record.model import Edge, Graph, Node

Data = dict[str, Any]


@collector_at_rest()
def page_data(graph: Graph, check: bool | None = None, show: Any = None, tokens: Any = None) -> Data:
    """Return all data of the page. ``tokens`` is what the program calls so; see ``explain`` for the others.

    A forward step is ``["forward", node]``. A backward step ``["product", edge]`` applies an operation's rule and adds the
    result to the operand's gradient. If the result must first be summed over broadcast axes, made real or cast, a step
    ``["fit", edge]`` follows and adds it instead.
    """
    tensors = Tensors(graph)
    labels = [node.label for node in graph.nodes]
    files, spans = program(graph)
    drawn, home = scenes(graph, labels)
    into = graph.edges_into()
    views = shown(show, graph, labels, tokens)
    nodes = [_node(node, into.get(node.id, ()), tensors, views.get(node.id)) for node in graph.nodes]
    for node, about in zip(graph.nodes, nodes):
        about |= {"name": labels[node.id], "span": spans[node.id], "scene": home[node.id]}
        about["changed"] = _changed(node, into.get(node.id, ()))
    edges = [_edge(edge, graph, into, tensors) for edge in graph.edges]
    steps, turn = _steps(graph, edges, tensors)
    add_causes(graph, nodes)
    if check or (check is None and turn <= MOST_CHECKED):
        add_checks(graph, edges)
    return {
        "title": labels[graph.ends[0][0]],
        "program": {"files": files},
        "nodes": nodes,
        "edges": edges,
        "steps": steps,
        "turn": turn,
        "end": graph.ends[0],
        "replay": replay_data(graph),
        "modules": [{"name": m.title, "kind": m.kind, "parent": m.parent} for m in graph.modules],
        "scenes": drawn,
        "lesson": None,
        "maps": {"side": tensors.side, "left": tensors.left, "count": tensors.count},
    }


def _steps(graph: Graph, edges: Sequence[Data], tensors: Tensors) -> tuple[list[tuple[str, int]], int]:
    """Return all steps, and the number of forward steps. Store with each edge its source's gradient after the step."""
    numbers = {id(edge): number for number, edge in enumerate(graph.edges)}
    steps = [("forward", node.id) for node in graph.operations()]
    turn = len(steps)
    sums: dict[tuple[int, int], Any] = {}
    for edge in graph.contributions():
        number = numbers[id(edge)]
        steps.append(("product", number))
        if edge.raw is not edge.contribution:
            steps.append(("fit", number))
        slot = edge.source, edge.output or 0
        about = edges[number]
        if slot in sums:
            sums[slot] = sums[slot] + edge.contribution
            about["sum"] = tensors.array(sums[slot])
        else:
            sums[slot] = edge.contribution
            about["sum"] = about["amount"] or about["raw"]
    return steps, turn


def cotangent_of(node: Node, output: int) -> Any:
    return node.cotangent.get(output) if isinstance(node.cotangent, dict) else node.cotangent


def outputs_of(node: Node) -> int:
    return len(node.value) if isinstance(node.value, tuple) else 1


def _node(node: Node, operands: Sequence[Edge], tensors: Tensors, show: Data | None) -> Data:
    view = None if show is None else show.get("shape")
    return {
        "kind": node.kind,
        "operation": node.operation,
        "details": node.details,
        "keywords": keyword_data(node.keywords),
        "notation": notation(node, len(operands)),
        "module": node.module,
        "values": [tensors.array(value, view) for value in values_of(node)],
        "gradients": [tensors.array(cotangent_of(node, i), view) for i in range(outputs_of(node))],
        "weights": tensors.array(attention_of(node, operands)),
        "show": show,
        "bad": None,
        "badGradient": None,
        "why": None,
    }


def _changed(node: Node, operands: Sequence[Edge]) -> list[str]:
    """Return what else happened to the operands here: one was broadcast, its dtype changed, or values were clipped."""
    if node.operation is None or isinstance(node.value, tuple) or node.value is None:
        return []
    found = []
    arrays = [edge.value for edge in operands if edge.value is not None]
    elementwise = is_elementwise(node.primitive)
    if elementwise and len(arrays) > 1 and any(np.shape(a) != np.shape(node.value) for a in arrays):
        found.append("broadcast")
    typed = {a.dtype.kind + str(a.dtype.itemsize) for a in arrays if isinstance(a, (np.ndarray, np.generic))}
    result = np.asarray(node.value).dtype
    if elementwise and result.kind in "fc" and typed - {result.kind + str(result.itemsize)}:
        found.append("cast")
    if node.primitive is clip and operands and np.any(np.not_equal(operands[0].value, node.value)):
        found.append("clipped")
    return found


def _edge(edge: Edge, graph: Graph, into: Mapping[int, list[Edge]], tensors: Tensors) -> Data:
    source = graph.nodes[edge.source]
    usual = source.value[edge.output] if edge.output is not None and source.value is not None else source.value
    about: Data = {
        "source": edge.source,
        "target": edge.target,
        "argument": edge.argument,
        "output": edge.output or 0,
        "value": None if edge.value is usual else tensors.array(edge.value),
        "raw": tensors.array(edge.raw),
        "amount": None if edge.contribution is edge.raw else tensors.array(edge.contribution),
        "sum": None,
        "answer": "y",
        "formula": None,
        "equation": None,
        "elementwise": False,
        "check": None,
    }
    if edge.contribution is not None:
        about |= _rule(edge, graph.nodes[edge.target], into[edge.target])
    return about


def _rule(edge: Edge, node: Node, operands: list[Edge]) -> Data:
    """Return the local derivative, as text with the rule's names, and as a tree for the program's names."""
    found = formula(node.primitive, edge.argument)
    if found is None:
        return {}
    by = f"/d {edge.argument}" if len(operands) > 1 else ""
    head = f"d {node.operation}{by}: "
    values = formula_values(node, operands, edge)
    return {
        "formula": {"en": head + found.text, "ja": head + found.text_ja},
        "equation": equation(found, node.primitive, edge.argument, values),
        "elementwise": found.elementwise,
        "answer": found.answer,
    }
