"""Simplifies graphs: collapses modules and folds equal layers. Every result is a new graph."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ...rules.indexing import getitem
from ..record.model import Graph, Node
from .calls import CallsAround
from .drawn import AnyDrawn, DrawnBox, DrawnEdge, DrawnGraph, DrawnNode, Said
from .folding import LOOP, Unit, enough, program
from .lanes import with_lanes
from .looks import worst

NO_OPERATION: Said = {"primitive": None, "keywords": {}, "details": "", "source": None}  # in a box of a module


def simpler(graph: AnyDrawn, *, depth: int | None = None) -> Iterator[AnyDrawn]:
    """Yield the graph as it is drawn if it may be large, then ever simpler ones.

    Equal layers and the steps of a loop are drawn once. Then modules become boxes, unless ``depth`` says which ones do.
    """
    whole, outer = graph, 0
    if any(node.lane for node in graph.operations):
        whole, outer = _with_modules_in_use(with_lanes(whole)), 1  # the lanes are modules around all others
    if depth is not None:
        yield collapse(whole, depth + outer)
        yield collapse(fold(whole), depth + outer)
        return
    yield whole
    folded = fold(whole)
    yield folded
    deepest = max((len(folded.around(module.id)) for module in folded.modules), default=0)
    yield from (collapse(folded, depth) for depth in reversed(range(deepest)))  # the innermost modules first


def collapse(graph: AnyDrawn, depth: int) -> AnyDrawn:
    """Draw each module at nesting level ``depth`` (0: the outermost) as one node of the kind "module".

    Its name and operation are the module's path and class. It has the shape, dtype and gradient of its last operation, and
    what is wrong inside in ``culprit``. A value that only one module reads goes into its box, except data that the program has
    handed over. Merged edges keep the name of one argument. They form no cycle, because a box is one call, and the operations
    of a call are consecutive.
    """
    boxes = _boxes(graph, depth)
    data = {n.id: box for n, box in zip(graph.nodes, boxes) if n.given and n.kind == "constant" and box is not None}
    boxes = [None if number in data else box for number, box in enumerate(boxes)]
    last = {box: node.id for node, box in zip(graph.nodes, boxes) if box is not None and node.operation is not None}
    stands_for = [node.id if box is None else last.get(box, node.id) for node, box in zip(graph.nodes, boxes)]
    wrong: dict[int, float] = {}
    for edge in graph.edges:
        number = stands_for[edge.target]
        if edge.verdict == "wrong" and stands_for[edge.source] == number:
            wrong[number] = max(edge.error or 0.0, wrong.get(number, 0.0))
    said: dict[int, Said] = {number: {"module": graph.modules[box].parent} for number, box in data.items()}
    for number, inside in _groups(graph, stands_for).items():
        box = boxes[number]
        if box is not None and box in last:
            module, culprit = graph.modules[box], next(filter(None, (node.culprit for node in inside)), "")
            said[number] = {
                "tainted": any(node.tainted for node in inside),
                "kind": "loss" if graph.nodes[number].kind == "loss" else "module",
                "name": module.name,
                "operation": module.kind,
                "label": module.title,
                "stem": module.title,
                "module": module.parent,
                "copies": module.count,
                "culprit": f"derivative wrong by {wrong[number]:.2g}" if number in wrong else culprit,
                **NO_OPERATION,
            }
    return _with_modules_in_use(_merged(graph, stands_for, said, boxes=set(last.values())))


def fold(graph: AnyDrawn) -> AnyDrawn:
    """Draw consecutive equal layers once, and the equal steps of a loop too. ``DrawnBox.count`` is their number.

    :func:`.folding.program` finds them, so pages show the same ones. A step is drawn separately if it differs in a gradient
    that is zero, not finite or missing, or in a verdict. The first of equal steps stays. Edges from the last
    step begin at the first one instead, and edges between the steps are dropped.
    """
    found = _Fold(graph)
    groups = _groups(graph, found.stands_for)
    said = {number: {"module": found.module(copies[0])} | _of_copies(copies) for number, copies in groups.items()}
    folded = _merged(dataclasses.replace(graph, modules=found.modules), found.stands_for, said)
    inside = [edge for edge in folded.edges if edge.source < edge.target]  # the others join two steps
    return dataclasses.replace(folded, edges=inside)


def _of_copies(copies: Sequence[DrawnNode]) -> dict[str, Any]:
    """Return what differs from the first one in the node that stands for equal ones."""
    if len(copies) == 1:
        return {}
    norms = [n.gradient for n in copies if n.gradient]
    return {
        "tainted": any(n.tainted for n in copies),
        "spread": (min(norms), max(norms)) if norms and all(map(math.isfinite, norms)) else None,
        "signed": copies[0].signed if len({n.signed for n in copies}) == 1 else None,
        "held": copies[0].held if len({n.held for n in copies}) == 1 else None,
        "label": copies[0].stem or copies[0].label,
    }


class _Fold:
    """A walk through the units of a graph, from outside to inside.

    Attributes:
        modules: the modules that are drawn, and a box around the first step of each loop.
        stands_for: the node that is drawn instead, for each node.
    """

    def __init__(self, graph: DrawnGraph) -> None:
        self.graph = graph
        self.into = graph.edges_into
        self.readers: dict[int, set[int]] = defaultdict(set)
        for edge in graph.edges:
            self.readers[edge.source].add(edge.target)
        self.stands_for = list(range(len(graph.nodes)))
        self.calls = CallsAround(graph)
        self.loops: Counter[int | None] = Counter()  # for each module, the loops in it that no variable names
        self.numbers: dict[int | None, int | None] = {None: None}  # from the old to the new ids of the drawn modules
        self.homes: dict[int, int] = {}  # from a node to the box around its step
        self.modules: list[DrawnBox] = []
        waiting: list[tuple[Unit, int | None, int]] = [(program(graph), None, 1)]
        while waiting:  # no recursion, because modules may be nested deeper than Python's limit
            waiting += reversed(list(self.inside(*waiting.pop())))
        self.number_calls()
        self.stands_for = [self.stands_for[number] for number in self.stands_for]

    def module(self, node: DrawnNode) -> int | None:
        """Return the id of the box around a node."""
        return self.homes.get(node.id, self.numbers.get(node.module))

    def inside(self, unit: Unit, around: int | None, count: int) -> Iterator[tuple[Unit, int | None, int]]:
        """Yield the drawn units in a unit, each with the module around it and the number of equal units it stands for."""
        if unit.kind == LOOP:
            yield from self.steps(unit, around)
            return
        if unit.module is not None:
            module = self.graph.modules[unit.module]
            around = self.numbers[unit.module] = self.box(module.name, module.kind, around, count, module.call)
        for inner in itertools.chain(*unit.iterations):
            yield inner, around, 1

    def steps(self, loop: Unit, around: int | None) -> Iterator[tuple[Unit, int | None, int]]:
        """Yield the steps of a loop, but only the first of those that look the same."""
        own = [self.own_values(step) for step in loop.operations]
        nodes = []
        for step, values in zip(loop.operations, own):
            usual = (value for operand, value in values.items() if operand in own[1])  # not the loop's initial values
            nodes.append([self.graph.nodes[number] for number in sorted({*step, *usual})])
        every = zip(nodes, loop.iterations, loop.operations)
        for _, equal in groupby(every, key=lambda step: _look(step[0], self.into)):
            steps = list(equal)
            first, units, _ = steps[0]
            if not enough(units, len(steps)):
                yield from ((unit, around, 1) for _, several, _ in steps for unit in several)
                continue
            for twins, _, _ in steps[1:]:
                for node, twin in zip(twins, first):
                    self.stands_for[node.id] = twin.id
            if loop.module is not None:  # layers have boxes
                yield units[0], around, len(steps)
                continue
            name = self.calls.title([operations for _, _, operations in steps])
            if not name:
                self.loops[around] += 1
                name = LOOP if self.loops[around] == 1 else f"{LOOP} {self.loops[around]}"
            box = self.box(name, LOOP, around, len(steps))
            for node in first:
                if self.homes.get(node.id, self.numbers.get(node.module, -1)) == around:
                    self.homes[node.id] = box
            yield from ((unit, box, 1) for unit in units)

    def box(self, name: str, kind: str, around: int | None, count: int, call: int | None = None) -> int:
        self.modules.append(DrawnBox(len(self.modules), name, kind, around, call, count))
        return self.modules[-1].id

    def number_calls(self) -> None:
        """Number the calls of a module from 1 in what stands for several rounds. The only call there has no number."""
        folded: dict[int | None, int | None] = {None: None}  # for each box, the innermost one that stands for several
        calls: dict[tuple[int, str], list[DrawnBox]] = defaultdict(list)
        for box in self.modules:
            around = folded[box.parent]
            folded[box.id] = box.id if box.count > 1 else around
            if box.call is not None and around is not None:
                calls[around, box.name].append(box)
        for boxes in calls.values():
            number = 1
            for box in boxes:
                call = None if len(boxes) == box.count == 1 else number
                self.modules[box.id] = dataclasses.replace(box, call=call)
                number += box.count

    def own_values(self, step: Sequence[int]) -> dict[int, int]:
        """Return the values that only this step reads, by the number of the operand."""
        inside = set(step)
        read = enumerate(edge.source for operation in step for edge in self.into[operation])
        return {i: v for i, v in read if self.graph.nodes[v].operation is None and self.readers[v] <= inside}


def _boxes(graph: Graph, depth: int) -> list[int | None]:
    """Return for each node the module around it at nesting level ``depth``."""
    around = [graph.around(module.id)[depth : depth + 1] for module in graph.modules]
    return [around[node.module][0] if node.module is not None and around[node.module] else None for node in graph.nodes]


def _look(nodes: Sequence[DrawnNode], into: Mapping[int, Sequence[DrawnEdge]]) -> Hashable:
    """Return a key that is equal for steps that may be drawn as one."""
    local = {node.id: i for i, node in enumerate(nodes)}
    return tuple(
        (
            *(node.kind, node.operation, node.shape, node.dtype, _keywords(node)),
            *(node.tainted, node.lane, _state(node.gradient)),
            tuple((edge.argument, local.get(edge.source, -1), edge.output) for edge in into.get(node.id, ())),
            tuple(edge.verdict for edge in into.get(node.id, ())),
        )
        for node in nodes
    )


def _keywords(node: Node) -> str:
    """Return the keywords of an operation as text, without an index, which differs in each step."""
    return "" if node.operation is None or node.primitive is getitem else node.details


def _state(gradient: float | None) -> str:
    return "none" if gradient is None else "zero" if gradient == 0 else "number" if math.isfinite(gradient) else "bad"


def _groups(graph: DrawnGraph, stands_for: Sequence[int]) -> dict[int, list[DrawnNode]]:
    """Return for each drawn node the nodes that it stands for."""
    groups: dict[int, list[DrawnNode]] = {number: [] for number in sorted(set(stands_for))}
    for node, number in zip(graph.nodes, stands_for):
        groups[number].append(node)
    return groups


def _merged(
    graph: AnyDrawn,
    stands_for: Sequence[int],
    said: Mapping[int, Said],
    boxes: Collection[int] = (),
) -> AnyDrawn:
    """Return a graph of the nodes that stand for themselves. The edges of any other node move to the node that replaces it.

    Equal edges are merged, and edges inside one stand-in are dropped. If a node is in ``boxes``, only one edge joins it to
    another node. ``said`` has fields of nodes that change.
    """
    kept = [node for node, number in zip(graph.nodes, stands_for) if number == node.id]
    position = {node.id: i for i, node in enumerate(kept)}
    nodes = []
    for i, node in enumerate(kept):
        origin = None if node.origin is None else position[stands_for[node.origin]]
        changed = {"id": i, "origin": origin, **said.get(node.id, {})}
        nodes.append(
            dataclasses.replace(node, **changed) if changed != {"id": node.id, "origin": node.origin} else node
        )
    edges: dict[Hashable, DrawnEdge] = {}
    for edge in graph.edges:
        source, target = stands_for[edge.source], stands_for[edge.target]
        if source == target:
            continue
        boxed = source in boxes or target in boxes
        key = (source, target) if boxed else (source, target, edge.argument, edge.output)
        if key not in edges:
            ends = {"source": position[source], "target": position[target], "output": None if boxed else edge.output}
            edges[key] = dataclasses.replace(edge, **ends)  # type: ignore[arg-type]
        elif worst([edge, edges[key]]) is edge:
            checked = {name: getattr(edge, name) for name in ("error", "uncertainty", "verdict", "reason")}
            edges[key] = dataclasses.replace(edges[key], **checked)
    graph_ends = [(position[stands_for[number]], output) for number, output in graph.ends]
    return dataclasses.replace(graph, nodes=nodes, edges=list(edges.values()), ends=graph_ends)


def _with_modules_in_use(graph: AnyDrawn) -> AnyDrawn:
    """Return the graph without the modules that have no drawn node."""
    used: set[int | None] = {node.module for node in graph.nodes}
    for module in reversed(graph.modules):
        if module.id in used:
            used.add(module.parent)
    kept = [module for module in graph.modules if module.id in used]
    if len(kept) == len(graph.modules):
        return graph
    numbers: dict[int | None, int | None] = {None: None} | {module.id: i for i, module in enumerate(kept)}
    modules = [dataclasses.replace(box, id=i, parent=numbers[box.parent]) for i, box in enumerate(kept)]
    nodes = [dataclasses.replace(node, module=numbers[node.module]) for node in graph.nodes]
    return dataclasses.replace(graph, nodes=nodes, modules=modules)
