"""Puts the boxes of a layered drawing on layers, and adds a bend wherever a long line passes a layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

MOST_LONG_LINES = 4  # long lines of one box with separate paths; more of them share one path and branch off it


@dataclass
class Ranking:
    """Boxes and bends on layers. They are the vertices, and only vertices of neighbouring layers are joined.

    Attributes:
        layers: the vertices of each layer, from left to right. The layers go from top to bottom.
        boxes: the number of boxes. Vertices with smaller numbers are boxes; the others are bends of long lines.
        above, below: the neighbours of each vertex on the layer above and below.
        chains: all vertices of each line, from top to bottom; empty for a line from a box to itself.
        turned: whether each line goes up.
    """

    layers: list[list[int]]
    boxes: int
    above: list[list[int]] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)


def rank(
    boxes: int, lines: Sequence[tuple[int, int]], first: Collection[int] = (), last: Collection[int] = ()
) -> Ranking:
    """Put every box on a layer below all boxes that lead to it. Lines that close a cycle are turned.

    Args:
        first, last: the only boxes on the first and on the last layer.
    """
    turned = _turned(boxes, lines)
    down = [(b, a) if up else (a, b) for (a, b), up in zip(lines, turned)]
    layer = _layers(boxes, [line for line in down if line[0] != line[1]], first, last)
    ranks = Ranking([[] for _ in range(max(layer, default=-1) + 1)], boxes, turned=turned)
    for vertex, number in enumerate(layer):
        ranks.layers[number].append(vertex)
    long = Counter(a for a, b in down if layer[b] - layer[a] > 1)
    trunks: dict[tuple[int, int], int] = {}  # the bend on a layer of the shared path of a box's long lines
    links: dict[tuple[int, int], None] = {}
    vertices = boxes
    for a, b in down:
        chain = [a] if a != b else []
        for number in range(layer[a] + 1, layer[b]):
            bend = trunks.get((a, number), vertices) if long[a] > MOST_LONG_LINES else vertices
            if bend == vertices:
                vertices += 1
                ranks.layers[number].append(bend)
                trunks[a, number] = bend
            chain.append(bend)
        chain += [b] if a != b else []
        ranks.chains.append(chain)
        links.update(dict.fromkeys(pairwise(chain)))
    ranks.above, ranks.below = [[] for _ in range(vertices)], [[] for _ in range(vertices)]
    for a, b in links:
        ranks.below[a].append(b)
        ranks.above[b].append(a)
    return ranks


def _turned(boxes: int, lines: Sequence[tuple[int, int]]) -> list[bool]:
    """Return whether each line closes a cycle: in a depth-first search it leads back to a box on the current path."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(boxes)]
    into = [0] * boxes
    for number, (a, b) in enumerate(lines):
        if a != b:
            leaving[a].append((number, b))
            into[b] += 1
    state = [0] * boxes  # 1: on the path of the search, 2: done
    turned = [False] * len(lines)
    for start in sorted(range(boxes), key=lambda box: into[box] > 0):  # boxes without incoming lines come first
        if state[start]:
            continue
        state[start], path = 1, [(start, iter(leaving[start]))]
        while path:
            box, rest = path[-1]
            number, target = next(rest, (-1, -1))
            if number < 0:
                state[box] = 2
                path.pop()
            elif state[target] == 1:
                turned[number] = True
            elif not state[target]:
                state[target] = 1
                path.append((target, iter(leaving[target])))
    return turned


def _layers(boxes: int, lines: Sequence[tuple[int, int]], first: Collection[int], last: Collection[int]) -> list[int]:
    """Return the layer of each box. The longest path to a box decides. Then the box moves to where its lines are shorter."""
    above: list[list[int]] = [[] for _ in range(boxes)]
    below: list[list[int]] = [[] for _ in range(boxes)]
    for a, b in lines:
        below[a].append(b)
        above[b].append(a)
    waits = list(map(len, above))
    order = [box for box in range(boxes) if not waits[box]]
    layer = [0] * boxes
    for box in order:  # the loop appends to order
        for target in below[box]:
            layer[target] = max(layer[target], layer[box] + 1)
            waits[target] -= 1
            if not waits[target]:
                order.append(target)
    for _ in range(3):
        for box in reversed(order):
            if below[box] and len(below[box]) >= len(above[box]):
                layer[box] = min(layer[target] for target in below[box]) - 1
        for box in order:
            if above[box] and len(above[box]) >= len(below[box]):
                layer[box] = max(layer[source] for source in above[box]) + 1
    lowest, highest = min(layer, default=0) - 1, max(layer, default=0) + 1
    layer = [lowest if box in first else highest if box in last else old for box, old in enumerate(layer)]
    number = {old: new for new, old in enumerate(sorted(set(layer)))}  # removes empty layers
    return [number[old] for old in layer]
