"""Adapts Graphviz's SVG to pages: it has the width of its page, and the title of each element is its tooltip."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from itertools import groupby

# Most readers have one of the first two fonts, which are equally wide: Graphviz measures what they see.
FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"
SVG = "{http://www.w3.org/2000/svg}"
LETTERS = ("font-size", "font-weight", "fill")  # what may differ within a line
TOOLTIP = "{http://www.w3.org/1999/xlink}title"


def adapted(svg: bytes, name: str) -> str:
    """Return Graphviz's SVG as one element, without a prolog.

    It is at most as wide as Graphviz has made it, and shrinks with its page. Each group keeps its id and classes. Its title is
    the tooltip that Graphviz writes as a link around the shapes. The legend, which has no group in Graphviz, gets one. The
    texts of one line become one, so that they follow each other in any font.

    Args:
        name: the name of the whole drawing, for readers who hear it.
    """
    root = ET.fromstring(svg)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        element.attrib.pop("font-family", None)
    (whole,) = root
    width, height = root.attrib["viewBox"].split()[2:]
    look = f"width: 100%; max-width: {width}pt; height: auto"
    root.attrib = {"xmlns": SVG[1:-1], "viewBox": f"0 0 {width} {height}", "style": look, "aria-label": name}
    whole.set("font-family", FONT)
    _, background, *parts = whole
    legend = ET.Element("g", {"id": "graph-legend", "class": "legend"})
    legend.extend(part for part in parts if part.tag != "g")
    whole[:] = [background, *([legend] if len(legend) else []), *(part for part in parts if part.tag == "g")]
    for group in whole.iterfind("g[title]"):
        shapes = [element for element in group.iter() if element.tag not in ("g", "a", "title")]
        title = group[0]
        tooltip = next((link.get(TOOLTIP, "") for link in group.iter("a")), "")
        title.text = tooltip.replace("\xa0", " ")  # of two spaces, Graphviz makes one that does not break
        group[:] = [title, *_with_whole_lines(shapes)]
    return ET.tostring(root, encoding="unicode") + "\n"


def _with_whole_lines(shapes: Iterable[ET.Element]) -> Iterator[ET.Element]:
    """Yield the shapes of a group. Texts of one line, which Graphviz writes one after the other, become parts of one text."""
    for (tag, _), together in groupby(shapes, key=lambda shape: (shape.tag, shape.get("y") or id(shape))):
        first, *others = together
        if tag == "text" and others:
            whole = ET.Element("text", {key: value for key, value in first.items() if key not in LETTERS})
            for text in (first, *others):
                part = ET.SubElement(whole, "tspan", {key: value for key, value in text.items() if key in LETTERS})
                part.text = text.text
            whole.tail = others[-1].tail
            yield whole
        else:
            yield from (first, *others)
