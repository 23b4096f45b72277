"""A picture as SVG by plain Python alone, at the places that Graphviz gives or at our own."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from .dot import write_sizes
from .frames import FrameLayout, Placed, Size
from .labels import FONT, Block, legend_table
from .layered import Point
from .picture import BOXES, INCH, LINES, Box, Element, Frame, Line, Look, Picture
from .places import Stroke, read_places

MARGIN = 6.0  # around the picture
FOLD = 7.0  # of the corner of a note, the lid of a cylinder, the depth of a box
RING = 4.0  # between the two outlines of a named value
ARROW = 7.0  # length of an arrowhead
DASHES = {"dashed": ' stroke-dasharray="5,2"', "dotted": ' stroke-dasharray="1,4"'}


def write_svg(picture: Picture, graphviz: Callable[[str], str] | None = None) -> str:
    """The picture as SVG, with groups, ids and classes like those of Graphviz' SVGs.

    Its texts are measured here, so that they stay in their boxes whatever fonts the reader has.

    Args:
        graphviz: gives the places, as JSON, for DOT text without; by default the places are our own.
    """
    painter = _Painter(picture)
    return painter.svg(painter.placed_by(graphviz) if graphviz else painter.placed())


class _Painter:
    """The nodes, frames and lines of one picture."""

    def __init__(self, picture: Picture) -> None:
        self.picture, self.lines = picture, picture.shown_lines()
        self.homes = {box.name: number for number, box in picture.boxes()}
        self.boxes = {box.name: _box_size(box) for _, box in picture.boxes()}
        self.titles = [frame.label.size() if frame.label else (0.0, 0.0) for frame in picture.frames]
        labels = {number: line.label.size() for number, line in enumerate(self.lines) if line.label}
        self.labels = {number: _grown(size, 2.0) for number, size in labels.items()}
        self.legend = legend_table(picture.legend) if picture.legend else None

    def placed(self) -> tuple[Placed, list[Stroke]]:
        lanes = any(frame.anchor for frame in self.picture.frames)
        rankdir = "TB" if lanes else self.picture.rankdir  # lanes one below the other
        parents = [frame.parent for frame in self.picture.frames]
        gap = (INCH * float(self.picture.look["nodesep"]), INCH * float(self.picture.look["ranksep"]))
        ends = [(line.source, line.target) for line in self.lines]
        found = FrameLayout(self.boxes, parents, self.homes, self.titles, ends, self.labels, rankdir, gap).place()
        strokes = []
        for route, line in zip(found.routes, self.lines):
            strokes.append(_stroke(route, 0.0 if line.look.get("arrowhead") == "none" else _head(line), rankdir))
        return found, strokes

    def placed_by(self, graphviz: Callable[[str], str]) -> tuple[Placed, list[Stroke]]:
        return read_places(graphviz(write_sizes(self.picture, self.boxes, self.titles, self.labels)), self.picture)

    def svg(self, layout: tuple[Placed, list[Stroke]]) -> str:
        placed, strokes = layout
        width, height = placed.size
        legend_width, legend_height = self.legend.size() if self.legend else (0.0, 0.0)
        on_top = self.legend is not None and self.picture.look.get("labelloc") == "t"
        shift = legend_height + MARGIN if on_top else 0.0
        whole = max(width, legend_width) + 2 * MARGIN, height + legend_height + (2 + bool(self.legend)) * MARGIN
        parts = [
            f'<svg width="{whole[0]:.2f}pt" height="{whole[1]:.2f}pt" viewBox="0 0 {whole[0]:.2f} {whole[1]:.2f}" '
            f'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">',
            f'<g id="graph0" class="graph" font-family="{FONT}" transform="translate({MARGIN:g} {MARGIN + shift:g})">',
            f'<rect fill="white" x="{-MARGIN:g}" y="{-MARGIN - shift:g}" width="{whole[0]:.2f}" height="{whole[1]:.2f}"/>',
        ]
        if self.legend:
            top = -shift if on_top else height + MARGIN
            parts += [
                '<g id="graph-legend" class="legend">',
                *self.legend.svg(0.0, top, legend_width, legend_height),
                "</g>",
            ]
        for number, rectangle in placed.frames.items():
            parts += _frame(self.picture.frames[number], rectangle, placed.titles.get(number))
        for number, (line, stroke) in enumerate(zip(self.lines, strokes)):
            parts += _line(line, stroke, placed.labels.get(number))
        for _, box in self.picture.boxes():
            parts += _node(box, self.boxes[box.name], placed.boxes[box.name])
        return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def _frame(frame: Frame, rectangle: tuple[float, float, float, float], title: Point | None) -> Iterator[str]:
    look = frame.look
    fill = look.get("fillcolor", "none")
    opacity = f' fill-opacity="{int(fill[7:], 16) / 255:.3f}"' if len(fill) == 9 else ""
    colors = f'fill="{fill[:7]}"{opacity} stroke="{look.get("color", "black")}"'
    shape = _rectangle(colors, *rectangle, 8 if "rounded" in look.get("style", "") else 0)
    return _group(frame, "cluster", [shape, *_centred(frame.label, title)])


def _node(box: Box, size: Size, middle: Point) -> Iterator[str]:
    (x, y), (width, height) = middle, size
    shapes = list(_shape(box.look, x - width / 2, y - height / 2, width, height))
    down = FOLD / 2 if box.look.get("shape") in ("cylinder", "box3d") else 0.0
    return _group(box, "node", [*shapes, *_centred(box.label, (x, y + down))])


def _line(line: Line, stroke: Stroke, middle: Point | None) -> Iterator[str]:
    look = LINES | line.look
    color, width = look["color"], float(look.get("penwidth", 1))
    pen = f'stroke="{color}"' + (f' stroke-width="{width:g}"' if width != 1 else "")
    parts = [f'<path fill="none" {pen}{DASHES.get(look.get("style", ""), "")} d="{stroke.path}"/>']
    if stroke.base != stroke.tip:
        parts.append(f'<polygon fill="{color}" stroke="none" points="{_points(_arrow(stroke, _head(line)))}"/>')
    if line.label is not None and middle is not None:
        (x, y), (wide, high) = middle, line.label.size()
        corner = f'x="{x - wide / 2:.2f}" y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"'
        parts += [f'<rect fill="white" fill-opacity="0.85" {corner}/>', *_centred(line.label, (x, y))]
    return _group(line, "edge", parts)


def _centred(label: Block | None, middle: Point | None) -> Iterator[str]:
    if label is not None and middle is not None:
        width, height = label.size()
        yield from label.svg(middle[0] - width / 2, middle[1] - height / 2, width, height)


def _group(element: Element, kind: str, parts: list[str]) -> Iterator[str]:
    """One element of the picture, with its id, its classes, and what a browser tells about it."""
    classes = " ".join(filter(None, [kind, element.classes]))
    yield f'<g id="{html.escape(element.id)}" class="{html.escape(classes)}">'
    yield f"<title>{html.escape(element.tooltip)}</title>"
    yield from parts
    yield "</g>"


# Shapes


def _grown(size: Size, by: float) -> Size:
    return size[0] + 2 * by, size[1] + 2 * by


def _box_size(box: Box) -> Size:
    """The size of a box: its label's, with room for what its shape needs."""
    look = BOXES | box.look
    (wide, high) = box.label.size() if box.label else (0.0, 0.0)
    across, down = (INCH * float(margin) for margin in look["margin"].split(","))
    more_wide, more_high = {
        "octagon": (2 * FOLD, FOLD),
        "cylinder": (0.0, 2 * FOLD),
        "note": (FOLD, 0.0),
        "box3d": (FOLD, FOLD),
    }.get(look.get("shape", ""), (0.0, 0.0))
    extra = 2 * RING * (look.get("peripheries") == "2")
    least = (INCH * float(look["width"]), INCH * float(look["height"]))
    return max(wide + 2 * across + more_wide, least[0]) + extra, max(high + 2 * down + more_high, least[1]) + extra


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
    """A path, as Graphviz writes it: style sheets and scripts look for that."""
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
    """The length of a line's arrowhead."""
    return ARROW + 1.5 * (float(line.look.get("penwidth", 1)) - 1)


def _arrow(stroke: Stroke, length: float) -> tuple[Point, ...]:
    """The corners of an arrowhead."""
    (x, y), (x0, y0) = stroke.tip, stroke.base
    far = math.hypot(x - x0, y - y0)
    across, down = 0.36 * length * (y - y0) / far, 0.36 * length * (x - x0) / far
    return (x, y), (x0 - across, y0 + down), (x0 + across, y0 - down)


def _stroke(route: list[Point], head: float, rankdir: str) -> Stroke:
    """A line through the points of a route, bent between the layers, where it has room, with room for its arrowhead."""
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
    return Stroke(path, base, route[-1])
