"""Smaller graphs of large ones: modules as one box, equal layers as one, without views. Each gives a new graph."""

from __future__ import annotations

import copy
import math
import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from ..record.model import AnyGraph, Edge, Graph, Node
from .lanes import with_lanes
from .looks import worst
from .loops import KIND as LOOP, with_loops

# Operations that only look at the same numbers in another way.
VIEWS = {"reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "positive"}


def simplified(graph: AnyGraph, most: float, *, depth: int | None = None, views: bool = True) -> AnyGraph:
    """The graph as it is drawn: as ``views`` and ``depth`` say, and if that makes more than ``most`` nodes, smaller.

    First equal layers and the rounds of a loop become one; if that is not enough and ``depth`` leaves it open, modules
    become boxes.
    """
    whole = graph if views else without_views(graph)
    outer = 0
    if any(node.lane for node in graph.operations()):
        whole, outer = with_lanes(whole), 1  # the lanes are modules around all others
    depth = None if depth is None else depth + outer
    small = whole if depth is None else collapse(whole, depth)
    if len(small.nodes) <= most:
        return small
    folded = fold(with_loops(whole, _look_of_round))
    depth = depth_for(folded, most) if depth is None else depth
    return folded if depth is None else collapse(folded, depth)


def collapse(graph: AnyGraph, depth: int) -> AnyGraph:
    """Each module at nesting level ``depth`` (0: the outermost) as one node of the kind "module".

    Its name and operation are the module's path and class, its shape, dtype and gradient those of the last operation in it, its
    times, bytes and number of operations (``Node.count``) those of all, its ``error`` and ``verdict`` the worst. A value that
    only one module reads goes into its box. Edges keep the name of one argument, and where a module was called several times,
    go round in circles.
    """
    boxes = _boxes(graph, depth)
    last = {box: node.id for node, box in zip(graph.nodes, boxes) if box is not None and node.operation is not None}
    stands_for = [node.id if box is None else last.get(box, node.id) for node, box in zip(graph.nodes, boxes)]
    new = _merged(graph, stands_for, boxes=set(last.values()))
    drawn = sorted(set(stands_for))
    inside: dict[int, list[Node]] = defaultdict(list)
    for node, number in zip(graph.nodes, stands_for):
        inside[number].append(node)
    checked: dict[int, list[Edge]] = defaultdict(list)
    for edge in graph.edges:
        if stands_for[edge.source] == stands_for[edge.target]:
            checked[stands_for[edge.source]].append(edge)
    for node, number in zip(new.nodes, drawn):
        box = boxes[number]
        if box is not None and box in last:
            module = graph.modules[box]
            _sum_up(node, inside[number])
            changes = {n.change for n in inside[number]}
            node.change = changes.pop() if len(changes) == 1 else "changed"
            found = worst(checked[number])
            node.error, node.verdict = (found.error, found.verdict) if found else (None, None)
            node.kind = "loss" if node.kind == "loss" else "module"
            node.name, node.operation, node.module, node.copies = module.name, module.kind, module.parent, module.count
            node.primitive, node.keywords, node.details, node.source = None, {}, "", None
            node.label = module.name
    return _with_modules_in_use(new)


def depth_for(graph: Graph, most: float) -> int | None:
    """The greatest depth at which the collapsed graph has at most ``most`` nodes; None if it has that few as it is."""
    if len(graph.nodes) <= most:
        return None
    for depth in range(max(_levels(graph), default=-1), 0, -1):
        boxes = _boxes(graph, depth)
        if sum(box is None for box in boxes) + len({box for box in boxes if box is not None}) <= most:
            return depth
    return 0


def fold(graph: AnyGraph) -> AnyGraph:
    """Sibling modules that do the same one after the other, such as layers of a stack, as one: ``ModuleBox.count`` is 6.

    Two do the same if their operations, their shapes, and who reads what among them are the same, and if both or neither
    stand out: by a gradient that is zero, not finite or missing, a wrong derivative, a change. The first stays; what came from
    the last comes from it, and the edges from one to the next are gone. Times and bytes are those of all.
    """
    stands_for, counts = _twins(graph)
    folded = _merged(graph, stands_for)
    folded.edges = [
        edge for edge in folded.edges if edge.source < edge.target
    ]  # from one to the next: back to the first
    copies: dict[int, list[Node]] = defaultdict(list)
    for node, number in zip(graph.nodes, stands_for):
        copies[number].append(node)
    for node, number in zip(folded.nodes, sorted(copies)):
        if len(copies[number]) > 1:
            _sum_up(node, copies[number])
            norms = [n.gradient for n in copies[number] if n.gradient]
            node.spread = (min(norms), max(norms)) if norms and all(map(math.isfinite, norms)) else None
            node.signed = node.signed if len({n.signed for n in copies[number]}) == 1 else None
            node.label = re.sub(r"\[\d+\]$", "", node.label)
    for module in folded.modules:
        module.count *= counts.get(module.id, 1)
    return _with_modules_in_use(folded)


def _twins(graph: Graph) -> tuple[list[int], dict[int, int]]:
    """For each node the one that stands for it in :func:`fold`, and how many modules each module with twins stands for."""
    into = graph.edges_into()
    inside: dict[int, list[Node]] = defaultdict(list)
    for node in graph.nodes:
        number = node.module
        while number is not None:
            inside[number].append(node)
            number = graph.modules[number].parent
    stands_for = list(range(len(graph.nodes)))
    first_of: dict[Hashable, int] = {}
    counts: dict[int, int] = {}
    gone: set[int | None] = set()
    for module in graph.modules:
        nodes = inside[module.id]
        if module.parent in gone or not nodes:
            gone.add(module.id)
            continue
        loop = module.kind == LOOP
        look = module.name if loop else _look(nodes, into)  # the rounds of a loop have been compared
        first = first_of.setdefault((module.parent, module.kind, look), module.id)
        twins = {node.id for node in inside[first]}
        reads = {edge.source for node in nodes for edge in into.get(node.id, ())} - {node.id for node in nodes}
        if first != module.id and (loop or any(stands_for[source] in twins for source in reads)):
            counts[first] = counts.get(first, 1) + 1
            gone.add(module.id)
            for node, twin in zip(nodes, inside[first]):
                stands_for[node.id] = twin.id
    for number, twin_id in enumerate(stands_for):  # the loops in twins come after the twins
        stands_for[number] = stands_for[twin_id]
    return stands_for, counts


def without_views(graph: AnyGraph) -> AnyGraph:
    """Without the operations that only reshape: what read them reads their operand."""
    into = graph.edges_into()
    ends = {number for number, _ in graph.ends}
    stands_for = list(range(len(graph.nodes)))
    outputs: dict[int, int | None] = {}
    for node in graph.operations():
        if node.operation in VIEWS and len(into[node.id]) == 1 and node.id not in ends and node.kind == "operation":
            (edge,) = into[node.id]
            stands_for[node.id] = stands_for[edge.source]
            outputs[node.id] = outputs.get(edge.source, edge.output)
    return _with_modules_in_use(_merged(graph, stands_for, outputs=outputs))


def _boxes(graph: Graph, depth: int) -> list[int | None]:
    """For each node the module at nesting level ``depth`` that it is in."""
    at_depth: list[int | None] = []  # for each module the one at that level that it is, or is in
    for module, level in zip(graph.modules, _levels(graph)):
        outer = None if module.parent is None else at_depth[module.parent]
        at_depth.append(module.id if level == depth else outer)
    return [None if node.module is None else at_depth[node.module] for node in graph.nodes]


def _levels(graph: Graph) -> list[int]:
    """How deep each module is nested."""
    levels: list[int] = []
    for module in graph.modules:  # a module comes after the one around it
        levels.append(0 if module.parent is None else levels[module.parent] + 1)
    return levels


def _look_of_round(nodes: Sequence[Node], into: dict[int, list[Edge]]) -> Hashable:
    """What must be equal of two rounds of a loop: not the keywords, such as an index."""
    return _look(nodes, into, details=False)


def _look(nodes: Sequence[Node], into: dict[int, list[Edge]], details: bool = True) -> Hashable:
    """What must be equal of two modules that are drawn as one."""
    local = {node.id: i for i, node in enumerate(nodes)}
    return tuple(
        (
            *(node.kind, node.operation, node.shape, node.dtype, node.details if node.operation and details else ""),
            *(node.change, node.tainted, node.lane, _state(node.gradient)),
            tuple((edge.argument, local.get(edge.source, -1), edge.output) for edge in into.get(node.id, ())),
            tuple(edge.verdict for edge in into.get(node.id, ())),
        )
        for node in nodes
    )


def _state(gradient: float | None) -> str:
    return "none" if gradient is None else "zero" if gradient == 0 else "number" if math.isfinite(gradient) else "bad"


def _sum_up(node: Node, several: Iterable[Node]) -> None:
    """Make ``node`` stand for several: with the times, bytes and operations of all of them."""
    several = list(several)
    seconds = [n.seconds for n in several if n.seconds is not None]
    backward_seconds = [n.backward_seconds for n in several if n.backward_seconds is not None]
    node.seconds = sum(seconds) if seconds else None
    node.backward_seconds = sum(backward_seconds) if backward_seconds else None
    node.kept = {number: size for n in several for number, size in n.kept.items()}
    node.tainted = any(n.tainted for n in several)
    node.count = sum(n.count for n in several if n.operation is not None) or 1


def _merged(
    graph: AnyGraph,
    stands_for: Sequence[int],
    boxes: Collection[int] = (),
    outputs: Mapping[int, int | None] | None = None,
) -> AnyGraph:
    """A graph of those nodes that stand for themselves; an edge at another is drawn at the one that stands for it.

    Equal edges become one, and those inside a stand-in are gone. Between two nodes there is only one edge if either is in
    ``boxes``. ``outputs`` says of nodes that are gone which of several outputs of their stand-in they were.
    """
    outputs = outputs or {}
    new = copy.copy(graph)
    new.nodes, new.edges = [], []
    new.modules = [copy.copy(module) for module in graph.modules]
    position: dict[int, int] = {}
    for node, number in zip(graph.nodes, stands_for):
        if number == node.id:
            position[number] = len(new.nodes)
            copied = copy.copy(node)
            copied.id = len(new.nodes)
            new.nodes.append(copied)
    for node in new.nodes:
        node.origin = None if node.origin is None else position[stands_for[node.origin]]
    seen: dict[Hashable, Edge] = {}
    for edge in graph.edges:
        source, target = stands_for[edge.source], stands_for[edge.target]
        output = outputs.get(edge.source, edge.output)
        if source == target:
            continue
        boxed = source in boxes or target in boxes
        key = (source, target) if boxed else (source, target, edge.argument, output)
        if key not in seen:
            drawn = seen[key] = copy.copy(edge)
            drawn.source, drawn.target, drawn.output = position[source], position[target], None if boxed else output
            new.edges.append(drawn)
        elif (found := worst([edge, seen[key]])) is edge:
            seen[key].error, seen[key].uncertainty = found.error, found.uncertainty
            seen[key].verdict, seen[key].reason = found.verdict, found.reason
    new.ends = [(position[stands_for[number]], output) for number, output in graph.ends]
    return new


def _with_modules_in_use(graph: AnyGraph) -> AnyGraph:
    """Drop the modules in which nothing is drawn any more, in place."""
    used: set[int | None] = {node.module for node in graph.nodes}
    for module in reversed(graph.modules):
        if module.id in used:
            used.add(module.parent)
    numbers: dict[int | None, int | None] = {None: None}
    kept = [module for module in graph.modules if module.id in used]
    for i, module in enumerate(kept):
        numbers[module.id] = i
        module.id, module.parent = i, numbers[module.parent]
    for node in graph.nodes:
        node.module = numbers[node.module]
    graph.modules = kept
    return graph
