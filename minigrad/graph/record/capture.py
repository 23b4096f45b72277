"""From a Tensor to the graph of how it was computed."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...device import is_device_array
from ...engine.messages import short
from ...engine.tape import Entry, Output, entry_of, fit, wengert_list
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from .model import Edge, Graph, ModuleBox, Node
from .trace import Constant, ModuleCall, TraceNote, frozen_copy, norm, note_of


def capture(
    tensors: Tensor | Sequence[Tensor], params: Any = None, *, caller: str = "capture", origins: bool = False
) -> Graph:
    """The graph of how one or several tensors were computed; the first is its loss. ``params`` is as for :func:`draw_dot`.

    Args:
        origins: for a drawing of backward passes: with the operations whose rules they are part of, even where no number
            of theirs was used (the second derivative of ``x**3`` does not depend on ``x**3``), and with the ``grad`` of each
            leaf as its cotangent, because sweeps from several tensors came through.

    Raises:
        ArgumentError: ``tensors`` or ``params`` is something else.
        GraphError: a tensor was not recorded.
    """
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors) if isinstance(tensors, (list, tuple)) else []
    if not found or not all(isinstance(tensor, Tensor) for tensor in found):
        raise ArgumentError(f"{caller} needs a Tensor, or a list of them, got {type(tensors).__name__}")
    for tensor in found:
        if tensor._node is None:
            raise GraphError(
                f"{caller}({tensor._describe()}): there is nothing to draw, because it was not recorded: compute it from a "
                "tensor with requires_grad=True, outside no_grad()"
            )
    entries = wengert_list(tensor._node for tensor in found)
    walk = _Capture(_named(params, caller))
    graph = walk.run(found, _with_origins(entries) if origins else entries)
    if origins and (len(found) > 1 or any(node.lane for node in graph.nodes)):
        walk.take_gradients()
    return graph


def _with_origins(entries: list[Entry]) -> list[Entry]:
    """Entries, the entries whose rules they are part of, and what led to those."""
    while True:
        notes = map(note_of, entries)
        origins = {note.origin for note in notes if note is not None and note.origin is not None} - set(entries)
        if not origins:
            return entries
        entries = wengert_list([*entries, *origins])


def _named(params: Any, caller: str) -> dict[str, Any]:
    """The names and tensors (or arrays) in ``params``."""
    if params is not None and not isinstance(params, Mapping) and not hasattr(params, "named_parameters"):
        raise ArgumentError(
            f"{caller} takes for params a dict from name to Tensor or an object with named_parameters(), "
            f"got {type(params).__name__}"
        )
    named = dict(params.named_parameters() if hasattr(params, "named_parameters") else params or {})
    for name, value in named.items():
        if not isinstance(value, (Tensor, np.ndarray)) and not is_device_array(value):
            raise ArgumentError(f"params[{name!r}] must be a Tensor or an array, got {type(value).__name__}")
    return named


_dtype_name = functools.cache(str)  # NumPy takes longer for it than a node takes for all the rest


class _Capture:
    """One walk along the Wengert list, which makes the nodes, edges and modules in a fixed order."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self.graph = Graph()
        # A place on the tape, or the id of a constant's array, -> its name; -> its node
        self.names = {_place(value): str(name) for name, value in named.items()}
        self.numbers: dict[Any, int] = {}
        self.modules: dict[Any, int] = {}
        self.arrays: list[Any] = []  # keeps the constants alive as long as their ids are used

    def run(self, tensors: Sequence[Tensor], entries: Sequence[Entry]) -> Graph:
        for entry in entries:
            self.operation(entry)
        for tensor in tensors:
            last = self.graph.nodes[self.value(tensor._node)]
            self.graph.ends.append((last.id, tensor._node.index if type(tensor._node) is Output else 0))
            if last.operation is not None:
                last.kind, last.name = "loss" if tensor is tensors[0] else "named", tensor.name or last.name
                if type(tensor._node) is Output:
                    last.shape = tensor.shape
        self.place_values()
        self.sum_contributions()
        return self.graph

    def add(self, kind: str, place: Any, what: Any, operation: str | None, name: str | None, **more: Any) -> int:
        """A new node for ``place``, with the shape and dtype of ``what``. Returns its number."""
        number = self.numbers[place] = len(self.graph.nodes)
        self.graph.nodes.append(
            Node(number, kind, operation, name or None, what.shape, _dtype_name(what.dtype), **more)
        )
        return number

    def operation(self, entry: Entry) -> None:
        note = note_of(entry)
        edges = self.operands(entry, note)
        number = self.add(
            "named" if entry in self.names else "operation",
            entry,
            entry,
            entry.primitive.name,
            self.names.get(entry),
            watched=note is not None,
            module=self.module(note.modules) if note else None,
            details=", ".join(f"{k}={short(v)}" for k, v in entry.keywords.items() if v is not None),
            keywords=entry.keywords,
            primitive=getattr(entry.plan, "function", entry.primitive),
            **self.noted(note),
        )
        for edge in edges:
            edge.target = number
        self.graph.edges += edges

    def operands(self, entry: Entry, note: TraceNote | None) -> list[Edge]:
        """The edges into an operation, whose number is not known yet."""
        constants = {constant.position: constant for constant in note.constants} if note else {}
        names = entry.primitive.arguments or [str(i) for i in range(len(entry.parents))]
        edges = []
        for position, (name, parent) in enumerate(zip(names, entry.parents)):
            if parent is not None:
                output = parent.index if type(parent) is Output else None
                edge = Edge(self.value(parent), 0, name, output, parent.shape)
            elif position in constants:
                constant = constants[position]
                edge = Edge(self.constant(constant), 0, name, None, constant.shape)
            else:
                continue
            if note is not None and note.arguments is not None:
                edge.value = note.arguments[position]
                source = self.graph.nodes[edge.source]
                if source.operation is None:
                    source.value = edge.value
                    source.name = source.name or note.names.get(position)
            if note is not None and note.contributions and note.contributions[position] is not None:
                edge.raw = note.contributions[position]
                edge.contribution = fit(edge.raw, parent, entry)
            edges.append(edge)
        return edges

    def noted(self, note: TraceNote | None) -> dict[str, Any]:
        """What a trace adds to the node of an operation."""
        if note is None:
            return {}
        several = isinstance(note.answer, tuple)
        return {
            "gradient": math.hypot(*note.gradients.values()) if note.gradients else None,
            "source": note.source,
            "seconds": note.seconds,
            "backward_seconds": note.backward_seconds,
            "kept": note.kept,
            "lane": note.lane,
            "origin": self.numbers.get(note.origin),
            "value": note.answer,
            "cotangent": (note.cotangents or None) if several else note.cotangents.get(0),
        }

    def value(self, place: Any) -> int:
        """The number of the node for a parent or for the end of the tape; a leaf is new when it is first met."""
        if type(place) is Output:
            self.graph.nodes[self.numbers[place.entry]].shape = None  # one of several
            return self.numbers[place.entry]
        if place not in self.numbers:
            tensor = place.tensor
            parameter = place in self.names or type(tensor) not in (Tensor, type(None))
            held = tensor is not None and tensor._node is place  # else its data was replaced: the grad is another's
            self.add(
                "parameter" if parameter else "input",
                place,
                place,
                None,
                self.names.get(place) or getattr(tensor, "name", None),
                watched=held,
                gradient=norm(tensor.grad) if held and tensor.grad is not None else None,
            )
        return self.numbers[place]

    def constant(self, constant: Constant) -> int:
        """The number of the node for an argument that needs no gradient: one for each array, if it still exists."""
        array = constant.array() if constant.array else None
        place = constant if array is None else id(array)
        self.arrays.append(array)
        if place not in self.numbers:
            value = "" if constant.value is None else f"{constant.value:.4g}"
            self.add("constant", place, constant, None, self.names.get(place), details=value)
        return self.numbers[place]

    def module(self, calls: tuple[ModuleCall, ...]) -> int | None:
        """The number of the innermost of these nested modules."""
        parent = None
        for call in calls:
            key = (parent, call.name, call.kind, call.identity)
            if key not in self.modules:
                self.modules[key] = len(self.graph.modules)
                self.graph.modules.append(ModuleBox(len(self.graph.modules), call.name, call.kind, parent))
            parent = self.modules[key]
        return parent

    def place_values(self) -> None:
        """Put each parameter and constant into the innermost module that holds all operations that read it."""
        nodes, placed = self.graph.nodes, set()
        for edge in self.graph.edges:
            source, target = nodes[edge.source], nodes[edge.target]
            if source.kind in ("parameter", "constant"):
                source.module = self.common(source.module, target.module) if source.id in placed else target.module
                placed.add(source.id)

    def sum_contributions(self) -> None:
        """The cotangent of each value that is no operation."""
        for edge in self.graph.contributions():
            node = self.graph.nodes[edge.source]
            if node.operation is None:
                node.cotangent = edge.contribution if node.cotangent is None else node.cotangent + edge.contribution

    def take_gradients(self) -> None:
        """The ``grad`` of each leaf in the place of the sum of its contributions."""
        for place, number in self.numbers.items():
            node = self.graph.nodes[number]
            if node.kind in ("parameter", "input"):
                tensor = place.tensor
                held = node.watched and tensor is not None and tensor.grad is not None
                node.cotangent = frozen_copy(tensor.grad) if held else None

    def common(self, a: int | None, b: int | None) -> int | None:
        """The innermost module that both are part of."""
        around = set()
        while a is not None:
            around.add(a)
            a = self.graph.modules[a].parent
        while b is not None and b not in around:
            b = self.graph.modules[b].parent
        return b


def _place(value: Any) -> Any:
    """Where a Tensor is on the tape; for one that is not there, and for an array, the id of the array."""
    if not isinstance(value, Tensor):
        return id(value)
    return id(value._array) if value._node is None else entry_of(value._node)
