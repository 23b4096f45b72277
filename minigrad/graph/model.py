"""The tape as plain data: nodes, edges and modules, which every view (DOT, SVG ...) reads and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._source import Source
from ..errors import ArgumentError, GraphError, MissingExtraError
from .diff import diff
from .dot import write_dot
from .layout import lay_out, responsive
from .text import write_text

PICTURES = (".svg", ".png", ".pdf")
TEXTS = (".dot", ".gv")


@dataclass(slots=True, eq=False)
class Node:
    """An operation, or a value that went into one.

    Attributes:
        id: its place in the list of nodes, which is a topological order: the order of execution, each value before the
            first operation that reads it.
        count: how many operations a node of the kind "module" stands for (``collapse``); else 1.
        kind: "operation", "loss" (the operation whose output is drawn), "module" (one drawn as a single box), "kept" (an
            operation whose output was given a name), "parameter", "input", or "constant" (an argument that needs no gradient;
            only a trace sees it).
        operation: the primitive's name; None for a value.
        name: what the user calls the value.
        shape: of the value, or of the operation's output; None for an operation with several outputs (its edges say).
        dtype: of the same.
        watched: whether the gradient would be known: for values from ``.grad``, for operations from a trace.
        gradient: the Euclidean norm of the gradient of the loss with respect to the value; None until one has arrived.
        module: index into ``Graph.modules`` of the innermost module it belongs to, or None.
        details: more about it, in words: an operation's keywords, a constant's value.
        keywords: the metadata an operation was called with.
        source: the line of the program that called it.
        seconds, backward_seconds: how long the operation and its rules took.
        kept: the arrays that the operation keeps for its backward: numbers that tell them apart, and their bytes.
        lane: 0 for the forward pass, 1 for operations that a backward pass recorded, 2 for those of its backward pass ...
        origin: in a backward pass the id of the operation whose rules it is part of.
        value: the array itself, which nobody can change; of an operation with several outputs a tuple.
        primitive: what carried the operation out, for views that run it or read its rules: a Primitive or a Function class.
        tainted: whether it holds NaN or infinity that came from the first operation that made one (``find_nan``).
        change: in a graph from ``diff``: "added", "removed" or "changed"; None for what is the same.
        cotangent: the gradient of the loss with respect to it, as the last sweep left it; of an operation with several
            outputs a dict from the number of an output. Of a value it is the sum of the contributions along its edges.

    Source, times, bytes, lanes, values and cotangents come from a trace, and are None, or empty, without.
    """

    id: int
    kind: str
    operation: str | None
    name: str | None
    shape: tuple[int, ...] | None
    dtype: str
    watched: bool = False
    gradient: float | None = None
    module: int | None = None
    details: str = ""
    keywords: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    seconds: float | None = None
    backward_seconds: float | None = None
    kept: Mapping[int, int] = field(default_factory=dict)
    lane: int = 0
    origin: int | None = None
    value: Any = None
    cotangent: Any = None
    primitive: Any = None
    tainted: bool = False
    change: str | None = None
    count: int = 1


@dataclass(slots=True, eq=False)
class Edge:
    """A value on its way into an operation.

    Attributes:
        source, target: ids of nodes.
        argument: the name of the operation's argument.
        output: which of several outputs of the source it is; None if the source has only one.
        shape: of the value.
        value: the operand as the operation saw it, which in-place changes may set apart from the source's value.
        raw: what the operation's rule for this argument gave in the last sweep, as it gave it.
        contribution: the same as an addend of the source's gradient: summed over broadcast axes, real and cast. The very
            same array as ``raw`` where there was nothing to do.

        error: what ``check_edges`` found: the relative error of the operation's derivative by this argument; NaN at a kink,
            where there is none to compare with.

    The arrays come from a trace and are None without, or where no sweep came through.
    """

    source: int
    target: int
    argument: str
    output: int | None
    shape: tuple[int, ...]
    value: Any = None
    raw: Any = None
    contribution: Any = None
    error: float | None = None


@dataclass(slots=True)
class Module:
    """A module (a layer) that ran during a trace.

    Attributes:
        id: index into ``Graph.modules``; a module comes after the one it is part of.
        name: its attribute path, as far as the module that called it knows it.
        kind: the name of its class.
        parent: id of the module that called it; None for the outermost.
        count: how many equal ones it stands for (``fold``).
    """

    id: int
    name: str
    kind: str
    parent: int | None
    count: int = 1


@dataclass(slots=True)
class Graph:
    """A computation graph. It is a copy: a later ``backward()`` does not change it.

    Attributes:
        rankdir: "LR" (left to right) or "TB" (top to bottom); None lets the size decide.
        ends: for each tensor that the graph was made of its node, and which of several outputs it is (0 if there is one).
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    rankdir: str | None = None
    ends: list[tuple[int, int]] = field(default_factory=list)

    def __repr__(self) -> str:
        kinds = Counter(node.kind for node in self.nodes)
        counts = [f"{count} {kind}{'s' * (count > 1 and kind != 'kept')}" for kind, count in kinds.items()]
        return f"Graph({', '.join(counts)}; {len(self.edges)} edges)"

    def operations(self) -> Iterator[Node]:
        """The nodes that are operations, in the order of execution."""
        return (node for node in self.nodes if node.operation is not None)

    def edges_into(self) -> dict[int, list[Edge]]:
        """For each operation the edges of its operands, in the order of its arguments."""
        into: dict[int, list[Edge]] = {node.id: [] for node in self.operations()}
        for edge in self.edges:
            into[edge.target].append(edge)
        return into

    def contributions(self) -> list[Edge]:
        """The edges along which the last sweep carried a cotangent, in its order: each is one vector-Jacobian product."""
        into = self.edges_into()
        backwards = sorted(into, reverse=True)
        return [edge for number in backwards for edge in into[number] if edge.contribution is not None]

    def to_dot(self) -> str:
        """The graph in the DOT language. Needs no program."""
        return write_dot(self)

    def to_text(self, colour: bool | None = None) -> str:
        """The graph as a tree for terminals, the loss first; ``None`` colours where the terminal can. Needs no program."""
        return write_text(self, colour)

    def diff(self, other: Graph) -> Graph:
        """``other`` as a change of this graph: added, removed and changed operations are marked, and coloured in drawings."""
        return diff(self, other)

    def to_svg(self) -> str:
        """The drawing as SVG text, which scales to the width of its page.

        Raises:
            MissingExtraError: no layout program is installed.
            GraphError: the graph is too large to be laid out.
        """
        return responsive(self._lay_out("svg").decode())

    def render(self, path: str | Path) -> Path:
        """Write the drawing to ``path``, in the format its suffix names: .svg, .png, .pdf, or .dot for the text.

        Raises:
            ArgumentError: another suffix. Besides, as for :meth:`to_svg`.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix in TEXTS:
            content = self.to_dot().encode()
        elif suffix == ".svg":
            content = self.to_svg().encode()
        elif suffix in PICTURES:
            content = self._lay_out(suffix[1:])
        else:
            raise ArgumentError(
                f"render({str(path)!r}): the suffix {path.suffix!r} names no format; "
                f"end the path in one of {', '.join(PICTURES + TEXTS)}"
            )
        path.write_bytes(content)
        return path

    def _lay_out(self, format: str) -> bytes:
        return lay_out(self.to_dot(), format, len(self.nodes))

    def _repr_svg_(self) -> str | None:
        """For notebooks; without a layout program they show the ``repr``."""
        try:
            return self.to_svg()
        except (MissingExtraError, GraphError):
            return None
