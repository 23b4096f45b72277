"""Finds repeated structure in a program: each run of equal steps, and each module, becomes one unit."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..record.model import Edge, Graph, ModuleBox, Node

LOOP = "loop"  # the kind of a unit, and of the box around it in a drawing
ROUND = "round"  # the kind of a unit while loops are searched: a round of a loop of the program

# The fewest equal layers that drawings and pages fold. Two layers are clearer next to each other.
FEWEST_LAYERS = 3
FEWEST_STEPS = 4  # the fewest equal steps of operations that are folded
FEWEST_OPERATIONS = 8  # the fewest operations in all steps together that are folded
FACTOR = 0x9E3779B97F4A7C15  # an odd number whose powers modulo 2**64 have no pattern
Item = TypeVar("Item", bound=Hashable)


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
    folder = Folder(graph.edges_into, _rounds(graph))
    content: dict[int | None, list[Unit]] = defaultdict(list)
    for node in graph.operations:
        content[node.module].append(folder.operation(node))
    for module in reversed(graph.modules):  # a module comes after the module around it
        if module.id in content:
            content[module.parent].append(folder.module(module, content.pop(module.id)))
    return scene("program", -1, [folder.folded(content[None])])


def _rounds(graph: Graph) -> dict[int, list[Hashable]]:
    """Return the rounds of the program's loops around each operation, outermost first.

    A trace stores a limited number of calls. Only the rounds in frames that are stored for all operations can be compared.
    """
    outside = max((node.outside for node in graph.operations), default=0)
    return {
        node.id: [*itertools.chain(*reversed(node.rounds[: max(0, node.outside + len(node.rounds) - outside)]))]
        for node in graph.operations
    }


def enough(step: Sequence[Unit], count: int) -> bool:
    """Return whether this number of equal steps is folded."""
    if any(unit.kind != "node" for unit in step):
        return count >= FEWEST_LAYERS
    return count >= FEWEST_STEPS and count * len(step) >= FEWEST_OPERATIONS


class Folder:
    """Makes units from a graph's operations, and folds them.

    Args:
        into: the edges into each operation.
        rounds: the rounds of the program's loops around each operation, outermost first.
    """

    def __init__(self, into: Mapping[int, Sequence[Edge]], rounds: Mapping[int, Sequence[Hashable]]) -> None:
        self.into = into
        self.rounds = rounds
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable) -> int:
        """Return a number for a signature, because numbers are fast to compare."""
        return self._numbers.setdefault(key, len(self._numbers))

    def operation(self, node: Node) -> Unit:
        arguments = tuple(edge.argument for edge in self.into.get(node.id, ()))
        key = (node.operation, node.source and tuple(node.source), node.shape, node.dtype, arguments)
        return Unit("node", self.number(key), node.id, operations=[[node.id]])

    def module(self, module: ModuleBox, units: list[Unit]) -> Unit:
        unit = scene("module", -1, [self.folded(units)], module.id)
        places = {operation: (0, i) for i, operation in enumerate(unit.operations[0])}
        wiring = tuple(self._wiring(unit.operations[0], 0, places))
        # Layers of a list differ only in their indices in it. Other attributes, such as query and key, are not one stack.
        stem = tuple("" if part.isdigit() else part for part in module.name.split("."))
        inside = tuple(inner.signature for inner in unit.iterations[0])
        unit.signature = self.number((module.kind, stem, inside, wiring))
        return unit

    def folded(self, units: list[Unit]) -> list[Unit]:
        """Return the units in order of execution, with each run of equal steps as one loop.

        The rounds of the program's loops are compared first, those of inner loops before those of outer ones. Then any run
        of equal units is a loop: there are no rounds without a trace, and in the loops of a library.
        """
        units = sorted(units, key=lambda unit: unit.operations[0][0])
        rounds = [self._around(unit) for unit in units]
        whole = len(beginning(rounds))
        return self._repeated(self._in_rounds([(unit, around[whole:]) for unit, around in zip(units, rounds)]))

    def _around(self, unit: Unit) -> Sequence[Hashable]:
        """Return the rounds that are around all operations of a unit."""
        return beginning([self.rounds.get(unit.operations[i][i], ()) for i in (0, -1)])

    def _in_rounds(self, units: Iterable[tuple[Unit, Sequence[Hashable]]]) -> list[Unit]:
        """Return the units, with those of a round as one unit. Each comes with the rounds around it, outermost first.

        Two rounds in a row are not told apart if the variable has the same value in both, as in ``for letter in "hello"``.
        But then the units are those of the round before, twice.
        """
        result: list[Unit] = []
        last: list[int] = []
        for key, group in itertools.groupby(units, key=lambda pair: pair[1][:1]):
            if not key:
                result += [unit for unit, _ in group]
                continue
            inside = self._in_rounds([(unit, around[1:]) for unit, around in group])
            signatures = [unit.signature for unit in inside]
            times, rest = divmod(len(signatures), len(last) or len(signatures))
            if rest or signatures != last * times:
                last, times = signatures, 1
            for i in range(0, len(inside), len(inside) // times):
                content = self._repeated(inside[i : i + len(inside) // times])
                number = self.number((ROUND, tuple(unit.signature for unit in content)))
                result.append(content[0] if len(content) == 1 else scene(ROUND, number, [content]))
        return result

    def _repeated(self, units: list[Unit]) -> list[Unit]:
        """Fold the rounds of a loop, then any other equal units."""
        folded = self._runs(units)
        content = _content(folded)
        return folded if len(content) == len(folded) else self._runs(content)

    def _runs(self, units: list[Unit]) -> list[Unit]:
        """Join each run of equal steps to a loop. Short steps come first, so that inner loops are found before outer ones."""
        joined = self._shortest(units)
        while len(joined) < len(units):
            units, joined = joined, self._shortest(joined)
        return units

    def _shortest(self, units: list[Unit]) -> list[Unit]:
        """Join the runs of the shortest equal steps.

        Where steps are not equally wired, longer ones are searched by the wiring as well, because most multiples of such a
        step are not equally wired either.
        """
        plain = np.array([unit.signature for unit in units], np.int64)
        signatures, sums = plain.copy(), _sums(plain)
        for period in range(1, len(units) // FEWEST_LAYERS + 1):
            if not _may_repeat(sums, period):
                continue
            found = [start for start, _ in _repeats(signatures, period)]
            runs = _repeats(plain, period)
            repeats = [(start, stop) for start, stop in runs if bisect_left(found, start) < bisect_left(found, stop)]
            joined = self._joined(units, repeats, period)
            if len(joined) < len(units):
                return joined
            for start, stop in repeats:
                if enough(_content(units[start : start + period]), 1 + (stop - start) // period):
                    signatures[start : stop + period] = self._with_wiring(units[start : stop + period])
                    sums = _sums(signatures)
        return units

    def _joined(self, units: list[Unit], repeats: Iterable[tuple[int, int]], period: int) -> list[Unit]:
        """Join the steps of ``period`` units that are equally wired, in each of the places where units repeat."""
        result: list[Unit] = []
        done = 0
        for start, stop in repeats:
            i = max(start, done)
            while enough(step := _content(units[i : i + period]), count := 1 + (stop - i) // period):
                count = self._equally_wired(units[i : i + period * count], period)
                if enough(step, count):
                    result += [*units[done:i], self._loop(units[i : i + period * count], period)]
                    done = i + period * count
                i += period * max(count, 1)
        return result + units[done:]

    def _equally_wired(self, units: Sequence[Unit], period: int) -> int:
        """Return how many steps read the same operands, at the same distances back to the steps that computed them."""
        places: dict[int, tuple[int, int]] = {}
        steps: list[list[int]] = []

        def wiring(t: int) -> Iterator[tuple[int, int] | None]:
            for now in range(len(steps), t + 1):
                steps.append(_operations(units[now * period : (now + 1) * period]))
                places.update({operation: (now, i) for i, operation in enumerate(steps[now])})
            return self._wiring(steps[t], t, places)

        count = len(units) // period
        usual = [*wiring(min(4, count - 1))]
        for t in range(count):
            for want, found in zip(usual, wiring(t)):
                begins = found is None and want is not None and want[0] > t  # it reads a value from before the loop
                if want != found and not begins:
                    return t
        return count

    def _with_wiring(self, units: Sequence[Unit]) -> list[int]:
        """Return signatures that also say how far back each unit reads what these units have computed."""
        places = {operation: (i, 0) for i, operation in enumerate(_operations(units))}
        wirings = (
            tuple(
                place for number in unit.all_operations() for place in self._wiring([number], places[number][0], places)
            )
            for unit in units
        )
        return [self.number((unit.signature, wiring)) for unit, wiring in zip(units, wirings)]

    def _wiring(
        self, step: Sequence[int], t: int, places: Mapping[int, tuple[int, int]]
    ) -> Iterator[tuple[int, int] | None]:
        """Yield for each operand of step ``t`` the steps back to its source and the position there; None from outside."""
        for operation in step:
            for edge in self.into.get(operation, ()):
                place = places.get(edge.source)
                yield None if place is None else (t - place[0], place[1])

    def _loop(self, units: list[Unit], period: int) -> Unit:
        iterations = [_content(units[i : i + period]) for i in range(0, len(units), period)]
        signature = self.number((LOOP, len(iterations), tuple(unit.signature for unit in iterations[0])))
        layers = period == 1 and units[0].kind == "module"
        return scene(LOOP, signature, iterations, units[0].module if layers else None)


def beginning(lists: Iterable[Sequence[Item]]) -> list[Item]:
    """Return the items with which all lists begin."""
    return [items[0] for items in itertools.takewhile(lambda items: len(set(items)) == 1, zip(*lists))]


def _content(units: Sequence[Unit]) -> list[Unit]:
    """Return the units, with those of a round in place of the round."""
    return [inner for unit in units for inner in (unit.iterations[0] if unit.kind == ROUND else (unit,))]


def _sums(signatures: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the sums of the first 0, 1, ... signatures, each times a power of ``FACTOR``, modulo 2**64."""
    powers = np.cumprod(np.full(len(signatures), FACTOR, np.uint64))
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(signatures.astype(np.uint64) * powers)])


def _may_repeat(sums: NDArray[np.uint64], period: int) -> bool:
    """Return whether there may be three equal steps of ``period`` units in a row, without a look at each unit.

    Three such steps contain two that begin at multiples of the period. The sums of equal steps differ by a power.
    """
    steps = np.diff(sums[::period])
    return bool((steps[1:] == steps[:-1] * np.uint64(pow(FACTOR, period, 1 << 64))).any())


def _repeats(signatures: NDArray[np.int64], period: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of positions whose unit is followed by an equal one at this distance, if they are long enough."""
    same = signatures[period:] == signatures[:-period]
    ends = np.flatnonzero(np.diff(same, prepend=False, append=False))
    long = ends[1::2] - ends[::2] >= (FEWEST_LAYERS - 1) * period
    yield from zip(ends[::2][long].tolist(), ends[1::2][long].tolist())
