"""Defines the records of a graph: nodes, edges and calls of modules. They are facts of what ran, and never change.

Every view (DOT, SVG ...) reads them. What a view says about a node or an edge stands beside them: see ``draw/drawn.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._source import SourceLine


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operation, or a value that an operation reads.

    Attributes:
        id: the index in ``Graph.nodes``. The nodes are in order of execution, and each value comes before the first
            operation that reads it. This is a topological order.
        kind: "operation", "loss" (the operation that computed the first drawn tensor), "named" (one that computed another
            drawn tensor, or a tensor in ``params``), "module" (a module drawn as one box), "parameter", "input" or "constant"
            (a value that needs no gradient; only a trace records it).
        operation: the primitive's name; None for a value.
        name: the name that the user has given to the value.
        shape: the shape of the value or output. It is None for several outputs; ``Edge.shape`` has their shapes.
        dtype: the dtype of the value or output.
        watched: whether a gradient can be known: the operation was traced, or the value still has its tensor's ``.grad``.
        gradient: the Euclidean norm of the gradient of the loss with respect to the value, in the last sweep; None before one
            has arrived. For a value for which no sweep was recorded, or several at once, that of its tensor's ``.grad``.
        signed: the gradient itself if it is a single number; else None.
        held: for a value, the same two numbers of its tensor's ``.grad``, if it is not the gradient of the last sweep.
        module: the index in ``Graph.modules`` of the innermost module around the node, or None.
        details: a description in words: the keywords of an operation, the value of a constant.
        keywords: the keywords that the operation was called with.
        source: the line of the program that called the operation.
        call: a number shared by all operations that one call, or one operator, of the program has carried out.
        callers: the calls of the program's functions that led to the operation, innermost first.
        outside: the number of calls around the outermost of the ``callers``, up to the top level of a file.
        rounds: the variables of the program's loops, at ``source`` and at each of the ``callers``: for each its function, its
            name and its value.
        called: what the program calls at ``source`` and at each of the ``callers`` (a ``Callee``, or None for an operator).
        depth: the number of modules around the module that the program called; None if it called something else.
        label: the name in views, in the words of the program. It is unique, except for constants of equal value.
        stem: the label without what tells it apart from others: its version, and the round of its loops. It is empty if the
            program has no name for the value; the label is then an operation with the node's number, or a kind with its shape.
        given: for a value, whether the program has handed it over in a call to the function that reads it.
        expression: whether the label is a call or an expression that makes the value, and not a name of the value.
        inline: for an operation, whether the program reads its result where it computes it, and gives it no name: an
            expression, or an element or attribute such as ``x[0]``.
        numeral: whether the node is a number in the text of the program, such as the 1 of ``1 - y``.
        lane: 0 for the forward pass, 1 for operations that a backward pass recorded, 2 for those of its backward pass ...
        origin: in a backward pass, the id of the operation whose rule has called this operation.
        value: the array, which is read-only. An operation with several outputs has a tuple.
        values: the array of each output; empty without a trace.
        primitive: the Primitive or Function class of the operation, for views that run it or read its rules.
        again: for a Function, a function that calls it with other operands by their names; only a trace records it.
        cotangent: the gradient of the loss with respect to the output, from the last sweep; for several outputs, a dict from
            an output's number to its gradient. The cotangent of a value is the sum of the contributions along its edges.
        gradients: the gradient of each output; None if none has arrived.

    Source, lanes, values and cotangents come from a trace. Without one they are None or empty.
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
    lane: int = 0
    origin: int | None = None
    value: Any = None
    cotangent: Any = None
    primitive: Any = None
    again: Callable[[Mapping[str, Any]], Any] | None = None
    call: int | None = None
    callers: tuple[SourceLine, ...] = ()
    outside: int = 0
    rounds: tuple[tuple[tuple[str, str, Any], ...], ...] = ()
    called: tuple[Any, ...] = ()
    depth: int | None = None
    signed: complex | None = None
    held: tuple[float, complex | None] | None = None
    label: str = ""
    stem: str = ""
    given: bool = False
    expression: bool = False
    inline: bool = False
    numeral: bool = False
    values: Sequence[Any] = field(init=False, repr=False)
    gradients: Sequence[Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        value, found = self.value, self.cotangent
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        count = range(len(value) if isinstance(value, tuple) else 1)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "gradients", [found.get(i) if isinstance(found, dict) else found for i in count])

    @property
    def boxed(self) -> bool:
        """Whether the node is a module drawn as one box. The loss may be inside it."""
        return self.operation is not None and self.primitive is None


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A value that an operation reads.

    Attributes:
        source, target: the ids of the value's node and of the operation.
        argument: the name of the operation's argument.
        output: the index of the value among several outputs of the source; None if the source has only one output.
        shape: the shape of the value.
        value: the operand as the operation read it. It differs from the source's value after a change in place.
        raw: the result of the operation's rule for this argument in the last sweep.
        contribution: ``raw`` as a term of the source's gradient: summed over broadcast axes, real and cast. It is the same
            array as ``raw`` if nothing had to change.
        sum: the gradient of the source, or of this output of it, once the contribution has been added.

    The arrays come from a trace and are None without one. All but ``value`` are also None before a sweep.
    """

    source: int
    target: int
    argument: str
    output: int | None
    shape: tuple[int, ...]
    value: Any = None
    raw: Any = None
    contribution: Any = None
    sum: Any = None


@dataclass(frozen=True, slots=True)
class ModuleBox:
    """A call of a module (a layer) that ran during a trace. A module that is called twice has two boxes.

    Attributes:
        id: the index in ``Graph.modules``. A module comes after the module around it.
        name: the attribute path of the module, as seen from the outermost module.
        kind: the name of its class.
        parent: the id of the module that called it; None for the outermost module.
        call: the number of the call, from 1, among the calls of this module by the one around it; None if it is the only one.
    """

    id: int
    name: str
    kind: str
    parent: int | None
    call: int | None = None

    @property
    def title(self) -> str:
        """The name, and which call of the module it is: ``fc, call 2``."""
        return self.name + self.which

    @property
    def which(self) -> str:
        return "" if self.call is None else f", call {self.call}"


@dataclass(slots=True)
class Graph:
    """A computation graph. It is a copy: a later ``backward()`` does not change it.

    Attributes:
        ends: the node and the output's index (0 if there is only one output) of each tensor that the graph was made from.
        programs: the lines of the files that called the operations, as the files were at that time.
        operations: the nodes that are operations, in order of execution.
        edges_into: the edges of the operands of each operation, by its id, in the order of its arguments.
        contributions: the edges that the last sweep has used, in its order. Each one holds a vector-Jacobian product.
    """

    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    modules: Sequence[ModuleBox] = ()
    ends: Sequence[tuple[int, int]] = ()
    programs: dict[str, list[str]] = field(default_factory=dict)
    operations: Sequence[Node] = field(init=False, repr=False, compare=False)
    edges_into: Mapping[int, Sequence[Edge]] = field(init=False, repr=False, compare=False)
    contributions: Sequence[Edge] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.operations = [node for node in self.nodes if node.operation is not None]
        into: dict[int, list[Edge]] = {node.id: [] for node in self.operations}
        for edge in self.edges:
            into[edge.target].append(edge)
        backwards = sorted(into, reverse=True)
        self.contributions = [edge for number in backwards for edge in into[number] if edge.contribution is not None]
        self.edges_into = into

    def __repr__(self) -> str:
        kinds = Counter(node.kind for node in self.nodes)
        counts = [f"{count} {kind}{'s' * (count > 1 and kind != 'named')}" for kind, count in kinds.items()]
        return f"Graph({', '.join(counts)}; {len(self.edges)} edges)"

    def around(self, module: int | None) -> list[int]:
        """Return the ids of a module and of the modules around it, outermost first."""
        found: list[int] = []
        while module is not None:
            found.append(module)
            module = self.modules[module].parent
        return found[::-1]
