"""Merges two graphs into one and marks each node as added, removed, changed or the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from difflib import SequenceMatcher

from ..record.model import Graph, Node
from .drawn import AnyDrawn, DrawnGraph


def diff(before: DrawnGraph, after: AnyDrawn) -> AnyDrawn:
    """Return ``after`` with ``change`` set in its nodes, and with the nodes that only ``before`` has.

    Nodes are matched in order of execution, like the lines of a text: operations by their name and module, values by their
    kind and name. A matched node is "changed" if its shape, dtype, keywords or operands differ.
    """
    pairs = _matched(before, after)
    operands_before, operands_after = _operands(before), _operands(after)
    partner = dict(pairs)
    of_after = {b: a for a, b in pairs}
    changes: dict[int, str] = {}
    for node in after.nodes:
        if node.id not in of_after:
            changes[node.id] = "added"
            continue
        old = before.nodes[of_after[node.id]]
        moved = [partner.get(source, -1) for source in operands_before.get(old.id, [])]
        if _look(old) != _look(node) or moved != operands_after.get(node.id, []):
            changes[node.id] = "changed"
    nodes = [dataclasses.replace(node, change=changes.get(node.id, node.change)) for node in after.nodes]
    edges = list(after.edges)
    position = dict(partner)  # ids in before -> ids in the merged graph
    for node in before.nodes:
        if node.id not in position:
            number = position[node.id] = len(nodes)
            nodes.append(dataclasses.replace(node, id=number, module=None, change="removed"))
    for edge in before.edges:
        if edge.source not in partner or edge.target not in partner:
            edges.append(dataclasses.replace(edge, source=position[edge.source], target=position[edge.target]))
    return dataclasses.replace(after, nodes=nodes, edges=edges)


def _matched(before: Graph, after: Graph) -> list[tuple[int, int]]:
    matcher = SequenceMatcher(None, _keys(before), _keys(after), autojunk=False)
    return [(a + i, b + i) for a, b, size in matcher.get_matching_blocks() for i in range(size)]


def _keys(graph: Graph) -> list[Hashable]:
    keys: list[Hashable] = []
    for node in graph.nodes:
        if node.operation is None:
            keys.append((node.kind, node.name or node.details))
        else:
            keys.append((node.operation, None if node.module is None else graph.modules[node.module].name))
    return keys


def _look(node: Node) -> tuple[object, ...]:
    return node.shape, node.dtype, node.details, node.kind


def _operands(graph: Graph) -> dict[int, list[int]]:
    return {number: [edge.source for edge in edges] for number, edges in graph.edges_into().items()}
