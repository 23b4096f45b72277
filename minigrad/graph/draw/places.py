"""The places that Graphviz gives to boxes whose sizes are ours: it measures no text, and so needs no font."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .dot_reader import Attributes, read_places
from .frames import Placed, Size
from .layered import Point

INCH = 72.0  # of DOT's sizes, in points
_LAYOUT = re.compile(r"\b(?:weight|minlen)=[\d.]+|\bconstraint=false")


@dataclass(frozen=True)
class Stroke:
    """A line as it is drawn: an SVG path up to the base of an arrowhead, and the arrowhead's tip; both are one without it."""

    path: str
    base: Point
    tip: Point


def with_sizes(dot: str, boxes: Mapping[str, Size], titles: Sequence[Size], labels: Mapping[int, Size]) -> str:
    """DOT text of ours with an empty box of a given size for each node, for each title of a frame, and each label of a line.

    Args:
        dot: as :mod:`.dot` writes it: a statement a line.
        titles: of the frames, in their order; the first is the whole.
        labels: of the lines by number.
    """
    written, frame, line, legend = [], 0, 0, False
    for text in dot.splitlines():
        node = re.match(r"(\s*)(\w+) \[", text)
        ends = re.match(r"\s*(\w+ -> \w+) \[", text)
        if legend or text.startswith("  label=<"):
            legend = not text.endswith(">>")
        elif "[style=invis" in text:
            written.append(text)
        elif node and node[2] in boxes:
            width, height = boxes[node[2]]
            written.append(
                f'{node[2]} [shape=box fixedsize=true width={width / INCH:.4f} height={height / INCH:.4f} label=""]'
            )
        elif ends:
            kept = re.sub("<.*>", "", text[ends.end() :])  # without its label, which may say anything
            look = [*_LAYOUT.findall(re.sub('"[^"]*"', "", kept)), *re.findall("arrowhead=none", kept)]
            label = f" label=<{_empty(labels[line])}>" if line in labels else ""
            written.append(f'{ends[1]} [id="line{line}" {" ".join(look)}{label}]')
            line += 1
        elif node and node[1] != "  " and node[2] == "graph":
            frame += 1
            aside = " ".join(re.findall(r"\b(?:margin=\d+|labeljust=\w)", text.split("> tooltip=")[-1]))
            written.append(f"graph [label=<{_empty(titles[frame])}> {aside}]")
        else:
            written.append(re.sub('fontname="[^"]*"', 'fontname="Times"', text))  # no text, so no font to look for
    return "\n".join(written) + "\n"


def _empty(size: Size) -> str:
    width, height = (max(1, round(each)) for each in size)
    table = f'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" WIDTH="{width}" HEIGHT="{height}"'
    return f'<TABLE {table}><TR><TD><FONT POINT-SIZE="1"> </FONT></TD></TR></TABLE>'


def places(dot: str, frames: Mapping[str, int], lines: int) -> tuple[Placed, list[Stroke]]:
    """What Graphviz says of DOT text of :func:`with_sizes`, with y growing downwards.

    Args:
        frames: their numbers by name.
        lines: how many there are.
    """
    whole, found = read_places(dot)
    left, low, right, high = map(float, whole["bb"].split(","))

    def point(text: str) -> Point:
        x, y = map(float, text.split(","))
        return round(x - left, 2), round(high - y, 2)

    placed = Placed((right - left, high - low))
    for name, attributes in found.items():
        if "bb" in attributes:
            x0, y0, x1, y1 = map(float, attributes["bb"].split(","))
            number = frames[name]
            placed.frames[number] = (x0 - left, high - y1, x1 - x0, y1 - y0)
            if "lp" in attributes:
                placed.titles[number] = point(attributes["lp"])
        elif "pos" in attributes and not name.startswith(("line", "invisible")):
            placed.boxes[name] = point(attributes["pos"])
    strokes = []
    for number in range(lines):
        attributes = found[f"line{number}"]
        if "lp" in attributes:
            placed.labels[number] = point(attributes["lp"])
        strokes.append(_stroke(attributes, point))
    return placed, strokes


def _stroke(attributes: Attributes, point: Callable[[str], Point]) -> Stroke:
    """A line from its Bézier curves: "e,x,y" is the tip of its arrowhead."""
    words = attributes["pos"].partition(";")[0].split()
    curve = [point(word) for word in words if word[0] not in "es"]
    tip = next((point(word[2:]) for word in words if word[0] == "e"), curve[-1])
    pairs = [f"{x:.2f},{y:.2f}" for x, y in curve]
    return Stroke(f"M{pairs[0]} C{' '.join(pairs[1:])}", curve[-1], tip)
