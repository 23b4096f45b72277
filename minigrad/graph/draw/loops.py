"""Loops of a program, found from what repeats: each round becomes a module of its own, which equal ones fold into one."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import groupby

from ..record.model import AnyGraph, Edge, Graph, ModuleBox, Node

KIND = "loop"
FEWEST_ROUNDS = 4
FEWEST_OPERATIONS = 8  # in all rounds together: fewer are better seen one by one
CANDIDATES = 64  # lengths of a round that are tried from one operation
EFFORT = 60  # comparisons for each operation; what is not found by then stays as it is

Look = Callable[[Sequence[Node], dict[int, list[Edge]]], Hashable]


def with_loops(graph: AnyGraph, look: Look) -> AnyGraph:
    """The graph with a module of the kind "loop" around each round of a loop; rounds of the same loop have one name.

    A round is a stretch of operations that repeats at least four times in a row, in one module: the same operations, of the
    same shapes, from the same lines of the program. A value that only one round reads is part of it.

    Args:
        look: what must be equal of two rounds, from their nodes and the edges into each operation.
    """
    into = graph.edges_into()
    stretches: dict[tuple[int | None, int], list[Node]] = defaultdict(list)
    for node in graph.operations():
        stretches[node.module, node.lane].append(node)
    new = copy.copy(graph)
    new.nodes, new.modules = [copy.copy(node) for node in graph.nodes], list(graph.modules)
    readers: dict[int, set[int]] = defaultdict(set)
    for edge in graph.edges:
        readers[edge.source].add(edge.target)
    loops = 0
    for (parent, _), operations in stretches.items():
        for start, period, count in _runs([_signature(node, into) for node in operations]):
            rounds = [operations[start + t * period : start + (t + 1) * period] for t in range(count)]
            whole = _with_own_values(graph, rounds, into, readers)
            for _, equal in groupby(whole, key=lambda nodes: look(nodes, into)):
                found = list(equal)
                if len(found) < FEWEST_ROUNDS:
                    continue
                loops += 1
                name = KIND if loops == 1 else f"{KIND} {loops}"
                for nodes in found:
                    for node in nodes:
                        new.nodes[node.id].module = len(new.modules)
                    new.modules.append(ModuleBox(len(new.modules), name, KIND, parent))
    return new


def _signature(node: Node, into: Mapping[int, Sequence[Edge]]) -> Hashable:
    place = None if node.source is None else (node.source.file, node.source.line)
    return node.operation, node.shape, node.dtype, place, tuple(edge.argument for edge in into[node.id])


def _runs(signatures: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
    """Where a stretch repeats: its begin, its length, and how often it is there. They do not overlap."""
    numbers: dict[Hashable, int] = {}
    signs = [numbers.setdefault(signature, len(numbers)) for signature in signatures]
    places: dict[int, list[int]] = defaultdict(list)
    following: list[Sequence[int]] = [()] * len(signs)
    for i in range(len(signs) - 1, -1, -1):
        following[i] = places[signs[i]][: -CANDIDATES - 1 : -1]
        places[signs[i]].append(i)
    effort, i = EFFORT * len(signs), 0
    while i < len(signs):
        period, count = 1, 1
        for j in following[i]:
            if effort <= 0 or i + (j - i) * FEWEST_ROUNDS > len(signs):
                break
            end = j
            while end < len(signs) and signs[end] == signs[end - (j - i)]:
                end += 1
            effort -= end - j + 1
            found = (end - i) // (j - i)
            if found >= FEWEST_ROUNDS and found * (j - i) > period * count:
                period, count = j - i, found
        if count >= FEWEST_ROUNDS and period * count >= FEWEST_OPERATIONS:
            yield i, period, count
            i += period * count
        else:
            i += 1


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
