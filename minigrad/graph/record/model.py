"""The tape as plain data: nodes, edges and modules, which every view (DOT, SVG ...) reads; it knows none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..._source import SourceLine

AnyGraph = TypeVar("AnyGraph", bound="Graph")  # what makes a smaller graph of a drawing gives a drawing


@dataclass(slots=True, eq=False)
class Node:
    """An operation, or a value that went into one.

    Attributes:
        id: its place in the list of nodes, which is a topological order: the order of execution, each value before the
            first operation that reads it.
        count: how many operations a node of the kind "module" stands for (``collapse``), or that of folded layers; else 1.
        copies: of how many equal modules a node of the kind "module" is the box (``fold``).
        spread: the smallest and the largest gradient, of a node that stands for the same one in several layers (``fold``).
        error, verdict: of a node of the kind "module" those of the worst edge inside it (``check_edges``).
        kind: "operation", "loss" (the operation whose output is drawn), "module" (one drawn as a single box), "named" (an
            operation whose output was given a name), "parameter", "input", or "constant" (an argument that needs no gradient;
            only a trace sees it).
        operation: the primitive's name; None for a value.
        name: what the user calls the value.
        shape: of the value, or of the operation's output; None for an operation with several outputs (its edges say).
        dtype: of the same.
        watched: whether the gradient would be known: for values from ``.grad``, for operations from a trace.
        gradient: the Euclidean norm of the gradient of the loss with respect to the value; None until one has arrived.
        signed: the gradient itself where it is a single number; else None.
        module: index into ``Graph.modules`` of the innermost module it belongs to, or None.
        details: more about it, in words: an operation's keywords, a constant's value.
        keywords: the metadata an operation was called with.
        source: the place in the program that called it.
        call: a number that it shares with the operations that the same call, or operator, of the program gave rise to.
        callers: the places of the calls, in the program's own functions, that it was part of, innermost first.
        depth: how many modules are around the one that the program called, if its call was of a module.
        label: what it is called wherever one must tell it from others, by the words of the program; never empty, and no other
            node of its graph has it, but for equal numbers.
        seconds, backward_seconds: how long the operation and its rules took.
        kept: the arrays that the operation keeps for its backward: numbers that tell them apart, and their bytes.
        lane: 0 for the forward pass, 1 for operations that a backward pass recorded, 2 for those of its backward pass ...
        origin: in a backward pass the id of the operation whose rules it is part of.
        value: the array itself, which nobody can change; of an operation with several outputs a tuple.
        primitive: what carried the operation out, for views that run it or read its rules: a Primitive or a Function class.
        tainted: whether it holds NaN or infinity that came from the first operation that made one (``find_nan``).
        culprit: of the operation that made the first one what it made, in words; else empty.
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
    source: SourceLine | None = None
    seconds: float | None = None
    backward_seconds: float | None = None
    kept: Mapping[int, int] = field(default_factory=dict)
    lane: int = 0
    origin: int | None = None
    value: Any = None
    cotangent: Any = None
    primitive: Any = None
    tainted: bool = False
    culprit: str = ""
    change: str | None = None
    count: int = 1
    copies: int = 1
    spread: tuple[float, float] | None = None
    error: float | None = None
    verdict: str | None = None
    call: int | None = None
    callers: tuple[SourceLine, ...] = ()
    depth: int | None = None
    signed: complex | None = None
    label: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            plain = self.details if self.kind == "constant" else ""
            self.label = self.name or plain or f"{self.operation or self.kind} {self.id}"

    @property
    def boxed(self) -> bool:
        """Whether it is a module that is drawn as one node, maybe with the loss in it."""
        return self.operation is not None and self.primitive is None


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

        error: what ``check_edges`` found: the relative error of the operation's derivative by this argument.
        uncertainty: what the finite difference may itself be off by, relative to the same.
        verdict: "agrees", "wrong", or "unclear" where finite differences cannot tell; None where it was not asked.
        reason: why it is unclear, in words; else empty.

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
    uncertainty: float | None = None
    verdict: str | None = None
    reason: str = ""


@dataclass(slots=True)
class ModuleBox:
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
        ends: for each tensor that the graph was made of its node, and which of several outputs it is (0 if there is one).
        programs: the lines of the files that its operations were called from, as they were then.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    modules: list[ModuleBox] = field(default_factory=list)
    ends: list[tuple[int, int]] = field(default_factory=list)
    programs: dict[str, list[str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        kinds = Counter(node.kind for node in self.nodes)
        counts = [f"{count} {kind}{'s' * (count > 1 and kind != 'named')}" for kind, count in kinds.items()]
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
