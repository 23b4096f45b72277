"""Writes a picture in the DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .labels import Letters, escaped, legend_table
from .picture import BOXES, FONT, LINES, Box, Element, Frame, Level, Line, Look, Picture

LETTER = 5  # the width of a letter in a title, in points


def write_dot(picture: Picture, dpi: int | None = None, font: str = FONT) -> str:
    """Return the picture with all its attributes. The same picture gives the same text, on any machine and in any run.

    Args:
        dpi: the dots per inch of a PNG. Do not set it for other formats: it would only scale their coordinates.
        font: the families of all texts, the best first.
    """
    whole = {"dpi": str(dpi)} if dpi else {}
    lines = ["digraph minigrad {", f"  graph [{_look(whole | picture.look | {'fontname': font})}]"]
    lines += [f"  node [{_look({'fontname': font} | BOXES)}]", f"  edge [{_look({'fontname': font} | LINES)}]"]
    if picture.legend:
        lines.append(f"  label=<{legend_table(picture.legend).dot(Letters())}>")
    around = [0]  # the open frames
    for number, frame in enumerate(picture.frames):
        while number and around[-1] != frame.parent:
            around.pop()
            lines.append("  " * len(around) + "}")
        indent = "  " * len(around)
        if number:
            lines.append(f"{indent}subgraph {frame.name} {{")
            around.append(number)
            indent += "  "
            lines.append(indent + _frame(frame, picture.rankdir))
        if frame.anchor:
            lines.append(f"{indent}{frame.anchor} [style=invis shape=point width=0 height=0]")
        lines += [indent + (_box(item) if isinstance(item, Box) else _level(item)) for item in frame.content]
    lines += ["  " * depth + "}" for depth in range(len(around) - 1, 0, -1)]
    return "\n".join([*lines, *(f"  {_line(line)}" for line in picture.lines), "}"]) + "\n"


def _frame(frame: Frame, rankdir: str) -> str:
    lane = {"labeljust": "r" if rankdir == "LR" else "l"} if frame.anchor else {}
    return f"graph [{_marks(frame)} {_title(frame, rankdir)} {_tooltip(frame)} {_look(frame.look | lane, _STYLED)}]"


def _box(box: Box) -> str:
    return f"{box.name} [{_marks(box)} {_look(box.look, _STYLED)} {_label(box)} {_tooltip(box)}]"


def _line(line: Line) -> str:
    if line.hidden:
        return f"{line.source} -> {line.target} [{_look(line.look)}]"
    label = f" {_label(line)}" if line.label else ""
    classes = f' class="{line.classes}"' if line.classes else ""
    look = f" {_look(line.look)}" if line.look else ""
    return f'{line.source} -> {line.target} [id="{line.id}" {_tooltip(line)}{label}{classes}{look}]'


def _level(level: Level) -> str:
    """Return statements that put one value before the operation, and the other after it by an invisible edge."""
    names = "; ".join([*level.values, level.operation])
    order = f"; {level.operation} -> {level.values[1]} [style=invis]" if len(level.values) == 2 else ""
    return f"{{ rank=same; {names}{order} }}"


_WORD = re.compile(r"[\w.]+")
_STYLED = ("style",)  # attributes whose value is always quoted


def _look(look: Look, quoted: Sequence[str] = ()) -> str:
    return " ".join(
        f"{key}={value}" if _WORD.fullmatch(value) and key not in quoted else f'{key}="{value}"'
        for key, value in look.items()
    )


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
