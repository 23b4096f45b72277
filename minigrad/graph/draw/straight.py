"""Computes the horizontal positions of a layered drawing, with straight long lines and boxes near their neighbours.

The method is from Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001). Joined vertices are aligned
in columns, once from each of the four corners of the drawing. Each of the four layouts has no overlaps. A vertex is placed in
the middle between its two middle positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .ranks import Ranking

BOW = 100.0  # a line that bows out of the space between its two boxes by more is moved
PASS, BESIDE = 8.0, 6.0  # the distance of the moved line from the boxes and lines that it passes


def straighten(ranks: Ranking, widths: Sequence[float], gap: float) -> list[float]:
    """Return the horizontal middle of each vertex. The order and the gap on every layer are kept.

    Args:
        widths: the widths of the vertices.
        gap: the distance between two boxes on a layer. Lines may be closer.
    """
    conflicts = _conflicts(ranks)
    found = []
    for upward in (False, True):
        for leftward in (False, True):
            layers = [layer[::-1] if leftward else layer for layer in ranks.layers]
            neighbours = ranks.below if upward else ranks.above
            column = _columns(layers[::-1] if upward else layers, neighbours, conflicts, len(widths))
            x = _packed(layers, column, widths, gap)
            found.append([-value for value in x] if leftward else x)
    extents = [_extent(x, widths) for x in found]
    left, right = min(extents, key=lambda extent: extent[1] - extent[0])
    for i, (low, high) in enumerate(extents):
        shift = right - high if i % 2 else left - low  # layouts packed to the right are aligned at the right
        found[i] = [value + shift for value in found[i]]
    middle = [sum(sorted(values)[1:3]) / 2 for values in zip(*found)]
    _shorten(ranks, middle, widths)
    low, _ = _extent(middle, widths)
    return [value - low for value in middle]


def _shorten(ranks: Ranking, x: list[float], widths: Sequence[float]) -> None:
    """Lead a line with a wide bow between the boxes of each layer instead of around them."""
    layer_of = {vertex: layer for layer in ranks.layers for vertex in layer}
    for chain in ranks.chains:
        bends = chain[1:-1]
        low, high = sorted((x[chain[0]], x[chain[-1]])) if bends else (0.0, 0.0)
        if all(low - BOW <= x[vertex] <= high + BOW for vertex in bends):
            continue
        for vertex in bends:
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


def _conflicts(ranks: Ranking) -> set[tuple[int, int]]:
    """Return the joints (top, bottom) that cross a joint between two bends. They give way, so that long lines are straight."""
    found = set()
    boxes = ranks.boxes
    place = {vertex: i for layer in ranks.layers for i, vertex in enumerate(layer)}
    for layer in ranks.layers[1:]:
        inner = [(place[ranks.above[v][0]], i) for i, v in enumerate(layer) if v >= boxes <= ranks.above[v][0]]
        if not inner:
            continue
        first, done = 0, -1
        for start, end in [*inner, (len(place), len(layer))]:
            for vertex in layer[done + 1 : end]:
                for above in ranks.above[vertex]:
                    if not first <= place[above] <= start:
                        found.add((above, vertex))
            first, done = max(first, start), end
    return found


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


def _packed(layers: Sequence[Sequence[int]], column: Sequence[int], widths: Sequence[float], gap: float) -> list[float]:
    """Return the positions when every column is as far left as possible, then as near to the next one as possible."""
    apart: dict[tuple[int, int], float] = {}
    for layer in layers:
        for a, b in pairwise(layer):
            between = gap * (1.0 if widths[a] and widths[b] else 0.7 if widths[a] or widths[b] else 0.5)
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
