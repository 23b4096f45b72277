"""Forward and backward passes as lanes: a backward pass that was recorded, by ``create_graph=True``, is a graph of its own."""

from __future__ import annotations

import copy

from ..record.model import AnyGraph, Graph, ModuleBox

KIND = "lane"


def lane_name(lane: int) -> str:
    return "forward" if lane == 0 else f"backward {lane}"


def with_lanes(graph: AnyGraph) -> AnyGraph:
    """The graph with a module around each pass: "forward", "backward 1", "backward 2" ...

    An operation of a backward pass goes into a module like that of the operation whose rules it is part of, so that layers are
    the same boxes in every lane. A value goes where it is read first.
    """
    new = copy.copy(graph)
    new.nodes, new.modules = [copy.copy(node) for node in graph.nodes], []
    first_read = {node.id: node.lane for node in graph.operations()}
    for edge in graph.edges:
        lane = graph.nodes[edge.target].lane
        first_read[edge.source] = min(lane, first_read.get(edge.source, lane))
    numbers: dict[tuple[int, int | None], int] = {}
    forward: dict[int, int | None] = {}  # node -> its module in the graph, or its origin's
    for node in new.nodes:
        if node.operation is None:
            node.lane = first_read.get(node.id, 0)
        module = forward[node.id] = node.module
        if module is None and node.origin is not None:
            module = forward[node.id] = forward[node.origin]
        node.module = _module(new.modules, numbers, graph, node.lane, module)
    return new


def _module(
    modules: list[ModuleBox], numbers: dict[tuple[int, int | None], int], graph: Graph, lane: int, number: int | None
) -> int:
    """The number of a module's copy in a lane, which is made when it is first asked for, with those around it."""
    missing = []
    while (lane, number) not in numbers and number is not None:
        missing.append(number)
        number = graph.modules[number].parent
    if (lane, None) not in numbers:
        numbers[lane, None] = len(modules)
        modules.append(ModuleBox(len(modules), lane_name(lane), KIND, None))
    parent = numbers[lane, number]
    for number in reversed(missing):
        original = graph.modules[number]
        numbers[lane, number] = len(modules)
        modules.append(ModuleBox(len(modules), original.name, original.kind, parent, original.count))
        parent = numbers[lane, number]
    return parent
