"""Saves a traced computation to a file and runs it again from there. The file is JSON and safetensors, never pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._tree import leaves
from ...engine.modes import enable_grad
from ...engine.primitive import Primitive
from ...engine.registry import primitives
from ...engine.tape import Leaf, entry_of, sweep, wengert_list
from ...engine.tensor import Tensor, make_tensor
from ...errors import AnomalyError, GraphError, MinigradError
from ...rules.about import known
from ...serialize import CheckpointError, load_checkpoint, save_checkpoint, short
from ...source.expressions import printable
from .capture import capture
from .document import KIND, encode, programs_written, read
from .model import Edge, Graph, Node
from .trace import ModuleCall, TraceNote, call_numbers, note_of, trace

MOST_NUMBERS = 1 << 27  # elements of an array that a replay makes: 1 GiB of float64


class UnknownPrimitiveError(CheckpointError, GraphError):
    """A saved trace uses a primitive that is not declared here."""


@dataclass
class Replay:
    """A computation that was read from a file and run again. It is on the tape like a new one.

    Attributes:
        tensors: the saved tensors. The first one is the loss.
        leaves: the parameters and inputs by name. Gradients arrive at them.
        parameters: the leaves that were parameters.
        named: the computed tensors that had a name. A drawing shows these names if its ``params`` contain the tensors.
    """

    tensors: list[Tensor]
    leaves: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, Tensor] = field(default_factory=dict)
    named: dict[str, Tensor] = field(default_factory=dict)

    @property
    def loss(self) -> Tensor:
        return self.tensors[0]

    def gradients(self, seed: Any = None, retain_graph: bool = True) -> dict[str, np.ndarray[Any, Any]]:
        """Return the gradient of the loss with respect to each leaf, for the loss's cotangent ``seed`` (1 by default)."""
        for leaf in self.leaves.values():
            leaf.grad = None
        self.loss.backward(seed, retain_graph=retain_graph)
        return {name: leaf.grad.numpy() for name, leaf in self.leaves.items() if leaf.grad is not None}


def save_trace(tensors: Tensor | Sequence[Tensor], path: str | os.PathLike[str], params: Any = None) -> None:
    """Write a traced computation to a safetensors file: its operations, and the arrays that it began with.

    Args:
        tensors, params: a Tensor or a list of Tensors, and names for tensors, as in :func:`draw_dot`.

    Raises:
        GraphError: the computation was not traced, or contains an operation that only the program itself can run again,
            such as a ``Function`` or a ``checkpoint``.
        ArgumentError: an operation has a keyword that cannot be saved.
        CheckpointError: the first tensor is a leaf, or another leaf in ``tensors`` is not part of the computation.
        MissingExtraError: safetensors is not installed.

    Example:
        >>> import pathlib, tempfile
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = (x * x).sum()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mg.save_trace(loss, pathlib.Path(folder, "loss.safetensors"))
        ...     [path.name for path in pathlib.Path(folder).iterdir()]
        ['loss.safetensors']
    """
    graph = capture(tensors, params, caller="save_trace")
    writer = _TraceWriter(graph)
    about = {
        "kind": KIND,
        "nodes": [writer.node(node) for node in graph.nodes],
        "modules": [[printable(box.name), printable(box.kind), box.parent, box.call] for box in graph.modules],
        "tensors": [list(end) for end in graph.ends],
        "programs": programs_written(graph.programs),
    }
    read(about, writer.arrays)  # a trace that load_trace could not read is not saved
    save_checkpoint(path, writer.arrays, about)


class _TraceWriter:
    """Turns nodes into JSON, and collects their arrays under separate names."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.into = graph.edges_into()
        self.arrays: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def array(self, array: Any) -> dict[str, Any]:
        name = self._names.setdefault(id(array), f"array{len(self._names)}")
        if array.dtype.kind != "c":
            self.arrays[name] = array
            return {"array": name}
        self.arrays[name] = array.view(array.real.dtype).reshape(*array.shape, 2)
        return {"array": name, "complex": True}

    def node(self, node: Node) -> dict[str, Any]:
        name = None if node.name is None else printable(node.name)
        written: dict[str, Any] = {"kind": node.kind, "name": name, "module": node.module}
        if node.operation is None:
            return written
        if not isinstance(node.primitive, Primitive) or primitives.get(node.operation) is not node.primitive:
            raise GraphError(
                f"save_trace cannot save '{node.operation}', because only this program can run it again: declare it with "
                "minigrad.primitive(..., name=...) under a unique name"
            )
        operands = self.into[node.id]
        if node.value is None or any(edge.value is None for edge in operands):
            raise GraphError("save_trace needs the values: compute the tensor inside 'with minigrad.trace():'")
        return written | {
            "operation": node.operation,
            "operands": {edge.argument: self.operand(edge) for edge in operands},
            "keywords": {name: encode(value, self.array, node.operation) for name, value in node.keywords.items()},
            "source": node.source and [printable(x) if isinstance(x, str) else x for x in node.source],
            "call": node.call,
            "depth": node.depth,
            "called": [*node.called[0]] if node.called and node.called[0] else None,
        }

    def operand(self, edge: Edge) -> dict[str, Any]:
        """Return the source of an operand, and the operand's value if it differs from that source's value."""
        source = self.graph.nodes[edge.source]
        written: dict[str, Any] = {"node": edge.source, "output": edge.output}
        computed = source.value[edge.output] if edge.output is not None else source.value
        if source.operation is None or computed is not edge.value:
            written["value"] = encode(edge.value, self.array, source.operation or str(source.name))
        return written


def load_trace(path: str | os.PathLike[str]) -> Replay:
    """Read a file of :func:`save_trace` and run its computation again, inside a trace, on the saved arrays.

    The tensors of the Replay can be drawn, stepped through, and differentiated with any cotangent. If the computation uses
    your own primitives, declare them under the same names first.

    Raises:
        CheckpointError: the file does not exist, holds no trace, or its computation cannot run. If a primitive is not
            declared, the error is also a GraphError. Every view can show the Replay of any other file. (Like a program, the
            computation may need much time and memory.)
        MissingExtraError: safetensors is not installed.

    Example:
        >>> import pathlib, tempfile
        >>> import minigrad as mg
        >>> x = mg.Tensor([1.0, 2.0], requires_grad=True, name="x")
        >>> with mg.trace():
        ...     loss = (x * x).sum()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "loss.safetensors")
        ...     mg.save_trace(loss, path)
        ...     replay = mg.load_trace(path)
        >>> replay.loss.item(), replay.gradients()
        (5.0, {'x': array([2., 4.])})
    """
    arrays, about = load_checkpoint(path, what="trace")
    if about.get("kind") != KIND:
        raise CheckpointError(f"'{path}' holds no trace: save_trace writes them")
    return _TraceReader(read(about, arrays)).run()


class _TraceReader:
    """Runs the operations of a file in order."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.into = graph.edges_into()
        self.results: list[Any] = []
        self.replay = Replay([])
        self.calls = self.module_calls()

    def module_calls(self) -> list[ModuleCall]:
        """Return the calls of modules. Numbered calls of one name, in one module, are those of one module."""
        known: dict[Any, object] = {}
        found = []
        for module in self.graph.modules:
            key = module.id if module.call is None else (module.parent, module.name, module.kind)
            identity = known.setdefault(key, object())
            found.append(ModuleCall(module.name, module.kind, identity, next(call_numbers)))
        return found

    def run(self) -> Replay:
        nodes = self.graph.nodes
        with enable_grad(), trace():
            for node in nodes:
                self.results.append(self.given(node) if node.operation is None else self.call(node))
        self.replay.tensors = [self.output(number, output) for number, output in self.graph.ends]
        self.rehearse()
        for node, result in zip(nodes, self.results):
            if node.operation is not None and isinstance(result, Tensor):
                result.name = node.name
                if node.kind == "named" and node.name is not None:
                    self.replay.named[node.name] = result
        return self.replay

    def rehearse(self) -> None:
        """Run the backward pass once, without notes. A rule may fail on a keyword that its operation accepts."""
        entries = wengert_list(tensor._node for tensor in self.replay.tensors)
        noted = [entry.notes for entry in entries]
        for entry in entries:
            entry.notes = ()
        try:
            sweep({tensor._node: np.ones_like(tensor._array) for tensor in self.replay.tensors}, retain_graph=True)
        except MinigradError:
            pass  # the computation has no derivative, and had none when it was saved
        except Exception as error:
            raise CheckpointError(f"the trace has no backward pass: {type(error).__name__}: {error}") from error
        finally:
            for entry, note in zip(entries, noted):
                entry.notes = note

    def given(self, node: Node) -> Tensor | None:
        """Return the tensor of a parameter or input, with the value of its first use; None for a constant."""
        if node.kind == "constant":
            return None
        tensor = Tensor(node.value, requires_grad=True, name=node.name)
        name = node.name or f"{node.kind}{node.id}"
        self.replay.leaves[name] = tensor
        if node.kind == "parameter":
            self.replay.parameters[name] = tensor
        return tensor

    def call(self, node: Node) -> Any:
        where = f"node {node.id} of the trace, {short(node.operation)},"
        primitive = primitives.get(node.operation or "")
        if primitive is None:
            raise UnknownPrimitiveError(
                f"the trace uses a primitive {short(node.operation)} that is not declared here: import its module first"
            )
        operands = {edge.argument: self.operand(edge) for edge in self.into[node.id]}
        names = primitive.arguments or list(operands)
        if not operands.keys() <= set(names):
            raise CheckpointError(f"{where} has the operands {short(', '.join(operands))}, but takes {list(names)}")
        _check_sizes(primitive, node.keywords, where)
        try:
            result = primitive(*[operands.get(name) for name in names], **node.keywords)
        except AnomalyError:
            raise
        except Exception as error:  # any primitive, even the user's own, may raise any error on the file's data
            raise CheckpointError(f"{where} cannot run again: {type(error).__name__}: {error}") from error
        outputs = result if isinstance(result, (tuple, list)) else [result]
        tensors = all(isinstance(output, Tensor) for output in outputs)  # an integer one, such as a rank, has no node
        if not tensors or not any(t._node is not None for t in outputs) or any(_is_cut_off(t) for t in outputs):
            raise CheckpointError(f"{where} has no output that depends on a parameter or an input")
        if any(output.size > MOST_NUMBERS for output in outputs):
            raise CheckpointError(f"{where} has an output of more than {MOST_NUMBERS:,} elements")
        self.note(note_of(entry_of(next(t._node for t in outputs if t._node is not None))), node)
        return result

    def note(self, note: TraceNote | None, node: Node) -> None:
        """Restore the line of the program that called the operation in the saved run."""
        assert note is not None
        note.source, note.call, note.depth = node.source, node.call or 0, node.depth
        note.called, note.callers = node.called, ()
        note.program = self.graph.programs.get(node.source.file, ()) if node.source is not None else ()
        note.modules = tuple(self.calls[number] for number in self.graph.around(node.module))

    def output(self, number: int, output: int | None) -> Any:
        """Return the result of a node, or one of its several results."""
        result = self.results[number]
        if not isinstance(result, (tuple, list)):
            return result
        if output is None or not 0 <= output < len(result):
            raise CheckpointError(f"node {number} of the trace has {len(result)} outputs, and no output {output}")
        return result[output]

    def operand(self, edge: Edge) -> Any:
        """Return an operand on the tape, or a constant. It has the edge's value if the source was changed in place."""
        source, value = self.output(edge.source, edge.output), edge.value
        if source is None or value is None:
            return value if source is None else source
        if not isinstance(value, np.ndarray) or (value.shape, value.dtype) != (source.shape, source.dtype):
            raise CheckpointError(
                f"the trace has an array for node {edge.source} that differs in shape or dtype from that node"
            )
        if type(source._node) is Leaf and np.array_equal(value, source._array, equal_nan=value.dtype.kind in "fc"):
            return source
        return make_tensor(value, source._node)


def _is_cut_off(tensor: Tensor) -> bool:
    return tensor._node is None and tensor.dtype.kind in "fc"


def _check_sizes(primitive: Primitive, keywords: Mapping[str, Any], where: str) -> None:
    """Raise an error for a keyword that would make an array too large, before memory is allocated for it."""
    for name, size in known(primitive).sizes.items():
        found = [np.ravel(leaf).tolist() for leaf in leaves(keywords.get(name)) if _is_number(leaf)]
        numbers = [abs(number) for several in found for number in several]
        if numbers and size(numbers) > MOST_NUMBERS:
            raise CheckpointError(f"{where} has a keyword {name} that makes more than {MOST_NUMBERS:,} elements")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or getattr(value, "dtype", np.dtype(object)).kind in "biuf"
