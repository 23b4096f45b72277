"""Builds the tree of a page's scenes, which decides where each operation and value is shown."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from ..draw.calls import CallsAround
from ..draw.folding import LOOP, Unit, program, scene
from ..record.model import Edge, Graph

AT_ONCE = 12  # boxes that a pane of the page shows together with their names and values
MOST_IN_SCENE = 60
MOST_IN_PART = 50
PART = "part"  # the kind of a scene that is a part of a long one
STATEMENT = "statement"  # the kind of a scene with the operations of one statement
MOST_OPERANDS = 24  # operands of one operation that are boxes in its scene


@dataclass(eq=False, slots=True)
class Stage:
    """The part of a scene that is shown at once: all of it, or one step of a loop.

    Attributes:
        unit: the scene.
        step: the step of a loop, from 0; else 0.
        parent: the stage in which the scene is a box.
        values: the ids of the values (not operations) that are boxes in it.
    """

    unit: Unit
    step: int
    parent: Stage | None
    values: list[int] = field(default_factory=list)

    def path(self) -> list[Stage]:
        """Return the stages around it, outermost first, and itself."""
        found, around = [self], self.parent
        while around is not None:
            found.append(around)
            around = around.parent
        return found[::-1]


class SceneTree:
    """The tree of scenes, and each node's stage.

    Attributes:
        program: the outermost scene.
        stages: the stages of each scene, one per step.
        home: the stage in which each node is a box.
        titles: the title of each scene, by id(unit).
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.out_of: dict[int, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            self.out_of[edge.source].append(edge)
        self.stages: dict[int, list[Stage]] = {}  # by id(unit)
        self.home: dict[int, Stage] = {}
        self.titles: dict[int, str] = {}  # by id(unit)
        self.numbers = {id(edge): number for number, edge in enumerate(graph.edges)}
        self._weights = self._boxes_with()
        self.program = program(graph)
        self._place(self.program, None)
        self._place_values()
        for unit in self.scenes():
            if id(unit) not in self.titles:
                self.titles[id(unit)] = self._title(unit)

    @cached_property
    def calls(self) -> CallsAround:
        """The calls and rounds around operations, computed when a long scene or a loop first asks."""
        return CallsAround(self.graph)

    def scenes(self) -> list[Unit]:
        """Return all scenes, each before the scenes inside it."""
        order, todo = [], [self.program]
        while todo:
            unit = todo.pop()
            order.append(unit)
            inside = [item for step in unit.iterations for item in step if item.node is None]
            todo += reversed(inside)
        return order

    def _boxes_with(self) -> dict[int, int]:
        """Return the number of boxes of each operation: its own, and those of values that it is the first to read."""
        weights: dict[int, int] = {}
        seen: set[int] = set()
        for operation, edges in self.graph.edges_into.items():
            new = [self.graph.nodes[number] for number in {edge.source for edge in edges} - seen]
            values = {node.id for node in new if node.operation is None and not node.numeral}
            seen |= values
            weights[operation] = 1 + (len(values) if len(values) < MOST_OPERANDS else 1)
        return weights

    def _place(self, unit: Unit, parent: Stage | None) -> None:
        """Divide long scenes into parts, and note the stages of all units inside."""
        todo = [(unit, parent)]
        while todo:  # no recursion, because modules may be nested deeper than Python's limit
            unit, parent = todo.pop()
            if unit.kind == "loop" and unit.module is not None:  # the steps of a stack are the contents of its layers
                unit.iterations = [layer.iterations[0] for (layer,) in unit.iterations]
            if len(unit.iterations) == 1:
                unit.iterations = [self._opened(unit.iterations[0])]
            if _weight(unit.iterations[0], self._weights) > AT_ONCE and unit.kind != STATEMENT:
                unit.iterations = self._by_statement(unit.iterations)
            if len(unit.iterations) == 1 and _weight(unit.iterations[0], self._weights) > MOST_IN_SCENE:
                unit.iterations = [self._by_call(unit.iterations[0])]
            unit.iterations = parted(unit.iterations, self._weights)
            stages = [Stage(unit, t, parent) for t in range(len(unit.iterations))]
            self.stages[id(unit)] = stages
            for stage, step in zip(stages, unit.iterations):
                for item in step:
                    if item.node is not None:
                        self.home[item.node] = stage
                    else:
                        todo.append((item, stage))

    def _opened(self, units: list[Unit]) -> list[Unit]:
        """Return the units of a scene, with the contents of a module of modules in its place if all are readable together."""
        for i, unit in enumerate(units):
            inside = unit.iterations[0] if unit.kind == "module" else []
            if any(inner.node is None for inner in inside):
                opened = [*units[:i], *inside, *units[i + 1 :]]
                if _weight(opened, self._weights) <= AT_ONCE:
                    return self._opened(opened)
        return units

    def _by_statement(self, iterations: list[list[Unit]]) -> list[list[Unit]]:
        """Return the units of a scene, with the operations of each statement joined to one unit.

        A statement gives a name to the result of its last operation. Those before it have no names, and only the statement
        reads them. All steps of a loop are joined alike.
        """
        runs = [self._runs(step) for step in iterations]
        return iterations if any(run != runs[0] for run in runs) else _joined(iterations, runs[0], STATEMENT)

    def _runs(self, units: Sequence[Unit]) -> list[tuple[int, int]]:
        """Return where the units of each statement begin and end. Any other unit is a run of its own."""
        unnamed = [unit.node is not None and self.graph.nodes[unit.node].inline for unit in units]
        found: list[tuple[int, int]] = []
        end = len(units)
        while end > 0:
            start, rest = end - 1, {units[end - 1].node}
            if units[end - 1].node is not None and not unnamed[end - 1]:
                while start > 0 and unnamed[start - 1] and self._readers(units[start - 1].node) <= rest:
                    start -= 1
                    rest.add(units[start].node)
            found.append((start, end))
            end = start
        return found[::-1]

    def _readers(self, node: int | None) -> set[int | None]:
        return set() if node is None else {edge.target for edge in self.out_of[node]}

    def _by_call(self, units: list[Unit]) -> list[Unit]:
        """Return the units of a long scene, with the units of each call and of each round of a loop joined to one unit."""
        found = []
        for name, together in self.calls.grouped(units):
            if name and len(together) > 1:
                together = [scene(PART, -1, [together])]
                self.titles[id(together[0])] = name
            found += together
        return found

    def result(self, unit: Unit) -> int | None:
        """Return the operation whose single result is all that leaves a scene; None for a loop, or if there is none."""
        inside = set(unit.all_operations())
        ends = {end for end, _ in self.graph.ends}
        leaving = [o for o in inside if o in ends or any(edge.target not in inside for edge in self.out_of[o])]
        single = len(leaving) == 1 and not isinstance(self.graph.nodes[leaving[0]].value, tuple)
        return leaving[0] if single and unit.kind != LOOP else None

    def _title(self, unit: Unit) -> str:
        """Return a scene's title: a module's name, a loop with its variable, or a part's first and last value."""
        graph = self.graph
        if unit.module is not None:
            module = graph.modules[unit.module]
            outer = "" if module.parent is None else f"{graph.modules[module.parent].name}."
            name = module.name.removeprefix(outer) or module.kind
            if unit.kind != "loop":
                return name + module.which
            return name if module.call is not None else name.rpartition(".")[0] or module.kind  # layers.0 is in layers
        if unit.kind == "loop":
            last = unit.operations[0][-1]
            return self.calls.title(unit.operations) or graph.nodes[last].stem or graph.nodes[last].operation or ""
        if unit.kind == STATEMENT:
            return graph.nodes[unit.operations[0][-1]].label
        if unit.kind != PART:
            return ""
        values = unit.operations[0] or self.stages[id(unit)][0].values
        return f"{graph.nodes[values[0]].label} … {graph.nodes[values[-1]].label}"

    # --- values ---

    def _place_values(self) -> None:
        """Put each value into the innermost stage that holds all operations that read it."""
        for node in self.graph.nodes:
            if node.operation is None:
                if node.numeral and self.out_of[node.id]:  # the label of its operation shows it
                    self.home[node.id] = self.home[self.out_of[node.id][0].target]
                    continue
                readers = [self.home[edge.target] for edge in self.out_of[node.id]]
                stage = _shared(readers) if readers else self.stages[id(self.program)][0]
                while stage.parent is not None and stage.unit.kind == STATEMENT and not node.expression:
                    stage = stage.parent  # the statement reads it by its name
                while (
                    stage.parent is not None and stage.unit.kind == "module" and node.given and node.kind == "constant"
                ):
                    stage = stage.parent  # the program hands it over to the module: images, for example
                stage.values.append(node.id)
        loops = [stages for stages in self.stages.values() if len(stages) > 1]
        for stages in sorted(loops, key=lambda stages: -len(stages[0].path())):
            self._align(stages)
        for stages in list(self.stages.values()):
            self._gather(stages)
        for stages in self.stages.values():
            for stage in stages:
                self.home |= dict.fromkeys(stage.values, stage)

    def _gather(self, stages: list[Stage]) -> None:
        """Put the values of an operation with many operands, such as a stack, into separate parts."""
        groups: dict[int, list[int]] = defaultdict(list)  # a reader -> indices in the list of values
        for i, value in enumerate(stages[0].values):
            readers = {edge.target for edge in self.out_of[value]}
            if len(readers) == 1:
                groups[readers.pop()].append(i)
        many = [places for places in groups.values() if len(places) >= MOST_OPERANDS]
        gathered = {i for places in many for i in places}
        for stage, step in zip(stages, stages[0].unit.iterations):
            for places in many:
                for k in range(0, len(places), MOST_IN_PART):
                    unit = scene(PART, -1, [[]])
                    values = [stage.values[i] for i in places[k : k + MOST_IN_PART]]
                    self.stages[id(unit)] = [Stage(unit, 0, stage, values)]
                    step.append(unit)
            stage.values = [value for i, value in enumerate(stage.values) if i not in gathered]

    def _align(self, stages: list[Stage]) -> None:
        """Keep in a loop's steps only values with a counterpart in each step. Move the others to the stage around it."""
        columns: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        for t, stage in enumerate(stages):
            places = {o: q for q, o in enumerate(stage.unit.operations[t])}
            for value in stage.values:
                edges = self.out_of[value]
                columns[tuple((places[e.target], e.argument) for e in edges)].append((t, value))
            stage.values = []
        parent = stages[0].parent
        assert parent is not None
        for column in columns.values():
            steps = [t for t, _ in column]
            if steps == list(range(len(stages))):
                for t, value in column:
                    stages[t].values.append(value)
            else:
                parent.values += [value for _, value in column]


def _shared(readers: Sequence[Stage]) -> Stage:
    """Return the innermost stage around all readers; of a scene in parts, the part of the first reader."""
    paths = [reader.path() for reader in readers]
    common = [level[0] for level in zip(*paths) if len(set(level)) == 1]
    parts = itertools.takewhile(lambda stage: stage.unit.kind == PART, paths[0][len(common) :])
    return [common[-1], *parts][-1]


def parted(units: list[list[Unit]], weights: Mapping[int, int]) -> list[list[Unit]]:
    """Return the content of a scene, divided into parts if it is long. Each iteration is divided in the same way.

    Args:
        units: the units of the scene, for each iteration.
        weights: the numbers of boxes of operations. Other units count as 1.
    """
    while _weight(units[0], weights) > MOST_IN_SCENE:
        starts, filled = [0], 0  # of parts with about equal weight
        for i, unit in enumerate(units[0]):
            weight = _weight([unit], weights)
            if filled and filled + weight > MOST_IN_PART:
                starts.append(i)
                filled = 0
            filled += weight
        if len(starts) >= len(units[0]):
            break
        units = _joined(units, list(pairwise([*starts, len(units[0])])), PART)
    return units


def _joined(iterations: list[list[Unit]], runs: Sequence[tuple[int, int]], kind: str) -> list[list[Unit]]:
    """Return the units of each iteration, with those of each run joined to one scene."""
    return [[scene(kind, -1, [step[a:b]]) if b - a > 1 else step[a] for a, b in runs] for step in iterations]


def _weight(units: Sequence[Unit], weights: Mapping[int, int]) -> int:
    return sum(1 if unit.node is None else weights[unit.node] for unit in units)
