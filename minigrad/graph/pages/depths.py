"""The drawings of the stepper's page, which has no layout program: one for each of many choices of the modules that are open.

Modules may be open down to a level, or only those around one, or all but one. For another choice the page takes the smallest
drawing in which all of them are open, and covers what is closed.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from typing import Any

import numpy as np

from ..draw.dot import _small, write_dot
from ..draw.graphviz import MOST_NODES, lay_out
from ..record.model import Edge, Graph, Node
from .html import inline

MOST_AT_FIRST = 80  # boxes when the page is opened; with more, modules are closed
MOST_IN_ALL = 800  # boxes in all drawings together: about a megabyte

# As wide as what the page will write there.
ONE_GRADIENT = "|grad| 0.0000e-0"
NORM_OF_SUM = "|grad| 0.0000e-0 Σ 2"
SUM_OF_TWO = "grad -0.0000 + -0.0000 = -0.0000"


def drawings(graph: Graph) -> dict[str, Any]:
    """What the page needs in order to draw the graph: ``drawings``, the modules with their levels, and which are open first.

    Of each drawing, the smallest first, the SVG and the modules that are ``open`` in it; ``nodes`` and ``edges``: as which of
    its own nodes and edges each of the graph's is drawn (an edge inside a closed module: -1); ``shows``: for each of its own
    nodes which of the graph's it shows, for a closed module the last operation in it; ``boxes``: for each of its own nodes
    the closed module that it is, or None.
    """
    by_level, others = _choices(graph)
    found = [_Selection(graph, choice) for choice in by_level]
    fitting = [drawing for drawing in found if len(drawing.shows) <= MOST_NODES] or found[:1]
    first = ([drawing for drawing in fitting if len(drawing.shows) <= MOST_AT_FIRST] or fitting)[-1]
    room = MOST_IN_ALL - sum(len(drawing.shows) for drawing in fitting)
    for choice in others:
        drawing = _Selection(graph, choice)
        room -= len(drawing.shows)
        if room < 0:
            break
        fitting.append(drawing)
    fitting.sort(key=lambda drawing: len(drawing.shows))
    return {
        "drawings": [drawing.data() for drawing in fitting],
        "modules": [{"name": m.name, "kind": m.kind, "parent": m.parent} for m in graph.modules],
        "open": sorted(first.open),
    }


def _choices(graph: Graph) -> tuple[list[frozenset[int]], list[frozenset[int]]]:
    """Sets of open modules: those above each level, from none to all; then those around each one, then all outside of one."""
    around: list[frozenset[int]] = []  # each module with those it is in
    for module in graph.modules:
        around.append(frozenset([module.id]) | (frozenset() if module.parent is None else around[module.parent]))
    depth = max(map(len, around), default=0)
    by_level = [frozenset(m for m, path in enumerate(around) if len(path) <= n) for n in range(depth + 1)]
    paths = sorted(around, key=len)
    all_but_one = [frozenset(m for m, path in enumerate(around) if one not in path) for one in range(len(around))]
    others = dict.fromkeys(paths + sorted(all_but_one, key=len))
    return by_level, [choice for choice in others if choice not in by_level]


class _Selection:
    """The graph with each module that is not open as a single node, and what of the whole graph is drawn as what."""

    def __init__(self, graph: Graph, open: frozenset[int]) -> None:
        self.whole = graph
        self.open = open
        around = [_closed_around(graph, node.module, open) for node in graph.nodes]
        inside = [(box, node.id) for box, node in zip(around, graph.nodes) if box is not None and node.operation]
        self.last = dict(inside)  # a closed module -> the last operation in it
        self.count = Counter(box for box, _ in inside)
        shown = [node.id if box is None else self.last.get(box, node.id) for box, node in zip(around, graph.nodes)]
        self.shows = sorted(set(shown))
        number = {node: i for i, node in enumerate(self.shows)}
        self.nodes = [number[node] for node in shown]
        self.boxes = [around[node] if around[node] in self.last else None for node in self.shows]
        self.drawn = dataclasses.replace(
            graph,
            nodes=[self._node(i) for i in range(len(self.shows))],
            edges=[],
            ends=[(self.nodes[node], output) for node, output in graph.ends],
        )
        self.edges = self._edges()
        self.addends = Counter(edge.source for edge in graph.edges if edge.contribution is not None)

    def _node(self, i: int) -> Node:
        node, box = self.whole.nodes[self.shows[i]], self.boxes[i]
        node = dataclasses.replace(
            node, id=i, gradient=None, origin=None
        )  # the page colours what has a gradient by now
        if box is None:
            return node
        module = self.whole.modules[box]
        kind = "loss" if node.kind == "loss" else "module"
        return dataclasses.replace(node, kind=kind, name=module.name, operation=module.kind, module=module.parent)

    def _edges(self) -> list[int]:
        """Fill in the edges: one from a closed module to another, or to a node, however many values take it."""
        edges: list[Edge] = self.drawn.edges
        numbers: dict[Any, int] = {}
        found = []
        for i, edge in enumerate(self.whole.edges):
            source, target = self.nodes[edge.source], self.nodes[edge.target]
            merged = self.boxes[source] is not None or self.boxes[target] is not None
            key = (source, target) if merged else i
            if merged and source == target:
                found.append(-1)
                continue
            if key not in numbers:
                numbers[key] = len(edges)
                edges.append(dataclasses.replace(edge, source=source, target=target))
            found.append(numbers[key])
        return found

    def data(self) -> dict[str, Any]:
        dot = re.sub(r'\[id="node(\d+)" .*', self._with_room, write_dot(self.drawn))
        return {
            "svg": _slim(inline(lay_out(dot, "svg", len(self.shows)).decode())),
            "open": sorted(self.open),
            "nodes": self.nodes,
            "edges": self.edges,
            "shows": self.shows,
            "boxes": self.boxes,
        }

    def _with_room(self, line: re.Match[str]) -> str:
        """The line of a node in DOT, with room in its label, below its title, for the value and the gradient."""
        i = int(line[1])
        node = self.drawn.nodes[i]
        if node.kind == "constant":
            return line[0]
        gradient = ONE_GRADIENT
        if self.addends[self.shows[i]] > 1:
            gradient = SUM_OF_TWO if node.shape is not None and math.prod(node.shape) == 1 else NORM_OF_SUM
        below = "".join(f"<BR/>{_small(text)}" for text in (value_text(node), gradient))
        return re.sub(r"(<BR/>.*)?> tooltip=", lambda match: f"{below}> tooltip=", line[0], count=1)


def _slim(svg: str) -> str:
    """Without what a page with many drawings does not need: comments, titles ("n1->n3"), tooltips, and what CSS says."""
    svg = re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", svg, flags=re.DOTALL)
    return re.sub(r' (?:xlink:title|xml:space|font-family)="[^"]*"', "", svg)


def value_text(node: Node) -> str:
    """A number, or of larger arrays the shape."""
    values = node.value if isinstance(node.value, tuple) else (node.value,)
    if node.value is None or any(np.asarray(value).dtype.kind not in "fciub" for value in values):
        return node.details or str(node.shape)
    return ", ".join(str(np.shape(v)) if np.size(v) != 1 else f"{np.asarray(v).item():.4g}" for v in values)


def _closed_around(graph: Graph, number: int | None, open: frozenset[int]) -> int | None:
    """Of a module and those around it the outermost that is not open, if there is one."""
    closed = None
    while number is not None:
        closed = closed if number in open else number
        number = graph.modules[number].parent
    return closed
