"""The picture of a graph as SVG by plain Python alone, with the looks of its DOT text."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from itertools import pairwise

from .dot_reader import Attributes, Picture, plain_text, read_dot
from .frames import FrameLayout, Placed, Size
from .labels import FONT, Block, Letters, read_label
from .layered import Point

INCH = 72.0  # of DOT's sizes, in points
MARGIN = 6.0  # around the picture
FOLD = 7.0  # of the corner of a note, the lid of a cylinder, the depth of a box
RING = 4.0  # between the two outlines of a named value
ARROW = 7.0  # length of an arrowhead
DASHES = {"dashed": ' stroke-dasharray="5,2"', "dotted": ' stroke-dasharray="1,4"'}


def write_svg(dot: str) -> str:
    """An SVG like the one that Graphviz makes of DOT text of ours: the same groups, ids and classes, other places."""
    return _Painter(read_dot(dot)).svg()


class _Painter:
    """The nodes, frames and lines of one picture."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        whole = picture.frames[0].attributes
        lanes = any(
            frame.attributes.get("id") and frame.attributes.get("style") == "filled" for frame in picture.frames
        )
        self.rankdir = "TB" if lanes else whole.get("rankdir", "TB")  # lanes one below the other
        self.labels = {name: _label(attributes) for name, attributes in picture.nodes.items()}
        self.titles = [_label(whole | frame.attributes) if i else None for i, frame in enumerate(picture.frames)]
        self.line_labels = {i: _label(line[2]) for i, line in enumerate(picture.lines) if line[2].get("label")}
        self.legend = _label(whole)
        self.placed = self._place(whole)

    def _place(self, whole: Attributes) -> Placed:
        picture = self.picture
        parents, homes = [0] * len(picture.frames), {}
        for number, frame in enumerate(picture.frames):
            for inner in frame.frames:
                parents[inner] = number
            homes.update(dict.fromkeys(frame.nodes, number))
        return FrameLayout(
            {name: _box(picture.nodes[name], label) for name, label in self.labels.items()},
            parents,
            homes,
            [title.size() if title else (0.0, 0.0) for title in self.titles],
            [(source, target) for source, target, _ in picture.lines],
            {number: _grown(label.size(), 2.0) for number, label in self.line_labels.items() if label},
            self.rankdir,
            (INCH * float(whole.get("nodesep", 0.25)), INCH * float(whole.get("ranksep", 0.5))),
        ).place()

    def svg(self) -> str:
        width, height = self.placed.size
        legend_width, legend_height = self.legend.size() if self.legend else (0.0, 0.0)
        on_top = self.legend is not None and self.picture.frames[0].attributes.get("labelloc") == "t"
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
            parts += ['<g class="legend">', *self.legend.svg(0.0, top, legend_width, legend_height), "</g>"]
        for frame in self.placed.frames:
            parts += self._frame(frame)
        for number in range(len(self.picture.lines)):
            parts += self._line(number)
        for name in self.picture.nodes:
            parts += self._node(name)
        return "\n".join([*parts, "</g>", "</svg>"]) + "\n"

    def _frame(self, number: int) -> Iterator[str]:
        left, top, width, height = self.placed.frames[number]
        attributes, title = self.picture.frames[number].attributes, self.titles[number]
        corner = 8 if "rounded" in attributes.get("style", "") else 0
        fill = attributes.get("fillcolor", "none")
        opacity = f' fill-opacity="{int(fill[7:], 16) / 255:.3f}"' if len(fill) == 9 else ""
        look = f'fill="{fill[:7]}"{opacity} stroke="{attributes.get("color", "black")}"'
        shape = _rectangle(look, left, top, width, height, corner)
        text = [] if title is None else list(title.svg(left + 8, top + 5, *title.size()))
        return _group(attributes, "cluster", [shape, *text])

    def _node(self, name: str) -> Iterator[str]:
        attributes, label = self.picture.nodes[name], self.labels[name]
        (x, y), (width, height) = self.placed.boxes[name], _box(attributes, label)
        shapes = list(_shape(attributes, x - width / 2, y - height / 2, width, height))
        room = 0.0 if label is None else label.size()[0]
        down = FOLD / 2 if attributes.get("shape") in ("cylinder", "box3d") else 0.0
        text = [] if label is None else list(label.svg(x - room / 2, y - height / 2 + down, room, height))
        return _group(attributes, "node", [*shapes, *text])

    def _line(self, number: int) -> Iterator[str]:
        _, _, attributes = self.picture.lines[number]
        color, width = attributes.get("color", "black"), float(attributes.get("penwidth", 1))
        route = self.placed.routes[number]
        look = f'stroke="{color}"' + (f' stroke-width="{width:g}"' if width != 1 else "")
        parts = []
        if attributes.get("arrowhead") != "none":
            length = ARROW + 1.5 * (width - 1)
            route, head = _arrow(route, length, self.rankdir == "LR")
            parts.append(f'<polygon fill="{color}" stroke="none" points="{head}"/>')
        path = _curve(route, self.rankdir == "LR")
        parts.insert(0, f'<path fill="none" {look}{DASHES.get(attributes.get("style", ""), "")} d="{path}"/>')
        label = self.line_labels.get(number)
        if label is not None:
            (x, y), (wide, high) = self.placed.labels[number], label.size()
            corner = f'x="{x - wide / 2:.2f}" y="{y - high / 2:.2f}" width="{wide:.2f}" height="{high:.2f}"'
            parts.append(f'<rect fill="white" fill-opacity="0.85" {corner}/>')
            parts += label.svg(x - wide / 2, y - high / 2, wide, high)
        return _group(attributes, "edge", parts)


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


def _arrow(route: list[Point], length: float, across: bool) -> tuple[list[Point], str]:
    """The route without the room of its arrowhead, and the corners of that."""
    (x0, y0), (x, y) = route[-2:]
    sign = (1.0 if x >= x0 else -1.0) if across else (1.0 if y >= y0 else -1.0)
    half = length * 0.36
    if len(route) == 4 and route[0][0] == route[-1][0] and not across:  # from a box to itself
        base, corners = (x + length, y), ((x, y), (x + length, y - half), (x + length, y + half))
    elif across:
        base = (x - sign * length, y)
        corners = ((x, y), (base[0], y - half), (base[0], y + half))
    else:
        base = (x, y - sign * length)
        corners = ((x, y), (x - half, base[1]), (x + half, base[1]))
    return [*route[:-1], base], _points(corners)


def _curve(route: list[Point], across: bool) -> str:
    """A path through the points, bent between the layers, where it has room."""
    path = f"M{route[0][0]:.2f},{route[0][1]:.2f}"
    for (x0, y0), (x, y) in pairwise(route):
        if abs(x - x0) < 0.1 or abs(y - y0) < 0.1:
            path += f" L{x:.2f},{y:.2f}"
        elif across:
            middle = (x0 + x) / 2
            path += f" C{middle:.2f},{y0:.2f} {middle:.2f},{y:.2f} {x:.2f},{y:.2f}"
        else:
            middle = (y0 + y) / 2
            path += f" C{x0:.2f},{middle:.2f} {x:.2f},{middle:.2f} {x:.2f},{y:.2f}"
    return path
