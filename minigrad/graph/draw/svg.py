"""Writes a picture as SVG in plain Python, at the positions from :mod:`.frames`."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from itertools import pairwise

from .frames import FrameLayout
from .labels import FONT, Block, legend_table
from .layered import Point
from .picture import FOLD, LINES, RING, Box, Element, Frame, Line, Look, Picture

MARGIN = 6.0  # around the picture
ARROW = 7.0  # the length of an arrowhead
DASHES = {"dashed": ' stroke-dasharray="5,2"', "dotted": ' stroke-dasharray="1,4"'}


def write_svg(picture: Picture) -> str:
    """Return the picture as SVG, with groups, ids and classes like those of Graphviz.

    The texts are measured here, so that they stay in their boxes with any font of the reader.
    """
    lanes = any(frame.anchor for frame in picture.frames)
    rankdir = "TB" if lanes else picture.rankdir  # lanes are drawn below each other
    placed = FrameLayout(picture, rankdir).place()
    legend = legend_table(picture.legend)
    legend_size = legend.size()
    on_top = bool(legend.rows) and picture.look.get("labelloc") == "t"
    shift = legend_size[1] + MARGIN if on_top else 0.0
    width = max(placed.size[0], legend_size[0]) + 2 * MARGIN
    height = placed.size[1] + legend_size[1] + (2 + bool(legend.rows)) * MARGIN
    parts = [
        f'<svg style="width: 100%; max-width: {width:.2f}pt; height: auto" viewBox="0 0 {width:.2f} {height:.2f}" '
        f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
        f'<g id="graph0" class="graph" font-family="{FONT}" transform="translate({MARGIN:g} {MARGIN + shift:g})">',
        f'<rect fill="white" x="{-MARGIN:g}" y="{-MARGIN - shift:g}" width="{width:.2f}" height="{height:.2f}"/>',
    ]
    if legend.rows:
        top = -shift if on_top else placed.size[1] + MARGIN
        parts += ['<g id="graph-legend" class="legend">', *legend.svg(0.0, top, *legend_size), "</g>"]
    for number, rectangle in placed.frames.items():
        parts += _frame(picture.frames[number], rectangle, placed.titles.get(number))
    for line, route in zip(picture.shown_lines(), placed.routes):
        parts += _line(line, route, rankdir, placed.labels.get(line.id))
    for _, box in picture.boxes():
        parts += _node(box, placed.boxes[box.name])
    for number in placed.frames:  # draws the titles once more, above the lines that pass there
        parts += _on_white(picture.frames[number].label, placed.titles.get(number))
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _frame(frame: Frame, rectangle: tuple[float, float, float, float], title: Point | None) -> Iterator[str]:
    look = frame.look
    fill = look.get("fillcolor", "none")
    opacity = f' fill-opacity="{int(fill[7:], 16) / 255:.3f}"' if len(fill) == 9 else ""
    colors = f'fill="{fill[:7]}"{opacity} stroke="{look.get("color", "black")}"'
    shape = _rectangle(colors, *rectangle, 8 if "rounded" in look.get("style", "") else 0)
    return _group(frame, "cluster", [shape, *_centred(frame.label, title)])


def _node(box: Box, middle: Point) -> Iterator[str]:
    (x, y), (width, height) = middle, box.size
    shapes = list(_shape(box.look, x - width / 2, y - height / 2, width, height))
    down = FOLD / 2 if box.look.get("shape") in ("cylinder", "box3d") else 0.0
    return _group(box, "node", [*shapes, *_centred(box.label, (x, y + down))])


def _line(line: Line, route: list[Point], rankdir: str, middle: Point | None) -> Iterator[str]:
    look = LINES | line.look
    color, width = look["color"], float(look.get("penwidth", 1))
    pen = f'stroke="{color}"' + (f' stroke-width="{width:g}"' if width != 1 else "")
    path, base = _path(route, head := _head(line), rankdir)
    parts = [f'<path fill="none" {pen}{DASHES.get(look.get("style", ""), "")} d="{path}"/>']
    if head:
        parts.append(f'<polygon fill="{color}" stroke="none" points="{_points(_arrow(base, route[-1], head))}"/>')
    return _group(line, "edge", [*parts, *_on_white(line.label, middle)])


def _on_white(label: Block | None, middle: Point | None) -> Iterator[str]:
    """Yield a text that lines may pass under."""
    if label is not None and middle is not None:
        (x, y), (wide, high) = middle, label.size()
        corner = f'x="{x - wide / 2:.2f}" y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"'
        yield f'<rect fill="white" fill-opacity="0.85" {corner}/>'
        yield from _centred(label, middle)


def _centred(label: Block | None, middle: Point | None) -> Iterator[str]:
    if label is not None and middle is not None:
        width, height = label.size()
        yield from label.svg(middle[0] - width / 2, middle[1] - height / 2, width, height)


def _group(element: Element, kind: str, parts: list[str]) -> Iterator[str]:
    """Yield the group of one element, with its id, its classes and its tooltip."""
    classes = " ".join(filter(None, [kind, element.classes]))
    yield f'<g id="{html.escape(element.id)}" class="{html.escape(classes)}">'
    yield f"<title>{html.escape(element.tooltip)}</title>"
    yield from parts
    yield "</g>"


# Shapes


def _shape(look: Look, x: float, y: float, width: float, height: float) -> Iterator[str]:
    style, shape = look.get("style", ""), look.get("shape", "box")
    if shape == "plaintext":
        return
    dashes = next((DASHES[name] for name in DASHES if name in style), "")
    pen = f' stroke-width="{look["penwidth"]}"' if "penwidth" in look else ""
    outline = f'stroke="{look.get("color", "black")}"{pen}{dashes}'
    colors = f'fill="{look.get("fillcolor", "white")}" {outline}'
    right, bottom = x + width, y + height
    if shape == "octagon":
        cut = min(0.29 * height, 0.29 * width, 14.0)
        yield _polygon(colors, (x + cut, y), (right - cut, y), (right, y + cut), (right, bottom - cut),
                       (right - cut, bottom), (x + cut, bottom), (x, bottom - cut), (x, y + cut))  # fmt: skip
    elif shape == "cylinder":
        lid = f"{width / 2:.2f} {FOLD / 2:.2f} 0 0"
        top, low = y + FOLD / 2, bottom - FOLD / 2
        sides = f"M{x:.2f},{top:.2f} V{low:.2f} A{lid} 0 {right:.2f},{low:.2f} V{top:.2f}"
        yield f'<path {colors} d="{sides} A{lid} 0 {x:.2f},{top:.2f} Z"/>'
        yield f'<path fill="none" {outline} d="M{x:.2f},{top:.2f} A{lid} 0 {right:.2f},{top:.2f}"/>'
    elif shape == "note":
        yield _polygon(colors, (x, y), (right - FOLD, y), (right, y + FOLD), (right, bottom), (x, bottom))
        yield _polyline(outline, (right - FOLD, y), (right - FOLD, y + FOLD), (right, y + FOLD))
    elif shape == "box3d":
        corner, low = (right - FOLD / 2, y + FOLD / 2), bottom - FOLD / 2
        yield _polygon(colors, (x + FOLD / 2, y), (right, y), (right, low), (right - FOLD / 2, bottom), (x, bottom),
                       (x, y + FOLD / 2))  # fmt: skip
        yield _polyline(outline, (x, y + FOLD / 2), corner, (right, y))
        yield _polyline(outline, corner, (right - FOLD / 2, bottom))
    else:
        corner_size = 7.0 if "rounded" in style else 0.0
        yield _rectangle(colors, x, y, width, height, corner_size)
        if look.get("peripheries") == "2":
            inner = (x + RING, y + RING, width - 2 * RING, height - 2 * RING)
            yield _rectangle(f'fill="none" {outline}', *inner, corner_size)


def _rectangle(look: str, x: float, y: float, width: float, height: float, corner: float) -> str:
    """Return a path in the form of Graphviz, which style sheets and scripts look for."""
    if not corner:
        return _polygon(look, (x, y), (x + width, y), (x + width, y + height), (x, y + height))
    turn = f"{corner:g} {corner:g} 0 0 1"
    right, bottom = x + width, y + height
    path = (
        f"M{x + corner:.2f},{y:.2f} H{right - corner:.2f} A{turn} {right:.2f},{y + corner:.2f} V{bottom - corner:.2f} "
        f"A{turn} {right - corner:.2f},{bottom:.2f} H{x + corner:.2f} A{turn} {x:.2f},{bottom - corner:.2f} "
        f"V{y + corner:.2f} A{turn} {x + corner:.2f},{y:.2f} Z"
    )
    return f'<path {look} d="{path}"/>'


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def _polygon(look: str, *points: Point) -> str:
    return f'<polygon {look} points="{_points(points)}"/>'


def _polyline(look: str, *points: Point) -> str:
    return f'<polyline fill="none" {look} points="{_points(points)}"/>'


# Lines


def _head(line: Line) -> float:
    """Return the length of a line's arrowhead."""
    if line.look.get("arrowhead") == "none":
        return 0.0
    return ARROW + 1.5 * (float(line.look.get("penwidth", 1)) - 1)


def _arrow(base: Point, tip: Point, length: float) -> tuple[Point, ...]:
    """Return the corners of an arrowhead."""
    (x, y), (x0, y0) = tip, base
    far = math.hypot(x - x0, y - y0)
    across, down = 0.36 * length * (y - y0) / far, 0.36 * length * (x - x0) / far
    return (x, y), (x0 - across, y0 + down), (x0 + across, y0 - down)


def _path(route: list[Point], head: float, rankdir: str) -> tuple[str, Point]:
    """Return a path through the points of a route, which bends between the layers, and the base of its arrowhead."""
    (x0, y0), (x, y) = route[-2:]
    loop = len(route) == 4 and (route[0][0] == route[-1][0] if rankdir == "TB" else route[0][1] == route[-1][1])
    if (rankdir == "LR") != loop:
        base = (x - head * (1.0 if x >= x0 else -1.0), y)
    else:
        base = (x, y - head * (1.0 if y >= y0 else -1.0))
    path = f"M{route[0][0]:.2f},{route[0][1]:.2f}"
    for (x0, y0), (x, y) in pairwise([*route[:-1], base]):
        if abs(x - x0) < 0.1 or abs(y - y0) < 0.1:
            path += f" L{x:.2f},{y:.2f}"
        elif rankdir == "LR":
            middle = (x0 + x) / 2
            path += f" C{middle:.2f},{y0:.2f} {middle:.2f},{y:.2f} {x:.2f},{y:.2f}"
        else:
            middle = (y0 + y) / 2
            path += f" C{x0:.2f},{middle:.2f} {x:.2f},{middle:.2f} {x:.2f},{y:.2f}"
    return path, base
