"""Graphviz, from wherever it is installed: DOT text in, a picture out."""

from __future__ import annotations

import importlib.util
import re
import shutil

from ..errors import GraphError, import_extra

MOST_NODES = 2500  # beyond it a layout takes minutes, and nobody could read it

DOTS_PER_INCH = 144  # of a PNG: sharp on a slide


def lay_out(dot: str, format: str, nodes: int) -> bytes:
    """The picture that Graphviz makes of ``dot``: by the system's ``dot`` program if there is one, else by pygraphviz.

    Raises:
        MissingExtraError: neither is installed.
        GraphError: there are more than 2,500 nodes.
    """
    if nodes > MOST_NODES:
        raise GraphError(
            f"the graph has {nodes} nodes, and above {MOST_NODES} laying it out takes too long: draw a smaller part, "
            "or take its DOT text, to_dot() or render('graph.dot')"
        )
    if format == "png":
        dot = dot.replace("graph [", f"graph [dpi={DOTS_PER_INCH} ", 1)  # elsewhere it would only scale the coordinates
    if shutil.which("dot") and importlib.util.find_spec("graphviz"):
        return bytes(importlib.import_module("graphviz").pipe("dot", format, dot.encode()))
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
