"""Puts the boxes of a layered drawing on layers, with a bend wherever a long line passes one, and orders each layer.

These are the first steps of Sugiyama's layout. Sweeps and swaps look for an order in which few lines cross.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

MOST_LONG_LINES = 4  # long lines of one box with separate paths; more of them share one path and branch off it
MOST_SWEEPS = 40
PATIENCE = 12  # sweeps without an improvement before the search ends
MOST_SWAPS = 8  # rounds of swapping neighbours in a sweep


@dataclass
class Layers:
    """Boxes and bends on layers. They are the vertices, and only vertices of neighbouring layers are joined.

    Attributes:
        layers: the vertices of each layer, from left to right. The layers go from top to bottom.
        boxes: the number of boxes. Vertices with smaller numbers are boxes; the others are bends of long lines.
        above, below: the neighbours of each vertex on the layer above and below.
        chains: all vertices of each line, from top to bottom.
        turned: whether each line goes up.
    """

    layers: list[list[int]]
    boxes: int
    above: list[list[int]] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)

    def places(self) -> dict[int, int]:
        """Return the position of each vertex on its layer."""
        return {vertex: i for layer in self.layers for i, vertex in enumerate(layer)}


def put_on_layers(boxes: int, lines: Sequence[tuple[int, int]]) -> Layers:
    """Put every box on a layer below all boxes that lead to it. Lines that close a cycle are turned."""
    turned = _turned(boxes, lines)
    down = [(b, a) if up else (a, b) for (a, b), up in zip(lines, turned)]
    layer = _layers(boxes, down)
    found = Layers([[] for _ in range(max(layer, default=-1) + 1)], boxes, turned=turned)
    for vertex, number in enumerate(layer):
        found.layers[number].append(vertex)
    long = Counter(a for a, b in down if layer[b] - layer[a] > 1)
    trunks: dict[tuple[int, int], int] = {}  # the bend on a layer of the shared path of a box's long lines
    links: dict[tuple[int, int], None] = {}
    vertices = boxes
    for a, b in down:
        chain = [a]
        for number in range(layer[a] + 1, layer[b]):
            bend = trunks.get((a, number), vertices) if long[a] > MOST_LONG_LINES else vertices
            if bend == vertices:
                vertices += 1
                found.layers[number].append(bend)
                trunks[a, number] = bend
            chain.append(bend)
        chain.append(b)
        found.chains.append(chain)
        links.update(dict.fromkeys(pairwise(chain)))
    found.above, found.below = [[] for _ in range(vertices)], [[] for _ in range(vertices)]
    for a, b in links:
        found.below[a].append(b)
        found.above[b].append(a)
    return found


def _turned(boxes: int, lines: Sequence[tuple[int, int]]) -> list[bool]:
    """Return whether each line closes a cycle: in a depth-first search it leads back to a box on the current path."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(boxes)]
    into = [0] * boxes
    for number, (a, b) in enumerate(lines):
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


def _layers(boxes: int, lines: Sequence[tuple[int, int]]) -> list[int]:
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
    number = {old: new for new, old in enumerate(sorted(set(layer)))}  # removes empty layers
    return [number[old] for old in layer]


# The order on each layer


def uncross(found: Layers) -> int:
    """Improve the order of the layers until few lines cross, and return the number of crossings.

    Each sweep moves the boxes of every layer to the middle of their neighbours on the previous layer, and then swaps
    neighbours. The sweeps alternate between downwards and upwards.
    """
    _search(found)
    place = found.places()
    best, fewest, waited = [list(layer) for layer in found.layers], crossings(found, place), 0
    for sweep in range(MOST_SWEEPS):
        if not fewest or waited >= PATIENCE:
            break
        down = sweep % 2 == 0
        for layer in found.layers[1:] if down else found.layers[-2::-1]:
            _sort(layer, found.above if down else found.below, place, flip=sweep % 4 < 2)
        for _ in range(MOST_SWAPS):
            if not sum(swap_on(layer, found, place) for layer in found.layers):
                break
        count = crossings(found, place)
        waited += 1
        if count < fewest:
            best, fewest, waited = [list(layer) for layer in found.layers], count, 0
    found.layers = best
    return fewest


def crossings(found: Layers, place: dict[int, int]) -> int:
    """Return the number of pairs of lines that cross between the layers."""
    count = 0
    for layer in found.layers:
        seen: list[int] = []
        for vertex in layer:
            ends = sorted(place[other] for other in found.below[vertex])
            for end in ends:
                count += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return count


def _search(found: Layers) -> None:
    """Order the vertices as a depth-first search along the lines finds them, so that connected ones are close together."""
    order: dict[int, int] = {}
    for start in (vertex for layer in found.layers for vertex in layer):
        waiting = [start]
        while waiting:
            vertex = waiting.pop()
            if vertex not in order:
                order[vertex] = len(order)
                waiting += reversed(found.above[vertex] + found.below[vertex])
    for layer in found.layers:
        layer.sort(key=order.__getitem__)


def _sort(layer: list[int], neighbours: Sequence[Sequence[int]], place: dict[int, int], flip: bool) -> None:
    """Move each vertex to the middle of its neighbours. ``flip`` reverses ties. A vertex without neighbours stays."""
    moving = [vertex for vertex in (reversed(layer) if flip else layer) if neighbours[vertex]]
    middle = {vertex: fmean(place[other] for other in neighbours[vertex]) for vertex in moving}
    ordered = iter(sorted(moving, key=middle.__getitem__))
    layer[:] = [next(ordered) if neighbours[vertex] else vertex for vertex in layer]
    place.update((vertex, i) for i, vertex in enumerate(layer))


def swap_on(layer: list[int], found: Layers, place: dict[int, int]) -> bool:
    """Swap neighbours on a layer where this removes crossings. Return whether any were swapped."""
    sides = [
        [sorted(place[other] for other in side[vertex]) for vertex in layer] for side in (found.above, found.below)
    ]
    swapped = False
    for i in range(len(layer) - 1):
        gain = sum((a > b) - (a < b) for side in sides for a in side[i] for b in side[i + 1])
        if gain > 0:
            swapped = True
            for row in (layer, *sides):
                row[i], row[i + 1] = row[i + 1], row[i]  # type: ignore[index]
    if swapped:
        place.update((vertex, i) for i, vertex in enumerate(layer))
    return swapped
