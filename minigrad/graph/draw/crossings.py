"""The order of the boxes on each layer of a drawing: the one with few crossings of lines that sweeps and swaps find."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from .ranks import Ranking

LARGE = 500  # vertices, above which there are fewer tries, and above four times as many only one
MOST_SWEEPS = 24
PATIENCE = 2  # sweeps without an improvement, after which it is left as it is
MOST_SWAPS = 8  # rounds of swapping neighbours in a sweep


def uncross(ranks: Ranking) -> int:
    """Put the layers in an order with few crossings; gives how many are left."""
    best, fewest = ranks.layers, -1
    tries = 4 if len(ranks.above) <= LARGE else 2 if len(ranks.above) <= 4 * LARGE else 1
    for start in range(tries):
        ranks.layers = [list(layer) for layer in ranks.layers]
        _by_search(ranks, upward=start % 2 == 1, mirrored=start >= 2)
        layers, count = _swept(ranks)
        if fewest < 0 or count < fewest:
            best, fewest = layers, count
        if not fewest:
            break
    ranks.layers = best
    return fewest


def _swept(ranks: Ranking) -> tuple[list[list[int]], int]:
    """The best order that sweeps down and up come by, and its crossings."""
    place = [0] * len(ranks.above)
    for layer in ranks.layers:
        _number(layer, place)
    best, fewest, waited = [list(layer) for layer in ranks.layers], crossings(ranks, place), 0
    for sweep in range(MOST_SWEEPS):
        if not fewest or waited >= PATIENCE:
            break
        down = sweep % 2 == 0
        layers = ranks.layers[1:] if down else ranks.layers[-2::-1]
        for layer in layers:
            _by_medians(layer, ranks.above if down else ranks.below, place, flip=sweep % 4 < 2)
        _swap(ranks, place)
        count = crossings(ranks, place)
        waited += 1
        if count < fewest:
            best, fewest, waited = [list(layer) for layer in ranks.layers], count, 0
    return best, fewest


def crossings(ranks: Ranking, place: Sequence[int]) -> int:
    """How many pairs of lines cross between the layers."""
    count = 0
    for layer in ranks.layers:
        seen: list[int] = []
        for vertex in layer:
            ends = sorted(place[other] for other in ranks.below[vertex])
            for end in ends:
                count += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return count


def _by_search(ranks: Ranking, upward: bool, mirrored: bool) -> None:
    """A first order: as a search along the lines comes by, so that what belongs together stands together."""
    first, second = (ranks.above, ranks.below) if upward else (ranks.below, ranks.above)
    seen = [False] * len(first)
    found: list[int] = []
    for layer in reversed(ranks.layers) if upward else ranks.layers:
        for start in sorted(layer):
            waiting = [] if seen[start] else [start]
            while waiting:
                vertex = waiting.pop()
                if not seen[vertex]:
                    seen[vertex] = True
                    found.append(vertex)
                    ways = [v for v in first[vertex] + second[vertex] if not seen[v]]
                    waiting += ways if mirrored else ways[::-1]
    number = [0] * len(found)
    for place, vertex in enumerate(found):
        number[vertex] = place
    for layer in ranks.layers:
        layer.sort(key=number.__getitem__)


def _number(layer: Sequence[int], place: list[int]) -> None:
    for i, vertex in enumerate(layer):
        place[vertex] = i


def _by_medians(layer: list[int], neighbours: Sequence[Sequence[int]], place: list[int], flip: bool) -> None:
    """Each vertex to the median of its neighbours, equal ones the other way round (``flip``); what has none keeps its place."""
    moving = [vertex for vertex in (reversed(layer) if flip else layer) if neighbours[vertex]]
    median = {vertex: _median(sorted(place[other] for other in neighbours[vertex])) for vertex in moving}
    ordered = iter(sorted(moving, key=median.__getitem__))
    layer[:] = [next(ordered) if neighbours[vertex] else vertex for vertex in layer]
    _number(layer, place)


def _median(places: Sequence[int]) -> float:
    """Of an even number of places the point between the middle two that is nearer to the side where they are close together."""
    half, odd = divmod(len(places), 2)
    if odd:
        return places[half]
    low, high = places[half - 1], places[half]
    left, right = low - places[0], places[-1] - high
    return (low * right + high * left) / (left + right) if left + right else (low + high) / 2


def _swap(ranks: Ranking, place: list[int]) -> None:
    """Swap neighbours on a layer as long as that takes crossings away."""
    busy = [number for number, layer in enumerate(ranks.layers) if len(layer) > 1]
    for _ in range(MOST_SWAPS):
        changed: set[int] = set()
        for number in busy:
            if _swap_on(ranks.layers[number], ranks, place):
                changed.update((number - 1, number, number + 1))
        busy = [number for number, layer in enumerate(ranks.layers) if number in changed and len(layer) > 1]
        if not busy:
            break


def _swap_on(layer: list[int], ranks: Ranking, place: list[int]) -> bool:
    sides = [
        [sorted(place[other] for other in side[vertex]) for vertex in layer] for side in (ranks.above, ranks.below)
    ]
    swapped = False
    for i in range(len(layer) - 1):
        gain = 0
        for side in sides:
            left, right = side[i], side[i + 1]
            if left and right and left[-1] > right[0]:
                gain += sum((a > b) - (a < b) for a in left for b in right)
        if gain > 0:
            swapped = True
            for row in (layer, *sides):
                row[i], row[i + 1] = row[i + 1], row[i]  # type: ignore[index]
    if swapped:
        _number(layer, place)
    return swapped
