"""The graph of a lesson's opening program, to fill in with a pencil: a box for each value, with room for its gradient, too."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import lesson_notebooks
import minigrad as mg
import nn
from minigrad import Tensor

CELL, HIGH, GAP = (
    (11.0, 6.5),
    8.0,
    16.0,
)  # millimetres: a number in an array; the name of a box; between two rows of boxes
WIDTH, SINGLE = 178.0, 19.0  # of the page, and of a number alone
SLOPE, AROUND = (17.0, 6.5), 30.0  # of the room for a slope; how far to the right an arrow goes around boxes
LETTER = 2.4, 5.9  # of the program beside or above the graph: its width, and the height of a line
PLUS = 5.0  # the room of a plus sign
GREY, LIGHT = "#555", "#bbb"


@dataclass
class Box:
    """A value of the program."""

    name: str
    shape: tuple[int, ...]
    given: bool  # whether it is known before the program runs
    value: Any = None
    gradient: Any = None
    tensor: Tensor | None = None
    sign: str = ""  # of its gradient: dy/da
    adds: tuple[Any, ...] = ()  # what each of several arrows that leave it brings back: their sum is the gradient
    row: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def cells(self) -> tuple[int, int]:
        """The rows and columns of its numbers."""
        *_, rows, columns = 1, 1, *self.shape
        return rows, columns

    @property
    def wide(self) -> float:
        rows, columns = self.cells
        one = SINGLE if rows * columns == 1 else columns * CELL[0]
        if self.gradient is None and self.given:
            return one + 12
        return 12 + 2 * one + self.signed + len(self.adds) * (one + PLUS)

    @property
    def signed(self) -> float:
        """The room of the sign of its gradient."""
        return max(4.0, 2.1 * len(self.sign))

    @property
    def high(self) -> float:
        return HIGH + self.cells[0] * CELL[1] + 2


class _Found(Exception):
    """The page of the opening program would be written now."""


class _Minigrad:
    """minigrad, but ``explain`` ends the program."""

    def __getattr__(self, name: str) -> Any:
        return getattr(mg, name)

    def explain(self, tensor: Tensor, *_: Any, **__: Any) -> None:
        raise _Found(tensor)


def opening(path: Path) -> tuple[str, Tensor, Mapping[str, Any]]:
    """Run the program with which a lesson opens. Return its text, its end, and its names."""

    names: dict[str, Any] = {
        "__name__": "lesson",
        "np": np,
        "nn": nn,
        "OUT": Path(),
        "LANGUAGE": "en",
        "print": lambda *_, **__: None,
    }
    names["mg"] = _Minigrad()
    codes = [cell.text for cell in lesson_notebooks.cells(path) if cell.name is None]
    for number, code in enumerate(codes[1:]):  # the first one imports, and makes folders
        file = f"<{path.stem}, {number}>"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        try:
            exec(compile(code.replace(".backward()", ".backward(retain_graph=True)"), file, "exec"), names)
        except _Found as found:
            return code, found.args[0], names
    raise ValueError(f"{path.name} opens with no page")


def boxes(end: Tensor, names: Mapping[str, Any]) -> tuple[dict[int, Box], list[tuple[int, int]]]:
    """The boxes of the program's values by their number, and the arrows between them. A constant number is no box."""
    known = {name: value for name, value in names.items() if isinstance(value, Tensor)}
    for value in known.values():
        value.grad = None
        value.retain_grad()
    graph = mg.draw_dot(end, {name: value for name, value in known.items() if value.is_leaf and value.requires_grad})
    end.backward(retain_graph=True)
    found: dict[int, Box] = {}
    into = graph.edges_into
    behind: dict[int, list[int]] = {}  # the boxes that each value is computed from, through what has no name
    for node in graph.nodes:
        sources = [edge.source for edge in into.get(node.id, ())]
        behind[node.id] = [box for one in sources for box in ([one] if one in found else behind[one])]
        if node.label in names:
            value = names[node.label]
            gradient = value.grad if isinstance(value, Tensor) else None
            found[node.id] = Box(
                node.label, node.shape or (), node.operation is None, np.asarray(getattr(value, "data", value))
            )
            found[node.id].tensor = known.get(node.label)
            found[node.id].gradient = None if gradient is None else gradient.numpy().copy()
    return found, [(a, b) for b in found for a in sorted(behind[b])]


def signs(found: Mapping[int, Box], arrows: list[tuple[int, int]]) -> None:
    """Name each gradient, and give a box to what each arrow brings, where there is room, and each use has an arrow."""
    (end,) = (i for i in found if all(a != i for a, _ in arrows))
    for i, box in found.items():
        box.sign = f"d{found[end].name}/d{box.name}"
        users = [b for a, b in arrows if a == i]
        if len(users) == len(set(users)) > 1 and all(found[each].gradient is not None for each in (i, *users)):
            box.adds = tuple(brought(found, arrows, i, b, found[b].gradient) for b in users)
        if box.wide > WIDTH - 2:
            box.adds = ()


def brought(found: Mapping[int, Box], arrows: list[tuple[int, int]], start: int, end: int, gradient: Any) -> Any:
    """What an arrow brings back to the value at its start from the gradient of the one at its end.

    That is all that comes back, less what goes by way of other boxes, which stand between the two.
    """
    whole = _back(found[end], gradient, found[start])
    for other in {a for a, b in arrows if b == end} - {start}:
        if found[other].row > found[start].row and found[other].gradient is not None:
            whole = whole - _back(found[other], brought(found, arrows, other, end, gradient), found[start])
    return whole


def _back(end: Box, gradient: Any, start: Box) -> Any:
    """The gradient that comes back from one value to another along all ways."""
    assert end.tensor is not None and start.tensor is not None
    start.tensor.grad = None
    end.tensor.backward(gradient, retain_graph=True)
    return np.zeros(start.shape) if start.tensor.grad is None else start.tensor.grad.numpy().copy()


def slope(found: Mapping[int, Box], arrows: list[tuple[int, int]], start: int, end: int) -> float | None:
    """How fast the value at the end of an arrow moves with the one at its start: None unless all there are single numbers."""
    among = [found[i] for i in (end, *(a for a, b in arrows if b == end))]
    if found[start].gradient is None or any(box.tensor is None or box.shape != () for box in among):
        return None
    return float(brought(found, arrows, start, end, 1.0))


def placed(found: Mapping[int, Box], arrows: list[tuple[int, int]]) -> float:
    """Put each box below those that it is computed from, and each given value above its first use. Return the height."""
    for i, box in found.items():
        box.row = max((found[a].row + 1 for a, b in arrows if b == i), default=0)
    for i, box in found.items():
        if box.given:
            box.row = min(found[b].row for a, b in arrows if a == i) - 1
    signs(found, arrows)
    y = 2.0
    for row in range(max(box.row for box in found.values()) + 1):
        line = [box for box in found.values() if box.row == row]
        room = (WIDTH - sum(box.wide for box in line)) / (len(line) + 1)
        x = room
        for box in line:
            box.x, box.y, x = x, y, x + box.wide + room
        y += max((box.high for box in line), default=-GAP) + GAP
    return y - GAP + 2


@cache
def sheet(path: Path, *, answers: bool = False) -> tuple[str, str] | None:
    """The opening program of a lesson, and its graph as SVG; with ``answers`` the numbers stand in it.

    There is none if a derivative of the program is wrong, because the class is to find that.
    """
    code, end, names = opening(path)
    if any(edge.verdict == "wrong" for edge in mg.check_edges(end).edges):
        return None
    found, arrows = boxes(end, names)
    high = placed(found, arrows)
    drawn = [_arrow(found[a], found[b], _label(slope(found, arrows, a, b), answers)) for a, b in dict.fromkeys(arrows)]
    drawn += [_drawn(box, answers) for box in found.values()]
    (traced,) = (node for node in ast.parse(code).body if isinstance(node, ast.With))
    text = "\n".join(ast.get_source_segment(code, line) or "" for line in traced.body)
    left = min(box.x for box in found.values()) - 1
    wide = max(box.x + box.wide for box in found.values()) + AROUND + 2 - left  # with the arrows around boxes
    lines, columns = text.count("\n") + 1, max(map(len, text.splitlines()))
    beside = min(210 / high, (WIDTH - 5 - columns * LETTER[0]) / wide)
    above = min((210 - lines * LETTER[1]) / high, WIDTH / wide)
    scale = min(
        1.25, above if above > 1.2 * beside else beside
    )  # so that there is room for a pencil, and the graph is on one page
    look = f'viewBox="{left:.1f} 0 {wide:.1f} {high:.1f}" style="width: {scale * wide:.0f}mm; max-width: 100%"'
    head = '<marker id="head" viewBox="0 0 4 4" refX="4" refY="2" markerWidth="6" markerHeight="6" orient="auto">'
    head += f'<polygon points="0,0 4,2 0,4" fill="{GREY}"/></marker>'
    return text, "".join([f"<svg {look}>{head}", *drawn, "</svg>"])


def _label(slope: float | None, answers: bool) -> str | None:
    return None if slope is None else f"{slope:.3g}" if answers else ""


def _arrow(start: Box, end: Box, label: str | None) -> str:
    """An arrow, with room for its slope on it if there is a label: "" is left to fill in."""
    if end.row > start.row + 1:  # around the boxes between
        x, y, to, down = start.x + start.wide, start.y + start.high / 2, end.x + end.wide, end.y + end.high / 2
        right = max(x, to) + AROUND
        curve = f"M{x:.1f} {y:.1f}C{right:.1f} {y:.1f} {right:.1f} {down:.1f} {to:.1f} {down:.1f}"
        at = (x + to) / 8 + right * 3 / 4, (y + down) / 2
    else:
        x, y, to, down = start.x + start.wide / 2, start.y + start.high, end.x + end.wide / 2, end.y
        middle = (y + down) / 2
        curve = f"M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to:.1f} {middle:.1f} {to:.1f} {down:.1f}"
        at = (x + to) / 2, middle
    line = f'<path d="{curve}" fill="none" stroke="{GREY}" stroke-width=".4" marker-end="url(#head)"/>'
    if label is None:
        return line
    left, top = at[0] - SLOPE[0] / 2, at[1] - SLOPE[1] / 2 - 0.8
    line += _rectangle(left, top, *SLOPE, GREY, ' stroke-dasharray="1 0.8"') + _text(left + 2.2, top + 4.6, "·")
    return line + (_text(left + SLOPE[0] / 2 + 1, top + 4.6, label) if label else "")


def _drawn(box: Box, answers: bool) -> str:
    """A box: its name, the cells of its value, and those of its gradient."""
    parts = [_rectangle(box.x, box.y, box.wide, box.high, GREY)]
    parts.append(_text(box.x + box.wide / 2, box.y + 5.2, box.name, "bold"))
    rows, columns = box.cells
    one = SINGLE if rows * columns == 1 else columns * CELL[0]
    y = box.y + HIGH - 0.5
    parts.append(_cells(box.x + 5, y, one, box.cells, box.value if answers or box.given else None, "="))
    if box.given and box.gradient is None:
        return "".join(parts)
    x = box.x + 8 + one + box.signed
    parts.append(_text(x - box.signed / 2 - 1.2, y + 4.6, box.sign))
    for i, add in enumerate(box.adds):
        parts.append(_cells(x, y, one, box.cells, np.array(add) if answers else None, "+" if i else ""))
        x += one + PLUS
    parts.append(_cells(x, y, one, box.cells, box.gradient if answers else None, "=" if box.adds else ""))
    return "".join(parts)


def _cells(x: float, y: float, wide: float, cells: tuple[int, int], numbers: Any, sign: str) -> str:
    rows, columns = cells
    parts = [_text(x - 2.4, y + 4.6, sign)] if sign else []
    for i in range(rows):
        for j in range(columns):
            left, top, width = x + j * wide / columns, y + i * CELL[1], wide / columns
            parts.append(_rectangle(left, top, width, CELL[1], LIGHT))
            if numbers is not None:
                number = np.reshape(numbers, cells)[i, j]
                parts.append(_text(left + width / 2, top + 4.6, f"{float(number):.3g}"))
    return "".join(parts)


def _rectangle(x: float, y: float, wide: float, high: float, colour: str, look: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    return f'<rect {place} rx="{1.5 * (colour == GREY)}" fill="#fff" stroke="{colour}" stroke-width=".4"{look}/>'


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    look = f'font-size="3.6" font-weight="{weight}" text-anchor="middle"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'
