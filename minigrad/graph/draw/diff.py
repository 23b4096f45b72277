"""Merges two graphs into one and marks each node as added, removed, changed or the same."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Hashable
from difflib import SequenceMatcher

from ..record.model import AnyGraph, Graph, Node


def diff(before: Graph, after: AnyGraph) -> AnyGraph:
    """Return ``after`` with ``Node.change`` set, and with the nodes that only ``before`` has.

    Nodes are matched in order of execution, like the lines of a text: operations by their name and module, values by their
    kind and name. A matched node is "changed" if its shape, dtype, keywords or operands differ.
    """
    pairs = _matched(before, after)
    merged = copy.copy(after)
    merged.nodes = [dataclasses.replace(node) for node in after.nodes]
    merged.edges = [dataclasses.replace(edge) for edge in after.edges]
    merged.modules = [dataclasses.replace(module) for module in after.modules]
    operands_before, operands_after = _operands(before), _operands(after)
    partner = dict(pairs)
    of_after = {b: a for a, b in pairs}
    for node in merged.nodes:
        if node.id not in of_after:
            node.change = "added"
            continue
        old = before.nodes[of_after[node.id]]
        moved = [partner.get(source, -1) for source in operands_before.get(old.id, [])]
        if _look(old) != _look(node) or moved != operands_after.get(node.id, []):
            node.change = "changed"
    _add_removed(before, merged, partner)
    return merged


def _add_removed(before: Graph, merged: Graph, partner: dict[int, int]) -> None:
    """Insert the removed nodes and their edges into the merged graph. The order stays topological."""
    position = dict(partner)  # ids in before -> ids in merged
    for node in before.nodes:
        if node.id not in position:
            number = position[node.id] = len(merged.nodes)
            merged.nodes.append(dataclasses.replace(node, id=number, module=None, change="removed"))
    for edge in before.edges:
        if edge.source not in partner or edge.target not in partner:
            merged.edges.append(dataclasses.replace(edge, source=position[edge.source], target=position[edge.target]))


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
