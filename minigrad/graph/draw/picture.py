"""Writes the picture of a graph in the DOT language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ..record.names import PLACE
from .cells import cells, numbers
from .drawn import DrawnBox, DrawnEdge, DrawnGraph, DrawnNode
from .fit import READABLE, ROW, Size, estimate, scale
from .folding import LOOP
from .labels import cut, escaped, legend_table, plain, size, small, stacked, table_of, text
from .lanes import KIND as LANE
from .looks import TAINTED, VERDICTS, gradient_text, heat, legend, titles

# The families of all texts, the best first. Most readers have one of the first two, which are equally wide: Graphviz measures
# what they see.
FONT = "Verdana,DejaVu Sans,Helvetica,Arial,sans-serif"
WIDEST_NAME = 22.0  # em of a name that a label shows, about 36 letters; the tooltip has all of them
ROOM = "\u00a0\u00a0"  # before a title in a tall drawing, for each of its letters, so that edges miss it
MOST_USES = 8  # uses of a value; with more, every line except the first begins at a copy of the value's name

Look = Mapping[str, str]  # attributes of DOT and their values

BOXES: Look = {"fontname": FONT, "fontsize": "11", "height": "0.3", "width": "0.3", "margin": "0.09,0.04"}
LINES: Look = {"fontname": FONT, "fontsize": "9", "color": "#5a5a5a", "arrowsize": "0.6"}

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
MODULE: Look = {
    "style": "rounded,filled",
    "fillcolor": "#0000000a",
    "color": "#b0b0b0",
    "fontcolor": "#4a4a4a",
    "margin": "8",
}
AGAIN: Look = {"shape": "plaintext", "fontcolor": "#5a5a5a", "height": "0.1", "width": "0.1", "margin": "0.02"}
ORIGIN: Look = {"style": "dotted", "color": "#7a7a9a", "arrowhead": "none", "weight": "0", "minlen": "0"}
NEAR: Look = {"style": "invis", "weight": "0", "minlen": "0"}
IN_ORDER: Look = {"style": "invis", "minlen": "0", "weight": "100"}
# The look of an edge with a verdict
CHECKED: dict[str, Look] = {"agrees": {"penwidth": "1.5"}, "wrong": {"penwidth": "3"}, "unclear": {"style": "dashed"}}


class Picture:
    """The picture of a whole graph, with a legend below if the colours show anything.

    Args:
        rankdir, tensors: the arguments of ``draw_dot``. Without ``rankdir`` the picture gets the direction in which it fits
            better on a slide.
    """

    def __init__(self, graph: DrawnGraph, rankdir: str | None = None, tensors: bool = False) -> None:
        self.graph = graph
        self.name = plain(f"the computation of {graph.nodes[graph.ends[0][0]].label}" if graph.ends else "")
        self.tensors = tensors
        self.heat, limits = heat(graph)
        self.legend = legend(graph, limits)
        self.beside = _beside(graph)
        self.again = _again(graph)
        self.labels = [self.label(node) for node in graph.nodes]
        self.scales = {way: scale(size) for way, size in self.estimate().items()}  # of the picture that fits on a slide
        self.rankdir = rankdir or ("LR" if self.scales["LR"] >= min(ROW, self.scales["TB"]) else "TB")

    def estimate(self) -> dict[str, Size]:
        """Return about the width and the height of the picture in points, for each direction."""
        lines = [(e.source, e.target) for number, e in enumerate(self.graph.edges) if number not in self.again]
        lines += [(node.origin or 0, node.id) for node, first in self.origins() if first]
        beside = {value for values in self.beside.values() for value in values}
        depths = [len(self.graph.around(module.id)) for module in self.graph.modules]
        return estimate([*map(size, self.labels)], lines, beside, depths)

    def readable(self) -> bool:
        """Return whether the picture can be read on a slide."""
        return self.scales[self.rankdir] >= READABLE

    def dot(self, dpi: int | None = None) -> str:
        """Return the picture with all its attributes. The same picture gives the same text, on any machine and in any run.

        Args:
            dpi: the dots per inch of a PNG. Do not set it for other formats: it would only scale their coordinates.
        """
        # Keep the titles of modules away from the edges, and put the legend of a tall drawing at its start.
        titles = {"labeljust": "l"} if self.rankdir == "LR" else {"labeljust": "r", "labelloc": "t"}
        whole = {
            "rankdir": self.rankdir,
            "fontname": FONT,
            "fontsize": "11",
            "nodesep": "0.2",
            "ranksep": "0.3",
            **titles,
        }
        lines = ["digraph minigrad {", f"  graph [{_look(({'dpi': str(dpi)} if dpi else {}) | whole)}]"]
        lines += [f"  node [{_look(BOXES)}]", f"  edge [{_look(LINES)}]"]
        if self.legend:
            lines.append(f"  label=<{legend_table(self.legend)}>")
        return "\n".join([*lines, *self.content(), *(f"  {line}" for line in self.lines()), "}"]) + "\n"

    # Boxes and frames

    def content(self) -> Iterator[str]:
        """Yield the statements of the boxes, those of a module inside its frame."""
        members: dict[int | None, list[DrawnNode]] = defaultdict(list)
        children: dict[int | None, list[DrawnBox]] = defaultdict(list)
        for node in self.graph.nodes:
            members[node.module].append(node)
        for child in self.graph.modules:
            children[child.parent].append(child)

        again: dict[int, list[int]] = defaultdict(list)
        for number in sorted(self.again):
            again[self.graph.edges[number].target].append(number)

        def boxes(module: int | None, indent: str) -> Iterator[str]:
            for node in members[module]:
                yield indent + self.box(node)
                yield from (indent + self.box_again(number) for number in again[node.id])
                if node.id in self.beside:
                    yield indent + _level(f"n{node.id}", [f"n{value}" for value in self.beside[node.id]])

        yield from boxes(None, "  ")
        waiting: list[tuple[DrawnBox | None, str]] = [(child, "  ") for child in reversed(children[None])]
        while waiting:  # no recursion, because modules may be nested deeper than Python's limit
            module, indent = waiting.pop()
            if module is None:
                yield indent + "}"
                continue
            inner = indent + "  "
            yield f"{indent}subgraph cluster_{module.id} {{"
            yield inner + self.frame(module)
            if module.kind == LANE:  # an invisible point, which keeps the lanes in order
                yield f"{inner}lane{module.id} [style=invis shape=point width=0 height=0]"
            yield from boxes(module.id, inner)
            waiting += [(None, indent), *((child, inner) for child in reversed(children[module.id]))]

    def frame(self, module: DrawnBox) -> str:
        around = None if module.parent is None else self.graph.modules[module.parent]
        title = plain(cut(_within(around, module.name), WIDEST_NAME)) + module.which
        title += f": {plain(module.kind)}" if module.kind not in (module.name, LOOP, LANE) else ""
        title += "" if module.which else _times(module.kind, module.count)
        room = "" if self.rankdir == "LR" else ROOM * len(title)
        marks = f'id="module{module.id}" class="module"'
        return f"graph [{marks} label=<{text(room + title)}> {_titled(plain(module.title))} {_look(MODULE)}]"

    def box(self, node: DrawnNode) -> str:
        look, classes = {**STYLES[node.kind]}, node.kind
        if node.tainted:
            look["fillcolor"] = TAINTED
            classes += " tainted"
        if node.culprit:
            look["color"], look["penwidth"] = VERDICTS["wrong"][0], "3"
            classes += " culprit"
        if node.gradient == 0 and look["style"].endswith("filled"):
            look["style"] += ",dashed"
        elif node.gradient is not None and not math.isfinite(node.gradient):
            look["penwidth"] = "3"
        marks = f'id="node{node.id}" class="{classes}" {_look(look)}'
        return f"n{node.id} [{marks} label=<{self.labels[node.id]}> {_titled(_tooltip(node))}]"

    def box_again(self, number: int) -> str:
        """Return a box with the name of a value that is read often, for the edge ``number``."""
        node = self.graph.nodes[self.graph.edges[number].source]
        name = text(plain(cut(titles(node)[0], WIDEST_NAME)))
        return (
            f'again{number} [id="again{number}" class="again" {_look(AGAIN)} label=<{name}> {_titled(_tooltip(node))}]'
        )

    # Labels

    def label(self, node: DrawnNode) -> str:
        """Return a node's label: name and operation, shape and dtype, gradient, one per line. The heat is a coloured strip."""
        if node.kind == "constant":
            if node.details:
                return text(plain(node.details))
            if self.tensors and node.shape == ():
                return text(plain(numbers(node.value)))
        lines = [self.title(node)]
        if node.shape is not None:
            lines.append(small(f"{node.shape} {node.dtype}"))
        if node.culprit:
            lines.append(small(node.culprit, VERDICTS["wrong"][0]))
        color = self.heat.get(node.id)
        if self.tensors:
            return table_of(lines, cells(node), color)
        last = gradient_text(node) if node.watched else ""
        return stacked([*lines, small(last)]) if color is None else table_of(lines, [[last]], color)

    def title(self, node: DrawnNode) -> str:
        name, operation = titles(node)
        which = ""
        if node.boxed and node.name is not None:
            name, which = node.name, name.removeprefix(node.name)
        title = text(plain(cut(self.inside(node, name), WIDEST_NAME)) + which, bold=True)
        if operation and operation != name and operation != LOOP:
            title += text(f": {plain(operation)}") if node.boxed else f" {small(operation)}"
        return title + text("" if which else _times(node.operation, node.copies))

    def inside(self, node: DrawnNode, name: str) -> str:
        """Return a name without what the frames around it say: the module's path, and the object whose method ran."""
        around = [self.graph.modules[number] for number in self.graph.around(node.module)]
        if not around:
            return name
        label, _, place = name.partition(PLACE)
        name = _within(around[-1], label if place.rpartition(" ")[0] in {module.kind for module in around} else name)
        word = node.operation or node.kind
        return word if _within(around[-1], node.stem) == word else name

    # Lines

    def lines(self) -> Iterator[str]:
        after = {second for values in self.beside.values() for second in values[1:]}
        for number, edge in enumerate(self.graph.edges):
            look: dict[str, str] = {}
            if edge.verdict is not None:
                color, _ = VERDICTS[edge.verdict]
                look |= {"color": color, "fontcolor": color, **CHECKED[edge.verdict]}
            if self.graph.nodes[edge.source].operation is not None:
                look["weight"] = "4"
            elif edge.source in after:
                look["constraint"] = "false"
            label = text(plain(_line_label(edge)))
            marks = [f'id="edge{number}"', _titled(plain(edge.argument)), label and f"label=<{label}>"]
            marks += [f'class="{edge.verdict}"' if edge.verdict else "", _look(look)]
            source = f"again{number}" if number in self.again else f"n{edge.source}"
            yield f"{source} -> n{edge.target} [{' '.join(filter(None, marks))}]"
        for node, first in self.origins():
            tooltip = _titled(plain(f"part of a rule of {self.graph.nodes[node.origin or 0].label}"))
            marks = [f'id="origin{node.id}" {tooltip} class="origin"', _look(ORIGIN)] if first else [_look(NEAR)]
            yield f"n{node.origin} -> n{node.id} [{' '.join(marks)}]"
        lanes = [f"lane{module.id}" for module in self.graph.modules if module.kind == LANE]
        yield from (f"{a} -> {b} [{_look(IN_ORDER)}]" for a, b in pairwise(lanes))

    def origins(self) -> Iterator[tuple[DrawnNode, bool]]:
        """Yield each operation of a rule, and whether it is the first of its rule: a dotted line leads to it from the
        operation whose rule it is. Invisible lines keep the others near."""
        linked = set()
        for node in self.graph.nodes:
            if node.origin is not None and node.origin != node.id:
                yield node, (node.origin, node.lane) not in linked
                linked.add((node.origin, node.lane))


# DOT

_WORD = re.compile(r"[\w.]+")


def _look(look: Look) -> str:
    """Return attributes."""
    return " ".join(f"{key}={value}" if _WORD.fullmatch(value) else f'{key}="{value}"' for key, value in look.items())


def _titled(tooltip: str) -> str:
    """Return the attribute of a tooltip, with its backslashes doubled for Graphviz."""
    return 'tooltip="{}"'.format(escaped(tooltip).replace("\\", r"\\"))


def _level(operation: str, values: Sequence[str]) -> str:
    """Return statements that put one value before the operation, and the other after it by an invisible edge."""
    order = f"; {operation} -> {values[1]} [style=invis]" if len(values) == 2 else ""
    return f"{{ rank=same; {'; '.join([*values, operation])}{order} }}"


# Words


def _times(kind: str | None, count: int) -> str:
    """Return how many equal layers, or steps of a loop, a box stands for; "" if it is one."""
    if count == 1:
        return ""
    return f", {count} steps" if kind == LOOP else f" x {count}"


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


def _line_label(edge: DrawnEdge) -> str:
    """Return which output a line carries if there are several, and the error of a wrong derivative."""
    output = "" if edge.output is None else f"[{edge.output}] {edge.shape}"
    return f"{output} {edge.error:.2g}".strip() if edge.verdict == "wrong" else output


def _again(graph: DrawnGraph) -> set[int]:
    """Return the edges that begin at a copy of their source's name: all except the first of a value with many uses.

    An edge takes space on every level that it crosses, and Graphviz takes minutes for the weights of a long recurrence.
    """
    uses: dict[int, list[int]] = defaultdict(list)
    for number, edge in enumerate(graph.edges):
        uses[edge.source].append(number)
    return {number for numbers in uses.values() if len(numbers) > MOST_USES for number in numbers[1:]}


def _beside(graph: DrawnGraph) -> dict[int, list[int]]:
    """Return up to two parameters or constants to draw next to each operation: those that only this operation reads.

    Graphviz would draw them before it, on the level of the previous operation. Two boxes of modules with nodes on the same
    level cannot follow each other, so the drawing would become a staircase.
    """
    uses = Counter(edge.source for edge in graph.edges)
    beside = {}
    for operation, edges in graph.edges_into.items():
        read = [graph.nodes[edge.source] for edge in edges if uses[edge.source] == 1]
        own = [node.id for node in read if node.kind in ("parameter", "constant")]
        own = [number for number in own if graph.nodes[number].module == graph.nodes[operation].module]
        own = own[len(own) == len(edges) :]  # the first operand of a first layer comes before it
        if own:
            beside[operation] = own[:2]
    return beside
