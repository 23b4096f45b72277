"""Graphviz, from wherever it is installed: DOT text in, a picture out."""

from __future__ import annotations

import re
import shutil
import subprocess

from ..errors import GraphError, import_extra

MOST_NODES = 2500  # beyond it a layout takes minutes, and nobody could read it

DOTS_PER_INCH = 144  # of a PNG: sharp on a slide

SMALLEST = 0.7  # of its size: a wider picture scrolls rather than shrink further


def lay_out(dot: str, format: str, nodes: int) -> bytes:
    """The picture that Graphviz makes of ``dot``: by the system's ``dot`` program if there is one, else by pygraphviz.

    Raises:
        MissingExtraError: neither is installed.
        GraphError: there are more than 2,500 nodes, or the program failed.
    """
    if nodes > MOST_NODES:
        raise GraphError(
            f"the drawing has {nodes} nodes, and above {MOST_NODES} laying it out takes too long: collapse its modules by "
            "draw_dot(..., depth=1), draw a smaller part, or take its DOT text, to_dot() or render('graph.dot')"
        )
    if format == "png":
        dot = dot.replace("graph [", f"graph [dpi={DOTS_PER_INCH} ", 1)  # elsewhere it would only scale the coordinates
    program = shutil.which("dot")
    if program:
        run = subprocess.run([program, f"-T{format}"], input=dot.encode(), capture_output=True, check=False)
        if run.returncode:
            raise GraphError(f"the program {program} failed: {run.stderr.decode(errors='replace').strip()}")
        return run.stdout
    purpose = "drawing a graph (its DOT text, to_dot(), needs nothing)"
    pygraphviz = import_extra("pygraphviz", "graph", purpose)
    return bytes(pygraphviz.AGraph(string=dot).draw(format=format, prog="dot"))


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
