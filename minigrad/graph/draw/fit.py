"""Estimates the size of a picture before its layout, to choose a direction and a detail that can be read on a slide."""

from __future__ import annotations

from collections import Counter, defaultdict

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

Size = tuple[float, float]


def direction(picture: Picture) -> str:
    """Return the direction in which a picture fits better on a slide: "LR" or "TB"."""
    scales = {rankdir: scale(size) for rankdir, size in estimate(picture).items()}
    return "LR" if scales["LR"] >= min(ROW, scales["TB"]) else "TB"


def readable(picture: Picture) -> bool:
    """Return whether a picture can be read on a slide."""
    return scale(estimate(picture)[picture.rankdir]) >= READABLE


def scale(size: Size) -> float:
    """Return the scale at which a picture of this size fits on a slide; more than 1 if it is smaller than the slide."""
    return min(SLIDE[0] / size[0], SLIDE[1] / size[1])


def estimate(picture: Picture) -> dict[str, Size]:
    """Return about the width and the height that Graphviz gives a picture without its legend, for each direction."""
    ranks = _ranks(picture)
    longest, total = defaultdict[int, Size](_nothing), defaultdict[int, Size](_nothing)  # of the boxes of each rank
    for box in picture.boxes():
        width, height = _size(box.label) if box.label else (0.0, 0.0)
        width, height, rank = width + BOX[0], height + BOX[1], ranks[box.name]
        longest[rank] = max(longest[rank][0], width), max(longest[rank][1], height)
        total[rank] = total[rank][0] + width + GAPS[0], total[rank][1] + height + GAPS[0]
    passing = _passing(picture, ranks)
    between = GAPS[1] * (len(longest) - 1)
    row = sum(width for width, _ in longest.values()) + between, max(total[r][1] + passing[r] for r in ranks.values())
    column = max(total[r][0] + passing[r] for r in ranks.values()), sum(high for _, high in longest.values()) + between
    frames, depth = len(picture.frames) - 1, _depth(picture)
    return {"LR": (row[0], row[1] + AROUND * depth), "TB": (column[0], column[1] + ENTERED * frames)}


def _nothing() -> Size:
    return 0.0, 0.0


def _passing(picture: Picture, ranks: dict[str, int]) -> dict[int, float]:
    """Return the room on each rank for the lines that pass it."""
    change = Counter[int]()
    for line in picture.lines:
        if not line.hidden:
            change[ranks[line.source] + 1] += 1
            change[ranks[line.target]] -= 1
    room, lines = {}, 0
    for rank in range(min(ranks.values()), max(ranks.values()) + 1):
        lines += change[rank]
        room[rank] = PASSING * lines
    return room


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


def _size(label: Block) -> Size:
    if isinstance(label, Lines):
        lines = [line for line in label.lines if line]
        widths = [
            sum(text_width(t, letters.size) * (BOLD if letters.bold else 1.0) for t, letters in line) for line in lines
        ]
        return max(widths, default=0.0), sum(LINE * max(letters.size for _, letters in line) for line in lines)
    rows = [[_size(cell.content) for cell in row] for row in label.rows]
    widths = [sum(width + CELL[0] for width, _ in row) for row in rows]
    return max(widths), sum(max(height for _, height in row) + CELL[1] for row in rows)
