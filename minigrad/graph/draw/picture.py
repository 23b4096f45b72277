"""A drawing as plain data: frames, boxes with labels, lines, and how each looks. It is written as DOT text or as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from .labels import Block, Legend, Letters

FONT = "Helvetica,Arial,sans-serif"
INCH = 72.0  # of DOT's sizes, in points

Look = dict[str, str]  # attributes of DOT and their values

BOXES: Look = {"fontname": FONT, "fontsize": "11", "height": "0.3", "width": "0.3", "margin": "0.09,0.04"}
LINES: Look = {"fontname": FONT, "fontsize": "9", "color": "#5a5a5a", "arrowsize": "0.6"}


@dataclass
class Element:
    """What can be seen and clicked in a picture.

    Attributes:
        id, classes, tooltip: of its group in an SVG.
        look: the attributes in which it differs from others of its kind.
    """

    id: str = ""
    classes: str = ""
    tooltip: str = ""
    label: Block | None = None
    look: Look = field(default_factory=dict)
    _points: ClassVar[float] = 11.0

    @property
    def letters(self) -> Letters:
        """Those of the label, unless it says otherwise."""
        return Letters(self._points, self.look.get("fontcolor", "black"))


@dataclass
class Box(Element):
    """A box with a label. No other box of its picture has its ``name``."""

    name: str = ""


@dataclass
class Line(Element):
    """A line between two boxes, by their names. One of ``style="invis"`` only holds them near each other."""

    source: str = ""
    target: str = ""
    _points: ClassVar[float] = 9.0

    @property
    def hidden(self) -> bool:
        return self.look.get("style") == "invis"


@dataclass
class Level:
    """Boxes that stand level: a value before the operation that reads it, and if there are two the other after it."""

    values: list[str]
    operation: str


@dataclass
class Frame(Element):
    """A frame around boxes, and around other frames.

    Attributes:
        name: no other frame of its picture has it; "" is the whole.
        parent: the number of the frame around it.
        anchor: the name of an invisible point in it, by which frames are kept in their order.
        content: what is in it but in no inner frame.
    """

    name: str = ""
    parent: int = 0
    anchor: str = ""
    content: list[Box | Level] = field(default_factory=list)


@dataclass
class Picture:
    """A drawing, of which nothing has a place yet.

    Attributes:
        look: attributes of the whole, such as ``rankdir``.
        frames: the first is the whole; a frame comes after the one around it, and what is in it before what comes after it.
        color: what the colours show, as for ``draw_dot``.
        legend: what they mean.
    """

    look: Look = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=lambda: [Frame()])
    lines: list[Line] = field(default_factory=list)
    color: str = "grad"
    legend: Legend = field(default_factory=list)

    @property
    def rankdir(self) -> str:
        return self.look.get("rankdir", "TB")

    def boxes(self) -> Iterator[tuple[int, Box]]:
        """Each box, and the number of the frame that it is in."""
        for number, frame in enumerate(self.frames):
            yield from ((number, item) for item in frame.content if isinstance(item, Box))

    def shown_lines(self) -> list[Line]:
        return [line for line in self.lines if not line.hidden]
