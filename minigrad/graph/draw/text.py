"""The graph as text: a tree from the loss down to what it was computed from. The same graph gives the same text."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter

from ..record.document import printable
from ..record.model import Edge, Graph, Node

DEEPEST = 24  # levels; what lies deeper begins a tree of its own, or the lines of a long chain would run off the screen

_COLOURS = {"parameter": "33", "input": "34", "constant": "90", "loss": "32", "named": "35"}


def write_text(graph: Graph, colour: bool | None = None) -> str:
    """The operations, each above its operands: name, shape, dtype, and the norm of its gradient.

    What several operations read is written out once, with a number ``#7``, and is ``^ #7`` everywhere else. ``colour=None``
    colours for a terminal that can (NO_COLOR, https://no-color.org, is respected), and never a file.
    """
    if colour is None:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return _Tree(graph, colour).run()


class _Tree:
    def __init__(self, graph: Graph, colour: bool) -> None:
        self.graph = graph
        self.colour = colour
        self.into = graph.edges_into()
        self.uses = Counter(edge.source for edge in graph.edges)
        self.uses.update({number for number, _ in graph.ends})
        if graph.ends:
            self.uses[graph.ends[0][0]] -= 1  # the loss itself is the first line
        self.written: set[int] = set()
        self.cut: set[int] = set()  # what begins a tree of its own
        self.lines: list[str] = []

    def run(self) -> str:
        roots = list(dict.fromkeys(number for number, _ in self.graph.ends))[::-1]
        while roots:
            number = roots.pop()
            if number not in self.written:
                self.lines.append(self.label(self.graph.nodes[number]))
                roots += reversed(self.below(number))
        return "\n".join(self.lines) + "\n"

    def below(self, root: int) -> list[int]:
        """Write the tree under one node, iteratively. Returns the nodes that lie too deep and come later."""
        later: list[int] = []
        self.written.add(root)
        waiting = self.children(root, "", 1)
        while waiting:
            edge, indent, last, depth = waiting.pop()
            node = self.graph.nodes[edge.source]
            branch, continued = ("└─ ", "   ") if last else ("├─ ", "│  ")
            known = node.id in self.written
            deep = not known and depth > DEEPEST and node.id in self.into
            self.lines.append(indent + branch + self.operand(edge, node, known, deep))
            if deep:
                later.append(node.id)
                self.cut.add(node.id)
            elif not known:
                self.written.add(node.id)
                waiting += self.children(node.id, indent + continued, depth + 1)
        return later

    def children(self, number: int, indent: str, depth: int) -> list[tuple[Edge, str, bool, int]]:
        edges = self.into.get(number, [])
        return [(edge, indent, i == len(edges) - 1, depth) for i, edge in reversed(list(enumerate(edges)))]

    def operand(self, edge: Edge, node: Node, known: bool, deep: bool) -> str:
        output = "" if edge.output is None else f"[{edge.output}] "
        if deep:
            return f"{output}v #{node.id}"
        if known and node.operation is not None:
            return f"{output}^ #{node.id}"
        return output + self.label(node)

    def label(self, node: Node) -> str:
        name = node.name or ("" if node.operation else node.details if node.kind == "constant" else node.kind)
        name = printable(name or "")
        title = " = ".join(filter(None, [name, node.operation]))
        if self.colour and title and node.kind in _COLOURS:
            title = f"\x1b[{_COLOURS[node.kind]}m{title}\x1b[0m"
        parts = [title]
        if node.shape is not None and not (node.kind == "constant" and node.details):
            parts.append(f"{node.shape} {node.dtype}")
        if node.watched:
            parts.append(f"grad {_number(node.gradient)}")
        if node.id in self.cut or (node.operation is not None and self.uses[node.id] > 1):
            parts.append(f"#{node.id}")
        return "  ".join(filter(None, parts))


def _number(norm: float | None) -> str:
    return "-" if norm is None else f"{norm:.3g}" if math.isfinite(norm) else str(norm)
