"""Turns a graph into a picture: the labels, the shapes of the kinds, and the colours."""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ..record.names import PLACE
from .cells import cells, numbers
from .drawn import DrawnBox, DrawnEdge, DrawnGraph, DrawnNode
from .fit import direction
from .folding import LOOP
from .labels import Block, Cell, Letters, Lines, Piece, Table, cut, plain, small, table_of
from .lanes import KIND as LANE
from .looks import CHANGES, TAINTED, VERDICTS, amounts, gradient_text, heat, legend, mode, not_finite, titles
from .picture import FONT, Box, Frame, Level, Line, Look, Picture

FEW = 25  # nodes of a graph without modules whose operations have parameters and constants beside them
WIDEST_NAME = 22.0  # em of a name that a label shows, about 36 letters; the tooltip has all of them
MOST_USES = 8  # uses of a value; with more, every edge except the first begins at a copy of the value's name

# Kinds differ in shape and in colour, so that a black-and-white print distinguishes them too.
STYLES: dict[str, Look] = {
    "operation": {"shape": "box", "style": "rounded,filled", "fillcolor": "#ffffff", "color": "#4a4a4a"},
    "named": {
        "shape": "box",
        "style": "rounded,filled",
        "fillcolor": "#ece2f3",
        "color": "#6b4a82",
        "peripheries": "2",
    },
    "loss": {"shape": "octagon", "style": "filled", "fillcolor": "#c5e3bf", "color": "#2f6b2f", "margin": "0.03,0.02"},
    "parameter": {"shape": "cylinder", "style": "filled", "fillcolor": "#ffdf9e", "color": "#8a6414"},
    "input": {"shape": "note", "style": "filled", "fillcolor": "#c4dff5", "color": "#28618f"},
    "constant": {"shape": "box", "style": "filled,dotted", "fillcolor": "#f2f2f2", "color": "#6a6a6a"},
    "module": {"shape": "box3d", "style": "filled", "fillcolor": "#dfe6ec", "color": "#4a5a6a", "margin": "0.12,0.08"},
}
MODULE = {
    "style": "rounded,filled",
    "fillcolor": "#0000000a",
    "color": "#b0b0b0",
    "fontcolor": "#4a4a4a",
    "margin": "8",
}
PASS = {"style": "filled", "fillcolor": "#f4f7fb", "color": "#7a8aa0", "fontcolor": "#2a3a50", "margin": "12"}
AGAIN = {"shape": "plaintext", "fontcolor": "#5a5a5a", "height": "0.1", "width": "0.1", "margin": "0.02,0.02"}
ORIGIN = {"style": "dotted", "color": "#7a7a9a", "arrowhead": "none", "weight": "0", "minlen": "0"}
NEAR = {"style": "invis", "weight": "0", "minlen": "0"}
IN_ORDER = {"style": "invis", "minlen": "0", "weight": "100"}


def depict(
    graph: DrawnGraph,
    *,
    rankdir: str | None = None,
    color: str | None = None,
    tensors: bool = False,
    explained: bool = False,
) -> Picture:
    """Return the picture of a whole graph.

    Args:
        rankdir, color, tensors: the arguments of ``draw_dot``. Without ``rankdir`` the picture gets the direction in which it
            fits better on a slide.
        explained: whether to add a legend, if the colours show anything.
    """
    depiction = _Depiction(graph, mode(graph, color), tensors)
    rows = legend(graph, depiction.color, depiction.heat) if explained else []
    name = f"the computation of {graph.nodes[graph.ends[0][0]].label}" if graph.ends else ""
    picture = Picture({}, depiction.frames(), list(depiction.lines()), rows, plain(name))
    rankdir = rankdir or direction(picture)
    # Keep the titles of modules away from the edges, and put the legend of a tall drawing at its start.
    titles = {"labeljust": "l"} if rankdir == "LR" else {"labeljust": "r", "labelloc": "t"}
    whole = {"rankdir": rankdir, "fontname": FONT, "fontsize": "11", "nodesep": "0.2", "ranksep": "0.3"}
    picture.look = whole | titles
    return picture


class _Depiction:
    """Makes the frames, boxes and lines of one picture."""

    def __init__(self, graph: DrawnGraph, color: str, tensors: bool) -> None:
        self.graph = graph
        self.color = color
        self.tensors = tensors
        self.heat = heat(graph, self.color)
        self.amounts = amounts(graph, self.color)
        self.beside = _beside(graph)
        self.again = _again(graph)
        self.again_into: dict[int, list[int]] = defaultdict(list)
        for number in sorted(self.again):
            self.again_into[graph.edges[number].target].append(number)

    def frames(self) -> list[Frame]:
        """Return the frame of the whole picture, then a frame for each module with its nodes."""
        members: dict[int | None, list[DrawnNode]] = defaultdict(list)
        children: dict[int | None, list[DrawnBox]] = defaultdict(list)
        for node in self.graph.nodes:
            members[node.module].append(node)
        for child in self.graph.modules:
            children[child.parent].append(child)
        frames = [Frame()]
        frames[0].content += self.content(members[None])
        waiting = [(child, 0) for child in reversed(children[None])]
        while waiting:
            module, parent = waiting.pop()
            frame = self.frame(module, parent)
            frame.content += self.content(members[module.id])
            waiting += [(child, len(frames)) for child in reversed(children[module.id])]
            frames.append(frame)
        return frames

    def content(self, nodes: list[DrawnNode]) -> Iterator[Box | Level]:
        for node in nodes:
            yield self.box(node)
            for number in self.again_into.get(node.id, []):
                yield self.reference(number)
            if node.id in self.beside:
                yield Level([f"n{value}" for value in self.beside[node.id]], f"n{node.id}")

    def lines(self) -> Iterator[Line]:
        after = {second for values in self.beside.values() for second in values[1:]}
        for number, edge in enumerate(self.graph.edges):
            line = self.line(edge, number)
            if self.graph.nodes[edge.source].operation is not None:
                line.look["weight"] = "4"
            elif edge.source in after:
                line.look["constraint"] = "false"
            yield line
        yield from self.origins()
        lanes = [f"lane{module.id}" for module in self.graph.modules if module.kind == LANE]
        yield from (Line(source=a, target=b, look=IN_ORDER) for a, b in pairwise(lanes))

    def origins(self) -> Iterator[Line]:
        """Yield a dotted line from each operation to the first one of its rules. Invisible lines keep the others near."""
        linked = set()
        for node in self.graph.nodes:
            if node.origin is None or node.origin == node.id:
                continue
            line = Line(source=f"n{node.origin}", target=f"n{node.id}", look=NEAR)
            if (node.origin, node.lane) not in linked:
                linked.add((node.origin, node.lane))
                line.id, line.classes, line.look = f"origin{node.id}", "origin", ORIGIN
                line.tooltip = plain(f"part of a rule of {self.graph.nodes[node.origin].label}")
            yield line

    def reference(self, number: int) -> Box:
        """Return a box with the name of a value that is read often, for the edge ``number``."""
        node = self.graph.nodes[self.graph.edges[number].source]
        title = Lines([[(plain(cut(titles(node)[0], WIDEST_NAME)), Letters(color=AGAIN["fontcolor"]))]])
        return Box(f"again{number}", "again", _tooltip(node), title, AGAIN, f"again{number}")

    def frame(self, module: DrawnBox, parent: int) -> Frame:
        around = None if module.parent is None else self.graph.modules[module.parent]
        title, lane = plain(cut(_within(around, module.name), WIDEST_NAME)), module.kind == LANE
        if lane:
            look = PASS
        else:
            look = MODULE
            title += module.which
            title += f": {plain(module.kind)}" if module.kind not in (module.name, LOOP) else ""
            title += "" if module.which else _times(module.kind, module.count)
        label = Lines([[(title, Letters(color=look["fontcolor"], bold=lane))]])
        marks = (f"module{module.id}", "module", plain(module.title), label, look)
        return Frame(*marks, f"cluster_{module.id}", parent, f"lane{module.id}" if lane else "")

    def box(self, node: DrawnNode) -> Box:
        look, classes = dict(STYLES[node.kind]), node.kind
        if node.change is not None and self.color == "change":
            look["fillcolor"], look["color"], _ = CHANGES[node.change]
            classes += f" {node.change}"
        if node.tainted:
            look["fillcolor"] = TAINTED
            classes += " tainted"
        if node.culprit or node.verdict == "wrong":
            look["color"], look["penwidth"] = VERDICTS["wrong"][0], "3"
            classes += " culprit" if node.culprit else " wrong"
        if node.gradient == 0 and look["style"].endswith("filled"):
            look["style"] += ",dashed"
        elif node.gradient is not None and not math.isfinite(node.gradient):
            look["penwidth"] = "3"
        return Box(f"node{node.id}", classes, _tooltip(node), self.label(node), look, f"n{node.id}")

    def label(self, node: DrawnNode) -> Block:
        """Return a node's label: name and operation, shape and dtype, gradient, one per line. The heat is a coloured strip."""
        if node.kind == "constant" and node.change is None:
            if node.details:
                return Lines([[(plain(node.details), Letters())]])
            if self.tensors and node.shape == ():
                return Lines([[(plain(numbers(node.value)), Letters())]])
        lines = [self.title(node)]
        if node.shape is not None:
            lines.append(small(f"{node.shape} {node.dtype}"))
        if node.culprit:
            lines.append(small(node.culprit, VERDICTS["wrong"][0]))
        elif node.tainted and node.value is not None:
            lines.append(small(not_finite(node.value)))
        color = None if self.heat is None else self.heat.color(node.id)
        if self.tensors:
            return table_of(lines, cells(node), color)
        last = gradient_text(node) if node.watched else ""
        if self.color in ("time", "memory"):
            lines.append(small(last))
            last = self.amounts.get(node.id, "")
        if node.verdict == "wrong":
            lines.append(small(f"derivative wrong by {node.error:.2g}"))
        if color is not None:
            return table_of(lines, [[last]], color)
        return Lines([line for line in [*lines, small(last)] if line])

    def title(self, node: DrawnNode) -> list[Piece]:
        name, operation = titles(node)
        which = ""
        if node.boxed and node.name is not None:
            name, which = node.name, name.removeprefix(node.name)
        title = plain(cut(self.inside(node, name), WIDEST_NAME)) + which
        if node.change is not None and self.color == "change":
            title = f"{CHANGES[node.change][2]} {title}"
        pieces = [(title, Letters(bold=True))] if title else []
        if operation and operation != name and operation != LOOP:
            pieces += [(f": {plain(operation)}", Letters())] if node.boxed else [(" ", Letters()), *small(operation)]
        times = "" if which else _times(node.operation, node.copies)
        return [*pieces, (times, Letters())] if times else pieces

    def inside(self, node: DrawnNode, name: str) -> str:
        """Return a name without what the frames around it say: the module's path, and the object whose method ran."""
        around = [self.graph.modules[number] for number in self.graph.around(node.module)]
        if not around:
            return name
        label, _, place = name.partition(PLACE)
        name = _within(around[-1], label if place.rpartition(" ")[0] in {module.kind for module in around} else name)
        word = node.operation or node.kind
        return word if re.fullmatch(rf"{re.escape(word)}(?: \d+|[₀-₉]+)", name) else name

    def line(self, edge: DrawnEdge, number: int) -> Line:
        text = "" if edge.output is None else f"[{edge.output}] {edge.shape}"
        source = f"again{number}" if number in self.again else f"n{edge.source}"
        line = Line(f"edge{number}", "", plain(edge.argument), source=source, target=f"n{edge.target}")
        found = edge.verdict
        if self.color == "check" and found is not None:
            color, _ = VERDICTS[found]
            width = {"agrees": "1.5", "wrong": "3", "unclear": "1"}[found]
            line.classes, line.look = found, {"color": color, "fontcolor": color, "penwidth": width}
            if found == "unclear":
                line.look["style"] = "dashed"
            text += f" {edge.error:.2g}" if found == "wrong" else ""
        if self.color == "change":
            changes = {self.graph.nodes[edge.source].change, self.graph.nodes[edge.target].change}
            change = next((change for change in ("removed", "added") if change in changes), None)
            if change is not None:
                line.classes, line.look = change, {"color": CHANGES[change][1]}
                if change == "removed":
                    line.look["style"] = "dashed"
        if text:
            label = Lines([[(plain(text.strip()), line.letters)]])
            line.label = (
                Table([[Cell(label)]]) if found == "wrong" else label
            )  # a table leaves space for the thick line
        return line


def _times(kind: str | None, count: int) -> str:
    """Return how many equal layers, or steps of a loop, a box stands for; "" if it is one."""
    if count == 1:
        return ""
    return f", {count} steps" if kind == LOOP else f" x {count}"


def _again(graph: DrawnGraph) -> set[int]:
    """Return the edges that begin at a copy of their source's name: all except the first of a value with many uses.

    An edge takes space on every level that it crosses, and Graphviz takes minutes for the weights of a long recurrence.
    """
    seen: Counter[int] = Counter()
    uses = Counter(edge.source for edge in graph.edges)
    again = set()
    for number, edge in enumerate(graph.edges):
        seen[edge.source] += 1
        if uses[edge.source] > MOST_USES and seen[edge.source] > 1:
            again.add(number)
    return again


def _beside(graph: DrawnGraph) -> dict[int, list[int]]:
    """Return up to two parameters or constants to draw next to each operation: those that only this operation reads.

    Graphviz would draw them before it, on the level of the previous operation. Two boxes of modules with nodes on the same
    level cannot follow each other, so the drawing would become a staircase. A large graph without modules has rows of many
    operations, and there the position before the operation is better.
    """
    uses = Counter(edge.source for edge in graph.edges)
    reads: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        reads[edge.target].append(edge.source)
    beside = {}
    for operation, sources in reads.items():
        own = [i for i in sources if uses[i] == 1 and graph.nodes[i].kind in ("parameter", "constant")]
        module = graph.nodes[operation].module
        if module is not None and graph.modules[module].kind == LOOP:  # values that all its steps read stay outside
            own = [i for i in own if graph.nodes[i].module == module]
        if own and len(own) == len(sources) and graph.nodes[own[0]].kind == "constant":
            own = own[1:]  # the data of a first layer come before it
        if own and (len(graph.nodes) <= FEW or graph.modules):
            beside[operation] = own[:2]
    return beside


def _tooltip(node: DrawnNode) -> str:
    call = node.operation and (node.operation if node.boxed else f"{node.operation}({node.details})")
    line = node.source and f"at {os.path.basename(node.source.file)}:{node.source.line}: {node.source.text}"
    return plain(" ".join(filter(None, [node.kind, node.label, call, line])))


def _within(module: DrawnBox | None, path: str) -> str:
    """Return an attribute path without the part that the frame around it says: the end of the module's path."""
    names = module.name.split(".") if module else []
    for i in range(len(names)):
        outer = ".".join(names[i:]) + "."
        if path.startswith(outer):
            return path.removeprefix(outer)
    return path
