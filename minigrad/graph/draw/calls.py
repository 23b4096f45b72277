"""Names parts of a graph in the words of the program: its functions, classes, methods and loop variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..record.model import Graph, Node
from ..record.rounds import OBJECT, Owned, Rounds, apart, told_apart
from .folding import Unit, beginning

Step = tuple[object, str]  # what tells a call or a round of a loop from others, and its title


class CallsAround:
    """The calls of the program's functions, and the rounds of its loops, around each operation."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rounds = Rounds(graph.operations)

    def around(self, node: Node) -> list[Step]:
        """Return the loops and calls around an operation, outermost first."""
        found: list[Step] = []
        places = [] if node.source is None else [node.source, *node.callers]
        frames = node.outside + len(places)  # a frame has the same number for all operations in it
        for number in reversed(range(len(places))):
            values = [(name, value) for _, name, value in node.rounds[number] if name != OBJECT]
            plain = [(name, value) for name, value in values if not isinstance(value, Owned)]
            for name, value in plain or values:
                found.append(((frames - number, name, value), self.loop(self.rounds.text(name, value))))
            if number:
                owner = next((value for _, name, value in node.rounds[number - 1] if name == OBJECT), None)
                name = places[number - 1].function
                if owner is not None:
                    called = node.called[number]
                    named = called is None or called.name == name  # otherwise the program has called the object itself
                    name = self.rounds.text(OBJECT, owner) + (f" / {name}" if named else "")
                if not name.startswith("<"):
                    found.append(((frames - number, places[number], owner), name))
        return found

    @staticmethod
    def loop(text: str) -> str:
        return f"for {text.replace('=', ' = ', 1)}" if "=" in text else text

    def of_unit(self, unit: Unit) -> list[Step]:
        """Return the loops and calls that are around all operations of a unit."""
        operations = list(unit.all_operations())
        return beginning([self.around(self.graph.nodes[number]) for number in operations[:1] + operations[-1:]])

    def grouped(self, units: Sequence[Unit]) -> Iterator[tuple[str, list[Unit]]]:
        """Group the units of a scene by the outermost call or round that not all are in. Its title is "" if there is none."""
        around = [self.of_unit(unit) for unit in units]
        depth = len(beginning(around))
        keys = [steps[depth] if depth < len(steps) else (i, "") for i, steps in enumerate(around)]
        for (_, name), pairs in itertools.groupby(zip(keys, units), key=lambda pair: pair[0]):
            yield name, [unit for _, unit in pairs]

    def titles(self, steps: Sequence[Sequence[int]]) -> list[str]:
        """Return a title for each step of a loop, from the variables that tell the steps apart.

        The list is empty if none do, or if a step has operations of two rounds.
        """
        around = [[self.rounds.of(self.graph.nodes[number]) for number in step] for step in steps]
        last = [each[-1] for each in around]
        found, chosen = told_apart(last), apart(last)
        whole = all(found) and len(set(found)) == len(found)
        for each in around:
            whole = whole and all(len({texts[key] for texts in each if key in texts}) == 1 for key in chosen)
        return [self.loop(text) for text in found] if whole else []

    def title(self, steps: Sequence[Sequence[int]]) -> str:
        """Return a title for a whole loop: ``for t = 0 … 19``, ``Neuron 1 … Neuron 4``; "" if the steps have no titles."""
        titles = self.titles(steps)
        return f"{titles[0]} … {titles[-1].removeprefix('for ').rpartition(' = ')[2]}" if titles else ""
