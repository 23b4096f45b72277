"""Computes a layered layout in plain Python: boxes on layers, and every line from a layer to a lower one.

These are the steps of Sugiyama's layout. Boxes are put on layers, with a bend wherever a long line passes one. Sweeps and
swaps look for an order on each layer in which few lines cross. Then each layer in turn is placed as near to its neighbours as
the gaps allow: the sum of the distances is the least. It is an isotonic regression, which "pool adjacent violators" solves.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import fmean

Point = tuple[float, float]
Wish = tuple[float, float]  # a position, and a weight

GAP = 24.0, 40.0  # px between the boxes of a layer, and between two layers
LANE = 10.0  # px between two lines that go around a column
CROSSED = 0.15  # how far from the middle a cut is moved to cross one line less, as a share of a column
PORT = 14.0  # the largest distance between two lines that end on one side of a box
STEEP = 0.06  # extra height between layers, as a share of a line's sideways distance, so that no line is too flat
MOST_ROOM = 60.0  # the largest extra height
SWEEPS = 4  # down and up in turn
PULL = 1, 2, 8  # how much two joined vertices want to be in one column: two boxes, a box and a bend, two bends
LEAST = 0.01  # how much a vertex without neighbours wants to stay

MOST_LONG_LINES = 4  # long lines of one box with separate paths; more of them share one path and branch off it
MOST_SWEEPS = 40
PATIENCE = 12  # sweeps without an improvement before the search ends
MOST_SWAPS = 8  # rounds of swapping neighbours in a sweep


@dataclass
class Laid:
    """A finished layout.

    Attributes:
        width, height: the size of the whole. Its upper left corner is (0, 0), and y grows downwards.
        centres: the centres of the boxes.
        routes: the points of each line, from its source's border to its target's border. The segments touch no box.
        gaps: the heights between the layers. There are none if several parts are side by side.
        turns: the lines that lead from a column to the next one.
    """

    width: float
    height: float
    centres: list[Point]
    routes: list[list[Point]]
    gaps: list[float] = field(default_factory=list)
    turns: int = 0

    def sideways(self) -> Laid:
        """Return the layout with its axes exchanged. What leads down leads to the right then."""
        centres = [(y, x) for x, y in self.centres]
        return Laid(self.height, self.width, centres, [[(y, x) for x, y in r] for r in self.routes], turns=self.turns)


def layouts(sizes: Sequence[tuple[float, float]], lines: Sequence[tuple[int, int]], columns: int) -> list[Laid]:
    """Return layouts of boxes in up to so many columns, whose lines point down; then as many, whose lines point right.

    The same input gives the same layouts. Parts that no line joins are placed side by side.

    Args:
        sizes: the width and the height of each box.
        lines: the two different boxes of each line. Lines may repeat, and form no cycle.
    """
    parts = ordered(len(sizes), lines)

    def pointing_down(sizes: Sequence[tuple[float, float]]) -> list[Laid]:
        laid = placed(parts, sizes)
        several = [in_columns(laid, sizes, count) for count in range(2, columns + 1)]
        return [each for each in (laid, *several) if each is not None]

    return pointing_down(sizes) + [each.sideways() for each in pointing_down([(h, w) for w, h in sizes])]


def ordered(boxes: int, lines: Sequence[tuple[int, int]]) -> list[Part]:
    """Return the connected parts with their layers, whose order does not depend on the sizes of the boxes."""
    parts = []
    for own, numbers in _parts(boxes, lines):
        local = {box: i for i, box in enumerate(own)}
        found = put_on_layers(len(own), [(local[lines[n][0]], local[lines[n][1]]) for n in numbers])
        uncross(found)
        parts.append((own, numbers, found))
    return parts


def placed(parts: Sequence[Part], sizes: Sequence[tuple[float, float]]) -> Laid:
    """Place the boxes of ordered parts, and the lines between them."""
    laid = [_place_part(found, [sizes[box] for box in boxes]) for boxes, _, found in parts]
    if len(parts) == 1:
        return laid[0]
    whole = Laid(0.0, 0.0, [(0.0, 0.0)] * len(sizes), [[] for _, numbers, _ in parts for _ in numbers])
    corners = _shelves([(part.width, part.height) for part in laid])
    for (boxes, numbers, _), part, (left, top) in zip(parts, laid, corners):
        for box, (x, y) in zip(boxes, part.centres):
            whole.centres[box] = (x + left, y + top)
        for number, route in zip(numbers, part.routes):
            whole.routes[number] = [(x + left, y + top) for x, y in route]
        whole.width, whole.height = max(whole.width, left + part.width), max(whole.height, top + part.height)
    return whole


def _parts(boxes: int, lines: Sequence[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Return the boxes and the lines of each connected part, in the order of their first boxes."""
    first = list(range(boxes))  # the first box of the part that each box is in
    for a, b in lines:
        joined, gone = sorted((first[a], first[b]))
        first = [joined if part == gone else part for part in first]
    return [
        ([box for box in range(boxes) if first[box] == part], [n for n, (a, _) in enumerate(lines) if first[a] == part])
        for part in sorted(set(first))
    ]


def _shelves(sizes: Sequence[tuple[float, float]]) -> list[Point]:
    """Return the upper left corners of layouts side by side. They are in several rows if one row would be too wide."""
    area = sum((width + GAP[0]) * (height + GAP[1]) for width, height in sizes)
    widest = max([width for width, _ in sizes] + [2 * area**0.5])
    corners, x, y, high = [], 0.0, 0.0, 0.0
    for width, height in sizes:
        if x and x + width > widest:
            x, y, high = 0.0, y + high + GAP[1], 0.0
        corners.append((x, y))
        x, high = x + width + GAP[0], max(high, height)
    return corners


def _place_part(found: Layers, sizes: Sequence[tuple[float, float]]) -> Laid:
    """Place one connected part."""
    widths = [width for width, _ in sizes] + [0.0] * (len(found.above) - len(sizes))
    x = straighten(found, widths)
    bands = _bands(found, x, sizes)
    centres = [(0.0, 0.0)] * len(sizes)
    for layer, (top, bottom) in zip(found.layers, bands):
        for vertex in layer:
            if vertex < len(sizes):
                centres[vertex] = (x[vertex], (top + bottom) / 2)
    width = max(value + each / 2 for value, each in zip(x, widths))
    gaps = [(bottom + top) / 2 for (_, bottom), (top, _) in pairwise(bands)]
    return Laid(width, bands[-1][1], centres, _routes(found, x, sizes, bands), gaps)


# Columns


@dataclass
class _Column:
    """A part of a layout, from one height to another, and by how much it is moved."""

    top: float
    bottom: float
    left: float
    right: float
    dx: float = 0.0
    dy: float = 0.0


def in_columns(laid: Laid, sizes: Sequence[tuple[float, float]], count: int) -> Laid | None:
    """Return a layout of many layers in columns of about equal height, like a text; None if it has too few layers.

    A line into the next column goes below its column, up between the two, and in from above.
    """
    crossed = {gap: sum(route[0][1] < gap < route[-1][1] for route in laid.routes) for gap in laid.gaps}
    cuts = _cuts(laid.height, crossed, count)
    if len(cuts) < count - 1:
        return None
    pieces = [_pieces(route, cuts) for route in laid.routes]
    leaving = [[] for _ in cuts]  # type: list[list[tuple[float, int]]]
    for number, parts in enumerate(pieces):
        for k, part in parts[:-1]:
            leaving[k].append((-part[-1][0], number))
    lane = {(k, number): i for k, found in enumerate(leaving) for i, (_, number) in enumerate(sorted(found))}
    room = LANE * (1 + max(map(len, leaving)))  # above and below a column
    columns = []
    for k, (top, bottom) in enumerate(zip([0.0, *cuts], [*cuts, laid.height])):
        edges = [x for parts in pieces for column, part in parts if column == k for x, _ in part]
        for (x, y), (width, _) in zip(laid.centres, sizes):
            edges += [x - width / 2, x + width / 2] if top <= y < bottom else []
        columns.append(_Column(top, bottom, min(edges), max(edges), 0.0, room - top))
    columns[0].dx = -columns[0].left
    for k, (before, column) in enumerate(pairwise(columns)):
        column.dx = before.right + before.dx + GAP[0] + LANE * len(leaving[k]) - column.left
    homes = [columns[bisect_right(cuts, y)] for _, y in laid.centres]
    centres = [(x + home.dx, y + home.dy) for (x, y), home in zip(laid.centres, homes)]
    routes = []
    for number, parts in enumerate(pieces):
        route: list[Point] = []
        for k, part in parts:
            moved = [(x + columns[k].dx, y + columns[k].dy) for x, y in part]
            if route:
                route += _gutter(route[-1], moved[0], columns[k - 1], lane[k - 1, number], len(leaving[k - 1]), room)
            route += moved
        routes.append(route)
    height = max(column.bottom + column.dy for column in columns) + room
    return Laid(columns[-1].right + columns[-1].dx, height, centres, routes, turns=sum(map(len, leaving)))


def _cuts(height: float, crossed: Mapping[float, int], count: int) -> list[float]:
    """Return the gaps that divide a height into about equal parts where few lines cross, given the lines at each gap."""
    wanted = [height * k / count for k in range(1, count)] if crossed else []
    return sorted(
        {min(crossed, key=lambda gap: abs(gap - at) * count / height + CROSSED * crossed[gap]) for at in wanted}
    )


def _pieces(route: Sequence[Point], cuts: Sequence[float]) -> list[tuple[int, list[Point]]]:
    """Return the parts of a route between the cuts, each with the number of its column."""
    found = [(bisect_right(cuts, route[0][1]), [route[0]])]
    for (x, y), (to_x, to_y) in pairwise(route):
        to = bisect_right(cuts, to_y)
        while (k := found[-1][0]) < to:
            crossing = (x + (to_x - x) * (cuts[k] - y) / (to_y - y), cuts[k])
            found[-1][1].append(crossing)
            found.append((k + 1, [crossing]))
        found[-1][1].append((to_x, to_y))
    return found


def _gutter(start: Point, end: Point, column: _Column, lane: int, lanes: int, room: float) -> list[Point]:
    """Return the way from the lower end of a column to the upper end of the next one. Its corners have three points each."""
    x = column.right + column.dx + GAP[0] / 2 + LANE * lane
    low, high = column.bottom + column.dy + LANE * (lane + 1), room - LANE * (lanes - lane)
    corners = [start, (start[0], low), (x, low), (x, high), (end[0], high), end]
    found = []
    for before, (a, b), after in zip(corners, corners[1:], corners[2:]):
        for other in (before, None, after):
            far = 0.0 if other is None else max(abs(other[0] - a), abs(other[1] - b))
            part = min(0.5, 10 / far) if far else 0.0
            found.append((a, b) if other is None else (a + (other[0] - a) * part, b + (other[1] - b) * part))
    return found


# The layers


@dataclass
class Layers:
    """Boxes and bends on layers. They are the vertices, and only vertices of neighbouring layers are joined.

    Attributes:
        layers: the vertices of each layer, from left to right. The layers go from top to bottom.
        boxes: the number of boxes. Vertices with smaller numbers are boxes; the others are bends of long lines.
        above, below: the neighbours of each vertex on the layer above and below.
        chains: all vertices of each line, from top to bottom.
    """

    layers: list[list[int]]
    boxes: int
    above: list[list[int]] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)

    def places(self) -> dict[int, int]:
        """Return the position of each vertex on its layer."""
        return {vertex: i for layer in self.layers for i, vertex in enumerate(layer)}


def put_on_layers(boxes: int, lines: Sequence[tuple[int, int]]) -> Layers:
    """Put every box on a layer below all boxes that lead to it."""
    layer = layers_of(boxes, lines)
    found = Layers([[] for _ in range(max(layer, default=-1) + 1)], boxes)
    for vertex, number in enumerate(layer):
        found.layers[number].append(vertex)
    long = Counter(a for a, b in lines if layer[b] - layer[a] > 1)
    trunks: dict[tuple[int, int], int] = {}  # the bend on a layer of the shared path of a box's long lines
    links: dict[tuple[int, int], None] = {}
    vertices = boxes
    for a, b in lines:
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


def layers_of(boxes: int, lines: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each box. The longest path to a box decides. Then the box moves to where its lines are shorter."""
    above: list[list[int]] = [[] for _ in range(boxes)]
    below: list[list[int]] = [[] for _ in range(boxes)]
    for a, b in lines:
        below[a].append(b)
        above[b].append(a)
    order = list(TopologicalSorter(dict(enumerate(above))).static_order())
    layer = [0] * boxes
    for box in order:
        layer[box] = max((layer[source] + 1 for source in above[box]), default=0)
    for _ in range(3):
        for box in reversed(order):
            if below[box] and len(below[box]) >= len(above[box]):
                layer[box] = min(layer[target] for target in below[box]) - 1
        for box in order:
            if above[box] and len(above[box]) >= len(below[box]):
                layer[box] = max(layer[source] for source in above[box]) + 1
    number = {old: new for new, old in enumerate(sorted(set(layer)))}  # removes empty layers
    return [number[old] for old in layer]


Part = tuple[list[int], list[int], Layers]  # the boxes and the lines of a connected part


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


# Lines


def _bands(found: Layers, x: Sequence[float], sizes: Sequence[tuple[float, float]]) -> list[Point]:
    """Return the top and the bottom of each layer."""
    bands: list[Point] = []
    top = 0.0
    for layer in found.layers:
        bottom = top + max((sizes[vertex][1] for vertex in layer if vertex < len(sizes)), default=0.0)
        bands.append((top, bottom))
        sideways = max((abs(x[a] - x[b]) for a in layer for b in found.below[a]), default=0.0)
        top = bottom + GAP[1] + min(MOST_ROOM, STEEP * sideways)
    return bands


def _routes(
    found: Layers, x: Sequence[float], sizes: Sequence[tuple[float, float]], bands: Sequence[Point]
) -> list[list[Point]]:
    """Return the route of each line: straight down past the boxes of a layer, and sideways between two layers."""
    layer_of = {vertex: number for number, layer in enumerate(found.layers) for vertex in layer}
    starts = _ports(found.chains, x, sizes)
    ends = _ports([chain[::-1] for chain in found.chains], x, sizes)
    routes = []
    for number, chain in enumerate(found.chains):
        route: list[Point] = []
        for vertex in chain:
            top, bottom = bands[layer_of[vertex]]
            if vertex >= len(sizes):
                route += [(x[vertex], top), (x[vertex], bottom)]
                continue
            y, half = (top + bottom) / 2, sizes[vertex][1] / 2
            if vertex == chain[0]:
                route += [(starts[number], y + half), (starts[number], bottom)]
            else:
                route += [(ends[number], top), (ends[number], y - half)]
        route = [(round(x, 2), round(y, 2)) for x, y in route]
        route = [point for i, point in enumerate(route) if not i or point != route[i - 1]]
        routes.append(route)
    return routes


def _ports(chains: Sequence[Sequence[int]], x: Sequence[float], sizes: Sequence[tuple[float, float]]) -> list[float]:
    """Return where each line leaves the box that its chain begins with."""
    at: dict[int, dict[tuple[float, int, int], list[int]]] = {}  # box -> the next vertex and the lines to it
    found = [0.0] * len(chains)
    for number, (box, other, *_) in enumerate(chains):
        alone = number if other < len(sizes) else -1  # lines that share a path share the port
        at.setdefault(box, {}).setdefault((x[other], other, alone), []).append(number)
    for box, ways in at.items():
        step = min(PORT, 0.7 * sizes[box][0] / len(ways))
        for i, way in enumerate(sorted(ways)):
            for number in ways[way]:
                found[number] = x[box] + step * (i - (len(ways) - 1) / 2)
    return found


# Boxes


def straighten(found: Layers, widths: Sequence[float]) -> list[float]:
    """Return the horizontal middle of each vertex, with long lines nearly straight and boxes near their neighbours.

    The order on every layer is kept, and so is the gap between two boxes. Lines may be closer. In each sweep a vertex wants to
    be where its neighbours on the last layer are. Those that would overlap move together.

    Args:
        widths: the widths of the vertices.
    """
    ends = [_packed(layer, widths) for layer in found.layers]
    x = [0.0] * len(widths)
    for layer, end in zip(found.layers, ends):
        for vertex, at in zip(layer, end):
            x[vertex] = at - end[-1] / 2
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        neighbours = found.above if down else found.below
        for layer, end in list(zip(found.layers, ends))[:: 1 if down else -1]:
            wishes = []
            for vertex, at in zip(layer, end):
                bends = [(vertex >= found.boxes) + (other >= found.boxes) for other in neighbours[vertex]]
                wanted = [(x[other] - at, float(PULL[count])) for other, count in zip(neighbours[vertex], bends)]
                wishes.append(wanted or [(x[vertex] - at, LEAST)])
            for vertex, at, shift in zip(layer, end, _ascending(wishes)):
                x[vertex] = at + shift
    low = min(middle - width / 2 for middle, width in zip(x, widths))
    return [middle - low for middle in x]


def _packed(layer: Sequence[int], widths: Sequence[float]) -> list[float]:
    """Return the positions of the vertices of a layer if they are as close as possible."""
    found = [0.0]
    for a, b in pairwise(layer):
        between = GAP[0] * (1.0 if widths[a] and widths[b] else 0.7 if widths[a] or widths[b] else 0.5)
        found.append(found[-1] + (widths[a] + widths[b]) / 2 + between)
    return found


def _ascending(wishes: Sequence[list[Wish]]) -> list[float]:
    """Return a number for each list of wishes, close to them, such that no number is smaller than the one before it.

    Neighbours in the wrong order are joined, and get the same number. So the sum of the weighted distances is the least.
    """
    groups: list[tuple[float, list[Wish], int]] = []
    for wish in wishes:
        together, count = sorted(wish), 1
        while groups and groups[-1][0] > _median(together):
            _, before, members = groups.pop()
            together, count = sorted(before + together), count + members
        groups.append((_median(together), together, count))
    return [value for value, _, count in groups for _ in range(count)]


def _median(wishes: Sequence[Wish]) -> float:
    """Return the weighted median of sorted wishes; the middle of two that are equally good."""
    left = sum(weight for _, weight in wishes) / 2
    for (value, weight), (after, _) in pairwise([*wishes, wishes[-1]]):
        left -= weight
        if left <= 0:
            return value if left < 0 else (value + after) / 2
    return wishes[-1][0]
