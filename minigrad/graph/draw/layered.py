"""Computes a layered layout in plain Python: boxes on layers, and every line from a layer to a lower one.

The steps are those of Sugiyama. Cycles are broken and boxes are put on layers (:mod:`.ranks`). Each layer gets an order with
few crossings (:mod:`.crossings`). Boxes get their positions on the layer (:mod:`.straight`). Lines get routes between them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .crossings import uncross
from .ranks import Ranking, rank
from .straight import straighten

Point = tuple[float, float]
Ports = tuple[float | None, float | None]

LOOP = 16.0  # the width of a line from a box to itself
PORT = 14.0  # the largest distance between two lines that end on one side of a box
STEEP = 0.06  # extra height between layers, as a share of a line's sideways distance, so that no line is too flat
MOST_ROOM = 60.0  # the largest extra height


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


def lay_out(
    sizes: Sequence[tuple[float, float]],
    lines: Sequence[tuple[int, int]],
    *,
    rankdir: str = "TB",
    gap: tuple[float, float] = (24, 40),
    first: Collection[int] = (),
    last: Collection[int] = (),
    ports: Sequence[Ports] | None = None,
) -> Laid:
    """Place boxes, and lines between them, so that lines point down (``rankdir="TB"``) or to the right ("LR").

    The same input gives the same layout. Parts that no line joins are placed side by side.

    Args:
        sizes: the width and the height of each box.
        lines: the two boxes of each line. Lines may repeat and form loops and cycles; one line of a cycle leads back up.
        gap: the distance between the boxes of a layer, and between two layers.
        first, last: the only boxes on the first and on the last layer. If there are any, no part is placed below another.
        ports: the distances of each line's ends from the middle of its source and its target, or None to choose them.
    """
    across = rankdir == "LR"
    turned = [(height, width) if across else (width, height) for width, height in sizes]
    parts = []
    for boxes, numbers in _parts(len(sizes), lines):
        local = {box: i for i, box in enumerate(boxes)}
        part = _lay_out_part(
            [turned[box] for box in boxes],
            [(local[lines[n][0]], local[lines[n][1]]) for n in numbers],
            gap,
            {local[box] for box in first if box in local},
            {local[box] for box in last if box in local},
            [ports[n] for n in numbers] if ports else [(None, None)] * len(numbers),
        )
        parts.append((boxes, numbers, part))
    whole = Laid(0.0, 0.0, [(0.0, 0.0)] * len(sizes), [[] for _ in lines])
    corners = _shelves([(part.width, part.height) for _, _, part in parts], gap, one_row=bool(first or last))
    for (boxes, numbers, part), (left, top) in zip(parts, corners):
        for box, (x, y) in zip(boxes, part.centres):
            whole.centres[box] = (round(x + left, 2), round(y + top, 2))
        for number, route in zip(numbers, part.routes):
            whole.routes[number] = [(round(x + left, 2), round(y + top, 2)) for x, y in route]
        whole.width, whole.height = max(whole.width, left + part.width), max(whole.height, top + part.height)
    return _across(whole) if across else whole


def _across(laid: Laid) -> Laid:
    routes = [[(y, x) for x, y in route] for route in laid.routes]
    return Laid(laid.height, laid.width, [(y, x) for x, y in laid.centres], routes)


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


def _shelves(sizes: Sequence[tuple[float, float]], gap: tuple[float, float], one_row: bool) -> list[Point]:
    """Return the upper left corners of layouts side by side. They are in several rows if one row would be too wide."""
    area = sum((width + gap[0]) * (height + gap[1]) for width, height in sizes)
    widest = max([width for width, _ in sizes] + [2 * area**0.5])
    corners, x, y, high = [], 0.0, 0.0, 0.0
    for width, height in sizes:
        if x and x + width > widest and not one_row:
            x, y, high = 0.0, y + high + gap[1], 0.0
        corners.append((x, y))
        x, high = x + width + gap[0], max(high, height)
    return corners


def _lay_out_part(
    sizes: Sequence[tuple[float, float]],
    lines: Sequence[tuple[int, int]],
    gap: tuple[float, float],
    first: Collection[int],
    last: Collection[int],
    ports: Sequence[Ports],
) -> Laid:
    """Lay out one connected part, from top to bottom."""
    ranks = rank(len(sizes), lines, first, last)
    uncross(ranks)
    loops = {a for a, b in lines if a == b}
    widths = [width + 2 * LOOP * (box in loops) for box, (width, _) in enumerate(sizes)]
    x = straighten(ranks, widths + [0.0] * (len(ranks.above) - len(sizes)), gap[0])
    bands = _bands(ranks, x, sizes, gap[1])
    y = [0.0] * len(x)
    for layer, (top, bottom) in zip(ranks.layers, bands):
        for vertex in layer:
            y[vertex] = (top + bottom) / 2
    centres = list(zip(x, y))[: len(sizes)]
    routes = _routes(ranks, x, sizes, bands, centres, ports)
    for number, (a, b) in enumerate(lines):
        if a == b:
            (cx, cy), (width, height) = centres[a], sizes[a]
            right, high = cx + width / 2, height / 4
            upper, lower = cy - high, cy + high
            routes[number] = [(right, upper), (right + LOOP, upper), (right + LOOP, lower), (right, lower)]
    width = max(value + each / 2 for value, each in zip(x, [*widths, *[0.0] * (len(x) - len(widths))]))
    return Laid(width, bands[-1][1], centres, routes)


def _bands(ranks: Ranking, x: Sequence[float], sizes: Sequence[tuple[float, float]], gap: float) -> list[Point]:
    """Return the top and the bottom of each layer."""
    bands: list[Point] = []
    top = 0.0
    for layer in ranks.layers:
        bottom = top + max((sizes[vertex][1] for vertex in layer if vertex < len(sizes)), default=0.0)
        bands.append((top, bottom))
        sideways = max((abs(x[a] - x[b]) for a in layer for b in ranks.below[a]), default=0.0)
        top = bottom + gap + min(MOST_ROOM, STEEP * sideways)
    return bands


def _routes(
    ranks: Ranking,
    x: Sequence[float],
    sizes: Sequence[tuple[float, float]],
    bands: Sequence[Point],
    centres: Sequence[Point],
    ports: Sequence[Ports],
) -> list[list[Point]]:
    """Return the route of each line: straight down past the boxes of a layer, and sideways between two layers."""
    layer_of = {vertex: number for number, layer in enumerate(ranks.layers) for vertex in layer}
    starts = _ports(ranks, x, sizes, ports, down=True)
    ends = _ports(ranks, x, sizes, ports, down=False)
    routes = []
    for number, chain in enumerate(ranks.chains):
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
        routes.append(route[::-1] if ranks.turned[number] else route)
    return routes


def _ports(
    ranks: Ranking, x: Sequence[float], sizes: Sequence[tuple[float, float]], given: Sequence[Ports], down: bool
) -> list[float]:
    """Return where each line leaves a box's lower side (``down``) or enters its upper side, in the order of the routes."""
    at: dict[int, dict[tuple[float, int, int], list[int]]] = {}  # box -> the next vertex and the lines to it
    found = [0.0] * len(ranks.chains)
    for number, chain in enumerate(ranks.chains):
        if not chain:
            continue
        box, other = (chain[0], chain[1]) if down else (chain[-1], chain[-2])
        port = given[number][down == ranks.turned[number]]
        if port is not None:
            found[number] = x[box] + port
        else:
            alone = number if other < len(sizes) else -1  # lines that share a path share the port
            at.setdefault(box, {}).setdefault((x[other], other, alone), []).append(number)
    for box, ways in at.items():
        step = min(PORT, 0.7 * sizes[box][0] / len(ways))
        for i, way in enumerate(sorted(ways)):
            for number in ways[way]:
                found[number] = x[box] + step * (i - (len(ways) - 1) / 2)
    return found
