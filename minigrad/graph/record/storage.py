"""A traced computation in a file, and back on the tape in another process: data only, JSON and safetensors, never pickle."""

from __future__ import annotations

import math
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
from ...serialize import CheckpointError, load_checkpoint, save_checkpoint, short
from .capture import capture
from .document import KIND, Document, Operand, Step, encode, printable, programs_written, read
from .model import Edge, Graph, Node
from .trace import ModuleCall, TraceNote, note_of, trace

MOST_NUMBERS = 1 << 27  # in an array that a replay makes: 1 GiB of float64
_SIZES = {"shape", "repeats", "width", "n", "indices_or_sections", "window"}  # keywords that say how large a result is


class UnknownPrimitiveError(CheckpointError, GraphError):
    """A saved trace uses a primitive that is not declared here."""


@dataclass
class Replay:
    """A computation that was read from a file and run again, on the tape as if it had just been written.

    Attributes:
        tensors: what was saved; the first is the loss.
        leaves: the parameters and inputs by name, where gradients arrive.
        parameters: those of them that were parameters.
        named: computed tensors that had a name; a drawing shows it if they are among its ``params``.
    """

    tensors: list[Tensor]
    leaves: dict[str, Tensor] = field(default_factory=dict)
    parameters: dict[str, Tensor] = field(default_factory=dict)
    named: dict[str, Tensor] = field(default_factory=dict)

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
        ArgumentError: an operation has a keyword that cannot be written down; (as CheckpointError) the first tensor was given
            and not computed, or one of the others is no part of the computation.
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
        "modules": [[printable(module.name), printable(module.kind), module.parent] for module in graph.modules],
        "tensors": [list(end) for end in graph.ends],
        "programs": programs_written(graph.programs),
    }
    read(about, writer.arrays)  # nothing is written that could not be read
    save_checkpoint(path, writer.arrays, about)


class _TraceWriter:
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
        name = None if node.name is None else printable(node.name)
        written: dict[str, Any] = {"kind": node.kind, "name": name, "module": node.module}
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
            "keywords": {name: encode(value, self.array, node.operation) for name, value in node.keywords.items()},
            "source": node.source and [printable(x) if isinstance(x, str) else x for x in node.source],
            "call": node.call,
            "depth": node.depth,
        }

    def operand(self, edge: Edge) -> dict[str, Any]:
        """Where it comes from, and its value if that is not simply what came from there."""
        source = self.graph.nodes[edge.source]
        written: dict[str, Any] = {"node": edge.source, "output": edge.output}
        computed = source.value[edge.output] if edge.output is not None else source.value
        if source.operation is None or computed is not edge.value:
            written["value"] = encode(edge.value, self.array, source.operation or str(source.name))
        return written


def load_trace(path: str | os.PathLike[str]) -> Replay:
    """Read what :func:`save_trace` wrote and run it again, inside a trace, on the arrays that were saved.

    The tensors it gives can be drawn, stepped through, and swept with any cotangent. A primitive of the user's own must have
    been declared, under the same name, before.

    Raises:
        CheckpointError: there is no such file, it is no trace, or what it says cannot be run. If only because a primitive is
            not known here, it is a GraphError as well. Any file gives this error or a Replay that every view can show. (What
            it computes is up to its operations: like a program, it may ask for time and memory.)
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
    """Runs the operations of a file in their order."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.results: list[Any] = []
        self.replay = Replay([])
        self.modules = [ModuleCall(object(), name) for name, _, _ in document.modules]
        for number, (call, (_, kind, _)) in enumerate(zip(self.modules, document.modules)):
            call.kind, call.identity = kind, number

    def run(self) -> Replay:
        steps = self.document.steps
        with enable_grad(), trace():
            for number, step in enumerate(steps):
                self.results.append(self.given(number, step) if step.operation is None else self.call(number, step))
        self.replay.tensors = [self.output(number, output) for number, output in self.document.tensors]
        self.rehearse()
        for step, result in zip(steps, self.results):
            if step.operation is not None and isinstance(result, Tensor):
                result.name = step.name
                if step.kind == "named" and step.name is not None:
                    self.replay.named[step.name] = result
        return self.replay

    def rehearse(self) -> None:
        """Run the backward pass once, and note nothing of it: a keyword that an operation takes may be none for its rule."""
        entries = wengert_list(tensor._node for tensor in self.replay.tensors)
        noted = [entry.notes for entry in entries]
        for entry in entries:
            entry.notes = ()
        try:
            sweep({tensor._node: np.ones_like(tensor._array) for tensor in self.replay.tensors}, retain_graph=True)
        except MinigradError:
            pass  # it has no derivative, nor had it where it was saved
        except Exception as error:
            raise CheckpointError(f"the trace has no backward pass: {type(error).__name__}: {error}") from error
        finally:
            for entry, note in zip(entries, noted):
                entry.notes = note

    def given(self, number: int, step: Step) -> Tensor | None:
        """The tensor of a parameter or input, with the value of its first use; None for a constant."""
        if step.kind == "constant":
            return None
        tensor = Tensor(step.value, requires_grad=True, name=step.name)
        name = step.name or f"{step.kind}{number}"
        self.replay.leaves[name] = tensor
        if step.kind == "parameter":
            self.replay.parameters[name] = tensor
        return tensor

    def call(self, number: int, step: Step) -> Any:
        where = f"node {number} of the trace, {short(step.operation)},"
        primitive = primitives.get(step.operation or "")
        if primitive is None:
            raise UnknownPrimitiveError(
                f"the trace uses a primitive {short(step.operation)} that is not declared here: import its module first"
            )
        operands = {name: self.operand(operand) for name, operand in step.operands.items()}
        names = primitive.arguments or list(operands)
        if not operands.keys() <= set(names):
            raise CheckpointError(f"{where} has the operands {short(', '.join(operands))}, and takes {list(names)}")
        _check_sizes(step.keywords, where)
        try:
            result = primitive(*[operands.get(name) for name in names], **step.keywords)
        except AnomalyError:
            raise
        except Exception as error:  # whatever a primitive, maybe one of the user's own, makes of what the file gave it
            raise CheckpointError(f"{where} cannot be run again: {type(error).__name__}: {error}") from error
        outputs = result if isinstance(result, (tuple, list)) else [result]
        if not outputs or not all(isinstance(output, Tensor) and output._node is not None for output in outputs):
            raise CheckpointError(f"{where} gives nothing that depends on a parameter or an input")
        if any(output.size > MOST_NUMBERS for output in outputs):
            raise CheckpointError(f"{where} gives more than {MOST_NUMBERS:,} numbers")
        self.note(note_of(entry_of(outputs[0]._node)), step)
        return result

    def note(self, note: TraceNote | None, step: Step) -> None:
        """Put the place in the program back that the operation was first called from."""
        assert note is not None
        note.source, note.call, note.depth, note.callers = step.source, step.call or 0, step.depth, ()
        note.program = self.document.programs.get(step.source.file, ()) if step.source is not None else ()
        around: list[ModuleCall] = []
        module = step.module
        while module is not None:
            around.insert(0, self.modules[module])
            module = self.document.modules[module][2]
        note.modules = tuple(around)

    def output(self, number: int, output: int | None) -> Any:
        """The result of a node, or one of its several."""
        result = self.results[number]
        if not isinstance(result, (tuple, list)):
            return result
        if output is None or not 0 <= output < len(result):
            raise CheckpointError(f"node {number} of the trace gives {len(result)} tensors, and not number {output}")
        return result[output]

    def operand(self, operand: Operand) -> Any:
        """A Tensor at its place on the tape, or a constant; with a value of its own where it had been changed in place."""
        source, value = self.output(operand.node, operand.output), operand.value
        if source is None:
            return value
        if not operand.changed:
            return source
        if not isinstance(value, np.ndarray) or (value.shape, value.dtype) != (source.shape, source.dtype):
            raise CheckpointError(f"the trace has another kind of array for node {operand.node} than that node gives")
        if type(source._node) is Leaf and np.array_equal(value, source._array, equal_nan=value.dtype.kind in "fc"):
            return source
        return make_tensor(value, source._node)


def _check_sizes(keywords: Mapping[str, Any], where: str) -> None:
    """Raise for a keyword that asks for an array which no honest trace has, before so much memory is asked for."""
    for name in _SIZES & keywords.keys():
        asked = np.max(
            [np.max(np.abs(leaf), initial=0) for leaf in leaves(keywords[name]) if _is_number(leaf)], initial=0
        )
        if name == "shape":
            asked = max(asked, math.prod(leaf for leaf in leaves(keywords[name]) if isinstance(leaf, int)))
        if asked > MOST_NUMBERS:
            raise CheckpointError(f"{where} asks with {name} for more than {MOST_NUMBERS:,} numbers")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or getattr(value, "dtype", np.dtype(object)).kind in "biuf"
