"""The graph as text in the DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import html
import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import Edge, Graph, Module, Node

FONT = "Helvetica,Arial,sans-serif"
LONGEST_ROW = 25  # a graph of more nodes runs from top to bottom
LONGEST_NAME = 36  # characters of a name that a label shows; the tooltip has them all

# Kinds differ in shape as well as in colour, so that a black-and-white print tells them apart too.
STYLES = {
    "operation": 'shape=box style="rounded,filled" fillcolor="#ffffff" color="#4a4a4a"',
    "kept": 'shape=box style="rounded,filled" fillcolor="#ece2f3" color="#6b4a82" peripheries=2',
    "loss": 'shape=octagon style="filled" fillcolor="#c5e3bf" color="#2f6b2f" margin="0.03,0.02"',
    "parameter": 'shape=cylinder style="filled" fillcolor="#ffdf9e" color="#8a6414"',
    "input": 'shape=note style="filled" fillcolor="#c4dff5" color="#28618f"',
    "constant": 'shape=box style="filled,dotted" fillcolor="#f2f2f2" color="#6a6a6a"',
}


def write_dot(graph: Graph) -> str:
    """The whole graph. The same graph gives the same text, on any machine and in any run."""
    rankdir = graph.rankdir or ("LR" if len(graph.nodes) <= LONGEST_ROW else "TB")
    titles = "labeljust=l" if rankdir == "LR" else "labeljust=r"  # of modules: out of the way of the edges
    lines = [
        "digraph minigrad {",
        f'  graph [rankdir={rankdir} fontname="{FONT}" fontsize=11 nodesep=0.2 ranksep=0.3 {titles}]',
        f'  node [fontname="{FONT}" fontsize=11 height=0.3 width=0.3 margin="0.09,0.04"]',
        f'  edge [fontname="{FONT}" fontsize=9 color="#5a5a5a" arrowsize=0.6]',
    ]
    beside = _beside(graph)
    members: dict[int | None, list[Node]] = defaultdict(list)
    children: dict[int | None, list[Module]] = defaultdict(list)
    for node in graph.nodes:
        members[node.module].append(node)
    for module in graph.modules:
        children[module.parent].append(module)

    def write_module(module: Module | None, indent: str) -> None:
        """Recurses as deep as modules are nested, which their own calls did too."""
        number = None if module is None else module.id
        for node in members[number]:
            lines.append(indent + _node(node, module))
            if node.id in beside:
                lines.append(indent + _row(node.id, beside[node.id]))
        for child in children[number]:
            lines.append(f"{indent}subgraph cluster_{child.id} {{")
            lines.append(f"{indent}  {_cluster(child, module)}")
            write_module(child, indent + "  ")
            lines.append(f"{indent}}}")

    write_module(None, "  ")
    after = {second for values in beside.values() for second in values[1:]}
    for number, edge in enumerate(graph.edges):
        between_operations = graph.nodes[edge.source].operation is not None
        layout = " weight=4" if between_operations else " constraint=false" if edge.source in after else ""
        lines.append(f"  {_edge(edge, number)}{layout}]")
    return "\n".join([*lines, "}"]) + "\n"


def _beside(graph: Graph) -> dict[int, list[int]]:
    """For each operation up to two parameters or constants to draw beside it: those that only it reads.

    Drawn before it, as Graphviz would, they stand level with the previous operation, and where modules are drawn as
    boxes, two boxes with something on one level cannot stand one after the other: the drawing becomes a staircase.
    In a large graph without modules, which has rows of many operations, before is the better place.
    """
    uses = Counter(edge.source for edge in graph.edges)
    reads: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        reads[edge.target].append(edge.source)
    beside = {}
    for operation, sources in reads.items():
        own = [i for i in sources if uses[i] == 1 and graph.nodes[i].kind in ("parameter", "constant")]
        if len(own) == len(sources) and graph.nodes[own[0]].kind == "constant":
            own = own[1:]  # the data that a first layer reads come before it
        if own and (len(graph.nodes) <= LONGEST_ROW or graph.modules):
            beside[operation] = own[:2]
    return beside


def _row(operation: int, values: list[int]) -> str:
    """One value before the operation, the other, by an invisible edge, after it."""
    nodes = "; ".join(f"n{number}" for number in (*values, operation))
    order = f"; n{operation} -> n{values[1]} [style=invis]" if len(values) == 2 else ""
    return f"{{ rank=same; {nodes}{order} }}"


def _node(node: Node, module: Module | None) -> str:
    style = STYLES[node.kind]
    if node.gradient == 0:
        style = style.replace('filled"', 'filled,dashed"')
    elif node.gradient is not None and not math.isfinite(node.gradient):
        style += " penwidth=3"
    label, tooltip = _label(node, module), _tooltip(node)
    return f'n{node.id} [id="node{node.id}" class="{node.kind}" {style} label=<{label}> tooltip="{tooltip}"]'


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
    call = node.operation and f"{node.operation}({node.details})"
    return _quoted(" ".join(filter(None, [node.kind, node.name, call])))


def _within(module: Module | None, path: str) -> str:
    """An attribute path without the part that the box around it says already."""
    return path.removeprefix(f"{module.name}.") if module else path


def _cluster(module: Module, parent: Module | None) -> str:
    title = _text(_shortened(_within(parent, module.name)))
    if module.kind != module.name:
        title += f": {_text(module.kind)}"
    return (
        f'graph [id="module{module.id}" class="module" label=<{title}> tooltip="{_quoted(module.name)}" '
        'style="rounded,filled" fillcolor="#0000000a" color="#b0b0b0" fontcolor="#4a4a4a" margin=8]'
    )


def _edge(edge: Edge, number: int) -> str:
    label = "" if edge.output is None else f" label=<[{edge.output}] {edge.shape}>"
    return f'n{edge.source} -> n{edge.target} [id="edge{number}" tooltip="{_quoted(edge.argument)}"{label}'


def _small(text: str) -> str:
    return f'<FONT POINT-SIZE="9">{_text(text)}</FONT>'


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME // 2 - 1]}…{text[-LONGEST_NAME // 2 :]}"


def _text(text: str) -> str:
    """Text for a label: on one line, without the characters XML forbids (its production [2]), and escaped.

    A backslash is doubled, for Graphviz puts the node's name in the place of \\N in any label.
    """
    text = re.sub(r"[\t\r\n]+", " ", text)
    text = re.sub("[^ -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    return html.escape(text).replace("\\", r"\\")


def _quoted(text: str) -> str:
    """Text for a tooltip, of which Graphviz reads the backslashes once more."""
    return _text(text).replace("\\", r"\\")
