"""A traced computation in a file, and back on the tape in another process: data only, JSON and safetensors, never pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._primitive import Primitive, primitives
from .._source import Source
from .._tape import Leaf, _entry
from ..errors import ArgumentError, GraphError
from ..serialize import CheckpointError, load_checkpoint, save_checkpoint
from ..tensor import Tensor, _make
from .capture import capture
from .model import Edge, Graph, Node
from .trace import Note, Scope, note_of, trace

KIND = "minigrad trace"
_PLAIN = (bool, int, float, complex)


@dataclass
class Replay:
    """A computation that was read from a file and run again, on the tape as if it had just been written.

    Attributes:
        tensors: what was saved; the first is the loss.
        leaves: the parameters and inputs by name, where gradients arrive.
        parameters: those of them that were parameters.
        kept: computed tensors that had a name; a drawing shows it if they are among its ``params``.
    """

    tensors: list[Tensor]
    leaves: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, Tensor] = field(default_factory=dict)
    kept: dict[str, Tensor] = field(default_factory=dict)

    @property
    def loss(self) -> Tensor:
        return self.tensors[0]

    def gradients(self, seed: Any = None, retain_graph: bool = True) -> dict[str, np.ndarray[Any, Any]]:
        """The gradient of the loss by each leaf, for the cotangent ``seed`` of the loss (1 by default)."""
        for leaf in self.leaves.values():
            leaf.grad = None
        self.loss.backward(seed, retain_graph=retain_graph)
        return {name: leaf.grad.numpy() for name, leaf in self.leaves.items() if leaf.grad is not None}


def save_trace(tensors: Tensor | Sequence[Tensor], path: str | os.PathLike[str], params: Any = None) -> None:
    """Write how traced tensors were computed to a safetensors file: the operations, and the arrays they started from.

    Raises:
        GraphError: the computation was not traced, or holds an operation that only the program itself can run again: a
            ``Function``, a ``checkpoint``.
        ArgumentError: an operation has a keyword that cannot be written down.
        MissingExtraError: safetensors is not installed.
    """
    graph = capture(tensors, params, caller="save_trace")
    writer = _Writer(graph)
    about = {
        "kind": KIND,
        "nodes": [writer.node(node) for node in graph.nodes],
        "modules": [[module.name, module.kind, module.parent] for module in graph.modules],
        "tensors": graph.ends,
    }
    save_checkpoint(path, writer.arrays, about)


class _Writer:
    """From nodes to JSON, with the arrays put aside under names of their own."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.into = graph.edges_into()
        self.arrays: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def array(self, array: Any) -> dict[str, Any]:
        if id(array) not in self._names:
            name = self._names[id(array)] = f"array{len(self.arrays)}"
            self.arrays[name] = (
                array.view(array.real.dtype).reshape(*array.shape, 2) if array.dtype.kind == "c" else array
            )
        return (
            {"array": self._names[id(array)], "complex": True}
            if array.dtype.kind == "c"
            else {"array": self._names[id(array)]}
        )

    def node(self, node: Node) -> dict[str, Any]:
        written: dict[str, Any] = {"kind": node.kind, "name": node.name, "module": node.module}
        if node.operation is None:
            return written
        if not isinstance(node.primitive, Primitive) or primitives.get(node.operation) is not node.primitive:
            raise GraphError(
                f"save_trace cannot save '{node.operation}', which only this program can run again: declare it with "
                "minigrad.primitive(..., name=...) under a name of its own"
            )
        operands = self.into[node.id]
        if node.value is None or any(edge.value is None for edge in operands):
            raise GraphError("save_trace needs the values: compute the tensor inside 'with minigrad.trace():'")
        return written | {
            "operation": node.operation,
            "operands": {edge.argument: self.operand(edge) for edge in operands},
            "keywords": {name: self.plain(value, node) for name, value in node.keywords.items()},
            "source": None if node.source is None else list(node.source),
        }

    def operand(self, edge: Edge) -> dict[str, Any]:
        """Where it comes from, and its value if that is not simply what came from there."""
        source = self.graph.nodes[edge.source]
        written: dict[str, Any] = {"node": edge.source, "output": edge.output}
        computed = source.value[edge.output] if edge.output is not None else source.value
        if source.operation is None or computed is not edge.value:
            written["value"] = self.plain(edge.value, source)
        return written

    def plain(self, value: Any, node: Node) -> Any:
        """A value as JSON; what JSON does not have is an object that says what it is."""
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, (np.generic, *_PLAIN))):
            return {"dtype": np.dtype(value).str}
        if isinstance(value, np.generic):
            return {"scalar": self.array(np.asarray(value))}
        if isinstance(value, float):
            return {"float": value.hex()}
        if isinstance(value, complex):
            return {"parts": [value.real.hex(), value.imag.hex()]}
        if isinstance(value, (tuple, list)):
            return {type(value).__name__: [self.plain(item, node) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.plain(k, node), self.plain(v, node)] for k, v in value.items()]}
        if isinstance(value, slice):
            return {"slice": [self.plain(part, node) for part in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"ellipsis": True}
        raise ArgumentError(
            f"save_trace cannot write down {value!r}, which '{node.operation or node.name}' was called with"
        )


def load_trace(path: str | os.PathLike[str]) -> Replay:
    """Read what :func:`save_trace` wrote and run it again, inside a trace, on the arrays that were saved.

    The tensors it gives can be drawn, stepped through, and swept with any cotangent. A primitive of the user's own must have
    been declared, under the same name, before.

    Raises:
        CheckpointError: there is no such file, or it is no trace.
        GraphError: a primitive is not known here.
        MissingExtraError: safetensors is not installed.
    """
    if not Path(path).is_file():
        raise CheckpointError(f"no trace at '{path}': save_trace(tensor, path) writes one, or check the path")
    arrays, about = load_checkpoint(path)
    if about.get("kind") != KIND:
        raise CheckpointError(f"'{path}' holds no trace: save_trace writes them")
    return _Reader(arrays, about).run()


class _Reader:
    """Runs the operations of a file in their order."""

    def __init__(self, arrays: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        self.arrays = arrays
        self.about = about
        self.results: list[Any] = []
        self.replay = Replay([])
        self.scopes = [Scope(object(), name) for name, _, _ in about["modules"]]
        for scope, (_, kind, _) in zip(self.scopes, about["modules"]):
            scope.kind = kind
        for number, scope in enumerate(self.scopes):
            scope.identity = number

    def run(self) -> Replay:
        with trace():
            for number, node in enumerate(self.about["nodes"]):
                self.results.append(self.operation(node) if "operation" in node else self.leaf(number, node))
        for number, output in self.about["tensors"]:
            result = self.results[number]
            self.replay.tensors.append(result[output] if isinstance(result, (tuple, list)) else result)
        for node, result in zip(self.about["nodes"], self.results):
            if "operation" in node and isinstance(result, Tensor):
                result.name = node["name"]
                if node["kind"] == "kept":
                    self.replay.kept[node["name"]] = result
        return self.replay

    def leaf(self, number: int, node: Mapping[str, Any]) -> Tensor | None:
        """The tensor of a parameter or input, with the value of its first use; None for a constant."""
        if node["kind"] == "constant":
            return None
        uses = (o for n in self.about["nodes"] for o in n.get("operands", {}).values() if o["node"] == number)
        tensor = Tensor(self.value(next(uses)["value"]), requires_grad=True, name=node["name"])
        name = node["name"] or f"{node['kind']}{number}"
        self.replay.leaves[name] = tensor
        if node["kind"] == "parameter":
            self.replay.parameters[name] = tensor
        return tensor

    def operation(self, node: Mapping[str, Any]) -> Any:
        primitive = primitives.get(node["operation"])
        if primitive is None:
            raise GraphError(
                f"the trace uses a primitive '{node['operation']}' that is not declared here: import its module first"
            )
        operands = {name: self.operand(written) for name, written in node["operands"].items()}
        names = primitive.arguments or list(operands)
        keywords = {name: self.value(value) for name, value in node["keywords"].items()}
        result = primitive(*[operands.get(name) for name in names], **keywords)
        first = result[0] if isinstance(result, (tuple, list)) else result
        if first._node is not None:
            self.note(note_of(_entry(first._node)), node)
        return result

    def note(self, note: Note | None, node: Mapping[str, Any]) -> None:
        """Put the place in the program back that the operation was first called from."""
        assert note is not None
        note.source = None if node["source"] is None else Source(*node["source"])
        scopes: list[Scope] = []
        module = node["module"]
        while module is not None:
            scopes.insert(0, self.scopes[module])
            module = self.about["modules"][module][2]
        note.scopes = tuple(scopes)

    def operand(self, written: Mapping[str, Any]) -> Any:
        """A Tensor at its place on the tape, or a constant; with a value of its own where it had been changed in place."""
        source = self.results[written["node"]]
        if isinstance(source, (tuple, list)):
            source = source[written["output"]]
        if "value" not in written:
            return source
        value = self.value(written["value"])
        if source is None:
            return value
        if type(source._node) is Leaf and np.array_equal(value, source._array, equal_nan=value.dtype.kind in "fc"):
            return source
        return _make(value, source._node)

    def value(self, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        ((kind, value), *_) = written.items()
        if kind == "array":
            array = self.arrays[value]
            return array.view(f"c{2 * array.itemsize}")[..., 0] if written.get("complex") else array
        if kind in ("tuple", "list"):
            items = [self.value(item) for item in value]
            return tuple(items) if kind == "tuple" else items
        if kind == "dict":
            return {self.value(k): self.value(v) for k, v in value}
        if kind == "slice":
            return slice(*map(self.value, value))
        if kind == "ellipsis":
            return Ellipsis
        if kind == "float":
            return float.fromhex(value)
        if kind == "parts":
            return complex(*map(float.fromhex, value))
        return self.value(value)[()] if kind == "scalar" else np.dtype(value)
