"""Defines the format of a saved trace. It turns values into JSON and back, and checks that a file can be run and drawn.

A graph from :func:`read` is well formed. Every number is the id of a node or module that exists. An operand comes before its
operation, and an outer module before an inner one, so that there are no cycles. All texts are printable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..._source import SourceLine
from ...errors import ArgumentError
from ...serialize import CheckpointError, Maybe, require, short
from ...source.expressions import printable
from .model import Edge, Graph, ModuleBox, Node
from .rounds import Callee

KIND = "minigrad trace"
FORM = {
    "kind": KIND,
    "nodes": [{"kind": str, "name": Maybe(str), "module": Maybe(int)}],
    "modules": [(str, str, Maybe(int), Maybe(int))],
    "tensors": [(int, int)],
    "programs": {str: [str]},
}
OPERATION = {
    "operation": str,
    "operands": {str: {"node": int, "output": Maybe(int)}},
    "keywords": {str: object},
    "source": Maybe((str, int, str, str, Maybe(int), Maybe(int), Maybe(int))),
    "call": int,
    "depth": Maybe(int),
    "called": Maybe((str, bool, bool)),
}
GIVEN, COMPUTED = ("parameter", "input", "constant"), ("operation", "loss", "named")
LONGEST_SHOWN = 4096  # characters of a name, or of a line of a program
LONGEST_PROGRAMS = 1 << 22  # characters of all programs together


def read(about: Mapping[str, Any], arrays: Mapping[str, Any]) -> Graph:
    """Return the graph of a file, without shapes and without the values that its operations compute.

    The value of an edge is None if it is the same as the value of its source.

    Raises:
        CheckpointError: the file is not well formed.
    """
    require(about, FORM, "the trace")
    programs = _programs(about["programs"])
    modules: list[ModuleBox] = []
    for number, (name, kind, parent, call) in enumerate(about["modules"]):
        _check_number(parent, number, f"the module around module {number}")
        modules.append(ModuleBox(number, _shown(name), _shown(kind), parent, call))
    nodes: list[dict[str, Any]] = []
    edges: list[Edge] = []
    for number, written in enumerate(about["nodes"]):
        nodes.append(_node(number, written))
        _check_number(written["module"], len(modules), f"the module of node {number}")
        if "operation" in written:
            nodes[number] |= _operation(number, written, arrays)
            edges += _edges(number, written["operands"], arrays)
    for number, output in about["tensors"]:
        _check_number(number, len(nodes), "a saved tensor")
        _check_number(output, 1 << 30, "the output of a saved tensor")
    ends = [(number, output) for number, output in about["tensors"]]
    if not ends or nodes[ends[0][0]]["operation"] is None:
        raise CheckpointError("the trace ends in no operation: it has nothing to run")
    for edge in edges:
        source = nodes[edge.source]
        if source["operation"] is None and source.get("value") is None:
            source["value"] = edge.value
    graph = Graph([Node(**node) for node in nodes], edges, modules, ends, programs)
    for node in graph.nodes:
        floating = isinstance(node.value, np.ndarray) and node.value.dtype.kind in "fc"
        if node.kind in ("parameter", "input") and not floating:
            raise CheckpointError(f"the trace has no array of floating numbers for node {node.id} ({node.kind})")
    return graph


def _node(number: int, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a node that a value and an operation have."""
    kinds = COMPUTED if "operation" in written else GIVEN
    if written["kind"] not in kinds:
        raise CheckpointError(f"the kind of node {number} of the trace must be one of {', '.join(kinds)}")
    name = None if written["name"] is None else _shown(written["name"])
    about = {"id": number, "kind": written["kind"], "operation": None, "name": name, "shape": None, "dtype": ""}
    return about | {"module": written["module"]}


def _operation(number: int, written: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    require(written, OPERATION, f"node {number} of the trace")
    called = written["called"]
    return {
        "called": (called and Callee(_shown(called[0]), *called[1:]),),
        "operation": _shown(written["operation"]),
        "keywords": {_shown(name): decode(value, arrays) for name, value in written["keywords"].items()},
        "source": None if written["source"] is None else _source(written["source"]),
        "call": written["call"],
        "depth": written["depth"],
    }


def _edges(number: int, operands: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Edge]:
    edges = []
    for argument, operand in operands.items():
        _check_number(operand["node"], number, f"the operand {short(_shown(argument))} of node {number} of the trace")
        value = decode(operand.get("value"), arrays)
        edges.append(Edge(operand["node"], number, argument, operand["output"], (), value))
    return edges


def _source(written: list[Any]) -> SourceLine:
    """Return a line of the program, with its text. The file with that name is not opened."""
    file, line, function, text, *columns = written
    return SourceLine(_shown(file), line, _shown(function), _shown(text), *columns)


def _programs(written: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the texts of the programs."""
    if sum(len(line) + 1 for lines in written.values() for line in lines) > LONGEST_PROGRAMS:
        raise CheckpointError(f"the programs of the trace have more than {LONGEST_PROGRAMS:,} characters")
    for lines in written.values():
        for line in lines:
            _shown(line.replace("\t", " "))
    return {_shown(file): lines for file, lines in written.items()}


def _check_number(number: int | None, end: int, what: str) -> None:
    if number is not None and not 0 <= number < end:
        raise CheckpointError(f"{what} has the number {number}, but no earlier node or module has this number")


def programs_written(programs: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the programs of a graph that :func:`read` accepts. Line and column numbers stay valid."""
    written, left = {}, LONGEST_PROGRAMS
    for file, lines in programs.items():
        size = sum(map(len, lines)) + len(lines)
        if size <= left and max(map(len, lines), default=0) <= LONGEST_SHOWN:
            left -= size
            written[printable(file)] = ["\t".join(map(printable, line.split("\t"))) for line in lines]
    return written


def _shown(text: str) -> str:
    if len(text) > LONGEST_SHOWN or not text.isprintable():
        raise CheckpointError(f"the trace has a text that is not printable or too long: {short(text)}")
    return text


# Values


def encode(value: Any, array: Callable[[Any], Any], where: str) -> Any:
    """Return a value as JSON. A type that JSON lacks becomes an object with the type's name. ``array`` stores an array."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return array(value)
    if isinstance(value, np.dtype) or (
        isinstance(value, type) and issubclass(value, (np.generic, bool, int, float, complex))
    ):
        return {"dtype": np.dtype(value).str}
    if isinstance(value, np.generic):
        return {"scalar": array(np.asarray(value))}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"parts": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, (tuple, list)):
        return {type(value).__name__: [encode(item, array, where) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(k, array, where), encode(v, array, where)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"slice": [encode(part, array, where) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    raise ArgumentError(f"save_trace cannot save {value!r}, a keyword of '{where}'")


def decode(written: Any, arrays: Mapping[str, Any]) -> Any:
    """Return the value that :func:`encode` has written.

    Raises:
        CheckpointError: :func:`encode` cannot have written this.
    """
    if written is None or isinstance(written, (bool, int, str)):
        return written
    if not isinstance(written, dict) or not 1 <= len(written) <= 2:
        raise CheckpointError(f"the trace has an invalid value of type {type(written).__name__}")
    kind, value = next(iter(written.items()))
    if kind not in _DECODERS:
        raise CheckpointError(f"the trace has a value of the unknown kind {short(kind)}")
    form, make = _DECODERS[kind]
    require(value, form, f"a {kind} in the trace")
    try:
        result = make(value, arrays)
    except (ValueError, TypeError, OverflowError, KeyError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"the trace has an invalid {kind}: {error}") from error
    return _as_complex(result) if kind == "array" and written.get("complex") else result


def _as_complex(array: Any) -> Any:
    """Return the complex array of pairs of real and imaginary parts."""
    if array.dtype not in (np.float32, np.float64) or array.shape[-1:] != (2,):
        raise CheckpointError(f"the trace has {array.dtype} of shape {array.shape} for complex numbers")
    return np.ascontiguousarray(array).view(f"c{2 * array.itemsize}")[..., 0]


def _dtype(text: str, arrays: Any) -> np.dtype[Any]:
    if not re.fullmatch(r"[<>|=][biufc]\d{1,2}", text):
        raise CheckpointError(f"the trace has a dtype {short(text)}, which is not a dtype of numbers")
    return np.dtype(text)


def _items(value: Any, arrays: Any) -> list[Any]:
    return [decode(item, arrays) for item in value]


def _slice(value: Any, arrays: Any) -> slice:
    parts = _items(value, arrays)
    if not all(part is None or isinstance(part, (int, np.integer)) for part in parts):
        raise CheckpointError("the trace has a slice with ends that are not integers")
    return slice(*parts)


# A dict from the kind of a value to its form in the file, and a function that makes the value from that form
_DECODERS: dict[str, tuple[Any, Callable[[Any, Mapping[str, Any]], Any]]] = {
    "array": (str, lambda name, arrays: arrays[name]),
    "scalar": (dict, lambda value, arrays: decode(value, arrays)[()]),
    "dtype": (str, _dtype),
    "float": (str, lambda text, _: float.fromhex(text)),
    "parts": ((str, str), lambda parts, _: complex(*map(float.fromhex, parts))),
    "tuple": (list, lambda value, arrays: tuple(_items(value, arrays))),
    "list": (list, _items),
    "dict": ([(object, object)], lambda pairs, arrays: {decode(k, arrays): decode(v, arrays) for k, v in pairs}),
    "slice": ((object, object, object), _slice),
    "ellipsis": (bool, lambda value, _: Ellipsis),
}
