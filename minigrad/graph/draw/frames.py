"""Computes a layered layout of boxes in frames. The content of a frame is laid out first. Then the frame itself is a box.

A value enters a frame at one point and leaves it at one point, even if many operations read it there. So a line between
frames has one piece in each frame that it passes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from .labels import Size
from .layered import Point, lay_out
from .picture import INCH, Line, Picture

PADDING = 10.0  # the distance between a frame and its content

Key = tuple[Hashable, ...]


@dataclass
class Placed:
    """The positions of all parts of a picture.

    Attributes:
        size: the size of the whole picture.
        boxes: the centre of each box.
        frames: left, top, width and height of each frame.
        titles: the centre of each frame's title.
        routes: the points of each line. From one point to the next the line is straight, or bends between two layers.
        labels: the centres of the lines' labels, by the line's id.
    """

    size: Size
    boxes: dict[str, Point] = field(default_factory=dict)
    frames: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    titles: dict[int, Point] = field(default_factory=dict)
    routes: list[list[Point]] = field(default_factory=list)
    labels: dict[str, Point] = field(default_factory=dict)


@dataclass
class _Inside:
    """The layout of the content of one frame. All positions are relative to its upper left corner."""

    size: Size
    centres: dict[Key, Point]
    routes: dict[tuple[Key, Key], list[Point]]


class FrameLayout:
    """Computes the positions of a picture."""

    def __init__(self, picture: Picture, rankdir: str) -> None:
        self.rankdir = rankdir
        self.gap = INCH * float(picture.look["nodesep"]), INCH * float(picture.look["ranksep"])
        self.parents = [frame.parent for frame in picture.frames]
        self.titles = [frame.size for frame in picture.frames]
        self.homes = {box.name: number for number, box in picture.boxes()}
        self.members: list[dict[Key, Size]] = [{} for _ in self.parents]
        self.pieces: list[dict[tuple[Key, Key], None]] = [{} for _ in self.parents]
        self.inside: dict[int, _Inside] = {}
        for home, box in picture.boxes():
            self.members[home]["box", box.name] = box.size
        self.ways = [self._way(line) for line in picture.shown_lines()]

    def _outwards(self, box: str) -> list[int]:
        found = [self.homes[box]]
        while found[-1]:
            found.append(self.parents[found[-1]])
        return found

    def _way(self, line: Line) -> list[tuple[int, tuple[Key, Key]]]:
        """Return the pieces of a line: the frame of each, and the two things that it joins there."""
        source = line.source
        up, down = self._outwards(source), self._outwards(line.target)
        shared = next(frame for frame in up if frame in down)
        way: list[tuple[int, tuple[Key, Key]]] = []
        start: Key = ("box", source)
        for frame in up[: up.index(shared)]:
            way.append((frame, (start, ("out", source))))
            start = ("frame", frame, source)
        into = down[: down.index(shared)][::-1]
        ends: list[Key] = [*(("frame", frame, source) for frame in into), ("box", line.target, line.id)]
        if line.label:
            label: Key = ("label", line.id)
            self.members[shared][label] = line.size
            way += [(shared, (start, label)), (shared, (label, ends[0]))]
        else:
            way.append((shared, (start, ends[0])))
        way += [(frame, (("in", source), end)) for frame, end in zip(into, ends[1:])]
        for frame, piece in way:
            self.pieces[frame][piece] = None
            for key in piece:
                if key[0] in ("in", "out"):
                    self.members[frame][key] = (0.0, 0.0)
        return way

    def place(self) -> Placed:
        for frame in reversed(range(len(self.parents))):  # inner frames come after the frames around them
            self._lay_out(frame)
            if frame:
                self.members[self.parents[frame]]["frame", frame] = self._frame_size(frame)
        whole = self.inside[0]
        corners = {0: (0.0, 0.0)}
        placed = Placed(whole.size)
        for frame, parent in enumerate(self.parents):
            if frame:
                (x, y), (width, height) = self.inside[parent].centres["frame", frame], self._frame_size(frame)
                left, top = corners[parent][0] + x - width / 2, corners[parent][1] + y - height / 2
                placed.frames[frame] = (left, top, width, height)
                middle = top + (PADDING + self.titles[frame][1]) / 2
                placed.titles[frame] = (left + self._beside_lines(frame), middle)
                corners[frame] = (left + self._indent(frame), top + self._head(frame))
            for key, (x, y) in self.inside[frame].centres.items():
                x, y = x + corners[frame][0], y + corners[frame][1]
                if key[0] == "box":
                    placed.boxes[str(key[1])] = (x, y)
                elif key[0] == "label":
                    placed.labels[str(key[1])] = (x, y)
        for way in self.ways:
            points = ((corners[frame], point) for frame, piece in way for point in self.inside[frame].routes[piece])
            route = [(x + left, y + top) for (left, top), (x, y) in points]
            placed.routes.append([point for i, point in enumerate(route) if not i or point != route[i - 1]])
        return placed

    def _beside_lines(self, frame: int) -> float:
        """Return the middle of a title: at the left, or if a line enters there, at the right or next to a line."""
        wide, room = self.titles[frame][0], self._frame_size(frame)[0] - 0.8 * PADDING
        centres = self.inside[frame].centres
        lines = [x + self._indent(frame) for key, (x, _) in centres.items() if key[0] == "in" and self.rankdir != "LR"]
        for start in (0.8 * PADDING, room - wide, *(x + 0.6 * PADDING for x in sorted(lines))):
            if start + wide <= room and not any(start - 4 < x < start + wide + 4 for x in lines):
                return start + wide / 2
        return 0.8 * PADDING + wide / 2

    def _head(self, frame: int) -> float:
        return self.titles[frame][1] + PADDING

    def _indent(self, frame: int) -> float:
        return (self._frame_size(frame)[0] - self.inside[frame].size[0]) / 2

    def _frame_size(self, frame: int) -> Size:
        width, height = self.inside[frame].size
        return max(width, self.titles[frame][0]) + 2 * PADDING, height + self._head(frame) + PADDING

    def _lay_out(self, frame: int) -> None:
        members = list(self.members[frame])
        number = {key: i for i, key in enumerate(members)}
        pieces = list(self.pieces[frame])
        laid = lay_out(
            [self.members[frame][key] for key in members],
            [(number[a[:2]], number[b[:2]]) for a, b in pieces],
            rankdir=self.rankdir,
            gap=self.gap,
            first=[i for key, i in number.items() if key[0] == "in"],
            last=[i for key, i in number.items() if key[0] == "out"],
            ports=[(self._port(a, "out"), self._port(b, "in")) for a, b in pieces],
        )
        size, centres = (laid.width, laid.height), dict(zip(members, laid.centres))
        self.inside[frame] = _Inside(size, centres, dict(zip(pieces, laid.routes)))
        for (a, b), route in zip(pieces, laid.routes):
            self._extend(frame, a, b, route)

    def _port(self, key: Key, side: str) -> float | None:
        """Return a value's entry or exit on an inner frame, relative to the frame's middle; None for a box."""
        if key[0] != "frame":
            return None
        inner, (width, height) = int(str(key[1])), self._frame_size(int(str(key[1])))
        x, y = self.inside[inner].centres[side, key[2]]
        if self.rankdir == "LR":
            return y + self._head(inner) - height / 2
        return x + self._indent(inner) - width / 2

    def _extend(self, frame: int, a: Key, b: Key, route: list[Point]) -> None:
        """Extend the ends of a route at the frame's sides to its border."""
        width, height = self._frame_size(frame)
        left, top = self._indent(frame), self._head(frame)
        across = self.rankdir == "LR"
        if a[0] == "in":
            x, y = route[0]
            route.insert(0, (-left, y) if across else (x, -top))
        if b[0] == "out":
            x, y = route[-1]
            route.append((width - left, y) if across else (x, height - top))
