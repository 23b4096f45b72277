"""Writes a graph as text: a tree from the loss down to the leaves. The same graph gives the same text."""

from __future__ import annotations

from collections import Counter

from ...source.index import printable
from .drawn import DrawnEdge, DrawnGraph, DrawnNode
from .looks import gradient_text, titles

DEEPEST = 24  # levels of a tree; deeper nodes begin a new tree, so that a long chain fits the screen


def write_text(graph: DrawnGraph) -> str:
    """Return the operations, each above its operands, with name, operation, shape, dtype and gradient (an array's norm).

    A node that several operations read is written once, and as ``^ name`` everywhere else.
    """
    return _Tree(graph).run()


class _Tree:
    def __init__(self, graph: DrawnGraph) -> None:
        self.graph = graph
        self.into = graph.edges_into
        self.called = Counter(node.label for node in graph.nodes)
        self.written: set[int] = set()
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
        """Write the tree under one node, without recursion. Return the nodes that are too deep and come later."""
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
            elif not known:
                self.written.add(node.id)
                waiting += self.children(node.id, indent + continued, depth + 1)
        return later

    def children(self, number: int, indent: str, depth: int) -> list[tuple[DrawnEdge, str, bool, int]]:
        edges = self.into.get(number, [])
        return [(edge, indent, i == len(edges) - 1, depth) for i, edge in reversed(list(enumerate(edges)))]

    def operand(self, edge: DrawnEdge, node: DrawnNode, known: bool, deep: bool) -> str:
        output = "" if edge.output is None else f"[{edge.output}] "
        if deep:
            return f"{output}v {self.reference(node)}"
        if known and node.operation is not None:
            return f"{output}^ {self.reference(node)}"
        return output + self.label(node)

    def reference(self, node: DrawnNode) -> str:
        """Return the label of a node, which is unique."""
        return printable(node.label) + f" #{node.id}" * (self.called[node.label] > 1 and node.operation is not None)

    def label(self, node: DrawnNode) -> str:
        title = self.reference(node)
        operation = titles(node)[1]
        parts = [f"{title}: {operation}" if operation else title]
        if node.shape is not None and not (node.kind == "constant" and node.details):
            nameless = node.operation is None and not node.stem  # its label has the shape
            parts.append(node.dtype if nameless else f"{node.shape} {node.dtype}")
        if node.watched:
            parts.append(gradient_text(node))
        return "  ".join(filter(None, parts))
