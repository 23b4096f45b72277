"""Estimates the size of a picture before its layout, to choose a direction and a detail that can be read on a slide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

SLIDE = 960.0, 540.0  # points of a slide in the usual format, 16:9
READABLE = 0.5  # the smallest scale of a picture on a slide; smaller letters cannot be read
ROW = 0.75  # a picture that fits at this scale is drawn from left to right, as text is read

# What Graphviz adds to the labels, in points.
BOX = 14.0, 12.0  # the width and height around the label of a box
GAPS = 14.0, 22.0  # between the boxes of a rank, and between two ranks
PASSING = 10.0  # the width that a line takes on each rank that it passes
ENTERED, AROUND = 18.0, 36.0  # the height of a frame that is one of a column, and that is around others in a row

Size = tuple[float, float]


@dataclass
class Parts:
    """What decides the size of a picture.

    Attributes:
        labels: the sizes of the labels, by the names of their boxes.
        lines: the boxes at the ends of each line.
        beside: the boxes that stand on the rank of their reader.
        depths: the nesting level of each frame, from 1.
    """

    labels: Mapping[str, Size]
    lines: Sequence[tuple[str, str]]
    beside: Collection[str] = ()
    depths: Sequence[int] = ()


def direction(parts: Parts) -> str:
    """Return the direction in which a picture fits better on a slide: "LR" or "TB"."""
    scales = {rankdir: scale(size) for rankdir, size in estimate(parts).items()}
    return "LR" if scales["LR"] >= min(ROW, scales["TB"]) else "TB"


def readable(parts: Parts, rankdir: str) -> bool:
    """Return whether a picture can be read on a slide."""
    return scale(estimate(parts)[rankdir]) >= READABLE


def scale(size: Size) -> float:
    """Return the scale at which a picture of this size fits on a slide; more than 1 if it is smaller than the slide."""
    return min(SLIDE[0] / size[0], SLIDE[1] / size[1])


def estimate(parts: Parts) -> dict[str, Size]:
    """Return about the width and the height that Graphviz gives a picture without its legend, for each direction."""
    ranks = _ranks(parts)
    longest, total = defaultdict[int, Size](_nothing), defaultdict[int, Size](_nothing)  # of the boxes of each rank
    for name, label in parts.labels.items():
        width, height, rank = label[0] + BOX[0], label[1] + BOX[1], ranks[name]
        longest[rank] = max(longest[rank][0], width), max(longest[rank][1], height)
        total[rank] = total[rank][0] + width + GAPS[0], total[rank][1] + height + GAPS[0]
    passing = _passing(parts, ranks)
    between = GAPS[1] * (len(longest) - 1)
    row = sum(width for width, _ in longest.values()) + between, max(total[r][1] + passing[r] for r in ranks.values())
    column = max(total[r][0] + passing[r] for r in ranks.values()), sum(high for _, high in longest.values()) + between
    around, entered = AROUND * max(parts.depths, default=0), ENTERED * len(parts.depths)
    return {"LR": (row[0], row[1] + around), "TB": (column[0], column[1] + entered)}


def _nothing() -> Size:
    return 0.0, 0.0


def _passing(parts: Parts, ranks: Mapping[str, int]) -> dict[int, float]:
    """Return the room on each rank for the lines that pass it."""
    change = Counter[int]()
    for source, target in parts.lines:
        change[ranks[source] + 1] += 1
        change[ranks[target]] -= 1
    room, lines = {}, 0
    for rank in range(min(ranks.values()), max(ranks.values()) + 1):
        lines += change[rank]
        room[rank] = PASSING * lines
    return room


def _ranks(parts: Parts) -> dict[str, int]:
    """Return the rank of each box, after all boxes that lead to it. A value stands just before its reader, or beside it."""
    sources, readers = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for source, target in parts.lines:
        sources[target].append(source)
        readers[source].append(target)
    waits = {name: len(sources[name]) for name in parts.labels}
    ranks = dict.fromkeys(waits, 0)
    order = [name for name, count in waits.items() if not count]
    for name in order:  # the loop appends to order
        for reader in readers[name]:
            ranks[reader] = max(ranks[reader], ranks[name] + (name not in parts.beside))
            waits[reader] -= 1
            if not waits[reader]:
                order.append(reader)
    for name in ranks:
        if readers[name] and not sources[name]:
            ranks[name] = min(ranks[reader] for reader in readers[name]) - (name not in parts.beside)
    return ranks
