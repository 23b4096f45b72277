"""Orders the boxes on each layer of a drawing. Sweeps and swaps look for an order with few crossings of lines."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from statistics import fmean

from .ranks import Ranking

MOST_SWEEPS = 40
PATIENCE = 12  # sweeps without an improvement before the search ends
MOST_SWAPS = 8  # rounds of swapping neighbours in a sweep


def uncross(ranks: Ranking) -> int:
    """Improve the order of the layers until few lines cross, and return the number of crossings.

    Each sweep moves the boxes of every layer to the middle of their neighbours on the previous layer, and then swaps
    neighbours. The sweeps alternate between downwards and upwards.
    """
    _search(ranks)
    place = [0] * len(ranks.above)
    for layer in ranks.layers:
        _number(layer, place)
    best, fewest, waited = [list(layer) for layer in ranks.layers], crossings(ranks, place), 0
    for sweep in range(MOST_SWEEPS):
        if not fewest or waited >= PATIENCE:
            break
        down = sweep % 2 == 0
        for layer in ranks.layers[1:] if down else ranks.layers[-2::-1]:
            _sort(layer, ranks.above if down else ranks.below, place, flip=sweep % 4 < 2)
        _swap(ranks, place)
        count = crossings(ranks, place)
        waited += 1
        if count < fewest:
            best, fewest, waited = [list(layer) for layer in ranks.layers], count, 0
    ranks.layers = best
    return fewest


def crossings(ranks: Ranking, place: Sequence[int]) -> int:
    """Return the number of pairs of lines that cross between the layers."""
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


def _search(ranks: Ranking) -> None:
    """Order the vertices as a depth-first search along the lines finds them, so that connected ones are close together."""
    found: dict[int, int] = {}
    for start in (vertex for layer in ranks.layers for vertex in layer):
        waiting = [start]
        while waiting:
            vertex = waiting.pop()
            if vertex not in found:
                found[vertex] = len(found)
                waiting += reversed(ranks.above[vertex] + ranks.below[vertex])
    for layer in ranks.layers:
        layer.sort(key=found.__getitem__)


def _number(layer: Sequence[int], place: list[int]) -> None:
    for i, vertex in enumerate(layer):
        place[vertex] = i


def _sort(layer: list[int], neighbours: Sequence[Sequence[int]], place: list[int], flip: bool) -> None:
    """Move each vertex to the middle of its neighbours. ``flip`` reverses ties. A vertex without neighbours stays."""
    moving = [vertex for vertex in (reversed(layer) if flip else layer) if neighbours[vertex]]
    middle = {vertex: fmean(place[other] for other in neighbours[vertex]) for vertex in moving}
    ordered = iter(sorted(moving, key=middle.__getitem__))
    layer[:] = [next(ordered) if neighbours[vertex] else vertex for vertex in layer]
    _number(layer, place)


def _swap(ranks: Ranking, place: list[int]) -> None:
    """Swap neighbours on a layer as long as this removes crossings."""
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
