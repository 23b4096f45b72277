"""The picture of a graph as SVG by plain Python alone, with the looks of its DOT text."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from .dot_reader import Attributes, plain_text, read_dot
from .frames import FrameLayout, Placed, Size
from .labels import FONT, Block, Letters, read_label
from .layered import Point
from .places import Stroke, places, with_sizes

INCH = 72.0  # of DOT's sizes, in points
MARGIN = 6.0  # around the picture
FOLD = 7.0  # of the corner of a note, the lid of a cylinder, the depth of a box
RING = 4.0  # between the two outlines of a named value
ARROW = 7.0  # length of an arrowhead
DASHES = {"dashed": ' stroke-dasharray="5,2"', "dotted": ' stroke-dasharray="1,4"'}


def write_svg(dot: str, graphviz: Callable[[str], str] | None = None) -> str:
    """An SVG of DOT text of ours, with groups, ids and classes like those of Graphviz' SVGs.

    Its texts are measured here, so that they stay in their boxes whatever fonts the reader has.

    Args:
        graphviz: gives DOT text with places for DOT text without; by default the places are our own.
    """
    painter = _Painter(dot)
    return painter.svg(painter.placed_by(graphviz) if graphviz else painter.placed())


class _Painter:
    """The nodes, frames and lines of one picture."""

    def __init__(self, dot: str) -> None:
        self.dot, self.picture = dot, read_dot(dot)
        picture, self.whole = self.picture, self.picture.frames[0].attributes
        self.labels = {name: _label(attributes) for name, attributes in picture.nodes.items()}
        self.boxes = {name: _box(picture.nodes[name], label) for name, label in self.labels.items()}
        self.titles = [_label(self.whole | frame.attributes) if i else None for i, frame in enumerate(picture.frames)]
        found = ((i, _label(attributes)) for i, (_, _, attributes) in enumerate(picture.lines))
        self.line_labels = {i: label for i, label in found if label is not None}
        self.legend = _label(self.whole)

    def sizes(self) -> tuple[list[Size], dict[int, Size]]:
        """Of the titles of frames, and of the labels of lines."""
        titles = [title.size() if title else (0.0, 0.0) for title in self.titles]
        return titles, {number: _grown(label.size(), 2.0) for number, label in self.line_labels.items()}

    def placed(self) -> tuple[Placed, list[Stroke]]:
        picture, whole = self.picture, self.whole
        lanes = any(frame.attributes.get("style") == "filled" for frame in picture.frames)
        rankdir = "TB" if lanes else whole.get("rankdir", "TB")  # lanes one below the other
        parents, homes = [0] * len(picture.frames), {}
        for number, frame in enumerate(picture.frames):
            for inner in frame.frames:
                parents[inner] = number
            homes.update(dict.fromkeys(frame.nodes, number))
        gap = (INCH * float(whole.get("nodesep", 0.25)), INCH * float(whole.get("ranksep", 0.5)))
        ends = [(source, target) for source, target, _ in picture.lines]
        found = FrameLayout(self.boxes, parents, homes, self.sizes()[0], ends, self.sizes()[1], rankdir, gap).place()
        strokes = []
        for route, (_, _, attributes) in zip(found.routes, picture.lines):
            strokes.append(_stroke(route, 0.0 if attributes.get("arrowhead") == "none" else _head(attributes), rankdir))
        return found, strokes

    def placed_by(self, graphviz: Callable[[str], str]) -> tuple[Placed, list[Stroke]]:
        frames = {frame.name: number for number, frame in enumerate(self.picture.frames)}
        return places(graphviz(with_sizes(self.dot, self.boxes, *self.sizes())), frames, len(self.picture.lines))

    def svg(self, layout: tuple[Placed, list[Stroke]]) -> str:
        placed, strokes = layout
        width, height = placed.size
        legend_width, legend_height = self.legend.size() if self.legend else (0.0, 0.0)
        on_top = self.legend is not None and self.whole.get("labelloc") == "t"
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
        for frame in placed.frames:
            parts += self._frame(frame, placed)
        for number, stroke in enumerate(strokes):
            parts += self._line(number, stroke, placed)
        for name in self.picture.nodes:
            parts += self._node(name, placed)
        return "\n".join([*parts, "</g>", "</svg>"]) + "\n"

    def _frame(self, number: int, placed: Placed) -> Iterator[str]:
        attributes, title = self.picture.frames[number].attributes, self.titles[number]
        corner = 8 if "rounded" in attributes.get("style", "") else 0
        fill = attributes.get("fillcolor", "none")
        opacity = f' fill-opacity="{int(fill[7:], 16) / 255:.3f}"' if len(fill) == 9 else ""
        look = f'fill="{fill[:7]}"{opacity} stroke="{attributes.get("color", "black")}"'
        shape = _rectangle(look, *placed.frames[number], corner)
        return _group(attributes, "cluster", [shape, *_centred(title, placed.titles.get(number))])

    def _node(self, name: str, placed: Placed) -> Iterator[str]:
        attributes = self.picture.nodes[name]
        (x, y), (width, height) = placed.boxes[name], self.boxes[name]
        shapes = list(_shape(attributes, x - width / 2, y - height / 2, width, height))
        down = FOLD / 2 if attributes.get("shape") in ("cylinder", "box3d") else 0.0
        return _group(attributes, "node", [*shapes, *_centred(self.labels[name], (x, y + down))])

    def _line(self, number: int, stroke: Stroke, placed: Placed) -> Iterator[str]:
        _, _, attributes = self.picture.lines[number]
        color, width = attributes.get("color", "black"), float(attributes.get("penwidth", 1))
        look = f'stroke="{color}"' + (f' stroke-width="{width:g}"' if width != 1 else "")
        parts = [f'<path fill="none" {look}{DASHES.get(attributes.get("style", ""), "")} d="{stroke.path}"/>']
        if stroke.base != stroke.tip:
            parts.append(
                f'<polygon fill="{color}" stroke="none" points="{_points(_arrow(stroke, _head(attributes)))}"/>'
            )
        label = self.line_labels.get(number)
        if label is not None and number in placed.labels:
            (x, y), (wide, high) = placed.labels[number], label.size()
            corner = f'x="{x - wide / 2:.2f}" y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"'
            parts += [f'<rect fill="white" fill-opacity="0.85" {corner}/>', *_centred(label, (x, y))]
        return _group(attributes, "edge", parts)


def _centred(label: Block | None, middle: Point | None) -> Iterator[str]:
    if label is not None and middle is not None:
        width, height = label.size()
        yield from label.svg(middle[0] - width / 2, middle[1] - height / 2, width, height)


def _label(attributes: Mapping[str, str]) -> Block | None:
    label = attributes.get("label")
    size, color = float(attributes.get("fontsize", 11)), attributes.get("fontcolor", "black")
    return read_label(label, Letters(size, color)) if label else None


def _group(attributes: Attributes, kind: str, parts: list[str]) -> Iterator[str]:
    """One element of the picture, with its id, its classes, and what a browser tells about it."""
    classes = " ".join(filter(None, [kind, attributes.get("class")]))
    yield f'<g id="{html.escape(attributes.get("id", ""))}" class="{html.escape(classes)}">'
    tooltip = html.unescape(plain_text(attributes.get("tooltip", ""), 2))
    yield f"<title>{html.escape(tooltip)}</title>"
    yield from parts
    yield "</g>"


# Shapes


def _grown(size: Size, by: float) -> Size:
    return size[0] + 2 * by, size[1] + 2 * by


def _margin(attributes: Attributes) -> Size:
    across, down = map(float, attributes.get("margin", "0.09,0.04").split(","))
    return INCH * across, INCH * down


def _box(attributes: Attributes, label: Block | None) -> Size:
    """The size of a node: its label's, with room for what its shape needs."""
    (wide, high), (across, down) = label.size() if label else (0.0, 0.0), _margin(attributes)
    more_wide, more_high = {
        "octagon": (2 * FOLD, FOLD),
        "cylinder": (0.0, 2 * FOLD),
        "note": (FOLD, 0.0),
        "box3d": (FOLD, FOLD),
    }.get(attributes.get("shape", ""), (0.0, 0.0))
    extra = 2 * RING * (attributes.get("peripheries") == "2")
    least = (INCH * float(attributes.get("width", 0)), INCH * float(attributes.get("height", 0)))
    return max(wide + 2 * across + more_wide, least[0]) + extra, max(high + 2 * down + more_high, least[1]) + extra


def _shape(attributes: Attributes, x: float, y: float, width: float, height: float) -> Iterator[str]:
    style, shape = attributes.get("style", ""), attributes.get("shape", "box")
    if shape == "plaintext":
        return
    dashes = next((DASHES[name] for name in DASHES if name in style), "")
    pen = f' stroke-width="{attributes["penwidth"]}"' if "penwidth" in attributes else ""
    outline = f'stroke="{attributes.get("color", "black")}"{pen}{dashes}'
    look = f'fill="{attributes.get("fillcolor", "white")}" {outline}'
    right, bottom = x + width, y + height
    if shape == "octagon":
        cut = min(0.29 * height, 0.29 * width, 14.0)
        yield _polygon(look, (x + cut, y), (right - cut, y), (right, y + cut), (right, bottom - cut),
                       (right - cut, bottom), (x + cut, bottom), (x, bottom - cut), (x, y + cut))  # fmt: skip
    elif shape == "cylinder":
        lid = f"{width / 2:.2f} {FOLD / 2:.2f} 0 0"
        top, low = y + FOLD / 2, bottom - FOLD / 2
        sides = f"M{x:.2f},{top:.2f} V{low:.2f} A{lid} 0 {right:.2f},{low:.2f} V{top:.2f}"
        yield f'<path {look} d="{sides} A{lid} 0 {x:.2f},{top:.2f} Z"/>'
        yield f'<path fill="none" {outline} d="M{x:.2f},{top:.2f} A{lid} 0 {right:.2f},{top:.2f}"/>'
    elif shape == "note":
        yield _polygon(look, (x, y), (right - FOLD, y), (right, y + FOLD), (right, bottom), (x, bottom))
        yield _polyline(outline, (right - FOLD, y), (right - FOLD, y + FOLD), (right, y + FOLD))
    elif shape == "box3d":
        corner, low = (right - FOLD / 2, y + FOLD / 2), bottom - FOLD / 2
        yield _polygon(look, (x + FOLD / 2, y), (right, y), (right, low), (right - FOLD / 2, bottom), (x, bottom),
                       (x, y + FOLD / 2))  # fmt: skip
        yield _polyline(outline, (x, y + FOLD / 2), corner, (right, y))
        yield _polyline(outline, corner, (right - FOLD / 2, bottom))
    else:
        corner_size = 7.0 if "rounded" in style else 0.0
        yield _rectangle(look, x, y, width, height, corner_size)
        if attributes.get("peripheries") == "2":
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


def _head(attributes: Attributes) -> float:
    """The length of a line's arrowhead."""
    return ARROW + 1.5 * (float(attributes.get("penwidth", 1)) - 1)


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
