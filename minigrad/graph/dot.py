"""The graph as text in the DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Edge, Graph, Module, Node

FONT = "Helvetica,Arial,sans-serif"
WIDEST_ROW = 25  # a graph of more nodes runs from top to bottom
LONGEST_NAME = 36  # characters of a name that a label shows

# Each kind differs from the others in shape as well as in colour, and in lightness, for black-and-white prints.
STYLES = {
    "operation": 'shape=box style="rounded,filled" fillcolor="#ffffff" color="#4a4a4a"',
    "kept": 'shape=box style="rounded,filled" fillcolor="#ece2f3" color="#6b4a82" peripheries=2',
    "loss": 'shape=octagon style=filled fillcolor="#c5e3bf" color="#2f6b2f" margin="0.06,0.04"',
    "parameter": 'shape=cylinder style=filled fillcolor="#ffdf9e" color="#8a6414"',
    "input": 'shape=parallelogram style=filled fillcolor="#c4dff5" color="#28618f" margin="0.02,0.03"',
    "constant": 'shape=box style="filled,dotted" fillcolor="#f2f2f2" color="#6a6a6a"',
}


def write_dot(graph: Graph) -> str:
    """The whole graph. The same graph gives the same text, on any machine and in any run."""
    rankdir = graph.rankdir or ("LR" if len(graph.nodes) <= WIDEST_ROW else "TB")
    lines = [
        "digraph minigrad {",
        f'  graph [rankdir={rankdir} fontname="{FONT}" fontsize=11 nodesep=0.2 ranksep=0.3]',
        f'  node [fontname="{FONT}" fontsize=11 height=0.3 width=0.3 margin="0.09,0.04"]',
        f'  edge [fontname="{FONT}" fontsize=9 color="#5a5a5a" arrowsize=0.6]',
    ]
    members: dict[int | None, list[Node]] = defaultdict(list)
    children: dict[int | None, list[Module]] = defaultdict(list)
    for node in graph.nodes:
        members[node.module].append(node)
    for module in graph.modules:
        children[module.parent].append(module)

    def write_module(module: Module | None, indent: str) -> None:
        """Recurses as deep as modules are nested, which their own calls did too."""
        number = None if module is None else module.id
        lines.extend(indent + _node(node, module) for node in members[number])
        for child in children[number]:
            lines.append(f"{indent}subgraph cluster_{child.id} {{")
            lines.append(f"{indent}  {_cluster(child, module)}")
            write_module(child, indent + "  ")
            lines.append(f"{indent}}}")

    write_module(None, "  ")
    for number, edge in enumerate(graph.edges):
        weight = 1 if graph.nodes[edge.source].operation is None else 4  # keeps the row of operations straight
        lines.append(f"  {_edge(edge, number, weight)}")
    return "\n".join([*lines, "}"]) + "\n"


def _node(node: Node, module: Module | None) -> str:
    attributes = f'id="node{node.id}" class="{node.kind}" {STYLES[node.kind]}'
    if node.gradient is not None and not math.isfinite(node.gradient):
        attributes += " penwidth=4"
    elif node.gradient == 0:
        attributes += f' style="{"rounded," if node.kind == "operation" else ""}filled,dashed"'
    return f'n{node.id} [{attributes} label=<{_label(node, module)}> tooltip="{_tooltip(node)}"]'


def _label(node: Node, module: Module | None) -> str:
    """Name and operation, shape and dtype, gradient: a line each."""
    if node.kind == "constant" and node.details:
        return _text(node.details)
    title = _within(module, node.name or node.operation or ("" if node.kind == "constant" else node.kind))
    lines = [f"<B>{_text(_shortened(title))}</B>"] if title else []
    if node.name and node.operation:
        lines[0] += f" = {_text(node.operation)}"
    if node.shape is not None:
        lines.append(_small(f"{node.shape} {node.dtype}"))
    if node.watched:
        lines.append(_small("grad -" if node.gradient is None else f"grad {node.gradient:.3g}"))
    return "<BR/>".join(lines)


def _tooltip(node: Node) -> str:
    what = " ".join(filter(None, [node.kind, node.name, node.operation and f"{node.operation}({node.details})"]))
    return _text(what).replace("\\", "&#92;")


def _within(module: Module | None, path: str) -> str:
    """An attribute path without the part that the cluster around it says already."""
    return path.removeprefix(f"{module.name}.") if module else path


def _cluster(module: Module, parent: Module | None) -> str:
    title = _text(_shortened(_within(parent, module.name))) + ("" if module.kind == module.name else f": {_text(module.kind)}")
    return (
        f'graph [id="module{module.id}" class="module" label=<{title}> tooltip="" labeljust=l '
        'style="rounded,filled" fillcolor="#0000000a" color="#b0b0b0" fontcolor="#4a4a4a" margin=8]'
    )


def _edge(edge: Edge, number: int, weight: int) -> str:
    attributes = f'id="edge{number}" weight={weight} tooltip="{_text(edge.argument)}"'
    if edge.output is not None:
        attributes += f" label=<[{edge.output}] {edge.shape}>"
    return f"n{edge.source} -> n{edge.target} [{attributes}]"


def _small(text: str) -> str:
    return f'<FONT POINT-SIZE="9">{_text(text)}</FONT>'


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME // 2 - 1]}…{text[-LONGEST_NAME // 2 :]}"


def _text(text: str) -> str:
    """Text for a label: on one line, without the characters XML forbids (its production [2]), and escaped."""
    text = re.sub(r"[\t\r\n]+", " ", text)
    return html.escape(re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text))
