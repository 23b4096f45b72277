"""Defines the plain data of a picture: frames, boxes with labels, lines, and their looks. It becomes DOT text or SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from .labels import Block, Legend, Letters, Size

FONT = "Helvetica,Arial,sans-serif"
INCH = 72.0  # points; DOT gives sizes in inches

Look = dict[str, str]  # attributes of DOT and their values

BOXES: Look = {"fontname": FONT, "fontsize": "11", "height": "0.3", "width": "0.3", "margin": "0.09,0.04"}
LINES: Look = {"fontname": FONT, "fontsize": "9", "color": "#5a5a5a", "arrowsize": "0.6"}

FOLD = 7.0  # the size of a note's corner, of a cylinder's lid, and the depth of a 3D box
RING = 4.0  # the distance between the two outlines of a named value
BESIDE = 2.0  # the distance between a line and its label

# The size of each shape, relative to a rectangle.
SHAPES = {"octagon": (2 * FOLD, FOLD), "cylinder": (0.0, 2 * FOLD), "note": (FOLD, 0.0), "box3d": (FOLD, FOLD)}


@dataclass
class Element:
    """A visible part of a picture that can be clicked.

    Attributes:
        id, classes, tooltip: the attributes of its group in an SVG.
        look: the attributes in which it differs from the defaults of its kind.
    """

    id: str = ""
    classes: str = ""
    tooltip: str = ""
    label: Block | None = None
    look: Look = field(default_factory=dict)
    _points: ClassVar[float] = 11.0

    @property
    def letters(self) -> Letters:
        """The default letters of the label."""
        return Letters(self._points, self.look.get("fontcolor", "black"))

    @property
    def size(self) -> Size:
        """The size of its label. For a frame, the label is the title."""
        return self.label.size() if self.label else (0.0, 0.0)


@dataclass
class Box(Element):
    """A box with a label. No other box of its picture has its ``name``."""

    name: str = ""

    @cached_property
    def size(self) -> Size:
        """The size of its label, with the space that its shape needs."""
        look = BOXES | self.look
        wide, high = super().size
        across, down = (INCH * float(margin) for margin in look["margin"].split(","))
        more_wide, more_high = SHAPES.get(look.get("shape", ""), (0.0, 0.0))
        extra = 2 * RING * (look.get("peripheries") == "2")
        least = (INCH * float(look["width"]), INCH * float(look["height"]))
        return max(wide + 2 * across + more_wide, least[0]) + extra, max(high + 2 * down + more_high, least[1]) + extra


@dataclass
class Line(Element):
    """A line between two boxes, given by their names. With ``style="invis"`` it only keeps them near each other."""

    source: str = ""
    target: str = ""
    _points: ClassVar[float] = 9.0

    @property
    def size(self) -> Size:
        width, height = super().size
        return width + 2 * BESIDE, height + 2 * BESIDE

    @property
    def hidden(self) -> bool:
        return self.look.get("style") == "invis"


@dataclass
class Level:
    """Boxes on the same level: an operation with one value before it, and possibly another value after it."""

    values: list[str]
    operation: str


@dataclass
class Frame(Element):
    """A frame around boxes, and around other frames.

    Attributes:
        name: a name that is unique in the picture; "" is the whole picture.
        parent: the number of the frame around it.
        anchor: the name of an invisible point inside, which keeps the frames in order.
        content: the boxes and levels that are in no inner frame.
    """

    name: str = ""
    parent: int = 0
    anchor: str = ""
    content: list[Box | Level] = field(default_factory=list)


@dataclass
class Picture:
    """A picture before its layout.

    Attributes:
        look: attributes of the whole picture, such as ``rankdir``.
        frames: the frames. The first one is the whole picture. Inner frames follow the frame around them directly.
        legend: the explanation of the colours.
    """

    look: Look = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=lambda: [Frame()])
    lines: list[Line] = field(default_factory=list)
    legend: Legend = field(default_factory=list)

    @property
    def rankdir(self) -> str:
        return self.look.get("rankdir", "TB")

    def boxes(self) -> Iterator[tuple[int, Box]]:
        """Yield each box with the number of its frame."""
        for number, frame in enumerate(self.frames):
            yield from ((number, item) for item in frame.content if isinstance(item, Box))

    def shown_lines(self) -> list[Line]:
        return [line for line in self.lines if not line.hidden]
