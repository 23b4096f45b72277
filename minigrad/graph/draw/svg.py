"""Adapts Graphviz's SVG to pages: it has the width of its page, and the title of each element is its tooltip."""

from __future__ import annotations

import xml.etree.ElementTree as ET

# Most readers have one of the first two fonts, which are equally wide: Graphviz measures what they see.
FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"
SVG = "{http://www.w3.org/2000/svg}"
TOOLTIP = "{http://www.w3.org/1999/xlink}title"


def adapted(svg: bytes, name: str) -> str:
    """Return Graphviz's SVG as one element, without a prolog.

    It is at most as wide as Graphviz has made it, and shrinks with its page. Each group keeps its id and classes. Its title is
    the tooltip that Graphviz writes as a link around the shapes. The legend, which has no group in Graphviz, gets one.

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
        group[:] = [title, *shapes]
    return ET.tostring(root, encoding="unicode") + "\n"
