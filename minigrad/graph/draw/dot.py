"""The graph as text in the DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import html
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ..record.model import Edge, Graph, ModuleBox, Node
from .cells import cells, numbers
from .lanes import KIND as LANE
from .looks import (
    CHANGES,
    TAINTED,
    VERDICTS,
    amounts,
    gradient_text,
    heat,
    in_words,
    legend,
    mode,
    not_finite,
    titles,
)
from .loops import KIND as LOOP

FONT = "Helvetica,Arial,sans-serif"
LONGEST_ROW = 25  # a graph of more nodes runs from top to bottom
LETTER = 5  # points, of one in a title
LONGEST_NAME = 36  # characters of a name that a label shows; the tooltip has them all

# Kinds differ in shape as well as in colour, so that a black-and-white print tells them apart too.
STYLES = {
    "operation": 'shape=box style="rounded,filled" fillcolor="#ffffff" color="#4a4a4a"',
    "named": 'shape=box style="rounded,filled" fillcolor="#ece2f3" color="#6b4a82" peripheries=2',
    "loss": 'shape=octagon style="filled" fillcolor="#c5e3bf" color="#2f6b2f" margin="0.03,0.02"',
    "parameter": 'shape=cylinder style="filled" fillcolor="#ffdf9e" color="#8a6414"',
    "input": 'shape=note style="filled" fillcolor="#c4dff5" color="#28618f"',
    "constant": 'shape=box style="filled,dotted" fillcolor="#f2f2f2" color="#6a6a6a"',
    "module": 'shape=box3d style="filled" fillcolor="#dfe6ec" color="#4a5a6a"',
}
MOST_USES = 8  # of a value, up to which each has an edge from the value itself
MODULE_STYLE = 'style="rounded,filled" fillcolor="#0000000a" color="#b0b0b0" fontcolor="#4a4a4a" margin=8'
LANE_STYLE = 'style="filled" fillcolor="#f4f7fb" color="#7a8aa0" fontcolor="#2a3a50" margin=12'
AGAIN_STYLE = 'class="again" shape=plaintext fontcolor="#5a5a5a" height=0.1 width=0.1 margin="0.02,0.02"'
ORIGIN_STYLE = 'class="origin" style=dotted color="#7a7a9a" arrowhead=none weight=0 minlen=0'


def write_dot(
    graph: Graph,
    *,
    rankdir: str | None = None,
    color: str | None = None,
    tensors: bool = False,
    explained: bool = False,
) -> str:
    """The whole graph. The same graph gives the same text, on any machine and in any run.

    Args:
        rankdir, color, tensors: as for ``draw_dot``.
        explained: with a legend below, if the colours say anything.
    """
    rankdir = rankdir or ("LR" if len(graph.nodes) <= LONGEST_ROW else "TB")
    # The titles of modules out of the way of the edges, and the legend of a tall drawing where it begins
    titles = "labeljust=l" if rankdir == "LR" else "labeljust=r labelloc=t"
    writer = _DotWriter(graph, rankdir, mode(graph, color), tensors)
    table = _legend(legend(graph, writer.color, writer.heat)) if explained else []
    lines = [
        "digraph minigrad {",
        f'  graph [rankdir={rankdir} fontname="{FONT}" fontsize=11 nodesep=0.2 ranksep=0.3 {titles}]',
        f'  node [fontname="{FONT}" fontsize=11 height=0.3 width=0.3 margin="0.09,0.04"]',
        f'  edge [fontname="{FONT}" fontsize=9 color="#5a5a5a" arrowsize=0.6]',
        *table,
        *writer.nodes(),
        *writer.edges(),
        "}",
    ]
    return "\n".join(lines) + "\n"


class _DotWriter:
    """The nodes, modules and edges of one drawing, a line each."""

    def __init__(self, graph: Graph, rankdir: str, color: str, tensors: bool) -> None:
        self.graph = graph
        self.rankdir = rankdir
        self.color = color
        self.tensors = tensors
        self.heat = heat(graph, self.color)
        self.amounts = amounts(graph, self.color)
        self.beside = _beside(graph)
        self.again = _again(graph)
        self.again_into: dict[int, list[int]] = defaultdict(list)
        for number in sorted(self.again):
            self.again_into[graph.edges[number].target].append(number)

    def nodes(self) -> list[str]:
        """The nodes, each in the box of its module."""
        members: dict[int | None, list[Node]] = defaultdict(list)
        children: dict[int | None, list[ModuleBox]] = defaultdict(list)
        for node in self.graph.nodes:
            members[node.module].append(node)
        for child in self.graph.modules:
            children[child.parent].append(child)
        lines: list[str] = []
        waiting: list[tuple[ModuleBox | None, str] | str] = [
            (None, "  ")
        ]  # a module to write, or the brace that ends one
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                lines.append(item)
                continue
            module, indent = item
            if module is not None:
                lines += [f"{indent}subgraph cluster_{module.id} {{", f"{indent}  {self.cluster(module)}"]
                waiting.append(f"{indent}}}")
                indent += "  "
                if module.kind == LANE:  # what keeps the lanes in their order
                    lines.append(f"{indent}lane{module.id} [style=invis shape=point width=0 height=0]")
            number = None if module is None else module.id
            for node in members[number]:
                lines.append(indent + self.node(node))
                lines += [indent + self.reference(number) for number in self.again_into.get(node.id, [])]
                if node.id in self.beside:
                    lines.append(indent + _row(node.id, self.beside[node.id]))
            waiting += [(child, indent) for child in reversed(children[number])]
        return lines

    def edges(self) -> list[str]:
        after = {second for values in self.beside.values() for second in values[1:]}
        lines = []
        for number, edge in enumerate(self.graph.edges):
            between_operations = self.graph.nodes[edge.source].operation is not None
            layout = " weight=4" if between_operations else " constraint=false" if edge.source in after else ""
            lines.append(f"  {self.edge(edge, number)}{layout}]")
        lines += self.origins()
        lanes = [f"lane{module.id}" for module in self.graph.modules if module.kind == LANE]
        lines += [f"  {a} -> {b} [style=invis minlen=0 weight=100]" for a, b in pairwise(lanes)]
        return lines

    def origins(self) -> Iterator[str]:
        """From each operation a dotted line to the first one of its rules; the others are held near it, but not joined."""
        linked = set()
        for node in self.graph.nodes:
            if node.origin is None or node.origin == node.id:
                continue
            look = "style=invis weight=0 minlen=0"
            if (node.origin, node.lane) not in linked:
                linked.add((node.origin, node.lane))
                tooltip = _quoted(f"part of the backward of {self.graph.nodes[node.origin].label}")
                look = f'id="origin{node.id}" tooltip="{tooltip}" {ORIGIN_STYLE}'
            yield f"  n{node.origin} -> n{node.id} [{look}]"

    def reference(self, number: int) -> str:
        """The name of a value that is read often, where edge ``number`` reads it."""
        node = self.graph.nodes[self.graph.edges[number].source]
        title = _text(_shortened(titles(node)[0]))
        return f'again{number} [id="again{number}" {AGAIN_STYLE} label=<{title}> tooltip="{_tooltip(node)}"]'

    def cluster(self, module: ModuleBox) -> str:
        parent = None if module.parent is None else self.graph.modules[module.parent]
        title = _text(_shortened(_within(parent, module.name)))
        if module.kind == LANE:
            title, style = f"<B>{title}</B>", f"{LANE_STYLE} labeljust={'r' if self.rankdir == 'LR' else 'l'}"
        else:
            title, style = (
                title + (f": {_text(module.kind)}" if module.kind not in (module.name, LOOP) else ""),
                MODULE_STYLE,
            )
            title += f" x {module.count}" if module.count > 1 else ""
            if self.rankdir == "TB":  # as much room to its left: edges come in from above, in the middle
                room = f'<TD WIDTH="{LETTER * len(title)}"></TD>'
                title = f'<TABLE BORDER="0" CELLPADDING="0" CELLSPACING="0"><TR>{room}<TD>{title}</TD></TR></TABLE>'
        tooltip = _quoted(module.name)
        return f'graph [id="module{module.id}" class="module" label=<{title}> tooltip="{tooltip}" {style}]'

    def node(self, node: Node) -> str:
        style, classes = STYLES[node.kind], node.kind
        if node.change is not None and self.color == "change":
            fill, outline, _ = CHANGES[node.change]
            style, classes = _recoloured(style, fill, outline), f"{classes} {node.change}"
        if node.tainted:
            style, classes = _recoloured(style, TAINTED), f"{classes} tainted"
        if node.culprit:
            style, classes = _recoloured(style, outline=VERDICTS["wrong"][0]) + " penwidth=3", f"{classes} culprit"
        elif node.verdict == "wrong":
            style, classes = _recoloured(style, outline=VERDICTS["wrong"][0]) + " penwidth=3", f"{classes} wrong"
        if node.gradient == 0:
            style = style.replace('filled"', 'filled,dashed"')
        elif node.gradient is not None and not math.isfinite(node.gradient) and "penwidth" not in style:
            style += " penwidth=3"
        tooltip = _tooltip(node)
        return (
            f'n{node.id} [id="node{node.id}" class="{classes}" {style} label=<{self.label(node)}> tooltip="{tooltip}"]'
        )

    def label(self, node: Node) -> str:
        """Name and operation, shape and dtype, gradient: a line each. What is hot stands on a coloured strip."""
        if node.kind == "constant" and node.change is None:
            if node.details:
                return _text(node.details)
            if self.tensors and node.shape == ():
                return _text(numbers(node.value))
        lines = [self.title(node)]
        if node.shape is not None:
            lines.append(_small(f"{node.shape} {node.dtype}"))
        if node.culprit:
            lines.append(f'<FONT COLOR="{VERDICTS["wrong"][0]}">{_small(node.culprit)}</FONT>')
        elif node.tainted and node.value is not None:
            lines.append(_small(not_finite(node.value)))
        color = None if self.heat is None else self.heat.color(node.id)
        if self.tensors:
            return _table(lines, cells(node), color)
        last = gradient_text(node) if node.watched else ""
        if self.color in ("time", "memory"):
            lines.append(_small(last))
            last = self.amounts.get(node.id, "")
        if node.verdict == "wrong":
            lines.append(_small(f"derivative wrong by {node.error:.2g}"))
        if color is not None:
            return _table(lines, [[last]], color)
        return "<BR/>".join(filter(None, [*lines, _small(last)]))

    def title(self, node: Node) -> str:
        module = None if node.module is None else self.graph.modules[node.module]
        name, operation = titles(node)
        title = _text(_shortened(_within(module, name)))
        if node.change is not None and self.color == "change":
            title = f"{CHANGES[node.change][2]} {title}"
        title = f"<B>{title}</B>" if title else ""
        if operation and operation != name:
            title += f": {_text(operation)}" if node.boxed else f" {_small(operation)}"
        return title + (f" x {node.copies}" if node.copies > 1 else "")

    def edge(self, edge: Edge, number: int) -> str:
        label = "" if edge.output is None else f"[{edge.output}] {edge.shape}"
        source = f"again{number}" if number in self.again else f"n{edge.source}"
        look, found = "", edge.verdict
        if self.color == "check" and found is not None:
            width = {"agrees": "1.5", "wrong": "3", "unclear": "1 style=dashed"}[found]
            line, _ = VERDICTS[found]
            look = f' class="{found}" color="{line}" fontcolor="{line}" penwidth={width}'
            label += f" {edge.error:.2g}" if found == "wrong" else ""
        if self.color == "change":
            changes = {self.graph.nodes[edge.source].change, self.graph.nodes[edge.target].change}
            change = next((change for change in ("removed", "added") if change in changes), None)
            if change is not None:
                look = f' class="{change}" color="{CHANGES[change][1]}"' + " style=dashed" * (change == "removed")
        label = _text(label.strip())
        if found == "wrong":  # with room between the text and the thick line
            label = f'<TABLE BORDER="0" CELLPADDING="2"><TR><TD>{label}</TD></TR></TABLE>'
        label = f" label=<{label}>" if label else ""
        return f'{source} -> n{edge.target} [id="edge{number}" tooltip="{_quoted(edge.argument)}"{label}{look}'


def _again(graph: Graph) -> set[int]:
    """The edges that are drawn from the name of their source: all but the first of a value that is read very often.

    An edge takes room on every level that it crosses, and Graphviz takes minutes for the weights of a long recurrence.
    """
    seen: Counter[int] = Counter()
    uses = Counter(edge.source for edge in graph.edges)
    again = set()
    for number, edge in enumerate(graph.edges):
        seen[edge.source] += 1
        if uses[edge.source] > MOST_USES and seen[edge.source] > 1:
            again.add(number)
    return again


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
        module = graph.nodes[operation].module
        if module is not None and graph.modules[module].kind == LOOP:  # what all its steps read stands outside of it
            own = [i for i in own if graph.nodes[i].module == module]
        if own and len(own) == len(sources) and graph.nodes[own[0]].kind == "constant":
            own = own[1:]  # the data that a first layer reads come before it
        if own and (len(graph.nodes) <= LONGEST_ROW or graph.modules):
            beside[operation] = own[:2]
    return beside


def _row(operation: int, values: list[int]) -> str:
    """One value before the operation, the other, by an invisible edge, after it."""
    nodes = "; ".join(f"n{number}" for number in (*values, operation))
    order = f"; n{operation} -> n{values[1]} [style=invis]" if len(values) == 2 else ""
    return f"{{ rank=same; {nodes}{order} }}"


def _recoloured(style: str, fill: str | None = None, outline: str | None = None) -> str:
    if fill is not None:
        style = re.sub(r'fillcolor="[^"]*"', f'fillcolor="{fill}"', style)
    return style if outline is None else re.sub(r' color="[^"]*"', f' color="{outline}"', style)


def _table(lines: list[str], rows: list[list[str]], color: str | None) -> str:
    """The lines of a label above rows of cells, of which the last is coloured."""
    width = max(map(len, rows))
    border = ' BORDER="1" COLOR="#8a8a8a"' if width > 1 else ""
    span = f' COLSPAN="{width}"' if width > 1 else ""
    written = [f"<TR><TD{span}>{'<BR/>'.join(filter(None, lines))}</TD></TR>"]
    for *first, last in rows:
        before = "".join(f"<TD{border}>{_small(cell)}</TD>" for cell in first)
        written.append(f"<TR>{before}<TD{border}{_fill(color)}>{_small(last)}</TD></TR>")
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="1">{"".join(written)}</TABLE>'


def _fill(color: str | None) -> str:
    return "" if color is None else f' BGCOLOR="{color}"'


def _legend(rows: list[list[tuple[list[str], str | None]]]) -> list[str]:
    """The label of the drawing: tables of coloured cells."""
    lines = []
    for row in rows:
        found = [f"<TD{_fill(color)}>{_small(in_words(text))}</TD>" for text, color in row]
        lines.append('    <TR><TD ALIGN="LEFT"><TABLE BORDER="0" CELLBORDER="0" CELLSPACING="2" CELLPADDING="3"><TR>')
        lines += [*(f"      {cell}" for cell in found), "    </TR></TABLE></TD></TR>"]
    return ['  label=<<TABLE BORDER="0" CELLSPACING="0">', *lines, "  </TABLE>>"] if rows else []


def _tooltip(node: Node) -> str:
    call = node.operation and (node.operation if node.boxed else f"{node.operation}({node.details})")
    return _quoted(" ".join(filter(None, [node.kind, node.name if node.boxed else node.label, call])))


def _within(module: ModuleBox | None, path: str) -> str:
    """An attribute path without the part that the box around it says already."""
    return path.removeprefix(f"{module.name}.") if module else path


def _small(text: str) -> str:
    """Text in small letters; its lines stay lines."""
    written = "<BR/>".join(_text(line) for line in text.split("\n"))
    return f'<FONT POINT-SIZE="9">{written}</FONT>' if text else ""


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
