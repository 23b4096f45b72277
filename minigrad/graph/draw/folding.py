"""Repeated structure in a program: each run of equal steps, and each module, becomes a unit of its own."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..record.model import Edge, Node

FEWEST_STEPS = 4  # of operations that fold
FEWEST_MODULES = 3
FEWEST_OPERATIONS = 8  # in all steps together: less is better seen at once
PERIODS = (8, 64, 512, 1 << 30)  # inner loops are found before those around them
CANDIDATES = 6  # periods that are tried from one place
EFFORT = 40  # comparisons for each unit, then what is not found yet stays unfolded


@dataclass(eq=False, slots=True)
class Unit:
    """What is one box in a scene: an operation, a value, or a scene of its own.

    Attributes:
        kind: "node", or that of a scene: "program", "module", "loop", "part".
        signature: equal for two units that do the same.
        node: the id, of the kind "node".
        iterations: what a scene holds, of a loop once for each step, each as long as the others.
        operations: all those inside, in order of execution, for each iteration.
        module: of the kind "module", or of a loop of modules the first one.
        title: of a scene.
    """

    kind: str
    signature: int
    node: int | None = None
    iterations: list[list[Unit]] = field(default_factory=list)
    operations: list[list[int]] = field(default_factory=list)
    module: int | None = None
    title: str = ""

    def all_operations(self) -> Iterator[int]:
        for iteration in self.operations:
            yield from iteration


class Folder:
    """Makes units of a graph's operations, and folds them.

    Args:
        into: the edges into each operation.
    """

    def __init__(self, nodes: Sequence[Node], into: Mapping[int, Sequence[Edge]]) -> None:
        self.nodes = nodes
        self.into = into
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """A number for a signature: comparing those is quick."""
        return self._numbers.setdefault(key, len(self._numbers))

    def operation(self, node: Node) -> Unit:
        arguments = tuple(edge.argument for edge in self.into.get(node.id, ()))
        key = (node.operation, node.source and tuple(node.source), node.shape, node.dtype, arguments)
        return Unit("node", self.number(key), node.id, operations=[[node.id]])

    def module(self, module: int, kind: str, name: str, units: list[Unit]) -> Unit:
        units = self.folded(units)
        operations = sorted(o for unit in units for o in unit.all_operations())
        wiring = tuple(self._wiring([operations], 0))
        stem = re.sub(r"\d+", "#", name)  # query and key are no layers of a stack
        signature = self.number((kind, stem, tuple(unit.signature for unit in units), wiring))
        return Unit("module", signature, None, [units], [operations], module, name)

    # --- loops ---

    def folded(self, units: list[Unit]) -> list[Unit]:
        """The units with each run of equal steps as one loop."""
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
                    found = j - i, count
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
        """How many equal steps of this period begin at ``start``; 0 if too few for a loop."""
        i = start
        while i + period < len(units) and units[i].signature == units[i + period].signature:
            i += 1
        effort[0] -= i - start + 1
        count = 1 + (i - start) // period
        if count < FEWEST_MODULES or not self.enough(units[start : start + period], count):
            return 0
        steps = [
            sorted(o for unit in units[start + t * period : start + (t + 1) * period] for o in unit.all_operations())
            for t in range(count)
        ]
        effort[0] -= len(steps) * len(steps[0])
        count = self._equally_wired(steps)
        return count if self.enough(units[start : start + period], count) else 0

    def enough(self, step: Sequence[Unit], count: int) -> bool:
        """Whether so many equal steps are better seen as one."""
        if count < FEWEST_MODULES or any(unit.kind != "node" for unit in step):
            return count >= FEWEST_MODULES
        return count >= FEWEST_STEPS and count * len(step) >= FEWEST_OPERATIONS

    def _equally_wired(self, steps: list[list[int]]) -> int:
        """How many of the steps read the same from each other, counted back from the step that reads."""
        places = {o: (t, q) for t, step in enumerate(steps) for q, o in enumerate(step)}
        usual = list(self._wiring(steps, min(4, len(steps) - 1), places))
        for t in range(len(steps)):
            for want, found in zip(usual, self._wiring(steps, t, places)):
                begins = found is None and want is not None and want[0] > t  # what it reads was before the loop
                if want != found and not begins:
                    return t
        return len(steps)

    def _wiring(
        self, steps: Sequence[Sequence[int]], t: int, places: Mapping[int, tuple[int, int]] | None = None
    ) -> Iterator[tuple[int, int] | None]:
        """For each operand in step ``t``: how many steps before, and where in that step; None from outside."""
        if places is None:
            places = {o: (t, q) for q, o in enumerate(steps[t])}
        for operation in steps[t]:
            for edge in self.into.get(operation, ()):
                place = places.get(edge.source)
                yield None if place is None else (t - place[0], place[1])

    def _loop(self, units: list[Unit], period: int) -> Unit:
        iterations = [units[i : i + period] for i in range(0, len(units), period)]
        operations = [sorted(o for unit in step for o in unit.all_operations()) for step in iterations]
        signature = self.number(("loop", len(iterations), tuple(unit.signature for unit in iterations[0])))
        loop = Unit("loop", signature, None, iterations, operations)
        if period == 1 and units[0].kind == "module":  # a stack of layers: its steps are what is in the layers
            loop.module = units[0].module
            loop.iterations = [unit.iterations[0] for unit in units]
        return loop
