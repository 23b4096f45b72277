"""A layered layout of our own: boxes on layers, every line from a layer to a lower one, in plain Python.

The steps are Sugiyama's: circles are broken and boxes put on layers (:mod:`.ranks`), each layer is put in an order with few
crossings (:mod:`.crossings`), boxes get their places on the layer (:mod:`.straight`), and lines their ways between the boxes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .crossings import uncross
from .ranks import Ranking, rank
from .straight import straighten

Point = tuple[float, float]
Ports = tuple[float | None, float | None]

LOOP = 16.0  # how far a line from a box to itself goes out
PORT = 14.0  # at most between two lines that end on one side of a box
STEEP = 0.06  # of the distance that a line goes sideways: room between the layers, so that it does not lie flat
MOST_ROOM = 60.0  # that is added for it

# The advance of the characters in 1/100 em, of DejaVu Sans and Verdana, which are wider than most.
_ADVANCES = {
    30: " 'IJijl",
    37: ",./:;\\|",
    42: "!()-[]ft·",
    48: "r",
    52: '"*_`',
    56: "?cszv",
    60: "FLkxy",
    64: "0123456789EPSTYabdeghnopqu${}∂∇",
    70: "ABCKRVXZαβγ",
    76: "NU",
    80: "&DGHOQ",
    85: "#+<=>^w~×→←−∞",
    90: "M",
    96: "%",
    101: "@Wm…",
}
_ADVANCE = {character: advance / 100 for advance, characters in _ADVANCES.items() for character in characters}


@dataclass
class Laid:
    """A drawing.

    Attributes:
        width, height: of the whole; its left upper corner is (0, 0), and y grows downwards.
        centres: of the boxes.
        routes: of each line its points, from the border of its source to that of its target. Between two of them it never
            passes a box.
    """

    width: float
    height: float
    centres: list[Point]
    routes: list[list[Point]]


def text_width(text: str, size: float) -> float:
    """How wide a line of text is in a sans font of this size: rather too much than too little, for nobody knows the font."""
    return size * sum(_ADVANCE.get(c) or (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.9) for c in text)


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

    The same input gives the same drawing. Parts that no line joins stand side by side.

    Args:
        sizes: the width and the height of each box.
        lines: of each line the numbers of two boxes. Lines may repeat, lead from a box to itself, and form circles, of which
            a line each leads back up.
        gap: between the boxes of a layer, and between two layers.
        first, last: boxes that are alone on the first and on the last layer. Then no part stands below another.
        ports: for each line how far from the middle of its source and of its target it ends, None where that is open.
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
    return Laid(
        laid.height,
        laid.width,
        [(y, x) for x, y in laid.centres],
        [[(y, x) for x, y in route] for route in laid.routes],
    )


def _parts(boxes: int, lines: Sequence[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """The boxes and the lines of each connected part, in the order of their first boxes."""
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
    """The left upper corners of drawings side by side, in rows where one would be a ribbon."""
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
    """One connected part, from top to bottom."""
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
            routes[number] = [
                (right, cy - high),
                (right + LOOP, cy - high),
                (right + LOOP, cy + high),
                (right, cy + high),
            ]
    width = max(value + each / 2 for value, each in zip(x, [*widths, *[0.0] * (len(x) - len(widths))]))
    return Laid(width, bands[-1][1], centres, routes)


def _bands(ranks: Ranking, x: Sequence[float], sizes: Sequence[tuple[float, float]], gap: float) -> list[Point]:
    """The top and the bottom of each layer."""
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
    """The way of each line: straight down past the boxes of a layer, and sideways between two layers."""
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
    """Where each line leaves the lower side of a box (``down``), or comes in on its upper side: in the order of their ways."""
    at: dict[int, dict[tuple[float, int, int], list[int]]] = {}  # box -> the next vertex and the lines that go there
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
