"""A picture in, a file out: by Graphviz, from wherever it is installed; an SVG by our own layout where it is not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

from ...errors import GraphError, MissingExtraError, import_extra
from . import fonts
from .dot import write_dot
from .picture import Picture
from .svg import write_svg

MOST_NODES = 2500  # beyond it a layout takes minutes, and nobody could read it

DOTS_PER_INCH = 144  # of a PNG: sharp on a slide

# In a process of its own, where it is to look for fonts elsewhere: within this one it may have looked before.
PYGRAPHVIZ = """
import sys, pygraphviz
dot = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(pygraphviz.AGraph(string=dot).draw(format=sys.argv[1], prog="dot"))
"""

SMALLEST = 0.7  # of its size: a wider picture scrolls rather than shrink further


def lay_out(picture: Picture, format: str) -> bytes:
    """The picture as a file: "svg", "png" or "pdf".

    An SVG is written in the fonts of whoever looks at it, so :mod:`.svg` draws it, and of Graphviz it has only the places;
    without Graphviz these are our own. A PNG and a PDF are Graphviz' own, in the fonts of this machine.

    Raises:
        MissingExtraError: Graphviz is not installed, and the format is not SVG.
        GraphError: there are more than 2,500 nodes, or the program failed.
    """
    nodes = sum(box.classes != "again" for _, box in picture.boxes())
    if nodes > MOST_NODES:
        raise GraphError(
            f"the drawing has {nodes} nodes, and above {MOST_NODES} laying it out takes too long: collapse its modules by "
            "draw_dot(..., depth=1), draw a smaller part, or take its DOT text, to_dot() or render('graph.dot')"
        )
    if format != "svg":
        return typeset(write_dot(picture, dpi=DOTS_PER_INCH if format == "png" else None), format)
    try:
        return write_svg(picture, graphviz=lambda text: _run(text, "json0").decode()).encode()
    except MissingExtraError:
        return write_svg(picture).encode()


def typeset(dot: str, format: str) -> bytes:
    """The picture that Graphviz makes of DOT text: by the system's ``dot`` program if there is one, else by pygraphviz.

    A character that no font of this machine has is written in others, as in every drawing (:mod:`.fonts`), where matplotlib
    is there to look into the fonts.
    """
    try:
        dot = fonts.readable(dot)
    except MissingExtraError:
        return _run(dot, format)
    with fonts.lent_to_graphviz() as environment:
        return _run(dot, format, environment)


def _run(dot: str, format: str, environment: dict[str, str] | None = None) -> bytes:
    program = shutil.which("dot")
    command = [program, f"-T{format}"] if program else [sys.executable, "-c", PYGRAPHVIZ, format]
    if not program:
        pygraphviz = import_extra("pygraphviz", "graph", "drawing a graph as PNG or PDF (as SVG or text needs nothing)")
        if environment is None:
            return bytes(pygraphviz.AGraph(string=dot).draw(format=format, prog="dot"))
    run = subprocess.run(command, input=dot.encode(), capture_output=True, check=False, env=environment)
    if run.returncode:
        raise GraphError(f"the program {command[0]} failed: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def responsive(svg: str) -> str:
    """The SVG with a viewBox alone instead of a fixed size: as wide as its page, but no wider than it was drawn."""
    return re.sub(
        r'<svg width="([\d.]+pt)" height="[\d.]+pt"',
        r'<svg style="width: 100%; max-width: \1; height: auto"',
        svg,
        count=1,
    )


def scrolling(svg: str) -> str:
    """HTML for a page of any width: the drawing fits it down to 70 % of its size; beyond that it can be scrolled."""
    (width,) = re.findall(r"max-width: ([\d.]+)pt", svg)
    svg = svg[svg.index("<svg") :].replace("max-width:", f"min-width: {SMALLEST * float(width):.0f}pt; max-width:", 1)
    return f'<div style="overflow-x: auto; background: #fff">{svg}</div>'
