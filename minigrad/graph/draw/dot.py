"""Writes a picture in the DOT language (https://graphviz.org/doc/info/lang.html), whole or as empty boxes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .labels import Letters, Size, escaped, legend_table
from .picture import BOXES, INCH, LINES, Box, Element, Frame, Level, Line, Look, Picture

LETTER = 5  # the width of a letter in a title, in points
ARRANGES = ("weight", "minlen", "constraint", "arrowhead")  # attributes of a line that move boxes or its own end
TITLES = ("margin", "labeljust")  # attributes of a frame that move its title
EMPTY = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'


def write_dot(picture: Picture, dpi: int | None = None) -> str:
    """Return the picture with all its attributes. The same picture gives the same text, on any machine and in any run.

    Args:
        dpi: the dots per inch of a PNG. Do not set it for other formats: it would only scale their coordinates.
    """

    def frame(frame: Frame) -> str:
        title, look = _title(frame, picture.rankdir), _look(frame.look, _STYLED)
        return f"graph [{_marks(frame)} {title} {_tooltip(frame)} {look}]"

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
    head = [f"graph [{_look(whole | picture.look)}]", f"node [{_look(BOXES)}]", f"edge [{_look(LINES)}]"]
    if picture.legend:
        head.append(f"label=<{legend_table(picture.legend).dot(Letters())}>")
    return _written(picture, head, frame, box, line)


def write_sizes(picture: Picture) -> str:
    """Return empty boxes for Graphviz to place: one per box, per title of a frame, and per label of a line.

    Graphviz needs no font for them, because they contain no text.
    """

    def frame(frame: Frame) -> str:
        return f"graph [label=<{_empty(frame.size)}> {_look(_only(frame.look, TITLES))}]"

    def box(box: Box) -> str:
        width, height = (f"{each / INCH:.4f}" for each in box.size)
        return f'{box.name} [shape=box fixedsize=true width={width} height={height} label=""]'

    def line(line: Line) -> str:
        if line.hidden:
            return _hidden(line)
        label = f" label=<{_empty(line.size)}>" if line.label else ""
        look = _look(_only(line.look, ARRANGES))
        return f'{line.source} -> {line.target} [id="{line.id}" {look}{label}]'

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
    """Return the statements of a picture, one per line, indented by their nesting."""
    lines = ["digraph minigrad {", *(f"  {text}" for text in head)]
    around = [0]  # the open frames
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
    """Return statements that put one value before the operation, and the other after it by an invisible edge."""
    names = "; ".join([*level.values, level.operation])
    order = f"; {level.operation} -> {level.values[1]} [style=invis]" if len(level.values) == 2 else ""
    return f"{{ rank=same; {names}{order} }}"


def _hidden(line: Line) -> str:
    return f"{line.source} -> {line.target} [{_look(line.look)}]"


_WORD = re.compile(r"[\w.]+")
_STYLED = ("style",)  # attributes whose value is always quoted


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
    """Return the text of a tooltip, with its backslashes doubled for Graphviz."""
    return 'tooltip="{}"'.format(escaped(element.tooltip).replace("\\", r"\\"))


def _label(element: Element) -> str:
    return f"label=<{element.label.dot(element.letters) if element.label else ''}>"


def _title(frame: Frame, rankdir: str) -> str:
    title = frame.label.dot(frame.letters) if frame.label else ""
    if rankdir == "TB" and not frame.anchor:  # space on the left too, so that edges from above miss the title
        room = f'<TD WIDTH="{LETTER * len(title)}"></TD>'
        title = f'<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>{room}<TD>{title}</TD></TR></TABLE>'
    return f"label=<{title}>"


def _empty(size: Size) -> str:
    width, height = (max(1, round(each)) for each in size)
    return f'<TABLE {EMPTY} WIDTH="{width}" HEIGHT="{height}"><TR><TD><FONT POINT-SIZE="1"> </FONT></TD></TR></TABLE>'
