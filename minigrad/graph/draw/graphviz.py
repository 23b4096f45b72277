"""Turns a picture into a file by Graphviz: the system's program ``dot``, or else pygraphviz, whose wheels carry Graphviz."""

from __future__ import annotations

import contextlib
import html
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

from ...errors import GraphError, MissingExtraError, import_extra
from . import fonts
from .picture import Picture

MOST_NODES = 2500  # nodes of a drawing; the layout of a larger one takes minutes, and it could not be read

DOTS_PER_INCH = 144  # the resolution of a PNG, sharp enough for a slide

# This runs in a separate process: Graphviz may need another font path, and in this process it may have read its fonts already.
# -P: a file of the user in the working directory is not imported in place of Python's own.
PYGRAPHVIZ = """
import sys, pygraphviz
dot = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(pygraphviz.AGraph(string=dot).draw(format=sys.argv[1], prog="dot"))
"""

SVG = "{http://www.w3.org/2000/svg}"
TOOLTIP = "{http://www.w3.org/1999/xlink}title"

SMALLEST = 0.7  # the smallest scale of a picture; a wider one scrolls


def lay_out(picture: Picture, format: str) -> bytes:
    """Return the bytes of the picture as a file of the format "svg", "png" or "pdf".

    Raises:
        MissingExtraError: Graphviz is not installed.
        GraphError: there are more than 2,500 nodes, or Graphviz failed.
    """
    nodes = len(picture.graph.nodes)
    if nodes > MOST_NODES:
        raise GraphError(
            f"the drawing has {nodes} nodes, and a layout of more than {MOST_NODES} takes too long: collapse modules with "
            "draw_dot(..., depth=1), draw a smaller part, or use the DOT text, to_dot() or render('graph.dot')"
        )
    if format == "svg":
        return adapted(typeset(picture.dot(), format), picture.name).encode()
    return typeset(picture.dot(dpi=DOTS_PER_INCH if format == "png" else None), format)


def typeset(dot: str, format: str) -> bytes:
    """Return the picture that Graphviz makes from DOT text, by the system's ``dot`` program or else by pygraphviz.

    If matplotlib is installed, :mod:`.fonts` writes a note if no font has some characters. The reader of an SVG may have other
    fonts.
    """
    program = shutil.which("dot")
    command = [program, f"-T{format}"] if program else [sys.executable, "-P", "-c", PYGRAPHVIZ, format]
    if not program:
        import_extra("pygraphviz", "graph", "drawing a graph (not as text)")
    if format != "svg":
        with contextlib.suppress(MissingExtraError):
            fonts.name_missing(dot)
    if sys.platform == "emscripten":  # Python in a web page has no processes
        return bytes(import_extra("pygraphviz", "graph", "drawing").AGraph(string=dot).draw(format=format, prog="dot"))
    with fonts.lent_to_graphviz() as environment:
        run = subprocess.run(command, input=dot.encode(), capture_output=True, check=False, env=environment)
    if run.returncode:
        raise GraphError(f"the program {command[0]} failed: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def adapted(svg: bytes, name: str) -> str:
    """Return Graphviz's SVG as one element, without a prolog.

    It is at most as wide as Graphviz has made it, and shrinks with its page. The title of a group, which browsers show, is
    the tooltip that Graphviz writes as a link around the shapes.

    Args:
        name: the name of the whole drawing, for readers who hear it.
    """
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
    width, height = root.attrib["viewBox"].split()[2:]
    look = f"width: 100%; max-width: {width}pt; height: auto"
    root.attrib = {"xmlns": SVG[1:-1], "viewBox": f"0 0 {width} {height}", "style": look, "aria-label": name}
    (whole,) = root
    del whole[0]  # its title would be the tooltip of the background
    for group in whole.iterfind("g[title]"):
        shapes = [element for element in group.iter() if element.tag not in ("g", "a", "title")]
        title = group[0]
        tooltip = next((link.get(TOOLTIP, "") for link in group.iter("a")), "")
        title.text = tooltip.replace("\xa0", " ")  # of two spaces, Graphviz makes one that does not break
        group[:] = [title, *shapes]
    return ET.tostring(root, encoding="unicode") + "\n"


def scrolling(svg: str) -> str:
    """Return HTML for a page of any width. The drawing shrinks down to 70 % of its size, and then scrolls."""
    (width,) = re.findall(r"max-width: ([\d.]+)pt", svg)
    svg = svg.replace("max-width:", f"min-width: {SMALLEST * float(width):.0f}pt; max-width:", 1)
    return f'<div style="overflow-x: auto; background: #fff">{svg}</div>'


def undrawn(error: Exception, text: str) -> str:
    """Return HTML that says why there is no drawing, and shows a text instead."""
    return f"<p>{html.escape(str(error))}</p><pre>{html.escape(text)}</pre>"
