"""What the checks of the debugger share: the looks, and the lines from which operands come."""

from __future__ import annotations

import ast
import functools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._source import SourceLine
from ..graph.record.model import Edge, Graph, Node
from ..guards import gradients
from ..source.index import Index, index_of
from .look import FullLook
from .source import assignments, made_at
from .watcher import Watcher


class Seen:
    """A look with its operations and their operands.

    Attributes:
        into: the operands of each operation, by its id.
        out: the edges that read each value, by its id.
    """

    def __init__(self, look: FullLook) -> None:
        self.look, self.graph, self.step = look, look.graph, look.step
        self.into = self.graph.edges_into()
        self.out: dict[int, list[Edge]] = defaultdict(list)
        for edge in self.graph.edges:
            self.out[edge.source].append(edge)

    @functools.cached_property
    def arrays(self) -> dict[tuple[int, str], Any]:
        """The raw array of each constant operand, by the id of the operation and the name of the argument."""
        raw = {entry: arrays for entry, arrays, _ in self.look.window.made}
        found = {}
        for node, entry in zip(self.graph.operations(), self.look.entries):
            for position, name in enumerate(node_arguments(entry)):
                if entry in raw and position < len(raw[entry]):
                    found[node.id, name] = raw[entry][position]
        return found

    @functools.cached_property
    def health(self) -> gradients.gradient_health:
        return gradients.gradient_health(self.graph)

    def is_constant(self, edge: Edge) -> bool:
        return self.graph.nodes[edge.source].kind == "constant"

    def operands(self, node: Node) -> list[tuple[Edge, Node]]:
        return [(edge, self.graph.nodes[edge.source]) for edge in self.into[node.id]]


def node_arguments(entry: Any) -> Sequence[str]:
    return entry.primitive.arguments or [str(i) for i in range(len(entry.parents))]


class WatchedRun:
    """A watched program: its looks, and its sources.

    Attributes:
        causal: whether the user says that no token may depend on a later one.
    """

    def __init__(self, watcher: Watcher, causal: bool) -> None:
        self.watcher, self.causal = watcher, causal
        self.seen = [Seen(look) for look in watcher.looks]

    def source(self, place: SourceLine | None = None) -> Index | None:
        """Return the source of a line; by default that of the line which begins the backward passes."""
        place = place or self.watcher.place
        return None if place is None else index_of(place.file, self.watcher.files.get(place.file, ()))

    @property
    def backward_line(self) -> int:
        return self.watcher.place.line if self.watcher.place is not None else 0

    def of_path(self, path: str | None) -> int:
        """Return the line at which the variable of this path was made; 0 if it is not known."""
        source = self.source()
        return (made_at(source, path) or 0) if source is not None and path else 0

    def origin(self, seen: Seen, edge: Edge) -> int:
        """Return the line at which the operand of an edge was made; 0 if it is not known."""
        node = seen.graph.nodes[edge.source]
        if node.operation is not None:
            return node.source.line if node.source is not None else 0
        target = seen.graph.nodes[edge.target]
        path = self.leaf_path(seen, node)
        if path is None:
            array = seen.arrays.get((edge.target, edge.argument))
            path = seen.look.path(array) if array is not None else None
            path = path or (self._by_shape(seen, target, edge) if edge.shape else None)
            if path is None and np.size(edge.value) == 1:
                return self._of_attribute(target)
        return self.of_path(path)

    def leaf_path(self, seen: Seen, node: Node) -> str | None:
        """Return the path of the variable that holds a tensor, or the input of a transform."""
        for _, leaf, tensor in seen.look.leaves:
            if leaf is node:
                found = seen.look.path(tensor) if tensor is not None else None
                return found or self._equal(seen, node) or (node.name and str(node.name)) or None
        return None

    def _equal(self, seen: Seen, node: Node) -> str | None:
        """Return the path of an array of the program that equals the input of a transform."""
        value = next((e.value for e in seen.out[node.id] if e.value is not None), None)
        for path, other in seen.look.values.items():
            if value is None or np.size(value) < 2 or not isinstance(other, np.ndarray):
                continue
            if other.shape == np.shape(value) and np.array_equal(other, value):
                return path
        return None

    def _by_shape(self, seen: Seen, target: Node, edge: Edge) -> str | None:
        """Return the variable that the line or its callers name, with as many columns as a constant operand."""
        names: list[str] = []
        for place in [target.source, *target.callers]:
            source = self.source(place) if place is not None else None
            names += [name.id for name in source.on_line(ast.Name, place.line)] if place and source else []
        for name in names:
            value = seen.look.values.get(name)
            if isinstance(value, np.ndarray) and value.ndim and value.shape[1:] == edge.shape[1:]:
                return name
        return None

    def _of_attribute(self, target: Node) -> int:
        """Return the line that gave a number to an attribute, such as ``self.temperature``, that an operation reads."""
        source = self.source(target.source)
        if source is None or target.source is None:
            return 0
        for node in source.on_line(ast.Attribute, line_of(target)):
            made = assignments(source, node.attr) if getattr(node.value, "id", "") == "self" else []
            if made and isinstance(made[0][1], (ast.Name, ast.Constant)):
                return made_at(source, node.attr) or 0
        return 0


def pairs(watched: WatchedRun) -> list[tuple[Seen, Seen]]:
    """Return the looks at two steps in a row."""
    return [(a, b) for a, b in zip(watched.seen, watched.seen[1:]) if b.step == a.step + 1]


def values_of(seen: Seen) -> dict[Any, tuple[Any, Any, Any]]:
    """Return the value, the gradient and the node of each parameter, by its key."""
    found = {}
    for key, node, _ in seen.look.leaves:
        value = next((edge.value for edge in seen.out[node.id] if edge.value is not None), None)
        if isinstance(value, np.ndarray) or np.isscalar(value):
            found[key] = np.asarray(value), node.cotangent, node
    return found


def changes(watched: WatchedRun) -> dict[Any, bool]:
    """Return for each parameter whether it has ever changed between looks."""
    moved: dict[Any, bool] = {}
    first: dict[Any, Any] = {}
    for seen in watched.seen:
        for key, (value, _, _) in values_of(seen).items():
            if key not in first:
                first[key] = value
            else:
                same = value.shape == first[key].shape and np.array_equal(value, first[key], equal_nan=True)
                moved[key] = moved.get(key, False) or not same
    return moved


def name_of(watched: WatchedRun, seen: Seen, node: Any) -> tuple[str, int]:
    path = watched.leaf_path(seen, node) or node.label
    return path, watched.of_path(path)


def norm(array: Any) -> float:
    """Return the Euclidean norm in double precision; 0 for None, and for several outputs."""
    return 0.0 if array is None or isinstance(array, (dict, tuple)) else gradients.norm(np.asarray(array))


def rms(array: Any) -> float:
    return norm(array) / max(1, np.size(array)) ** 0.5


def line_of(node: Node) -> int:
    return node.source.line if node.source is not None else 0


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc"


def passes(graph: Graph) -> set[str]:
    """Return the names of the operations of a graph."""
    return {str(node.operation) for node in graph.operations()}
