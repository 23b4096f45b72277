"""Defines the records of a drawing: the facts of a graph, and what views say about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..record.model import Edge, Graph, ModuleBox, Node

_facts = {kind: attrgetter(*[each.name for each in fields(kind) if each.init]) for kind in (Node, Edge, ModuleBox)}
Said = Mapping[str, Any]  # what a view says about a node or an edge: some fields of its record in a drawing
AnyDrawn = TypeVar("AnyDrawn", bound="DrawnGraph")  # a function that simplifies a Drawing returns a Drawing


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNode(Node):
    """A node of a drawing.

    Attributes:
        tainted: whether it holds a NaN or infinity that came from the first operation that made one (``find_nan``).
        culprit: what is wrong here, in words: it made the first NaN or infinity, or a derivative inside this module is wrong;
            else empty.
        copies: the number of equal modules that a node of the kind "module" stands for (``fold``).
        spread: the smallest and the largest gradient, if the node stands for equal nodes of several layers (``fold``).
    """

    tainted: bool = False
    culprit: str = ""
    copies: int = 1
    spread: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DrawnEdge(Edge):
    """An edge of a drawing.

    Attributes:
        error: the relative error of the operation's derivative with respect to this argument, from ``check_edges``.
        uncertainty: the possible error of the finite difference, relative to the same size.
        verdict: "agrees", "wrong", or "unclear" where finite differences cannot decide; None without ``check_edges``.
        reason: the reason for "unclear", in words; else empty.
    """

    error: float | None = None
    uncertainty: float | None = None
    verdict: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DrawnBox(ModuleBox):
    """A module, a loop or a pass in a drawing. ``count`` is the number of equal modules, calls or steps it stands for."""

    count: int = 1

    @property
    def which(self) -> str:
        """Which calls of the module it is: ", call 2", ", calls 1 … 5"; "" if it is the only call."""
        if self.call is None:
            return ""
        return f", call {self.call}" if self.count == 1 else f", calls {self.call} … {self.call + self.count - 1}"


@dataclass(slots=True, repr=False)
class DrawnGraph(Graph):
    """A graph of such records.

    Attributes:
        checked: whether it is the graph of ``check_edges``, whose colours show the verdicts.
    """

    nodes: Sequence[DrawnNode] = ()
    edges: Sequence[DrawnEdge] = ()
    modules: Sequence[DrawnBox] = ()
    checked: bool = False

    @classmethod
    def of(
        cls, graph: Graph, nodes: Mapping[int, Said] | None = None, edges: Mapping[Edge, Said] | None = None, **how: Any
    ) -> Self:
        """Return a drawing of ``graph``.

        Args:
            nodes, edges: what a view says about some nodes, by id, and about some edges.
            how: the fields that only a kind of drawing has.
        """
        said, of_edges = nodes or {}, edges or {}
        return cls(
            [DrawnNode(*_facts[Node](node), **said.get(node.id, {})) for node in graph.nodes],
            [DrawnEdge(*_facts[Edge](edge), **of_edges.get(edge, {})) for edge in graph.edges],
            [DrawnBox(*_facts[ModuleBox](box)) for box in graph.modules],
            graph.ends,
            graph.programs,
            checked=any(each.get("verdict") for each in of_edges.values()),
            **how,
        )

    if TYPE_CHECKING:  # a Graph computes them from its own records
        operations: Sequence[DrawnNode] = field(init=False)
        edges_into: Mapping[int, Sequence[DrawnEdge]] = field(init=False)
