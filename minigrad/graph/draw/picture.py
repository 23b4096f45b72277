"""Defines the plain data of a picture: frames, boxes with labels, lines, and their looks. It becomes DOT text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from .labels import Block, Legend, Letters

FONT = "Helvetica,Arial,sans-serif"  # of all texts

Look = dict[str, str]  # attributes of DOT and their values

BOXES: Look = {"fontsize": "11", "height": "0.3", "width": "0.3", "margin": "0.09,0.04"}
LINES: Look = {"fontsize": "9", "color": "#5a5a5a", "arrowsize": "0.6"}


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


@dataclass
class Box(Element):
    """A box with a label. No other box of its picture has its ``name``."""

    name: str = ""


@dataclass
class Line(Element):
    """A line between two boxes, given by their names. With ``style="invis"`` it only keeps them near each other."""

    source: str = ""
    target: str = ""
    _points: ClassVar[float] = 9.0

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
        name: the name of the picture.
    """

    look: Look = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=lambda: [Frame()])
    lines: list[Line] = field(default_factory=list)
    legend: Legend = field(default_factory=list)
    name: str = ""

    @property
    def rankdir(self) -> str:
        return self.look.get("rankdir", "TB")

    def boxes(self) -> Iterator[Box]:
        return (item for frame in self.frames for item in frame.content if isinstance(item, Box))
