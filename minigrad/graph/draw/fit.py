"""Estimates the size of a picture before its layout, to choose a direction and a detail that can be read on a slide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

SLIDE = 960.0, 540.0  # points of a slide in the usual format, 16:9
READABLE = 0.5  # the smallest scale of a picture on a slide; smaller letters cannot be read
ROW = 0.75  # a picture that fits at this scale is drawn from left to right, as text is read

# What Graphviz adds to the labels, in points.
BOX = 14.0, 12.0  # the width and height around the label of a box
GAPS = 14.0, 22.0  # between the boxes of a rank, and between two ranks
ENTERED, AROUND = 18.0, 36.0  # the height of a frame that is one of a column, and that is around others in a row

Size = tuple[float, float]


def scale(size: Size) -> float:
    """Return the scale at which a picture of this size fits on a slide; more than 1 if it is smaller than the slide."""
    return min(SLIDE[0] / size[0], SLIDE[1] / size[1])


def estimate(
    labels: Sequence[Size], lines: Sequence[tuple[int, int]], beside: Collection[int], depths: Sequence[int]
) -> dict[str, Size]:
    """Return about the width and the height that Graphviz gives a picture without its legend, for each direction.

    Args:
        labels: the sizes of the labels of the boxes.
        lines: the numbers of the boxes at the ends of each line.
        beside: the numbers of the boxes that stand on the rank of their reader.
        depths: the nesting level of each frame, from 1.
    """
    ranks: dict[int, list[Size]] = defaultdict(list)
    for (width, height), rank in zip(labels, _ranks(len(labels), lines, beside)):
        ranks[rank].append((width + BOX[0], height + BOX[1]))
    between = GAPS[1] * (len(ranks) - 1)
    row = sum(max(width for width, _ in rank) for rank in ranks.values()) + between
    column = sum(max(height for _, height in rank) for rank in ranks.values()) + between
    wide = max(sum(width + GAPS[0] for width, _ in rank) for rank in ranks.values())
    high = max(sum(height + GAPS[0] for _, height in rank) for rank in ranks.values())
    around, entered = AROUND * max(depths, default=0), ENTERED * len(depths)
    return {"LR": (row, high + around), "TB": (wide, column + entered)}


def _ranks(count: int, lines: Sequence[tuple[int, int]], beside: Collection[int]) -> list[int]:
    """Return the rank of each box, after all boxes that lead to it. A value stands just before its reader, or beside it.

    Boxes are numbered in the order of execution, so a line leads to a box with a higher number.
    """
    ranks = [0] * count
    for source, target in sorted(lines):
        ranks[target] = max(ranks[target], ranks[source] + (source not in beside))
    nearest: dict[int, int] = {}
    for source, target in lines:
        nearest[source] = min(ranks[target], nearest.get(source, ranks[target]))
    for value in nearest.keys() - {target for _, target in lines}:
        ranks[value] = nearest[value] - (value not in beside)
    return ranks
