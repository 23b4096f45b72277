"""Finds repeated structure in a program: each run of equal steps, and each module, becomes one unit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..record.model import Edge, Graph, ModuleBox, Node
from ..record.rounds import variables_of

LOOP = "loop"  # the kind of a unit, and of the box around it in a drawing

# The fewest equal layers that drawings and pages fold. Two layers are clearer next to each other.
FEWEST_LAYERS = 3
FEWEST_STEPS = 4  # the fewest equal steps of operations that are folded
FEWEST_OPERATIONS = 8  # the fewest operations in all steps together that are folded
PERIODS = (8, 64, 512, 1 << 30)  # the largest period in each round, so that inner loops are found first
CANDIDATES = 6  # periods that are tried from one position
EFFORT = 40  # comparisons for each unit; after them the search ends, and the rest stays unfolded


@dataclass(eq=False, slots=True)
class Unit:
    """A box in a scene: an operation, a value, or another scene.

    Attributes:
        kind: "node", or the kind of a scene: "program", "module", "loop", "part".
        signature: a number that is equal for two units that do the same.
        node: the node's id, for the kind "node".
        iterations: the units in a scene. A loop has one list per step, all of the same length.
        operations: all operations inside, in order of execution, for each iteration.
        module: the module's id, for the kind "module"; for a loop of modules, that of the first one.
    """

    kind: str
    signature: int
    node: int | None = None
    iterations: list[list[Unit]] = field(default_factory=list)
    operations: list[list[int]] = field(default_factory=list)
    module: int | None = None

    def all_operations(self) -> Iterator[int]:
        for iteration in self.operations:
            yield from iteration


def scene(kind: str, signature: int, iterations: list[list[Unit]], module: int | None = None) -> Unit:
    """Return a unit that contains other units and their operations."""
    return Unit(kind, signature, None, iterations, [_operations(step) for step in iterations], module)


def _operations(units: Sequence[Unit]) -> list[int]:
    return sorted(operation for unit in units for operation in unit.all_operations())


def program(graph: Graph) -> Unit:
    """Return the folded units of a whole graph. Pages show them as scenes, and large drawings draw them once."""
    folder = Folder(graph.edges_into())
    content: dict[int | None, list[Unit]] = defaultdict(list)
    for node in graph.operations():
        content[node.module].append(folder.operation(node))
    for module in reversed(graph.modules):  # a module comes after the module around it
        if module.id in content:
            content[module.parent].append(folder.module(module, content.pop(module.id)))
    return scene("program", -1, [folder.folded(content[None])])


def enough(step: Sequence[Unit], count: int) -> bool:
    """Return whether this number of equal steps is folded."""
    if any(unit.kind != "node" for unit in step):
        return count >= FEWEST_LAYERS
    return count >= FEWEST_STEPS and count * len(step) >= FEWEST_OPERATIONS


class Folder:
    """Makes units from a graph's operations, and folds them.

    Args:
        into: the edges into each operation.
    """

    def __init__(self, into: Mapping[int, Sequence[Edge]]) -> None:
        self.into = into
        self._numbers: dict[Hashable, int] = {}
        self._variables: dict[int, dict[tuple[str, str], Any]] = {}  # the loop variables of each operation

    def number(self, key: Hashable) -> int:
        """Return a number for a signature, because numbers are fast to compare."""
        return self._numbers.setdefault(key, len(self._numbers))

    def operation(self, node: Node) -> Unit:
        arguments = tuple(edge.argument for edge in self.into.get(node.id, ()))
        key = (node.operation, node.source and tuple(node.source), node.shape, node.dtype, arguments)
        self._variables[node.id] = variables_of(node)
        return Unit("node", self.number(key), node.id, operations=[[node.id]])

    def module(self, module: ModuleBox, units: list[Unit]) -> Unit:
        unit = scene("module", -1, [self.folded(units)], module.id)
        wiring = tuple(self._wiring(unit.operations[0], 0, _places(unit.operations)))
        stem = re.sub(r"\d+", "#", module.name)  # layers of a stack differ only in numbers, unlike query and key
        inside = tuple(inner.signature for inner in unit.iterations[0])
        unit.signature = self.number((module.kind, stem, inside, wiring))
        return unit

    # --- loops ---

    def folded(self, units: list[Unit]) -> list[Unit]:
        """Return the units in order of execution, with each run of equal steps as one loop."""
        units = sorted(units, key=lambda unit: unit.operations[0][0])
        effort = [EFFORT * len(units)]
        for longest in PERIODS:
            before = 0
            while len(units) != before:
                before = len(units)
                units = self._fold_once(units, longest, effort)
        return units

    def _fold_once(self, units: list[Unit], longest: int, effort: list[int]) -> list[Unit]:
        places: dict[int, list[int]] = {}
        following: list[list[int]] = []
        for i in range(len(units) - 1, -1, -1):
            later = places.setdefault(units[i].signature, [])
            following.append(later[: -CANDIDATES - 1 : -1])
            later.append(i)
        following.reverse()
        result, i = [], 0
        while i < len(units):
            found = None
            for j in following[i]:
                if j - i > longest or effort[0] <= 0:
                    break
                count = self._count(units, i, j - i, effort)
                if count:
                    period = j - i
                    shift = self._shift(units[i : i + period * count], period)
                    moved = self._count(units, i + shift, period, effort) if shift else 0
                    if moved:
                        result += units[i : i + shift]
                        i += shift
                    found = period, moved or count
                    break
            if found is None:
                result.append(units[i])
                i += 1
            else:
                period, count = found
                result.append(self._loop(units[i : i + period * count], period))
                i += period * count
        return result

    def _count(self, units: Sequence[Unit], start: int, period: int, effort: list[int]) -> int:
        """Return the number of equal steps of this period from ``start`` on; 0 if they are too few for a loop."""
        i = start
        while i + period < len(units) and units[i].signature == units[i + period].signature:
            i += 1
        effort[0] -= i - start + 1
        count = 1 + (i - start) // period
        if count < FEWEST_LAYERS or not enough(units[start : start + period], count):
            return 0
        steps = [_operations(units[i : i + period]) for i in range(start, start + count * period, period)]
        effort[0] -= len(steps) * len(steps[0])
        count = self._equally_wired(steps)
        return count if enough(units[start : start + period], count) else 0

    def _shift(self, run: Sequence[Unit], period: int) -> int:
        """Return the place in a step where the program's loop begins its rounds; 0 if the steps are no rounds."""
        ends = [(unit.operations[0][0], unit.operations[-1][-1]) for unit in run]
        around = [(self._variables.get(first, {}), self._variables.get(last, {})) for first, last in ends]
        found = set()
        for key in around[0][0]:
            values = [(first.get(key), last.get(key)) for first, last in around]
            if all(first == last for first, last in values):
                changes = {i % period for i, (one, other) in enumerate(pairwise(values), 1) if one != other}
                found |= changes if len(changes) == 1 else set()
        return min(found, default=0)

    def _equally_wired(self, steps: list[list[int]]) -> int:
        """Return how many steps read the same operands, at the same distances back to the steps that computed them."""
        places = _places(steps)
        usual_step = min(4, len(steps) - 1)
        usual = list(self._wiring(steps[usual_step], usual_step, places))
        for t, step in enumerate(steps):
            for want, found in zip(usual, self._wiring(step, t, places)):
                begins = found is None and want is not None and want[0] > t  # it reads a value from before the loop
                if want != found and not begins:
                    return t
        return len(steps)

    def _wiring(
        self, step: Sequence[int], t: int, places: Mapping[int, tuple[int, int]]
    ) -> Iterator[tuple[int, int] | None]:
        """Yield for each operand of step ``t`` the steps back to its source and the position there; None from outside."""
        for operation in step:
            for edge in self.into.get(operation, ()):
                place = places.get(edge.source)
                yield None if place is None else (t - place[0], place[1])

    def _loop(self, units: list[Unit], period: int) -> Unit:
        iterations = [units[i : i + period] for i in range(0, len(units), period)]
        signature = self.number((LOOP, len(iterations), tuple(unit.signature for unit in iterations[0])))
        layers = period == 1 and units[0].kind == "module"
        return scene(LOOP, signature, iterations, units[0].module if layers else None)


def _places(steps: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """Return the step of each operation, and its position in the step."""
    return {operation: (t, i) for t, step in enumerate(steps) for i, operation in enumerate(step)}
