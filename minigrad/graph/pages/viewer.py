"""Writes a drawing as a page that scrolls and zooms, and that describes a node after a click on it."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

from ...errors import GraphError
from ..draw.cells import cells
from ..draw.depict import STYLES
from ..draw.dot import write_dot
from ..draw.graphviz import lay_out
from ..draw.looks import bytes_text, heat, legend, mode, own_bytes, seconds_text, titles
from ..draw.picture import Picture
from ..record.model import Graph, Node
from ..record.numerals import number_text
from .html import check_language, inline, save_page


def write_page(graph: Graph, picture: Picture, path: Path, language: str) -> Path:
    """Write the page of :meth:`Drawing.to_html`, from a simplified graph and its picture."""
    check_language(language)
    try:
        shown = inline(lay_out(picture, "svg").decode())
        shown = re.sub(r"<title>[^<]*</title>\n?", "", shown)  # no tooltips, because the page shows more
    except GraphError as error:
        shown = f"<p>{html.escape(str(error))}</p><pre>{html.escape(write_dot(picture))}</pre>"
    data = page_data(graph, picture.color)
    return save_page(path, "viewer", data, language, title=data["title"], drawing=shown)


def page_data(graph: Graph, color: str | None = None) -> dict[str, Any]:
    """Return the data of each node, and the meaning of its colours. A list is a word of the page with its values."""
    color = mode(graph, color)
    kinds = {node.kind for node in graph.nodes}
    end = graph.nodes[graph.ends[0][0]]
    sizes = own_bytes(graph)
    return {
        "title": end.label,
        "nodes": [
            {"title": _title(node), "search": _searched(node), "facts": _facts(node, graph, sizes)}
            for node in graph.nodes
        ],
        "kinds": [(kind, style["fillcolor"], style["color"]) for kind, style in STYLES.items() if kind in kinds],
        "legend": legend(graph, color, heat(graph, color)),
    }


def _title(node: Node) -> str:
    return ": ".join(filter(None, titles(node)))


def _searched(node: Node) -> str:
    """Return the text that a search reads: the operation and a name, but no label that is an expression."""
    names = [node.name, node.operation, node.label if re.fullmatch(r"[\w.\[\]]+( · .*)?", node.label) else None]
    return "\n".join(filter(None, names))


def _facts(node: Node, graph: Graph, sizes: dict[int, float]) -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [("kind", [node.kind])]
    if node.shape is not None:
        facts.append(("shape", f"{node.shape} {node.dtype}"))
    if node.details:
        facts.append(("call" if node.operation else "value", node.details))
    if node.module is not None:
        facts.append(("path", graph.modules[node.module].name))
    if node.count > 1:
        facts.append(("count", ["layers", node.count, node.copies] if node.copies > 1 else ["operations", node.count]))
    if node.source is not None:
        facts.append(("source", f"{os.path.basename(node.source.file)}:{node.source.line}\n{node.source.text}".strip()))
    if node.seconds is not None:
        facts.append(("seconds", seconds_text(node.seconds)))
    if node.backward_seconds is not None:
        facts.append(("backward_seconds", seconds_text(node.backward_seconds)))
    if node.id in sizes:
        facts.append(("bytes", bytes_text(sizes[node.id])))
    if node.watched:
        shown: Any = number_text(node.gradient, 6) if node.gradient is not None else ["none"]
        if node.signed is not None:
            facts.append(("cotangent", number_text(node.signed, 6)))
        else:
            facts.append(("gradient", ["range", *(number_text(n, 6) for n in node.spread)] if node.spread else shown))
    if node.value is not None and node.kind != "constant" and node.spread is None:
        for row in cells(node):
            facts.append(("value", row[0].replace("data ", "")))
            if node.signed is None:
                facts.append(("cotangent", row[1].removeprefix("grad ")))
    if node.change is not None:
        facts.append(("change", [node.change]))
    if node.tainted:
        facts.append(("tainted", ["yes"]))
    if node.verdict is not None:
        wrong = node.verdict == "wrong"
        facts.append(("derivative", ["wrongBy", f"{node.error:.2g}"] if wrong else [node.verdict]))
    return facts
