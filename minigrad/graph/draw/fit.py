"""Estimates the size of a picture before its layout, to choose a direction and a detail that can be read on a slide."""

from __future__ import annotations

from collections import defaultdict

from .labels import Block, Lines, text_width
from .picture import Level, Picture

SLIDE = 960.0, 540.0  # points of a slide in the usual format, 16:9
READABLE = 0.5  # the smallest scale of a picture on a slide; smaller letters cannot be read
ROW = 0.75  # a picture that fits at this scale is drawn from left to right, as text is read

# What Graphviz adds to the texts, in points.
LINE = 1.15  # the height of a line relative to its letters
BOLD = 1.12  # the width of bold letters relative to regular ones
CELL = 6.0, 4.0  # the width and height around the text of a cell
BOX = 14.0, 12.0  # the width and height around the label of a box
GAPS = 14.0, 22.0  # between the boxes of a rank, and between two ranks
PASSING = 10.0  # the width that a line takes on each rank that it passes
ENTERED, AROUND = 18.0, 36.0  # the height of a frame that is one of a column, and that is around others in a row


def direction(picture: Picture) -> str:
    """Return the direction in which a picture fits better on a slide: "LR" or "TB"."""
    return "LR" if scale(picture, "LR") >= min(ROW, scale(picture, "TB")) else "TB"


def scale(picture: Picture, rankdir: str) -> float:
    """Return the scale at which a picture fits on a slide; more than 1 if it is smaller than the slide."""
    width, height = estimate(picture, rankdir)
    return min(SLIDE[0] / width, SLIDE[1] / height)


def estimate(picture: Picture, rankdir: str) -> tuple[float, float]:
    """Return about the width and the height that Graphviz will give a picture without its legend."""
    ranks = _ranks(picture)
    along, beside, begin = (defaultdict[int, float](float) for _ in range(3))
    for box in picture.boxes():
        width, height = _size(box.label) if box.label else (0.0, 0.0)
        sizes = width + BOX[0], height + BOX[1]
        rank, across = ranks[box.name], rankdir == "LR"
        along[rank] = max(along[rank], sizes[not across])
        beside[rank] += sizes[across] + GAPS[0]
    for line in picture.lines:
        if not line.hidden:
            begin[ranks[line.source] + 1] += PASSING
            begin[ranks[line.target]] -= PASSING
    passing = 0.0
    for rank in sorted(begin):
        passing += begin[rank]
        beside[rank] += passing
    length = sum(along.values()) + GAPS[1] * (len(along) - 1)
    breadth = max(beside.values(), default=0.0)
    if rankdir == "LR":
        return length, breadth + AROUND * _depth(picture)
    return breadth, length + ENTERED * (len(picture.frames) - 1)


def _ranks(picture: Picture) -> dict[str, int]:
    """Return the rank of each box, after all boxes that lead to it. A value stands just before its reader, or beside it."""
    lines = [line for line in picture.lines if not line.hidden]
    levels = [item for frame in picture.frames for item in frame.content if isinstance(item, Level)]
    beside = {value for level in levels for value in level.values}
    sources, readers = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for line in lines:
        sources[line.target].append(line.source)
        readers[line.source].append(line.target)
    waits = {box.name: len(sources[box.name]) for box in picture.boxes()}
    ranks = dict.fromkeys(waits, 0)
    order = [name for name, count in waits.items() if not count]
    for name in order:  # the loop appends to order
        for reader in readers[name]:
            ranks[reader] = max(ranks[reader], ranks[name] + (name not in beside))
            waits[reader] -= 1
            if not waits[reader]:
                order.append(reader)
    for name in ranks:
        if readers[name] and not sources[name]:
            ranks[name] = min(ranks[reader] for reader in readers[name]) - (name not in beside)
    return ranks


def _depth(picture: Picture) -> int:
    """Return how deep the frames are nested."""
    depths = [0]
    for frame in picture.frames[1:]:
        depths.append(depths[frame.parent] + 1)
    return max(depths)


def _size(label: Block) -> tuple[float, float]:
    if isinstance(label, Lines):
        lines = [line for line in label.lines if line]
        widths = [
            sum(text_width(t, letters.size) * (BOLD if letters.bold else 1.0) for t, letters in line) for line in lines
        ]
        return max(widths, default=0.0), sum(LINE * max(letters.size for _, letters in line) for line in lines)
    rows = [[_size(cell.content) for cell in row] for row in label.rows]
    widths = [sum(width + CELL[0] for width, _ in row) for row in rows]
    return max(widths), sum(max(height for _, height in row) + CELL[1] for row in rows)
