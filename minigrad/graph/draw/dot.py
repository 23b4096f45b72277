"""A picture in the DOT language (https://graphviz.org/doc/info/lang.html): whole, or empty boxes of given sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from .frames import Size
from .labels import Cell, Legend, Letters, Lines, escaped, small
from .picture import BOXES, INCH, LINES, Box, Element, Frame, Level, Line, Look, Picture

LETTER = 5  # points, of one in a title
ARRANGES = ("weight", "minlen", "constraint", "arrowhead")  # of a line: what moves boxes, or its own end
TITLES = ("margin", "labeljust")  # of a frame: where its title stands
EMPTY = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'


def write_dot(picture: Picture, dpi: int | None = None) -> str:
    """The picture with all its looks. The same picture gives the same text, on any machine and in any run.

    Args:
        dpi: dots an inch of a PNG; other formats would only scale their coordinates by it.
    """

    def frame(frame: Frame) -> str:
        return (
            f"graph [{_marks(frame)} {_title(frame, picture.rankdir)} {_tooltip(frame)} {_look(frame.look, _STYLED)}]"
        )

    def box(box: Box) -> str:
        return f"{box.name} [{_marks(box)} {_look(box.look, _STYLED)} {_label(box)} {_tooltip(box)}]"

    def line(line: Line) -> str:
        if line.hidden:
            return _hidden(line)
        label = f" {_label(line)}" if line.label else ""
        classes = f' class="{line.classes}"' if line.classes else ""
        look = f" {_look(line.look)}" if line.look else ""
        return f'{line.source} -> {line.target} [id="{line.id}" {_tooltip(line)}{label}{classes}{look}]'

    whole = {"dpi": str(dpi)} if dpi else {}
    head = [
        f"graph [{_look(whole | picture.look)}]",
        f"node [{_look(BOXES)}]",
        f"edge [{_look(LINES)}]",
        *_legend(picture.legend),
    ]
    return _written(picture, head, frame, box, line)


def write_sizes(picture: Picture, boxes: Mapping[str, Size], titles: Sequence[Size], labels: Mapping[int, Size]) -> str:
    """Empty boxes for Graphviz to place: one for each box, for each title of a frame, and for each label of a line.

    There is no text in it, so Graphviz needs no font.

    Args:
        boxes: sizes by name.
        titles: of the frames, in their order; the first is the whole.
        labels: of the lines that are shown, by number.
    """
    numbers = {id(line): number for number, line in enumerate(picture.shown_lines())}
    sizes = {id(frame): size for frame, size in zip(picture.frames, titles)}

    def frame(frame: Frame) -> str:
        return f"graph [label=<{_empty(sizes[id(frame)])}> {_look(_only(frame.look, TITLES))}]"

    def box(box: Box) -> str:
        width, height = (f"{each / INCH:.4f}" for each in boxes[box.name])
        return f'{box.name} [shape=box fixedsize=true width={width} height={height} label=""]'

    def line(line: Line) -> str:
        if line.hidden:
            return _hidden(line)
        number = numbers[id(line)]
        label = f" label=<{_empty(labels[number])}>" if number in labels else ""
        look = _look(_only(line.look, ARRANGES))
        return f'{line.source} -> {line.target} [id="line{number}" {look}{label}]'

    font = {"fontname": "Times"}
    head = [f"graph [{_look(picture.look | font)}]", f"node [{_look(BOXES | font)}]", f"edge [{_look(LINES | font)}]"]
    return _written(picture, head, frame, box, line)


def _written(
    picture: Picture,
    head: list[str],
    frame_text: Callable[[Frame], str],
    box_text: Callable[[Box], str],
    line_text: Callable[[Line], str],
) -> str:
    """The statements of a picture, a line each, indented as they are nested."""
    lines = ["digraph minigrad {", *(f"  {text}" for text in head)]
    around = [0]  # the frames that are open
    for number, frame in enumerate(picture.frames):
        while number and around[-1] != frame.parent:
            around.pop()
            lines.append("  " * len(around) + "}")
        if number:
            lines.append(f"{'  ' * len(around)}subgraph {frame.name} {{")
            around.append(number)
            lines.append("  " * len(around) + frame_text(frame))
        if frame.anchor:
            lines.append("  " * len(around) + f"{frame.anchor} [style=invis shape=point width=0 height=0]")
        lines += ["  " * len(around) + (box_text(i) if isinstance(i, Box) else _level(i)) for i in frame.content]
    lines += ["  " * depth + "}" for depth in range(len(around) - 1, 0, -1)]
    return "\n".join([*lines, *(f"  {line_text(line)}" for line in picture.lines), "}"]) + "\n"


def _level(level: Level) -> str:
    """One value before the operation, the other, by an invisible edge, after it."""
    names = "; ".join([*level.values, level.operation])
    order = f"; {level.operation} -> {level.values[1]} [style=invis]" if len(level.values) == 2 else ""
    return f"{{ rank=same; {names}{order} }}"


def _hidden(line: Line) -> str:
    return f"{line.source} -> {line.target} [{_look(line.look)}]"


_WORD = re.compile(r"[\w.]+")
_STYLED = ("style",)  # what is quoted although it may be a word


def _look(look: Look, quoted: Sequence[str] = ()) -> str:
    return " ".join(
        f"{key}={value}" if _WORD.fullmatch(value) and key not in quoted else f'{key}="{value}"'
        for key, value in look.items()
    )


def _only(look: Look, keys: Sequence[str]) -> Look:
    return {key: value for key, value in look.items() if key in keys}


def _marks(element: Element) -> str:
    return f'id="{element.id}" class="{element.classes}"'


def _tooltip(element: Element) -> str:
    """The text for a tooltip, of which Graphviz reads the backslashes once more."""
    return 'tooltip="{}"'.format(escaped(element.tooltip).replace("\\", r"\\"))


def _label(element: Element) -> str:
    return f"label=<{element.label.dot(element.letters) if element.label else ''}>"


def _title(frame: Frame, rankdir: str) -> str:
    title = frame.label.dot(frame.letters) if frame.label else ""
    if rankdir == "TB" and not frame.anchor:  # as much room to its left: edges come in from above, in the middle
        room = f'<TD WIDTH="{LETTER * len(title)}"></TD>'
        title = f'<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>{room}<TD>{title}</TD></TR></TABLE>'
    return f"label=<{title}>"


def _empty(size: Size) -> str:
    width, height = (max(1, round(each)) for each in size)
    return f'<TABLE {EMPTY} WIDTH="{width}" HEIGHT="{height}"><TR><TD><FONT POINT-SIZE="1"> </FONT></TD></TR></TABLE>'


def _legend(rows: Legend) -> Iterator[str]:
    """The label of the drawing: tables of coloured cells."""
    if not rows:
        return
    yield 'label=<<TABLE BORDER="0" CELLSPACING="0">'
    for row in rows:
        yield '  <TR><TD ALIGN="LEFT"><TABLE BORDER="0" CELLBORDER="0" CELLSPACING="2" CELLPADDING="3"><TR>'
        for text, color in row:
            yield "    " + Cell(Lines([small(text)]), color).dot(Letters())
        yield "  </TR></TABLE></TD></TR>"
    yield "</TABLE>>"
