"""Smaller graphs of large ones: modules as one box, equal layers as one, without views. Each gives a new graph."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Edge, Graph, Node

# Operations that only look at the same numbers in another way.
VIEWS = {"reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "positive"}


def collapse(graph: Graph, depth: int) -> Graph:
    """Each module at nesting level ``depth`` (0: the outermost) as one node of the kind "module".

    Its name and operation are the module's path and class, its shape, dtype and gradient those of the last operation in it,
    and ``Node.count`` says how many operations it stands for. A value that only one module reads goes into its box.
    """
    level = _levels(graph)

    def box(node: Node) -> int | None:
        number = node.module
        while number is not None and level[number] > depth:
            number = graph.modules[number].parent
        return number if number is not None and level[number] == depth else None

    return _contract(graph, box, boxed=True)


def depth_for(graph: Graph, most: int) -> int | None:
    """The greatest depth at which the collapsed graph has at most ``most`` nodes; None if it has that few as it is."""
    if len(graph.nodes) <= most:
        return None
    deepest = max(_levels(graph), default=-1)
    fits = (depth for depth in range(deepest, -1, -1) if len(collapse(graph, depth).nodes) <= most)
    return next(fits, 0)


def fold(graph: Graph) -> Graph:
    """Sibling modules that do the same one after the other, such as the layers of a stack, as one: ``Module.count`` is 6.

    Two do the same if their operations, their shapes, and who reads what among them are the same. The first stays; what came
    from the last comes from it, and the edges from one to the next are gone.
    """
    into = graph.edges_into()
    inside: dict[int, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        number = node.module
        while number is not None:
            inside[number].append(node)
            number = graph.modules[number].parent
    first_of: dict[Hashable, int] = {}
    stays: dict[int, int] = {}  # a node of a folded module -> the same node of the first one
    counts: dict[int, int] = defaultdict(lambda: 1)
    gone: set[int] = set()
    for module in graph.modules:
        if module.parent in gone or not inside[module.id]:
            gone.add(module.id)
            continue
        local = {node.id: i for i, node in enumerate(inside[module.id])}
        shape = tuple(
            (n.kind, n.operation, n.shape, tuple((e.argument, local.get(e.source, -1)) for e in into.get(n.id, [])))
            for n in inside[module.id]
        )
        key = (module.parent, module.kind, shape)
        first = first_of.setdefault(key, module.id)
        if first != module.id and _follow(inside[module.id], into, inside[first], stays):
            counts[first] += 1
            gone.add(module.id)
            stays.update({node.id: stays.get(twin.id, twin.id) for node, twin in zip(inside[module.id], inside[first])})
    folded = _contract(graph, lambda node: stays.get(node.id), boxed=False)
    for module in folded.modules:
        original = next(m for m in graph.modules if (m.name, m.kind) == (module.name, module.kind) and m.id not in gone)
        module.count = counts[original.id]
    return folded


def _follow(nodes: list[Node], into: Mapping[int, list[Edge]], first: list[Node], stays: Mapping[int, int]) -> bool:
    """Whether a module reads what one that was folded into ``first``, or ``first`` itself, has made."""
    made = {node.id for node in first}
    sources = {edge.source for node in nodes for edge in into.get(node.id, [])}
    return any(stays.get(source, source) in made for source in sources - {node.id for node in nodes})


def without_views(graph: Graph) -> Graph:
    """Without the operations that only reshape: what read them reads their operand."""
    into = graph.edges_into()
    ends = {number for number, _ in graph.ends}
    source: dict[int, int] = {}
    for node in graph.operations():
        if node.operation in VIEWS and len(into[node.id]) == 1 and node.id not in ends and node.kind == "operation":
            before = into[node.id][0].source
            source[node.id] = source.get(before, before)
    return _contract(graph, lambda node: source.get(node.id), boxed=False)


def _contract(graph: Graph, represent: Callable[[Node], int | None], boxed: bool) -> Graph:
    """A graph in which nodes are represented by others.

    ``represent`` gives for a node the number of its box (``boxed``: a module, drawn as one node), or of the node that takes
    its place; None: itself.
    """
    keys = [represent(node) for node in graph.nodes]
    stands_for: dict[int, int] = {}  # node -> node whose copy is drawn for it
    last: dict[int, int] = {}  # box -> its last operation
    if boxed:
        for node, key in zip(graph.nodes, keys):
            if key is not None and node.operation is not None:
                last[key] = node.id
    for node, key in zip(graph.nodes, keys):
        stands_for[node.id] = node.id if key is None else last.get(key, node.id) if boxed else key
    new = dataclasses.replace(graph, nodes=[], edges=[], modules=[], ends=[])
    used = {node.module for node in graph.nodes if node.module is not None and stands_for[node.id] == node.id}
    counts = Counter(key for node, key in zip(graph.nodes, keys) if node.operation is not None)
    modules = _keep_modules(graph, new, used, set(last) if boxed else set())
    position: dict[int, int] = {}
    for node, key in zip(graph.nodes, keys):
        if stands_for[node.id] != node.id:
            continue
        number = position[node.id] = len(new.nodes)
        copied = dataclasses.replace(
            node, id=number, module=modules.get(node.module) if node.module is not None else None
        )
        if boxed and key is not None and key in last:
            module = graph.modules[key]
            parent = modules.get(module.parent) if module.parent is not None else None
            copied.kind = node.kind if node.kind == "loss" else "module"
            copied.name, copied.operation, copied.module, copied.count = module.name, module.kind, parent, counts[key]
        new.nodes.append(copied)
    seen = set()
    for edge in graph.edges:
        source, target = position[stands_for[edge.source]], position[stands_for[edge.target]]
        key_of_edge = (source, target) if boxed else (source, target, edge.argument, edge.output)
        if source != target and key_of_edge not in seen:
            seen.add(key_of_edge)
            new.edges.append(dataclasses.replace(edge, source=source, target=target))
    new.ends = [(position[stands_for[number]], output) for number, output in graph.ends]
    return new


def _keep_modules(graph: Graph, new: Graph, used: Iterable[int], boxes: set[int]) -> dict[int, int]:
    """Copy the modules that still have something drawn in them. Returns their new numbers."""
    wanted: set[int] = set()
    for start in used:
        number: int | None = start
        while number is not None:
            wanted.add(number)
            number = graph.modules[number].parent
    around: set[int] = set(boxes)
    for module in graph.modules:  # a module comes after the one around it
        if module.parent in around:
            around.add(module.id)
    numbers: dict[int, int] = {}
    for module in graph.modules:
        if module.id in wanted and module.id not in around:
            parent = None if module.parent is None else numbers.get(module.parent)
            numbers[module.id] = len(new.modules)
            new.modules.append(dataclasses.replace(module, id=len(new.modules), parent=parent))
    return numbers


def _levels(graph: Graph) -> list[int]:
    """How deep each module is nested."""
    levels: list[int] = []
    for module in graph.modules:
        levels.append(0 if module.parent is None else levels[module.parent] + 1)
    return levels
