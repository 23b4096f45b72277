"""Computes a layered layout in plain Python: boxes on layers, and every line from a layer to a lower one.

:mod:`.layers` chooses the layers and their order. Here boxes get their positions on the layer, and lines their routes.

The positions are those of Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001). Joined vertices are
aligned in columns, once from each of the four corners of the drawing. Each of the four layouts has no overlaps. A vertex is
placed in the middle between its two middle positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .layers import Layers, put_on_layers, uncross

Point = tuple[float, float]

GAP = 24.0, 40.0  # px between the boxes of a layer, and between two layers
PORT = 14.0  # the largest distance between two lines that end on one side of a box
STEEP = 0.06  # extra height between layers, as a share of a line's sideways distance, so that no line is too flat
MOST_ROOM = 60.0  # the largest extra height
BOW = 100.0  # a line that bows out of the space between its two boxes by more is moved
PASS, BESIDE = 8.0, 6.0  # the distance of the moved line from the boxes and lines that it passes


@dataclass
class Laid:
    """A finished layout.

    Attributes:
        width, height: the size of the whole. Its upper left corner is (0, 0), and y grows downwards.
        centres: the centres of the boxes.
        routes: the points of each line, from its source's border to its target's border. The segments touch no box.
    """

    width: float
    height: float
    centres: list[Point]
    routes: list[list[Point]]


def lay_out(sizes: Sequence[tuple[float, float]], lines: Sequence[tuple[int, int]]) -> Laid:
    """Place boxes, and lines between them, so that lines point down.

    The same input gives the same layout. Parts that no line joins are placed side by side.

    Args:
        sizes: the width and the height of each box.
        lines: the two different boxes of each line. Lines may repeat and form cycles; one line of a cycle leads back up.
    """
    parts = []
    for boxes, numbers in _parts(len(sizes), lines):
        local = {box: i for i, box in enumerate(boxes)}
        inner = [(local[lines[n][0]], local[lines[n][1]]) for n in numbers]
        parts.append((boxes, numbers, _lay_out_part([sizes[box] for box in boxes], inner)))
    whole = Laid(0.0, 0.0, [(0.0, 0.0)] * len(sizes), [[] for _ in lines])
    corners = _shelves([(part.width, part.height) for _, _, part in parts])
    for (boxes, numbers, part), (left, top) in zip(parts, corners):
        for box, (x, y) in zip(boxes, part.centres):
            whole.centres[box] = (round(x + left, 2), round(y + top, 2))
        for number, route in zip(numbers, part.routes):
            whole.routes[number] = [(round(x + left, 2), round(y + top, 2)) for x, y in route]
        whole.width, whole.height = max(whole.width, left + part.width), max(whole.height, top + part.height)
    return whole


def _parts(boxes: int, lines: Sequence[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Return the boxes and the lines of each connected part, in the order of their first boxes."""
    leader = list(range(boxes))

    def lead(box: int) -> int:
        while leader[box] != box:
            leader[box] = leader[leader[box]]
            box = leader[box]
        return box

    for a, b in lines:
        a, b = sorted((lead(a), lead(b)))
        leader[b] = a
    parts: dict[int, tuple[list[int], list[int]]] = {}
    for box in range(boxes):
        parts.setdefault(lead(box), ([], []))[0].append(box)
    for number, (a, _) in enumerate(lines):
        parts[lead(a)][1].append(number)
    return list(parts.values())


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


def _lay_out_part(sizes: Sequence[tuple[float, float]], lines: Sequence[tuple[int, int]]) -> Laid:
    """Lay out one connected part."""
    found = put_on_layers(len(sizes), lines)
    uncross(found)
    widths = [width for width, _ in sizes] + [0.0] * (len(found.above) - len(sizes))
    x = straighten(found, widths)
    bands = _bands(found, x, sizes)
    centres = [(0.0, 0.0)] * len(sizes)
    for layer, (top, bottom) in zip(found.layers, bands):
        for vertex in layer:
            if vertex < len(sizes):
                centres[vertex] = (x[vertex], (top + bottom) / 2)
    width = max(value + each / 2 for value, each in zip(x, widths))
    return Laid(width, bands[-1][1], centres, _routes(found, x, sizes, bands, centres))


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
    found: Layers,
    x: Sequence[float],
    sizes: Sequence[tuple[float, float]],
    bands: Sequence[Point],
    centres: Sequence[Point],
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
            (_, y), half = centres[vertex], sizes[vertex][1] / 2
            if vertex == chain[0]:
                route += [(starts[number], y + half), (starts[number], bottom)]
            else:
                route += [(ends[number], top), (ends[number], y - half)]
        route = [(round(x, 2), round(y, 2)) for x, y in route]
        route = [point for i, point in enumerate(route) if not i or point != route[i - 1]]
        routes.append(route[::-1] if found.turned[number] else route)
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
    """Return the horizontal middle of each vertex, with straight long lines and boxes near their neighbours.

    The order on every layer is kept, and so is the gap between two boxes. Lines may be closer.

    Args:
        widths: the widths of the vertices.
    """
    conflicts = _conflicts(found)
    tried = []
    for upward in (False, True):
        for leftward in (False, True):
            layers = [layer[::-1] if leftward else layer for layer in found.layers]
            neighbours = found.below if upward else found.above
            column = _columns(layers[::-1] if upward else layers, neighbours, conflicts, len(widths))
            x = _packed(layers, column, widths)
            tried.append([-value for value in x] if leftward else x)
    extents = [_extent(x, widths) for x in tried]
    left, right = min(extents, key=lambda extent: extent[1] - extent[0])
    for i, (low, high) in enumerate(extents):
        shift = right - high if i % 2 else left - low  # layouts packed to the right are aligned at the right
        tried[i] = [value + shift for value in tried[i]]
    middle = [sum(sorted(values)[1:3]) / 2 for values in zip(*tried)]
    _shorten(found, middle, widths)
    low, _ = _extent(middle, widths)
    return [value - low for value in middle]


def _shorten(found: Layers, x: list[float], widths: Sequence[float]) -> None:
    """Lead a line with a wide bow between the boxes of each layer instead of around them."""
    layer_of = {vertex: layer for layer in found.layers for vertex in layer}
    for chain in found.chains:
        low, high = sorted((x[chain[0]], x[chain[-1]]))
        if all(low - BOW <= x[vertex] <= high + BOW for vertex in chain[1:-1]):
            continue
        for vertex in chain[1:-1]:
            others = sorted((x[v], widths[v] / 2) for v in layer_of[vertex] if v != vertex)
            sides = [(at, half + (PASS if half else BESIDE)) for at, half in others]
            x[vertex] = _nearest(min(max(x[vertex], low), high), [(at - half, at + half) for at, half in sides])


def _nearest(wanted: float, taken: Sequence[tuple[float, float]]) -> float:
    """Return the number nearest to ``wanted`` that lies in none of the intervals, which are sorted."""
    right = left = wanted
    for low, high in taken:
        right = high if low < right < high else right
    for low, high in reversed(taken):
        left = low if low < left < high else left
    return left if wanted - left < right - wanted else right


def _extent(x: Sequence[float], widths: Sequence[float]) -> tuple[float, float]:
    halves = [(value, width / 2) for value, width in zip(x, widths)]
    return min(value - half for value, half in halves), max(value + half for value, half in halves)


def _conflicts(found: Layers) -> set[tuple[int, int]]:
    """Return the joints (top, bottom) that cross a joint between two bends. They give way, so that long lines are straight."""
    conflicts = set()
    boxes, place = found.boxes, found.places()
    for layer in found.layers[1:]:
        inner = [(place[found.above[v][0]], i) for i, v in enumerate(layer) if v >= boxes <= found.above[v][0]]
        if not inner:
            continue
        first, done = 0, -1
        for start, end in [*inner, (len(place), len(layer))]:
            for vertex in layer[done + 1 : end]:
                for above in found.above[vertex]:
                    if not first <= place[above] <= start:
                        conflicts.add((above, vertex))
            first, done = max(first, start), end
    return conflicts


def _columns(
    layers: Sequence[Sequence[int]], neighbours: Sequence[Sequence[int]], conflicts: set[tuple[int, int]], count: int
) -> list[int]:
    """Return the vertex that each one is aligned with: the median of its neighbours above, or itself."""
    column = list(range(count))
    place = {vertex: i for layer in layers for i, vertex in enumerate(layer)}
    for layer in layers:
        last = -1  # the lines of two columns must not cross
        for vertex in layer:
            sources = sorted(neighbours[vertex], key=place.__getitem__)
            for source in sources[(len(sources) - 1) // 2 : len(sources) // 2 + 1]:
                free = (source, vertex) not in conflicts and (vertex, source) not in conflicts
                if place[source] > last and free:
                    column[vertex], last = column[source], place[source]
                    break
    return column


def _packed(layers: Sequence[Sequence[int]], column: Sequence[int], widths: Sequence[float]) -> list[float]:
    """Return the positions when every column is as far left as possible, then as near to the next one as possible."""
    apart: dict[tuple[int, int], float] = {}
    for layer in layers:
        for a, b in pairwise(layer):
            between = GAP[0] * (1.0 if widths[a] and widths[b] else 0.7 if widths[a] or widths[b] else 0.5)
            pair, distance = (column[a], column[b]), (widths[a] + widths[b]) / 2 + between
            apart[pair] = max(distance, apart.get(pair, 0.0))
    after: dict[int, list[tuple[int, float]]] = {root: [] for root in column}
    waits = dict.fromkeys(after, 0)
    for (a, b), distance in apart.items():
        after[a].append((b, distance))
        waits[b] += 1
    order = [root for root in after if not waits[root]]
    x = dict.fromkeys(after, 0.0)
    for root in order:  # the loop appends to order
        for other, distance in after[root]:
            x[other] = max(x[other], x[root] + distance)
            waits[other] -= 1
            if not waits[other]:
                order.append(other)
    for root in reversed(order):
        if after[root]:
            x[root] = max(x[root], min(x[other] - distance for other, distance in after[root]))
    return [x[root] for root in column]
