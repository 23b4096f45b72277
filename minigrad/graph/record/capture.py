"""Copies the tape behind a Tensor into a Graph."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from ...device import is_device_array
from ...engine.messages import short
from ...engine.tape import Entry, Leaf, Output, entry_of, sweep, tape, wengert_list
from ...engine.tensor import Tensor
from ...errors import ArgumentError, GraphError
from ...guards.gradients import norm, single
from .model import Edge, Graph, ModuleBox, Node
from .names import labels_of
from .numerals import number_text
from .trace import Constant, ModuleCall, TraceNote, frozen_copy, note_of


def capture(
    tensors: Tensor | Sequence[Tensor], params: Any = None, *, caller: str = "capture", origins: bool = False
) -> Graph:
    """Return the graph of how one or several tensors were computed. The first one is its loss.

    Args:
        params: names for tensors, as in :func:`draw_dot`.
        origins: whether to prepare a drawing of backward passes. The graph then holds the forward operation of every rule,
            even if the rule did not use its value (the second derivative of ``x**3`` does not depend on ``x**3``). If there
            are several tensors or backward passes, several sweeps meet at a leaf, so its cotangent is its ``.grad``.

    Raises:
        ArgumentError: ``tensors`` or ``params`` has a wrong type.
        GraphError: a tensor was not recorded.
    """
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors) if isinstance(tensors, (list, tuple)) else []
    if not found or not all(isinstance(tensor, Tensor) for tensor in found):
        raise ArgumentError(f"{caller} needs a Tensor, or a list of them, got {type(tensors).__name__}")
    for tensor in found:
        if tensor._node is None:
            raise GraphError(
                f"{caller}({tensor._describe()}): it was not recorded, so it has no graph: compute it from a tensor "
                "with requires_grad=True, outside no_grad()"
            )
    walk = Capture(_named(params, caller))
    walk.run(found, origins)
    walk.take_gradients(origins and (len(found) > 1 or any(node.get("lane") for node in walk.nodes)))
    return walk.graph()


def swept(tensor: Tensor, params: Any, *, caller: str) -> Graph:
    """Return the graph with the contributions of a sweep from ``tensor``: the last one, or else a new one.

    Raises:
        GraphError: the computation was not traced, or the backward pass of another tensor has freed it.
    """
    graph = capture(tensor, params, caller=caller)
    if not isinstance(tensor, Tensor):
        raise ArgumentError(f"{caller} needs a Tensor, got {type(tensor).__name__}")
    operations = graph.operations
    untraced = sum(node.value is None for node in operations)
    if not operations:
        raise GraphError(f"{caller}({tensor._describe()}): it was given, not computed, so there is no step to show")
    if untraced:
        raise GraphError(
            f"{caller} needs the values of the operations, and {untraced} of {len(operations)} were recorded without values: "
            "run the whole computation inside 'with minigrad.trace():'"
        )
    if _is_its_own_sweep(graph, tensor):
        return graph
    if any(entry.kept is None for entry in tape(tensor)):
        raise GraphError(
            f"{caller} has no backward pass to show: the trace has recorded none from this tensor, and a backward pass from "
            f"another tensor has freed the graph; call {caller} before that pass, or give that pass retain_graph=True"
        )
    sweep({tensor._node: tensor._cotangent(None)}, retain_graph=True)
    return capture(tensor, params, caller=caller)


def _is_its_own_sweep(graph: Graph, tensor: Tensor) -> bool:
    """Return whether the recorded gradients come from a sweep that began at ``tensor``.

    They do not if the sweep of another tensor has passed through a part of the graph since. Then at the border of that part
    a cotangent is not the sum of its contributions. Operations with hooks are left out, because a hook may change it too.
    """
    end, output = graph.ends[0]
    if graph.nodes[end].gradients[output] is None:
        return False
    different = unlike_their_sums(graph)
    return not different or different <= {
        node.id for node, entry in zip(graph.operations, tape(tensor)) if entry.hooks and entry.hooks.functions
    }


def unlike_their_sums(graph: Graph) -> set[int]:
    """Return the nodes with a gradient that is not the sum of its contributions, except the end, where sweeps begin."""
    sums = {(edge.source, edge.output or 0): edge.sum for edge in graph.contributions}
    return {
        node.id
        for node in graph.nodes
        for i, arrived in enumerate(node.gradients)
        if node.id != graph.ends[0][0] and not _close(arrived, sums.get((node.id, i)))
    }


def _close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.array_equal(a, b)) or np.allclose(a, b, rtol=1e-3, equal_nan=True)


def _with_origins(entries: list[Entry]) -> list[Entry]:
    """Return the entries, the forward entries whose rules recorded them, and all entries that those depend on."""
    while True:
        notes = map(note_of, entries)
        origins = {note.origin for note in notes if note is not None and note.origin is not None} - set(entries)
        if not origins:
            return entries
        entries = wengert_list([*entries, *origins])


def names_in(params: Any, caller: str, argument: str = "params") -> dict[str, Any]:
    """Return the tensors by name: the items of a dict, or of ``named_parameters()``."""
    if hasattr(params, "named_parameters"):
        return dict(params.named_parameters())
    if isinstance(params, Mapping):
        return dict(params)
    raise ArgumentError(
        f"{caller} takes a dict from name to Tensor, or an object with named_parameters(), for {argument}, "
        f"got {type(params).__name__}"
    )


def _named(params: Any, caller: str) -> dict[str, Any]:
    """Return the tensors (or arrays) in ``params`` by name."""
    named = {} if params is None else names_in(params, caller)
    for name, value in named.items():
        if not isinstance(value, (Tensor, np.ndarray)) and not is_device_array(value):
            raise ArgumentError(f"params[{name!r}] must be a Tensor or an array, got {type(value).__name__}")
    return named


_NOTED = [field.name for field in fields(Node) if field.name in TraceNote.__slots__]  # the facts with the same names
_noted = attrgetter(*_NOTED)
dtype_name = functools.cache(str)  # cached, because str(dtype) takes longer than the rest of a node


class Capture:
    """A walk along the Wengert list that collects the facts of a graph, in a fixed order.

    Attributes:
        nodes: the fields of each node. Later operations add to those of the values that they read.
        tensors: the Tensor of each leaf; None if it no longer exists. A leaf holds it weakly, and the walk asks for it twice.
    """

    def __init__(self, named: Mapping[str, Any]) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []  # the fields of each Edge
        self.boxes: list[dict[str, Any]] = []  # the fields of each ModuleBox
        self.ends: list[tuple[int, int]] = []
        self.programs: dict[str, list[str]] = {}
        self.names = {_place(value): str(name) for name, value in named.items()}  # an array's key is its id
        self.tensors: dict[Any, Any] = {}
        self.numbers: dict[Any, int] = {}  # from an entry, a leaf or ``Constant.place`` to the id of its node
        self.notes: dict[int, TraceNote] = {}  # by the id of an operation's node
        self.modules: dict[int, int] = {}  # from the number of a module's call to the id of its box
        self.around: dict[int | None, list[int]] = {None: []}  # a box and those around it, outermost first
        self.calls: dict[Any, list[int]] = defaultdict(list)  # the boxes by the box around a module, and the module
        self.paths: dict[int, str] = {}
        self.texts: dict[str, Sequence[str]] = {}  # the lines of files that called functions but no operations

    def run(self, tensors: Sequence[Tensor], origins: bool) -> None:
        """Collect the facts of the operations that led to the tensors, and of the ``origins`` of those of a backward pass."""
        ends = list(map(attrgetter("_node"), tensors))
        entries = wengert_list(ends)
        entries = _with_origins(entries) if origins else entries
        for node in chain(ends, *map(attrgetter("parents"), entries)):
            if type(node) is Leaf:
                self.tensors[node] = node.tensor
        for entry, note in zip(entries, list(map(note_of, entries))):
            self.operation(entry, note)
        for tensor in tensors:
            last = self.nodes[self.value(tensor._node)]
            self.ends.append((last["id"], tensor._node.index if type(tensor._node) is Output else 0))
            if last["operation"] is not None:
                last |= {"kind": "loss" if tensor is tensors[0] else "named", "name": tensor.name or last["name"]}
                if type(tensor._node) is Output:
                    last["shape"] = tensor.shape
        self.place_values()
        self.sum_contributions()

    def graph(self) -> Graph:
        """Return the records of all facts."""
        for calls in self.calls.values():
            for call, number in enumerate(calls, 1):
                self.boxes[number]["call"] = call if len(calls) > 1 else None
        boxes = [ModuleBox(**box) for box in self.boxes]
        edges = [Edge(**edge) for edge in self.edges]
        nodes: list[Node] = []
        for node in self.nodes:
            told = [(name, value) for name, value in node.get("keywords", {}).items() if value is not None]
            node.setdefault("details", ", ".join([f"{name}={short(value)}" for name, value in told]))
        for node in self.nodes:
            nodes.append(Node(**node))
        graph = Graph(nodes, edges, boxes, self.ends, self.programs)
        for named, facts in zip(nodes, labels_of(graph, self.paths, self.texts)):
            for name, fact in facts.items():  # they depend on the other nodes, so they are the last ones of a record
                object.__setattr__(named, name, fact)
        return graph

    def add(self, kind: str, place: Any, what: Any, operation: str | None, name: str | None, **more: Any) -> int:
        """Add a node for ``place`` with the shape and dtype of ``what``, and return its id."""
        number = self.numbers[place] = len(self.nodes)
        more |= {"id": number, "kind": kind, "operation": operation, "name": name or None, "shape": what.shape}
        more["dtype"] = dtype_name(what.dtype)
        self.nodes.append(more)
        return number

    def operation(self, entry: Entry, note: TraceNote | None) -> None:
        keywords = entry.keywords
        operands = self.operands(entry, note)
        if note is not None and note.source is not None and note.source.file not in self.programs:
            self.programs[note.source.file] = [line.rstrip("\r\n") for line in note.program]
        for source, program in note.callers if note is not None else ():
            self.texts.setdefault(source.file, program)
        plan = entry.plan
        number = self.add(
            "named" if entry in self.names else "operation",
            entry,
            entry,
            plan.primitive.name,
            self.names.get(entry),
            watched=note is not None,
            module=self.module(note.modules) if note else None,
            keywords=keywords,
            primitive=getattr(plan, "function", plan.primitive),
            again=getattr(plan, "again", None),
            **self.noted(note),
        )
        if note is not None:
            self.notes[number] = note
        self.edges += [operand | {"target": number} for operand in operands]

    def operands(self, entry: Entry, note: TraceNote | None) -> list[dict[str, Any]]:
        """Return the fields of the edges into an operation, without their target."""
        constants = {constant.position: constant for constant in note.constants} if note else {}
        names = entry.plan.primitive.arguments or [str(i) for i in range(len(entry.parents))]
        edges: list[dict[str, Any]] = []
        for position, (name, parent) in enumerate(zip(names, entry.parents)):
            read = constants.get(position) if parent is None else parent
            if read is None:
                continue
            number = self.constant(read) if parent is None else self.value(parent)
            output = parent.index if type(parent) is Output else None
            edge = {"source": number, "argument": name, "output": output, "shape": read.shape}
            if note is not None and note.arguments is not None:
                edge["value"], source = note.arguments[position], self.nodes[number]
                if source["operation"] is None:
                    source |= {"value": edge["value"], "name": source["name"] or note.names.get(position)}
            if note is not None and position in note.paths:
                self.paths.setdefault(number, note.paths[position])
            if note is not None and note.contributions:
                edge |= {"raw": note.contributions[position], "contribution": note.terms[position]}
            edges.append(edge)
        return edges

    def noted(self, note: TraceNote | None) -> dict[str, Any]:
        """Return the fields of an operation's node that come from a trace."""
        if note is None:
            return {}
        several = isinstance(note.answer, tuple)
        return {
            **dict(zip(_NOTED, _noted(note))),
            "callers": tuple(source for source, _ in note.callers),
            "origin": self.numbers.get(note.origin),
            "value": note.answer,
            "cotangent": (note.cotangents or None) if several else note.cotangents.get(0),
        }

    def value(self, place: Any) -> int:
        """Return the id of the node for a parent or for the end of the tape. A leaf gets its node at its first use."""
        if type(place) is Output:
            self.nodes[self.numbers[place.entry]]["shape"] = None  # the entry has several outputs
            return self.numbers[place.entry]
        if place not in self.numbers:
            tensor = self.tensors[place]
            kind = "parameter" if place in self.names or type(tensor) not in (Tensor, type(None)) else "input"
            name = self.names.get(place) or getattr(tensor, "name", None)
            held = tensor is not None and tensor._node is place  # another shape of ``tensor.data`` makes a new leaf
            self.add(kind, place, place, None, name, watched=held)
        return self.numbers[place]

    def constant(self, constant: Constant) -> int:
        """Return the id of the node for an argument that needs no gradient. Each array has one node."""
        array = constant.array() if constant.array else None
        place: Any = constant.place
        if place not in self.numbers:
            value = "" if constant.value is None else number_text(constant.value)
            name = None if array is None else self.names.get(id(array))
            self.add("constant", place, constant, None, name, details=value)
        return self.numbers[place]

    def module(self, calls: tuple[ModuleCall, ...]) -> int | None:
        """Return the id of the box of the innermost of these nested calls of modules. Each call has its own box."""
        parent = None
        for call in calls:
            if call.number not in self.modules:
                number = self.modules[call.number] = len(self.boxes)
                self.boxes.append({"id": number, "name": call.name, "kind": call.kind, "parent": parent})
                self.around[number] = [*self.around[parent], number]
                self.calls[parent, id(call.identity)].append(number)
            parent = self.modules[call.number]
        return parent

    def place_values(self) -> None:
        """Put each parameter and constant into the innermost module that holds all operations that read it."""
        around: dict[int, list[list[int]]] = defaultdict(list)  # of each value, the boxes around its readers
        for edge in self.edges:
            if self.nodes[edge["source"]]["kind"] in ("parameter", "constant"):
                around[edge["source"]].append(self.around[self.nodes[edge["target"]].get("module")])
        for value, readers in around.items():
            shared = [boxes[0] for boxes in zip(*readers) if len(set(boxes)) == 1]
            self.nodes[value]["module"] = shared[-1] if shared else None

    @np.errstate(all="ignore")  # a sum may overflow, as it did in the sweep
    def sum_contributions(self) -> None:
        """Note the sum of the contributions to each gradient so far, in the order of the sweep.

        The last one is the cotangent of a value.
        """
        sums: dict[Any, Any] = {}
        for edge in sorted(self.edges, key=lambda edge: -edge["target"]):
            term, place = edge.get("contribution"), (edge["source"], edge["output"] or 0)
            if term is not None:
                sums[place] = edge["sum"] = term if place not in sums else sums[place] + term
                if self.nodes[edge["source"]]["operation"] is None:
                    self.nodes[edge["source"]]["cotangent"] = edge["sum"]

    def take_gradients(self, several: bool) -> None:
        """Set the gradients of the operations, and of each leaf: its cotangent, or its ``.grad``.

        It is the ``.grad`` if no sweep is recorded, or ``several`` at once.
        """
        for number, note in self.notes.items():
            norms = note.norms.values() or [*map(norm, note.cotangents.values())]
            self.nodes[number]["gradient"] = math.hypot(*norms) if norms else None
        for place, number in self.numbers.items():
            node = self.nodes[number]
            if node["kind"] not in ("parameter", "input"):
                continue
            tensor = self.tensors[place]
            held_grad = tensor._grad if node["watched"] and tensor is not None else None
            # ``data`` would hand the array out, and it would be watched
            grad = None if held_grad is None else held_grad._array
            if several:
                node["cotangent"] = None if grad is None else frozen_copy(grad)
            swept = None if several else node.get("cotangent")
            held = None if grad is None else (norm(grad), single(grad))
            shown = (held or (None, None)) if swept is None else (norm(swept), single(swept))
            node |= {"gradient": shown[0], "signed": shown[1], "watched": node["watched"] or swept is not None}
            node["held"] = None if swept is not None and held and _alike(shown, held) else held


def _alike(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Return whether numbers differ by no more than rounding: a sum in another order, or in another dtype."""
    found, known = (np.array([x for x in each if x is not None]) for each in (one, other))
    return np.allclose(found, known, rtol=1e-3, atol=0.0, equal_nan=True)


def _place(value: Any) -> Any:
    """Return the tape entry or leaf of a Tensor. For an array, or a Tensor that is not on the tape, return the array's id."""
    if not isinstance(value, Tensor):
        return id(value)
    return id(value._array) if value._node is None else entry_of(value._node)
