"""Loops of a program in its drawing: each round becomes a module of its own, which equal ones fold into one."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import groupby

from ..record.model import AnyGraph, Edge, Graph, ModuleBox, Node
from .folding import Folder, Unit

KIND = "loop"

Look = Callable[[Sequence[Node], dict[int, list[Edge]]], Hashable]


def with_loops(graph: AnyGraph, look: Look) -> AnyGraph:
    """The graph with a module of the kind "loop" around each round of a loop; rounds of the same loop have one name.

    Loops are what :class:`.folding.Folder` finds in a module: they may be in other loops. A value that only one round reads
    is part of it.

    Args:
        look: what must be equal of two rounds, from their nodes and the edges into each operation.
    """
    into = graph.edges_into()
    folder = Folder(graph.nodes, into)
    stretches: dict[tuple[int | None, int], list[Unit]] = defaultdict(list)
    for node in graph.operations():
        stretches[node.module, node.lane].append(folder.operation(node))
    new = copy.copy(graph)
    new.nodes, new.modules = [copy.copy(node) for node in graph.nodes], list(graph.modules)
    readers: dict[int, set[int]] = defaultdict(set)
    for edge in graph.edges:
        readers[edge.source].add(edge.target)
    loops: Counter[int | None] = Counter()
    waiting = [(unit, parent) for (parent, _), units in stretches.items() for unit in folder.folded(units)][::-1]
    while waiting:
        unit, parent = waiting.pop()
        if unit.kind != "loop":
            continue
        inside: list[tuple[Unit, int | None]] = []
        whole = _with_own_values(graph, [[graph.nodes[o] for o in step] for step in unit.operations], into, readers)
        for _, equal in groupby(zip(whole, unit.iterations), key=lambda step: look(step[0], into)):
            found = list(equal)
            drawn = folder.enough(unit.iterations[0], len(found))
            loops[parent] += drawn
            for nodes, units in found:
                inside += [(inner, len(new.modules) if drawn else parent) for inner in units]
                if drawn:
                    for node in nodes:
                        new.nodes[node.id].module = len(new.modules)
                    name = KIND if loops[parent] == 1 else f"{KIND} {loops[parent]}"
                    new.modules.append(ModuleBox(len(new.modules), name, KIND, parent))
        waiting += reversed(inside)
    return new


def _with_own_values(
    graph: Graph, rounds: Sequence[Sequence[Node]], into: Mapping[int, Sequence[Edge]], readers: Mapping[int, set[int]]
) -> list[list[Node]]:
    """The rounds with the values that nobody else reads; not that with which a loop begins: later rounds read none."""
    own = []
    for operations in rounds:
        inside = {node.id for node in operations}
        values = {}
        for place, node in enumerate(operations):
            for number, edge in enumerate(into[node.id]):
                source = graph.nodes[edge.source]
                if source.operation is None and readers[source.id] <= inside and source.module == node.module:
                    values[place, number] = source.id
        own.append(values)
    usual = set(own[1])
    return [
        sorted(
            [*operations, *(graph.nodes[v] for v in {value for key, value in values.items() if key in usual})],
            key=lambda node: node.id,
        )
        for operations, values in zip(rounds, own)
    ]
