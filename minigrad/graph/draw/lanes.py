"""Puts the forward pass and each recorded backward pass (``create_graph=True``) into a separate lane of a drawing."""

from __future__ import annotations

import dataclasses

from .drawn import AnyDrawn, DrawnBox

KIND = "lane"


def with_lanes(graph: AnyDrawn) -> AnyDrawn:
    """Return the graph with a module around each pass: "forward", "backward 1", "backward 2" ...

    Each lane has all modules, even empty ones. An operation of a backward pass goes into the same module as the forward
    operation whose rule it is part of, so every lane has the same boxes. A value goes into the lane that reads it first.
    """
    first_read: dict[int, int] = {}
    for edge in graph.edges:
        lane = graph.nodes[edge.target].lane
        first_read[edge.source] = min(lane, first_read.get(edge.source, lane))
    numbers: dict[tuple[int, int | None], int | None] = {}
    modules: list[DrawnBox] = []
    for lane in range(1 + max(node.lane for node in graph.operations)):
        numbers[lane, None] = len(modules)
        modules.append(DrawnBox(len(modules), f"backward {lane}" if lane else "forward", KIND, None))
        for module in graph.modules:  # a module comes after the module around it
            numbers[lane, module.id] = len(modules)
            modules.append(dataclasses.replace(module, id=len(modules), parent=numbers[lane, module.parent]))
    forward: dict[int, int | None] = {}  # from a node to its module in the graph, or to its origin's module
    nodes = []
    for node in graph.nodes:
        lane = node.lane if node.operation is not None else first_read.get(node.id, 0)
        around = forward[node.origin] if node.module is None and node.origin is not None else node.module
        forward[node.id] = around
        nodes.append(dataclasses.replace(node, lane=lane, module=numbers[lane, around]))
    return dataclasses.replace(graph, nodes=nodes, modules=modules)
