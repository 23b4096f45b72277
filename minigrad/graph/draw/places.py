"""Reads the positions that Graphviz gives to boxes of known sizes. It measures no text, so it needs no font."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from .frames import Placed
from .layered import Point
from .picture import Picture


@dataclass(frozen=True)
class Stroke:
    """A drawn line: an SVG path up to the base of its arrowhead, and the arrowhead's tip. Without one the two coincide."""

    path: str
    base: Point
    tip: Point


def read_places(text: str, picture: Picture) -> tuple[Placed, list[Stroke]]:
    """Read Graphviz' JSON for the DOT text from :func:`.dot.write_sizes`. In the result y grows downwards."""
    whole = json.loads(text)
    left, low, right, high = map(float, whole["bb"].split(","))

    def point(text: str) -> Point:
        x, y = map(float, text.split(","))
        return round(x - left, 2), round(high - y, 2)

    placed = Placed((right - left, high - low))
    things = {thing["name"]: thing for thing in whole.get("objects", ())}
    for number, frame in enumerate(picture.frames):
        if number:
            x0, y0, x1, y1 = map(float, things[frame.name]["bb"].split(","))
            placed.frames[number] = (x0 - left, high - y1, x1 - x0, y1 - y0)
            placed.titles[number] = point(things[frame.name]["lp"])
    for _, box in picture.boxes():
        placed.boxes[box.name] = point(things[box.name]["pos"])
    lines = {line["id"]: line for line in whole.get("edges", ()) if "id" in line}
    strokes = []
    for shown in picture.shown_lines():
        line = lines[shown.id]
        if "lp" in line:
            placed.labels[shown.id] = point(line["lp"])
        strokes.append(_stroke(line["pos"], point))
    return placed, strokes


def _stroke(text: str, point: Callable[[str], Point]) -> Stroke:
    """Return a line from the text of its Bézier curves. "e,x,y" is the tip of its arrowhead."""
    words = text.partition(";")[0].split()
    curve = [point(word) for word in words if word[0] not in "es"]
    tip = next((point(word[2:]) for word in words if word[0] == "e"), curve[-1])
    pairs = [f"{x:.2f},{y:.2f}" for x, y in curve]
    return Stroke(f"M{pairs[0]} C{' '.join(pairs[1:])}", curve[-1], tip)
