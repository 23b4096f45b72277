"""Puts the forward pass and each recorded backward pass (``create_graph=True``) into a separate lane of a drawing."""

from __future__ import annotations

import copy

from ..record.model import AnyGraph, ModuleBox

KIND = "lane"


def with_lanes(graph: AnyGraph) -> AnyGraph:
    """Return the graph with a module around each pass: "forward", "backward 1", "backward 2" ...

    Each lane has all modules, even empty ones. An operation of a backward pass goes into the same module as the forward
    operation whose rule it is part of, so every lane has the same boxes. A value goes into the lane that reads it first.
    """
    new = copy.copy(graph)
    new.nodes, new.modules = [copy.copy(node) for node in graph.nodes], []
    first_read = {node.id: node.lane for node in graph.operations()}
    for edge in graph.edges:
        lane = graph.nodes[edge.target].lane
        first_read[edge.source] = min(lane, first_read.get(edge.source, lane))
    numbers: dict[tuple[int, int | None], int | None] = {}
    for lane in range(1 + max(node.lane for node in graph.operations())):
        numbers[lane, None] = len(new.modules)
        new.modules.append(ModuleBox(len(new.modules), f"backward {lane}" if lane else "forward", KIND, None))
        for module in graph.modules:  # a module comes after the module around it
            numbers[lane, module.id] = len(new.modules)
            around = numbers[lane, module.parent]
            new.modules.append(ModuleBox(len(new.modules), module.name, module.kind, around, module.count, module.call))
    forward: dict[int, int | None] = {}  # from a node to its module in the graph, or to its origin's module
    for node in new.nodes:
        if node.operation is None:
            node.lane = first_read.get(node.id, 0)
        if node.module is None and node.origin is not None:
            node.module = forward[node.origin]
        forward[node.id] = node.module
        node.module = numbers[node.lane, node.module]
    return new
